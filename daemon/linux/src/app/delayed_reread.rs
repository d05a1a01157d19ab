//! Reads new elements once more: apps often announce them before they are complete, an app that has just started
//! announces nothing yet, and some toolkits never announce much. A new element is read again when the app is at rest.
//! In an app that never rests it is read after [`FIRST_REREAD_DELAY`] and once more after [`LAST_REREAD_DELAY`], unless
//! it announces all of its changes itself.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use crate::app::BusApp;
use axd_platform::ElementKey;
use axd_platform::worker::{Progress, ReadStrategy, StepResult, Turn, WorkerState, now};

/// An app is at rest when it has announced nothing for so long.
const REST_TIME: Duration = Duration::from_millis(250);
/// When a new element is read again in an app that is never at rest: for the first time, and for the last.
const FIRST_REREAD_DELAY: Duration = Duration::from_millis(700);
const LAST_REREAD_DELAY: Duration = Duration::from_secs(4);
/// How many elements are read at a time.
const BATCH_SIZE: usize = 48;
/// The whole cache is loaded first if at least so many elements are due, and at least one in [`CACHE_CHECK_SHARE`] of
/// all: reading one element takes about that many times as long as having it listed with all others.
const MIN_FOR_CACHE_CHECK: usize = 64;
const CACHE_CHECK_SHARE: usize = 8;
/// How many elements are queued at most; the sweep reads the others.
const MAX_QUEUED: usize = 8192;

/// Elements, each with the time its delay counts from, in the order of those times.
type Queue = VecDeque<(Instant, ElementKey)>;

/// The elements to read once more.
#[derive(Debug, Default)]
pub(crate) struct DelayedRereads {
    /// Elements that wait for their first reread, with when they appeared.
    first: Queue,
    /// Elements that wait for their last reread, with when they appeared.
    last: Queue,
    /// Elements that are read again only when the app is at rest.
    at_rest_only: VecDeque<ElementKey>,
    /// Elements to read now, with since when.
    due: Queue,
    due_keys: HashSet<ElementKey>,
    /// Whether the cache has been compared with `due`, so that only elements that differ are left in it.
    filtered: bool,
    /// When the app last announced something.
    last_event: Option<Instant>,
    /// Elements whose change follows another one, with when to read them.
    follow_ups: Queue,
    /// Until when a dialog may follow a focus that moved. Fences wait for that.
    dialog_may_open_until: Option<Instant>,
}

impl DelayedRereads {
    /// Queues a new element.
    pub fn add(&mut self, key: ElementKey, now: Instant) {
        if self.make_room() {
            self.first.push_back((now, key));
        }
        self.last_event = Some(now);
    }

    /// Queues a new element that announces all of its changes: it is read once more at rest only.
    fn add_at_rest_only(&mut self, key: ElementKey, now: Instant) {
        if self.make_room() {
            self.at_rest_only.push_back(key);
        }
        self.last_event = Some(now);
    }

    /// Drops the oldest element that announces all of its changes if the queues are full. False if there is none to
    /// drop.
    fn make_room(&mut self) -> bool {
        self.len() < MAX_QUEUED || self.at_rest_only.pop_front().is_some()
    }

    /// How many elements wait for a reread.
    fn len(&self) -> usize {
        self.first.len() + self.last.len() + self.at_rest_only.len()
    }

    /// Queues an element that is expected to change a little later, unannounced.
    pub fn add_follow_up(&mut self, key: ElementKey, now: Instant) {
        if self.follow_ups.len() < MAX_QUEUED {
            self.follow_ups.push_back((now + FIRST_REREAD_DELAY, key));
        }
    }

    /// Has fences wait until then, because a dialog may open, unannounced until it is there.
    pub fn expect_dialog(&mut self, until: Option<Instant>) {
        self.dialog_may_open_until = until;
    }

    /// The app announced something, so it is not at rest.
    pub fn on_event(&mut self, now: Instant) {
        if self.len() > 0 {
            self.last_event = Some(now);
        }
    }

    /// Drops elements that are gone.
    pub fn retain(&mut self, is_there: impl Fn(ElementKey) -> bool) {
        for queue in [&mut self.first, &mut self.last, &mut self.due, &mut self.follow_ups] {
            queue.retain(|(_, key)| is_there(*key));
        }
        self.at_rest_only.retain(|key| is_there(*key));
        self.due_keys.retain(|key| is_there(*key));
        self.filtered &= !self.due.is_empty();
    }

