//! `ui_click`, `ui_type` and `ui_mouse_move`: mouse and keyboard, and elements by selector.

use axd_protocol::command::ActAnswer;
use axd_protocol::error::Delivery;
use axd_protocol::keys::Combo;
use axd_protocol::{Error, Point, WindowInfo};
use serde_json::{Value, json};

use super::elements::{point, target};
use super::windows::{active, at_point, focus_window, place_of, titled};
use super::{Fault, Job, Result, describe, done, missing};
use crate::arguments::Arguments;
use crate::profile::{ProfileAnswer, ProfileTool};
use crate::tools::Hints;

const WINDOW: &str = "Window: part of a title, in any case; then the point is in the window";

/// `ui_click`.
pub fn click_tool() -> ProfileTool {
    let properties = json!({
        "x": { "type": "integer" },
        "y": { "type": "integer" },
        "button": { "type": "string", "enum": ["left", "right", "middle"], "description": "[default: left]" },
        "clicks": { "type": "integer", "minimum": 1, "maximum": 2, "description": "[default: 1]" },
        "window_title": { "type": "string", "description": WINDOW },
        "selector": { "type": "string", "description": "ControlType:Name, as in Button:Submit; then x and y are not needed" },
    });
    let description = "Click at a point, or an element by selector.";
    describe("ui_click", description, Hints::Acts, properties, &["x", "y"], json!({}))
}

/// `ui_type`.
pub fn type_tool() -> ProfileTool {
    let properties = json!({
        "text": { "type": "string", "description": "Text, typed as it is. One of text and keys is needed; text comes first" },
        "keys": { "type": "array", "items": { "type": "string" }, "description": "Keys pressed together, as in [\"ctrl\", \"s\"], [\"alt\", \"f4\"] or [\"enter\"]" },
        "window_title": { "type": "string", "description": "Window to focus first: part of a title, in any case" },
        "delay_ms": { "type": "integer", "minimum": 0, "maximum": 1000, "description": "Accepted, and not needed [default: 10]" },
    });
    describe("ui_type", "Type text, or press keys together.", Hints::Acts, properties, &[], json!({}))
}

/// `ui_mouse_move`.
pub fn move_tool() -> ProfileTool {
    let properties = json!({
        "x": { "type": "integer" },
        "y": { "type": "integer" },
        "window_title": { "type": "string", "description": WINDOW },
    });
    describe("ui_mouse_move", "Move the pointer.", Hints::Arranges, properties, &["x", "y"], json!({}))
}

/// Answers `ui_click`.
pub async fn click(job: &Job<'_>, mut args: Arguments) -> Result<ProfileAnswer> {
    let button = args.take_text("button").unwrap_or_else(|| "left".to_owned());
    let clicks = number(&mut args, "clicks", 1, 1..=2)?;
    let title = args.take_text("window_title");
    if let Some(selector) = args.take_text("selector") {
        let command =
            match (button.as_str(), clicks) {
                ("left", 1) => "click",
                ("left", _) => "double-click",
                ("right", 1) => "right-click",
                _ => return Err(
                    "with a selector, only the left button clicks twice, and the middle one needs x and y"
                        .into(),
                ),
            };
        let window = window_of(job, title).await?;
        let id = target(job, &selector, window.as_ref()).await?;
        let place = window.as_ref().map_or_else(|| json!({}), place_of);
        return act(job, command, with(place, "target", id)).await;
    }
    let place = aim(job, "ui_click", &mut args, title).await?;
    act(job, "mouse-click", with(with(place, "button", button), "count", clicks)).await
}

/// Answers `ui_mouse_move`.
pub async fn move_mouse(job: &Job<'_>, mut args: Arguments) -> Result<ProfileAnswer> {
    let title = args.take_text("window_title");
    let place = aim(job, "ui_mouse_move", &mut args, title).await?;
    act(job, "mouse-move", place).await
}

