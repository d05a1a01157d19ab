//! `find`: elements by selector.

use axd_protocol::command::{FindAnswer, Match};
use axd_protocol::text::{Line, write_ref};
use axd_protocol::{Command, Error};
use serde_json::{Value, json};

use super::{Answering, Hints, Tool};
use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::schema::{self, Input, Object};

/// The number of matches that are shown, if the call does not say.
const DEFAULT_LIMIT: u64 = 20;

/// The tool.
pub const TOOL: Tool = Tool {
    name: "find",
    description: "Find elements without reading the tree. Selectors: button:Save, textfield:\"First name\", \
                  list > row:nth(3), *[text~=\"total\"], checkbox[checked].",
    hints: Hints::Reads,
    input,
    output,
    run,
    command: Some(command),
};

fn input() -> Object {
    Input::new()
        .plain("find", "selector")
        .described("find", "app", "Name or pid [default: frontmost]")
        .described("find", "window", "Title or id")
        .described("find", "root", "Only in this element")
        .described("find", "limit", "[default: 20]")
        .described("find", "deep", "Also rows that tables do not show")
        .required(&["selector"])
        .schema()
}

fn output() -> Object {
    schema::output(json!({
        "count": { "type": "integer" }, "complete": { "type": "boolean" }, "matches": { "type": "array" },
        "clock": { "type": "string" },
    }))
}

fn command(mut args: Arguments) -> Result<Command, Error> {
    if !args.has("limit") {
        args.set("limit", DEFAULT_LIMIT);
    }
    args.into_command("find")
}

fn run<'a>(call: &'a Call<'a>, args: Arguments) -> Answering<'a> {
    Box::pin(async move {
        let reply = call.request(&command(args)?).await?;
        let found: FindAnswer = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
        let mut answer = Answer::new(match found.count {
            0 => "no match".to_owned(),
            1 => "1 match".to_owned(),
            count if (count as usize) > found.matches.len() => {
                format!("{count} matches, the first {} shown", found.matches.len())
            }
            count => format!("{count} matches"),
        });
        reply.clock.iter().for_each(|clock| answer.clock(*clock));
        answer.set("count", found.count);
        answer.set("complete", found.complete);
        answer.set("matches", found.matches.iter().map(brief).collect::<Vec<_>>());
        let mut lines = String::new();
        found.matches.iter().for_each(|found| write_match(found, &mut lines));
        if !found.complete {
            answer.note("not everything was searched: there may be more");
            axd_protocol::render::write_unread(&found.unread, &mut lines);
            answer.set("unread", &found.unread);
        }
        answer.lines(&lines);
        Ok(answer)
    })
}

/// A match as structured content: what is needed to choose one, and its id.
fn brief(found: &Match) -> Value {
    let node = &found.node;
    let mut out = json!({ "id": node.id, "role": node.role });
    for (name, value) in [("name", &node.name), ("value", &node.value), ("description", &node.description)] {
        if let Some(value) = value {
            out[name] = value.as_str().into();
        }
    }
    if !node.states.is_empty() {
        out["states"] = json!(node.states);
    }
    if let Some(row) = found.row {
        out["row"] = row.into();
    }
    out
}

fn write_match(found: &Match, out: &mut String) {
    Line::from(&found.node).write(0, out);
    let Some(parent) = found.path.last() else { return };
    out.insert(out.len() - 1, ' ');
    let mut place = "in ".to_owned();
    write_ref(parent, &mut place);
    if let Some(row) = found.row {
        place.push_str(&format!(" row {row}"));
    }
    out.insert_str(out.len() - 1, &place);
}
