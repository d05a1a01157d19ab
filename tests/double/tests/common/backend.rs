//! The backend on the double, and the tree of one attached app as the worker's updates build it.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use axd_double::World;
use axd_macos::MacDesktop;
use axd_platform::{
    Act, Counters, DesktopEvent, ElementKey, Facts, Failure, FailureKind, Gate, Measured, Platform, Reply,
    Responder, Sent, Update, WorkerEvent, WorkerHandle, WorkerRequest,
};
use axd_protocol::command::Finding;
use axd_protocol::{Point, Role};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;

const WAIT_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait for an update before a condition is checked again.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The backend's desktop.
pub struct Desktop {
    pub runtime: Runtime,
    pub mac: Option<MacDesktop>,
    pub events: mpsc::UnboundedReceiver<DesktopEvent>,
    pub seen: Vec<DesktopEvent>,
}

impl Desktop {
    pub fn start() -> Desktop {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (out, events) = mpsc::unbounded_channel();
        let mac = {
            let _inside = runtime.enter();
            let mac = MacDesktop::connect();
            mac.start(out);
            mac
        };
        Desktop { runtime, mac: Some(mac), events, seen: Vec::new() }
    }

    /// The backend itself.
    pub fn platform(&self) -> &dyn Platform {
        self.mac()
    }

    fn mac(&self) -> &MacDesktop {
        self.mac.as_ref().expect("it runs")
    }

    /// Waits for an event of the desktop.
    pub fn wait_for_event(&mut self, is_it: impl Fn(&DesktopEvent) -> bool) -> DesktopEvent {
        let deadline = Instant::now() + WAIT_TIMEOUT;
        loop {
            if let Some(found) = self.seen.iter().find(|event| is_it(event)) {
                return found.clone();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let events = &mut self.events;
            let next = self.runtime.block_on(async { tokio::time::timeout(left, events.recv()).await });
            match next {
                Ok(Some(event)) => self.seen.push(event),
                _ => panic!("it was not told; told was {:?}", self.seen),
            }
        }
    }

    /// Has something done that is no app's own business.
    pub fn call<T>(&self, call: impl FnOnce(&dyn Platform, Gate) -> Reply<T>) -> Result<T, Failure> {
        let reply = {
            let _inside = self.runtime.enter();
            call(self.mac(), Gate::new())
        };
        self.runtime
            .block_on(async { tokio::time::timeout(WAIT_TIMEOUT, reply).await })
            .expect("an answer")
            .expect("one")
    }

    /// The findings of the doctor.
    pub fn examine(&self) -> Vec<Finding> {
        let reply = {
            let _inside = self.runtime.enter();
            self.mac().diagnose()
        };
        self.runtime.block_on(reply).expect("an answer").expect("findings")
    }

    /// Attaches an app.
    pub fn attach(&mut self, world: &World, app: &str) -> Attached {
        let pid = world.pid(app);
        let up = self.wait_for_event(|event| matches!(event, DesktopEvent::AppUp(seen) if seen.pid == pid));
        let DesktopEvent::AppUp(seen) = up else { unreachable!() };
        let (out, messages) = mpsc::channel(64);
        let counters = Arc::new(Counters::default());
        let mailbox = {
            let _inside = self.runtime.enter();
            self.mac().attach(&seen, out, Arc::clone(&counters))
        };
        Attached {
            mailbox: Some(mailbox),
            messages,
            handle: self.runtime.handle().clone(),
            counters,
            nodes: HashMap::new(),
            children: HashMap::new(),
            totals: HashMap::new(),
            degraded: None,
            degradations: Vec::new(),
            complete: false,
            announcements: Vec::new(),
        }
    }
}

/// An attached app.
pub struct Attached {
    pub mailbox: Option<WorkerHandle>,
    messages: mpsc::Receiver<WorkerEvent>,
    handle: tokio::runtime::Handle,
    pub counters: Arc<Counters>,
    pub nodes: HashMap<ElementKey, Facts>,
    pub children: HashMap<ElementKey, Vec<ElementKey>>,
    pub totals: HashMap<ElementKey, Option<u32>>,
    pub degraded: Option<String>,
    /// Why it was degraded, each time.
    pub degradations: Vec<String>,
    pub complete: bool,
    pub announcements: Vec<String>,
}

impl Attached {
    fn apply(&mut self, message: WorkerEvent) {
        match message {
            WorkerEvent::Batch(batch) => {
                for update in batch.updates {
                    match update {
                        Update::Gone(key) => self.forget(key),
                        Update::Upsert { key, facts } => {
                            self.nodes.insert(key, *facts);
                        }
                        Update::Children { parent, order, total } => {
                            self.children.insert(parent, order);
                            self.totals.insert(parent, total);
                        }
                    }
                }
            }
            WorkerEvent::Announcement(text) => self.announcements.push(text),
            WorkerEvent::State { degraded, complete } => {
                self.degradations.extend(degraded.clone());
                (self.degraded, self.complete) = (degraded, complete)
            }
            WorkerEvent::Reply(reply) => reply.deliver(),
        }
    }

