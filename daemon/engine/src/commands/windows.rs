//! Windows: resolves the window of a request, and operates on it. The result is what the desktop reports afterwards; a window
//! manager that refuses, or rounds a size, is no error.

use std::sync::Arc;

use axd_protocol::command::{
    FocusWindow, Maximize, Minimize, MoveWindow, ResizeWindow, Restore, WindowAnswer,
};
use axd_protocol::error::{Delivery, Disposition};
use axd_protocol::{Error, ErrorCode, NodeId, Result};
use tokio::time::Instant;

use crate::Engine;
use crate::answer::Answer;
use crate::apps::target::Where;
use crate::change_wait::Waited;
use crate::desktop::state::DesktopState;
use crate::failure::Subject;
use axd_platform::{DesktopWindow, WindowOp};
use axd_service::Call;
use axd_tree::Resolved;

/// The default time to wait until a window is as requested.
const TIMEOUT_MS: u64 = 2_000;
/// The maximum number of windows that an error lists.
const NAMED: usize = 8;

/// A command about a window.
pub(crate) struct Arrangement<'a> {
    window: Option<&'a str>,
    app: Option<&'a str>,
    timeout_ms: Option<u64>,
    op: WindowOp,
}

macro_rules! arrangements {
    ($($command:ident: $args:ident => $op:expr;)+) => {$(
        impl<'a> From<&'a $command> for Arrangement<'a> {
            fn from($args: &'a $command) -> Arrangement<'a> {
                Arrangement {
                    window: $args.window.as_deref(),
                    app: $args.app.as_deref(),
                    timeout_ms: $args.timeout_ms,
                    op: $op,
                }
            }
        }
    )+};
}

arrangements! {
    FocusWindow: args => WindowOp::Focus;
    MoveWindow: args => WindowOp::Move(args.to.0);
    ResizeWindow: args => WindowOp::Resize { width: args.to.width, height: args.to.height };
    Minimize: args => WindowOp::Minimize;
    Maximize: args => WindowOp::Maximize;
    Restore: args => WindowOp::Restore;
}

impl Engine {
    /// Performs an operation on a window, and answers when the desktop shows the result, or when the time is over.
    pub(crate) async fn arrange(
        self: &Arc<Self>,
        call: &Call,
        args: Arrangement<'_>,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let began = Instant::now();
        let deadline = Engine::deadline(call);
        let window = self.window_meant(call, args.window, args.app, deadline).await?;
        let before = self.window_info(&window);
        let number = window.window;
        self.permit_on(call, window.pid, Some(&window.title))?;
        self.call_desktop(Subject::Desktop, &call.gate, deadline, |platform, gate| {
            platform.window_op(number, args.op, gate)
        })
        .await?;
        let until = Engine::within(call, args.timeout_ms, TIMEOUT_MS);
        let waited = self.until(until, &call.gate, || {
            let desktop = self.desktop.read();
            match desktop.window(number) {
                None => Some(false),
                Some(window) => is_done(args.op, window, desktop.active_window).then_some(true),
            }
        });
        let is_seen = matches!(waited.await, Waited::Held(true));
        let after = self.desktop.read().window(number).cloned();
        let delivery = if is_seen { Delivery::DeliveredVerified } else { Delivery::DeliveredUnverified };
        let data = WindowAnswer {
            before,
            after: after.map(|window| self.window_info(&window)),
            waited_ms: began.elapsed().as_millis() as u64,
            disposition: Disposition::of(delivery),
        };
        let app = self.desktop.read().by_pid(window.pid).cloned();
        let app = app.map(|seen| self.info_of(&seen));
        answer.value(Some(self.clock.now()), app.as_ref(), &data);
        Ok(())
    }

    /// The one window of a request: by number or id on the whole desktop, by title in the app that is named, else in the
    /// frontmost one. The front window if the request names none.
    pub(crate) async fn window_meant(
        self: &Arc<Self>,
        call: &Call,
        spec: Option<&str>,
        app: Option<&str>,
        deadline: Instant,
    ) -> Result<DesktopWindow> {
        let Some(spec) = spec else { return self.desktop.read().front_window(app).cloned() };
        {
            let desktop = self.desktop.read();
            let pid = app.map(|app| desktop.named(app).map(|app| app.pid)).transpose()?;
            let numbered = spec.parse().ok().and_then(|number| desktop.window(number));
            if let Some(window) = numbered.filter(|window| pid.is_none_or(|pid| window.pid == pid)) {
                return Ok(window.clone());
            }
        }
        if NodeId::parse(spec).is_some() {
            match self.window_of_id(call, spec, app, deadline).await {
                // A title may look like an id.
                Err(error) if error.code == ErrorCode::ElementNotFound => {}
                found => return found,
            }
        }
        self.desktop.read().titled(spec, app).cloned()
    }

