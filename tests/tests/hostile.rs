//! One client that asks for too much: it is refused or waits, the others are served meanwhile, and memory stays bounded.
//!
//! `scripts/attack` measures the same in milliseconds.

use std::sync::LazyLock;

use axd_tests::{Daemon, Raw, Setup};
use serde_json::{Value, json};

/// What the daemon may hold beyond its trees, in bytes.
const MOST: u64 = 512 << 20;

const BIG: &str = r#"
name = "Big"
identity = "test.big"
[[window]]
id = "main"
title = "Big"
children = [
  { role = "button", id = "more", name = "More" },
  { role = "textfield", id = "count", name = "Count", value = "0" },
  { role = "table", id = "table", name = "Cells", generate = { rows = 20000, columns = 4 } },
]
[[rule]]
on = "press:more"
do = [{ increase = "count", by = 1 }]
"#;

/// A selector of sixteen regexes, each of which takes long on every element.
static COSTLY: LazyLock<String> = LazyLock::new(|| vec![r#"*[text=~"((.?){30}){3}qq"]"#; 16].join(","));

fn daemon() -> (Daemon, Raw) {
    let daemon = Setup::new().app(BIG).start();
    let mut client = daemon.client();
    let attach = client.begin_within("attach", json!({ "app": "Big" }), Some(60_000));
    assert_eq!(client.answer(attach)["data"]["complete"], true);
    client.ok("attach", json!({ "app": "Calculator" }));
    (daemon, client)
}

#[test]
fn references_to_an_earlier_answer_that_stand_for_too_much_are_refused() {
    let (daemon, mut client) = daemon();
    let items = json!([
        { "command": "snapshot", "args": { "app": "Calculator" } },
        { "command": "wait", "args": { "for": vec!["$0.tree"; 90_000] } },
    ]);
    let before = daemon.memory();
    let done = client.data("batch", json!({ "items": items }));
    assert_eq!(done["results"][1]["error"]["code"], "PAYLOAD_TOO_LARGE", "{}", done["results"][1]);
    assert!(daemon.memory() < before + MOST);
    client.is_served();
}

#[test]
fn a_search_that_takes_long_keeps_its_deadline_and_nobody_else_waits_for_it() {
    let (daemon, mut client) = daemon();
    let mut others = daemon.client();
    let find = json!({ "selector": COSTLY.as_str(), "app": "Big", "count": true });
    let slow = client.begin_within("find", find.clone(), Some(1_500));
    // The search holds the tree that these read and change.
    others.sim("Big", &["press", "more"]);
    others.ok("get", json!({ "target": "button:More", "app": "Big" }));
    others.ok("get", json!({ "target": "button:7", "app": "Calculator" }));
    others.ok("version", json!({}));
    // None of them waited for it: its answer is not there yet.
    client.stream().set_nonblocking(true).expect("a socket");
    let nothing = std::io::Read::read(&mut client.stream(), &mut [0; 1]);
    assert!(nothing.is_err(), "the search was over before the others were served");
    client.stream().set_nonblocking(false).expect("a socket");
    client.fails_later("TIMEOUT", slow);
    client.is_served();
}

#[test]
fn a_wait_for_what_takes_long_to_look_for_ends_at_its_deadline() {
    let (_daemon, mut client) = daemon();
    let wait = client.begin_within("wait", json!({ "for": [COSTLY.as_str()], "app": "Big" }), Some(1_000));
    let error = client.fails_later("TIMEOUT", wait);
    assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    client.fails("INVALID_ARGS", "wait", json!({ "for": vec!["dialog"; 65] }));
    client.is_served();
}

#[test]
fn a_batch_of_endless_answers_ends_and_says_what_was_not_done() {
    let (daemon, mut client) = daemon();
    let item = json!({ "command": "snapshot", "args": { "app": "Big", "max_nodes": 0 } });
    let before = daemon.memory();
    let id = client.begin("batch", json!({ "items": vec![item; 1_000] }));
    let done = client.answer(id)["data"].take();
    let results = done["results"].as_array().expect("results");
    let last = results.last().expect("one");
    assert_eq!(last["error"]["code"], "PAYLOAD_TOO_LARGE", "{last}");
    assert_eq!(last["error"]["disposition"]["delivery"], "not_delivered");
    assert_eq!(results.len() as u64 + done["skipped"].as_u64().expect("a number"), 1_000);
    assert!(results.len() < 20, "{}", results.len());
    assert!(daemon.memory() < before + MOST);
    client.is_served();
}

#[test]
fn long_answers_that_nobody_reads_are_not_all_made_and_come_when_they_are_read() {
    const REQUESTS: usize = 40;
    let (daemon, mut client) = daemon();
    let before = daemon.memory();
    let mut lazy = daemon.client();
    for _ in 0..REQUESTS {
        let args = json!({ "app": "Big", "max_nodes": 0, "sync": true });
        lazy.begin_within("snapshot", args, Some(300_000));
    }
    for _ in 0..50 {
        client.ok("get", json!({ "target": "button:7", "app": "Calculator" }));
    }
    assert!(daemon.memory() < before + (64 << 20), "{} MB", (daemon.memory() - before) >> 20);
    for _ in 0..REQUESTS {
        let answer = lazy.any_answer();
        assert_eq!(answer["ok"], true, "{}", answer["error"]);
        lazy.received.clear();
    }
}

#[test]
fn lines_that_nobody_finishes_are_held_up_to_a_limit() {
    let (daemon, mut client) = daemon();
    let before = daemon.memory();
    let mut clients: Vec<Raw> = (0..120).map(|_| daemon.client()).collect();
    let most_of_a_line = vec![b'x'; (1 << 20) - 10];
    for client in &mut clients {
        client.send_anyhow(&most_of_a_line);
    }
    client.is_served();
    let refused = clients.iter_mut().rev().find_map(|client| {
        client.stream().set_nonblocking(true).expect("a socket");
        let mut bytes = vec![0; 4_096];
        let n = std::io::Read::read(&mut client.stream(), &mut bytes).ok().filter(|n| *n > 0)?;
        serde_json::from_slice::<Value>(&bytes[..n]).ok()
    });
    let refused = refused.expect("one of them is told");
    assert_eq!(refused["error"]["code"], "RATE_LIMITED", "{refused}");
    assert!(daemon.memory() < before + MOST / 2, "{} MB", (daemon.memory() - before) >> 20);
    client.is_served();
}

#[test]
fn an_app_with_more_elements_than_are_kept_is_degraded_and_freed_when_it_is_detached() {
    const MOST_ELEMENTS: u64 = 250_000;
    // A row and its cells are five elements each.
    let crowd = BIG.replace("rows = 20000", "rows = 52000");
    let daemon = Setup::new().app(&crowd).start();
    let mut client = daemon.client();
    let before = daemon.memory();
    let attach = client.begin_within("attach", json!({ "app": "Big" }), Some(120_000));
    let attached = client.answer(attach);
    assert_eq!(
        (&attached["data"]["complete"], &attached["app"]["state"]),
        (&json!(true), &json!("degraded"))
    );
    let status = client.data("status", json!({}));
    let app = &status["apps"][0];
    assert_eq!(app["nodes"], MOST_ELEMENTS, "{app}");
    assert!(app["degraded"].as_str().is_some_and(|why| why.contains("more than 250000 elements")), "{app}");
    // What is there is found, and of what is not nobody says that it is absent.
    client.data("get", json!({ "target": "button:More", "app": "Big" }));
    let nope = client.fails("ELEMENT_NOT_FOUND", "get", json!({ "target": "cell:Nope", "app": "Big" }));
    assert!(
        nope["message"].as_str().is_some_and(|said| said.contains("not all of it was searched")),
        "{nope}"
    );
    let full = daemon.memory();
    client.data("detach", json!({ "app": "Big" }));
    // The tree and what its worker kept; the app itself, which is in the daemon here, stays.
    let tree = app["bytes"].as_u64().expect("a number");
    assert!(full > before + tree, "{before} {full} {tree}");
    let freed = (0..100_000).any(|_| {
        client.is_served();
        daemon.memory() + tree < full
    });
    assert!(freed, "{} of {full} bytes are left; the tree had {tree}", daemon.memory());
}
