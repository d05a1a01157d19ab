//! The transport: one JSON-RPC message a line, on standard input and output.
//!
//! `rmcp`'s own transport drops lines that are too long or cannot be read; a client would wait for their answers. Here each of them is
//! answered, with its id where that can still be found.

use std::borrow::Cow;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use axd_protocol::MAX_REQUEST_BYTES;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// The maximum length of a line in bytes, which is that of axd's requests.
const MAX_LINE_BYTES: usize = MAX_REQUEST_BYTES;
/// The number of bytes of a line that is too long in which its id is searched.
const HEAD_BYTES: usize = 512;

/// Ends the process when nobody can read its answers any more. What an agent holds down is released with its connection to axd, and
/// what has not been sent is not sent; a client that crashed must not wait for either.
pub fn exit_with_client() {
    let watch = || {
        let stdout = io::stdout();
        let mut output = [PollFd::new(stdout.as_fd(), PollFlags::empty())];
        loop {
            let seen = poll(&mut output, PollTimeout::NONE);
            let gone = PollFlags::POLLERR | PollFlags::POLLHUP;
            match seen {
                Ok(_) if output[0].revents().is_some_and(|events| events.intersects(gone)) => {
                    std::process::exit(0)
                }
                Err(nix::errno::Errno::EINTR) => {}
                // Standard output is something that cannot be watched, such as a file.
                _ => return,
            }
        }
    };
    // Without the thread, the process ends with standard input.
    let _ = std::thread::Builder::new().name("client".into()).stack_size(64 * 1024).spawn(watch);
}

/// The client, at the other end of standard input and output.
pub struct Stdio {
    reader: BufReader<StdioReader>,
    /// The line as far as it was read. It is kept here because `receive` is dropped whenever an answer is to be sent.
    line: Vec<u8>,
    /// Whether the rest of the line is passed over because it is too long.
    skipping: bool,
    /// Whether the client has made a request.
    opened: bool,
    writer: Arc<Mutex<StdioWriter>>,
    /// Cancelled when the client has closed its end.
    closing: CancellationToken,
}

impl Stdio {
    /// The transport. `closing` is cancelled when the client has closed its end.
    pub fn new(closing: CancellationToken) -> Stdio {
        let (reader, writer) = stdio_pipes();
        Stdio {
            reader: BufReader::with_capacity(64 * 1024, reader),
            line: Vec::new(),
            skipping: false,
            opened: false,
            writer: Arc::new(Mutex::new(writer)),
            closing,
        }
    }

    /// Reads until there is a whole line, of which `Err` has the head if it is too long. `None` at the end.
    async fn read_line(&mut self) -> Option<Result<(), Vec<u8>>> {
        loop {
            let bytes = self.reader.fill_buf().await.ok().filter(|bytes| !bytes.is_empty())?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            let used = piece.len() + usize::from(end.is_some());
            let mut too_long = None;
            if !self.skipping {
                self.line.extend_from_slice(piece);
                if self.line.len() > MAX_LINE_BYTES {
                    self.line.truncate(HEAD_BYTES);
                    too_long = Some(std::mem::take(&mut self.line));
                }
            }
            let was_skipping = self.skipping;
            self.skipping = end.is_none() && (was_skipping || too_long.is_some());
            self.reader.consume(used);
            if let Some(head) = too_long {
                return Some(Err(head));
            }
            if end.is_some() && !was_skipping {
                return Some(Ok(()));
            }
        }
    }

