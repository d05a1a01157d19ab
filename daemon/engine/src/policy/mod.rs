//! The policy on what is allowed. Every action passes [`Policy::check`] before anything is sent, and leaves an audit line,
//! whatever its result.
//!
//! The policy knows the action and its subject, but not how it is performed.

mod audit;
pub(crate) mod permit;
mod rules;

pub use audit::{Audit, Entry};

use axd_protocol::keys::Combo;
use axd_protocol::{Error, ErrorCode};

use axd_platform::RunningApp;

/// An action that a client requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct Intent<'a> {
    /// The name of the command.
    pub command: &'a str,
    /// The app of the action, if it has one.
    pub app: Option<&'a RunningApp>,
    /// Whether the app's process belongs to another user.
    pub foreign: bool,
    /// The keys that it presses.
    pub keys: Option<&'a Combo>,
    /// The text that it enters.
    pub text: Option<&'a str>,
}

/// Why an action is denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// The name of the rule.
    pub rule: &'static str,
    /// The reason.
    pub why: String,
    /// What to do instead.
    pub instead: &'static str,
}

impl From<Denied> for Error {
    fn from(denied: Denied) -> Error {
        Error::new(ErrorCode::PolicyDenied, format!("{} ({})", denied.why, denied.rule))
            .suggest(denied.instead)
    }
}

/// The rules in force, which are the built-in ones.
#[derive(Debug, Default)]
pub struct Policy;

impl Policy {
    /// Checks whether an action is allowed.
    pub fn check(&self, intent: &Intent<'_>) -> Result<(), Denied> {
        let checked = rules::RULES.iter().try_for_each(|rule| rule(intent));
        if let Err(denied) = &checked {
            tracing::info!(command = intent.command, rule = denied.rule, "denied");
        }
        checked
    }
}
