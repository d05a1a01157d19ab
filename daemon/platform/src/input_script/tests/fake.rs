//! A mouse and a keyboard that write down what they are told, and fail on request. They check on the way that nothing is pressed
//! without the judge's permission.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axd_protocol::Point;
use axd_protocol::keys::{Button, Key, Modifier, Named};
use parking_lot::Mutex;

use crate::input_script::{InputBackend, InputPace, KeyOrButton, WheelTurn, run_blocking};
use crate::{Failure, FailureKind, Gate, Input, InputStep, Judge, Receiver, Stretch};

/// A key that the keyboard does not have.
pub const MISSING_KEY: Key = Key::Named(Named::PrintScreen);
/// A character that cannot be typed.
pub const UNTYPABLE: char = '\u{7}';

/// What was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Move(i32),
    Press(KeyOrButton),
    Release(KeyOrButton),
    Turn(WheelTurn),
    Type(char),
}

/// What goes wrong, and at which operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// The backend fails and has not done it.
    FailBefore,
    /// The backend fails, but has done it.
    FailAfter,
    /// The connection is lost: the backend fails from then on.
    Lose,
    /// The gate is closed.
    Close,
    /// The judge refuses from then on.
    Refuse,
}

/// What the devices were told, and what goes wrong.
#[derive(Default)]
pub struct Record {
    /// How many operations there were.
    pub operations: usize,
    pub trouble: Option<(usize, Trouble)>,
    /// Everything that was sent.
    pub events: Vec<Event>,
    /// How much had been sent when the script was stopped: the operation that was under way may be the last.
    pub stopped_after: Option<usize>,
    /// What was being sent when the backend failed.
    pub failed: Option<Event>,
    /// How often the judge was asked.
    pub questions: usize,
    pub pauses: Vec<Duration>,
    /// The pauses that nothing can shorten.
    pub holds: Vec<Duration>,
    pub held: BTreeSet<KeyOrButton>,
    /// The stretch that the judge has permitted and nothing has changed since.
    pub permitted: Option<Stretch>,
    pub refusing: bool,
    pub lost: bool,
}

impl Record {
    /// Does an operation, which sends this event or nothing.
    fn operate(&mut self, event: Option<Event>, gate: &Gate) -> Result<(), Failure> {
        let this = self.operations;
        self.operations += 1;
        let trouble = self.trouble.filter(|(at, _)| *at == this).map(|(_, trouble)| trouble);
        self.lost |= trouble == Some(Trouble::Lose);
        self.refusing |= trouble == Some(Trouble::Refuse);
        if trouble == Some(Trouble::Close) {
            gate.close();
        }
        if !self.lost && trouble != Some(Trouble::FailBefore) {
            event.into_iter().for_each(|event| self.do_event(event));
        }
        match trouble {
            Some(Trouble::Close) => self.stopped_after = Some(self.events.len()),
            Some(trouble @ (Trouble::FailBefore | Trouble::FailAfter | Trouble::Lose)) => {
                (self.stopped_after, self.failed) = (Some(self.events.len()), event);
                return Err(Failure::new(FailureKind::Refused, format!("{trouble:?}")));
            }
            Some(Trouble::Refuse) | None => {}
        }
        match self.lost {
            true => Err(Failure::new(FailureKind::Refused, "it is lost")),
            false => Ok(()),
        }
    }

    /// The judge's decision.
    fn decide(&mut self, stretch: Stretch) -> Result<(), Failure> {
        self.questions += 1;
        if self.refusing {
            (self.permitted, self.stopped_after) = (None, Some(self.events.len()));
            return Err(Failure::new(FailureKind::Elsewhere, "it is the wrong one"));
        }
        self.permitted = Some(stretch);
        Ok(())
    }

    fn do_event(&mut self, event: Event) {
        let permitted = match event {
            Event::Press(KeyOrButton::Key(_)) | Event::Type(_) => self.permitted == Some(Stretch::Keys),
            Event::Press(KeyOrButton::Button(_)) | Event::Turn(_) => {
                matches!(self.permitted, Some(Stretch::Pointer(_)))
            }
            Event::Move(_) | Event::Release(_) => true,
        };
        assert!(permitted, "{event:?} was sent without permission");
        match event {
            Event::Press(what) => assert!(self.held.insert(what), "{what} was pressed twice"),
            Event::Release(what) => drop(self.held.remove(&what)),
            _ => {}
        }
        self.events.push(event);
    }
}

/// The devices.
pub struct FakeDevices {
    pub record: Arc<Mutex<Record>>,
    pub pace: InputPace,
    /// How many keys, or pieces of a text, can be sent as they are.
    pub prepared: usize,
    /// Whether every receiver is ready only after it was waited for.
    pub slow_receivers: bool,
    gate: Gate,
    at: i32,
    is_ready: bool,
    is_locked: bool,
    is_typing: bool,
    /// The piece of a text that is pressed.
    typed: Option<char>,
}

impl FakeDevices {
    pub fn new(pace: InputPace, record: Record) -> FakeDevices {
        FakeDevices {
            record: Arc::new(Mutex::new(record)),
            pace,
            prepared: usize::MAX,
            slow_receivers: false,
            gate: Gate::new(),
            at: 0,
            is_ready: false,
            is_locked: false,
            is_typing: false,
            typed: None,
        }
    }

    /// Runs a script, with a judge that permits everything until it is to refuse.
    pub fn run(&mut self, steps: &[InputStep]) -> (Result<(), Failure>, Gate) {
        let record = Arc::clone(&self.record);
        let judge = Judge::new(move |stretch, _| record.lock().decide(stretch));
        self.gate = Gate::new();
        let gate = self.gate.clone();
        let result = run_blocking(self, &Input { steps: steps.to_vec(), judge }, &gate);
        assert!(!self.is_locked, "the receiver stays locked");
        assert!(!self.is_typing, "the modifiers stay lifted");
        assert_eq!(self.typed, None, "a piece of a text stays pressed");
        (result, gate)
    }

