//! `ax schema`: the protocol as JSON Schema, generated from the types that are sent.

use axd_client::protocol::command::{ALL_NAMES, Schema, args_schema, family};
use axd_client::protocol::event::Push;
use axd_client::protocol::{AppInfo, Clock, Error, Node, PROTOCOL_VERSION, Role, State};
use schemars::{JsonSchema, schema_for};
use serde_json::{Value, json};

use super::output::{self, Mode};
use super::parse::{self, Usage};
use super::{Exit, reference};

/// The topics of `ax schema` other than commands.
const TOPICS: &[&str] = &["answer", "event", "error", "node", "roles", "states", "selector"];
/// The grammar of selectors, as it is documented.
const SELECTOR_GRAMMAR: &str = include_str!("selector.abnf");

/// Prints the schema of one topic or of all commands, or the reference page.
pub fn run(what: &Schema, mode: Mode) -> Exit {
    if what.markdown {
        return output::print_text(&reference::page());
    }
    let shown = match what.topic.as_deref() {
        None => Some(commands()),
        Some(topic) => command(topic).or_else(|| of_topic(topic)),
    };
    let Some(shown) = shown else {
        let topic = what.topic.clone().unwrap_or_default();
        let message = format!("no schema for '{topic}'");
        let tip = format!("name a command, or one of {}", TOPICS.join(", "));
        let text = format!("error: {message}\n\n  tip: {tip}\n");
        return output::usage(&Usage { command: "schema".into(), text, message, tip: Some(tip) }, Some(mode));
    };
    // `{:#}` writes indented JSON.
    output::print_text(&match mode {
        Mode::Text => format!("{shown:#}\n"),
        Mode::Json => format!("{shown}\n"),
    })
}

fn commands() -> Value {
    let all: serde_json::Map<String, Value> =
        ALL_NAMES.iter().filter_map(|name| Some(((*name).to_owned(), command(name)?))).collect();
    json!({ "protocol": PROTOCOL_VERSION, "commands": all })
}

/// The description, family and argument schema of a command.
fn command(name: &str) -> Option<Value> {
    let mut args = args_schema(name)?;
    // These repeat what `description` and the key say.
    for repeated in ["title", "description", "$schema"] {
        args.remove(repeated);
    }
    let about = parse::subcommand(name)?.get_about().map(ToString::to_string);
    Some(json!({ "description": about, "family": family(name), "args": args }))
}

fn of_topic(topic: &str) -> Option<Value> {
    Some(match topic {
        "answer" => schema_for!(AnswerLine).to_value(),
        "event" => schema_for!(Push).to_value(),
        "error" => schema_for!(Error).to_value(),
        "node" => schema_for!(Node).to_value(),
        "roles" => Role::ALL
            .iter()
            .map(|role| {
                json!({
                    "role": role.name(),
                    "aliases": role.aliases(),
                    "interactive": role.is_interactive(),
                    "id_prefix": role.prefix(),
                })
            })
            .collect(),
        "states" => State::ALL.iter().map(|state| Value::from(state.name())).collect(),
        "selector" => json!({ "type": "string", "maxLength": 1024, "grammar": SELECTOR_GRAMMAR }),
        _ => return None,
    })
}

/// The line that answers a request; `data` is the answer of its command.
///
/// The contract reads an answer in place, out of its line; this is its shape for the schema.
#[derive(JsonSchema)]
#[schemars(rename = "Answer")]
#[expect(dead_code, reason = "only its schema is used")]
struct AnswerLine {
    /// The request's id: a number or a string; null if the line could not be read.
    id: Value,
    /// Whether it succeeded.
    ok: bool,
    /// The command.
    command: String,
    /// The protocol.
    version: String,
    /// The platform.
    platform: Option<String>,
    /// The clock it was read at.
    clock: Option<Clock>,
    /// The app it is about.
    app: Option<AppInfo>,
    /// What was asked for.
    data: Option<Value>,
    /// What went wrong.
    error: Option<Error>,
    /// The rendering, if text was asked for.
    text: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_and_every_topic_has_a_schema() {
        for name in ALL_NAMES {
            let shown = command(name).unwrap_or_else(|| panic!("{name}"));
            assert!(shown["description"].as_str().is_some_and(|about| !about.is_empty()), "{name}");
            assert_eq!(shown["args"]["type"], "object", "{name}");
        }
        for topic in TOPICS {
            assert!(of_topic(topic).is_some(), "{topic}");
        }
        assert!(command("snapshot").unwrap()["args"]["properties"]["max_nodes"].is_object());
    }
}
