//! What a worker reads and what it makes of it: the first walk, hints, interests, the sweep, and questions.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use tracing::warn;

use super::{LARGEST_STEP, Line, Question, Walk, Worker, now};
use crate::platform::mirror::{Learned, Readings};
use crate::platform::{
    Batch, Cause, ElementKey, Failure, FailureKind, FromWorker, ToWorker, Update, WorkerAnswer,
};

impl<L: Line> Worker<L> {
    /// One step of the first walk.
    pub(super) async fn walk_on(&mut self) -> Result<(), Failure> {
        match std::mem::replace(&mut self.walk, Walk::Windows) {
            Walk::Inside { mut queues, step } => {
                let Some(queue) = queues.front_mut() else {
                    self.walk = Walk::Done;
                    self.tell_state();
                    return Ok(());
                };
                let count = step.min(queue.len());
                let mut chunk: Vec<ElementKey> = queue.drain(..count).collect();
                chunk.retain(|key| self.mirror.knows(*key) && !self.mirror.has_told(*key));
                let read = self.gather(chunk.clone(), false).await;
                match read {
                    Ok(readings) => {
                        let learned = self.learn(readings, Cause::Walk);
                        queue.extend(learned);
                        if queue.is_empty() {
                            queues.pop_front();
                        }
                        self.walk = Walk::Inside { queues, step: (step * 4).min(LARGEST_STEP) };
                        Ok(())
                    }
                    Err(failure) => {
                        chunk.into_iter().rev().for_each(|key| queue.push_front(key));
                        self.walk = Walk::Inside { queues, step };
                        Err(failure)
                    }
                }
            }
            _ => self.walk_windows().await,
        }
    }

    async fn walk_windows(&mut self) -> Result<(), Failure> {
        let front = self.ask(Question::Front).await?;
        let mut readings = Readings::default();
        self.read_into(&mut readings, &[ElementKey::APP]).await?;
        let windows = readings.children(ElementKey::APP).to_vec();
        self.read_into(&mut readings, &windows).await?;
        let unread = self.learn(readings, Cause::Walk);
        let mut queues: VecDeque<VecDeque<ElementKey>> = VecDeque::new();
        for window in windows {
            let inside = unread.iter().copied().filter(|child| self.mirror.parent(*child) == Some(window));
            let queue: VecDeque<ElementKey> = inside.collect();
            match queue.is_empty() {
                true => {}
                false if Some(window) == front => queues.push_front(queue),
                false => queues.push_back(queue),
            }
        }
        self.walk = Walk::Inside { queues, step: L::MOST };
        Ok(())
    }

    pub(super) async fn read_hints(&mut self) -> Result<(), Failure> {
        let hinted = self.schedule.take_hints(L::MOST);
        let known: Vec<ElementKey> =
            hinted.iter().copied().filter(|key| self.mirror.has_told(*key)).collect();
        match self.gather(known, true).await {
            Ok(readings) => {
                self.learn(readings, Cause::Event);
                Ok(())
            }
            Err(failure) => {
                hinted.into_iter().for_each(|key| self.schedule.hint(key));
                Err(failure)
            }
        }
    }

    /// Finds out where elements are that announced something but were never listed.
    pub(super) async fn place_strangers(&mut self) -> Result<(), Failure> {
        // Those that have been read since are strangers no more.
        self.strangers.retain(|stranger| !self.mirror.has_told(*stranger));
        let Some(stranger) = self.strangers.iter().next().copied() else { return Ok(()) };
        let path = self.ask(|answer| Question::Path(stranger, answer)).await?;
        self.strangers.remove(&stranger);
        let known = path.into_iter().rfind(|part| self.mirror.has_told(*part));
        if let Some(known) = known {
            self.schedule.hint(known);
        }
        Ok(())
    }

    pub(super) async fn reread(&mut self, interest: u64) -> Result<(), Failure> {
        let all = self.mirror.below(self.schedule.watched(interest));
        let turn = self.schedule.turn(interest, all);
        let readings = self.gather(turn, true).await?;
        let missed = self.learn_unannounced(readings, Cause::Reread);
        self.schedule.reread(interest, missed > 0, now());
        Ok(())
    }

    pub(super) async fn sweep(&mut self) -> Result<(), Failure> {
        let mirror = &self.mirror;
        let mut some = self.schedule.sweep(|| mirror.keys(), now());
        some.retain(|key| self.mirror.has_told(*key));
        let readings = self.gather(some, true).await?;
        self.learn_unannounced(readings, Cause::Sweep);
        Ok(())
    }

