//! Keys and buttons that are held: until they are let go of, the time is over, or the client is gone.

use axd_tests::{PATIENCE, Stage};
use serde_json::json;
use std::time::Instant;

/// Waits until nothing is held, by what the desktop says and by what the daemon says.
fn comes_free(stage: &mut Stage) {
    let began = Instant::now();
    loop {
        let status = stage.act("status", json!({}));
        let told = status["held"].as_array().map_or(0, Vec::len);
        if told == 0 && stage.held_down().is_empty() {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{status}");
    }
}

#[test]
fn a_key_is_held_until_it_is_let_go_of() {
    let mut stage = Stage::start();
    let args = stage.args(json!({ "combo": "shift" }));
    stage.act("key-down", args.clone());
    assert_eq!(stage.held_down().len(), 1);
    let status = stage.act("status", json!({}));
    assert_eq!(status["held"][0]["what"], "shift", "{status}");
    assert!(status["held"][0]["left_ms"].as_u64().is_some_and(|left| left > 5_000), "{status}");
    stage.act("key-up", args);
    assert_eq!(stage.held_down(), [""; 0]);
    assert_eq!(stage.act("status", json!({}))["held"].as_array().map_or(0, Vec::len), 0);
}

#[test]
fn a_key_is_let_go_of_when_its_time_is_over() {
    let mut stage = Stage::start();
    let args = stage.args(json!({ "combo": "ctrl", "hold_ms": 700 }));
    let mut brief = stage.another();
    brief.ok("key-down", args);
    // It said how long: that it goes does not end it.
    drop(brief);
    assert_eq!(stage.held_down().len(), 1);
    comes_free(&mut stage);
}

#[test]
fn a_key_is_let_go_of_when_its_client_is_gone() {
    let mut stage = Stage::start();
    let mut brief = stage.another();
    let args = stage.args(json!({ "combo": "shift" }));
    brief.ok("key-down", args);
    let (x, y) = stage.middle("Entry");
    brief.ok("mouse-down", json!({ "point": format!("{x},{y}") }));
    assert_eq!(stage.held_down().len(), 2);
    drop(brief);
    comes_free(&mut stage);
}

#[test]
fn nobody_else_types_while_a_key_is_held() {
    let mut stage = Stage::start();
    let mut other = stage.another();
    let args = stage.args(json!({ "combo": "shift" }));
    other.ok("key-down", args.clone());
    let press = stage.args(json!({ "combo": "x" }));
    let id = stage.client.begin_within("press", press.clone(), Some(400));
    let answer = stage.client.answer(id);
    assert_eq!(answer["ok"], false, "{answer}");
    let error = &answer["error"];
    assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    // Who waits long enough gets the turn.
    let id = stage.client.begin_within("press", press, Some(30_000));
    other.ok("key-up", args);
    assert_eq!(stage.client.answer(id)["ok"], true);
    comes_free(&mut stage);
}

#[test]
fn what_a_client_that_is_gone_holds_with_a_lease_is_released_by_anyone() {
    let mut stage = Stage::start();
    let mut brief = stage.another();
    let key = stage.args(json!({ "combo": "shift" }));
    let leased = stage.args(json!({ "combo": "shift", "hold_ms": 600_000 }));
    brief.ok("key-down", leased);
    drop(brief);
    assert_eq!(stage.held_down().len(), 1);
    stage.act("key-up", key);
    assert_eq!(stage.held_down(), [""; 0]);
    let (x, y) = stage.middle("Entry");
    let mut brief = stage.another();
    brief.ok("mouse-down", json!({ "point": format!("{x},{y}"), "hold_ms": 600_000 }));
    drop(brief);
    assert_eq!(stage.held_down().len(), 1);
    stage.act("mouse-up", json!({ "point": format!("{x},{y}") }));
    comes_free(&mut stage);
}
