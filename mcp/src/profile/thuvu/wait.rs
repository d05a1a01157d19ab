//! `ui_wait`: until a window, an element, or both are there.

use std::time::{Duration, Instant};

use axd_protocol::WindowInfo;
use axd_protocol::command::WaitAnswer;
use serde::Serialize;
use serde_json::{Value, json};

use super::elements::{self, Element};
use super::windows::Window;
use super::{Fault, Job, Result, describe};
use crate::arguments::Arguments;
use crate::profile::{ProfileAnswer, ProfileTool, ask_within};
use crate::tools::Hints;

const TIMEOUT_MS: u64 = 10_000;
/// How much longer than the wait itself its answer may take.
const ANSWER: Duration = Duration::from_secs(5);

/// The tool.
pub fn tool() -> ProfileTool {
    let properties = json!({
        "window_title": { "type": "string", "description": "Wait for a window: part of its title, in any case" },
        "element_selector": { "type": "string", "description": "Wait for an element, as in Button:Submit; in that window, or in the frontmost app" },
        "timeout_ms": { "type": "integer", "minimum": 100, "maximum": 60000, "description": "[default: 10000]" },
    });
    let answers = json!({ "waited_ms": { "type": "integer" }, "window": { "type": "object" }, "element": { "type": "object" } });
    describe("ui_wait", "Wait until a window or an element is there.", Hints::Reads, properties, &[], answers)
}

#[derive(Debug, Default, Serialize)]
struct Waited {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    waited_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Window>,
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<Element>,
}

/// Answers a call.
pub async fn run(job: &Job<'_>, mut args: Arguments) -> Result<ProfileAnswer> {
    let (title, selector) = (args.take_text("window_title"), args.take_text("element_selector"));
    let timeout = args.take("timeout_ms").map_or(Ok(TIMEOUT_MS), |value| {
        let number = value.as_u64().filter(|ms| (100..=60_000).contains(ms));
        number.ok_or_else(|| Fault::Ours(format!("timeout_ms must be between 100 and 60000, not {value}")))
    })?;
    if title.is_none() && selector.is_none() {
        return Err("ui_wait: window_title or element_selector is required".into());
    }
    let began = Instant::now();
    let mut waited = Waited::default();
    let ended = both(job, title, selector, Duration::from_millis(timeout), &mut waited).await;
    waited.waited_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    match ended {
        Ok(()) => Ok(ProfileAnswer::new(&Waited { success: true, ..waited })),
        Err(fault) => {
            let answer = ProfileAnswer::new(&Waited { error: Some(fault.message().to_owned()), ..waited });
            Ok(fault.explain(answer))
        }
    }
}

/// Waits for a window, then for an element in its app.
async fn both(
    job: &Job<'_>,
    title: Option<String>,
    selector: Option<String>,
    timeout: Duration,
    waited: &mut Waited,
) -> Result<()> {
    let began = Instant::now();
    let mut app = None;
    if let Some(title) = title {
        let window: WindowInfo = wait(job, json!({ "window": title }), timeout)
            .await?
            .windows
            .into_iter()
            .next()
            .ok_or("axd answered without the window")?;
        job.guard.window(&window.title)?;
        app = Some(window.pid.to_string());
        waited.window = Some(Window::of(&window));
    }
    if let Some(selector) = selector {
        let mut wanted = json!({ "for": [selector] });
        if let Some(app) = app {
            wanted["app"] = app.into();
        }
        let left = timeout.saturating_sub(began.elapsed());
        let found = wait(job, wanted, left).await?;
        let node = found.nodes.first().ok_or("axd answered without the element")?;
        waited.element = Some(elements::one(job, node.id).await?);
    }
    Ok(())
}

async fn wait(job: &Job<'_>, mut wanted: Value, timeout: Duration) -> Result<WaitAnswer> {
    wanted["timeout"] = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX).into();
    Ok(ask_within(job.call, "wait", wanted, timeout + ANSWER).await?.0)
}
