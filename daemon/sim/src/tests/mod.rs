//! The platform as the engine uses it, with a small reducer of what workers tell.

mod acting;
mod faults;
mod fidelity;
mod input;
mod office;
mod pictures;
mod session;
mod truth;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axd_protocol::keys::{Button, Combo, Key};
use axd_protocol::{Bounds, Point, Role, State};
use tokio::sync::mpsc;
use tokio::sync::oneshot::error::TryRecvError;

use super::{SimCommand, SimDesktop, SimOptions, script::Script};
use axd_platform::{
    Act, Cause, Counters, DesktopEvent, DesktopWindow, Direction, ElementKey, Facts, Failure, FailureKind,
    Gate, InputStep, Measured, Platform, Reply, Responder, RunningApp, Sent, Update, WorkerEvent,
    WorkerHandle, WorkerRequest,
};

/// A desktop, and what it has told.
struct Rig {
    desktop: SimDesktop,
    events: mpsc::UnboundedReceiver<DesktopEvent>,
    apps: Vec<RunningApp>,
    windows: Vec<DesktopWindow>,
    frontmost: Option<u32>,
    displays: usize,
}

impl Rig {
    fn new(options: SimOptions) -> Rig {
        let desktop = SimDesktop::new(options);
        let (out, events) = mpsc::unbounded_channel();
        desktop.start(out);
        let mut rig = Rig { desktop, events, apps: vec![], windows: vec![], frontmost: None, displays: 0 };
        rig.hear();
        rig
    }

    fn built_in() -> Rig {
        Rig::new(SimOptions::default())
    }

    /// A desktop with one app, of these widgets.
    fn with(head: &str, children: &str, rest: &str) -> Rig {
        let text =
            format!("name = 'X'\n{head}\n[[window]]\nid = 'w'\ntitle = 'X'\nchildren = [{children}]\n{rest}");
        let script = Arc::new(Script::parse("x.toml", &text).unwrap());
        Rig::new(SimOptions { built_in: false, apps: vec![], scripts: vec![script] })
    }

    fn hear(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            match event {
                DesktopEvent::AppUp(app) => self.apps.push(app),
                DesktopEvent::AppGone { pid } => self.apps.retain(|app| app.pid != pid),
                DesktopEvent::Ended { pid, how } => panic!("{pid} ended: {how:?}"),
                DesktopEvent::Windows(windows) => self.windows = windows,
                DesktopEvent::Frontmost { pid, .. } => self.frontmost = pid,
                DesktopEvent::Displays(displays) => self.displays = displays.len(),
            }
        }
    }

    fn app(&self, name: &str) -> RunningApp {
        self.apps.iter().find(|app| app.name == name).unwrap().clone()
    }

    async fn try_sim(&mut self, words: &str) -> Result<String, Failure> {
        let words = words.splitn(4, ' ').map(str::to_owned).collect();
        let done = self.desktop.run(SimCommand::from_words(words).unwrap()).await.unwrap();
        self.hear();
        done
    }

    async fn sim(&mut self, words: &str) -> String {
        self.try_sim(words).await.unwrap()
    }

    async fn call<T>(
        &mut self,
        gate: &Gate,
        call: impl FnOnce(&dyn Platform, Gate) -> Reply<T>,
    ) -> Result<T, Failure> {
        let answer = call(&self.desktop, gate.clone()).await.unwrap();
        self.hear();
        answer
    }

    /// Does with mouse and keyboard what is written: `move:X,Y`, `down:BUTTON`, `up:BUTTON`, `click:BUTTON`, `wheel:N`,
    /// `key:COMBO`, `hold:KEY`, `let:KEY`; anything else is typed.
    async fn input(&mut self, words: &[&str]) {
        let steps: Vec<InputStep> = words.iter().flat_map(|word| steps(word)).collect();
        let answer = self.call(&Gate::new(), |platform, gate| platform.input(steps.into(), gate)).await;
        assert_eq!(answer, Ok(None), "{words:?}");
    }

    /// Clicks on an element.
    async fn click(&mut self, app: &mut Attached, id: &str) {
        let at = app.centre(id).await;
        self.input(&[&format!("move:{at}"), "click:left"]).await;
        app.fence().await;
    }

    /// Presses keys, in an app that is then looked at.
    async fn keys(&mut self, app: &mut Attached, words: &[&str]) {
        self.input(words).await;
        app.fence().await;
    }

    fn begin(&self, name: &str, room: usize) -> Attached {
        let (out, from) = mpsc::channel(room);
        let counters = Arc::new(Counters::default());
        let mailbox = self.desktop.attach(&self.app(name), out, Arc::clone(&counters));
        Attached { mailbox, from, counters, ..Attached::empty() }
    }

    async fn attach(&self, name: &str) -> Attached {
        let mut app = self.begin(name, 64);
        app.until(|app| app.complete).await;
        app
    }

    /// Whether what was kept true by events is what a fresh walk finds.
    async fn agrees(&self, name: &str, app: &Attached) {
        assert_eq!(app.text(), self.attach(name).await.text());
    }
}

