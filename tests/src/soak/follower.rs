//! A client that keeps replicas by a subscription, and holds them against fresh trees and against what the daemon says has changed.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axd_client::Live;
use axd_protocol::event::{Event, Push};
use axd_protocol::{Clock, Node, Replica};
use serde_json::{Value, json};

use super::book::{Book, Wrong};
use super::clients::Dice;
use super::ground::{App, Ground};
use super::wire::{Line, Wire};

/// For how long a replica may differ from what fresh clients get. The two are never read at the same instant.
const DIFFERS: Duration = Duration::from_secs(10);
/// How long a change may take to a client that reads.
const LATE: Duration = Duration::from_secs(5);
/// How long an answer may take.
const NEVER: Duration = Duration::from_secs(40);

/// Follows all apps until the soak is over.
pub fn follower(ground: &Ground, seed: u64) {
    let mut dice = Dice::new(seed);
    while !ground.is_over() {
        let Some(wire) = ground.connect() else { return };
        let mut follower = Follower {
            ground,
            wire,
            live: Live::new(),
            main: 0,
            pending: HashMap::new(),
            looks: HashMap::new(),
            differs: HashMap::new(),
            behind: HashMap::new(),
        };
        follower.run(&mut dice);
    }
}

/// A question that was not answered yet.
enum Asked {
    /// For a second subscription, whose first line is the fresh tree of an app.
    Fresh { app: usize, generation: u64 },
    /// For what changed since the clock of a replica.
    Changes { pid: u32, since: Clock, app: usize, generation: u64 },
    /// For anything else.
    Other,
}

struct Follower<'a> {
    ground: &'a Ground,
    wire: Wire,
    live: Live,
    /// The number of the subscription that feeds the replicas.
    main: u64,
    pending: HashMap<u64, (Asked, Instant)>,
    /// The second subscriptions: the request of each, and the app it is for.
    looks: HashMap<u64, (u64, usize, u64)>,
    /// Since when the replica of an app differs.
    differs: HashMap<usize, Instant>,
    /// Replicas of which the daemon says that there are changes since their clock, and since when it does.
    behind: HashMap<u32, (Clock, Instant, usize, u64)>,
}

