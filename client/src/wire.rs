//! Writing requests and parsing answers, for every kind of connection.

use std::time::Duration;

use axd_protocol::event::Push;
use axd_protocol::{Answer, AppInfo, Clock, Command, Format, PROTOCOL, Request};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::{ClientError, Result};

/// The options of a request, apart from its command.
#[derive(Debug, Clone, Copy)]
pub struct RequestOptions {
    /// The time limit for the whole request.
    pub deadline: Option<Duration>,
    /// The format of the answer.
    pub format: Format,
    /// The major version of the protocol. A daemon of another major version refuses the request; without a version it answers.
    pub protocol: Option<u32>,
}

impl Default for RequestOptions {
    fn default() -> RequestOptions {
        RequestOptions { deadline: None, format: Format::Json, protocol: Some(PROTOCOL) }
    }
}

impl RequestOptions {
    /// Options that ask for text instead of data.
    pub fn text() -> RequestOptions {
        RequestOptions { format: Format::Text, ..RequestOptions::default() }
    }

    /// Options with which a daemon of any protocol version answers.
    pub fn any_protocol() -> RequestOptions {
        RequestOptions { protocol: None, ..RequestOptions::default() }
    }

    /// The read timeout: longer than the deadline, because it is only for a daemon that hangs and does not keep the deadline.
    pub fn read_timeout(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline + Duration::from_secs(2))
    }
}

/// Writes a request as a line, with its newline.
pub fn request_line(id: u64, command: &Command, options: RequestOptions) -> Result<String> {
    let not_json = |fault: serde_json::Error| ClientError::Protocol(fault.to_string());
    let id = serde_json::value::to_raw_value(&id).map_err(not_json)?;
    let args = command.args().map_err(not_json)?;
    let request = Request {
        id: Some(&id),
        command: command.name().into(),
        args: (args.get() != "{}").then_some(&args),
        deadline_ms: options.deadline.map(|deadline| deadline.as_millis() as u64),
        protocol: options.protocol,
        format: options.format,
    };
    let mut line = serde_json::to_string(&request).map_err(not_json)?;
    // Arguments that were given as JSON may have line breaks. Inside strings they are escaped, so all others are white space.
    if line.contains(['\n', '\r']) {
        line = line.replace(['\n', '\r'], " ");
    }
    line.push('\n');
    Ok(line)
}

/// Whether an answer succeeded, from the start of its line. `None` if the line is not an answer, or too short to tell.
pub fn is_ok(line: &[u8]) -> Option<bool> {
    let rest = line.strip_prefix(b"{\"id\":")?;
    let after_id = match rest.first()? {
        b'"' => {
            let mut end = 1;
            while *rest.get(end)? != b'"' {
                end += if rest[end] == b'\\' { 2 } else { 1 };
            }
            end + 1
        }
        _ => rest.iter().position(|byte| *byte == b',')?,
    };
    let ok = rest[after_id..].strip_prefix(b",\"ok\":")?;
    match ok {
        [b't', ..] => Some(true),
        [b'f', ..] => Some(false),
        _ => None,
    }
}

/// Parses a line as an event of a subscription; `None` if it is not one.
pub fn push_of(line: &str) -> Result<Option<Push>> {
    if !line.starts_with("{\"sub\":") {
        return Ok(None);
    }
    serde_json::from_str(line)
        .map(Some)
        .map_err(|fault| ClientError::Protocol(format!("{fault} in {}", start_of(line))))
}

/// A successful answer.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The command it answers.
    pub command: String,
    /// The platform the daemon runs on.
    pub platform: String,
    /// The clock it was read at.
    pub clock: Option<Clock>,
    /// The app that the answer is about.
    pub app: Option<AppInfo>,
    /// The data, if the request asked for JSON.
    pub data: Option<Box<RawValue>>,
    /// The text, if the request asked for text.
    pub text: Option<String>,
}

