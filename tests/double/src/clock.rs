//! The world's clock, for what apps do with a delay. It follows real time until a test stops it and advances it
//! itself.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::world::{Inner, World};

type WorkFuture = Pin<Box<dyn Future<Output = ()> + Send>>;
type Work = Box<dyn FnOnce(Arc<Inner>) -> WorkFuture + Send>;

/// The clock.
#[derive(Default)]
pub(crate) struct Clock(Mutex<Option<StoppedClock>>);

#[derive(Default)]
struct StoppedClock {
    now: Duration,
    waiting: Vec<(Duration, Work)>,
}

impl Clock {
    /// The next work that is due by then, if any.
    fn next(&self, until: Duration) -> Option<Work> {
        let mut stopped = self.0.lock();
        let stopped = stopped.as_mut()?;
        let due = stopped.waiting.iter().map(|(due, _)| *due).min().filter(|due| *due <= until)?;
        let at = stopped.waiting.iter().position(|(other, _)| *other == due)?;
        stopped.now = stopped.now.max(due);
        Some(stopped.waiting.remove(at).1)
    }
}

impl Inner {
    /// Runs work after a delay.
    pub(crate) fn after<W: Future<Output = ()> + Send + 'static>(
        self: &Arc<Inner>,
        time: Duration,
        work: impl FnOnce(Arc<Inner>) -> W + Send + 'static,
    ) {
        if let Some(stopped) = self.clock.0.lock().as_mut() {
            stopped.waiting.push((stopped.now + time, Box::new(move |world| Box::pin(work(world)))));
            return;
        }
        let world = Arc::downgrade(self);
        self.runtime.spawn(async move {
            tokio::time::sleep(time).await;
            if let Some(world) = world.upgrade() {
                work(world).await;
            }
        });
    }
}

impl World {
    /// Stops the clock: from now on only [`pass`](World::pass) advances it.
    pub fn stop_clock(&self) {
        self.inner().clock.0.lock().get_or_insert_default();
    }

    /// Advances a stopped clock, and returns when all work that is due by then is done.
    pub fn pass(&self, time: Duration) {
        let clock = &self.inner().clock;
        let Some(until) = clock.0.lock().as_ref().map(|stopped| stopped.now + time) else { return };
        while let Some(work) = clock.next(until) {
            self.inner().runtime.block_on(work(self.shared()));
        }
        if let Some(stopped) = clock.0.lock().as_mut() {
            stopped.now = until;
        }
    }
}
