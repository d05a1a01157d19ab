//! An element's own actions: pressing it, doing what its app offers by name, showing and hiding what it holds.

use std::time::Duration;

use axd_protocol::{Role, State};

use crate::action::action_names::{self, NativeAction};
use crate::action::{Actor, Target};
use crate::atspi::dbus::call;
use crate::atspi::protocol::{ACCESSIBLE, ACTION, COMPONENT, ObjectRef, body};
use crate::atspi::states::{NativeState, NativeStates};
use crate::atspi::toolkit::Toolkit;
use axd_platform::{Failure, FailureKind, Sent};

/// How much later than axd an app may start its timer.
const CLOCK_SLACK: Duration = Duration::from_millis(20);

impl Actor {
    /// Performs the action that does what a click on the element does.
    pub(crate) async fn press(&self, target: &Target) -> Result<(), Failure> {
        let actions = self.actions(target).await?;
        match action_names::press_action(target.role, &actions) {
            Some(action) => self.do_action_and_wait(target, action).await,
            None => {
                Err(Failure::unsupported(format!("it has no press action; {}", describe_offered(&actions))))
            }
        }
    }

    /// Does the action of this name.
    pub(crate) async fn do_named_action(&self, target: &Target, name: &str) -> Result<(), Failure> {
        let actions = self.actions(target).await?;
        match action_names::action_by_name(name, &actions) {
            Some(action) => self.do_action_and_wait(target, action).await,
            None => Err(Failure::unsupported(format!(
                "it has no action {name:?}; {}",
                describe_offered(&actions)
            ))),
        }
    }

    /// Expands or collapses the element. Nothing is sent if it is in that state already.
    pub(crate) async fn set_expanded(&self, target: &Target, open: bool) -> Result<(), Failure> {
        let is_open = self.is_open(target, target.native_states).await?;
        if is_open == Some(open) {
            return Ok(());
        }
        let actions = self.actions(target).await?;
        let action = action_names::expand_action(target.role, open, is_open.is_some(), &actions);
        let Some(action) = action else {
            let what = if open { "expands" } else { "collapses" };
            return Err(Failure::unsupported(format!(
                "it has no action that {what} it; {}",
                describe_offered(&actions)
            )));
        };
        self.do_action(action).await?;
        if is_open.is_none() {
            return Ok(());
        }
        let came = self
            .wait_until(|| async {
                let natives = self.read_states(&self.at).await?;
                Ok(self.is_open(target, natives).await? == Some(open))
            })
            .await?;
        match came {
            true => Ok(()),
            false => Err(Failure::not_effective(format!(
                "it did not change, although the app performed {:?}",
                action.name
            ))),
        }
    }

    /// Whether the element is expanded, where its states or those of its first child say so.
    async fn is_open(&self, target: &Target, natives: NativeStates) -> Result<Option<bool>, Failure> {
        if natives.has(NativeState::Expandable) {
            return Ok(Some(natives.has(NativeState::Expanded)));
        }
        // Menus and the choices of GTK 3 and Qt are there all the time, and shown when they are open. A combo box of Qt 5 says of its
        // choices that they are shown, open or not; one of Qt 6 says itself whether it is open.
        let is_shown_when_open = match target.role {
            Role::Menu | Role::MenuItem => self.toolkit.showing_is_content(),
            Role::Combobox => self.toolkit == Toolkit::Gtk3,
            _ => false,
        };
        if !is_shown_when_open {
            return Ok(None);
        }
        let first = call(&self.at.bus, &self.at.path, ACCESSIBLE, "GetChildAtIndex", &(0,));
        let Some(child) = body::<ObjectRef>(&self.call(first).await?).filter(ObjectRef::is_element) else {
            return Ok(None);
        };
        let state = call(&child.bus, child.path.as_str(), ACCESSIBLE, "GetState", &());
        let words: Option<Vec<u32>> = body(&self.call(state).await?);
        Ok(words.map(|words| NativeStates::from_words(&words).has(NativeState::Showing)))
    }

