//! Mouse and keyboard of a display, as a script of input steps uses them.

use std::time::Duration;

use axd_protocol::Point;
use axd_protocol::keys::Key;
use tracing::warn;
use x11rb::protocol::xproto::Window;

use crate::x11::connection::{Display, XError, XResult};
use crate::x11::input::keyboard::Keyboard;
use crate::x11::input::notes::{self, Physical};
use crate::x11::input::text::{self, TextTyper};
use crate::x11::input::{keys, pointer, receiver, spare_keys};
use axd_platform::input_script::{self, InputBackend, InputPace, KeyOrButton, WheelTurn};
use axd_platform::{Failure, Gate, Input, InputStep, Receiver, Stretch};

/// How much is sent before the receiver is looked at again; the server is grabbed meanwhile.
const PACE: InputPace = InputPace {
    text_pieces_per_stretch: 32,
    turns_per_stretch: 32,
    // A turn is a click of a button of its own.
    notches_per_turn: 1,
    arrival_timeout: Duration::from_millis(300),
    ..InputPace::IMMEDIATE
};

/// Mouse and keyboard of a display.
pub(crate) struct InputDevices {
    display: Display,
    keyboard: Keyboard,
    typer: TextTyper,
    /// The buttons that this script released.
    clicked: Vec<u8>,
    /// The buttons that are down because they were asked to be, by the numbers that the server has for them.
    buttons: Vec<u8>,
    /// Whether what an earlier daemon left may still have to be undone.
    unrecovered: bool,
    /// The connection is lost, and a new one is needed.
    pub lost: bool,
}

impl InputDevices {
    /// The devices of the display that the environment names, once what an earlier daemon left is undone.
    pub fn open() -> Result<InputDevices, Failure> {
        let display = Display::open()?;
        let recovered = match recover(&display) {
            Err(error @ XError::Lost(_)) => return Err(error.into()),
            Err(error) => {
                warn!(%error, "what an earlier daemon may have left held cannot be undone");
                true
            }
            Ok(recovered) => recovered,
        };
        let keyboard = Keyboard::new(&display)?;
        Ok(InputDevices {
            display,
            keyboard,
            typer: TextTyper::default(),
            clicked: Vec::new(),
            buttons: Vec::new(),
            unrecovered: !recovered,
            lost: false,
        })
    }

    /// Runs a script. When it succeeds the server has processed all of it.
    pub fn run(&mut self, input: &Input, gate: &Gate) -> Result<(), Failure> {
        input_script::run_blocking(self, input, gate)
    }

    /// Gives back what the keyboard lent, and what an earlier daemon left; waits until the server has done all of it.
    pub fn tidy_up(&mut self) -> XResult<()> {
        if self.unrecovered {
            self.unrecovered = !recover(&self.display)?;
        }
        self.keyboard.return_spare_keys(&self.display)
    }

    /// Whether something is still to be given back, because an app did not read what was typed, or because the server may
    /// not have seen the end of an earlier daemon.
    pub fn has_work_left(&self) -> bool {
        !self.lost && (self.unrecovered || self.keyboard.spare_keys.is_lent())
    }

    fn press_button(&mut self, meaning: u8) -> XResult<()> {
        let physical = pointer::physical_button(&self.display, meaning)?;
        self.keyboard.held_note.add(&self.display, [Physical::Button(physical)])?;
        self.buttons.push(physical);
        pointer::button(&self.display, physical, true)
    }

    fn release_button(&mut self, meaning: u8) -> XResult<()> {
        if !self.clicked.contains(&meaning) {
            self.clicked.push(meaning);
        }
        let physical = pointer::physical_button(&self.display, meaning)?;
        pointer::button(&self.display, physical, false)?;
        self.buttons.retain(|down| *down != physical);
        Ok(())
    }

    /// Leaves in the note what stays down after a script.
    fn note_what_stays_down(&mut self) -> XResult<()> {
        let keys = self.keyboard.held_keycodes().into_iter().map(Physical::Key);
        let down = keys.chain(self.buttons.iter().copied().map(Physical::Button)).collect();
        self.keyboard.held_note.set(&self.display, down)
    }

    /// The result for a script; notes whether the connection is lost.
    fn note<T>(&mut self, result: XResult<T>) -> Result<T, Failure> {
        self.lost |= matches!(result, Err(XError::Lost(_)));
        Ok(result?)
    }

    /// Waits until the app under the pointer has read the pointer's position.
    fn wait_for_app_at_pointer(&mut self, timeout: Duration) -> XResult<()> {
        let at = pointer::position(&self.display)?;
        match receiver::window_at(&self.display, at)? {
            Some(window) => self.keyboard.wait_until_input_read(&self.display, window, timeout),
            None => Ok(()),
        }
    }

    fn click(&self, meaning: u8) -> XResult<()> {
        pointer::click(&self.display, pointer::physical_button(&self.display, meaning)?)
    }
}

impl InputBackend for InputDevices {
    type TextPiece = Key;

    fn pace(&self) -> InputPace {
        PACE
    }

