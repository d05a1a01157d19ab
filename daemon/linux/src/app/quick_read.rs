//! A glance before the thorough reading: where events say which property of an element changed, that property alone is
//! read and told at once, in one or two calls.
//!
//! Events stay hints. What they carry is not believed, but for a new name, which is told without any call: an app that
//! has just announced something is busy, and takes longer to answer than all the rest does. Every element that was glanced
//! at is read thoroughly a little later, before a fence is reached, like anything else that was announced.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use crate::app::BusApp;
use crate::app::event_queue::{Hint, Kinds};
use crate::atspi::dbus::Answer;
use crate::atspi::protocol::{ACCESSIBLE, TEXT, VALUE, body, number, text};
use crate::atspi::roles::{self, PASSWORD_TEXT};
use crate::atspi::states::{Native, Natives};
use crate::atspi::toolkit::Toolkit;
use crate::read::content::{TextIs, has_number, plain_number, text_is};
use crate::read::details::Details;
use crate::read::outline::Outline;
use crate::read::reader::Reader;
use axd_platform::worker::{WorkerState, now};
use axd_platform::{Cause, ElementKey, Facts, Failure};

/// What a glance can be at.
const PLAIN: [Kinds; 10] = [
    Kinds::NAME,
    Kinds::DESCRIPTION,
    Kinds::NUMBER,
    Kinds::TEXT,
    Kinds::STATES,
    // What these say of other elements is seen to as ever.
    Kinds::FOCUS,
    Kinds::TOOK,
    Kinds::SHOWN,
    Kinds::BELOW,
    // GTK 3 says this too when it says something else.
    Kinds::LOOKS,
];
/// How many elements are glanced at together; where more happens, all of it is read thoroughly.
const MOST: usize = 8;
/// How many elements are remembered.
const MOST_REMEMBERED: usize = 256;
/// How much later the thorough reading is: what happens to an element often happens again at once.
const LATER: Duration = Duration::from_millis(20);

/// Elements that something happened to, and what was last read of them.
#[derive(Default)]
pub(crate) struct Memory(HashMap<ElementKey, Option<Known>>);

/// What was read of an element, without its children.
struct Known {
    outline: Outline,
    details: Details,
}

impl Memory {
    /// Something happened to an element; whether enough is known of it for a glance.
    fn has(&mut self, key: ElementKey) -> bool {
        if self.0.len() >= MOST_REMEMBERED && !self.0.contains_key(&key) {
            self.0.clear();
        }
        self.0.entry(key).or_default().is_some()
    }

    /// An element has been read.
    pub fn learn(&mut self, outline: &Outline, details: &Details) {
        let Some(known) = self.0.get_mut(&outline.key) else { return };
        // Windows are known by their titles, pages by their windows, and of some containers only a part is.
        let apart = outline.role.is_window() || outline.role == axd_protocol::Role::Document;
        *known = (!apart && details.total.is_none()).then(|| Known {
            outline: Outline { children: None, ..outline.clone() },
            details: Details { children: Vec::new(), ..details.clone() },
        });
    }

    /// An element is gone.
    pub fn forget(&mut self, key: ElementKey) {
        self.0.remove(&key);
    }
}

/// What is to be glanced at, and what was.
#[derive(Debug, Default)]
pub(crate) struct Glances {
    wanted: HashMap<ElementKey, Hint>,
    thorough: HashSet<ElementKey>,
    due: Option<Instant>,
    /// Whether the last thing done was a glance.
    just: bool,
}

impl Glances {
    /// Whether it is time to glance: nothing comes before that, but where there is other work it has every other turn.
    pub fn is_time(&mut self, other_work: bool) -> bool {
        let waits_its_turn = self.just && other_work;
        self.just = !self.wanted.is_empty() && !waits_its_turn;
        self.just
    }

    /// When the next thorough readings are due.
    pub fn next_due(&self) -> Option<Instant> {
        self.due
    }

