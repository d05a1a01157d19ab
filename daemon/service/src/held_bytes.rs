//! The bytes that are held for clients: answers that they have not read, and lines that they have not finished.
//!
//! One client can make the daemon hold a few megabytes, a thousand of them gigabytes. So there is one limit for all of them
//! together. Who holds bytes has a [`HeldBytes`], which gives them back when it is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tokio::sync::Notify;

/// The maximum number of bytes of answers that are held for all clients.
pub const MAX_HELD_ANSWERS: usize = 160 << 20;
/// The maximum number of bytes of unfinished lines that are held for all clients.
pub const MAX_HELD_LINES: usize = 64 << 20;
/// A client for which more is held than this has to read first, before it gets another long answer.
pub const MAX_UNREAD: usize = 1 << 20;

/// A number of held bytes, and who wants to know when it becomes smaller.
#[derive(Debug, Default)]
pub struct ByteCount {
    bytes: AtomicUsize,
    smaller: Notify,
}

impl ByteCount {
    /// The number of bytes.
    pub fn get(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// Waits until there are at most so many.
    pub async fn at_most(&self, bytes: usize) {
        loop {
            let smaller = self.smaller.notified();
            tokio::pin!(smaller);
            smaller.as_mut().enable();
            if self.get() <= bytes {
                return;
            }
            smaller.await;
        }
    }

    fn change(&self, from: usize, to: usize) {
        if to >= from {
            self.bytes.fetch_add(to - from, Relaxed);
        } else {
            self.bytes.fetch_sub(from - to, Relaxed);
            self.smaller.notify_waiters();
        }
    }
}

/// Bytes that are held, counted in each of these counts.
#[derive(Debug, Default)]
pub struct HeldBytes {
    counts: [Option<Arc<ByteCount>>; 2],
    held: usize,
}

impl HeldBytes {
    /// None yet, of those that one client holds, and of those of all clients.
    pub fn new(own: Option<Arc<ByteCount>>, all: Arc<ByteCount>) -> HeldBytes {
        HeldBytes { counts: [own, Some(all)], held: 0 }
    }

    /// Says how many there are now.
    pub fn set(&mut self, bytes: usize) {
        if bytes != self.held {
            self.counts.iter().flatten().for_each(|count| count.change(self.held, bytes));
            self.held = bytes;
        }
    }

    /// How many there are.
    pub fn get(&self) -> usize {
        self.held
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.set(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_dropped_is_given_back_and_who_waits_for_it_goes_on() {
        let (own, all) = (Arc::<ByteCount>::default(), Arc::<ByteCount>::default());
        let mut one = HeldBytes::new(Some(Arc::clone(&own)), Arc::clone(&all));
        let mut other = HeldBytes::new(None, Arc::clone(&all));
        one.set(100);
        other.set(10);
        assert_eq!((own.get(), all.get()), (100, 110));
        one.set(40);
        assert_eq!((own.get(), all.get()), (40, 50));
        let waiting = tokio::spawn({
            let all = Arc::clone(&all);
            async move { all.at_most(10).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(one);
        waiting.await.unwrap();
        assert_eq!((own.get(), all.get()), (0, 10));
    }
}
