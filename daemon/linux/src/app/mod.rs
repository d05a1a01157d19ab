//! An app on the accessibility bus, as its worker has it.
//!
//! The worker is the same on every platform; [`BusApp`] is what it has of an app here (`AppBackend`). An event goes this way: `events`
//! receives it and puts it into the app's `event_queue`; `invalidate` marks the elements dirty that it concerns; the worker reads
//! those. `quick_read` reads a single announced property sooner; `rescan` and `rescan_states` find what was never announced, and
//! `delayed_reread` reads new elements once more. `focus` decides which element has the focus.

mod delayed_reread;
pub(crate) mod event_queue;
pub(crate) mod events;
mod focus;
mod invalidate;
pub(crate) mod quick_read;
mod rescan;
mod rescan_states;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use axd_protocol::Point;
use tokio::sync::{oneshot, watch};

use crate::action::Deed;
use crate::app::delayed_reread::Newcomers;
use crate::app::event_queue::Ear;
use crate::app::events::Events;
use crate::app::focus::Focus;
use crate::app::quick_read::Glances;
use crate::app::rescan::Survey;
use crate::atspi::dbus::call;
use crate::atspi::direct::Direct;
use crate::atspi::windows;
use crate::read::handles::Handle;
use crate::read::reader::Reader;
use crate::x11::screen::Screen;
use crate::x11::window_match::{self, Frame};
use axd_platform::mirror::Readings;
use axd_platform::schedule::Pace;
use axd_platform::worker::{AppBackend, Steps, WorkerState, now};
use axd_platform::{Act, ElementKey, Failure, FailureKind, Gate, Measured, Responder};

/// An app on the accessibility bus.
pub(crate) struct BusApp {
    /// Its process.
    pub(crate) pid: u32,
    /// For calls to it.
    pub(crate) reader: Reader,
    /// Its unique name, and the path of its own element.
    pub(crate) root: Handle,
    /// For what it announces.
    events: Arc<Events>,
    pub(crate) ear: Arc<Ear>,
    /// Whether it acts late, once that is known.
    late: Arc<AtomicBool>,
    /// What is on the screen, if there is one.
    screen: Option<watch::Receiver<Arc<Screen>>>,
    pub(crate) survey: Survey,
    pub(crate) glances: Glances,
    pub(crate) newcomers: Newcomers,
    /// The connections to apps themselves, for acts.
    pub(crate) links: Arc<Direct>,
    /// The act that is under way; the next waits for it.
    pub(crate) deed: Option<Deed>,
    /// Who says to have the focus: when something else gets it, these may not say that they lost it.
    pub(crate) focused: Focus,
    /// Until when a focus that moved may be followed by what it moved for. Fences wait for that.
    pub(crate) unsettled: Option<Instant>,
    /// What the screen last called the app's windows.
    titles: HashMap<ElementKey, String>,
    /// Whether the first walk is done: an app that has just started does not announce anything yet.
    walked: bool,
}

impl BusApp {
    /// An app that nothing is known of yet.
    pub fn new(
        pid: u32,
        reader: Reader,
        root: Handle,
        events: Arc<Events>,
        late: Arc<AtomicBool>,
        screen: Option<watch::Receiver<Arc<Screen>>>,
        links: Arc<Direct>,
    ) -> BusApp {
        BusApp {
            pid,
            reader,
            root,
            events,
            ear: Arc::default(),
            late,
            screen,
            survey: Survey::new(now()),
            glances: Glances::default(),
            newcomers: Newcomers::default(),
            links,
            deed: None,
            focused: Focus::default(),
            unsettled: None,
            titles: HashMap::new(),
            walked: false,
        }
    }

    fn screen(&self) -> Option<Arc<Screen>> {
        self.screen.as_ref().map(|screen| Arc::clone(&screen.borrow()))
    }

    /// Finds out which window of the screen each of the app's windows is, and has those read again that are another now.
    fn number_windows(&mut self, state: &mut WorkerState) {
        let reader = &mut self.reader;
        let Some(screen) = self.screen.as_mut().map(|screen| Arc::clone(&screen.borrow_and_update())) else {
            let numbered = reader
                .frames
                .keys()
                .filter_map(|key| Some((*key, windows::number(reader.handles.get(*key)?))));
            reader.numbers = numbered.collect();
            return;
        };
        let mut keys: Vec<ElementKey> = reader.frames.keys().copied().collect();
        keys.sort_unstable();
        let frames: Vec<Frame> = keys.iter().filter_map(|key| reader.frames.get(key).cloned()).collect();
        let numbers = window_match::numbers(&frames, self.pid, &screen);
        for (key, number) in keys.into_iter().zip(numbers) {
            // Not every toolkit says that a title changed, but the screen does.
            let title = number.and_then(|number| screen.windows.iter().find(|it| it.seen.window == number));
            if let Some(title) = title.map(|window| &window.seen.title) {
                let known = self.titles.insert(key, title.clone());
                if known.is_some_and(|known| known != *title) && state.mirror.has_sent(key) {
                    state.schedule.mark_dirty(key);
                }
            }
            let before = reader.numbers.get(&key).copied();
            // One that went off the screen keeps its number: a minimised window is still the same.
            if let Some(number) = number.filter(|number| Some(*number) != before) {
                reader.numbers.insert(key, number);
                if state.mirror.has_sent(key) {
                    state.schedule.mark_dirty(key);
                }
            }
        }
    }
}

