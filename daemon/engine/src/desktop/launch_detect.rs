//! Finds the apps and windows that result from a launch.
//!
//! The launched process need not be the app: it may start another process and end, or hand over to an instance that is running
//! already. So the app is recognized by its process, by descent (which the platform knows), and by its identity or name. A
//! hand-over is recognized by its effect on the running instance: a new window, another title, or coming to the front. That
//! counts only once the launched process has ended; until then it may still become an app itself.

use axd_protocol::event::Event;
use axd_protocol::selector::fold;

use crate::desktop::state::DesktopState;
use crate::subscribe::event_log::EventLog;
use axd_platform::{DesktopWindow, Kinship, RunningApp};

/// The state of the desktop before a launch.
#[derive(Debug, Clone, Default)]
pub(crate) struct Baseline {
    apps: Vec<u32>,
    windows: Vec<(u64, String)>,
    active_window: Option<u64>,
    /// The number of the next event in the log.
    next_event: u64,
}

/// What is known of a launched process.
#[derive(Debug, Clone, Default)]
pub(crate) struct StartedProcess {
    /// Its process id.
    pub pid: Option<u32>,
    /// Its identity.
    pub identity: Option<String>,
    /// The name of the program in the request.
    pub program: String,
    /// The mark of the launch.
    pub mark: String,
}

/// The progress of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The launched process is running.
    Running,
    /// It ended, or was never known; an app that it handed over to is looked for.
    Ended,
    /// It ended a while ago, and none of its processes is running any more: the instance that ran before takes its place, and
    /// windows that appeared meanwhile are attributed to it.
    Over,
}

/// The result of a launch so far.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Detected {
    /// Nothing yet.
    Nothing,
    /// The app, without a window.
    App(RunningApp),
    /// The app and its window.
    Window(RunningApp, DesktopWindow),
    /// It handed over to an app that ran already, which shows it in this window.
    HandedOver(RunningApp, DesktopWindow),
    /// A hand-over, as far as can be known: nothing is new about that app, or only the timing suggests that it is the one.
    Perhaps(RunningApp, Option<DesktopWindow>),
}

impl Baseline {
    /// The current state, before a launch and before the event with that number.
    pub fn of(desktop: &DesktopState, next_event: u64) -> Baseline {
        Baseline {
            apps: desktop.apps.iter().map(|app| app.pid).collect(),
            windows: desktop.windows.iter().map(|window| (window.window, window.title.clone())).collect(),
            active_window: desktop.active_window,
            next_event,
        }
    }

    /// Whether an app has ended since the launch.
    pub fn has_ended(&self, pid: u32, log: &EventLog) -> bool {
        log.between(self.next_event, log.next())
            .any(|event| matches!(event, Event::AppTerminated(it) if it.app.pid == pid))
    }

    /// Whether an app was running before the launch.
    pub fn ran(&self, app: &RunningApp) -> bool {
        self.apps.contains(&app.pid)
    }

    /// The result of a launch so far. `kin` says how a process is related to it.
    pub fn detect(
        &self,
        desktop: &DesktopState,
        started: &StartedProcess,
        phase: Phase,
        kin: &dyn Fn(u32) -> Kinship,
    ) -> Detected {
        let by_pid = started.pid.and_then(|pid| desktop.by_pid(pid));
        if let Some(app) = by_pid.or_else(|| self.new_app(desktop, started, phase, kin)) {
            let theirs = || desktop.windows.iter().filter(|window| window.pid == app.pid && !window.splash);
            let window = theirs().find(|window| self.is_new(window)).or_else(|| theirs().next());
            return match (window, self.ran(app)) {
                (Some(window), false) => Detected::Window(app.clone(), window.clone()),
                (Some(window), true) => Detected::HandedOver(app.clone(), window.clone()),
                (None, _) => Detected::App(app.clone()),
            };
        }
        if phase == Phase::Running {
            return Detected::Nothing;
        }
        self.handed_over(desktop, started, phase, kin)
    }

