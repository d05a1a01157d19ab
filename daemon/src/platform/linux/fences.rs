//! Fences: whoever waits for one learns that all the app had announced before has been read and told.
//!
//! The app's sign of life comes over the connection of its events, after all of them. Then what they hinted at is read;
//! where an app does not announce its children, they are looked through first.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use super::link::PATIENCE;
use super::walk::Walk;
use super::worker::{AppIs, Worker, now};
use crate::platform::{FromWorker, WorkerAnswer};

/// Somebody waits.
pub(super) struct Fence {
    ticket: u64,
    pub deadline: Instant,
    /// Whether the app's sign of life has come over the event connection.
    pub passed: bool,
    /// The survey that must be done before, where an app does not announce its children.
    survey: Option<u64>,
    /// The hints that must be read before the answer, once that is known.
    stamp: Option<u64>,
}

impl Worker {
    /// Asks the app for the sign of life that passes a fence.
    pub(super) fn raise_fence(&mut self, ticket: u64) {
        self.counters.calls.fetch_add(1, Relaxed);
        let (events, ear) = (Arc::clone(&self.post.events), Arc::clone(&self.ear));
        let app = Arc::clone(&self.post.app.bus);
        tokio::spawn(async move { events.fence(&app, &ear, ticket).await });
        let deadline = now() + PATIENCE;
        self.fences.push(Fence { ticket, deadline, passed: false, survey: None, stamp: None });
    }

    /// The app's sign of life has come: this fence has been passed.
    pub(super) fn pass(&mut self, ticket: u64) {
        for fence in self.fences.iter_mut().filter(|fence| fence.ticket == ticket) {
            fence.passed = true;
        }
    }

    /// Answers fences that are reached, or will not be. True if there were any.
    pub(super) fn settle_fences(&mut self) -> bool {
        let (well, now) = (matches!(self.app, AppIs::Well), now());
        let done = matches!(self.walk, Walk::Done);
        if self.fences.iter().any(|fence| fence.passed) {
            self.read_thoroughly(true);
        }
        let settled = self.strangers.is_empty() || !done;
        let mute = done && self.post.reader.toolkit.is_surveyed();
        let mut answers = Vec::new();
        let (schedule, app, survey) = (&self.schedule, &self.app, &mut self.survey);
        self.fences.retain_mut(|fence| {
            if fence.passed && mute && fence.survey.is_none() {
                fence.survey = Some(survey.suspect_all(now));
            }
            let surveyed = fence.survey.map_or(!mute, |number| survey.done(number));
            if fence.passed && settled && surveyed && fence.stamp.is_none() {
                fence.stamp = Some(schedule.stamp());
            }
            let result = if fence.stamp.is_some_and(|stamp| schedule.taken(stamp)) {
                Ok(WorkerAnswer::Done)
            } else if !well || (fence.deadline <= now && !fence.passed) {
                Err(app.failure())
            } else {
                return true;
            };
            answers.push(FromWorker::Answer { ticket: fence.ticket, result });
            false
        });
        let any = !answers.is_empty();
        self.outgoing.extend(answers);
        any
    }
}
