//! The platform boundary: what axd asks of a desktop, and what a desktop tells axd.
//!
//! A platform runs one *worker* per attached app. The worker owns everything native: outside it an element is an
//! opaque [`ElementKey`], so nothing native needs to be `Send`, and an app that hangs blocks its own worker and nobody
//! else. What a worker reads it sends as [`Batch`]es; events are hints for it to read again, never facts.

mod action;
pub mod children;
mod extension;
pub mod input_thread;
pub mod mirror;
mod receiver;
mod request;
pub mod schedule;
pub mod worker;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axd_protocol::command::{Finding, Permission};
use axd_protocol::{Bounds, DisplayInfo, Point};
use tokio::sync::{mpsc, oneshot};

pub use action::{
    Act, CaptureTarget, CapturedImage, ClipboardContent, ClipboardKind, Direction, InputStep, LaunchPlan,
    Launched, WindowOp,
};
pub use axd_gate::Gate;
pub use axd_tree::{Batch, Cause, ElementKey, Facts, UNCOUNTED, Update};
pub use extension::{Extension, ExtensionAnswer, ExtensionReply};
pub use receiver::{Input, Judge, Receiver, Stretch};
pub use request::{Responder, Rows, WorkerReply, WorkerRequest};

/// The longest text that is read of one element; in UTF-16 units or characters, as the platform counts.
pub const MAX_TEXT_LEN: usize = 32_768;

/// How a process is related to something that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinship {
    /// It came of it.
    Own,
    /// It did not, but what was started may have handed over to it: it runs the same program.
    Heir,
    /// It came of another start.
    Foreign,
    /// Nothing is known of it.
    Unknown,
}

/// A desktop.
pub trait Platform: Send + Sync + 'static {
    /// Its name, as every answer carries it.
    fn name(&self) -> &'static str;

    /// What it offers, for `hello`; the names of its extensions are added to these.
    fn capabilities(&self) -> Vec<&'static str>;

    /// Begins telling of apps, windows and displays. What is there already is told before this returns.
    fn start(&self, out: mpsc::UnboundedSender<DesktopEvent>);

    /// Attaches an app: registers for its events, then walks it. Everything learned goes to `out`, in order; the
    /// worker ends when the mailbox is dropped.
    fn attach(
        &self,
        app: &RunningApp,
        out: mpsc::Sender<WorkerEvent>,
        counters: Arc<Counters>,
    ) -> WorkerHandle;

    /// Looks at what it needs, and says what is missing.
    fn diagnose(&self) -> Reply<Vec<Finding>>;

    /// What the user has to allow, and whether it is; with `request` the user is asked for what is missing.
    fn permissions(&self, _request: bool) -> Reply<Vec<Permission>> {
        let (answer, reply) = oneshot::channel();
        // The other end is right here.
        let _ = answer.send(Ok(Vec::new()));
        reply
    }

    /// Why no app can be read, if the user has not allowed it.
    fn access_error(&self) -> Option<Failure> {
        None
    }

    /// Makes input, step by step. The gate is passed before each of them. Replies with a warning if the input was sent and may
    /// have been swallowed.
    fn input(&self, input: Input, gate: Gate) -> Reply<Option<String>>;

    /// Where the pointer is.
    fn pointer(&self) -> Reply<Point>;

    /// Does something to a window.
    fn window_op(&self, window: u64, op: WindowOp, gate: Gate) -> Reply<()>;

    /// Starts an app.
    fn launch(&self, plan: LaunchPlan, gate: Gate) -> Reply<Launched>;

    /// Asks an app to quit, or kills it.
    fn close_app(&self, pid: u32, force: bool, gate: Gate) -> Reply<()>;

    /// What is on the clipboard; `None` if it holds nothing of this kind.
    fn clipboard(&self, kind: ClipboardKind) -> Reply<Option<ClipboardContent>>;

    /// Replaces what is on the clipboard; `None` empties it.
    fn set_clipboard(&self, content: Option<ClipboardContent>, gate: Gate) -> Reply<()>;

    /// Captures an image of the screen, with the pointer in it if `cursor`.
    fn capture(&self, target: CaptureTarget, cursor: bool) -> Reply<CapturedImage>;

    /// The name of the route by which workers act, as in `method`: `sim`, `atspi`, `ax`.
    fn semantic_method(&self) -> &'static str;

    /// The name of the route by which input is made: `sim`, `xtest`, `cgevent`.
    fn input_method(&self) -> &'static str;

    /// Whether a process belongs to the user whose desktop this is.
    fn is_ours(&self, _pid: u32) -> bool {
        true
    }

    /// How a process is related to a start, named by the mark of its plan.
    fn kinship(&self, _mark: &str, _pid: u32) -> Kinship {
        Kinship::Unknown
    }

    /// Whether a process that came of a start still runs, as far as is known. Looks at every process: not for each event.
    fn is_at_work(&self, _mark: &str) -> bool {
        false
    }

    /// Whether what is on top at a point is a popup of the app that a window belongs to; `None` where that is not known. May
    /// block.
    fn popup_at(&self, _window: u64, _point: Point) -> Option<bool> {
        None
    }

    /// Whether an app is known to answer an act late: after more than 150 ms.
    fn acts_late(&self, _pid: u32) -> bool {
        false
    }

    /// The daemon is about to end: what others still want of it is given into other hands, where there are any.
    /// Answered when that is done.
    fn shutdown(&self) -> Reply<()> {
        let (answer, reply) = oneshot::channel();
        let _ = answer.send(Ok(()));
        reply
    }

    /// The commands that this desktop answers beside those of the contract. Most have none.
    fn extensions(&self) -> Vec<Arc<dyn Extension>> {
        Vec::new()
    }
}

