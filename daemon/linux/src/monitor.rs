//! Follows which apps, windows and displays come and go, and tells the engine: the registry's list of apps, the names on the
//! bus, and the screen; where there is no screen, the windows that apps list themselves. A lost bus is looked for again.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use crate::atspi::bus::{Session, Traffic};
use crate::atspi::dbus::Link;
use crate::atspi::registry::{self, Listed};
use crate::atspi::windows::{self, FrameSeen};
use crate::x11::screen::Screen;
use axd_platform::{DesktopEvent, RunningApp};

/// How long to wait before looking for a lost bus again, at first and at most.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
const LOOK_AGAIN_AT_MOST: Duration = Duration::from_secs(5);

/// What the desktop and its monitor share.
pub(crate) struct Shared {
    pub state: Mutex<State>,
    pub screen: Option<watch::Receiver<Arc<Screen>>>,
}

/// What is connected now.
#[derive(Default)]
pub(crate) struct State {
    pub session: Option<Session>,
    pub apps: Vec<Listed>,
}

/// What [`LinuxDesktop::connect`](crate::LinuxDesktop::connect) leaves for [`Platform::start`](axd_platform::Platform::start).
pub(crate) struct Beginning {
    pub traffic: mpsc::UnboundedReceiver<Traffic>,
    /// The address of the bus that the display told.
    pub told: Option<String>,
}

impl State {
    /// Takes an app in; the app to tell of, if it is a new one.
    pub fn add(&mut self, listed: Listed) -> Option<RunningApp> {
        // A process may be on the bus twice, as with two toolkits in one; its first face is its face.
        if self.apps.iter().any(|known| known.seen.pid == listed.seen.pid) {
            return None;
        }
        let seen = listed.seen.clone();
        self.apps.push(listed);
        Some(seen)
    }

    fn knows(&self, bus: &str) -> bool {
        self.apps.iter().any(|known| &*known.root.bus == bus)
    }

    /// The app with this name on the bus has left.
    fn remove(&mut self, bus: &str) -> Option<RunningApp> {
        let at = self.apps.iter().position(|known| &*known.root.bus == bus)?;
        Some(self.apps.remove(at).seen)
    }
}

/// Follows who comes and goes.
pub(crate) struct Follower {
    pub shared: Arc<Shared>,
    pub screen: Option<watch::Receiver<Arc<Screen>>>,
    pub out: mpsc::UnboundedSender<DesktopEvent>,
    pub beginning: Beginning,
    /// The windows that apps list, and the active one; only where there is no screen.
    pub frames: Vec<(u32, Vec<FrameSeen>)>,
    pub active: Option<(u32, u64)>,
}

/// What was found out beside everything else.
enum Find {
    App(Listed),
    Frames(u32, Vec<FrameSeen>),
}

