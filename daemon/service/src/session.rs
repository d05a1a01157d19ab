//! Who is connected: one [`Session`] per connection, and the register of all of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use axd_protocol::command::ClientStatus;
use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::time::Instant;

/// One connected client.
#[derive(Debug)]
pub struct Session {
    /// The connection's number.
    pub client: u64,
    /// Its process, where the system tells.
    pub pid: Option<u32>,
    /// When it connected.
    pub since: Instant,
    /// What it called itself, and the agent it works for.
    pub names: Mutex<(Option<String>, Option<String>)>,
    /// How many requests it sent.
    pub requests: AtomicU64,
    /// How many of them are under way.
    pub pending: AtomicU32,
    /// How many subscriptions it holds.
    pub subscriptions: AtomicU32,
    /// Taken by each of its actions in turn, in the order they came.
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

    /// Forgets a connection.
    pub fn close(&self, session: &Session) {
        self.open.remove(&session.client);
    }

    /// How many are connected.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether nobody is connected.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// All of them, in the order they came.
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
