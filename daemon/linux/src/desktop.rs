//! The Linux desktop as a [`Platform`]: apps from the accessibility bus, windows and displays from X11.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axd_protocol::Point;
use axd_protocol::command::Finding;
use nix::unistd::geteuid;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use tracing::{Instrument, info, info_span, warn};

use super::app::BusApp;
use super::bus::{Missing, Session, Traffic};
use super::calls::Calls;
use super::direct::Direct;
use super::frames::{self, FrameSeen};
use super::identity;
use super::keeper::Keeper;
use super::reader::Reader;
use super::registry::{self, Listed};
use super::x11::{Screen, X11};
use axd_platform::worker;
use axd_platform::{
    CaptureTarget, CapturedImage, ClipboardContent, ClipboardKind, Counters, DesktopEvent, Gate, Input,
    Kinship, LaunchPlan, Launched, Platform, Reply, RunningApp, WindowOp, WorkerEvent, WorkerHandle,
    WorkerRequest,
};

/// How long to wait before looking for a lost bus again, at first and at most.
const LOOK_AGAIN: Duration = Duration::from_millis(100);
const LOOK_AGAIN_AT_MOST: Duration = Duration::from_secs(5);

/// The Linux desktop.
pub struct LinuxDesktop {
    shared: Arc<Shared>,
    calls: Calls,
    /// Connections to apps themselves.
    links: Arc<Direct>,
    /// What [`Platform::start`] takes over.
    beginning: Mutex<Option<Beginning>>,
}

struct Shared {
    state: Mutex<State>,
    screen: Option<watch::Receiver<Arc<Screen>>>,
}

/// What is connected now.
#[derive(Default)]
struct State {
    session: Option<Session>,
    apps: Vec<Listed>,
}

struct Beginning {
    traffic: mpsc::UnboundedReceiver<Traffic>,
    /// The address of the bus that the display told.
    told: Option<String>,
}

impl LinuxDesktop {
    /// Connects to the desktop that the environment names, and lists its apps. Must be called inside the tokio
    /// runtime that will go on serving it.
    pub async fn connect() -> Result<LinuxDesktop, Missing> {
        // The X server's own thread answers while this one waits; it takes a few milliseconds, once.
        let x11 = X11::connect().map_err(|fault| info!(%fault, "no X server")).ok();
        let told = x11.as_ref().and_then(X11::accessibility_bus);
        let screen = x11.and_then(|x11| {
            x11.follow().map_err(|fault| warn!(%fault, "the X server does not tell its windows")).ok()
        });
        let (session, traffic) = Session::open(told.clone(), screen.is_none()).await?;
        let roots = registry::list(&session.calls).await;
        let mut state = State::default();
        for listed in registry::describe_all(&session.calls, roots).await {
            state.add(listed);
        }
        state.session = Some(session);
        let shared = Arc::new(Shared { state: Mutex::new(state), screen });
        Ok(LinuxDesktop {
            shared,
            calls: Calls::default(),
            links: Arc::default(),
            beginning: Mutex::new(Some(Beginning { traffic, told })),
        })
    }

    /// Has what must stay open when axd ends kept by this program: `axd` itself.
    #[must_use]
    pub fn kept_by(mut self, program: PathBuf) -> LinuxDesktop {
        self.links = Arc::new(Direct::kept_by(Keeper::new(program)));
        self
    }
}

impl State {
    /// Takes an app in; the app to tell of, if it is a new one.
    fn add(&mut self, listed: Listed) -> Option<RunningApp> {
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

impl Platform for LinuxDesktop {
    fn name(&self) -> &'static str {
        "linux"
    }

    fn capabilities(&self) -> Vec<&'static str> {
        let mut capabilities =
            vec!["tree", "events", "fence", "watch", "geometry", "hit-test", "windows", "act", "launch"];
        if self.shared.screen.is_some() {
            capabilities.extend(["displays", "input", "window-ops", "clipboard", "capture"]);
        }
        capabilities
    }

    fn input(&self, input: Input, gate: Gate) -> Reply<Option<String>> {
        self.calls.input(input, gate)
    }

    fn pointer(&self) -> Reply<Point> {
        self.calls.pointer()
    }

    fn window_op(&self, window: u64, op: WindowOp, gate: Gate) -> Reply<()> {
        self.calls.window_op(window, op, gate)
    }

    fn launch(&self, plan: LaunchPlan, gate: Gate) -> Reply<Launched> {
        self.calls.launch(plan, gate)
    }

    fn close_app(&self, pid: u32, force: bool, gate: Gate) -> Reply<()> {
        self.calls.close_app(pid, force, gate)
    }

