//! The platform boundary: the requests of axd to a desktop, and the events of a desktop.
//!
//! A platform runs one *worker* per attached app. The worker owns everything native: outside it an element is an opaque
//! [`ElementKey`], so nothing native needs to be `Send`, and an app that hangs blocks its own worker and nobody else. A worker
//! sends its readings as [`Batch`]es. Events only make it read again; their content is never taken as fact.

mod action;
pub mod children;
mod extension;
mod failure;
pub mod input_script;
pub mod input_thread;
pub mod mirror;
mod person;
mod receiver;
mod request;
pub mod schedule;
pub mod worker;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use axd_protocol::command::{Finding, Permission};
use axd_protocol::keys::{Combo, Key, Modifier, Named};
use axd_protocol::{Bounds, DisplayInfo, Point};
use tokio::sync::{mpsc, oneshot};

pub use action::{
    Act, CaptureTarget, CapturedImage, ClipboardContent, ClipboardKind, Direction, InputStep, LaunchPlan,
    Launched, NO_WINDOW, WindowOp,
};
pub use axd_gate::Gate;
pub use axd_tree::{Batch, Cause, ElementKey, Facts, UNCOUNTED, Update};
pub use extension::{Extension, ExtensionAnswer, ExtensionReply};
pub use failure::{Failure, FailureKind, Sent};
pub use person::{PersonActivity, Used};
pub use receiver::{Input, Judge, Receiver, Stretch};
pub use request::{Responder, Rows, WorkerReply, WorkerRequest};

/// The maximum length of a text that is read of one element, in UTF-16 units or characters, as the platform counts.
pub const MAX_TEXT_LEN: usize = 32_768;

/// How a process is related to a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinship {
    /// The process was started by the launch.
    Own,
    /// It was not, but the launched process may have handed over to it: it runs the same program.
    Heir,
    /// It was started by another launch.
    Foreign,
    /// Not known.
    Unknown,
}

/// A desktop.
pub trait Platform: Send + Sync + 'static {
    /// The platform's name, which is in every answer.
    fn name(&self) -> &'static str;

    /// What the platform supports, for `hello`; the names of extensions are added to these.
    fn capabilities(&self) -> Vec<&'static str>;

    /// The modifier of the usual shortcuts, such as the one that selects everything.
    fn shortcut_modifier(&self) -> Modifier {
        Modifier::Ctrl
    }

    /// The keys that put the caret at the end of a text.
    fn end_of_text_keys(&self) -> Combo {
        Combo { modifiers: vec![Modifier::Ctrl], key: Key::Named(Named::End) }
    }

    /// Whether the menus of an app work only while one of its windows has the focus.
    fn menus_need_focus(&self) -> bool {
        false
    }

    /// Starts sending events about apps, windows and displays. Those that exist already are sent before this returns.
    fn start(&self, out: mpsc::UnboundedSender<DesktopEvent>);

    /// Attaches an app: registers for its events, then walks it. Everything read goes to `out`, in order. The worker ends when
    /// the handle is dropped.
    fn attach(
        &self,
        app: &RunningApp,
        out: mpsc::Sender<WorkerEvent>,
        counters: Arc<Counters>,
    ) -> WorkerHandle;

    /// Checks what the platform needs, and reports what is missing.
    fn diagnose(&self) -> Reply<Vec<Finding>>;

    /// The permissions that the user has to grant, and whether they are granted; with `request` the user is asked for those
    /// that are missing.
    fn permissions(&self, _request: bool) -> Reply<Vec<Permission>> {
        let (answer, reply) = oneshot::channel();
        // This cannot fail: the receiver is right here.
        let _ = answer.send(Ok(Vec::new()));
        reply
    }

    /// The error if no app can be read because the user has not permitted it.
    fn access_error(&self) -> Option<Failure> {
        None
    }

    /// How long the daemon should stay at most while nobody is connected, if the platform needs a fresh process.
    fn idle_limit(&self) -> Option<Duration> {
        None
    }

    /// Sends input, step by step, and passes the gate before each step. Replies with a warning if the input was sent but may
    /// have been swallowed.
    fn input(&self, input: Input, gate: Gate) -> Reply<Option<String>>;

    /// The position of the pointer.
    fn pointer(&self) -> Reply<Point>;

    /// Performs an operation on a window.
    fn window_op(&self, window: u64, op: WindowOp, gate: Gate) -> Reply<()>;

    /// Starts an app.
    fn launch(&self, plan: LaunchPlan, gate: Gate) -> Reply<Launched>;

    /// Asks an app to quit, or kills it.
    fn close_app(&self, pid: u32, force: bool, gate: Gate) -> Reply<()>;

    /// Reads the clipboard; `None` if it holds nothing of this kind.
    fn clipboard(&self, kind: ClipboardKind) -> Reply<Option<ClipboardContent>>;

    /// Replaces the content of the clipboard; `None` empties it.
    fn set_clipboard(&self, content: Option<ClipboardContent>, gate: Gate) -> Reply<()>;

    /// Captures an image of the screen, with the pointer in it if `cursor`.
    fn capture(&self, target: CaptureTarget, cursor: bool) -> Reply<CapturedImage>;

    /// The name of the semantic route, as in `method`: `sim`, `atspi`, `ax`.
    fn semantic_method(&self) -> &'static str;

    /// The name of the input route: `sim`, `xtest`, `cgevent`.
    fn input_method(&self) -> &'static str;

    /// Whether a process belongs to the user whose desktop this is.
    fn is_ours(&self, _pid: u32) -> bool {
        true
    }

    /// What a process runs: the names and paths of its executable, behind all links, and of the script that it interprets;
    /// `None` if that cannot be found out. A platform that knows no more than an app's identity returns nothing.
    fn programs_of(&self, _pid: u32) -> Option<Vec<String>> {
        Some(Vec::new())
    }

    /// What a launch of this app or program may run: the files behind all links. May block.
    fn programs_to_launch(&self, _app: &str) -> Vec<String> {
        Vec::new()
    }

    /// How a process is related to the launch with this mark.
    fn kinship(&self, _mark: &str, _pid: u32) -> Kinship {
        Kinship::Unknown
    }

    /// Whether a process of a launch is still running, as far as is known. This examines every process, so do not call it for
    /// each event.
    fn is_at_work(&self, _mark: &str) -> bool {
        false
    }

    /// Whether the topmost window at a point is a popup of the app that `window` belongs to; `None` where that is not known.
    /// May block.
    fn popup_at(&self, _window: u64, _point: Point) -> Option<bool> {
        None
    }

    /// When a person last used which window. Noticing that begins with the first call. May block.
    fn person(&self) -> Result<Arc<PersonActivity>, Failure> {
        let why = "it is not known here when a person uses mouse and keyboard";
        Err(Failure::new(FailureKind::NotSupported, why))
    }

    /// Whether an app is known to reply to actions late: after more than 150 ms.
    fn acts_late(&self, _pid: u32) -> bool {
        false
    }

    /// Called when the daemon is about to end: passes on what other processes still need from it, where something can take
    /// over. Replies when that is done.
    fn shutdown(&self) -> Reply<()> {
        let (answer, reply) = oneshot::channel();
        let _ = answer.send(Ok(()));
        reply
    }
}

