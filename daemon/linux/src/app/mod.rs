//! An app on the accessibility bus, as its worker has it.
//!
//! The worker is the same on every platform; [`BusApp`] is what it has of an app here (`AppBackend`). An event goes this way:
//! `events` receives it, `event_table` says what it means, and it goes into the app's `event_queue`; `invalidate` marks the
//! elements dirty that it concerns, by the rules of `relations`; the worker reads those. `focus` decides which element has the
//! focus.
//!
//! What the worker reads besides is up to three `strategies`: `quick_read` reads a single announced property sooner,
//! `delayed_reread` reads new elements once more, `rescan` finds what was never announced.

mod delayed_reread;
pub(crate) mod event_queue;
pub(crate) mod event_table;
pub(crate) mod events;
mod focus;
mod invalidate;
pub(crate) mod quick_read;
mod relations;
mod rescan;
pub(crate) mod strategies;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use axd_protocol::Point;
use tokio::sync::{oneshot, watch};

use crate::action::RunningAction;
use crate::app::event_queue::EventQueue;
use crate::app::events::EventConnection;
use crate::app::focus::FocusTracker;
use crate::app::strategies::Strategies;
use crate::atspi::dbus::call;
use crate::atspi::direct::DirectConnections;
use crate::atspi::windows;
use crate::read::handles::Handle;
use crate::read::reader::Reader;
use crate::x11::screen::Screen;
use crate::x11::window_match::{self, AppWindow};
use axd_platform::mirror::Readings;
use axd_platform::schedule::Pace;
use axd_platform::worker::{AppBackend, Steps, WorkerState, now};
use axd_platform::{Act, ElementKey, Failure, FailureKind, Gate, Measured, Responder};

/// An app on the accessibility bus.
pub(crate) struct BusApp {
    /// Its process.
    pub(crate) pid: u32,
    /// Reads its elements.
    pub(crate) reader: Reader,
    /// Its unique name on the bus, and the path of its root element.
    pub(crate) root: Handle,
    /// The connection its events come over.
    events: Arc<EventConnection>,
    pub(crate) queue: Arc<EventQueue>,
    /// Shared with the desktop: whether its actions take effect late.
    acts_late: Arc<AtomicBool>,
    /// The windows on the screen, if there is an X server.
    screen: Option<watch::Receiver<Arc<Screen>>>,
    /// Connections to apps themselves, for actions.
    pub(crate) direct: Arc<DirectConnections>,
    /// The action that is under way; the next waits for it.
    pub(crate) running_action: Option<RunningAction>,
    /// Which element has the focus; those that lose it may not announce that.
    pub(crate) focus: FocusTracker,
    /// The last known titles of the app's windows on the screen.
    titles: HashMap<ElementKey, String>,
}

impl BusApp {
    /// An app of which nothing has been read yet.
    pub fn new(
        pid: u32,
        reader: Reader,
        root: Handle,
        events: Arc<EventConnection>,
        late: Arc<AtomicBool>,
        screen: Option<watch::Receiver<Arc<Screen>>>,
        direct: Arc<DirectConnections>,
    ) -> BusApp {
        BusApp {
            pid,
            reader,
            root,
            events,
            queue: Arc::default(),
            acts_late: late,
            screen,
            direct,
            running_action: None,
            focus: FocusTracker::default(),
            titles: HashMap::new(),
        }
    }

    fn screen(&self) -> Option<Arc<Screen>> {
        self.screen.as_ref().map(|screen| Arc::clone(&screen.borrow()))
    }

    /// Finds out which window of the screen each of the app's windows is, and marks those dirty that changed.
    fn match_windows(&mut self, state: &mut WorkerState) {
        let reader = &mut self.reader;
        let Some(screen) = self.screen.as_mut().map(|screen| Arc::clone(&screen.borrow_and_update())) else {
            for (key, _) in reader.elements.windows() {
                if let Some(handle) = reader.handles.get(key) {
                    reader.elements.set_window_number(key, windows::window_number(handle));
                }
            }
            return;
        };
        let (keys, windows): (Vec<ElementKey>, Vec<AppWindow>) =
            reader.elements.windows().into_iter().unzip();
        let numbers = window_match::match_windows(&windows, self.pid, &screen);
        for (key, number) in keys.into_iter().zip(numbers) {
            // Not every toolkit says that a title changed, but the screen does.
            let title = number.and_then(|number| screen.windows.iter().find(|it| it.info.window == number));
            if let Some(title) = title.map(|window| &window.info.title) {
                let known = self.titles.insert(key, title.clone());
                if known.is_some_and(|known| known != *title) && state.mirror.has_sent(key) {
                    state.schedule.mark_dirty(key);
                }
            }
            let before = reader.elements.window_number(key);
            // One that went off the screen keeps its number: a minimised window is still the same.
            if let Some(number) = number.filter(|number| Some(*number) != before) {
                reader.elements.set_window_number(key, number);
                if state.mirror.has_sent(key) {
                    state.schedule.mark_dirty(key);
                }
            }
        }
    }
}

