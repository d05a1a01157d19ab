//! Being told of changes.

use serde::{Deserialize, Serialize};

use super::args;
use crate::change::Field;
use crate::clock::Clock;
use crate::event::EventKind;
use crate::role::Role;

args! {
    /// Be told what changes, as it changes.
    ///
    /// A stream until interrupted (or, on the wire, until its request is cancelled). A slow reader misses no change:
    /// what it did not read in time is folded into fewer lines.
    ///
    /// Examples:
    ///   ax watch --app Notes
    ///   ax watch --kind focus --kind window-opened
    ///   ax subscribe --app Notes --snapshot --json
    struct Subscribe {
        /// Only this app; without it, every attached app.
        optional app: Option<String> [long, value_name = "APP"],
        /// Only changes in this element and below it.
        optional within: Option<String> [long, value_name = "TARGET"],
        /// Only changes of elements of these roles.
        optional role: Vec<Role> [long, value_name = "ROLE"],
        /// Only these kinds of events.
        optional kind: Vec<EventKind> [long, value_name = "KIND", value_enum],
        /// Only changes of these fields.
        optional fields: Vec<Field> [long, value_name = "FIELD", value_enum, value_delimiter = ','],
        /// First what changed since this clock.
        optional since: Option<Clock> [long, value_name = "CLOCK"],
        /// Collect changes for so long before telling them.
        optional coalesce_ms: Option<u64> [long, value_name = "MS"],
        /// First the whole tree.
        optional snapshot: bool [long],
    }
}

/// The answer to `subscribe`; the events follow it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubscribeAnswer {
    /// The number under which the events come.
    pub sub: u64,
}
