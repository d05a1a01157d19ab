//! When a worker reads again: what events hinted at, what somebody waits on, and the background sweep.
//!
//! Pure: it holds no handles and no clock. A worker tells it what it heard and what time it is, and asks what to read
//! next. Hints are kept as a set, so a flood of events costs as much as there are elements, never as many as there
//! are events.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use super::ElementKey;

/// How often things are read again.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The first gap between readings of what somebody waits on.
    pub watch_first: Duration,
    /// The longest such gap; each is twice the one before until a change is found.
    pub watch_last: Duration,
    /// How many elements one such reading reads at most; a larger interest is read in turns.
    pub watch_size: usize,
    /// The gap between steps of the background sweep.
    pub sweep_every: Duration,
    /// How many elements a step of the sweep reads.
    pub sweep_size: usize,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            watch_first: Duration::from_millis(50),
            watch_last: Duration::from_millis(250),
            watch_size: 1024,
            sweep_every: Duration::from_millis(500),
            sweep_size: 32,
        }
    }
}

/// What it is time for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// To read again what this interest names.
    Reread(u64),
    /// To read the next few elements of the sweep.
    Sweep,
}

/// Elements that were hinted at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirtySet {
    /// To be read.
    pub whole: Vec<ElementKey>,
    /// Of which only the children are to be read.
    pub lists: Vec<ElementKey>,
}

/// What a worker is to read again, and when.
#[derive(Debug)]
pub struct Schedule {
    pace: Pace,
    /// Hinted elements and the stamp of the hint that put them in; `queue` has them in order.
    hinted: HashMap<ElementKey, u64>,
    queue: VecDeque<ElementKey>,
    /// Those of them of which only the children are to be read.
    lists: HashSet<ElementKey>,
    stamp: u64,
    watches: BTreeMap<u64, Watch>,
    sweep_due: Instant,
    /// The elements this round of the sweep has still to read.
    round: VecDeque<ElementKey>,
}

#[derive(Debug)]
struct Watch {
    keys: Vec<ElementKey>,
    every: Duration,
    due: Instant,
    /// How far into a large interest the last reading got.
    turn: usize,
}

impl Schedule {
    /// Nothing to do yet; the first sweep step comes one gap from now.
    pub fn new(pace: Pace, now: Instant) -> Schedule {
        Schedule {
            pace,
            hinted: HashMap::new(),
            queue: VecDeque::new(),
            lists: HashSet::new(),
            stamp: 0,
            watches: BTreeMap::new(),
            sweep_due: now + pace.sweep_every,
            round: VecDeque::new(),
        }
    }

    /// Has things read at another pace from now on.
    pub fn pace(&mut self, pace: Pace, now: Instant) {
        self.pace = pace;
        self.sweep_due = now + pace.sweep_every;
    }

    /// Something happened to the element: it must be read again. Said twice before it is read, it is read once.
    pub fn mark_dirty(&mut self, key: ElementKey) {
        self.lists.remove(&key);
        self.put(key);
    }

    /// Nothing but the children of the element is different: it is enough to list those.
    pub fn mark_children_dirty(&mut self, key: ElementKey) {
        if self.put(key) {
            self.lists.insert(key);
        }
    }

    /// True if it was not hinted at before.
    fn put(&mut self, key: ElementKey) -> bool {
        self.stamp += 1;
        let Entry::Vacant(entry) = self.hinted.entry(key) else { return false };
        entry.insert(self.stamp);
        self.queue.push_back(key);
        true
    }

    /// The stamp of the latest hint.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Whether every hint up to `stamp` has been taken. Hints are taken in order, so a fence is reached even while
    /// new ones keep coming.
    pub fn taken(&self, stamp: u64) -> bool {
        self.queue.front().is_none_or(|key| self.hinted[key] > stamp)
    }

    /// Whether the element is hinted at and not taken yet.
    pub fn is_dirty(&self, key: ElementKey) -> bool {
        self.hinted.contains_key(&key)
    }

