//! Yielding to a person: an action waits until its window is left alone, and nothing is sent before.

use std::time::{Duration, Instant};

use axd_tests::{Raw, Setup};
use serde_json::{Value, json};

/// Two apps with a field each.
fn desk(name: &str) -> String {
    format!(
        r#"
name = "{name}"
[[window]]
id = "main"
title = "{name}"
bounds = [50, 60, 300, 300]
children = [
  {{ role = "textfield", id = "text", name = "Text" }},
  {{ role = "button", id = "add", name = "Add" }},
  {{ role = "text", id = "count", name = "Count", value = "0" }},
]
[[rule]]
on = "press:add"
do = [{{ increase = "count" }}]
"#
    )
}

fn count(client: &mut Raw, app: &str) -> Value {
    client.data("get", json!({ "target": "text:Count", "app": app }))["node"]["value"].take()
}

#[test]
fn an_action_waits_until_its_window_has_been_left_alone() {
    let daemon = Setup::new().app(desk("Used")).app(desk("Idle")).start();
    let mut client = daemon.client();
    let click = |app: &str, quiet: u64, timeout: u64| json!({ "target": "button:Add", "app": app, "yield_to_person_ms": quiet, "timeout_ms": timeout });
    client.ok("attach", json!({ "app": "Used" }));
    let used = Instant::now();
    client.sim("Used", &["type", "text", "x"]);
    client.ok("click", click("Used", 400, 20_000));
    assert!(used.elapsed() >= Duration::from_millis(400), "{:?}", used.elapsed());
    assert_eq!(count(&mut client, "Used"), "1");
    // Another window is not used.
    client.sim("Used", &["type", "text", "y"]);
    client.ok("click", click("Idle", 400, 0));
    // Who does not ask for it is not held up.
    client.ok("click", json!({ "target": "button:Add", "app": "Used" }));
}

#[test]
fn where_a_person_does_not_stop_nothing_is_sent() {
    let daemon = Setup::new().app(desk("Used")).start();
    let mut client = daemon.client();
    client.ok("attach", json!({ "app": "Used" }));
    client.sim("Used", &["type", "text", "x"]);
    for (command, args) in [
        ("click", json!({ "target": "button:Add" })),
        ("click", json!({ "target": "button:Add", "route": "input" })),
        ("type", json!({ "target": "textfield:Text", "text": "axd" })),
        ("press", json!({ "combo": "a" })),
    ] {
        let mut args = args;
        args["app"] = json!("Used");
        args["yield_to_person_ms"] = json!(3_600_000);
        args["timeout_ms"] = json!(50);
        let error = client.fails("NOT_ACTIONABLE", command, args);
        assert!(error["message"].as_str().is_some_and(|text| text.contains("a person is using")), "{error}");
        assert_eq!(error["disposition"], json!({ "delivery": "not_delivered", "retry": "safe" }), "{error}");
    }
    assert_eq!(count(&mut client, "Used"), "0");
    let text = json!({ "target": "textfield:Text", "app": "Used" });
    assert_eq!(client.data("get", text)["node"]["value"], "x");
    // The wait can be cancelled.
    let args = json!({ "target": "button:Add", "app": "Used", "yield_to_person_ms": 3_600_000, "timeout_ms": 3_600_000 });
    let waiting = client.begin("click", args);
    let cancel = client.begin("cancel", json!({ "id": waiting }));
    let mut codes = Vec::new();
    for _ in 0..2 {
        let answer = client.any_answer();
        codes.push((answer["id"].clone(), answer["error"]["code"].clone()));
    }
    assert!(
        codes.contains(&(json!(waiting), json!("CANCELLED")))
            && codes.contains(&(json!(cancel), Value::Null)),
        "{codes:?}"
    );
}
