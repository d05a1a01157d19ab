//! What a worker is asked, and how the reply finds the one who asked.
//!
//! A request carries the [`Responder`] of its reply. The reply takes the way of everything else that the worker sends: a
//! [`WorkerReply`] is delivered after the updates that were read before it, so whoever receives it finds them applied.

use std::fmt;
use std::ops::Range;

use axd_protocol::Point;
use axd_tree::{ElementKey, Update};
use tokio::sync::oneshot;

use crate::{Act, Failure, Gate, Measured, Reply, WorkerEvent};

/// What a worker is asked to do.
#[derive(Debug)]
pub enum WorkerRequest {
    /// Read an element and all below it again.
    Walk {
        /// The element.
        key: ElementKey,
        /// Answered when that is told.
        reply: Responder<()>,
    },
    /// Read elements again.
    Read {
        /// The elements.
        keys: Vec<ElementKey>,
        /// Answered when that is told.
        reply: Responder<()>,
    },
    /// Read rows of a container that shows only some of them. They are answered, and do not become part of the tree.
    Look {
        /// The container.
        key: ElementKey,
        /// The rows, by number.
        rows: Range<u32>,
        /// Answered with what is in them.
        reply: Responder<Rows>,
    },
    /// Keep these rows of a container in the tree, with those on the screen, and no others.
    Keep {
        /// The container.
        key: ElementKey,
        /// The rows, by number.
        rows: Vec<u32>,
        /// Answered when that is told.
        reply: Responder<()>,
    },
    /// Measure elements; what is gone is left out.
    Measure {
        /// The elements.
        keys: Vec<ElementKey>,
        /// Answered with where they are.
        reply: Responder<Vec<Measured>>,
    },
    /// Find the smallest element at a point, in screen coordinates; `None` if nothing of the app is there.
    HitTest {
        /// The point.
        point: Point,
        /// Answered with the element.
        reply: Responder<Option<ElementKey>>,
    },
    /// Wait until everything the app announced before this has been read and told.
    Fence {
        /// Answered then.
        reply: Responder<()>,
    },
    /// Do something to an element.
    Perform {
        /// The element.
        key: ElementKey,
        /// What to do.
        act: Act,
        /// Passed just before it is sent.
        gate: Gate,
        /// Answered when the app has taken it, or has not.
        reply: Responder<()>,
    },
    /// Somebody waits on these elements and all below them: they are read again regularly, announced or not.
    Watch {
        /// Names the interest, to end it.
        interest: u64,
        /// The elements.
        keys: Vec<ElementKey>,
    },
    /// The interest has ended.
    Unwatch {
        /// Its name.
        interest: u64,
    },
}

impl WorkerRequest {
    /// Answers with a failure; nothing if no answer is expected.
    pub fn fail(self, failure: Failure) -> Option<WorkerReply> {
        match self {
            WorkerRequest::Walk { reply, .. }
            | WorkerRequest::Read { reply, .. }
            | WorkerRequest::Keep { reply, .. }
            | WorkerRequest::Fence { reply }
            | WorkerRequest::Perform { reply, .. } => Some(reply.with(Err(failure))),
            WorkerRequest::Look { reply, .. } => Some(reply.with(Err(failure))),
            WorkerRequest::Measure { reply, .. } => Some(reply.with(Err(failure))),
            WorkerRequest::HitTest { reply, .. } => Some(reply.with(Err(failure))),
            WorkerRequest::Watch { .. } | WorkerRequest::Unwatch { .. } => None,
        }
    }
}

/// What is in some rows of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// The rows, in order.
    pub order: Vec<ElementKey>,
    /// What was read of them, and of what is below them.
    pub updates: Vec<Update>,
}

/// Where the reply to a request goes. If it is dropped, whoever waits learns that none will come.
#[derive(Debug)]
pub struct Responder<T>(Option<oneshot::Sender<Result<T, Failure>>>);

impl<T: Send + Sync + 'static> Responder<T> {
    /// A responder, and where its reply arrives.
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
                // Whoever asked may have stopped waiting.
                let _ = sender.send(result);
            }
        }))
    }
}

/// A reply on its way from a worker to whoever asked.
pub struct WorkerReply(Box<dyn FnOnce() + Send + Sync>);

impl WorkerReply {
    /// Hands it to whoever asked. Everything the worker sent before it has been handled.
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
