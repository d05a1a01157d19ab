//! The last question: just before something is sent, about whoever would receive it.
//!
//! Between the first question, when a request begins, and this one an action may have waited for its turn, and another window may
//! have come up. So the verdict that counts is about the window at the point, and the one with the focus, by what they are now.

use std::sync::{Arc, Weak};

use axd_platform::{Act, Failure, FailureKind, InputStep, Receiver, Stretch};
use axd_policy::{Decision, Fact, Stage, pressed_combos};
use axd_protocol::keys::{Combo, Key};
use axd_protocol::{Error, NodeId};
use parking_lot::Mutex;

use crate::Engine;
use crate::action::compare::Comparison;
use crate::action::context::ActionContext;
use crate::action::person::Person;
use crate::action::receiver::is_hidden;
use crate::apps::app::App;
use crate::policy::facts::{About, ElementView, Requester};
use axd_service::Approved;

/// Asks the policy about each receiver of a script of input.
pub(crate) struct Guard {
    engine: Weak<Engine>,
    requester: Requester,
    client: u64,
    approved: Approved,
    /// The app of the elements.
    pid: Option<u32>,
    /// The element that the pointer is aimed at.
    aimed_at: Option<ElementView>,
    /// The element that gets the keys.
    typed_into: Option<ElementView>,
    /// Whether something is dragged: then it is not known what lies below the pointer on its way.
    drags: bool,
    /// The combinations of keys that the script presses, with what is held already.
    keys: Vec<Combo>,
    text: Option<String>,
    comparison: Option<Comparison>,
    person: Option<Person>,
    denied: Denied,
}

/// Why something was not sent.
#[derive(Debug, Clone, Default)]
pub(crate) struct Denied(Arc<Mutex<Option<Error>>>);

impl Denied {
    /// The error that says so.
    pub fn get(&self) -> Option<Error> {
        self.0.lock().clone()
    }

    fn set(&self, error: Error) -> Failure {
        let failure = Failure::new(FailureKind::Denied, error.message.clone());
        *self.0.lock() = Some(error);
        failure
    }
}

impl Guard {
    /// Fails unless input may be sent to this receiver.
    pub fn check(&self, stretch: Stretch, receiver: &Receiver) -> Result<(), Failure> {
        let Some(engine) = self.engine.upgrade() else { return Err(Failure::closed()) };
        if let Some(comparison) = &self.comparison {
            comparison.check(&engine).map_err(|error| self.denied.set(error))?;
        }
        if let Some(person) = &self.person {
            person.check().map_err(|error| self.denied.set(error))?;
        }
        let app = receiver.pid.and_then(|pid| engine.app_view(pid));
        let app = match (&app, receiver.window) {
            (Some(app), _) => Fact::Known(app),
            // Nobody is there.
            (None, None) if receiver.pid.is_none() => Fact::None,
            (None, _) => Fact::Unknown,
        };
        let is_keys = matches!(stretch, Stretch::Keys);
        let element = match stretch {
            Stretch::Keys => self.typed_into.as_ref(),
            Stretch::Over(_) if self.drags => None,
            Stretch::Pointer(_) | Stretch::Over(_) => self.aimed_at.as_ref(),
        };
        let element = element.filter(|_| self.pid.is_some() && receiver.pid == self.pid);
        let about = About {
            app,
            window: match receiver.window {
                Some(_) => Fact::Known(receiver.title.as_str()),
                None => Fact::None,
            },
            element: Fact::known_or_not(element),
            keys: if is_keys { &self.keys } else { &[] },
            text: self.text.as_deref().filter(|_| is_keys),
            ..About::default()
        };
        if receiver.window.is_some() && is_hidden(&engine.desktop.read(), receiver) {
            let why = "a window that may not be read would get the input";
            let decision = Decision::deny("hidden-window", why, "leave this window to the user");
            return Err(self.denied.set(decision.to_error()));
        }
        let decision = engine.decide(&self.requester, &about, Stage::Final);
        let checked = engine.check(decision, self.client, &self.approved, &about);
        checked.map_err(|decision| self.denied.set(decision.to_error()))
    }
}

