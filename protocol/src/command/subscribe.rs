//! Subscribing to changes.

use serde::{Deserialize, Serialize};

use crate::change::Field;
use crate::clock::Clock;
use crate::event::EventKind;
use crate::role::Role;

/// Stream changes as they happen.
///
/// Runs until interrupted (on the wire, until the request is cancelled). A slow reader misses no change: changes it did not
/// read in time are merged into fewer lines.
///
/// Examples:
///   ax watch --app Notes
///   ax watch --kind focus --kind window-opened
///   ax subscribe --app Notes --snapshot --json
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Subscribe {
    /// Only this app [default: every attached app].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Only changes in this element and its descendants.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TARGET"))]
    pub within: Option<String>,
    /// Only changes of elements of these roles.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "ROLE"))]
    pub role: Vec<Role>,
    /// Only these kinds of events.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "KIND", value_enum))]
    pub kind: Vec<EventKind>,
    /// Only changes of these fields.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD", value_enum, value_delimiter = ','))]
    pub fields: Vec<Field>,
    /// Start with what changed since this clock.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLOCK"))]
    pub since: Option<Clock>,
    /// Time to collect changes before sending them, in ms.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub coalesce_ms: Option<u64>,
    /// Without what followed actions of this client, or of the same agent over another connection. What comes together with a change
    /// of somebody else is sent.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub not_mine: bool,
    /// Start with the full tree.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub snapshot: bool,
}

/// The answer to `subscribe`; the events follow it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubscribeAnswer {
    /// The number that the subscription's events have.
    pub sub: u64,
}
