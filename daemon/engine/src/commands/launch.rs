//! Launches and closes apps.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use axd_protocol::command::{CloseApp, CloseAppAnswer, Launch, LaunchAnswer, Modal};
use axd_protocol::error::{Delivery, Disposition};
use axd_protocol::{Error, ErrorCode, NodeRef, Result, Role};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::Engine;
use crate::answer::Answer;
use crate::apps::modal::{described, in_words, modals};
use crate::change_wait::Waited;
use crate::desktop::launch_detect::{Baseline, Detected, Phase, StartedProcess};
use crate::failure::Subject;
use axd_platform::{DesktopWindow, LaunchPlan, Launched, Platform, RunningApp};
use axd_service::Call;

/// The default time to wait for an app's first window.
const LAUNCH_MS: u64 = 30_000;
/// How long after the end of all launched processes the effect of a hand-over to another app may still appear.
const HAND_OVER_TIMEOUT: Duration = Duration::from_millis(2_500);
/// Like `HAND_OVER_TIMEOUT`, after the process failed, which few processes that hand over do.
const FAILED: Duration = Duration::from_millis(400);
/// How long an app with an open modal dialog may take to quit.
const BLOCKED: Duration = Duration::from_millis(1_000);
/// How long a window may take to appear in its app's tree.
pub(crate) const IN_TREE: Duration = Duration::from_millis(3_000);
/// How often it is checked whether launched processes are still running. There is no event for the end of the last one.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
/// The default time to wait until an app has quit.
const CLOSE_MS: u64 = 5_000;

/// The result of a launch.
#[derive(Debug, Clone, Default)]
struct Arrived {
    seen: Option<RunningApp>,
    window: Option<DesktopWindow>,
    /// Whether it is an app that was running before.
    handed_over: bool,
    /// Whether it is certain that the app results from the launch.
    verified: bool,
    note: Option<&'static str>,
}

impl Arrived {
    fn with(seen: RunningApp, window: DesktopWindow) -> Arrived {
        Arrived { seen: Some(seen), window: Some(window), verified: true, ..Arrived::default() }
    }
}

impl Engine {
    pub(crate) async fn launch(
        self: &Arc<Self>,
        call: &Call,
        args: &Launch,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let began = Instant::now();
        let plan = plan(args)?;
        if let Some(folder) = plan.cwd.clone() {
            is_folder(folder).await?;
        }
        self.drain_desktop_events();
        let before = Baseline::of(&self.desktop.read(), self.event_log.lock().next());
        let mark = plan.mark.clone();
        let deadline = Engine::deadline(call);
        let launched = self
            .call_desktop(Subject::App, &call.gate, deadline, |platform, gate| platform.launch(plan, gate))
            .await;
        let Launched { pid, identity } = launched.map_err(no_such_app)?;
        let started = StartedProcess { pid, identity, program: args.app.clone(), mark };
        self.drain_desktop_events();
        let arrived = if args.wait {
            self.arrival(call, args, &before, &started).await?
        } else {
            let seen = started.pid.and_then(|pid| self.desktop.read().by_pid(pid).cloned());
            Arrived { seen, ..Arrived::default() }
        };
        let info = arrived.seen.as_ref().map(|seen| self.info_of(seen));
        let delivery =
            if arrived.verified { Delivery::DeliveredVerified } else { Delivery::DeliveredUnverified };
        let data = LaunchAnswer {
            pid: started.pid.or(info.as_ref().map(|app| app.pid)),
            handed_over_to: info.as_ref().map(|app| app.pid).filter(|_| arrived.handed_over),
            launched: info.clone(),
            window: arrived.window.map(|window| self.window_info(&window)),
            waited_ms: began.elapsed().as_millis() as u64,
            disposition: Disposition::of(delivery),
            note: arrived.note.map(str::to_owned),
        };
        answer.value(Some(self.clock.now()), info.as_ref(), &data);
        Ok(())
    }

