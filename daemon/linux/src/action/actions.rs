//! An element's own actions: pressing it, doing what its app offers by name, showing and hiding what it holds.

use std::time::Duration;

use axd_protocol::{Role, State};

use crate::action::action_names::{self, Named};
use crate::action::{Actor, Subject, not_done, not_offered};
use crate::atspi::dbus::call;
use crate::atspi::protocol::{ACCESSIBLE, ACTION, COMPONENT, Ref, body};
use crate::atspi::states::{Native, Natives};
use crate::atspi::toolkit::Toolkit;
use axd_platform::{Failure, FailureKind, Sent};

/// How much later than us an app may begin to measure a time.
const MOMENT: Duration = Duration::from_millis(20);

impl Actor {
    /// Does what a click on the element does.
    pub(crate) async fn press(&self, subject: &Subject) -> Result<(), Failure> {
        let actions = self.actions(subject).await?;
        match action_names::press(subject.role, &actions) {
            Some(action) => self.do_whole(subject, action).await,
            None => Err(not_offered(format!("no action of it is a press; {}", offered(&actions)))),
        }
    }

    /// Does the action of this name.
    pub(crate) async fn native(&self, subject: &Subject, name: &str) -> Result<(), Failure> {
        let actions = self.actions(subject).await?;
        match action_names::by_name(name, &actions) {
            Some(action) => self.do_whole(subject, action).await,
            None => Err(not_offered(format!("it has no action {name:?}; {}", offered(&actions)))),
        }
    }

    /// Shows what the element holds, or hides it. Nothing is sent if it is so already.
    pub(crate) async fn unfold(&self, subject: &Subject, open: bool) -> Result<(), Failure> {
        let is_open = self.is_open(subject, subject.natives).await?;
        if is_open == Some(open) {
            return Ok(());
        }
        let actions = self.actions(subject).await?;
        let action = action_names::unfold(subject.role, open, is_open.is_some(), &actions);
        let Some(action) = action else {
            let what = if open { "expands" } else { "collapses" };
            return Err(not_offered(format!("no action of it {what} it; {}", offered(&actions))));
        };
        self.do_action(action).await?;
        if is_open.is_none() {
            return Ok(());
        }
        let came = self
            .until(|| async {
                let natives = self.natives(&self.at).await?;
                Ok(self.is_open(subject, natives).await? == Some(open))
            })
            .await?;
        match came {
            true => Ok(()),
            false => Err(not_done(format!("it is as before, although the app did {:?}", action.name))),
        }
    }

    /// Whether the element shows what it holds, where that can be known: it says so, or what it holds does.
    async fn is_open(&self, subject: &Subject, natives: Natives) -> Result<Option<bool>, Failure> {
        if natives.has(Native::Expandable) {
            return Ok(Some(natives.has(Native::Expanded)));
        }
        // Menus and the choices of GTK 3 and Qt are there all the time, and shown when they are open. A combo box of Qt 5 says of its
        // choices that they are shown, open or not; one of Qt 6 says itself whether it is open.
        let tells = match subject.role {
            Role::Menu | Role::MenuItem => self.toolkit.showing_is_content(),
            Role::Combobox => self.toolkit == Toolkit::Gtk3,
            _ => false,
        };
        if !tells {
            return Ok(None);
        }
        let first = call(&self.at.bus, &self.at.path, ACCESSIBLE, "GetChildAtIndex", &(0,));
        let Some(child) = body::<Ref>(&self.ask_one(first).await?).filter(Ref::is_some) else {
            return Ok(None);
        };
        let state = call(&child.bus, child.path.as_str(), ACCESSIBLE, "GetState", &());
        let words: Option<Vec<u32>> = body(&self.ask_one(state).await?);
        Ok(words.map(|words| Natives::from_words(&words).has(Native::Showing)))
    }

