//! The state that the apps of a desktop share: the running processes, the stacking order of windows, the clipboard and the input state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use axd_protocol::{Bounds, DisplayInfo};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::calls::ask;
use super::input::InputState;
use super::model::{Model, SCREEN, span};
use super::process::{self, Control, Process};
use super::script::Script;
use axd_platform::{
    ClipboardContent, DesktopEvent, DesktopWindow, Failure, FailureKind, LaunchPlan, PersonActivity,
    RunningApp,
};

/// The session of a built-in desktop.
pub(super) struct SimSession {
    /// The installed apps, running or not.
    pub scripts: Vec<Arc<Script>>,
    next_pid: AtomicU32,
    state: Mutex<SessionState>,
    clipboard: Mutex<Option<ClipboardContent>>,
    /// The displays, the main one first.
    displays: Mutex<Vec<DisplayInfo>>,
    pub input_state: Mutex<InputState>,
    /// What a person does: whoever uses the apps with the command `sim`.
    pub person: Arc<PersonActivity>,
}

#[derive(Default)]
struct SessionState {
    out: Option<mpsc::UnboundedSender<DesktopEvent>>,
    running: BTreeMap<u32, RunningProcess>,
    /// The windows, front to back.
    windows: Vec<DesktopWindow>,
    frontmost: (Option<u32>, Option<u64>),
    /// The apps that are hidden with all their windows.
    hidden: BTreeSet<u32>,
}

struct RunningProcess {
    app: RunningApp,
    script: Arc<Script>,
    process: Process,
}

impl SessionState {
    fn send_event(&self, event: DesktopEvent) {
        // Sending fails only while the daemon shuts down.
        let _ = self.out.as_ref().map(|out| out.send(event));
    }

    fn set_windows(&mut self, windows: Vec<DesktopWindow>) {
        if windows != self.windows {
            self.windows = windows;
            self.send_event(DesktopEvent::Windows(self.windows.clone()));
        }
        let is_up = |window: &&DesktopWindow| !window.minimized && !self.hidden.contains(&window.pid);
        let front = self.windows.iter().find(is_up);
        let frontmost = (front.map(|window| window.pid), front.map(|window| window.window));
        if frontmost != self.frontmost {
            self.frontmost = frontmost;
            self.send_event(DesktopEvent::Frontmost { pid: frontmost.0, window: frontmost.1 });
        }
    }
}

impl SimSession {
    /// A session with these apps, of which none runs.
    pub(super) fn new(scripts: Vec<Arc<Script>>) -> SimSession {
        SimSession {
            scripts,
            next_pid: AtomicU32::new(1001),
            state: Mutex::new(SessionState::default()),
            clipboard: Mutex::new(None),
            displays: Mutex::new(vec![built_in_display()]),
            input_state: Mutex::new(InputState::default()),
            person: Arc::default(),
        }
    }

    /// Starts sending events, and starts the apps that run from the start.
    pub(super) fn open(self: &Arc<SimSession>, out: mpsc::UnboundedSender<DesktopEvent>) {
        self.state.lock().out = Some(out);
        let mut windows = Vec::new();
        for script in self.scripts.iter().filter(|script| script.running) {
            let (_, theirs) = self.start_process(script, LaunchPlan::default());
            windows.splice(0..0, theirs);
        }
        let mut state = self.state.lock();
        state.set_windows(windows);
        state.send_event(DesktopEvent::Displays(self.displays()));
    }