/// An answer that comes later.
pub type Reply<T> = oneshot::Receiver<Result<T, Failure>>;

/// A running app, as the desktop sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunningApp {
    /// Its process.
    pub pid: u32,
    /// What people call it.
    pub name: String,
    /// What stays the same when it restarts: bundle id or executable.
    pub identity: String,
    /// What else it goes by: what its desktop entry is called, in any language.
    pub aliases: Vec<String>,
}

/// A top-level window, as the desktop sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesktopWindow {
    /// The window system's number for it.
    pub window: u64,
    /// Its process.
    pub pid: u32,
    /// Its title.
    pub title: String,
    /// Where it is.
    pub bounds: Option<Bounds>,
    /// Whether it is put away: minimised, or with all of its app hidden.
    pub minimized: bool,
    /// Whether it fills the screen, as far as the platform can tell.
    pub maximized: bool,
    /// Whether it is a picture that is shown while its app starts.
    pub splash: bool,
}

/// What a desktop tells by itself.
#[derive(Debug, Clone, PartialEq)]
pub enum DesktopEvent {
    /// An app started, or was there at the start.
    AppUp(RunningApp),
    /// An app ended.
    AppGone {
        /// Its process.
        pid: u32,
    },
    /// A process that was started here ended.
    Ended {
        /// The process.
        pid: u32,
        /// How, if that was not well.
        how: Option<String>,
    },
    /// The windows that are open now, front to back.
    Windows(Vec<DesktopWindow>),
    /// The active window, if any, and its app.
    Frontmost {
        /// The app's process.
        pid: Option<u32>,
        /// The window.
        window: Option<u64>,
    },
    /// The displays that are connected now, the main one first.
    Displays(Vec<DisplayInfo>),
}

/// What a worker tells.
#[derive(Debug)]
pub enum WorkerEvent {
    /// What it learned.
    Batch(Batch),
    /// The app said something for screen readers to speak.
    Announcement(String),
    /// How the app is.
    State {
        /// Whether observers or calls are partly refused, and why.
        degraded: Option<String>,
        /// Whether all of it has been read.
        complete: bool,
    },
    /// The reply to a request. Everything learned before it has been sent before it.
    Reply(WorkerReply),
}

/// Where an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Which.
    pub key: ElementKey,
    /// Where; `None` if it has no place.
    pub bounds: Option<Bounds>,
    /// Whether any of it can be seen: shown, and not scrolled or clipped away.
    pub visible: bool,
}

/// How to ask a worker. Dropping it detaches the app.
pub struct WorkerHandle(Box<dyn Fn(WorkerRequest) -> bool + Send + Sync>);

impl WorkerHandle {
    /// A mailbox that hands its requests to `post`, which answers false once the worker is gone.
    pub fn new(post: impl Fn(WorkerRequest) -> bool + Send + Sync + 'static) -> WorkerHandle {
        WorkerHandle(Box::new(post))
    }

    /// Asks; false if the worker is gone.
    #[must_use]
    pub fn send(&self, request: WorkerRequest) -> bool {
        (self.0)(request)
    }
}

/// What a worker counts, for `status`.
#[derive(Debug, Default)]
pub struct Counters {
    /// Notifications that came from the app.
    pub events: AtomicU64,
    /// Calls made to the app.
    pub calls: AtomicU64,
    /// Changes that no notification told of, found by reading again.
    pub missed: AtomicU64,
}

/// Why a platform could not do it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{native}")]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// What the platform said.
    pub native: String,
    /// Whether something that acts had been sent by then.
    pub sent: Sent,
}

impl From<axd_gate::Closed> for Failure {
    fn from(_: axd_gate::Closed) -> Failure {
        Failure::closed()
    }
}

impl Failure {
    /// A failure before anything was sent.
    pub fn new(kind: FailureKind, native: impl Into<String>) -> Failure {
        Failure { kind, native: native.into(), sent: Sent::No }
    }

    /// The same, after something was, or may have been, sent.
    #[must_use]
    pub fn sent(mut self, sent: Sent) -> Failure {
        self.sent = sent;
        self
    }

    /// The gate was closed before anything was sent.
    pub fn closed() -> Failure {
        Failure::new(FailureKind::Closed, "it was cancelled before it was sent")
    }
}

/// Whether something was sent before a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sent {
    /// Nothing was.
    #[default]
    No,
    /// It may have been.
    Maybe,
    /// It was.
    Yes,
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The element is gone.
    Gone,
    /// The app timed out: busy, not gone.
    Unresponsive,
    /// The app, or the platform, does not offer it.
    NotSupported,
    /// It was refused.
    Refused,
    /// What was asked makes no sense.
    Invalid,
    /// Its gate was closed before anything was sent.
    Closed,
    /// The user has not allowed it.
    NotAllowed,
    /// It would have gone elsewhere: the receiver was not the right one.
    Elsewhere,
}
