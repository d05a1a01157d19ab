//! Follows who comes and goes on the desktop: apps, windows, displays, and what is in front.
//!
//! A thread with a run loop. Apps are told by the host; each is observed for what it does with its windows, and whatever
//! hints at a change has the window server's list read again: at once, and a little later, since that list comes after
//! the fact. What cannot be observed is looked at now and then.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axd_protocol::DisplayInfo;
use tokio::sync::mpsc;
use tracing::{debug, info};

use super::displays::{self, Display};
use super::mac_desktop::Shared;
use super::windows::{self, Said};
use crate::app::attached_app::Letter;
use crate::appkit;
use crate::appkit::host::{self, HostApp, HostAppKind, HostEvent, HostScreen};
use crate::ax::element::Element;
use crate::ax::error::Fault;
use crate::ax::observer::{Ear, Observer};
use crate::ax::run_loop::{self, Inbox, Mailbox};
use crate::ffi::names as n;
use axd_platform::{DesktopEvent, WindowSeen};

/// How long an app may take to say something of its windows.
const TIMEOUT: f32 = 0.25;
/// When to look again after a hint: the window server's list comes after the fact.
const AFTERWARDS: [Duration; 3] =
    [Duration::from_millis(60), Duration::from_millis(250), Duration::from_millis(1000)];
/// How often to look where an app cannot be observed.
const NOW_AND_THEN: Duration = Duration::from_secs(2);
/// How long to wait before an app that did not answer is asked again, at first and at most.
const ASK_AGAIN: Duration = Duration::from_millis(500);
const ASK_AGAIN_AT_MOST: Duration = Duration::from_secs(30);

/// What apps tell of their windows.
const OF_WINDOWS: &[&str] = &[
    n::kAXWindowCreatedNotification,
    n::kAXWindowMovedNotification,
    n::kAXWindowResizedNotification,
    n::kAXWindowMiniaturizedNotification,
    n::kAXWindowDeminiaturizedNotification,
    n::kAXFocusedWindowChangedNotification,
    n::kAXMainWindowChangedNotification,
];
/// What they tell only of windows that they were asked about.
const OF_EACH: &[&str] = &[n::kAXUIElementDestroyedNotification, n::kAXTitleChangedNotification];

/// What may have changed.
#[derive(Debug)]
pub enum Hint {
    /// The windows of an app.
    Windows(u32),
    /// The displays.
    Displays,
    /// What the host tells.
    Host(HostEvent),
    /// Nobody listens any more.
    Quit,
}

/// Where hints go.
pub type Hints = Arc<Mailbox<Hint>>;

/// The desktop as it was last told.
#[derive(Default)]
struct Told {
    windows: Vec<WindowSeen>,
    front: (Option<u32>, Option<u64>),
    displays: Vec<DisplayInfo>,
}

/// Follows the desktop.
pub struct Follower {
    shared: Arc<Shared>,
    out: mpsc::UnboundedSender<DesktopEvent>,
    told: Told,
    screens: Vec<HostScreen>,
    displays: Vec<Display>,
    apps: HashMap<u32, Watched>,
    /// The app in front.
    front: Option<u32>,
    ear: Ear,
    /// When to look, if at all.
    looks: Vec<Instant>,
    /// When the host was last asked for apps that nobody told of.
    asked_for_strangers: Option<Instant>,
}

/// An app whose windows are followed.
struct Watched {
    app: HostApp,
    element: Element,
    observer: Option<Observer>,
    /// Its windows, and what it last said of them.
    windows: HashMap<Element, (u64, Said)>,
    /// When to ask it again, if it did not answer.
    again: Option<(Instant, Duration)>,
    /// Whether something hints at a change of its windows.
    hinted: bool,
}

impl Follower {
    /// The desktop as it is now; all of it is told before this returns.
    pub fn new(shared: Arc<Shared>, out: mpsc::UnboundedSender<DesktopEvent>) -> Follower {
        let mut follower = Follower {
            shared,
            out,
            told: Told::default(),
            screens: Vec::new(),
            displays: Vec::new(),
            apps: HashMap::new(),
            front: None,
            ear: Ear::default(),
            looks: Vec::new(),
            asked_for_strangers: None,
        };
        let seen = host::ask_waiting(|| (appkit::running(), appkit::frontmost(), appkit::screens()));
        let (running, front, screens) = seen.unwrap_or_default();
        follower.screens = screens;
        for app in running {
            follower.came(app);
        }
        follower.front = front;
        follower.look_at_displays();
        follower.look(false);
        follower
    }

