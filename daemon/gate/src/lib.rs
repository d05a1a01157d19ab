//! The one place where it is decided whether something was sent.
//!
//! A gate goes with everything that acts. The platform passes it just before the native call; whoever cancels closes
//! it. One atomic step decides between them, so "was it delivered?" always has an answer.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};
use std::task::{Context, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

const SENT: u8 = 1;
const CLOSED: u8 = 2;

/// The gate was closed: nothing may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed;

/// Stands before an action. Clones are the same gate.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: AtomicU8,
    /// How many characters of a text have been sent.
    characters: AtomicU32,
    closing: Notify,
    /// The gate of what this is a part of: when that is closed, so is this.
    whole: Option<Gate>,
}

impl Gate {
    /// A gate that is open.
    pub fn new() -> Gate {
        Gate::default()
    }

    /// The gate of a part of what stands before this one: closed with it, and passed through both.
    pub fn part(&self) -> Gate {
        Gate(Arc::new(Inner { whole: Some(self.clone()), ..Inner::default() }))
    }

    /// Passes, just before the native call. False if it has been closed: then nothing may be sent. What takes several
    /// steps passes before each of them.
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

    /// The same, with the failure to give up with.
    pub fn enter(&self) -> Result<(), Closed> {
        if self.pass() { Ok(()) } else { Err(Closed) }
    }

    /// Closes it. True if nothing was sent, and therefore nothing will be.
    pub fn close(&self) -> bool {
        let before = self.0.state.fetch_or(CLOSED, AcqRel);
        self.0.closing.notify_waiters();
        before & SENT == 0
    }

    /// Whether anything was sent.
    pub fn is_sent(&self) -> bool {
        self.0.state.load(Acquire) & SENT != 0
    }

    /// Whether it has been closed.
    pub fn is_closed(&self) -> bool {
        let whole = self.0.whole.as_ref();
        self.0.state.load(Acquire) & CLOSED != 0 || whole.is_some_and(Gate::is_closed)
    }

    /// Waits until it is closed.
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

    /// Waits that long, on a thread that may block, or until it is closed; whether it is.
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

    /// Notes that so many more characters of a text have been sent.
    pub fn typed(&self, characters: u32) {
        self.0.characters.fetch_add(characters, Relaxed);
    }

    /// How many characters of a text have been sent.
    pub fn characters(&self) -> u32 {
        self.0.characters.load(Relaxed)
    }
}

/// Wakes a thread that waits.
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