    /// An operation that sends nothing.
    fn operation(&mut self) -> Result<(), Failure> {
        self.record.lock().operate(None, &self.gate)
    }

    /// An operation that sends something.
    fn send(&mut self, event: Event) -> Result<(), Failure> {
        self.record.lock().operate(Some(event), &self.gate)
    }

    /// From now on the judge has to be asked again.
    fn forget_permission(&mut self) {
        self.record.lock().permitted = None;
    }
}

impl InputBackend for FakeDevices {
    type TextPiece = char;

    fn pace(&self) -> InputPace {
        self.pace
    }

    fn begin(&mut self, _steps: &[InputStep]) -> Result<(), Failure> {
        self.operation()
    }

    fn check_key(&self, key: Key, _modified: bool) -> Result<(), Failure> {
        match key == MISSING_KEY {
            true => Err(Failure::new(FailureKind::NotSupported, "there is no such key")),
            false => Ok(()),
        }
    }

    fn text_pieces(&self, text: &str) -> Result<Vec<(char, u32)>, Failure> {
        match text.contains(UNTYPABLE) {
            true => Err(Failure::new(FailureKind::Invalid, "it cannot be typed")),
            false => Ok(text.chars().map(|character| (character, 1)).collect()),
        }
    }

    fn pointer(&mut self) -> Result<Point, Failure> {
        self.operation()?;
        Ok(Point { x: self.at, y: 0 })
    }

    async fn receiver(&mut self, _stretch: Stretch) -> Result<Receiver, Failure> {
        self.operation()?;
        Ok(Receiver { pid: Some(1), ..Receiver::default() })
    }

    fn lock_receiver(&mut self) -> Result<(), Failure> {
        self.operation()?;
        self.forget_permission();
        assert!(!std::mem::replace(&mut self.is_locked, true));
        Ok(())
    }

    fn unlock_receiver(&mut self) -> Result<(), Failure> {
        assert!(std::mem::replace(&mut self.is_locked, false));
        self.forget_permission();
        self.operation()
    }

    fn is_ready(&mut self, _receiver: &Receiver) -> bool {
        !self.slow_receivers || std::mem::take(&mut self.is_ready)
    }

    fn wait_until_ready(&mut self, _receiver: &Receiver) -> Result<(), Failure> {
        assert!(!self.is_locked, "it would wait for a receiver that is not served");
        self.is_ready = true;
        self.operation()
    }

    fn prepare_keys(&mut self, keys: &[(Key, bool)]) -> Result<usize, Failure> {
        self.operation()?;
        Ok(self.prepared.min(keys.len()))
    }

    fn begin_text(&mut self, _gate: &Gate) -> Result<(), Failure> {
        self.operation()?;
        assert!(!std::mem::replace(&mut self.is_typing, true));
        Ok(())
    }

    fn prepare_text(&mut self, pieces: &[(char, u32)]) -> Result<usize, Failure> {
        assert!(self.is_typing);
        self.operation()?;
        Ok(self.prepared.min(pieces.len()))
    }

    async fn type_text(&mut self, piece: &char) -> Result<(), Failure> {
        assert!(self.is_typing && self.is_locked && self.typed.is_none());
        self.send(Event::Type(*piece))?;
        self.typed = Some(*piece);
        Ok(())
    }

    async fn release_text(&mut self, piece: &char) -> Result<(), Failure> {
        assert_eq!(self.typed.take(), Some(*piece), "what is released was pressed");
        Ok(())
    }

    fn end_text(&mut self) -> Result<(), Failure> {
        assert!(std::mem::replace(&mut self.is_typing, false));
        self.operation()
    }

    async fn move_pointer(&mut self, to: Point) -> Result<(), Failure> {
        self.forget_permission();
        self.at = to.x;
        self.send(Event::Move(to.x))
    }

    async fn press(&mut self, what: KeyOrButton) -> Result<(), Failure> {
        assert!(self.is_locked);
        self.send(Event::Press(what))
    }

    async fn release(&mut self, what: KeyOrButton) -> Result<(), Failure> {
        self.send(Event::Release(what))
    }

    async fn turn_wheel(&mut self, turn: WheelTurn) -> Result<(), Failure> {
        assert!(self.is_locked);
        self.send(Event::Turn(turn))
    }

    async fn pause(&mut self, time: Duration, gate: &Gate) -> bool {
        // A pause cannot fail; if it is to, it ends as if the gate were closed.
        self.forget_permission();
        self.record.lock().pauses.push(time);
        self.operation().is_err() || gate.is_closed()
    }

    async fn hold(&mut self, time: Duration) {
        self.record.lock().holds.push(time);
    }

    fn arrive(&mut self, _timeout: Duration) -> Result<(), Failure> {
        self.operation()
    }

    fn end(&mut self) -> Result<(), Failure> {
        self.operation()
    }

    fn is_lost(&self) -> bool {
        self.record.lock().lost
    }
}

pub const SHIFT: KeyOrButton = KeyOrButton::Key(Key::Modifier(Modifier::Shift));
pub const LEFT: KeyOrButton = KeyOrButton::Button(Button::Left);

/// The step that presses or releases a key or a button.
pub fn step(what: KeyOrButton, down: bool) -> InputStep {
    match what {
        KeyOrButton::Key(key) => InputStep::Key(key, down),
        KeyOrButton::Button(button) => InputStep::Button(button, down),
    }
}
