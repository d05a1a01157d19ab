//! Waiting for something to be so, without looking again and again.

use serde::{Deserialize, Serialize};

use super::args;
use crate::app::WindowInfo;
use crate::clock::Clock;
use crate::event::{Event, EventKind, Observed};
use crate::node::NodeRef;

args! {
    /// Wait until something is so.
    ///
    /// Conditions are looked at whenever something changes. Several are to hold at once; with --any one is enough.
    ///
    /// Examples:
    ///   ax wait --for 'dialog:Saved'
    ///   ax wait --gone 'progressbar' --timeout 60000
    ///   ax wait --target 'checkbox:Ready' --state checked
    ///   ax wait --target textfield:Total --value-matches '^4[0-9]$'
    ///   ax wait --event dialog
    ///   ax wait 250
    struct Wait {
        /// So many milliseconds, whatever happens.
        optional ms: Option<u64> [value_name = "MS", value_parser = milliseconds],
        /// Until this selector matches something; may be repeated.
        optional r#for: Vec<String> [long, value_name = "SELECTOR"],
        /// Until this selector matches nothing; may be repeated.
        optional gone: Vec<String> [long, value_name = "SELECTOR"],
        /// The element that --state and --value are about: an id or a selector.
        optional target: Option<String> [long, value_name = "TARGET"],
        /// Until the target has this state, or with =false has it not.
        optional state: Option<String> [long, value_name = "STATE[=BOOL]", requires = "target"],
        /// Until the target has exactly this value.
        optional value: Option<String> [long, value_name = "TEXT", requires = "target", allow_hyphen_values = true],
        /// Until the target's value has this in it.
        optional value_contains: Option<String> [long, value_name = "TEXT", requires = "target", allow_hyphen_values = true],
        /// Until the target's value matches this regular expression.
        optional value_matches: Option<String> [long, value_name = "REGEX", requires = "target", allow_hyphen_values = true],
        /// Until there is a window whose title has this in it.
        optional window: Option<String> [long, value_name = "TITLE"],
        /// Until nothing has changed for --quiet-ms.
        optional idle: bool [long],
        /// Until this happens; may be repeated.
        optional event: Vec<EventKind> [long, value_name = "KIND", value_enum],
        /// In this app; the frontmost unless said. Selectors may name another: `application:Notes button:Save`.
        optional app: Option<String> [long, value_name = "APP"],
        /// One condition is enough.
        optional any: bool [long, conflicts_with = "all"],
        /// All conditions are to hold; so it is unless said.
        optional all: bool [long],
        /// How long to wait at most; 10,000 ms unless said.
        optional timeout: Option<u64> [long, value_name = "MS"],
        /// What is idle: 100 ms unless said.
        optional quiet_ms: Option<u64> [long, value_name = "MS"],
        /// Events since this clock count.
        optional since: Option<Clock> [long, value_name = "CLOCK"],
    }
}

/// Reads a time. A selector comes here easily, because all other commands have theirs without a word before it.
#[cfg(feature = "cli")]
fn milliseconds(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| {
        format!("that is no number of milliseconds; to wait for an element, write --for {text:?}")
    })
}

/// The answer to `wait`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitAnswer {
    /// The conditions that hold, as they were given.
    pub met: Vec<String>,
    /// How long it took.
    pub waited_ms: u64,
    /// How the last change came to be known.
    pub observed: Observed,
    /// What was found, of the conditions that find something.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<NodeRef>,
    /// The windows that came, of the conditions that wait for one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<WindowInfo>,
    /// What happened, of the conditions that wait for an event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
}
