//! From a line to a request.

use std::sync::Arc;

use axd_protocol::{Command, Error, ErrorCode, Format, Request};
use axd_service::{Service, background};
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// A line longer than this is parsed off the threads that answer sockets.
pub(super) const LONG_LINE_BYTES: usize = 32 * 1024;

/// A request.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) id: Option<Box<RawValue>>,
    pub(super) command: Command,
    pub(super) format: Format,
    pub(super) deadline_ms: Option<u64>,
}

/// Why a line is none, and what it is known by.
#[derive(Debug)]
pub(super) struct Malformed {
    pub(super) id: Option<Box<RawValue>>,
    pub(super) command: String,
    pub(super) error: Error,
}

/// One long line is parsed at a time, because each of them takes as long as a thousand requests.
static LONG_LINES: Semaphore = Semaphore::const_new(1);

/// Parses a long line, when the others before it are parsed.
pub(super) async fn parse_long(
    runtime: Handle,
    line: Vec<u8>,
    service: Arc<dyn Service>,
) -> Result<Parsed, Box<Malformed>> {
    let turn = LONG_LINES.acquire().await;
    let parse = move || background::run(|| parse(&line, service.extensions()));
    let parsed = runtime.spawn_blocking(parse).await;
    drop(turn);
    parsed.unwrap_or_else(|fault| {
        let error = Error::new(ErrorCode::Internal, fault.to_string());
        Err(Box::new(Malformed { id: None, command: String::new(), error }))
    })
}

/// Parses a line.
pub(super) fn parse(line: &[u8], extensions: &[&'static str]) -> Result<Parsed, Box<Malformed>> {
    let malformed =
        |id: Option<Box<RawValue>>, command: String, error| Box::new(Malformed { id, command, error });
    let Ok(text) = std::str::from_utf8(line) else {
        let id = Request::id_of(&String::from_utf8_lossy(line));
        let error = Error::new(ErrorCode::InvalidArgs, "the line is not UTF-8")
            .suggest("send one JSON object per line, in UTF-8");
        return Err(malformed(id, String::new(), error));
    };
    let request = match Request::parse(text) {
        Ok(request) => request,
        Err(error) => return Err(malformed(Request::id_of(text), String::new(), error)),
    };
    let id = request.id.map(ToOwned::to_owned);
    match request.command(extensions) {
        Ok(command) => Ok(Parsed { id, command, format: request.format, deadline_ms: request.deadline_ms }),
        Err(error) => Err(malformed(id, request.command.into_owned(), error)),
    }
}
