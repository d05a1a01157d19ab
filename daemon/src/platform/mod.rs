//! The platform boundary: what axd asks of a desktop, and what a desktop tells axd.
//!
//! A platform runs one *worker* per attached app. The worker owns everything native: outside it an element is an
//! opaque [`ElementKey`], so nothing native needs to be `Send`, and an app that hangs blocks its own worker and nobody
//! else. What a worker reads it sends as [`Batch`]es; events are hints for it to read again, never facts.

mod act;
pub mod children;
mod gate;
pub mod input_thread;
#[cfg(target_os = "linux")]
pub mod linux;
#[cfg(target_os = "macos")]
pub mod macos;
pub mod mirror;
mod receiver;
pub mod schedule;
pub mod sim;
pub mod worker;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axd_protocol::command::{Finding, Permission, Sim, SimAnswer};
use axd_protocol::{Bounds, DisplayInfo, Point, Role, States};
use tokio::sync::{mpsc, oneshot};

pub use act::{
    Act, CaptureOf, Clip, ClipboardKind, DesktopAnswer, DesktopCall, Direction, InputStep, LaunchPlan,
    Picture, WindowOp,
};
pub use gate::Gate;
pub use receiver::{Input, Judge, Receiver, Stretch};

/// The longest text that is read of one element; in UTF-16 units or characters, as the platform counts.
pub const LONGEST_TEXT: usize = 32_768;

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

    /// What it offers, for `hello`.
    fn capabilities(&self) -> Vec<&'static str>;

    /// Begins telling of apps, windows and displays. What is there already is told before this returns.
    fn start(&self, out: mpsc::UnboundedSender<DesktopEvent>);

    /// Attaches an app: registers for its events, then walks it. Everything learned goes to `out`, in order; the
    /// worker ends when the mailbox is dropped.
    fn attach(&self, app: &AppSeen, out: mpsc::Sender<FromWorker>, counters: Arc<Counters>) -> Mailbox;

    /// Looks at what it needs, and says what is missing.
    fn examine(&self) -> Reply<Vec<Finding>>;

    /// What the user has to allow, and whether it is; with `request` the user is asked for what is missing.
    fn permissions(&self, _request: bool) -> Reply<Vec<Permission>> {
        let (answer, reply) = oneshot::channel();
        // The other end is right here.
        let _ = answer.send(Ok(Vec::new()));
        reply
    }

    /// Why no app can be read, if the user has not allowed it.
    fn not_allowed(&self) -> Option<Failure> {
        None
    }

    /// Does something that is not one app's to do. Never blocks; several calls may be under way at once, but only one
    /// `Input`, which the engine sees to.
    fn call(&self, call: DesktopCall, gate: Gate) -> Reply<DesktopAnswer>;

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
    fn popup_at(&self, _window: u64, _point: axd_protocol::Point) -> Option<bool> {
        None
    }

    /// Whether an app is known to answer an act late: after more than 150 ms.
    fn is_late(&self, _pid: u32) -> bool {
        false
    }

    /// The daemon is about to end: what others still want of it is given into other hands, where there are any.
    /// Answered when that is done.
    fn farewell(&self) -> Reply<DesktopAnswer> {
        let (answer, reply) = oneshot::channel();
        let _ = answer.send(Ok(DesktopAnswer::Done));
        reply
    }

    /// Does to an app of the built-in desktop what a person would.
    fn sim(&self, _act: Sim) -> Reply<SimAnswer> {
        let (answer, reply) = oneshot::channel();
        let failure = Failure::new(
            FailureKind::NotSupported,
            "this daemon has no built-in desktop; start axd with --platform sim",
        );
        let _ = answer.send(Err(failure));
        reply
    }
}

/// An answer that comes later.
pub type Reply<T> = oneshot::Receiver<Result<T, Failure>>;

/// A running app, as the desktop sees it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AppSeen {
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
pub struct WindowSeen {
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
    AppUp(AppSeen),
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
    Windows(Vec<WindowSeen>),
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

/// A worker's name for a native element: the same for as long as the element lives, and never used again after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementKey(pub u64);

impl ElementKey {
    /// The app itself: the root of every tree.
    pub const APP: ElementKey = ElementKey(0);
}

/// What a worker read of one element: content only. Geometry is measured when it is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// What it is.
    pub role: Role,
    /// What its toolkit calls its role.
    pub native_role: Option<String>,
    /// What it is called.
    pub name: Option<String>,
    /// What it holds. A worker never reads the value of a secure field; the tree drops it if one does.
    pub value: Option<String>,
    /// More about it.
    pub description: Option<String>,
    /// What its developer calls it.
    pub identifier: Option<String>,
    /// What is true of it.
    pub states: States,
    /// What it can do, by native name.
    pub actions: Vec<String>,
    /// Its index in a container that shows only some of its rows.
    pub row: Option<u32>,
    /// The window system's number, of a window.
    pub window: Option<u64>,
}

