//! Approving what the policy asks about, and stopping everything.

use serde::{Deserialize, Serialize};

use crate::node::NodeRef;

/// List the requests that wait for approval, and be asked about those to come.
///
/// From the first call until it disconnects a client counts as one that approves: requests about which the policy asks wait for
/// it instead of being refused at once. `ax approve` does this on a terminal.
///
/// Example:
///   ax approvals --wait-ms 25000
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approvals {
    /// Only those with a number greater than this.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NUMBER"))]
    pub after: Option<u64>,
    /// Maximum time to wait until there is one, in ms [default: 0].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub wait_ms: Option<u64>,
    /// Only those of clients with this process id. Requests of others do not wait for this client.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PID"))]
    pub of_pid: Option<u32>,
}

/// The answer to `approvals`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApprovalsAnswer {
    /// The requests that wait, the oldest first.
    pub approvals: Vec<Approval>,
}

/// A request that waits for approval: what would be done, where, and for whom.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approval {
    /// Its number.
    pub approval: u64,
    /// The command.
    pub command: String,
    /// The number of the client that sent it.
    pub client: u64,
    /// The name that the client gave itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    /// The agent that it says it works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The client's process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_pid: Option<u32>,
    /// The rule that asks.
    pub rule: String,
    /// Why it asks.
    pub reason: String,
    /// The name of the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// The app's process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The title of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The element.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<NodeRef>,
    /// The keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
    /// The text, unless it is for a field that hides what is typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The program that would be launched, and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launch: Vec<String>,
    /// How long it still waits, in ms.
    pub left_ms: u64,
}

/// What becomes of a request that waits for approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ApprovalVerdict {
    /// It is done.
    Allow,
    /// It is not done.
    Deny,
}

/// Approve or deny a request that waits for it.
///
/// Examples:
///   ax decide 3 allow
///   ax decide 3 allow --always
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decide {
    /// Number of the request, as `ax approvals` shows it.
    #[serde(alias = "number")]
    #[cfg_attr(feature = "cli", arg(value_name = "NUMBER"))]
    pub approval: u64,
    /// What becomes of it.
    #[cfg_attr(feature = "cli", arg(value_name = "VERDICT", value_enum))]
    pub verdict: ApprovalVerdict,
    /// Also allow what the same rule asks about later, until the client that sent it disconnects.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub always: bool,
}

/// The answer to `decide`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DecideAnswer {
    /// The number of the request.
    pub approval: u64,
    /// What becomes of it.
    pub verdict: ApprovalVerdict,
}

/// Stop all input at once.
///
/// Actions in progress end, what is held down is released, and everything that acts is refused until `ax resume`. Reading goes
/// on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pause {
    /// Reason, which clients are told.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub reason: Option<String>,
}

/// The answer to `pause`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PauseAnswer {
    /// Whether it was paused already.
    pub was_paused: bool,
    /// The actions that were in progress.
    pub stopped: Vec<StoppedAction>,
    /// The keys and buttons that were held down, and were released.
    pub released: Vec<String>,
}

/// An action that was in progress when everything was stopped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoppedAction {
    /// The number of the client that sent it.
    pub client: u64,
    /// The name that the client gave itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_name: Option<String>,
    /// The agent that it says it works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The client's process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_pid: Option<u32>,
    /// The command.
    pub command: String,
    /// How long it had been running, in ms.
    pub for_ms: u64,
    /// Whether anything of it had been sent.
    pub sent: bool,
}

/// Allow actions again after `ax pause`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Resume {}

/// The answer to `resume`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResumeAnswer {
    /// How long it was paused, in ms; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_ms: Option<u64>,
}

/// That everything is paused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PauseStatus {
    /// The client that paused it.
    pub client: u64,
    /// The reason, if it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For how long, in ms.
    pub for_ms: u64,
}
