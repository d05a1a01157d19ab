//! The storm: thousands of random actions by four clients at once. Every request is answered once, nothing is done twice, nothing stays
//! down, and in the end the daemon's tree is the app's.
//!
//! `AXD_SEED` chooses the storm, `AXD_STORM` how many actions it has.

use std::collections::HashMap;
use std::process::Command;
use std::time::{Duration, Instant};

use axd_tests::stage::Kit;
use axd_tests::{Raw, Stage, content, workspace};
use serde_json::{Value, json};

const CLIENTS: u64 = 4;

/// Random numbers that are the same every time.
struct Dice(u64);

impl Dice {
    /// One of so many.
    fn of(&mut self, faces: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut number = self.0;
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (number ^ (number >> 31)) % faces
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.of(of.len() as u64) as usize]
    }
}

/// A request, and whether it presses Press.
struct Wish {
    command: &'static str,
    args: Value,
    presses: bool,
}

/// What one client saw.
#[derive(Debug, Default)]
struct Seen {
    asked: u64,
    answered: u64,
    /// How often Press was pressed for sure, and how often perhaps.
    surely: u64,
    perhaps: u64,
    failures: HashMap<String, u64>,
}

/// What is needed to make requests, without the stage itself: each client has a thread of its own.
#[derive(Clone)]
struct Plan {
    kit: Kit,
    app: String,
    press: (i64, i64),
    target: (i64, i64),
}

impl Plan {
    fn wish(&self, dice: &mut Dice) -> Wish {
        // Nobody waits for rest here, and some apps move the focus a moment after a press: no text has a space or a new line
        // in it, which would press a button.
        let on = |widget: &str, more: Value| {
            let mut args = json!({ "target": self.kit.selector(widget), "app": self.app, "settle_ms": 0, "no_effects": true });
            for (name, value) in more.as_object().expect("args") {
                args[name] = value.clone();
            }
            args
        };
        let wish = |command, args| Wish { command, args, presses: false };
        let at = |(x, y): (i64, i64)| format!("{x},{y}");
        match dice.of(24) {
            0..4 => Wish { command: "click", args: on("Press", json!({})), presses: true },
            4..6 => Wish { command: "click", args: on("Press", json!({ "route": "input" })), presses: true },
            6 => Wish {
                command: "mouse-click",
                args: json!({ "point": at(self.press), "app": self.app }),
                presses: true,
            },
            7 => wish(dice.one(&["check", "uncheck", "toggle"]), on("Check", json!({}))),
            8 => wish("toggle", on(dice.one(&["Switch", "Check"]), json!({}))),
            9 => wish("check", on(dice.one(&["Red", "Green"]), json!({}))),
            10 => wish("type", on("Entry", json!({ "text": dice.one(&["a", "ß", "word", "日"]) }))),
            11 => wish("type", on("Entry", json!({ "text": "k", "route": "input" }))),
            12 => wish("clear", on("Entry", json!({}))),
            13 => wish("set-value", on(dice.one(&["Slider", "Spin"]), json!({ "value": dice.of(101) }))),
            14 => wish("click", on("Add", json!({}))),
            15 => wish("click", on("Remove", json!({}))),
            16 => wish("hover", on(dice.one(&["Press", "Target", "Check"]), json!({}))),
            17 => wish(
                "press",
                json!({ "combo": dice.one(&["shift", "ctrl", "f9"]), "app": self.app, "settle_ms": 0 }),
            ),
            18 => wish("mouse-move", json!({ "point": at(self.target) })),
            19 => wish("find", json!({ "selector": "button", "app": self.app })),
            20 => wish("snapshot", json!({ "app": self.app, "sync": dice.of(2) == 0 })),
            21 => wish("click", on("Press", json!({ "target": "button:Nobody" }))),
            22 => wish("focus", on("Entry", json!({}))),
            _ => wish("get", json!({ "target": self.kit.selector("Count"), "app": self.app })),
        }
    }
}

/// One client's part of the storm.
fn rage(mut client: Raw, plan: &Plan, mut dice: Dice, actions: u64) -> Seen {
    let mut seen = Seen::default();
    let mut open: HashMap<u64, bool> = HashMap::new();
    for _ in 0..actions {
        match dice.of(20) {
            // Something is held, and let go of, by the same client.
            0 => {
                let (down, up, args) = if dice.of(2) == 0 {
                    ("key-down", "key-up", json!({ "combo": "shift" }))
                } else {
                    let (x, y) = plan.target;
                    ("mouse-down", "mouse-up", json!({ "point": format!("{x},{y}") }))
                };
                drain(&mut client, &mut open, &mut seen, 0);
                for command in [down, up] {
                    open.insert(client.begin(command, args.clone()), false);
                    seen.asked += 1;
                    drain(&mut client, &mut open, &mut seen, 0);
                }
            }
            // Something is begun and cancelled.
            1 => {
                let Wish { command, args, presses } = plan.wish(&mut dice);
                let id = client.begin(command, args);
                open.insert(id, presses);
                open.insert(client.begin("cancel", json!({ "id": id })), false);
                seen.asked += 2;
            }
            // Something has little time.
            2 => {
                let Wish { command, args, presses } = plan.wish(&mut dice);
                open.insert(client.begin_within(command, args, Some(1 + dice.of(60))), presses);
                seen.asked += 1;
            }
            _ => {
                let Wish { command, args, presses } = plan.wish(&mut dice);
                open.insert(client.begin(command, args), presses);
                seen.asked += 1;
            }
        }
        drain(&mut client, &mut open, &mut seen, 3);
    }
    drain(&mut client, &mut open, &mut seen, 0);
    // Whatever had been answered twice would come before this.
    client.ok("version", json!({}));
    seen
}

