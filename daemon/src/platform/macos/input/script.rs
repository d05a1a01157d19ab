//! Runs a script of input steps. A script that is stopped or fails lets go of what it pressed itself.

use std::time::{Duration, Instant};

use axd_protocol::Point;
use axd_protocol::keys::{Button, Key};

use super::events::{Event, Source, is_button_down, is_key_down, pointer};
use super::keys::{Keymap, RETURN, Stroke, TAB, flag_of};
use super::receiver;
use super::text::{Piece, pieces};
use crate::platform::macos::ffi::cg::{
    CGEventFlags, CGEventType, CGMouseButton, kCGEventLeftMouseDown, kCGEventLeftMouseDragged,
    kCGEventLeftMouseUp, kCGEventMouseMoved, kCGEventOtherMouseDown, kCGEventOtherMouseDragged,
    kCGEventOtherMouseUp, kCGEventRightMouseDown, kCGEventRightMouseDragged, kCGEventRightMouseUp,
    kCGMouseButtonCenter, kCGMouseButtonLeft, kCGMouseButtonRight,
};
use crate::platform::{Failure, FailureKind, Gate, Input, InputStep, Judge, Sent, Stretch};

/// A little time between pieces of a text: the queue of an app is not endless.
const BETWEEN: Duration = Duration::from_millis(2);
/// Clicks further apart than this do not belong together.
const TOGETHER: Duration = Duration::from_millis(500);
const NEAR: i32 = 4;
/// How long the system may take to take in what was sent.
const ARRIVES: Duration = Duration::from_millis(100);
/// Lines that one event of the wheel may carry.
const MOST_LINES: i32 = 10;

/// Mouse and keyboard.
pub struct Hands {
    source: Source,
    /// What is held, from one script to the next.
    flags: CGEventFlags,
    buttons: Vec<Button>,
    /// How many presses of a button there were.
    presses: i64,
    /// The clicks of this script that belong together.
    clicks: Option<Clicks>,
    /// Where this script moved the pointer to. The system says so only when it has got there.
    at: Option<Point>,
    /// The last thing this script pressed or let go of.
    last: Option<(Control, bool)>,
}

/// Something that the system says of whether it is down.
#[derive(Clone, Copy)]
enum Control {
    Button(CGMouseButton),
    Key(u16),
}

struct Clicks {
    button: Button,
    at: Point,
    when: Instant,
    count: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Down {
    Key(Key),
    Button(Button),
}

impl Hands {
    /// Hands that hold nothing.
    pub fn open() -> Result<Hands, Failure> {
        let source =
            Source::open().ok_or_else(|| refused("the system does not accept input from programs now"))?;
        Ok(Hands { source, flags: 0, buttons: Vec::new(), presses: 0, clicks: None, at: None, last: None })
    }

