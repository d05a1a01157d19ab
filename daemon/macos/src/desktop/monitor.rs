//! Reports which apps, windows and displays there are, and which app and window are in front.
//!
//! A thread with a run loop. AppKit reports apps; each app is observed for changes of its windows. On any sign of a change
//! the window server's list is read again, at once and a little later, because that list lags behind. While an app cannot be
//! observed, the list is polled.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axd_protocol::DisplayInfo;
use tokio::sync::mpsc;
use tracing::{debug, info};

use super::displays::{self, Display};
use super::mac_desktop::Shared;
use super::windows::{self, WindowState};
use crate::app::attached_app::Message;
use crate::appkit;
use crate::appkit::host::{self, HostApp, HostAppKind, HostEvent, HostScreen};
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::guard;
use crate::ax::observer::{EventQueue, Observer};
use crate::ax::run_loop::{self, MessageQueue, MessageReceiver};
use crate::ffi::names as n;
use axd_platform::{DesktopEvent, DesktopWindow};

/// How long an app may take to answer a call about its windows, in seconds.
const WINDOW_REPLY_TIMEOUT: f32 = 0.25;
/// When to read the window server's list again after a sign of change, because the list lags behind.
const REFRESH_DELAYS: [Duration; 3] =
    [Duration::from_millis(60), Duration::from_millis(250), Duration::from_millis(1000)];
/// How often to poll while an app cannot be observed, and at most to ask AppKit for all apps.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// The delay before an app that did not answer is asked again, at first and at most.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(500);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);

/// The notifications that are registered for on the app.
const APP_NOTIFICATIONS: &[&str] = &[
    n::kAXWindowCreatedNotification,
    n::kAXWindowMovedNotification,
    n::kAXWindowResizedNotification,
    n::kAXWindowMiniaturizedNotification,
    n::kAXWindowDeminiaturizedNotification,
    n::kAXFocusedWindowChangedNotification,
    n::kAXMainWindowChangedNotification,
];
/// Those that apps send only for windows they were registered for on the window itself.
const WINDOW_NOTIFICATIONS: &[&str] = &[n::kAXUIElementDestroyedNotification, n::kAXTitleChangedNotification];

/// A message to the monitor: what may have changed.
#[derive(Debug)]
pub enum MonitorEvent {
    /// The windows of an app.
    Windows(u32),
    /// The displays.
    Displays,
    /// AppKit reports an event.
    Host(HostEvent),
    /// The daemon stops.
    Quit,
}

/// How others reach the monitor.
pub type MonitorQueue = Arc<MessageQueue<MonitorEvent>>;

/// The desktop as it was last reported.
#[derive(Default)]
struct Reported {
    windows: Vec<DesktopWindow>,
    front: (Option<u32>, Option<u64>),
    displays: Vec<DisplayInfo>,
}

/// Monitors the desktop.
pub struct DesktopMonitor {
    shared: Arc<Shared>,
    out: mpsc::UnboundedSender<DesktopEvent>,
    reported: Reported,
    screens: Vec<HostScreen>,
    displays: Vec<Display>,
    apps: HashMap<u32, MonitoredApp>,
    /// The active app.
    front: Option<u32>,
    queue: EventQueue,
    /// When to read the window server's list next.
    refreshes: Vec<Instant>,
    /// When AppKit was last asked for all apps.
    last_rescan: Option<Instant>,
}

/// An app whose windows are monitored.
struct MonitoredApp {
    app: HostApp,
    element: Element,
    observer: Option<Observer>,
    /// Its windows with their ids, as last read from the app.
    windows: HashMap<Element, (u64, WindowState)>,
    /// When to ask it again if it did not answer, and the current delay.
    next_retry: Option<(Instant, Duration)>,
    /// Whether its windows may have changed since they were read.
    dirty: bool,
}

impl DesktopMonitor {
    /// Reads the desktop and reports all of it before this returns.
    pub fn new(shared: Arc<Shared>, out: mpsc::UnboundedSender<DesktopEvent>) -> DesktopMonitor {
        let mut monitor = DesktopMonitor {
            shared,
            out,
            reported: Reported::default(),
            screens: Vec::new(),
            displays: Vec::new(),
            apps: HashMap::new(),
            front: None,
            queue: EventQueue::default(),
            refreshes: Vec::new(),
            last_rescan: None,
        };
        let seen = host::run_on_main_blocking(|| (appkit::running(), appkit::frontmost(), appkit::screens()));
        let (running, front, screens) = seen.unwrap_or_default();
        monitor.screens = screens;
        for app in running {
            monitor.add_app(app);
        }
        monitor.front = front;
        monitor.refresh_displays();
        monitor.refresh_windows(false);
        monitor
    }

