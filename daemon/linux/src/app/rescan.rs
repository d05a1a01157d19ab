//! Rescans: they find what apps never announce. GTK 4 and Qt do not announce new rows, GTK 3 not those of list boxes,
//! GTK 4 not numbers, Qt not renamed items.
//!
//! Usually something else in the same window is announced: a focus, a name, a text. That marks the window, and its
//! containers are asked for their children only, one call each; those that differ are read as if they had been
//! announced. The pauses between rescans grow with what they cost.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use axd_protocol::Role;
use tracing::trace;

use crate::app::BusApp;
use axd_platform::mirror::Mirror;
use axd_platform::worker::{WorkerState, now};
use axd_platform::{ElementKey, Failure};

/// The pause between an event and the rescan of its window: one cause often leads to several events.
const DEBOUNCE: Duration = Duration::from_millis(20);
/// Rescans after events take at most one in so many parts of the time.
const EVENT_TIME_SHARE: u32 = 4;
/// How often an app is rescanned without any event: the less it costs the more often, within these bounds.
const MIN_PERIOD: Duration = Duration::from_secs(1);
const MAX_PERIOD: Duration = Duration::from_secs(10);
/// Periodic rescans take one in so many parts of the time.
const PERIODIC_TIME_SHARE: u32 = 50;

/// When to rescan which windows.
#[derive(Debug)]
pub(crate) struct Rescan {
    /// Whether the app's toolkit needs rescans.
    pub enabled: bool,
    marked: BTreeSet<ElementKey>,
    due: Instant,
    next_periodic: Instant,
    /// The next rescan starts no sooner than this.
    not_before: Instant,
    /// How many rescans are done.
    completed: u64,
}

impl Rescan {
    /// No window is marked.
    pub fn new(now: Instant) -> Rescan {
        Rescan {
            enabled: false,
            marked: BTreeSet::new(),
            due: now,
            next_periodic: now + MIN_PERIOD,
            not_before: now,
            completed: 0,
        }
    }

    /// Has this window rescanned, because of an event in it.
    pub fn mark_window(&mut self, window: ElementKey, now: Instant) {
        if self.marked.is_empty() {
            self.due = (now + DEBOUNCE).max(self.not_before);
        }
        self.marked.insert(window);
    }

    /// Has the whole app rescanned. Returns the number of the rescan that will cover it.
    pub fn mark_all(&mut self, now: Instant) -> u64 {
        self.mark_window(ElementKey::APP, now);
        self.completed + 1
    }

    /// Whether the rescan of this number is done.
    pub fn is_done(&self, number: u64) -> bool {
        self.completed >= number
    }

    /// Whether a rescan is due; at once, if somebody waits for it.
    pub fn is_due(&self, now: Instant, waited_for: bool) -> bool {
        let suspected = !self.marked.is_empty() && (waited_for || self.due <= now);
        self.enabled && (suspected || self.next_periodic <= now)
    }

    /// When the next rescan is due.
    pub fn next_due(&self) -> Option<Instant> {
        let suspected = (!self.marked.is_empty()).then_some(self.due);
        self.enabled.then(|| suspected.map_or(self.next_periodic, |due| due.min(self.next_periodic)))
    }

    /// Starts a rescan. Returns the elements whose subtrees it covers.
    fn start(&mut self, now: Instant) -> Vec<ElementKey> {
        if self.next_periodic <= now || self.marked.contains(&ElementKey::APP) {
            self.marked.clear();
            return vec![ElementKey::APP];
        }
        std::mem::take(&mut self.marked).into_iter().collect()
    }

    /// Finishes a rescan.
    fn finish(&mut self, began: Instant, whole: bool, now: Instant) {
        self.completed += 1;
        self.not_before = now + (now - began) * (EVENT_TIME_SHARE - 1);
        self.due = self.due.max(self.not_before);
        if whole {
            self.next_periodic = now + ((now - began) * PERIODIC_TIME_SHARE).clamp(MIN_PERIOD, MAX_PERIOD);
        }
    }
}

