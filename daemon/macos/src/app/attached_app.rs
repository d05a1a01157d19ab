//! What runs on the thread of an attached app: it owns the app's elements and observers, answers the worker's requests, and
//! passes the app's notifications on. All calls wait for the app, so an app that hangs blocks its own thread and no other.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::{mpsc, oneshot};
use tracing::{debug, trace};

use super::enable_accessibility::{AccessibilityEnabler, Browser};
use super::reader::Reader;
use super::registration::{Observers, Registration};
use crate::appkit::host;
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::guard;
use crate::ax::observer::EventQueue;
use crate::ax::run_loop::{self, MessageQueue, MessageReceiver};
use crate::desktop::monitor::MonitorQueue;
use crate::ffi::names as n;
use axd_platform::mirror::Reading;
use axd_platform::worker::{AppNotification, AppRequest, ReplySender};
use axd_platform::{ElementKey, Failure, FailureKind};

/// How long an app may take to answer one call, in seconds. The worker waits a little longer for the whole reply.
pub const APP_REPLY_TIMEOUT: f32 = 0.7;
/// How long a fence may take to receive all that was announced before it.
const FENCE_DRAIN_TIMEOUT: Duration = Duration::from_millis(250);
/// The delay between probes of an app that does not answer, at first and at most.
const FIRST_PROBE_DELAY: Duration = Duration::from_millis(50);
const MAX_PROBE_DELAY: Duration = Duration::from_secs(2);
/// How long a reading may take before what is read so far is sent, and the rest is left to the next request.
const READ_BUDGET: Duration = Duration::from_millis(400);
/// How long what was read for an abandoned request may serve the next one.
const READ_AHEAD_LIFETIME: Duration = Duration::from_secs(3);
/// How long the parent of an element that is gone is not read again because of another one: some apps list what is gone for ever.
const GONE_PAUSE: Duration = Duration::from_secs(2);

/// A message to the thread of an app.
pub enum Message {
    /// The worker asks the app something.
    Request(AppRequest),
    /// The app became active: it may accept registrations now that it refused before.
    Activated,
    /// The window with this number is closed. The app may not have announced that.
    WindowClosed(u64),
    /// The machine woke from sleep: announcements were lost, and observers may be dead.
    SystemWoke,
    /// The app is being detached.
    Quit,
}

/// An attached app, on its thread.
pub struct AttachedApp {
    pub(super) pid: u32,
    pub(super) element: Element,
    pub(crate) reader: Reader,
    messages: MessageReceiver<Message>,
    pub(super) events: EventQueue,
    /// Observers, by the process they observe.
    pub(super) registrations: Observers,
    /// Where notifications go, once the worker observes the app.
    out: Option<mpsc::UnboundedSender<AppNotification>>,
    pub(super) monitor: MonitorQueue,
    /// Why the app cannot be observed completely, as last reported.
    refusal: Option<String>,
    /// Requests that wait until the app answers again.
    wakeup_waiters: Vec<oneshot::Sender<()>>,
    /// When the app is probed next for them, and the current delay.
    next_probe: (Instant, Duration),
    /// The element that had the keyboard focus last.
    pub(super) focused: Option<ElementKey>,
    /// Readings of requests that were abandoned, with their time.
    pub(super) read_ahead: HashMap<ElementKey, (Instant, Option<Reading>)>,
    /// The parents that were read again because a child was gone, and when.
    gone_below: HashMap<ElementKey, Instant>,
    pub(super) enabler: AccessibilityEnabler,
}