    /// Monitors the desktop until the daemon stops. Runs on a thread of its own.
    pub fn run(mut self, queue: MonitorQueue) {
        let Some(events) = MessageReceiver::new(queue) else { return };
        for monitored in self.apps.values_mut() {
            monitored.dirty = true;
        }
        self.refreshes.push(Instant::now());
        loop {
            match guard::catch_panic("the desktop", || host::with_autorelease_pool(|| self.run_once(&events)))
            {
                Some(true) => {}
                Some(false) => return,
                None => self.recover(),
            }
        }
    }

    /// Has everything looked at again after a panic. The pause is for one that comes again at once.
    fn recover(&mut self) {
        for monitored in self.apps.values_mut() {
            monitored.dirty = true;
        }
        self.schedule_refresh();
        run_loop::wait(Some(guard::PAUSE_AFTER_PANIC));
    }

    /// One iteration of the thread's loop. False once the daemon stops.
    fn run_once(&mut self, events: &MessageReceiver<MonitorEvent>) -> bool {
        while let Some(event) = events.try_recv() {
            if matches!(event, MonitorEvent::Quit) {
                return false;
            }
            self.handle_event(event);
        }
        self.drain_notifications();
        self.query_dirty_apps();
        let now = Instant::now();
        if self.refreshes.iter().any(|when| *when <= now) {
            self.refreshes.retain(|when| *when > now);
            self.refresh_windows(true);
        }
        let handled = run_loop::wait(self.next_timeout());
        if !handled && self.refreshes.is_empty() && self.has_unobserved_app() {
            self.refreshes.push(Instant::now());
        }
        !self.out.is_closed()
    }

    /// Whether an app in the Dock cannot be observed.
    fn has_unobserved_app(&self) -> bool {
        self.apps.values().any(|monitored| monitored.observer.is_none() && monitored.is_shown())
    }

    fn next_timeout(&self) -> Option<Duration> {
        let asks = self.apps.values().filter_map(|monitored| monitored.next_retry.map(|(when, _)| when));
        let now = Instant::now();
        let routine = self.has_unobserved_app().then(|| now + POLL_INTERVAL);
        let due = self.refreshes.iter().copied().chain(asks).chain(routine).min()?;
        Some(due.saturating_duration_since(now).max(Duration::from_millis(1)))
    }

    fn send(&self, event: DesktopEvent) {
        // The receiver is gone if the daemon stops.
        let _ = self.out.send(event);
    }

    fn schedule_refresh(&mut self) {
        let now = Instant::now();
        self.refreshes = std::iter::once(now).chain(REFRESH_DELAYS.map(|later| now + later)).collect();
    }

    fn handle_event(&mut self, event: MonitorEvent) {
        match event {
            MonitorEvent::Windows(pid) => self.mark_dirty(pid),
            MonitorEvent::Displays => {
                self.screens = host::run_on_main_blocking(appkit::screens).unwrap_or_default();
                self.refresh_displays();
                self.schedule_refresh();
            }
            MonitorEvent::Host(event) => self.on_host_event(event),
            MonitorEvent::Quit => {}
        }
    }

    fn mark_dirty(&mut self, pid: u32) {
        if let Some(monitored) = self.apps.get_mut(&pid) {
            monitored.dirty = true;
        }
        self.schedule_refresh();
    }

    fn on_host_event(&mut self, event: HostEvent) {
        match event {
            HostEvent::Launched(app) => {
                self.add_app(app);
                self.schedule_refresh();
            }
            HostEvent::Terminated { pid } => self.remove_app(pid),
            HostEvent::Activated { pid } => {
                self.front = Some(pid);
                self.shared.send(Some(pid), || Message::Activated);
                if let Some(monitored) = self.apps.get_mut(&pid) {
                    monitored.next_retry = monitored.next_retry.map(|_| (Instant::now(), FIRST_RETRY_DELAY));
                }
                self.mark_dirty(pid);
            }
            HostEvent::Hidden { pid } => {
                self.shared.set_hidden(pid, true);
                self.mark_dirty(pid);
            }
            HostEvent::Shown { pid } => {
                self.shared.set_hidden(pid, false);
                self.mark_dirty(pid);
            }
            HostEvent::SpaceChanged => self.schedule_refresh(),
            HostEvent::WillSleep => info!("the machine goes to sleep"),
            HostEvent::DidWake => {
                info!("the machine is awake again");
                self.shared.send(None, || Message::SystemWoke);
                for monitored in self.apps.values_mut() {
                    (monitored.observer, monitored.dirty) = (None, true);
                    monitored.windows.clear();
                }
                self.refresh_displays();
                self.schedule_refresh();
            }
        }
    }

