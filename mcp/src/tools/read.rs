//! `read`: one element with all its properties, or the text in it.

use axd_protocol::command::{GetAnswer, Snapshot, SnapshotAnswer};
use axd_protocol::text::write_ref;
use axd_protocol::{Command, Error, Node};
use serde_json::{Value, json};

use super::{Answering, Hints, Tool};
use crate::answer::{Answer, Failure, whole};
use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::schema::{self, Input, Object};
use crate::view::MAX_TOKENS;

/// The approximate number of bytes per token.
const BYTES_PER_TOKEN: usize = 4;

/// The tool.
pub const TOOL: Tool = Tool {
    name: "read",
    description: "Read one element: all its properties with the whole value, or with text: true all texts in it, a line each.",
    hints: Hints::Reads,
    input,
    output,
    run,
    command: Some(command),
};

fn input() -> Object {
    Input::new()
        .described("get", "target", "Id, selector or point \"x,y\"")
        .own("text", json!({ "type": "boolean" }))
        .described("get", "app", "Name or pid")
        .described("get", "window", "Title or id")
        .own("max_tokens", json!({ "type": "integer" }))
        .required(&["target"])
        .schema()
}

fn output() -> Object {
    schema::output(json!({
        "node": { "type": "object" }, "path": { "type": "array" }, "texts": { "type": "array" },
        "truncated": { "type": "boolean" }, "clock": { "type": "string" },
    }))
}

fn command(mut args: Arguments) -> Result<Command, Error> {
    if args.take_flag("text") {
        return Err(invalid("read with text cannot be in a batch".to_owned()).suggest("call read by itself"));
    }
    args.take("max_tokens");
    args.into_command("get")
}

fn run<'a>(call: &'a Call<'a>, mut args: Arguments) -> Answering<'a> {
    Box::pin(async move {
        let budget = args.take_number("max_tokens").unwrap_or(MAX_TOKENS) as usize * BYTES_PER_TOKEN;
        if args.take_flag("text") {
            texts(call, args, budget).await
        } else {
            element(call, args, budget).await
        }
    })
}

/// The properties of the element.
async fn element(call: &Call<'_>, args: Arguments, budget: usize) -> Result<Answer, Failure> {
    let reply = call.request(&command(args)?).await?;
    let GetAnswer { mut node, path } = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
    let mut answer = Answer::default();
    reply.clock.iter().for_each(|clock| answer.clock(*clock));
    let mut lines = String::new();
    for parent in &path {
        lines.push_str(if lines.is_empty() { "in " } else { " > " });
        write_ref(parent, &mut lines);
    }
    if !path.is_empty() {
        lines.push('\n');
    }
    if let Some(Value::String(value)) = node.get_mut("value")
        && value.len() > budget
    {
        let left = cut(value, budget);
        answer.note(&format!("the value is cut: {left} more bytes, use a larger max_tokens"));
        answer.set("truncated", true);
    }
    for (name, value) in node.as_object().into_iter().flatten() {
        let shown = match value {
            // Ids and roles are axd's own words.
            Value::String(word) if name == "id" || name == "role" => word.clone(),
            Value::String(text) => whole(text),
            value => value.to_string(),
        };
        lines.push_str(&format!("{name}: {shown}\n"));
    }
    answer.lines(&lines);
    answer.set("node", node);
    answer.set("path", path);
    Ok(answer)
}

/// The texts of the element and of what is in it, in the order of the tree.
async fn texts(call: &Call<'_>, mut args: Arguments, budget: usize) -> Result<Answer, Failure> {
    args.rename("target", "root");
    args.set("max_nodes", 0);
    let command = match args.into_command("snapshot")? {
        Command::Snapshot(how) => Command::Snapshot(Snapshot { menubar: true, ..how }),
        other => other,
    };
    let reply = call.request(&command).await?;
    let shown: SnapshotAnswer = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
    let mut found: Vec<&str> = Vec::new();
    for node in shown.tree.iter().flat_map(Node::walk) {
        for text in [&node.name, &node.value].into_iter().flatten() {
            // A cell and the label in it have the same name.
            if !text.is_empty() && found.last() != Some(&text.as_str()) {
                found.push(text);
            }
        }
    }
    let mut left = budget;
    let fits = found.iter().take_while(|text| {
        let fits = text.len() <= left;
        left = left.saturating_sub(text.len() + 3);
        fits
    });
    let count = fits.count();
    let mut answer = Answer::new(format!("{count} texts"));
    reply.clock.iter().for_each(|clock| answer.clock(*clock));
    if count < found.len() {
        answer.note(&format!("cut: {} more, use a larger max_tokens", found.len() - count));
        answer.set("truncated", true);
    }
    if !shown.complete {
        answer.note("the app is still being read");
    }
    let lines: Vec<String> = found[..count].iter().map(|text| whole(text)).collect();
    answer.lines(&lines.join("\n"));
    answer.set("texts", &found[..count]);
    Ok(answer)
}

/// Cuts a text, and returns how much is left out.
fn cut(text: &mut String, budget: usize) -> usize {
    let mut end = budget;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let left = text.len() - end;
    text.truncate(end);
    left
}