    /// Answers a letter that takes reading.
    pub(super) async fn answer(&mut self, letter: ToWorker) {
        match letter {
            ToWorker::Walk { key, ticket } => {
                let result = self.walk_again(key).await;
                self.tell_answer(ticket, result);
            }
            ToWorker::Read { keys, ticket } => {
                let result = self.read_again(keys).await;
                self.tell_answer(ticket, result);
            }
            ToWorker::Measure { keys, ticket } => {
                let result = self.measure(keys).await;
                self.tell_answer(ticket, result);
            }
            ToWorker::HitTest { point, ticket } => {
                let result = self.hit(point).await;
                self.tell_answer(ticket, result);
            }
            ToWorker::Perform { key, act, gate, ticket } => {
                self.perform(key, act, gate, ticket);
            }
            // Taken before it could come here.
            ToWorker::Fence { .. } | ToWorker::Watch { .. } | ToWorker::Unwatch { .. } => {}
        }
    }

    async fn read_again(&mut self, mut keys: Vec<ElementKey>) -> Result<WorkerAnswer, Failure> {
        keys.retain(|key| self.mirror.has_told(*key));
        let readings = self.gather(keys, true).await?;
        self.learn_unannounced(readings, Cause::Reread);
        Ok(WorkerAnswer::Done)
    }

    async fn walk_again(&mut self, from: ElementKey) -> Result<WorkerAnswer, Failure> {
        if !self.mirror.knows(from) {
            return Err(Failure::new(FailureKind::Gone, "the element is gone"));
        }
        let all = self.mirror.below(&[from]);
        let readings = self.gather(all, true).await?;
        self.learn_unannounced(readings, Cause::Walk);
        Ok(WorkerAnswer::Done)
    }

    async fn measure(&mut self, keys: Vec<ElementKey>) -> Result<WorkerAnswer, Failure> {
        let mut measured = Vec::with_capacity(keys.len());
        for some in keys.chunks(L::MOST) {
            let some = some.to_vec();
            measured.extend(self.ask(|answer| Question::Measure(some, answer)).await?);
        }
        Ok(WorkerAnswer::Geometry(measured))
    }

    async fn hit(&mut self, point: axd_protocol::Point) -> Result<WorkerAnswer, Failure> {
        let path = self.ask(|answer| Question::At(point, answer)).await?;
        let Some(deepest) = path.last().copied() else { return Ok(WorkerAnswer::Element(None)) };
        if !self.mirror.has_told(deepest)
            && let Some(known) = path.iter().rfind(|part| self.mirror.has_told(**part))
        {
            // It is on the screen and nobody announced it.
            let readings = self.gather(vec![*known], true).await?;
            self.learn_unannounced(readings, Cause::Reread);
        }
        let told = path.into_iter().rfind(|part| self.mirror.has_told(*part));
        Ok(WorkerAnswer::Element(told))
    }

    /// Reads elements, and whatever must be read with them.
    async fn gather(&mut self, seeds: Vec<ElementKey>, whole: bool) -> Result<Readings, Failure> {
        let mut readings = Readings::default();
        let mut next = seeds;
        while !next.is_empty() {
            self.read_into(&mut readings, &next).await?;
            next = self.mirror.wanting(&readings, whole);
        }
        Ok(readings)
    }

    async fn read_into(&mut self, readings: &mut Readings, keys: &[ElementKey]) -> Result<(), Failure> {
        for some in keys.chunks(L::MOST) {
            let asked = some.to_vec();
            let read = self.ask(|answer| Question::Read(asked, answer)).await?;
            for (key, reading) in some.iter().zip(read) {
                readings.add(*key, reading);
            }
        }
        Ok(())
    }

    /// Tells what follows from readings; answers what they list and is not read yet.
    fn learn(&mut self, readings: Readings, cause: Cause) -> Vec<ElementKey> {
        let Learned { updates, unread, cut } = self.mirror.apply(readings);
        if cut > 0 {
            warn!(cut, "the app claims cycles or second parents; they are left out");
        }
        if !updates.is_empty() {
            self.outgoing.push_back(FromWorker::Batch(Batch { cause, updates }));
        }
        unread
    }

    /// The same for readings that nothing announced; counts what is different and answers how much that is.
    fn learn_unannounced(&mut self, readings: Readings, cause: Cause) -> u64 {
        // What the app announced before it answered has come by now, so it is known what it did not announce.
        self.take_in();
        let mut missed = 0;
        let Learned { updates, .. } = self.mirror.apply(readings);
        for update in &updates {
            let (Update::Gone(key) | Update::Upsert { key, .. } | Update::Children { parent: key, .. }) =
                update;
            let above = self.mirror.parent(*key);
            let announced =
                self.schedule.is_hinted(*key) || above.is_some_and(|above| self.schedule.is_hinted(above));
            missed += u64::from(!announced);
        }
        self.counters.missed.fetch_add(missed, Ordering::Relaxed);
        if !updates.is_empty() {
            let cause = if missed == 0 { Cause::Event } else { cause };
            self.outgoing.push_back(FromWorker::Batch(Batch { cause, updates }));
        }
        missed
    }
}
