//! The route with mouse and keyboard: the steps that make up clicks, keys and the wheel, and how they are sent.

use std::sync::Arc;
use std::time::Duration;

use axd_protocol::command::Route;
use axd_protocol::error::Delivery;
use axd_protocol::keys::{Button, Combo, Key, Modifier, Named};
use axd_protocol::{Error, ErrorCode, NodeId, Point, Result, Role, State};

use crate::action::context::{ActionContext, Outcome};
use crate::action::input_lock::HeldInput;
use crate::action::receiver::Expected;
use crate::policy::guard::with_questions;
use axd_platform::{Act, Direction, FailureKind, Input, InputStep, Sent};

/// The pause between the clicks of a double or triple click: some apps occasionally miss one of several clicks without a pause.
const CLICK_PAUSE: Duration = Duration::from_millis(30);
/// The maximum number of wheel notches in one request.
const MAX_NOTCHES: u32 = 1_000;
/// The maximum time for which a request holds a key or button, in milliseconds.
const MAX_HOLD_MS: u64 = 600_000;

impl ActionContext<'_> {
    /// Sends input to the point or the element that this action is about.
    pub async fn input(&self, steps: Vec<InputStep>) -> Result<Outcome> {
        let expected = self.expected_at_spot()?;
        self.send(steps, expected).await
    }

    pub fn input_outcome(&self, doubt: Option<String>) -> Outcome {
        let method = self.engine.platform.input_method();
        Outcome { doubt, ..Outcome::by(method, Route::Input, Delivery::DeliveredUnverified) }
    }

    /// Clicks the target, or the point that the request names.
    pub async fn click(&self, button: Button, count: u32) -> Result<Outcome> {
        let at = self.point_at().await?;
        self.input(clicks(at, button, count, &[])).await
    }

    /// Clicks another element of the app.
    pub async fn click_on(&self, id: NodeId) -> Result<Outcome> {
        let app = Arc::clone(self.app()?);
        let at = self.point_at_element(&app, id).await?;
        let expected = match self.pops_up(id) {
            true => Expected::Popup(app.pid()),
            false => self.expected_of(id)?,
        };
        self.send_to(id, clicks(at, Button::Left, 1, &[]), expected).await
    }

    /// Types a text: into the target, which has the focus, or into the app that the request names.
    pub async fn keys(&self, text: &str) -> Result<Outcome> {
        self.by_keys(vec![InputStep::Text(text.to_owned())]).await
    }

    /// Sends keyboard input to the target, or to the app or window that the request names.
    pub async fn by_keys(&self, steps: Vec<InputStep>) -> Result<Outcome> {
        let (window, expected) = match self.target {
            Some(id) => (self.window_of(id)?, self.expected_of(id)?),
            None => (self.window_to_front()?, self.expected_by_name()?),
        };
        self.send_keys(steps, window, expected).await
    }

    /// Gives the target the focus, so that it gets the typed text: through the app, else by a click into it. The input lock is
    /// taken first, so that no other client moves the focus between this and the typing.
    pub async fn focus_to_type(&self) -> Result<()> {
        let Ok(id) = self.id() else { return Ok(()) };
        self.take_input_lock().await?;
        let in_front = self.is_in_front(id);
        if self.holds_focus(id) && in_front {
            return Ok(());
        }
        self.bring_to_front(id).await?;
        // A window that comes to the front gives the focus back to the element that had it: then the caret is where it was
        // left.
        if !in_front {
            self.read_again(id).await?;
            if self.holds_focus(id) {
                return Ok(());
            }
        }
        if !self.holds_focus(id) && self.perform(id, Act::Focus).await.is_ok() {
            self.wait_for_effect(|| self.holds_focus(id)).await;
        }
        if !self.holds_focus(id) {
            self.click(Button::Left, 1).await?;
            self.wait_for_effect(|| self.holds_focus(id)).await;
        }
        let role = self.role().unwrap_or(Role::Unknown);
        if !self.holds_focus(id) && takes_focus(role) {
            return Err(self.not_actionable("did not take the keyboard focus"));
        }
        self.put_caret_at_end(id).await
    }

    /// Puts the caret behind what a field holds: one that gets the focus may select its text, and typing would replace it. Where
    /// the app cannot do it, keys do, unless a key is held: with Shift they would select the text. What is no field is left as it is.
    async fn put_caret_at_end(&self, id: NodeId) -> Result<()> {
        let by_keys = match self.perform(id, Act::CaretToEnd).await {
            Err(failure) => failure.kind == FailureKind::NotSupported && failure.sent == Sent::No,
            Ok(()) => false,
        };
        let is_field = match self.role() {
            Some(Role::TextField | Role::TextArea | Role::SearchField) => true,
            Some(Role::SpinButton) | None => false,
            Some(_) => self.has(State::Editable),
        };
        if by_keys && is_field && !self.engine.input_lock.is_holding() {
            self.by_keys(press(&self.engine.platform.end_of_text_keys())).await?;
        }
        Ok(())
    }

    /// Whether the element, or one inside it, has the focus.
    pub fn holds_focus(&self, id: NodeId) -> bool {
        self.read_node(id, |tree, ix| {
            tree.states(ix).has(State::Focused)
                || tree.focused().is_some_and(|focused| tree.is_within(focused, ix))
        })
        .unwrap_or(false)
    }

    /// Empties the field that has the focus.
    pub async fn erase(&self) -> Result<Outcome> {
        let all = Combo { modifiers: vec![self.engine.platform.shortcut_modifier()], key: Key::Char('a') };
        let mut steps = press(&all);
        steps.extend(press(&Combo { modifiers: Vec::new(), key: Key::Named(Named::Backspace) }));
        self.by_keys(steps).await
    }

    /// Presses keys or buttons after other steps, and holds them.
    pub async fn hold(
        &self,
        before: Vec<InputStep>,
        expected: Expected,
        what: &[HeldInput],
        lease: Option<Duration>,
    ) -> Result<Outcome> {
        self.take_input_lock().await?;
        let gate = self.call.gate.part();
        let presses = before.iter().cloned().chain(what.iter().map(|what| what.step(true)));
        let guard = self.guard(&presses.collect::<Vec<_>>(), None);
        let before = with_questions(before, self.engine.input_lock.is_holding_button());
        let before = Input { steps: before, judge: self.judge(expected, guard) };
        let held = self.engine.hold(&self.call.session, before, what, lease, &gate, self.deadline).await;
        held.map(|doubt| self.input_outcome(doubt)).map_err(|failure| self.not_sent(&failure, &gate))
    }

    /// Releases keys or buttons after other steps.
    pub async fn release(&self, before: Vec<InputStep>, what: &[HeldInput]) -> Result<Outcome> {
        self.take_input_lock().await?;
        let gate = self.call.gate.part();
        // What is released is dropped where the pointer is by then.
        let judge = self.judge(Expected::Anyone, self.guard(&before, None));
        let before = Input { steps: with_questions(before, true), judge };
        let released = self.engine.release(before, what, &gate, self.deadline).await;
        released.map(|doubt| self.input_outcome(doubt)).map_err(|failure| self.not_sent(&failure, &gate))
    }
}

