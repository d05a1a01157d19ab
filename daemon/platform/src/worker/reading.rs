//! Reads dirty elements, interests and the sweep, turns readings into updates, and replies to requests.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axd_protocol::Point;
use tracing::{debug, trace};

use super::{AppBackend, Progress, ReadStrategy, Turn, Worker, WorkerState, now};
use crate::mirror::{AppliedReadings, Readings};
use crate::schedule::{DirtySet, Due};
use crate::{Cause, ElementKey, Failure, Responder, Rows, Update, WorkerRequest};

impl<A: AppBackend> Worker<A> {
    /// Does one of these: a step of a strategy that comes first, reading dirty elements, locating an unplaced element, a step of a
    /// strategy for which the app must be idle. False if none is due.
    pub(super) async fn process_dirty(&mut self) -> Result<bool, Failure> {
        if self.poll_strategies(Turn::First { requests_wait: !self.pending.is_empty() }).await? {
            return Ok(true);
        }
        if self.state.schedule.has_dirty() {
            if self.throttled_until().is_some() {
                return Ok(false);
            }
            self.read_dirty().await?;
        } else if !self.state.is_complete() {
            return Ok(false);
        } else if !self.state.unplaced.is_empty() {
            self.locate_unplaced().await?;
        } else {
            return self.poll_strategies(Turn::Idle).await;
        }
        Ok(true)
    }

    /// Polls the strategies. False if nothing was due.
    async fn poll_strategies(&mut self, turn: Turn<'_>) -> Result<bool, Failure> {
        match self.strategies.step(turn, &mut self.app, &mut self.state).await? {
            Progress::None => return Ok(false),
            Progress::Made => {}
            Progress::Found(readings) => drop(self.apply_readings(readings, Cause::Event)),
            Progress::Read(keys) => drop(self.read_again(keys, Cause::Sweep).await?),
        }
        Ok(true)
    }

    /// When dirty elements are read next, if a flood of events delays that.
    pub(super) fn throttled_until(&mut self) -> Option<Instant> {
        let WorkerState { flood, schedule, fences, .. } = &mut self.state;
        flood.observe(schedule.stamp(), now());
        let is_waited_for = fences.any_passed() || !schedule.has_dirty();
        flood.throttled_until(A::STEPS.first).filter(|_| !is_waited_for)
    }

    async fn read_dirty(&mut self) -> Result<(), Failure> {
        let taken = self.state.schedule.take_dirty(A::STEPS.first);
        self.state.flood.read(taken.whole.len() + taken.lists.len());
        let mut known = taken.clone();
        known.whole.retain(|key| self.state.mirror.has_sent(*key));
        known.lists.retain(|key| self.state.mirror.has_sent(*key));
        self.strategies.on_dirty_read(&known.whole);
        match self.read_dirty_closure(known).await {
            Ok(readings) => {
                self.apply_readings(readings, Cause::Event);
                Ok(())
            }
            Err(failure) => {
                self.state.schedule.put_back(taken);
                Err(failure)
            }
        }
    }

    async fn read_dirty_closure(&mut self, dirty: DirtySet) -> Result<Readings, Failure> {
        let mut readings = Readings::default();
        self.app.read_children(&mut self.state, &dirty.lists, &mut readings).await?;
        self.read_closure_into(readings, dirty.whole, true).await
    }

    /// Finds an element that sent an event but is listed by no parent, and marks its nearest known ancestor dirty.
    async fn locate_unplaced(&mut self) -> Result<(), Failure> {
        let Some(unplaced) = self.state.unplaced.iter().next().copied() else { return Ok(()) };
        // If the element was read meanwhile, the event may have come after that, so it is read again.
        let known = match self.state.mirror.has_sent(unplaced) {
            true => Some(unplaced),
            false => {
                let path = self.app.path(&self.state, unplaced).await?;
                path.into_iter().rfind(|part| self.state.mirror.has_sent(*part))
            }
        };
        self.state.unplaced.remove(&unplaced);
        known.into_iter().for_each(|known| self.state.schedule.mark_dirty(known));
        Ok(())
    }

