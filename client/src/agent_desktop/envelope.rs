//! The envelope of every answer, and the codes of its errors.

use axd_protocol::command::ActAnswer;
use axd_protocol::error::Disposition;
use axd_protocol::{Candidate, Clock, Error, ErrorCode};
use serde::Serialize;
use serde_json::{Map, Value};

use super::table;

/// The version of the envelope.
const VERSION: &str = "1.0";

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Envelope {
    version: &'static str,
    /// Whether the command succeeded.
    pub ok: bool,
    /// The command; `unknown` if there is none of that name.
    pub command: String,
    /// The app that the answer is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<EnvelopeApp>,
    /// What the command says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<EnvelopeError>,
    /// axd's platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// axd's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
}

/// The app that an answer is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EnvelopeApp {
    /// Its name.
    pub name: String,
    /// Its window, if the answer is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<EnvelopeWindow>,
}

/// The window that an answer is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EnvelopeWindow {
    /// `w-` and the window's number.
    pub id: String,
    /// Its title.
    pub title: String,
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EnvelopeError {
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    suggestion: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_command: Option<String>,
    /// What axd calls it; only for who asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disposition: Option<Disposition>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Candidate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delivered_chars: Option<u32>,
}

impl Envelope {
    /// The answer of a command that succeeded.
    pub fn done(command: &str, data: Value) -> Envelope {
        Envelope { ok: true, data: Some(data), ..Envelope::empty(command) }
    }

    /// The answer of a command that failed.
    pub fn failed(command: &str, error: &Error) -> Envelope {
        Envelope { error: Some(EnvelopeError::of(error)), ..Envelope::empty(command) }
    }

    /// The answer to a command line that makes no sense: what is wrong, and no more.
    pub fn usage(message: &str) -> Envelope {
        let error = EnvelopeError::of(&Error::new(ErrorCode::InvalidArgs, message));
        let bare = EnvelopeError { suggestion: String::new(), disposition: None, ..error };
        Envelope { error: Some(bare), ..Envelope::empty("unknown") }
    }

    fn empty(command: &str) -> Envelope {
        Envelope {
            version: VERSION,
            ok: false,
            command: command.to_owned(),
            app: None,
            data: None,
            error: None,
            platform: None,
            clock: None,
        }
    }

    /// The answer as one line.
    pub fn to_line(&self) -> String {
        // It has nothing that JSON cannot have, and JSON escapes line ends.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl EnvelopeError {
    fn of(error: &Error) -> EnvelopeError {
        let known = |command: &&str| table::find(command).is_some();
        EnvelopeError {
            code: code(error.code),
            message: error.message.clone(),
            suggestion: in_words(&error.suggestion),
            // A command with arguments would have axd's.
            retry_command: error.retry_command.as_deref().filter(known).map(ToOwned::to_owned),
            platform_detail: None,
            disposition: Some(error.disposition),
            candidates: error.candidates.clone(),
            delivered_chars: error.delivered_chars,
        }
    }
}

/// The code of an error: the nearest one that there is, or axd's own.
fn code(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::NotActionable | ErrorCode::Cancelled => "ACTION_FAILED",
        ErrorCode::AppUnresponsive => "TIMEOUT",
        ErrorCode::PayloadTooLarge | ErrorCode::ProtocolMismatch => "INVALID_ARGS",
        ErrorCode::DaemonUnavailable => "INTERNAL",
        other => other.name(),
    }
}

/// Advice that names commands of `ax`, for who has those of agent-desktop.
fn in_words(advice: &str) -> String {
    table::COMMANDS.iter().fold(advice.to_owned(), |said, command| {
        ["`", " "].iter().fold(said, |said, end| {
            said.replace(&format!("`ax {}{end}", command.name), &format!("`{}{end}", command.name))
        })
    })
}

/// What axd says of an action besides what the envelope has.
pub fn extra_of_action(acted: &ActAnswer) -> Map<String, Value> {
    let mut extra = extra_of(acted.disposition);
    extra.insert("settled".to_owned(), serde_json::to_value(acted.settled).unwrap_or_default());
    extra.insert("method".to_owned(), acted.method.clone().into());
    extra
}

/// How far an action got.
pub fn extra_of(disposition: Disposition) -> Map<String, Value> {
    match serde_json::to_value(disposition) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn codes_are_those_of_the_contract() {
        for (own, name) in [
            (ErrorCode::PermissionDenied, "PERMISSION_DENIED"),
            (ErrorCode::ElementNotFound, "ELEMENT_NOT_FOUND"),
            (ErrorCode::ApplicationNotFound, "APPLICATION_NOT_FOUND"),
            (ErrorCode::ActionFailed, "ACTION_FAILED"),
            (ErrorCode::NotActionable, "ACTION_FAILED"),
            (ErrorCode::Cancelled, "ACTION_FAILED"),
            (ErrorCode::ActionNotSupported, "ACTION_NOT_SUPPORTED"),
            (ErrorCode::StaleRef, "STALE_REF"),
            (ErrorCode::WindowNotFound, "WINDOW_NOT_FOUND"),
            (ErrorCode::PlatformNotSupported, "PLATFORM_NOT_SUPPORTED"),
            (ErrorCode::Timeout, "TIMEOUT"),
            (ErrorCode::AppUnresponsive, "TIMEOUT"),
            (ErrorCode::InvalidArgs, "INVALID_ARGS"),
            (ErrorCode::PayloadTooLarge, "INVALID_ARGS"),
            (ErrorCode::ProtocolMismatch, "INVALID_ARGS"),
            (ErrorCode::Internal, "INTERNAL"),
            (ErrorCode::DaemonUnavailable, "INTERNAL"),
            (ErrorCode::AmbiguousTarget, "AMBIGUOUS_TARGET"),
            (ErrorCode::PolicyDenied, "POLICY_DENIED"),
            (ErrorCode::RateLimited, "RATE_LIMITED"),
        ] {
            assert_eq!(code(own), name);
        }
    }

    #[test]
    fn an_answer_is_one_line_without_what_is_absent() {
        let line = Envelope::done("clipboard-get", json!({ "text": "a\nb" })).to_line();
        assert_eq!(
            line,
            "{\"version\":\"1.0\",\"ok\":true,\"command\":\"clipboard-get\",\"data\":{\"text\":\"a\\nb\"}}\n"
        );
        let failed =
            serde_json::to_value(Envelope::failed("x", &Error::new(ErrorCode::Timeout, "m"))).unwrap();
        assert_eq!(failed["error"]["code"], "TIMEOUT");
        assert!(failed.get("data").is_none() && failed["error"].get("platform_detail").is_none());
    }

    #[test]
    fn advice_names_commands_that_there_are() {
        assert_eq!(
            in_words("take a new `ax snapshot`, or `ax find x`"),
            "take a new `snapshot`, or `find x`"
        );
        assert_eq!(in_words("`ax policy show` shows it"), "`ax policy show` shows it");
    }
}
