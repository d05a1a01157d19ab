//! Runs a script of input steps. A script that is stopped or fails lets go of what it pressed itself.

use std::sync::Arc;
use std::time::Duration;

use axd_protocol::keys::Key;
use parking_lot::Mutex;
use x11rb::protocol::xproto::Window;

use crate::x11::connection::{Display, XError, XResult};
use crate::x11::input::keyboard::{INPUT_READ_TIMEOUT, Keyboard, TypePermission};
use crate::x11::input::{keys, pointer, receiver, text};
use axd_platform::{Failure, FailureKind, Gate, Input, InputStep, Judge, Sent, Stretch};

/// So many notches of the wheel are turned before the receiver is looked at again.
const MAX_NOTCHES: usize = 32;

/// Mouse and keyboard of a display.
pub(crate) struct InputDevices {
    display: Arc<Display>,
    keyboard: Keyboard,
    /// The connection is lost, and a new one is needed.
    pub lost: bool,
}

/// What a script has done so far.
#[derive(Default)]
struct Progress {
    /// What it pressed and has not let go of.
    down: Vec<Pressed>,
    /// The buttons it has let go of.
    clicked: Vec<u8>,
    /// Whether anything of it was sent.
    sent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pressed {
    Key(Key),
    Button(u8),
}

impl InputDevices {
    /// The devices of the display that the environment names.
    pub fn open() -> Result<InputDevices, Failure> {
        InputDevices::on(Display::open()?)
    }

    fn on(display: Display) -> Result<InputDevices, Failure> {
        let keyboard = Keyboard::new(&display)?;
        Ok(InputDevices { display: Arc::new(display), keyboard, lost: false })
    }

    /// Runs a script. When it succeeds the server has processed all of it.
    pub fn run(&mut self, input: &Input, gate: &Gate) -> Result<(), Failure> {
        let Input { steps, judge } = input;
        let (judge, receivers) = recording_judge(judge);
        if steps.iter().any(|step| matches!(step, InputStep::Key(..) | InputStep::Text(_))) {
            self.keyboard.reload(&self.display).map_err(|error| self.failed(error))?;
        }
        self.check(steps)?;
        let mut done = Progress::default();
        let is_key = |step: &InputStep| matches!(step, InputStep::Key(..));
        let mut result = steps.chunk_by(|one, next| is_key(one) && is_key(next)).try_for_each(|steps| {
            if steps.iter().all(is_key) {
                return self.keys(steps, &judge, gate, &mut done);
            }
            steps.iter().try_for_each(|step| self.step(step, &judge, gate, &mut done))
        });
        if result.is_err() {
            let released = done.down.iter().rev().try_for_each(|down| self.release(*down));
            if let Err(error) = released {
                self.failed(error);
            }
        }
        if let Err(error) = self.return_spare_keys() {
            let failure = self.failed(error);
            result = result.and(Err(failure.sent(Sent::Maybe)));
        }
        if done.sent && !self.lost {
            self.wait_until_input_read(&done.clicked, &receivers.lock());
        }
        result.map_err(|failure| match (done.sent, failure.sent) {
            (true, Sent::No) if self.lost => failure.sent(Sent::Maybe),
            (true, Sent::No) => failure.sent(Sent::Yes),
            _ => failure,
        })
    }

    /// Waits a limited time until the apps that received input have read it: calls over AT-SPI must not overtake it.
    fn wait_until_input_read(&mut self, clicked: &[u8], windows: &[Window]) {
        if let Err(error) = pointer::wait_until_up(&self.display, clicked, INPUT_READ_TIMEOUT) {
            self.failed(error);
        }
        for window in windows {
            if let Err(error) = self.keyboard.wait_until_input_read(&self.display, *window) {
                // What was sent has been sent all the same.
                self.failed(error);
            }
        }
    }

    /// Gives back what the keyboard lent; waits until the server has done all of it.
    pub fn return_spare_keys(&mut self) -> XResult<()> {
        self.keyboard.return_spare_keys(&self.display)
    }

