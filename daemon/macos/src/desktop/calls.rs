//! Where the desktop's calls go: each to a thread that may wait. None blocks whoever asks.

use std::sync::Arc;

use tokio::sync::oneshot;

use super::clipboard;
use super::launch;
use super::mac_desktop::Shared;
use super::window_ops::{self, SavedFrames};
use crate::appkit::host;
use crate::cg::capture;
use crate::cg::input::{self, events};
use axd_platform::input_thread::{InputThread, Job};
use axd_platform::{
    CaptureTarget, CapturedImage, ClipboardContent, ClipboardKind, DesktopEvent, Failure, FailureKind, Gate,
    Input, LaunchPlan, Launched, Reply, WindowOp,
};
use axd_protocol::Point;

/// Takes calls.
pub struct Calls {
    input: InputThread,
    frames: Arc<SavedFrames>,
}

impl Default for Calls {
    fn default() -> Calls {
        Calls { input: InputThread::new(input::serve), frames: Arc::default() }
    }
}

impl Calls {
    /// Makes input, on the thread for it.
    pub fn input(&self, input: Input, gate: Gate) -> Reply<Option<String>> {
        let (answer, reply) = oneshot::channel();
        self.input.run(Job { input, gate, answer });
        reply
    }

    /// Where the pointer is.
    pub fn pointer(&self) -> Reply<Point> {
        let unknown =
            || Failure::new(FailureKind::Refused, "the system does not report the position of the pointer");
        blocking(move || events::pointer().ok_or_else(unknown))
    }

    /// Does something to a window.
    pub fn window_op(&self, window: u64, op: WindowOp, gate: Gate, shared: &Arc<Shared>) -> Reply<()> {
        let (frames, shared) = (Arc::clone(&self.frames), Arc::clone(shared));
        blocking(move || window_ops::apply(window, op, &shared, &frames, &gate))
    }

    /// Starts an app, and reports its end where that can be observed.
    pub fn launch(&self, plan: LaunchPlan, gate: Gate, shared: &Arc<Shared>) -> Reply<Launched> {
        let out = shared.out.get().cloned();
        let ended = move |pid, how| {
            // Nobody listens any more when the daemon stops.
            let _ = out.map(|out| out.send(DesktopEvent::Ended { pid, how }));
        };
        blocking(move || launch::launch(&plan, &gate, ended))
    }

    /// Asks an app to quit, or kills it.
    pub fn close_app(&self, pid: u32, force: bool, gate: Gate, shared: &Arc<Shared>) -> Reply<()> {
        let known = shared.has(pid);
        blocking(move || match known {
            true => launch::close(pid, force, &gate),
            false => Err(Failure::new(FailureKind::Gone, format!("process {pid} is not a running app"))),
        })
    }

    /// Captures an image of the screen.
    pub fn capture(&self, target: CaptureTarget, cursor: bool, shared: &Arc<Shared>) -> Reply<CapturedImage> {
        let displays = shared.displays.lock().clone();
        blocking(move || capture::capture(target, cursor, &displays))
    }

    /// Reads the clipboard.
    pub fn clipboard(&self, kind: ClipboardKind) -> Reply<Option<ClipboardContent>> {
        spawned(clipboard::get(kind))
    }

    /// Replaces what is on the clipboard.
    pub fn set_clipboard(&self, content: Option<ClipboardContent>, gate: Gate) -> Reply<()> {
        spawned(clipboard::set(content, gate))
    }
}

/// Runs something that blocks on a thread for such things.
fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Failure> + Send + 'static) -> Reply<T> {
    let (answer, reply) = oneshot::channel();
    // Whoever asked may have stopped waiting.
    tokio::task::spawn_blocking(move || answer.send(host::with_autorelease_pool(work)));
    reply
}

/// Runs something that waits beside everything else.
fn spawned<T: Send + 'static>(work: impl Future<Output = Result<T, Failure>> + Send + 'static) -> Reply<T> {
    let (answer, reply) = oneshot::channel();
    // Whoever asked may have stopped waiting.
    tokio::spawn(async move { answer.send(work.await) });
    reply
}