impl Reply {
    /// Parses an answer line. An answer with `"ok":false` is an error.
    pub fn parse(line: &str) -> Result<Reply> {
        let answer = parse_answer(line)?;
        match answer.error {
            Some(error) if !answer.ok => Err(ClientError::Daemon(error)),
            _ if !answer.ok => Err(ClientError::Protocol(format!("no error in {}", start_of(line)))),
            _ => Ok(Reply {
                command: answer.command.into_owned(),
                platform: answer.platform.into_owned(),
                clock: answer.clock,
                app: answer.app,
                data: answer.data.map(ToOwned::to_owned),
                text: answer.text.map(|text| text.into_owned()),
            }),
        }
    }

    /// The data as the answer type of the command, as in `reply.data::<StatusAnswer>()`.
    pub fn data<T: DeserializeOwned>(&self) -> Result<T> {
        let data = self.data.as_deref().map_or("null", RawValue::get);
        serde_json::from_str(data).map_err(|fault| ClientError::Protocol(fault.to_string()))
    }
}

/// The kind of a line that arrives while the answer to a request is awaited.
pub(crate) enum Line {
    /// The answer, or an error that could not be matched to any request.
    Answer,
    /// The answer to an earlier request that timed out.
    Late,
    /// An event, or the answer to a line that was sent with `send_line`.
    Other,
}

impl Line {
    /// The kind of `line` for the request `id`. Ids increase, so a smaller number belongs to an earlier request.
    pub(crate) fn sort(line: &str, id: u64) -> Result<Line> {
        // The daemon writes the id first, so that a large line is parsed only if it starts differently.
        if line.starts_with(&format!("{{\"id\":{id},")) {
            return Ok(Line::Answer);
        }
        if line.starts_with("{\"sub\":") {
            return Ok(Line::Other);
        }
        let Some(answered) = parse_answer(line)?.id else { return Ok(Line::Answer) };
        Ok(match answered.get().parse::<u64>() {
            Ok(answered) if answered == id => Line::Answer,
            Ok(answered) if answered < id => Line::Late,
            _ => Line::Other,
        })
    }
}

fn parse_answer(line: &str) -> Result<Answer<'_>> {
    serde_json::from_str(line)
        .map_err(|fault| ClientError::Protocol(format!("{fault} in {}", start_of(line))))
}

/// The start of a line, for error messages.
fn start_of(line: &str) -> &str {
    let end = line.char_indices().nth(120).map_or(line.len(), |(end, _)| end);
    line[..end].trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_protocol::command::{Status, Version};

    #[test]
    fn whether_it_went_well_is_read_off_the_start_of_the_line() {
        for (line, expected) in [
            (r#"{"id":1,"ok":true,"command":"get""#, Some(true)),
            (r#"{"id":"a\",b","ok":true}"#, Some(true)),
            (r#"{"id":null,"ok":false,"error":{"ok":true}}"#, Some(false)),
            (r#"{"sub":1,"event":"end"}"#, None),
            (r#"{"id":""#, None),
            ("", None),
        ] {
            assert_eq!(is_ok(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn a_request_says_only_what_is_to_be_said() {
        let options = RequestOptions { deadline: Some(Duration::from_secs(2)), ..RequestOptions::text() };
        assert_eq!(
            request_line(7, &Command::Status(Status {}), options).unwrap(),
            "{\"id\":7,\"command\":\"status\",\"deadline_ms\":2000,\"protocol\":1,\"format\":\"text\"}\n"
        );
        assert_eq!(
            request_line(1, &Command::Version(Version {}), RequestOptions::any_protocol()).unwrap(),
            "{\"id\":1,\"command\":\"version\"}\n"
        );
    }

    #[test]
    fn a_request_is_one_line_however_its_parts_were_written() {
        let items = "[{\"command\":\"type\",\"args\":{\r\n  \"text\": \"a\\nb\"\n}}]".parse().unwrap();
        let batch = Command::Batch(axd_protocol::command::Batch { items, app: None, stop_on_error: false });
        let line = request_line(1, &batch, RequestOptions::default()).unwrap();
        assert_eq!(line.find('\n'), Some(line.len() - 1), "{line}");
        assert!(!line.contains('\r') && line.contains(r#""text": "a\nb""#), "{line}");
    }

    #[test]
    fn an_answer_that_is_not_one_is_quoted() {
        let fault = Reply::parse("<html>").unwrap_err();
        assert!(matches!(&fault, ClientError::Protocol(said) if said.contains("<html>")), "{fault}");
    }
}
