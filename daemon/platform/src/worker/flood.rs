//! Limits how fast dirty elements are read when events never stop: an app that changes a thousand elements a second is not read
//! a thousand times a second.
//!
//! A burst is read at once. If events go on beyond it, elements are read at a steady pace until no event arrives for a moment
//! or a caller waits for a fence; then all dirty elements are read at once. Only rereads are counted: new elements are read
//! with their container, however many they are.

use std::time::{Duration, Instant};

/// The maximum number of elements that are read without a delay.
const BURST: f64 = 2048.0;
/// The number of elements per second that are read beyond the burst.
const PACE: f64 = 600.0;
/// A flood is over when no event has arrived for this long.
const QUIET: Duration = Duration::from_millis(250);

/// A token bucket for rereads, and whether events still arrive.
#[derive(Debug)]
pub(super) struct Flood {
    /// How many elements may be read, as of `at`.
    room: f64,
    /// When `room` was computed.
    at: Instant,
    /// The latest stamp of the schedule that was seen here, and when it was first seen.
    stamp: u64,
    stirred: Instant,
}

impl Flood {
    /// A full bucket, before any event.
    pub fn new(now: Instant) -> Flood {
        Flood { room: BURST, at: now, stamp: 0, stirred: now }
    }

    /// Checks whether elements were marked dirty since the last call; `stamp` is the schedule's latest.
    pub fn observe(&mut self, stamp: u64, now: Instant) {
        self.room = (self.room + PACE * (now - self.at).as_secs_f64()).min(BURST);
        self.at = now;
        if self.stamp != stamp {
            self.stamp = stamp;
            self.stirred = now;
        }
    }

    /// When the next `count` elements may be read; `None` if they may be read now.
    pub fn throttled_until(&self, count: usize) -> Option<Instant> {
        let missing = (count as f64).min(BURST) - self.room;
        let is_over = self.at >= self.stirred + QUIET;
        (missing > 0.0 && !is_over).then(|| self.at + Duration::from_secs_f64(missing / PACE).min(QUIET))
    }

    /// Takes `count` elements out of the bucket.
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
        // Ten seconds of a flood, with an event every ten milliseconds.
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
