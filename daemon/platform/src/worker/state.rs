//! The state of a worker: the mirror of its app, what to read again, and the output that is not sent yet.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::oneshot;

use super::fences::Fences;
use super::flood::Flood;
use super::{now, unresponsive};
use crate::mirror::Mirror;
use crate::schedule::{Pace, Schedule};
use crate::{
    Batch, Cause, Counters, ElementKey, Failure, FailureKind, Responder, Update, WorkerEvent, WorkerReply,
};

/// The maximum number of messages in the output queue before announcements are dropped.
const MAX_OUTGOING: usize = 256;

/// The state of a worker.
pub struct WorkerState {
    /// What has been sent of the app's elements.
    pub mirror: Mirror,
    /// What to read again, and when.
    pub schedule: Schedule,
    /// Elements that sent events but are listed by no parent.
    pub unplaced: HashSet<ElementKey>,
    /// The fences that callers wait for.
    pub fences: Fences,
    /// Counters for `status`.
    pub counters: Arc<Counters>,
    pub(super) flood: Flood,
    pub(super) health: Health,
    pub(super) walk: Walk,
    /// Why the app cannot be observed completely.
    refused: Option<String>,
    /// Whether the app has more elements than are kept.
    is_short: bool,
    outgoing: VecDeque<WorkerEvent>,
    ended: &'static str,
}

/// Whether the app replies.
pub(super) enum Health {
    Well,
    /// The app let a call time out. The probe returns as soon as it replies to anything.
    Unresponsive(oneshot::Receiver<()>),
    Ended,
}

/// The progress of the first walk.
pub(super) enum Walk {
    /// Observers are registered before anything is read.
    Registering,
    /// The app and its windows come first.
    Windows,
    /// Elements that are listed but not read, per window, the front window first.
    Inside {
        queues: VecDeque<VecDeque<ElementKey>>,
        step: usize,
    },
    Done,
}

impl WorkerState {
    /// The state before anything is read. `ended` is the error text for an app that has ended.
    pub fn new(counters: Arc<Counters>, ended: &'static str) -> WorkerState {
        WorkerState {
            mirror: Mirror::default(),
            schedule: Schedule::new(Pace::default(), now()),
            unplaced: HashSet::new(),
            fences: Fences::default(),
            counters,
            flood: Flood::new(now()),
            health: Health::Well,
            walk: Walk::Registering,
            refused: None,
            is_short: false,
            outgoing: VecDeque::new(),
            ended,
        }
    }

    /// Whether the app replies, as far as is known.
    pub fn is_well(&self) -> bool {
        matches!(self.health, Health::Well)
    }

    /// Whether the app has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.health, Health::Ended)
    }

    /// Whether the first walk is done.
    pub fn is_complete(&self) -> bool {
        matches!(self.walk, Walk::Done)
    }

    /// Counts a call to the app.
    pub fn count_call(&self) {
        self.counters.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Marks all elements dirty, because events were lost.
    pub fn mark_all_dirty(&mut self) {
        self.mirror.keys().into_iter().for_each(|key| self.schedule.mark_dirty(key));
    }

    /// Marks those of the elements dirty that are known.
    pub fn mark_known_dirty(&mut self, keys: impl IntoIterator<Item = ElementKey>) {
        for key in keys.into_iter().filter(|key| self.mirror.knows(*key)) {
            self.schedule.mark_dirty(key);
        }
    }

    /// Records that the app has ended.
    pub fn set_ended(&mut self) {
        if !self.has_ended() {
            self.health = Health::Ended;
            self.queue_state();
        }
    }

    /// Sets why the app cannot be observed completely; `None` when it can again.
    pub fn set_degraded(&mut self, why: Option<String>) {
        if self.refused != why {
            self.refused = why;
            self.queue_state();
        }
    }

    /// Sends the app's state if it now has more elements than are kept, or no longer has.
    pub(super) fn check_shortage(&mut self) {
        if self.is_short != self.mirror.is_short() {
            self.is_short = !self.is_short;
            self.queue_state();
        }
    }

    /// The failure for requests to an app that is unresponsive or has ended.
    pub fn failure(&self) -> Failure {
        match self.health {
            Health::Ended => Failure::new(FailureKind::Gone, self.ended),
            Health::Well | Health::Unresponsive(_) => unresponsive(),
        }
    }

    /// Queues updates for the engine.
    pub(super) fn queue_updates(&mut self, cause: Cause, updates: Vec<Update>) {
        if !updates.is_empty() {
            self.outgoing.push_back(WorkerEvent::Batch(Batch { cause, updates }));
        }
    }

    /// Queues a text that the app wants screen readers to speak.
    pub fn queue_announcement(&mut self, text: String) {
        if self.outgoing.len() < MAX_OUTGOING {
            self.outgoing.push_back(WorkerEvent::Announcement(text));
        }
    }

    /// Queues the app's state.
    pub(super) fn queue_state(&mut self) {
        let degraded = match self.health {
            Health::Well => self.refused.clone().or_else(|| self.is_short.then(|| self.mirror.shortage())),
            // The reason for being unresponsive, where it is known: access may not be permitted.
            Health::Unresponsive(_) => self.refused.clone().or_else(|| Some(self.failure().native)),
            Health::Ended => Some(self.failure().native),
        };
        let complete = self.is_complete();
        self.outgoing.push_back(WorkerEvent::State { degraded, complete });
    }

    /// Queues the reply to a request, after all updates that were queued before.
    pub fn reply<T: Send + Sync + 'static>(&mut self, to: Responder<T>, result: Result<T, Failure>) {
        self.send_reply(to.with(result));
    }

    pub(super) fn send_reply(&mut self, reply: WorkerReply) {
        self.outgoing.push_back(WorkerEvent::Reply(reply));
    }

    pub(super) fn has_outgoing(&self) -> bool {
        !self.outgoing.is_empty()
    }

    pub(super) fn next_outgoing(&mut self) -> Option<WorkerEvent> {
        self.outgoing.pop_front()
    }
}