    fn forget(&mut self, key: ElementKey) {
        self.nodes.remove(&key);
        self.totals.remove(&key);
        for child in self.children.remove(&key).unwrap_or_default() {
            self.forget(child);
        }
    }

    /// Applies updates until the condition holds; fails if it does not in time.
    #[track_caller]
    pub fn until(&mut self, what: &str, condition: impl Fn(&Attached) -> bool) {
        assert!(self.wait_until(WAIT_TIMEOUT, condition), "it does not come to be: {what}\n{}", self.tree());
    }

    /// Applies updates until the condition holds, or until the timeout; whether it holds.
    pub fn wait_until(&mut self, timeout: Duration, condition: impl Fn(&Attached) -> bool) -> bool {
        let deadline = Instant::now() + timeout;
        while !condition(self) {
            if Instant::now() >= deadline {
                return false;
            }
            let messages = &mut self.messages;
            match self.handle.block_on(async { tokio::time::timeout(POLL_INTERVAL, messages.recv()).await }) {
                Ok(Some(message)) => self.apply(message),
                Ok(None) => return condition(self),
                // What is waited for may not be of the app's telling.
                Err(_) => {}
            }
        }
        true
    }

    /// Makes a change, and checks that the app's notifications brought it into the tree: notifications were received, and
    /// no reading that nothing announced found a difference. The sweep may read a change just before its notification is
    /// handled; then the next change decides. Both closures get the number of the change, from 1 on.
    #[track_caller]
    pub fn expect_announced(
        &mut self,
        what: &str,
        change: impl Fn(u32),
        is_in_tree: impl Fn(&Attached, u32) -> bool,
    ) {
        for number in 1..=5 {
            // What was announced before is read by then, and is not taken for this change.
            self.fence();
            let (events, missed) = (self.events(), self.missed());
            change(number);
            self.until(what, |app| is_in_tree(app, number));
            if self.events() > events && self.missed() == missed {
                return;
            }
        }
        panic!("it came into the tree, but was not announced: {what}");
    }

    /// How many notifications of the app the worker has received.
    pub fn events(&self) -> u64 {
        self.counters.events.load(Ordering::Relaxed)
    }

    /// How many differences were found by reading again without a notification.
    pub fn missed(&self) -> u64 {
        self.counters.missed.load(Ordering::Relaxed)
    }

    /// Waits until the first walk is done.
    #[track_caller]
    pub fn walked(&mut self) {
        self.until("all of it is read", |app| app.complete);
    }

    /// Sends a request to the worker, and waits for the reply.
    #[track_caller]
    pub fn ask<T: Send + Sync + 'static>(
        &mut self,
        request: impl FnOnce(Responder<T>) -> WorkerRequest,
    ) -> Result<T, Failure> {
        let (responder, reply) = Responder::new();
        let mailbox = self.mailbox.as_ref().expect("it is attached");
        assert!(mailbox.send(request(responder)), "the worker is there");
        let reply = RefCell::new(reply);
        let answer = RefCell::new(None);
        self.until("an answer", |_| {
            let came = reply.borrow_mut().try_recv().ok();
            came.is_some_and(|came| answer.replace(Some(came)).is_none())
        });
        answer.into_inner().expect("it came")
    }

