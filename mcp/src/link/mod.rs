//! The connection to axd: one for all requests of the agent, made when it is first needed, and made again when it was lost.
//!
//! A request that reads is sent again after a lost connection, once; an action never is, because nobody knows how far it got.

mod connection;

use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use axd_client::r#async::{AsyncConnection, AsyncSubscription};
use axd_client::{ClientError, Reply, RequestOptions};
use axd_protocol::command::{CommandKind, Hello, HelloAnswer, Subscribe};
use axd_protocol::{Clock, Command, Error, ErrorCode, Format};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::options::DaemonOptions;
use connection::Connection;

/// The name under which axd's status and audit show this client.
const CLIENT: &str = "ax-mcp";
/// The deadline of what is answered from memory.
const READ_DEADLINE: Duration = Duration::from_secs(15);
/// The deadline of an action. Clients end calls after 60 s.
const ACT_DEADLINE: Duration = Duration::from_secs(50);
/// The deadline of the first request of a connection.
const HELLO_DEADLINE: Duration = Duration::from_secs(5);

/// The connection to axd.
#[derive(Debug)]
pub struct Link {
    options: DaemonOptions,
    connection: Mutex<Option<Arc<Connection>>>,
    /// The name of the agent, once it has said it.
    agent: OnceLock<String>,
    /// The clock of the latest answer.
    clock: std::sync::Mutex<Option<Clock>>,
}

impl Link {
    /// A link that is not connected yet.
    pub fn new(options: DaemonOptions) -> Link {
        Link { options, connection: Mutex::new(None), agent: OnceLock::new(), clock: Default::default() }
    }

    /// Sets the name of the agent, which connections made from now on have.
    pub fn introduce(&self, agent: &str) {
        // The first name stays: it is the client that started this process.
        let _ = self.agent.set(agent.to_owned());
    }

