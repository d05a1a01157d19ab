use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axd_protocol::command::{Sim, SimVerb};
use axd_protocol::{Point, Role, State};
use tokio::sync::mpsc;

use super::{SimDesktop, SimOptions, script::Script};
use crate::platform::{
    AppSeen, Cause, Counters, DesktopEvent, ElementKey, Facts, Failure, FailureKind, FromWorker, Mailbox,
    Measured, Platform, ToWorker, Update, WindowSeen, WorkerAnswer,
};

/// A desktop, and what it has told.
struct Rig {
    desktop: SimDesktop,
    events: mpsc::UnboundedReceiver<DesktopEvent>,
    apps: Vec<AppSeen>,
    windows: Vec<WindowSeen>,
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
                DesktopEvent::Windows(windows) => self.windows = windows,
                DesktopEvent::Frontmost { pid, .. } => self.frontmost = pid,
                DesktopEvent::Displays(displays) => self.displays = displays.len(),
            }
        }
    }

    fn app(&self, name: &str) -> AppSeen {
        self.apps.iter().find(|app| app.name == name).unwrap().clone()
    }

    async fn try_sim(&mut self, words: &str) -> Result<String, Failure> {
        let mut words = words.splitn(4, ' ');
        let app = words.next().unwrap().to_owned();
        let verb: SimVerb = serde_json::from_value(words.next().unwrap().into()).unwrap();
        let (target, text) = (words.next().map(str::to_owned), words.next().map(str::to_owned));
        let done = self.desktop.sim(Sim { app, verb, target, text }).await.unwrap();
        self.hear();
        done.map(|answer| answer.done)
    }

    async fn sim(&mut self, words: &str) -> String {
        self.try_sim(words).await.unwrap()
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

/// An attached app, reduced from what its worker tells.
struct Attached {
    mailbox: Mailbox,
    from: mpsc::Receiver<FromWorker>,
    counters: Arc<Counters>,
    nodes: HashMap<ElementKey, Node>,
    degraded: Option<String>,
    complete: bool,
    said: Vec<String>,
    batches: Vec<Cause>,
    last_ticket: u64,
    answers: HashMap<u64, Result<WorkerAnswer, Failure>>,
}

struct Node {
    facts: Facts,
    children: Vec<ElementKey>,
    total: Option<u32>,
}

impl Attached {
    fn empty() -> Attached {
        Attached {
            mailbox: Mailbox::new(|_| false),
            from: mpsc::channel(1).1,
            counters: Arc::default(),
            nodes: HashMap::new(),
            degraded: None,
            complete: false,
            said: vec![],
            batches: vec![],
            last_ticket: 0,
            answers: HashMap::new(),
        }
    }

    async fn next(&mut self) {
        match self.from.recv().await.expect("the worker goes on") {
            FromWorker::Batch(batch) => {
                self.batches.push(batch.cause);
                self.reduce(batch.updates);
            }
            FromWorker::Announcement(text) => self.said.push(text),
            FromWorker::State { degraded, complete } => (self.degraded, self.complete) = (degraded, complete),
            FromWorker::Answer { ticket, result } => drop(self.answers.insert(ticket, result)),
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

    async fn ask(&mut self, letter: impl FnOnce(u64) -> ToWorker) -> Result<WorkerAnswer, Failure> {
        self.last_ticket += 1;
        let ticket = self.last_ticket;
        assert!(self.mailbox.post(letter(ticket)));
        self.until(|app| app.answers.contains_key(&ticket)).await;
        self.answers.remove(&ticket).unwrap()
    }

    async fn fence(&mut self) {
        assert_eq!(self.ask(|ticket| ToWorker::Fence { ticket }).await, Ok(WorkerAnswer::Done));
    }

    fn watch(&self, keys: Vec<ElementKey>) {
        assert!(self.mailbox.post(ToWorker::Watch { interest: 1, keys }));
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
            text.push_str(&format!("{:depth$}{facts:?} {total:?}\n", ""));
            waiting.extend(children.iter().rev().map(|child| (*child, depth + 1)));
        }
        text
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_there_is_told_before_start_returns() {
    let rig = Rig::built_in();
    let names: Vec<&str> = rig.apps.iter().map(|app| app.name.as_str()).collect();
    assert_eq!(names, ["Paint", "Table", "Settings", "Notes", "Calculator"]);
    assert_eq!((rig.apps[0].pid, rig.displays, rig.windows.len()), (1001, 1, 5));
    assert_eq!(rig.windows[0].title, "Calculator");
    assert_eq!(rig.frontmost, Some(rig.app("Calculator").pid));
}

#[tokio::test(start_paused = true)]
async fn a_walk_finds_the_app_its_windows_and_everything_in_them() {
    let rig = Rig::built_in();
    let mut app = rig.begin("Settings", 64);
    app.next().await;
    assert_eq!(app.nodes[&ElementKey::APP].facts.role, Role::Application);
    assert_eq!(app.facts("main").window, Some(u64::from(rig.app("Settings").pid) * 100));
    app.until(|app| app.complete).await;
    assert!(app.batches.iter().all(|cause| *cause == Cause::Walk));
    assert!(app.is("password", State::Secure) && app.facts("password").value.is_none());
    assert_eq!(app.facts("volume").role, Role::Slider);
}

#[tokio::test(start_paused = true)]
async fn after_a_fence_everything_announced_has_been_told() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Calculator").await;
    for key in ["seven", "multiply", "six", "equals"] {
        rig.sim(&format!("calculator press {key}")).await;
    }
    app.fence().await;
    assert_eq!((app.value("display"), app.inside("history").len()), ("42", 1));
    assert_eq!(app.count(|counters| &counters.missed), 0);
    rig.agrees("Calculator", &app).await;
}

#[tokio::test(start_paused = true)]
async fn a_resting_worker_makes_no_call_but_for_the_sweep() {
    let rig = Rig::built_in();
    let app = rig.attach("Paint").await;
    let before = app.count(|counters| &counters.calls);
    tokio::time::advance(Duration::from_millis(400)).await;
    tokio::task::yield_now().await;
    assert_eq!(app.count(|counters| &counters.calls), before);
}

#[tokio::test(start_paused = true)]
async fn dialogs_windows_and_announcements_are_told() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Settings").await;
    rig.sim("Settings press tab-advanced").await;
    rig.sim("Settings press reset").await;
    app.fence().await;
    assert!(app.is("confirm", State::Modal) && app.is("cancel", State::Focused));
    assert_eq!(rig.windows[0].title, "Reset all settings?");
    assert_eq!(Some(rig.windows[0].window), app.facts("confirm").window);
    rig.sim("Settings press ok").await;
    app.fence().await;
    assert!(!app.has("confirm"));
    assert_eq!(app.said, ["Settings were reset"]);
    assert_eq!(rig.windows.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn scrolling_a_virtual_table_brings_rows_under_new_keys() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Table").await;
    let before = app.inside("table").to_vec();
    assert_eq!((before.len(), app.nodes[&app.key("table")].total), (20, Some(10_000)));
    rig.sim("Table scroll table 5000").await;
    app.fence().await;
    let after = app.inside("table");
    assert!(after.len() == 20 && after.iter().all(|row| !before.contains(row)));
    assert_eq!(app.nodes[&after[0]].facts.row, Some(4999));
    assert_eq!(app.nodes[&after[0]].children.len(), 3);
    rig.agrees("Table", &app).await;
}

#[tokio::test(start_paused = true)]
async fn rows_come_in_one_batch_with_what_is_in_them() {
    let rig = Rig::with("", "{ role = 'table', id = 't', generate = { rows = 5000, columns = 3 } }", "");
    let mut app = rig.begin("X", 64);
    while !app.complete {
        app.next().await;
        let rows = app.nodes.values().filter(|node| node.facts.role == Role::Row);
        assert!(rows.into_iter().all(|row| row.children.len() == 3));
    }
    assert_eq!(app.nodes.len(), 20_003);
    assert!(app.batches.len() > 3, "a large app comes in pieces");
}

#[tokio::test(start_paused = true)]
async fn what_changes_during_the_walk_is_read_again() {
    let mut rig = Rig::with(
        "",
        "{ role = 'text', id = 'first', value = 'old' }, { role = 'button', id = 'go' }, \
         { role = 'list', id = 'l', generate = { rows = 3000 } }",
        "[[rule]]\non = 'press:go'\ndo = [{ set = 'first', text = 'new' }]",
    );
    // With room for one message the walk cannot get ahead of us.
    let mut app = rig.begin("X", 1);
    app.until(|app| app.has("first")).await;
    rig.sim("X press go").await;
    app.until(|app| app.complete).await;
    app.fence().await;
    assert_eq!(app.value("first"), "new");
    rig.agrees("X", &app).await;
}

#[tokio::test(start_paused = true)]
async fn rows_that_gtk4_does_not_announce_are_found_by_who_waits_on_them() {
    let mut rig = Rig::with(
        "profile = 'gtk4'",
        "{ role = 'list', id = 'l' }, { role = 'button', id = 'more' }",
        "[template.item]\nrole = 'listitem'\nid = 'item-{n}'\nname = 'Item {n}'\n\
         [[rule]]\non = 'press:more'\ndo = [{ add = 'item', into = 'l' }]",
    );
    let mut app = rig.attach("X").await;
    rig.sim("X press more").await;
    app.fence().await;
    assert!(!app.has("item-1"), "a fence cannot tell what is not announced");
    app.watch(vec![app.key("l")]);
    app.until(|app| app.has("item-1")).await;
    assert_eq!(app.batches.last(), Some(&Cause::Reread));
    assert!(app.count(|counters| &counters.missed) > 0);
}

#[tokio::test(start_paused = true)]
async fn the_sweep_finds_what_a_silent_app_does_not_say() {
    let mut rig = Rig::with(
        "profile = 'silent'",
        "{ role = 'text', id = 't', value = 'old' }, { role = 'button', id = 'go' }",
        "[[rule]]\non = 'press:go'\ndo = [{ set = 't', text = 'new' }, { announce = 'hush' }]",
    );
    let mut app = rig.attach("X").await;
    rig.sim("X press go").await;
    app.fence().await;
    assert_eq!((app.value("t"), app.count(|counters| &counters.events)), ("old", 0));
    app.until(|app| app.value("t") == "new").await;
    assert_eq!(app.batches.last(), Some(&Cause::Sweep));
    assert_eq!(app.count(|counters| &counters.missed), 1);
}

#[tokio::test(start_paused = true)]
async fn walking_again_finds_it_at_once() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    rig.sim("Notes fault drop-events").await;
    rig.sim("Notes press new").await;
    app.fence().await;
    assert!(!app.has("note-4"));
    app.ask(|ticket| ToWorker::Walk { key: ElementKey::APP, ticket }).await.unwrap();
    assert!(app.has("note-4"));
    rig.sim("Notes heal").await;
    rig.sim("Notes press new").await;
    app.fence().await;
    assert!(app.has("note-5"));
    rig.agrees("Notes", &app).await;
}

#[tokio::test(start_paused = true)]
async fn appkit_never_announces_enabled_and_swallows_every_second_end() {
    let mut rig = Rig::with(
        "profile = 'appkit'",
        "{ role = 'button', id = 'a' }, { role = 'button', id = 'b' }, { role = 'button', id = 'c' }",
        "[[rule]]\non = 'press:a'\ndo = [{ disable = 'a' }, { remove = 'b' }, { remove = 'c' }]",
    );
    let mut app = rig.attach("X").await;
    rig.sim("X press a").await;
    app.fence().await;
    // The end of b was told, which has the worker read the parent: so c is known to be gone as well.
    assert!(!app.has("b") && !app.has("c") && !app.is("a", State::Disabled));
    app.watch(vec![app.key("a")]);
    app.until(|app| app.is("a", State::Disabled)).await;
}

#[tokio::test(start_paused = true)]
async fn qt_tells_late() {
    let mut rig = Rig::with(
        "profile = 'qt'",
        "{ role = 'text', id = 't' }, { role = 'button', id = 'go' }",
        "[[rule]]\non = 'press:go'\ndo = [{ set = 't', text = 'new' }]",
    );
    let mut app = rig.attach("X").await;
    let started = tokio::time::Instant::now();
    rig.sim("X press go").await;
    app.fence().await;
    assert_eq!(app.value("t"), "");
    app.until(|app| app.value("t") == "new").await;
    assert_eq!(started.elapsed().as_millis(), super::announce::LATE.as_millis());
    assert_eq!(app.batches.last(), Some(&Cause::Event));
}

#[tokio::test(start_paused = true)]
async fn an_element_never_listed_gives_its_parent_away_when_it_announces() {
    let mut rig = Rig::with(
        "profile = 'gtk4'",
        "{ role = 'list', id = 'l' }, { role = 'button', id = 'more' }, { role = 'button', id = 'name' }",
        "[template.item]\nrole = 'listitem'\nid = 'item-{n}'\n\
         [[rule]]\non = 'press:more'\ndo = [{ add = 'item', into = 'l' }]\n\
         [[rule]]\non = 'press:name'\ndo = [{ rename = 'last:l', text = 'Named' }]",
    );
    let mut app = rig.attach("X").await;
    rig.sim("X press more").await;
    rig.sim("X press name").await;
    app.fence().await;
    assert_eq!(app.facts("item-1").name.as_deref(), Some("Named"));
}

#[tokio::test(start_paused = true)]
async fn a_hung_app_is_degraded_until_it_answers_again() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    rig.sim("Notes fault hang").await;
    let failure = app.ask(|ticket| ToWorker::Fence { ticket }).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unresponsive);
    let walk = app.ask(|ticket| ToWorker::Walk { key: ElementKey::APP, ticket }).await.unwrap_err();
    assert_eq!(walk.kind, FailureKind::Unresponsive);
    assert!(app.degraded.as_ref().is_some_and(|text| text.contains("800 ms")), "{:?}", app.degraded);
    let refused = rig.try_sim("Notes press new").await.unwrap_err();
    assert!(refused.native.contains("ax sim Notes heal"), "{refused}");
    rig.sim("Notes heal").await;
    app.until(|app| app.degraded.is_none()).await;
    rig.sim("Notes press new").await;
    app.fence().await;
    assert!(app.complete);
    rig.agrees("Notes", &app).await;
}

