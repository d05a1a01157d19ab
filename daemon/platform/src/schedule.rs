//! What a worker reads again, and when: dirty elements, interests, and the background sweep.
//!
//! The schedule is pure: it holds no handles and no clock. The worker passes in dirty elements and the time, and asks what to
//! read next. Dirty elements are a set, so a flood of events costs as much as there are elements, not as many as there are
//! events.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use super::ElementKey;

/// How often elements are read again.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The first interval between readings of an interest.
    pub watch_first: Duration,
    /// The longest such interval; each is twice the one before until a change is found.
    pub watch_last: Duration,
    /// The maximum number of elements in one such reading; a larger interest is read in turns.
    pub watch_size: usize,
    /// Whether the elements that are waited on are read in every turn, and only what is below them takes turns.
    pub watched_every_turn: bool,
    /// The interval between steps of the background sweep.
    pub sweep_every: Duration,
    /// The number of elements in one step of the sweep.
    pub sweep_size: usize,
}

impl Default for Pace {
    fn default() -> Pace {
        Pace {
            watch_first: Duration::from_millis(50),
            watch_last: Duration::from_millis(250),
            watch_size: 1024,
            watched_every_turn: false,
            sweep_every: Duration::from_millis(500),
            sweep_size: 32,
        }
    }
}

/// Work that is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// Read the elements of this interest again.
    Reread(u64),
    /// Read the next few elements of the sweep.
    Sweep,
}

/// Dirty elements.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirtySet {
    /// Elements to be read whole.
    pub whole: Vec<ElementKey>,
    /// Elements of which only the children are to be read.
    pub lists: Vec<ElementKey>,
}

/// What a worker has to read again, and when.
#[derive(Debug)]
pub struct Schedule {
    pace: Pace,
    /// Dirty elements, each with the stamp of the event that marked it first; `queue` has them in order.
    dirty: HashMap<ElementKey, u64>,
    queue: VecDeque<ElementKey>,
    /// Dirty elements of which only the children are to be read.
    lists: HashSet<ElementKey>,
    stamp: u64,
    watches: BTreeMap<u64, Watch>,
    sweep_due: Instant,
    /// The elements that are still to be read in this round of the sweep.
    round: VecDeque<ElementKey>,
}

#[derive(Debug)]
struct Watch {
    keys: Vec<ElementKey>,
    every: Duration,
    due: Instant,
    /// How far the last reading got in a large interest.
    turn: usize,
}

impl Schedule {
    /// An empty schedule; the first step of the sweep is one interval from now.
    pub fn new(pace: Pace, now: Instant) -> Schedule {
        Schedule {
            pace,
            dirty: HashMap::new(),
            queue: VecDeque::new(),
            lists: HashSet::new(),
            stamp: 0,
            watches: BTreeMap::new(),
            sweep_due: now + pace.sweep_every,
            round: VecDeque::new(),
        }
    }

    /// Changes the pace from now on.
    pub fn pace(&mut self, pace: Pace, now: Instant) {
        self.pace = pace;
        self.sweep_due = now + pace.sweep_every;
    }

    /// Marks an element dirty, so that it is read again. An element that is marked twice before it is read is read once.
    pub fn mark_dirty(&mut self, key: ElementKey) {
        self.lists.remove(&key);
        self.put(key);
    }

    /// Marks an element of which only the children changed: it is enough to list those.
    pub fn mark_children_dirty(&mut self, key: ElementKey) {
        if self.put(key) {
            self.lists.insert(key);
        }
    }

    /// Adds an element to the dirty set. True if it was not in it.
    fn put(&mut self, key: ElementKey) -> bool {
        self.stamp += 1;
        let Entry::Vacant(entry) = self.dirty.entry(key) else { return false };
        entry.insert(self.stamp);
        self.queue.push_back(key);
        true
    }

    /// The latest stamp that was given out.
    pub fn stamp(&self) -> u64 {
        self.stamp
    }

    /// Whether every dirty element up to `stamp` has been taken. They are taken in order, so a fence is reached even while
    /// events keep coming.
    pub fn taken(&self, stamp: u64) -> bool {
        self.queue.front().is_none_or(|key| self.dirty[key] > stamp)
    }

    /// Whether the element is dirty and not taken yet.
    pub fn is_dirty(&self, key: ElementKey) -> bool {
        self.dirty.contains_key(&key)
    }

    /// Whether any element is dirty.
    pub fn has_dirty(&self) -> bool {
        !self.queue.is_empty()
    }

    /// Takes up to `limit` dirty elements, the oldest first.
    pub fn take_dirty(&mut self, limit: usize) -> DirtySet {
        let count = limit.min(self.queue.len());
        let mut taken = DirtySet::default();
        for key in self.queue.drain(..count) {
            self.dirty.remove(&key);
            match self.lists.remove(&key) {
                true => taken.lists.push(key),
                false => taken.whole.push(key),
            }
        }
        taken
    }

