//! `debug_ui_action`: does one thing to the UI, then says whether it was seen to land.

use axd_protocol::command::{ActAnswer, Route, SnapshotAnswer};
use axd_protocol::{Error, ErrorCode, Node as AxdNode};
use serde::Serialize;
use serde_json::{Value, json};

use super::node::Node;
use super::{Raised, checked, is_id, keys, plain, raised, refused, session, snapshot_args};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::profile::{ProfileAnswer, ProfileTool, ask, input, output};
use crate::schema::Object;
use crate::tools::Hints;

/// How long an app may take to come to rest, however little the call allows, in ms.
const LEAST_SETTLE_MS: u64 = 1_000;
const SETTLE_MS: u64 = 80;
const LINES: u64 = 3;

/// The tool.
pub fn tool() -> ProfileTool {
    let node = json!({ "type": "object" });
    ProfileTool {
        name: "debug_ui_action".to_owned(),
        description: "Do one thing to the UI of a session's app, then say whether it was seen to land."
            .to_owned(),
        hints: Hints::Acts,
        input: input(
            json!({
                "sessionId": { "type": "string", "description": "From debug_launch; or an app's name, pid or identity" },
                "action": { "type": "string", "enum": ["click", "set_value", "type", "key", "scroll", "drag"] },
                "id": { "type": "string", "description": "Element, from debug_ui; needed by all but key; the source of drag" },
                "value": { "type": ["number", "string"], "description": "Needed by set_value" },
                "text": { "type": "string", "description": "Needed by type" },
                "key": { "type": "string", "description": "Needed by key: a-z, 0-9, return, tab, space, delete (before the caret), escape, left, right, up, down, f1-f12" },
                "modifiers": { "type": "array", "items": { "type": "string" }, "description": "For key: cmd, shift, alt, ctrl" },
                "direction": { "type": "string", "enum": ["up", "down", "left", "right"], "description": "Needed by scroll" },
                "amount": { "type": "integer", "description": "For scroll: lines [default: 3]" },
                "toId": { "type": "string", "description": "Needed by drag: the destination" },
                "settleMs": { "type": "integer", "description": "Time for the app to come to rest, in ms; it gets up to 1000, and 0 does not wait [default: 80]" },
            }),
            &["sessionId", "action"],
        ),
        output: output(json!({
            "success": { "type": "boolean" },
            "method": { "type": "string", "enum": ["ax", "cgevent"] },
            "nodeBefore": node.clone(),
            "nodeAfter": node,
            "changed": { "type": "boolean", "description": "Whether value, enabled, focused or title differ" },
            "error": { "type": "string" },
            "code": { "type": "string" },
        })),
    }
}

/// What came of an action.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_before: Option<Node>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_after: Option<Node>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Answers a call.
pub async fn run(call: &Call<'_>, tool: &ProfileTool, mut fields: Object) -> Result<ProfileAnswer, Raised> {
    // It may be anything; the schema names what makes sense.
    let value = fields.remove("value").filter(|value| !value.is_null());
    let mut args = checked(tool, fields)?;
    let action = validated(&args, value.is_some()).map_err(refused)?;
    let pid = session(call, &mut args, "Cannot perform UI action.").await?;
    if action == "key" {
        return Ok(press(call, pid, &mut args).await);
    }
    let id = args.take_text("id").unwrap_or_default();
    let Some(before) = resolve(call, pid, &id).await? else { return Ok(failed("node not found", None)) };
    let before = Node::alone(&before);
    let unsent = |message: &str| Ok(failed(message, Some(before.clone())));
    let mut wanted = json!({ "target": id, "app": pid.to_string(), "no_effects": true, "settle_ms": settle_ms(&mut args) });
    let command = match action.as_str() {
        "set_value" => {
            wanted["value"] = plain(&value.unwrap_or_default()).into();
            "set-value"
        }
        "type" => {
            wanted["text"] = args.take_text("text").unwrap_or_default().into();
            wanted["route"] = json!(Route::Input);
            "type"
        }
        "scroll" if before.bounds.is_none() => return unsent("Element has no bounds for scroll"),
        "scroll" => {
            wanted["direction"] = args.take("direction").unwrap_or_default();
            wanted["amount"] = args.take("amount").unwrap_or(LINES.into());
            wanted["route"] = json!(Route::Input);
            "scroll"
        }
        "drag" => {
            let to = args.take_text("toId").unwrap_or_default();
            let Some(destination) = resolve(call, pid, &to).await? else {
                return unsent("drag destination node not found");
            };
            if before.bounds.is_none() {
                return unsent("Source element has no bounds for drag");
            }
            if destination.bounds.is_none() {
                return unsent("Destination element has no bounds for drag");
            }
            wanted["to"] = to.into();
            "drag"
        }
        _ if before.bounds.is_none() && before.actions.is_empty() => {
            return unsent("Element has no bounds for CGEvent click");
        }
        _ => "click",
    };
    Ok(match ask::<ActAnswer>(call, command, wanted).await {
        Ok((acted, reply)) => {
            let after = resolve(call, pid, &id).await.ok().flatten().map(|node| Node::alone(&node));
            let changed = after.as_ref().map(|after| after.differs(&before));
            let outcome = Outcome {
                success: true,
                method: Some(method(acted.route)),
                node_before: Some(before),
                node_after: after,
                changed,
                error: None,
            };
            of_action(ProfileAnswer::new(&outcome), &acted).extra("clock", reply.clock)
        }
        Err(error) => {
            let message = message_of(&action, &error, &before);
            failed(&message, Some(before)).of_error(&error).extra("message", &error.message)
        }
    })
}

