//! The gate decides whether an action was sent or cancelled.
//!
//! Every action has a gate. The platform passes it just before the native call; a cancellation closes
//! it. One atomic step decides between the two, so that it is always known whether something was sent.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};
use std::task::{Context, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

const SENT: u8 = 1;
const CLOSED: u8 = 2;

/// The error of a closed gate: nothing may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// The gate of an action. Clones are the same gate.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: AtomicU8,
    /// The number of characters of a text that have been sent.
    characters: AtomicU32,
    closing: Notify,
    /// The gate of the whole action, if this is the gate of a part. When that is closed, so is this.
    whole: Option<Gate>,
}

impl Gate {
    /// An open gate.
    pub fn new() -> Gate {
        Gate::default()
    }

    /// The gate of a part of this action: it is closed with this one, and passing it passes both.
    pub fn part(&self) -> Gate {
        Gate(Arc::new(Inner { whole: Some(self.clone()), ..Inner::default() }))
    }

    /// Passes the gate, just before the native call. False if it is closed: then nothing may be sent. An action of several
    /// steps passes it before each of them.
    #[must_use]
    pub fn pass(&self) -> bool {
        if self.0.whole.as_ref().is_some_and(|whole| !whole.pass()) {
            return false;
        }
        self.0
            .state
            .fetch_update(AcqRel, Acquire, |state| (state & CLOSED == 0).then_some(state | SENT))
            .is_ok()
    }

    /// Passes the gate like [`Gate::pass`], with an error if it is closed.
    pub fn enter(&self) -> Result<(), Closed> {
        if self.pass() { Ok(()) } else { Err(Closed) }
    }

    /// Closes the gate. True if nothing was sent, and therefore nothing will be.
    pub fn close(&self) -> bool {
        let before = self.0.state.fetch_or(CLOSED, AcqRel);
        self.0.closing.notify_waiters();
        before & SENT == 0
    }

    /// Whether anything was sent.
    pub fn is_sent(&self) -> bool {
        self.0.state.load(Acquire) & SENT != 0
    }

    /// Whether the gate is closed.
    pub fn is_closed(&self) -> bool {
        let whole = self.0.whole.as_ref();
        self.0.state.load(Acquire) & CLOSED != 0 || whole.is_some_and(Gate::is_closed)
    }

    /// Waits until the gate is closed.
    pub async fn closed(&self) {
        let closing = self.0.closing.notified();
        tokio::pin!(closing);
        closing.as_mut().enable();
        if self.is_closed() {
            return;
        }
        match &self.0.whole {
            Some(whole) => tokio::select! {
                () = closing => {}
                () = Box::pin(whole.closed()) => {}
            },
            None => closing.await,
        }
    }

    /// Blocks the thread for this time, or until the gate is closed; true if it is.
    pub fn closes_within(&self, time: Duration) -> bool {
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut closed = pin!(self.closed());
        let until = Instant::now() + time;
        while closed.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            std::thread::park_timeout(left);
        }
        true
    }

    /// Counts characters of a text that have been sent.
    pub fn typed(&self, characters: u32) {
        self.0.characters.fetch_add(characters, Relaxed);
    }

    /// The number of characters of a text that have been sent.
    pub fn characters(&self) -> u32 {
        self.0.characters.load(Relaxed)
    }
}

/// Wakes a parked thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl PartialEq for Gate {
    fn eq(&self, other: &Gate) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Gate {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_it_is_sent_or_it_is_closed_first() {
        let gate = Gate::new();
        assert!(gate.close());
        assert!(!gate.pass());
        assert!(!gate.is_sent());
        let gate = Gate::new();
        assert!(gate.pass());
        assert!(!gate.close(), "something was sent");
        assert!(!gate.pass(), "and nothing more is");
        assert!(gate.is_sent());
    }

    #[test]
    fn a_part_is_closed_with_the_whole_and_sends_for_it() {
        let whole = Gate::new();
        let (first, second) = (whole.part(), whole.part());
        assert!(first.pass());
        assert!(whole.is_sent());
        assert!(!second.is_sent());
        assert!(!whole.close());
        assert!(!second.pass());
        assert!(!second.is_sent());
    }

    #[test]
    fn of_a_closer_and_a_sender_at_once_exactly_one_wins() {
        for _ in 0..1_000 {
            let gate = Gate::new();
            let other = gate.clone();
            let sender = std::thread::spawn(move || other.pass());
            let closed_first = gate.close();
            assert_ne!(sender.join().unwrap(), closed_first);
        }
    }

    #[test]
    fn a_thread_that_waits_for_a_part_is_woken_when_the_whole_is_closed() {
        let whole = Gate::new();
        let part = whole.part();
        assert!(!part.closes_within(Duration::from_millis(1)));
        let waiting = std::thread::spawn(move || part.closes_within(Duration::from_secs(600)));
        whole.close();
        assert!(waiting.join().unwrap());
        assert!(whole.enter().is_err());
    }

    #[tokio::test]
    async fn whoever_waits_for_the_whole_to_close_is_told() {
        let whole = Gate::new();
        let part = whole.part();
        let waiting = tokio::spawn({
            let part = part.clone();
            async move { part.closed().await }
        });
        tokio::task::yield_now().await;
        whole.close();
        waiting.await.unwrap();
        part.closed().await;
    }
}
