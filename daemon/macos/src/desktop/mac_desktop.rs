//! The macOS desktop as a [`Platform`].

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axd_protocol::command::{Finding, Permission};
use axd_protocol::keys::{Combo, Key, Modifier, Named};
use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use parking_lot::Mutex;
use tokio::sync::{mpsc, oneshot, watch};
use tracing::{info, warn};

use super::calls::Calls;
use super::displays::{self, Display};
use super::doctor;
use super::monitor::{DesktopMonitor, MonitorEvent, MonitorQueue};
use super::permissions;
use crate::app::attached_app::{APP_REPLY_TIMEOUT, Message};
use crate::app::enable_accessibility::Browser;
use crate::app::thread::{AppSender, AppShared, AppThread};
use crate::appkit;
use crate::appkit::host::{self, HostApp};
use crate::ax::element::Element;
use crate::ax::run_loop::MessageQueue;
use axd_platform::{
    CaptureTarget, CapturedImage, ClipboardContent, ClipboardKind, Counters, DesktopEvent, Failure, Gate,
    Input, LaunchPlan, Launched, Platform, Reply, RunningApp, WindowOp, WorkerEvent,
    WorkerHandle as WorkerMailbox, worker,
};
use axd_protocol::Point;

/// How long the first reading of the desktop may take.
const FIRST_READ_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a daemon without permission stays while nobody is connected. The system may keep telling a process what it told it first,
/// so that only a new one learns of a grant. launchd delays the next start of a job that ran for less than ten seconds.
const UNPERMITTED_IDLE_LIMIT: Duration = Duration::from_secs(11);

/// The macOS desktop.
pub struct MacDesktop {
    shared: Arc<Shared>,
    calls: Calls,
    hints: MonitorQueue,
}

/// What the desktop's threads share.
#[derive(Default)]
pub struct Shared {
    apps: Mutex<HashMap<u32, Running>>,
    /// The displays, as last read.
    pub displays: Mutex<Vec<Display>>,
    /// Where desktop events are sent.
    pub out: OnceLock<mpsc::UnboundedSender<DesktopEvent>>,
}

/// An app that runs.
struct Running {
    ended: watch::Sender<bool>,
    late: Arc<AtomicBool>,
    /// Whether it is hidden.
    hidden: Arc<AtomicBool>,
    /// How it shows web pages.
    browser: Arc<Browser>,
    /// The threads that serve it, where it is attached.
    threads: Vec<AppSender>,
}

impl Shared {
    /// Adds an app that runs, and describes it for the engine.
    pub fn add_app(&self, app: &HostApp) -> RunningApp {
        let running = Running {
            ended: watch::Sender::new(false),
            late: Arc::default(),
            hidden: Arc::new(AtomicBool::new(app.hidden)),
            browser: Arc::new(Browser::new(app.path.as_deref())),
            threads: Vec::new(),
        };
        self.apps.lock().insert(app.pid, running);
        seen(app)
    }

    /// Whether a process is an app that runs.
    pub fn has(&self, pid: u32) -> bool {
        self.apps.lock().contains_key(&pid)
    }

    /// Whether an app is a Chromium browser, whose pages exist only while they are asked for.
    pub fn is_browser(&self, pid: u32) -> bool {
        self.apps.lock().get(&pid).is_some_and(|running| running.browser.needs_enhanced())
    }

    /// Records whether an app is hidden.
    pub fn set_hidden(&self, pid: u32, hidden: bool) {
        if let Some(running) = self.apps.lock().get(&pid) {
            running.hidden.store(hidden, Relaxed);
        }
    }

    /// Removes an app that has ended, and ends its threads.
    pub fn remove_app(&self, pid: u32) {
        if let Some(running) = self.apps.lock().remove(&pid) {
            running.ended.send_replace(true);
        }
    }

