//! The one global counter of which every applied batch takes the next tick.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use axd_protocol::{Clock, Tick};

/// The daemon's clock.
///
/// A tick is taken under the write lock of the tree it is for, and a token is read under the read lock of the trees it
/// speaks of. So whatever is applied to a tree after a token was read of it has a later tick than the token's, however
/// the threads run.
#[derive(Debug)]
pub struct Ticker {
    boot: u32,
    last: AtomicU64,
}

impl Ticker {
    /// A clock of a new boot.
    pub fn new() -> Ticker {
        Ticker { boot: random() as u32, last: AtomicU64::new(0) }
    }

    /// Which run of the daemon this is.
    pub fn boot(&self) -> u32 {
        self.boot
    }

    /// The next tick. To be called under a tree's write lock.
    pub fn next(&self) -> Tick {
        self.last.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// The token of now. To be called under the read locks of what it speaks of.
    pub fn now(&self) -> Clock {
        self.at(self.last.load(Ordering::Acquire))
    }

    /// The token of a tick.
    pub fn at(&self, tick: Tick) -> Clock {
        Clock { boot: self.boot, tick }
    }
}

/// A number that differs each time: std's own source of hash seeds.
pub fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.finish()
}
