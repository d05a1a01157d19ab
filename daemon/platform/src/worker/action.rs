//! Acting on elements over a line: the app is asked, and answers when it likes; the worker goes on reading meanwhile.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::oneshot;

use super::threaded::ThreadedApp;
use super::{APP_REPLY_TIMEOUT, AppBackend, AppHandle, AppRequest, WorkerState};
use crate::{Act, ElementKey, Failure, FailureKind, Gate, Responder, Sent};

/// An app that takes longer than this to answer an act is known to be late.
const LATE_AFTER: Duration = Duration::from_millis(150);

/// What came of an act.
#[derive(Debug)]
pub(super) struct FinishedAction {
    reply: Responder<()>,
    key: ElementKey,
    result: Result<(), Failure>,
}

impl<L: AppHandle> ThreadedApp<L> {
    /// Asks the app to do something to an element. What comes of it is settled later.
    pub(super) fn begin(
        &mut self,
        state: &mut WorkerState,
        key: ElementKey,
        act: Act,
        gate: Gate,
        to: Responder<()>,
    ) {
        let (answer, reply) = oneshot::channel();
        state.count_call();
        let asked = |line: &&L| line.ask(AppRequest::Act(key, act, gate.clone(), answer));
        let Some(line) = self.line.as_ref().filter(asked) else {
            // It never got there.
            let ended = Failure::new(FailureKind::Gone, Self::ENDED);
            return state.reply(to, Err(ended));
        };
        let (acts, late) = (self.acts.clone(), Arc::clone(line.late()));
        tokio::spawn(async move {
            let asked = tokio::time::Instant::now();
            let result = match tokio::time::timeout(APP_REPLY_TIMEOUT, reply).await {
                Ok(Ok(result)) => result,
                Ok(Err(_)) => {
                    Err(outcome_unknown(&gate, FailureKind::Gone, "the app ended before it answered"))
                }
                Err(_) => {
                    let text = format!("the app did not answer for {} ms", APP_REPLY_TIMEOUT.as_millis());
                    Err(outcome_unknown(&gate, FailureKind::Unresponsive, &text))
                }
            };
            late.store(asked.elapsed() > LATE_AFTER, Ordering::Relaxed);
            // Nobody is left to tell if the worker has ended.
            let _ = acts.send(FinishedAction { reply: to, key, result });
        });
    }
}

impl FinishedAction {
    /// Tells what came of an act, and has read again what it was done to, announced or not, and up to `most` of what
    /// is beside it: a fence after the answer finds it read.
    pub fn finish(self, state: &mut WorkerState, most: usize) {
        let FinishedAction { reply, key, result } = self;
        let may_have_changed = match &result {
            Ok(_) => true,
            Err(failure) => failure.sent != Sent::No,
        };
        if may_have_changed {
            let mirror = &state.mirror;
            let mut parts: Vec<ElementKey> =
                std::iter::successors(Some(key), |key| mirror.parent(*key)).collect();
            // What is selected or checked is so instead of something beside it.
            let beside = mirror.parent(key).map_or(&[][..], |parent| mirror.children(parent));
            parts.extend(beside.iter().copied().take(most));
            parts.retain(|key| mirror.has_sent(*key));
            parts.into_iter().for_each(|key| state.schedule.mark_dirty(key));
        }
        state.reply(reply, result);
    }
}

/// No answer came. What has not passed the gate yet will not be sent any more.
fn outcome_unknown(gate: &Gate, kind: FailureKind, text: &str) -> Failure {
    let sent = if gate.close() { Sent::No } else { Sent::Maybe };
    Failure::new(kind, text).sent(sent)
}
