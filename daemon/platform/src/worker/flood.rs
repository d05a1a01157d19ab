//! How fast hints are read when they never stop: an app that changes a thousand elements a second is not read a thousand
//! times a second.
//!
//! A burst is read at once. Whoever goes on beyond it is read at a steady pace, until nothing is announced for a moment or
//! somebody waits for a fence; then all that is hinted at is read at once. Only what is read again is counted: what is new is read
//! with what it is in, however much that is.

use std::time::{Duration, Instant};

/// How many elements are read at once.
const BURST: f64 = 2048.0;
/// How many a second are read beyond that.
const PACE: f64 = 600.0;
/// For how long nothing is announced once a flood is over.
const QUIET: Duration = Duration::from_millis(250);

/// Whether there is a flood, and how much of it may be read.
#[derive(Debug)]
pub(super) struct Flood {
    /// How many elements may be read now.
    room: f64,
    /// When that was so.
    at: Instant,
    /// The stamp of the latest hint that was seen here, and when that came.
    stamp: u64,
    stirred: Instant,
}

impl Flood {
    /// Nothing was announced yet.
    pub fn new(now: Instant) -> Flood {
        Flood { room: BURST, at: now, stamp: 0, stirred: now }
    }

    /// Sees whether there are new hints: `stamp` is that of the latest.
    pub fn observe(&mut self, stamp: u64, now: Instant) {
        self.room = (self.room + PACE * (now - self.at).as_secs_f64()).min(BURST);
        self.at = now;
        if self.stamp != stamp {
            self.stamp = stamp;
            self.stirred = now;
        }
    }

    /// When the next `count` elements may be read, if that is not now.
    pub fn throttled_until(&self, count: usize) -> Option<Instant> {
        let missing = (count as f64).min(BURST) - self.room;
        let is_over = self.at >= self.stirred + QUIET;
        (missing > 0.0 && !is_over).then(|| self.at + Duration::from_secs_f64(missing / PACE).min(QUIET))
    }

    /// So many elements are read.
    pub fn read(&mut self, count: usize) {
        self.room = (self.room - count as f64).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(n: f64) -> Duration {
        Duration::from_secs_f64(n)
    }

    #[test]
    fn a_burst_is_read_at_once_and_a_flood_at_a_steady_pace() {
        let start = Instant::now();
        let mut flood = Flood::new(start);
        flood.observe(1, start);
        let mut read = 0;
        while flood.throttled_until(64).is_none() {
            flood.read(64);
            read += 64;
        }
        assert_eq!(read, 2048);
        let due = flood.throttled_until(64);
        assert!(due.is_some_and(|due| due > start + seconds(0.1) && due < start + seconds(0.11)), "{due:?}");
        // Ten seconds of it, with something new every ten milliseconds.
        for step in 1..=1000_u32 {
            flood.observe(1 + u64::from(step), start + seconds(0.01) * step);
            while flood.throttled_until(64).is_none() {
                flood.read(64);
                read += 64;
            }
        }
        assert!((7900..=8100).contains(&read), "{read}");
    }

    #[test]
    fn once_nothing_more_comes_all_of_it_is_read() {
        let start = Instant::now();
        let mut flood = Flood::new(start);
        flood.observe(1, start);
        flood.read(4096);
        flood.observe(1, start + seconds(0.1));
        assert!(flood.throttled_until(64).is_some());
        flood.observe(1, start + QUIET);
        flood.read(4096);
        assert_eq!(flood.throttled_until(4096), None);
        flood.observe(2, start + QUIET);
        assert!(flood.throttled_until(4096).is_some(), "it goes on");
    }
}
