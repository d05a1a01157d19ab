//! The seam between the server, which knows connections, and the engine, which knows what commands mean.

mod session;
mod stop;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axd_gate::Gate;
use axd_protocol::envelope::AnswerHead;
use axd_protocol::{Command, Error, Format, PROTOCOL_VERSION};
use serde_json::value::RawValue;
use tokio::time::Instant;

pub use session::{Session, Sessions};
pub use stop::Stop;

/// A future that can be sent to another thread.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Answers requests; the engine implements it.
pub trait Service: Send + Sync + 'static {
    /// The name of the platform, which is part of every answer.
    fn platform(&self) -> &'static str;

    /// The names of the commands that are answered beside those of the contract.
    fn extensions(&self) -> &[&'static str] {
        &[]
    }

    /// How long to stay at most while nobody is connected, whatever the options say.
    fn idle_limit(&self) -> Option<Duration> {
        None
    }

    /// Is called when a client has disconnected, to release what it holds.
    fn client_disconnected(self: Arc<Self>, _client: u64) {}

    /// Serves one request. An answer from memory is written to `out` at once; the call must not block.
    fn serve(self: Arc<Self>, call: Call, out: &mut Vec<u8>) -> Served;
}

/// A parsed request.
pub struct Call {
    /// The id of the request as the client wrote it.
    pub id: Option<Box<RawValue>>,
    /// The command.
    pub command: Command,
    /// The format of the answer.
    pub format: Format,
    /// Whether a text answer must contain the data too, because a later command of a batch refers to it.
    pub with_data: bool,
    /// The deadline, if the client set one.
    pub deadline: Option<Instant>,
    /// The session of the client.
    pub session: Arc<Session>,
    /// The number of the subscription, if this request opens one.
    pub sub: u64,
    /// The gate, which is passed before anything is sent to an app, and closed when the request is cancelled.
    pub gate: Gate,
}

/// How a request is answered.
pub enum Served {
    /// The answer has been written as a complete line.
    Now,
    /// The future returns the answer. It runs in the task of the connection, so it must not block either.
    /// Dropping the future ends the request, and may happen before it was polled at all. It is only dropped while its
    /// gate has not been passed, or with its connection: a request that has sent something finishes and reports its outcome.
    Later(BoxFuture<'static, Reply>),
}

/// An answer that was not available at once.
pub struct Reply {
    /// The answer as a complete line.
    pub line: Vec<u8>,
    /// The subscription, if the request opened one.
    pub feed: Option<Box<dyn Feed>>,
}

/// A subscription: a position in the history of some apps, from which lines are written when there is room for them.
/// It queues nothing, so a reader that does not read costs no memory.
pub trait Feed: Send {
    /// Waits until there are lines to write; false if the subscription has ended. Its last line is
    /// written by the server.
    fn ready(&mut self) -> BoxFuture<'_, bool>;

    /// Writes everything up to now as complete lines, and moves the position past it.
    fn write(&mut self, out: &mut Vec<u8>);
}

/// Writes an error answer as a complete line.
pub fn write_error(
    platform: &'static str,
    id: Option<&RawValue>,
    command: &str,
    error: &Error,
    out: &mut Vec<u8>,
) {
    let head =
        AnswerHead { id, ok: false, command, version: PROTOCOL_VERSION, platform, clock: None, app: None };
    head.write_error(error, out);
}