    /// Follows until nobody listens any more. On a thread of its own.
    pub fn run(mut self, hints: Hints) {
        let Some(inbox) = Inbox::open(hints) else { return };
        for watched in self.apps.values_mut() {
            watched.hinted = true;
        }
        self.looks.push(Instant::now());
        while host::tidily(|| self.turn(&inbox)) {}
    }

    /// One turn of the loop. False once nobody listens any more.
    fn turn(&mut self, inbox: &Inbox<Hint>) -> bool {
        while let Some(hint) = inbox.take() {
            if matches!(hint, Hint::Quit) {
                return false;
            }
            self.take(hint);
        }
        self.hear();
        self.survey();
        let now = Instant::now();
        if self.looks.iter().any(|when| *when <= now) {
            self.looks.retain(|when| *when > now);
            self.look(true);
        }
        let came = run_loop::wait(self.next_due());
        if !came && self.looks.is_empty() && self.is_partly_unobserved() {
            self.looks.push(Instant::now());
        }
        !self.out.is_closed()
    }

    /// Whether an app that people see cannot be observed.
    fn is_partly_unobserved(&self) -> bool {
        self.apps.values().any(|watched| watched.observer.is_none() && watched.is_shown())
    }

    fn next_due(&self) -> Option<Duration> {
        let asks = self.apps.values().filter_map(|watched| watched.again.map(|(when, _)| when));
        let now = Instant::now();
        let routine = self.is_partly_unobserved().then(|| now + NOW_AND_THEN);
        let due = self.looks.iter().copied().chain(asks).chain(routine).min()?;
        Some(due.saturating_duration_since(now).max(Duration::from_millis(1)))
    }

    fn tell(&self, event: DesktopEvent) {
        // Nobody listens any more when the daemon stops.
        let _ = self.out.send(event);
    }

    fn look_soon(&mut self) {
        let now = Instant::now();
        self.looks = std::iter::once(now).chain(AFTERWARDS.map(|later| now + later)).collect();
    }

    fn take(&mut self, hint: Hint) {
        match hint {
            Hint::Windows(pid) => self.hint(pid),
            Hint::Displays => {
                self.screens = host::ask_waiting(appkit::screens).unwrap_or_default();
                self.look_at_displays();
                self.look_soon();
            }
            Hint::Host(event) => self.hear_host(event),
            Hint::Quit => {}
        }
    }

    fn hint(&mut self, pid: u32) {
        if let Some(watched) = self.apps.get_mut(&pid) {
            watched.hinted = true;
        }
        self.look_soon();
    }

    fn hear_host(&mut self, event: HostEvent) {
        match event {
            HostEvent::Launched(app) => {
                self.came(app);
                self.look_soon();
            }
            HostEvent::Terminated { pid } => self.left(pid),
            HostEvent::Activated { pid } => {
                self.front = Some(pid);
                self.shared.post(Some(pid), || Letter::Activated);
                if let Some(watched) = self.apps.get_mut(&pid) {
                    watched.again = watched.again.map(|_| (Instant::now(), ASK_AGAIN));
                }
                self.hint(pid);
            }
            HostEvent::Hidden { pid } | HostEvent::Shown { pid } => self.hint(pid),
            HostEvent::SpaceChanged => self.look_soon(),
            HostEvent::WillSleep => info!("the machine goes to sleep"),
            HostEvent::DidWake => {
                info!("the machine is awake again");
                self.shared.post(None, || Letter::Woke);
                for watched in self.apps.values_mut() {
                    (watched.observer, watched.hinted) = (None, true);
                    watched.windows.clear();
                }
                self.look_at_displays();
                self.look_soon();
            }
        }
    }

    /// An app is there.
    fn came(&mut self, app: HostApp) {
        let ours = app.pid == std::process::id();
        if ours || app.kind == HostAppKind::Background || self.apps.contains_key(&app.pid) {
            return;
        }
        let Some(element) = Element::app(app.pid) else { return };
        element.set_timeout(TIMEOUT);
        let seen = self.shared.came(&app);
        let pid = app.pid;
        let windows = HashMap::new();
        self.apps.insert(pid, Watched { app, element, observer: None, windows, again: None, hinted: true });
        self.tell(DesktopEvent::AppUp(seen));
    }