    /// A new app that results from the launch; of several, one that shows a window.
    fn new_app<'d>(
        &self,
        desktop: &'d DesktopState,
        started: &StartedProcess,
        phase: Phase,
        kin: &dyn Fn(u32) -> Kinship,
    ) -> Option<&'d RunningApp> {
        let is_it = |app: &&RunningApp| match kin(app.pid) {
            Kinship::Own => true,
            // An app of another launch is not the result of this one, but may have taken over.
            Kinship::Heir | Kinship::Foreign if phase == Phase::Running => false,
            Kinship::Heir => true,
            Kinship::Foreign | Kinship::Unknown => match (&started.identity, started.pid) {
                (Some(identity), _) if app.identity == *identity => true,
                // Another process may be the launched app, if it has the same name.
                (_, Some(_)) => is_called(app, &started.program),
                (Some(_), None) => false,
                (None, None) => true,
            },
        };
        let new: Vec<&RunningApp> = desktop.apps.iter().filter(|app| !self.ran(app)).filter(is_it).collect();
        let shows = |app: &&&RunningApp| desktop.windows.iter().any(|window| window.pid == app.pid);
        new.iter().find(shows).or(new.first()).copied()
    }

    /// The effect of a hand-over on the instance that was running already.
    fn handed_over(
        &self,
        desktop: &DesktopState,
        started: &StartedProcess,
        phase: Phase,
        kin: &dyn Fn(u32) -> Kinship,
    ) -> Detected {
        let is_heir = |app: &&RunningApp| {
            let nothing_known = started.identity.is_none() && started.pid.is_none();
            started.identity.as_ref().is_some_and(|identity| app.identity == *identity)
                || is_called(app, &started.program)
                || nothing_known
                || matches!(kin(app.pid), Kinship::Heir | Kinship::Own)
        };
        let heirs: Vec<&RunningApp> = desktop.apps.iter().filter(is_heir).collect();
        let of = |window: &DesktopWindow| heirs.iter().find(|app| app.pid == window.pid).copied();
        let windows = || desktop.windows.iter().filter(|window| !window.splash);
        let theirs = || windows().filter_map(|window| Some((of(window)?, window)));
        let changed = |window: &DesktopWindow| {
            let before = self.windows.iter().find(|(number, _)| *number == window.window);
            before.is_some_and(|(_, title)| *title != window.title)
        };
        let came_forward = |window: &DesktopWindow| {
            desktop.active_window == Some(window.window) && self.active_window != Some(window.window)
        };
        let seen = theirs()
            .find(|(_, window)| self.is_new(window))
            .or_else(|| theirs().find(|(_, window)| changed(window)))
            .or_else(|| theirs().find(|(_, window)| came_forward(window)));
        if let Some((app, window)) = seen {
            return Detected::HandedOver(app.clone(), window.clone());
        }
        if phase != Phase::Over {
            return Detected::Nothing;
        }
        if let Some((app, window)) = theirs().next() {
            return Detected::Perhaps(app.clone(), Some(window.clone()));
        }
        if let Some(app) = heirs.first() {
            return Detected::Perhaps((*app).clone(), None);
        }
        let new = desktop.windows.iter().filter(|window| self.is_new(window));
        new.filter_map(|window| Some((desktop.by_pid(window.pid)?, window)))
            .find(|(app, _)| kin(app.pid) != Kinship::Foreign)
            .map_or(Detected::Nothing, |(app, window)| Detected::Perhaps(app.clone(), Some(window.clone())))
    }

    /// Whether a window appeared since the launch.
    pub fn is_new(&self, window: &DesktopWindow) -> bool {
        !self.windows.iter().any(|(number, _)| *number == window.window)
    }

    /// The other apps and windows that appeared, for the error of a wait that timed out.
    pub fn describe_new(&self, desktop: &DesktopState) -> String {
        let apps = desktop.apps.iter().filter(|app| !self.ran(app));
        let mut came: Vec<String> = apps.map(|app| format!("{} ({})", app.name, app.pid)).collect();
        let windows = desktop.windows.iter().filter(|window| self.is_new(window));
        came.extend(windows.map(|window| format!("the window '{}'", window.title)));
        if came.is_empty() {
            "no app or window appeared".to_owned()
        } else {
            format!("it is not among what appeared: {}", came.join(", "))
        }
    }
}

