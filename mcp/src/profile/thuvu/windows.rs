//! Windows: finding them by their titles and by points, `ui_list_windows` and `ui_focus_window`.

use axd_protocol::command::{ListWindowsAnswer, WindowAnswer};
use axd_protocol::{Point, WindowInfo};
use serde::Serialize;
use serde_json::{Value, json};

use super::{Job, Result, describe, done, missing};
use crate::arguments::Arguments;
use crate::profile::{ProfileAnswer, ProfileTool};
use crate::tools::Hints;

/// `ui_list_windows`.
pub fn list_tool() -> ProfileTool {
    let properties = json!({
        "include_hidden": { "type": "boolean", "description": "Also minimized windows [default: false]" },
        "filter": { "type": "string", "description": "Part of a title, in any case" },
    });
    let answers = json!({ "windows": { "type": "array", "items": { "type": "object" } } });
    describe("ui_list_windows", "List windows, front to back.", Hints::Reads, properties, &[], answers)
}

/// `ui_focus_window`.
pub fn focus_tool() -> ProfileTool {
    let properties = json!({ "window_title": { "type": "string", "description": "Part of a title, in any case; the first match front to back" } });
    let description = "Bring a window to the front and focus it.";
    describe("ui_focus_window", description, Hints::Arranges, properties, &["window_title"], json!({}))
}

/// A window, as this profile shows it.
#[derive(Debug, Serialize)]
pub struct Window {
    handle: u64,
    title: String,
    process_name: String,
    process_id: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height: Option<i32>,
    is_visible: bool,
    is_minimized: bool,
    is_maximized: bool,
    is_foreground: bool,
}

impl Window {
    /// The window.
    pub fn of(window: &WindowInfo) -> Window {
        let at = window.bounds;
        Window {
            handle: window.window,
            title: window.title.clone(),
            process_name: window.app.clone(),
            process_id: window.pid,
            x: at.map(|at| at.x),
            y: at.map(|at| at.y),
            width: at.map(|at| at.width),
            height: at.map(|at| at.height),
            is_visible: !window.minimized,
            is_minimized: window.minimized,
            is_maximized: window.maximized,
            is_foreground: window.focused,
        }
    }
}

/// Answers `ui_list_windows`.
pub async fn list(job: &Job<'_>, mut args: Arguments) -> Result<ProfileAnswer> {
    let include_hidden = args.take_flag("include_hidden");
    let wanted = args.take("filter").map_or_else(|| json!({}), |filter| json!({ "filter": filter }));
    let found: ListWindowsAnswer = job.ask("list-windows", wanted).await?;
    let shown = found.windows.iter().filter(|window| include_hidden || !window.minimized);
    #[derive(Serialize)]
    struct Listed {
        success: bool,
        windows: Vec<Window>,
    }
    Ok(ProfileAnswer::new(&Listed { success: true, windows: shown.map(Window::of).collect() }))
}

/// Answers `ui_focus_window`.
pub async fn focus(job: &Job<'_>, mut args: Arguments) -> Result<ProfileAnswer> {
    let Some(title) = args.take_text("window_title") else {
        return Err(missing("ui_focus_window", "window_title"));
    };
    let window = titled(job, &title).await?;
    focus_window(job, &window).await
}

/// Brings a window to the front.
pub async fn focus_window(job: &Job<'_>, window: &WindowInfo) -> Result<ProfileAnswer> {
    let focused: WindowAnswer = job.ask("focus-window", place_of(window)).await?;
    let disposition = focused.disposition;
    Ok(done().extra("delivery", disposition.delivery).extra("retry", disposition.retry))
}

/// The arguments that name a window and its app to axd.
pub fn place_of(window: &WindowInfo) -> Value {
    json!({ "window": window.window.to_string(), "app": window.pid.to_string() })
}

/// The first window, front to back, with this in its title. Fails if it may not be used.
pub async fn titled(job: &Job<'_>, title: &str) -> Result<WindowInfo> {
    let found: ListWindowsAnswer = job.ask("list-windows", json!({ "filter": title })).await?;
    let Some(window) = found.windows.into_iter().next() else {
        return Err(format!("no window has '{title}' in its title").into());
    };
    job.guard.window(&window.title)?;
    Ok(window)
}

/// The frontmost window at a point of the screen, if there is one. Fails if it may not be used.
pub async fn at_point(job: &Job<'_>, point: Point) -> Result<Option<WindowInfo>> {
    let holds =
        |window: &WindowInfo| !window.minimized && window.bounds.is_some_and(|bounds| bounds.contains(point));
    first(job, holds).await
}

/// The active window, if there is one. Fails if it may not be used.
pub async fn active(job: &Job<'_>) -> Result<Option<WindowInfo>> {
    first(job, |window| window.focused).await
}

async fn first(job: &Job<'_>, holds: impl Fn(&WindowInfo) -> bool) -> Result<Option<WindowInfo>> {
    let found: ListWindowsAnswer = job.ask("list-windows", json!({})).await?;
    let window = found.windows.into_iter().find(holds);
    // Where there is no window, there is none of an allowed title either, unless all titles are allowed.
    job.guard.window(window.as_ref().map_or("", |window| &window.title))?;
    Ok(window)
}