    /// When the next elements are due.
    fn elements_due(&self) -> Option<Instant> {
        if let Some((since, _)) = self.due.front() {
            // Many elements wait for the comparison with the cache, for a limited time.
            let patience = if !self.filtered && self.due.len() >= MIN_FOR_CACHE_CHECK {
                REST_TIME
            } else {
                Duration::ZERO
            };
            return Some(*since + patience);
        }
        let first = self.first.front().map(|(since, _)| *since + FIRST_REREAD_DELAY);
        let last = self.last.front().map(|(since, _)| *since + LAST_REREAD_DELAY);
        let calm = self.last_event.map(|moved| moved + REST_TIME).filter(|_| self.len() > 0);
        let later = self.follow_ups.front().map(|(due, _)| *due);
        [first, last, calm, later].into_iter().flatten().min()
    }

    /// The elements that are due, if they are so many among `all` of the app that it is cheaper to compare them with
    /// the cache first.
    fn cache_check_candidates(&mut self, all: usize, now: Instant) -> Option<Vec<ElementKey>> {
        self.needs_cache_check(all, now).then(|| self.due.iter().map(|(_, key)| *key).collect())
    }

    /// Whether so many elements are due that the cache should be compared first. An app that announces without pause
    /// leaves no time for that; after [`REST_TIME`] they are read as if they were few.
    fn needs_cache_check(&mut self, all: usize, now: Instant) -> bool {
        self.collect_due(now);
        let count = self.due.len();
        let is_early = self.due.front().is_some_and(|(since, _)| now < *since + REST_TIME);
        is_early && !self.filtered && count >= MIN_FOR_CACHE_CHECK && count * CACHE_CHECK_SHARE >= all
    }

    /// Keeps only these of the elements that are due: the others are as they were.
    fn keep_due(&mut self, worth: &HashSet<ElementKey>) {
        self.due.retain(|(_, key)| worth.contains(key));
        self.due_keys.retain(|key| worth.contains(key));
        self.filtered = !self.due.is_empty();
    }

    /// Takes up to [`BATCH_SIZE`] elements that are due.
    fn take(&mut self, now: Instant) -> Vec<ElementKey> {
        self.collect_due(now);
        let count = BATCH_SIZE.min(self.due.len());
        let taken: Vec<ElementKey> = self.due.drain(..count).map(|(_, key)| key).collect();
        for key in &taken {
            self.due_keys.remove(key);
        }
        self.filtered &= !self.due.is_empty();
        taken
    }

    fn collect_due(&mut self, now: Instant) {
        if self.len() > 0 && self.last_event.is_some_and(|moved| moved + REST_TIME <= now) {
            let all = self.first.drain(..).chain(self.last.drain(..)).map(|(_, key)| key);
            for key in all.chain(self.at_rest_only.drain(..)).collect::<Vec<_>>() {
                self.push_due(key, now);
            }
        }
        while let Some((_, key)) = pop_due(&mut self.follow_ups, Duration::ZERO, now) {
            self.push_due(key, now);
        }
        while let Some((since, key)) = pop_due(&mut self.first, FIRST_REREAD_DELAY, now) {
            self.last.push_back((since, key));
            self.push_due(key, now);
        }
        while let Some((_, key)) = pop_due(&mut self.last, LAST_REREAD_DELAY, now) {
            self.push_due(key, now);
        }
    }

    fn push_due(&mut self, key: ElementKey, now: Instant) {
        if self.due_keys.insert(key) {
            self.due.push_back((now, key));
        }
    }
}

impl ReadStrategy<BusApp> for DelayedRereads {
    async fn step(&mut self, turn: Turn<'_>, app: &mut BusApp, state: &mut WorkerState) -> StepResult {
        let all = app.reader.handles.len();
        match turn {
            Turn::Idle => {
                let Some(many) = self.cache_check_candidates(all, now()) else { return Ok(Progress::None) };
                let changed = app.reader.changed_in_cache(&many, &state.mirror).await?;
                self.keep_due(&changed.unwrap_or_else(|| many.into_iter().collect()));
                Ok(Progress::Made)
            }
            Turn::Routine => {
                self.dialog_may_open_until = self.dialog_may_open_until.filter(|until| *until > now());
                let taken = if self.needs_cache_check(all, now()) { Vec::new() } else { self.take(now()) };
                Ok(if taken.is_empty() { Progress::None } else { Progress::Read(taken) })
            }
            Turn::First { .. } | Turn::Interest(_) => Ok(Progress::None),
        }
    }

    fn next_due(&self, _: &BusApp) -> Option<Instant> {
        [self.elements_due(), self.dialog_may_open_until].into_iter().flatten().min()
    }

    fn flush(&mut self, _: &BusApp, _: &mut WorkerState, _: &mut Option<u64>) -> bool {
        self.dialog_may_open_until.is_none_or(|until| until <= now())
    }

