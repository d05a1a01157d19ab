//! Selecting one element of several, each way until one does it. All of them can be repeated without harm, so one that
//! the app refused counts as not tried.

use axd_protocol::{Role, State};

use crate::action::action_names;
use crate::action::actions::harmless;
use crate::action::{Actor, Subject, not_offered};
use crate::atspi::dbus::{call, get};
use crate::atspi::protocol::{ACCESSIBLE, SELECTION, TABLE, body, number};
use crate::atspi::states::Native;
use crate::read::handles::Handle;
use axd_platform::{Failure, FailureKind, Sent};

/// What is above the element, as far as selecting goes.
struct Around {
    at: Handle,
    subject: Subject,
}

impl Actor {
    /// Selects the element in what contains it, and nothing else beside it.
    pub(crate) async fn select(&self, subject: &Subject) -> Result<(), Failure> {
        use Role as R;
        if matches!(subject.role, R::Radio | R::MenuItemRadio) {
            return self.choose(subject).await;
        }
        let around = self.around().await?;
        let field = around.iter().position(|above| above.subject.role == R::Combobox);
        let index = self.index().await?;
        if let Some(field) = field {
            return self.select_choice(subject, &around[field], index).await;
        }
        let parent = around.first();
        let in_menu = parent.is_none_or(|parent| matches!(parent.subject.role, R::Menu | R::MenuBar));
        if let (false, Some(parent), Some(index)) = (in_menu, parent, index) {
            // A table selects rows; of its children it knows only the place.
            if parent.subject.interfaces.table && self.select_row(parent, index).await? {
                return Ok(());
            }
            if parent.subject.interfaces.selection && self.select_child(&parent.at, index).await? {
                return Ok(());
            }
        }
        let actions = self.actions(subject).await?;
        if let Some(action) = action_names::select(&actions) {
            return self.do_action(action).await.map_err(harmless);
        }
        match subject.role {
            R::Tab => self.press(subject).await,
            _ if in_menu => Err(not_offered("a menu's items are pressed, not selected")),
            _ => Err(not_offered("the app offers no way to select it")),
        }
    }

    /// A choice of a field: selecting it in its list would only point at it, where the field does not follow.
    async fn select_choice(
        &self,
        subject: &Subject,
        field: &Around,
        index: Option<i32>,
    ) -> Result<(), Failure> {
        if let (true, Some(index)) = (field.subject.interfaces.selection, index)
            && self.select_child(&field.at, index).await?
        {
            return Ok(());
        }
        let actions = self.actions(subject).await?;
        match action_names::select(&actions) {
            Some(action) => self.do_action(action).await.map_err(harmless),
            None => Err(not_offered("the app offers no way to select one of a field's choices")),
        }
    }

    /// Selects a child of a container; false if the container would not.
    async fn select_child(&self, container: &Handle, index: i32) -> Result<bool, Failure> {
        let select = || call(&container.bus, &container.path, SELECTION, "SelectChild", &(index,));
        if !self.try_out(select()).await? {
            return Ok(false);
        }
        let count = get(&container.bus, &container.path, SELECTION, "NSelectedChildren");
        let count = self.ask_one(count).await.map_err(|failure| failure.sent(Sent::Yes))?;
        if number(&count).is_some_and(|count| count > 1.0) {
            let clear = call(&container.bus, &container.path, SELECTION, "ClearSelection", &());
            if !self.try_out(clear).await? || !self.try_out(select()).await? {
                return Err(beside());
            }
        }
        let ours = || call(&container.bus, &container.path, SELECTION, "IsChildSelected", &(index,));
        self.until(|| async {
            Ok(body::<bool>(&self.ask_one(ours()).await?).unwrap_or_default() || self.is_selected().await?)
        })
        .await
    }

    /// Selects the row of a child of a table; false if the table would not.
    async fn select_row(&self, table: &Around, index: i32) -> Result<bool, Failure> {
        let at = &table.at;
        let of = |method: &str, number: i32| call(&at.bus, &at.path, TABLE, method, &(number,));
        let Some(row) = body::<i32>(&self.ask_one(of("GetRowAtIndex", index)).await?).filter(|row| *row >= 0)
        else {
            return Ok(false);
        };
        if !self.try_out(of("AddRowSelection", row)).await? {
            return Ok(false);
        }
        let selected = self.ask_one(call(&at.bus, &at.path, TABLE, "GetSelectedRows", &())).await;
        let rows: Vec<i32> = body(&selected.map_err(|failure| failure.sent(Sent::Yes))?).unwrap_or_default();
        for other in rows.into_iter().filter(|other| *other != row) {
            if !self.try_out(of("RemoveRowSelection", other)).await? {
                return Err(beside());
            }
        }
        self.until(|| async {
            let ours = body::<bool>(&self.ask_one(of("IsRowSelected", row)).await?).unwrap_or_default();
            Ok(ours || self.is_selected().await?)
        })
        .await
    }

    /// Tells the app to do something that does no harm if it fails: false then.
    async fn try_out(&self, call: zbus::Result<zbus::Message>) -> Result<bool, Failure> {
        match self.tell_whether(call).await {
            Err(failure) if matches!(failure.kind, FailureKind::NotSupported | FailureKind::Refused) => {
                Ok(false)
            }
            done => done,
        }
    }

    async fn is_selected(&self) -> Result<bool, Failure> {
        Ok(self.natives(&self.at).await?.has(Native::Selected))
    }

    /// The element's place among its parent's children, as the parent counts.
    async fn index(&self) -> Result<Option<i32>, Failure> {
        let index = call(&self.at.bus, &self.at.path, ACCESSIBLE, "GetIndexInParent", &());
        Ok(body::<i32>(&self.ask_one(index).await?).filter(|index| *index >= 0))
    }

    /// What the element is in, its parent first, up to its window.
    async fn around(&self) -> Result<Vec<Around>, Failure> {
        let methods = ["GetRole", "GetState", "GetInterfaces"];
        let calls = self
            .above
            .iter()
            .flat_map(|at| methods.map(|method| call(&at.bus, &at.path, ACCESSIBLE, method, &())));
        let answers = self.ask(calls.collect()).await?;
        let mut around = Vec::new();
        for (at, answers) in self.above.iter().zip(answers.chunks(methods.len())) {
            let Some(subject) = self.subject(answers) else { break };
            if subject.role.is_window() {
                break;
            }
            around.push(Around { at: at.clone(), subject });
        }
        let disabled = around.first().is_some_and(|parent| parent.subject.states.has(State::Disabled));
        match disabled {
            true => Err(Failure::new(FailureKind::Refused, "what it is in is disabled")),
            false => Ok(around),
        }
    }
}

/// It is selected, and so is something else.
fn beside() -> Failure {
    Failure::new(FailureKind::Refused, "the app did not take the selection off the others").sent(Sent::Yes)
}