    /// Does one of these, whether or not an event named the elements: a step of a strategy, an interest, a step of the sweep.
    /// False if none is due.
    pub(super) async fn read_routinely(&mut self) -> Result<bool, Failure> {
        if !self.state.is_complete() {
            return Ok(false);
        }
        if self.poll_strategies(Turn::Routine).await? {
            return Ok(true);
        }
        match self.state.schedule.due(now()) {
            Some(Due::Reread(interest)) => self.reread(interest).await?,
            Some(Due::Sweep) => self.sweep().await?,
            None => return Ok(false),
        }
        Ok(true)
    }

    async fn reread(&mut self, interest: u64) -> Result<(), Failure> {
        let all = self.state.mirror.below(self.state.schedule.watched(interest));
        let mut found = self.poll_strategies(Turn::Interest(&all)).await?;
        let turn = self.state.schedule.turn(interest, all, self.app.max_step());
        let readings = self.read_closure(turn, true).await?;
        found |= self.apply_unannounced(readings, Cause::Reread) > 0;
        self.state.schedule.reread(interest, found, now());
        Ok(())
    }

    async fn sweep(&mut self) -> Result<(), Failure> {
        if !self.app.may_sweep() {
            self.state.schedule.postpone_sweep(now());
            return Ok(());
        }
        let mirror = &self.state.mirror;
        let some = self.state.schedule.sweep(|| mirror.keys(), now());
        self.read_again(some, Cause::Sweep).await?;
        self.app.forget_removed(&mut self.strategies, &self.state);
        Ok(())
    }

    /// Replies to the next request that can be handled now. False if there is none.
    pub(super) async fn answer_next(&mut self) -> Result<bool, Failure> {
        let busy = self.app.is_acting();
        let can_wait = |request: &WorkerRequest| busy && matches!(request, WorkerRequest::Perform { .. });
        let at = self.pending.iter().position(|request| !can_wait(request));
        let Some(request) = at.and_then(|at| self.pending.remove(at)) else { return Ok(false) };
        match request {
            // A missing element is no sign that the app is in trouble.
            WorkerRequest::Walk { key, reply } if !self.state.mirror.knows(key) => {
                self.state.reply(reply, Err(Failure::gone()));
            }
            WorkerRequest::Perform { key, reply, .. } if !self.state.mirror.has_sent(key) => {
                self.state.reply(reply, Err(Failure::gone()));
            }
            WorkerRequest::Walk { key, reply } => {
                let result = self.walk_again(key).await;
                self.answer(reply, result);
            }
            WorkerRequest::Read { keys, reply } => {
                let result = self.read_again(keys, Cause::Reread).await;
                self.answer(reply, result.map(drop));
            }
            WorkerRequest::Measure { keys, reply } => {
                let result = self.app.measure(&self.state, &keys).await;
                self.answer(reply, result);
            }
            WorkerRequest::HitTest { point, reply } => {
                let result = self.hit(point).await;
                self.answer(reply, result);
            }
            WorkerRequest::Look { key, rows, reply } => {
                let result = self.read_rows(key, rows).await;
                self.answer(reply, result);
            }
            WorkerRequest::Keep { key, rows, reply } => {
                self.app.keep_rows(key, rows);
                let result = self.read_again(vec![key], Cause::Reread).await;
                self.answer(reply, result.map(drop));
            }
            WorkerRequest::Unfold { key, reply } => {
                self.app.unfold(key);
                let result = self.read_again(vec![key], Cause::Reread).await;
                self.answer(reply, result.map(drop));
            }
            WorkerRequest::Perform { key, act, gate, reply } => {
                self.app.perform(&mut self.state, key, act, gate, reply);
            }
            // These are handled by `take_quick_request` and never get here.
            WorkerRequest::Fence { .. } | WorkerRequest::Watch { .. } | WorkerRequest::Unwatch { .. } => {}
        }
        Ok(true)
    }

