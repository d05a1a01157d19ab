//! The last question: just before something is sent, about whoever would receive it.
//!
//! Between the first question, when a request begins, and this one an action may have waited for its turn, and another window may
//! have come up. So the verdict that counts is about the window at the point, and the one with the focus, by what they are now.

use std::sync::{Arc, Weak};

use axd_platform::{Act, Failure, FailureKind, InputStep, Receiver, Stretch};
use axd_policy::{Decision, Fact, Stage, Verdict, pressed_combos};
use axd_protocol::NodeId;
use axd_protocol::keys::{Combo, Key};
use parking_lot::Mutex;

use crate::Engine;
use crate::action::context::ActionContext;
use crate::action::receiver::is_hidden;
use crate::policy::approvals::Wanted;
use crate::policy::facts::{About, ElementView, Requester};
use crate::policy::permit::Grants;

/// Asks the policy about each receiver of a script of input.
#[derive(Clone)]
pub(crate) struct Guard {
    engine: Weak<Engine>,
    requester: Requester,
    grants: Grants,
    /// The element that the input is for, and its app.
    element: Option<(u32, ElementView)>,
    /// The combinations of keys that the script presses, with what is held already.
    keys: Arc<[Combo]>,
    text: Option<Arc<str>>,
    denied: Denied,
}

/// What the policy did not allow.
#[derive(Debug, Clone, Default)]
pub(crate) struct Denied(Arc<Mutex<Option<(Decision, Wanted)>>>);

impl Denied {
    /// The decision.
    pub fn get(&self) -> Option<Decision> {
        self.0.lock().as_ref().map(|(decision, _)| decision.clone())
    }

    /// What somebody would have to approve.
    pub fn to_be_approved(&self) -> Option<(Decision, Wanted)> {
        self.0.lock().clone().filter(|(decision, _)| decision.verdict == Verdict::Ask)
    }

    fn check(&self, decision: Decision, grants: &Grants, about: &About<'_>) -> Result<(), Failure> {
        if decision.verdict == Verdict::Allow {
            return Ok(());
        }
        let wanted = Wanted::of(about);
        if decision.verdict == Verdict::Ask && grants.has(&decision, &wanted) {
            return Ok(());
        }
        let failure = Failure::new(FailureKind::Denied, decision.why.clone());
        *self.0.lock() = Some((decision, wanted));
        Err(failure)
    }
}

impl Guard {
    /// Fails unless input may be sent to this receiver.
    pub fn check(&self, stretch: Stretch, receiver: &Receiver) -> Result<(), Failure> {
        let Some(engine) = self.engine.upgrade() else { return Err(Failure::closed()) };
        let app = receiver.pid.and_then(|pid| engine.app_view(pid));
        let app = match (&app, receiver.window) {
            (Some(app), _) => Fact::Known(app),
            // Nobody is there.
            (None, None) if receiver.pid.is_none() => Fact::None,
            (None, _) => Fact::Unknown,
        };
        let element = match (&self.element, stretch) {
            (_, Stretch::Over(_)) => Fact::None,
            (Some((pid, element)), _) if receiver.pid == Some(*pid) => Fact::Known(element),
            _ => Fact::Unknown,
        };
        let is_keys = matches!(stretch, Stretch::Keys);
        let about = About {
            app,
            window: match receiver.window {
                Some(_) => Fact::Known(receiver.title.as_str()),
                None => Fact::None,
            },
            element,
            keys: if is_keys { &self.keys } else { &[] },
            text: self.text.as_deref().filter(|_| is_keys),
            ..About::default()
        };
        if receiver.window.is_some() && is_hidden(&engine.desktop.read(), receiver) {
            let why = "a window that may not be read would get the input";
            let decision = Decision::deny("hidden-window", why, "leave this window to the user");
            return self.denied.check(decision, &self.grants, &About::default());
        }
        self.denied.check(engine.decide(&self.requester, &about, Stage::Final), &self.grants, &about)
    }
}

impl ActionContext<'_> {
    /// The guard of a script of input for an element, or for whatever is there.
    pub fn guard(&self, steps: &[InputStep], element: Option<NodeId>) -> Guard {
        let element = element.or(self.target).or(self.focused);
        let view = element.and_then(|id| self.read_node(id, ElementView::of).ok());
        let pid = self.app.as_ref().map(|app| app.pid());
        let text: String = steps.iter().filter_map(text_of).collect();
        Guard {
            engine: Arc::downgrade(self.engine),
            requester: self.requester.clone(),
            grants: self.grants.clone(),
            element: pid.zip(view),
            keys: combos(&self.engine.input_lock.held_keys(), steps).into(),
            text: (!text.is_empty()).then(|| text.into()),
            denied: self.denied.clone(),
        }
    }

    /// Fails unless an element may be acted on through its app.
    pub fn guard_act(&self, id: NodeId, act: &Act) -> Result<(), Failure> {
        let gone = |error: axd_protocol::Error| Failure::new(FailureKind::Gone, error.message);
        let app = self.app().map_err(gone)?;
        let (element, title) = {
            let tree = app.tree.read();
            let ix = crate::apps::target::alive(app, &tree, id).map_err(gone)?;
            (ElementView::of(&tree, ix), self.engine.window_title(&tree, ix))
        };
        let view = self.engine.app_view(app.pid());
        let about = About {
            app: view.as_ref().map_or(Fact::Unknown, Fact::Known),
            window: title.as_deref().into(),
            element: Fact::Known(&element),
            text: match act {
                Act::SetValue(text) | Act::Insert(text) => Some(text),
                _ => None,
            },
            ..About::default()
        };
        let decision = self.engine.decide(&self.requester, &about, Stage::Final);
        self.denied.check(decision, &self.grants, &about)
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
