//! Runs one action at a time per app, in the order of arrival. Reads never wait here.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use axd_protocol::command::ActionStatus;
use parking_lot::Mutex;
use tokio::sync::MutexGuard;
use tokio::time::{Instant, timeout_at};

/// The running action of an app, and how many actions wait.
#[derive(Debug, Default)]
pub(crate) struct ActionQueue {
    turn: tokio::sync::Mutex<()>,
    holder: Mutex<Option<Holder>>,
    waiting: AtomicU32,
}

#[derive(Debug, Clone, Copy)]
struct Holder {
    client: u64,
    command: &'static str,
    since: Instant,
}

/// The turn of one action. Dropping it starts the next one.
#[derive(Debug)]
pub(crate) struct QueueGuard<'q> {
    queue: &'q ActionQueue,
    _turn: MutexGuard<'q, ()>,
}

impl ActionQueue {
    /// Waits for the turn of an action; `None` if it does not come before the deadline.
    pub async fn take(
        &self,
        client: u64,
        command: &'static str,
        deadline: Instant,
    ) -> Option<QueueGuard<'_>> {
        let waiting = Waiting::new(&self.waiting);
        let turn = timeout_at(deadline, self.turn.lock()).await.ok()?;
        drop(waiting);
        *self.holder.lock() = Some(Holder { client, command, since: Instant::now() });
        Some(QueueGuard { queue: self, _turn: turn })
    }

    /// The running action, for `status`.
    pub fn status(&self) -> Option<ActionStatus> {
        let waiting = self.waiting.load(Relaxed);
        self.holder.lock().map(|holder| ActionStatus {
            client: holder.client,
            command: holder.command.to_owned(),
            for_ms: holder.since.elapsed().as_millis() as u64,
            waiting,
        })
    }
}

impl Drop for QueueGuard<'_> {
    fn drop(&mut self) {
        *self.queue.holder.lock() = None;
    }
}

/// Counts a waiting action until it is dropped, even if the wait is abandoned.
struct Waiting<'q>(&'q AtomicU32);

impl Waiting<'_> {
    fn new(count: &AtomicU32) -> Waiting<'_> {
        count.fetch_add(1, Relaxed);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn the_second_waits_for_the_first_and_both_can_be_seen() {
        let queue = ActionQueue::default();
        let soon = || Instant::now() + Duration::from_millis(10);
        let first = queue.take(1, "click", soon()).await.unwrap();
        let status = || queue.status().map(|status| (status.client, status.command, status.waiting));
        {
            let mut second = std::pin::pin!(queue.take(2, "type", soon()));
            tokio::select! {
                biased;
                _ = &mut second => panic!("the first has it"),
                () = std::future::ready(()) => {}
            }
            assert_eq!(status(), Some((1, "click".to_owned(), 1)), "the second waits");
            assert!(second.await.is_none(), "and gives up");
        }
        assert_eq!(status(), Some((1, "click".to_owned(), 0)));
        drop(first);
        assert!(queue.status().is_none());
        assert!(queue.take(2, "type", soon()).await.is_some());
    }
}
