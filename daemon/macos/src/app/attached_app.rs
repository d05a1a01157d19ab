//! What runs on the thread of an attached app: it owns the app's elements and observers, answers the worker's requests, and
//! passes the app's notifications on. All calls wait for the app, so an app that hangs blocks its own thread and no other.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tracing::{debug, trace};

use super::enable_accessibility::{AccessibilityEnabler, Browser};
use super::notifications::{Effect, effect_of};
use super::reader::Reader;
use super::registration::Registration;
use crate::appkit::host;
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::guard;
use crate::ax::observer::{AxNotification, EventQueue};
use crate::ax::run_loop::{self, MessageQueue, MessageReceiver};
use crate::desktop::monitor::{MonitorEvent, MonitorQueue};
use crate::ffi::names as n;
use axd_platform::mirror::Reading;
use axd_platform::worker::{AppNotification, AppRequest, ReplySender};
use axd_platform::{ElementKey, Failure, FailureKind};

/// How long an app may take to answer one call, in seconds. The worker waits a little longer for the whole reply.
pub const APP_REPLY_TIMEOUT: f32 = 0.7;
/// How long a fence may take to receive all that was announced before it.
const FENCE_DRAIN_TIMEOUT: Duration = Duration::from_millis(250);
/// How long the parents of new elements are looked up before a batch of notifications is passed on without them.
const PARENT_LOOKUP_BUDGET: Duration = Duration::from_millis(50);
/// The delay between probes of an app that does not answer, at first and at most.
const FIRST_PROBE_DELAY: Duration = Duration::from_millis(50);
const MAX_PROBE_DELAY: Duration = Duration::from_secs(2);
/// How long what was read for an abandoned request may serve the next one.
const READ_AHEAD_LIFETIME: Duration = Duration::from_secs(3);
/// How many children are read again at most when a container's selection changes.
const MAX_SELECTION_REREADS: usize = 512;

/// A message to the thread of an app.
pub enum Message {
    /// The worker asks the app something.
    Request(AppRequest),
    /// The app became active: it may accept registrations now that it refused before.
    Activated,
    /// The machine woke from sleep: announcements were lost, and observers may be dead.
    SystemWoke,
    /// The app is being detached.
    Quit,
}

/// An attached app, on its thread.
pub struct AttachedApp {
    pid: u32,
    pub(super) element: Element,
    pub(crate) reader: Reader,
    messages: MessageReceiver<Message>,
    events: EventQueue,
    /// Observers, by the process they observe.
    registrations: HashMap<u32, Registration>,
    /// Where notifications go, once the worker observes the app.
    out: Option<mpsc::UnboundedSender<AppNotification>>,
    monitor: MonitorQueue,
    /// Why the app cannot be observed completely, as last reported.
    refusal: Option<String>,
    /// Requests that wait until the app answers again.
    wakeup_waiters: Vec<oneshot::Sender<()>>,
    /// When the app is probed next for them, and the current delay.
    next_probe: (Instant, Duration),
    /// The element that had the keyboard focus last.
    focused: Option<ElementKey>,
    /// Readings of requests that were abandoned, with their time.
    pub(super) read_ahead: HashMap<ElementKey, (Instant, Option<Reading>)>,
    pub(super) enabler: AccessibilityEnabler,
}

impl AttachedApp {
    /// Serves an app until it is detached.
    pub fn run(pid: u32, queue: Arc<MessageQueue<Message>>, monitor: MonitorQueue, browser: Arc<Browser>) {
        let Some(messages) = MessageReceiver::new(queue) else { return };
        let Some(element) = Element::app(pid) else { return };
        let now = Instant::now();
        let mut app = AttachedApp {
            pid,
            reader: Reader::new(pid, element.clone()),
            enabler: AccessibilityEnabler::new(browser),
            element,
            messages,
            events: EventQueue::default(),
            registrations: HashMap::new(),
            out: None,
            monitor,
            refusal: None,
            wakeup_waiters: Vec::new(),
            next_probe: (now, FIRST_PROBE_DELAY),
            focused: None,
            read_ahead: HashMap::new(),
        };
        loop {
            match guard::catch_panic("an app's thread", || host::with_autorelease_pool(|| app.run_once())) {
                Some(true) => {}
                Some(false) => break,
                None => app.recover(),
            }
        }
        app.enabler.restore(&app.element);
    }

    /// One iteration of the thread's loop. False once the app is detached.
    fn run_once(&mut self) -> bool {
        if !self.handle_messages() {
            return false;
        }
        self.process_notifications();
        self.retry_registrations(false);
        self.probe();
        run_loop::wait(self.next_timeout());
        true
    }