    /// Whether something is still to be given back, because an app did not read what was typed.
    pub fn has_spare_keys_out(&self) -> bool {
        !self.lost && self.keyboard.spare_keys.is_lent()
    }

    /// Fails if a step cannot be done, before any is.
    fn check(&self, steps: &[InputStep]) -> Result<(), Failure> {
        steps.iter().try_for_each(|step| match step {
            InputStep::Key(key, true) => self.keyboard.can_press(*key),
            InputStep::Text(text) => text::taps(text).map(drop),
            _ => Ok(()),
        })
    }

    /// Presses and lets go of keys, all with one receiver.
    fn keys(
        &mut self,
        steps: &[InputStep],
        judge: &Judge,
        gate: &Gate,
        done: &mut Progress,
    ) -> Result<(), Failure> {
        let keys: Vec<(Key, bool)> = steps
            .iter()
            .filter_map(|step| match step {
                InputStep::Key(key, down) => Some((*key, *down)),
                _ => None,
            })
            .collect();
        let mut rest = &keys[..];
        while !rest.is_empty() {
            let count = self.keyboard.prepare(&self.display, rest)?;
            let (now, later) = rest.split_at(count);
            self.run_of_keys(now, judge, gate, done)?;
            rest = later;
        }
        Ok(())
    }

    fn run_of_keys(
        &mut self,
        keys: &[(Key, bool)],
        judge: &Judge,
        gate: &Gate,
        done: &mut Progress,
    ) -> Result<(), Failure> {
        loop {
            let mut may = TypePermission::Yes;
            self.with_server_grabbed(|devices| {
                // Releasing a key needs no permission.
                if keys.iter().any(|(_, down)| *down) {
                    may = devices.keyboard.check_receiver(&devices.display, judge)?;
                }
                if let TypePermission::AfterPing(_) = may {
                    return Ok(());
                }
                keys.iter().try_for_each(|(key, down)| {
                    gate.enter()?;
                    done.sent = true;
                    match down {
                        true => {
                            done.down.push(Pressed::Key(*key));
                            devices.press(Pressed::Key(*key))
                        }
                        false => {
                            done.up(Pressed::Key(*key));
                            devices.release_or_fail(Pressed::Key(*key))
                        }
                    }
                })
            })?;
            match may {
                TypePermission::Yes => return Ok(()),
                TypePermission::AfterPing(window) => self.keyboard.wait_for_keymap(&self.display, window)?,
            }
        }
    }

    fn step(
        &mut self,
        step: &InputStep,
        judge: &Judge,
        gate: &Gate,
        done: &mut Progress,
    ) -> Result<(), Failure> {
        match step {
            InputStep::Pause(time) => pause(*time, gate),
            InputStep::Text(text) => {
                let taps = text::taps(text)?;
                if taps.is_empty() {
                    return Ok(());
                }
                let typed = text::type_taps(&self.display, &mut self.keyboard, &taps, judge, gate);
                done.sent |= typed.as_ref().map_or_else(|failure| failure.sent != Sent::No, |()| true);
                typed
            }
            InputStep::Wheel { right, down } => {
                let notches: Vec<u8> = pointer::notches(*right, *down).collect();
                notches.chunks(MAX_NOTCHES).try_for_each(|notches| {
                    self.with_server_grabbed(|devices| {
                        devices.check_pointer_receiver(judge)?;
                        notches.iter().try_for_each(|button| {
                            gate.enter()?;
                            done.sent = true;
                            devices.press(Pressed::Button(*button))?;
                            devices.release_or_fail(Pressed::Button(*button))
                        })
                    })
                })
            }
            InputStep::Arrive => {
                let at = pointer::position(&self.display).map_err(|error| self.failed(error))?;
                let window = receiver::window_at(&self.display, at).map_err(|error| self.failed(error))?;
                let Some(window) = window else { return Ok(()) };
                self.keyboard.wait_until_input_read(&self.display, window).map_err(|error| self.failed(error))
            }
            InputStep::Expect(stretch) => {
                let receiver =
                    receiver::find_receiver(&self.display, *stretch).map_err(|error| self.failed(error))?;
                judge.decide(*stretch, &receiver)
            }
            InputStep::Move(to) => {
                // Where the pointer is changes nothing in an app: it is not noted as sent.
                if gate.is_closed() {
                    return Err(Failure::closed());
                }
                pointer::move_to(&self.display, *to).map_err(|error| self.failed(error))
            }
            InputStep::Button(button, true) => {
                let down = Pressed::Button(keys::button(*button));
                self.with_server_grabbed(|devices| {
                    devices.check_pointer_receiver(judge)?;
                    gate.enter()?;
                    done.sent = true;
                    done.down.push(down);
                    devices.press(down)
                })
            }
            InputStep::Button(button, false) => {
                gate.enter()?;
                done.sent = true;
                let down = Pressed::Button(keys::button(*button));
                done.up(down);
                self.release_or_fail(down)
            }
            // They come in rows of their own.
            InputStep::Key(..) => self.keys(std::slice::from_ref(step), judge, gate, done),
        }
    }

