//! Rescans: they find what apps never announce. GTK 4 and Qt do not announce new rows, GTK 3 not those of list boxes,
//! GTK 4 not numbers, Qt not renamed items.
//!
//! Usually something else in the same window is announced: a focus, a name, a text. That marks the window, and its
//! containers are asked for their children only, one call each; those that differ are read as if they had been
//! announced. In Qt, which does not announce that an item was selected or that an entry of a menu was enabled, states are
//! read too. The pauses between rescans grow with what they cost.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use axd_protocol::Role;
use tracing::trace;

use crate::app::BusApp;
use crate::atspi::protocol::{ACCESSIBLE, body};
use crate::atspi::states::NativeStates;
use crate::atspi::toolkit::Toolkit;
use crate::read::geometry::window_of;
use crate::read::reader::Reader;
use axd_platform::mirror::Mirror;
use axd_platform::worker::{Progress, ReadStrategy, StepResult, Turn, WorkerState, now};
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
    marked: BTreeSet<ElementKey>,
    /// When the marked windows are rescanned.
    next_marked: Instant,
    next_periodic: Instant,
    /// The next rescan starts no sooner than this.
    not_before: Instant,
    /// How many rescans are done.
    completed: u64,
}

impl Default for Rescan {
    fn default() -> Rescan {
        Rescan::new(now())
    }
}

impl Rescan {
    /// No window is marked.
    fn new(now: Instant) -> Rescan {
        Rescan {
            marked: BTreeSet::new(),
            next_marked: now,
            next_periodic: now + MIN_PERIOD,
            not_before: now,
            completed: 0,
        }
    }

    /// Has the window of an element rescanned, because it announced something or was acted on, if the toolkit needs that.
    pub fn mark_window_of(&mut self, key: ElementKey, toolkit: Toolkit, mirror: &Mirror) {
        if toolkit.needs_rescan() {
            self.mark_window(window_of(key, mirror).unwrap_or(ElementKey::APP), now());
        }
    }

    fn mark_window(&mut self, window: ElementKey, now: Instant) {
        if self.marked.is_empty() {
            self.next_marked = (now + DEBOUNCE).max(self.not_before);
        }
        self.marked.insert(window);
    }

    /// Has the whole app rescanned. Returns the number of the rescan that will cover it.
    fn mark_all(&mut self, now: Instant) -> u64 {
        self.mark_window(ElementKey::APP, now);
        self.completed + 1
    }

    /// Whether the rescan of this number is done.
    fn is_done(&self, number: u64) -> bool {
        self.completed >= number
    }

    /// Whether a rescan is due; at once, if somebody waits for it.
    fn is_due(&self, now: Instant, waited_for: bool) -> bool {
        self.due() <= now || (waited_for && !self.marked.is_empty())
    }

    /// When the next rescan is due.
    fn due(&self) -> Instant {
        if self.marked.is_empty() { self.next_periodic } else { self.next_marked.min(self.next_periodic) }
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
        self.next_marked = self.next_marked.max(self.not_before);
        if whole {
            self.next_periodic = now + ((now - began) * PERIODIC_TIME_SHARE).clamp(MIN_PERIOD, MAX_PERIOD);
        }
    }
}

impl ReadStrategy<BusApp> for Rescan {
    async fn step(&mut self, turn: Turn<'_>, app: &mut BusApp, state: &mut WorkerState) -> StepResult {
        let did_work = match turn {
            _ if !app.reader.toolkit.needs_rescan() => false,
            Turn::Idle if self.is_due(now(), state.fences.any_passed()) => {
                let began = now();
                let windows = self.start(began);
                let outcome = app.compare(state, &state.mirror.below(&windows)).await;
                self.finish(began, windows.contains(&ElementKey::APP), now());
                outcome.map(|_| true)?
            }
            Turn::Interest(keys) => app.compare(state, keys).await?,
            Turn::First { .. } | Turn::Idle | Turn::Routine => false,
        };
        Ok(if did_work { Progress::Made } else { Progress::None })
    }

    fn next_due(&self, app: &BusApp) -> Option<Instant> {
        app.reader.toolkit.needs_rescan().then(|| self.due())
    }

    /// A fence waits for a rescan that begins after it.
    fn flush(&mut self, app: &BusApp, state: &mut WorkerState, rescan: &mut Option<u64>) -> bool {
        if state.is_complete() && app.reader.toolkit.needs_rescan() {
            rescan.get_or_insert_with(|| self.mark_all(now()));
        }
        rescan.is_none_or(|number| self.is_done(number))
    }
}

impl BusApp {
    /// Marks those elements dirty that differ from what was last read, unannounced. True if there are any.
    async fn compare(&mut self, state: &mut WorkerState, keys: &[ElementKey]) -> Result<bool, Failure> {
        Ok(self.compare_children(state, keys).await? | self.compare_states(state, keys).await?)
    }

    /// Marks those elements dirty whose children, number or name differ from what was last read. True if there are any.
    async fn compare_children(
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

    /// Marks those elements dirty whose states differ from what was last read. True if there are any.
    async fn compare_states(&mut self, state: &mut WorkerState, all: &[ElementKey]) -> Result<bool, Failure> {
        if !self.reader.toolkit.changes_states_silently() {
            return Ok(false);
        }
        let others = self.reader.with_other_states(all).await?;
        let any = !others.is_empty();
        state.mark_known_dirty(others);
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

impl Reader {
    /// Those of the elements whose states differ from what was last read.
    async fn with_other_states(&self, keys: &[ElementKey]) -> Result<Vec<ElementKey>, Failure> {
        let known: Vec<(ElementKey, NativeStates)> = keys
            .iter()
            .filter_map(|key| Some((*key, self.elements.last(*key)?.silent.as_ref()?.native_states?)))
            .collect();
        let calls = known.iter().map(|(key, _)| self.build_call(*key, ACCESSIBLE, "GetState", &()));
        let answers = self.call_all(calls.collect()).await?;
        let now = |answer| body::<Vec<u32>>(answer).map(|words| NativeStates::from_words(&words));
        let others = known.iter().zip(&answers).filter(|((_, was), answer)| now(answer) != Some(*was));
        Ok(others.map(|((key, _), _)| *key).collect())
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
    fn one_rescan_covers_events_that_come_together_and_the_next_keeps_its_distance() {
        let start = Instant::now();
        let mut rescan = Rescan::new(start);
        assert!(!rescan.is_due(start, true), "nothing is marked");
        rescan.mark_window(ElementKey(3), start);
        rescan.mark_window(ElementKey(4), start + ms(10));
        assert!(!rescan.is_due(start + ms(10), false));
        assert!(rescan.is_due(start + ms(10), true));
        assert!(rescan.is_due(start + ms(20), false));
        assert_eq!(rescan.start(start + ms(20)), [ElementKey(3), ElementKey(4)]);
        rescan.finish(start + ms(20), false, start + ms(70));
        rescan.mark_window(ElementKey(3), start + ms(71));
        assert_eq!(rescan.due(), start + ms(220));
    }

    #[test]
    fn a_rescan_for_a_fence_is_done_when_one_that_began_after_it_is() {
        let start = Instant::now();
        let mut rescan = Rescan::new(start);
        let number = rescan.mark_all(start);
        assert!(!rescan.is_done(number));
        assert_eq!(rescan.start(start), [ElementKey::APP]);
        rescan.finish(start, true, start);
        assert!(rescan.is_done(number));
    }
}
