//! The Linux desktop as a [`Platform`]: apps from the accessibility bus, windows and displays from X11.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::Point;
use axd_protocol::command::Finding;
use nix::unistd::geteuid;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot};
use tracing::{Instrument, info, info_span, warn};

use crate::app::BusApp;
use crate::atspi::bus::{BusSession, BusUnavailable};
use crate::atspi::connection_keeper::ConnectionKeeper;
use crate::atspi::direct::DirectConnections;
use crate::atspi::registry;
use crate::calls::Calls;
use crate::monitor::{DesktopMonitor, DesktopState, SharedDesktop, Startup, send_screen_changes};
use crate::process;
use crate::read::reader::Reader;
use crate::x11::screen::{Screen, ScreenMonitor};
use axd_platform::worker;
use axd_platform::{
    CaptureTarget, CapturedImage, ClipboardContent, ClipboardKind, Counters, DesktopEvent, Failure, Gate,
    Input, Kinship, LaunchPlan, Launched, PersonActivity, Platform, Reply, RunningApp, WindowOp, WorkerEvent,
    WorkerHandle, WorkerRequest,
};

/// The Linux desktop.
pub struct LinuxDesktop {
    shared: Arc<SharedDesktop>,
    calls: Calls,
    /// Connections to apps themselves.
    direct: Arc<DirectConnections>,
    /// What [`Platform::start`] takes over.
    startup: Mutex<Option<Startup>>,
}

impl LinuxDesktop {
    /// Connects to the desktop that the environment names, and lists its apps. Must be called inside the tokio
    /// runtime that will go on serving it.
    pub async fn connect() -> Result<LinuxDesktop, BusUnavailable> {
        // The X server's own thread answers while this one waits; it takes a few milliseconds, once.
        let x11 = ScreenMonitor::connect().map_err(|error| info!(%error, "no X server")).ok();
        let display_address = x11.as_ref().and_then(ScreenMonitor::accessibility_bus);
        let screen = x11.and_then(|x11| {
            x11.spawn().map_err(|error| warn!(%error, "the X server does not report its windows")).ok()
        });
        let (session, traffic) = BusSession::open(display_address.clone(), screen.is_none()).await?;
        let roots = registry::list_apps(&session.calls).await;
        let mut state = DesktopState::default();
        for listed in registry::describe_apps(&session.calls, roots).await {
            state.add(listed);
        }
        state.session = Some(session);
        let shared = Arc::new(SharedDesktop { state: Mutex::new(state), screen });
        Ok(LinuxDesktop {
            shared,
            calls: Calls::default(),
            direct: Arc::default(),
            startup: Mutex::new(Some(Startup { bus_events: traffic, display_address })),
        })
    }

    /// Has what must stay open when axd ends kept by this program: `axd` itself.
    #[must_use]
    pub fn kept_by(mut self, program: PathBuf) -> LinuxDesktop {
        self.direct = Arc::new(DirectConnections::with_keeper(ConnectionKeeper::new(program)));
        self
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
        process::owner(pid).is_none_or(|owner| owner == geteuid().as_raw())
    }

    fn programs_of(&self, pid: u32) -> Option<Vec<String>> {
        process::programs(pid)
    }

    fn programs_to_launch(&self, app: &str) -> Vec<String> {
        crate::launch::programs(app)
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

    fn person(&self) -> Result<Arc<PersonActivity>, Failure> {
        self.calls.person()
    }

    fn acts_late(&self, pid: u32) -> bool {
        let state = self.shared.state.lock();
        state.apps.iter().any(|listed| listed.app.pid == pid && listed.acts_late.load(Relaxed))
    }

    fn diagnose(&self) -> Reply<Vec<Finding>> {
        let (answer, reply) = oneshot::channel();
        tokio::spawn(async move { answer.send(Ok(crate::doctor::examine().await)) });
        reply
    }

    fn start(&self, out: mpsc::UnboundedSender<DesktopEvent>) {
        let Some(beginning) = self.startup.lock().take() else { return };
        self.calls.report_to(out.clone());
        if self.shared.screen.is_some() {
            self.calls.recover_input();
        }
        for listed in &self.shared.state.lock().apps {
            let _ = out.send(DesktopEvent::AppUp(listed.app.clone()));
        }
        let mut screen = self.shared.screen.clone();
        if let Some(screen) = &mut screen {
            send_screen_changes(&Screen::default(), &screen.borrow_and_update(), &out);
        }
        let follower = DesktopMonitor {
            shared: Arc::clone(&self.shared),
            screen,
            out,
            startup: beginning,
            windows: Vec::new(),
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
        let listed = state.apps.iter().find(|listed| listed.app.pid == app.pid);
        if let (Some(session), Some(listed)) = (&state.session, listed) {
            let reader = Reader::new(session.calls.clone(), listed.root.clone(), Arc::clone(&counters));
            let attached = BusApp::new(
                app.pid,
                reader,
                listed.root.clone(),
                Arc::clone(&session.events),
                Arc::clone(&listed.acts_late),
                self.shared.screen.clone(),
                Arc::clone(&self.direct),
            );
            let work = worker::run_worker(attached, inbox, out, counters);
            tokio::spawn(work.instrument(info_span!("app", pid = app.pid)));
        } else {
            // It ended between being asked for and being attached: its mailbox is closed, and the desktop reports that.
            drop(inbox);
        }
        WorkerHandle::new(move |request| requests.send(request).is_ok())
    }
}
