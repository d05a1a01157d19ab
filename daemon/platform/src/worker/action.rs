//! Performs actions on elements through an `AppHandle`. The app replies at its own pace, and the worker goes on reading
//! meanwhile.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::oneshot;

use super::threaded::ThreadedApp;
use super::{APP_REPLY_TIMEOUT, AppBackend, AppHandle, AppRequest, WorkerState};
use crate::{Act, ElementKey, Failure, FailureKind, Gate, Responder, Sent};

/// An app that takes longer than this to reply to an action is marked as late.
const LATE_AFTER: Duration = Duration::from_millis(150);

/// The result of an action that the app has replied to, or that timed out.
#[derive(Debug)]
pub(super) struct FinishedAction {
    reply: Responder<()>,
    key: ElementKey,
    result: Result<(), Failure>,
}

impl<L: AppHandle> ThreadedApp<L> {
    /// Sends an action on an element to the app. Its result arrives later, as a `FinishedAction`.
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
        let asked = |handle: &&L| handle.ask(AppRequest::Act(key, act, gate.clone(), answer));
        let Some(handle) = self.handle.as_ref().filter(asked) else {
            // The request never reached the app.
            let ended = Failure::new(FailureKind::Gone, Self::ENDED);
            return state.reply(to, Err(ended));
        };
        let (finished_sender, late) = (self.finished_sender.clone(), Arc::clone(handle.late()));
        let pulse = handle.pulse().cloned();
        tokio::spawn(async move {
            let sent_at = tokio::time::Instant::now();
            let result = match Self::wait_for_reply(pulse, reply).await {
                Some(Ok(result)) => result,
                Some(Err(_)) => {
                    Err(outcome_unknown(&gate, FailureKind::Gone, "the app ended before it answered"))
                }
                None => {
                    let text = format!("the app did not answer for {} ms", APP_REPLY_TIMEOUT.as_millis());
                    Err(outcome_unknown(&gate, FailureKind::Unresponsive, &text))
                }
            };
            late.store(sent_at.elapsed() > LATE_AFTER, Ordering::Relaxed);
            // Sending fails only if the worker has ended, and then nobody waits for the result.
            let _ = finished_sender.send(FinishedAction { reply: to, key, result });
        });
    }
}

impl FinishedAction {
    /// Replies to the caller and marks the element dirty, whether the app sent an event or not, together with its parents and up
    /// to `max_siblings` of its siblings. A fence raised after the reply is reached only when they have been read.
    pub fn finish(self, state: &mut WorkerState, max_siblings: usize) {
        let FinishedAction { reply, key, result } = self;
        let may_have_changed = match &result {
            Ok(_) => true,
            Err(failure) => failure.sent != Sent::No,
        };
        if may_have_changed {
            let mirror = &state.mirror;
            let mut parts: Vec<ElementKey> =
                std::iter::successors(Some(key), |key| mirror.parent(*key)).collect();
            // Selecting or checking an element may deselect or uncheck one of its siblings.
            let siblings = mirror.parent(key).map_or(&[][..], |parent| mirror.children(parent));
            parts.extend(siblings.iter().copied().take(max_siblings));
            parts.retain(|key| mirror.has_sent(*key));
            parts.into_iter().for_each(|key| state.schedule.mark_dirty(key));
        }
        state.reply(reply, result);
    }
}

/// The failure for an action without a reply. Closing the gate makes sure that an action that was not sent yet is never sent.
fn outcome_unknown(gate: &Gate, kind: FailureKind, text: &str) -> Failure {
    let sent = if gate.close() { Sent::No } else { Sent::Maybe };
    Failure::new(kind, text).sent(sent)
}
