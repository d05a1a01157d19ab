//! The first walk of an app: what it says of itself, then its windows, then what is in them, the front one first.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::worker::{Worker, now};
use crate::platform::mirror::Readings;
use crate::platform::schedule::{Pace, Schedule};
use crate::platform::{Cause, ElementKey, Failure};

/// How many elements are read in one go, at first and at most: a walk's batches grow.
pub(super) const FIRST_STEP: usize = 64;
pub(super) const LARGEST_STEP: usize = 512;

/// How far the first walk is.
pub(super) enum Walk {
    /// Events are registered for before anything is read.
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

impl Worker {
    pub(super) async fn register(&mut self) -> Result<(), Failure> {
        self.post.events.listen(&self.post.app.bus, &self.ear).await?;
        self.post.reader.greet().await?;
        self.post.late.store(self.post.reader.toolkit.acts_late(), Relaxed);
        self.post.reader.take_cache().await?;
        let mute = !self.post.reader.toolkit.announces_children();
        self.schedule = Schedule::new(pace(mute), now());
        self.survey.in_turns = self.post.reader.toolkit.is_surveyed();
        self.walk = Walk::Windows;
        Ok(())
    }

    /// One step of the first walk.
    pub(super) async fn walk_on(&mut self) -> Result<(), Failure> {
        let Walk::Inside { mut queues, step } = std::mem::replace(&mut self.walk, Walk::Windows) else {
            return self.walk_windows().await;
        };
        let Some(queue) = queues.front_mut() else {
            self.walk = Walk::Done;
            self.post.reader.drop_cache();
            self.tell_state();
            return Ok(());
        };
        let count = step.min(queue.len());
        let mut chunk: Vec<ElementKey> = queue.drain(..count).collect();
        chunk.retain(|key| self.mirror.knows(*key) && !self.mirror.has_told(*key));
        let read = self.gather(chunk.clone(), false).await;
        match read {
            Ok(readings) => {
                let unread = self.learn(readings, Cause::Walk);
                queue.extend(unread);
                if queue.is_empty() {
                    queues.pop_front();
                }
                self.walk = Walk::Inside { queues, step: (step * 2).min(LARGEST_STEP) };
                Ok(())
            }
            Err(failure) => {
                chunk.into_iter().rev().for_each(|key| queue.push_front(key));
                self.walk = Walk::Inside { queues, step };
                Err(failure)
            }
        }
    }

    pub(super) async fn walk_windows(&mut self) -> Result<(), Failure> {
        let mut readings = Readings::default();
        self.read_into(&mut readings, &[ElementKey::APP]).await?;
        let windows = readings.children(ElementKey::APP).to_vec();
        self.read_into(&mut readings, &windows).await?;
        let active = self.screen().and_then(|screen| screen.active);
        let unread = self.learn(readings, Cause::Walk);
        let mut queues: VecDeque<VecDeque<ElementKey>> = VecDeque::new();
        for window in windows {
            let inside = unread.iter().copied().filter(|child| self.mirror.parent(*child) == Some(window));
            let queue: VecDeque<ElementKey> = inside.collect();
            let number = self.post.reader.numbers.get(&window).copied();
            match queue.is_empty() {
                true => {}
                false if number.is_some() && number == active => queues.push_front(queue),
                false => queues.push_back(queue),
            }
        }
        self.walk = Walk::Inside { queues, step: FIRST_STEP };
        Ok(())
    }
}

/// How often an app is read again: seldom, where it announces nearly everything.
fn pace(mute: bool) -> Pace {
    Pace {
        watch_first: Duration::from_millis(50),
        watch_last: Duration::from_millis(if mute { 250 } else { 500 }),
        watch_size: if mute { 32 } else { 16 },
        sweep_every: Duration::from_secs(1),
        sweep_size: if mute { 16 } else { 8 },
    }
}