impl Follower<'_> {
    /// Follows until the soak is over, or the stream has to be begun again.
    fn run(&mut self, dice: &mut Dice) {
        let began = Instant::now();
        let Some(first) = self.wire.begin("subscribe", json!({ "snapshot": true }), 10_000) else { return };
        self.pending.insert(first, (Asked::Other, began));
        let mut look_at = Instant::now() + Duration::from_millis(1_000 + dice.below(3_000) as u64);
        while !self.ground.is_over() {
            if Instant::now() >= look_at {
                let app = dice.below(self.ground.apps.len());
                self.look(app);
                look_at = Instant::now() + Duration::from_millis(2_000 + dice.below(2_000) as u64);
            }
            let differing: Vec<usize> = self.differs.keys().copied().collect();
            if self.looks.is_empty() && self.pending.len() < 4 {
                differing.into_iter().for_each(|app| self.look(app));
            }
            match self.wire.line(Duration::from_millis(250)) {
                Line::Text(line) => {
                    if !self.take(&line) {
                        return;
                    }
                }
                Line::Late => {}
                Line::Closed => {
                    self.ground.book.wrong(Wrong::Closed, || "a follower".into());
                    return;
                }
            }
            if !self.is_on_time() {
                return;
            }
        }
    }

    fn ask(&mut self, command: &str, args: Value, asked: Asked) -> Option<u64> {
        let id = self.wire.begin(command, args, 10_000)?;
        self.pending.insert(id, (asked, Instant::now()));
        Some(id)
    }

    /// Asks for the fresh tree of an app, and for what changed since the replica's clock.
    fn look(&mut self, app: usize) {
        let known = &self.ground.apps[app];
        let Some(generation) = known.generation() else { return };
        self.ask(
            "subscribe",
            json!({ "app": known.spec(), "snapshot": true, "kind": ["changes"] }),
            Asked::Fresh { app, generation },
        );
        let Some((pid, since)) = self.held(known).map(|(pid, clock, _)| (pid, clock)) else { return };
        self.ask(
            "changes",
            json!({ "app": known.spec(), "since": since }),
            Asked::Changes { pid, since, app, generation },
        );
    }

    /// What is held of an app: its pid, the clock and the tree.
    fn held(&self, app: &App) -> Option<(u32, Clock, &Replica)> {
        let spec = app.spec();
        let live =
            self.live.apps().find(|live| live.info.pid.to_string() == spec || live.info.name == spec)?;
        Some((live.info.pid, live.clock, &live.tree))
    }

    /// Takes in a line; false if the stream has to be begun again.
    fn take(&mut self, line: &[u8]) -> bool {
        let Some(value) = self.ground.read(line) else { return false };
        if value.get("sub").is_none() {
            return self.take_answer(&value);
        }
        let push: Push = match serde_json::from_value(value) {
            Ok(push) => push,
            Err(fault) => {
                self.ground.book.wrong(Wrong::Internal, || format!("an event: {fault}"));
                return false;
            }
        };
        if push.sub != self.main {
            if let (Some((request, app, generation)), Event::Fresh { tree, clock, .. }) =
                (self.looks.remove(&push.sub), push.event)
            {
                self.ask("cancel", json!({ "id": request }), Asked::Other);
                self.compare(app, generation, clock, tree);
            }
            return true;
        }
        Book::add(&self.ground.book.events);
        if let Event::Changes { clock, app, .. } = &push.event
            && let Some(live) = self.live.app(app.pid)
            && clock.tick <= live.clock.tick
        {
            self.ground
                .book
                .wrong(Wrong::Missed, || format!("{clock} of {} came after {}", app.name, live.clock));
        }
        if let Err(fault) = self.live.take(push) {
            self.ground.book.wrong(Wrong::Diverged, || format!("a difference does not fit: {fault}"));
            return false;
        }
        true
    }

    fn take_answer(&mut self, answer: &Value) -> bool {
        let Some((asked, began)) = answer["id"].as_u64().and_then(|id| self.pending.remove(&id)) else {
            return true;
        };
        let kind = match answer["command"].as_str() {
            Some("subscribe") => "subscribe",
            Some("changes") => "changes",
            _ => "cancel",
        };
        self.ground.book.answered(kind, began.elapsed());
        self.ground.note_error(answer, kind);
        let sub = answer["data"]["sub"].as_u64();
        match asked {
            Asked::Other if kind == "subscribe" => {
                self.main = sub.unwrap_or(0);
                return sub.is_some();
            }
            Asked::Other => {}
            Asked::Fresh { app, generation } => {
                if let (Some(sub), Some(id)) = (sub, answer["id"].as_u64()) {
                    self.looks.insert(sub, (id, app, generation));
                }
            }
            Asked::Changes { pid, since, app, generation } => {
                if answer["data"]["apps"].as_array().is_some_and(|apps| !apps.is_empty()) {
                    self.behind.entry(pid).or_insert((since, Instant::now(), app, generation));
                }
            }
        }
        true
    }

    /// Compares what is held of an app with its fresh tree.
    fn compare(&mut self, app: usize, generation: u64, clock: Clock, fresh: Option<Node>) {
        let known = &self.ground.apps[app];
        if known.generation() != Some(generation) {
            self.differs.remove(&app);
            return;
        }
        // Through a replica, as the other side: how much of a node is shown is not part of the content.
        let fresh = Replica::new(fresh);
        let held = self.held(known);
        if held.as_ref().is_some_and(|(_, _, tree)| **tree == fresh) {
            Book::add(&self.ground.book.compared);
            self.differs.remove(&app);
            for node in fresh.tree().iter().flat_map(Node::walk) {
                let witness = format!("{}:{}", node.role.name(), node.name.as_deref().unwrap_or(""));
                if known.witnesses.contains(&witness) {
                    known.saw(&self.ground.book, &witness, node.id.as_str(), generation);
                }
            }
            return;
        }
        let same_clock = held.as_ref().is_some_and(|(_, held, _)| *held == clock);
        let since = *self.differs.entry(app).or_insert_with(Instant::now);
        if same_clock || since.elapsed() > DIFFERS {
            let text = difference(self.held(known).map(|(_, _, tree)| tree), &fresh);
            self.ground.book.wrong(Wrong::Diverged, || {
                format!("{} at {clock}, same clock {same_clock}: {text}", known.name)
            });
            self.differs.remove(&app);
        }
    }

    /// Whether no answer and no event is overdue; false if the stream has to be begun again.
    fn is_on_time(&mut self) -> bool {
        if self.pending.values().any(|(_, began)| began.elapsed() > NEVER) {
            self.ground.book.wrong(Wrong::Unanswered, || "a follower".into());
            return false;
        }
        let (live, ground) = (&self.live, self.ground);
        self.behind.retain(|pid, (since, began, app, generation)| {
            let still = live.app(*pid).is_some_and(|held| held.clock == *since);
            let lives = ground.apps[*app].generation() == Some(*generation);
            if still && lives && began.elapsed() > LATE {
                ground
                    .book
                    .wrong(Wrong::Missed, || format!("{} changed since {since}", ground.apps[*app].name));
                return false;
            }
            still && lives
        });
        true
    }
}

fn difference(held: Option<&Replica>, fresh: &Replica) -> String {
    let Some(held) = held else { return "nothing is held".into() };
    let (a, b) = (held.tree(), fresh.tree());
    let bare = |node: &Node| Node { children: Vec::new(), ..node.clone() };
    let walk = |tree: &Option<Node>| tree.iter().flat_map(Node::walk).map(bare).collect::<Vec<_>>();
    let (a, b) = (walk(&a), walk(&b));
    match a.iter().zip(&b).find(|(a, b)| a != b) {
        Some((a, b)) => format!("held {a:?}, fresh {b:?}"),
        None => format!("held {} elements, fresh {}", a.len(), b.len()),
    }
}