/// A desktop that a daemon serves.
pub struct OpenDesktop {
    /// What the contract's commands work on.
    pub platform: Box<dyn Platform>,
    /// The commands that this daemon answers beside those of the contract. Most have none.
    pub extensions: Vec<Arc<dyn Extension>>,
}

impl<P: Platform> From<P> for OpenDesktop {
    fn from(platform: P) -> OpenDesktop {
        OpenDesktop { platform: Box::new(platform), extensions: Vec::new() }
    }
}

/// A reply that arrives later.
pub type Reply<T> = oneshot::Receiver<Result<T, Failure>>;

/// A running app, as the desktop reports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunningApp {
    /// Its process id.
    pub pid: u32,
    /// Its display name.
    pub name: String,
    /// What stays the same when it restarts: bundle id or executable.
    pub identity: String,
    /// Other names of it: those of its desktop entry, in any language.
    pub aliases: Vec<String>,
}

/// A top-level window, as the desktop reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesktopWindow {
    /// The window system's number for it.
    pub window: u64,
    /// Its process id.
    pub pid: u32,
    /// Its title.
    pub title: String,
    /// Where it is.
    pub bounds: Option<Bounds>,
    /// Whether it is minimized, hidden with its whole app, or on a space that is not shown.
    pub minimized: bool,
    /// Whether it fills the screen, as far as the platform knows.
    pub maximized: bool,
    /// Whether it is a splash screen, shown while its app starts.
    pub splash: bool,
}

/// An event of the desktop.
#[derive(Debug, Clone, PartialEq)]
pub enum DesktopEvent {
    /// An app started, or was running already when the daemon started.
    AppUp(RunningApp),
    /// An app ended.
    AppGone {
        /// Its process id.
        pid: u32,
    },
    /// A process that was launched here ended.
    Ended {
        /// Its process id.
        pid: u32,
        /// The reason, if it did not end normally.
        how: Option<String>,
    },
    /// The windows that are open now, front to back.
    Windows(Vec<DesktopWindow>),
    /// The active window, if any, and its app.
    Frontmost {
        /// The app's process id.
        pid: Option<u32>,
        /// The window.
        window: Option<u64>,
    },
    /// The displays that are connected now, the main one first.
    Displays(Vec<DisplayInfo>),
}

/// A message from a worker.
#[derive(Debug)]
pub enum WorkerEvent {
    /// Updates of the tree.
    Batch(Batch),
    /// A text that the app wants screen readers to speak.
    Announcement(String),
    /// The state of the app.
    State {
        /// Why observers or calls are partly refused, if they are.
        degraded: Option<String>,
        /// Whether the first walk is complete.
        complete: bool,
    },
    /// The reply to a request. Everything read before it has been sent before it.
    Reply(WorkerReply),
}

/// The bounds of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// The element.
    pub key: ElementKey,
    /// Its bounds; `None` if it has none.
    pub bounds: Option<Bounds>,
    /// Whether any part of it is visible: shown, and not scrolled or clipped away.
    pub visible: bool,
    /// Whether its app is known to say the wrong place.
    pub misplaced: bool,
}

/// Sends requests to a worker. Dropping it detaches the app.
pub struct WorkerHandle(Box<dyn Fn(WorkerRequest) -> bool + Send + Sync>);

impl WorkerHandle {
    /// A handle that passes its requests to `post`, which returns false once the worker is gone.
    pub fn new(post: impl Fn(WorkerRequest) -> bool + Send + Sync + 'static) -> WorkerHandle {
        WorkerHandle(Box::new(post))
    }

    /// Sends a request; false if the worker is gone.
    #[must_use]
    pub fn send(&self, request: WorkerRequest) -> bool {
        (self.0)(request)
    }
}

/// Counters of a worker, for `status`.
#[derive(Debug, Default)]
pub struct Counters {
    /// Notifications received from the app.
    pub events: AtomicU64,
    /// Of the notifications, those that an element was destroyed, where the platform tells them apart.
    pub destroyed: AtomicU64,
    /// Calls made to the app.
    pub calls: AtomicU64,
    /// Changes without a notification, found by reading again.
    pub missed: AtomicU64,
}
