//! The built-in desktop as a platform: a session with its apps, and a worker for each attached app.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axd_protocol::command::Finding;
use tokio::sync::{mpsc, oneshot};

use super::library;
use super::script::Script;
use super::session::SimSession;
use super::sim_command::{SimCommand, SimExtension};
use axd_platform::worker;
use axd_platform::{
    CaptureTarget, CapturedImage, ClipboardContent, ClipboardKind, Counters, DesktopEvent, Extension,
    Failure, Gate, Input, LaunchPlan, Launched, PersonActivity, Platform, Reply, RunningApp, WindowOp,
    WorkerEvent, WorkerHandle,
};
use axd_protocol::Point;

/// The options of the built-in desktop.
#[derive(Debug, Clone)]
pub struct SimOptions {
    /// Whether the apps that come with axd are installed.
    pub built_in: bool,
    /// Files and folders of further app scripts.
    pub apps: Vec<PathBuf>,
    /// Further app scripts, already parsed.
    pub scripts: Vec<Arc<Script>>,
}

impl Default for SimOptions {
    fn default() -> SimOptions {
        SimOptions { built_in: true, apps: Vec::new(), scripts: Vec::new() }
    }
}

impl SimOptions {
    /// The built-in apps, and those in `AXD_SIM_APPS`, a list of paths separated by colons.
    pub fn from_env() -> SimOptions {
        let apps = std::env::var_os("AXD_SIM_APPS");
        let apps = apps.map(|paths| std::env::split_paths(&paths).collect()).unwrap_or_default();
        SimOptions { apps, ..SimOptions::default() }
    }
}

/// The built-in desktop.
pub struct SimDesktop {
    session: Arc<SimSession>,
}

impl SimDesktop {
    /// Creates a desktop, of which the apps start in [`Platform::start`].
    pub fn new(options: SimOptions) -> SimDesktop {
        let mut scripts = library::load(options.built_in, &options.apps);
        for script in options.scripts {
            scripts.retain(|other| !other.name.eq_ignore_ascii_case(&script.name));
            scripts.push(script);
        }
        SimDesktop { session: Arc::new(SimSession::new(scripts)) }
    }

    pub(super) fn session(&self) -> &SimSession {
        &self.session
    }

    /// Runs a command of `ax sim`, for programs that link this crate. The reply says what was done.
    pub fn run(&self, command: SimCommand) -> Reply<String> {
        self.begin(Arc::clone(&self.session).run_command(command))
    }

    /// The command `sim`, which acts on the scripted apps as a user would.
    pub fn extension(&self) -> Arc<dyn Extension> {
        Arc::new(SimExtension(Arc::clone(&self.session)))
    }

    /// Runs a future in a task of its own, and returns the receiver of its result.
    fn begin<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) -> Reply<T> {
        let (answer, reply) = oneshot::channel();
        tokio::spawn(async move {
            // The caller may have stopped waiting.
            let _ = answer.send(work.await);
        });
        reply
    }
}

impl Drop for SimDesktop {
    fn drop(&mut self) {
        self.session.close();
    }
}

impl Platform for SimDesktop {
    fn name(&self) -> &'static str {
        "sim"
    }

    fn capabilities(&self) -> Vec<&'static str> {
        vec![
            "tree",
            "events",
            "fence",
            "watch",
            "geometry",
            "hit-test",
            "windows",
            "displays",
            "act",
            "input",
            "window-ops",
            "launch",
            "clipboard",
            "capture",
        ]
    }

    fn semantic_method(&self) -> &'static str {
        "sim"
    }

    fn input_method(&self) -> &'static str {
        "sim"
    }

    fn person(&self) -> Result<Arc<PersonActivity>, Failure> {
        Ok(Arc::clone(&self.session.person))
    }

    fn acts_late(&self, pid: u32) -> bool {
        self.session.process(pid).is_some_and(|process| process.delayed_notifications.load(Ordering::Relaxed))
    }

    fn diagnose(&self) -> Reply<Vec<Finding>> {
        let (answer, reply) = oneshot::channel();
        let _ = answer.send(Ok(examine()));
        reply
    }

    /// Must be called inside a tokio runtime, where the apps will run.
    fn start(&self, out: mpsc::UnboundedSender<DesktopEvent>) {
        self.session.open(out);
    }

    fn attach(
        &self,
        app: &RunningApp,
        out: mpsc::Sender<WorkerEvent>,
        counters: Arc<Counters>,
    ) -> WorkerHandle {
        let (requests, inbox) = mpsc::unbounded_channel();
        worker::spawn(self.session.process(app.pid), inbox, out, counters);
        WorkerHandle::new(move |request| requests.send(request).is_ok())
    }

    fn input(&self, input: Input, gate: Gate) -> Reply<Option<String>> {
        let session = Arc::clone(&self.session);
        self.begin(async move { session.input(input, &gate).await })
    }

    fn pointer(&self) -> Reply<Point> {
        let at = self.session.input_state.lock().pointer();
        self.begin(async move { Ok(at) })
    }

    fn window_op(&self, window: u64, op: WindowOp, gate: Gate) -> Reply<()> {
        let session = Arc::clone(&self.session);
        self.begin(async move { session.arrange_window(window, op, &gate).await })
    }

    fn launch(&self, plan: LaunchPlan, gate: Gate) -> Reply<Launched> {
        let session = Arc::clone(&self.session);
        self.begin(async move { session.start_app(plan, &gate).await })
    }

    fn close_app(&self, pid: u32, force: bool, gate: Gate) -> Reply<()> {
        let session = Arc::clone(&self.session);
        self.begin(async move { session.end_app(pid, force, &gate).await })
    }

    fn clipboard(&self, kind: ClipboardKind) -> Reply<Option<ClipboardContent>> {
        let content = self.session.pasted(kind);
        self.begin(async move { Ok(content) })
    }

    fn set_clipboard(&self, content: Option<ClipboardContent>, gate: Gate) -> Reply<()> {
        let session = Arc::clone(&self.session);
        self.begin(async move {
            gate.enter()?;
            session.set_clipboard(content);
            Ok(())
        })
    }

    fn capture(&self, target: CaptureTarget, cursor: bool) -> Reply<CapturedImage> {
        let session = Arc::clone(&self.session);
        self.begin(async move { session.capture(target, cursor).await })
    }
}

/// The findings of `doctor`: the built-in desktop is always available.
pub fn examine() -> Vec<Finding> {
    vec![Finding::ok("desktop", "built-in desktop, always available")]
}