    #[track_caller]
    pub fn perform(&mut self, id: &str, act: Act) -> Result<(), Failure> {
        // A machine that is slow makes apps look silent now and then.
        self.until("it is well", |app| app.degraded.is_none());
        let key = self.key(id);
        self.ask(|reply| WorkerRequest::Perform { key, act, gate: Gate::new(), reply })
    }

    /// Performs an action that must succeed. It is tried again only if nothing was sent.
    #[track_caller]
    pub fn perform_ok(&mut self, id: &str, act: Act) {
        let began = Instant::now();
        loop {
            match self.perform(id, act.clone()) {
                Ok(_) => return,
                Err(failed) => {
                    let may_again = failed.kind == FailureKind::Unresponsive && failed.sent == Sent::No;
                    assert!(may_again && began.elapsed() < WAIT_TIMEOUT, "{id}, {act:?}: {failed:?}");
                }
            }
        }
    }

    /// Repeats a request until it is answered.
    #[track_caller]
    fn insist(&mut self, request: impl Fn(Responder<()>) -> WorkerRequest) {
        let began = Instant::now();
        while let Err(failed) = self.ask(&request) {
            assert!(began.elapsed() < WAIT_TIMEOUT, "the app answers: {failed:?}");
        }
    }

    #[track_caller]
    pub fn fence(&mut self) {
        self.insist(|reply| WorkerRequest::Fence { reply });
    }

    #[track_caller]
    pub fn walk_again(&mut self) {
        self.insist(|reply| WorkerRequest::Walk { key: ElementKey::APP, reply });
    }

    #[track_caller]
    pub fn measure(&mut self, id: &str) -> Measured {
        let key = self.key(id);
        match self.ask(|reply| WorkerRequest::Measure { keys: vec![key], reply }) {
            Ok(measured) => *measured.first().expect("it is there"),
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    pub fn hit_test(&mut self, point: Point) -> Option<ElementKey> {
        match self.ask(|reply| WorkerRequest::HitTest { point, reply }) {
            Ok(found) => found,
            other => panic!("{other:?}"),
        }
    }

    /// The element of the widget with this id.
    #[track_caller]
    pub fn key(&self, id: &str) -> ElementKey {
        let found = self.all().into_iter().find(|(_, facts, _)| facts.identifier.as_deref() == Some(id));
        found.map(|(key, ..)| key).unwrap_or_else(|| panic!("no {id} in\n{}", self.tree()))
    }

    pub fn has(&self, id: &str) -> bool {
        self.all().iter().any(|(_, facts, _)| facts.identifier.as_deref() == Some(id))
    }

    #[track_caller]
    pub fn facts(&self, id: &str) -> &Facts {
        &self.nodes[&self.key(id)]
    }

    /// Whether any element of this role has this name or value.
    pub fn has_text(&self, role: Role, text: &str) -> bool {
        self.all().iter().any(|(_, facts, _)| {
            facts.role == role && [&facts.name, &facts.value].iter().any(|said| said.as_deref() == Some(text))
        })
    }

    /// All elements from the app on down, each with its depth.
    fn all(&self) -> Vec<(ElementKey, &Facts, usize)> {
        let (mut all, mut waiting) = (Vec::new(), vec![(ElementKey::APP, 0)]);
        while let Some((key, depth)) = waiting.pop() {
            let Some(facts) = self.nodes.get(&key) else { continue };
            all.push((key, facts, depth));
            let children = self.children.get(&key).map(Vec::as_slice).unwrap_or_default();
            waiting.extend(children.iter().rev().map(|child| (*child, depth + 1)));
        }
        all
    }

    /// The tree as text, for messages.
    pub fn tree(&self) -> String {
        let line = |(_, facts, depth): &(ElementKey, &Facts, usize)| {
            let Facts { role, name, value, states, identifier, .. } = facts;
            format!("{:depth$}{role} {name:?} {value:?} {identifier:?} {states:?}\n", "", depth = depth * 2)
        };
        self.all().iter().map(line).collect()
    }
}
