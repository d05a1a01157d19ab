//! Reads: they do not touch the app, they say when they are not complete, and they are right about large trees.

use axd_tests::{Daemon, Raw, Setup, apps, content, sync};
use serde_json::{Value, json};

/// Every kind of read that is answered from memory.
fn plain_reads(client: &mut Raw, count: usize) {
    let reads = [
        ("snapshot", json!({ "app": "Notes" })),
        ("snapshot", json!({ "app": "Notes", "interactive": true, "menubar": true })),
        ("snapshot", json!({ "app": "Notes", "skeleton": true, "depth": 3 })),
        ("snapshot", json!({ "app": "Notes", "window": "Notes", "max_tokens": 50 })),
        ("look", json!({ "app": "Notes" })),
        ("find", json!({ "selector": "list > listitem", "app": "Notes" })),
        ("find", json!({ "selector": "*", "app": "Notes", "count": true })),
        ("get", json!({ "target": "list:Notes", "app": "Notes" })),
        ("get", json!({ "target": "textarea", "app": "Notes", "property": ["value", "states"] })),
        ("is", json!({ "target": "textarea", "app": "Notes", "property": "enabled" })),
        ("is", json!({ "target": "textarea", "app": "Notes", "property": "focused" })),
        ("list-windows", json!({ "app": "Notes" })),
        ("list-apps", json!({})),
        ("attach", json!({ "app": "Notes" })),
    ];
    let clock = client.ok("status", json!({}))["clock"].clone();
    for (command, args) in reads.iter().cycle().take(count) {
        client.ok(command, args.clone());
    }
    client.ok("changes", json!({ "since": clock, "app": "Notes" }));
    client.ok("snapshot", json!({ "since": clock, "app": "Notes" }));
}

fn calls(client: &mut Raw, app: &str) -> u64 {
    client.status_of(app)["calls"].as_u64().expect("a number")
}

#[test]
fn a_plain_read_makes_no_call_to_the_app() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    sync(&mut client, "Notes");
    // The background sweep calls the app twice a second, so it may fall among the reads; it does not fall among all.
    for _ in 0..20 {
        let before = calls(&mut client, "Notes");
        plain_reads(&mut client, 200);
        if calls(&mut client, "Notes") == before {
            return;
        }
    }
    panic!("in each of 20 times, 200 plain reads made calls");
}

#[test]
fn a_plain_read_needs_nothing_from_an_app_that_answers_nothing() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    sync(&mut client, "Notes");
    client.ok("subscribe", json!({ "kind": ["app-state"] }));
    client.sim("Notes", &["fault", "hang"]);
    client.app_state("Notes", "degraded");
    let before = calls(&mut client, "Notes");
    plain_reads(&mut client, 200);
    assert_eq!(calls(&mut client, "Notes"), before);
}

#[test]
fn only_reads_that_say_so_ask_the_app() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    sync(&mut client, "Notes");
    for (command, args) in [
        ("snapshot", json!({ "app": "Notes", "sync": true })),
        ("snapshot", json!({ "app": "Notes", "verify": true })),
        ("snapshot", json!({ "app": "Notes", "bounds": true })),
        ("snapshot", json!({ "app": "Notes", "visible": true })),
        ("is", json!({ "target": "textarea", "app": "Notes", "property": "visible" })),
        ("get", json!({ "target": "textarea", "app": "Notes", "property": ["bounds"] })),
    ] {
        let before = calls(&mut client, "Notes");
        client.ok(command, args.clone());
        assert!(calls(&mut client, "Notes") > before, "{command} {args}");
    }
}

#[test]
fn a_tree_that_is_still_being_read_says_so_and_is_never_said_to_lack_anything() {
    let daemon = Setup::new().app(apps::long_list("Slow", 3_000)).start();
    let mut client = daemon.client();
    client.sim("Slow", &["fault", "slow", "100"]);
    let mut incomplete = 0;
    for round in 0.. {
        let id =
            client.begin_within("find", json!({ "selector": "listitem:'Row 3000'", "app": "Slow" }), Some(5));
        let answer = client.answer(id);
        let is_over = answer["data"]["complete"] == true;
        if is_over {
            assert_eq!(answer["data"]["count"], 1, "{answer}");
            break;
        }
        incomplete += 1;
        if answer["ok"] == false {
            assert_eq!(answer["error"]["code"], "TIMEOUT", "{answer}");
        }
        for (command, args) in [
            ("get", json!({ "target": "listitem:'Row 3000'", "app": "Slow" })),
            ("get", json!({ "target": "btn_zzzzzz", "app": "Slow" })),
            ("find", json!({ "selector": "listitem:'Row 3000'", "app": "Slow", "first": true })),
            ("snapshot", json!({ "app": "Slow", "root": "listitem:'Row 3000'" })),
            ("snapshot", json!({ "app": "Slow", "window": "Nothing" })),
        ] {
            let id = client.begin_within(command, args.clone(), Some(1));
            let answer = client.answer(id);
            // The walk may have ended between the two.
            let missing =
                ["ELEMENT_NOT_FOUND", "WINDOW_NOT_FOUND"].iter().any(|code| answer["error"]["code"] == *code);
            if missing {
                assert_eq!(client.status_of("Slow")["complete"], true, "{command} {args}: {answer}");
            }
        }
        let id = client.begin_within("snapshot", json!({ "app": "Slow", "max_nodes": 0 }), Some(1));
        let answer = client.answer(id);
        if answer["ok"] == true && answer["data"]["complete"] == false {
            assert!(
                ["warming", "degraded"].iter().any(|state| answer["app"]["state"] == *state),
                "{}",
                answer["app"]
            );
        }
        assert!(round < 10_000);
    }
    assert!(incomplete > 0, "the app was not slow");
    let text = daemon.ax(&["snapshot", "--app", "Slow", "--text"]).run().exits(0).out;
    assert!(!text.contains("partial"), "{text}");
}