fn steps(word: &str) -> Vec<InputStep> {
    let Some((verb, what)) = word.split_once(':') else { return vec![InputStep::Text(word.to_owned())] };
    let button = || match what {
        "right" => Button::Right,
        "middle" => Button::Middle,
        _ => Button::Left,
    };
    match verb {
        "move" => vec![InputStep::Move(what.parse().unwrap())],
        "down" => vec![InputStep::Button(button(), true)],
        "up" => vec![InputStep::Button(button(), false)],
        "click" => vec![InputStep::Button(button(), true), InputStep::Button(button(), false)],
        "wheel" => vec![InputStep::Wheel { right: 0, down: what.parse().unwrap() }],
        "pause" => vec![InputStep::Pause(Duration::from_millis(what.parse().unwrap()))],
        "hold" => vec![InputStep::Key(what.parse().unwrap(), true)],
        "let" => vec![InputStep::Key(what.parse().unwrap(), false)],
        "key" => {
            let Combo { modifiers, key } = what.parse().unwrap();
            let held = modifiers.iter().map(|modifier| InputStep::Key(Key::Modifier(*modifier), true));
            let freed =
                modifiers.iter().rev().map(|modifier| InputStep::Key(Key::Modifier(*modifier), false));
            let stroke = [InputStep::Key(key, true), InputStep::Key(key, false)];
            held.chain(stroke).chain(freed).collect()
        }
        other => panic!("what is {other}?"),
    }
}

