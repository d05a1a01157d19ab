//! Subscribing to changes.

use serde::{Deserialize, Serialize};

use super::args;
use crate::change::Field;
use crate::clock::Clock;
use crate::event::EventKind;
use crate::role::Role;

args! {
    /// Stream changes as they happen.
    ///
    /// Runs until interrupted (on the wire, until the request is cancelled). A slow reader misses no change: changes it did not
    /// read in time are merged into fewer lines.
    ///
    /// Examples:
    ///   ax watch --app Notes
    ///   ax watch --kind focus --kind window-opened
    ///   ax subscribe --app Notes --snapshot --json
    struct Subscribe {
        /// Only this app [default: every attached app].
        optional app: Option<String> [long, value_name = "APP"],
        /// Only changes in this element and its descendants.
        optional within: Option<String> [long, value_name = "TARGET"],
        /// Only changes of elements of these roles.
        optional role: Vec<Role> [long, value_name = "ROLE"],
        /// Only these kinds of events.
        optional kind: Vec<EventKind> [long, value_name = "KIND", value_enum],
        /// Only changes of these fields.
        optional fields: Vec<Field> [long, value_name = "FIELD", value_enum, value_delimiter = ','],
        /// Start with what changed since this clock.
        optional since: Option<Clock> [long, value_name = "CLOCK"],
        /// Time to collect changes before sending them, in ms.
        optional coalesce_ms: Option<u64> [long, value_name = "MS"],
        /// Start with the full tree.
        optional snapshot: bool [long],
    }
}

/// The answer to `subscribe`; the events follow it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubscribeAnswer {
    /// The number that the subscription's events have.
    pub sub: u64,
}
