//! Apps that hang: nobody else waits for them, what is known of them is told, and what is not says so. And one that ends
//! while it does what it was told.

use axd_tests::{Daemon, Raw, Setup, content, sync};
use serde_json::{Value, json};

/// A daemon that has read Notes, which then hangs.
fn hung() -> (Daemon, Raw) {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    sync(&mut client, "Notes");
    client.sim("Notes", &["fault", "hang"]);
    (daemon, client)
}

#[test]
fn a_hung_app_delays_no_one_else() {
    let (daemon, mut waiting) = hung();
    // Time has no part in this: the request on the hung app is still unanswered when the others have been answered,
    // because only the healing at the end lets it be.
    waiting.sim("Settings", &["fault", "hang"]);
    let pending = waiting.begin_within("attach", json!({ "app": "Settings" }), Some(600_000));
    let mut others: Vec<Raw> = (0..4).map(|_| daemon.client()).collect();
    for client in &mut others {
        for app in ["Calculator", "Table", "Paint"] {
            sync(client, app);
            client.ok("snapshot", json!({ "app": app, "bounds": true, "max_nodes": 20 }));
        }
        client.sim("Calculator", &["press", "seven"]);
        client.is_served();
    }
    // On the same connection too.
    let quick = waiting.begin("find", json!({ "selector": "button:7", "app": "Calculator" }));
    assert_eq!(waiting.answer(quick)["data"]["count"], 1);
    others[0].sim("Settings", &["heal"]);
    assert_eq!(waiting.answer(pending)["data"]["complete"], true);
}

#[test]
fn what_is_known_of_a_hung_app_is_told_from_memory() {
    let (daemon, mut client) = hung();
    let note = client.data("get", json!({ "target": "listitem:Shopping", "app": "Notes" }));
    assert_eq!(note["node"]["role"], "listitem");
    let ran = daemon.ax(&["snapshot", "--app", "Notes", "--text"]).run().exits(0);
    assert!(ran.out.contains("\"Shopping\""), "{}", ran.out);
}

#[test]
fn what_only_a_hung_app_knows_is_an_error_that_says_what_to_do() {
    let (_daemon, mut client) = hung();
    client.ok("subscribe", json!({ "kind": ["app-state"] }));
    for args in [json!({ "app": "Notes", "sync": true }), json!({ "app": "Notes", "verify": true })] {
        let error = client.fails("APP_UNRESPONSIVE", "snapshot", args);
        assert!(error["suggestion"].as_str().is_some_and(|text| text.contains("without --sync")), "{error}");
    }
    client.app_state("Notes", "degraded");
    let status = client.status_of("Notes");
    assert_eq!(status["state"], "degraded");
    assert!(status["degraded"].as_str().is_some_and(|why| why.contains("not answered")), "{status}");
    client.sim("Notes", &["heal"]);
    client.app_state("Notes", "live");
    sync(&mut client, "Notes");
}

#[test]
fn bounds_that_a_hung_app_does_not_give_are_told_with_their_age() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let measured = client.data("snapshot", json!({ "app": "Notes", "bounds": true }));
    assert_eq!(measured["bounds_age_ms"], Value::Null);
    assert!(measured["tree"]["children"][0]["bounds"]["width"].as_i64() > Some(0), "{measured}");
    client.sim("Notes", &["fault", "hang"]);
    let known = client.data("snapshot", json!({ "app": "Notes", "bounds": true }));
    assert!(known["bounds_age_ms"].is_u64(), "{known}");
    assert_eq!(known["tree"]["children"][0]["bounds"], measured["tree"]["children"][0]["bounds"]);
}

#[test]
fn what_happened_while_an_app_hung_is_known_after_it_woke() {
    let (_daemon, mut client) = hung();
    let error =
        client.fails("ACTION_FAILED", "sim", json!({ "app": "Notes", "verb": "press", "target": "new" }));
    assert!(error["message"].as_str().is_some_and(|said| said.contains("hangs")), "{error}");
    client.sim("Notes", &["heal"]);
    client.sim("Notes", &["press", "new"]);
    let kept = sync(&mut client, "Notes");
    client.ok("detach", json!({ "app": "Notes" }));
    assert_eq!(content(&kept), content(&sync(&mut client, "Notes")));
}

#[test]
fn an_app_that_hangs_from_the_start_is_read_once_it_wakes() {
    let daemon = Daemon::start();
    let (mut client, mut hand) = (daemon.client(), daemon.client());
    hand.sim("Table", &["fault", "hang"]);
    let id = client.begin_within("snapshot", json!({ "app": "Table" }), Some(50));
    let answer = client.answer(id);
    assert!(answer["error"]["code"] == "TIMEOUT" || answer["data"]["complete"] == false, "{answer}");
    let id = client.begin_within("find", json!({ "selector": "window", "app": "Table" }), Some(600_000));
    hand.is_served();
    hand.sim("Table", &["heal"]);
    let answer = client.answer(id);
    assert_eq!(
        (&answer["data"]["complete"], &answer["data"]["count"]),
        (&json!(true), &json!(1)),
        "{answer}"
    );
}

#[test]
fn an_app_that_dies_while_somebody_waits_for_it_is_an_answer() {
    let (daemon, mut client) = hung();
    let mut hand = daemon.client();
    let id = client.begin_within("snapshot", json!({ "app": "Notes", "sync": true }), Some(600_000));
    hand.sim("Notes", &["fault", "die"]);
    let answer = client.answer(id);
    let codes = ["APPLICATION_NOT_FOUND", "APP_UNRESPONSIVE", "STALE_REF"];
    assert!(codes.iter().any(|code| answer["error"]["code"] == *code), "{answer}");
    hand.is_served();
}

#[test]
fn events_that_were_lost_are_made_up_for_by_reading_again() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    sync(&mut client, "Calculator");
    client.ok("subscribe", json!({ "app": "Calculator", "kind": ["changes"] }));
    client.sim("Calculator", &["fault", "drop-events"]);
    client.sim("Calculator", &["press", "nine"]);
    let event = client.event_where(|event| event["event"] == "changes");
    assert_eq!(event["observed"], "reread", "{event}");
    assert!(client.status_of("Calculator")["missed"].as_u64() > Some(0));
}

/// Has a button that ends it.
const BRIEF: &str = r#"
name = "Brief"
identity = "dev.axd.test.brief"

[[window]]
id = "main"
title = "Brief"
children = [{ role = "button", id = "end", name = "End" }]

[[rule]]
on = "press:end"
do = [{ quit = true }]
"#;

#[test]
fn a_press_that_ends_the_app_is_done_though_nobody_is_left_to_say_so() {
    // Whether the app answers before it ends is chance, so it is tried often.
    for _ in 0..10 {
        let daemon = Setup::new().app(BRIEF).start();
        let mut client = daemon.client();
        client.ok("launch", json!({ "app": "Brief", "wait": true }));
        let done = client.data("click", json!({ "target": "button:End", "app": "Brief" }));
        assert_eq!(done["settled"], "ended", "{done}");
        assert_ne!(done["disposition"]["delivery"], "not_delivered", "{done}");
    }
}
