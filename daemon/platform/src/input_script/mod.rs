//! Running scripts of input steps. All platforms share how a script is checked, judged, sent, stopped and ended; what they have
//! of a mouse and a keyboard is behind a trait, [`InputBackend`].
//!
//! Read `pace` for how fast, then `script_run`, which runs the steps.

mod pace;
mod script_run;
#[cfg(test)]
mod tests;

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use axd_protocol::Point;
use axd_protocol::keys::{Button, Key};

use crate::{Failure, Gate, Input, InputStep, Receiver, Stretch};
pub use pace::{InputPace, WheelTurn};
use script_run::ScriptRun;

/// What can be pressed, held and released.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyOrButton {
    /// A key of the keyboard.
    Key(Key),
    /// A button of the mouse.
    Button(Button),
}

impl fmt::Display for KeyOrButton {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyOrButton::Key(key) => key.fmt(f),
            KeyOrButton::Button(button) => write!(f, "{button} button"),
        }
    }
}

/// The mouse and the keyboard of a platform.
///
/// A backend does what it is told, at once: it asks neither the judge nor, unless a method has it, the gate, and it does not
/// remember for a script what is held. A method may block if the script runs on a thread of its own ([`run_blocking`]).
pub trait InputBackend {
    /// A piece of a text that is typed as one: a key, a character, or as many characters as an event carries.
    type TextPiece;

    /// How fast input is sent, and how much of it at once.
    fn pace(&self) -> InputPace;

    /// Gets ready for a script, before it is checked. Nothing is sent.
    fn begin(&mut self, _steps: &[InputStep]) -> Result<(), Failure> {
        Ok(())
    }

    /// Fails if a key cannot be pressed; `modified` if the script presses a modifier before it.
    fn check_key(&self, _key: Key, _modified: bool) -> Result<(), Failure> {
        Ok(())
    }

    /// Splits a text into pieces, each with how many characters of the text it is. Fails if the text cannot be typed.
    fn text_pieces(&self, text: &str) -> Result<Vec<(Self::TextPiece, u32)>, Failure>;

    /// The position of the pointer.
    fn pointer(&mut self) -> Result<Point, Failure>;

    /// The receiver of a stretch that is sent now.
    fn receiver(&mut self, stretch: Stretch) -> impl Future<Output = Result<Receiver, Failure>>;

    /// Ensures, where the platform can, that the receiver stays the same until [`InputBackend::unlock_receiver`].
    fn lock_receiver(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Called after every successful [`InputBackend::lock_receiver`], whatever happened in between.
    fn unlock_receiver(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether keys can be sent to a receiver now. If not, the receiver is unlocked, [`InputBackend::wait_until_ready`] is called,
    /// and the judge is asked again.
    fn is_ready(&mut self, _receiver: &Receiver) -> bool {
        true
    }

    /// Waits until a receiver is ready for keys. Fails if that takes too long.
    fn wait_until_ready(&mut self, _receiver: &Receiver) -> Result<(), Failure> {
        Ok(())
    }

    /// The keys of a row with those that must be held for some of them, such as Shift for a capital letter.
    fn with_held_keys(&self, keys: &[(Key, bool)]) -> Vec<(Key, bool)> {
        keys.to_vec()
    }

    /// Prepares the next keys of a row, each with whether it goes down. Returns how many can be sent as they are; at least one.
    fn prepare_keys(&mut self, keys: &[(Key, bool)]) -> Result<usize, Failure> {
        Ok(keys.len())
    }

    /// Gets ready to type a text, whatever modifiers are held. If this succeeds, [`InputBackend::end_text`] follows.
    fn begin_text(&mut self, _gate: &Gate) -> Result<(), Failure> {
        Ok(())
    }

    /// Prepares the next pieces of a text. Returns how many can be typed as they are; at least one.
    fn prepare_text(&mut self, pieces: &[(Self::TextPiece, u32)]) -> Result<usize, Failure> {
        Ok(pieces.len())
    }

    /// Types a piece of a text. Where that is a press and a release, it only presses.
    fn type_text(&mut self, piece: &Self::TextPiece) -> impl Future<Output = Result<(), Failure>>;

    /// Releases a piece of a text that [`InputBackend::type_text`] has pressed.
    fn release_text(&mut self, _piece: &Self::TextPiece) -> impl Future<Output = Result<(), Failure>> {
        std::future::ready(Ok(()))
    }

    /// Restores the modifiers as they were before the text.
    fn end_text(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Moves the pointer.
    fn move_pointer(&mut self, to: Point) -> impl Future<Output = Result<(), Failure>>;

    /// Presses a key or a button, and holds it.
    fn press(&mut self, what: KeyOrButton) -> impl Future<Output = Result<(), Failure>>;

    /// Releases a key or a button. Does no harm if it is up already.
    fn release(&mut self, what: KeyOrButton) -> impl Future<Output = Result<(), Failure>>;

    /// Turns the wheel.
    fn turn_wheel(&mut self, turn: WheelTurn) -> impl Future<Output = Result<(), Failure>>;

    /// Waits for this time, or until the gate is closed; true if it is.
    fn pause(&mut self, time: Duration, gate: &Gate) -> impl Future<Output = bool>;

    /// Waits for this time, whatever happens meanwhile.
    fn hold(&mut self, time: Duration) -> impl Future<Output = ()> {
        async move {
            self.pause(time, &Gate::new()).await;
        }
    }

    /// Waits at most this long until the app under the pointer has processed the pointer's position.
    fn arrive(&mut self, _timeout: Duration) -> Result<(), Failure> {
        Ok(())
    }

    /// Ends a script, after everything was sent and released: returns what was borrowed for it.
    fn end(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Waits at most this long for each of the receivers until it has received what was sent; what follows must not overtake it.
    fn wait_until_received(&mut self, _receivers: &[Receiver], _timeout: Duration) {}

    /// Whether the connection to the devices is lost: then what was sent may not have arrived.
    fn is_lost(&self) -> bool {
        false
    }
}

/// Runs a script. If it fails or the gate is closed, nothing more is sent, and what the script pressed itself is released; the
/// failure says whether anything was sent.
pub async fn run<B: InputBackend>(backend: &mut B, input: &Input, gate: &Gate) -> Result<(), Failure> {
    backend.begin(&input.steps)?;
    check_steps(backend, &input.steps)?;
    ScriptRun::new(backend, &input.judge, gate).run(&input.steps).await
}

/// Runs a script like [`run`], on a thread of its own, whose backend blocks.
pub fn run_blocking<B: InputBackend>(backend: &mut B, input: &Input, gate: &Gate) -> Result<(), Failure> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut running = pin!(run(backend, input, gate));
    loop {
        match running.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(result) => return result,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Wakes the thread that runs a script.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Fails if a step cannot be done, before any is.
fn check_steps<B: InputBackend>(backend: &B, steps: &[InputStep]) -> Result<(), Failure> {
    let mut modified = false;
    steps.iter().try_for_each(|step| match step {
        InputStep::Key(key, true) => {
            modified |= matches!(key, Key::Modifier(_));
            backend.check_key(*key, modified)
        }
        InputStep::Text(text) => backend.text_pieces(text).map(drop),
        _ => Ok(()),
    })
}
