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
use crate::x11::person::PersonWatch;
use crate::x11::popups;
use crate::x11::window_ops;
use axd_platform::input_thread::{InputThread, Job};
use axd_platform::{
    CaptureTarget, CapturedImage, ClipboardContent, ClipboardKind, DesktopEvent, Failure, Gate, Input,
    LaunchPlan, Launched, PersonActivity, Reply, WindowOp,
};

/// Takes calls.
pub(super) struct Calls {
    input: InputThread,
    clipboard: Clipboard,
    capture: Arc<Capture>,
    /// For short questions and requests.
    display: Arc<Shared>,
    person: PersonWatch,
    /// What was started.
    pub starts: Arc<LaunchHistory>,
    /// Where the end of what was started is reported.
    out: OnceLock<mpsc::UnboundedSender<DesktopEvent>>,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls {
            input: InputThread::new(input::serve),
            clipboard: Clipboard::default(),
            capture: Arc::default(),
            display: Arc::default(),
            person: PersonWatch::default(),
            starts: Arc::default(),
            out: OnceLock::new(),
        }
    }
}

impl Calls {
    /// Sets where the end of what is started is reported.
    pub fn report_to(&self, out: mpsc::UnboundedSender<DesktopEvent>) {
        // The desktop starts once.
        let _ = self.out.set(out);
    }

    /// Has what an earlier daemon left held or lent undone.
    pub fn recover_input(&self) {
        self.input.start();
    }

    /// Gives what is ours on the clipboard to the clipboard manager.
    pub fn shutdown(&self) -> Reply<()> {
        let (answer, reply) = oneshot::channel();
        self.clipboard.hand_over(answer);
        reply
    }

    /// Whether a popup of the window's app covers the point; `None` if the X server cannot be asked.
    pub fn popup_at(&self, window: u64, point: Point) -> Option<bool> {
        self.display.ask(|display| popups::is_popup_at(display, window, point)).ok()
    }

    /// What a person uses.
    pub fn person(&self) -> Result<Arc<PersonActivity>, Failure> {
        self.person.activity()
    }

    /// Makes input, on the thread for it.
    pub fn input(&self, input: Input, gate: Gate) -> Reply<Option<String>> {
        let (answer, reply) = oneshot::channel();
        self.input.run(Job { input, gate, answer });
        reply
    }

    /// Where the pointer is.
    pub fn pointer(&self) -> Reply<Point> {
        let display = Arc::clone(&self.display);
        blocking(move || display.ask(|display| Ok(pointer::position(display)?)))
    }

    /// Does something to a window.
    pub fn window_op(&self, window: u64, op: WindowOp, gate: Gate) -> Reply<()> {
        let display = Arc::clone(&self.display);
        blocking(move || display.ask(|display| window_ops::apply(display, window, op, &gate)))
    }

    /// Starts an app, and reports its end.
    pub fn launch(&self, plan: LaunchPlan, gate: Gate) -> Reply<Launched> {
        let out = self.out.get().cloned();
        let ended = move |pid, how| {
            // Nobody listens any more when the daemon stops.
            let _ = out.map(|out| out.send(DesktopEvent::Ended { pid, how }));
        };
        let starts = Arc::clone(&self.starts);
        blocking(move || launch::launch(&plan, &gate, &starts, ended))
    }

    /// Asks an app to quit, or kills it.
    pub fn close_app(&self, pid: u32, force: bool, gate: Gate) -> Reply<()> {
        let display = Arc::clone(&self.display);
        blocking(move || match force {
            true => close::kill_app(pid, &gate),
            false => display.ask(|display| close::close_app(display, pid, &gate)),
        })
    }

    /// Captures an image of the screen.
    pub fn capture(
        &self,
        target: CaptureTarget,
        cursor: bool,
        displays: Vec<DisplayInfo>,
    ) -> Reply<CapturedImage> {
        let capture = Arc::clone(&self.capture);
        blocking(move || capture.take(target, cursor, &displays))
    }

    /// Reads the clipboard.
    pub fn clipboard(&self, kind: ClipboardKind) -> Reply<Option<ClipboardContent>> {
        let (answer, reply) = oneshot::channel();
        self.clipboard.ask(ClipboardRequest::Get(kind, answer));
        reply
    }

    /// Replaces what is on the clipboard.
    pub fn set_clipboard(&self, content: Option<ClipboardContent>, gate: Gate) -> Reply<()> {
        let (answer, reply) = oneshot::channel();
        self.clipboard.ask(ClipboardRequest::Set(content, gate, answer));
        reply
    }
}

/// Runs something that blocks on a thread for such things.
fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> Reply<T> {
    let (answer, reply) = oneshot::channel();
    // Whoever asked may have stopped waiting.
    tokio::task::spawn_blocking(move || answer.send(work()));
    reply
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