impl ActionContext<'_> {
    /// The guard of a script of input for an element, or for whatever is there.
    pub fn guard(&self, steps: &[InputStep], element: Option<NodeId>) -> Guard {
        let view = |id: NodeId| self.read_node(id, ElementView::of).ok();
        let element = element.or(self.target);
        let text: String = steps.iter().filter_map(text_of).collect();
        let presses = |step: &InputStep| matches!(step, InputStep::Button(_, true));
        Guard {
            engine: Arc::downgrade(self.engine),
            requester: self.requester.clone(),
            client: self.call.session.client,
            approved: self.call.approved.clone(),
            pid: self.app.as_ref().map(|app| app.pid()),
            aimed_at: element.and_then(view),
            typed_into: element.or(self.focused).and_then(view),
            drags: steps.iter().any(presses) || self.engine.input_lock.is_holding_button(),
            keys: combos(&self.engine.input_lock.held_keys(), steps),
            text: (!text.is_empty()).then_some(text),
            comparison: self.comparison.clone(),
            person: self.person.clone(),
            denied: self.denied.clone(),
        }
    }

    /// Fails unless an element of an app may be acted on through it.
    pub fn guard_act(&self, app: &Arc<App>, id: NodeId, act: &Act) -> Result<(), Failure> {
        if let Some(comparison) = &self.comparison {
            comparison.check(self.engine).map_err(|error| self.denied.set(error))?;
        }
        if let Some(person) = &self.person {
            person.check().map_err(|error| self.denied.set(error))?;
        }
        let gone = |error: Error| Failure::new(FailureKind::Gone, error.message);
        let (element, title) = {
            let tree = app.tree.read();
            let ix = crate::apps::target::alive(app, &tree, id).map_err(gone)?;
            (ElementView::of(&tree, ix), self.engine.window_title(&tree, ix))
        };
        let view = self.engine.app_view(app.pid());
        let about = About {
            app: Fact::known_or_not(view.as_ref()),
            window: title.as_deref().into(),
            element: Fact::Known(&element),
            text: match act {
                Act::SetValue(text) | Act::Insert(text) => Some(text),
                _ => None,
            },
            ..About::default()
        };
        let decision = self.engine.decide(&self.requester, &about, Stage::Final);
        let checked = self.engine.check(decision, self.call.session.client, &self.call.approved, &about);
        checked.map_err(|decision| self.denied.set(decision.to_error()))
    }
}

fn text_of(step: &InputStep) -> Option<&str> {
    match step {
        InputStep::Text(text) => Some(text),
        _ => None,
    }
}

/// The combinations of keys that arise from these steps. A text is typed with whatever modifiers are held by others, so its
/// characters count as keys then.
fn combos(held: &[Key], steps: &[InputStep]) -> Vec<Combo> {
    let is_held = held.iter().any(|key| matches!(key, Key::Modifier(_)));
    let keys = steps.iter().flat_map(|step| match step {
        InputStep::Key(key, down) => vec![(*key, *down)],
        InputStep::Text(text) if is_held => {
            text.chars().flat_map(char::to_lowercase).map(|c| (Key::Char(c), true)).collect()
        }
        _ => Vec::new(),
    });
    pressed_combos(held, keys)
}

/// The steps, with the question who is there before the pointer comes over something: with a button down, because what is dragged
/// could be dropped there, and where the script is about the pointer alone.
pub(crate) fn with_questions(steps: Vec<InputStep>, is_holding_button: bool) -> Vec<InputStep> {
    let presses = |step: &InputStep| matches!(step, InputStep::Button(_, true) | InputStep::Wheel { .. });
    let is_all = !steps.iter().any(presses);
    let mut is_down = is_holding_button;
    let mut asked = Vec::with_capacity(steps.len() + 2);
    for step in steps {
        match step {
            InputStep::Button(_, down) => is_down = down,
            InputStep::Move(to) if is_down || is_all => asked.push(InputStep::Expect(Stretch::Over(to))),
            _ => {}
        }
        asked.push(step);
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_protocol::Point;
    use axd_protocol::keys::{Button, Modifier};

    #[test]
    fn text_counts_as_keys_while_a_modifier_is_held() {
        let steps = [InputStep::Text("aQ".into())];
        assert!(combos(&[], &steps).is_empty());
        let held = combos(&[Key::Modifier(Modifier::Ctrl)], &steps);
        assert!(held.contains(&"ctrl+q".parse().unwrap()), "{held:?}");
    }

    #[test]
    fn who_is_there_is_asked_before_something_is_dragged_over_it() {
        let (from, to) = (Point { x: 1, y: 1 }, Point { x: 9, y: 9 });
        let drag = vec![
            InputStep::Move(from),
            InputStep::Button(Button::Left, true),
            InputStep::Move(to),
            InputStep::Button(Button::Left, false),
        ];
        let asked = with_questions(drag, false);
        assert_eq!(asked[2], InputStep::Expect(Stretch::Over(to)));
        assert_eq!(asked.len(), 5, "a click asks by itself who gets it");
        assert_eq!(with_questions(vec![InputStep::Move(to)], false).len(), 2, "a hover");
    }
}