    fn on_new_elements(&mut self, new: &[ElementKey], app: &BusApp, state: &WorkerState) {
        for key in new {
            // An app that has just started does not announce anything yet.
            let role = app.reader.elements.role(*key).filter(|_| state.is_complete());
            match role.is_some_and(|role| app.reader.toolkit.announces_all_of(role)) {
                true => self.add_at_rest_only(*key, now()),
                false => self.add(*key, now()),
            }
        }
    }
}

/// Takes the first element of a queue if `wait` has passed since its time.
fn pop_due(queue: &mut Queue, wait: Duration, now: Instant) -> Option<(Instant, ElementKey)> {
    queue.front().filter(|(time, _)| *time + wait <= now)?;
    queue.pop_front()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(rereads: &mut DelayedRereads, now: Instant) -> usize {
        std::iter::from_fn(|| Some(rereads.take(now).len()).filter(|count| *count > 0)).sum()
    }

    #[test]
    fn newcomers_are_read_once_more_when_the_app_is_at_rest_a_few_at_a_time() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        (0..60).for_each(|n| rereads.add(ElementKey(n), start));
        assert_eq!(rereads.elements_due(), Some(start + REST_TIME));
        rereads.on_event(start + REST_TIME / 2);
        assert_eq!(rereads.take(start + REST_TIME), []);
        let calm = start + REST_TIME + REST_TIME / 2;
        assert_eq!(rereads.take(calm).len(), BATCH_SIZE);
        assert!(rereads.elements_due().is_some_and(|due| due <= calm));
        assert_eq!(all(&mut rereads, calm), 60 - BATCH_SIZE);
        assert_eq!(rereads.elements_due(), None);
    }

    #[test]
    fn in_an_app_that_is_never_at_rest_each_is_read_twice() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        rereads.add(ElementKey(7), start);
        let mut reads = Vec::new();
        for step in 1..100_u32 {
            let now = start + REST_TIME / 2 * step;
            rereads.on_event(now);
            if !rereads.take(now).is_empty() {
                reads.push(now - start);
            }
        }
        assert_eq!(reads.len(), 2);
        assert!(
            reads[0] >= FIRST_REREAD_DELAY
                && reads[0] < FIRST_REREAD_DELAY + REST_TIME
                && reads[1] >= LAST_REREAD_DELAY
                && reads[1] < LAST_REREAD_DELAY + REST_TIME
        );
        assert_eq!(rereads.elements_due(), None);
    }

    #[test]
    fn of_many_only_those_are_read_that_are_worth_it() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        (0..100).for_each(|n| rereads.add(ElementKey(n), start));
        assert_eq!(rereads.cache_check_candidates(100, start), None);
        let calm = start + REST_TIME;
        assert_eq!(rereads.cache_check_candidates(100, calm).map(|all| all.len()), Some(100));
        rereads.keep_due(&(0..70).map(ElementKey).collect());
        assert_eq!(rereads.cache_check_candidates(100, calm), None, "once is enough");
        assert_eq!(all(&mut rereads, calm), 70);
        rereads.add(ElementKey(7), calm);
        assert_eq!(rereads.cache_check_candidates(100, calm + REST_TIME), None, "a few are read at once");
        assert_eq!(rereads.take(calm + REST_TIME), [ElementKey(7)]);
    }

    #[test]
    fn a_few_among_very_many_are_read_without_asking_for_everything() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        (0..100).for_each(|n| rereads.add(ElementKey(n), start));
        let calm = start + REST_TIME;
        assert_eq!(rereads.cache_check_candidates(100 * CACHE_CHECK_SHARE + 1, calm), None);
        assert_eq!(rereads.take(calm).len(), BATCH_SIZE);
    }

    /// Where events keep coming, many elements are never compared with the cache; whoever waits
    /// for them must neither wait for ever nor find them due again and again.
    #[test]
    fn many_that_nobody_looks_at_are_read_after_a_while_and_not_due_before() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        (0..100).for_each(|n| rereads.add(ElementKey(n), start));
        rereads.on_event(start + FIRST_REREAD_DELAY);
        let aged = start + FIRST_REREAD_DELAY;
        assert!(rereads.needs_cache_check(100, aged));
        let due = rereads.elements_due();
        assert_eq!(due, Some(aged + REST_TIME));
        rereads.on_event(aged + REST_TIME);
        assert!(!rereads.needs_cache_check(100, aged + REST_TIME));
        assert_eq!(all(&mut rereads, aged + REST_TIME), 100);
    }

    #[test]
    fn what_is_gone_is_never_read_again() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        (0..4).for_each(|n| rereads.add(ElementKey(n), start));
        rereads.add_follow_up(ElementKey(8), start);
        rereads.retain(|key| key == ElementKey(3));
        rereads.on_event(start + FIRST_REREAD_DELAY);
        assert_eq!(rereads.take(start + FIRST_REREAD_DELAY), [ElementKey(3)]);
        rereads.retain(|_| false);
        assert_eq!(rereads.elements_due(), None);
        rereads.add(ElementKey(5), start + LAST_REREAD_DELAY);
        assert_eq!(rereads.cache_check_candidates(1, start + LAST_REREAD_DELAY + REST_TIME), None);
        rereads.retain(|_| false);
        assert_eq!(
            (rereads.take(start + LAST_REREAD_DELAY + REST_TIME), rereads.elements_due()),
            (vec![], None)
        );
    }

    #[test]
    fn what_follows_something_else_is_read_when_it_will_have() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        rereads.add_follow_up(ElementKey(7), start);
        assert_eq!(rereads.take(start + REST_TIME), []);
        assert_eq!(rereads.take(start + FIRST_REREAD_DELAY), [ElementKey(7)]);
        assert_eq!(rereads.elements_due(), None);
    }

    #[test]
    fn rest_comes_before_the_last_reading() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        rereads.add(ElementKey(7), start);
        rereads.on_event(start + FIRST_REREAD_DELAY);
        assert_eq!(rereads.take(start + FIRST_REREAD_DELAY), [ElementKey(7)]);
        assert_eq!(rereads.take(start + FIRST_REREAD_DELAY + REST_TIME), [ElementKey(7)]);
        assert_eq!(rereads.elements_due(), None);
    }

    #[test]
    fn what_announces_everything_is_read_once_more_at_rest_and_not_before() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        rereads.add_at_rest_only(ElementKey(7), start);
        let mut now = start;
        while now < start + 2 * LAST_REREAD_DELAY {
            now += REST_TIME / 2;
            rereads.on_event(now);
            assert_eq!(rereads.take(now), []);
        }
        assert_eq!(rereads.elements_due(), Some(now + REST_TIME));
        assert_eq!(rereads.take(now + REST_TIME), [ElementKey(7)]);
        assert_eq!(rereads.elements_due(), None);
    }

    #[test]
    fn of_too_many_the_oldest_that_announce_everything_are_let_go() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        let most = MAX_QUEUED as u64;
        (0..most).for_each(|n| rereads.add_at_rest_only(ElementKey(n), start));
        rereads.add(ElementKey(most), start);
        rereads.add_at_rest_only(ElementKey(most + 1), start);
        assert_eq!(rereads.len(), MAX_QUEUED);
        assert_eq!(rereads.take(start + REST_TIME)[..2], [ElementKey(most), ElementKey(2)]);
        let mut rereads = DelayedRereads::default();
        (0..=most).for_each(|n| rereads.add(ElementKey(n), start));
        assert_eq!(rereads.len(), MAX_QUEUED);
    }

    #[test]
    fn at_rest_those_that_were_never_reread_come_first_and_those_that_announce_everything_last() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        rereads.add(ElementKey(1), start);
        rereads.on_event(start + FIRST_REREAD_DELAY);
        assert_eq!(
            rereads.take(start + FIRST_REREAD_DELAY),
            [ElementKey(1)],
            "it waits for its last reread now"
        );
        let later = start + FIRST_REREAD_DELAY + REST_TIME / 2;
        rereads.add_at_rest_only(ElementKey(2), later);
        rereads.add(ElementKey(3), later);
        rereads.add_follow_up(ElementKey(4), later - FIRST_REREAD_DELAY);
        assert_eq!(rereads.take(later), [ElementKey(4)], "a follow-up does not wait for rest");
        assert_eq!(rereads.take(later + REST_TIME), [3, 1, 2].map(ElementKey));
        assert_eq!(rereads.elements_due(), None);
    }

    #[test]
    fn an_element_that_is_due_for_two_reasons_is_read_once() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        rereads.add(ElementKey(7), start);
        rereads.add_follow_up(ElementKey(7), start);
        rereads.on_event(start + FIRST_REREAD_DELAY);
        assert_eq!(rereads.take(start + FIRST_REREAD_DELAY), [ElementKey(7)]);
        assert_eq!(rereads.take(start + FIRST_REREAD_DELAY), []);
    }

    #[test]
    fn what_becomes_due_while_others_are_waits_behind_them() {
        let start = Instant::now();
        let mut rereads = DelayedRereads::default();
        (0..60).for_each(|n| rereads.add(ElementKey(n), start));
        rereads
            .add_follow_up(ElementKey(99), start + REST_TIME - FIRST_REREAD_DELAY + Duration::from_millis(1));
        let rest = start + REST_TIME;
        assert_eq!(rereads.take(rest), (0..BATCH_SIZE as u64).map(ElementKey).collect::<Vec<_>>());
        let last: Vec<ElementKey> = (BATCH_SIZE as u64..60).chain([99]).map(ElementKey).collect();
        assert_eq!(rereads.take(rest + Duration::from_millis(1)), last);
    }
}
