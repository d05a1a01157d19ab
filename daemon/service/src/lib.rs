//! The seam between the server, which knows connections, and the engine, which knows what commands mean.

mod approved;
pub mod background;
pub mod held_bytes;
pub mod priority;
mod session;
mod stop;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axd_gate::Gate;
use axd_protocol::envelope::AnswerHead;
use axd_protocol::{Command, Error, ErrorCode, Format, PROTOCOL_VERSION};
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::time::Instant;

use held_bytes::{HeldBytes, MAX_HELD_ANSWERS, MAX_UNREAD};

pub use approved::Approved;
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

    /// The runtime for all work that is not done at once; without one it is done in the tasks of the connections. What
    /// answers sockets must not compute: nobody is served meanwhile.
    fn runtime(&self) -> Option<&Handle> {
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
    /// Whether this is a part of a batch, whose answers are held until all of them are there.
    pub is_part: bool,
    /// The deadline, if the client set one.
    pub deadline: Option<Instant>,
    /// The session of the client.
    pub session: Arc<Session>,
    /// The number of the subscription, if this request opens one.
    pub sub: u64,
    /// The gate, which is passed before anything is sent to an app, and closed when the request is cancelled.
    pub gate: Gate,
    /// What is approved of it.
    pub approved: Approved,
}

impl Call {
    /// Waits until the client has read enough of its earlier answers to get another one. Fails if too much is held for all
    /// clients together.
    pub async fn room_for_answer(&self) -> Result<(), Error> {
        if !self.is_part {
            self.session.unread.at_most(MAX_UNREAD).await;
        }
        match self.session.all_unread.get() {
            held if held > MAX_HELD_ANSWERS => Err(Error::new(
                ErrorCode::RateLimited,
                format!("clients have not read {} MB of answers, which is the maximum", held >> 20),
            )
            .suggest("read the answers to earlier requests, or ask for less at a time; then try again")),
            _ => Ok(()),
        }
    }

    /// Whether the client has read enough of its earlier answers.
    pub fn has_room(&self) -> bool {
        self.is_part || self.session.unread.get() <= MAX_UNREAD
    }

    /// The count of the bytes of an answer to this request.
    pub fn held_answer(&self, bytes: usize) -> HeldBytes {
        let mut held = if self.is_part { self.session.hold_parts() } else { self.session.hold_answers() };
        held.set(bytes);
        held
    }
}

/// How a request is answered.
pub enum Served {
    /// The answer has been written as a complete line.
    Now,
    /// The future returns the answer. It runs on the service's runtime, if there is one.
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
    /// The bytes of the line, as long as nobody else counts them.
    pub held: HeldBytes,
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
