//! The line between a worker and its app: what the worker asks, and what the app tells by itself.
//!
//! Behind it is whatever keeps the native elements: a thread with a run loop, a scripted app. It answers when it likes
//! or not at all; how long to wait is the worker's business.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axd_protocol::Point;
use tokio::sync::{mpsc, oneshot};

use crate::mirror::Reading;
use crate::{Act, ElementKey, Failure, Gate, Measured};

/// Reaches an app.
pub trait AppHandle: Clone + Send + Sync + 'static {
    /// How many elements one question may be about, so that a healthy app answers it in time.
    const MAX_BATCH: usize;

    /// Asks; false if the app has ended.
    fn ask(&self, question: AppRequest) -> bool;

    /// Waits until the app has ended.
    fn ended(&self) -> impl Future<Output = ()> + Send;

    /// Where it is noted that the app answers acts late.
    fn late(&self) -> &Arc<AtomicBool>;
}

/// Where an answer goes.
pub type ReplySender<T> = oneshot::Sender<Result<T, Failure>>;

/// What is asked of an app.
#[derive(Debug)]
pub enum AppRequest {
    /// To be told of what happens from now on. Asked before anything is read.
    Observe(mpsc::UnboundedSender<AppNotification>, ReplySender<()>),
    /// To put a marker into what the observer is told, after all that the app has announced so far.
    Mark(u64, mpsc::UnboundedSender<AppNotification>),
    /// How these are; `None` for what is gone.
    Read(Vec<ElementKey>, ReplySender<Vec<Option<Reading>>>),
    /// Where these are; what is gone is left out.
    Measure(Vec<ElementKey>, ReplySender<Vec<Measured>>),
    /// What is at a point: the app, and on down to the smallest. Empty if nothing of the app is there.
    At(Point, ReplySender<Vec<ElementKey>>),
    /// Where an element is: the app, and on down to it. Empty if it is gone.
    Path(ElementKey, ReplySender<Vec<ElementKey>>),
    /// The window in front, to be read first.
    Front(ReplySender<Option<ElementKey>>),
    /// To do something to an element. The gate is passed just before the app is told; then it is done even if nobody
    /// waits for the answer any more.
    Act(ElementKey, Act, Gate, ReplySender<()>),
    /// Whether it is awake: answered when the app answers anything, however long that takes.
    Awake(oneshot::Sender<()>),
}

impl AppRequest {
    /// What is asked, for logs: without what it is asked with, which may be a secret.
    pub fn name(&self) -> &'static str {
        match self {
            AppRequest::Observe(..) => "observe",
            AppRequest::Mark(..) => "mark",
            AppRequest::Read(..) => "read",
            AppRequest::Measure(..) => "measure",
            AppRequest::At(..) => "at",
            AppRequest::Path(..) => "path",
            AppRequest::Front(_) => "front",
            AppRequest::Act(..) => "act",
            AppRequest::Awake(_) => "awake",
        }
    }

    /// Whether nobody waits for the answer any more, so that it need not be found.
    pub fn is_given_up(&self) -> bool {
        match self {
            AppRequest::Observe(_, answer) => answer.is_closed(),
            AppRequest::Mark(_, observer) => observer.is_closed(),
            AppRequest::Read(_, answer) => answer.is_closed(),
            AppRequest::Measure(_, answer) => answer.is_closed(),
            AppRequest::At(_, answer) | AppRequest::Path(_, answer) => answer.is_closed(),
            AppRequest::Front(answer) => answer.is_closed(),
            AppRequest::Awake(answer) => answer.is_closed(),
            // What was sent arrives, whoever still waits for the answer.
            AppRequest::Act(..) => false,
        }
    }
}

/// What an app tells those that observe it. A hint, not a fact: it says where to look, not what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppNotification {
    /// Something about the element is different.
    Changed(ElementKey),
    /// The element's children are different.
    Structure(ElementKey),
    /// The element ended.
    Destroyed(ElementKey),
    /// All of it must be read again: nobody knows what was missed.
    Everything,
    /// Something for screen readers to speak.
    Announced(String),
    /// What it cannot be observed in, and why; `None` when it can again.
    Refused(Option<String>),
    /// All that was announced before this has been sent.
    Marker(u64),
}
