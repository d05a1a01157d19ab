//! The state of a worker: what it knows of its app, what it is to read again, and what it has still to tell.

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

/// Announcements that wait to be sent; more are dropped.
const MOST_OUTGOING: usize = 256;

/// What a worker keeps of its app.
pub struct WorkerState {
    /// What has been told.
    pub mirror: Mirror,
    /// What is to be read again.
    pub schedule: Schedule,
    /// Elements that announced something and were never listed: whoever has them did not say so.
    pub unplaced: HashSet<ElementKey>,
    /// What somebody waits for.
    pub fences: Fences,
    /// What is counted for `status`.
    pub counters: Arc<Counters>,
    pub(super) flood: Flood,
    pub(super) health: Health,
    pub(super) walk: Walk,
    /// What the app cannot be observed in, and why.
    refused: Option<String>,
    /// Whether it has more elements than are kept.
    short: bool,
    outgoing: VecDeque<WorkerEvent>,
    ended: &'static str,
}

/// How the app is.
pub(super) enum Health {
    Well,
    /// It let a call time out. The probe is answered the moment it answers anything.
    Silent(oneshot::Receiver<()>),
    Ended,
}

/// How far the first walk is.
pub(super) enum Walk {
    /// Observers are registered before anything is read.
    Registering,
    /// The app and its windows come first.
    Windows,
    /// What is listed and not read, per window, the front one first.
    Inside {
        queues: VecDeque<VecDeque<ElementKey>>,
        step: usize,
    },
    Done,
}

impl WorkerState {
    /// Nothing is known yet. `ended` is how it is said that the app has.
    pub(super) fn new(counters: Arc<Counters>, ended: &'static str) -> WorkerState {
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
            short: false,
            outgoing: VecDeque::new(),
            ended,
        }
    }

    /// Whether the app answers, as far as is known.
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

    /// Has everything read again: nobody knows what was missed.
    pub fn mark_all_dirty(&mut self) {
        self.mirror.keys().into_iter().for_each(|key| self.schedule.mark_dirty(key));
    }

    /// Has those of the elements read again that are known.
    pub fn mark_known_dirty(&mut self, keys: impl IntoIterator<Item = ElementKey>) {
        for key in keys.into_iter().filter(|key| self.mirror.knows(*key)) {
            self.schedule.mark_dirty(key);
        }
    }

    /// The app has ended.
    pub fn set_ended(&mut self) {
        if !self.has_ended() {
            self.health = Health::Ended;
            self.queue_state();
        }
    }

    /// What the app cannot be observed in, and why; `None` when it can again.
    pub fn set_degraded(&mut self, why: Option<String>) {
        if self.refused != why {
            self.refused = why;
            self.queue_state();
        }
    }

    /// Something was taken in: tells if the app has more elements than are kept now, or no longer has.
    pub(super) fn note_room(&mut self) {
        if self.short != self.mirror.is_short() {
            self.short = !self.short;
            self.queue_state();
        }
    }

    /// Why nothing can be had of the app.
    pub fn failure(&self) -> Failure {
        match self.health {
            Health::Ended => Failure::new(FailureKind::Gone, self.ended),
            Health::Well | Health::Silent(_) => unresponsive(),
        }
    }

    /// Tells what was learned.
    pub fn queue_updates(&mut self, cause: Cause, updates: Vec<Update>) {
        if !updates.is_empty() {
            self.outgoing.push_back(WorkerEvent::Batch(Batch { cause, updates }));
        }
    }

    /// Tells what the app said for screen readers to speak.
    pub fn queue_announcement(&mut self, text: String) {
        if self.outgoing.len() < MOST_OUTGOING {
            self.outgoing.push_back(WorkerEvent::Announcement(text));
        }
    }

    /// Tells how the app is.
    pub(super) fn queue_state(&mut self) {
        let degraded = match self.health {
            Health::Well => self.refused.clone().or_else(|| self.short.then(|| self.mirror.shortage())),
            // Why it is silent, where that is known: it may be that nobody is allowed to ask.
            Health::Silent(_) => self.refused.clone().or_else(|| Some(self.failure().native)),
            Health::Ended => Some(self.failure().native),
        };
        let complete = self.is_complete();
        self.outgoing.push_back(WorkerEvent::State { degraded, complete });
    }

    /// Answers a request, after all that was learned before.
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