    /// Sends a message to the threads of an app, or of all apps.
    pub fn send(&self, pid: Option<u32>, message: impl Fn() -> Message) {
        let mut apps = self.apps.lock();
        for running in apps.iter_mut().filter(|(other, _)| pid.is_none_or(|pid| pid == **other)) {
            running.1.threads.retain(|thread| thread.upgrade().is_some_and(|queue| queue.send(message())));
        }
    }
}

fn seen(app: &HostApp) -> RunningApp {
    let program = app.path.as_ref().and_then(|path| path.file_name());
    let program = program.map(|name| name.to_string_lossy().into_owned());
    let name = if app.name.is_empty() { program.clone().unwrap_or_default() } else { app.name.clone() };
    let identity = app.bundle.clone().or(program).unwrap_or_else(|| name.clone());
    RunningApp { pid: app.pid, name, identity, ..RunningApp::default() }
}

impl MacDesktop {
    /// The desktop of the session we run in. Thread 0's loop must run, or be about to.
    pub fn connect() -> MacDesktop {
        // The system's dialog is shown only on request: a daemon may start many times a day.
        let accessibility = permissions::accessibility();
        if !accessibility.granted {
            warn!("{}", permissions::message(&accessibility));
        }
        // For all elements that have no time of their own: what hangs is not waited for.
        if let Some(all) = Element::system_wide() {
            all.set_timeout(APP_REPLY_TIMEOUT);
        }
        MacDesktop { shared: Arc::default(), calls: Calls::default(), hints: MessageQueue::new() }
    }
}

impl Drop for MacDesktop {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.hints.send(MonitorEvent::Quit);
    }
}