/// Takes answers until no more than so many are still to come.
fn drain(client: &mut Raw, open: &mut HashMap<u64, bool>, seen: &mut Seen, most: usize) {
    while open.len() > most {
        let answer = client.any_answer();
        let id = answer["id"].as_u64().unwrap_or_else(|| panic!("{answer}"));
        let presses = open.remove(&id).unwrap_or_else(|| panic!("answered twice, or never asked: {answer}"));
        seen.answered += 1;
        let ok = answer["ok"] == true;
        if !ok {
            let code = answer["error"]["code"].as_str().unwrap_or("?");
            assert!(!matches!(code, "INTERNAL" | "INVALID_ARGS"), "{answer}");
            *seen.failures.entry(format!("{} {code}", answer["command"])).or_default() += 1;
        }
        if presses {
            let disposition =
                if ok { &answer["data"]["disposition"] } else { &answer["error"]["disposition"] };
            match disposition["delivery"].as_str() {
                Some("delivered_unverified" | "delivered_verified") => seen.surely += 1,
                Some("uncertain") => seen.perhaps += 1,
                Some("not_delivered") => {}
                _ => panic!("{answer}"),
            }
        }
    }
}

#[test]
fn a_storm_of_four_clients_is_answered_once_each_and_leaves_nothing_behind() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("AXD_SEED").unwrap_or(1);
    let mut stage = Stage::start();
    let actions = number("AXD_STORM").unwrap_or(if stage.kit.is_scripted() { 10_000 } else { 300 });
    println!("the storm of AXD_SEED={seed} AXD_STORM={actions}");
    let plan = Plan {
        kit: stage.kit,
        app: stage.app.clone(),
        press: stage.middle("Press"),
        target: stage.middle("Target"),
    };
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let (client, plan) = (stage.another(), &plan);
                scope.spawn(move || rage(client, plan, Dice(seed * 1_000 + number), actions / CLIENTS))
            })
            .collect();
        clients.into_iter().map(|client| client.join().expect("a client that comes through")).collect()
    });
    let sum = |of: fn(&Seen) -> u64| seen.iter().map(of).sum::<u64>();
    assert_eq!(sum(|seen| seen.asked), sum(|seen| seen.answered));
    assert!(sum(|seen| seen.asked) >= actions, "{seen:?}");
    assert_eq!(stage.held_down(), [""; 0], "something stayed down");
    let status = stage.act("status", json!({}));
    assert_eq!(status["held"].as_array().map_or(0, Vec::len), 0, "{status}");
    // What was asked last may be on its way in the app.
    let (surely, perhaps) = (sum(|seen| seen.surely), sum(|seen| seen.perhaps));
    assert!(surely > 0, "{seen:?}");
    let args = stage.args(json!({ "idle": true, "quiet_ms": 500, "timeout": 30_000 }));
    stage.act("wait", args);
    stage.tree();
    let count = u64::from(stage.count());
    assert!(
        (surely..=surely + perhaps).contains(&count),
        "{count} of {surely} and perhaps {perhaps}: {seen:?}"
    );
    is_true(&mut stage);
}

/// Fails unless the daemon's tree is soon what a walk finds that trusts nothing it knew.
fn is_true(stage: &mut Stage) {
    let began = Instant::now();
    loop {
        let known = stage.tree();
        let args = stage.args(json!({ "verify": true, "max_nodes": 0, "menubar": true, "actions": true }));
        let walked = stage.act("snapshot", args);
        let walked = serde_json::from_value(walked["tree"].clone()).expect("a tree");
        if content(&known) == content(&walked) {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{}\n{}", content(&known), content(&walked));
    }
    if stage.kit.is_scripted() {
        return;
    }
    // And what a reader finds that shares nothing with axd.
    loop {
        let compare = workspace().join("tests/desktop/compare.py");
        let run = Command::new("/usr/bin/python3")
            .arg(compare)
            .args(["--app", &stage.app, "--ax-bin"])
            .arg(axd_tests::ax())
            .env("AXD_SOCKET", &stage.daemon.socket)
            .env("AXD_NO_AUTOSTART", "1")
            .output()
            .expect("python runs");
        if run.status.success() {
            return;
        }
        let said = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
        assert!(began.elapsed() < Duration::from_secs(60), "{said}");
    }
}
