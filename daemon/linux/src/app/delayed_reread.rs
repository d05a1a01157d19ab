//! Elements that have just appeared: they are often told before they are finished, and nobody says when they are. An app
//! that has just started does not announce anything yet, some toolkits never announce much. So each newcomer is read once
//! more when the app has come to rest. If it does not, it is read when it is of age, and once more later, unless it is one that
//! announces whatever happens to it.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use axd_platform::ElementKey;

/// How long nothing may happen in an app for it to be at rest.
const CALM: Duration = Duration::from_millis(250);
/// How long an element has to get ready in an app that is never at rest, and until it is read for the last time.
const AGE: Duration = Duration::from_millis(700);
const LAST: Duration = Duration::from_secs(4);
/// How many are read again at a time.
const SOME: usize = 48;
/// How many are worth asking for everything at once, at least, and if they are one in so many of all elements: asking for one
/// element takes that many times as long as having it told with all others.
const MANY: usize = 64;
const ONE_IN: usize = 8;
/// How many are remembered; the sweep comes to the others.
const MOST: usize = 8192;

/// Elements, each with the time that counts for it. They are put in as time goes by, so the first is always the next.
type Queue = VecDeque<(Instant, ElementKey)>;

/// Those that are to be read once more.
#[derive(Debug, Default)]
pub(crate) struct Newcomers {
    /// Those that were not read again yet, by when they appeared.
    fresh: Queue,
    /// Those that were, and are to be read for the last time.
    grown: Queue,
    /// Those that are read again only when the app is at rest.
    telling: VecDeque<ElementKey>,
    /// Those whose time has come, and when it did.
    ready: Queue,
    waiting: HashSet<ElementKey>,
    /// Whether those have been looked at, and only those left that are worth reading.
    sifted: bool,
    /// When something last happened in the app.
    moved: Option<Instant>,
    /// Those that follow something else, and when they will have.
    later: Queue,
}

impl Newcomers {
    /// An element appeared.
    pub fn add(&mut self, key: ElementKey, now: Instant) {
        if self.make_room() {
            self.fresh.push_back((now, key));
        }
        self.moved = Some(now);
    }

    /// An element appeared that announces whatever happens to it.
    pub fn add_telling(&mut self, key: ElementKey, now: Instant) {
        if self.make_room() {
            self.telling.push_back(key);
        }
        self.moved = Some(now);
    }

    /// Where there are too many, those are let go first that announce what happens to them.
    fn make_room(&mut self) -> bool {
        self.len() < MOST || self.telling.pop_front().is_some()
    }

    /// How many wait for their time.
    fn len(&self) -> usize {
        self.fresh.len() + self.grown.len() + self.telling.len()
    }

    /// What happened will happen to this element too, a little later.
    pub fn follow(&mut self, key: ElementKey, now: Instant) {
        if self.later.len() < MOST {
            self.later.push_back((now + AGE, key));
        }
    }

    /// Something happened in the app.
    pub fn stir(&mut self, now: Instant) {
        if self.len() > 0 {
            self.moved = Some(now);
        }
    }

    /// Only elements that are there still count.
    pub fn retain(&mut self, is_there: impl Fn(ElementKey) -> bool) {
        for queue in [&mut self.fresh, &mut self.grown, &mut self.ready, &mut self.later] {
            queue.retain(|(_, key)| is_there(*key));
        }
        self.telling.retain(|key| is_there(*key));
        self.waiting.retain(|key| is_there(*key));
        self.sifted &= !self.ready.is_empty();
    }

    /// When the next are due.
    pub fn next_due(&self) -> Option<Instant> {
        if let Some((since, _)) = self.ready.front() {
            // Many that are not looked at yet wait for that, and not for ever.
            let patience = if !self.sifted && self.ready.len() >= MANY { CALM } else { Duration::ZERO };
            return Some(*since + patience);
        }
        let first = self.fresh.front().map(|(since, _)| *since + AGE);
        let last = self.grown.front().map(|(since, _)| *since + LAST);
        let calm = self.moved.map(|moved| moved + CALM).filter(|_| self.len() > 0);
        let later = self.later.front().map(|(due, _)| *due);
        [first, last, calm, later].into_iter().flatten().min()
    }

    /// Those whose time has come and that were not looked at yet, if they are many among `all` that the app has: then it is
    /// cheaper to find out first which of them are others than they were.
    pub fn many(&mut self, all: usize, now: Instant) -> Option<Vec<ElementKey>> {
        self.are_many(all, now).then(|| self.ready.iter().map(|(_, key)| *key).collect())
    }