    /// Answers a line that is no message. In a task of its own, because half an answer must not be written.
    fn refuse(&self, error: ErrorData, id: Option<RequestId>) {
        let writer = self.writer.clone();
        tokio::spawn(async move { write(&writer, &ServerJsonRpcMessage::error(error, id)).await });
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "stdio".into()
    }

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = self.writer.clone();
        async move { write(&writer, &item).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            match self.read_line().await {
                None => {
                    self.closing.cancel();
                    return None;
                }
                Some(Err(head)) => {
                    let message = format!(
                        "the line is longer than {MAX_LINE_BYTES} bytes; send less at a time, for example a long text in several calls"
                    );
                    self.refuse(ErrorData::new(ErrorCode::INVALID_REQUEST, message, None), id_in(&head));
                }
                Some(Ok(())) => {
                    let parsed = parse(&self.line);
                    self.line.clear();
                    match parsed {
                        // A client that has not made a request yet has nothing to notify of.
                        Ok(Some(message)) if self.opened || message.clone().into_request().is_some() => {
                            self.opened = true;
                            return Some(message);
                        }
                        Ok(_) => {}
                        Err((error, id)) => self.refuse(error, id),
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.shutdown().await
    }
}

/// Writes a message as a line.
async fn write(writer: &Mutex<StdioWriter>, message: &ServerJsonRpcMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    writer.write_all(&line).await?;
    writer.flush().await
}

/// Parses a line; `None` if it is empty.
fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, (ErrorData, Option<RequestId>)> {
    let text = std::str::from_utf8(line).map_err(|fault| {
        let message =
            format!("the line is not UTF-8 from byte {} on; write JSON as UTF-8", fault.valid_up_to());
        (ErrorData::parse_error(message, None), id_in(&line[..line.len().min(HEAD_BYTES)]))
    })?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(None);
    }
    if let Ok(message) = serde_json::from_str(text) {
        return Ok(Some(message));
    }
    // What is wrong is found out by reading again, because the first attempt says too little.
    let value: Value = serde_json::from_str(text)
        .map_err(|fault| (ErrorData::parse_error(format!("the line is not JSON: {fault}"), None), None))?;
    let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
    let message = match &value {
        Value::Array(_) => "send one message a line; batches are not part of the protocol".to_owned(),
        Value::Object(fields) if fields.get("jsonrpc").is_none_or(|version| version != "2.0") => {
            r#"a message must have "jsonrpc":"2.0""#.to_owned()
        }
        Value::Object(fields) if fields.contains_key("id") && id.is_none() => {
            "id must be a string or an integer".to_owned()
        }
        Value::Object(fields) if !fields.contains_key("method") => {
            "a request must have a method, as in {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"
                .to_owned()
        }
        Value::Object(fields) if fields.get("params").is_some_and(|params| !params.is_object()) => {
            "params must be an object".to_owned()
        }
        _ => "the line is not a JSON-RPC 2.0 message".to_owned(),
    };
    Err((ErrorData::new(ErrorCode::INVALID_REQUEST, message, None), id))
}

/// The id at the start of a line that cannot be read as a whole: clients write it before the arguments.
fn id_in(head: &[u8]) -> Option<RequestId> {
    let head = String::from_utf8_lossy(head);
    // Behind the first inner object an id could be an argument.
    let own = head.trim_start().strip_prefix('{')?;
    let own = own.find('{').map_or(own, |inner| &own[..inner]);
    let value = own.split_once("\"id\"")?.1.trim_start().strip_prefix(':')?.trim_start();
    let end = match value.strip_prefix('"') {
        Some(text) => text.find('"')? + 2,
        None => value.find(|c: char| !c.is_ascii_digit() && c != '-')?,
    };
    serde_json::from_str(&value[..end]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &str) -> (String, Option<RequestId>) {
        let (error, id) = parse(line.as_bytes()).unwrap_err();
        (error.message.into_owned(), id)
    }

    #[test]
    fn the_id_of_a_line_that_is_too_long_is_found_before_its_arguments() {
        for (head, id) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"id":1"#, Some(RequestId::Number(7))),
            (r#"{"method":"tools/call", "id" : "a-1", "params":{"#, Some(RequestId::String("a-1".into()))),
            (r#"{"method":"tools/call","params":{"id":9,"#, None),
            ("xxxxxxxx", None),
        ] {
            assert_eq!(id_in(head.as_bytes()), id, "{head}");
        }
    }

    #[test]
    fn a_line_that_is_no_message_is_told_what_is_wrong() {
        assert!(refused("{\"jsonrpc\":").0.contains("not JSON"));
        assert!(refused("[]").0.contains("one message a line"));
        assert!(refused(r#"{"id":1,"method":"ping"}"#).0.contains(r#""jsonrpc":"2.0""#));
        let (message, id) = refused(r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":[1]}"#);
        assert!(
            message.contains("params must be an object") && id == Some(RequestId::Number(3)),
            "{message}"
        );
        assert!(refused(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#).0.contains("id must be"));
        let (error, id) = parse(b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"\xff\"}").unwrap_err();
        assert!(error.message.contains("not UTF-8 from byte") && id == Some(RequestId::Number(4)));
        assert!(parse(b" \r").unwrap().is_none());
    }
}