/// The action, if the call has all that it needs. The error is the first thing that is missing, in the order of the contract.
fn validated(args: &Arguments, has_value: bool) -> Result<String, String> {
    if !args.has_text("sessionId") {
        return Err("sessionId must not be empty".to_owned());
    }
    let Some(action) = args.text("action") else { return Err("action is required".to_owned()) };
    if action != "key" && !args.has("id") {
        return Err("id is required for all actions except 'key'".to_owned());
    }
    let needed = match action {
        "set_value" => ("value", has_value),
        "type" => ("text", args.has("text")),
        "key" => ("key", args.has("key")),
        "scroll" => ("direction", args.has("direction")),
        "drag" => ("toId", args.has("toId")),
        _ => ("", true),
    };
    match needed {
        (_, true) => Ok(action.to_owned()),
        (name, false) => Err(format!("{name} is required for '{action}' action")),
    }
}

/// How long the app gets to come to rest: the answer comes when it has, and at the latest after this time.
fn settle_ms(args: &mut Arguments) -> u64 {
    match args.take_number("settleMs").unwrap_or(SETTLE_MS) {
        0 => 0,
        wanted => wanted.max(LEAST_SETTLE_MS),
    }
}

/// Presses a key. It has no node, so nothing is compared, and nothing is waited for.
async fn press(call: &Call<'_>, pid: u32, args: &mut Arguments) -> ProfileAnswer {
    let modifiers = args.take("modifiers").unwrap_or_default();
    let modifiers: Vec<String> = serde_json::from_value(modifiers).unwrap_or_default();
    let combo = match keys::combo(&args.take_text("key").unwrap_or_default(), &modifiers) {
        Ok(combo) => combo,
        Err(error) => return failed(&error.message, None),
    };
    let wanted = json!({ "combo": combo, "app": pid.to_string(), "no_effects": true, "settle_ms": 0 });
    match ask::<ActAnswer>(call, "press", wanted).await {
        Ok((acted, reply)) => {
            let outcome = Outcome { success: true, method: Some(method(acted.route)), ..Outcome::default() };
            of_action(ProfileAnswer::new(&outcome), &acted).extra("clock", reply.clock)
        }
        Err(error) if error.code == ErrorCode::ApplicationNotFound => {
            failed("process not running", None).of_error(&error)
        }
        Err(error) => failed(&error.message, None).of_error(&error),
    }
}

/// The element with this id as it is now, without what is in it. `None` if the app has none.
async fn resolve(call: &Call<'_>, pid: u32, id: &str) -> Result<Option<AxdNode>, Raised> {
    if !is_id(id) {
        return Ok(None);
    }
    let mut wanted = snapshot_args(pid);
    wanted["root"] = id.into();
    wanted["depth"] = 0.into();
    match ask::<SnapshotAnswer>(call, "snapshot", wanted).await {
        Ok((shown, _)) => Ok(shown.tree),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(raised(&error)),
    }
}

