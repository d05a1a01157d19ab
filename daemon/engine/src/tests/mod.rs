//! The engine on a desktop that does what a test says, in paused time: a test says to the millisecond when something happens.

mod actionability;
mod approval;
mod fake_desktop;
mod hidden;
mod lock_order;
mod settle;
mod waiting;

use std::sync::Arc;
use std::time::Duration;

use axd_protocol::{Command, ErrorCode, Format, NodeId};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::apps::app::App;
use crate::{DaemonInfo, Engine};
use axd_platform::{ElementKey, Gate};
use axd_policy::PolicyStore;
use axd_service::{Approved, Call, Served, Service, Session, Sessions, Stop};
use fake_desktop::{BUTTON, FakeDesktop, NOTES, running_app};

/// An engine on a fake desktop, and when it was started.
struct Rig {
    engine: Arc<Engine>,
    desktop: FakeDesktop,
    sessions: Arc<Sessions>,
    start: Instant,
}

/// A request that was begun.
struct Running {
    gate: Gate,
    task: JoinHandle<Value>,
}

impl Rig {
    fn new() -> Rig {
        Rig::with_policy("")
    }

    /// With a policy file that says this.
    fn with_policy(policy: &str) -> Rig {
        let (desktop, sessions) = (FakeDesktop::new(), Arc::new(Sessions::default()));
        let (info, stop) = (DaemonInfo::default(), Stop::new());
        let policy = Arc::new(PolicyStore::of(axd_policy::parse(policy).unwrap()));
        let engine = Engine::start(desktop.clone().into(), info, Arc::clone(&sessions), stop, policy);
        Rig { engine, desktop, sessions, start: Instant::now() }
    }

    /// The app Notes, attached.
    async fn notes(&self) -> Arc<App> {
        self.attached(NOTES).await
    }

    async fn attached(&self, pid: u32) -> Arc<App> {
        let app = self.engine.attached(&running_app(pid));
        assert!(app.completed(self.at(1)).await);
        assert_eq!(self.elapsed(), 0, "attaching takes no time");
        app
    }

    /// The time this many milliseconds after the start.
    fn at(&self, ms: u64) -> Instant {
        self.start + Duration::from_millis(ms)
    }

    /// The milliseconds since the start.
    fn elapsed(&self) -> u128 {
        self.start.elapsed().as_millis()
    }

    /// Does something this many milliseconds after the start.
    fn after(&self, ms: u64, work: impl FnOnce(&FakeDesktop) + Send + 'static) {
        let (desktop, then) = (self.desktop.clone(), self.at(ms));
        tokio::spawn(async move {
            tokio::time::sleep_until(then).await;
            work(&desktop);
        });
    }

    /// Cancels what has this gate, this many milliseconds after the start.
    fn cancel_at(&self, ms: u64, gate: &Gate) {
        let gate = gate.clone();
        self.after(ms, move |_| {
            gate.close();
        });
    }

    fn client(&self) -> Arc<Session> {
        self.sessions.open(None)
    }

    /// A request; `words` is a command and its arguments as JSON.
    fn call(&self, client: &Arc<Session>, words: &str) -> Call {
        let (name, args) = words.split_once(' ').unwrap_or((words, "{}"));
        let args = RawValue::from_string(args.to_owned()).unwrap();
        Call {
            id: None,
            command: Command::parse(name, Some(&args)).unwrap(),
            format: Format::Json,
            with_data: false,
            is_part: false,
            deadline: None,
            session: Arc::clone(client),
            sub: 0,
            gate: Gate::new(),
            approved: Approved::default(),
        }
    }

    /// Begins a request. It is served as far as it gets at once.
    fn begin(&self, client: &Arc<Session>, words: &str) -> Running {
        self.serve(self.call(client, words))
    }

    fn serve(&self, call: Call) -> Running {
        let (gate, mut out) = (call.gate.clone(), Vec::new());
        let task = match Arc::clone(&self.engine).serve(call, &mut out) {
            Served::Now => tokio::spawn(std::future::ready(parse(&out))),
            Served::Later(reply) => tokio::spawn(async move { parse(&reply.await.line) }),
        };
        Running { gate, task }
    }

    /// Runs a request to its end, which must be a success.
    async fn run(&self, client: &Arc<Session>, words: &str) -> Value {
        self.begin(client, words).succeeds().await
    }
}

impl Running {
    async fn answer(self) -> Value {
        self.task.await.unwrap()
    }

    async fn succeeds(self) -> Value {
        let answer = self.answer().await;
        assert_eq!(answer["ok"], true, "{answer}");
        answer
    }

    fn is_finished(&self) -> bool {
        self.task.is_finished()
    }

    /// Drops the request, as the server does when it is cancelled before anything was sent, or its connection is closed.
    async fn cancel(self) {
        self.gate.close();
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }
}

fn parse(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap()
}

/// Lets the other tasks run until what the desktop has sent is applied, without time passing.
async fn drained() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

fn id_of(app: &App, key: ElementKey) -> NodeId {
    let tree = app.tree.read();
    tree.id(tree.by_key(key).expect("the element is known"))
}

fn button_of(app: &App) -> NodeId {
    id_of(app, BUTTON)
}

fn code_of(answer: &Value) -> Option<ErrorCode> {
    serde_json::from_value(answer["error"]["code"].clone()).ok()
}