    /// Whether an element was announced and has not been read thoroughly since.
    pub fn knows(&self, key: ElementKey) -> bool {
        self.wanted.contains_key(&key) || self.thorough.contains(&key)
    }

    /// An element is being read thoroughly.
    pub fn done(&mut self, key: ElementKey) {
        self.thorough.remove(&key);
    }
}

impl BusApp {
    /// Something happened to an element: has it glanced at if that can do, else read.
    pub(crate) fn glance_or_read(&mut self, key: ElementKey, hint: Hint, state: &mut WorkerState) {
        let kinds = hint.kinds;
        let plain = PLAIN.into_iter().reduce(|all, kind| all | kind).unwrap_or_default();
        let telling = kinds.within(plain) && !kinds.within(Kinds::LOOKS);
        let known = telling && self.reader.memory.has(key);
        let wanted = &mut self.glances.wanted;
        let room = wanted.len() < MOST || wanted.contains_key(&key);
        if known && room && !state.schedule.is_dirty(key) && state.mirror.has_sent(key) {
            wanted.entry(key).or_default().add(hint);
        } else {
            wanted.remove(&key);
            state.schedule.mark_dirty(key);
        }
    }

    /// Glances at what is to be glanced at, and tells what is different.
    pub(crate) async fn glance_at_wanted(&mut self, state: &mut WorkerState) -> Result<(), Failure> {
        let wanted: Vec<(ElementKey, Hint)> = std::mem::take(&mut self.glances.wanted).into_iter().collect();
        let mut seen = match self.reader.glance(&wanted).await {
            Ok(seen) => seen,
            Err(failure) => {
                wanted.into_iter().for_each(|(key, _)| state.schedule.mark_dirty(key));
                return Err(failure);
            }
        };
        let glanced = wanted.iter().zip(&mut seen);
        self.settle_focus(state, glanced.filter_map(|((key, _), facts)| Some((*key, facts.as_mut()?))));
        let mut updates = Vec::new();
        for ((key, _), facts) in wanted.into_iter().zip(seen) {
            match facts {
                Some(facts) => {
                    updates.extend(state.mirror.update_facts(key, facts));
                    self.glances.thorough.insert(key);
                }
                None => state.schedule.mark_dirty(key),
            }
        }
        self.glances.due = self.glances.due.or(Some(now() + LATER));
        state.queue_updates(Cause::Event, updates);
        Ok(())
    }

    /// Has all read thoroughly that was glanced at, if that is due, or somebody waits for it.
    pub(crate) fn read_thoroughly(&mut self, state: &mut WorkerState, waited_for: bool) {
        if waited_for || self.glances.due.is_some_and(|due| due <= now()) {
            self.glances.due = None;
            let mut glanced = std::mem::take(&mut self.glances.thorough);
            if waited_for {
                // A glance more is no use to whoever waits, and new ones must not keep anybody waiting.
                glanced.extend(self.glances.wanted.drain().map(|(key, _)| key));
            }
            state.mark_known_dirty(glanced);
        }
    }
}

