//! Running several commands in one request.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Command;

/// Run several commands in one request, in order.
///
/// All commands are validated before the first one runs. On the command line they are written as after `ax`, one a line; blank
/// lines and lines that begin with # are skipped. A JSON list of {"command", "args"} is accepted too. A command may use the
/// answer of an earlier one: "$0.matches.0.id" is the id of the first match of the first command. A wait for an event counts
/// events since before the previous action.
///
/// Examples:
///   ax batch steps.txt --app Notes
///   printf 'click button:New\\ntype hello\\n' | ax batch - --app Notes
///   ax batch '[{"command":"click","args":{"target":"button:New"}},{"command":"type","args":{"text":"hello"}}]'
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Batch {
    /// File with the commands, one a line or as a JSON list; `-` reads standard input.
    #[cfg_attr(feature = "cli", arg(value_name = "FILE|-|JSON"))]
    pub items: BatchItems,
    /// App of all commands that name none [default: the frontmost].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Stop at the first command that fails.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub stop_on_error: bool,
}

/// The commands of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchItems(pub Vec<BatchItem>);

/// One command of a batch.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchItem {
    /// The command's name.
    pub command: String,
    /// Its arguments; a text "$N.path" stands for a part of the answer to item N.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<serde_json::Value>"))]
    pub args: Option<Box<RawValue>>,
}

impl Command {
    /// Names an app, if the command takes one and names none.
    pub fn default_app(&mut self, app: &str) {
        let named = match self {
            Command::Act(command) => &mut command.options_mut().app,
            Command::Snapshot(args) => &mut args.app,
            Command::Look(args) => &mut args.app,
            Command::Changes(args) => &mut args.app,
            Command::Find(args) => &mut args.app,
            Command::Get(args) => &mut args.app,
            Command::Is(args) => &mut args.app,
            Command::Focused(args) => &mut args.app,
            Command::Screenshot(args) => &mut args.app,
            Command::Wait(args) => &mut args.app,
            Command::ListWindows(args) => &mut args.app,
            Command::FocusWindow(args) => &mut args.app,
            Command::MoveWindow(args) => &mut args.app,
            Command::ResizeWindow(args) => &mut args.app,
            Command::Minimize(args) => &mut args.app,
            Command::Maximize(args) => &mut args.app,
            Command::Restore(args) => &mut args.app,
            _ => return,
        };
        named.get_or_insert_with(|| app.to_owned());
    }
}

impl PartialEq for BatchItem {
    fn eq(&self, other: &BatchItem) -> bool {
        let args = |item: &BatchItem| item.args.as_ref().map(|args| args.get().to_owned());
        self.command == other.command && args(self) == args(other)
    }
}

impl FromStr for BatchItems {
    type Err = String;

    fn from_str(text: &str) -> Result<BatchItems, String> {
        serde_json::from_str(text).map_err(|error| {
            format!("not a list of commands ({error}); write [{{\"command\":\"click\",\"args\":{{…}}}}]")
        })
    }
}

/// The answer to `batch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BatchAnswer {
    /// The number of commands that succeeded.
    pub succeeded: u32,
    /// The number of commands that failed.
    pub failed: u32,
    /// The number of commands that were not run.
    pub skipped: u32,
    /// The answers, each with its `index` instead of an `id`.
    pub results: Vec<serde_json::Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str, args: &str) -> Command {
        Command::parse(name, Some(&RawValue::from_string(args.to_owned()).unwrap())).unwrap()
    }

    #[test]
    fn a_command_takes_the_app_of_its_batch_unless_it_names_one() {
        for (name, args, named) in [
            ("click", r#"{"target":"a"}"#, r#"{"target":"a","app":"Notes"}"#),
            ("click", r#"{"target":"a","app":"Form"}"#, r#"{"target":"a","app":"Form"}"#),
            ("find", r#"{"selector":"a"}"#, r#"{"selector":"a","app":"Notes"}"#),
            ("look", "{}", r#"{"app":"Notes"}"#),
            ("list-apps", "{}", "{}"),
        ] {
            let mut command = parsed(name, args);
            command.default_app("Notes");
            assert_eq!(command.args().unwrap().get(), named);
        }
    }

    #[test]
    fn what_the_command_line_calls_an_argument_is_understood_on_the_wire() {
        for (name, documented, wire) in [
            ("press", r#"{"keys":"ctrl+s"}"#, r#"{"combo":"ctrl+s"}"#),
            ("key-down", r#"{"keys":"shift"}"#, r#"{"combo":"shift"}"#),
            ("key-up", r#"{"keys":"shift"}"#, r#"{"combo":"shift"}"#),
            ("select", r#"{"target":"list","item":3}"#, r#"{"target":"list","value":3}"#),
            ("hello", r#"{"name":"me"}"#, r#"{"client":"me"}"#),
        ] {
            assert_eq!(parsed(name, documented), parsed(name, wire), "{name}");
        }
    }
}