    /// Waits for the result of a launch. The app is then attached, so that its window has an id. The timeout is for
    /// what may still appear: once none of the launched processes is running any more, the wait ends before it.
    async fn arrival(
        self: &Arc<Self>,
        call: &Call,
        args: &Launch,
        before: &Baseline,
        started: &StartedProcess,
    ) -> Result<Arrived> {
        let until = Engine::within(call, args.timeout_ms, LAUNCH_MS);
        let related = Mutex::new(HashMap::new());
        // The relation of a process does not change, so it is queried once.
        let kin =
            |pid| *related.lock().entry(pid).or_insert_with(|| self.platform.kinship(&started.mark, pid));
        let (mut came, mut app_pid, mut how) = (Detected::Nothing, started.pid, None);
        let mut idle_since = None;
        let waited = loop {
            let mut ended = started.pid.is_none();
            let look_again =
                if idle_since.is_some() { until.min(Instant::now() + LOOK_AGAIN) } else { until };
            let waited = self
                .until(look_again, &call.gate, || {
                    let desktop = self.desktop.read();
                    let end = started.pid.and_then(|pid| desktop.end_of(pid));
                    how = end.flatten().map(str::to_owned);
                    ended |= end.is_some();
                    ended |= app_pid.is_some_and(|pid| before.has_ended(pid, &self.event_log.lock()));
                    let while_idle = if how.is_some() { FAILED } else { HAND_OVER_TIMEOUT };
                    let phase = match idle_since {
                        Some(since) if ended && Instant::now() >= since + while_idle => Phase::Over,
                        _ if ended || Instant::now() >= until => Phase::Ended,
                        _ => Phase::Running,
                    };
                    came = before.detect(&desktop, started, phase, &kin);
                    match &came {
                        Detected::Window(..) | Detected::HandedOver(..) | Detected::Perhaps(..) => Some(true),
                        Detected::App(seen) => {
                            app_pid = Some(seen.pid);
                            None
                        }
                        Detected::Nothing if phase == Phase::Over => Some(true),
                        // From now on it is checked whether any launched process is still running.
                        Detected::Nothing => (ended && idle_since.is_none()).then_some(false),
                    }
                })
                .await;
            match waited {
                Waited::TimedOut if Instant::now() < until => {}
                Waited::Held(false) => {}
                waited => break waited,
            }
            let mark = started.mark.clone();
            let engine = Arc::clone(self);
            let at_work = tokio::task::spawn_blocking(move || engine.platform.is_at_work(&mark)).await;
            match at_work {
                Ok(true) => idle_since = Some(Instant::now()),
                _ => idle_since = idle_since.or(Some(Instant::now())),
            }
        };
        let name = &args.app;
        let (code, message) = match (waited, came) {
            (Waited::Held(_) | Waited::TimedOut, Detected::Window(seen, window)) => {
                return Ok(self.arrived(call, until, Arrived::with(seen, window)).await);
            }
            (Waited::Held(_) | Waited::TimedOut, Detected::HandedOver(seen, window)) => {
                let arrived = Arrived { handed_over: true, ..Arrived::with(seen, window) };
                return Ok(self.arrived(call, until, arrived).await);
            }
            (Waited::Held(_), Detected::Perhaps(seen, window)) if how.is_none() => {
                let is_new = window.as_ref().is_some_and(|window| before.is_new(window));
                let note = match is_new {
                    true => "its window appeared during the start; nothing else connects the two",
                    false => "it has not changed yet",
                };
                let seen = Some(seen);
                let arrived = Arrived { seen, window, handed_over: true, verified: false, note: Some(note) };
                return Ok(self.arrived(call, until, arrived).await);
            }
            (Waited::Held(_), _) => {
                let how = how.map(|how| format!(" with {how}")).unwrap_or_default();
                (ErrorCode::ActionFailed, format!("{name} ended{how} before it opened a window"))
            }
            (Waited::Cancelled, _) => {
                (ErrorCode::Cancelled, format!("{name} was started; waiting for its window was cancelled"))
            }
            (Waited::TimedOut, Detected::App(seen)) => (
                ErrorCode::Timeout,
                format!("{} ({}) is running, but has no window yet", seen.name, seen.pid),
            ),
            (Waited::TimedOut, _) => (
                ErrorCode::Timeout,
                format!("{name} was started, but {}", before.describe_new(&self.desktop.read())),
            ),
        };
        let error = Error::new(code, message)
            .suggest("check `ax list-apps` and `ax list-windows` before starting it again, or increase --timeout-ms")
            .retry("list-windows");
        Err(error.delivered(Delivery::Uncertain))
    }

