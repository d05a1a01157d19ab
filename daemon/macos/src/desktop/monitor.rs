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
use super::monitored_app::{MonitoredApp, WINDOW_REPLY_TIMEOUT};
use super::windows;
use crate::app::attached_app::Message;
use crate::appkit;
use crate::appkit::host::{self, HostApp, HostAppKind, HostEvent, HostScreen};
use crate::ax::element::Element;
use crate::ax::guard;
use crate::ax::observer::EventQueue;
use crate::ax::run_loop::{self, MessageQueue, MessageReceiver};
use crate::ffi::names as n;
use axd_platform::{DesktopEvent, DesktopWindow};

/// When to read the window server's list again after a sign of change, because the list lags behind.
const REFRESH_DELAYS: [Duration; 3] =
    [Duration::from_millis(60), Duration::from_millis(250), Duration::from_millis(1000)];
/// How often to poll while an app cannot be observed, and at most to ask AppKit for all apps.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How often it is checked whether every app still runs: AppKit does not always tell that one has ended.
const END_CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// How long after a display changed AppKit is asked again what of it windows may use: it learns that later than CoreGraphics.
const DISPLAY_DELAY: Duration = Duration::from_secs(1);
/// How long after another space is shown windows that left the screen are taken to be on the one before.
const SPACE_CHANGE_TIME: Duration = Duration::from_secs(2);
/// How long a window that left the screen and still exists is kept until another space is said to be shown. The last look after a
/// sign of change comes later than this.
const SPACE_CHANGE_GRACE: Duration = Duration::from_millis(900);
/// The delay before an app that did not answer is asked again, at first and at most.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(500);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);

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
    /// When it is checked next whether every app still runs.
    next_end_check: Instant,
    /// When the displays are read once more.
    displays_again: Option<Instant>,
    /// When another space was last shown.
    space_changed: Option<Instant>,
    /// Windows that are, or may be, on a space that is not shown.
    elsewhere: HashMap<u64, WindowElsewhere>,
}

/// A window that left the screen and still exists.
struct WindowElsewhere {
    /// The window as last seen, put away.
    window: DesktopWindow,
    /// When it left the screen.
    since: Instant,
    /// Whether another space was shown about then.
    confirmed: bool,
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
            next_end_check: Instant::now() + END_CHECK_INTERVAL,
            // They may have changed just before.
            displays_again: Some(Instant::now() + DISPLAY_DELAY),
            space_changed: None,
            elsewhere: HashMap::new(),
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
        if now >= self.next_end_check {
            self.next_end_check = now + END_CHECK_INTERVAL;
            self.remove_ended_apps();
        }
        if self.displays_again.take_if(|when| *when <= now).is_some() {
            self.read_screens();
        }
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
        let others = [Some(self.next_end_check), self.displays_again, routine].into_iter().flatten();
        let due = self.refreshes.iter().copied().chain(asks).chain(others).min()?;
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
                self.displays_again = Some(Instant::now() + DISPLAY_DELAY);
                self.read_screens();
            }
            MonitorEvent::Host(event) => self.on_host_event(event),
            MonitorEvent::Quit => {}
        }
    }

    /// Reads what AppKit says of the displays, and reports what changed.
    fn read_screens(&mut self) {
        self.screens = host::run_on_main_blocking(appkit::screens).unwrap_or_default();
        self.refresh_displays();
        self.schedule_refresh();
    }

    /// Removes the apps whose processes are gone, though nobody said so.
    fn remove_ended_apps(&mut self) {
        let is_gone = |pid: &u32| !appkit::is_running(*pid);
        let gone: Vec<u32> = self.apps.keys().copied().filter(is_gone).collect();
        for pid in gone {
            info!(pid, "an app has ended without a word");
            self.remove_app(pid);
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
            HostEvent::SpaceChanged => {
                self.space_changed = Some(Instant::now());
                self.schedule_refresh();
            }
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
                    if let Some((window, _)) = monitored.windows.remove(&notification.element) {
                        self.elsewhere.remove(&window);
                    }
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
        if ask && !pids.is_empty() {
            let theirs = self.apps.iter_mut().filter(|(pid, _)| pids.contains(pid));
            theirs.for_each(|(_, monitored)| monitored.dirty = true);
            self.query_dirty_apps();
            seen = self.merged_windows(&listed);
        }
        self.keep_windows_elsewhere(&mut seen);
        self.tell_closed_windows(&seen);
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

    /// Adds the windows that are on a space that is not shown. Neither the window server's list of what is on the screen nor
    /// their apps have them, and yet they are not closed. A window that exists but left the screen is kept for a moment, because
    /// that another space is shown is told later.
    fn keep_windows_elsewhere(&mut self, seen: &mut Vec<DesktopWindow>) {
        let is_seen = |seen: &[DesktopWindow], window: u64| seen.iter().any(|seen| seen.window == window);
        let left = self.reported.windows.iter().filter(|reported| !reported.minimized);
        let left: Vec<&DesktopWindow> = left.filter(|reported| !is_seen(seen, reported.window)).collect();
        if left.is_empty() && self.elsewhere.is_empty() {
            return;
        }
        let (now, all) = (Instant::now(), windows::all());
        for reported in left {
            let window = DesktopWindow { minimized: true, ..reported.clone() };
            let away = WindowElsewhere { window, since: now, confirmed: false };
            self.elsewhere.entry(reported.window).or_insert(away);
        }
        let changed = self.space_changed;
        self.elsewhere.retain(|window, away| {
            away.confirmed |= changed.is_some_and(|when| when + SPACE_CHANGE_TIME > away.since);
            let is_kept = away.confirmed || away.since.elapsed() < SPACE_CHANGE_GRACE;
            is_kept
                && self.apps.contains_key(&away.window.pid)
                && all.contains(window)
                && !is_seen(seen, *window)
        });
        let mut kept: Vec<DesktopWindow> = self.elsewhere.values().map(|away| away.window.clone()).collect();
        kept.sort_by_key(|window| window.window);
        seen.extend(kept);
    }

    /// Tells the threads of attached apps which of their windows are closed: the tree of an app that did not announce it has the window
    /// still.
    fn tell_closed_windows(&self, seen: &[DesktopWindow]) {
        let is_seen = |window: u64| seen.iter().any(|seen| seen.window == window);
        for closed in self.reported.windows.iter().filter(|reported| !is_seen(reported.window)) {
            let window = closed.window;
            self.shared.send(Some(closed.pid), || Message::WindowClosed(window));
        }
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
