//! Where the desktop's calls go: each to the thread that does such things. None blocks whoever asks.

use std::sync::{Arc, OnceLock};

use axd_protocol::{DisplayInfo, Point};
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};

use crate::launch::{self, LaunchHistory};
use crate::x11::capture::Capture;
use crate::x11::clipboard::{Clipboard, ClipboardRequest};
use crate::x11::close;
use crate::x11::connection::Display;
use crate::x11::input::{self, pointer};
use crate::x11::popups;
use crate::x11::window_ops;
use axd_platform::input_thread::{InputThread, Job};
use axd_platform::{DesktopAnswer, DesktopCall, DesktopEvent, Failure, Gate, Reply};

/// Takes calls.
pub(super) struct Calls {
    input: InputThread,
    clipboard: Clipboard,
    capture: Arc<Capture>,
    /// For short questions and requests.
    display: Arc<Shared>,
    /// What was started.
    pub starts: Arc<LaunchHistory>,
    /// Where it is told what becomes of what was started.
    out: OnceLock<mpsc::UnboundedSender<DesktopEvent>>,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            input: InputThread::new(input::serve),
            clipboard: Clipboard::default(),
            capture: Arc::default(),
            display: Arc::default(),
            starts: Arc::default(),
            out: OnceLock::new(),
        }
    }
}

impl Calls {
    /// Says where to tell what becomes of what is started.
    pub fn tell(&self, out: mpsc::UnboundedSender<DesktopEvent>) {
        // The desktop starts once.
        let _ = self.out.set(out);
    }

    /// Gives what axd has on the clipboard to who keeps it.
    pub fn farewell(&self) -> Reply<DesktopAnswer> {
        let (answer, reply) = oneshot::channel();
        self.clipboard.hand_over(answer);
        reply
    }

    /// Whether a popup of the app of a window is on top at a point. Blocks.
    pub fn popup_at(&self, window: u64, point: Point) -> Option<bool> {
        self.display.ask(|display| popups::is_popup_at(display, window, point)).ok()
    }

    /// Does what is asked, elsewhere.
    pub fn take(&self, call: DesktopCall, gate: Gate, displays: Vec<DisplayInfo>) -> Reply<DesktopAnswer> {
        let (answer, reply) = oneshot::channel();
        match call {
            DesktopCall::Input(input) => self.input.run(Job { input, gate, answer }),
            DesktopCall::Pointer => {
                let display = Arc::clone(&self.display);
                blocking(answer, move || {
                    display.ask(|display| Ok(DesktopAnswer::Pointer(pointer::position(display)?)))
                });
            }
            DesktopCall::Window { window, op } => {
                let display = Arc::clone(&self.display);
                blocking(answer, move || {
                    display.ask(|display| done(window_ops::apply(display, window, op, &gate)))
                });
            }
            DesktopCall::Launch(plan) => {
                let out = self.out.get().cloned();
                let ended = move |pid, how| {
                    // Nobody listens any more when the daemon stops.
                    let _ = out.map(|out| out.send(DesktopEvent::Ended { pid, how }));
                };
                let starts = Arc::clone(&self.starts);
                blocking(answer, move || launch::launch(&plan, &gate, &starts, ended));
            }
            DesktopCall::Close { pid, force: true } => {
                blocking(answer, move || done(close::kill_app(pid, &gate)))
            }
            DesktopCall::Close { pid, force: false } => {
                let display = Arc::clone(&self.display);
                blocking(answer, move || display.ask(|display| done(close::close_app(display, pid, &gate))));
            }
            DesktopCall::Capture { of, cursor } => {
                let capture = Arc::clone(&self.capture);
                blocking(answer, move || Ok(DesktopAnswer::Picture(capture.take(of, cursor, &displays)?)));
            }
            DesktopCall::ClipboardGet(kind) => self.clipboard.ask(ClipboardRequest::Get(kind), answer),
            DesktopCall::ClipboardSet(clip) => self.clipboard.ask(ClipboardRequest::Set(clip, gate), answer),
        }
        reply
    }
}

/// Runs something that blocks on a thread for such things.
fn blocking(
    answer: oneshot::Sender<Result<DesktopAnswer, Failure>>,
    work: impl FnOnce() -> Result<DesktopAnswer, Failure> + Send + 'static,
) {
    // Who asked may not want to know any more.
    tokio::task::spawn_blocking(move || answer.send(work()));
}

fn done(result: Result<(), Failure>) -> Result<DesktopAnswer, Failure> {
    result.map(|()| DesktopAnswer::Done)
}

/// One connection for all short questions; opened when first needed, and again when it was lost.
#[derive(Default)]
struct Shared(Mutex<Option<Arc<Display>>>);

impl Shared {
    /// Asks over it.
    fn ask<T>(&self, question: impl FnOnce(&Display) -> Result<T, Failure>) -> Result<T, Failure> {
        let display = self.open()?;
        let answer = question(&display);
        // Whatever went wrong with the connection, the next question goes over a new one.
        if answer.is_err() && display.sync().is_err() {
            *self.0.lock() = None;
        }
        answer
    }

    fn open(&self) -> Result<Arc<Display>, Failure> {
        let mut open = self.0.lock();
        match &*open {
            Some(display) => Ok(Arc::clone(display)),
            None => Ok(Arc::clone(open.insert(Arc::new(Display::open()?)))),
        }
    }
}
