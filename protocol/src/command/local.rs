//! Commands that `ax` runs without the daemon.

use serde::{Deserialize, Serialize};

/// Send requests from standard input, one JSON object a line, and print the answers.
///
/// Uses one connection, so ids, subscriptions and `cancel` work as on the socket. Ends when the input has ended and all requests
/// are answered; with an open subscription, when interrupted.
///
/// Example:
///   echo '{"id":1,"command":"get","args":{"target":"button:7"}}' | ax pipe
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pipe {}

/// Print the JSON Schema of a command, or the reference of all of them.
///
/// Examples:
///   ax schema snapshot
///   ax schema roles
///   ax schema --markdown > docs/commands.md
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Schema {
    /// Command, or one of `answer`, `event`, `error`, `node`, `roles`, `states`, `selector` [default: all commands].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "TOPIC"))]
    pub topic: Option<String>,
    /// Print the reference page instead.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "topic"))]
    pub markdown: bool,
}

/// Take a tour on the built-in desktop, with a daemon of its own.
///
/// Everything it shows is executed as shown. Does not touch your apps or a running daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Demo {}

/// Measure on a Mac what calls cost, which notifications arrive and which texts, with a window of axd's own.
///
/// Opens a small window for a few seconds. Needs no permission, because a program may read itself. Does not touch your apps or a running daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Selftest {}

/// Run axd as a service of your desktop session.
///
/// As a service, axd runs from login to logout, is restarted after a crash, and does not exit when idle.
/// On Linux it is a systemd user unit, on macOS a launchd agent. Root is not needed. Repeating a command is harmless.
///
/// `install` takes over --platform and --socket for the service.
///
/// Examples:
///   ax service install --dry-run
///   ax service install --socket-activation
///   ax service status
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Service {
    /// Action.
    #[cfg_attr(feature = "cli", arg(value_name = "ACTION"))]
    pub action: ServiceAction,
    /// For `install` and `print`: the system listens and starts axd on the first connection.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub socket_activation: bool,
    /// Show what would be done without doing it.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
    /// Accept an axd in a build folder; replace or remove unit files not written by `ax service`.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
}

/// An action of `ax service`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ServiceAction {
    /// Install it, enable it to start with the session, and start it
    Install,
    /// Stop it and remove it
    Uninstall,
    /// Start it now
    Start,
    /// Stop it, until the next login or `start`
    Stop,
    /// Show whether it is installed, enabled and active
    Status,
    /// Print the files that `install` writes
    Print,
}

/// The answer to `service`: the state of the service after the action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServiceAnswer {
    /// The action.
    pub action: ServiceAction,
    /// The service manager: `systemd` or `launchd`.
    pub manager: String,
    /// The state of the service; absent for `print`, which does not query it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceState>,
    /// For `print`: the files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ServiceFile>,
    /// Whether the steps are only what would be done.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub dry_run: bool,
    /// The steps that were done, in this order; empty if there was nothing to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<String>,
    /// Additional remarks for the reader.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The state of the service.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServiceState {
    /// Whether the service manager knows the service.
    pub installed: bool,
    /// Whether it starts automatically: with the session, or with socket activation on the first connection.
    pub enabled: bool,
    /// Whether the daemon runs as the service.
    pub active: bool,
    /// The service manager's state: `active`, `inactive` or `failed`.
    pub state: String,
    /// The id of the daemon's process, if it runs as the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Whether the system listens instead of the daemon, and starts it on the first connection.
    pub socket_activation: bool,
    /// Whether the system is listening now.
    pub listening: bool,
    /// The path of the unit file, if the service is installed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// A file that `ax service install` writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServiceFile {
    /// The path.
    pub path: String,
    /// The content.
    pub text: String,
}
