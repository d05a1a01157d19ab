//! What went wrong, said so that a person or a model can act on it.

use serde::{Deserialize, Serialize};

use crate::node::{NodeRef, Unread};

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $suggestion:literal;)+) => {
        /// The kind of an error. Clients branch on this, never on the message.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum ErrorCode { $($(#[doc = $doc])+ #[serde(rename = $name)] $variant,)+ }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &'static [ErrorCode] = &[$(ErrorCode::$variant,)+];

            /// The name used on the wire.
            pub const fn name(self) -> &'static str {
                match self { $(ErrorCode::$variant => $name,)+ }
            }

            /// What to do about it when nothing more particular is known.
            pub const fn suggestion(self) -> &'static str {
                match self { $(ErrorCode::$variant => $suggestion,)+ }
            }
        }
    };
}

codes! {
    /// The system, or the daemon, does not allow it.
    PermissionDenied = "PERMISSION_DENIED", "run `ax permissions` to see what is missing and how to grant it";
    /// No running app goes by that name, pid or identity.
    ApplicationNotFound = "APPLICATION_NOT_FOUND", "run `ax list-apps` and use a name, pid or identity it shows";
    /// The app has no such window.
    WindowNotFound = "WINDOW_NOT_FOUND", "run `ax list-windows` and use a title or id it shows";
    /// Nothing matches, and what was asked for was never seen.
    ElementNotFound = "ELEMENT_NOT_FOUND", "take a new `ax snapshot`, or search with `ax find`";
    /// The element was there and is gone.
    StaleRef = "STALE_REF", "use one of the candidates, or find the element again";
    /// More than one element matches.
    AmbiguousTarget = "AMBIGUOUS_TARGET", "use the id of one of the candidates, or add :nth(k)";
    /// The element cannot do this.
    ActionNotSupported = "ACTION_NOT_SUPPORTED", "list its actions with `ax get TARGET --property actions`";
    /// The app refused or failed.
    ActionFailed = "ACTION_FAILED", "check the element before trying another way";
    /// The element is not in a condition to be acted on.
    NotActionable = "NOT_ACTIONABLE", "wait until it is visible, enabled and uncovered";
    /// The app does not answer.
    AppUnresponsive = "APP_UNRESPONSIVE", "the app hangs; try again, or close it with `ax close-app --force`";
    /// It did not happen in time.
    Timeout = "TIMEOUT", "increase --deadline-ms, or check the app's state with `ax status`";
    /// The request was cancelled.
    Cancelled = "CANCELLED", "no action needed";
    /// The policy does not allow it.
    PolicyDenied = "POLICY_DENIED", "this action is blocked by a built-in rule";
    /// Too many requests.
    RateLimited = "RATE_LIMITED", "wait for earlier requests to finish, then send fewer at a time";
    /// The request is not well-formed.
    InvalidArgs = "INVALID_ARGS", "see `ax COMMAND --help` or `ax schema COMMAND`";
    /// The request or its answer is larger than the contract allows.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", "send less at a time: a request is one line of at most 1 MiB";
    /// This platform, or this session, does not offer it.
    PlatformNotSupported = "PLATFORM_NOT_SUPPORTED", "run `ax doctor` to see what this machine supports";
    /// Client and daemon speak different majors of the protocol.
    ProtocolMismatch = "PROTOCOL_MISMATCH", "update the older of the two, then `ax shutdown`";
    /// There is no daemon to talk to.
    DaemonUnavailable = "DAEMON_UNAVAILABLE", "start it with `axd`, or allow auto-start";
    /// A bug in axd.
    Internal = "INTERNAL", "this is a bug in axd; see the log (`ax status` shows where it is)";
}

/// How far an action got before it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Delivery {
    /// The app was not touched.
    NotDelivered,
    /// It may or may not have reached the app.
    Uncertain,
    /// It reached the app; what came of it is not known.
    DeliveredUnverified,
    /// It reached the app and its outcome was read back.
    DeliveredVerified,
}

/// Whether the same request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Retry {
    /// Nothing happened: send it again if you like.
    Safe,
    /// It may have happened: look first.
    Unsafe,
}

/// How surely an action was delivered, and what follows for a retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disposition {
    /// How far it got.
    pub delivery: Delivery,
    /// Whether to send it again.
    pub retry: Retry,
}

impl Disposition {
    /// The disposition of something delivered this far: only what was not delivered is safe to repeat.
    pub const fn of(delivery: Delivery) -> Disposition {
        let retry = if matches!(delivery, Delivery::NotDelivered) { Retry::Safe } else { Retry::Unsafe };
        Disposition { delivery, retry }
    }
}

/// An error as it travels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{message}")]
pub struct Error {
    /// The kind.
    pub code: ErrorCode,
    /// What went wrong.
    pub message: String,
    /// What to do about it.
    pub suggestion: String,
    /// A command line (without `ax`) that would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_command: Option<String>,
    /// Elements that may have been meant.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<NodeRef>,
    /// Containers of which only a part was looked at: what was not found may be in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[allow(clippy::box_collection, reason = "errors are to stay small, and this is hardly ever there")]
    pub unread: Option<Box<Vec<Unread>>>,
    /// How far an action got.
    pub disposition: Disposition,
    /// How many characters of a text were sent, if only some were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivered_chars: Option<u32>,
}

impl Error {
    /// An error with the code's own suggestion; nothing was delivered.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Error {
        Error {
            code,
            message: message.into(),
            suggestion: code.suggestion().to_owned(),
            retry_command: None,
            candidates: Vec::new(),
            unread: None,
            disposition: Disposition::of(Delivery::NotDelivered),
            delivered_chars: None,
        }
    }

    /// Says how far the action got.
    #[must_use]
    pub fn delivered(mut self, delivery: Delivery) -> Error {
        self.disposition = Disposition::of(delivery);
        self
    }

    /// Says what to do in this particular case.
    #[must_use]
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Error {
        self.suggestion = suggestion.into();
        self
    }

    /// Names a command that would help.
    #[must_use]
    pub fn retry(mut self, command: impl Into<String>) -> Error {
        self.retry_command = Some(command.into());
        self
    }

    /// Names containers of which only a part was looked at.
    #[must_use]
    pub fn unread(mut self, unread: Vec<Unread>) -> Error {
        self.unread = (!unread.is_empty()).then(|| Box::new(unread));
        self
    }

    /// Names elements that may have been meant.
    #[must_use]
    pub fn candidates(mut self, candidates: Vec<NodeRef>) -> Error {
        self.candidates = candidates;
        self
    }
}

/// What the contract's functions return.
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