    /// Handles the messages that have arrived. False once the app is detached.
    fn handle_messages(&mut self) -> bool {
        while let Some(message) = self.messages.try_recv() {
            match message {
                Message::Request(request) if request.is_given_up() => {}
                Message::Request(request) => {
                    self.process_notifications();
                    self.handle_request(request);
                }
                Message::Activated => {
                    self.retry_registrations(true);
                    self.enabler.forget_pokes();
                    self.poke_pages();
                }
                Message::SystemWoke => {
                    debug!(pid = self.pid, "observing again after sleep");
                    let observed: Vec<u32> = self.registrations.drain().map(|(pid, _)| pid).collect();
                    observed.into_iter().for_each(|pid| self.register(pid));
                    self.notify(AppNotification::Everything);
                }
                Message::Quit => return false,
            }
        }
        true
    }

    /// How long the loop may wait before a retry or a probe is due; `None` if neither is.
    fn next_timeout(&self) -> Option<Duration> {
        let retries = self.registrations.values().filter_map(Registration::retry_at);
        let probe = (!self.wakeup_waiters.is_empty()).then_some(self.next_probe.0);
        let due = retries.chain(probe).min()?;
        Some(due.saturating_duration_since(Instant::now()).max(Duration::from_millis(1)))
    }

    fn handle_request(&mut self, request: AppRequest) {
        trace!(pid = self.pid, request = request.name(), "asked");
        // The worker may have stopped waiting by the time there is a reply, so that it cannot be sent.
        match request {
            AppRequest::Observe(out, reply) => {
                let result = self.attempt(|app| app.observe(out));
                let _ = reply.send(result);
            }
            AppRequest::Mark(mark, out) => self.send_fence(mark, &out),
            AppRequest::Read(keys, reply) => self.read(keys, reply),
            AppRequest::Measure(keys, reply) => {
                let measured = self.attempt(|app| app.reader.measure(&keys).map_err(AxError::read_failure));
                let _ = reply.send(measured);
            }
            AppRequest::At(point, reply) => {
                let path = self.attempt(|app| app.reader.hit_test(point).map_err(AxError::read_failure));
                let _ = reply.send(path);
            }
            AppRequest::Path(key, reply) => {
                let path = self.attempt(|app| app.reader.path(key).map_err(AxError::read_failure));
                let _ = reply.send(path);
            }
            AppRequest::Front(reply) => {
                let front = self.attempt(|app| app.front_window().map_err(AxError::read_failure));
                let _ = reply.send(front);
            }
            AppRequest::Act(key, act, gate, reply) => {
                let result = self.attempt_action(key, &act, &gate);
                self.read_ahead.clear();
                let _ = reply.send(result);
            }
            AppRequest::Awake(reply) => {
                self.wakeup_waiters.push(reply);
                self.next_probe = (Instant::now(), FIRST_PROBE_DELAY);
                self.probe();
            }
        }
    }

    /// Registers for the app's notifications, before anything of it is read.
    fn observe(&mut self, out: mpsc::UnboundedSender<AppNotification>) -> Result<(), Failure> {
        // An app that does not answer this would hold up each of the many calls that follow.
        match self.element.get(n::kAXRoleAttribute) {
            Ok(_) => {}
            Err(error @ AxError::NOT_ALLOWED) => {
                self.refusal = Some(error.message());
                let _ = out.send(AppNotification::Refused(self.refusal.clone()));
                // The worker asks again when the app answers, which is when the permission was granted.
                return Err(unresponsive(error));
            }
            Err(error @ AxError::BUSY) => return Err(error.read_failure()),
            // The error is unexpected, but the app answers.
            Err(_) => {}
        }
        self.out = Some(out);
        // The worker repeats the request if the first reply was too slow; what was accepted then is still registered.
        if self.registrations.contains_key(&self.pid) {
            self.retry_registrations(true);
            self.notify(AppNotification::Refused(self.refusal.clone()));
            return Ok(());
        }
        self.enabler.enable(&self.element);
        self.register(self.pid);
        Ok(())
    }

    fn register(&mut self, pid: u32) {
        let registration = Registration::new(pid, &self.events);
        self.registrations.insert(pid, registration);
        self.report_refusal();
    }

    /// Retries the registrations that are due, or all that are incomplete with `at_once`.
    fn retry_registrations(&mut self, at_once: bool) {
        let now = Instant::now();
        let due: Vec<u32> = self
            .registrations
            .iter()
            .filter(|(_, registration)| registration.retry_at().is_some_and(|when| at_once || when <= now))
            .map(|(pid, _)| *pid)
            .collect();
        for pid in &due {
            if let Some(registration) = self.registrations.get_mut(pid) {
                registration.retry(&self.events);
            }
        }
        if !due.is_empty() {
            self.report_refusal();
        }
    }