    fn answer<T: Send + Sync + 'static>(&mut self, reply: Responder<T>, result: Result<T, Failure>) {
        // The app's new state is sent before the reply that failed because of it.
        if let Err(failure) = &result {
            self.fail(failure);
        }
        self.state.reply(reply, result);
    }

    async fn walk_again(&mut self, from: ElementKey) -> Result<(), Failure> {
        let all = self.state.mirror.below(&[from]);
        let readings = self.read_closure(all, true).await?;
        self.apply_unannounced(readings, Cause::Walk);
        Ok(())
    }

    /// Reads rows that are not on the screen. They go into the reply only, not into the updates.
    async fn read_rows(&mut self, key: ElementKey, rows: Range<u32>) -> Result<Rows, Failure> {
        let order = self.app.read_rows(key, rows).await?;
        let mut readings = Readings::default();
        let mut next = order.clone();
        while !next.is_empty() {
            self.app.read(&mut self.state, &next, &mut readings).await?;
            next = readings.listed();
        }
        Ok(Rows { order, updates: readings.into_updates() })
    }

    async fn hit(&mut self, point: Point) -> Result<Option<ElementKey>, Failure> {
        let path = self.app.hit_test(&self.state, point).await?;
        let Some(deepest) = path.last().copied() else { return Ok(None) };
        if !self.state.mirror.has_sent(deepest)
            && let Some(known) = path.iter().rfind(|part| self.state.mirror.has_sent(**part))
        {
            // The row is on the screen but was never announced.
            self.read_again(vec![*known], Cause::Reread).await?;
        }
        Ok(path.into_iter().rfind(|part| self.state.mirror.has_sent(*part)))
    }

    /// Reads elements again that no event named; returns how many changes it found.
    async fn read_again(&mut self, mut keys: Vec<ElementKey>, cause: Cause) -> Result<u64, Failure> {
        keys.retain(|key| self.state.mirror.has_sent(*key));
        let readings = self.read_closure(keys, true).await?;
        Ok(self.apply_unannounced(readings, cause))
    }

    /// Reads elements, and the elements that must be read together with them.
    pub(super) async fn read_closure(
        &mut self,
        seeds: Vec<ElementKey>,
        whole: bool,
    ) -> Result<Readings, Failure> {
        self.read_closure_into(Readings::default(), seeds, whole).await
    }

    async fn read_closure_into(
        &mut self,
        mut readings: Readings,
        seeds: Vec<ElementKey>,
        whole: bool,
    ) -> Result<Readings, Failure> {
        self.app.read(&mut self.state, &seeds, &mut readings).await?;
        loop {
            let next = self.state.mirror.still_to_read(&readings, whole);
            if next.is_empty() {
                return Ok(readings);
            }
            self.app.read(&mut self.state, &next, &mut readings).await?;
        }
    }

    /// Sends the updates that follow from readings; returns the listed children that are not read yet.
    pub(super) fn apply_readings(&mut self, readings: Readings, cause: Cause) -> Vec<ElementKey> {
        let AppliedReadings { updates, unread, .. } = self.apply(readings);
        self.state.queue_updates(cause, updates);
        unread
    }

    /// Applies readings to the mirror. What follows from them is to be sent.
    fn apply(&mut self, readings: Readings) -> AppliedReadings {
        let applied = self.state.mirror.apply(readings);
        self.state.check_shortage();
        if applied.cut > 0 {
            debug!(cut = applied.cut, "the app claims cycles or second parents; they are left out");
        }
        self.strategies.on_new_elements(&applied.new, &self.app, &self.state);
        applied
    }

    /// Sends the updates that follow from readings that no event caused; counts the changes and returns their number.
    fn apply_unannounced(&mut self, readings: Readings, cause: Cause) -> u64 {
        // Events that the app sent before its reply have mostly arrived by now, so draining them shows which changes were not
        // announced.
        self.take_in();
        let updates = self.apply(readings).updates;
        let mut missed = 0;
        for update in &updates {
            let (Update::Gone(key) | Update::Upsert { key, .. } | Update::Children { parent: key, .. }) =
                update;
            let is_dirty = |key| self.state.schedule.is_dirty(key);
            let announced = is_dirty(*key)
                || self.strategies.has_pending_event(*key)
                || self.state.mirror.parent(*key).is_some_and(is_dirty);
            if !announced {
                missed += 1;
                trace!(?cause, ?update, "nobody announced");
            }
        }
        self.state.counters.missed.fetch_add(missed, Ordering::Relaxed);
        self.state.queue_updates(if missed == 0 { Cause::Event } else { cause }, updates);
        missed
    }
}