    /// Attaches the launched app, so that its window has an id. A cancelled request does not wait for the walk.
    async fn arrived(self: &Arc<Self>, call: &Call, until: Instant, mut arrived: Arrived) -> Arrived {
        if let Some(seen) = &arrived.seen {
            let app = self.attached(seen);
            tokio::select! {
                _ = app.completed(until) => {}
                () = call.gate.closed() => {}
            }
        }
        if let Some(window) = arrived.window.take() {
            let soon = until.min(Instant::now() + IN_TREE);
            let known = || self.window_info(&window).id.is_some().then_some(());
            self.until(soon, &call.gate, known).await;
            // The window may have got its title after it appeared.
            let now = self.desktop.read().window(window.window).cloned();
            arrived.window = Some(now.unwrap_or(window));
        }
        arrived
    }

    pub(crate) async fn close_app(
        self: &Arc<Self>,
        call: &Call,
        args: &CloseApp,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let began = Instant::now();
        let seen = self.desktop.read().named(&args.app)?.clone();
        self.permit_on(call, seen.pid, None)?;
        let before = self.modals_of(seen.pid);
        let deadline = Engine::deadline(call);
        let close = |platform: &dyn Platform, gate| platform.close_app(seen.pid, args.force, gate);
        self.call_desktop(Subject::App, &call.gate, deadline, close).await?;
        let until = Engine::within(call, args.timeout_ms, CLOSE_MS);
        // An app with an open modal dialog seldom quits, and may not report why.
        let until = if before.is_empty() || args.force { until } else { until.min(began + BLOCKED) };
        let asks = || {
            let new = |modal: &Modal| before.iter().all(|other| other.node.id != modal.node.id);
            self.modals_of(seen.pid).into_iter().find(new).filter(|_| !args.force)
        };
        let outcome = || {
            let is_gone = self.desktop.read().by_pid(seen.pid).is_none();
            if is_gone { Some(None) } else { asks().map(Some) }
        };
        match self.until(until, &call.gate, outcome).await {
            Waited::Held(None) => {}
            Waited::Held(Some(modal)) => return Err(asks_first(&seen, &modal)),
            Waited::TimedOut if !before.is_empty() && !args.force => {
                return Err(asks_first(&seen, &before[0]));
            }
            Waited::TimedOut => return Err(self.still_there(&seen, args.force)),
            Waited::Cancelled => {
                let message = format!("{} was asked to quit; the wait was cancelled", seen.name);
                return Err(
                    Error::new(ErrorCode::Cancelled, message).delivered(Delivery::DeliveredUnverified)
                );
            }
        }
        let data = CloseAppAnswer {
            closed: true,
            waited_ms: began.elapsed().as_millis() as u64,
            disposition: Disposition::of(Delivery::DeliveredVerified),
        };
        let info = axd_protocol::AppInfo { state: axd_protocol::AppState::Gone, ..self.info_of(&seen) };
        answer.value(Some(self.clock.now()), Some(&info), &data);
        Ok(())
    }

    /// The error for an app that did not quit; it may show a dialog first.
    fn still_there(&self, seen: &RunningApp, force: bool) -> Error {
        let dialogs = self.dialogs_of(seen.pid);
        let front = {
            let desktop = self.desktop.read();
            desktop.windows.iter().find(|window| window.pid == seen.pid).map(|window| window.title.clone())
        };
        let name = &seen.name;
        let error = if force {
            Error::new(ErrorCode::Timeout, format!("{name} was killed, but the desktop still lists it"))
                .suggest("check again with `ax list-apps`")
                .retry("list-apps")
        } else {
            let asks = match (dialogs.first().and_then(|dialog| dialog.name.as_deref()), front) {
                (Some(dialog), _) => format!("; it may be waiting for an answer in '{dialog}'"),
                (None, Some(title)) => {
                    format!("; it may be waiting for an answer: its front window is '{title}'")
                }
                (None, None) => String::new(),
            };
            Error::new(ErrorCode::Timeout, format!("{name} was asked to quit and is still running{asks}"))
                .suggest("answer the dialog, or kill the app with --force (unsaved changes are lost)")
                .retry(format!("close-app {} --force", seen.pid))
        };
        error.candidates(dialogs).delivered(Delivery::DeliveredUnverified)
    }

    /// The open modal dialogs of an attached app.
    fn modals_of(&self, pid: u32) -> Vec<Modal> {
        let Some(app) = self.by_pid(pid) else { return Vec::new() };
        let tree = app.tree.read();
        modals(&tree, None).map(|window| described(&tree, window)).collect()
    }