    /// The clock of the latest answer: what changes from then on, the agent has not seen.
    pub fn clock(&self) -> Option<Clock> {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request, with the deadline of its kind. A cancellation reaches axd, which answers whether anything was sent.
    pub async fn request(&self, command: &Command, cancelled: &CancellationToken) -> Result<Reply, Error> {
        let deadline = match command.kind() {
            CommandKind::Reads => READ_DEADLINE,
            CommandKind::Acts | CommandKind::Manages => ACT_DEADLINE,
        };
        self.request_within(command, Format::Json, deadline, cancelled).await
    }

    /// Sends a request, with a deadline.
    pub async fn request_within(
        &self,
        command: &Command,
        format: Format,
        deadline: Duration,
        cancelled: &CancellationToken,
    ) -> Result<Reply, Error> {
        let options = RequestOptions { deadline: Some(deadline), format, ..RequestOptions::default() };
        let mut lost_before = false;
        loop {
            let connection = self.connected().await.map_err(|fault| explained(&fault))?;
            match connection.request(command, options, cancelled).await {
                Err(ClientError::Io(fault))
                    if fault.kind() != std::io::ErrorKind::TimedOut
                        && !lost_before
                        && command.kind() == CommandKind::Reads =>
                {
                    lost_before = true;
                }
                Err(fault) => return Err(explained(&fault)),
                Ok(reply) => {
                    if reply.clock.is_some() {
                        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = reply.clock;
                    }
                    return Ok(reply);
                }
            }
        }
    }

    /// A connection for one purpose, beside the one of all requests.
    pub async fn exclusive(&self) -> Result<Exclusive, Error> {
        let connect = async {
            let connection = Connection::over(self.open().await?);
            self.greet(&connection).await?;
            Ok(Exclusive { connection })
        };
        connect.await.map_err(|fault| explained(&fault))
    }

    /// Sends a request over such a connection.
    pub async fn ask(
        &self,
        exclusive: &Exclusive,
        command: &Command,
        deadline: Duration,
    ) -> Result<Reply, Error> {
        let options = RequestOptions { deadline: Some(deadline), ..RequestOptions::default() };
        let asked = exclusive.connection.request(command, options, &CancellationToken::new()).await;
        asked.map_err(|fault| explained(&fault))
    }

    /// Subscribes, over a connection of its own.
    pub async fn subscribe(&self, what: Subscribe) -> Result<AsyncSubscription, Error> {
        let subscribe = async {
            let mut connection = self.open().await?;
            connection.request(&Command::Hello(self.hello()), hello_options()).await?;
            connection.subscribe(what).await
        };
        subscribe.await.map_err(|fault| explained(&fault))
    }

    /// The connection, made if there is none.
    async fn connected(&self) -> Result<Arc<Connection>, ClientError> {
        let mut place = self.connection.lock().await;
        if let Some(connection) = place.as_ref().filter(|connection| connection.is_open()) {
            return Ok(connection.clone());
        }
        let mut connection = Connection::over(self.open().await?);
        match self.greet(&connection).await {
            Err(ClientError::Daemon(error)) if error.code == ErrorCode::ProtocolMismatch => {
                drop(connection);
                self.replace_daemon(error).await?;
                connection = Connection::over(self.open().await?);
                self.greet(&connection).await?;
            }
            greeted => greeted?,
        }
        let connection = Arc::new(connection);
        *place = Some(connection.clone());
        Ok(connection)
    }

    async fn greet(&self, connection: &Connection) -> Result<(), ClientError> {
        let hello = Command::Hello(self.hello());
        let reply = connection.request(&hello, hello_options(), &CancellationToken::new()).await?;
        reply.data::<HelloAnswer>().map(drop)
    }

    fn hello(&self) -> Hello {
        Hello { client: CLIENT.to_owned(), agent: self.agent.get().cloned() }
    }

    /// Opens a connection, and starts the daemon if it is missing.
    async fn open(&self) -> Result<AsyncConnection, ClientError> {
        let socket = self.options.socket();
        match AsyncConnection::open(&socket).await {
            Err(fault) if fault.is_unavailable() => {
                let Some(start) = self.options.start() else { return Err(fault) };
                let at = socket.clone();
                blocking(move || axd_client::connect_or_start(&at, &start).map(drop)).await?;
                AsyncConnection::open(&socket).await
            }
            opened => opened,
        }
    }

    /// Replaces a daemon of another version, if that one may be stopped.
    async fn replace_daemon(&self, mismatch: Error) -> Result<(), ClientError> {
        let socket = self.options.socket();
        let Some(start) = self.options.start() else { return Err(mismatch.into()) };
        let replaced = blocking(move || {
            axd_client::restart_if_idle(&socket, &start).map(|connection| connection.is_some())
        });
        if replaced.await? { Ok(()) } else { Err(mismatch.into()) }
    }
}

/// A connection for one purpose, which ends with it.
#[derive(Debug)]
pub struct Exclusive {
    connection: Connection,
}

fn hello_options() -> RequestOptions {
    RequestOptions { deadline: Some(HELLO_DEADLINE), ..RequestOptions::default() }
}

/// Runs what blocks elsewhere than on the thread that serves the client.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ClientError> + Send + 'static,
) -> Result<T, ClientError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|fault| Err(ClientError::Protocol(fault.to_string())))
}

/// The error for the agent.
fn explained(fault: &ClientError) -> Error {
    let error = fault.to_error();
    match fault {
        ClientError::Unavailable { .. } => {
            error.suggest("axd is not running and may not be started from here; ask the user to run `axd`")
        }
        ClientError::Daemon(error) if error.code == ErrorCode::ProtocolMismatch => error.clone().suggest(
            "axd and ax-mcp are of different versions; ask the user to update the older one and to run `ax shutdown`",
        ),
        ClientError::Io(_) if error.code == ErrorCode::DaemonUnavailable => {
            error.suggest("axd ended meanwhile; `look` at what came of it before doing it again")
        }
        _ => error,
    }
}

/// Whether a clock is of another run of the daemon than another clock.
pub fn is_of_another_run(clock: Clock, now: Clock) -> bool {
    clock.boot != now.boot
}
