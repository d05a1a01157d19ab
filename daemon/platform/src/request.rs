//! Requests to a worker, and how their replies reach the caller.
//!
//! A request carries the [`Responder`] for its reply. The reply goes through the same queue as everything else that the worker
//! sends: a [`WorkerReply`] is delivered after the updates that were read before it, so the caller finds them applied.

use std::fmt;
use std::ops::Range;

use axd_protocol::Point;
use axd_tree::{ElementKey, Update};
use tokio::sync::oneshot;

use crate::{Act, Failure, Gate, Measured, Reply, WorkerEvent};

/// A request to a worker.
#[derive(Debug)]
pub enum WorkerRequest {
    /// Read an element and all below it again.
    Walk {
        /// The element.
        key: ElementKey,
        /// Gets the reply when the updates have been sent.
        reply: Responder<()>,
    },
    /// Read elements again.
    Read {
        /// The elements.
        keys: Vec<ElementKey>,
        /// Gets the reply when the updates have been sent.
        reply: Responder<()>,
    },
    /// Read rows of a container that lists only some of its rows. They are in the reply, and do not become part of the tree.
    Look {
        /// The container.
        key: ElementKey,
        /// The indexes of the rows.
        rows: Range<u32>,
        /// Gets the contents of the rows.
        reply: Responder<Rows>,
    },
    /// Keep these rows of a container in the tree besides those on the screen, and no others.
    Keep {
        /// The container.
        key: ElementKey,
        /// The indexes of the rows.
        rows: Vec<u32>,
        /// Gets the reply when the updates have been sent.
        reply: Responder<()>,
    },
    /// Read the children of an element that are read on request only, such as the items of a closed menu.
    Unfold {
        /// The element.
        key: ElementKey,
        /// Gets the reply when the updates have been sent.
        reply: Responder<()>,
    },
    /// Measure elements; those that are gone are left out.
    Measure {
        /// The elements.
        keys: Vec<ElementKey>,
        /// Gets their bounds.
        reply: Responder<Vec<Measured>>,
    },
    /// Find the smallest element at a point, in screen coordinates; `None` if nothing of the app is there.
    HitTest {
        /// The point.
        point: Point,
        /// Gets the element.
        reply: Responder<Option<ElementKey>>,
    },
    /// Wait until everything that the app announced before this has been read and sent.
    Fence {
        /// Gets the reply when the fence is reached.
        reply: Responder<()>,
    },
    /// Perform an action on an element.
    Perform {
        /// The element.
        key: ElementKey,
        /// The action.
        act: Act,
        /// Passed just before the action is sent.
        gate: Gate,
        /// Gets the reply when the app has accepted or refused the action.
        reply: Responder<()>,
    },
    /// Start an interest: these elements and all below them are read again regularly, with or without events.
    Watch {
        /// The number of the interest, used to end it.
        interest: u64,
        /// The elements.
        keys: Vec<ElementKey>,
    },
    /// End an interest.
    Unwatch {
        /// The number of the interest.
        interest: u64,
    },
}

impl WorkerRequest {
    /// Replies with a failure; `None` if the request expects no reply.
    pub fn fail(self, failure: Failure) -> Option<WorkerReply> {
        match self {
            WorkerRequest::Walk { reply, .. }
            | WorkerRequest::Read { reply, .. }
            | WorkerRequest::Keep { reply, .. }
            | WorkerRequest::Unfold { reply, .. }
            | WorkerRequest::Fence { reply }
            | WorkerRequest::Perform { reply, .. } => Some(reply.with(Err(failure))),
            WorkerRequest::Look { reply, .. } => Some(reply.with(Err(failure))),
            WorkerRequest::Measure { reply, .. } => Some(reply.with(Err(failure))),
            WorkerRequest::HitTest { reply, .. } => Some(reply.with(Err(failure))),
            WorkerRequest::Watch { .. } | WorkerRequest::Unwatch { .. } => None,
        }
    }
}

/// The contents of some rows of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// The rows, in order.
    pub order: Vec<ElementKey>,
    /// What was read of the rows and of the elements below them.
    pub updates: Vec<Update>,
}

/// The sender for the reply to a request. If it is dropped, the caller learns that no reply will come.
#[derive(Debug)]
pub struct Responder<T>(Option<oneshot::Sender<Result<T, Failure>>>);

impl<T: Send + Sync + 'static> Responder<T> {
    /// A responder, and the receiver of its reply.
    pub fn new() -> (Responder<T>, Reply<T>) {
        let (sender, reply) = oneshot::channel();
        (Responder(Some(sender)), reply)
    }

    /// A responder whose reply nobody waits for.
    pub fn ignored() -> Responder<T> {
        Responder(None)
    }

    /// The reply, ready to be sent.
    #[must_use]
    pub fn with(self, result: Result<T, Failure>) -> WorkerReply {
        WorkerReply(Box::new(move || {
            if let Some(sender) = self.0 {
                // This fails only if the caller has stopped waiting.
                let _ = sender.send(result);
            }
        }))
    }
}

/// A reply on its way from a worker to the caller.
pub struct WorkerReply(Box<dyn FnOnce() + Send + Sync>);

impl WorkerReply {
    /// Delivers the reply to the caller. Everything that the worker sent before it has been handled.
    pub fn deliver(self) {
        (self.0)();
    }
}

impl fmt::Debug for WorkerReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkerReply")
    }
}

impl From<WorkerReply> for WorkerEvent {
    fn from(reply: WorkerReply) -> WorkerEvent {
        WorkerEvent::Reply(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureKind;

    #[tokio::test]
    async fn a_reply_arrives_when_it_is_delivered_and_not_before() {
        let (responder, mut reply) = Responder::new();
        let ready = responder.with(Ok(7));
        assert!(reply.try_recv().is_err());
        ready.deliver();
        assert_eq!(reply.await, Ok(Ok(7)));
    }

    #[tokio::test]
    async fn whoever_waits_for_a_reply_that_will_not_come_learns_it() {
        let (responder, reply) = Responder::<()>::new();
        drop(responder.with(Ok(())));
        assert!(reply.await.is_err());
    }

    #[tokio::test]
    async fn every_request_that_expects_an_answer_can_be_failed() {
        let failure = Failure::new(FailureKind::Gone, "gone");
        let (responder, reply) = Responder::new();
        let failed = WorkerRequest::Measure { keys: vec![], reply: responder }.fail(failure.clone());
        failed.expect("it expects an answer").deliver();
        assert_eq!(reply.await, Ok(Err(failure.clone())));
        assert!(WorkerRequest::Unwatch { interest: 1 }.fail(failure).is_none());
    }
}
