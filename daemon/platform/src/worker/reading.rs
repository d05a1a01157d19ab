//! What a worker reads and what it makes of it: hints, interests, the sweep, and questions.

use std::ops::Range;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axd_protocol::Point;
use tracing::{debug, trace};

use super::{App, Books, Worker, now};
use crate::mirror::{Learned, Readings};
use crate::schedule::{Due, Hints};
use crate::{Cause, ElementKey, Failure, FailureKind, Responder, Rows, ToWorker, Update};

impl<A: App> Worker<A> {
    /// Looks at what was announced, or may have happened. False if there is nothing.
    pub(super) async fn attend(&mut self) -> Result<bool, Failure> {
        if self.app.glance(&mut self.books, !self.todo.is_empty()).await? {
            return Ok(true);
        }
        let has_hints = self.books.schedule.has_hints();
        if has_hints {
            if self.held_up().is_some() {
                return Ok(false);
            }
            self.read_hints().await?;
        } else if !self.books.is_complete() {
            return Ok(false);
        } else if !self.books.strangers.is_empty() {
            self.place_strangers().await?;
        } else {
            return self.app.survey(&mut self.books).await;
        }
        Ok(true)
    }

    /// When what is hinted at is read next, if that has to wait because there is too much of it.
    pub(super) fn held_up(&mut self) -> Option<Instant> {
        let Books { flood, schedule, fences, .. } = &mut self.books;
        flood.look(schedule.stamp(), now());
        let is_waited_for = fences.any_passed() || !schedule.has_hints();
        flood.holds_up(A::STEPS.first).filter(|_| !is_waited_for)
    }

    async fn read_hints(&mut self) -> Result<(), Failure> {
        let hinted = self.books.schedule.take_hints(A::STEPS.first);
        self.books.flood.read(hinted.whole.len() + hinted.lists.len());
        let mut known = hinted.clone();
        known.whole.retain(|key| self.books.mirror.has_told(*key));
        known.lists.retain(|key| self.books.mirror.has_told(*key));
        self.app.reading(&known.whole);
        match self.gather_hinted(known).await {
            Ok(readings) => {
                self.learn(readings, Cause::Event);
                Ok(())
            }
            Err(failure) => {
                self.books.schedule.put_back(hinted);
                Err(failure)
            }
        }
    }

    async fn gather_hinted(&mut self, hints: Hints) -> Result<Readings, Failure> {
        let mut readings = Readings::default();
        self.app.list(&mut self.books, &hints.lists, &mut readings).await?;
        self.gather_into(readings, hints.whole, true).await
    }

    /// Finds out where elements are that announced something but were never listed.
    async fn place_strangers(&mut self) -> Result<(), Failure> {
        let Some(stranger) = self.books.strangers.iter().next().copied() else { return Ok(()) };
        // One that was read meanwhile may have announced it after that.
        let known = match self.books.mirror.has_told(stranger) {
            true => Some(stranger),
            false => {
                let path = self.app.path(&self.books, stranger).await?;
                path.into_iter().rfind(|part| self.books.mirror.has_told(*part))
            }
        };
        self.books.strangers.remove(&stranger);
        known.into_iter().for_each(|known| self.books.schedule.hint(known));
        Ok(())
    }

    /// Reads again what it is time for, announced or not. False if it is time for nothing.
    pub(super) async fn read_routinely(&mut self) -> Result<bool, Failure> {
        if !self.books.is_complete() {
            return Ok(false);
        }
        let some = self.app.take_due();
        if !some.is_empty() {
            self.read_again(some, Cause::Sweep).await?;
            return Ok(true);
        }
        match self.books.schedule.due(now()) {
            Some(Due::Reread(interest)) => self.reread(interest).await?,
            Some(Due::Sweep) => self.sweep().await?,
            None => return Ok(false),
        }
        Ok(true)
    }

    async fn reread(&mut self, interest: u64) -> Result<(), Failure> {
        let all = self.books.mirror.below(self.books.schedule.watched(interest));
        let mut found = self.app.compare(&mut self.books, &all).await?;
        let turn = self.books.schedule.turn(interest, all);
        let readings = self.gather(turn, true).await?;
        found |= self.learn_unannounced(readings, Cause::Reread) > 0;
        self.books.schedule.reread(interest, found, now());
        Ok(())
    }

    async fn sweep(&mut self) -> Result<(), Failure> {
        let mirror = &self.books.mirror;
        let some = self.books.schedule.sweep(|| mirror.keys(), now());
        self.read_again(some, Cause::Sweep).await?;
        self.app.swept(&self.books);
        Ok(())
    }