impl AttachedApp {
    /// Serves an app until it is detached.
    pub fn run(pid: u32, queue: Arc<MessageQueue<Message>>, monitor: MonitorQueue, browser: Arc<Browser>) {
        let Some(messages) = MessageReceiver::new(queue) else { return };
        let Some(element) = Element::app(pid) else { return };
        let now = Instant::now();
        let registrations = Observers::default();
        let mut app = AttachedApp {
            pid,
            reader: Reader::new(pid, element.clone(), Observers::clone(&registrations)),
            enabler: AccessibilityEnabler::new(browser),
            element,
            messages,
            events: EventQueue::default(),
            registrations,
            out: None,
            monitor,
            refusal: None,
            wakeup_waiters: Vec::new(),
            next_probe: (now, FIRST_PROBE_DELAY),
            focused: None,
            read_ahead: HashMap::new(),
            gone_below: HashMap::new(),
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
        if run_loop::wait(self.next_timeout()) {
            self.receive(Instant::now() + FENCE_DRAIN_TIMEOUT);
        }
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
                Message::WindowClosed(window) => {
                    self.reader.closed_windows.insert(window);
                    self.notify(AppNotification::Structure(ElementKey::APP));
                }
                Message::SystemWoke => {
                    debug!(pid = self.pid, "observing again after sleep");
                    let observed: Vec<u32> =
                        self.registrations.borrow_mut().drain().map(|(pid, _)| pid).collect();
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
        let retry = self.registrations.borrow().values().filter_map(Registration::retry_at).min();
        let probe = (!self.wakeup_waiters.is_empty()).then_some(self.next_probe.0);
        let due = retry.into_iter().chain(probe).min()?;
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
            AppRequest::Unfold(key) => {
                self.read_ahead.remove(&key);
                self.reader.unfolded.insert(key);
            }
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
        if self.is_observed(self.pid) {
            self.retry_registrations(true);
            self.notify(AppNotification::Refused(self.refusal.clone()));
            return Ok(());
        }
        self.enabler.enable(&self.element);
        self.register(self.pid);
        Ok(())
    }

    /// Whether a process is observed.
    fn is_observed(&self, pid: u32) -> bool {
        self.registrations.borrow().contains_key(&pid)
    }

    fn register(&mut self, pid: u32) {
        let registration = Registration::new(pid, &self.events);
        self.registrations.borrow_mut().insert(pid, registration);
        self.report_refusal();
    }

    /// Retries the registrations that are due, or all that are incomplete with `at_once`.
    fn retry_registrations(&mut self, at_once: bool) {
        let now = Instant::now();
        let due: Vec<u32> = self
            .registrations
            .borrow()
            .iter()
            .filter(|(_, registration)| registration.retry_at().is_some_and(|when| at_once || when <= now))
            .map(|(pid, _)| *pid)
            .collect();
        for pid in &due {
            if let Some(registration) = self.registrations.borrow_mut().get_mut(pid) {
                registration.retry(&self.events);
            }
        }
        if !due.is_empty() {
            self.report_refusal();
        }
    }

    /// Reports what the app refuses to announce, if that changed.
    fn report_refusal(&mut self) {
        let refusal = self.registrations.borrow().get(&self.pid).and_then(Registration::refusal);
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
        // If the port was full, the fence is reached only when everything has been read again.
        self.receive(Instant::now() + FENCE_DRAIN_TIMEOUT);
        self.process_notifications();
        let _ = out.send(AppNotification::Marker(mark));
    }

    /// Reads elements. Those that take too long are left out, and requested again.
    fn read(&mut self, keys: Vec<ElementKey>, reply: ReplySender<Vec<Option<Reading>>>) {
        let began = Instant::now();
        let mut read = Vec::with_capacity(keys.len());
        for key in &keys {
            if reply.is_closed() {
                return self.keep_readings(&keys, read);
            }
            if !read.is_empty() && began.elapsed() > READ_BUDGET {
                break;
            }
            let recent = self.read_ahead.remove(key).filter(|(when, _)| when.elapsed() < READ_AHEAD_LIFETIME);
            let parent = self.reader.parent_of(*key);
            let reading = match recent {
                Some((_, reading)) => Ok(reading),
                None => guard::catch_panic("reading an element", || self.reader.read(*key))
                    .unwrap_or_else(|| Ok(Some(self.reader.without_content(*key)))),
            };
            if let (Ok(None), Some(parent)) = (&reading, parent) {
                self.on_gone_below(parent);
            }
            match reading {
                Ok(reading) => read.push(reading),
                Err(error) => {
                    self.keep_readings(&keys, read);
                    let _ = reply.send(Err(unresponsive(error)));
                    return;
                }
            }
        }
        self.read_ahead.retain(|_, (when, _)| when.elapsed() < READ_AHEAD_LIFETIME);
        if let Err(Ok(read)) = reply.send(Ok(read)) {
            self.keep_readings(&keys, read);
        }
        self.after_read();
    }

    /// Has the parent of an element read again that turned out to be gone, because few apps announce that.
    fn on_gone_below(&mut self, parent: ElementKey) {
        self.gone_below.retain(|_, when| when.elapsed() < GONE_PAUSE);
        if let Entry::Vacant(entry) = self.gone_below.entry(parent) {
            entry.insert(Instant::now());
            self.notify(AppNotification::Structure(parent));
        }
    }

    /// Keeps what was read for a request that nobody waits for any more: the worker will ask again.
    fn keep_readings(&mut self, keys: &[ElementKey], read: Vec<Option<Reading>>) {
        let now = Instant::now();
        self.read_ahead.extend(keys.iter().copied().zip(read.into_iter().map(|read| (now, read))));
    }

    /// Observes other processes whose elements were read, requests pages that were empty, registers for new windows, and
    /// drops what is no longer needed.
    fn after_read(&mut self) {
        if self.reader.other_pids().iter().any(|pid| !self.is_observed(*pid)) {
            // A page that was loaded again may have moved to another process.
            self.reader.prune_processes();
            let others = self.reader.other_pids().clone();
            self.registrations.borrow_mut().retain(|pid, _| *pid == self.pid || others.contains(pid));
            for pid in others {
                if !self.is_observed(pid) {
                    self.register(pid);
                }
            }
            // These are read again, and observed before that.
            for key in std::mem::take(&mut self.reader.unobserved_containers) {
                self.notify(AppNotification::Structure(key));
            }
        }
        if !self.reader.empty_pages.is_empty() {
            self.reader.empty_pages.clear();
            self.enabler.enable_pages(&self.element);
        }
        for registration in self.registrations.borrow_mut().values_mut() {
            let handles = &self.reader.handles;
            registration.retain_windows(|window| handles.find(window).is_some());
        }
        self.poke_pages();
        for window in self.reader.children_of(ElementKey::APP).to_vec() {
            let Some(element) = self.reader.handles.get(window).filter(|_| self.reader.is_window(window))
            else {
                continue;
            };
            let pid = element.pid().unwrap_or(self.pid);
            if let Some(registration) = self.registrations.borrow_mut().get_mut(&pid) {
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
}

/// Why a reading failed. It counts as silence of the app, because only that makes the worker wait before it asks again.
fn unresponsive(error: AxError) -> Failure {
    Failure::new(FailureKind::Unresponsive, error.message())
}
