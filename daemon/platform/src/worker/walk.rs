//! The first walk of an app: what it says of itself, then its windows, then what is in them, the front one first.

use std::collections::VecDeque;

use super::{App, Walk, Worker};
use crate::mirror::Readings;
use crate::{Cause, ElementKey, Failure};

impl<A: App> Worker<A> {
    /// Observers are registered before anything is read.
    pub(super) async fn register(&mut self) -> Result<bool, Failure> {
        self.app.register(&mut self.books).await?;
        self.books.walk = Walk::Windows;
        Ok(true)
    }

    /// One step of the walk. False if it is done.
    pub(super) async fn walk_on(&mut self) -> Result<bool, Failure> {
        match std::mem::replace(&mut self.books.walk, Walk::Windows) {
            Walk::Done => {
                self.books.walk = Walk::Done;
                return Ok(false);
            }
            Walk::Registering | Walk::Windows => self.walk_windows().await?,
            Walk::Inside { queues, step } => self.walk_inside(queues, step).await?,
        }
        Ok(true)
    }

    async fn walk_windows(&mut self) -> Result<(), Failure> {
        let mut readings = Readings::default();
        self.app.read(&mut self.books, &[ElementKey::APP], &mut readings).await?;
        let windows = readings.children(ElementKey::APP).to_vec();
        self.app.read(&mut self.books, &windows, &mut readings).await?;
        let front = self.app.front(&self.books, &windows).await?;
        let unread = self.learn(readings, Cause::Walk);
        let mut queues: VecDeque<VecDeque<ElementKey>> = VecDeque::new();
        for window in windows {
            let is_inside = |child: &ElementKey| self.books.mirror.parent(*child) == Some(window);
            let queue: VecDeque<ElementKey> = unread.iter().copied().filter(is_inside).collect();
            match queue.is_empty() {
                true => {}
                false if Some(window) == front => queues.push_front(queue),
                false => queues.push_back(queue),
            }
        }
        self.books.walk = Walk::Inside { queues, step: A::STEPS.first };
        Ok(())
    }

    async fn walk_inside(
        &mut self,
        mut queues: VecDeque<VecDeque<ElementKey>>,
        step: usize,
    ) -> Result<(), Failure> {
        let Some(queue) = queues.front_mut() else {
            self.books.walk = Walk::Done;
            self.app.walked();
            self.books.tell_state();
            return Ok(());
        };
        let count = step.min(queue.len());
        let mut chunk: Vec<ElementKey> = queue.drain(..count).collect();
        chunk.retain(|key| self.books.mirror.knows(*key) && !self.books.mirror.has_told(*key));
        match self.gather(chunk.clone(), false).await {
            Ok(readings) => {
                queue.extend(self.learn(readings, Cause::Walk));
                if queue.is_empty() {
                    queues.pop_front();
                }
                let step = (step * A::STEPS.growth).min(A::STEPS.largest);
                self.books.walk = Walk::Inside { queues, step };
                Ok(())
            }
            Err(failure) => {
                chunk.into_iter().rev().for_each(|key| queue.push_front(key));
                self.books.walk = Walk::Inside { queues, step };
                Err(failure)
            }
        }
    }
}