#[test]
fn an_app_that_ends_while_it_is_read_is_gone_and_comes_back() {
    let daemon = Setup::new().app(apps::long_list("Slow", 3_000)).start();
    let (mut client, mut hand) = (daemon.client(), daemon.client());
    hand.sim("Slow", &["fault", "slow", "100"]);
    let attach = client.begin("attach", json!({ "app": "Slow" }));
    hand.ok("status", json!({}));
    hand.ok("subscribe", json!({ "kind": ["app-terminated"] }));
    hand.sim("Slow", &["fault", "die"]);
    hand.event_where(|event| event["event"] == "app-terminated");
    let answer = client.answer(attach);
    assert!(answer["ok"] == true || answer["error"]["code"] == "APPLICATION_NOT_FOUND", "{answer}");
    client.fails("APPLICATION_NOT_FOUND", "snapshot", json!({ "app": "Slow" }));
    client.is_served();
    hand.sim("Slow", &["launch"]);
    let tree = sync(&mut client, "Slow");
    assert_eq!(tree.walk().filter(|node| node.role.name() == "listitem").count(), 3_000);
}

#[test]
fn a_tree_of_a_hundred_thousand_is_whole_when_it_is_asked_for_whole_and_cut_where_it_is_not() {
    let script = r#"
name = "Huge"
identity = "test.huge"
[[window]]
id = "main"
title = "Huge"
children = [{ role = "table", id = "table", name = "Cells", generate = { rows = 20000, columns = 4 } }]
"#;
    let daemon = Setup::new().app(script).start();
    let mut client = daemon.client();
    let attach = client.begin_within("attach", json!({ "app": "Huge" }), Some(60_000));
    let attached = client.answer(attach)["data"].take();
    assert_eq!(attached["complete"], true);
    let nodes = attached["nodes"].as_u64().expect("a number");
    assert!(nodes >= 100_000, "{nodes}");
    let whole = client.data("snapshot", json!({ "app": "Huge", "max_nodes": 0, "menubar": true }));
    assert_eq!((&whole["truncated"], &whole["nodes"]), (&json!(false), &json!(nodes)));
    assert_eq!(count(&whole["tree"]), nodes as usize);
    let usual = client.data("snapshot", json!({ "app": "Huge" }));
    assert_eq!((&usual["truncated"], &usual["nodes"]), (&json!(true), &json!(10_000)));
    let (shown, marked) = (count(&usual["tree"]), marks(&usual["tree"]));
    assert!(shown == 10_000 && marked > 0, "{shown} shown, {marked} marked");
    let few = client.data("snapshot", json!({ "app": "Huge", "max_nodes": 5 }));
    assert_eq!((count(&few["tree"]), &few["truncated"]), (5, &json!(true)));
    let cheap = client.data("snapshot", json!({ "app": "Huge", "max_tokens": 200 }));
    assert!(count(&cheap["tree"]) < 100 && cheap["truncated"] == true);
    let found = client.data("find", json!({ "selector": "row", "app": "Huge", "limit": 3 }));
    assert_eq!((&found["count"], found["matches"].as_array().map(Vec::len)), (&json!(20_000), Some(3)));
    client.is_served();
}

fn count(tree: &Value) -> usize {
    1 + tree["children"].as_array().map_or(0, |children| children.iter().map(count).sum())
}

/// How many elements say that something below them is not shown.
fn marks(tree: &Value) -> usize {
    usize::from(tree["truncated"] == true)
        + tree["children"].as_array().map_or(0, |children| children.iter().map(marks).sum())
}

#[test]
fn an_app_that_claims_cycles_and_second_parents_has_a_finite_tree() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let before = sync(&mut client, "Calculator");
    for fault in ["cycle", "double-parent"] {
        client.sim("Calculator", &["fault", fault]);
        let shown = sync(&mut client, "Calculator");
        let mut seen = std::collections::HashSet::new();
        assert!(shown.walk().all(|node| seen.insert(node.id)), "{fault}: an element twice");
        assert_eq!(shown.walk().count(), before.walk().count(), "{fault}");
        // Walked from nothing it must be finite too.
        client.ok("detach", json!({ "app": "Calculator" }));
        assert_eq!(sync(&mut client, "Calculator").walk().count(), before.walk().count(), "{fault}");
        client.sim("Calculator", &["heal"]);
        assert_eq!(content(&sync(&mut client, "Calculator")), content(&before), "{fault}");
    }
    client.is_served();
}

#[test]
fn a_read_right_after_a_deed_sees_it_if_it_asks_to() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    sync(&mut client, "Calculator");
    for turn in 1..=50 {
        client.sim("Calculator", &["press", "clear"]);
        for digit in turn.to_string().chars() {
            let key = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
            client.sim("Calculator", &["press", key[digit as usize - '0' as usize]]);
        }
        client.ok("snapshot", json!({ "app": "Calculator", "sync": true, "max_nodes": 1 }));
        let display = client.data("get", json!({ "target": "textfield:Display", "app": "Calculator" }));
        assert_eq!(display["node"]["value"], turn.to_string());
    }
}
