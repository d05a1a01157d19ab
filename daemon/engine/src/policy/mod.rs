//! What is allowed. Every action passes [`Policy::check`] before anything is sent, and leaves an audit line, whatever
//! came of it.
//!
//! The policy knows what is to be done and to whom; it does not know how anything is carried out.

mod audit;
pub(crate) mod permit;
mod rules;

pub use audit::{Audit, Entry};

use axd_protocol::keys::Combo;
use axd_protocol::{Error, ErrorCode};

use axd_platform::RunningApp;

/// What somebody wants to do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Intent<'a> {
    /// The command.
    pub command: &'a str,
    /// The app it is about, if it is about one.
    pub app: Option<&'a RunningApp>,
    /// Whether the app's process belongs to another user.
    pub foreign: bool,
    /// Keys that are pressed.
    pub keys: Option<&'a Combo>,
    /// Text that is put in.
    pub text: Option<&'a str>,
}

/// Why something is not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// The rule, by name.
    pub rule: &'static str,
    /// Why.
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

/// The rules in force: those that are built in.
#[derive(Debug, Default)]
pub struct Policy;

impl Policy {
    /// Whether this is allowed.
    pub fn check(&self, intent: &Intent<'_>) -> Result<(), Denied> {
        let checked = rules::RULES.iter().try_for_each(|rule| rule(intent));
        if let Err(denied) = &checked {
            tracing::info!(command = intent.command, rule = denied.rule, "denied");
        }
        checked
    }
}
