//! Errors: a code to branch on, a message that says what is wrong, and a suggestion that says what to do.

use serde::{Deserialize, Serialize};

use crate::command::Effects;
use crate::node::{Candidate, Unread};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $suggestion:literal;)+) => {
        /// The kind of an error. Clients branch on this, never on the message.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum ErrorCode { $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+ }

        impl ErrorCode {
            /// All codes.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)+];

            /// The name used on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(ErrorCode::$variant => $name,)+ }
            }

            /// The suggestion for an error of this kind that has none of its own.
            pub const fn suggestion(self) -> &'static str {
                match self { $(ErrorCode::$variant => $suggestion,)+ }
            }
        }
    };
}

codes! {
    /// The system or the daemon does not permit it.
    PermissionDenied = "PERMISSION_DENIED", "run `ax permissions` to see what is missing and how to grant it";
    /// No running app has that name, pid or identity.
    ApplicationNotFound = "APPLICATION_NOT_FOUND", "run `ax list-apps` and use a name, pid or identity it shows";
    /// The app has no such window.
    WindowNotFound = "WINDOW_NOT_FOUND", "run `ax list-windows` and use a title or id it shows";
    /// No element matches, and the id was never in use.
    ElementNotFound = "ELEMENT_NOT_FOUND", "take a new `ax snapshot`, or search with `ax find`";
    /// The element existed and was removed.
    StaleRef = "STALE_REF", "use one of the candidates, or find the element again";
    /// More than one element matches.
    AmbiguousTarget = "AMBIGUOUS_TARGET", "use the id of one of the candidates, or its number with --nth";
    /// The element cannot do this.
    ActionNotSupported = "ACTION_NOT_SUPPORTED", "list its actions with `ax get TARGET --property actions`";
    /// The app refused or failed.
    ActionFailed = "ACTION_FAILED", "check the element before trying another way";
    /// Something has changed since the clock of `if_since`, or since the picture of a mark, so nothing was done.
    Changed = "CHANGED", "look again, then act on the clock of that answer";
    /// The action was done, and what was expected of it did not come true.
    NotAsExpected = "NOT_AS_EXPECTED", "see what has changed instead; do not repeat the action without looking";
    /// The element is hidden, disabled, covered or off the screen.
    NotActionable = "NOT_ACTIONABLE", "wait until it is visible, enabled and uncovered";
    /// The app does not answer.
    AppUnresponsive = "APP_UNRESPONSIVE", "the app hangs; try again, or close it with `ax close-app --force`";
    /// The time limit was exceeded.
    Timeout = "TIMEOUT", "increase --deadline-ms, or check the app's state with `ax status`";
    /// The request was cancelled.
    Cancelled = "CANCELLED", "no action needed";
    /// The policy does not allow it.
    PolicyDenied = "POLICY_DENIED", "`ax policy show` shows the rules in force; what is denied is left to the user";
    /// The policy allows it only if somebody approves it, and nobody was asked.
    ApprovalRequired = "APPROVAL_REQUIRED", "ask the user to run `ax approve` in a terminal, then try again";
    /// A person has stopped everything that acts.
    Paused = "PAUSED", "wait until `ax resume` is run; reading still works";
    /// Too many requests are in progress.
    RateLimited = "RATE_LIMITED", "wait for earlier requests to finish, then send fewer at a time";
    /// The request is not well-formed.
    InvalidArgs = "INVALID_ARGS", "see `ax COMMAND --help` or `ax schema COMMAND`";
    /// The request or its answer is larger than the protocol allows.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", "send less at a time: a request is one line of at most 1 MiB";
    /// This platform or this session does not support it.
    PlatformNotSupported = "PLATFORM_NOT_SUPPORTED", "run `ax doctor` to see what this machine supports";
    /// Client and daemon use different major versions of the protocol.
    ProtocolMismatch = "PROTOCOL_MISMATCH", "update the older of the two, then `ax shutdown`";
    /// No daemon could be reached or started.
    DaemonUnavailable = "DAEMON_UNAVAILABLE", "start it with `axd`, or allow auto-start";
    /// A bug in axd.
    Internal = "INTERNAL", "this is a bug in axd; see the log (`ax status` shows where it is)";
}

