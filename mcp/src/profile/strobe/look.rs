//! `debug_ui`: the tree of a session's app, a picture of its main window, or both.

use std::time::Instant;

use axd_protocol::command::{ListWindowsAnswer, ScreenshotAnswer, SnapshotAnswer};
use axd_protocol::{Clock, Role, WindowInfo};
use serde::Serialize;
use serde_json::json;

use super::node::Node;
use super::{Raised, checked, query_failed, raised, refused, session, snapshot_args};
use crate::call::Call;
use crate::profile::{ProfileAnswer, ProfileTool, ask, input, output};
use crate::schema::Object;
use crate::tools::Hints;

/// The tool.
pub fn tool() -> ProfileTool {
    ProfileTool {
        name: "debug_ui".to_owned(),
        description:
            "Show the UI of a session's app: its element tree, a picture of its main window, or both."
                .to_owned(),
        hints: Hints::Reads,
        input: input(
            json!({
                "sessionId": { "type": "string", "description": "From debug_launch; or an app's name, pid or identity" },
                "mode": { "type": "string", "enum": ["tree", "screenshot", "both"], "description": "[default: tree]" },
                "vision": { "type": "boolean", "description": "Add what a vision pass finds to the tree [default: false]" },
                "verbose": { "type": "boolean", "description": "The tree as JSON instead of compact text [default: false]" },
            }),
            &["sessionId", "mode"],
        ),
        output: output(json!({
            "tree": { "type": "string" },
            "screenshot": { "type": "string", "description": "PNG in base64" },
            "stats": {
                "type": "object",
                "properties": {
                    "axNodes": { "type": "integer" }, "visionNodes": { "type": "integer" },
                    "mergedNodes": { "type": "integer" }, "latencyMs": { "type": "integer" },
                },
            },
            "error": { "type": "string", "description": "In place of all else, if the call failed" },
            "code": { "type": "string" },
        })),
    }
}

/// What vision has to say as long as there is none.
const NO_VISION: &str = "vision is not available: the tree has only what the app says";

#[derive(Debug, Default, Serialize)]
struct Shown {
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<String>,
    stats: Stats,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Stats {
    ax_nodes: usize,
    vision_nodes: usize,
    merged_nodes: usize,
    latency_ms: u64,
}

/// Answers a call.
pub async fn run(call: &Call<'_>, tool: &ProfileTool, fields: Object) -> Result<ProfileAnswer, Raised> {
    let began = Instant::now();
    let mut args = checked(tool, fields)?;
    if !args.has_text("sessionId") {
        return Err(refused("sessionId must not be empty"));
    }
    let pid = session(call, &mut args, "Cannot query UI.").await?;
    let mode = args.take_text("mode").unwrap_or_else(|| "tree".to_owned());
    let (vision, verbose) = (args.take_flag("vision"), args.take_flag("verbose"));
    let mut shown = Shown::default();
    let mut clock = None;
    if mode != "screenshot" {
        let (nodes, read_at) = tree(call, pid).await?;
        clock = read_at;
        shown.stats.ax_nodes = nodes.iter().map(Node::count).sum();
        shown.tree = Some(if verbose { as_json(&nodes) } else { as_text(&nodes) });
    }
    let picture = if mode == "tree" { None } else { Some(picture(call, pid).await?) };
    shown.stats.latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut answer = ProfileAnswer::new(&shown);
    if let Some(clock) = clock {
        answer = answer.extra("clock", clock);
    }
    if let Some(png) = picture {
        answer = answer.with("screenshot", png.clone()).image(png, "image/png");
    }
    Ok(if vision && mode != "screenshot" { answer.extra("note", NO_VISION) } else { answer })
}

/// The windows of an app with all that is in them, and the clock at which they were read.
async fn tree(call: &Call<'_>, pid: u32) -> Result<(Vec<Node>, Option<Clock>), Raised> {
    let (shown, reply): (SnapshotAnswer, _) =
        ask(call, "snapshot", snapshot_args(pid)).await.map_err(|error| raised(&error))?;
    let nodes = match &shown.tree {
        Some(app) if app.role == Role::Application => app.children.iter().map(Node::of).collect(),
        Some(window) => vec![Node::of(window)],
        None => Vec::new(),
    };
    Ok((nodes, reply.clock))
}

fn as_json(nodes: &[Node]) -> String {
    #[derive(Serialize)]
    struct Nodes<'a> {
        nodes: &'a [Node],
    }
    // It has no keys but texts, and no numbers that JSON does not have.
    serde_json::to_string_pretty(&Nodes { nodes }).unwrap_or_default()
}

fn as_text(nodes: &[Node]) -> String {
    let mut out = String::new();
    nodes.iter().for_each(|node| node.write(0, &mut out));
    out
}

/// A picture of the largest window that is on the screen, in base64.
async fn picture(call: &Call<'_>, pid: u32) -> Result<String, Raised> {
    let of_app = json!({ "app": pid.to_string() });
    let (list, _): (ListWindowsAnswer, _) =
        ask(call, "list-windows", of_app).await.map_err(|error| raised(&error))?;
    let Some(window) = largest(&list.windows) else {
        return Err(query_failed(&format!("No visible window found for PID {pid}")));
    };
    let of_window = json!({ "window": window.window.to_string(), "app": pid.to_string() });
    let (shot, _): (ScreenshotAnswer, _) =
        ask(call, "screenshot", of_window).await.map_err(|error| raised(&error))?;
    shot.bytes.ok_or_else(|| {
        query_failed(&format!("Failed to capture screenshot for PID {pid} (window {})", window.window))
    })
}

/// The window with the largest area of those that are shown; of several, the frontmost.
fn largest(windows: &[WindowInfo]) -> Option<&WindowInfo> {
    let area = |window: &WindowInfo| {
        window.bounds.map_or(0, |at| i64::from(at.width.max(0)) * i64::from(at.height.max(0)))
    };
    windows.iter().filter(|window| !window.minimized).rev().max_by_key(|window| area(window))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_is_of_the_largest_window_that_is_shown() {
        let windows: Vec<WindowInfo> = serde_json::from_value(json!([
            { "window": 1, "title": "", "app": "a", "pid": 1, "bounds": { "x": 0, "y": 0, "width": 10, "height": 10 } },
            { "window": 2, "title": "", "app": "a", "pid": 1, "bounds": { "x": 0, "y": 0, "width": 20, "height": 10 } },
            { "window": 3, "title": "", "app": "a", "pid": 1, "bounds": { "x": 0, "y": 0, "width": 10, "height": 20 } },
            { "window": 4, "title": "", "app": "a", "pid": 1, "bounds": { "x": 0, "y": 0, "width": 90, "height": 90 }, "minimized": true },
            { "window": 5, "title": "", "app": "a", "pid": 1 },
        ]))
        .unwrap();
        assert_eq!(largest(&windows).map(|window| window.window), Some(2));
        assert_eq!(largest(&windows[3..4]), None);
    }
}
