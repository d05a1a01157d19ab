//! What a policy decides.

use axd_protocol::{Error, ErrorCode};

/// What becomes of a request. The order is that of strictness: of several the last one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It is done.
    Allow,
    /// It is done if somebody approves it.
    Ask,
    /// It is not done.
    Deny,
}

impl Verdict {
    /// The verdict's name in the policy file.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        }
    }
}

/// A verdict, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The verdict.
    pub verdict: Verdict,
    /// The name of the rule: a built-in one, that of the file, or `default`.
    pub rule: String,
    /// The line of the rule in the file.
    pub line: Option<usize>,
    /// The reason, as a sentence.
    pub why: String,
    /// What to do instead.
    pub instead: String,
}

impl Decision {
    /// What nothing speaks against.
    pub fn allow(rule: impl Into<String>) -> Decision {
        Decision {
            verdict: Verdict::Allow,
            rule: rule.into(),
            line: None,
            why: String::new(),
            instead: String::new(),
        }
    }

    /// A denial.
    pub fn deny(rule: impl Into<String>, why: impl Into<String>, instead: impl Into<String>) -> Decision {
        Decision { verdict: Verdict::Deny, why: why.into(), instead: instead.into(), ..Decision::allow(rule) }
    }

    /// The error that a client gets for this decision.
    pub fn to_error(&self) -> Error {
        let (why, rule) = (&self.why, &self.rule);
        match self.verdict {
            Verdict::Ask => {
                let message = format!("{why}: approval is required ({rule})");
                Error::new(ErrorCode::ApprovalRequired, message)
            }
            Verdict::Allow | Verdict::Deny => {
                Error::new(ErrorCode::PolicyDenied, format!("{why} ({rule})")).suggest(self.instead.clone())
            }
        }
    }
}
