//! The server against real sockets, with a service that does what a test asks for.

mod faults;
mod life;
mod listening;
mod requests;
mod subscriptions;

use std::collections::VecDeque;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use axd_protocol::envelope::AnswerHead;
use axd_protocol::{Command, PROTOCOL_VERSION};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::{Listener, ServerOptions, run};
use axd_service::Sessions;
use axd_service::Stop;
use axd_service::held_bytes::HeldBytes;
use axd_service::{BoxFuture, Call, Feed, Reply, Served, Service};

/// Far longer than anything takes; a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(20);

/// A service of which each command does one thing a test needs.
struct Stub {
    stop: Stop,
    /// `find` waits for one of these.
    release: Semaphore,
    /// How many `find`s have begun and have not been dropped.
    waiting: Arc<AtomicUsize>,
    /// What there is to tell subscribers.
    news: watch::Sender<u64>,
    /// How often a subscription was asked for lines, and how many bytes it wrote each time.
    tellings: Arc<AtomicU64>,
    telling_bytes: usize,
    idle_limit: parking_lot::Mutex<Option<Duration>>,
}

impl Service for Stub {
    fn platform(&self) -> &'static str {
        "stub"
    }

    fn idle_limit(&self) -> Option<Duration> {
        *self.idle_limit.lock()
    }

    fn serve(self: Arc<Self>, call: Call, out: &mut Vec<u8>) -> Served {
        let id = call.id.clone();
        match &call.command {
            // Answered at once; `big:N` with an answer of N bytes.
            Command::Get(get) => {
                let size = get.target.strip_prefix("big:").and_then(|n| n.parse().ok());
                let data = size.map_or_else(|| json!(get.target), |n: usize| json!("x".repeat(n)));
                answer(id.as_deref(), "get", &data, out);
                Served::Now
            }
            Command::Status(_) => {
                let session = &call.session;
                let counters = [&session.pending, &session.subscriptions].map(|counter| counter.load(SeqCst));
                let requests = session.requests.load(SeqCst);
                answer(id.as_deref(), "status", &json!([requests, counters[0], counters[1]]), out);
                Served::Now
            }
            Command::Shutdown(_) => {
                self.stop.trigger();
                answer(id.as_deref(), "shutdown", &json!({}), out);
                Served::Now
            }
            // Answered when a test releases it.
            Command::Find(_) => Served::Later(Box::pin(async move {
                let _waiting = Waiting::new(&self.waiting);
                self.release.acquire().await.unwrap().forget();
                reply(id.as_deref(), "find", &json!({}))
            })),
            // Answered at the first opportunity, but not at once.
            Command::Hello(_) => {
                Served::Later(Box::pin(async move { reply(id.as_deref(), "hello", &json!({})) }))
            }
            Command::Subscribe(_) => {
                let feed = StubFeed {
                    sub: call.sub,
                    news: self.news.subscribe(),
                    sent_up_to: 0,
                    tellings: Arc::clone(&self.tellings),
                    bytes: self.telling_bytes,
                };
                Served::Later(Box::pin(async move {
                    let mut reply = reply(id.as_deref(), "subscribe", &json!({ "sub": call.sub }));
                    reply.feed = Some(Box::new(feed));
                    reply
                }))
            }
            // Has sent something before it is known whether there is room for it.
            Command::ClipboardClear(_) => {
                assert!(call.gate.pass());
                Served::Later(Box::pin(std::future::pending()))
            }
            Command::Version(_) => {
                out.extend_from_slice(b"{\"half\":");
                panic!("a bug at once");
            }
            Command::Focused(_) => Served::Later(Box::pin(async { panic!("a bug later") })),
            other => panic!("no test asks for {}", other.name()),
        }
    }
}

fn answer(id: Option<&RawValue>, command: &str, data: &Value, out: &mut Vec<u8>) {
    let version = PROTOCOL_VERSION;
    let head = AnswerHead { id, ok: true, command, version, platform: "stub", clock: None, app: None };
    head.write_data(data, out);
}

fn reply(id: Option<&RawValue>, command: &str, data: &Value) -> Reply {
    let mut line = Vec::new();
    answer(id, command, data, &mut line);
    Reply { line, feed: None, held: HeldBytes::default() }
}

