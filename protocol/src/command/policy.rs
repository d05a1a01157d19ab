//! What the policy allows: asking it without doing anything, and showing it.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::BatchItem;
use crate::node::NodeRef;

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PolicyVerdict {
    /// It is done.
    Allow,
    /// It is done if somebody approves it.
    Ask,
    /// It is not done.
    Deny,
}

impl PolicyVerdict {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            PolicyVerdict::Allow => "allow",
            PolicyVerdict::Ask => "ask",
            PolicyVerdict::Deny => "deny",
        }
    }
}

/// Tell what the policy decides about a command, without executing it.
///
/// The app, window and element are those that the command would be about now. `ax policy check` takes the command as words.
///
/// Example:
///   ax policy-check '{"command":"click","args":{"target":"button:Pay","app":"Bank"}}'
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyCheck {
    /// The command, as JSON: {"command", "args"}.
    #[cfg_attr(feature = "cli", arg(value_name = "REQUEST"))]
    pub request: BatchItem,
    /// Name of the client that would send it [default: yours].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub client: Option<String>,
    /// Agent that the client would work for [default: yours].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub agent: Option<String>,
    /// Title that the window would have [default: the one it has].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TITLE"))]
    pub window: Option<String>,
}

impl FromStr for BatchItem {
    type Err = String;

    fn from_str(text: &str) -> Result<BatchItem, String> {
        serde_json::from_str(text).map_err(|error| {
            format!("not a command ({error}); write {{\"command\":\"click\",\"args\":{{…}}}}")
        })
    }
}

/// The answer to `policy-check`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyCheckAnswer {
    /// The command.
    pub command: String,
    /// What becomes of it.
    pub verdict: PolicyVerdict,
    /// The rule that decides: one of the file, a built-in one, or `default`.
    pub rule: String,
    /// The line of the rule in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The reason; empty if it is allowed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// What to do instead.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instead: String,
    /// All rules that matched.
    pub matched: Vec<PolicyMatch>,
    /// The rules that restrict it, too, if what is not known yet turns out so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub possible: Vec<PolicyMatch>,
    /// The name of the app that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// The title of the window that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// The element that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<NodeRef>,
    /// Why the app, window or element was not found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_found: Option<String>,
    /// What the decision may depend on and is not known yet, such as `window`. It is decided again when it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// A rule that matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyMatch {
    /// Its name.
    pub rule: String,
    /// Its line in the file; absent for built-in rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What it says.
    pub verdict: PolicyVerdict,
}

/// Show the policy in force: its file, whether that can be used, and its rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyShow {}

/// Where the policy in force comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyStatus {
    /// The path of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Whether the file is in force, as it is now or as it was when it was last correct.
    pub in_force: bool,
    /// Why the file as it is now is not in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether nothing acts, because the file has never been correct.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub refuses: bool,
    /// The number of rules of the file.
    pub rules: usize,
    /// The number of versions of the file that have come into force since the daemon started.
    pub versions: u64,
}

/// The answer to `policy-show`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyShowAnswer {
    /// Where it comes from.
    #[serde(flatten)]
    pub status: PolicyStatus,
    /// What becomes of a request that no rule matches.
    pub default: PolicyVerdict,
    /// `normal`, or `observe-only`: nothing acts.
    pub mode: String,
    /// What becomes of an action on an app whose process nobody knows.
    pub unknown_apps: PolicyVerdict,
    /// The titles of windows that get no input and are in no picture.
    pub blocked_windows: Vec<String>,
    /// The titles of windows that are not read either.
    pub hidden_windows: Vec<String>,
    /// The combinations of keys that are blocked, and why.
    pub blocked_keys: Vec<BlockedKeys>,
    /// The combinations that are allowed although they contain a blocked one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_keys: Vec<String>,
    /// The programs that the file protects, besides the built-in ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protected_programs: Vec<String>,
    /// The programs that the file takes off the built-in list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unprotected_programs: Vec<String>,
    /// The programs of the built-in list.
    pub builtin_programs: Vec<String>,
    /// The most characters that are entered at once.
    pub text_chars: usize,
    /// The most pictures in a minute; absent if there may be any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captures_per_minute: Option<u32>,
    /// The most actions in a minute; absent if there may be any number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actions_per_minute: Option<u32>,
    /// How long a request waits for approval, in seconds.
    pub ask_timeout_s: u64,
    /// Whether nothing acts while the audit cannot be written.
    pub audit_required: bool,
    /// The settings of the profile `thuvu`.
    pub thuvu: ThuvuSettings,
    /// The rules of the file, in its order.
    pub file_rules: Vec<FileRule>,
    /// The built-in rules, in the order in which they are asked.
    pub builtin_rules: Vec<BuiltinRule>,
}

