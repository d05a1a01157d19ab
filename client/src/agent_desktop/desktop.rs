//! The commands about apps, windows, the clipboard, waiting, and axd itself.

use std::time::Duration;

use axd_protocol::command::{
    ClipboardGetAnswer, CloseAppAnswer, LaunchAnswer, ListAppsAnswer, ListWindowsAnswer, PermissionsAnswer,
    StatusAnswer, VersionAnswer, WaitAnswer, WindowAnswer,
};
use axd_protocol::{Error, ErrorCode, Result};
use serde_json::{Value, json};

use super::envelope::extra_of;
use super::observe::{is_selector, selector};
use super::{Args, Axd, Said, Session, invalid, of_target, window_id, window_info, window_number};

/// How long a wait takes unless it is said, in ms.
const TIMEOUT_MS: u64 = 10_000;
/// How much longer than the wait itself its answer may take.
const ANSWER: Duration = Duration::from_secs(5);

impl<A: Axd> Session<'_, A> {
    pub(super) async fn launch(&self, args: &Args) -> Result<Said> {
        let id = args.text("id").unwrap_or_default();
        if id.contains(['/', '\\']) || id.is_empty() {
            return Err(invalid("launch takes a name or a bundle id, not a path"));
        }
        let wanted = json!({ "app": id, "wait": args.flag("wait") });
        let launched: LaunchAnswer = self.ask("launch", wanted).await?;
        let data = match (&launched.window, &launched.launched) {
            (Some(window), _) => window_info(window),
            (None, Some(app)) => json!({ "app": app.name, "pid": app.pid }),
            (None, None) => json!({ "app": id, "pid": launched.pid }),
        };
        Ok(Said { extra: extra_of(launched.disposition), ..Said::from(data) })
    }

    pub(super) async fn close_app(&self, args: &Args) -> Result<Said> {
        let id = args.text("id").unwrap_or_default();
        let closed: CloseAppAnswer =
            self.ask("close-app", json!({ "app": id, "force": args.flag("force") })).await?;
        if !closed.closed {
            let error = Error::new(ErrorCode::ActionFailed, format!("{id} has not ended"));
            return Err(error
                .delivered(closed.disposition.delivery)
                .suggest("see what it asks with `snapshot`, or use force"));
        }
        Ok(Said { extra: extra_of(closed.disposition), ..Said::from(json!({ "app": id })) })
    }

    pub(super) async fn list_windows(&self, args: &Args) -> Result<Said> {
        let wanted = args.text("app").map_or_else(|| json!({}), |app| json!({ "app": app }));
        let list: ListWindowsAnswer = self.ask("list-windows", wanted).await?;
        let shown = list.windows.iter().filter(|window| window.focused || !args.flag("focused"));
        Ok(Value::from_iter(shown.map(window_info)).into())
    }

    pub(super) async fn list_apps(&self) -> Result<Said> {
        let list: ListAppsAnswer = self.ask("list-apps", json!({})).await?;
        Ok(Value::from_iter(list.apps.into_iter().map(|app| app.app.name)).into())
    }

    pub(super) async fn focus_window(&self, args: &Args) -> Result<Said> {
        let window = match (args.text("window_id"), args.text("title")) {
            (Some(id), None) => window_number(id)?,
            (None, Some(title)) => self.window_titled(title).await?,
            _ => return Err(invalid("focus-window: one of window_id and title is required")),
        };
        let focused: WindowAnswer = self.ask("focus-window", json!({ "window": window })).await?;
        let data = window_info(focused.after.as_ref().unwrap_or(&focused.before));
        Ok(Said { extra: extra_of(focused.disposition), ..Said::from(data) })
    }

    /// The number of the window of any app that has this title, or else has it in its title.
    async fn window_titled(&self, title: &str) -> Result<String> {
        let list: ListWindowsAnswer = self.ask("list-windows", json!({ "filter": title })).await?;
        let exact: Vec<_> = list.windows.iter().filter(|window| window.title == title).collect();
        let found = if exact.is_empty() { list.windows.iter().collect() } else { exact };
        match found.as_slice() {
            [only] => Ok(only.window.to_string()),
            [] => Err(Error::new(ErrorCode::WindowNotFound, format!("no window has '{title}' in its title"))
                .retry("list-windows")),
            several => {
                let ids: Vec<String> = several.iter().map(|window| window_id(window.window)).collect();
                let message = format!("{} windows have '{title}' in their titles", several.len());
                Err(Error::new(ErrorCode::AmbiguousTarget, message)
                    .suggest(format!("use one of the window ids {}", ids.join(", "))))
            }
        }
    }

    pub(super) async fn clipboard_get(&self) -> Result<Said> {
        let got: ClipboardGetAnswer = self.ask("clipboard-get", json!({ "kind": "text" })).await?;
        Ok(json!({ "text": got.text }).into())
    }

    pub(super) async fn clipboard_set(&self, args: &Args) -> Result<Said> {
        let _: Value = self.ask("clipboard-set", json!({ "text": args.text("text") })).await?;
        Ok(json!({}).into())
    }

    pub(super) async fn wait(&self, args: &Args) -> Result<Said> {
        let timeout = args.number("timeout").unwrap_or(TIMEOUT_MS);
        let named = args.flag("match") || args.text("role").is_some() || args.text("name").is_some();
        let state = if args.text("predicate") == Some("actionable") { "enabled" } else { "hidden=false" };
        let element = args.text("element");
        let (mut wanted, time) = match (args.number("ms"), element, args.text("window"), named) {
            (Some(ms), None, None, false) => (json!({ "ms": ms }), ms),
            (None, Some(element), None, false) if is_selector(element) && state != "enabled" => {
                (json!({ "for": [element] }), timeout)
            }
            (None, Some(element), None, false) => {
                let mut wanted = self.target(element).await?;
                wanted["state"] = state.into();
                (wanted, timeout)
            }
            (None, None, Some(title), false) => (json!({ "window": title }), timeout),
            (None, None, None, true) => {
                let selector = selector(args.text("role"), args.text("name"), None)
                    .ok_or_else(|| invalid("wait: match needs role or name"))?;
                (json!({ "for": [selector] }), timeout)
            }
            _ => return Err(invalid("wait: one of ms, element, window and match is required")),
        };
        wanted["timeout"] = time.max(timeout).into();
        let deadline = Duration::from_millis(time.max(timeout)) + ANSWER;
        let waited = self.ask_within::<WaitAnswer>("wait", wanted, Some(deadline)).await;
        let waited =
            waited.map_err(|error| element.map_or(error.clone(), |element| of_target(element, error)))?;
        Ok(json!({ "waited_ms": waited.waited_ms }).into())
    }

    pub(super) async fn status(&self) -> Result<Said> {
        let permissions: PermissionsAnswer = self.ask("permissions", json!({})).await?;
        let status: StatusAnswer = self.ask("status", json!({})).await?;
        let platform = super::lock(&self.about).platform.clone();
        let permissions = json!({ "accessibility": granted(&permissions) });
        Ok(json!({ "platform": platform, "permissions": permissions, "daemon_pid": status.pid }).into())
    }

    pub(super) async fn permissions(&self, args: &Args) -> Result<Said> {
        let answer: PermissionsAnswer =
            self.ask("permissions", json!({ "request": args.flag("request") })).await?;
        let mut data = json!({ "accessibility": granted(&answer) });
        if let Some(remedy) = answer.permissions.iter().find_map(|permission| permission.remedy.as_ref()) {
            data["suggestion"] = remedy.as_str().into();
        }
        Ok(data.into())
    }

    pub(super) async fn version(&self) -> Result<Said> {
        let version: VersionAnswer = self.ask("version", json!({})).await?;
        Ok(json!({ "version": version.daemon }).into())
    }
}

/// Whether accessibility is permitted. Where the system requires no permission, it is.
fn granted(answer: &PermissionsAnswer) -> &'static str {
    let is_it = |name: &str| name.to_lowercase().contains("accessibility");
    let own = answer.permissions.iter().find(|permission| is_it(&permission.name));
    if own.map_or(answer.granted, |permission| permission.granted) { "granted" } else { "denied" }
}