impl Reader {
    /// Reads only what is asked for of elements that are known; `None` where that will not do.
    async fn glance(&mut self, wanted: &[(ElementKey, Hint)]) -> Result<Vec<Option<Facts>>, Failure> {
        let (mut calls, mut counts) = (Vec::new(), Vec::with_capacity(wanted.len()));
        for (key, hint) in wanted {
            let known = self.memory.0.get(key).and_then(Option::as_ref);
            let asked = known.and_then(|known| asked(known, hint, self.toolkit)).unwrap_or_default();
            counts.push(asked.len());
            calls.extend(asked.into_iter().map(|kind| match kind {
                Kinds::NAME => self.get(*key, ACCESSIBLE, "Name"),
                Kinds::DESCRIPTION => self.get(*key, ACCESSIBLE, "Description"),
                Kinds::NUMBER => self.get(*key, VALUE, "CurrentValue"),
                Kinds::TEXT => self.call(*key, TEXT, "GetText", &(0, self.toolkit.end_of_text())),
                _ => self.call(*key, ACCESSIBLE, "GetState", &()),
            }));
        }
        let mut answers = self.ask_all(calls).await?.into_iter();
        let mut seen = Vec::with_capacity(wanted.len());
        for ((key, hint), count) in wanted.iter().zip(counts) {
            let answers: Vec<Answer> = answers.by_ref().take(count).collect();
            let mut known = self.memory.0.remove(key).flatten();
            let toolkit = self.toolkit;
            let took = known.as_mut().is_some_and(|known| known.take_in(hint, toolkit, &answers));
            let Some(known) = known.filter(|_| took) else {
                seen.push(None);
                continue;
            };
            seen.push(Some(self.reading(&known.outline, known.details.clone()).facts));
            self.memory.0.insert(*key, Some(known));
        }
        Ok(seen)
    }
}

/// What to ask for when this happened to an element. `None`: that takes more than one round of calls.
fn asked(known: &Known, hint: &Hint, toolkit: Toolkit) -> Option<Vec<Kinds>> {
    let kinds = hint.kinds;
    let Outline { role, natives, interfaces, number, .. } = &known.outline;
    let mut asked = Vec::new();
    let (mut name, mut digits) = (kinds.has(Kinds::NAME), kinds.has(Kinds::NUMBER));
    if kinds.has(Kinds::TEXT) {
        match text_is(*role, *natives, toolkit) {
            TextIs::Long | TextIs::NameOrValue | TextIs::Own => return None,
            TextIs::Value if interfaces.text && *number != PASSWORD_TEXT => asked.push(Kinds::TEXT),
            // Where it is announced, that comes at once.
            TextIs::Name => name |= !toolkit.announces_names_of_text(),
            TextIs::Value | TextIs::Nothing => {}
        }
        digits |= has_number(*role);
    }
    if name && hint.name.is_none() {
        asked.push(Kinds::NAME);
    }
    if digits && interfaces.value && has_number(*role) {
        asked.push(Kinds::NUMBER);
    }
    asked.extend([Kinds::DESCRIPTION, Kinds::STATES].into_iter().filter(|kind| kinds.has(*kind)));
    Some(asked)
}

impl Known {
    /// Takes in the answers to what was asked. False if they do not tell enough.
    fn take_in(&mut self, hint: &Hint, toolkit: Toolkit, answers: &[Answer]) -> bool {
        let Some(asked) = asked(self, hint, toolkit).filter(|asked| asked.len() == answers.len()) else {
            return false;
        };
        if let Some(name) = hint.name.as_ref().filter(|_| hint.kinds.has(Kinds::NAME)) {
            self.outline.name.clone_from(name);
        }
        asked.into_iter().zip(answers).all(|(kind, answer)| self.take(kind, answer).is_some())
    }

    fn take(&mut self, kind: Kinds, answer: &Answer) -> Option<()> {
        match kind {
            // One without a name of its own may be called by its label or its text.
            Kinds::NAME => self.outline.name = text(answer).filter(|name| !name.trim().is_empty())?,
            Kinds::DESCRIPTION => self.outline.description = text(answer)?,
            Kinds::NUMBER => self.details.value = Some(number(answer).map(plain_number)?),
            Kinds::TEXT => self.details.text = Some(body(answer)?),
            _ => {
                let natives = Natives::from_words(&body::<Vec<u32>>(answer)?);
                // What it is, and what is asked of it, follows from some of its states.
                let other = roles::role(self.outline.number, natives) != self.outline.role
                    || natives.has(Native::Editable) != self.outline.natives.has(Native::Editable)
                    || natives.has(Native::Focusable) != self.outline.natives.has(Native::Focusable);
                if other || natives.has(Native::Defunct) {
                    return None;
                }
                self.outline.natives = natives;
            }
        }
        Some(())
    }
}