    /// Adds an app, and reports it.
    fn add_app(&mut self, app: HostApp) {
        let ours = app.pid == std::process::id();
        if ours || app.kind == HostAppKind::Background || self.apps.contains_key(&app.pid) {
            return;
        }
        let Some(element) = Element::app(app.pid) else { return };
        element.set_timeout(WINDOW_REPLY_TIMEOUT);
        let seen = self.shared.add_app(&app);
        let pid = app.pid;
        let windows = HashMap::new();
        self.apps.insert(
            pid,
            MonitoredApp { app, element, observer: None, windows, next_retry: None, dirty: true },
        );
        self.send(DesktopEvent::AppUp(seen));
    }

    fn remove_app(&mut self, pid: u32) {
        if self.apps.remove(&pid).is_some() {
            self.shared.remove_app(pid);
            self.send(DesktopEvent::AppGone { pid });
            self.schedule_refresh();
        }
    }

    /// Marks the apps dirty whose windows changed by their notifications.
    fn drain_notifications(&mut self) {
        while let Some(notification) = self.queue.pop() {
            if notification.name == n::kAXUIElementDestroyedNotification {
                for monitored in self.apps.values_mut() {
                    monitored.windows.remove(&notification.element);
                }
            }
            match notification.element.pid() {
                Some(pid) => self.mark_dirty(pid),
                None => self.schedule_refresh(),
            }
        }
        if self.queue.take_overflow() {
            self.apps.values_mut().for_each(|monitored| monitored.dirty = true);
            self.schedule_refresh();
        }
    }

    /// Reads the windows of dirty apps from the apps themselves.
    fn query_dirty_apps(&mut self) {
        let now = Instant::now();
        for monitored in self.apps.values_mut() {
            let is_due = monitored.next_retry.is_none_or(|(when, _)| when <= now);
            if (monitored.dirty || monitored.next_retry.is_some()) && is_due {
                match monitored.query_windows(&self.queue) {
                    Ok(()) => monitored.next_retry = None,
                    Err(error) => {
                        let delay = monitored.next_retry.map_or(FIRST_RETRY_DELAY, |(_, delay)| delay);
                        debug!(
                            pid = monitored.app.pid,
                            error = error.name(),
                            "an app does not tell its windows"
                        );
                        let later = (delay * 2).min(MAX_RETRY_DELAY);
                        monitored.next_retry = Some((Instant::now() + delay, later));
                    }
                }
                monitored.dirty = false;
                if self.refreshes.is_empty() {
                    self.refreshes.push(now);
                }
            }
        }
    }

    /// Reads the windows and reports what changed. With `ask`, the active app is asked for its focused window.
    fn refresh_windows(&mut self, ask: bool) {
        let listed = windows::on_screen();
        self.rescan_apps(&listed);
        let mut seen = self.merged_windows(&listed);
        // A window that has left the screen is closed or minimised. The app knows which, and may not have announced it yet.
        let left = self
            .reported
            .windows
            .iter()
            .filter(|reported| !seen.iter().any(|seen| seen.window == reported.window));
        let pids: Vec<u32> =
            left.map(|reported| reported.pid).filter(|pid| self.apps.contains_key(pid)).collect();
        // The tree of an app that did not announce it has the window still.
        pids.iter().for_each(|pid| self.shared.send(Some(*pid), || Message::WindowLeft));
        if ask && !pids.is_empty() {
            let theirs = self.apps.iter_mut().filter(|(pid, _)| pids.contains(pid));
            theirs.for_each(|(_, monitored)| monitored.dirty = true);
            self.query_dirty_apps();
            seen = self.merged_windows(&listed);
        }
        let pid = self.front.filter(|pid| self.apps.contains_key(pid));
        let focused = pid.filter(|_| ask).and_then(|pid| self.apps.get(&pid)?.focused());
        let first = || seen.iter().find(|window| Some(window.pid) == pid && !window.minimized);
        let window = focused.or_else(|| first().map(|window| window.window));
        // Two events report this, and between them a client must not see what never was: a front window that was minimised
        // loses the focus first, and a window that appears is reported before it gets the focus.
        let is_up = |window: u64| {
            self.reported.windows.iter().any(|reported| reported.window == window && !reported.minimized)
        };
        if window.is_none_or(is_up) {
            self.report_front(pid, window);
        }
        if seen != self.reported.windows {
            self.reported.windows.clone_from(&seen);
            self.send(DesktopEvent::Windows(seen));
        }
        self.report_front(pid, window);
    }

    fn report_front(&mut self, pid: Option<u32>, window: Option<u64>) {
        if self.reported.front != (pid, window) {
            self.reported.front = (pid, window);
            self.send(DesktopEvent::Frontmost { pid, window });
        }
    }