    /// Reports what the app refuses to announce, if that changed.
    fn report_refusal(&mut self) {
        let refusal = self.registrations.get(&self.pid).and_then(Registration::refusal);
        if refusal != self.refusal {
            self.refusal.clone_from(&refusal);
            self.notify(AppNotification::Refused(refusal));
        }
    }

    /// Sends a notification to the worker.
    pub(super) fn notify(&self, note: AppNotification) {
        if let Some(out) = &self.out {
            // The worker is gone if the app is being detached.
            let _ = out.send(note);
        }
    }

    /// Sends a marker behind everything that the app has announced so far.
    fn send_fence(&mut self, mark: u64, out: &mpsc::UnboundedSender<AppNotification>) {
        // An app answers in order, so its earlier announcements are on their way before its answer. Some announcements are
        // made at the end of an iteration of its run loop: a second call is answered in the next iteration.
        for _ in 0..2 {
            if self.element.get(n::kAXRoleAttribute) == Err(AxError::BUSY) {
                // Without a marker the fence times out, and its waiters learn that the app does not answer.
                return;
            }
        }
        let end = Instant::now() + FENCE_DRAIN_TIMEOUT;
        while run_loop::wait(Some(Duration::ZERO)) && Instant::now() < end {}
        self.process_notifications();
        let _ = out.send(AppNotification::Marker(mark));
    }

    fn read(&mut self, keys: Vec<ElementKey>, reply: ReplySender<Vec<Option<Reading>>>) {
        let mut read = Vec::with_capacity(keys.len());
        for key in &keys {
            if reply.is_closed() {
                // The worker stopped waiting but will ask again: what was read so far need not be read twice.
                let now = Instant::now();
                self.read_ahead.extend(keys.iter().copied().zip(read.into_iter().map(|read| (now, read))));
                return;
            }
            let recent = self.read_ahead.remove(key).filter(|(when, _)| when.elapsed() < READ_AHEAD_LIFETIME);
            let reading = match recent {
                Some((_, reading)) => Ok(reading),
                None => guard::catch_panic("reading an element", || self.reader.read(*key))
                    .unwrap_or_else(|| Ok(Some(self.reader.without_content(*key)))),
            };
            match reading {
                Ok(reading) => read.push(reading),
                Err(error) => {
                    let now = Instant::now();
                    self.read_ahead
                        .extend(keys.iter().copied().zip(read.into_iter().map(|read| (now, read))));
                    let _ = reply.send(Err(unresponsive(error)));
                    return;
                }
            }
        }
        self.read_ahead.retain(|_, (when, _)| when.elapsed() < READ_AHEAD_LIFETIME);
        let _ = reply.send(Ok(read));
        self.after_read();
    }

    /// Observes other processes whose elements were read, requests pages that were empty, registers for new windows, and
    /// drops what is no longer needed.
    fn after_read(&mut self) {
        if self.reader.other_pids().iter().any(|pid| !self.registrations.contains_key(pid)) {
            // A page that was loaded again may have moved to another process.
            self.reader.prune_processes();
            let others = self.reader.other_pids().clone();
            self.registrations.retain(|pid, _| *pid == self.pid || others.contains(pid));
            for pid in others {
                if !self.registrations.contains_key(&pid) {
                    self.register(pid);
                }
            }
        }
        if !self.reader.empty_pages.is_empty() {
            self.reader.empty_pages.clear();
            self.enabler.enable_pages(&self.element);
        }
        self.poke_pages();
        for window in self.reader.children_of(ElementKey::APP).to_vec() {
            let Some(element) = self.reader.handles.get(window).filter(|_| self.reader.is_window(window))
            else {
                continue;
            };
            let pid = element.pid().unwrap_or(self.pid);
            if let Some(registration) = self.registrations.get_mut(&pid) {
                registration.add_window(element);
            }
        }
        self.reader.prune();
    }

