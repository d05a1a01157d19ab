//! Running several commands in one request.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Run several commands in one request, in order.
///
/// All commands are validated before the first one runs. A command may use the answer of an earlier one: "$0.matches.0.id" is
/// the id of the first match of the first command. A wait for an event counts events since before the previous action.
///
/// Examples:
///   ax batch '[{"command":"click","args":{"target":"button:New"}},{"command":"type","args":{"text":"hello"}}]'
///   ax batch - < form.json
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Batch {
    /// JSON list of {"command", "args"}; `-` reads it from standard input.
    #[cfg_attr(feature = "cli", arg(value_name = "ITEMS|-"))]
    pub items: BatchItems,
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