    /// Answers the next letter that can be answered now. False if there is none.
    pub(super) async fn answer_next(&mut self) -> Result<bool, Failure> {
        let busy = self.app.is_acting();
        let can_wait = |letter: &ToWorker| busy && matches!(letter, ToWorker::Perform { .. });
        let at = self.todo.iter().position(|letter| !can_wait(letter));
        let Some(letter) = at.and_then(|at| self.todo.remove(at)) else { return Ok(false) };
        match letter {
            // That an element is gone says nothing about the app.
            ToWorker::Walk { key, reply } if !self.books.mirror.knows(key) => {
                self.books.reply(reply, Err(gone()));
            }
            ToWorker::Perform { key, reply, .. } if !self.books.mirror.has_told(key) => {
                self.books.reply(reply, Err(gone()));
            }
            ToWorker::Walk { key, reply } => {
                let result = self.walk_again(key).await;
                self.answer(reply, result);
            }
            ToWorker::Read { keys, reply } => {
                let result = self.read_again(keys, Cause::Reread).await;
                self.answer(reply, result.map(drop));
            }
            ToWorker::Measure { keys, reply } => {
                let result = self.app.measure(&self.books, &keys).await;
                self.answer(reply, result);
            }
            ToWorker::HitTest { point, reply } => {
                let result = self.hit(point).await;
                self.answer(reply, result);
            }
            ToWorker::Look { key, rows, reply } => {
                let result = self.look_at(key, rows).await;
                self.answer(reply, result);
            }
            ToWorker::Keep { key, rows, reply } => {
                self.app.keep(key, rows);
                let result = self.read_again(vec![key], Cause::Reread).await;
                self.answer(reply, result.map(drop));
            }
            ToWorker::Perform { key, act, gate, reply } => {
                self.app.perform(&mut self.books, key, act, gate, reply);
            }
            // Taken before it could come here.
            ToWorker::Fence { .. } | ToWorker::Watch { .. } | ToWorker::Unwatch { .. } => {}
        }
        Ok(true)
    }

    fn answer<T: Send + Sync + 'static>(&mut self, reply: Responder<T>, result: Result<T, Failure>) {
        // How the app is comes before the answer that failed because of it.
        if let Err(failure) = &result {
            self.fail(failure);
        }
        self.books.reply(reply, result);
    }

    async fn walk_again(&mut self, from: ElementKey) -> Result<(), Failure> {
        let all = self.books.mirror.below(&[from]);
        let readings = self.gather(all, true).await?;
        self.learn_unannounced(readings, Cause::Walk);
        Ok(())
    }

    /// Reads rows that are not on the screen. What is in them is answered, and not told.
    async fn look_at(&mut self, key: ElementKey, rows: Range<u32>) -> Result<Rows, Failure> {
        let order = self.app.rows(key, rows).await?;
        let mut readings = Readings::default();
        let mut next = order.clone();
        while !next.is_empty() {
            self.app.read(&mut self.books, &next, &mut readings).await?;
            next = readings.listed();
        }
        Ok(Rows { order, updates: readings.into_updates() })
    }

    async fn hit(&mut self, point: Point) -> Result<Option<ElementKey>, Failure> {
        let path = self.app.at(&self.books, point).await?;
        let Some(deepest) = path.last().copied() else { return Ok(None) };
        if !self.books.mirror.has_told(deepest)
            && let Some(known) = path.iter().rfind(|part| self.books.mirror.has_told(**part))
        {
            // It is on the screen and nobody announced it.
            self.read_again(vec![*known], Cause::Reread).await?;
        }
        Ok(path.into_iter().rfind(|part| self.books.mirror.has_told(*part)))
    }

    /// Reads elements again that nobody announced anything about; answers how much is different.
    async fn read_again(&mut self, mut keys: Vec<ElementKey>, cause: Cause) -> Result<u64, Failure> {
        keys.retain(|key| self.books.mirror.has_told(*key));
        let readings = self.gather(keys, true).await?;
        Ok(self.learn_unannounced(readings, cause))
    }

    /// Reads elements, and whatever must be read with them.
    pub(super) async fn gather(&mut self, seeds: Vec<ElementKey>, whole: bool) -> Result<Readings, Failure> {
        self.gather_into(Readings::default(), seeds, whole).await
    }

    async fn gather_into(
        &mut self,
        mut readings: Readings,
        seeds: Vec<ElementKey>,
        whole: bool,
    ) -> Result<Readings, Failure> {
        self.app.read(&mut self.books, &seeds, &mut readings).await?;
        loop {
            let next = self.books.mirror.wanting(&readings, whole);
            if next.is_empty() {
                return Ok(readings);
            }
            self.app.read(&mut self.books, &next, &mut readings).await?;
        }
    }

    /// Tells what follows from readings; answers what they list and is not read yet.
    pub(super) fn learn(&mut self, readings: Readings, cause: Cause) -> Vec<ElementKey> {
        let learned = self.books.mirror.apply(readings);
        self.books.note_room();
        if learned.cut > 0 {
            debug!(cut = learned.cut, "the app claims cycles or second parents; they are left out");
        }
        self.app.appeared(&learned.new);
        self.books.tell(cause, learned.updates);
        learned.unread
    }

    /// The same for readings that nothing announced; counts what is different and answers how much that is.
    fn learn_unannounced(&mut self, readings: Readings, cause: Cause) -> u64 {
        // What the app announced before it answered has mostly come by now, so it is known what it did not announce.
        self.take_in();
        let Learned { updates, new, .. } = self.books.mirror.apply(readings);
        self.books.note_room();
        self.app.appeared(&new);
        let mut missed = 0;
        for update in &updates {
            let (Update::Gone(key) | Update::Upsert { key, .. } | Update::Children { parent: key, .. }) =
                update;
            let is_hinted = |key| self.books.schedule.is_hinted(key);
            let announced = is_hinted(*key)
                || self.app.has_announced(*key)
                || self.books.mirror.parent(*key).is_some_and(is_hinted);
            if !announced {
                missed += 1;
                trace!(?cause, ?update, "nobody announced");
            }
        }
        self.books.counters.missed.fetch_add(missed, Ordering::Relaxed);
        self.books.tell(if missed == 0 { Cause::Event } else { cause }, updates);
        missed
    }
}

fn gone() -> Failure {
    Failure::new(FailureKind::Gone, "the element is gone")
}