impl Facts {
    /// Nothing but a role.
    pub fn new(role: Role) -> Facts {
        Facts {
            role,
            native_role: None,
            name: None,
            value: None,
            description: None,
            identifier: None,
            states: States::NONE,
            actions: Vec::new(),
            row: None,
            window: None,
        }
    }
}

/// One thing a worker learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// The element and all below it are gone, except what the same batch places elsewhere.
    Gone(ElementKey),
    /// The element is like this.
    Upsert {
        /// Which.
        key: ElementKey,
        /// How it is.
        facts: Box<Facts>,
    },
    /// The element's children are these. What was there and is not listed, here or under another parent in the same
    /// batch, is gone.
    Children {
        /// Whose.
        parent: ElementKey,
        /// Those that have been read, in order.
        order: Vec<ElementKey>,
        /// How many there are, where that is more than `order` holds: a container that shows some of its rows. [`UNCOUNTED`] where
        /// nobody knows how many.
        total: Option<u32>,
    },
}

/// The total of a container that may have more than it lists, of which nobody knows how many.
pub const UNCOUNTED: u32 = 0;

/// What a worker learned at once. It is applied whole or not at all as far as readers can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// How it was learned.
    pub cause: Cause,
    /// What was learned.
    pub updates: Vec<Update>,
}

/// How a worker came to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// It walked the app.
    Walk,
    /// The app announced it.
    Event,
    /// It read again what somebody waits on.
    Reread,
    /// The background sweep found it.
    Sweep,
}

/// What a worker tells.
#[derive(Debug)]
pub enum FromWorker {
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
    /// What was asked by the [`ToWorker`] of this ticket. Everything learned before it has been sent before it.
    Answer {
        /// The ticket.
        ticket: u64,
        /// The answer.
        result: Result<WorkerAnswer, Failure>,
    },
}

/// A worker's answer.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkerAnswer {
    /// It is done.
    Done,
    /// Where the elements are; those that are gone are left out.
    Geometry(Vec<Measured>),
    /// The element at a point, if any.
    Element(Option<ElementKey>),
    /// What is in the rows that were asked for.
    Rows {
        /// The children of the container that these rows are.
        order: Vec<ElementKey>,
        /// How they are, and all below them.
        updates: Vec<Update>,
    },
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

/// What a worker is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToWorker {
    /// Walk this element again, and all below it.
    Walk {
        /// From where.
        key: ElementKey,
        /// For the answer.
        ticket: u64,
    },
    /// Read these again, without what is below them. Those that are gone are told to be.
    Read {
        /// Which.
        keys: Vec<ElementKey>,
        /// For the answer.
        ticket: u64,
    },
    /// Read these rows of a container that shows only some of them, with all that is in them. Nothing is told; the answer has them.
    Look {
        /// The container.
        key: ElementKey,
        /// Which rows, counted from 0.
        rows: Range<u32>,
        /// For the answer.
        ticket: u64,
    },
    /// Tell these rows of a container with those it shows from now on, and no others.
    Keep {
        /// The container.
        key: ElementKey,
        /// Which rows, counted from 0.
        rows: Vec<u32>,
        /// For the answer.
        ticket: u64,
    },
    /// Measure these.
    Measure {
        /// Which.
        keys: Vec<ElementKey>,
        /// For the answer.
        ticket: u64,
    },
    /// Find the element at a point.
    HitTest {
        /// Where.
        point: Point,
        /// For the answer.
        ticket: u64,
    },
    /// Answer when all that the app has announced so far has been sent.
    Fence {
        /// For the answer.
        ticket: u64,
    },
    /// Do this to an element. Answered by `Done` once the app was told; what came of it is read by the worker as
    /// announced or not, so a fence after it sees it.
    Perform {
        /// To which.
        key: ElementKey,
        /// What.
        act: Act,
        /// To be passed just before the native call.
        gate: Gate,
        /// For the answer.
        ticket: u64,
    },
    /// Somebody waits on these: read them again now and then, announced or not.
    Watch {
        /// Names the interest.
        interest: u64,
        /// On what; with all below it.
        keys: Vec<ElementKey>,
    },
    /// Nobody waits any more.
    Unwatch {
        /// The interest.
        interest: u64,
    },
}

/// How to ask a worker. Dropping it detaches the app.
pub struct Mailbox(Box<dyn Fn(ToWorker) -> bool + Send + Sync>);

impl Mailbox {
    /// A mailbox that hands its letters to `post`, which answers false once the worker is gone.
    pub fn new(post: impl Fn(ToWorker) -> bool + Send + Sync + 'static) -> Mailbox {
        Mailbox(Box::new(post))
    }

    /// Asks; false if the worker is gone.
    #[must_use]
    pub fn post(&self, letter: ToWorker) -> bool {
        (self.0)(letter)
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
