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
use axd_platform::worker::{WorkerState, now};
use axd_platform::{Cause, ElementKey, Facts, Failure};

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
    due: Option<Instant>,
    /// Whether the last turn was a quick read.
    had_last_turn: bool,
}

impl QuickReads {
    /// Whether it is the turn of quick reads: they come first, but only every other time if there is other work.
    pub fn take_turn(&mut self, other_work: bool) -> bool {
        let waits_its_turn = self.had_last_turn && other_work;
        self.had_last_turn = !self.pending.is_empty() && !waits_its_turn;
        self.had_last_turn
    }

    /// When the next full reads are due.
    pub fn next_due(&self) -> Option<Instant> {
        self.due
    }

    /// Whether an element changed and has not been read in full since.
    pub fn contains(&self, key: ElementKey) -> bool {
        self.pending.contains_key(&key) || self.awaiting_full_read.contains(&key)
    }

    /// An element is being read in full.
    pub fn on_full_read(&mut self, key: ElementKey) {
        self.awaiting_full_read.remove(&key);
    }
}

impl BusApp {
    /// Queues a quick read of a changed element if that is enough, else marks it dirty.
    pub(crate) fn quick_read_or_mark_dirty(
        &mut self,
        key: ElementKey,
        change: Change,
        state: &mut WorkerState,
    ) {
        let kinds = change.kinds;
        let plain = QUICK_KINDS.into_iter().reduce(|all, kind| all | kind).unwrap_or_default();
        let telling = kinds.is_within(plain) && !kinds.is_within(ChangeKinds::VISIBLE_DATA);
        let known = telling && self.reader.last_reads.track(key);
        let wanted = &mut self.quick_reads.pending;
        let room = wanted.len() < MAX_QUICK_READS || wanted.contains_key(&key);
        if known && room && !state.schedule.is_dirty(key) && state.mirror.has_sent(key) {
            wanted.entry(key).or_default().merge(change);
        } else {
            wanted.remove(&key);
            state.schedule.mark_dirty(key);
        }
    }

    /// Runs the pending quick reads, and sends the differences.
    pub(crate) async fn run_quick_reads(&mut self, state: &mut WorkerState) -> Result<(), Failure> {
        let wanted: Vec<(ElementKey, Change)> =
            std::mem::take(&mut self.quick_reads.pending).into_iter().collect();
        let mut seen = match self.reader.quick_read(&wanted).await {
            Ok(seen) => seen,
            Err(failure) => {
                wanted.into_iter().for_each(|(key, _)| state.schedule.mark_dirty(key));
                return Err(failure);
            }
        };
        let read = wanted.iter().zip(&mut seen);
        self.resolve_focus(state, read.filter_map(|((key, _), facts)| Some((*key, facts.as_mut()?))));
        let mut updates = Vec::new();
        for ((key, _), facts) in wanted.into_iter().zip(seen) {
            match facts {
                Some(facts) => {
                    updates.extend(state.mirror.update_facts(key, facts));
                    self.quick_reads.awaiting_full_read.insert(key);
                }
                None => state.schedule.mark_dirty(key),
            }
        }
        self.quick_reads.due = self.quick_reads.due.or(Some(now() + FULL_READ_DELAY));
        state.queue_updates(Cause::Event, updates);
        Ok(())
    }

    /// Marks elements dirty that were read quickly, if their full read is due or somebody waits for it.
    pub(crate) fn schedule_full_reads(&mut self, state: &mut WorkerState, waited_for: bool) {
        if waited_for || self.quick_reads.due.is_some_and(|due| due <= now()) {
            self.quick_reads.due = None;
            let mut read = std::mem::take(&mut self.quick_reads.awaiting_full_read);
            if waited_for {
                // A quick read would only delay whoever waits.
                read.extend(self.quick_reads.pending.drain().map(|(key, _)| key));
            }
            state.mark_known_dirty(read);
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