    async fn window_of_id(
        self: &Arc<Self>,
        call: &Call,
        id: &str,
        app: Option<&str>,
        deadline: Instant,
    ) -> Result<DesktopWindow> {
        let located =
            self.locate(call, id, Where { app, window: None, ..Where::default() }, deadline).await?;
        let number = {
            let tree = located.app.tree.read();
            if let Resolved::Alive(ix) = tree.resolve(located.id) { tree.window_number(ix) } else { None }
        };
        let window = number.and_then(|number| self.desktop.read().window(number).cloned());
        window.ok_or_else(|| {
            Error::new(ErrorCode::WindowNotFound, format!("{id} is not a window of this desktop"))
        })
    }
}

/// Whether a window is as requested.
fn is_done(op: WindowOp, window: &DesktopWindow, active: Option<u64>) -> bool {
    match op {
        WindowOp::Focus | WindowOp::Insist => active == Some(window.window),
        WindowOp::Move(to) => window.bounds.is_some_and(|bounds| (bounds.x, bounds.y) == (to.x, to.y)),
        WindowOp::Resize { width, height } => window.bounds.is_some_and(|bounds| {
            (i64::from(bounds.width), i64::from(bounds.height)) == (i64::from(width), i64::from(height))
        }),
        WindowOp::Minimize => window.minimized,
        WindowOp::Maximize => window.maximized && !window.minimized,
        WindowOp::Restore => !window.maximized && !window.minimized,
    }
}

impl DesktopState {
    /// The front window of an app or, if none is named, the active window of the desktop.
    pub(crate) fn front_window(&self, app: Option<&str>) -> Result<&DesktopWindow> {
        let app = match app {
            Some(spec) => self.named(spec)?,
            None => {
                if let Some(active) = self.active_window.and_then(|active| self.window(active)) {
                    return Ok(active);
                }
                self.frontmost()?
            }
        };
        let windows: Vec<&DesktopWindow> =
            self.windows.iter().filter(|window| window.pid == app.pid).collect();
        let active = windows.iter().find(|window| self.active_window == Some(window.window));
        let front = active.or_else(|| windows.iter().find(|window| !window.minimized)).or(windows.first());
        front.copied().ok_or_else(|| {
            Error::new(ErrorCode::WindowNotFound, format!("{} has no window", app.name)).retry("list-windows")
        })
    }

    /// The one window with this title or, if none has it, with this in its title, in the app that is named, else in the
    /// frontmost one.
    fn titled(&self, spec: &str, app: Option<&str>) -> Result<&DesktopWindow> {
        let app = match app {
            Some(app) => self.named(app)?,
            None => self.frontmost()?,
        };
        let (theirs, others): (Vec<_>, Vec<_>) =
            self.windows.iter().partition(|window| window.pid == app.pid);
        match matching(&theirs, spec)[..] {
            [window] => Ok(window),
            [] => {
                let error =
                    Error::new(ErrorCode::WindowNotFound, format!("{} has no window '{spec}'", app.name));
                Err(match matching(&others, spec)[..] {
                    [] => error.suggest(format!("it has: {}", listed(&theirs))).retry("list-windows"),
                    ref elsewhere => error
                        .suggest(format!(
                            "other apps have: {}; name the app with --app, or the window by its number",
                            listed(elsewhere)
                        ))
                        .retry("list-windows"),
                })
            }
            ref several => Err(Error::new(
                ErrorCode::AmbiguousTarget,
                format!("{} windows of {} are called '{spec}'", several.len(), app.name),
            )
            .suggest(format!("use the number of one of them: {}", listed(several)))
            .retry("list-windows")),
        }
    }
}

/// The windows with this title, else those with this in their title.
fn matching<'a>(windows: &[&'a DesktopWindow], spec: &str) -> Vec<&'a DesktopWindow> {
    use axd_protocol::selector::fold;
    let wanted = fold(spec);
    let with = |test: &dyn Fn(&str) -> bool| -> Vec<&'a DesktopWindow> {
        windows.iter().copied().filter(|window| test(&fold(&window.title))).collect()
    };
    let whole = with(&|title| title == &*wanted);
    if whole.is_empty() { with(&|title| title.contains(&*wanted)) } else { whole }
}

