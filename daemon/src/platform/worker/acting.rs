//! Acting on elements: the app is asked, and answers when it likes; the worker goes on reading meanwhile.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::oneshot;

use super::{AppIs, Line, PATIENCE, Question, Worker};
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

impl<L: Line> Worker<L> {
    /// Asks the app to do something to an element. What comes of it is settled later.
    pub(super) fn perform(&mut self, key: ElementKey, act: Act, gate: Gate, ticket: u64) {
        let line = match &self.app {
            AppIs::Well(line) => line.clone(),
            AppIs::Silent(..) | AppIs::Ended => return self.tell_answer(ticket, Err(self.app.failure())),
        };
        if !self.mirror.has_told(key) {
            let gone = Failure::new(FailureKind::Gone, "the element is gone");
            return self.tell_answer(ticket, Err(gone));
        }
        let (answer, reply) = oneshot::channel();
        self.counters.calls.fetch_add(1, Ordering::Relaxed);
        if !line.ask(Question::Act(key, act, gate.clone(), answer)) {
            // It never got there.
            let ended = Failure::new(FailureKind::Gone, "the app has ended");
            return self.tell_answer(ticket, Err(ended));
        }
        let (acted, late) = (self.acted.0.clone(), Arc::clone(line.late()));
        tokio::spawn(async move {
            let asked = tokio::time::Instant::now();
            let result = match tokio::time::timeout(PATIENCE, reply).await {
                Ok(Ok(result)) => result.map(|()| WorkerAnswer::Done),
                Ok(Err(_)) => Err(unsure(&gate, FailureKind::Gone, "the app ended before it answered")),
                Err(_) => {
                    let text = format!("the app did not answer for {} ms", PATIENCE.as_millis());
                    Err(unsure(&gate, FailureKind::Unresponsive, &text))
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
            for key in beside.iter().copied().take(L::MOST).collect::<Vec<_>>() {
                if self.mirror.has_told(key) {
                    self.schedule.hint(key);
                }
            }
        }
        self.tell_answer(ticket, result);
    }
}

/// No answer came. What has not passed the gate yet will not be sent any more.
fn unsure(gate: &Gate, kind: FailureKind, text: &str) -> Failure {
    let sent = if gate.close() { Sent::No } else { Sent::Maybe };
    Failure::new(kind, text).sent(sent)
}
