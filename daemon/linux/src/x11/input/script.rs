//! Runs a script of input steps. A script that is stopped or fails lets go of what it pressed itself.

use std::sync::Arc;
use std::time::Duration;

use axd_protocol::keys::Key;
use parking_lot::Mutex;
use x11rb::protocol::xproto::Window;

use crate::x11::connection::{Display, XFault, XResult};
use crate::x11::input::keyboard::{ARRIVES, Keyboard, MayType};
use crate::x11::input::{keys, pointer, receiver, text};
use axd_platform::{Failure, FailureKind, Gate, Input, InputStep, Judge, Sent, Stretch};

/// So many notches of the wheel are turned before the receiver is looked at again.
const NOTCHES: usize = 32;

/// Mouse and keyboard of a display.
pub(crate) struct Hands {
    display: Arc<Display>,
    keyboard: Keyboard,
    /// The connection is lost; these hands are of no use any more.
    pub lost: bool,
}

/// What a script has done so far.
#[derive(Default)]
struct Done {
    /// What it pressed and has not let go of.
    down: Vec<Down>,
    /// The buttons it has let go of.
    clicked: Vec<u8>,
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
        Ok(Hands { display: Arc::new(display), keyboard, lost: false })
    }

    /// Runs a script. When it succeeds the server has processed all of it.
    pub fn run(&mut self, input: &Input, gate: &Gate) -> Result<(), Failure> {
        let Input { steps, judge } = input;
        let (judge, receivers) = noting(judge);
        if steps.iter().any(|step| matches!(step, InputStep::Key(..) | InputStep::Text(_))) {
            self.keyboard.look(&self.display).map_err(|fault| self.failed(fault))?;
        }
        self.check(steps)?;
        let mut done = Done::default();
        let is_key = |step: &InputStep| matches!(step, InputStep::Key(..));
        let mut result = steps.chunk_by(|one, next| is_key(one) && is_key(next)).try_for_each(|steps| {
            if steps.iter().all(is_key) {
                return self.keys(steps, &judge, gate, &mut done);
            }
            steps.iter().try_for_each(|step| self.step(step, &judge, gate, &mut done))
        });
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
        if done.sent && !self.lost {
            self.until_arrived(&done.clicked, &receivers.lock());
        }
        result.map_err(|failure| match (done.sent, failure.sent) {
            (true, Sent::No) if self.lost => failure.sent(Sent::Maybe),
            (true, Sent::No) => failure.sent(Sent::Yes),
            _ => failure,
        })
    }

    /// Waits until the apps that got input have read it, where they can be asked, and not for long: what is asked of them next another
    /// way must not overtake it.
    fn until_arrived(&mut self, clicked: &[u8], windows: &[Window]) {
        if let Err(fault) = pointer::until_up(&self.display, clicked, ARRIVES) {
            self.failed(fault);
        }
        for window in windows {
            if let Err(fault) = self.keyboard.until_arrived(&self.display, *window) {
                // What was sent has been sent all the same.
                self.failed(fault);
            }
        }
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

    /// Presses and lets go of keys, all with one receiver.
    fn keys(
        &mut self,
        steps: &[InputStep],
        judge: &Judge,
        gate: &Gate,
        done: &mut Done,
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
            self.row_of_keys(now, judge, gate, done)?;
            rest = later;
        }
        Ok(())
    }

    fn row_of_keys(
        &mut self,
        keys: &[(Key, bool)],
        judge: &Judge,
        gate: &Gate,
        done: &mut Done,
    ) -> Result<(), Failure> {
        loop {
            let mut may = MayType::Yes;
            self.alone(|hands| {
                // To let go of a key needs nobody's leave.
                if keys.iter().any(|(_, down)| *down) {
                    may = hands.keyboard.may_type(&hands.display, judge)?;
                }
                if let MayType::OnceInformed(_) = may {
                    return Ok(());
                }
                keys.iter().try_for_each(|(key, down)| {
                    gate.enter()?;
                    done.sent = true;
                    match down {
                        true => {
                            done.down.push(Down::Key(*key));
                            hands.press(Down::Key(*key))
                        }
                        false => {
                            done.up(Down::Key(*key));
                            hands.let_go(Down::Key(*key))
                        }
                    }
                })
            })?;
            match may {
                MayType::Yes => return Ok(()),
                MayType::OnceInformed(window) => self.keyboard.inform(&self.display, window)?,
            }
        }
    }

    fn step(&mut self, step: &InputStep, judge: &Judge, gate: &Gate, done: &mut Done) -> Result<(), Failure> {
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
                notches.chunks(NOTCHES).try_for_each(|notches| {
                    self.alone(|hands| {
                        hands.may_point(judge)?;
                        notches.iter().try_for_each(|button| {
                            gate.enter()?;
                            done.sent = true;
                            hands.press(Down::Button(*button))?;
                            hands.let_go(Down::Button(*button))
                        })
                    })
                })
            }
            InputStep::Arrive => {
                let at = pointer::place(&self.display).map_err(|fault| self.failed(fault))?;
                let window = receiver::window_at(&self.display, at).map_err(|fault| self.failed(fault))?;
                let Some(window) = window else { return Ok(()) };
                self.keyboard.until_arrived(&self.display, window).map_err(|fault| self.failed(fault))
            }
            InputStep::Expect(stretch) => {
                let receiver = receiver::of(&self.display, *stretch).map_err(|fault| self.failed(fault))?;
                judge.decide(*stretch, &receiver)
            }
            InputStep::Move(to) => {
                // Where the pointer is changes nothing in an app: it is not noted as sent.
                if gate.is_closed() {
                    return Err(Failure::closed());
                }
                pointer::go(&self.display, *to).map_err(|fault| self.failed(fault))
            }
            InputStep::Button(button, true) => {
                let down = Down::Button(keys::button(*button));
                self.alone(|hands| {
                    hands.may_point(judge)?;
                    gate.enter()?;
                    done.sent = true;
                    done.down.push(down);
                    hands.press(down)
                })
            }
            InputStep::Button(button, false) => {
                gate.enter()?;
                done.sent = true;
                let down = Down::Button(keys::button(*button));
                done.up(down);
                self.let_go(down)
            }
            // They come in rows of their own.
            InputStep::Key(..) => self.keys(std::slice::from_ref(step), judge, gate, done),
        }
    }

    /// Asks about what is under the pointer.
    fn may_point(&mut self, judge: &Judge) -> Result<(), Failure> {
        let at = pointer::place(&self.display).map_err(|fault| self.failed(fault))?;
        let stretch = Stretch::Pointer(at);
        let receiver = receiver::of(&self.display, stretch).map_err(|fault| self.failed(fault))?;
        judge.decide(stretch, &receiver)
    }

    /// Does something while nobody else can change anything on the display; see [`Display::alone`].
    fn alone(&mut self, work: impl FnOnce(&mut Hands) -> Result<(), Failure>) -> Result<(), Failure> {
        let display = Arc::clone(&self.display);
        display.alone(|| work(self))
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
        if let Down::Button(button) = what
            && !self.clicked.contains(&button)
        {
            self.clicked.push(button);
        }
    }
}

/// A judge that decides like this one, and the windows that it let receive something.
fn noting(judge: &Judge) -> (Judge, Arc<Mutex<Vec<Window>>>) {
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
        true => Err(Failure::new(FailureKind::Closed, "it was cancelled on the way")),
        false => Ok(()),
    }
}
