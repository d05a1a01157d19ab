//! Looking through windows for what nobody announced: GTK 4 and Qt never tell of new rows, GTK 3 not of those of list boxes,
//! GTK 4 not of numbers, Qt not of renamed items.
//!
//! Something else usually happens in the same window: a focus, a name, a text. That makes the window suspect, and
//! its containers are asked for their children only, one call each; what differs is then read like anything that
//! was announced. Surveys keep a distance from each other that grows with what they cost.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use axd_protocol::Role;
use tracing::trace;

use crate::app::BusApp;
use axd_platform::mirror::Mirror;
use axd_platform::worker::{WorkerState, now};
use axd_platform::{ElementKey, Failure};

/// The pause between a suspicion and its survey: what causes one event often causes several.
const PAUSE: Duration = Duration::from_millis(20);
/// The share of time surveys take at most is one in so many.
const SHARE: u32 = 4;
/// How often an app is looked through without any suspicion: the less it costs the oftener, within these bounds.
const SOONEST: Duration = Duration::from_secs(1);
const LATEST: Duration = Duration::from_secs(10);
/// The share of time that takes is one in so many.
const IDLE_SHARE: u32 = 50;

/// When to look through what.
#[derive(Debug)]
pub(crate) struct Survey {
    /// Whether the app is one that needs it.
    pub in_turns: bool,
    suspects: BTreeSet<ElementKey>,
    due: Instant,
    regular: Instant,
    /// Not before this.
    rested: Instant,
    /// How many surveys have been done.
    count: u64,
}

impl Survey {
    /// Nothing is suspect.
    pub fn new(now: Instant) -> Survey {
        Survey {
            in_turns: false,
            suspects: BTreeSet::new(),
            due: now,
            regular: now + SOONEST,
            rested: now,
            count: 0,
        }
    }

    /// Something happened in this window.
    pub fn suspect(&mut self, window: ElementKey, now: Instant) {
        if self.suspects.is_empty() {
            self.due = (now + PAUSE).max(self.rested);
        }
        self.suspects.insert(window);
    }

    /// Something may have happened anywhere. Answers the number of the survey that will tell.
    pub fn suspect_all(&mut self, now: Instant) -> u64 {
        self.suspect(ElementKey::APP, now);
        self.count + 1
    }

    /// Whether the survey of this number is done.
    pub fn done(&self, number: u64) -> bool {
        self.count >= number
    }

    /// Whether it is time; at once, if somebody waits for it.
    pub fn is_due(&self, now: Instant, waited_for: bool) -> bool {
        let suspected = !self.suspects.is_empty() && (waited_for || self.due <= now);
        self.in_turns && (suspected || self.regular <= now)
    }

    /// When it will be time.
    pub fn next_due(&self) -> Option<Instant> {
        let suspected = (!self.suspects.is_empty()).then_some(self.due);
        self.in_turns.then(|| suspected.map_or(self.regular, |due| due.min(self.regular)))
    }

    /// Begins a survey: what to look through.
    fn begin(&mut self, now: Instant) -> Vec<ElementKey> {
        if self.regular <= now || self.suspects.contains(&ElementKey::APP) {
            self.suspects.clear();
            return vec![ElementKey::APP];
        }
        std::mem::take(&mut self.suspects).into_iter().collect()
    }

    /// A survey is done.
    fn end(&mut self, began: Instant, whole: bool, now: Instant) {
        self.count += 1;
        self.rested = now + (now - began) * (SHARE - 1);
        self.due = self.due.max(self.rested);
        if whole {
            self.regular = now + ((now - began) * IDLE_SHARE).clamp(SOONEST, LATEST);
        }
    }
}

impl BusApp {
    /// Carries out a survey.
    pub(crate) async fn look_through(&mut self, state: &mut WorkerState) -> Result<(), Failure> {
        let began = now();
        let windows = self.survey.begin(began);
        let whole = windows.contains(&ElementKey::APP);
        let all = state.mirror.below(&windows);
        let mut outcome = self.compare_children(state, &all).await;
        if outcome.is_ok() {
            outcome = self.compare_states(state, &all).await;
        }
        self.survey.end(began, whole, now());
        outcome.map(|_| ())
    }

    /// Has those of the elements read again whose children, number or name are others now. True if there are any.
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
        let others = self.reader.altered(all).await?;
        let mut any = !others.is_empty();
        for key in others {
            state.schedule.mark_dirty(key);
            self.hint_tabs(key, state);
        }
        for (key, children) in asked.iter().zip(found) {
            // Claims that were not believed make a list differ for ever; then it is only read once more often.
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
        // Not all of very many at once; the sweep looks at what is shown of them.
        if self.reader.partial.contains_key(&key) {
            return false;
        }
        let role = self.reader.roles.get(&key);
        // Where most is announced, only what is not is looked at.
        if self.reader.toolkit.announces_children() {
            return role.is_some_and(|role| self.reader.toolkit.fills_silently(*role));
        }
        !role.is_some_and(|role| is_leaf(*role)) || !mirror.children(key).is_empty()
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
        let mut survey = Survey::new(start);
        survey.in_turns = true;
        assert!(!survey.is_due(start, true));
        survey.suspect(ElementKey(3), start);
        survey.suspect(ElementKey(4), start + ms(10));
        assert!(!survey.is_due(start + ms(10), false));
        assert!(survey.is_due(start + ms(10), true));
        assert!(survey.is_due(start + ms(20), false));
        assert_eq!(survey.begin(start + ms(20)), [ElementKey(3), ElementKey(4)]);
        survey.end(start + ms(20), false, start + ms(70));
        survey.suspect(ElementKey(3), start + ms(71));
        assert_eq!(survey.next_due(), Some(start + ms(220)));
    }

    #[test]
    fn a_fence_waits_for_the_survey_that_began_after_it() {
        let start = Instant::now();
        let mut survey = Survey::new(start);
        let number = survey.suspect_all(start);
        assert!(!survey.done(number));
        assert_eq!(survey.begin(start), [ElementKey::APP]);
        survey.end(start, true, start);
        assert!(survey.done(number));
    }
}
