//! Follows which apps, windows and displays come and go, and reports that to the engine: the registry's list of apps, the names on the
//! bus, and the screen; where there is no screen, the windows that apps list themselves. A lost bus is looked for again.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use crate::atspi::bus::{BusEvent, BusSession};
use crate::atspi::dbus::BusConnection;
use crate::atspi::registry::{self, ListedApp};
use crate::atspi::windows::{self, ListedWindow};
use crate::x11::screen::Screen;
use axd_platform::{DesktopEvent, RunningApp};

/// The delay before a lost bus is looked for again: at first, and at most.
const MIN_RECONNECT_DELAY: Duration = Duration::from_millis(100);
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(5);

/// What the desktop and its monitor share.
pub(crate) struct SharedDesktop {
    pub state: Mutex<DesktopState>,
    pub screen: Option<watch::Receiver<Arc<Screen>>>,
}

/// The connection to the bus, and the apps on it.
#[derive(Default)]
pub(crate) struct DesktopState {
    pub session: Option<BusSession>,
    pub apps: Vec<ListedApp>,
}

/// What [`LinuxDesktop::connect`](crate::LinuxDesktop::connect) leaves for [`Platform::start`](axd_platform::Platform::start).
pub(crate) struct Startup {
    pub bus_events: mpsc::UnboundedReceiver<BusEvent>,
    /// The address of the accessibility bus that the display names.
    pub display_address: Option<String>,
}

impl DesktopState {
    /// Adds an app. Returns it if it is new.
    pub fn add(&mut self, listed: ListedApp) -> Option<RunningApp> {
        // A process may be on the bus twice, as with two toolkits in one; only the first counts.
        if self.apps.iter().any(|known| known.app.pid == listed.app.pid) {
            return None;
        }
        let seen = listed.app.clone();
        self.apps.push(listed);
        Some(seen)
    }

    fn knows(&self, bus: &str) -> bool {
        self.apps.iter().any(|known| &*known.root.bus == bus)
    }

    /// Removes the app with this bus name.
    fn remove(&mut self, bus: &str) -> Option<RunningApp> {
        let at = self.apps.iter().position(|known| &*known.root.bus == bus)?;
        Some(self.apps.remove(at).app)
    }
}

/// The task that follows apps, windows and displays.
pub(crate) struct DesktopMonitor {
    pub shared: Arc<SharedDesktop>,
    pub screen: Option<watch::Receiver<Arc<Screen>>>,
    pub out: mpsc::UnboundedSender<DesktopEvent>,
    pub startup: Startup,
    /// The windows that apps list, and the active one; only where there is no screen.
    pub windows: Vec<(u32, Vec<ListedWindow>)>,
    pub active: Option<(u32, u64)>,
}

/// What a background task found out.
enum Discovery {
    App(ListedApp),
    Frames(u32, Vec<ListedWindow>),
}

impl DesktopMonitor {
    pub async fn run(mut self) {
        let mut shown = self.screen.as_ref().map(|screen| Arc::clone(&screen.borrow())).unwrap_or_default();
        let (found, mut finds) = mpsc::unbounded_channel::<Discovery>();
        self.list_all_windows(&found);
        loop {
            let screen = &mut self.screen;
            let screen_changes = async {
                if let Some(screen) = screen
                    && screen.changed().await.is_ok()
                {
                    return Arc::clone(&screen.borrow_and_update());
                }
                std::future::pending().await
            };
            tokio::select! {
                bus_events = self.startup.bus_events.recv() => match bus_events {
                    Some(BusEvent::AppsChanged) => self.discover_apps(&found),
                    Some(BusEvent::NameLost(bus)) => self.app_exited(&bus),
                    Some(BusEvent::RegistryStarted) => self.register_again(&found),
                    Some(BusEvent::WindowChanged(bus)) => self.list_windows_of(&bus, &found),
                    Some(BusEvent::Disconnected) | None => {
                        self.reconnect().await;
                        self.list_all_windows(&found);
                    }
                },
                Some(find) = finds.recv() => match find {
                    Discovery::App(listed) => {
                        let bus = Arc::clone(&listed.root.bus);
                        self.app_started(listed);
                        self.list_windows_of(&bus, &found);
                    }
                    Discovery::Frames(pid, frames) => self.set_windows(pid, frames),
                },
                now = screen_changes => {
                    send_screen_changes(&shown, &now, &self.out);
                    shown = now;
                }
                () = self.out.closed() => return,
            }
        }
    }

    fn send(&self, event: DesktopEvent) {
        // Nobody listens any more when the daemon stops.
        let _ = self.out.send(event);
    }

    fn calls(&self) -> Option<BusConnection> {
        self.shared.state.lock().session.as_ref().map(|session| session.calls.clone())
    }

