//! Which of the apps and windows that come after a start are what was started.
//!
//! The process that was started need not be the app: it may start another one and end, or hand over to an instance that
//! runs already. So the app is known by its process, else by what it goes by; only if neither is known it is the first
//! one that comes.

use axd_protocol::event::Event;
use axd_protocol::selector::fold;

use super::desktop::Desktop;
use super::happenings::Happenings;
use crate::platform::{AppSeen, WindowSeen};

/// How it was before something was started.
#[derive(Debug, Clone, Default)]
pub(super) struct Before {
    apps: Vec<u32>,
    windows: Vec<u64>,
    frontmost: Option<u32>,
    /// The number of the next event.
    next_happening: u64,
}

/// What is known of what was started.
#[derive(Debug, Clone, Default)]
pub(super) struct Started {
    /// Its process.
    pub pid: Option<u32>,
    /// What it goes by.
    pub identity: Option<String>,
    /// What it was called when it was asked for.
    pub program: String,
}

/// What has come of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Came {
    /// Nothing yet.
    Nothing,
    /// The app, without a window.
    App(AppSeen),
    /// The app and its window.
    Window(AppSeen, WindowSeen),
}

impl Before {
    /// How it is now, before something is started and before the event of that number.
    pub fn of(desktop: &Desktop, next_happening: u64) -> Before {
        Before {
            apps: desktop.apps.iter().map(|app| app.pid).collect(),
            windows: desktop.windows.iter().map(|window| window.window).collect(),
            frontmost: desktop.frontmost,
            next_happening,
        }
    }

    /// Whether a process has ended since.
    pub fn has_ended(&self, pid: u32, happenings: &Happenings) -> bool {
        happenings
            .between(self.next_happening, happenings.next())
            .any(|event| matches!(event, Event::AppTerminated(it) if it.app.pid == pid))
    }

    /// Whether another instance runs that may have been handed over to.
    pub fn has_heirs(&self, desktop: &Desktop, started: &Started) -> bool {
        let same =
            |app: &AppSeen| started.identity.as_ref().is_some_and(|identity| app.identity == *identity);
        desktop.apps.iter().any(|app| same(app) || is_called(app, &started.program))
    }

    /// What has come of what was started.
    pub fn what_came(&self, desktop: &Desktop, started: &Started) -> Came {
        let by_pid = started.pid.and_then(|pid| desktop.by_pid(pid));
        if let Some(app) = by_pid.or_else(|| self.newcomer(desktop, started)) {
            let theirs = || desktop.windows.iter().filter(|window| window.pid == app.pid);
            let window = theirs().find(|window| self.is_new(window)).or_else(|| theirs().next());
            return match window {
                Some(window) => Came::Window(app.clone(), window.clone()),
                None => Came::App(app.clone()),
            };
        }
        self.handed_over(desktop, started)
            .map_or(Came::Nothing, |(app, window)| Came::Window(app.clone(), window.clone()))
    }

    /// A new app that is what was started.
    fn newcomer<'d>(&self, desktop: &'d Desktop, started: &Started) -> Option<&'d AppSeen> {
        let new = || desktop.apps.iter().filter(|app| !self.apps.contains(&app.pid));
        match (&started.identity, started.pid) {
            (Some(identity), _) => new().find(|app| app.identity == *identity),
            // Another process may be the one that was started, if it is called the same.
            (None, Some(_)) => new().find(|app| is_called(app, &started.program)),
            (None, None) => new().next(),
        }
    }

    /// A window of an app that ran already and was handed what was started.
    fn handed_over<'d>(
        &self,
        desktop: &'d Desktop,
        started: &Started,
    ) -> Option<(&'d AppSeen, &'d WindowSeen)> {
        let is_it = |app: &AppSeen| match (&started.identity, started.pid) {
            (Some(identity), _) => app.identity == *identity,
            (None, Some(_)) => false,
            (None, None) => true,
        };
        let of = |window: &WindowSeen| desktop.by_pid(window.pid).filter(|app| is_it(app));
        let new = desktop.windows.iter().filter(|window| self.is_new(window));
        let new = new.filter_map(|window| Some((of(window)?, window))).next();
        new.or_else(|| {
            // It opened no window, but brought forward one that it had. What was in front before may have come to be so
            // by itself, so that counts only if nothing else is on its way.
            let window = desktop.window(desktop.active_window?)?;
            let app = of(window).filter(|_| started.identity.is_some())?;
            let came_forward = self.frontmost != Some(app.pid);
            (came_forward || started.pid.is_none()).then_some((app, window))
        })
    }

    fn is_new(&self, window: &WindowSeen) -> bool {
        !self.windows.contains(&window.window)
    }

    /// What came besides, for whoever waited in vain.
    pub fn others(&self, desktop: &Desktop) -> String {
        let apps = desktop.apps.iter().filter(|app| !self.apps.contains(&app.pid));
        let mut came: Vec<String> = apps.map(|app| format!("{} ({})", app.name, app.pid)).collect();
        let windows = desktop.windows.iter().filter(|window| self.is_new(window));
        came.extend(windows.map(|window| format!("the window '{}'", window.title)));
        if came.is_empty() {
            "no app and no window came".to_owned()
        } else {
            format!("it is not among what came: {}", came.join(", "))
        }
    }
}

