//! The change stream: a client that applies it has the daemon's tree exactly, whatever befalls the apps.

use axd_protocol::event::Event;
use axd_tests::{Daemon, Mirror, Raw, Setup, apps, content, fresh, sync};
use serde_json::{Value, json};

const BUILT_IN: [&str; 5] = ["Calculator", "Notes", "Settings", "Table", "Paint"];

/// What a person at the screen might do. Some of it is refused now and then (a dialog is in the way): so it is for
/// people.
const DEEDS: [(&str, &[&str]); 44] = [
    ("Calculator", &["press", "seven"]),
    ("Calculator", &["press", "plus"]),
    ("Calculator", &["press", "four"]),
    ("Calculator", &["press", "equals"]),
    ("Calculator", &["press", "clear"]),
    ("Calculator", &["press", "clear-history"]),
    ("Notes", &["press", "new"]),
    ("Notes", &["type", "body", "words "]),
    ("Notes", &["set", "body", "Title\nand more"]),
    ("Notes", &["select", "notes", "Shopping"]),
    ("Notes", &["press", "delete"]),
    ("Notes", &["set", "search", "o"]),
    ("Notes", &["set", "search", ""]),
    ("Notes", &["press", "file"]),
    ("Notes", &["press", "file-delete"]),
    ("Notes", &["press", "confirm-yes"]),
    ("Notes", &["press", "confirm-no"]),
    ("Notes", &["press", "file-save"]),
    ("Notes", &["focus", "search"]),
    ("Settings", &["press", "tab-account"]),
    ("Settings", &["press", "tab-general"]),
    ("Settings", &["press", "tab-advanced"]),
    ("Settings", &["press", "notify"]),
    ("Settings", &["press", "wifi"]),
    ("Settings", &["press", "theme-dark"]),
    ("Settings", &["set", "volume", "80"]),
    ("Settings", &["select", "language", "Deutsch"]),
    ("Settings", &["press", "more"]),
    ("Settings", &["press", "reset"]),
    ("Settings", &["press", "ok"]),
    ("Settings", &["press", "cancel"]),
    ("Settings", &["press", "apply"]),
    ("Settings", &["type", "password", "hunter2"]),
    ("Table", &["scroll", "table", "5000"]),
    ("Table", &["scroll", "table", "5010"]),
    ("Table", &["scroll", "table", "1"]),
    ("Table", &["select", "table", "42"]),
    ("Table", &["select", "list", "Row 7"]),
    ("Paint", &["press", "canvas"]),
    ("Paint", &["press", "undo"]),
    ("Paint", &["press", "brush"]),
    ("Paint", &["set", "colour", "#ff0000"]),
    ("Paint", &["raise"]),
    ("Table", &["raise"]),
];

/// What may befall an app.
const FAULTS: [(&str, &[&str]); 16] = [
    ("Calculator", &["fault", "flood", "display 300"]),
    ("Calculator", &["fault", "reparent", "keypad history"]),
    ("Calculator", &["fault", "reparent", "keypad main"]),
    ("Calculator", &["fault", "cycle"]),
    ("Calculator", &["fault", "double-parent"]),
    ("Calculator", &["heal"]),
    ("Notes", &["fault", "drop-events", "5"]),
    ("Notes", &["fault", "vanish", "3"]),
    ("Notes", &["fault", "double-parent"]),
    ("Notes", &["heal"]),
    ("Settings", &["fault", "cycle"]),
    ("Settings", &["fault", "reparent", "apply main"]),
    ("Settings", &["heal"]),
    ("Table", &["fault", "flood", "200"]),
    ("Table", &["fault", "huge", "300"]),
    ("Paint", &["fault", "vanish"]),
];

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

fn attach_all(client: &mut Raw) {
    for app in BUILT_IN {
        client.ok("attach", json!({ "app": app }));
    }
}

/// Does a deed; whether it was done.
fn act(client: &mut Raw, (app, words): (&str, &[&str])) -> bool {
    let mut args = json!({ "app": app, "verb": words[0] });
    for (name, word) in ["target", "text"].iter().zip(&words[1..]) {
        args[name] = Value::from(*word);
    }
    let answer = client.ask("sim", args);
    // Refused is fine; anything else is not.
    assert!(answer["ok"] == true || answer["error"]["code"] == "INVALID_ARGS", "{answer}");
    answer["ok"] == true
}

