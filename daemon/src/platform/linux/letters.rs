//! What a worker is asked: which letter is next, and the answers that take reading.

use axd_protocol::Point;

use super::worker::{AppIs, Worker, now};
use crate::platform::{Cause, ElementKey, Failure, FailureKind, FromWorker, ToWorker, WorkerAnswer};

impl Worker {
    /// Handles the next letter if that takes no reading, or if reading is no use now.
    pub(super) fn take_quick_letter(&mut self) -> bool {
        let well = matches!(self.app, AppIs::Well);
        let is_quick = |letter: &ToWorker| {
            use ToWorker::{Fence, Unwatch, Watch};
            !well || matches!(letter, Watch { .. } | Unwatch { .. } | Fence { .. })
        };
        let Some(at) = self.todo.iter().position(is_quick) else { return false };
        let Some(letter) = self.todo.remove(at) else { return false };
        match letter {
            ToWorker::Watch { interest, keys } => self.schedule.watch(interest, keys, now()),
            ToWorker::Unwatch { interest } => self.schedule.unwatch(interest),
            ToWorker::Fence { ticket } if well => self.raise_fence(ticket),
            ToWorker::Fence { ticket }
            | ToWorker::Walk { ticket, .. }
            | ToWorker::Measure { ticket, .. }
            | ToWorker::Read { ticket, .. }
            | ToWorker::Perform { ticket, .. }
            | ToWorker::HitTest { ticket, .. } => {
                self.tell_answer(ticket, Err(self.app.failure()));
            }
        }
        true
    }

    /// Takes the next letter that can be answered now.
    pub(super) fn next_letter(&mut self) -> Option<ToWorker> {
        let busy = self.deed.is_some();
        let at = self.todo.iter().position(|letter| !(busy && matches!(letter, ToWorker::Perform { .. })))?;
        self.todo.remove(at)
    }

    /// Answers a letter that takes reading.
    pub(super) async fn answer(&mut self, letter: ToWorker) -> Result<(), Failure> {
        let (ticket, result) = match letter {
            ToWorker::Walk { key, ticket } => (ticket, self.walk_again(key).await),
            ToWorker::Read { keys, ticket } => (ticket, self.read_again(keys).await),
            ToWorker::Measure { keys, ticket } => {
                let screen = self.screen();
                let measured = self.post.reader.measure(&keys, &self.mirror, screen.as_deref()).await;
                (ticket, measured.map(WorkerAnswer::Geometry))
            }
            ToWorker::HitTest { point, ticket } => (ticket, self.hit(point).await),
            ToWorker::Perform { key, act, gate, ticket } => {
                self.perform(key, act, gate, ticket);
                return Ok(());
            }
            // Taken before it could come here.
            ToWorker::Fence { .. } | ToWorker::Watch { .. } | ToWorker::Unwatch { .. } => return Ok(()),
        };
        let failed =
            result.as_ref().err().filter(|failure| failure.kind == FailureKind::Unresponsive).cloned();
        self.tell_answer(ticket, result);
        failed.map_or(Ok(()), Err)
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

    async fn hit(&mut self, point: Point) -> Result<WorkerAnswer, Failure> {
        let screen = self.screen();
        let path = self.post.reader.at(point, &self.mirror, screen.as_deref()).await?;
        let Some(deepest) = path.last().copied() else { return Ok(WorkerAnswer::Element(None)) };
        if !self.mirror.has_told(deepest) {
            // It is on the screen and nobody announced it.
            let above = self.post.reader.path(deepest).await?;
            if let Some(known) = above.iter().rfind(|part| self.mirror.has_told(**part)) {
                let readings = self.gather(vec![*known], true).await?;
                self.learn_unannounced(readings, Cause::Reread);
            }
        }
        let told = path.into_iter().rfind(|part| self.mirror.has_told(*part));
        Ok(WorkerAnswer::Element(told))
    }

    pub(super) fn tell_answer(&mut self, ticket: u64, result: Result<WorkerAnswer, Failure>) {
        self.outgoing.push_back(FromWorker::Answer { ticket, result });
    }
}
