//! Quick reads: where an event says which property of an element changed, that property alone is read at once, in one
//! or two calls, before the whole element is.
//!
//! Events stay hints. Their payload is not trusted, except for a new name, which needs no call at all: an app that has
//! just announced something is busy, and its reply would take longer than everything else. Every element that was read
//! quickly is read in full a little later, and before a fence is reached.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use crate::app::BusApp;
use crate::app::event_queue::{Change, ChangeKinds};
use crate::atspi::dbus::BusReply;
use crate::atspi::protocol::{ACCESSIBLE, TEXT, VALUE, body, number_property, string_property};
use crate::atspi::roles::{self, PASSWORD_TEXT};
use crate::atspi::states::{NativeState, NativeStates};
use crate::atspi::toolkit::Toolkit;
use crate::read::content::{TextUse, format_number, has_number, text_use};
use crate::read::details::Details;
use crate::read::outline::Outline;
use crate::read::reader::Reader;
use axd_platform::mirror::Readings;
use axd_platform::worker::{Progress, ReadStrategy, StepResult, Turn, WorkerState, now};
use axd_platform::{ElementKey, Facts, Failure};

/// The kinds of changes that a quick read can serve.
const QUICK_KINDS: [ChangeKinds; 10] = [
    ChangeKinds::NAME,
    ChangeKinds::DESCRIPTION,
    ChangeKinds::VALUE,
    ChangeKinds::TEXT,
    ChangeKinds::STATES,
    // What these mean for other elements is up to `invalidate`.
    ChangeKinds::FOCUS,
    ChangeKinds::FOCUS_GAINED,
    ChangeKinds::VISIBILITY,
    ChangeKinds::SENSITIVITY,
    // GTK 3 announces this along with other changes.
    ChangeKinds::VISIBLE_DATA,
];
/// How many quick reads are pending at most; beyond that elements are read in full.
const MAX_QUICK_READS: usize = 8;
/// Of how many elements the last reading is kept.
const MAX_REMEMBERED: usize = 256;
/// How long after a quick read the element is read in full: a change is often followed by another at once.
const FULL_READ_DELAY: Duration = Duration::from_millis(20);

/// The last readings of elements that change.
#[derive(Default)]
pub(crate) struct LastReads(HashMap<ElementKey, Option<LastRead>>);

/// The last reading of an element, without its children.
struct LastRead {
    outline: Outline,
    details: Details,
}

impl LastReads {
    /// Has the readings of an element kept from now on. True if there is one already, so that a quick read is possible.
    fn track(&mut self, key: ElementKey) -> bool {
        if self.0.len() >= MAX_REMEMBERED && !self.0.contains_key(&key) {
            self.0.clear();
        }
        self.0.entry(key).or_default().is_some()
    }

    /// Keeps the reading of an element, if that is wanted.
    pub fn store(&mut self, outline: &Outline, details: &Details) {
        let Some(known) = self.0.get_mut(&outline.key) else { return };
        // Windows are known by their titles, pages by their windows, and of some containers only a part is.
        let apart = outline.role.is_window() || outline.role == axd_protocol::Role::Document;
        *known = (!apart && details.total.is_none()).then(|| LastRead {
            outline: Outline { children: None, ..outline.clone() },
            details: Details { children: Vec::new(), ..details.clone() },
        });
    }

    /// Forgets an element.
    pub fn remove(&mut self, key: ElementKey) {
        self.0.remove(&key);
    }
}

/// Which elements to read quickly, and which to read in full afterwards.
#[derive(Debug, Default)]
pub(crate) struct QuickReads {
    pending: HashMap<ElementKey, Change>,
    awaiting_full_read: HashSet<ElementKey>,
    full_read_due: Option<Instant>,
    /// Whether the last turn was a quick read.
    had_last_turn: bool,
}

