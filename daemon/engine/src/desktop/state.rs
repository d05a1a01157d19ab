//! The last known state of the desktop: apps, windows, displays, and the active window. It is kept so that reads need no call
//! to the platform.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axd_protocol::selector::fold;
use axd_protocol::{DisplayInfo, Error, ErrorCode, Point, Result};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::time::Instant;

use crate::desktop::hidden::{HiddenBy, HiddenNumbers};

use axd_platform::{DesktopEvent, DesktopWindow, RunningApp};

/// The maximum number of ended processes that were launched here, and of ended apps, that are remembered.
const MAX_ENDED_APPS: usize = 64;

/// The desktop, as last reported.
#[derive(Debug, Default)]
pub struct DesktopState {
    /// The running apps, in the order they started.
    pub apps: Vec<RunningApp>,
    /// The open windows that may be read, front to back.
    pub windows: Vec<DesktopWindow>,
    /// All open windows, front to back. What is hidden still covers what is behind it.
    all_windows: Vec<DesktopWindow>,
    hidden_by: HiddenBy,
    /// The windows that the trees of apps hide, by process id: a tree may have another title for a window.
    hidden_in_trees: FxHashMap<u32, FxHashSet<u64>>,
    /// The numbers of the windows that are hidden, and of those that are by the titles that the desktop knows.
    hidden: FxHashSet<u64>,
    hidden_by_title: HiddenNumbers,
    /// The displays.
    pub displays: Vec<DisplayInfo>,
    /// The process id of the active window's app.
    pub frontmost: Option<u32>,
    /// The active window.
    pub active_window: Option<u64>,
    /// Processes that were launched here and ended recently, with the reason if they failed.
    processes: VecDeque<(u32, Option<String>)>,
    /// Apps that ended recently, and when.
    ended: VecDeque<(RunningApp, Instant)>,
}

/// A change caused by a desktop event.
#[derive(Debug, Clone, PartialEq)]
pub enum DesktopChange {
    /// An app started.
    Launched(RunningApp),
    /// An app ended.
    Terminated(RunningApp),
    /// A window opened.
    Opened(DesktopWindow),
    /// A window closed.
    Closed(DesktopWindow),
    /// A window was moved, resized, renamed, minimized or restored.
    Altered(DesktopWindow),
    /// A window became the active one.
    Focused(DesktopWindow),
    /// Other windows of this process are hidden than before.
    Hidden(u32),
}

impl DesktopState {
    /// Applies an event and returns what changed.
    pub fn apply(&mut self, event: DesktopEvent) -> Vec<DesktopChange> {
        match event {
            DesktopEvent::AppUp(app) => {
                self.apps.retain(|known| known.pid != app.pid);
                self.apps.push(app.clone());
                let mut changes = vec![DesktopChange::Launched(app)];
                // What is hidden may depend on the app, which was not known until now.
                if self.hidden_by.0.is_some() {
                    changes.extend(self.judge_windows());
                }
                changes
            }
            DesktopEvent::AppGone { pid } => {
                let at = self.apps.iter().position(|app| app.pid == pid);
                if self.frontmost == Some(pid) {
                    (self.frontmost, self.active_window) = (None, None);
                }
                self.hidden_in_trees.remove(&pid);
                let gone = at.map(|at| self.apps.remove(at));
                if let Some(app) = &gone {
                    self.ended.push_back((app.clone(), Instant::now()));
                    if self.ended.len() > MAX_ENDED_APPS {
                        self.ended.pop_front();
                    }
                }
                gone.map(DesktopChange::Terminated).into_iter().collect()
            }
            DesktopEvent::Ended { pid, how } => {
                self.processes.push_back((pid, how));
                if self.processes.len() > MAX_ENDED_APPS {
                    self.processes.pop_front();
                }
                Vec::new()
            }
            DesktopEvent::Windows(windows) => self.set_windows(windows),
            DesktopEvent::Frontmost { pid, window } => {
                let before = self.active_window;
                (self.frontmost, self.active_window) = (pid, window);
                let focused = window.filter(|_| before != window).and_then(|window| self.window(window));
                focused.map(|window| DesktopChange::Focused(window.clone())).into_iter().collect()
            }
            DesktopEvent::Displays(displays) => {
                self.displays = displays;
                Vec::new()
            }
        }
    }