impl AppBackend for BusApp {
    const STEPS: Steps = Steps { first: 64, growth: 2, largest: 512 };
    const SILENT_BY_FENCE: bool = false;
    const ENDED: &'static str = "the app has left the accessibility bus";

    async fn register(&mut self, state: &mut WorkerState) -> Result<(), Failure> {
        self.events.listen(&self.root.bus, &self.ear).await?;
        self.reader.greet().await?;
        self.late.store(self.reader.toolkit.acts_late(), Relaxed);
        self.reader.take_cache().await?;
        state.schedule.pace(pace(!self.reader.toolkit.announces_children()), now());
        self.survey.in_turns = self.reader.toolkit.is_surveyed();
        Ok(())
    }

    fn drain_events(&mut self, state: &mut WorkerState) {
        let heard = self.ear.take();
        self.hear(heard, state);
        if self.screen.as_ref().is_some_and(|screen| screen.has_changed().unwrap_or(false)) {
            self.number_windows(state);
        }
        self.settle_deed(state);
    }

    async fn wait_for_event(&mut self) {
        let screen = self.screen.as_mut();
        let screen_changes = async {
            match screen {
                Some(screen) => match screen.changed().await {
                    // Only looked at here; taken in with everything else.
                    Ok(()) => screen.mark_changed(),
                    Err(_) => std::future::pending().await,
                },
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.ear.rings() => {}
            () = screen_changes => {}
        }
    }

    async fn read(
        &mut self,
        state: &mut WorkerState,
        keys: &[ElementKey],
        into: &mut Readings,
    ) -> Result<(), Failure> {
        for some in keys.chunks(Self::STEPS.largest) {
            let mut read = self.reader.read(some).await?;
            if read.iter().any(|(_, reading)| reading.as_ref().is_some_and(|r| r.facts.role.is_window())) {
                self.number_windows(state);
                for (key, reading) in &mut read {
                    if let Some(reading) = reading {
                        reading.facts.window = self.reader.numbers.get(key).copied();
                    }
                }
            }
            let facts =
                read.iter_mut().filter_map(|(key, reading)| Some((*key, &mut reading.as_mut()?.facts)));
            self.settle_focus(state, facts);
            read.into_iter().for_each(|(key, reading)| into.add(key, reading));
        }
        Ok(())
    }

    async fn read_children(
        &mut self,
        state: &mut WorkerState,
        keys: &[ElementKey],
        into: &mut Readings,
    ) -> Result<(), Failure> {
        let mut others = Vec::new();
        for (key, children) in keys.iter().zip(self.reader.children(keys).await?) {
            match children.filter(|_| !self.reader.partial.contains_key(key)) {
                Some(children) => into.add_list(*key, children),
                // It is gone, or shows only some of them.
                None => others.push(*key),
            }
        }
        self.read(state, &others, into).await
    }

    async fn read_rows(&mut self, key: ElementKey, rows: Range<u32>) -> Result<Vec<ElementKey>, Failure> {
        self.reader.look_at_rows(key, rows).await
    }

    fn keep_rows(&mut self, key: ElementKey, rows: Vec<u32>) {
        self.reader.keep_rows(key, rows);
    }

    async fn front_window(
        &mut self,
        _: &WorkerState,
        windows: &[ElementKey],
    ) -> Result<Option<ElementKey>, Failure> {
        let active = self.screen().and_then(|screen| screen.active);
        let is_active =
            |key: &&ElementKey| active.is_some() && self.reader.numbers.get(key) == active.as_ref();
        Ok(windows.iter().find(is_active).copied())
    }

    async fn measure(&mut self, state: &WorkerState, keys: &[ElementKey]) -> Result<Vec<Measured>, Failure> {
        let screen = self.screen();
        self.reader.measure(keys, &state.mirror, screen.as_deref()).await
    }

    async fn hit_test(&mut self, state: &WorkerState, point: Point) -> Result<Vec<ElementKey>, Failure> {
        let screen = self.screen();
        let path = self.reader.at(point, &state.mirror, screen.as_deref()).await?;
        match path.last().copied().filter(|deepest| !state.mirror.has_sent(*deepest)) {
            // Who was asked on the way down may not be who has it.
            Some(unknown) => Ok([path, self.reader.path(unknown).await?].concat()),
            None => Ok(path),
        }
    }

    async fn path(&mut self, _: &WorkerState, key: ElementKey) -> Result<Vec<ElementKey>, Failure> {
        self.reader.path(key).await
    }

    fn perform(
        &mut self,
        state: &mut WorkerState,
        key: ElementKey,
        act: Act,
        gate: Gate,
        reply: Responder<()>,
    ) {
        self.begin(state, key, act, gate, reply);
    }

    fn is_acting(&self) -> bool {
        self.deed.is_some()
    }

    fn send_fence(&mut self, mark: u64) {
        let (events, ear) = (Arc::clone(&self.events), Arc::clone(&self.ear));
        let app = Arc::clone(&self.root.bus);
        tokio::spawn(async move { events.fence(&app, &ear, mark).await });
    }

    fn probe(&mut self) -> Option<oneshot::Receiver<()>> {
        let (answer, probe) = oneshot::channel();
        let (calls, root) = (self.reader.calls.clone(), self.root.clone());
        tokio::spawn(async move {
            let ping = call(&root.bus, &root.path, "org.freedesktop.DBus.Peer", "Ping", &());
            if calls.probe(ping).await {
                // Nobody waits any more if the app has been detached meanwhile.
                let _ = answer.send(());
            }
        });
        Some(probe)
    }

    fn is_lost(&self, failure: &Failure) -> bool {
        failure.kind != FailureKind::Unresponsive
    }

    async fn quick_read(&mut self, state: &mut WorkerState, requests_wait: bool) -> Result<bool, Failure> {
        self.read_thoroughly(state, false);
        let is_time = self.glances.is_time(requests_wait || state.schedule.has_dirty());
        if is_time {
            self.glance_at_wanted(state).await?;
        }
        Ok(is_time)
    }

    async fn rescan(&mut self, state: &mut WorkerState) -> Result<bool, Failure> {
        if let Some(many) = self.newcomers.many(self.reader.handles.len(), now()) {
            let worth = self.reader.altered_in_cache(&many, &state.mirror).await?;
            self.newcomers.sift(&worth.unwrap_or_else(|| many.into_iter().collect()));
            return Ok(true);
        }
        let is_due = self.survey.is_due(now(), state.fences.any_passed());
        if is_due {
            self.look_through(state).await?;
        }
        Ok(is_due)
    }

    async fn diff_children(&mut self, state: &mut WorkerState, keys: &[ElementKey]) -> Result<bool, Failure> {
        match self.survey.in_turns {
            true => Ok(self.compare_children(state, keys).await? | self.compare_states(state, keys).await?),
            false => Ok(false),
        }
    }

    fn next_due(&self) -> Option<Instant> {
        let due =
            [self.survey.next_due(), self.newcomers.next_due(), self.glances.next_due(), self.unsettled];
        due.into_iter().flatten().min()
    }

    fn take_due(&mut self) -> Vec<ElementKey> {
        self.unsettled = self.unsettled.filter(|until| *until > now());
        // Many are looked at first, with the survey.
        if self.newcomers.are_many(self.reader.handles.len(), now()) {
            return Vec::new();
        }
        self.newcomers.take(now())
    }

    fn flush_events(&mut self, state: &mut WorkerState) {
        self.read_thoroughly(state, true);
    }

    /// Where an app does not announce its children, they are looked through before a fence is reached.
    fn is_flushed(&mut self, complete: bool, survey: &mut Option<u64>) -> bool {
        if self.unsettled.is_some_and(|until| until > now()) {
            return false;
        }
        if !complete || !self.reader.toolkit.is_surveyed() {
            return survey.is_none_or(|number| self.survey.done(number));
        }
        let number = *survey.get_or_insert_with(|| self.survey.suspect_all(now()));
        self.survey.done(number)
    }

    fn has_pending_event(&self, key: ElementKey) -> bool {
        self.glances.knows(key)
    }

    fn before_read(&mut self, hinted: &[ElementKey]) {
        hinted.iter().for_each(|key| self.glances.done(*key));
    }

    fn on_new_elements(&mut self, new: &[ElementKey]) {
        let now = now();
        for key in new {
            let role = self.reader.roles.get(key).filter(|_| self.walked);
            match role.is_some_and(|role| self.reader.toolkit.announces_all_of(*role)) {
                true => self.newcomers.add_telling(*key, now),
                false => self.newcomers.add(*key, now),
            }
        }
    }

    fn on_walk_done(&mut self) {
        self.walked = true;
        self.reader.drop_cache();
    }

    fn on_sweep_step(&mut self, state: &WorkerState) {
        let keep = |key: ElementKey| state.mirror.knows(key) || state.unplaced.contains(&key);
        self.titles.retain(|key, _| keep(*key));
        self.newcomers.retain(|key| state.mirror.has_sent(key));
        self.reader.tidy(state.mirror.len(), keep);
    }

    async fn detach(&mut self) {
        self.events.forget(&self.root.bus, &self.ear).await;
    }
}

/// How often an app is read again: seldom, where it announces nearly everything.
fn pace(mute: bool) -> Pace {
    Pace {
        watch_first: Duration::from_millis(50),
        watch_last: Duration::from_millis(if mute { 250 } else { 500 }),
        watch_size: if mute { 32 } else { 16 },
        sweep_every: Duration::from_secs(1),
        sweep_size: if mute { 16 } else { 8 },
    }
}