impl QuickReads {
    /// Queues a quick read of a changed element if that is enough, else marks it dirty.
    pub fn add_or_mark_dirty(
        &mut self,
        key: ElementKey,
        change: Change,
        last_reads: &mut LastReads,
        state: &mut WorkerState,
    ) {
        let kinds = change.kinds;
        let quick = QUICK_KINDS.into_iter().reduce(|all, kind| all | kind).unwrap_or_default();
        let is_enough = kinds.is_within(quick) && !kinds.is_within(ChangeKinds::VISIBLE_DATA);
        let is_known = is_enough && last_reads.track(key);
        let has_room = self.pending.len() < MAX_QUICK_READS || self.pending.contains_key(&key);
        if is_known && has_room && !state.schedule.is_dirty(key) && state.mirror.has_sent(key) {
            self.pending.entry(key).or_default().merge(change);
        } else {
            self.pending.remove(&key);
            state.schedule.mark_dirty(key);
        }
    }

    /// Whether it is the turn of quick reads: they come first, but only every other time if there is other work.
    fn take_turn(&mut self, other_work: bool) -> bool {
        let waits_its_turn = self.had_last_turn && other_work;
        self.had_last_turn = !self.pending.is_empty() && !waits_its_turn;
        self.had_last_turn
    }

    /// Runs the pending quick reads.
    async fn run(&mut self, app: &mut BusApp, state: &mut WorkerState) -> Result<Readings, Failure> {
        let wanted: Vec<(ElementKey, Change)> = self.pending.drain().collect();
        let mut seen = match app.reader.quick_read(&wanted).await {
            Ok(seen) => seen,
            Err(failure) => {
                wanted.into_iter().for_each(|(key, _)| state.schedule.mark_dirty(key));
                return Err(failure);
            }
        };
        let read = wanted.iter().zip(&mut seen);
        app.resolve_focus(state, read.filter_map(|((key, _), facts)| Some((*key, facts.as_mut()?))));
        let mut readings = Readings::default();
        for ((key, _), facts) in wanted.into_iter().zip(seen) {
            match facts {
                Some(facts) => {
                    readings.add_facts(key, facts);
                    self.awaiting_full_read.insert(key);
                }
                None => state.schedule.mark_dirty(key),
            }
        }
        self.full_read_due = self.full_read_due.or(Some(now() + FULL_READ_DELAY));
        Ok(readings)
    }

    /// Marks the elements dirty that were read quickly.
    fn mark_for_full_read(&mut self, state: &mut WorkerState) {
        self.full_read_due = None;
        state.mark_known_dirty(self.awaiting_full_read.drain());
    }
}

impl ReadStrategy<BusApp> for QuickReads {
    async fn step(&mut self, turn: Turn<'_>, app: &mut BusApp, state: &mut WorkerState) -> StepResult {
        let Turn::First { requests_wait } = turn else { return Ok(Progress::None) };
        if self.full_read_due.is_some_and(|due| due <= now()) {
            self.mark_for_full_read(state);
        }
        match self.take_turn(requests_wait || state.schedule.has_dirty()) {
            true => Ok(Progress::Found(self.run(app, state).await?)),
            false => Ok(Progress::None),
        }
    }

    fn next_due(&self, _: &BusApp) -> Option<Instant> {
        self.full_read_due
    }

    /// Elements are read in full at once: a quick read would only delay whoever waits for the fence.
    fn flush(&mut self, _: &BusApp, state: &mut WorkerState, _: &mut Option<u64>) -> bool {
        self.mark_for_full_read(state);
        state.mark_known_dirty(self.pending.drain().map(|(key, _)| key));
        true
    }

    fn has_pending_event(&self, key: ElementKey) -> bool {
        self.pending.contains_key(&key) || self.awaiting_full_read.contains(&key)
    }

    fn on_dirty_read(&mut self, dirty: &[ElementKey]) {
        for key in dirty {
            self.awaiting_full_read.remove(key);
        }
    }
}

