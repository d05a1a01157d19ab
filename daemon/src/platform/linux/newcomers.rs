//! Elements that have just appeared, in apps that announce badly: they are often told before they are finished, and
//! nobody says when they are. So each is read once more, a little later and a few at a time.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::platform::ElementKey;

/// How long an element has to get ready.
const AGE: Duration = Duration::from_millis(700);
/// How many are read again at a time, and the pause between.
const SOME: usize = 32;
const PAUSE: Duration = Duration::from_millis(100);
/// How many are remembered; the sweep comes to the others.
const MOST: usize = 4096;

/// Those that are to be read once more.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    queue: VecDeque<(Instant, ElementKey)>,
    rested: Option<Instant>,
}

impl Newcomers {
    /// An element appeared.
    pub fn add(&mut self, key: ElementKey, now: Instant) {
        if self.queue.len() < MOST {
            self.queue.push_back((now + AGE, key));
        }
    }

    /// When the next are due.
    pub fn next_due(&self) -> Option<Instant> {
        let (due, _) = self.queue.front()?;
        Some(self.rested.map_or(*due, |rested| rested.max(*due)))
    }

    /// Takes those that are due.
    pub fn take(&mut self, now: Instant) -> Vec<ElementKey> {
        if self.next_due().is_none_or(|due| due > now) {
            return Vec::new();
        }
        self.rested = Some(now + PAUSE);
        let count = self.queue.iter().take(SOME).take_while(|(due, _)| *due <= now).count();
        self.queue.drain(..count).map(|(_, key)| key).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newcomers_are_read_once_more_when_they_are_of_age_a_few_at_a_time() {
        let start = Instant::now();
        let mut newcomers = Newcomers::default();
        (0..40).for_each(|n| newcomers.add(ElementKey(n), start));
        assert!(newcomers.take(start).is_empty());
        let now = start + AGE;
        assert_eq!(newcomers.take(now).len(), SOME);
        assert!(newcomers.take(now).is_empty());
        assert_eq!(newcomers.take(now + PAUSE).len(), 40 - SOME);
        assert_eq!(newcomers.next_due(), None);
    }
}
