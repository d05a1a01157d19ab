//! Requests and answers: one JSON object per line in both directions.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::app::AppInfo;
use crate::clock::Clock;
use crate::command::Command;
use crate::error::{Error, ErrorCode, Result};

/// The major version of the protocol. Changes within one major version only add to it.
pub const PROTOCOL: u32 = 1;
/// The version of the protocol, as every answer has it.
pub const PROTOCOL_VERSION: &str = "1.0";
/// The maximum length of a request line in bytes, without its newline.
pub const MAX_REQUEST_BYTES: usize = 1 << 20;

/// A request, borrowed from its line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request<'a> {
    /// A number or a string chosen by the client; the answer repeats it.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub id: Option<&'a RawValue>,
    /// The command's name.
    #[serde(borrow)]
    pub command: Cow<'a, str>,
    /// The command's arguments.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub args: Option<&'a RawValue>,
    /// The time limit for the whole request, in ms.
    #[serde(default, alias = "deadlineMs", skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// The major version of the protocol that the client uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<u32>,
    /// The format of the answer.
    #[serde(default, skip_serializing_if = "Format::is_json")]
    pub format: Format,
}

/// The format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Format {
    /// JSON, in `data`.
    #[default]
    Json,
    /// Text for people to read, in `text`, which is the last field.
    Text,
}

impl Format {
    fn is_json(&self) -> bool {
        *self == Format::Json
    }
}

impl<'a> Request<'a> {
    /// Parses a request line. The error shows what a request looks like.
    pub fn parse(line: &'a str) -> Result<Request<'a>> {
        let request: Request<'a> = serde_json::from_str(line).map_err(|error| {
            Error::new(ErrorCode::InvalidArgs, format!("the line is not a request: {error}"))
                .suggest(r#"send one JSON object per line, as in {"id":1,"command":"status","args":{}}"#)
        })?;
        let id_is_scalar = request
            .id
            .is_none_or(|id| id.get().starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit()));
        if !id_is_scalar {
            return Err(Error::new(ErrorCode::InvalidArgs, "id must be a number or a string"));
        }
        if let Some(major) = request.protocol.filter(|major| *major != PROTOCOL) {
            return Err(Error::new(
                ErrorCode::ProtocolMismatch,
                format!("the client uses protocol {major}, this daemon uses {PROTOCOL}"),
            ));
        }
        Ok(request)
    }

    /// The id in a line that is not a well-formed request, so that the client can match the error to it.
    pub fn id_of(line: &str) -> Option<Box<RawValue>> {
        #[derive(Deserialize)]
        struct Id {
            id: Box<RawValue>,
        }
        let id = serde_json::from_str::<Id>(line).ok()?.id;
        id.get().starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit()).then_some(id)
    }

    /// Parses the command and its arguments. The extensions are those of the daemon that answers.
    pub fn command(&self, extensions: &[&'static str]) -> Result<Command> {
        Command::parse_extended(&self.command, self.args, extensions)
    }
}

/// The fields of an answer that come before its `data`, in this order.
#[derive(Debug, Clone, Serialize)]
pub struct AnswerHead<'a> {
    /// The request's id.
    pub id: Option<&'a RawValue>,
    /// Whether it succeeded.
    pub ok: bool,
    /// The command's name.
    pub command: &'a str,
    /// The version of the protocol.
    pub version: &'static str,
    /// The name of the daemon's platform.
    pub platform: &'static str,
    /// The clock the answer was read at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// The app that the answer is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<&'a AppInfo>,
}

impl AnswerHead<'_> {
    /// Writes the start of an answer to `out`, without the closing brace. The caller continues with `,"data":…}`.
    pub fn write(&self, out: &mut Vec<u8>) {
        // Writing to a Vec cannot fail, and no field here can fail to serialise.
        let _ = serde_json::to_writer(&mut *out, self);
        out.pop();
    }

    /// Writes a complete answer line with `data`.
    pub fn write_data(&self, data: &impl Serialize, out: &mut Vec<u8>) {
        self.write_field("data", data, out);
    }

    /// Writes a complete answer line with `text`.
    pub fn write_text(&self, text: &str, out: &mut Vec<u8>) {
        self.write_field("text", &text, out);
    }

    /// Writes a complete answer line with `error`.
    pub fn write_error(&self, error: &Error, out: &mut Vec<u8>) {
        self.write_field("error", error, out);
    }

    fn write_field(&self, name: &str, value: &impl Serialize, out: &mut Vec<u8>) {
        self.write(out);
        out.extend_from_slice(b",\"");
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\":");
        let _ = serde_json::to_writer(&mut *out, value);
        out.extend_from_slice(b"}\n");
    }
}

/// An answer, borrowed from the line that a client read.
#[derive(Debug, Clone, Deserialize)]
pub struct Answer<'a> {
    /// The request's id; null if the daemon could not parse the request.
    #[serde(borrow)]
    pub id: Option<&'a RawValue>,
    /// Whether it succeeded.
    pub ok: bool,
    /// The command's name.
    #[serde(borrow, default)]
    pub command: Cow<'a, str>,
    /// The version of the protocol.
    #[serde(borrow, default)]
    pub version: Cow<'a, str>,
    /// The name of the daemon's platform.
    #[serde(borrow, default)]
    pub platform: Cow<'a, str>,
    /// The clock the answer was read at.
    #[serde(default)]
    pub clock: Option<Clock>,
    /// The app that the answer is about.
    #[serde(default)]
    pub app: Option<AppInfo>,
    /// The answer to the command, if the request succeeded.
    #[serde(borrow, default)]
    pub data: Option<&'a RawValue>,
    /// The error, if the request failed.
    #[serde(default)]
    pub error: Option<Error>,
    /// The text, if the request asked for text.
    #[serde(borrow, default)]
    pub text: Option<Cow<'a, str>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_line_reads_back() {
        let line = r#"{"id":"a","command":"get","args":{"target":"button"},"deadline_ms":5}"#;
        let request = Request::parse(line).unwrap();
        assert_eq!(request.command(&[]).unwrap().name(), "get");
        assert_eq!(serde_json::to_string(&request).unwrap(), line);
    }

    #[test]
    fn what_is_not_a_request_says_what_one_looks_like() {
        for line in [
            "",
            "{",
            "[]",
            "7",
            r#"{"id":1}"#,
            r#"{"command":"get","extra":1}"#,
            r#"{"id":{},"command":"get"}"#,
        ] {
            assert_eq!(Request::parse(line).unwrap_err().code, ErrorCode::InvalidArgs, "{line}");
        }
        let other = Request::parse(r#"{"id":1,"command":"status","protocol":9}"#).unwrap_err();
        assert_eq!(other.code, ErrorCode::ProtocolMismatch);
        assert!(other.message.contains('9') && other.message.contains('1'));
    }

    #[test]
    fn an_answer_starts_with_id_and_ok() {
        let mut out = Vec::new();
        let id = RawValue::from_string("7".into()).unwrap();
        let head = AnswerHead {
            id: Some(&id),
            ok: true,
            command: "get",
            version: "1.0",
            platform: "linux",
            clock: None,
            app: None,
        };
        head.write(&mut out);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"id":7,"ok":true,"command":"get","version":"1.0","platform":"linux""#
        );
    }
}
