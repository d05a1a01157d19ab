//! The clients of a soak, but for followers: those that read, those that act, and those that misbehave.

use std::io::{Read, Write};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use serde_json::{Value, json};

use super::book::{Book, Wrong};
use super::ground::{App, Ground, Kind};
use super::wire::{Line, Wire};

/// Numbers without a pattern that matters, the same for the same seed.
#[derive(Debug)]
pub struct Dice(u64);

impl Dice {
    /// Dice of this seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    /// One of these.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// Reads in every way, about three times a second.
pub fn reader(ground: &Ground, seed: u64) {
    let mut dice = Dice::new(seed);
    let Some(mut wire) = ground.connect() else { return };
    let mut clock = Value::Null;
    while !ground.is_over() {
        let app = dice.one(&ground.apps);
        let spec = app.spec();
        let answer = match dice.below(12) {
            0 | 1 => get_by_id(ground, &mut wire, app, &mut dice),
            2 | 3 => get_by_name(ground, &mut wire, app, &mut dice),
            4 => ground.ask(&mut wire, "find", "find", json!({ "selector": "button", "app": spec })),
            5 => {
                let selector = "*[name~=\"B\"], list > *, textfield[value~=\"x\"]";
                ground.ask(
                    &mut wire,
                    "find",
                    "find",
                    json!({ "selector": selector, "app": spec, "count": true }),
                )
            }
            6 => ground.ask(&mut wire, "snapshot", "snapshot", json!({ "app": spec })),
            7 => ground.ask(
                &mut wire,
                "snapshot",
                "snapshot",
                json!({ "app": spec, "max_nodes": 0, "actions": true }),
            ),
            8 if clock.is_string() => {
                ground.ask(&mut wire, "changes", "changes", json!({ "since": clock, "app": spec }))
            }
            9 => ground.ask(&mut wire, "list-apps", "list-apps", json!({})),
            10 => {
                let selector = dice.one(&app.witnesses);
                let args = json!({ "for": [selector], "app": spec, "timeout": 5_000 });
                ground.ask(&mut wire, "wait", "wait", args)
            }
            11 => {
                let args = json!({ "for": ["button:\"Never there\""], "app": spec, "timeout": 300 });
                ground.ask(&mut wire, "wait in vain", "wait", args)
            }
            _ => ground.ask(&mut wire, "status", "status", json!({})),
        };
        match answer {
            Some(answer) if answer["clock"].is_string() => clock = answer["clock"].clone(),
            Some(_) => {}
            None => match ground.connect() {
                Some(again) => wire = again,
                None => return,
            },
        }
        ground.pause(Duration::from_millis(200 + dice.below(260) as u64));
    }
}

fn get_by_id(ground: &Ground, wire: &mut Wire, app: &App, dice: &mut Dice) -> Option<Value> {
    let witness = dice.one(&app.witnesses);
    let (Some(id), Some(before)) = (app.id_of(witness), app.generation()) else {
        return get_by_name(ground, wire, app, dice);
    };
    let answer = ground.ask(wire, "get", "get", json!({ "target": id, "app": app.spec() }))?;
    if app.generation() != Some(before) {
        return Some(answer);
    }
    Book::add(&ground.book.ids_checked);
    let (role, name) = witness.split_once(':').unwrap_or((witness, ""));
    let node = &answer["data"]["node"];
    match answer["error"]["code"].as_str() {
        Some("STALE_REF" | "ELEMENT_NOT_FOUND") => {
            ground.book.wrong(Wrong::IdDied, || {
                format!("{} {witness} {id}: {}", app.name, answer["error"]["message"])
            });
        }
        None if node["role"] != role || node["name"] != name => {
            ground.book.wrong(Wrong::IdChanged, || format!("{} {witness} {id} is {node}", app.name));
        }
        _ => {}
    }
    Some(answer)
}

fn get_by_name(ground: &Ground, wire: &mut Wire, app: &App, dice: &mut Dice) -> Option<Value> {
    let (witness, before) = (dice.one(&app.witnesses), app.generation());
    let answer = ground.ask(wire, "get", "get", json!({ "target": witness, "app": app.spec() }))?;
    if let (Some(id), Some(generation)) = (answer["data"]["node"]["id"].as_str(), before)
        && app.generation() == before
    {
        app.saw(&ground.book, witness, id, generation);
    }
    Some(answer)
}

/// Clicks, checks and sets values, about once a second.
pub fn actor(ground: &Ground, seed: u64) {
    let mut dice = Dice::new(seed);
    let Some(mut wire) = ground.connect() else { return };
    let apps: Vec<&App> = ground.apps.iter().filter(|app| app.kind != Kind::Storm).collect();
    while !ground.is_over() {
        let app = *dice.one(&apps);
        let common = json!({ "app": app.spec(), "settle_ms": 200, "timeout_ms": 3_000, "route": "semantic" });
        let with = |more: Value| {
            let mut all = common.clone();
            if let (Some(all), Some(more)) = (all.as_object_mut(), more.as_object()) {
                all.extend(more.clone());
            }
            all
        };
        let answer = match dice.below(4) {
            0 => {
                let value = format!("x{}", dice.below(1_000));
                let target = format!("textfield:F{}", dice.below(4));
                ground.ask(
                    &mut wire,
                    "set-value",
                    "set-value",
                    with(json!({ "target": target, "value": value })),
                )
            }
            1 => {
                let target = format!("checkbox:C{}", dice.below(4));
                let command = if dice.below(2) == 0 { "check" } else { "uncheck" };
                ground.ask(&mut wire, "check", command, with(json!({ "target": target })))
            }
            _ => {
                let target = format!("button:B{}", dice.below(8));
                let answer = ground.ask(&mut wire, "click", "click", with(json!({ "target": target })));
                count_click(app, answer.as_ref());
                answer
            }
        };
        if answer.is_none() {
            match ground.connect() {
                Some(again) => wire = again,
                None => return,
            }
        }
        ground.pause(Duration::from_millis(700 + dice.below(600) as u64));
    }
}

fn count_click(app: &App, answer: Option<&Value>) {
    let delivery = answer.map(|answer| answer["error"]["disposition"]["delivery"].as_str());
    match (answer, delivery.flatten()) {
        (Some(answer), _) if answer["ok"] == true => app.clicked.fetch_add(1, Relaxed),
        (_, Some("not_delivered")) => 0,
        _ => app.uncertain.fetch_add(1, Relaxed),
    };
}

/// Connects, asks, and is gone before the answer, or in the middle of a line.
pub fn dropper(ground: &Ground, seed: u64) {
    let mut dice = Dice::new(seed);
    while !ground.is_over() {
        let Some(mut wire) = ground.connect() else { return };
        let spec = dice.one(&ground.apps).spec();
        match dice.below(4) {
            0 => drop(wire.stream().write_all(br#"{"id":1,"command":"get","ar"#)),
            1 => drop(wire.begin("snapshot", json!({ "app": spec, "max_nodes": 0 }), 10_000)),
            2 => drop(wire.begin("wait", json!({ "for": ["button:\"Never there\""], "app": spec }), 10_000)),
            _ => {
                wire.begin("subscribe", json!({ "snapshot": true }), 10_000);
                let _ = wire.stream().read(&mut [0; 512]);
            }
        }
        drop(wire);
        ground.pause(Duration::from_millis(300 + dice.below(900) as u64));
    }
}

/// Asks for much, does not read for a while, and then wants every answer.
pub fn slow_reader(ground: &Ground, seed: u64) {
    let mut dice = Dice::new(seed);
    while !ground.is_over() {
        let Some(mut wire) = ground.connect() else { return };
        let spec = dice.one(&ground.apps).spec();
        wire.begin("subscribe", json!({ "snapshot": true }), 10_000);
        const ASKED: u64 = 40;
        for _ in 0..ASKED {
            wire.begin("snapshot", json!({ "app": spec, "max_nodes": 0 }), 60_000);
        }
        ground.pause(Duration::from_secs(3 + dice.below(5) as u64));
        let mut answers = 0;
        while answers < ASKED + 1 {
            match wire.line(Duration::from_secs(30)) {
                Line::Text(line) => {
                    let answer = ground.read(&line).unwrap_or_default();
                    answers += u64::from(answer.get("id").is_some());
                    ground.note_error(&answer, "a slow reader");
                }
                Line::Late => {
                    ground
                        .book
                        .wrong(Wrong::Unanswered, || format!("{answers} of {ASKED} for a slow reader"));
                    break;
                }
                Line::Closed => {
                    ground.book.wrong(Wrong::Closed, || format!("a slow reader, after {answers} answers"));
                    break;
                }
            }
        }
    }
}

/// Sends lines that are no requests; each is answered, and so is the request after them.
pub fn babbler(ground: &Ground, seed: u64) {
    let mut dice = Dice::new(seed);
    let Some(mut wire) = ground.connect() else { return };
    while !ground.is_over() {
        let mut line: Vec<u8> = match dice.below(3) {
            0 => (0..1 + dice.below(3_000))
                .map(|_| dice.below(256) as u8)
                .filter(|byte| *byte != b'\n')
                .collect(),
            1 => format!("{{\"id\":7,\"command\":{}", "[".repeat(1 + dice.below(5_000))).into_bytes(),
            _ => br#"{"id":7,"command":"find","args":{"selector":"button[[["}}"#.to_vec(),
        };
        line.insert(0, b'!');
        line.push(b'\n');
        let sent = wire.stream().write_all(&line);
        // The answer to the babble has no number of ours, and is passed over on the way to this one.
        let served =
            sent.is_ok().then(|| ground.ask(&mut wire, "after babble", "list-apps", json!({}))).flatten();
        if served.is_none() {
            match ground.connect() {
                Some(again) => wire = again,
                None => return,
            }
        }
        ground.pause(Duration::from_millis(500 + dice.below(700) as u64));
    }
}