    fn set_windows(&mut self, windows: Vec<DesktopWindow>) -> Vec<DesktopChange> {
        self.all_windows = windows;
        self.judge_windows()
    }

    /// Says what is hidden from now on.
    pub fn set_hidden(&mut self, by: HiddenBy) -> Vec<DesktopChange> {
        self.hidden_by = by;
        self.judge_windows()
    }

    /// Says which of a process's windows its tree hides by the titles that it has.
    pub fn set_hidden_in_tree(&mut self, pid: u32, windows: FxHashSet<u64>) -> Vec<DesktopChange> {
        match windows.is_empty() {
            true => self.hidden_in_trees.remove(&pid),
            false => self.hidden_in_trees.insert(pid, windows),
        };
        self.judge_windows()
    }

    /// The windows that a process's tree hides, or hid when it was detached.
    pub fn hidden_in_tree(&self, pid: u32) -> FxHashSet<u64> {
        self.hidden_in_trees.get(&pid).cloned().unwrap_or_default()
    }

    /// What says which windows are hidden.
    pub fn hidden_by(&self) -> HiddenBy {
        self.hidden_by.clone()
    }

    /// The numbers of the windows that are hidden by their titles, as they are at any time.
    pub fn hidden_numbers(&self) -> HiddenNumbers {
        Arc::clone(&self.hidden_by_title)
    }

    /// Whether a window may not be read.
    pub fn is_hidden(&self, window: &DesktopWindow) -> bool {
        self.hides(window.pid, window.window, &window.title)
    }

    /// Whether a window of this process, with this number and title, may not be read. What an app that is gone left behind
    /// stays as it was.
    pub fn hides(&self, pid: u32, window: u64, title: &str) -> bool {
        self.hides_by_title(pid, window, title)
            || self.hidden_in_trees.get(&pid).is_some_and(|windows| windows.contains(&window))
    }

    fn hides_by_title(&self, pid: u32, window: u64, title: &str) -> bool {
        let Some(hides) = &self.hidden_by.0 else { return false };
        match self.by_pid(pid) {
            Some(app) => hides(app, title),
            None => {
                self.hidden.contains(&window) || hides(&RunningApp { pid, ..RunningApp::default() }, title)
            }
        }
    }

    /// Keeps what is hidden out of the windows, and returns what changed of those.
    fn judge_windows(&mut self) -> Vec<DesktopChange> {
        let by_title =
            |window: &&DesktopWindow| self.hides_by_title(window.pid, window.window, &window.title);
        let by_title: FxHashSet<u64> = self.all_windows.iter().filter(by_title).map(|it| it.window).collect();
        let (hidden, shown): (Vec<_>, Vec<_>) =
            self.all_windows.iter().cloned().partition(|window| self.is_hidden(window));
        let before = std::mem::replace(&mut self.windows, shown);
        self.hidden = hidden.iter().map(|window| window.window).collect();
        let mut changes = self.window_changes(&before);
        // Trees hide what is hidden here by its title; what is because of a tree it hides already.
        let judged = {
            let known = self.hidden_by_title.read();
            let is_news =
                |window: &&DesktopWindow| known.contains(&window.window) != by_title.contains(&window.window);
            let mut judged: Vec<u32> = self.all_windows.iter().filter(is_news).map(|it| it.pid).collect();
            judged.sort_unstable();
            judged.dedup();
            judged
        };
        *self.hidden_by_title.write() = by_title;
        changes.extend(judged.into_iter().map(DesktopChange::Hidden));
        changes
    }