    fn begin(&mut self, steps: &[InputStep]) -> Result<(), Failure> {
        self.clicked.clear();
        if !steps.iter().any(|step| matches!(step, InputStep::Key(..) | InputStep::Text(_))) {
            return Ok(());
        }
        let reloaded = self.keyboard.reload(&self.display);
        self.note(reloaded)
    }

    fn check_key(&self, key: Key, _modified: bool) -> Result<(), Failure> {
        self.keyboard.can_press(key)
    }

    fn text_pieces(&self, text: &str) -> Result<Vec<(Key, u32)>, Failure> {
        text::taps(text)
    }

    fn pointer(&mut self) -> Result<Point, Failure> {
        let at = pointer::position(&self.display);
        self.note(at)
    }

    async fn receiver(&mut self, stretch: Stretch) -> Result<Receiver, Failure> {
        let receiver = receiver::find_receiver(&self.display, stretch);
        self.note(receiver)
    }

    fn lock_receiver(&mut self) -> Result<(), Failure> {
        let grabbed = self.display.grab_server();
        self.note(grabbed)
    }

    fn unlock_receiver(&mut self) -> Result<(), Failure> {
        let ungrabbed = self.display.ungrab_server();
        self.note(ungrabbed)
    }

    fn is_ready(&mut self, receiver: &Receiver) -> bool {
        window_of(receiver).is_none_or(|window| self.keyboard.is_informed(window))
    }

    fn wait_until_ready(&mut self, receiver: &Receiver) -> Result<(), Failure> {
        window_of(receiver).map_or(Ok(()), |window| self.keyboard.wait_for_keymap(&self.display, window))
    }

    fn prepare_keys(&mut self, keys: &[(Key, bool)]) -> Result<usize, Failure> {
        self.keyboard.prepare(&self.display, keys)
    }

    fn begin_text(&mut self, gate: &Gate) -> Result<(), Failure> {
        self.typer = TextTyper::begin(&self.display, &mut self.keyboard, gate)?;
        Ok(())
    }

    fn prepare_text(&mut self, taps: &[(Key, u32)]) -> Result<usize, Failure> {
        text::prepare(&self.display, &mut self.keyboard, taps)
    }

    async fn type_text(&mut self, key: &Key) -> Result<(), Failure> {
        let tapped = self.typer.tap(&self.display, &self.keyboard, *key);
        self.note(tapped)
    }

    fn end_text(&mut self) -> Result<(), Failure> {
        let ended = std::mem::take(&mut self.typer).end(&self.display, &mut self.keyboard);
        self.note(ended)
    }

    async fn move_pointer(&mut self, to: Point) -> Result<(), Failure> {
        let moved = pointer::move_to(&self.display, to);
        self.note(moved)
    }

    async fn press(&mut self, what: KeyOrButton) -> Result<(), Failure> {
        let pressed = match what {
            KeyOrButton::Key(key) => self.keyboard.press(&self.display, key),
            KeyOrButton::Button(button) => self.press_button(keys::button(button)),
        };
        self.note(pressed)
    }

    async fn release(&mut self, what: KeyOrButton) -> Result<(), Failure> {
        let released = match what {
            KeyOrButton::Key(key) => self.keyboard.release(&self.display, key),
            KeyOrButton::Button(button) => self.release_button(keys::button(button)),
        };
        self.note(released)
    }

    async fn turn_wheel(&mut self, turn: WheelTurn) -> Result<(), Failure> {
        let turned = pointer::notches(turn).try_for_each(|button| self.click(button));
        self.note(turned)
    }

    async fn pause(&mut self, time: Duration, gate: &Gate) -> bool {
        gate.closes_within(time)
    }

    fn arrive(&mut self, timeout: Duration) -> Result<(), Failure> {
        let arrived = self.wait_for_app_at_pointer(timeout);
        self.note(arrived)
    }

    fn end(&mut self) -> Result<(), Failure> {
        let tidied = self.note_what_stays_down().and_then(|()| self.tidy_up());
        self.note(tidied)
    }

    /// Waits until the apps have read their input: calls over AT-SPI must not overtake it. What was sent has been sent, also if this
    /// fails.
    fn wait_until_received(&mut self, receivers: &[Receiver], timeout: Duration) {
        if self.lost {
            return;
        }
        let up = pointer::wait_until_up(&self.display, &self.clicked, timeout);
        let _ = self.note(up);
        for window in receivers.iter().filter_map(window_of) {
            let read = self.keyboard.wait_until_input_read(&self.display, window, timeout);
            let _ = self.note(read);
        }
    }

    fn is_lost(&self) -> bool {
        self.lost
    }
}

/// Undoes what an earlier daemon left. False if it may not have ended.
fn recover(display: &Display) -> XResult<bool> {
    let released = notes::release_left_input(display)?;
    Ok(spare_keys::give_back_left_keys(display)? && released)
}

fn window_of(receiver: &Receiver) -> Option<Window> {
    receiver.window.and_then(|window| Window::try_from(window).ok())
}