impl AppBackend for BusApp {
    type Strategies = Strategies;

    const STEPS: Steps = Steps { first: 64, growth: 2, largest: 512 };
    const FENCE_TIMEOUT_MEANS_UNRESPONSIVE: bool = false;
    const ENDED: &'static str = "the app has left the accessibility bus";

    async fn register(&mut self, state: &mut WorkerState) -> Result<(), Failure> {
        self.events.subscribe(&self.root.bus, &self.queue).await?;
        self.reader.identify_toolkit().await?;
        self.acts_late.store(self.reader.toolkit.acts_late(), Relaxed);
        self.reader.load_cache().await?;
        state.schedule.pace(pace(!self.reader.toolkit.announces_children()), now());
        Ok(())
    }

    fn drain_events(&mut self, strategies: &mut Strategies, state: &mut WorkerState) {
        let events = self.queue.take();
        self.on_events(events, strategies, state);
        if self.screen.as_ref().is_some_and(|screen| screen.has_changed().unwrap_or(false)) {
            self.match_windows(state);
        }
        self.finish_action(strategies, state);
    }

    async fn wait_for_event(&mut self) {
        let screen = self.screen.as_mut();
        let screen_changes = async {
            match screen {
                Some(screen) => match screen.changed().await {
                    // `drain_events` takes it in with everything else.
                    Ok(()) => screen.mark_changed(),
                    Err(_) => std::future::pending().await,
                },
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.queue.wait() => {}
            () = screen_changes => {}
        }
    }

    async fn read(
        &mut self,
        state: &mut WorkerState,
        keys: &[ElementKey],
        into: &mut Readings,
    ) -> Result<(), Failure> {
        if state.is_complete() {
            self.reader.drop_cache();
        }
        for some in keys.chunks(Self::STEPS.largest) {
            let mut read = self.reader.read(some).await?;
            if read.iter().any(|(_, reading)| reading.as_ref().is_some_and(|r| r.facts.role.is_window())) {
                self.match_windows(state);
                for (key, reading) in &mut read {
                    if let Some(reading) = reading {
                        reading.facts.window = self.reader.elements.window_number(*key);
                    }
                }
            }
            let facts =
                read.iter_mut().filter_map(|(key, reading)| Some((*key, &mut reading.as_mut()?.facts)));
            self.resolve_focus(state, facts);
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
            match children.filter(|_| !self.reader.elements.is_partial(*key)) {
                Some(children) => into.add_list(*key, children),
                // It is gone, or shows only some of them.
                None => others.push(*key),
            }
        }
        self.read(state, &others, into).await
    }

    async fn read_rows(&mut self, key: ElementKey, rows: Range<u32>) -> Result<Vec<ElementKey>, Failure> {
        self.reader.read_rows(key, rows).await
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
            |key: &&ElementKey| active.is_some() && self.reader.elements.window_number(**key) == active;
        Ok(windows.iter().find(is_active).copied())
    }

    async fn measure(&mut self, state: &WorkerState, keys: &[ElementKey]) -> Result<Vec<Measured>, Failure> {
        let screen = self.screen();
        self.reader.measure(keys, &state.mirror, screen.as_deref()).await
    }

    async fn hit_test(&mut self, state: &WorkerState, point: Point) -> Result<Vec<ElementKey>, Failure> {
        let screen = self.screen();
        let path = self.reader.hit_test(point, &state.mirror, screen.as_deref()).await?;
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
        self.start_action(state, key, act, gate, reply);
    }

    fn is_acting(&self) -> bool {
        self.running_action.is_some()
    }

    fn send_fence(&mut self, mark: u64) {
        let (events, queue) = (Arc::clone(&self.events), Arc::clone(&self.queue));
        let app = Arc::clone(&self.root.bus);
        tokio::spawn(async move { events.send_fence(&app, &queue, mark).await });
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

    fn forget_removed(&mut self, strategies: &mut Strategies, state: &WorkerState) {
        let keep = |key: ElementKey| state.mirror.knows(key) || state.unplaced.contains(&key);
        self.titles.retain(|key, _| keep(*key));
        strategies.delayed_rereads.retain(|key| state.mirror.has_sent(key));
        self.reader.prune(state.mirror.len(), keep);
    }

    async fn detach(&mut self) {
        self.events.unsubscribe(&self.root.bus, &self.queue).await;
    }
}

/// How often elements are read again unannounced: seldom, where the toolkit announces nearly everything.
fn pace(mute: bool) -> Pace {
    Pace {
        watch_first: Duration::from_millis(50),
        watch_last: Duration::from_millis(if mute { 250 } else { 500 }),
        watch_size: if mute { 32 } else { 16 },
        watched_every_turn: false,
        sweep_every: Duration::from_secs(1),
        sweep_size: if mute { 16 } else { 8 },
    }
}
