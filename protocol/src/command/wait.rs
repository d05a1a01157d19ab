//! Waiting for conditions, without polling.

use serde::{Deserialize, Serialize};

use super::args;
use crate::app::WindowInfo;
use crate::clock::Clock;
use crate::event::{Event, EventKind, Observed};
use crate::node::NodeRef;

args! {
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
    struct Wait {
        /// Wait a fixed time, in ms.
        optional ms: Option<u64> [value_name = "MS", value_parser = milliseconds],
        /// Wait until this selector matches an element; may be repeated.
        optional r#for: Vec<String> [long, value_name = "SELECTOR"],
        /// Wait until this selector matches no element; may be repeated.
        optional gone: Vec<String> [long, value_name = "SELECTOR"],
        /// Element that --state and --value refer to: an id or a selector.
        optional target: Option<String> [long, value_name = "TARGET"],
        /// Wait until the target has this state; with =false, until it does not.
        optional state: Option<String> [long, value_name = "STATE[=BOOL]", requires = "target"],
        /// Wait until the target has exactly this value.
        optional value: Option<String> [long, value_name = "TEXT", requires = "target", allow_hyphen_values = true],
        /// Wait until the target's value contains this text.
        optional value_contains: Option<String> [long, value_name = "TEXT", requires = "target", allow_hyphen_values = true],
        /// Wait until the target's value matches this regular expression.
        optional value_matches: Option<String> [long, value_name = "REGEX", requires = "target", allow_hyphen_values = true],
        /// Wait until a window's title contains this text.
        optional window: Option<String> [long, value_name = "TITLE"],
        /// Wait until nothing has changed for --quiet-ms.
        optional idle: bool [long],
        /// Wait for this event; may be repeated.
        optional event: Vec<EventKind> [long, value_name = "KIND", value_enum],
        /// App to look in [default: the frontmost]. A selector may name another: `application:Notes button:Save`.
        optional app: Option<String> [long, value_name = "APP"],
        /// Require one condition only.
        optional any: bool [long, conflicts_with = "all"],
        /// Require all conditions (default).
        optional all: bool [long],
        /// Maximum time to wait, in ms [default: 10000].
        optional timeout: Option<u64> [long, value_name = "MS"],
        /// Time without changes that counts as idle, in ms [default: 100].
        optional quiet_ms: Option<u64> [long, value_name = "MS"],
        /// Count events since this clock.
        optional since: Option<Clock> [long, value_name = "CLOCK"],
    }
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
