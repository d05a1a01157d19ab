//! The first walk of an app: the app element, then its windows, then their contents, the front window first.

use std::collections::VecDeque;

use super::{AppBackend, Walk, Worker};
use crate::mirror::Readings;
use crate::{Cause, ElementKey, Failure};

impl<A: AppBackend> Worker<A> {
    /// Registers for events, before anything is read.
    pub(super) async fn register(&mut self) -> Result<bool, Failure> {
        self.app.register(&mut self.state).await?;
        self.state.walk = Walk::Windows;
        Ok(true)
    }

    /// One step of the walk. False if it is done.
    pub(super) async fn step_walk(&mut self) -> Result<bool, Failure> {
        match std::mem::replace(&mut self.state.walk, Walk::Windows) {
            Walk::Done => {
                self.state.walk = Walk::Done;
                return Ok(false);
            }
            Walk::Registering | Walk::Windows => self.walk_windows().await?,
            Walk::Inside { queues, step } => self.walk_inside(queues, step).await?,
        }
        Ok(true)
    }

    async fn walk_windows(&mut self) -> Result<(), Failure> {
        let mut readings = Readings::default();
        self.app.read(&mut self.state, &[ElementKey::APP], &mut readings).await?;
        let windows = readings.children(ElementKey::APP).to_vec();
        self.app.read(&mut self.state, &windows, &mut readings).await?;
        let front = self.app.front_window(&self.state, &windows).await?;
        let unread = self.apply_readings(readings, Cause::Walk);
        let mut queues: VecDeque<VecDeque<ElementKey>> = VecDeque::new();
        for window in windows {
            let is_inside = |child: &ElementKey| self.state.mirror.parent(*child) == Some(window);
            let queue: VecDeque<ElementKey> = unread.iter().copied().filter(is_inside).collect();
            match queue.is_empty() {
                true => {}
                false if Some(window) == front => queues.push_front(queue),
                false => queues.push_back(queue),
            }
        }
        self.state.walk = Walk::Inside { queues, step: A::STEPS.first };
        Ok(())
    }

    async fn walk_inside(
        &mut self,
        mut queues: VecDeque<VecDeque<ElementKey>>,
        step: usize,
    ) -> Result<(), Failure> {
        let Some(queue) = queues.front_mut() else {
            self.state.walk = Walk::Done;
            self.state.queue_state();
            return Ok(());
        };
        let count = step.min(self.app.max_step()).min(queue.len());
        let mut chunk: Vec<ElementKey> = queue.drain(..count).collect();
        chunk.retain(|key| self.state.mirror.knows(*key) && !self.state.mirror.has_sent(*key));
        match self.read_closure(chunk.clone(), false).await {
            Ok(readings) => {
                queue.extend(self.apply_readings(readings, Cause::Walk));
                if queue.is_empty() {
                    queues.pop_front();
                }
                let step = (step * A::STEPS.growth).min(A::STEPS.largest);
                self.state.walk = Walk::Inside { queues, step };
                Ok(())
            }
            Err(failure) => {
                chunk.into_iter().rev().for_each(|key| queue.push_front(key));
                self.state.walk = Walk::Inside { queues, step };
                Err(failure)
            }
        }
    }
}