fn listed(windows: &[&DesktopWindow]) -> String {
    let mut names: Vec<String> =
        windows.iter().take(NAMED).map(|window| format!("'{}' ({})", window.title, window.window)).collect();
    if windows.len() > NAMED {
        names.push(format!("and {} more", windows.len() - NAMED));
    }
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use axd_protocol::{Bounds, Point};

    use super::*;
    use axd_platform::{DesktopEvent, RunningApp};

    fn window(number: u64, pid: u32, title: &str) -> DesktopWindow {
        let bounds = Some(Bounds { x: 10, y: 20, width: 300, height: 200 });
        DesktopWindow {
            window: number,
            pid,
            title: title.into(),
            bounds,
            minimized: false,
            maximized: false,
            splash: false,
        }
    }

    fn desktop() -> DesktopState {
        let mut desktop = DesktopState::default();
        for (pid, name) in [(1, "Notes"), (2, "Mail")] {
            let identity = format!("org.example.{name}");
            desktop.apply(DesktopEvent::AppUp(RunningApp {
                pid,
                name: name.into(),
                identity,
                ..RunningApp::default()
            }));
        }
        desktop.apply(DesktopEvent::Windows(vec![
            window(11, 1, "Draft"),
            window(12, 1, "Draft 2"),
            window(21, 2, "Inbox"),
        ]));
        desktop.apply(DesktopEvent::Frontmost { pid: Some(1), window: Some(12) });
        desktop
    }

    #[test]
    fn a_title_means_the_window_that_has_it_whole_before_those_that_have_it_in_part() {
        let desktop = desktop();
        assert_eq!(desktop.titled("draft", None).unwrap().window, 11);
        assert_eq!(desktop.titled("2", None).unwrap().window, 12);
        let several = desktop.titled("raf", None).unwrap_err();
        assert_eq!(several.code, ErrorCode::AmbiguousTarget);
        assert!(several.suggestion.contains("'Draft' (11), 'Draft 2' (12)"), "{several:?}");
    }

    #[test]
    fn a_window_of_another_app_is_not_taken_but_named() {
        let desktop = desktop();
        assert_eq!(desktop.titled("Inbox", Some("Mail")).unwrap().window, 21);
        let error = desktop.titled("Inbox", None).unwrap_err();
        assert_eq!(error.code, ErrorCode::WindowNotFound);
        assert!(error.suggestion.contains("'Inbox' (21)") && error.suggestion.contains("--app"), "{error:?}");
    }

    #[test]
    fn the_front_window_is_the_active_one_else_the_first_that_is_not_put_away() {
        let mut desktop = desktop();
        assert_eq!(desktop.front_window(None).unwrap().window, 12);
        assert_eq!(desktop.front_window(Some("Notes")).unwrap().window, 12);
        assert_eq!(desktop.front_window(Some("Mail")).unwrap().window, 21);
        desktop.active_window = None;
        desktop.windows[0].minimized = true;
        assert_eq!(desktop.front_window(Some("Notes")).unwrap().window, 12);
        desktop.windows[1].minimized = true;
        assert_eq!(desktop.front_window(Some("Notes")).unwrap().window, 11);
        desktop.windows.clear();
        assert_eq!(desktop.front_window(Some("Notes")).unwrap_err().code, ErrorCode::WindowNotFound);
    }

    #[test]
    fn it_is_done_when_the_desktop_shows_it_and_not_before() {
        let mut shown = window(1, 1, "a");
        let sized = WindowOp::Resize { width: 300, height: 200 };
        assert!(
            is_done(WindowOp::Move(Point { x: 10, y: 20 }), &shown, None) && is_done(sized, &shown, None)
        );
        assert!(!is_done(WindowOp::Move(Point { x: 11, y: 20 }), &shown, None));
        assert!(is_done(WindowOp::Focus, &shown, Some(1)) && !is_done(WindowOp::Focus, &shown, Some(2)));
        assert!(is_done(WindowOp::Restore, &shown, None) && !is_done(WindowOp::Maximize, &shown, None));
        shown.maximized = true;
        assert!(is_done(WindowOp::Maximize, &shown, None) && !is_done(WindowOp::Restore, &shown, None));
        shown.minimized = true;
        assert!(is_done(WindowOp::Minimize, &shown, None) && !is_done(WindowOp::Maximize, &shown, None));
        shown.bounds = None;
        assert!(!is_done(sized, &shown, None));
    }
}
