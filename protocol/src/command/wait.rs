//! Waiting for conditions, without polling.

use serde::{Deserialize, Serialize};

use crate::app::WindowInfo;
use crate::clock::Clock;
use crate::event::{Event, EventKind, Observed};
use crate::node::NodeRef;

/// Wait for a condition.
///
/// Conditions are checked whenever something changes. All of them must hold at once; with --any, one is enough.
///
/// Examples:
///   ax wait --for 'dialog:Saved'
///   ax wait --gone 'progressbar' --timeout 60000
///   ax wait --target 'checkbox:Ready' --state checked
///   ax wait --target textfield:Total --value-matches '^4[0-9]$'
///   ax wait --event dialog
///   ax wait 250
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wait {
    /// Wait a fixed time, in ms.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "MS", value_parser = milliseconds))]
    pub ms: Option<u64>,
    /// Wait until this selector matches an element; may be repeated.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SELECTOR"))]
    pub r#for: Vec<String>,
    /// Wait until this selector matches no element; may be repeated.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SELECTOR"))]
    pub gone: Vec<String>,
    /// Element that --state and --value refer to: an id or a selector.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TARGET"))]
    pub target: Option<String>,
    /// Wait until the target has this state; with =false, until it does not.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "STATE[=BOOL]", requires = "target"))]
    pub state: Option<String>,
    /// Wait until the target has exactly this value.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "TEXT", requires = "target", allow_hyphen_values = true)
    )]
    pub value: Option<String>,
    /// Wait until the target's value contains this text.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "TEXT", requires = "target", allow_hyphen_values = true)
    )]
    pub value_contains: Option<String>,
    /// Wait until the target's value matches this regular expression.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "REGEX", requires = "target", allow_hyphen_values = true)
    )]
    pub value_matches: Option<String>,
    /// Wait until a window's title contains this text.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TITLE"))]
    pub window: Option<String>,
    /// Wait until nothing has changed for --quiet-ms.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub idle: bool,
    /// Wait for this event; may be repeated.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "KIND", value_enum))]
    pub event: Vec<EventKind>,
    /// App to look in [default: the frontmost]. A selector may name another: `application:Notes button:Save`.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Require one condition only.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "all"))]
    pub any: bool,
    /// Require all conditions (default).
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub all: bool,
    /// Maximum time to wait, in ms [default: 10000].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub timeout: Option<u64>,
    /// Time without changes that counts as idle, in ms [default: 100].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub quiet_ms: Option<u64>,
    /// Count events since this clock.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLOCK"))]
    pub since: Option<Clock>,
}

/// Parses a time. The error mentions --for, because all other commands take a selector in this position.
#[cfg(feature = "cli")]
fn milliseconds(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("not a number of milliseconds; to wait for an element, use --for {text:?}"))
}

/// The answer to `wait`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitAnswer {
    /// The conditions that hold, as they were given.
    pub met: Vec<String>,
    /// How long the wait took, in ms.
    pub waited_ms: u64,
    /// How the daemon learned of the last change.
    pub observed: Observed,
    /// The elements that met a condition on elements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// The windows that met a condition on windows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<WindowInfo>,
    /// The events that met a condition on events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
}