/// Lets the other tasks run until this holds. Time stands still meanwhile, so turns are counted instead.
async fn soon(holds: impl Fn() -> bool) {
    for _ in 0..100_000 {
        if holds() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("it does not come to be");
}

/// An attached app, reduced from what its worker tells.
struct Attached {
    mailbox: WorkerHandle,
    from: mpsc::Receiver<WorkerEvent>,
    counters: Arc<Counters>,
    nodes: HashMap<ElementKey, Node>,
    degraded: Option<String>,
    complete: bool,
    said: Vec<String>,
    batches: Vec<Cause>,
}

struct Node {
    facts: Facts,
    children: Vec<ElementKey>,
    total: Option<u32>,
}

impl Attached {
    fn empty() -> Attached {
        Attached {
            mailbox: WorkerHandle::new(|_| false),
            from: mpsc::channel(1).1,
            counters: Arc::default(),
            nodes: HashMap::new(),
            degraded: None,
            complete: false,
            said: vec![],
            batches: vec![],
        }
    }

    async fn next(&mut self) {
        match self.from.recv().await.expect("the worker goes on") {
            WorkerEvent::Batch(batch) => {
                self.batches.push(batch.cause);
                self.reduce(batch.updates);
            }
            WorkerEvent::Announcement(text) => self.said.push(text),
            WorkerEvent::State { degraded, complete } => {
                (self.degraded, self.complete) = (degraded, complete)
            }
            WorkerEvent::Reply(reply) => reply.deliver(),
        }
    }

    async fn until(&mut self, done: impl Fn(&Attached) -> bool) {
        while !done(self) {
            self.next().await;
        }
    }

    fn reduce(&mut self, updates: Vec<Update>) {
        for update in updates {
            match update {
                Update::Gone(key) => drop(self.nodes.remove(&key)),
                Update::Upsert { key, facts } => {
                    assert!(!facts.states.has(State::Secure) || facts.value.is_none(), "a secret came out");
                    let node = self.nodes.remove(&key);
                    let (children, total) = node.map_or((vec![], None), |node| (node.children, node.total));
                    self.nodes.insert(key, Node { facts: *facts, children, total });
                }
                Update::Children { parent, order, total } => {
                    let node = self.nodes.get_mut(&parent).expect("children are told of a known parent");
                    (node.children, node.total) = (order, total);
                }
            }
        }
        let mut reached = HashMap::new();
        let mut waiting = vec![ElementKey::APP];
        while let Some(key) = waiting.pop() {
            let node = self.nodes.remove(&key).expect("every child is told, and told once");
            waiting.extend(&node.children);
            reached.insert(key, node);
        }
        self.nodes = reached;
    }

    async fn ask<T: Send + Sync + 'static>(
        &mut self,
        request: impl FnOnce(Responder<T>) -> WorkerRequest,
    ) -> Result<T, Failure> {
        let reply = self.post(request);
        self.replied(reply).await
    }

    fn post<T: Send + Sync + 'static>(
        &self,
        request: impl FnOnce(Responder<T>) -> WorkerRequest,
    ) -> Reply<T> {
        let (responder, reply) = Responder::new();
        assert!(self.mailbox.send(request(responder)));
        reply
    }

    /// Takes what the worker tells until this reply has come.
    async fn replied<T>(&mut self, mut reply: Reply<T>) -> Result<T, Failure> {
        loop {
            match reply.try_recv() {
                Ok(result) => return result,
                Err(TryRecvError::Empty) => self.next().await,
                Err(TryRecvError::Closed) => panic!("the worker dropped the request"),
            }
        }
    }

    async fn fence(&mut self) {
        assert_eq!(self.ask(|reply| WorkerRequest::Fence { reply }).await, Ok(()));
    }

    fn watch(&self, keys: Vec<ElementKey>) {
        assert!(self.mailbox.send(WorkerRequest::Watch { interest: 1, keys }));
    }

    /// Does something to an element, through a gate of its own.
    async fn perform(&mut self, id: &str, act: Act) -> Result<(), Failure> {
        let key = self.key(id);
        self.ask(|reply| WorkerRequest::Perform { key, act, gate: Gate::new(), reply }).await
    }

    /// Performs an action on an element, and waits until its effects have been sent.
    async fn done(&mut self, id: &str, act: Act) {
        assert_eq!(self.perform(id, act).await, Ok(()), "{id}");
        self.fence().await;
    }

    async fn bounds(&mut self, key: ElementKey) -> Option<Bounds> {
        let answer = self.ask(|reply| WorkerRequest::Measure { keys: vec![key], reply }).await;
        let measured = answer.unwrap();
        measured.first().and_then(|measured| measured.bounds)
    }

    /// The middle of an element, as `X,Y`.
    async fn centre(&mut self, id: &str) -> String {
        let bounds = self.bounds(self.key(id)).await.unwrap_or_else(|| panic!("{id} has no place"));
        format!("{},{}", bounds.x + bounds.width / 2, bounds.y + bounds.height / 2)
    }

    fn name(&self, id: &str) -> &str {
        self.facts(id).name.as_deref().unwrap_or_default()
    }

    fn names(&self, id: &str) -> Vec<&str> {
        self.inside(id).iter().map(|key| self.nodes[key].facts.name.as_deref().unwrap_or_default()).collect()
    }

    fn key(&self, id: &str) -> ElementKey {
        let found = self.nodes.iter().find(|(_, node)| node.facts.identifier.as_deref() == Some(id));
        *found.unwrap_or_else(|| panic!("there is no '{id}'")).0
    }

    fn facts(&self, id: &str) -> &Facts {
        &self.nodes[&self.key(id)].facts
    }

    fn value(&self, id: &str) -> &str {
        self.facts(id).value.as_deref().unwrap_or_default()
    }

    fn has(&self, id: &str) -> bool {
        self.nodes.values().any(|node| node.facts.identifier.as_deref() == Some(id))
    }

    fn is(&self, id: &str, state: State) -> bool {
        self.facts(id).states.has(state)
    }

    fn inside(&self, id: &str) -> &[ElementKey] {
        &self.nodes[&self.key(id)].children
    }

    fn count(&self, which: fn(&Counters) -> &std::sync::atomic::AtomicU64) -> u64 {
        which(&self.counters).load(Ordering::Relaxed)
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut waiting = vec![(ElementKey::APP, 0)];
        while let Some((key, depth)) = waiting.pop() {
            let Node { facts, children, total } = &self.nodes[&key];
            // Short, for the sake of who reads a failed test.
            let Facts { role, name, value, identifier, states, row, .. } = facts;
            let line = format!(
                "{:depth$}{role} {identifier:?} {name:?} {value:?} {states:?} {row:?} {total:?}\n",
                ""
            );
            text.push_str(&line);
            waiting.extend(children.iter().rev().map(|child| (*child, depth + 1)));
        }
        text
    }
}
