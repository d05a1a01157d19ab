//! The seam between the server, which knows connections, and the engine, which knows what commands mean.

mod session;
mod stop;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use axd_gate::Gate;
use axd_protocol::envelope::AnswerHead;
use axd_protocol::{Command, Error, Format, PROTOCOL_VERSION};
use serde_json::value::RawValue;
use tokio::time::Instant;

pub use session::{Session, Sessions};
pub use stop::Stop;

/// A future that can be sent to another thread.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What answers requests.
pub trait Service: Send + Sync + 'static {
    /// The platform's name, as every answer carries it.
    fn platform(&self) -> &'static str;

    /// The names of the commands that are answered beside those of the contract.
    fn extensions(&self) -> &[&'static str] {
        &[]
    }

    /// A client is gone: whatever it holds is let go of.
    fn client_disconnected(self: Arc<Self>, _client: u64) {}

    /// Serves one request. What can be answered from memory is written to `out` at once; nothing here may block.
    fn serve(self: Arc<Self>, call: Call, out: &mut Vec<u8>) -> Served;
}

/// A request on its way through the engine.
pub struct Call {
    /// The request's id, as it was written.
    pub id: Option<Box<RawValue>>,
    /// What is asked.
    pub command: Command,
    /// How the answer is to be written.
    pub format: Format,
    /// Whether its data is wanted beside its text.
    pub with_data: bool,
    /// When the client stops waiting, if it said so.
    pub deadline: Option<Instant>,
    /// Who asks.
    pub session: Arc<Session>,
    /// The number a subscription opened by this request goes by.
    pub sub: u64,
    /// To be passed before anything is sent to an app; closed when the request is cancelled.
    pub gate: Gate,
}

/// How a request is served.
pub enum Served {
    /// Its answer, a whole line, has been written.
    Now,
    /// Its answer comes when the future is done. It runs in the connection's own task, so it may not block either.
    /// Dropping the future ends the request, and may happen before it was polled at all. It is only dropped while its
    /// gate has not been passed, or with its connection: what has sent something is let finish, and say so.
    Later(BoxFuture<'static, Reply>),
}

/// An answer that took time.
pub struct Reply {
    /// The answer, a whole line.
    pub line: Vec<u8>,
    /// What follows it, if it opened a subscription.
    pub feed: Option<Box<dyn Feed>>,
}

/// A subscription: a position in the history of some apps, from which lines are written when there is room for them.
/// It queues nothing, so a reader that does not read costs no memory.
pub trait Feed: Send {
    /// Waits until there is something to tell; false if there never will be again. The subscription's last line is
    /// the server's to write.
    fn ready(&mut self) -> BoxFuture<'_, bool>;

    /// Writes all there is to tell now, whole lines, and moves the position past it.
    fn write(&mut self, out: &mut Vec<u8>);
}

/// Writes an error answer, a whole line.
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
