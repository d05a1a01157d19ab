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

/// Approve or deny, on this terminal, what the policy asks about.
///
/// Shows each request that waits for approval: what would be done, where, and for whom. What is not answered is not done. `ax
/// approvals` and `ax decide` are the same for programs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Approve {}

/// Show or verify the audit log.
///
/// axd writes a line for every action, picture, use of the clipboard, launch and denial. Each line holds the SHA-256 of the line
/// before it, so that a line that was changed, removed or moved shows. Needs no daemon.
///
/// Examples:
///   ax audit show --since 2h
///   ax audit show --client my-agent --limit 20
///   ax audit verify
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Audit {
    /// Action.
    #[cfg_attr(feature = "cli", arg(value_name = "ACTION"))]
    pub action: AuditAction,
    /// For `show`: only what is newer: 30s, 10m, 2h, 7d.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "AGE"))]
    pub since: Option<String>,
    /// For `show`: only lines of this client: its number, its name, its process id or its agent.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLIENT"))]
    pub client: Option<String>,
    /// For `show`: the maximum number of lines, the newest ones [default: 100].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub limit: Option<usize>,
}

/// An action of `ax audit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AuditAction {
    /// Show the newest lines
    Show,
    /// Check that no line was changed, removed or moved
    Verify,
}

/// The answer to `audit`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuditAnswer {
    /// The folder of the files.
    pub folder: String,
    /// The number of files.
    pub files: usize,
    /// The number of the first line that is kept.
    pub first: u64,
    /// The number of the last line.
    pub last: u64,
    /// The hash of the last line. Whoever keeps it elsewhere can tell later whether the end was cut off.
    pub hash: String,
    /// With `verify`: whether the chain is whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intact: Option<bool>,
    /// With `verify`: what is wrong with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
    /// With `show`: the lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<serde_json::Value>,
}

/// Serve AI agents over the Model Context Protocol (MCP), on standard input and output.
///
/// Runs `ax-mcp`, which is beside `ax`. MCP clients start it themselves; `install` enters it into a client's configuration. The
/// agents' twelve tools are described in docs/mcp.md.
///
/// Examples:
///   ax mcp install --client claude-code
///   ax mcp install --client cursor --print
///   ax mcp --tools windows,clipboard
///   ax mcp --profile strobe
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Mcp {
    /// Action.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "ACTION", default_value = "serve"))]
    pub action: McpAction,
    /// More tools than the default twelve; several with commas between.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SET", value_enum, value_delimiter = ','))]
    pub tools: Vec<McpToolSet>,
    /// Serve the tools of another design in place of axd's own.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "PROFILE", value_enum, default_value = "axd"))]
    pub profile: McpProfile,
    /// For `install`: the client.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLIENT", value_enum))]
    pub client: Option<McpClient>,
    /// For `install`: print what to write and where, and write nothing.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub print: bool,
}

/// An action of `ax mcp`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum McpAction {
    /// Serve the client that started it
    #[default]
    Serve,
    /// Enter the server into the configuration of a client
    Install,
}

/// A set of tools of `ax mcp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum McpToolSet {
    /// Pointer and keys one by one, native actions
    Input,
    /// Moving, resizing, minimizing and maximizing windows; displays
    Windows,
    /// The clipboard
    Clipboard,
    /// Following events
    Watch,
    /// All of them
    All,
}

/// The tools that `ax mcp` serves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum McpProfile {
    /// axd's own
    #[default]
    Axd,
    /// debug_launch, debug_ui and debug_ui_action
    Strobe,
    /// desktop_snapshot and 28 others: one for each command of agent-desktop
    AgentDesktop,
    /// ui_capture, ui_click and six others; off until the policy file enables them
    Thuvu,
}

/// A client whose configuration `ax mcp install` knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum McpClient {
    /// Claude Code
    ClaudeCode,
    /// Claude Desktop
    ClaudeDesktop,
    /// Codex CLI
    Codex,
    /// Cursor
    Cursor,
    /// Gemini CLI
    Gemini,
    /// Visual Studio Code
    Vscode,
    /// Windsurf
    Windsurf,
    /// Zed
    Zed,
}

/// Print a guide to axd for AI models.
///
/// Example:
///   ax skills get
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skills {
    /// Action.
    #[cfg_attr(feature = "cli", arg(value_name = "ACTION"))]
    pub action: SkillsAction,
}

/// An action of `ax skills`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SkillsAction {
    /// Print the guide
    Get,
}

/// The answer to `skills`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkillsAnswer {
    /// The guide, in Markdown.
    pub guide: String,
}
