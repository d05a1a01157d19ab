//! Runs a script of input steps. A script that is stopped or fails lets go of what it pressed itself.

use std::time::Duration;

use axd_protocol::keys::Key;

use super::keyboard::Keyboard;
use super::{keys, pointer, text};
use crate::platform::linux::display::{Display, XFault, XResult};
use crate::platform::{Failure, FailureKind, Gate, InputStep, Sent};

/// Mouse and keyboard of a display.
pub(super) struct Hands {
    display: Display,
    keyboard: Keyboard,
    /// The connection is lost; these hands are of no use any more.
    pub lost: bool,
}

/// What a script has done so far.
#[derive(Default)]
struct Done {
    /// What it pressed and has not let go of.
    down: Vec<Down>,
    /// Whether anything of it was sent.
    sent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Down {
    Key(Key),
    Button(u8),
}

impl Hands {
    /// The hands of the display that the environment names.
    pub fn open() -> Result<Hands, Failure> {
        Hands::on(Display::open()?)
    }

    fn on(display: Display) -> Result<Hands, Failure> {
        let keyboard = Keyboard::new(&display)?;
        Ok(Hands { display, keyboard, lost: false })
    }

    /// Runs a script. When it succeeds the server has processed all of it.
    pub fn run(&mut self, steps: &[InputStep], gate: &Gate) -> Result<(), Failure> {
        if steps.iter().any(|step| matches!(step, InputStep::Key(..) | InputStep::Text(_))) {
            self.keyboard.look(&self.display).map_err(|fault| self.failed(fault))?;
        }
        self.check(steps)?;
        let mut done = Done::default();
        let mut result = steps.iter().try_for_each(|step| self.step(step, gate, &mut done));
        if result.is_err() {
            let released = done.down.iter().rev().try_for_each(|down| self.release(*down));
            if let Err(fault) = released {
                self.failed(fault);
            }
        }
        if let Err(fault) = self.tidy() {
            let failure = self.failed(fault);
            result = result.and(Err(failure.sent(Sent::Maybe)));
        }
        result.map_err(|failure| match (done.sent, failure.sent) {
            (true, Sent::No) if self.lost => failure.sent(Sent::Maybe),
            (true, Sent::No) => failure.sent(Sent::Yes),
            _ => failure,
        })
    }

    /// Gives back what the keyboard lent; waits until the server has done all of it.
    pub fn tidy(&mut self) -> XResult<()> {
        self.keyboard.tidy(&self.display)
    }

    /// Whether something is still to be given back, because an app did not read what was typed.
    pub fn is_untidy(&self) -> bool {
        !self.lost && self.keyboard.borrowed.is_lent()
    }

    /// Finds what cannot be done before anything is.
    fn check(&self, steps: &[InputStep]) -> Result<(), Failure> {
        steps.iter().try_for_each(|step| match step {
            InputStep::Key(key, true) => self.keyboard.can_press(*key),
            InputStep::Text(text) => text::taps(text).map(drop),
            _ => Ok(()),
        })
    }

    fn step(&mut self, step: &InputStep, gate: &Gate, done: &mut Done) -> Result<(), Failure> {
        match step {
            InputStep::Pause(time) => return pause(*time, gate),
            InputStep::Text(text) => {
                let taps = text::taps(text)?;
                if taps.is_empty() {
                    return Ok(());
                }
                let typed = text::type_taps(&self.display, &mut self.keyboard, &taps, gate);
                done.sent |= typed.as_ref().map_or_else(|failure| failure.sent != Sent::No, |()| true);
                return typed;
            }
            InputStep::Wheel { right, down } => {
                for button in pointer::notches(*right, *down) {
                    gate.enter()?;
                    done.sent = true;
                    self.press(Down::Button(button))?;
                    self.let_go(Down::Button(button))?;
                }
                return Ok(());
            }
            _ => {}
        }
        gate.enter()?;
        done.sent = true;
        match step {
            InputStep::Move(to) => pointer::go(&self.display, *to).map_err(|fault| self.failed(fault)),
            InputStep::Button(button, true) => {
                let down = Down::Button(keys::button(*button));
                done.down.push(down);
                self.press(down)
            }
            InputStep::Key(key, true) => {
                done.down.push(Down::Key(*key));
                self.press(Down::Key(*key))
            }
            InputStep::Button(button, false) => {
                let down = Down::Button(keys::button(*button));
                done.up(down);
                self.let_go(down)
            }
            InputStep::Key(key, false) => {
                done.up(Down::Key(*key));
                self.let_go(Down::Key(*key))
            }
            InputStep::Pause(_) | InputStep::Text(_) | InputStep::Wheel { .. } => Ok(()),
        }
    }

    fn press(&mut self, what: Down) -> Result<(), Failure> {
        let pressed = match what {
            Down::Key(key) => self.keyboard.press(&self.display, key),
            Down::Button(button) => pointer::button(&self.display, button, true),
        };
        pressed.map_err(|fault| self.failed(fault))
    }

    fn let_go(&mut self, what: Down) -> Result<(), Failure> {
        self.release(what).map_err(|fault| self.failed(fault))
    }

    fn release(&mut self, what: Down) -> XResult<()> {
        match what {
            Down::Key(key) => self.keyboard.release(&self.display, key),
            Down::Button(button) => pointer::button(&self.display, button, false),
        }
    }

    fn failed(&mut self, fault: XFault) -> Failure {
        self.lost |= matches!(fault, XFault::Lost(_));
        fault.into()
    }
}

impl Done {
    fn up(&mut self, what: Down) {
        if let Some(at) = self.down.iter().rposition(|down| *down == what) {
            self.down.remove(at);
        }
    }
}

/// Waits that long, unless the gate is closed.
fn pause(time: Duration, gate: &Gate) -> Result<(), Failure> {
    match gate.closes_within(time) {
        true => Err(Failure::new(FailureKind::Closed, "it was cancelled on the way")),
        false => Ok(()),
    }
}
