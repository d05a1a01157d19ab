//! The connected clients: one [`Session`] per connection, and the registry of all sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use axd_protocol::command::ClientStatus;
use dashmap::DashMap;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::held_bytes::{ByteCount, HeldBytes};

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
    pub action_lock: Arc<tokio::sync::Mutex<()>>,
    /// Whether the client has disconnected.
    pub is_gone: AtomicBool,
    /// The bytes of answers that it has not read.
    pub unread: Arc<ByteCount>,
    /// The same of all clients.
    pub all_unread: Arc<ByteCount>,
    /// The bytes of unfinished lines of all clients.
    pub all_unfinished: Arc<ByteCount>,
}

/// All connected clients.
#[derive(Debug, Default)]
pub struct Sessions {
    next: AtomicU64,
    open: DashMap<u64, Arc<Session>>,
    unread: Arc<ByteCount>,
    unfinished: Arc<ByteCount>,
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
            action_lock: Arc::default(),
            is_gone: AtomicBool::new(false),
            unread: Arc::default(),
            all_unread: Arc::clone(&self.unread),
            all_unfinished: Arc::clone(&self.unfinished),
        });
        self.open.insert(session.client, Arc::clone(&session));
        session
    }

    /// Removes a connection.
    pub fn close(&self, session: &Session) {
        session.is_gone.store(true, Relaxed);
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
    /// Bytes of answers that are held until this client reads them.
    pub fn hold_answers(&self) -> HeldBytes {
        HeldBytes::new(Some(Arc::clone(&self.unread)), Arc::clone(&self.all_unread))
    }

    /// Bytes of answers that are parts of an answer to this client.
    pub fn hold_parts(&self) -> HeldBytes {
        HeldBytes::new(None, Arc::clone(&self.all_unread))
    }

    /// Bytes of lines that this client has not finished.
    pub fn hold_lines(&self) -> HeldBytes {
        HeldBytes::new(None, Arc::clone(&self.all_unfinished))
    }

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
