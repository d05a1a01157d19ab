//! The one way to wait for a condition: check it, wait for the next change, check it again.
//!
//! Nothing is missed: a change that comes during a check ends the next wait at once. After the deadline, and after a
//! cancellation, the condition is checked a last time.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::Engine;
use axd_platform::Gate;

/// A wait for changes of apps and of the desktop.
pub(crate) struct ChangeWait<'a> {
    changed: watch::Receiver<u64>,
    deadline: Instant,
    gate: &'a Gate,
}

/// What a waiting caller does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Check the condition again.
    Check,
    /// Give up: the condition was checked after the deadline.
    TimedOut,
    /// Give up: the condition was checked after the request was cancelled.
    Cancelled,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited<T> {
    /// The condition holds.
    Held(T),
    /// The condition does not hold, and the time is over.
    TimedOut,
    /// The condition does not hold, and the request was cancelled.
    Cancelled,
}

impl<'a> ChangeWait<'a> {
    fn new(changed: &watch::Sender<u64>, deadline: Instant, gate: &'a Gate) -> ChangeWait<'a> {
        ChangeWait { changed: changed.subscribe(), deadline, gate }
    }

    /// Waits for the next change.
    pub async fn next(&mut self) -> Next {
        self.next_until(self.deadline).await
    }

    /// Waits for the next change, but no longer than this: for conditions that may come true without a change.
    pub async fn next_within(&mut self, at_most: Duration) -> Next {
        self.next_until(Instant::now() + at_most).await
    }

    /// Waits for the next change, but no longer than until then.
    pub async fn next_until(&mut self, then: Instant) -> Next {
        if self.gate.is_closed() {
            return Next::Cancelled;
        }
        if Instant::now() >= self.deadline {
            return Next::TimedOut;
        }
        tokio::select! {
            biased;
            () = self.gate.closed() => {}
            // It does not matter which of the two it is. The sender cannot be gone: the engine holds it.
            _ = timeout_at(then.min(self.deadline), self.changed.changed()) => {}
        }
        Next::Check
    }
}

impl Engine {
    /// A wait that ends at the deadline, and when the gate is closed.
    pub(crate) fn change_wait<'a>(&self, deadline: Instant, gate: &'a Gate) -> ChangeWait<'a> {
        ChangeWait::new(&self.changed, deadline, gate)
    }

    /// Waits until a condition holds.
    pub(crate) async fn until<T>(
        self: &Arc<Self>,
        deadline: Instant,
        gate: &Gate,
        mut check: impl FnMut() -> Option<T>,
    ) -> Waited<T> {
        let mut wait = self.change_wait(deadline, gate);
        self.drain_desktop_events();
        loop {
            if let Some(held) = check() {
                return Waited::Held(held);
            }
            match wait.next().await {
                Next::Check => {}
                Next::TimedOut => return Waited::TimedOut,
                Next::Cancelled => return Waited::Cancelled,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn setup() -> (watch::Sender<u64>, Gate, Instant) {
        (watch::Sender::new(0), Gate::new(), Instant::now())
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_during_the_check_is_not_missed() {
        let (changed, gate, start) = setup();
        let mut wait = ChangeWait::new(&changed, start + SECOND, &gate);
        changed.send_modify(|version| *version += 1);
        assert_eq!((wait.next().await, start.elapsed()), (Next::Check, Duration::ZERO));
        assert_eq!((wait.next().await, start.elapsed()), (Next::Check, SECOND), "one change is one check");
    }

    #[tokio::test(start_paused = true)]
    async fn the_condition_is_checked_once_more_after_the_deadline() {
        let (changed, gate, start) = setup();
        let mut wait = ChangeWait::new(&changed, start + SECOND, &gate);
        assert_eq!(wait.next().await, Next::Check);
        assert_eq!(start.elapsed(), SECOND);
        assert_eq!(wait.next().await, Next::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_cancellation_ends_the_wait_at_once_after_a_last_check() {
        let (changed, gate, start) = setup();
        let closing = gate.clone();
        tokio::spawn(async move {
            tokio::time::sleep(SECOND / 4).await;
            closing.close();
        });
        let mut wait = ChangeWait::new(&changed, start + SECOND, &gate);
        assert_eq!((wait.next().await, start.elapsed()), (Next::Check, SECOND / 4));
        assert_eq!((wait.next().await, start.elapsed()), (Next::Cancelled, SECOND / 4));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_for_a_moment_ends_with_it_but_never_after_the_deadline() {
        let (changed, gate, start) = setup();
        let mut wait = ChangeWait::new(&changed, start + SECOND, &gate);
        assert_eq!((wait.next_within(SECOND / 2).await, start.elapsed()), (Next::Check, SECOND / 2));
        assert_eq!((wait.next_within(SECOND).await, start.elapsed()), (Next::Check, SECOND));
        assert_eq!(wait.next_within(SECOND).await, Next::TimedOut);
    }
}