#[tokio::test(start_paused = true)]
async fn an_app_that_hangs_before_it_is_attached_is_walked_when_it_wakes() {
    let mut rig = Rig::built_in();
    rig.sim("Paint fault hang").await;
    let mut app = rig.begin("Paint", 64);
    app.until(|app| app.degraded.is_some()).await;
    assert!(!app.complete && app.nodes.is_empty());
    rig.sim("Paint heal").await;
    app.until(|app| app.complete).await;
    assert!(app.has("canvas") && app.degraded.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_slow_app_is_walked_all_the_same() {
    let mut rig = Rig::built_in();
    rig.sim("Settings fault slow 300").await;
    let app = rig.attach("Settings").await;
    assert!(app.has("apply") && app.degraded.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_dead_app_is_gone_from_the_desktop_and_its_worker_says_so() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Paint").await;
    rig.sim("Paint fault die").await;
    assert!(rig.apps.iter().all(|app| app.name != "Paint"));
    assert!(rig.windows.iter().all(|window| window.title != "Paint"));
    app.until(|app| app.degraded.is_some()).await;
    let failure = app.ask(|ticket| ToWorker::Fence { ticket }).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Gone);
    let idle = rig.try_sim("Paint press canvas").await.unwrap_err();
    assert!(idle.native.contains("ax sim Paint launch"), "{idle}");
}

#[tokio::test(start_paused = true)]
async fn an_app_started_again_has_another_pid_and_the_same_identity() {
    let mut rig = Rig::built_in();
    let before = rig.app("Notes");
    rig.sim("sim.notes restart").await;
    let after = rig.app("Notes");
    assert!(after.pid != before.pid && after.identity == before.identity);
    assert_eq!((rig.frontmost, rig.windows.len()), (Some(after.pid), 5));
    rig.sim(&format!("{} quit", after.pid)).await;
    assert_eq!(rig.windows.len(), 4);
    rig.sim("Notes launch").await;
    assert_eq!(rig.windows[0].pid, rig.app("Notes").pid);
}

#[tokio::test(start_paused = true)]
async fn a_flood_nobody_listens_to_costs_nothing_and_ends_at_the_truth() {
    let mut rig = Rig::built_in();
    let (out, from) = mpsc::channel(1);
    let mut app = rig.attach("Calculator").await;
    let counters = Arc::new(Counters::default());
    app.mailbox = rig.desktop.attach(&rig.app("Calculator"), out, Arc::clone(&counters));
    app.from = from;
    app.nodes.clear();
    app.counters = counters;
    app.complete = false;
    rig.sim("Calculator fault flood 20000").await;
    app.until(|app| app.complete).await;
    app.batches.clear();
    rig.sim("Calculator fault flood 20000").await;
    app.fence().await;
    assert_eq!(app.value("display"), "20000");
    assert!(app.count(|counters| &counters.events) >= 20_000);
    assert!(app.batches.len() <= 3, "{} batches", app.batches.len());
}

#[tokio::test(start_paused = true)]
async fn a_moved_widget_keeps_its_key() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    let before = app.key("search");
    rig.sim("Notes fault reparent search status").await;
    app.fence().await;
    assert_eq!(app.key("search"), before);
    assert!(app.inside("status").contains(&before) && !app.inside("toolbar").contains(&before));
    rig.agrees("Notes", &app).await;
}

#[tokio::test(start_paused = true)]
async fn cycles_and_second_parents_are_cut_in_the_walk_and_after_it() {
    for (fault, name) in [("cycle", "Notes"), ("double-parent", "Calculator"), ("cycle keypad", "Calculator")]
    {
        let mut rig = Rig::built_in();
        let mut before = rig.attach(name).await;
        let sound = before.text();
        rig.sim(&format!("{name} fault {fault}")).await;
        before.fence().await;
        assert_eq!(before.text(), sound, "{fault}, after the walk");
        let during = rig.attach(name).await;
        assert_eq!(during.nodes.len(), before.nodes.len(), "{fault}, in the walk");
        rig.sim(&format!("{name} heal")).await;
        before.fence().await;
        rig.agrees(name, &before).await;
    }
}

#[tokio::test(start_paused = true)]
async fn elements_that_die_before_they_are_read_are_never_told() {
    let mut rig = Rig::built_in();
    rig.sim("Notes fault vanish 5").await;
    let mut app = rig.attach("Notes").await;
    let sound = app.text();
    rig.sim("Notes fault vanish 5").await;
    app.fence().await;
    assert_eq!(app.text(), sound);
}

#[tokio::test(start_paused = true)]
async fn an_app_that_suddenly_is_huge_is_read() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Paint").await;
    rig.sim("Paint fault huge 3000").await;
    app.fence().await;
    assert!(app.nodes.len() > 3000);
    rig.agrees("Paint", &app).await;
}

