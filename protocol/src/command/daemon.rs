//! The daemon itself.

use serde::{Deserialize, Serialize};

use super::args;
use crate::app::AppInfo;
use crate::clock::Clock;

args! {
    /// Show the daemon's apps, clients and memory.
    struct Status {}
}

/// The answer to `status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusAnswer {
    /// The daemon's process.
    pub pid: u32,
    /// The daemon's version.
    pub daemon: String,
    /// Where it listens.
    pub socket: String,
    /// Where it logs; absent when it logs to its terminal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// How long it has been up.
    pub uptime_ms: u64,
    /// After how long without a client it exits; absent if never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_exit_s: Option<u64>,
    /// The apps it holds.
    pub apps: Vec<AppStatus>,
    /// The clients it serves.
    pub clients: Vec<ClientStatus>,
    /// The keys and buttons that are held down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldStatus>,
}

/// A key or button that is held down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldStatus {
    /// Which.
    pub what: String,
    /// By which client.
    pub client: u64,
    /// After how long it is let go of.
    pub left_ms: u64,
}

/// An action under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActingStatus {
    /// By which client.
    pub client: u64,
    /// What it does.
    pub command: String,
    /// For how long.
    pub for_ms: u64,
    /// How many actions wait behind it.
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
    /// Who acts on it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acting: Option<ActingStatus>,
    /// Whether its whole tree has been read.
    pub complete: bool,
    /// How many elements are held.
    pub nodes: u32,
    /// How much memory they take, about.
    pub bytes: u64,
    /// How many notifications came from it.
    pub events: u64,
    /// How many calls were made to it.
    pub calls: u64,
    /// How many changes no notification told of, found by reading again.
    pub missed: u64,
    /// How many elements were told of in a way that cannot be, and read again.
    pub suspect: u64,
    /// The clock of its last change.
    pub clock: Clock,
}

/// A connected client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientStatus {
    /// The connection's number.
    pub client: u64,
    /// What it called itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The agent it works for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Its process, where the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// How long it has been connected.
    pub connected_ms: u64,
    /// How many requests it sent.
    pub requests: u64,
    /// How many of them are under way.
    pub pending: u32,
    /// How many subscriptions it holds.
    pub subscriptions: u32,
}

args! {
    /// Diagnose this machine: what works, what is missing, and how to fix it.
    ///
    /// Also works without a daemon, and then reports why it cannot run.
    struct Doctor {}
}

/// The answer to `doctor`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorAnswer {
    /// Whether nothing that is needed is missing.
    pub healthy: bool,
    /// What was looked at.
    pub checks: Vec<Finding>,
}

impl DoctorAnswer {
    /// The answer that these checks make.
    pub fn of(checks: Vec<Finding>) -> DoctorAnswer {
        DoctorAnswer { healthy: checks.iter().all(|check| check.verdict != Verdict::Missing), checks }
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// What was looked at.
    pub what: String,
    /// How it is.
    pub verdict: Verdict,
    /// What was found.
    pub found: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// It works, with limits.
    Limited,
    /// Something that is needed is not there.
    Missing,
}

impl Finding {
    /// Something that is as it should be.
    pub fn ok(what: &str, found: impl Into<String>) -> Finding {
        Finding { what: what.to_owned(), verdict: Verdict::Ok, found: found.into(), remedy: None }
    }

    /// Something that works with limits.
    pub fn limited(what: &str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        let verdict = Verdict::Limited;
        Finding { what: what.to_owned(), verdict, found: found.into(), remedy: Some(remedy.into()) }
    }

    /// Something that is needed and not there.
    pub fn missing(what: &str, found: impl Into<String>, remedy: impl Into<String>) -> Finding {
        let verdict = Verdict::Missing;
        Finding { what: what.to_owned(), verdict, found: found.into(), remedy: Some(remedy.into()) }
    }
}

args! {
    /// Show which permissions axd has and which are missing.
    ///
    /// macOS requires permission to read apps and to capture the screen. Other desktops require none.
    ///
    /// Example:
    ///   ax permissions --request
    struct Permissions {
        /// Ask the user for missing permissions with the system's dialog.
        optional request: bool [long],
    }
}

/// The answer to `permissions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PermissionsAnswer {
    /// Whether nothing is missing.
    pub granted: bool,
    /// What the desktop asks for; nothing on most.
    pub permissions: Vec<Permission>,
}

/// Something that the user has to allow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Permission {
    /// What the system calls it.
    pub name: String,
    /// Whether it is allowed.
    pub granted: bool,
    /// The program that it is allowed to.
    pub program: String,
    /// What it is needed for.
    pub needed_for: String,
    /// What to do, if it is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

args! {
    /// Show the daemon's version.
    struct Version {}
}

/// The answer to `version`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VersionAnswer {
    /// The daemon's version.
    pub daemon: String,
    /// The protocol it speaks.
    pub protocol: String,
}

args! {
    /// Identify a long-lived client.
    ///
    /// Example:
    ///   ax hello my-script --agent claude
    struct Hello {
        /// Name of the client.
        required client: String [value_name = "NAME"],
        /// Agent it works for.
        optional agent: Option<String> [long, value_name = "NAME"],
    }
}

/// The answer to `hello`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HelloAnswer {
    /// The major of the protocol the daemon speaks.
    pub protocol: u32,
    /// The daemon's version.
    pub version: String,
    /// The daemon's process.
    pub pid: u32,
    /// The platform it runs on.
    pub platform: String,
    /// What the platform offers.
    pub capabilities: Vec<String>,
}

args! {
    /// Cancel a request in progress on the same connection.
    ///
    /// Useful in `ax pipe`: ends a wait, a subscription, or an action that has not been sent yet.
    struct Cancel {
        /// `id` of the request.
        required id: serde_json::Value [value_name = "ID", value_parser = request_id],
    }
}

/// Reads a request id off the command line: a number if it looks like one.
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

args! {
    /// Stop the daemon after it has answered the requests in progress.
    struct Shutdown {}
}

/// The answer to `shutdown`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShutdownAnswer {
    /// The process that is going down.
    pub pid: u32,
}
