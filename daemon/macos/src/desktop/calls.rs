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
use axd_platform::{DesktopAnswer, DesktopCall, DesktopEvent, Failure, FailureKind, Gate, Reply};

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
    /// Does what is asked, elsewhere.
    pub fn take(&self, call: DesktopCall, gate: Gate, shared: &Arc<Shared>) -> Reply<DesktopAnswer> {
        let (answer, reply) = oneshot::channel();
        match call {
            DesktopCall::Input(input) => self.input.run(Job { input, gate, answer }),
            DesktopCall::Pointer => blocking(answer, || {
                let at = events::pointer().map(DesktopAnswer::Pointer);
                at.ok_or_else(|| {
                    Failure::new(
                        FailureKind::Refused,
                        "the system does not report the position of the pointer",
                    )
                })
            }),
            DesktopCall::Window { window, op } => {
                let (frames, shared) = (Arc::clone(&self.frames), Arc::clone(shared));
                blocking(answer, move || {
                    window_ops::apply(window, op, &shared, &frames, &gate).map(|()| DesktopAnswer::Done)
                });
            }
            DesktopCall::Launch(plan) => {
                let out = shared.out.get().cloned();
                let ended = move |pid, how| {
                    // Nobody listens any more when the daemon stops.
                    let _ = out.map(|out| out.send(DesktopEvent::Ended { pid, how }));
                };
                blocking(answer, move || launch::launch(&plan, &gate, ended));
            }
            DesktopCall::Close { pid, force } => {
                let known = shared.has(pid);
                blocking(answer, move || match known {
                    true => launch::close(pid, force, &gate).map(|()| DesktopAnswer::Done),
                    false => {
                        Err(Failure::new(FailureKind::Gone, format!("process {pid} is not a running app")))
                    }
                });
            }
            DesktopCall::Capture { of, cursor } => {
                let displays = shared.displays.lock().clone();
                blocking(answer, move || capture::capture(of, cursor, &displays).map(DesktopAnswer::Picture));
            }
            DesktopCall::ClipboardGet(kind) => soon(answer, clipboard::get(kind)),
            DesktopCall::ClipboardSet(clip) => soon(answer, clipboard::set(clip, gate)),
        }
        reply
    }
}

/// Runs something that blocks on a thread for such things.
fn blocking(
    answer: oneshot::Sender<Result<DesktopAnswer, Failure>>,
    work: impl FnOnce() -> Result<DesktopAnswer, Failure> + Send + 'static,
) {
    // The caller may have stopped waiting.
    tokio::task::spawn_blocking(move || answer.send(host::with_autorelease_pool(work)));
}

/// Waits for something beside everything else.
fn soon(
    answer: oneshot::Sender<Result<DesktopAnswer, Failure>>,
    work: impl Future<Output = Result<DesktopAnswer, Failure>> + Send + 'static,
) {
    // The caller may have stopped waiting.
    tokio::spawn(async move { answer.send(work.await) });
}
