//! Selects one element of several: the ways are tried one after the other. All of them can be repeated without harm, so
//! one that the app refused counts as not tried.

use axd_protocol::{Role, State};

use crate::action::action_names;
use crate::action::actions::as_unsent;
use crate::action::{Actor, Target};
use crate::atspi::dbus::{call, get};
use crate::atspi::protocol::{ACCESSIBLE, SELECTION, TABLE, body, number_property};
use crate::atspi::states::NativeState;
use crate::read::handles::Handle;
use axd_platform::{Failure, FailureKind, Sent};

/// An ancestor of the element, as it was read.
struct Ancestor {
    at: Handle,
    target: Target,
}

impl Actor {
    /// Selects the element in what contains it, and nothing else beside it.
    pub(crate) async fn select(&self, target: &Target) -> Result<(), Failure> {
        use Role as R;
        if matches!(target.role, R::Radio | R::MenuItemRadio) {
            return self.choose(target).await;
        }
        let around = self.ancestors().await?;
        let field = around.iter().position(|above| above.target.role == R::Combobox);
        let index = self.index().await?;
        if let Some(field) = field {
            return self.select_choice(target, &around[field], index).await;
        }
        let parent = around.first();
        let in_menu = parent.is_none_or(|parent| matches!(parent.target.role, R::Menu | R::MenuBar));
        if let (false, Some(parent), Some(index)) = (in_menu, parent, index) {
            // A table selects rows; of its children it knows only the place.
            if parent.target.interfaces.table && self.select_row(parent, index).await? {
                return Ok(());
            }
            if parent.target.interfaces.selection && self.select_child(&parent.at, index).await? {
                return Ok(());
            }
        }
        let actions = self.actions(target).await?;
        if let Some(action) = action_names::select_action(&actions) {
            return self.do_action(action).await.map_err(as_unsent);
        }
        match target.role {
            R::Tab => self.press(target).await,
            _ if in_menu => Err(Failure::unsupported("items of a menu cannot be selected, only pressed")),
            _ => Err(Failure::unsupported("the app does not support selecting it")),
        }
    }

    /// A choice of a field: selecting it in its list would only point at it, where the field does not follow.
    async fn select_choice(
        &self,
        target: &Target,
        field: &Ancestor,
        index: Option<i32>,
    ) -> Result<(), Failure> {
        if let (true, Some(index)) = (field.target.interfaces.selection, index)
            && self.select_child(&field.at, index).await?
        {
            return Ok(());
        }
        let actions = self.actions(target).await?;
        match action_names::select_action(&actions) {
            Some(action) => self.do_action(action).await.map_err(as_unsent),
            None => Err(Failure::unsupported("the app does not support selecting an item of this field")),
        }
    }

    /// Selects a child of a container; false if the container would not.
    async fn select_child(&self, container: &Handle, index: i32) -> Result<bool, Failure> {
        let select = || call(&container.bus, &container.path, SELECTION, "SelectChild", &(index,));
        if !self.try_send(select()).await? {
            return Ok(false);
        }
        let count = get(&container.bus, &container.path, SELECTION, "NSelectedChildren");
        let count = self.call(count).await.map_err(|failure| failure.sent(Sent::Yes))?;
        if number_property(&count).is_some_and(|count| count > 1.0) {
            let clear = call(&container.bus, &container.path, SELECTION, "ClearSelection", &());
            if !self.try_send(clear).await? || !self.try_send(select()).await? {
                return Err(others_stayed_selected());
            }
        }
        let ours = || call(&container.bus, &container.path, SELECTION, "IsChildSelected", &(index,));
        self.wait_until(|| async {
            Ok(body::<bool>(&self.call(ours()).await?).unwrap_or_default() || self.is_selected().await?)
        })
        .await
    }

    /// Selects the row of a child of a table; false if the table would not.
    async fn select_row(&self, table: &Ancestor, index: i32) -> Result<bool, Failure> {
        let at = &table.at;
        let of = |method: &str, number: i32| call(&at.bus, &at.path, TABLE, method, &(number,));
        let Some(row) = body::<i32>(&self.call(of("GetRowAtIndex", index)).await?).filter(|row| *row >= 0)
        else {
            return Ok(false);
        };
        if !self.try_send(of("AddRowSelection", row)).await? {
            return Ok(false);
        }
        let selected = self.call(call(&at.bus, &at.path, TABLE, "GetSelectedRows", &())).await;
        let rows: Vec<i32> = body(&selected.map_err(|failure| failure.sent(Sent::Yes))?).unwrap_or_default();
        for other in rows.into_iter().filter(|other| *other != row) {
            if !self.try_send(of("RemoveRowSelection", other)).await? {
                return Err(others_stayed_selected());
            }
        }
        self.wait_until(|| async {
            let ours = body::<bool>(&self.call(of("IsRowSelected", row)).await?).unwrap_or_default();
            Ok(ours || self.is_selected().await?)
        })
        .await
    }

    /// Sends a call that does no harm if it fails: false then.
    async fn try_send(&self, call: zbus::Result<zbus::Message>) -> Result<bool, Failure> {
        match self.send_and_confirm(call).await {
            Err(failure) if matches!(failure.kind, FailureKind::NotSupported | FailureKind::Refused) => {
                Ok(false)
            }
            done => done,
        }
    }

    async fn is_selected(&self) -> Result<bool, Failure> {
        Ok(self.read_states(&self.at).await?.has(NativeState::Selected))
    }

    /// The element's place among its parent's children, as the parent counts.
    async fn index(&self) -> Result<Option<i32>, Failure> {
        let index = call(&self.at.bus, &self.at.path, ACCESSIBLE, "GetIndexInParent", &());
        Ok(body::<i32>(&self.call(index).await?).filter(|index| *index >= 0))
    }

    /// What the element is in, its parent first, up to its window.
    async fn ancestors(&self) -> Result<Vec<Ancestor>, Failure> {
        let methods = ["GetRole", "GetState", "GetInterfaces"];
        let calls = self
            .above
            .iter()
            .flat_map(|at| methods.map(|method| call(&at.bus, &at.path, ACCESSIBLE, method, &())));
        let answers = self.call_all(calls.collect()).await?;
        let mut around = Vec::new();
        for (at, answers) in self.above.iter().zip(answers.chunks(methods.len())) {
            let Some(target) = self.parse_target(answers) else { break };
            if target.role.is_window() {
                break;
            }
            around.push(Ancestor { at: at.clone(), target });
        }
        let disabled = around.first().is_some_and(|parent| parent.target.states.has(State::Disabled));
        match disabled {
            true => Err(Failure::new(FailureKind::Refused, "its container is disabled")),
            false => Ok(around),
        }
    }
}

/// The failure of an app that left other elements selected.
fn others_stayed_selected() -> Failure {
    Failure::new(FailureKind::Refused, "the app did not deselect the other items").sent(Sent::Yes)
}