#[tokio::test(start_paused = true)]
async fn elements_are_measured_and_found_by_point() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Settings").await;
    let (apply, user) = (app.key("apply"), app.key("user"));
    let keys = vec![apply, user, ElementKey(999_999)];
    let answer = app.ask(|ticket| ToWorker::Measure { keys, ticket }).await;
    let Ok(WorkerAnswer::Geometry(measured)) = answer else { panic!("{answer:?}") };
    let [Measured { bounds: Some(bounds), visible: true, .. }, hidden] = measured[..] else {
        panic!("{measured:?}")
    };
    assert_eq!(hidden, Measured { key: user, bounds: None, visible: false });
    let point = Point { x: bounds.x + 3, y: bounds.y + 3 };
    let found = app.ask(|ticket| ToWorker::HitTest { point, ticket }).await;
    assert_eq!(found, Ok(WorkerAnswer::Element(Some(apply))));
    let point = Point { x: 1270, y: 790 };
    let nothing = app.ask(|ticket| ToWorker::HitTest { point, ticket }).await;
    assert_eq!(nothing, Ok(WorkerAnswer::Element(None)));
    // Found where it is although its arrival was never announced.
    rig.sim("Settings fault drop-events").await;
    rig.sim("Settings press tab-advanced").await;
    rig.sim("Settings press reset").await;
    let dialog = rig.windows[0].bounds.unwrap();
    let point = Point { x: dialog.x + 1, y: dialog.y + 1 };
    let found = app.ask(|ticket| ToWorker::HitTest { point, ticket }).await;
    assert_eq!(found, Ok(WorkerAnswer::Element(Some(app.key("confirm")))));
}