    fn window_changes(&self, before: &[DesktopWindow]) -> Vec<DesktopChange> {
        let was = |window: &DesktopWindow| before.iter().find(|before| before.window == window.window);
        let mut changes: Vec<DesktopChange> = Vec::new();
        for gone in before.iter().filter(|window| self.window(window.window).is_none()) {
            changes.push(DesktopChange::Closed(gone.clone()));
        }
        for window in &self.windows {
            match was(window) {
                None => changes.push(DesktopChange::Opened(window.clone())),
                Some(before) if before != window => changes.push(DesktopChange::Altered(window.clone())),
                Some(_) => {}
            }
        }
        changes
    }

    /// Whether a process that was launched here has ended; `Some` with the reason if it failed.
    pub fn end_of(&self, pid: u32) -> Option<Option<&str>> {
        self.processes.iter().rev().find(|(ended, _)| *ended == pid).map(|(_, how)| how.as_deref())
    }

    /// A window by its number.
    pub fn window(&self, window: u64) -> Option<&DesktopWindow> {
        self.windows.iter().find(|known| known.window == window)
    }

    /// The frontmost window at a point, unless it is hidden.
    pub fn window_at(&self, point: Point) -> Option<&DesktopWindow> {
        self.all_windows
            .iter()
            .find(|window| !window.minimized && window.bounds.is_some_and(|bounds| bounds.contains(point)))
            .filter(|window| !self.hidden.contains(&window.window))
    }

    /// All windows, front to back, those that may not be read included: for what covers what, and for nothing else.
    pub fn stack(&self) -> &[DesktopWindow] {
        &self.all_windows
    }

    /// An app by process id.
    pub fn by_pid(&self, pid: u32) -> Option<&RunningApp> {
        self.apps.iter().find(|app| app.pid == pid)
    }

    /// When and how the app with this name ended, if it did: "mousepad ended 0.3 s ago, exit status: 1".
    pub fn how_ended(&self, spec: &str) -> Option<String> {
        let (app, at) = self.latest_ended(spec)?;
        let how = self.end_of(app.pid).flatten().map(|how| format!(", {how}")).unwrap_or_default();
        Some(format!("{} ended {}{how}", app.name, ago(at.elapsed())))
    }

    /// The former process id of the app with this name, if it ended.
    pub fn pid_of_ended(&self, spec: &str) -> Option<u32> {
        self.latest_ended(spec).map(|(app, _)| app.pid)
    }

    fn latest_ended(&self, spec: &str) -> Option<&(RunningApp, Instant)> {
        let wanted = AppQuery::new(spec);
        let by_pid = |app: &RunningApp| spec.parse() == Ok(app.pid);
        let latest = |fits: &dyn Fn(&RunningApp) -> bool| self.ended.iter().rev().find(|(app, _)| fits(app));
        latest(&by_pid)
            .or_else(|| latest(&|app| wanted.is(app)))
            .or_else(|| latest(&|app| wanted.begins(app)))
    }

    /// The app with a name, pid or identity: a complete match without regard to case, else a prefix.
    pub fn named(&self, spec: &str) -> Result<&RunningApp> {
        if let Some(app) = spec.parse().ok().and_then(|pid| self.by_pid(pid)) {
            return Ok(app);
        }
        let wanted = AppQuery::new(spec);
        let mut matching: Vec<&RunningApp> = self.apps.iter().filter(|app| wanted.is(app)).collect();
        if matching.is_empty() {
            matching = self.apps.iter().filter(|app| wanted.begins(app)).collect();
        }
        let ended = || self.how_ended(spec).map(|how| format!(": {how}")).unwrap_or_default();
        match matching[..] {
            [app] => Ok(app),
            [] => {
                Err(Error::new(ErrorCode::ApplicationNotFound, format!("app '{spec}' not found{}", ended()))
                    .suggest(format!("running apps: {}", self.list(&self.apps.iter().collect::<Vec<_>>())))
                    .retry("list-apps"))
            }
            _ => Err(Error::new(
                ErrorCode::AmbiguousTarget,
                format!("{} apps are called '{spec}'", matching.len()),
            )
            .suggest(format!("use the pid: {}", self.list(&matching)))
            .retry("list-apps")),
        }
    }