impl Platform for MacDesktop {
    fn name(&self) -> &'static str {
        "macos"
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
            "act",
            "launch",
            "displays",
            "input",
            "window-ops",
            "clipboard",
            "capture",
        ]
    }

    fn semantic_method(&self) -> &'static str {
        "ax"
    }

    fn input_method(&self) -> &'static str {
        "cgevent"
    }

    fn is_ours(&self, pid: u32) -> bool {
        let Ok(process) = i32::try_from(pid) else { return false };
        // No signal is sent; only whether one could be is asked.
        kill(Pid::from_raw(process), None) != Err(Errno::EPERM)
    }

    #[cfg(target_os = "macos")]
    fn programs_of(&self, pid: u32) -> Option<Vec<String>> {
        let process = i32::try_from(pid).ok()?;
        let mut path = [0_u8; libc::PROC_PIDPATHINFO_MAXSIZE as usize];
        // SAFETY: the buffer is as long as is said, and lives until the call returns.
        let length = unsafe {
            libc::proc_pidpath(process, path.as_mut_ptr().cast(), libc::PROC_PIDPATHINFO_MAXSIZE as u32)
        };
        let length = usize::try_from(length).ok().filter(|length| (1..=path.len()).contains(length))?;
        let path = String::from_utf8_lossy(&path[..length]).into_owned();
        let target = std::fs::canonicalize(&path).ok().map(|path| path.to_string_lossy().into_owned());
        let mut programs: Vec<String> = [target, Some(path)].into_iter().flatten().collect();
        programs.dedup();
        Some(programs)
    }

    fn acts_late(&self, pid: u32) -> bool {
        self.shared.apps.lock().get(&pid).is_some_and(|running| running.late.load(Relaxed))
    }

    fn diagnose(&self) -> Reply<Vec<Finding>> {
        let (answer, reply) = oneshot::channel();
        // The caller may have stopped waiting.
        tokio::task::spawn_blocking(move || answer.send(Ok(doctor::examine())));
        reply
    }

    fn permissions(&self, request: bool) -> Reply<Vec<Permission>> {
        let (answer, reply) = oneshot::channel();
        // The caller may have stopped waiting.
        tokio::task::spawn_blocking(move || answer.send(Ok(permissions::all(request))));
        reply
    }

    fn access_error(&self) -> Option<Failure> {
        permissions::require_accessibility().err()
    }

    fn idle_limit(&self) -> Option<Duration> {
        permissions::require_accessibility().is_err().then_some(UNPERMITTED_IDLE_LIMIT)
    }

    fn shortcut_modifier(&self) -> Modifier {
        Modifier::Cmd
    }

    /// The items of an app in the background are pressed with success and without effect.
    fn menus_need_focus(&self) -> bool {
        true
    }

    fn end_of_text_keys(&self) -> Combo {
        Combo { modifiers: vec![Modifier::Cmd], key: Key::Named(Named::Down) }
    }

    fn start(&self, out: mpsc::UnboundedSender<DesktopEvent>) {
        // It is started once.
        let _ = self.shared.out.set(out.clone());
        displays::observe_changes(Arc::downgrade(&self.hints));
        let (ready, looked) = std::sync::mpsc::channel();
        let (shared, hints) = (Arc::clone(&self.shared), Arc::clone(&self.hints));
        let weak_hints = Arc::downgrade(&self.hints);
        let started = std::thread::Builder::new().name("axd-desktop".to_owned()).spawn(move || {
            let listened = host::run_on_main_blocking(move || {
                appkit::observe(Box::new(move |event| {
                    if let Some(hints) = weak_hints.upgrade() {
                        // Nobody follows any more when the daemon stops.
                        let _ = hints.send(MonitorEvent::Host(event));
                    }
                }));
            });
            if listened.is_none() {
                warn!("nobody tells of apps: thread 0 has ended");
            }
            let monitor = DesktopMonitor::new(shared, out);
            let _ = ready.send(());
            monitor.run(hints);
        });
        if let Err(fault) = started {
            warn!(%fault, "no thread for the desktop");
        } else if looked.recv_timeout(FIRST_READ_TIMEOUT).is_err() {
            warn!("the desktop takes long to tell what is there");
        }
    }

    fn attach(
        &self,
        app: &RunningApp,
        out: mpsc::Sender<WorkerEvent>,
        counters: Arc<Counters>,
    ) -> WorkerMailbox {
        let (requests, inbox) = mpsc::unbounded_channel();
        let mut apps = self.shared.apps.lock();
        let line = apps.get_mut(&app.pid).and_then(|running| {
            let app_shared = AppShared {
                ended: running.ended.subscribe(),
                late: Arc::clone(&running.late),
                hidden: Arc::clone(&running.hidden),
                browser: Arc::clone(&running.browser),
                monitor: Arc::clone(&self.hints),
            };
            let (line, thread) = AppThread::start(app.pid, app_shared)?;
            running.threads.push(thread);
            Some(line)
        });
        drop(apps);
        if line.is_none() {
            info!(pid = app.pid, "an app ended before it was attached");
        }
        worker::spawn(line, inbox, out, counters);
        WorkerMailbox::new(move |request| requests.send(request).is_ok())
    }

    fn input(&self, input: Input, gate: Gate) -> Reply<Option<String>> {
        self.calls.input(input, gate)
    }

    fn pointer(&self) -> Reply<Point> {
        self.calls.pointer()
    }

    fn window_op(&self, window: u64, op: WindowOp, gate: Gate) -> Reply<()> {
        self.calls.window_op(window, op, gate, &self.shared)
    }

    fn launch(&self, plan: LaunchPlan, gate: Gate) -> Reply<Launched> {
        self.calls.launch(plan, gate, &self.shared)
    }

    fn close_app(&self, pid: u32, force: bool, gate: Gate) -> Reply<()> {
        self.calls.close_app(pid, force, gate, &self.shared)
    }

    fn clipboard(&self, kind: ClipboardKind) -> Reply<Option<ClipboardContent>> {
        self.calls.clipboard(kind)
    }

    fn set_clipboard(&self, content: Option<ClipboardContent>, gate: Gate) -> Reply<()> {
        self.calls.set_clipboard(content, gate)
    }

    fn capture(&self, target: CaptureTarget, cursor: bool) -> Reply<CapturedImage> {
        self.calls.capture(target, cursor, &self.shared)
    }
}
