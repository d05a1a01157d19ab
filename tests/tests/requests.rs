//! Requests that take time: cancelled, out of time, overtaken.

use axd_tests::{Daemon, Setup, apps};
use serde_json::json;

#[test]
fn an_attach_that_is_under_way_can_be_cancelled() {
    let daemon = Daemon::start();
    let (mut client, mut good) = (daemon.client(), daemon.client());
    good.sim("Notes", &["fault", "hang"]);
    let attach = client.begin_within("attach", json!({ "app": "Notes" }), Some(60_000));
    let cancel = client.begin("cancel", json!({ "id": attach }));
    let error = client.fails_later("CANCELLED", attach);
    assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    assert_eq!(client.answer(cancel)["data"]["cancelled"], true);
    let again = client.data("cancel", json!({ "id": attach }));
    assert_eq!(again["cancelled"], false);
    good.is_served();
    good.sim("Notes", &["heal"]);
}

#[test]
fn a_subscription_ends_when_it_is_cancelled_and_says_so() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let subscribe = client.begin("subscribe", json!({ "app": "Calculator", "kind": ["changes"] }));
    let sub = client.answer(subscribe)["data"]["sub"].clone();
    client.sim("Calculator", &["press", "seven"]);
    assert_eq!(client.event()["event"], "changes");
    let cancel = client.begin("cancel", json!({ "id": subscribe }));
    let end = client.event_where(|event| event["event"] == "end");
    assert_eq!((&end["sub"], &end["cause"]), (&sub, &json!("cancelled")));
    assert_eq!(client.answer(cancel)["data"]["cancelled"], true);
    client.sim("Calculator", &["press", "seven"]);
    client.ok("snapshot", json!({ "app": "Calculator", "sync": true }));
    let status = client.data("status", json!({}));
    assert_eq!(status["clients"][0]["subscriptions"], 0, "{status}");
}

#[test]
fn an_id_of_a_string_is_cancelled_however_it_is_spelled() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.sim("Notes", &["fault", "hang"]);
    client.send("{\"id\":\"a\",\"command\":\"attach\",\"args\":{\"app\":\"Notes\"},\"deadline_ms\":60000}\n");
    client.send("{\"id\":\"b\",\"command\":\"cancel\",\"args\":{\"id\":\"\\u0061\"}}\n");
    assert_eq!(client.any_answer()["error"]["code"], "CANCELLED");
    assert_eq!(client.any_answer()["data"]["cancelled"], true);
}

#[test]
fn what_a_client_that_went_away_asked_for_is_given_up() {
    let daemon = Daemon::start();
    let (mut gone, mut good) = (daemon.client(), daemon.client());
    good.sim("Notes", &["fault", "hang"]);
    gone.begin_within("attach", json!({ "app": "Notes" }), Some(60_000));
    gone.ok("subscribe", json!({}));
    drop(gone);
    // Its end is told by nobody, but what is asked after it is answered after it was seen.
    loop {
        let status = good.data("status", json!({}));
        if status["clients"].as_array().is_some_and(|clients| clients.len() == 1) {
            break;
        }
    }
    good.is_served();
}

#[test]
fn a_deadline_bounds_what_a_request_waits_for() {
    let daemon = Setup::new().app(apps::long_list("Slow", 5_000)).start();
    let mut client = daemon.client();
    client.sim("Slow", &["fault", "slow", "700"]);
    let id = client.begin_within("attach", json!({ "app": "Slow" }), Some(1));
    let answer = client.answer(id);
    assert_eq!((&answer["ok"], &answer["data"]["complete"]), (&json!(true), &json!(false)), "{answer}");
    for (command, args) in [
        ("snapshot", json!({ "app": "Slow", "sync": true })),
        ("snapshot", json!({ "app": "Slow", "verify": true })),
        ("element-at", json!({ "point": "1,1" })),
        ("find", json!({ "selector": "button:Go", "app": "Slow", "first": true })),
        ("get", json!({ "target": "button:Nothing", "app": "Slow" })),
    ] {
        let id = client.begin_within(command, args, Some(1));
        let answer = client.answer(id);
        let code = &answer["error"]["code"];
        // What is there may be answered; what is not is never said to be missing while it may still come.
        let fine = answer["ok"] == true || [json!("TIMEOUT"), json!("APP_UNRESPONSIVE")].contains(code);
        assert!(fine || (command == "element-at" && *code == "ELEMENT_NOT_FOUND"), "{answer}");
    }
}

#[test]
fn a_quick_request_overtakes_a_slow_one() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.sim("Notes", &["fault", "hang"]);
    let slow = client.begin_within("snapshot", json!({ "app": "Notes", "sync": true }), Some(60_000));
    for command in ["status", "version", "list-apps", "list-windows", "list-displays"] {
        client.ok(command, json!({}));
    }
    client.ok("snapshot", json!({ "app": "Calculator" }));
    client.begin("cancel", json!({ "id": slow }));
    client.fails_later("CANCELLED", slow);
}