    /// The app of the active window, else the only running app.
    pub fn frontmost(&self) -> Result<&RunningApp> {
        if let Some(app) = self.frontmost.and_then(|pid| self.by_pid(pid)) {
            return Ok(app);
        }
        match &self.apps[..] {
            [app] => Ok(app),
            [] => Err(Error::new(ErrorCode::ApplicationNotFound, "no app is running")
                .suggest("start an app, then try again")),
            apps => Err(Error::new(ErrorCode::ApplicationNotFound, "no app is frontmost")
                .suggest(format!("name one with --app: {}", self.list(&apps.iter().collect::<Vec<_>>())))
                .retry("list-apps")),
        }
    }

    fn list(&self, apps: &[&RunningApp]) -> String {
        let names: Vec<String> = apps.iter().map(|app| format!("{} ({})", app.name, app.pid)).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

/// The name by which a request refers to an app.
struct AppQuery<'a> {
    spec: &'a str,
    folded: std::borrow::Cow<'a, str>,
}

impl<'a> AppQuery<'a> {
    fn new(spec: &'a str) -> AppQuery<'a> {
        AppQuery { spec, folded: fold(spec) }
    }

    fn any(&self, app: &RunningApp, fits: impl Fn(&str) -> bool) -> bool {
        [&app.name, &app.identity].into_iter().chain(&app.aliases).any(|name| fits(&fold(name)))
    }

    /// Whether the app has exactly this name.
    fn is(&self, app: &RunningApp) -> bool {
        app.identity == self.spec || self.any(app, |name| name == self.folded)
    }

    /// Whether a name of the app begins with this. A prefix of a number does not count.
    fn begins(&self, app: &RunningApp) -> bool {
        let word = !self.folded.is_empty() && self.spec.parse::<u64>().is_err();
        word && self.any(app, |name| name.starts_with(&*self.folded))
    }
}

/// How long ago something was, as a text.
pub fn ago(time: Duration) -> String {
    match time.as_secs() {
        0..10 => format!("{:.1} s ago", time.as_secs_f64()),
        seconds @ 10..120 => format!("{seconds} s ago"),
        seconds => format!("{} min ago", seconds / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(pid: u32, name: &str) -> RunningApp {
        RunningApp {
            pid,
            name: name.into(),
            identity: format!("org.example.{name}"),
            ..RunningApp::default()
        }
    }

    #[test]
    fn an_app_is_found_by_all_it_goes_by_and_by_a_beginning_that_only_one_has() {
        let mut desktop = DesktopState::default();
        let aliases = ["org.gnome.gedit", "gedit", "Text Editor", "Texteditor"].map(str::to_owned).to_vec();
        let gedit = RunningApp { pid: 1, name: "gedit".into(), identity: "gedit".into(), aliases };
        let firefox = RunningApp {
            pid: 2,
            name: "Firefox".into(),
            identity: "firefox-esr".into(),
            ..RunningApp::default()
        };
        let filer =
            RunningApp { pid: 3, name: "Files".into(), identity: "filer".into(), ..RunningApp::default() };
        for seen in [gedit, firefox, filer] {
            desktop.apply(DesktopEvent::AppUp(seen));
        }
        let pid = |spec: &str| desktop.named(spec).map(|app| app.pid);
        for spec in ["gedit", "GEDIT", "Text Editor", "texteditor", "org.gnome.gedit", "gedi", "text e"] {
            assert_eq!(pid(spec), Ok(1), "{spec}");
        }
        for spec in ["firefox", "Firefox", "firefox-esr", "FIREFOX-ESR", "fire"] {
            assert_eq!(pid(spec), Ok(2), "{spec}");
        }
        let several = pid("fi").unwrap_err();
        assert_eq!(several.code, ErrorCode::AmbiguousTarget);
        assert!(several.suggestion.contains("Firefox (2), Files (3)"), "{}", several.suggestion);
        for spec in ["", "ext", "12"] {
            assert_eq!(pid(spec).unwrap_err().code, ErrorCode::ApplicationNotFound, "{spec}");
        }
    }

    #[test]
    fn whole_names_win_over_beginnings() {
        let mut desktop = DesktopState::default();
        for seen in [app(1, "Mail"), app(2, "Mailman")] {
            desktop.apply(DesktopEvent::AppUp(seen));
        }
        assert_eq!(desktop.named("mail").unwrap().pid, 1);
        assert_eq!(desktop.named("mailm").unwrap().pid, 2);
    }

    #[test]
    fn an_app_that_ended_is_told_of_with_when_and_how() {
        let mut desktop = DesktopState::default();
        desktop.apply(DesktopEvent::AppUp(app(7, "Notes")));
        desktop.apply(DesktopEvent::AppGone { pid: 7 });
        desktop.apply(DesktopEvent::Ended { pid: 7, how: Some("signal: 9 (SIGKILL)".into()) });
        let error = desktop.named("notes").unwrap_err();
        assert_eq!(error.code, ErrorCode::ApplicationNotFound);
        assert_eq!(error.message, "app 'notes' not found: Notes ended 0.0 s ago, signal: 9 (SIGKILL)");
        assert_eq!(desktop.how_ended("7").as_deref(), Some("Notes ended 0.0 s ago, signal: 9 (SIGKILL)"));
        assert_eq!(desktop.how_ended("Mail"), None);
        for (seconds, expected) in [(0, "0.0 s ago"), (12, "12 s ago"), (125, "2 min ago")] {
            assert_eq!(ago(Duration::from_secs(seconds)), expected);
        }
    }

    fn window(window: u64, title: &str) -> DesktopWindow {
        DesktopWindow {
            window,
            pid: 1,
            title: title.into(),
            bounds: None,
            minimized: false,
            maximized: false,
            splash: false,
        }
    }

    #[test]
    fn an_app_is_found_by_pid_name_or_identity_and_never_guessed() {
        let mut desktop = DesktopState::default();
        for seen in [app(1, "Notes"), app(2, "Mail"), app(3, "Mail")] {
            desktop.apply(DesktopEvent::AppUp(seen));
        }
        for spec in ["notes", "1", "org.example.Notes"] {
            assert_eq!(desktop.named(spec).unwrap().pid, 1);
        }
        assert_eq!(desktop.named("Mail").unwrap_err().code, ErrorCode::AmbiguousTarget);
        assert_eq!(desktop.named("Maps").unwrap_err().code, ErrorCode::ApplicationNotFound);
        assert!(desktop.frontmost().unwrap_err().suggestion.contains("Notes (1)"));
    }

    #[test]
    fn windows_that_come_go_and_change_are_told_once() {
        let mut desktop = DesktopState::default();
        let opened = desktop.apply(DesktopEvent::Windows(vec![window(1, "a"), window(2, "b")]));
        assert_eq!(opened.len(), 2);
        let changes = desktop.apply(DesktopEvent::Windows(vec![window(2, "c"), window(3, "d")]));
        assert_eq!(
            changes,
            [
                DesktopChange::Closed(window(1, "a")),
                DesktopChange::Altered(window(2, "c")),
                DesktopChange::Opened(window(3, "d"))
            ]
        );
        let front = DesktopEvent::Frontmost { pid: Some(1), window: Some(3) };
        assert_eq!(desktop.apply(front.clone()), [DesktopChange::Focused(window(3, "d"))]);
        assert_eq!(desktop.apply(front), []);
    }
}