fn is_gone(error: &Error) -> bool {
    matches!(error.code, ErrorCode::ElementNotFound | ErrorCode::StaleRef)
}

/// What this profile says of an error, about an element that was there just before.
fn message_of(action: &str, error: &Error, before: &Node) -> String {
    let unplaced = before.bounds.is_none()
        && matches!(error.code, ErrorCode::NotActionable | ErrorCode::ActionNotSupported);
    match (error.code, action) {
        (ErrorCode::ApplicationNotFound, _) => "process not running".to_owned(),
        (ErrorCode::ActionNotSupported, "set_value") => {
            "element does not support set_value; try 'type'".to_owned()
        }
        (_, "set_value") if is_gone(error) => "node not found during set_value".to_owned(),
        (_, "click") if is_gone(error) => "node not found for AX action".to_owned(),
        (_, "click") if unplaced => "Element has no bounds for CGEvent click".to_owned(),
        (ErrorCode::ActionFailed, "click") if !before.actions.is_empty() => {
            format!("AX action '{}' failed with error {}", press_action(before), error.code.name())
        }
        _ => error.message.clone(),
    }
}

/// The native action that a click performs, as far as its name tells.
fn press_action(node: &Node) -> &str {
    let is_press = |name: &&String| {
        let name = name.to_lowercase();
        ["press", "click", "activate", "jump", "toggle"].iter().any(|word| name.contains(word))
    };
    node.actions.iter().find(is_press).or(node.actions.first()).map_or("", String::as_str)
}

/// The word for a way: of the two that there are, on every platform.
fn method(route: Route) -> &'static str {
    if route == Route::Input { "cgevent" } else { "ax" }
}

fn failed(message: &str, node_before: Option<Node>) -> ProfileAnswer {
    ProfileAnswer::new(&Outcome { node_before, error: Some(message.to_owned()), ..Outcome::default() })
}

fn of_action(answer: ProfileAnswer, acted: &ActAnswer) -> ProfileAnswer {
    answer
        .extra("delivery", acted.disposition.delivery)
        .extra("retry", acted.disposition.retry)
        .extra("settled", acted.settled)
        .extra("method", Value::from(acted.method.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(json: Value) -> Node {
        Node::of(&serde_json::from_value(json).unwrap())
    }

    #[test]
    fn an_error_has_the_text_of_the_contract() {
        let placed = node(json!({
            "id": "btn_000000", "role": "button", "actions": ["show menu", "press"],
            "bounds": { "x": 0, "y": 0, "width": 1, "height": 1 },
        }));
        let unplaced = node(json!({ "id": "btn_000000", "role": "button" }));
        for (code, action, before, text) in [
            (ErrorCode::ApplicationNotFound, "drag", &placed, "process not running"),
            (
                ErrorCode::ActionNotSupported,
                "set_value",
                &placed,
                "element does not support set_value; try 'type'",
            ),
            (ErrorCode::StaleRef, "set_value", &placed, "node not found during set_value"),
            (ErrorCode::ElementNotFound, "click", &placed, "node not found for AX action"),
            (ErrorCode::NotActionable, "click", &unplaced, "Element has no bounds for CGEvent click"),
            (ErrorCode::NotActionable, "click", &placed, "m"),
            (ErrorCode::ActionFailed, "click", &placed, "AX action 'press' failed with error ACTION_FAILED"),
            (ErrorCode::PolicyDenied, "click", &unplaced, "m"),
            (ErrorCode::StaleRef, "type", &placed, "m"),
        ] {
            assert_eq!(message_of(action, &Error::new(code, "m"), before), text, "{code:?} {action}");
        }
    }

    #[test]
    fn an_app_gets_a_second_to_come_to_rest_unless_nothing_is_waited_for() {
        let of = |fields: Value| {
            let schema = tool().input;
            let fields = fields.as_object().unwrap().clone();
            settle_ms(
                &mut Arguments::checked("debug_ui_action", &super::super::without_required(&schema), fields)
                    .unwrap(),
            )
        };
        assert_eq!(of(json!({})), 1_000);
        assert_eq!(of(json!({ "settleMs": 0 })), 0);
        assert_eq!(of(json!({ "settleMs": 2_500 })), 2_500);
    }
}