    /// The open dialogs of an attached app.
    fn dialogs_of(&self, pid: u32) -> Vec<NodeRef> {
        let Some(app) = self.by_pid(pid) else { return Vec::new() };
        let tree = app.tree.read();
        let is_dialog = |role| matches!(role, Role::Dialog | Role::Alert);
        tree.windows().filter(|ix| is_dialog(tree.role(*ix))).map(|ix| tree.node_ref(ix)).collect()
    }
}

/// The error for an app that shows a dialog before it quits.
fn asks_first(seen: &RunningApp, modal: &Modal) -> Error {
    let message = format!("{} was asked to quit and shows a dialog first: {}", seen.name, in_words(modal));
    Error::new(ErrorCode::ActionFailed, message)
        .suggest("answer the dialog, or kill the app with --force (unsaved changes are lost)")
        .retry(format!("close-app {} --force", seen.pid))
        .candidates(vec![modal.node.clone()])
        .delivered(Delivery::DeliveredUnverified)
}

/// The error for a launch of an app that does not exist.
fn no_such_app(error: Error) -> Error {
    match error.code {
        ErrorCode::ApplicationNotFound => {
            error.suggest("use a name the desktop knows, or the absolute path of a program")
        }
        _ => error,
    }
}

/// The launch plan of a request, if the request is valid.
fn plan(args: &Launch) -> Result<LaunchPlan> {
    let invalid = |message: String| Error::new(ErrorCode::InvalidArgs, message);
    let app = args.app.trim();
    if app.is_empty() {
        return Err(
            invalid("app must not be empty".into()).suggest("name an app, or the absolute path of a program")
        );
    }
    if app.contains('/') && !app.starts_with('/') {
        return Err(invalid(format!("app: '{app}' is a relative path")).suggest("use an absolute path"));
    }
    if let Some(folder) = args.cwd.as_deref().filter(|folder| !folder.is_absolute()) {
        return Err(invalid(format!("cwd: '{}' is not an absolute path", folder.display()))
            .suggest("use an absolute path"));
    }
    let has_nul = |text: &str| text.contains('\0');
    if has_nul(app) || args.arg.iter().chain(&args.env).any(|text| has_nul(text)) {
        return Err(invalid("app, args and env must not contain a NUL character".into()));
    }
    let env = args.env.iter().map(|pair| match pair.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(invalid(format!("env: '{pair}' is not NAME=VALUE"))
            .suggest("use --env LANG=C, once per variable")),
    });
    let env = env.collect::<Result<_>>()?;
    let (app, cwd) = (app.to_owned(), args.cwd.clone());
    Ok(LaunchPlan { app, args: args.arg.clone(), env, cwd, mark: mark() })
}

/// A mark that no other launch has, by this daemon or another.
fn mark() -> String {
    static STARTS: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("{}-{since:x}-{}", std::process::id(), STARTS.fetch_add(1, Relaxed))
}

/// Fails unless the folder exists.
async fn is_folder(path: PathBuf) -> Result<()> {
    let shown = path.display().to_string();
    let is_dir = tokio::task::spawn_blocking(move || Path::is_dir(&path)).await.unwrap_or(false);
    if is_dir {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InvalidArgs, format!("cwd: folder '{shown}' not found"))
        .suggest("use an existing folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(app: &str) -> Launch {
        Launch { app: app.into(), arg: vec![], env: vec![], cwd: None, wait: false, timeout_ms: None }
    }

    #[test]
    fn what_is_to_be_started_is_checked_before_anything_is() {
        let refused = |args: &Launch| plan(args).unwrap_err().message;
        assert!(refused(&launch(" ")).contains("app must not be empty"));
        assert!(refused(&launch("bin/app")).contains("relative path"));
        let with_env = |pair: &str| Launch { env: vec![pair.into()], ..launch("App") };
        for wrong in ["LANG", "=C", ""] {
            assert!(refused(&with_env(wrong)).contains("NAME=VALUE"), "{wrong}");
        }
        assert!(refused(&with_env("A=\0")).contains("NUL"));
        assert!(refused(&Launch { cwd: Some("here".into()), ..launch("App") }).contains("absolute path"));
        let plan = plan(&with_env("A=b=c")).unwrap();
        assert_eq!((plan.app.as_str(), &plan.env[..]), ("App", &[("A".to_owned(), "b=c".to_owned())][..]));
    }
}
