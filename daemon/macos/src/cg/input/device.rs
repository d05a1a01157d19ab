//! Mouse and keyboard by CGEvent, as a script of input steps uses them.

use std::time::{Duration, Instant};

use axd_protocol::Point;
use axd_protocol::keys::{Button, Key, Modifier};

use super::events::{EventSource, InputEvent, is_button_down, is_key_down, pointer};
use super::keys::{HeldModifiers, KeyStroke, Keymap, flag_of};
use super::receiver;
use super::text::{TextPiece, pieces};
use crate::ffi::cg::{CGEventFlags, CGEventType, CGMouseButton, KeyCode};
use axd_platform::input_script::{self, InputBackend, InputPace, KeyOrButton, WheelTurn};
use axd_platform::{Failure, FailureKind, Gate, Input, InputStep, Receiver, Stretch};

/// macOS cannot send input to one receiver only, so a change of the receiver between the question and the event is unlikely, but
/// not impossible.
const PACE: InputPace = InputPace {
    // Measured on Macs: a release that is posted at once with its press is dropped, after 20 ms one in fifteen still is, after
    // 40 ms none; some apps ignore a press that comes at once with the move before it.
    after_move: Duration::from_millis(20),
    after_press: Duration::from_millis(60),
    after_drag: Duration::from_millis(60),
    between_keys: Duration::from_millis(8),
    text_hold: Duration::from_millis(8),
    // An app's event queue is finite.
    between_texts: Duration::from_millis(8),
    text_pieces_per_stretch: 1,
    // How many lines one event carries at most.
    notches_per_turn: 10,
    // Until the system has registered the last event.
    arrival_timeout: Duration::from_millis(100),
    ..InputPace::IMMEDIATE
};
/// The pause between two looks at what the system has registered.
const POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Clicks count as a double click if they are no further apart than this, in time and in points.
const MULTI_CLICK_INTERVAL: Duration = Duration::from_millis(500);
const MULTI_CLICK_DISTANCE: i32 = 4;

/// Mouse and keyboard, with what is held.
pub struct InputDevice {
    source: EventSource,
    /// The keys of the current layout.
    keymap: Keymap,
    /// The modifiers that are held, also from one script to the next.
    flags: CGEventFlags,
    /// The keys that are down, with what was pressed for each: another layout may be in use when it is released.
    keys: Vec<(Key, KeyStroke)>,
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

impl InputDevice {
    /// A device that holds nothing.
    pub fn new() -> Result<InputDevice, Failure> {
        let source = EventSource::new()
            .ok_or_else(|| refused("the system does not accept input from programs now"))?;
        Ok(InputDevice {
            source,
            keymap: Keymap::default(),
            flags: CGEventFlags::empty(),
            keys: Vec::new(),
            buttons: Vec::new(),
            press_count: 0,
            clicks: None,
            at: None,
            last: None,
        })
    }

    /// Runs a script on a keyboard with this layout.
    pub fn run(&mut self, input: &Input, keymap: Keymap, gate: &Gate) -> Result<(), Failure> {
        self.keymap = keymap;
        input_script::run_blocking(self, input, gate)
    }

    /// Whether the system has registered the last event.
    fn is_registered(&self) -> bool {
        let is_there = self.at.is_none_or(|at| pointer() == Some(at));
        let is_done = self.last.is_none_or(|(control, down)| match control {
            InputControl::Button(button) => is_button_down(button) == down,
            InputControl::Key(code) => is_key_down(code) == down,
        });
        is_there && is_done
    }

