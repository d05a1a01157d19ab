//! Acting on elements: the app is asked, and answers when it likes; the worker goes on reading meanwhile.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::oneshot;

use super::{AppIs, CALL_SIZE, PATIENCE, Worker, handle};
use crate::platform::sim::model::{Refusal, Why};
use crate::platform::sim::process::Request;
use crate::platform::{Act, ElementKey, Failure, FailureKind, Gate, Sent, WorkerAnswer};

/// An app that takes longer than this to answer an act is known to be late.
const LATE: Duration = Duration::from_millis(150);

/// What came of an act.
#[derive(Debug)]
pub(super) struct Acted {
    ticket: u64,
    key: ElementKey,
    result: Result<WorkerAnswer, Failure>,
}

impl Worker {
    /// Asks the app to do something to an element. What comes of it is settled later.
    pub(super) fn perform(&mut self, key: ElementKey, act: Act, gate: &Gate, ticket: u64) {
        let process = match &self.app {
            AppIs::Well(process) => process.clone(),
            AppIs::Silent(..) | AppIs::Ended => return self.tell_answer(ticket, Err(self.app.failure())),
        };
        if !self.mirror.has_told(key) {
            let gone = Failure::new(FailureKind::Gone, "the element is gone");
            return self.tell_answer(ticket, Err(gone));
        }
        let (answer, reply) = oneshot::channel();
        if !gate.pass() {
            return self.tell_answer(ticket, Err(Failure::closed()));
        }
        self.counters.calls.fetch_add(1, Ordering::Relaxed);
        if process.requests.send(Request::Act(handle(key), act, answer)).is_err() {
            // It never got there.
            let ended = Failure::new(FailureKind::Gone, "the app has ended");
            return self.tell_answer(ticket, Err(ended));
        }
        let (acted, late) = (self.acted.0.clone(), Arc::clone(&process.late));
        tokio::spawn(async move {
            let asked = tokio::time::Instant::now();
            let result = match tokio::time::timeout(PATIENCE, reply).await {
                Ok(Ok(Ok(()))) => Ok(WorkerAnswer::Done),
                Ok(Ok(Err(refusal))) => Err(failure(refusal)),
                Ok(Err(_)) => {
                    Err(Failure::new(FailureKind::Gone, "the app ended before it answered").sent(Sent::Maybe))
                }
                Err(_) => {
                    let text = format!("the app did not answer for {} ms", PATIENCE.as_millis());
                    Err(Failure::new(FailureKind::Unresponsive, text).sent(Sent::Maybe))
                }
            };
            late.store(asked.elapsed() > LATE, Ordering::Relaxed);
            // Nobody is left to tell if the worker has ended.
            let _ = acted.send(Acted { ticket, key, result });
        });
    }

    /// Tells what came of an act, and reads again what it was done to, announced or not: a fence after the answer
    /// finds it read.
    pub(super) fn settle(&mut self, acted: Acted) {
        let Acted { ticket, key, result } = acted;
        let may_have_changed = match &result {
            Ok(_) => true,
            Err(failure) => failure.sent != Sent::No,
        };
        if may_have_changed {
            let mut part = Some(key);
            while let Some(key) = part.filter(|key| self.mirror.has_told(*key)) {
                self.schedule.hint(key);
                part = self.mirror.parent(key);
            }
            // What is selected or checked is so instead of something beside it.
            let parent = self.mirror.parent(key);
            let beside = parent.map(|parent| self.mirror.children(parent)).unwrap_or_default();
            for key in beside.iter().copied().take(CALL_SIZE).collect::<Vec<_>>() {
                if self.mirror.has_told(key) {
                    self.schedule.hint(key);
                }
            }
        }
        self.tell_answer(ticket, result);
    }
}

fn failure(refusal: Refusal) -> Failure {
    let kind = match refusal.why {
        Why::Gone => FailureKind::Gone,
        Why::Unable => FailureKind::NotSupported,
        Why::Refused => FailureKind::Refused,
        Why::Invalid => FailureKind::Invalid,
    };
    Failure::new(kind, refusal.text)
}