    /// The app's focused window, or else its main window.
    fn front_window(&mut self) -> Result<Option<ElementKey>, AxError> {
        for attribute in [n::kAXFocusedWindowAttribute, n::kAXMainWindowAttribute] {
            match self.element.element(attribute) {
                Ok(Some(window)) => return Ok(Some(self.reader.handles.key(&window))),
                Err(error) if error.is_app_level() => return Err(error),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Tests whether an app that did not answer does now, if a probe is due, and tells those who wait for that.
    fn probe(&mut self) {
        self.wakeup_waiters.retain(|waiter| !waiter.is_closed());
        let (due, delay) = self.next_probe;
        if self.wakeup_waiters.is_empty() || Instant::now() < due {
            return;
        }
        match self.element.get(n::kAXRoleAttribute) {
            Err(error) if error.is_app_level() => {
                let delay = (delay * 2).min(MAX_PROBE_DELAY);
                self.next_probe = (Instant::now() + delay, delay);
            }
            _ => {
                for waiter in self.wakeup_waiters.drain(..) {
                    // It may have stopped waiting just now.
                    let _ = waiter.send(());
                }
            }
        }
    }

    /// Passes on all notifications that were received.
    fn process_notifications(&mut self) {
        let began = Instant::now();
        while let Some(notification) = self.events.pop() {
            self.on_notification(&notification, began.elapsed() < PARENT_LOOKUP_BUDGET);
        }
        if self.events.take_overflow() {
            debug!(pid = self.pid, "so much was announced that everything is read again");
            self.notify(AppNotification::Everything);
        }
    }

    /// Passes on one notification; `may_ask` says whether the app may be asked for more about it.
    fn on_notification(&mut self, notification: &AxNotification, may_ask: bool) {
        let Some(effect) = effect_of(&notification.name) else { return };
        trace!(pid = self.pid, name = notification.name, "announced");
        if let Some(key) = self.reader.handles.find(&notification.element) {
            self.read_ahead.remove(&key);
        }
        match effect {
            Effect::Destroyed => {
                if let Some(key) = self.reader.handles.find(&notification.element) {
                    let was_window = self.reader.is_window(key);
                    self.notify(AppNotification::Destroyed(key));
                    if was_window {
                        self.notify_monitor();
                    }
                }
                return;
            }
            Effect::Announcement => {
                if let Some(text) = notification.announcement.clone().filter(|text| !text.is_empty()) {
                    self.notify(AppNotification::Announced(text));
                }
                return;
            }
            Effect::Moved => return self.notify_monitor(),
            _ => {}
        }
        let key = self.reader.handles.key(&notification.element);
        match effect {
            Effect::Changed => {
                self.notify(AppNotification::Changed(key));
                if self.reader.is_window(key) {
                    self.notify_monitor();
                }
            }
            Effect::ChildrenChanged => self.notify(AppNotification::Structure(key)),
            Effect::Created => {
                // The parent is looked up only while there is time for it: there may be many new elements at once.
                let parent = match self.reader.parent_of(key) {
                    None if may_ask => notification.element.element(n::kAXParentAttribute).ok().flatten(),
                    _ => None,
                };
                let parent = parent.and_then(|parent| self.reader.handles.find(&parent));
                match parent.or_else(|| self.reader.parent_of(key)) {
                    Some(parent) => self.notify(AppNotification::Structure(parent)),
                    None => self.notify(AppNotification::Structure(key)),
                }
            }
            Effect::WindowCreated | Effect::WindowFocusMoved => {
                self.notify(AppNotification::Structure(ElementKey::APP));
                if key != ElementKey::APP {
                    self.notify(AppNotification::Changed(key));
                }
                self.notify_monitor();
            }
            Effect::AppStateChanged => {
                self.enabler.forget_pokes();
                self.notify(AppNotification::Changed(ElementKey::APP));
                self.notify_monitor();
            }
            Effect::FocusMoved => {
                let before = self.focused.replace(key);
                before.into_iter().for_each(|before| self.notify(AppNotification::Changed(before)));
                self.notify(AppNotification::Changed(key));
            }
            Effect::SelectionChanged => {
                self.notify(AppNotification::Structure(key));
                let children: Vec<ElementKey> = self.reader.selectable_children(key, MAX_SELECTION_REREADS);
                children.into_iter().for_each(|child| self.notify(AppNotification::Changed(child)));
            }
            Effect::ExpansionChanged => {
                // Which rows are below which is read from the outline.
                self.reader
                    .outline_of(key)
                    .into_iter()
                    .for_each(|outline| self.notify(AppNotification::Structure(outline)));
                self.notify(AppNotification::Structure(key));
                if let Some(parent) = self.reader.parent_of(key) {
                    self.notify(AppNotification::Structure(parent));
                }
            }
            Effect::MenuOpened | Effect::MenuClosed => {
                let changed = self.reader.set_menu_open(key, effect == Effect::MenuOpened);
                changed.into_iter().for_each(|key| self.notify(AppNotification::Structure(key)));
                if let Some(parent) = self.reader.parent_of(key) {
                    self.notify(AppNotification::Structure(parent));
                }
            }
            Effect::Destroyed | Effect::Announcement | Effect::Moved => {}
        }
        for element in &notification.other_elements {
            let key = self.reader.handles.key(element);
            self.notify(AppNotification::Structure(key));
        }
    }

    /// Tells the desktop monitor that the app's windows may have changed.
    fn notify_monitor(&self) {
        // The monitor has ended if the daemon stops.
        let _ = self.monitor.send(MonitorEvent::Windows(self.pid));
    }
}

/// Why a reading failed. It counts as silence of the app, because only that makes the worker wait before it asks again.
fn unresponsive(error: AxError) -> Failure {
    Failure::new(FailureKind::Unresponsive, error.message())
}