/// Whether an app goes by the name of a program.
fn is_called(app: &AppSeen, program: &str) -> bool {
    let last = |text: &str| fold(text.rsplit('/').next().unwrap_or(text)).into_owned();
    let program = last(program);
    !program.is_empty() && (fold(&app.name) == program || last(&app.identity) == program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::DesktopEvent;

    fn app(pid: u32, name: &str) -> AppSeen {
        AppSeen { pid, name: name.into(), identity: format!("/usr/bin/{name}"), ..AppSeen::default() }
    }

    fn window(window: u64, pid: u32) -> WindowSeen {
        WindowSeen { window, pid, title: "w".into(), bounds: None, minimized: false, maximized: false }
    }

    /// A desktop with Mail in front and Notes behind it, and how that was.
    fn desktop() -> (Desktop, Before) {
        let mut desktop = Desktop::default();
        desktop.apply(DesktopEvent::AppUp(app(1, "notes")));
        desktop.apply(DesktopEvent::AppUp(app(2, "mail")));
        desktop.apply(DesktopEvent::Windows(vec![window(21, 2), window(11, 1)]));
        desktop.apply(DesktopEvent::Frontmost { pid: Some(2), window: Some(21) });
        let before = Before::of(&desktop, 0);
        (desktop, before)
    }

    fn started(pid: Option<u32>, identity: Option<&str>, program: &str) -> Started {
        Started { pid, identity: identity.map(Into::into), program: program.into() }
    }

    #[test]
    fn an_app_is_known_by_its_process_and_up_with_its_window() {
        let (mut desktop, before) = desktop();
        let it = started(Some(3), None, "maps");
        assert_eq!(before.what_came(&desktop, &it), Came::Nothing);
        desktop.apply(DesktopEvent::AppUp(app(9, "other")));
        desktop.apply(DesktopEvent::AppUp(app(3, "maps")));
        assert_eq!(before.what_came(&desktop, &it), Came::App(app(3, "maps")));
        desktop.apply(DesktopEvent::Windows(vec![window(91, 9), window(31, 3), window(21, 2)]));
        assert_eq!(before.what_came(&desktop, &it), Came::Window(app(3, "maps"), window(31, 3)));
    }

    #[test]
    fn an_app_that_another_process_started_is_known_by_what_it_goes_by() {
        let (mut desktop, before) = desktop();
        desktop.apply(DesktopEvent::AppUp(app(9, "other")));
        desktop.apply(DesktopEvent::AppUp(app(4, "maps")));
        for it in [
            started(Some(3), Some("/usr/bin/maps"), "x"),
            started(None, Some("/usr/bin/maps"), "x"),
            started(Some(3), None, "/opt/Maps"),
        ] {
            assert_eq!(before.what_came(&desktop, &it), Came::App(app(4, "maps")), "{it:?}");
        }
        assert_eq!(before.what_came(&desktop, &started(Some(3), None, "atlas")), Came::Nothing);
        assert!(before.others(&desktop).contains("maps (4)"));
    }

    #[test]
    fn of_what_nothing_is_known_the_first_that_comes_is_taken() {
        let (mut desktop, before) = desktop();
        let it = started(None, None, "x");
        assert_eq!(before.what_came(&desktop, &it), Came::Nothing);
        desktop.apply(DesktopEvent::Windows(vec![window(12, 1), window(21, 2), window(11, 1)]));
        assert_eq!(before.what_came(&desktop, &it), Came::Window(app(1, "notes"), window(12, 1)));
        desktop.apply(DesktopEvent::AppUp(app(5, "new")));
        assert_eq!(before.what_came(&desktop, &it), Came::App(app(5, "new")));
    }

    #[test]
    fn an_instance_that_was_handed_over_to_shows_a_new_window_or_comes_forward() {
        let (mut desktop, before) = desktop();
        let it = started(Some(3), Some("/usr/bin/notes"), "notes");
        assert_eq!(before.what_came(&desktop, &it), Came::Nothing);
        desktop.apply(DesktopEvent::Frontmost { pid: Some(1), window: Some(11) });
        assert_eq!(before.what_came(&desktop, &it), Came::Window(app(1, "notes"), window(11, 1)));
        desktop.apply(DesktopEvent::Windows(vec![window(12, 1), window(21, 2), window(11, 1)]));
        assert_eq!(before.what_came(&desktop, &it), Came::Window(app(1, "notes"), window(12, 1)));
    }

    #[test]
    fn what_was_in_front_already_is_not_taken_for_a_process_that_is_still_starting() {
        let (desktop, before) = desktop();
        let it = started(Some(3), Some("/usr/bin/mail"), "mail");
        assert_eq!(before.what_came(&desktop, &it), Came::Nothing);
        let handed_over = started(None, Some("/usr/bin/mail"), "mail");
        assert_eq!(before.what_came(&desktop, &handed_over), Came::Window(app(2, "mail"), window(21, 2)));
    }
}