/// Hundreds of deeds; then the replica is compared with what a new client gets and with what a snapshot shows.
fn storm(seed: u64, rounds: usize, faults: bool, restarts: bool) {
    let daemon = Setup::new().app(apps::BELL).start();
    let mut client = daemon.client();
    attach_all(&mut client);
    let mut mirror = Mirror::of(&daemon);
    let mut dice = Dice(seed);
    let mut done = 0;
    for round in 0..rounds {
        for _ in 0..40 {
            done += usize::from(act(&mut client, DEEDS[dice.below(DEEDS.len())]));
            if faults && dice.below(6) == 0 {
                act(&mut client, FAULTS[dice.below(FAULTS.len())]);
            }
        }
        if restarts {
            let app = BUILT_IN[dice.below(BUILT_IN.len())];
            act(&mut client, (app, &["restart"]));
        }
        for app in BUILT_IN {
            let shown = sync(&mut client, app);
            mirror.catch_up(&mut client);
            if faults {
                // What was announced and lost is found by the sweep, at any time: also between two looks.
                mirror.comes_to_equal_fresh(&daemon, &mut client, app);
                continue;
            }
            mirror.equals_fresh(&daemon, app);
            let held = mirror.tree(app).unwrap_or_else(|| panic!("{app} in round {round} of {seed}"));
            assert_eq!(content(&held), content(&shown), "{app} in round {round} of {seed}");
        }
    }
    assert!(done > rounds * 20, "only {done} deeds were done");
}

#[test]
fn a_replica_follows_hundreds_of_deeds() {
    storm(1, 8, false, false);
}

#[test]
fn a_replica_follows_apps_that_lie_about_their_trees() {
    storm(2, 8, true, false);
}

#[test]
fn a_replica_follows_apps_that_end_and_come_back() {
    storm(3, 8, false, true);
}

#[test]
fn a_replica_follows_everything_at_once() {
    for seed in 4..7 {
        storm(seed, 4, true, true);
    }
}

#[test]
fn after_quiescence_the_tree_equals_an_independent_walk() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    attach_all(&mut client);
    let mut dice = Dice(11);
    for _ in 0..200 {
        act(&mut client, DEEDS[dice.below(DEEDS.len())]);
    }
    for app in BUILT_IN {
        let kept = sync(&mut client, app);
        // Let go and read anew, the tree is what the app has, from nothing.
        client.ok("detach", json!({ "app": app }));
        let walked = sync(&mut client, app);
        assert_eq!(content(&kept), content(&walked), "{app}");
    }
}

#[test]
fn a_client_that_was_away_resumes_from_its_clock() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    attach_all(&mut client);
    let mut held = axd_protocol::Replica::new(fresh(&daemon, "Notes"));
    let mut clock = client.ok("snapshot", json!({ "app": "Notes", "max_nodes": 1 }))["clock"].clone();
    let mut dice = Dice(12);
    for _ in 0..10 {
        for _ in 0..20 {
            act(&mut client, DEEDS[6 + dice.below(13)]);
        }
        let mut answer = client.ok("snapshot", json!({ "app": "Notes", "sync": true, "since": clock }));
        clock = answer["clock"].clone();
        if let Some(changes) = answer["data"]["apps"].get_mut(0) {
            assert_eq!(changes["fresh"], false, "{changes}");
            held.apply(serde_json::from_value(changes.take()).expect("a difference")).expect("it fits");
        }
        assert_eq!(held.tree(), fresh(&daemon, "Notes"));
    }
}

