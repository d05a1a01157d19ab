//! Runs a script of input steps. A script that fails or is cancelled releases what it pressed itself.

use std::time::{Duration, Instant};

use axd_protocol::Point;
use axd_protocol::keys::{Button, Key};

use super::events::{EventSource, InputEvent, is_button_down, is_key_down, pointer};
use super::keys::{KeyStroke, Keymap, flag_of};
use super::receiver;
use super::text::{TextPiece, pieces};
use crate::ffi::cg::{CGEventFlags, CGEventType, CGMouseButton, KeyCode};
use axd_platform::{Failure, FailureKind, Gate, Input, InputStep, Judge, Sent, Stretch};

/// The pause between pieces of a text, because an app's event queue is finite, and between polls.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Clicks count as a double click if they are no further apart than this, in time and in points.
const MULTI_CLICK_INTERVAL: Duration = Duration::from_millis(500);
const MULTI_CLICK_DISTANCE: i32 = 4;
/// How long to wait until the system has registered the last event.
const ARRIVAL_TIMEOUT: Duration = Duration::from_millis(100);
/// How many lines one wheel event carries at most.
const MAX_WHEEL_LINES: i32 = 10;

/// Mouse and keyboard, with what is held.
pub struct InputDevice {
    source: EventSource,
    /// The modifiers that are held, also from one script to the next.
    flags: CGEventFlags,
    buttons: Vec<Button>,
    /// How many button presses were sent; it numbers the events.
    press_count: i64,
    /// The clicks of this script that count together.
    clicks: Option<ClickSequence>,
    /// Where this script moved the pointer to. The system reports the position only with a delay.
    at: Option<Point>,
    /// The last control that this script pressed or released.
    last: Option<(InputControl, bool)>,
}

/// A control whose state the system reports.
#[derive(Clone, Copy)]
enum InputControl {
    Button(CGMouseButton),
    Key(u16),
}

struct ClickSequence {
    button: Button,
    at: Point,
    when: Instant,
    count: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HeldInput {
    Key(Key),
    Button(Button),
}

impl InputDevice {
    /// A device that holds nothing.
    pub fn new() -> Result<InputDevice, Failure> {
        let source = EventSource::new()
            .ok_or_else(|| refused("the system does not accept input from programs now"))?;
        Ok(InputDevice {
            source,
            flags: CGEventFlags::empty(),
            buttons: Vec::new(),
            press_count: 0,
            clicks: None,
            at: None,
            last: None,
        })
    }

    /// Runs a script.
    pub fn run(&mut self, input: &Input, keymap: &Keymap, gate: &Gate) -> Result<(), Failure> {
        let Input { steps, judge } = input;
        check_keys(steps, keymap)?;
        // Clicks of two scripts never count together.
        (self.clicks, self.at, self.last) = (None, None, None);
        let (mut down, mut sent) = (Vec::new(), false);
        let mut asked = None;
        let result = steps.iter().try_for_each(|step| {
            self.check_receiver(step, judge, &mut asked)?;
            self.step(step, (keymap, judge, gate), &mut down, &mut sent)
        });
        if result.is_err() {
            for held in down.into_iter().rev() {
                // The script has failed already; a second failure would not add anything.
                let _ = match held {
                    HeldInput::Key(key) => self.key(key, false, keymap),
                    HeldInput::Button(button) => self.button(button, false),
                };
            }
        }
        if sent {
            self.wait_until_received();
        }
        result.map_err(|failure| match failure.sent {
            Sent::No if sent => failure.sent(Sent::Yes),
            _ => failure,
        })
    }

    fn step(
        &mut self,
        step: &InputStep,
        (keymap, judge, gate): (&Keymap, &Judge, &Gate),
        down: &mut Vec<HeldInput>,
        sent: &mut bool,
    ) -> Result<(), Failure> {
        match step {
            InputStep::Pause(time) => return pause(*time, gate),
            InputStep::Text(text) => return self.text(text, judge, gate, sent),
            InputStep::Move(to) => {
                if gate.is_closed() {
                    return Err(Failure::closed());
                }
                return self.move_pointer(*to);
            }
            InputStep::Arrive => {
                self.wait_until_received();
                return Ok(());
            }
            InputStep::Expect(_) => return Ok(()),
            InputStep::Wheel { right, down } => {
                for (right, down) in wheel_events(*right, *down) {
                    gate.enter()?;
                    *sent = true;
                    // The system counts lines upwards and to the left.
                    let turn = self.source.wheel(-down, -right);
                    self.post(turn.map(|turn| match self.at {
                        Some(at) => turn.with_location(at),
                        None => turn,
                    }))?;
                }
                return Ok(());
            }
            _ => {}
        }
        gate.enter()?;
        *sent = true;
        match step {
            InputStep::Button(button, is_down) => {
                track_held(down, HeldInput::Button(*button), *is_down);
                self.button(*button, *is_down)
            }
            InputStep::Key(key, is_down) => {
                track_held(down, HeldInput::Key(*key), *is_down);
                self.key(*key, *is_down, keymap)
            }
            InputStep::Move(_)
            | InputStep::Pause(_)
            | InputStep::Text(_)
            | InputStep::Wheel { .. }
            | InputStep::Arrive
            | InputStep::Expect(_) => Ok(()),
        }
    }