/// Whether an app has the name of a program.
fn is_called(app: &RunningApp, program: &str) -> bool {
    let last = |text: &str| fold(text.rsplit('/').next().unwrap_or(text)).into_owned();
    let program = last(program);
    !program.is_empty() && (fold(&app.name) == program || last(&app.identity) == program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_platform::DesktopEvent;

    fn app(pid: u32, name: &str) -> RunningApp {
        RunningApp { pid, name: name.into(), identity: format!("/usr/bin/{name}"), ..RunningApp::default() }
    }

    fn window(window: u64, pid: u32) -> DesktopWindow {
        DesktopWindow {
            window,
            pid,
            title: "w".into(),
            bounds: None,
            minimized: false,
            maximized: false,
            splash: false,
        }
    }

    /// A desktop with Mail in front and Notes behind it, and its baseline.
    fn desktop() -> (DesktopState, Baseline) {
        let mut desktop = DesktopState::default();
        desktop.apply(DesktopEvent::AppUp(app(1, "notes")));
        desktop.apply(DesktopEvent::AppUp(app(2, "mail")));
        desktop.apply(DesktopEvent::Windows(vec![window(21, 2), window(11, 1)]));
        desktop.apply(DesktopEvent::Frontmost { pid: Some(2), window: Some(21) });
        let before = Baseline::of(&desktop, 0);
        (desktop, before)
    }

    fn started(pid: Option<u32>, identity: Option<&str>, program: &str) -> StartedProcess {
        StartedProcess { pid, identity: identity.map(Into::into), program: program.into(), mark: "m".into() }
    }

    fn came(before: &Baseline, desktop: &DesktopState, it: &StartedProcess, phase: Phase) -> Detected {
        before.detect(desktop, it, phase, &|_| Kinship::Unknown)
    }

    #[test]
    fn an_app_is_known_by_its_process_and_up_with_its_window() {
        let (mut desktop, before) = desktop();
        let it = started(Some(3), None, "maps");
        assert_eq!(came(&before, &desktop, &it, Phase::Running), Detected::Nothing);
        desktop.apply(DesktopEvent::AppUp(app(9, "other")));
        desktop.apply(DesktopEvent::AppUp(app(3, "maps")));
        assert_eq!(came(&before, &desktop, &it, Phase::Running), Detected::App(app(3, "maps")));
        // A splash screen is not the window of the launched app.
        let splash = DesktopWindow { splash: true, ..window(30, 3) };
        desktop.apply(DesktopEvent::Windows(vec![splash.clone(), window(21, 2)]));
        assert_eq!(came(&before, &desktop, &it, Phase::Running), Detected::App(app(3, "maps")));
        desktop.apply(DesktopEvent::Windows(vec![splash, window(91, 9), window(31, 3), window(21, 2)]));
        assert_eq!(
            came(&before, &desktop, &it, Phase::Running),
            Detected::Window(app(3, "maps"), window(31, 3))
        );
    }

    #[test]
    fn what_descends_from_it_is_it_whatever_it_is_called() {
        let (mut desktop, before) = desktop();
        let it = started(Some(3), Some("office"), "writer");
        let kin = |pid| if pid == 4 || pid == 5 { Kinship::Own } else { Kinship::Unknown };
        desktop.apply(DesktopEvent::AppUp(app(9, "other")));
        desktop.apply(DesktopEvent::AppUp(app(4, "splash")));
        desktop.apply(DesktopEvent::AppUp(app(5, "office.bin")));
        let now = |desktop: &DesktopState| before.detect(desktop, &it, Phase::Running, &kin);
        assert_eq!(now(&desktop), Detected::App(app(4, "splash")));
        desktop.apply(DesktopEvent::Windows(vec![window(91, 9), window(51, 5), window(21, 2)]));
        assert_eq!(now(&desktop), Detected::Window(app(5, "office.bin"), window(51, 5)));
    }

    #[test]
    fn what_came_of_another_start_is_not_this_one_while_this_one_runs() {
        let (mut desktop, before) = desktop();
        let it = started(Some(3), Some("/usr/bin/maps"), "maps");
        desktop.apply(DesktopEvent::AppUp(app(4, "maps")));
        desktop.apply(DesktopEvent::Windows(vec![window(41, 4)]));
        let now = |phase| before.detect(&desktop, &it, phase, &|_| Kinship::Foreign);
        assert_eq!(now(Phase::Running), Detected::Nothing);
        assert_eq!(now(Phase::Ended), Detected::Window(app(4, "maps"), window(41, 4)), "it took over");
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
            assert_eq!(came(&before, &desktop, &it, Phase::Running), Detected::App(app(4, "maps")), "{it:?}");
        }
        let atlas = started(Some(3), None, "atlas");
        assert_eq!(came(&before, &desktop, &atlas, Phase::Running), Detected::Nothing);
        assert!(before.describe_new(&desktop).contains("maps (4)"));
    }

    #[test]
    fn of_what_nothing_is_known_the_first_that_comes_is_taken() {
        let (mut desktop, before) = desktop();
        let it = started(None, None, "x");
        assert_eq!(came(&before, &desktop, &it, Phase::Ended), Detected::Nothing);
        desktop.apply(DesktopEvent::Windows(vec![window(12, 1), window(21, 2), window(11, 1)]));
        assert_eq!(
            came(&before, &desktop, &it, Phase::Ended),
            Detected::HandedOver(app(1, "notes"), window(12, 1))
        );
        desktop.apply(DesktopEvent::AppUp(app(5, "new")));
        assert_eq!(came(&before, &desktop, &it, Phase::Ended), Detected::App(app(5, "new")));
    }

    #[test]
    fn a_hand_over_is_seen_by_a_new_window_another_title_or_coming_forward() {
        let it = started(Some(3), Some("/usr/bin/notes"), "notes");
        let renamed = DesktopWindow { title: "one.txt".into(), ..window(11, 1) };
        for (event, shown) in [
            (DesktopEvent::Windows(vec![window(12, 1), window(21, 2), window(11, 1)]), window(12, 1)),
            (DesktopEvent::Windows(vec![window(21, 2), renamed.clone()]), renamed),
            (DesktopEvent::Frontmost { pid: Some(1), window: Some(11) }, window(11, 1)),
        ] {
            let (mut desktop, before) = desktop();
            assert_eq!(came(&before, &desktop, &it, Phase::Ended), Detected::Nothing);
            desktop.apply(event);
            assert_eq!(
                came(&before, &desktop, &it, Phase::Running),
                Detected::Nothing,
                "it may yet come itself"
            );
            assert_eq!(
                came(&before, &desktop, &it, Phase::Ended),
                Detected::HandedOver(app(1, "notes"), shown)
            );
        }
    }

    #[test]
    fn an_instance_that_shows_nothing_new_is_the_one_when_all_is_over() {
        let (mut desktop, before) = desktop();
        let it = started(Some(3), Some("/usr/bin/mail"), "mail");
        assert_eq!(came(&before, &desktop, &it, Phase::Ended), Detected::Nothing);
        let perhaps = Detected::Perhaps(app(2, "mail"), Some(window(21, 2)));
        assert_eq!(came(&before, &desktop, &it, Phase::Over), perhaps);
        let opener = started(Some(3), Some("/usr/bin/opener"), "opener");
        assert_eq!(came(&before, &desktop, &opener, Phase::Over), Detected::Nothing);
        desktop.apply(DesktopEvent::Windows(vec![window(12, 1), window(21, 2), window(11, 1)]));
        let perhaps = Detected::Perhaps(app(1, "notes"), Some(window(12, 1)));
        assert_eq!(came(&before, &desktop, &opener, Phase::Over), perhaps);
    }
}