/// Apps that announce as badly as real toolkits: what they keep silent about is found by reading again, and told.
#[test]
fn what_an_app_does_not_announce_is_found_and_told() {
    for profile in ["gtk4", "qt", "appkit", "silent"] {
        let daemon = Setup::new().app(apps::BELL).app(apps::mute("Mute", profile)).start();
        let mut client = daemon.client();
        let before = sync(&mut client, "Mute");
        let mut mirror = Mirror::of(&daemon);
        for deed in ["add", "add", "remove", "off"] {
            client.sim("Mute", &["press", deed]);
        }
        client.sim("Mute", &["set", "field", "7"]);
        let done = |mirror: &Mirror| {
            mirror.tree("Mute").is_some_and(|tree| {
                let find = |id: &str| tree.walk().find(|node| node.identifier.as_deref() == Some(id));
                let is_off =
                    find("subject").is_some_and(|node| node.states.has(axd_protocol::State::Disabled));
                let holds = find("field").is_some_and(|node| node.value.as_deref() == Some("7"));
                let list = find("list").map_or(0, |list| list.children.len());
                is_off && holds && list == 3 && find("first").is_none()
            })
        };
        // Nobody asks the app for anything: the sweep finds what it did not say.
        let mut reread = false;
        while !done(&mirror) {
            if let Event::Changes { observed, .. } = mirror.take() {
                reread |= observed == axd_protocol::event::Observed::Reread;
            }
        }
        assert!(reread, "{profile}: nothing was said to have been found by reading again");
        mirror.catch_up(&mut client);
        mirror.equals_fresh(&daemon, "Mute");
        assert_ne!(content(&before), content(&sync(&mut client, "Mute")));
        assert!(client.status_of("Mute")["missed"].as_u64() > Some(0), "{profile}");
        let verified = client.data("snapshot", json!({ "app": "Mute", "verify": true, "actions": true }));
        let verified: axd_protocol::Node = serde_json::from_value(verified["tree"].clone()).expect("a tree");
        assert_eq!(content(&verified), content(&mirror.tree("Mute").expect("a tree")), "{profile}");
    }
}

#[test]
fn what_somebody_follows_is_read_again_sooner_and_told() {
    let daemon = Setup::new().app(apps::mute("Mute", "silent")).start();
    let mut client = daemon.client();
    client.ok("attach", json!({ "app": "Mute" }));
    client.ok("subscribe", json!({ "app": "Mute", "within": "list:Items", "kind": ["changes"] }));
    client.sim("Mute", &["press", "add"]);
    let event = client.event_where(|event| event["event"] == "changes");
    assert_eq!((&event["observed"], &event["added"][0]["node"]["name"]), (&json!("reread"), &json!("Extra")));
}

#[test]
fn a_stream_tells_only_what_was_asked_for() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    attach_all(&mut client);
    let subscribe = |client: &mut Raw, args: Value| client.ok("subscribe", args)["data"]["sub"].clone();
    let roles =
        subscribe(&mut client, json!({ "app": "Calculator", "role": ["textfield"], "kind": ["changes"] }));
    let fields =
        subscribe(&mut client, json!({ "app": "Calculator", "fields": ["value"], "kind": ["changes"] }));
    let within =
        subscribe(&mut client, json!({ "app": "Calculator", "within": "list:History", "kind": ["changes"] }));
    let windows = subscribe(&mut client, json!({ "kind": ["window-opened"] }));
    let other = subscribe(&mut client, json!({ "app": "Paint", "kind": ["changes"] }));
    for deed in ["seven", "plus", "four", "equals"] {
        client.sim("Calculator", &["press", deed]);
    }
    client.sim("Settings", &["press", "tab-advanced"]);
    client.sim("Settings", &["press", "reset"]);
    let mut heard: Vec<Value> = Vec::new();
    // They are about two apps, so either may come last.
    let has_come = |heard: &[Value], sub: &Value| heard.iter().any(|event| event["sub"] == *sub);
    while !has_come(&heard, &windows) || !has_come(&heard, &within) {
        heard.push(client.event());
    }
    let of = |sub: &Value| heard.iter().filter(|event| event["sub"] == *sub).collect::<Vec<_>>();
    for event in of(&roles) {
        let changed = event["changed"].as_array().expect("changes");
        assert!(!changed.is_empty() && event["added"] == json!([]), "{event}");
        assert!(
            changed.iter().all(|it| it["id"].as_str().is_some_and(|id| id.starts_with("txt_"))),
            "{event}"
        );
    }
    for event in of(&fields) {
        let changed = event["changed"].as_array().expect("changes");
        let only_value =
            |it: &Value| it["set"].as_object().is_some_and(|set| set.keys().all(|key| key == "value"));
        assert!(changed.iter().all(only_value) && event["added"] == json!([]), "{event}");
    }
    assert!(of(&within).iter().any(|event| event["added"] != json!([])), "{heard:?}");
    assert_eq!(of(&windows).last().expect("a window")["window"]["title"], "Reset all settings?");
    assert_eq!(of(&other), Vec::<&Value>::new());
}