/// How far an action got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Delivery {
    /// Nothing was sent to the app.
    NotDelivered,
    /// Unknown: the action may or may not have reached the app.
    Uncertain,
    /// The action reached the app; its outcome was not verified.
    DeliveredUnverified,
    /// The action reached the app, and its outcome was verified by reading it back.
    DeliveredVerified,
}

/// Whether sending the same request again is safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Retry {
    /// Nothing was done, so that the request can be sent again.
    Safe,
    /// The action may have been done; check before sending it again.
    Unsafe,
}

/// How far an action got, and whether it is safe to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disposition {
    /// How far the action got.
    pub delivery: Delivery,
    /// Whether sending it again is safe.
    pub retry: Retry,
}

impl Disposition {
    /// The disposition for a delivery: only an action that was not delivered is safe to retry.
    pub const fn of(delivery: Delivery) -> Disposition {
        let retry = if matches!(delivery, Delivery::NotDelivered) { Retry::Safe } else { Retry::Unsafe };
        Disposition { delivery, retry }
    }
}

/// An error, as it is sent to clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{message}")]
pub struct Error {
    /// The kind of error.
    pub code: ErrorCode,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub suggestion: String,
    /// A command line (without `ax`) that would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_command: Option<Box<str>>,
    /// Elements that may have been meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Candidate>,
    /// Containers that were searched only in part, and may contain the element that was not found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[allow(clippy::box_collection, reason = "it keeps the error small, and is rarely present")]
    pub unread: Option<Box<Vec<Unread>>>,
    /// What has changed, if that is why nothing was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<Box<Effects>>,
    /// How far an action got.
    pub disposition: Disposition,
    /// The number of characters of a text that were sent, if not all of them were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_chars: Option<u32>,
}

impl Error {
    /// An error with the suggestion of its code, for an action that was not delivered.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
            suggestion: code.suggestion().to_owned(),
            retry_command: None,
            candidates: Vec::new(),
            unread: None,
            changed: None,
            disposition: Disposition::of(Delivery::NotDelivered),
            delivered_chars: None,
        }
    }

    /// Sets how far the action got.
    #[must_use]
    pub fn delivered(mut self, delivery: Delivery) -> Error {
        self.disposition = Disposition::of(delivery);
        self
    }

    /// Replaces the suggestion.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Error {
        self.suggestion = suggestion.into();
        self
    }

    /// Sets a command that would help.
    #[must_use]
    pub fn retry(mut self, command: impl Into<String>) -> Error {
        self.retry_command = Some(command.into().into());
        self
    }

    /// Adds the containers that were searched only in part.
    #[must_use]
    pub fn unread(mut self, unread: Vec<Unread>) -> Error {
        self.unread = (!unread.is_empty()).then(|| Box::new(unread));
        self
    }

    /// Adds what has changed.
    #[must_use]
    pub fn changed(mut self, changed: Effects) -> Error {
        self.changed = Some(Box::new(changed));
        self
    }

    /// Adds the elements that may have been meant.
    #[must_use]
    pub fn candidates<C: Into<Candidate>>(mut self, candidates: Vec<C>) -> Error {
        self.candidates = candidates.into_iter().map(Into::into).collect();
        self
    }
}

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_travels_under_its_name_and_says_what_to_do() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
            assert!(!code.suggestion().is_empty());
        }
    }

    #[test]
    fn only_what_was_not_delivered_is_safe_to_repeat() {
        assert_eq!(Disposition::of(Delivery::NotDelivered).retry, Retry::Safe);
        for delivery in [Delivery::Uncertain, Delivery::DeliveredUnverified, Delivery::DeliveredVerified] {
            assert_eq!(Disposition::of(delivery).retry, Retry::Unsafe);
        }
    }
}
