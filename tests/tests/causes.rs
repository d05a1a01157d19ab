//! Whose change it was: what follows an action says so, what nobody asked axd for does not, and who acts beside one is told.

use axd_tests::{Raw, Setup};
use serde_json::{Value, json};

const BESIDE: &str = r#"
name = "Beside"
[[window]]
id = "main"
title = "Beside"
bounds = [50, 60, 300, 300]
children = [
  { role = "button", id = "add", name = "Add" },
  { role = "text", id = "count", name = "Count", value = "0" },
]
[[rule]]
on = "press:add"
do = [{ increase = "count" }]
"#;

fn add(client: &mut Raw) -> (Value, Value) {
    let answer = client.ok("click", json!({ "target": "button:Add", "app": "Beside" }));
    (answer["id"].clone(), answer["data"]["effects"]["since"].clone())
}

#[test]
fn a_change_says_which_request_it_followed_or_none() {
    let daemon = Setup::new().app(BESIDE).start();
    let (mut watcher, mut client) = (daemon.client(), daemon.client());
    client.ok("hello", json!({ "client": "tester", "agent": "reviewer" }));
    client.ok("attach", json!({ "app": "Beside" }));
    watcher.ok("subscribe", json!({ "app": "Beside", "kind": ["changes"], "fields": ["value"] }));
    let (request, since) = add(&mut client);
    let line = watcher.event();
    let cause = &line["caused_by"][0];
    assert_eq!((&cause["request"], &cause["command"]), (&request, &json!("click")), "{line}");
    assert_eq!((&cause["name"], &cause["agent"]), (&json!("tester"), &json!("reviewer")), "{line}");
    assert!(line["others"].is_null(), "{line}");
    client.sim("Beside", &["press", "add"]);
    let line = watcher.event();
    assert!(line["caused_by"].is_null(), "somebody else did that: {line}");
    let both = client.data("changes", json!({ "since": since, "app": "Beside" }))["apps"][0].take();
    assert_eq!((&both["caused_by"][0]["request"], &both["others"]), (&request, &json!(true)), "{both}");
}

#[test]
fn who_does_not_want_his_own_changes_is_told_of_all_others() {
    let daemon = Setup::new().app(BESIDE).start();
    let (mut one, mut two, mut again) = (daemon.client(), daemon.client(), daemon.client());
    for client in [&mut one, &mut again] {
        client.ok("hello", json!({ "client": "ax", "agent": "one" }));
    }
    one.ok("attach", json!({ "app": "Beside" }));
    one.ok("subscribe", json!({ "app": "Beside", "kind": ["changes", "focus"], "not_mine": true }));
    // On the same connection, and on another one of the same agent.
    add(&mut one);
    add(&mut again);
    let (request, _) = add(&mut two);
    let line = one.event_where(|event| event["event"] == "changes");
    assert_eq!(line["caused_by"].as_array().map(Vec::len), Some(1), "{line}");
    assert_eq!(line["caused_by"][0]["request"], request, "{line}");
    two.sim("Beside", &["press", "add"]);
    let line = one.event_where(|event| event["event"] == "changes");
    assert!(line["caused_by"].is_null() && line["changed"][0]["set"]["value"] == "4", "{line}");
}

#[test]
fn a_look_tells_who_else_acts_there() {
    let daemon = Setup::new().app(BESIDE).start();
    let (mut one, mut two) = (daemon.client(), daemon.client());
    two.ok("hello", json!({ "client": "ax", "agent": "two" }));
    let look = |client: &mut Raw| client.ok("snapshot", json!({ "app": "Beside" }))["app"]["acting"].take();
    assert!(look(&mut one).is_null());
    add(&mut two);
    let acting = look(&mut one);
    assert_eq!((&acting[0]["agent"], &acting[0]["command"]), (&json!("two"), &json!("click")), "{acting}");
    assert!(acting[0]["ago_ms"].is_u64(), "{acting}");
    assert!(look(&mut two).is_null(), "not oneself");
    let text = one.begin("find", json!({ "selector": "button:Add", "app": "Beside" }));
    assert_eq!(one.answer(text)["app"]["acting"][0]["agent"], "two");
    // Who has no name and is gone does not count.
    let mut nameless = daemon.client();
    add(&mut nameless);
    assert_eq!(look(&mut one).as_array().map(Vec::len), Some(2));
    drop(nameless);
    let clients = |one: &mut Raw| one.data("status", json!({}))["clients"].as_array().map(Vec::len);
    while clients(&mut one) != Some(2) {}
    let acting = look(&mut one);
    let others: Vec<&Value> = acting.as_array().into_iter().flatten().map(|other| &other["agent"]).collect();
    assert_eq!(others, ["two"], "{acting}");
}