    /// Describes new apps in background tasks: they may be slow to answer while they start.
    fn discover_apps(&self, found: &mpsc::UnboundedSender<Discovery>) {
        let Some(calls) = self.calls() else { return };
        let (shared, found) = (Arc::clone(&self.shared), found.clone());
        tokio::spawn(async move {
            for root in registry::list_apps(&calls).await {
                let known = shared.state.lock().knows(&root.bus);
                if !known {
                    let (calls, found) = (calls.clone(), found.clone());
                    tokio::spawn(async move {
                        if let Some(listed) = registry::describe_app(&calls, root).await {
                            let _ = found.send(Discovery::App(listed));
                        }
                    });
                }
            }
        });
    }

    fn app_started(&self, listed: ListedApp) {
        let added = self.shared.state.lock().add(listed);
        if let Some(seen) = added {
            self.send(DesktopEvent::AppUp(seen));
        }
    }

    fn app_exited(&mut self, bus: &str) {
        let removed = self.shared.state.lock().remove(bus);
        if let Some(seen) = removed {
            self.send(DesktopEvent::AppGone { pid: seen.pid });
            self.set_windows(seen.pid, Vec::new());
        }
    }

    fn list_all_windows(&self, found: &mpsc::UnboundedSender<Discovery>) {
        let apps: Vec<ListedApp> = self.shared.state.lock().apps.clone();
        apps.iter().for_each(|listed| self.list_windows_of(&listed.root.bus, found));
    }

    /// Lists the windows of an app, where there is no X server to report them.
    fn list_windows_of(&self, bus: &str, found: &mpsc::UnboundedSender<Discovery>) {
        let (None, Some(calls)) = (&self.screen, self.calls()) else { return };
        let listed = self.shared.state.lock().apps.iter().find(|known| &*known.root.bus == bus).cloned();
        let Some(listed) = listed else { return };
        let found = found.clone();
        tokio::spawn(async move {
            if let Ok(frames) = windows::list_windows(&calls, &listed.root, listed.app.pid).await {
                let _ = found.send(Discovery::Frames(listed.app.pid, frames));
            }
        });
    }

    fn set_windows(&mut self, pid: u32, frames: Vec<ListedWindow>) {
        if self.screen.is_some() {
            return;
        }
        let active = frames.iter().find(|frame| frame.active).map(|frame| (pid, frame.info.window));
        self.windows.retain(|(other, _)| *other != pid);
        // The app whose window changed last is taken to be in front.
        self.windows.insert(0, (pid, frames));
        let windows = self.windows.iter().flat_map(|(_, frames)| frames).map(|frame| frame.info.clone());
        self.send(DesktopEvent::Windows(windows.collect()));
        let now = active.or(self.active.filter(|(other, _)| *other != pid));
        if now != self.active {
            self.active = now;
            let (pid, window) = now.unzip();
            self.send(DesktopEvent::Frontmost { pid, window });
        }
    }

    fn register_again(&self, found: &mpsc::UnboundedSender<Discovery>) {
        info!("the registry has started anew");
        let events = self.shared.state.lock().session.as_ref().map(|session| Arc::clone(&session.events));
        if let Some(events) = events {
            tokio::spawn(async move {
                if let Err(failure) = events.register().await {
                    warn!(%failure, "cannot register for events again");
                }
            });
        }
        self.discover_apps(found);
    }

    /// Reports all apps of a lost bus as gone, and waits for a new one: then they are back, under the ids they had.
    async fn reconnect(&mut self) {
        warn!("the accessibility bus is lost");
        let gone = {
            let mut state = self.shared.state.lock();
            state.session = None;
            std::mem::take(&mut state.apps)
        };
        for listed in gone {
            self.send(DesktopEvent::AppGone { pid: listed.app.pid });
            self.set_windows(listed.app.pid, Vec::new());
        }
        let mut pause = MIN_RECONNECT_DELAY;
        loop {
            // The display may name a bus that has ended, and so may the session bus: both are tried.
            for address in [None, self.startup.display_address.clone()] {
                if let Ok((session, bus_events)) = BusSession::open(address, self.screen.is_none()).await {
                    self.startup.bus_events = bus_events;
                    let roots = registry::list_apps(&session.calls).await;
                    let apps = registry::describe_apps(&session.calls, roots).await;
                    self.shared.state.lock().session = Some(session);
                    apps.into_iter().for_each(|listed| self.app_started(listed));
                    return;
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.out.closed() => return,
            }
            pause = (pause * 2).min(MAX_RECONNECT_DELAY);
        }
    }
}

/// Sends what changed on the screen.
pub(crate) fn send_screen_changes(before: &Screen, now: &Screen, out: &mpsc::UnboundedSender<DesktopEvent>) {
    if before.displays != now.displays {
        let _ = out.send(DesktopEvent::Displays(now.displays.clone()));
    }
    if before.windows != now.windows {
        let windows = now.windows.iter().map(|window| window.info.clone()).collect();
        let _ = out.send(DesktopEvent::Windows(windows));
    }
    if before.frontmost() != now.frontmost() {
        let (pid, window) = now.frontmost();
        let _ = out.send(DesktopEvent::Frontmost { pid, window });
    }
}
