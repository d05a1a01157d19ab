//! The channel between a worker and its app: the requests of the worker and the notifications of the app.
//!
//! Behind it is whatever owns the native elements: a thread with a run loop, or a scripted app. It may reply late or never; the
//! timeout is up to the worker.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axd_protocol::Point;
use tokio::sync::{mpsc, oneshot};

use super::Pulse;
use crate::mirror::Reading;
use crate::{Act, ElementKey, Failure, Gate, Measured};

/// A handle to an app.
pub trait AppHandle: Clone + Send + Sync + 'static {
    /// The maximum number of elements in one request, so that a healthy app replies in time.
    const MAX_BATCH: usize;
    /// The maximum number of elements in one step of the first walk. Between two steps requests are taken.
    const MAX_STEP: usize = 4_096;
    /// The maximum number of elements that are read for an interest at a time, where that is less than usual. The elements that
    /// somebody waits on are read each time, and what is below them in turns.
    const MAX_WATCHED: Option<usize> = None;
    /// How long a step may take, by what an element has cost so far; `None` where that does not matter.
    const STEP_BUDGET: Option<Duration> = None;

    /// Sends a request. False if the app has ended.
    fn ask(&self, question: AppRequest) -> bool;

    /// When the app last answered a call, where one request takes many; `None` if a reply is the only sign of life.
    fn pulse(&self) -> Option<&Arc<Pulse>> {
        None
    }

    /// Whether elements may be read that nobody asked for and no event named, as the sweep does.
    fn may_sweep(&self) -> bool {
        true
    }

    /// Waits until the app has ended.
    fn ended(&self) -> impl Future<Output = ()> + Send;

    /// Set when the app replies to actions late.
    fn late(&self) -> &Arc<AtomicBool>;
}

/// The sender for the reply to a request.
pub type ReplySender<T> = oneshot::Sender<Result<T, Failure>>;

/// A request to an app.
#[derive(Debug)]
pub enum AppRequest {
    /// Subscribes to notifications from now on. Sent before anything is read.
    Observe(mpsc::UnboundedSender<AppNotification>, ReplySender<()>),
    /// Puts a marker into the notifications, after everything that the app has announced so far.
    Mark(u64, mpsc::UnboundedSender<AppNotification>),
    /// Reads elements; `None` for those that are gone. The reply may be about the first few of them only: then the others are
    /// requested again.
    Read(Vec<ElementKey>, ReplySender<Vec<Option<Reading>>>),
    /// Lists the children of an element the next time that it is read, where they are listed on request only.
    Unfold(ElementKey),
    /// Reads the bounds of elements; those that are gone are left out.
    Measure(Vec<ElementKey>, ReplySender<Vec<Measured>>),
    /// Hit test: the path from the app down to the smallest element at a point. Empty if nothing of the app is there.
    At(Point, ReplySender<Vec<ElementKey>>),
    /// The path from the app down to an element. Empty if it is gone.
    Path(ElementKey, ReplySender<Vec<ElementKey>>),
    /// The front window, which is read first.
    Front(ReplySender<Option<ElementKey>>),
    /// Performs an action on an element. The gate is passed just before the app gets it; from then on it is performed even if
    /// nobody waits for the reply any more.
    Act(ElementKey, Act, Gate, ReplySender<()>),
    /// A probe: replied to as soon as the app replies to anything, however long that takes.
    Awake(oneshot::Sender<()>),
}

impl AppRequest {
    /// The kind of request, for logs. Its arguments are left out, as they may be secret.
    pub fn name(&self) -> &'static str {
        match self {
            AppRequest::Observe(..) => "observe",
            AppRequest::Mark(..) => "mark",
            AppRequest::Read(..) => "read",
            AppRequest::Unfold(_) => "unfold",
            AppRequest::Measure(..) => "measure",
            AppRequest::At(..) => "at",
            AppRequest::Path(..) => "path",
            AppRequest::Front(_) => "front",
            AppRequest::Act(..) => "act",
            AppRequest::Awake(_) => "awake",
        }
    }

    /// Whether nobody waits for the reply any more, so that the request can be skipped.
    pub fn is_given_up(&self) -> bool {
        match self {
            AppRequest::Observe(_, answer) => answer.is_closed(),
            AppRequest::Mark(_, observer) => observer.is_closed(),
            AppRequest::Read(_, answer) => answer.is_closed(),
            AppRequest::Measure(_, answer) => answer.is_closed(),
            AppRequest::At(_, answer) | AppRequest::Path(_, answer) => answer.is_closed(),
            AppRequest::Front(answer) => answer.is_closed(),
            AppRequest::Awake(answer) => answer.is_closed(),
            AppRequest::Unfold(_) => false,
            // An action that was sent is performed, whether or not anybody waits for the reply.
            AppRequest::Act(..) => false,
        }
    }
}

/// A notification from an app to its observers. It says where to read, not what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppNotification {
    /// The element changed.
    Changed(ElementKey),
    /// The element's children changed.
    Structure(ElementKey),
    /// The element was destroyed.
    Destroyed(ElementKey),
    /// Notifications were lost, and it is unknown which: everything must be read again.
    Everything,
    /// A text for screen readers to speak.
    Announced(String),
    /// Why the app cannot be observed completely; `None` when it can again.
    Refused(Option<String>),
    /// A marker: everything that was announced before it has been sent.
    Marker(u64),
}