    /// Asks the judge about the receiver before each stretch: a row of keys, or one button press. (Text does that itself, piece by
    /// piece.) macOS cannot send input to one receiver only, so a change between the question and the event is unlikely, but not
    /// impossible.
    fn check_receiver(
        &self,
        step: &InputStep,
        judge: &Judge,
        asked: &mut Option<Stretch>,
    ) -> Result<(), Failure> {
        let stretch = match step {
            InputStep::Key(_, true) => Stretch::Keys,
            InputStep::Button(_, true) | InputStep::Wheel { .. } => {
                *asked = None;
                let at = self.at.or_else(pointer);
                Stretch::Pointer(
                    at.ok_or_else(|| refused("the system does not report the position of the pointer"))?,
                )
            }
            InputStep::Expect(stretch) => *stretch,
            InputStep::Key(_, false) => return Ok(()),
            _ => {
                *asked = None;
                return Ok(());
            }
        };
        if asked.replace(stretch) == Some(Stretch::Keys) && stretch == Stretch::Keys {
            return Ok(());
        }
        judge.decide(stretch, &receiver::receiver_of(stretch))
    }

    /// Waits a short time until the system has registered the last event, because its effect is read next.
    fn wait_until_received(&self) {
        let end = Instant::now() + ARRIVAL_TIMEOUT;
        let has = || {
            let there = self.at.is_none_or(|at| pointer() == Some(at));
            let done = self.last.is_none_or(|(control, down)| match control {
                InputControl::Button(button) => is_button_down(button) == down,
                InputControl::Key(code) => is_key_down(code) == down,
            });
            there && done
        };
        while !has() && Instant::now() < end {
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    fn post(&self, event: Option<InputEvent>) -> Result<(), Failure> {
        let event = event.ok_or_else(|| refused("the system could not create an input event"))?;
        event.with_flags(self.flags).post();
        Ok(())
    }

    /// Moves the pointer; with a button held it is a drag.
    fn move_pointer(&mut self, to: Point) -> Result<(), Failure> {
        self.at = Some(to);
        let (kind, button) = match self.buttons.last() {
            None => (CGEventType::MouseMoved, CGMouseButton::Left),
            Some(Button::Left) => (CGEventType::LeftMouseDragged, CGMouseButton::Left),
            Some(Button::Right) => (CGEventType::RightMouseDragged, CGMouseButton::Right),
            Some(Button::Middle) => (CGEventType::OtherMouseDragged, CGMouseButton::Center),
        };
        self.post(self.source.mouse(kind, to, button))
    }

    fn button(&mut self, button: Button, down: bool) -> Result<(), Failure> {
        let at = self.at.or_else(pointer);
        let at = at.ok_or_else(|| refused("the system does not report the position of the pointer"))?;
        let now = Instant::now();
        if down {
            self.press_count += 1;
            self.buttons.retain(|held| *held != button);
            self.buttons.push(button);
            let before = self.clicks.take().filter(|clicks| clicks.continues(button, at, now));
            let count = before.map_or(1, |clicks| clicks.count + 1);
            self.clicks = Some(ClickSequence { button, at, when: now, count });
        } else {
            self.buttons.retain(|held| *held != button);
        }
        let count =
            self.clicks.as_ref().filter(|clicks| clicks.button == button).map_or(1, |clicks| clicks.count);
        let (kind, number) = native_button(button, down);
        self.last = Some((InputControl::Button(number), down));
        let event = self.source.mouse(kind, at, number);
        self.post(event.map(|event| event.with_clicks(count).with_number(self.press_count)))
    }

    fn key(&mut self, key: Key, down: bool, keymap: &Keymap) -> Result<(), Failure> {
        let flag = flag_of(key);
        if down {
            self.flags |= flag;
        } else {
            self.flags &= !flag;
        }
        let Some(KeyStroke { code, flags }) = keymap.stroke(key) else {
            // No key of the layout has this character, so it is typed as text.
            let Key::Char(character) = key else { return Err(no_such_key(key)) };
            let event = self.source.key(0, down);
            return self.post(event.map(|event| event.with_text(character.encode_utf16(&mut [0; 2]))));
        };
        let event = self
            .source
            .key(code, down)
            .ok_or_else(|| refused("the system could not create an input event"))?;
        event.with_flags(self.flags | flags).post();
        self.last = Some((InputControl::Key(code), down));
        Ok(())
    }

    fn text(&mut self, text: &str, judge: &Judge, gate: &Gate, sent: &mut bool) -> Result<(), Failure> {
        for (at, piece) in pieces(text).iter().enumerate() {
            if at > 0 {
                std::thread::sleep(POLL_INTERVAL);
            }
            judge.decide(Stretch::Keys, &receiver::receiver_of(Stretch::Keys))?;
            gate.enter()?;
            *sent = true;
            for down in [true, false] {
                let (code, units): (u16, &[u16]) = match piece {
                    TextPiece::Return => (KeyCode::RETURN, &[]),
                    TextPiece::Tab => (KeyCode::TAB, &[]),
                    TextPiece::Text { units, .. } => (0, units),
                };
                let event = self
                    .source
                    .key(code, down)
                    .ok_or_else(|| refused("the system could not create an input event"))?;
                let event = if units.is_empty() { event } else { event.with_text(units) };
                // Held modifiers do not apply to text.
                event.with_flags(CGEventFlags::empty()).post();
            }
            gate.typed(piece.characters());
        }
        Ok(())
    }
}

impl ClickSequence {
    fn continues(&self, button: Button, at: Point, now: Instant) -> bool {
        let near = (self.at.x - at.x).abs() <= MULTI_CLICK_DISTANCE
            && (self.at.y - at.y).abs() <= MULTI_CLICK_DISTANCE;
        self.button == button && near && now.duration_since(self.when) <= MULTI_CLICK_INTERVAL
    }
}

/// Fails if a key does not exist, before anything is sent.
fn check_keys(steps: &[InputStep], keymap: &Keymap) -> Result<(), Failure> {
    let mut modified = false;
    for step in steps {
        if let InputStep::Key(key, down) = step {
            modified |= matches!(key, Key::Modifier(_)) && *down;
            let by_text = matches!(key, Key::Char(_)) && !modified;
            if *down && keymap.stroke(*key).is_none() && !by_text {
                return Err(no_such_key(*key));
            }
        }
    }
    Ok(())
}

fn no_such_key(key: Key) -> Failure {
    Failure::new(FailureKind::NotSupported, format!("this keyboard has no key for {key}"))
}

fn refused(why: &str) -> Failure {
    Failure::new(FailureKind::Refused, why)
}

fn track_held(down: &mut Vec<HeldInput>, what: HeldInput, is_down: bool) {
    if is_down {
        down.push(what);
    } else if let Some(at) = down.iter().rposition(|held| *held == what) {
        down.remove(at);
    }
}

fn native_button(button: Button, down: bool) -> (CGEventType, CGMouseButton) {
    match (button, down) {
        (Button::Left, true) => (CGEventType::LeftMouseDown, CGMouseButton::Left),
        (Button::Left, false) => (CGEventType::LeftMouseUp, CGMouseButton::Left),
        (Button::Right, true) => (CGEventType::RightMouseDown, CGMouseButton::Right),
        (Button::Right, false) => (CGEventType::RightMouseUp, CGMouseButton::Right),
        (Button::Middle, true) => (CGEventType::OtherMouseDown, CGMouseButton::Center),
        (Button::Middle, false) => (CGEventType::OtherMouseUp, CGMouseButton::Center),
    }
}

/// Splits a turn of the wheel into what one event each can carry.
fn wheel_events(right: i32, down: i32) -> Vec<(i32, i32)> {
    let (mut right, mut down, mut turns) = (right, down, Vec::new());
    while right != 0 || down != 0 {
        let part =
            (right.clamp(-MAX_WHEEL_LINES, MAX_WHEEL_LINES), down.clamp(-MAX_WHEEL_LINES, MAX_WHEEL_LINES));
        right -= part.0;
        down -= part.1;
        turns.push(part);
    }
    turns
}

/// Waits, unless the gate is closed meanwhile.
fn pause(time: Duration, gate: &Gate) -> Result<(), Failure> {
    match gate.closes_within(time) {
        true => Err(Failure::new(FailureKind::Closed, "it was cancelled while it was being sent")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_turns_of_the_wheel_go_in_several_events() {
        assert_eq!(wheel_events(0, 3), [(0, 3)]);
        assert_eq!(wheel_events(-25, 4), [(-10, 4), (-10, 0), (-5, 0)]);
        assert!(wheel_events(0, 0).is_empty());
    }

    #[test]
    fn clicks_belong_together_if_they_are_close_in_time_and_place() {
        let (at, when) = (Point { x: 10, y: 10 }, Instant::now());
        let click = ClickSequence { button: Button::Left, at, when, count: 1 };
        assert!(click.continues(Button::Left, Point { x: 12, y: 9 }, when + Duration::from_millis(30)));
        assert!(!click.continues(Button::Right, at, when));
        assert!(!click.continues(Button::Left, Point { x: 30, y: 10 }, when));
        assert!(!click.continues(Button::Left, at, when + Duration::from_secs(1)));
    }
}