    fn clipboard(&self, kind: ClipboardKind) -> Reply<Option<ClipboardContent>> {
        self.calls.clipboard(kind)
    }

    fn set_clipboard(&self, content: Option<ClipboardContent>, gate: Gate) -> Reply<()> {
        self.calls.set_clipboard(content, gate)
    }

    fn capture(&self, target: CaptureTarget, cursor: bool) -> Reply<CapturedImage> {
        let displays = self.shared.screen.as_ref().map(|screen| screen.borrow().displays.clone());
        self.calls.capture(target, cursor, displays.unwrap_or_default())
    }

    fn shutdown(&self) -> Reply<()> {
        self.calls.shutdown()
    }

    fn semantic_method(&self) -> &'static str {
        "atspi"
    }

    fn input_method(&self) -> &'static str {
        "xtest"
    }

    fn is_ours(&self, pid: u32) -> bool {
        identity::owner(pid).is_none_or(|owner| owner == geteuid().as_raw())
    }

    fn kinship(&self, mark: &str, pid: u32) -> Kinship {
        self.calls.starts.kinship(mark, pid)
    }

    fn is_at_work(&self, mark: &str) -> bool {
        self.calls.starts.is_at_work(mark)
    }

    fn popup_at(&self, window: u64, point: Point) -> Option<bool> {
        self.calls.popup_at(window, point)
    }

    fn acts_late(&self, pid: u32) -> bool {
        let state = self.shared.state.lock();
        state.apps.iter().any(|listed| listed.seen.pid == pid && listed.late.load(Relaxed))
    }

    fn diagnose(&self) -> Reply<Vec<Finding>> {
        let (answer, reply) = oneshot::channel();
        tokio::spawn(async move { answer.send(Ok(super::doctor::examine().await)) });
        reply
    }

    fn start(&self, out: mpsc::UnboundedSender<DesktopEvent>) {
        let Some(beginning) = self.beginning.lock().take() else { return };
        self.calls.tell(out.clone());
        for listed in &self.shared.state.lock().apps {
            let _ = out.send(DesktopEvent::AppUp(listed.seen.clone()));
        }
        let mut screen = self.shared.screen.clone();
        if let Some(screen) = &mut screen {
            tell_screen(&Screen::default(), &screen.borrow_and_update(), &out);
        }
        let follower = Follower {
            shared: Arc::clone(&self.shared),
            screen,
            out,
            beginning,
            frames: Vec::new(),
            active: None,
        };
        tokio::spawn(follower.run());
    }

    fn attach(
        &self,
        app: &RunningApp,
        out: mpsc::Sender<WorkerEvent>,
        counters: Arc<Counters>,
    ) -> WorkerHandle {
        let (requests, inbox) = mpsc::unbounded_channel::<WorkerRequest>();
        let state = self.shared.state.lock();
        let listed = state.apps.iter().find(|listed| listed.seen.pid == app.pid);
        if let (Some(session), Some(listed)) = (&state.session, listed) {
            let reader = Reader::new(session.calls.clone(), listed.root.clone(), Arc::clone(&counters));
            let attached = BusApp::new(
                app.pid,
                reader,
                listed.root.clone(),
                Arc::clone(&session.events),
                Arc::clone(&listed.late),
                self.shared.screen.clone(),
                Arc::clone(&self.links),
            );
            let work = worker::run_worker(attached, inbox, out, counters);
            tokio::spawn(work.instrument(info_span!("app", pid = app.pid)));
        } else {
            // It ended between being asked for and being attached: its mailbox is closed, and the desktop tells the rest.
            drop(inbox);
        }
        WorkerHandle::new(move |request| requests.send(request).is_ok())
    }
}

/// Follows who comes and goes.
struct Follower {
    shared: Arc<Shared>,
    screen: Option<watch::Receiver<Arc<Screen>>>,
    out: mpsc::UnboundedSender<DesktopEvent>,
    beginning: Beginning,
    /// The windows that apps list, and the active one; only where there is no screen.
    frames: Vec<(u32, Vec<FrameSeen>)>,
    active: Option<(u32, u64)>,
}

/// What was found out beside everything else.
enum Find {
    App(Listed),
    Frames(u32, Vec<FrameSeen>),
}

impl Follower {
    async fn run(mut self) {
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

    fn calls(&self) -> Option<super::link::Link> {
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
            if let Ok(frames) = frames::list(&calls, &listed.root, listed.seen.pid).await {
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
fn tell_screen(before: &Screen, now: &Screen, out: &mpsc::UnboundedSender<DesktopEvent>) {
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
