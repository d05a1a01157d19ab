//! The tools of the other sets: commands of axd under their own names, with all their arguments.

use axd_protocol::command::McpToolSet;
use serde_json::json;

use super::Hints;
use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::schema::{self, Object, command_schema};

/// A command as a tool.
#[derive(Debug)]
pub struct PlainTool {
    set: McpToolSet,
    /// The name of the command.
    pub command: &'static str,
    /// What the tool does to the world.
    pub hints: Hints,
}

macro_rules! plain {
    ($($set:ident { $($command:literal $hints:ident,)+ })+) => {
        &[$($(PlainTool { set: McpToolSet::$set, command: $command, hints: Hints::$hints },)+)+]
    };
}

const PLAIN: &[PlainTool] = plain! {
    Input {
        "mouse-move" Arranges,
        "mouse-click" Acts,
        "mouse-down" Acts,
        "mouse-up" Acts,
        "mouse-wheel" Acts,
        "mouse-position" Reads,
        "key-down" Acts,
        "key-up" Acts,
        "triple-click" Acts,
    }
    Windows {
        "move-window" Arranges,
        "resize-window" Arranges,
        "minimize" Arranges,
        "maximize" Arranges,
        "restore" Arranges,
        "list-displays" Reads,
    }
    Clipboard {
        "clipboard-get" Reads,
        "clipboard-set" Acts,
        "clipboard-clear" Acts,
    }
    All {
        "focused" Reads,
        "element-at" Reads,
        "is" Reads,
        "attach" Reads,
        "detach" Reads,
        "doctor" Reads,
    }
};

/// The tools of these sets.
pub fn of_sets(sets: &[McpToolSet]) -> impl Iterator<Item = &'static PlainTool> {
    let all = sets.contains(&McpToolSet::All);
    PLAIN.iter().filter(move |tool| all || sets.contains(&tool.set))
}

impl PlainTool {
    /// The name of the tool: that of the command, in the letters that all clients take.
    pub fn name(&self) -> String {
        self.command.replace('-', "_")
    }

    /// What the model reads about it: the command's own description, without the examples for the command line.
    pub fn description(&self) -> String {
        let schema = axd_protocol::command::args_schema(self.command).map(serde_json::Value::from);
        let text = schema.as_ref().and_then(|schema| schema["description"].as_str()).unwrap_or_default();
        let text = text.split("\n\nExample").next().unwrap_or_default();
        text.replace("\n\n", " ").replace('\n', " ").trim().to_owned()
    }

    /// The schema of its arguments.
    pub fn input(&self) -> Object {
        let mut schema = command_schema(self.command);
        if schema["properties"].is_null() {
            schema["properties"] = json!({});
        }
        match schema {
            serde_json::Value::Object(schema) => schema,
            _ => Object::new(),
        }
    }

    /// The schema of its structured content.
    pub fn output() -> Object {
        schema::output(json!({ "data": { "type": "object" }, "clock": { "type": "string" } }))
    }

    /// Answers a call with what axd answers.
    pub async fn run(&self, call: &Call<'_>, args: Arguments) -> Result<Answer, Failure> {
        let reply = call.request(&args.into_command(self.command)?).await?;
        let data: serde_json::Value = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
        let mut answer = Answer::new("done");
        reply.clock.iter().for_each(|clock| answer.clock(*clock));
        // JSON has every text in quotes, with its line breaks escaped.
        answer.lines(&data.to_string());
        answer.set("data", data);
        Ok(answer)
    }
}