    /// Runs a script.
    pub fn run(&mut self, input: &Input, keymap: &Keymap, gate: &Gate) -> Result<(), Failure> {
        let Input { steps, judge } = input;
        check(steps, keymap)?;
        // Clicks of another script are another matter, however soon they come.
        (self.clicks, self.at, self.last) = (None, None, None);
        let (mut down, mut sent) = (Vec::new(), false);
        let mut asked = None;
        let result = steps.iter().try_for_each(|step| {
            self.ask(step, judge, &mut asked)?;
            self.step(step, (keymap, judge, gate), &mut down, &mut sent)
        });
        if result.is_err() {
            for held in down.into_iter().rev() {
                // There is nobody left to tell what goes wrong now.
                let _ = match held {
                    Down::Key(key) => self.key(key, false, keymap),
                    Down::Button(button) => self.button(button, false),
                };
            }
        }
        if sent {
            self.arrive();
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
        down: &mut Vec<Down>,
        sent: &mut bool,
    ) -> Result<(), Failure> {
        match step {
            InputStep::Pause(time) => return pause(*time, gate),
            InputStep::Text(text) => return self.text(text, judge, gate, sent),
            InputStep::Move(to) => {
                if gate.is_closed() {
                    return Err(Failure::closed());
                }
                return self.go(*to);
            }
            InputStep::Arrive => {
                self.arrive();
                return Ok(());
            }
            InputStep::Expect(_) => return Ok(()),
            InputStep::Wheel { right, down } => {
                for (right, down) in turns(*right, *down) {
                    gate.enter()?;
                    *sent = true;
                    // The system counts lines up and to the left.
                    let turn = self.source.wheel(-down, -right);
                    self.post(turn.map(|turn| match self.at {
                        Some(at) => turn.with_place(at),
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
                note(down, Down::Button(*button), *is_down);
                self.button(*button, *is_down)
            }
            InputStep::Key(key, is_down) => {
                note(down, Down::Key(*key), *is_down);
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

    /// Asks about who would receive a step, before each stretch: keys in a row are one, each press of a button is. (Text asks by
    /// itself, piece by piece.) The system lets nobody send to a receiver of his choice only, so what happens between the
    /// question and the sending is not ruled out, only made unlikely.
    fn ask(&self, step: &InputStep, judge: &Judge, asked: &mut Option<Stretch>) -> Result<(), Failure> {
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
        judge.decide(stretch, &receiver::of(stretch))
    }

    /// Waits until the system has taken in what was sent last, but not for long: it is asked next what came of it.
    fn arrive(&self) {
        let end = Instant::now() + ARRIVES;
        let has = || {
            let there = self.at.is_none_or(|at| pointer() == Some(at));
            let done = self.last.is_none_or(|(control, down)| match control {
                Control::Button(button) => is_button_down(button) == down,
                Control::Key(code) => is_key_down(code) == down,
            });
            there && done
        };
        while !has() && Instant::now() < end {
            std::thread::sleep(BETWEEN);
        }
    }

    fn post(&self, event: Option<Event>) -> Result<(), Failure> {
        let event = event.ok_or_else(|| refused("the system could not create an input event"))?;
        event.with_flags(self.flags).post();
        Ok(())
    }

    /// Moves the pointer; with a button held that is a drag.
    fn go(&mut self, to: Point) -> Result<(), Failure> {
        self.at = Some(to);
        let (kind, button) = match self.buttons.last() {
            None => (kCGEventMouseMoved, kCGMouseButtonLeft),
            Some(Button::Left) => (kCGEventLeftMouseDragged, kCGMouseButtonLeft),
            Some(Button::Right) => (kCGEventRightMouseDragged, kCGMouseButtonRight),
            Some(Button::Middle) => (kCGEventOtherMouseDragged, kCGMouseButtonCenter),
        };
        self.post(self.source.mouse(kind, to, button))
    }

    fn button(&mut self, button: Button, down: bool) -> Result<(), Failure> {
        let at = self.at.or_else(pointer);
        let at = at.ok_or_else(|| refused("the system does not report the position of the pointer"))?;
        let now = Instant::now();
        if down {
            self.presses += 1;
            self.buttons.retain(|held| *held != button);
            self.buttons.push(button);
            let before = self.clicks.take().filter(|clicks| clicks.belongs(button, at, now));
            let count = before.map_or(1, |clicks| clicks.count + 1);
            self.clicks = Some(Clicks { button, at, when: now, count });
        } else {
            self.buttons.retain(|held| *held != button);
        }
        let count =
            self.clicks.as_ref().filter(|clicks| clicks.button == button).map_or(1, |clicks| clicks.count);
        let (kind, number) = native_button(button, down);
        self.last = Some((Control::Button(number), down));
        let event = self.source.mouse(kind, at, number);
        self.post(event.map(|event| event.with_clicks(count).with_number(self.presses)))
    }

    fn key(&mut self, key: Key, down: bool, keymap: &Keymap) -> Result<(), Failure> {
        let flag = flag_of(key);
        if down {
            self.flags |= flag;
        } else {
            self.flags &= !flag;
        }
        let Some(Stroke { code, flags }) = keymap.stroke(key) else {
            // No key of the layout has it; it is typed as text.
            let Key::Char(character) = key else { return Err(no_such_key(key)) };
            let event = self.source.key(0, down);
            return self.post(event.map(|event| event.with_text(character.encode_utf16(&mut [0; 2]))));
        };
        let event = self
            .source
            .key(code, down)
            .ok_or_else(|| refused("the system could not create an input event"))?;
        event.with_flags(self.flags | flags).post();
        self.last = Some((Control::Key(code), down));
        Ok(())
    }

    fn text(&mut self, text: &str, judge: &Judge, gate: &Gate, sent: &mut bool) -> Result<(), Failure> {
        for (at, piece) in pieces(text).iter().enumerate() {
            if at > 0 {
                std::thread::sleep(BETWEEN);
            }
            judge.decide(Stretch::Keys, &receiver::of(Stretch::Keys))?;
            gate.enter()?;
            *sent = true;
            for down in [true, false] {
                let (code, units): (u16, &[u16]) = match piece {
                    Piece::Return => (RETURN, &[]),
                    Piece::Tab => (TAB, &[]),
                    Piece::Text { units, .. } => (0, units),
                };
                let event = self
                    .source
                    .key(code, down)
                    .ok_or_else(|| refused("the system could not create an input event"))?;
                let event = if units.is_empty() { event } else { event.with_text(units) };
                // Text is plain, whatever is held.
                event.with_flags(0).post();
            }
            gate.typed(piece.characters());
        }
        Ok(())
    }
}

impl Clicks {
    fn belongs(&self, button: Button, at: Point, now: Instant) -> bool {
        let near = (self.at.x - at.x).abs() <= NEAR && (self.at.y - at.y).abs() <= NEAR;
        self.button == button && near && now.duration_since(self.when) <= TOGETHER
    }
}

/// Finds what cannot be done before anything is.
fn check(steps: &[InputStep], keymap: &Keymap) -> Result<(), Failure> {
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

fn note(down: &mut Vec<Down>, what: Down, is_down: bool) {
    if is_down {
        down.push(what);
    } else if let Some(at) = down.iter().rposition(|held| *held == what) {
        down.remove(at);
    }
}

fn native_button(button: Button, down: bool) -> (CGEventType, CGMouseButton) {
    match (button, down) {
        (Button::Left, true) => (kCGEventLeftMouseDown, kCGMouseButtonLeft),
        (Button::Left, false) => (kCGEventLeftMouseUp, kCGMouseButtonLeft),
        (Button::Right, true) => (kCGEventRightMouseDown, kCGMouseButtonRight),
        (Button::Right, false) => (kCGEventRightMouseUp, kCGMouseButtonRight),
        (Button::Middle, true) => (kCGEventOtherMouseDown, kCGMouseButtonCenter),
        (Button::Middle, false) => (kCGEventOtherMouseUp, kCGMouseButtonCenter),
    }
}

/// Turns of the wheel that one event each can carry.
fn turns(right: i32, down: i32) -> Vec<(i32, i32)> {
    let (mut right, mut down, mut turns) = (right, down, Vec::new());
    while right != 0 || down != 0 {
        let part = (right.clamp(-MOST_LINES, MOST_LINES), down.clamp(-MOST_LINES, MOST_LINES));
        right -= part.0;
        down -= part.1;
        turns.push(part);
    }
    turns
}

/// Waits that long, unless the gate is closed.
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
        assert_eq!(turns(0, 3), [(0, 3)]);
        assert_eq!(turns(-25, 4), [(-10, 4), (-10, 0), (-5, 0)]);
        assert!(turns(0, 0).is_empty());
    }

    #[test]
    fn clicks_belong_together_if_they_are_close_in_time_and_place() {
        let (at, when) = (Point { x: 10, y: 10 }, Instant::now());
        let click = Clicks { button: Button::Left, at, when, count: 1 };
        assert!(click.belongs(Button::Left, Point { x: 12, y: 9 }, when + Duration::from_millis(30)));
        assert!(!click.belongs(Button::Right, at, when));
        assert!(!click.belongs(Button::Left, Point { x: 30, y: 10 }, when));
        assert!(!click.belongs(Button::Left, at, when + Duration::from_secs(1)));
    }
}
