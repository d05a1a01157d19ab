//! Settings of compatibility profiles, which the policy file holds for the server that offers their tools.

use std::path::PathBuf;

use axd_protocol::pattern::Pattern;

/// The settings of the profile `thuvu`.
#[derive(Debug, Clone, PartialEq)]
pub struct ThuvuProfile {
    /// Whether its tools are offered at all.
    pub enabled: bool,
    /// Whether a person must approve each capture.
    pub require_approval_for_capture: bool,
    /// Whether a person must approve each input.
    pub require_approval_for_input: bool,
    /// A window's title must match one of these.
    pub allowed_window_patterns: Vec<Pattern>,
    /// A window's title must match none of these.
    pub blocked_window_patterns: Vec<Pattern>,
    /// The most captures in a minute.
    pub max_captures_per_minute: u32,
    /// Whether each call leaves a line in its log.
    pub log_all_actions: bool,
    /// The file of this log; without it, there is none.
    pub log_file: Option<PathBuf>,
}

impl Default for ThuvuProfile {
    fn default() -> ThuvuProfile {
        ThuvuProfile {
            enabled: false,
            require_approval_for_capture: false,
            require_approval_for_input: true,
            allowed_window_patterns: vec![Pattern::new("*")],
            blocked_window_patterns: vec![Pattern::new("*Password*"), Pattern::new("*Banking*")],
            max_captures_per_minute: 60,
            log_all_actions: true,
            log_file: None,
        }
    }
}
