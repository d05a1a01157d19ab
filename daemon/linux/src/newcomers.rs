//! Elements that have just appeared: they are often told before they are finished, and nobody says when they are. An app
//! that has just started does not announce anything yet, some toolkits never announce much. So each newcomer is read once
//! more when the app has come to rest. If it does not, it is read when it is of age, and once more later.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use axd_platform::ElementKey;

/// How long nothing may happen in an app for it to be at rest.
const CALM: Duration = Duration::from_millis(250);
/// How long an element has to get ready in an app that is never at rest, and until it is read for the last time.
const AGE: Duration = Duration::from_millis(700);
const LAST: Duration = Duration::from_secs(4);
/// How many are read again at a time.
const SOME: usize = 48;
/// How many are worth asking for everything at once.
const MANY: usize = 64;
/// How many are remembered; the sweep comes to the others.
const MOST: usize = 8192;

/// Those that are to be read once more.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    /// When each of them appeared, and whether it has been read once more since.
    fresh: BTreeMap<ElementKey, (Instant, bool)>,
    /// Those whose time has come.
    ready: VecDeque<(Instant, ElementKey)>,
    waiting: HashSet<ElementKey>,
    /// Whether those have been looked at, and only those left that are worth reading.
    sifted: bool,
    /// When something last happened in the app.
    moved: Option<Instant>,
    /// Those that follow something else, and when they will have.
    later: VecDeque<(Instant, ElementKey)>,
}

impl Newcomers {
    /// An element appeared.
    pub fn add(&mut self, key: ElementKey, now: Instant) {
        if self.fresh.len() < MOST {
            self.fresh.insert(key, (now, false));
        }
        self.moved = Some(now);
    }

    /// What happened will happen to this element too, a little later.
    pub fn follow(&mut self, key: ElementKey, now: Instant) {
        if self.later.len() < MOST {
            self.later.push_back((now + AGE, key));
        }
    }

    /// Something happened in the app.
    pub fn stir(&mut self, now: Instant) {
        if !self.fresh.is_empty() {
            self.moved = Some(now);
        }
    }

    /// When the next are due.
    pub fn next_due(&self) -> Option<Instant> {
        if let Some((since, _)) = self.ready.front() {
            return Some(*since);
        }
        let oldest = self.fresh.values().map(|(since, read)| *since + if *read { LAST } else { AGE }).min();
        let calm = self.moved.map(|moved| moved + CALM).filter(|_| !self.fresh.is_empty());
        let later = self.later.front().map(|(due, _)| *due);
        [oldest, calm, later].into_iter().flatten().min()
    }

    /// Those whose time has come and that were not looked at yet, if they are many: then it is cheaper to find out first which
    /// of them are others than they were.
    pub fn many(&mut self, now: Instant) -> Option<Vec<ElementKey>> {
        self.ripen_due(now);
        (!self.sifted && self.ready.len() >= MANY).then(|| self.ready.iter().map(|(_, key)| *key).collect())
    }

    /// Only these of those whose time has come are worth reading.
    pub fn sift(&mut self, worth: &HashSet<ElementKey>) {
        self.ready.retain(|(_, key)| worth.contains(key));
        self.waiting.retain(|key| worth.contains(key));
        self.sifted = !self.ready.is_empty();
    }

    /// Takes some of those that are due.
    pub fn take(&mut self, now: Instant) -> Vec<ElementKey> {
        self.ripen_due(now);
        let count = SOME.min(self.ready.len());
        let taken: Vec<ElementKey> = self.ready.drain(..count).map(|(_, key)| key).collect();
        for key in &taken {
            self.waiting.remove(key);
        }
        self.sifted &= !self.ready.is_empty();
        taken
    }