    /// Whether the element says that it can be checked. The buttons of GTK 3's menus of models do not, and are never seen to be.
    pub(crate) fn tells_checked(&self, subject: &Subject) -> Result<(), Failure> {
        let told = [Native::Checkable, Native::Checked, Native::Pressed, Native::Indeterminate];
        match self.toolkit != Toolkit::Gtk3 || told.iter().any(|state| subject.natives.has(*state)) {
            true => Ok(()),
            false => Err(not_offered("the app does not say whether it is checked")),
        }
    }

    /// The element's actions. Their names are asked for one by one: lists of them are translated, or nameless.
    pub(crate) async fn actions(&self, subject: &Subject) -> Result<Vec<Named>, Failure> {
        if !subject.interfaces.action {
            return Ok(Vec::new());
        }
        let of_it = |method: &str| call(&self.at.bus, &self.at.path, ACTION, method, &());
        let listed: Vec<(String, String, String)> =
            body(&self.ask_one(of_it("GetActions")).await?).unwrap_or_default();
        let indices = 0..i32::try_from(listed.len()).unwrap_or(i32::MAX);
        let names =
            indices.clone().map(|index| call(&self.at.bus, &self.at.path, ACTION, "GetName", &(index,)));
        let names = self.ask(names.collect()).await?;
        let named = indices.zip(listed).zip(&names).map(|((index, (label, ..)), name)| {
            let name = body::<String>(name).filter(|name| !name.is_empty()).unwrap_or_else(|| label.clone());
            Named { index, name, label }
        });
        Ok(named.filter(|action| !action.name.is_empty()).collect())
    }

    /// Does an action, and lets the element finish with it: what comes earlier would be swallowed.
    async fn do_whole(&self, subject: &Subject, action: &Named) -> Result<(), Failure> {
        self.do_action(action).await?;
        let busy = self.toolkit.swallows_presses_for(subject.role);
        if !busy.is_zero() {
            // The app measures the time too, and begins a moment later.
            tokio::time::sleep(busy + MOMENT).await;
            // A busy app may not have noticed yet that the time is over; once it answers, it has.
            self.natives(&self.at).await.map_err(|failure| failure.sent(Sent::Yes))?;
        }
        Ok(())
    }

    /// Does an action.
    pub(crate) async fn do_action(&self, action: &Named) -> Result<(), Failure> {
        let done = call(&self.at.bus, &self.at.path, ACTION, "DoAction", &(action.index,));
        match self.tell_whether(done).await? {
            true => Ok(()),
            false => Err(not_done(format!("the app says that it did not do {:?}", action.name))),
        }
    }

    /// Gives the element the keyboard focus. Having it can be read back, and asking for it leaves nothing behind, so an
    /// app that did not give it counts as not having been asked.
    pub(crate) async fn focus(&self, subject: &Subject) -> Result<(), Failure> {
        if !subject.interfaces.component {
            return Err(not_offered("it cannot be given the focus"));
        }
        let given = self.tell_whether(call(&self.at.bus, &self.at.path, COMPONENT, "GrabFocus", &())).await?;
        let focused =
            given && self.until(|| async { Ok(self.natives(&self.at).await?.has(Native::Focused)) }).await?;
        match focused {
            true => Ok(()),
            false => Err(Failure::new(FailureKind::Refused, "the app did not give it the focus")),
        }
    }

    /// Does what a click does to a choice that is not taken yet.
    pub(crate) async fn choose(&self, subject: &Subject) -> Result<(), Failure> {
        match subject.states.has(State::Checked) {
            true => Ok(()),
            false => self.press(subject).await,
        }
    }
}

/// What there is instead.
fn offered(actions: &[Named]) -> String {
    if actions.is_empty() {
        return "it has none".to_owned();
    }
    let names: Vec<&str> = actions.iter().map(|action| action.name.as_str()).collect();
    format!("it has {}", names.join(", "))
}

/// A failure of something that changes nothing when it fails: another way may be tried.
pub(crate) fn harmless(failure: Failure) -> Failure {
    match failure.sent {
        Sent::Yes => failure.sent(Sent::No),
        Sent::No | Sent::Maybe => failure,
    }
}