    fn left(&mut self, pid: u32) {
        if self.apps.remove(&pid).is_some() {
            self.shared.left(pid);
            self.tell(DesktopEvent::AppGone { pid });
            self.look_soon();
        }
    }

    /// Takes in what apps told of their windows.
    fn hear(&mut self) {
        while let Some(heard) = self.ear.next() {
            if heard.name == n::kAXUIElementDestroyedNotification {
                for watched in self.apps.values_mut() {
                    watched.windows.remove(&heard.element);
                }
            }
            match heard.element.pid() {
                Some(pid) => self.hint(pid),
                None => self.look_soon(),
            }
        }
        if self.ear.has_overflowed() {
            self.apps.values_mut().for_each(|watched| watched.hinted = true);
            self.look_soon();
        }
    }

    /// Asks apps of their windows, where something hints at a change.
    fn survey(&mut self) {
        let now = Instant::now();
        for watched in self.apps.values_mut() {
            let is_due = watched.again.is_none_or(|(when, _)| when <= now);
            if (watched.hinted || watched.again.is_some()) && is_due {
                match watched.survey(&self.ear) {
                    Ok(()) => watched.again = None,
                    Err(fault) => {
                        let pause = watched.again.map_or(ASK_AGAIN, |(_, pause)| pause);
                        debug!(
                            pid = watched.app.pid,
                            fault = fault.name(),
                            "an app does not tell its windows"
                        );
                        let later = (pause * 2).min(ASK_AGAIN_AT_MOST);
                        watched.again = Some((Instant::now() + pause, later));
                    }
                }
                watched.hinted = false;
                if self.looks.is_empty() {
                    self.looks.push(now);
                }
            }
        }
    }

    /// Looks at the windows, and tells what is different. With `ask`, the app in front is asked for its window.
    fn look(&mut self, ask: bool) {
        let listed = windows::on_screen();
        self.look_for_strangers(&listed);
        let mut seen = self.seen(&listed);
        // What has left the screen is closed or minimised. The app knows which, and may not have said so yet.
        let left =
            self.told.windows.iter().filter(|told| !seen.iter().any(|seen| seen.window == told.window));
        let pids: Vec<u32> = left.map(|told| told.pid).filter(|pid| self.apps.contains_key(pid)).collect();
        if ask && !pids.is_empty() {
            let theirs = self.apps.iter_mut().filter(|(pid, _)| pids.contains(pid));
            theirs.for_each(|(_, watched)| watched.hinted = true);
            self.survey();
            seen = self.seen(&listed);
        }
        let pid = self.front.filter(|pid| self.apps.contains_key(pid));
        let focused = pid.filter(|_| ask).and_then(|pid| self.apps.get(&pid)?.focused());
        let first = || seen.iter().find(|window| Some(window.pid) == pid && !window.minimized);
        let window = focused.or_else(|| first().map(|window| window.window));
        // One after the other, and whoever sees the one must not be misled about the other: what was in front and was
        // put away has lost the focus by then, what comes up is there before it has it.
        let is_up =
            |window: u64| self.told.windows.iter().any(|told| told.window == window && !told.minimized);
        if window.is_none_or(is_up) {
            self.tell_front(pid, window);
        }
        if seen != self.told.windows {
            self.told.windows.clone_from(&seen);
            self.tell(DesktopEvent::Windows(seen));
        }
        self.tell_front(pid, window);
    }

    fn tell_front(&mut self, pid: Option<u32>, window: Option<u64>) {
        if self.told.front != (pid, window) {
            self.told.front = (pid, window);
            self.tell(DesktopEvent::Frontmost { pid, window });
        }
    }

    /// The windows, by what the window server lists and what the apps said of theirs.
    fn seen(&self, listed: &[windows::Listed]) -> Vec<WindowSeen> {
        let said = self.apps.values().flat_map(|watched| {
            watched.windows.values().map(|(window, said)| (*window, (watched.app.pid, said.clone())))
        });
        windows::seen(listed, &said.collect(), &self.displays, |pid| self.apps.contains_key(&pid))
    }