impl Reader {
    /// Reads only the changed properties of elements; `None` where that is not enough.
    async fn quick_read(&mut self, wanted: &[(ElementKey, Change)]) -> Result<Vec<Option<Facts>>, Failure> {
        let (mut calls, mut counts) = (Vec::new(), Vec::with_capacity(wanted.len()));
        for (key, change) in wanted {
            let known = self.last_reads.0.get(key).and_then(Option::as_ref);
            let asked =
                known.and_then(|known| properties_to_read(known, change, self.toolkit)).unwrap_or_default();
            counts.push(asked.len());
            calls.extend(asked.into_iter().map(|kind| match kind {
                ChangeKinds::NAME => self.build_get(*key, ACCESSIBLE, "Name"),
                ChangeKinds::DESCRIPTION => self.build_get(*key, ACCESSIBLE, "Description"),
                ChangeKinds::VALUE => self.build_get(*key, VALUE, "CurrentValue"),
                ChangeKinds::TEXT => self.build_call(*key, TEXT, "GetText", &(0, self.toolkit.end_of_text())),
                _ => self.build_call(*key, ACCESSIBLE, "GetState", &()),
            }));
        }
        let mut answers = self.call_all(calls).await?.into_iter();
        let mut seen = Vec::with_capacity(wanted.len());
        for ((key, change), count) in wanted.iter().zip(counts) {
            let answers: Vec<BusReply> = answers.by_ref().take(count).collect();
            let mut known = self.last_reads.0.remove(key).flatten();
            let toolkit = self.toolkit;
            let took = known.as_mut().is_some_and(|known| known.apply(change, toolkit, &answers));
            let Some(known) = known.filter(|_| took) else {
                seen.push(None);
                continue;
            };
            seen.push(Some(self.build_reading(&known.outline, known.details.clone()).facts));
            self.last_reads.0.insert(*key, Some(known));
        }
        Ok(seen)
    }
}

/// The properties to read after a change. `None` if that takes more than one round of calls.
fn properties_to_read(known: &LastRead, change: &Change, toolkit: Toolkit) -> Option<Vec<ChangeKinds>> {
    let kinds = change.kinds;
    let Outline { role, native_states: natives, interfaces, native_role: number, .. } = &known.outline;
    let mut asked = Vec::new();
    let (mut name, mut digits) = (kinds.has(ChangeKinds::NAME), kinds.has(ChangeKinds::VALUE));
    if kinds.has(ChangeKinds::TEXT) {
        match text_use(*role, *natives, toolkit) {
            TextUse::Long | TextUse::NameOrValue | TextUse::Own => return None,
            TextUse::Value if interfaces.text && *number != PASSWORD_TEXT => asked.push(ChangeKinds::TEXT),
            // Where the toolkit announces the name too, that event follows at once.
            TextUse::Name => name |= !toolkit.announces_names_of_text(),
            TextUse::Value | TextUse::Nothing => {}
        }
        digits |= has_number(*role);
    }
    if name && change.name.is_none() {
        asked.push(ChangeKinds::NAME);
    }
    if digits && interfaces.value && has_number(*role) {
        asked.push(ChangeKinds::VALUE);
    }
    asked.extend([ChangeKinds::DESCRIPTION, ChangeKinds::STATES].into_iter().filter(|kind| kinds.has(*kind)));
    Some(asked)
}

impl LastRead {
    /// Applies the replies to the last reading. False if they are not enough.
    fn apply(&mut self, change: &Change, toolkit: Toolkit, answers: &[BusReply]) -> bool {
        let Some(asked) =
            properties_to_read(self, change, toolkit).filter(|asked| asked.len() == answers.len())
        else {
            return false;
        };
        if let Some(name) = change.name.as_ref().filter(|_| change.kinds.has(ChangeKinds::NAME)) {
            self.outline.name.clone_from(name);
        }
        asked.into_iter().zip(answers).all(|(kind, answer)| self.apply_property(kind, answer).is_some())
    }

