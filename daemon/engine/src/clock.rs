//! The global counter that gives every applied batch its tick.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use axd_protocol::{Clock, Tick};

/// The daemon's clock.
///
/// A tick is taken under the write lock of its tree, and a clock is read under the read locks of the trees it is about. So
/// whatever is applied to a tree after a clock was read has a later tick than the clock, however the threads are scheduled.
#[derive(Debug)]
pub struct Ticker {
    boot: u32,
    last: AtomicU64,
}

impl Ticker {
    /// A clock for a new run of the daemon.
    pub fn new() -> Ticker {
        Ticker { boot: random() as u32, last: AtomicU64::new(0) }
    }

    /// The number of this run of the daemon.
    pub fn boot(&self) -> u32 {
        self.boot
    }

    /// The next tick. Must be called under a tree's write lock.
    pub fn next(&self) -> Tick {
        self.last.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// The current clock. Must be called under the read locks of the trees it is about.
    pub fn now(&self) -> Clock {
        self.at(self.last.load(Ordering::Acquire))
    }

    /// The clock of a tick.
    pub fn at(&self, tick: Tick) -> Clock {
        Clock { boot: self.boot, tick }
    }
}

/// A random number, from the standard library's source of hash seeds.
pub fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}