    /// Asks the judge about the window under the pointer.
    fn check_pointer_receiver(&mut self, judge: &Judge) -> Result<(), Failure> {
        let at = pointer::position(&self.display).map_err(|error| self.failed(error))?;
        let stretch = Stretch::Pointer(at);
        let receiver = receiver::find_receiver(&self.display, stretch).map_err(|error| self.failed(error))?;
        judge.decide(stretch, &receiver)
    }

    /// Runs `work` while the server is grabbed; see [`Display::with_server_grabbed`].
    fn with_server_grabbed(
        &mut self,
        work: impl FnOnce(&mut InputDevices) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let display = Arc::clone(&self.display);
        display.with_server_grabbed(|| work(self))
    }

    fn press(&mut self, what: Pressed) -> Result<(), Failure> {
        let pressed = match what {
            Pressed::Key(key) => self.keyboard.press(&self.display, key),
            Pressed::Button(button) => pointer::button(&self.display, button, true),
        };
        pressed.map_err(|error| self.failed(error))
    }

    fn release_or_fail(&mut self, what: Pressed) -> Result<(), Failure> {
        self.release(what).map_err(|error| self.failed(error))
    }

    fn release(&mut self, what: Pressed) -> XResult<()> {
        match what {
            Pressed::Key(key) => self.keyboard.release(&self.display, key),
            Pressed::Button(button) => pointer::button(&self.display, button, false),
        }
    }

    fn failed(&mut self, error: XError) -> Failure {
        self.lost |= matches!(error, XError::Lost(_));
        error.into()
    }
}

impl Progress {
    fn up(&mut self, what: Pressed) {
        if let Some(at) = self.down.iter().rposition(|down| *down == what) {
            self.down.remove(at);
        }
        if let Pressed::Button(button) = what
            && !self.clicked.contains(&button)
        {
            self.clicked.push(button);
        }
    }
}

/// A judge that decides like this one, and the windows that it let receive something.
fn recording_judge(judge: &Judge) -> (Judge, Arc<Mutex<Vec<Window>>>) {
    let windows = Arc::new(Mutex::new(Vec::new()));
    let (judge, noted) = (judge.clone(), Arc::clone(&windows));
    let noting = Judge::new(move |stretch, receiver| {
        judge.decide(stretch, receiver)?;
        let window = receiver.window.and_then(|window| Window::try_from(window).ok());
        let mut noted = noted.lock();
        let new = window.filter(|window| !noted.contains(window));
        noted.extend(new);
        Ok(())
    });
    (noting, windows)
}

/// Waits that long, unless the gate is closed.
fn pause(time: Duration, gate: &Gate) -> Result<(), Failure> {
    match gate.closes_within(time) {
        true => Err(Failure::new(FailureKind::Closed, "it was cancelled while it was being sent")),
        false => Ok(()),
    }
}
