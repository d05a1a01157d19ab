//! The connected clients: one [`Session`] per connection, and the registry of all sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use axd_protocol::command::ClientStatus;
use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::time::Instant;

/// One connected client.
#[derive(Debug)]
pub struct Session {
    /// The number of the connection.
    pub client: u64,
    /// The process id, where the kernel reports it.
    pub pid: Option<u32>,
    /// The time at which it connected.
    pub since: Instant,
    /// The name of the client and of the agent it works for, from `hello`.
    pub names: Mutex<(Option<String>, Option<String>)>,
    /// The number of requests it sent.
    pub requests: AtomicU64,
    /// The number of requests without an answer.
    pub pending: AtomicU32,
    /// The number of its subscriptions.
    pub subscriptions: AtomicU32,
    /// The lock that serialises its actions. It is fair, so they run in the order they came.
    pub action_lock: tokio::sync::Mutex<()>,
}

/// All connected clients.
#[derive(Debug, Default)]
pub struct Sessions {
    next: AtomicU64,
    open: DashMap<u64, Arc<Session>>,
}

impl Sessions {
    /// Registers a new connection.
    pub fn open(&self, pid: Option<u32>) -> Arc<Session> {
        let session = Arc::new(Session {
            client: self.next.fetch_add(1, Relaxed) + 1,
            pid,
            since: Instant::now(),
            names: Mutex::default(),
            requests: AtomicU64::new(0),
            pending: AtomicU32::new(0),
            subscriptions: AtomicU32::new(0),
            action_lock: tokio::sync::Mutex::default(),
        });
        self.open.insert(session.client, Arc::clone(&session));
        session
    }

    /// Removes a connection.
    pub fn close(&self, session: &Session) {
        self.open.remove(&session.client);
    }

    /// The number of connected clients.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether no client is connected.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The status of all clients, in the order they connected.
    pub fn status(&self) -> Vec<ClientStatus> {
        let mut clients: Vec<ClientStatus> = self.open.iter().map(|session| session.status()).collect();
        clients.sort_by_key(|client| client.client);
        clients
    }
}

impl Session {
    fn status(&self) -> ClientStatus {
        let (name, agent) = self.names.lock().clone();
        ClientStatus {
            client: self.client,
            name,
            agent,
            pid: self.pid,
            connected_ms: self.since.elapsed().as_millis() as u64,
            requests: self.requests.load(Relaxed),
            pending: self.pending.load(Relaxed),
            subscriptions: self.subscriptions.load(Relaxed),
        }
    }
}