#[tokio::test(start_paused = true)]
async fn a_worker_ends_with_its_mailbox_or_its_listener() {
    let rig = Rig::built_in();
    let mut app = rig.attach("Notes").await;
    app.mailbox = Mailbox::new(|_| false);
    while app.from.recv().await.is_some() {}
    let app = rig.attach("Notes").await;
    drop(app.from);
    while app.mailbox.post(ToWorker::Unwatch { interest: 0 }) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_makes_no_sense_is_refused_with_what_would() {
    let mut rig = Rig::built_in();
    for (words, says) in [
        ("Notepad press new", "there are: Paint, Table, Settings, Notes, Calculator"),
        ("Notes press nwe", "there are: body,"),
        ("Notes press", "`ax sim Notes press WIDGET`"),
        ("Notes set body", "`ax sim Notes set WIDGET TEXT`"),
        ("Table scroll table far", "a row's number"),
        ("Settings press apply", "button 'apply' is disabled"),
        ("Notes fault melt", "faults: drop-events"),
        ("Notes press status-text", "text 'status-text' cannot be pressed"),
    ] {
        let failure = rig.try_sim(words).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invalid, "{words}");
        assert!(failure.native.contains(says), "{words}: {failure}");
    }
}

#[tokio::test(start_paused = true)]
async fn using_an_app_brings_it_to_the_front() {
    let mut rig = Rig::built_in();
    rig.sim("Paint press canvas").await;
    assert_eq!(rig.frontmost, Some(rig.app("Paint").pid));
    rig.sim("Table raise").await;
    assert_eq!(rig.windows[0].title, "Table");
}

#[tokio::test(start_paused = true)]
async fn what_an_app_does_later_is_told_when_it_happens() {
    let mut rig = Rig::built_in();
    let mut app = rig.attach("Settings").await;
    rig.sim("Settings press tab-advanced").await;
    rig.sim("Settings press update").await;
    app.fence().await;
    assert!(app.is("progress", State::Busy));
    app.until(|app| app.value("progress") == "100" && !app.is("progress", State::Busy)).await;
    app.until(|app| app.said == ["Up to date"]).await;
}
