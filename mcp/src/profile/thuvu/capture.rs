//! `ui_capture`: a picture of the screen, a window or a region.

use std::path::Path;
use std::time::Instant;

use axd_client::files::save_picture;
use axd_protocol::command::{ListDisplaysAnswer, ScreenshotAnswer};
use serde::Serialize;
use serde_json::{Value, json};

use super::windows::{place_of, titled};
use super::{Job, Result, describe, missing};
use crate::arguments::Arguments;
use crate::profile::{ProfileAnswer, ProfileTool};
use crate::tools::Hints;

const QUALITY: u64 = 85;
const PROMPT: &str = "Describe what you see in this screenshot";

/// The tool.
pub fn tool() -> ProfileTool {
    let point = |what: &str| json!({ "type": "integer", "description": format!("For region: {what}") });
    let properties = json!({
        "mode": { "type": "string", "enum": ["fullscreen", "window", "region"], "description": "[default: fullscreen]" },
        "primary": { "type": "boolean", "description": "For fullscreen: the primary screen only [default: false]" },
        "window_title": { "type": "string", "description": "For window: part of a title, in any case; the first match front to back" },
        "x": point("left edge"), "y": point("top edge"), "width": point("width"), "height": point("height"),
        "format": { "type": "string", "enum": ["png", "jpeg"], "description": "[default: png]" },
        "quality": { "type": "integer", "minimum": 1, "maximum": 100, "description": "Of a JPEG [default: 85]" },
        "output": { "type": "string", "enum": ["base64", "file"], "description": "[default: base64]" },
        "file_path": { "type": "string", "description": "For file: where it is written" },
        "analyze": { "type": "boolean", "description": "Get the picture with analyze_prompt before it, for you to look at [default: false]" },
        "analyze_prompt": { "type": "string", "description": format!("[default: {PROMPT}]") },
    });
    let answers = json!({
        "base64_data": { "type": "string" }, "file_path": { "type": "string" }, "mime_type": { "type": "string" },
        "width": { "type": "integer" }, "height": { "type": "integer" }, "file_size_bytes": { "type": "integer" },
        "analysis": { "type": "string" },
    });
    let description = "Take a picture of the screen, a window or a region, without the pointer.";
    describe("ui_capture", description, Hints::Reads, properties, &[], answers)
}

#[derive(Debug, Serialize)]
struct Captured<'a> {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    width: u32,
    height: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_size_bytes: Option<u64>,
}

/// Answers a call.
pub async fn run(job: &Job<'_>, mut args: Arguments) -> Result<ProfileAnswer> {
    let to_file = args.take_text("output").is_some_and(|output| output == "file");
    let path = args.take_text("file_path");
    if to_file && path.is_none() {
        return Err(missing("ui_capture", "file_path"));
    }
    let analyze = args.take_flag("analyze");
    let prompt = args.take_text("analyze_prompt").unwrap_or_else(|| PROMPT.to_owned());
    let wanted = request(job, &mut args).await?;
    job.rate.capture(job.guard.settings.max_captures_per_minute, Instant::now())?;
    let shot: ScreenshotAnswer = job.ask("screenshot", wanted).await?;
    job.note("size", format!("{}x{}", shot.width, shot.height));
    let bytes = shot.bytes.ok_or("axd answered without the picture")?;
    let mime = match shot.format {
        axd_protocol::command::ImageFormat::Png => "image/png",
        axd_protocol::command::ImageFormat::Jpeg => "image/jpeg",
    };
    let mut captured = Captured {
        success: true,
        file_path: None,
        mime_type: Some(mime),
        width: shot.width,
        height: shot.height,
        file_size_bytes: Some(shot.size),
    };
    if let Some(path) = path.as_deref().filter(|_| to_file) {
        save_picture(Path::new(path), &bytes)?;
        captured.file_path = Some(path);
    }
    if analyze {
        (captured.mime_type, captured.file_size_bytes) = (None, None);
        return Ok(ProfileAnswer::new(&captured).caption(prompt).image(bytes, mime));
    }
    let answer = ProfileAnswer::new(&captured);
    Ok(if to_file { answer } else { answer.with("base64_data", bytes.clone()).image(bytes, mime) })
}

/// The arguments of the screenshot.
async fn request(job: &Job<'_>, args: &mut Arguments) -> Result<Value> {
    let mut wanted = match args.take_text("mode").as_deref() {
        Some("window") => {
            let Some(title) = args.take_text("window_title") else {
                return Err(missing("ui_capture", "window_title"));
            };
            let window = titled(job, &title).await?;
            if window.bounds.is_none() {
                return Err("Failed to get window rect".into());
            }
            place_of(&window)
        }
        Some("region") => {
            let mut sides = Vec::new();
            for name in ["x", "y", "width", "height"] {
                let side = args.take(name).ok_or_else(|| missing("ui_capture", name))?;
                sides.push(side.to_string());
            }
            json!({ "region": sides.join(",") })
        }
        _ if args.take_flag("primary") => {
            let found: ListDisplaysAnswer = job.ask("list-displays", json!({})).await?;
            let primary = found.displays.iter().find(|display| display.primary);
            json!({ "display": primary.map_or(1, |display| display.display) })
        }
        _ => json!({ "all": true }),
    };
    if args.take_text("format").is_some_and(|format| format == "jpeg") {
        wanted["format"] = "jpeg".into();
        wanted["quality"] = args.take_number("quality").unwrap_or(QUALITY).into();
    }
    let settings = &job.guard.settings;
    // No window is allowed if there is no pattern.
    let allowed = if settings.allowed_window_patterns.is_empty() {
        json!([""])
    } else {
        json!(settings.allowed_window_patterns)
    };
    wanted["cover"] = json!(settings.blocked_window_patterns);
    wanted["cover_except"] = allowed;
    Ok(wanted)
}