    /// Puts back elements that were taken and could not be read.
    pub fn put_back(&mut self, taken: DirtySet) {
        taken.whole.into_iter().for_each(|key| self.mark_dirty(key));
        taken.lists.into_iter().for_each(|key| self.mark_children_dirty(key));
    }

    /// Starts an interest in these elements.
    pub fn watch(&mut self, interest: u64, keys: Vec<ElementKey>, now: Instant) {
        let every = self.pace.watch_first;
        self.watches.insert(interest, Watch { keys, every, due: now + every, turn: 0 });
    }

    /// Ends an interest.
    pub fn unwatch(&mut self, interest: u64) {
        self.watches.remove(&interest);
    }

    /// The elements of an interest.
    pub fn watched(&self, interest: u64) -> &[ElementKey] {
        self.watches.get(&interest).map_or(&[], |watch| &watch.keys)
    }

    /// Picks from `all` (the interest and all below it) what to read this time: everything, or the next turn of a large
    /// interest. `most` limits the turn further.
    pub fn turn(&mut self, interest: u64, mut all: Vec<ElementKey>, most: usize) -> Vec<ElementKey> {
        let Some(watch) = self.watches.get_mut(&interest) else { return Vec::new() };
        let size = self.pace.watch_size.min(most);
        if all.len() <= size {
            return all;
        }
        let mut turn = Vec::with_capacity(size);
        if self.pace.watched_every_turn {
            let watched: HashSet<ElementKey> = watch.keys.iter().copied().take(size).collect();
            turn.extend(all.iter().copied().filter(|key| watched.contains(key)));
            all.retain(|key| !watched.contains(key));
        }
        let (size, count) = (size.saturating_sub(turn.len()), all.len());
        let from = watch.turn % count.max(1);
        watch.turn = from + size;
        turn.extend(all[from..].iter().chain(&all[..from]).take(size));
        turn
    }

    /// Records that an interest was read; `found` says whether anything had changed without an event.
    pub fn reread(&mut self, interest: u64, found: bool, now: Instant) {
        let pace = self.pace;
        if let Some(watch) = self.watches.get_mut(&interest) {
            watch.every = if found { pace.watch_first } else { (watch.every * 2).min(pace.watch_last) };
            watch.due = now + watch.every;
        }
    }

    /// The next elements of the sweep. A new round begins with `all`, which is called only then.
    pub fn sweep(&mut self, all: impl FnOnce() -> Vec<ElementKey>, now: Instant) -> Vec<ElementKey> {
        if self.round.is_empty() {
            self.round = all().into();
        }
        self.sweep_due = now + self.pace.sweep_every;
        let count = self.pace.sweep_size.min(self.round.len());
        self.round.drain(..count).collect()
    }

    /// Waits another interval before the next step of the sweep.
    pub fn postpone_sweep(&mut self, now: Instant) {
        self.sweep_due = now + self.pace.sweep_every;
    }

    /// What is due now, interests first.
    pub fn due(&self, now: Instant) -> Option<Due> {
        let late =
            self.watches.iter().filter(|(_, watch)| watch.due <= now).min_by_key(|(_, watch)| watch.due);
        match late {
            Some((interest, _)) => Some(Due::Reread(*interest)),
            None => (self.sweep_due <= now).then_some(Due::Sweep),
        }
    }

    /// When something will be due next.
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
    fn a_flood_of_events_of_one_element_is_one_reading() {
        let mut schedule = Schedule::new(Pace::default(), Instant::now());
        for _ in 0..10_000 {
            schedule.mark_dirty(key(7));
        }
        assert_eq!(schedule.take_dirty(256).whole, [key(7)]);
        assert!(!schedule.has_dirty());
    }

    #[test]
    fn an_element_of_which_more_than_the_children_changed_is_read_whole() {
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
    fn a_fence_is_reached_while_events_keep_coming() {
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
    fn at_another_pace_interests_and_dirty_elements_stay() {
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
        assert_eq!(schedule.turn(1, all.clone(), usize::MAX), [key(0), key(1)]);
        assert_eq!(schedule.turn(1, all.clone(), usize::MAX), [key(2), key(0)]);
        assert_eq!(schedule.turn(1, all, usize::MAX), [key(1), key(2)]);
    }

    #[test]
    fn what_is_waited_on_can_be_read_in_every_turn_of_a_large_interest() {
        let start = Instant::now();
        let pace = Pace { watch_size: 3, watched_every_turn: true, ..Pace::default() };
        let mut schedule = Schedule::new(pace, start);
        schedule.watch(1, vec![key(7)], start);
        let all = vec![key(7), key(1), key(2), key(3), key(4)];
        assert_eq!(schedule.turn(1, all.clone(), usize::MAX), [key(7), key(1), key(2)]);
        assert_eq!(schedule.turn(1, all.clone(), usize::MAX), [key(7), key(3), key(4)]);
        assert_eq!(schedule.turn(1, all.clone(), 2), [key(7), key(1)]);
        assert_eq!(schedule.turn(1, all, 2), [key(7), key(2)]);
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
