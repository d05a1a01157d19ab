//! `write`: text into fields, and values into sliders.

use axd_protocol::{Command, Error};
use serde_json::json;

use super::{Answering, Hints, Tool, act};
use crate::arguments::Arguments;
use crate::call::Call;
use crate::schema::{Input, Object};
use crate::view::{self, Wanted};

/// The tool.
pub const TOOL: Tool = Tool {
    name: "write",
    description: "Write into a field: set replaces the value (also of sliders), type adds at the caret, clear empties. The \
                  result is read back. Answers as act does.",
    hints: Hints::Acts,
    input,
    output: act::output,
    run,
    command: Some(command),
};

fn input() -> Object {
    let input = Input::new()
        .own("verb", json!({ "type": "string", "enum": ["set", "type", "clear"] }))
        .described("set-value", "target", "Id or selector [type: the focused element]")
        .own("text", json!({ "type": "string" }));
    let input = input
        .plain("click", "nth")
        .described("click", "app", "Name or pid")
        .described("click", "window", "Title or id")
        .described("click", "wait_for", "Selector that must match afterwards");
    view::arguments(input).required(&["verb"]).schema()
}

fn command(mut args: Arguments) -> Result<Command, Error> {
    Wanted::take(&mut args);
    let verb = args.take_text("verb").unwrap_or_default();
    if verb != "type" && !args.has("target") {
        return Err(args.missing("target", &format!("verb {verb}")));
    }
    if verb != "clear" && !args.has("text") {
        return Err(args.missing("text", &format!("verb {verb}")));
    }
    match verb.as_str() {
        "set" => {
            args.rename("text", "value");
            args.into_command("set-value")
        }
        "clear" => args.into_command("clear"),
        _ => args.into_command("type"),
    }
}

fn run<'a>(call: &'a Call<'a>, mut args: Arguments) -> Answering<'a> {
    Box::pin(async move {
        let wanted = Wanted::take(&mut args);
        act::perform(call, &command(args)?, wanted).await
    })
}