/// Answers `ui_type`.
pub async fn type_text(job: &Job<'_>, mut args: Arguments) -> Result<ProfileAnswer> {
    number(&mut args, "delay_ms", 10, 0..=1000)?;
    let (text, keys) = (args.take_text("text"), args.take("keys"));
    let keys: Vec<String> = serde_json::from_value(keys.unwrap_or_else(|| json!([]))).unwrap_or_default();
    if text.is_none() && keys.is_empty() {
        return Err("ui_type: text or keys is required".into());
    }
    // Keys that there are not are refused before anything is typed.
    let combo = if keys.is_empty() { None } else { Some(combo(&keys)?) };
    let window = match args.take_text("window_title") {
        Some(title) => {
            let window = titled(job, &title).await?;
            focus_window(job, &window).await?;
            Some(window)
        }
        None => active(job).await?,
    };
    let place = window.as_ref().map_or_else(|| json!({}), place_of);
    let typed = match &text {
        Some(text) => Some(act(job, "type", with(place.clone(), "text", text.as_str())).await?),
        None => None,
    };
    let Some(combo) = combo else { return Ok(typed.unwrap_or_else(done)) };
    let pressed = act(job, "press", with(place, "combo", combo)).await;
    if typed.is_some() { pressed.map_err(after_typing) } else { pressed }
}

/// The error of keys that failed after a text was typed, which must not be typed again: neither by who asked, nor by a call that is
/// approved and made once more.
fn after_typing(fault: Fault) -> Fault {
    match fault {
        Fault::Axd(error) => {
            let message = format!("the text was typed, the keys were not pressed: {}", error.message);
            let delivery = Delivery::DeliveredUnverified;
            Fault::Axd(Box::new(Error { message, ..error.delivered(delivery) }))
        }
        ours => ours,
    }
}

/// The point of a call, and the window it is in.
async fn aim(job: &Job<'_>, tool: &str, args: &mut Arguments, title: Option<String>) -> Result<Value> {
    let point = point(args)?.ok_or_else(|| missing(tool, "x"))?;
    let place = match title {
        Some(title) => place_of(&titled(job, &title).await?),
        None => {
            at_point(job, point).await?;
            json!({})
        }
    };
    let Point { x, y } = point;
    Ok(with(place, "point", format!("{x},{y}")))
}

async fn window_of(job: &Job<'_>, title: Option<String>) -> Result<Option<WindowInfo>> {
    match title {
        Some(title) => titled(job, &title).await.map(Some),
        None => Ok(None),
    }
}

async fn act(job: &Job<'_>, command: &str, args: Value) -> Result<ProfileAnswer> {
    let acted: ActAnswer = job.ask(command, with(args, "no_effects", true)).await?;
    Ok(done()
        .extra("delivery", acted.disposition.delivery)
        .extra("retry", acted.disposition.retry)
        .extra("settled", acted.settled)
        .extra("method", acted.method))
}

/// Arguments with one more.
fn with(mut args: Value, name: &str, value: impl Into<Value>) -> Value {
    args[name] = value.into();
    args
}

/// A whole number within limits.
fn number(
    args: &mut Arguments,
    name: &str,
    default: u64,
    allowed: std::ops::RangeInclusive<u64>,
) -> Result<u64> {
    let Some(value) = args.take(name) else { return Ok(default) };
    value.as_u64().filter(|number| allowed.contains(number)).ok_or_else(|| {
        Fault::Ours(format!("{name} must be between {} and {}, not {value}", allowed.start(), allowed.end()))
    })
}

/// The combination of these keys, which are pressed in order.
fn combo(keys: &[String]) -> Result<String> {
    let named: Vec<&str> = keys.iter().map(|key| if key == "+" { "plus" } else { key.trim() }).collect();
    let combo: Combo = named
        .join("+")
        .parse()
        .map_err(|fault: axd_protocol::keys::ParseKeysError| Fault::Ours(fault.to_string()))?;
    Ok(combo.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_one_combination() {
        let of = |keys: &[&str]| {
            let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
            combo(&keys).ok()
        };
        assert_eq!(of(&["ctrl", "s"]).as_deref(), Some("ctrl+s"));
        assert_eq!(of(&["alt", "F4"]).as_deref(), Some("alt+f4"));
        assert_eq!(of(&["enter"]).as_deref(), Some("return"));
        assert_eq!(of(&["ctrl", "+"]).as_deref(), Some("ctrl+plus"));
        assert_eq!(of(&["a", "b"]), None);
        assert_eq!(of(&["hyper", "s"]), None);
    }
}
