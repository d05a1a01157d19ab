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
use crate::atspi::bus::{Missing, Session};
use crate::atspi::connection_keeper::Keeper;
use crate::atspi::direct::Direct;
use crate::atspi::registry;
use crate::calls::Calls;
use crate::monitor::{Beginning, Follower, Shared, State, tell_screen};
use crate::process;
use crate::read::reader::Reader;
use crate::x11::screen::{Screen, X11};
use axd_platform::worker;
use axd_platform::{
    Counters, DesktopAnswer, DesktopCall, DesktopEvent, Gate, Kinship, Platform, Reply, RunningApp,
    WorkerEvent, WorkerHandle, WorkerRequest,
};

/// The Linux desktop.
pub struct LinuxDesktop {
    shared: Arc<Shared>,
    calls: Calls,
    /// Connections to apps themselves.
    links: Arc<Direct>,
    /// What [`Platform::start`] takes over.
    beginning: Mutex<Option<Beginning>>,
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

    fn call(&self, call: DesktopCall, gate: Gate) -> Reply<DesktopAnswer> {
        let displays = self.shared.screen.as_ref().map(|screen| screen.borrow().displays.clone());
        self.calls.take(call, gate, displays.unwrap_or_default())
    }

    fn shutdown(&self) -> Reply<DesktopAnswer> {
        self.calls.farewell()
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
        tokio::spawn(async move { answer.send(Ok(crate::doctor::examine().await)) });
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