impl BusApp {
    /// Runs a rescan.
    pub(crate) async fn run_rescan(&mut self, state: &mut WorkerState) -> Result<(), Failure> {
        let began = now();
        let windows = self.rescan.start(began);
        let whole = windows.contains(&ElementKey::APP);
        let all = state.mirror.below(&windows);
        let mut outcome = self.compare_children(state, &all).await;
        if outcome.is_ok() {
            outcome = self.compare_states(state, &all).await;
        }
        self.rescan.finish(began, whole, now());
        outcome.map(|_| ())
    }

    /// Marks those elements dirty whose children, number or name differ from what was last read. True if there are any.
    pub(crate) async fn compare_children(
        &mut self,
        state: &mut WorkerState,
        all: &[ElementKey],
    ) -> Result<bool, Failure> {
        let asked: Vec<ElementKey> = all
            .iter()
            .copied()
            .filter(|key| state.mirror.has_sent(*key) && self.may_have_children(*key, &state.mirror))
            .collect();
        let found = self.reader.children(&asked).await?;
        let others = self.reader.changed_silently(all).await?;
        let mut any = !others.is_empty();
        for key in others {
            state.schedule.mark_dirty(key);
            let tabs = self.relations(state).tabs(key);
            tabs.into_iter().for_each(|tab| state.schedule.mark_dirty(tab));
        }
        for (key, children) in asked.iter().zip(found) {
            // A list of children that the mirror refused differs for ever; then it is only read more often.
            let differs = children.is_some_and(|children| children != state.mirror.children(*key));
            if differs {
                trace!(key = key.0, "its children are others, unannounced");
                state.schedule.mark_dirty(*key);
                any = true;
            }
        }
        Ok(any)
    }

    /// Whether the element has children or is of a kind that has: labels and the like are not worth a call.
    fn may_have_children(&self, key: ElementKey, mirror: &Mirror) -> bool {
        // A view that is read in part is left to the sweep.
        if self.reader.elements.is_partial(key) {
            return false;
        }
        let role = self.reader.elements.role(key);
        // Where most is announced, only the roles are checked that are not.
        if self.reader.toolkit.announces_children() {
            return role.is_some_and(|role| self.reader.toolkit.adds_children_silently(role));
        }
        !role.is_some_and(is_leaf) || !mirror.children(key).is_empty()
    }
}

fn is_leaf(role: Role) -> bool {
    use Role as R;
    matches!(
        role,
        R::Text
            | R::Image
            | R::Separator
            | R::ProgressBar
            | R::Meter
            | R::Slider
            | R::ScrollBar
            | R::Checkbox
            | R::Radio
            | R::Switch
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn suspicions_are_gathered_and_surveys_keep_their_distance() {
        let start = Instant::now();
        let mut rescan = Rescan::new(start);
        rescan.enabled = true;
        assert!(!rescan.is_due(start, true));
        rescan.mark_window(ElementKey(3), start);
        rescan.mark_window(ElementKey(4), start + ms(10));
        assert!(!rescan.is_due(start + ms(10), false));
        assert!(rescan.is_due(start + ms(10), true));
        assert!(rescan.is_due(start + ms(20), false));
        assert_eq!(rescan.start(start + ms(20)), [ElementKey(3), ElementKey(4)]);
        rescan.finish(start + ms(20), false, start + ms(70));
        rescan.mark_window(ElementKey(3), start + ms(71));
        assert_eq!(rescan.next_due(), Some(start + ms(220)));
    }

    #[test]
    fn a_fence_waits_for_the_survey_that_began_after_it() {
        let start = Instant::now();
        let mut rescan = Rescan::new(start);
        let number = rescan.mark_all(start);
        assert!(!rescan.is_done(number));
        assert_eq!(rescan.start(start), [ElementKey::APP]);
        rescan.finish(start, true, start);
        assert!(rescan.is_done(number));
    }
}
