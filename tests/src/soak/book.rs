//! What a soak counts: answers by kind with their times, errors by code, and everything that must not happen.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How many steps an octave of the times is divided into.
const STEPS: usize = 16;
/// How many notes are kept; the counters count them all.
const NOTES: usize = 40;

/// Times, in steps of a sixteenth of an octave of microseconds.
#[derive(Debug)]
struct Times(Vec<u64>);

impl Default for Times {
    fn default() -> Times {
        Times(vec![0; 32 * STEPS])
    }
}

impl Times {
    fn add(&mut self, time: Duration) {
        let step = ((time.as_micros().max(1) as f64).log2() * STEPS as f64) as usize;
        let last = self.0.len() - 1;
        self.0[step.min(last)] += 1;
    }

    fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The time in ms that this part of the answers did not exceed.
    fn at(&self, part: f64) -> f64 {
        let wanted = (self.count() as f64 * part).ceil() as u64;
        let mut seen = 0;
        for (step, count) in self.0.iter().enumerate() {
            seen += count;
            if seen >= wanted && *count > 0 {
                return ((step + 1) as f64 / STEPS as f64).exp2() / 1e3;
            }
        }
        0.0
    }
}

/// Something that must not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// An answer did not come.
    Unanswered,
    /// The daemon closed a connection, or refused one.
    Closed,
    /// A change was known to the daemon and not told to a subscriber, or told out of order.
    Missed,
    /// A replica was not what a fresh client gets.
    Diverged,
    /// An id stopped to name its element while that lived.
    IdDied,
    /// An id named another element.
    IdChanged,
    /// An id was another one after the app was started again.
    IdNotKept,
    /// An action was done more or less often than the answers say.
    Miscounted,
    /// An answer was not a well-formed line, or said INTERNAL.
    Internal,
}

impl Wrong {
    /// All of them, with what the tables call them.
    pub const ALL: [(Wrong, &'static str); 9] = [
        (Wrong::Unanswered, "answers that never came"),
        (Wrong::Closed, "connections that the daemon closed"),
        (Wrong::Missed, "missed or disordered events"),
        (Wrong::Diverged, "replicas that diverged"),
        (Wrong::IdDied, "ids that died before their element"),
        (Wrong::IdChanged, "ids that changed meaning"),
        (Wrong::IdNotKept, "ids not kept over a restart"),
        (Wrong::Miscounted, "actions not done as answered"),
        (Wrong::Internal, "internal errors and broken lines"),
    ];
}

/// The counters of one daemon.
#[derive(Debug, Default)]
pub struct Book {
    kinds: Mutex<BTreeMap<&'static str, Times>>,
    errors: Mutex<BTreeMap<String, u64>>,
    wrongs: Mutex<BTreeMap<Wrong, u64>>,
    notes: Mutex<Vec<String>>,
    /// Events that followers got.
    pub events: AtomicU64,
    /// Comparisons of a replica with a fresh tree that found them equal.
    pub compared: AtomicU64,
    /// Looks at an id whose meaning is known.
    pub ids_checked: AtomicU64,
    /// Faults that were injected.
    pub faults: AtomicU64,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    /// An answer of this kind came after this time.
    pub fn answered(&self, kind: &'static str, time: Duration) {
        lock(&self.kinds).entry(kind).or_default().add(time);
    }

    /// An answer had this code.
    pub fn error(&self, code: &str) {
        *lock(&self.errors).entry(code.to_owned()).or_default() += 1;
    }

    /// Something happened that must not.
    pub fn wrong(&self, wrong: Wrong, what: impl FnOnce() -> String) {
        *lock(&self.wrongs).entry(wrong).or_default() += 1;
        let mut notes = lock(&self.notes);
        if notes.len() < NOTES {
            notes.push(format!("{wrong:?}: {}", what()));
        }
    }

    /// How often this happened.
    pub fn count(&self, wrong: Wrong) -> u64 {
        lock(&self.wrongs).get(&wrong).copied().unwrap_or(0)
    }

    /// How many requests were answered.
    pub fn requests(&self) -> u64 {
        lock(&self.kinds).values().map(Times::count).sum()
    }

    /// Each kind with its answers, and the times in ms that half of them and 99 of 100 did not exceed.
    pub fn kinds(&self) -> Vec<(&'static str, u64, f64, f64)> {
        lock(&self.kinds)
            .iter()
            .map(|(kind, times)| (*kind, times.count(), times.at(0.5), times.at(0.99)))
            .collect()
    }

    /// Each code with how often it came.
    pub fn errors(&self) -> Vec<(String, u64)> {
        lock(&self.errors).iter().map(|(code, count)| (code.clone(), *count)).collect()
    }

    /// The first things that went wrong, in words.
    pub fn notes(&self) -> Vec<String> {
        lock(&self.notes).clone()
    }

    /// Adds one to a counter.
    pub fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_99th_percentile_is_that_of_the_slowest_hundredth() {
        let mut times = Times::default();
        (0..98).for_each(|_| times.add(Duration::from_micros(100)));
        (0..2).for_each(|_| times.add(Duration::from_millis(50)));
        assert!((0.09..0.12).contains(&times.at(0.5)), "{}", times.at(0.5));
        assert!((45.0..55.0).contains(&times.at(0.99)), "{}", times.at(0.99));
    }
}
