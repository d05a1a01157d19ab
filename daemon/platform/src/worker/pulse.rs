//! The pulse of an app: when it last answered a call. A request may take many calls, and a slow app answers each of them in time
//! though all of them take long; it is silent only if it answers none.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::now;

/// When an app last answered a call. It is set by who calls the app and read by the worker.
#[derive(Debug)]
pub struct Pulse {
    start: Instant,
    /// Microseconds from `start` to the last answer; 0 if there was none.
    last: AtomicU64,
}

impl Default for Pulse {
    fn default() -> Pulse {
        Pulse { start: now(), last: AtomicU64::new(0) }
    }
}

impl Pulse {
    /// Records that the app has just answered a call.
    pub fn beat(&self) {
        let elapsed = now().saturating_duration_since(self.start).as_micros();
        // The first microsecond counts as the second, because 0 means that there was no answer.
        self.last.store(u64::try_from(elapsed).unwrap_or(u64::MAX).max(1), Ordering::Relaxed);
    }

    /// When the app last answered a call, if it ever did.
    pub fn last(&self) -> Option<Instant> {
        match self.last.load(Ordering::Relaxed) {
            0 => None,
            elapsed => Some(self.start + Duration::from_micros(elapsed)),
        }
    }
}