impl Follower {
    pub async fn run(mut self) {
        let mut shown = self.screen.as_ref().map(|screen| Arc::clone(&screen.borrow())).unwrap_or_default();
        let (found, mut finds) = mpsc::unbounded_channel::<Find>();
        self.look_at_all_windows(&found);
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
                traffic = self.beginning.traffic.recv() => match traffic {
                    Some(Traffic::Apps) => self.look_for_apps(&found),
                    Some(Traffic::Left(bus)) => self.left(&bus),
                    Some(Traffic::Registry) => self.register_again(&found),
                    Some(Traffic::Window(bus)) => self.look_at_windows(&bus, &found),
                    Some(Traffic::Lost) | None => {
                        self.reconnect().await;
                        self.look_at_all_windows(&found);
                    }
                },
                Some(find) = finds.recv() => match find {
                    Find::App(listed) => {
                        let bus = Arc::clone(&listed.root.bus);
                        self.came(listed);
                        self.look_at_windows(&bus, &found);
                    }
                    Find::Frames(pid, frames) => self.has_windows(pid, frames),
                },
                now = screen_changes => {
                    tell_screen(&shown, &now, &self.out);
                    shown = now;
                }
                () = self.out.closed() => return,
            }
        }
    }

    fn tell(&self, event: DesktopEvent) {
        // Nobody listens any more when the daemon stops.
        let _ = self.out.send(event);
    }

    fn calls(&self) -> Option<Link> {
        self.shared.state.lock().session.as_ref().map(|session| session.calls.clone())
    }

    /// Asks new apps what they are, beside everything else: they may be slow to answer while they start.
    fn look_for_apps(&self, found: &mpsc::UnboundedSender<Find>) {
        let Some(calls) = self.calls() else { return };
        let (shared, found) = (Arc::clone(&self.shared), found.clone());
        tokio::spawn(async move {
            for root in registry::list(&calls).await {
                let known = shared.state.lock().knows(&root.bus);
                if !known {
                    let (calls, found) = (calls.clone(), found.clone());
                    tokio::spawn(async move {
                        if let Some(listed) = registry::describe(&calls, root).await {
                            let _ = found.send(Find::App(listed));
                        }
                    });
                }
            }
        });
    }

    fn came(&self, listed: Listed) {
        let added = self.shared.state.lock().add(listed);
        if let Some(seen) = added {
            self.tell(DesktopEvent::AppUp(seen));
        }
    }

    fn left(&mut self, bus: &str) {
        let removed = self.shared.state.lock().remove(bus);
        if let Some(seen) = removed {
            self.tell(DesktopEvent::AppGone { pid: seen.pid });
            self.has_windows(seen.pid, Vec::new());
        }
    }

    fn look_at_all_windows(&self, found: &mpsc::UnboundedSender<Find>) {
        let apps: Vec<Listed> = self.shared.state.lock().apps.clone();
        apps.iter().for_each(|listed| self.look_at_windows(&listed.root.bus, found));
    }

    /// Asks an app for its windows, where nobody else tells them.
    fn look_at_windows(&self, bus: &str, found: &mpsc::UnboundedSender<Find>) {
        let (None, Some(calls)) = (&self.screen, self.calls()) else { return };
        let listed = self.shared.state.lock().apps.iter().find(|known| &*known.root.bus == bus).cloned();
        let Some(listed) = listed else { return };
        let found = found.clone();
        tokio::spawn(async move {
            if let Ok(frames) = windows::list(&calls, &listed.root, listed.seen.pid).await {
                let _ = found.send(Find::Frames(listed.seen.pid, frames));
            }
        });
    }

    fn has_windows(&mut self, pid: u32, frames: Vec<FrameSeen>) {
        if self.screen.is_some() {
            return;
        }
        let active = frames.iter().find(|frame| frame.active).map(|frame| (pid, frame.seen.window));
        self.frames.retain(|(other, _)| *other != pid);
        // Who last had something happen to a window is taken to be in front.
        self.frames.insert(0, (pid, frames));
        let windows = self.frames.iter().flat_map(|(_, frames)| frames).map(|frame| frame.seen.clone());
        self.tell(DesktopEvent::Windows(windows.collect()));
        let now = active.or(self.active.filter(|(other, _)| *other != pid));
        if now != self.active {
            self.active = now;
            let (pid, window) = now.unzip();
            self.tell(DesktopEvent::Frontmost { pid, window });
        }
    }

    fn register_again(&self, found: &mpsc::UnboundedSender<Find>) {
        info!("the registry has started anew");
        let events = self.shared.state.lock().session.as_ref().map(|session| Arc::clone(&session.events));
        if let Some(events) = events {
            tokio::spawn(async move {
                if let Err(failure) = events.register().await {
                    warn!(%failure, "cannot register for events again");
                }
            });
        }
        self.look_for_apps(found);
    }

    /// The bus is gone, and all apps with it, until there is one again: then they are back, under the ids they had.
    async fn reconnect(&mut self) {
        warn!("the accessibility bus is lost");
        let gone = {
            let mut state = self.shared.state.lock();
            state.session = None;
            std::mem::take(&mut state.apps)
        };
        for listed in gone {
            self.tell(DesktopEvent::AppGone { pid: listed.seen.pid });
            self.has_windows(listed.seen.pid, Vec::new());
        }
        let mut pause = LOOK_AGAIN;
        loop {
            // The display may name a bus that is no more; then the session bus knows better, and the other way round.
            for told in [None, self.beginning.told.clone()] {
                if let Ok((session, traffic)) = Session::open(told, self.screen.is_none()).await {
                    self.beginning.traffic = traffic;
                    let roots = registry::list(&session.calls).await;
                    let apps = registry::describe_all(&session.calls, roots).await;
                    self.shared.state.lock().session = Some(session);
                    apps.into_iter().for_each(|listed| self.came(listed));
                    return;
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.out.closed() => return,
            }
            pause = (pause * 2).min(LOOK_AGAIN_AT_MOST);
        }
    }
}

/// Tells what is different on the screen.
pub(crate) fn tell_screen(before: &Screen, now: &Screen, out: &mpsc::UnboundedSender<DesktopEvent>) {
    if before.displays != now.displays {
        let _ = out.send(DesktopEvent::Displays(now.displays.clone()));
    }
    if before.windows != now.windows {
        let windows = now.windows.iter().map(|window| window.seen.clone()).collect();
        let _ = out.send(DesktopEvent::Windows(windows));
    }
    if before.frontmost() != now.frontmost() {
        let (pid, window) = now.frontmost();
        let _ = out.send(DesktopEvent::Frontmost { pid, window });
    }
}
