//! Commands about the daemon itself.

use serde::{Deserialize, Serialize};

use super::PolicyStatus;
use crate::app::AppInfo;
use crate::clock::Clock;

/// Show the daemon's apps, clients and memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status {}

/// The answer to `status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusAnswer {
    /// The id of the daemon's process.
    pub pid: u32,
    /// The daemon's version.
    pub daemon: String,
    /// The path of its socket.
    pub socket: String,
    /// The path of its log; absent if it logs to a terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// The time since it started, in ms.
    pub uptime_ms: u64,
    /// The time without a client after which it exits, in seconds; absent if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_exit_s: Option<u64>,
    /// The attached apps.
    pub apps: Vec<AppStatus>,
    /// The connected clients.
    pub clients: Vec<ClientStatus>,
    /// The keys and buttons that are held down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldInputStatus>,
    /// The policy in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyStatus>,
    /// The state of the audit log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditStatus>,
    /// That everything that acts is stopped, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<super::PauseStatus>,
}

/// Whether actions leave their lines in the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditStatus {
    /// Why lines cannot be written; absent if they can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// The number of lines written since the daemon started.
    pub written: u64,
    /// The number of lines lost since then.
    pub lost: u64,
}

/// A key or button that is held down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldInputStatus {
    /// The name of the key or button.
    pub what: String,
    /// The client that holds it.
    pub client: u64,
    /// The time until it is released, in ms.
    pub left_ms: u64,
}

/// An action in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActionStatus {
    /// The client that sent it.
    pub client: u64,
    /// The name of the command.
    pub command: String,
    /// The time since it started, in ms.
    pub for_ms: u64,
    /// The number of actions that wait for it.
    pub waiting: u32,
}

/// An attached app.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppStatus {
    /// The app.
    #[serde(flatten)]
    pub app: AppInfo,
    /// Why it is degraded, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub degraded: Option<String>,
    /// The action in progress, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acting: Option<ActionStatus>,
    /// Whether the complete tree has been read.
    pub complete: bool,
    /// The number of elements in the tree.
    pub nodes: u32,
    /// The approximate memory that they take, in bytes.
    pub bytes: u64,
    /// The number of notifications from the app.
    pub events: u64,
    /// How many of these said that an element was destroyed. That an app accepts an observer for them does not mean that it sends
    /// them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub destroyed: u64,
    /// The number of calls to the app.
    pub calls: u64,
    /// The number of changes that the app did not announce and that reading again found.
    pub missed: u64,
    /// The number of elements that the app described in an impossible way, and that were read again.
    pub suspect: u64,
    /// The clock of its last change.
    pub clock: Clock,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A connected client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientStatus {
    /// The connection's number.
    pub client: u64,
    /// The name that it gave in `hello`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The agent it works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The id of its process, if the system reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The time since it connected, in ms.
    pub connected_ms: u64,
    /// The number of requests that it sent.
    pub requests: u64,
    /// The number of requests in progress.
    pub pending: u32,
    /// The number of its subscriptions.
    pub subscriptions: u32,
}

/// Diagnose this machine: what works, what is missing, and how to fix it.
///
/// Also works without a daemon, and then reports why it cannot run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doctor {}

/// The answer to `doctor`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorAnswer {
    /// Whether everything that is required works.
    pub healthy: bool,
    /// The results of the checks.
    pub checks: Vec<Finding>,
}

impl DoctorAnswer {
    /// The answer for these check results.
    pub fn of(checks: Vec<Finding>) -> DoctorAnswer {
        DoctorAnswer { healthy: checks.iter().all(|check| check.verdict != Verdict::Missing), checks }
    }
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What was checked.
    pub what: String,
    /// Whether it works.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// Whether something works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Verdict {
    /// It works.
    Ok,
    /// It works, with limits.
    Limited,
    /// It is required and does not work.
    Missing,
}

impl Finding {
    /// The result for something that works.
    pub fn ok(what: &str, found: impl Into<String>) -> Finding {
        Finding { what: what.to_owned(), verdict: Verdict::Ok, found: found.into(), remedy: None }
    }

    /// The result for something that works with limits.
    pub fn limited(what: &str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        let verdict = Verdict::Limited;
        Finding { what: what.to_owned(), verdict, found: found.into(), remedy: Some(remedy.into()) }
    }

    /// The result for something that is required and does not work.
    pub fn missing(what: &str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        let verdict = Verdict::Missing;
        Finding { what: what.to_owned(), verdict, found: found.into(), remedy: Some(remedy.into()) }
    }
}

/// Show which permissions axd has and which are missing.
///
/// macOS requires permission to read apps and to capture the screen. Other desktops require none.
///
/// Example:
///   ax permissions --request
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Permissions {
    /// Ask the user for missing permissions with the system's dialog.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub request: bool,
}

/// The answer to `permissions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PermissionsAnswer {
    /// Whether all of them are granted.
    pub granted: bool,
    /// The permissions that the system requires; most systems require none.
    pub permissions: Vec<Permission>,
}

/// A permission that the user must grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Permission {
    /// The system's name for it.
    pub name: String,
    /// Whether it is granted.
    pub granted: bool,
    /// Whether it is granted, missing, or granted to another build of the program.
    pub state: PermissionState,
    /// The program or app that needs it.
    pub program: String,
    /// What it is needed for.
    pub needed_for: String,
    /// What to do, if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// The state of a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PermissionState {
    /// It is granted.
    Granted,
    /// It is not granted.
    Missing,
    /// It is granted, but to another build of the program, so that it has no effect.
    OtherBuild,
}

/// Show the daemon's version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Version {}

/// The answer to `version`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VersionAnswer {
    /// The daemon's version.
    pub daemon: String,
    /// The version of the protocol that it uses.
    pub protocol: String,
}

/// Identify a long-lived client.
///
/// Example:
///   ax hello my-script --agent claude
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hello {
    /// Name of the client.
    #[serde(alias = "name")]
    #[cfg_attr(feature = "cli", arg(value_name = "NAME"))]
    pub client: String,
    /// Agent it works for.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub agent: Option<String>,
}

/// The answer to `hello`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelloAnswer {
    /// The major version of the protocol that the daemon uses.
    pub protocol: u32,
    /// The daemon's version.
    pub version: String,
    /// The id of the daemon's process.
    pub pid: u32,
    /// The platform it runs on.
    pub platform: String,
    /// The features that the platform supports.
    pub capabilities: Vec<String>,
}

/// Cancel a request in progress on the same connection.
///
/// Useful in `ax pipe`: ends a wait, a subscription, or an action that has not been sent yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cancel {
    /// `id` of the request.
    #[cfg_attr(feature = "cli", arg(value_name = "ID", value_parser = request_id))]
    pub id: serde_json::Value,
}

/// Parses a request id from the command line: a number if it looks like one, otherwise a string.
#[cfg(feature = "cli")]
fn request_id(text: &str) -> Result<serde_json::Value, std::convert::Infallible> {
    Ok(text.parse::<i64>().map_or_else(|_| text.into(), Into::into))
}

/// The answer to `cancel`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CancelAnswer {
    /// Whether there was such a request.
    pub cancelled: bool,
}

/// Stop the daemon after it has answered the requests in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shutdown {}

/// The answer to `shutdown`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShutdownAnswer {
    /// The id of the process that is shutting down.
    pub pid: u32,
}