    /// Apps without a place in the Dock come and go without a word; their windows show it.
    fn look_for_strangers(&mut self, listed: &[windows::Listed]) {
        let silent: Vec<u32> = self
            .apps
            .values()
            .filter(|watched| watched.app.kind != HostAppKind::Regular)
            .map(|watched| watched.app.pid)
            .collect();
        let is_stranger = |window: &windows::Listed| {
            window.pid != std::process::id() && !self.apps.contains_key(&window.pid)
        };
        let strangers = listed.iter().any(is_stranger);
        let recently = self.asked_for_strangers.is_some_and(|when| when.elapsed() < NOW_AND_THEN);
        if (silent.is_empty() && !strangers) || recently {
            return;
        }
        self.asked_for_strangers = Some(Instant::now());
        let Some(running) = host::ask_waiting(appkit::running) else { return };
        for pid in silent {
            if !running.iter().any(|app| app.pid == pid) {
                self.left(pid);
            }
        }
        running.into_iter().for_each(|app| self.came(app));
    }

    fn look_at_displays(&mut self) {
        self.displays = displays::list(&self.screens);
        let told: Vec<DisplayInfo> = self.displays.iter().map(|display| display.info.clone()).collect();
        *self.shared.displays.lock() = self.displays.clone();
        if told != self.told.displays {
            self.told.displays.clone_from(&told);
            self.tell(DesktopEvent::Displays(told));
        }
    }
}

impl Watched {
    /// Whether it is an app that people see.
    fn is_shown(&self) -> bool {
        self.app.kind == HostAppKind::Regular
    }

    /// Observes the app if it is not observed, and asks what its windows are like.
    fn survey(&mut self, ear: &Ear) -> Result<(), Fault> {
        if self.observer.is_none() {
            let observer = Observer::new(self.app.pid, ear)?;
            for name in OF_WINDOWS {
                match observer.add(&self.element, name) {
                    Err(fault) if crate::app::reader::is_of_app(fault) => return Err(fault),
                    // It will not tell; what else it tells hints at it.
                    _ => {}
                }
            }
            self.observer = Some(observer);
        }
        let open = match self.element.elements(n::kAXWindowsAttribute) {
            Err(fault) if crate::app::reader::is_of_app(fault) => return Err(fault),
            open => open.unwrap_or_default(),
        };
        // The windows of an app that is hidden are put away like those that are minimised.
        let hidden = self.element.truth(n::kAXHiddenAttribute).ok().flatten() == Some(true);
        self.windows.retain(|window, _| open.contains(window));
        for window in open {
            let number = match self.windows.get(&window) {
                Some((number, _)) => Some(*number),
                None => self.meet(&window),
            };
            let Some(number) = number else { continue };
            let said = match say(&window, hidden) {
                Err(fault) if crate::app::reader::is_of_app(fault) => return Err(fault),
                Err(_) => continue,
                Ok(said) => said,
            };
            self.windows.insert(window, (number, said));
        }
        Ok(())
    }

    /// A window that was not known: asks for what is told only of windows that were asked about.
    fn meet(&self, window: &Element) -> Option<u64> {
        window.set_timeout(TIMEOUT);
        let number = window.window_number()?;
        for name in OF_EACH {
            // What it will not tell is seen with the next hint.
            let _ = self.observer.as_ref().map(|observer| observer.add(window, name));
        }
        Some(number)
    }

    /// The window that has the focus in this app.
    fn focused(&self) -> Option<u64> {
        let window = self.element.element(n::kAXFocusedWindowAttribute).ok().flatten()?;
        match self.windows.get(&window) {
            // One that was put away is in front of nothing, whatever its app says.
            Some((_, said)) if said.minimized => None,
            Some((number, _)) => Some(*number),
            None => window.window_number(),
        }
    }
}

fn say(window: &Element, hidden: bool) -> Result<Said, Fault> {
    let minimized = hidden || window.truth(n::kAXMinimizedAttribute)?.unwrap_or_default();
    Ok(Said {
        title: window.text(n::kAXTitleAttribute)?.filter(|title| !title.is_empty()),
        // Only of what the window server does not list.
        bounds: if minimized { super::window_ops::frame(window)? } else { None },
        minimized,
        full_screen: window.truth(n::AXFullScreen).ok().flatten().unwrap_or_default(),
    })
}
