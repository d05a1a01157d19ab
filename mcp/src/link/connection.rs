//! One connection with many requests in progress.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axd_client::r#async::{AsyncConnection, AsyncSender};
use axd_client::{ClientError, Reply, RequestOptions, request_line};
use axd_protocol::command::Cancel;
use axd_protocol::{Command, Error, ErrorCode};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The maximum number of requests in progress. axd takes 256 of a connection; the rest is for cancellations.
const MAX_IN_PROGRESS: usize = 200;

/// The requests that wait for their answers, by their ids; `None` once the connection is lost.
type Waiting = Option<HashMap<u64, oneshot::Sender<String>>>;

/// A connection. When it is dropped it is closed, and axd releases what the agent holds.
#[derive(Debug)]
pub struct Connection {
    writer: tokio::sync::Mutex<AsyncSender>,
    waiting: Arc<Mutex<Waiting>>,
    room: Semaphore,
    next_id: AtomicU64,
    reader: JoinHandle<()>,
}

impl Connection {
    /// Takes over a connection.
    pub fn over(connection: AsyncConnection) -> Connection {
        let (mut lines, writer) = connection.into_split();
        let waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let answers = waiting.clone();
        let reader = tokio::spawn(async move {
            while let Ok(Some(line)) = lines.recv_line().await {
                let waiting = id_of(&line).and_then(|id| lock(&answers).as_mut()?.remove(&id));
                // Who has given up waiting has dropped the other end.
                let _ = waiting.map(|waiting| waiting.send(line));
            }
            // All that still wait find the other end dropped.
            *lock(&answers) = None;
        });
        Connection {
            writer: tokio::sync::Mutex::new(writer),
            waiting,
            room: Semaphore::new(MAX_IN_PROGRESS),
            next_id: AtomicU64::new(1),
            reader,
        }
    }

    /// Whether the connection is not known to be lost.
    pub fn is_open(&self) -> bool {
        lock(&self.waiting).is_some()
    }

    /// Sends a request and waits for the answer. If it is cancelled, axd is told, and its answer says what came of it.
    pub async fn request(
        &self,
        command: &Command,
        options: RequestOptions,
        cancelled: &CancellationToken,
    ) -> Result<Reply, ClientError> {
        let _room = tokio::select! {
            // A semaphore that nobody closes gives its permits.
            room = self.room.acquire() => room,
            () = cancelled.cancelled() => return Err(cancelled_before()),
        };
        if cancelled.is_cancelled() {
            return Err(cancelled_before());
        }
        let id = self.take_id();
        let (sender, mut answer) = oneshot::channel();
        lock(&self.waiting).as_mut().ok_or_else(lost)?.insert(id, sender);
        self.send(&request_line(id, command, options)?).await?;
        let limit = options.read_timeout().unwrap_or(std::time::Duration::MAX);
        let patience = tokio::time::sleep(limit);
        tokio::pin!(patience);
        let mut told = false;
        let line = loop {
            tokio::select! {
                line = &mut answer => break line.map_err(|_| lost())?,
                () = cancelled.cancelled(), if !told => {
                    told = true;
                    self.cancel(id).await?;
                }
                () = &mut patience => {
                    lock(&self.waiting).as_mut().map(|waiting| waiting.remove(&id));
                    return Err(ClientError::Io(io::ErrorKind::TimedOut.into()));
                }
            }
        };
        Reply::parse(&line)
    }

    /// Tells axd that a request is not wanted any more. Its own answer arrives all the same.
    async fn cancel(&self, id: u64) -> Result<(), ClientError> {
        let cancel = Command::Cancel(Cancel { id: id.into() });
        self.send(&request_line(self.take_id(), &cancel, RequestOptions::default())?).await
    }

    async fn send(&self, line: &str) -> Result<(), ClientError> {
        self.writer.lock().await.send_line(line).await
    }

    fn take_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The reader has the other half of the socket.
        self.reader.abort();
    }
}

/// The error of a request that was cancelled before it was sent.
fn cancelled_before() -> ClientError {
    Error::new(ErrorCode::Cancelled, "cancelled before it was sent").into()
}

fn lost() -> ClientError {
    ClientError::Io(io::Error::new(io::ErrorKind::ConnectionReset, "axd closed it"))
}

/// Locks the requests. A panic leaves nothing half done in the map, so it is used all the same.
fn lock(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The id of an answer, which axd writes first.
fn id_of(line: &str) -> Option<u64> {
    let rest = line.strip_prefix("{\"id\":")?;
    rest[..rest.find(',')?].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_read_off_the_start_of_an_answer() {
        assert_eq!(id_of(r#"{"id":12,"ok":true}"#), Some(12));
        assert_eq!(id_of(r#"{"sub":1,"event":"end"}"#), None);
        assert_eq!(id_of(r#"{"id":null,"ok":false}"#), None);
    }
}