    /// Whether anything is hinted at.
    pub fn has_dirty(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Takes up to `limit` hinted elements, the oldest first.
    pub fn take_dirty(&mut self, limit: usize) -> DirtySet {
        let count = limit.min(self.queue.len());
        let mut taken = DirtySet::default();
        for key in self.queue.drain(..count) {
            self.hinted.remove(&key);
            match self.lists.remove(&key) {
                true => taken.lists.push(key),
                false => taken.whole.push(key),
            }
        }
        taken
    }

    /// Puts back what was taken and could not be read.
    pub fn put_back(&mut self, hints: DirtySet) {
        hints.whole.into_iter().for_each(|key| self.mark_dirty(key));
        hints.lists.into_iter().for_each(|key| self.mark_children_dirty(key));
    }

    /// Somebody waits on these elements.
    pub fn watch(&mut self, interest: u64, keys: Vec<ElementKey>, now: Instant) {
        let every = self.pace.watch_first;
        self.watches.insert(interest, Watch { keys, every, due: now + every, turn: 0 });
    }

    /// Nobody waits under this name any more.
    pub fn unwatch(&mut self, interest: u64) {
        self.watches.remove(&interest);
    }

    /// What an interest names.
    pub fn watched(&self, interest: u64) -> &[ElementKey] {
        self.watches.get(&interest).map_or(&[], |watch| &watch.keys)
    }

    /// Picks from `all` (the interest and all below it) what to read this time: everything, or the next turn of it.
    pub fn turn(&mut self, interest: u64, all: Vec<ElementKey>) -> Vec<ElementKey> {
        let Some(watch) = self.watches.get_mut(&interest) else { return Vec::new() };
        if all.len() <= self.pace.watch_size {
            return all;
        }
        let from = watch.turn % all.len();
        watch.turn = from + self.pace.watch_size;
        all[from..].iter().chain(&all[..from]).take(self.pace.watch_size).copied().collect()
    }

    /// An interest has been read; `found` says whether anything had changed unannounced.
    pub fn reread(&mut self, interest: u64, found: bool, now: Instant) {
        let pace = self.pace;
        if let Some(watch) = self.watches.get_mut(&interest) {
            watch.every = if found { pace.watch_first } else { (watch.every * 2).min(pace.watch_last) };
            watch.due = now + watch.every;
        }
    }

    /// The next elements of the sweep. A new round begins with `all`, asked for only then.
    pub fn sweep(&mut self, all: impl FnOnce() -> Vec<ElementKey>, now: Instant) -> Vec<ElementKey> {
        if self.round.is_empty() {
            self.round = all().into();
        }
        self.sweep_due = now + self.pace.sweep_every;
        let count = self.pace.sweep_size.min(self.round.len());
        self.round.drain(..count).collect()
    }

    /// What it is time for, what somebody waits on first.
    pub fn due(&self, now: Instant) -> Option<Due> {
        let late =
            self.watches.iter().filter(|(_, watch)| watch.due <= now).min_by_key(|(_, watch)| watch.due);
        match late {
            Some((interest, _)) => Some(Due::Reread(*interest)),
            None => (self.sweep_due <= now).then_some(Due::Sweep),
        }
    }

    /// When it will next be time for something.
    pub fn next_due(&self) -> Instant {
        self.watches.values().map(|watch| watch.due).fold(self.sweep_due, Instant::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u64) -> ElementKey {
        ElementKey(n)
    }

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_flood_about_one_element_is_one_reading() {
        let mut schedule = Schedule::new(Pace::default(), Instant::now());
        for _ in 0..10_000 {
            schedule.mark_dirty(key(7));
        }
        assert_eq!(schedule.take_dirty(256).whole, [key(7)]);
        assert!(!schedule.has_dirty());
    }

    #[test]
    fn what_is_hinted_at_for_more_than_its_children_is_read() {
        let mut schedule = Schedule::new(Pace::default(), Instant::now());
        schedule.mark_children_dirty(key(1));
        schedule.mark_children_dirty(key(2));
        schedule.mark_dirty(key(2));
        schedule.mark_dirty(key(3));
        schedule.mark_children_dirty(key(3));
        let taken = schedule.take_dirty(256);
        assert_eq!(taken, DirtySet { whole: vec![key(2), key(3)], lists: vec![key(1)] });
        schedule.put_back(taken);
        assert_eq!(schedule.take_dirty(256).lists, [key(1)]);
    }

    #[test]
    fn a_fence_is_reached_while_hints_keep_coming() {
        let mut schedule = Schedule::new(Pace::default(), Instant::now());
        schedule.mark_dirty(key(1));
        schedule.mark_dirty(key(2));
        let fence = schedule.stamp();
        schedule.mark_dirty(key(3));
        assert!(!schedule.taken(fence));
        schedule.take_dirty(2);
        schedule.mark_dirty(key(1));
        assert!(schedule.taken(fence));
        assert!(schedule.has_dirty());
    }

    #[test]
    fn an_interest_is_read_less_and_less_often_until_something_is_found() {
        let start = Instant::now();
        let mut schedule = Schedule::new(Pace { sweep_every: ms(60_000), ..Pace::default() }, start);
        schedule.watch(9, vec![key(1)], start);
        let mut now = start;
        let mut gaps = Vec::new();
        for round in 0..6 {
            gaps.push(schedule.next_due() - now);
            now = schedule.next_due();
            assert_eq!(schedule.due(now), Some(Due::Reread(9)));
            schedule.reread(9, round == 4, now);
        }
        assert_eq!(gaps, [ms(50), ms(100), ms(200), ms(250), ms(250), ms(50)]);
        schedule.unwatch(9);
        assert_eq!(schedule.due(now), None);
    }

    #[test]
    fn at_another_pace_what_is_watched_and_hinted_at_stays() {
        let start = Instant::now();
        let mut schedule = Schedule::new(Pace::default(), start);
        schedule.watch(9, vec![key(1)], start);
        schedule.mark_dirty(key(2));
        schedule.pace(Pace { watch_last: ms(60), sweep_every: ms(20), ..Pace::default() }, start);
        assert!(schedule.has_dirty());
        assert_eq!(schedule.next_due(), start + ms(20));
        assert_eq!(schedule.due(start + ms(50)), Some(Due::Reread(9)));
        schedule.reread(9, false, start + ms(50));
        schedule.sweep(Vec::new, start + ms(100));
        assert_eq!(schedule.next_due(), start + ms(110));
    }

    #[test]
    fn a_large_interest_is_read_in_turns() {
        let start = Instant::now();
        let mut schedule = Schedule::new(Pace { watch_size: 2, ..Pace::default() }, start);
        schedule.watch(1, vec![ElementKey::APP], start);
        let all = vec![key(0), key(1), key(2)];
        assert_eq!(schedule.turn(1, all.clone()), [key(0), key(1)]);
        assert_eq!(schedule.turn(1, all.clone()), [key(2), key(0)]);
        assert_eq!(schedule.turn(1, all), [key(1), key(2)]);
    }

    #[test]
    fn the_sweep_goes_round_everything_a_few_at_a_time() {
        let start = Instant::now();
        let mut schedule = Schedule::new(Pace { sweep_size: 2, ..Pace::default() }, start);
        assert_eq!(schedule.due(start), None);
        let mut now = start + ms(500);
        assert_eq!(schedule.due(now), Some(Due::Sweep));
        let all = || vec![key(0), key(1), key(2)];
        assert_eq!(schedule.sweep(all, now), [key(0), key(1)]);
        assert_eq!(schedule.due(now), None);
        now += ms(500);
        assert_eq!(schedule.sweep(all, now), [key(2)]);
        assert_eq!(schedule.sweep(all, now), [key(0), key(1)]);
    }
}
