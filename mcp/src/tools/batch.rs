//! `batch`: several calls in one, checked before the first of them.

use std::time::Duration;

use axd_protocol::command::{Batch, BatchAnswer, BatchItem, BatchItems};
use axd_protocol::{Command, Error};
use serde_json::{Value, json};

use super::{Answering, Hints, Tool};
use crate::answer::{Answer, Failure, whole};
use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::schema::{Input, Object};
use crate::view::{self, Mode, Wanted};

/// The deadline of a batch. Clients end calls after 60 s.
const DEADLINE: Duration = Duration::from_secs(50);

/// The tool.
pub const TOOL: Tool = Tool {
    name: "batch",
    description: "Several calls of find, read, act, write, keys, wait and apps in one, checked before the first runs; ends at \
                  the first that fails. \"$0.matches.0.id\" in an argument is the first match of item 0.",
    hints: Hints::Acts,
    input,
    output,
    run,
    command: None,
};

fn input() -> Object {
    let items = json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": { "tool": { "type": "string" }, "args": { "type": "object" } },
            "required": ["tool"],
        },
    });
    view::arguments(Input::new().own("items", items)).required(&["items"]).schema()
}

fn output() -> Object {
    view::output(json!({
        "succeeded": { "type": "integer" }, "failed": { "type": "integer" }, "skipped": { "type": "integer" },
        "results": { "type": "array" },
    }))
}

fn run<'a>(call: &'a Call<'a>, mut args: Arguments) -> Answering<'a> {
    Box::pin(async move {
        let wanted = Wanted::take(&mut args);
        let items = args.take("items").unwrap_or_default();
        let mut commands = Vec::new();
        for (index, item) in items.as_array().into_iter().flatten().enumerate() {
            let command = command_of(call, item)
                .map_err(|error| Error { message: format!("item {index}: {}", error.message), ..error })?;
            let args = command.args().map_err(|fault| invalid(fault.to_string()))?;
            commands.push(BatchItem { command: command.name().to_owned(), args: Some(args) });
        }
        let batch = Command::Batch(Batch { items: BatchItems(commands), app: None, stop_on_error: true });
        let reply = call.request_within(&batch, DEADLINE).await?;
        let done: BatchAnswer = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
        let mut answer = Answer::new(format!(
            "{} succeeded, {} failed, {} not run",
            done.succeeded, done.failed, done.skipped
        ));
        answer.set("succeeded", done.succeeded);
        answer.set("failed", done.failed);
        answer.set("skipped", done.skipped);
        answer.set("results", done.results.iter().map(brief).collect::<Vec<_>>());
        done.results.iter().for_each(|result| answer.lines(&line_of(result)));
        // The last action says which app to show, and its first one since when.
        let acted = || done.results.iter().filter(|result| result["data"]["effects"].is_object());
        let pid = acted().next_back().and_then(|result| result["app"]["pid"].as_u64());
        let since = acted().find(|result| result["app"]["pid"].as_u64() == pid);
        let since = since.and_then(|result| result["data"]["effects"]["since"].as_str()?.parse().ok());
        match pid.zip(since) {
            Some((pid, since)) if wanted.mode != Mode::None => {
                view::after(call, pid as u32, since, wanted, &mut answer).await?;
            }
            _ => reply.clock.iter().for_each(|clock| answer.clock(*clock)),
        }
        Ok(answer)
    })
}

fn command_of(call: &Call<'_>, item: &Value) -> Result<Command, Error> {
    let fields = item.as_object().into_iter().flatten();
    if let Some((name, _)) = fields.clone().find(|(name, _)| !["tool", "args"].contains(&name.as_str())) {
        return Err(invalid(format!("there is no field '{name}'"))
            .suggest("write {\"tool\":\"act\",\"args\":{\"verb\":\"click\",\"target\":\"button:Save\"}}"));
    }
    let tool = item["tool"].as_str().ok_or_else(|| invalid("tool is missing".to_owned()))?;
    let args = match &item["args"] {
        Value::Null => Object::new(),
        Value::Object(args) => args.clone(),
        _ => return Err(invalid("args must be an object".to_owned())),
    };
    let mut args = args;
    // What the window shows is told once, at the end.
    args.remove("mode");
    args.remove("max_tokens");
    call.shared.tools.command(tool, args)
}

/// What is needed of a result to go on.
fn brief(result: &Value) -> Value {
    let mut out = json!({ "index": result["index"], "ok": result["ok"] });
    let data = &result["data"];
    for name in ["error", "app"] {
        if result[name].is_object() {
            out[name] = result[name].clone();
        }
    }
    let mut data = data.clone();
    if let Some(fields) = data.as_object_mut() {
        // Effects are told once, for all items.
        for name in ["effects", "before", "after", "receiver", "hit"] {
            fields.remove(name);
        }
    }
    if !data.is_null() {
        out["data"] = data;
    }
    out
}

fn line_of(result: &Value) -> String {
    let index = &result["index"];
    let command = result["command"].as_str().unwrap_or_default();
    if let Some(message) = result["error"]["message"].as_str() {
        let code = result["error"]["code"].as_str().unwrap_or_default();
        return format!("{index} {command}: {code} {}\n", whole(message));
    }
    let data = &result["data"];
    let said = match (&data["disposition"]["delivery"], &data["count"]) {
        (Value::String(delivery), _) => delivery.replace('_', " "),
        (_, Value::Number(count)) => {
            let ids = data["matches"].as_array().into_iter().flatten().take(5);
            let ids: Vec<&str> = ids.filter_map(|found| found["id"].as_str()).collect();
            format!("{count} matches {}", ids.join(" "))
        }
        _ if data["node"].is_object() => data["node"].to_string(),
        _ => "ok".to_owned(),
    };
    format!("{index} {command}: {said}\n")
}