    /// Stops sending events, and ends the apps: an app ends when the last sender to it is dropped.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.out = None;
        state.running.clear();
    }

    /// Updates the windows of an app, which are given front to back. New windows come to the front, and all of the app's
    /// windows do if it is `activated`.
    pub(super) fn arrange(&self, pid: u32, theirs: Vec<DesktopWindow>, activated: bool) {
        let mut state = self.state.lock();
        if !state.running.contains_key(&pid) {
            return;
        }
        if activated {
            state.hidden.remove(&pid);
        }
        let was_there = |window: &DesktopWindow| state.windows.iter().any(|old| old.window == window.window);
        let raised = activated || theirs.iter().any(|window| !was_there(window));
        let mut theirs = theirs.into_iter();
        let mut windows: Vec<DesktopWindow> = Vec::new();
        if raised {
            windows.extend(theirs.by_ref());
        }
        for old in &state.windows {
            // The windows of the app keep the positions that they had, in their new order.
            if old.pid != pid {
                windows.push(old.clone());
            } else {
                windows.extend(theirs.next());
            }
        }
        windows.sort_by_key(|window| window.minimized);
        state.set_windows(windows);
    }

    /// Removes an app that has ended.
    pub(super) fn on_app_ended(&self, pid: u32) {
        let mut state = self.state.lock();
        if state.running.remove(&pid).is_some() {
            state.hidden.remove(&pid);
            state.send_event(DesktopEvent::AppGone { pid });
            let windows = state.windows.iter().filter(|window| window.pid != pid).cloned().collect();
            state.set_windows(windows);
        }
    }

    /// Starts an app; returns its pid and its windows, which are not on the desktop yet.
    pub(super) fn start_process(
        self: &Arc<SimSession>,
        script: &Arc<Script>,
        plan: LaunchPlan,
    ) -> (u32, Vec<DesktopWindow>) {
        let pid = self.next_pid.fetch_add(1, Ordering::Relaxed);
        let now = tokio::time::Instant::now().into_std();
        let mut model = Model::started(Arc::clone(script), u64::from(pid) * 100, plan, now);
        model.set_displays(&self.display_bounds());
        let windows = process::windows_of(pid, &model);
        let seen = RunningApp {
            pid,
            name: script.name.clone(),
            identity: script.identity.clone(),
            ..RunningApp::default()
        };
        // The lock is held because the end of an app that ends at once must not be announced before its start.
        let mut state = self.state.lock();
        let process = process::spawn(pid, model, Arc::clone(self));
        state.send_event(DesktopEvent::AppUp(seen.clone()));
        state.running.insert(pid, RunningProcess { app: seen, script: Arc::clone(script), process });
        (pid, windows)
    }

    /// Starts an app and brings it to the front.
    pub(super) fn launch_in_front(self: &Arc<SimSession>, script: &Arc<Script>, plan: LaunchPlan) -> u32 {
        let (pid, windows) = self.start_process(script, plan);
        self.arrange(pid, windows, true);
        pid
    }

    /// The process with a pid.
    pub(super) fn process(&self, pid: u32) -> Option<Process> {
        self.state.lock().running.get(&pid).map(|running| running.process.clone())
    }

    /// The running apps, in the order they were started.
    pub(super) fn apps(&self) -> Vec<RunningApp> {
        self.state.lock().running.values().map(|running| running.app.clone()).collect()
    }

    /// The processes that are not hidden.
    pub(super) fn visible_processes(&self) -> Vec<(u32, Process)> {
        let all = self.processes();
        let state = self.state.lock();
        all.into_iter().filter(|(pid, _)| !state.hidden.contains(pid)).collect()
    }

    /// All processes, in the order they were started.
    pub(super) fn processes(&self) -> Vec<(u32, Process)> {
        let state = self.state.lock();
        state.running.iter().map(|(pid, running)| (*pid, running.process.clone())).collect()
    }

    /// The pid of an app; of the instance that was started first, if there are several.
    pub(super) fn pid_of(&self, script: &Script) -> Option<u32> {
        let state = self.state.lock();
        let found = state.running.iter().find(|(_, running)| running.app.name == script.name);
        found.map(|(pid, _)| *pid)
    }

    /// Finds an app by name, identity or pid; returns its pid too if it runs.
    pub(super) fn find(&self, word: &str) -> Result<(Arc<Script>, Option<u32>), Failure> {
        if let Ok(pid) = word.parse()
            && let Some(running) = self.state.lock().running.get(&pid)
        {
            return Ok((Arc::clone(&running.script), Some(pid)));
        }
        let is_it = |script: &&Arc<Script>| script.name.eq_ignore_ascii_case(word) || script.identity == word;
        let found = self.scripts.iter().find(is_it).cloned().ok_or_else(|| {
            let names: Vec<&str> = self.scripts.iter().map(|script| script.name.as_str()).collect();
            invalid(format!("app '{word}' not found; apps: {}", names.join(", ")))
        })?;
        let pid = self.pid_of(&found);
        Ok((found, pid))
    }

    /// The windows, front to back.
    pub(super) fn windows(&self) -> Vec<DesktopWindow> {
        self.state.lock().windows.clone()
    }

    /// Hides an app with all its windows, or shows it again, behind the others. Coming to the front shows it too.
    pub(super) fn hide(&self, pid: u32, hidden: bool) {
        let mut state = self.state.lock();
        if !state.running.contains_key(&pid) {
            return;
        }
        if hidden {
            state.hidden.insert(pid);
        } else {
            state.hidden.remove(&pid);
        }
        let mut windows = state.windows.clone();
        windows.sort_by_key(|window| (window.minimized, hidden && window.pid == pid));
        state.set_windows(windows);
    }

    /// Whether an app is hidden.
    pub(super) fn is_hidden(&self, pid: u32) -> bool {
        self.state.lock().hidden.contains(&pid)
    }

    /// The active window and its app.
    pub(super) fn active(&self) -> (Option<u32>, Option<u64>) {
        self.state.lock().frontmost
    }

    /// The displays, the main one first.
    pub(super) fn displays(&self) -> Vec<DisplayInfo> {
        self.displays.lock().clone()
    }

    /// The bounds of the displays.
    pub(super) fn display_bounds(&self) -> Vec<Bounds> {
        self.displays.lock().iter().map(|display| display.bounds).collect()
    }

    /// The bounding box of the displays.
    pub(super) fn span(&self) -> Bounds {
        span(self.display_bounds().into_iter()).unwrap_or(SCREEN)
    }

    /// Replaces the displays, the main one first. All apps know of it when this returns.
    pub(super) async fn set_displays(&self, displays: Vec<DisplayInfo>) {
        self.displays.lock().clone_from(&displays);
        for (_, process) in self.processes() {
            ask(&process, |answer| Control::Displays(self.display_bounds(), answer)).await;
        }
        self.state.lock().send_event(DesktopEvent::Displays(displays));
    }

    /// The content of the clipboard.
    pub(super) fn clipboard(&self) -> Option<ClipboardContent> {
        self.clipboard.lock().clone()
    }

    /// The text on the clipboard, if it has text.
    pub(super) fn clipboard_text(&self) -> Option<String> {
        match &*self.clipboard.lock() {
            Some(ClipboardContent::Text(text)) => Some(text.clone()),
            _ => None,
        }
    }

    /// Replaces the content of the clipboard.
    pub(super) fn set_clipboard(&self, clip: impl Into<Option<ClipboardContent>>) {
        *self.clipboard.lock() = clip.into();
    }
}

/// The default display.
fn built_in_display() -> DisplayInfo {
    DisplayInfo { display: 1, name: "Built-in".to_owned(), primary: true, bounds: SCREEN, scale: 1.0 }
}

/// The failure for an invalid request.
pub(super) fn invalid(text: String) -> Failure {
    Failure::new(FailureKind::Invalid, text)
}