    fn apply_property(&mut self, kind: ChangeKinds, answer: &BusReply) -> Option<()> {
        match kind {
            // An element without a name of its own may be named by its label or its text.
            ChangeKinds::NAME => {
                self.outline.name = string_property(answer).filter(|name| !name.trim().is_empty())?
            }
            ChangeKinds::DESCRIPTION => self.outline.description = string_property(answer)?,
            ChangeKinds::VALUE => self.details.value = Some(number_property(answer).map(format_number)?),
            ChangeKinds::TEXT => self.details.text = Some(body(answer)?),
            _ => {
                let natives = NativeStates::from_words(&body::<Vec<u32>>(answer)?);
                // Its role, and which calls a full read makes, depend on some of its states.
                let other = roles::role(self.outline.native_role, natives) != self.outline.role
                    || natives.has(NativeState::Editable)
                        != self.outline.native_states.has(NativeState::Editable)
                    || natives.has(NativeState::Focusable)
                        != self.outline.native_states.has(NativeState::Focusable);
                if other || natives.has(NativeState::Defunct) {
                    return None;
                }
                self.outline.native_states = natives;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axd_platform::mirror::Reading;
    use axd_protocol::Role;

    use super::*;

    const LABEL: ElementKey = ElementKey(1);

    fn outline() -> Outline {
        Outline {
            key: LABEL,
            native_role: 29,
            role: Role::Text,
            native_states: NativeStates::default(),
            name: "before".to_owned(),
            description: String::new(),
            identifier: None,
            value_text: None,
            role_from_page: false,
            in_page: false,
            interfaces: Default::default(),
            child_count: 0,
            children: None,
        }
    }

    /// A worker that has read an app with one label.
    fn worker_state() -> WorkerState {
        let mut state = WorkerState::new(Arc::default(), "it ended");
        let mut readings = Readings::default();
        let reading = |role, children| Some(Reading { facts: Facts::new(role), children, total: None });
        readings.add(ElementKey::APP, reading(Role::Application, vec![LABEL]));
        readings.add(LABEL, reading(Role::Text, vec![]));
        state.mirror.apply(readings);
        state
    }

    #[tokio::test(start_paused = true)]
    async fn a_known_element_of_which_one_property_changed_is_not_dirty_until_it_was_read_quickly() {
        let (mut quick_reads, mut last_reads, mut state) =
            (QuickReads::default(), LastReads::default(), worker_state());
        let mut on_change = |quick_reads: &mut QuickReads, state: &mut WorkerState, kinds: ChangeKinds| {
            quick_reads.add_or_mark_dirty(LABEL, kinds.into(), &mut last_reads, state);
            last_reads.store(&outline(), &Details::default());
            let is_pending = ReadStrategy::<BusApp>::has_pending_event(quick_reads, LABEL);
            (is_pending, !state.schedule.take_dirty(9).whole.is_empty())
        };
        let first = on_change(&mut quick_reads, &mut state, ChangeKinds::NAME);
        assert_eq!(first, (false, true), "its last reading is kept only from now on");
        assert_eq!(on_change(&mut quick_reads, &mut state, ChangeKinds::NAME), (true, false));
        assert_eq!(on_change(&mut quick_reads, &mut state, ChangeKinds::CHILDREN), (false, true));
        quick_reads.awaiting_full_read.insert(LABEL);
        quick_reads.mark_for_full_read(&mut state);
        assert_eq!(state.schedule.take_dirty(9).whole, [LABEL]);
        assert!(!ReadStrategy::<BusApp>::has_pending_event(&quick_reads, LABEL));
    }

    #[test]
    fn quick_reads_come_first_and_take_turns_with_other_work() {
        let mut quick_reads = QuickReads::default();
        assert!(!quick_reads.take_turn(false), "nothing is pending");
        quick_reads.pending.insert(LABEL, ChangeKinds::NAME.into());
        let turns = [true, true, true, false, false].map(|other_work| quick_reads.take_turn(other_work));
        assert_eq!(turns, [true, false, true, true, true]);
    }
}