    /// Whether the element says that it can be checked. The buttons of GTK 3's menus of models do not, and are never seen to be.
    pub(crate) fn require_checkable(&self, target: &Target) -> Result<(), Failure> {
        let states =
            [NativeState::Checkable, NativeState::Checked, NativeState::Pressed, NativeState::Indeterminate];
        match self.toolkit != Toolkit::Gtk3 || states.iter().any(|state| target.native_states.has(*state)) {
            true => Ok(()),
            false => Err(Failure::unsupported("the app does not report whether it is checked")),
        }
    }

    /// The element's actions. Their names are asked for one by one: lists of them are translated, or nameless.
    pub(crate) async fn actions(&self, target: &Target) -> Result<Vec<NativeAction>, Failure> {
        if !target.interfaces.action {
            return Ok(Vec::new());
        }
        let of_it = |method: &str| call(&self.at.bus, &self.at.path, ACTION, method, &());
        let listed: Vec<(String, String, String)> =
            body(&self.call(of_it("GetActions")).await?).unwrap_or_default();
        let indices = 0..i32::try_from(listed.len()).unwrap_or(i32::MAX);
        let names =
            indices.clone().map(|index| call(&self.at.bus, &self.at.path, ACTION, "GetName", &(index,)));
        let names = self.call_all(names.collect()).await?;
        let named = indices.zip(listed).zip(&names).map(|((index, (label, ..)), name)| {
            let name = body::<String>(name).filter(|name| !name.is_empty()).unwrap_or_else(|| label.clone());
            NativeAction { index, name, label }
        });
        Ok(named.filter(|action| !action.name.is_empty()).collect())
    }

    /// Performs an action and waits until the element takes the next: it would ignore one that comes earlier.
    async fn do_action_and_wait(&self, target: &Target, action: &NativeAction) -> Result<(), Failure> {
        self.do_action(action).await?;
        let busy = self.toolkit.swallows_presses_for(target.role);
        if !busy.is_zero() {
            // The app measures the time too, and begins a moment later.
            tokio::time::sleep(busy + CLOCK_SLACK).await;
            // A busy app may not have noticed yet that the time is over; once it answers, it has.
            self.read_states(&self.at).await.map_err(|failure| failure.sent(Sent::Yes))?;
        }
        Ok(())
    }

    /// Does an action.
    pub(crate) async fn do_action(&self, action: &NativeAction) -> Result<(), Failure> {
        let done = call(&self.at.bus, &self.at.path, ACTION, "DoAction", &(action.index,));
        match self.send_and_confirm(done).await? {
            true => Ok(()),
            false => Err(Failure::not_effective(format!("the app reports that {:?} failed", action.name))),
        }
    }

    /// Gives the element the keyboard focus. Having it can be read back, and asking for it leaves nothing behind, so an
    /// app that did not give it counts as not having been asked.
    pub(crate) async fn focus(&self, target: &Target) -> Result<(), Failure> {
        if !target.interfaces.component {
            return Err(Failure::unsupported("it cannot be focused"));
        }
        let given =
            self.send_and_confirm(call(&self.at.bus, &self.at.path, COMPONENT, "GrabFocus", &())).await?;
        let focused = given
            && self
                .wait_until(|| async { Ok(self.read_states(&self.at).await?.has(NativeState::Focused)) })
                .await?;
        match focused {
            true => Ok(()),
            false => Err(Failure::new(FailureKind::Refused, "the app did not focus it")),
        }
    }

    /// Presses a radio button that is not checked yet.
    pub(crate) async fn choose(&self, target: &Target) -> Result<(), Failure> {
        match target.states.has(State::Checked) {
            true => Ok(()),
            false => self.press(target).await,
        }
    }
}

/// The actions that an element offers, for an error message.
fn describe_offered(actions: &[NativeAction]) -> String {
    if actions.is_empty() {
        return "it has none".to_owned();
    }
    let names: Vec<&str> = actions.iter().map(|action| action.name.as_str()).collect();
    format!("it has {}", names.join(", "))
}

/// Marks a failure as not sent, of an action that changes nothing when it fails: another way may be tried.
pub(crate) fn as_unsent(failure: Failure) -> Failure {
    match failure.sent {
        Sent::Yes => failure.sent(Sent::No),
        Sent::No | Sent::Maybe => failure,
    }
}