/// The settings of the profile `thuvu`, for the server that offers its tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThuvuSettings {
    /// Whether its tools are offered at all.
    pub enabled: bool,
    /// Whether a person must approve each capture.
    pub require_approval_for_capture: bool,
    /// Whether a person must approve each input.
    pub require_approval_for_input: bool,
    /// A window's title must match one of these.
    pub allowed_window_patterns: Vec<String>,
    /// A window's title must match none of these.
    pub blocked_window_patterns: Vec<String>,
    /// The most captures in a minute.
    pub max_captures_per_minute: u32,
    /// Whether each call leaves a line in its log.
    pub log_all_actions: bool,
    /// The file of this log; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_file: Option<String>,
}

/// A combination of keys that is blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockedKeys {
    /// The combination.
    pub keys: String,
    /// What it does.
    pub what: String,
}

/// A rule of the policy file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileRule {
    /// Its name.
    pub name: String,
    /// Its line.
    pub line: usize,
    /// What becomes of the requests that it matches.
    pub verdict: PolicyVerdict,
    /// The reason that it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its conditions as they are written: `commands`, `apps`, `windows` and so on. One that is absent makes no difference.
    pub conditions: std::collections::BTreeMap<String, Vec<String>>,
    /// Whether it hides the windows that it names from all reading.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub hides: bool,
}

/// A built-in rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BuiltinRule {
    /// Its name.
    pub name: String,
    /// What it denies.
    pub denies: String,
}

/// Check what the policy allows, show it, or test a policy file.
///
/// `check COMMAND` tells what the policy decides about a command, without executing it. `show` shows the policy in force.
/// `test FILE` checks a file without a daemon: exit code 2 if anything in it is wrong.
///
/// Examples:
///   ax policy check 'click button:Pay --app Bank'
///   ax policy check 'press ctrl+w' --agent my-agent
///   ax policy show
///   ax policy test policy.toml
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Policy {
    /// Action.
    #[cfg_attr(feature = "cli", arg(value_name = "ACTION"))]
    pub action: PolicyAction,
    /// For `check`: the command, in quotes, as it would follow `ax`. For `test`: the file [default: the one that axd reads].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "COMMAND|FILE"))]
    pub subject: Option<String>,
    /// For `check`: name of the client that would send it.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub client: Option<String>,
    /// For `check`: agent that the client would work for.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub agent: Option<String>,
    /// For `check`: title that the window would have.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TITLE"))]
    pub window: Option<String>,
}

/// An action of `ax policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum PolicyAction {
    /// Tell what the policy decides about a command
    Check,
    /// Show the policy in force
    Show,
    /// Check a policy file
    Test,
}

/// The answer to `policy test`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyTestAnswer {
    /// The path of the file.
    pub file: String,
    /// Whether it can be used.
    pub valid: bool,
    /// The number of its rules.
    pub rules: usize,
    /// What is wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<PolicyFileError>,
}

/// Something that is wrong with a policy file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyFileError {
    /// The line; absent if it is the file itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What is wrong, and what is right.
    pub message: String,
}