    /// Whether there are. In an app that is never done with what it announces they are not looked at; after a while they are
    /// read as if they were few.
    pub fn are_many(&mut self, all: usize, now: Instant) -> bool {
        self.ripen_due(now);
        let count = self.ready.len();
        let is_early = self.ready.front().is_some_and(|(since, _)| now < *since + CALM);
        is_early && !self.sifted && count >= MANY && count * ONE_IN >= all
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
        if self.len() > 0 && self.moved.is_some_and(|moved| moved + CALM <= now) {
            let all = self.fresh.drain(..).chain(self.grown.drain(..)).map(|(_, key)| key);
            for key in all.chain(self.telling.drain(..)).collect::<Vec<_>>() {
                self.ripen(key, now);
            }
        }
        while let Some((_, key)) = pop_due(&mut self.later, Duration::ZERO, now) {
            self.ripen(key, now);
        }
        while let Some((since, key)) = pop_due(&mut self.fresh, AGE, now) {
            self.grown.push_back((since, key));
            self.ripen(key, now);
        }
        while let Some((_, key)) = pop_due(&mut self.grown, LAST, now) {
            self.ripen(key, now);
        }
    }

    fn ripen(&mut self, key: ElementKey, now: Instant) {
        if self.waiting.insert(key) {
            self.ready.push_back((now, key));
        }
    }
}

/// Takes the first of a queue if its time, and so much more, has passed.
fn pop_due(queue: &mut Queue, wait: Duration, now: Instant) -> Option<(Instant, ElementKey)> {
    queue.front().filter(|(time, _)| *time + wait <= now)?;
    queue.pop_front()
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
        assert_eq!(newcomers.many(100, start), None);
        let calm = start + CALM;
        assert_eq!(newcomers.many(100, calm).map(|all| all.len()), Some(100));
        newcomers.sift(&(0..70).map(ElementKey).collect());
        assert_eq!(newcomers.many(100, calm), None, "once is enough");
        assert_eq!(all(&mut newcomers, calm), 70);
        newcomers.add(ElementKey(7), calm);
        assert_eq!(newcomers.many(100, calm + CALM), None, "a few are read at once");
        assert_eq!(newcomers.take(calm + CALM), [ElementKey(7)]);
    }

    #[test]
    fn a_few_among_very_many_are_read_without_asking_for_everything() {
        let start = Instant::now();
        let mut newcomers = Newcomers::default();
        (0..100).for_each(|n| newcomers.add(ElementKey(n), start));
        let calm = start + CALM;
        assert_eq!(newcomers.many(100 * ONE_IN + 1, calm), None);
        assert_eq!(newcomers.take(calm).len(), SOME);
    }

    /// Where hints keep coming, nobody looks at those that are many; whoever waits for them must neither wait for ever nor be
    /// told again and again that they are due.
    #[test]
    fn many_that_nobody_looks_at_are_read_after_a_while_and_not_due_before() {
        let start = Instant::now();
        let mut newcomers = Newcomers::default();
        (0..100).for_each(|n| newcomers.add(ElementKey(n), start));
        newcomers.stir(start + AGE);
        let aged = start + AGE;
        assert!(newcomers.are_many(100, aged));
        let due = newcomers.next_due();
        assert_eq!(due, Some(aged + CALM));
        newcomers.stir(aged + CALM);
        assert!(!newcomers.are_many(100, aged + CALM));
        assert_eq!(all(&mut newcomers, aged + CALM), 100);
    }

    #[test]
    fn what_is_gone_is_never_read_again() {
        let start = Instant::now();
        let mut newcomers = Newcomers::default();
        (0..4).for_each(|n| newcomers.add(ElementKey(n), start));
        newcomers.follow(ElementKey(8), start);
        newcomers.retain(|key| key == ElementKey(3));
        newcomers.stir(start + AGE);
        assert_eq!(newcomers.take(start + AGE), [ElementKey(3)]);
        newcomers.retain(|_| false);
        assert_eq!(newcomers.next_due(), None);
        newcomers.add(ElementKey(5), start + LAST);
        assert_eq!(newcomers.many(1, start + LAST + CALM), None);
        newcomers.retain(|_| false);
        assert_eq!((newcomers.take(start + LAST + CALM), newcomers.next_due()), (vec![], None));
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

    #[test]
    fn what_announces_everything_is_read_once_more_at_rest_and_not_before() {
        let start = Instant::now();
        let mut newcomers = Newcomers::default();
        newcomers.add_telling(ElementKey(7), start);
        let mut now = start;
        while now < start + 2 * LAST {
            now += CALM / 2;
            newcomers.stir(now);
            assert_eq!(newcomers.take(now), []);
        }
        assert_eq!(newcomers.next_due(), Some(now + CALM));
        assert_eq!(newcomers.take(now + CALM), [ElementKey(7)]);
        assert_eq!(newcomers.next_due(), None);
    }

    #[test]
    fn of_too_many_the_oldest_that_announce_everything_are_let_go() {
        let start = Instant::now();
        let mut newcomers = Newcomers::default();
        let most = MOST as u64;
        (0..most).for_each(|n| newcomers.add_telling(ElementKey(n), start));
        newcomers.add(ElementKey(most), start);
        newcomers.add_telling(ElementKey(most + 1), start);
        assert_eq!(newcomers.len(), MOST);
        assert_eq!(newcomers.take(start + CALM)[..2], [ElementKey(most), ElementKey(2)]);
        let mut newcomers = Newcomers::default();
        (0..=most).for_each(|n| newcomers.add(ElementKey(n), start));
        assert_eq!(newcomers.len(), MOST);
    }
}