    fn ripen_due(&mut self, now: Instant) {
        if self.next_due().is_none_or(|due| due > now) {
            return;
        }
        if self.moved.is_some_and(|moved| moved + CALM <= now) {
            for key in std::mem::take(&mut self.fresh).into_keys() {
                self.ripen(key, now);
            }
        }
        let come = self.later.iter().take_while(|(due, _)| *due <= now).count();
        for (_, key) in self.later.drain(..come).collect::<Vec<_>>() {
            self.ripen(key, now);
        }
        let (mut first, mut last) = (Vec::new(), Vec::new());
        for (key, (since, read)) in &self.fresh {
            match read {
                false if *since + AGE <= now => first.push(*key),
                true if *since + LAST <= now => last.push(*key),
                _ => {}
            }
        }
        for key in first {
            self.fresh.entry(key).and_modify(|(_, read)| *read = true);
            self.ripen(key, now);
        }
        for key in last {
            self.fresh.remove(&key);
            self.ripen(key, now);
        }
    }

    fn ripen(&mut self, key: ElementKey, now: Instant) {
        if self.waiting.insert(key) {
            self.ready.push_back((now, key));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(newcomers: &mut Newcomers, now: Instant) -> usize {
        std::iter::from_fn(|| Some(newcomers.take(now).len()).filter(|count| *count > 0)).sum()
    }

    #[test]
    fn newcomers_are_read_once_more_when_the_app_is_at_rest_a_few_at_a_time() {
        let start = Instant::now();
        let mut newcomers = Newcomers::default();
        (0..60).for_each(|n| newcomers.add(ElementKey(n), start));
        assert_eq!(newcomers.next_due(), Some(start + CALM));
        newcomers.stir(start + CALM / 2);
        assert_eq!(newcomers.take(start + CALM), []);
        let calm = start + CALM + CALM / 2;
        assert_eq!(newcomers.take(calm).len(), SOME);
        assert!(newcomers.next_due().is_some_and(|due| due <= calm));
        assert_eq!(all(&mut newcomers, calm), 60 - SOME);
        assert_eq!(newcomers.next_due(), None);
    }

    #[test]
    fn in_an_app_that_is_never_at_rest_each_is_read_twice() {
        let start = Instant::now();
        let mut newcomers = Newcomers::default();
        newcomers.add(ElementKey(7), start);
        let mut reads = Vec::new();
        for step in 1..100_u32 {
            let now = start + CALM / 2 * step;
            newcomers.stir(now);
            if !newcomers.take(now).is_empty() {
                reads.push(now - start);
            }
        }
        assert_eq!(reads.len(), 2);
        assert!(reads[0] >= AGE && reads[0] < AGE + CALM && reads[1] >= LAST && reads[1] < LAST + CALM);
        assert_eq!(newcomers.next_due(), None);
    }

    #[test]
    fn of_many_only_those_are_read_that_are_worth_it() {
        let start = Instant::now();
        let mut newcomers = Newcomers::default();
        (0..100).for_each(|n| newcomers.add(ElementKey(n), start));
        assert_eq!(newcomers.many(start), None);
        let calm = start + CALM;
        assert_eq!(newcomers.many(calm).map(|all| all.len()), Some(100));
        newcomers.sift(&(0..70).map(ElementKey).collect());
        assert_eq!(newcomers.many(calm), None, "once is enough");
        assert_eq!(all(&mut newcomers, calm), 70);
        newcomers.add(ElementKey(7), calm);
        assert_eq!(newcomers.many(calm + CALM), None, "a few are read at once");
        assert_eq!(newcomers.take(calm + CALM), [ElementKey(7)]);
    }

    #[test]
    fn what_follows_something_else_is_read_when_it_will_have() {
        let start = Instant::now();
        let mut newcomers = Newcomers::default();
        newcomers.follow(ElementKey(7), start);
        assert_eq!(newcomers.take(start + CALM), []);
        assert_eq!(newcomers.take(start + AGE), [ElementKey(7)]);
        assert_eq!(newcomers.next_due(), None);
    }

    #[test]
    fn rest_comes_before_the_last_reading() {
        let start = Instant::now();
        let mut newcomers = Newcomers::default();
        newcomers.add(ElementKey(7), start);
        newcomers.stir(start + AGE);
        assert_eq!(newcomers.take(start + AGE), [ElementKey(7)]);
        assert_eq!(newcomers.take(start + AGE + CALM), [ElementKey(7)]);
        assert_eq!(newcomers.next_due(), None);
    }
}