    fn wait_until_registered(&self, timeout: Duration) {
        let end = Instant::now() + timeout;
        while !self.is_registered() && Instant::now() < end {
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// The position of the pointer, for the next event.
    fn position(&self) -> Result<Point, Failure> {
        let at = self.at.or_else(pointer);
        at.ok_or_else(|| refused("the system does not report the position of the pointer"))
    }

    fn post(&self, event: Option<InputEvent>) -> Result<(), Failure> {
        let event = event.ok_or_else(|| refused("the system could not create an input event"))?;
        event.with_flags(self.flags).post();
        Ok(())
    }

    fn button(&mut self, button: Button, down: bool) -> Result<(), Failure> {
        let at = self.position()?;
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

    fn key(&mut self, key: Key, down: bool) -> Result<(), Failure> {
        let flag = flag_of(key);
        if down {
            self.flags |= flag;
        } else {
            self.flags &= !flag;
        }
        let Some(KeyStroke { code, flags, .. }) = self.stroke_for(key, down) else {
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

    /// What to press for a key, or what was pressed for the key that is released.
    fn stroke_for(&mut self, key: Key, down: bool) -> Option<KeyStroke> {
        let before = self.keys.iter().position(|(other, _)| *other == key).map(|at| self.keys.remove(at).1);
        let stroke = match before {
            Some(stroke) if !down => Some(stroke),
            _ => self.keymap.stroke(key, HeldModifiers::of(self.flags)),
        };
        if down {
            self.keys.extend(stroke.map(|stroke| (key, stroke)));
        }
        stroke
    }

    fn post_text(&self, piece: &TextPiece, down: bool) -> Result<(), Failure> {
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
        Ok(())
    }

    fn press_or_release(&mut self, what: KeyOrButton, down: bool) -> Result<(), Failure> {
        match what {
            KeyOrButton::Key(key) => self.key(key, down),
            KeyOrButton::Button(button) => self.button(button, down),
        }
    }
}

impl InputBackend for InputDevice {
    type TextPiece = TextPiece;

    fn pace(&self) -> InputPace {
        PACE
    }

    fn begin(&mut self, _steps: &[InputStep]) -> Result<(), Failure> {
        // Clicks of two scripts never count together.
        (self.clicks, self.at, self.last) = (None, None, None);
        Ok(())
    }

    fn check_key(&self, key: Key, modified: bool) -> Result<(), Failure> {
        let by_text = matches!(key, Key::Char(_)) && !modified;
        // Whatever modifiers come before it: it is found with any if it is found with one.
        match self.keymap.stroke(key, HeldModifiers::Command).is_some() || by_text {
            true => Ok(()),
            false => Err(no_such_key(key)),
        }
    }

    fn text_pieces(&self, text: &str) -> Result<Vec<(TextPiece, u32)>, Failure> {
        let with_characters = |piece: TextPiece| {
            let characters = piece.characters();
            (piece, characters)
        };
        Ok(pieces(text).into_iter().map(with_characters).collect())
    }

    fn pointer(&mut self) -> Result<Point, Failure> {
        self.position()
    }

    /// Shift is pressed as a key: a flag without it may stay set in the system after the event.
    fn with_held_keys(&self, keys: &[(Key, bool)]) -> Vec<(Key, bool)> {
        with_shift(keys, self.flags, |key, flags| {
            self.keymap.stroke(key, HeldModifiers::of(flags)).is_some_and(|stroke| stroke.shift)
        })
    }

    async fn receiver(&mut self, stretch: Stretch) -> Result<Receiver, Failure> {
        Ok(receiver::receiver_of(stretch))
    }

    async fn type_text(&mut self, piece: &TextPiece) -> Result<(), Failure> {
        self.post_text(piece, true)
    }

    async fn release_text(&mut self, piece: &TextPiece) -> Result<(), Failure> {
        self.post_text(piece, false)
    }

    /// Moves the pointer; with a button held it is a drag.
    async fn move_pointer(&mut self, to: Point) -> Result<(), Failure> {
        self.at = Some(to);
        let (kind, button) = match self.buttons.last() {
            None => (CGEventType::MouseMoved, CGMouseButton::Left),
            Some(Button::Left) => (CGEventType::LeftMouseDragged, CGMouseButton::Left),
            Some(Button::Right) => (CGEventType::RightMouseDragged, CGMouseButton::Right),
            Some(Button::Middle) => (CGEventType::OtherMouseDragged, CGMouseButton::Center),
        };
        self.post(self.source.mouse(kind, to, button))
    }

    async fn press(&mut self, what: KeyOrButton) -> Result<(), Failure> {
        self.press_or_release(what, true)
    }

    async fn release(&mut self, what: KeyOrButton) -> Result<(), Failure> {
        self.press_or_release(what, false)
    }

    async fn turn_wheel(&mut self, turn: WheelTurn) -> Result<(), Failure> {
        // The system counts lines upwards and to the left.
        let event = self.source.wheel(-turn.down, -turn.right);
        self.post(event.map(|event| match self.at {
            Some(at) => event.with_location(at),
            None => event,
        }))
    }

    async fn pause(&mut self, time: Duration, gate: &Gate) -> bool {
        gate.closes_within(time)
    }

    fn arrive(&mut self, timeout: Duration) -> Result<(), Failure> {
        self.wait_until_registered(timeout);
        Ok(())
    }

    /// Waits until the system has registered the last event, because its effect is read next.
    fn wait_until_received(&mut self, _receivers: &[Receiver], timeout: Duration) {
        self.wait_until_registered(timeout);
    }
}

impl ClickSequence {
    fn continues(&self, button: Button, at: Point, now: Instant) -> bool {
        let near = (self.at.x - at.x).abs() <= MULTI_CLICK_DISTANCE
            && (self.at.y - at.y).abs() <= MULTI_CLICK_DISTANCE;
        self.button == button && near && now.duration_since(self.when) <= MULTI_CLICK_INTERVAL
    }
}

/// A row of keys in which Shift is held for those that need it. `needs_shift` is asked with the flags that are set then.
fn with_shift(
    keys: &[(Key, bool)],
    mut flags: CGEventFlags,
    needs_shift: impl Fn(Key, CGEventFlags) -> bool,
) -> Vec<(Key, bool)> {
    const SHIFT: Key = Key::Modifier(Modifier::Shift);
    let mut row = Vec::with_capacity(keys.len());
    let mut rest = keys.iter().copied().peekable();
    while let Some((key, down)) = rest.next() {
        flags.set(flag_of(key), down);
        let adds = down && !flags.contains(CGEventFlags::CGEventFlagShift) && needs_shift(key, flags);
        if !adds {
            row.push((key, down));
            continue;
        }
        row.extend([(SHIFT, true), (key, true)]);
        row.extend(rest.next_if_eq(&(key, false)));
        row.push((SHIFT, false));
    }
    row
}

fn no_such_key(key: Key) -> Failure {
    Failure::new(FailureKind::NotSupported, format!("this keyboard has no key for {key}"))
}

fn refused(why: &str) -> Failure {
    Failure::new(FailureKind::Refused, why)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_is_pressed_for_what_needs_it_and_released_after_it() {
        let (a, plus, shift) = (Key::Char('a'), Key::Char('+'), Key::Modifier(Modifier::Shift));
        let row = |keys: &[(Key, bool)], flags| with_shift(keys, flags, |key, _| key == plus);
        let none = CGEventFlags::empty();
        let press = [(plus, true), (plus, false), (a, true), (a, false)];
        let shifted = [(shift, true), (plus, true), (plus, false), (shift, false), (a, true), (a, false)];
        assert_eq!(row(&press, none), shifted);
        assert_eq!(row(&press, CGEventFlags::CGEventFlagShift), press, "it is held already");
        let held = [(shift, true), (plus, true), (plus, false), (shift, false)];
        assert_eq!(row(&held, none), held);
        assert_eq!(row(&[(plus, true)], none), [(shift, true), (plus, true), (shift, false)]);
        assert_eq!(row(&[(plus, false)], none), [(plus, false)]);
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