/// Counts a `find` as long as it is not dropped.
struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    fn new(count: &Arc<AtomicUsize>) -> Waiting {
        count.fetch_add(1, SeqCst);
        Waiting(Arc::clone(count))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Tells, in one line, by how much the news has grown since it last told. News that reaches `u64::MAX` is the last;
/// `u64::MAX - 1` makes it panic.
struct StubFeed {
    sub: u64,
    news: watch::Receiver<u64>,
    sent_up_to: u64,
    tellings: Arc<AtomicU64>,
    bytes: usize,
}

impl Feed for StubFeed {
    fn ready(&mut self) -> BoxFuture<'_, bool> {
        Box::pin(async {
            let sent_up_to = self.sent_up_to;
            let news = *self.news.wait_for(|news| *news > sent_up_to).await.unwrap();
            news != u64::MAX
        })
    }

    fn write(&mut self, out: &mut Vec<u8>) {
        let news = *self.news.borrow();
        assert!(news != u64::MAX - 1, "a bug in a subscription");
        self.tellings.fetch_add(1, SeqCst);
        let push = json!({ "sub": self.sub, "from": self.sent_up_to, "to": news, "padding": "x".repeat(self.bytes) });
        out.extend_from_slice(format!("{push}\n").as_bytes());
        self.sent_up_to = news;
    }
}

/// A folder that only its user can look into, whatever the umask.
fn private_folder() -> TempDir {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir().unwrap()
}

/// A server under test.
struct Rig {
    folder: TempDir,
    stub: Arc<Stub>,
    sessions: Arc<Sessions>,
    stop: Stop,
    server: JoinHandle<std::io::Result<()>>,
}

impl Rig {
    fn start() -> Rig {
        Rig::start_with(ServerOptions::default(), 0)
    }

    fn start_with(options: ServerOptions, telling_bytes: usize) -> Rig {
        let folder = private_folder();
        let listener = Listener::bind(&folder.path().join("axd.sock")).unwrap();
        Rig::serve(folder, listener, options, telling_bytes)
    }

    fn serve(folder: TempDir, listener: Listener, options: ServerOptions, telling_bytes: usize) -> Rig {
        let stop = Stop::new();
        let sessions = Arc::new(Sessions::default());
        let stub = Arc::new(Stub {
            stop: stop.clone(),
            release: Semaphore::new(0),
            waiting: Arc::default(),
            news: watch::Sender::new(0),
            tellings: Arc::default(),
            telling_bytes,
            idle_limit: parking_lot::Mutex::default(),
        });
        let service = Arc::clone(&stub) as Arc<dyn Service>;
        let server = tokio::spawn(run(listener, service, Arc::clone(&sessions), stop.clone(), options));
        Rig { folder, stub, sessions, stop, server }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("axd.sock")
    }

    fn connect(&self) -> Client {
        Client::connect(&self.socket())
    }

    /// Waits until the server has stopped.
    async fn stopped(self) {
        timeout(PATIENCE, self.server).await.expect("the server does not stop").unwrap().unwrap();
    }
}

/// A client that speaks bytes.
struct Client {
    stream: UnixStream,
    buffer: Vec<u8>,
    lines: VecDeque<Value>,
}

impl Client {
    /// Connects; the server need not have run for it.
    fn connect(socket: &Path) -> Client {
        let stream = net::UnixStream::connect(socket).unwrap();
        stream.set_nonblocking(true).unwrap();
        Client { stream: UnixStream::from_std(stream).unwrap(), buffer: Vec::new(), lines: VecDeque::new() }
    }

    async fn send(&mut self, text: &str) {
        self.send_bytes(text.as_bytes()).await;
    }

    async fn send_bytes(&mut self, bytes: &[u8]) {
        timeout(PATIENCE, self.stream.write_all(bytes)).await.expect("nobody reads").unwrap();
    }

    /// Sends without giving the server a turn.
    fn send_now(&mut self, bytes: &[u8]) {
        assert_eq!(nix::unistd::write(&self.stream, bytes), Ok(bytes.len()));
    }

    /// The next line; none at the end.
    async fn line(&mut self) -> Option<Value> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return Some(line);
            }
            let read = timeout(PATIENCE, self.stream.read_buf(&mut self.buffer)).await.expect("no answer");
            // A server that closes before it has read all resets the connection: an end like any other.
            if read.unwrap_or(0) == 0 {
                assert!(self.buffer.is_empty(), "the server closed in the middle of a line");
                return None;
            }
            if let Some(end) = memchr::memrchr(b'\n', &self.buffer) {
                let whole: Vec<u8> = self.buffer.drain(..=end).collect();
                let lines = whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
                self.lines.extend(lines.map(|line| serde_json::from_slice(line).expect("not JSON")));
            }
        }
    }

    /// Sends a line and takes the next line that comes.
    async fn ask(&mut self, line: &str) -> Value {
        self.send(&format!("{line}\n")).await;
        self.line().await.expect("the server closed")
    }

    /// Waits for the end; there is to be nothing before it.
    async fn end(&mut self) {
        assert_eq!(self.line().await, None);
    }
}

/// Waits for something that is about to be so, by letting others run.
async fn eventually(what: impl Fn() -> bool) {
    let wait = async {
        while !what() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, wait).await.expect("it never came to be");
}

fn code(line: &Value) -> &str {
    line["error"]["code"].as_str().unwrap_or_default()
}