/// The time for which a key or button is held, if the request limits it.
pub(crate) fn lease(hold_ms: Option<u64>) -> Result<Option<Duration>> {
    match hold_ms {
        Some(ms) if !(1..=MAX_HOLD_MS).contains(&ms) => {
            Err(Error::new(ErrorCode::InvalidArgs, format!("hold_ms must be between 1 and {MAX_HOLD_MS}")))
        }
        ms => Ok(ms.map(Duration::from_millis)),
    }
}

/// The number of wheel notches of a request.
pub(crate) fn notches(amount: Option<u32>) -> Result<u32> {
    match amount.unwrap_or(3) {
        amount @ 1..=MAX_NOTCHES => Ok(amount),
        _ => Err(Error::new(ErrorCode::InvalidArgs, format!("amount must be between 1 and {MAX_NOTCHES}"))),
    }
}

/// The steps of clicks at a point.
pub(crate) fn clicks(at: Point, button: Button, count: u32, modifiers: &[Modifier]) -> Vec<InputStep> {
    let mut steps = vec![InputStep::Move(at)];
    for click in 0..count {
        if click > 0 {
            steps.push(InputStep::Pause(CLICK_PAUSE));
        }
        steps.extend([InputStep::Button(button, true), InputStep::Button(button, false)]);
    }
    with(modifiers, steps)
}

/// The step that turns the wheel.
pub(crate) fn turn(direction: Direction, amount: u32) -> InputStep {
    let amount = i32::try_from(amount).unwrap_or(i32::MAX);
    match direction {
        Direction::Up => InputStep::Wheel { right: 0, down: -amount },
        Direction::Down => InputStep::Wheel { right: 0, down: amount },
        Direction::Left => InputStep::Wheel { right: -amount, down: 0 },
        Direction::Right => InputStep::Wheel { right: amount, down: 0 },
    }
}

/// The steps, with modifiers held meanwhile.
pub(crate) fn with(modifiers: &[Modifier], steps: Vec<InputStep>) -> Vec<InputStep> {
    let key = |down| move |modifier: &Modifier| InputStep::Key(Key::Modifier(*modifier), down);
    let pressed = modifiers.iter().map(key(true));
    let released = modifiers.iter().rev().map(key(false));
    pressed.chain(steps).chain(released).collect()
}

/// The steps that press and release keys.
pub(crate) fn press(combo: &Combo) -> Vec<InputStep> {
    with(&combo.modifiers, vec![InputStep::Key(combo.key, true), InputStep::Key(combo.key, false)])
}

/// Whether elements of this role reliably report that they have the focus.
fn takes_focus(role: Role) -> bool {
    matches!(role, Role::TextField | Role::TextArea | Role::SearchField | Role::SpinButton | Role::Combobox)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modifiers_are_pressed_before_and_let_go_of_after_in_turn() {
        let combo: Combo = "ctrl+shift+s".parse().unwrap();
        let key = |key, down| InputStep::Key(key, down);
        let (ctrl, shift) = (Key::Modifier(Modifier::Ctrl), Key::Modifier(Modifier::Shift));
        assert_eq!(
            press(&combo),
            [
                key(ctrl, true),
                key(shift, true),
                key(Key::Char('s'), true),
                key(Key::Char('s'), false),
                key(shift, false),
                key(ctrl, false)
            ]
        );
    }

    #[test]
    fn amounts_have_bounds() {
        assert_eq!(notches(None).unwrap(), 3);
        assert!(notches(Some(0)).is_err());
        assert!(notches(Some(MAX_NOTCHES + 1)).is_err());
        assert!(lease(Some(0)).is_err());
        assert!(lease(None).unwrap().is_none());
    }

    #[test]
    fn the_wheel_turns_in_the_given_direction() {
        assert_eq!(turn(Direction::Up, 2), InputStep::Wheel { right: 0, down: -2 });
        assert_eq!(turn(Direction::Right, 1), InputStep::Wheel { right: 1, down: 0 });
    }
}
