//! What the desktop has told: apps, windows, displays, and which window is the active one. Kept so that questions
//! about them cost no call.

use std::collections::VecDeque;

use axd_protocol::selector::fold;
use axd_protocol::{DisplayInfo, Error, ErrorCode, Point, Result};

use crate::platform::{AppSeen, DesktopEvent, WindowSeen};

/// How many processes that were started here and ended are remembered.
const MOST_ENDED: usize = 64;

/// The desktop, as last told.
#[derive(Debug, Default)]
pub struct Desktop {
    /// The apps that run, in the order they came.
    pub apps: Vec<AppSeen>,
    /// The windows that are open, front to back.
    pub windows: Vec<WindowSeen>,
    /// The displays.
    pub displays: Vec<DisplayInfo>,
    /// The app of the active window.
    pub frontmost: Option<u32>,
    /// The active window.
    pub active_window: Option<u64>,
    /// Processes that were started here and ended lately, and how if not well.
    ended: VecDeque<(u32, Option<String>)>,
}

/// What an event changed, for those who are told of it.
#[derive(Debug, Clone, PartialEq)]
pub enum DesktopChange {
    /// An app started.
    Launched(AppSeen),
    /// An app ended.
    Terminated(AppSeen),
    /// A window came up.
    Opened(WindowSeen),
    /// A window went away.
    Closed(WindowSeen),
    /// A window was moved, resized, renamed, minimised or restored.
    Altered(WindowSeen),
    /// A window became the active one.
    Focused(WindowSeen),
}

impl Desktop {
    /// Takes over what was told, and says what is different now.
    pub fn apply(&mut self, event: DesktopEvent) -> Vec<DesktopChange> {
        match event {
            DesktopEvent::AppUp(app) => {
                self.apps.retain(|known| known.pid != app.pid);
                self.apps.push(app.clone());
                vec![DesktopChange::Launched(app)]
            }
            DesktopEvent::AppGone { pid } => {
                let at = self.apps.iter().position(|app| app.pid == pid);
                if self.frontmost == Some(pid) {
                    (self.frontmost, self.active_window) = (None, None);
                }
                at.map(|at| DesktopChange::Terminated(self.apps.remove(at))).into_iter().collect()
            }
            DesktopEvent::Ended { pid, how } => {
                self.ended.push_back((pid, how));
                if self.ended.len() > MOST_ENDED {
                    self.ended.pop_front();
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

    fn set_windows(&mut self, windows: Vec<WindowSeen>) -> Vec<DesktopChange> {
        let before = std::mem::replace(&mut self.windows, windows);
        let was = |window: &WindowSeen| before.iter().find(|before| before.window == window.window);
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

    /// Whether a process that was started here has ended; `Some` with how it was, if not well.
    pub fn end_of(&self, pid: u32) -> Option<Option<&str>> {
        self.ended.iter().rev().find(|(ended, _)| *ended == pid).map(|(_, how)| how.as_deref())
    }

    /// A window by its number.
    pub fn window(&self, window: u64) -> Option<&WindowSeen> {
        self.windows.iter().find(|known| known.window == window)
    }

    /// The frontmost window at a point.
    pub fn window_at(&self, point: Point) -> Option<&WindowSeen> {
        self.windows
            .iter()
            .find(|window| !window.minimized && window.bounds.is_some_and(|bounds| bounds.contains(point)))
    }

    /// An app by process.
    pub fn by_pid(&self, pid: u32) -> Option<&AppSeen> {
        self.apps.iter().find(|app| app.pid == pid)
    }

    /// The app that is meant by a name, pid or identity.
    pub fn named(&self, spec: &str) -> Result<&AppSeen> {
        if let Some(app) = spec.parse().ok().and_then(|pid| self.by_pid(pid)) {
            return Ok(app);
        }
        let wanted = fold(spec);
        let matching: Vec<&AppSeen> =
            self.apps.iter().filter(|app| app.identity == spec || fold(&app.name) == wanted).collect();
        match matching[..] {
            [app] => Ok(app),
            [] => Err(Error::new(ErrorCode::ApplicationNotFound, format!("no app '{spec}' runs"))
                .suggest(format!("these run: {}", self.list(&self.apps.iter().collect::<Vec<_>>())))
                .retry("list-apps")),
            _ => Err(Error::new(
                ErrorCode::AmbiguousTarget,
                format!("{} apps are called '{spec}'", matching.len()),
            )
            .suggest(format!("use the pid: {}", self.list(&matching)))
            .retry("list-apps")),
        }
    }

    /// The app of the active window, else the only one there is.
    pub fn frontmost(&self) -> Result<&AppSeen> {
        if let Some(app) = self.frontmost.and_then(|pid| self.by_pid(pid)) {
            return Ok(app);
        }
        match &self.apps[..] {
            [app] => Ok(app),
            [] => Err(Error::new(ErrorCode::ApplicationNotFound, "no app runs")
                .suggest("start an app, then try again")),
            apps => Err(Error::new(ErrorCode::ApplicationNotFound, "no app is frontmost")
                .suggest(format!("name one with --app: {}", self.list(&apps.iter().collect::<Vec<_>>())))
                .retry("list-apps")),
        }
    }

    fn list(&self, apps: &[&AppSeen]) -> String {
        let names: Vec<String> = apps.iter().map(|app| format!("{} ({})", app.name, app.pid)).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(pid: u32, name: &str) -> AppSeen {
        AppSeen { pid, name: name.into(), identity: format!("org.example.{name}") }
    }

    fn window(window: u64, title: &str) -> WindowSeen {
        WindowSeen { window, pid: 1, title: title.into(), bounds: None, minimized: false, maximized: false }
    }

    #[test]
    fn an_app_is_found_by_pid_name_or_identity_and_never_guessed() {
        let mut desktop = Desktop::default();
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
        let mut desktop = Desktop::default();
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