    /// The windows of the window server's list, merged with what the apps report of theirs.
    fn merged_windows(&self, listed: &[windows::ListedWindow]) -> Vec<DesktopWindow> {
        let state = self.apps.values().flat_map(|monitored| {
            monitored.windows.values().map(|(window, state)| (*window, (monitored.app.pid, state.clone())))
        });
        windows::merge(listed, &state.collect(), &self.displays, |pid| self.apps.contains_key(&pid))
    }

    /// Asks AppKit for all apps if windows hint at an unknown one: AppKit does not announce apps without a Dock icon.
    fn rescan_apps(&mut self, listed: &[windows::ListedWindow]) {
        let silent: Vec<u32> = self
            .apps
            .values()
            .filter(|monitored| monitored.app.kind != HostAppKind::Regular)
            .map(|monitored| monitored.app.pid)
            .collect();
        let is_unknown = |window: &windows::ListedWindow| {
            window.pid != std::process::id() && !self.apps.contains_key(&window.pid)
        };
        let unknown = listed.iter().any(is_unknown);
        let recently = self.last_rescan.is_some_and(|when| when.elapsed() < POLL_INTERVAL);
        if (silent.is_empty() && !unknown) || recently {
            return;
        }
        self.last_rescan = Some(Instant::now());
        let Some(running) = host::run_on_main_blocking(appkit::running) else { return };
        for pid in silent {
            if !running.iter().any(|app| app.pid == pid) {
                self.remove_app(pid);
            }
        }
        running.into_iter().for_each(|app| self.add_app(app));
    }

    fn refresh_displays(&mut self) {
        self.displays = displays::list(&self.screens);
        let reported: Vec<DisplayInfo> = self.displays.iter().map(|display| display.info.clone()).collect();
        *self.shared.displays.lock() = self.displays.clone();
        if reported != self.reported.displays {
            self.reported.displays.clone_from(&reported);
            self.send(DesktopEvent::Displays(reported));
        }
    }
}

impl MonitoredApp {
    /// Whether the app is in the Dock.
    fn is_shown(&self) -> bool {
        self.app.kind == HostAppKind::Regular
    }

    /// Observes the app if it is not observed yet, and reads its windows.
    fn query_windows(&mut self, queue: &EventQueue) -> Result<(), AxError> {
        if self.observer.is_none() {
            let observer = Observer::new(self.app.pid, queue)?;
            for name in APP_NOTIFICATIONS {
                match observer.add(&self.element, name) {
                    Err(error) if error.is_app_level() => return Err(error),
                    // A notification that it does not support is made up for by the others.
                    _ => {}
                }
            }
            self.observer = Some(observer);
        }
        let open = match self.element.elements(n::kAXWindowsAttribute) {
            Err(error) if error.is_app_level() => return Err(error),
            open => open.unwrap_or_default(),
        };
        // The windows of a hidden app count as minimised.
        let hidden = self.element.boolean(n::kAXHiddenAttribute).ok().flatten() == Some(true);
        self.windows.retain(|window, _| open.contains(window));
        for window in open {
            let number = match self.windows.get(&window) {
                Some((number, _)) => Some(*number),
                None => self.observe_window(&window),
            };
            let Some(number) = number else { continue };
            let state = match read_window(&window, hidden) {
                Err(error) if error.is_app_level() => return Err(error),
                Err(_) => continue,
                Ok(state) => state,
            };
            self.windows.insert(window, (number, state));
        }
        Ok(())
    }

    /// Registers for the notifications of a new window, and returns the window's id.
    fn observe_window(&self, window: &Element) -> Option<u64> {
        window.set_timeout(WINDOW_REPLY_TIMEOUT);
        let number = window.window_number()?;
        for name in WINDOW_NOTIFICATIONS {
            // Without the notification, the change is seen at the next refresh.
            let _ = self.observer.as_ref().map(|observer| observer.add(window, name));
        }
        Some(number)
    }

    /// The focused window of this app.
    fn focused(&self) -> Option<u64> {
        let window = self.element.element(n::kAXFocusedWindowAttribute).ok().flatten()?;
        match self.windows.get(&window) {
            // A minimised window is not in front, even if its app reports it as focused.
            Some((_, state)) if state.minimized => None,
            Some((number, _)) => Some(*number),
            None => window.window_number(),
        }
    }
}

fn read_window(window: &Element, hidden: bool) -> Result<WindowState, AxError> {
    let minimized = hidden || window.boolean(n::kAXMinimizedAttribute)?.unwrap_or_default();
    Ok(WindowState {
        title: window.text(n::kAXTitleAttribute)?.filter(|title| !title.is_empty()),
        // The window server lists the bounds of all others.
        bounds: if minimized { super::window_ops::frame(window)? } else { None },
        minimized,
        full_screen: window.boolean(n::AXFullScreen).ok().flatten().unwrap_or_default(),
    })
}
