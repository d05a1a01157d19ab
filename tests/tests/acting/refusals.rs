//! What cannot be done, and what the error says of it.

use axd_tests::Stage;
use serde_json::json;

#[test]
fn what_is_disabled_is_waited_for_and_then_not_acted_on() {
    let mut stage = Stage::start();
    let args = stage.on("Enable");
    stage.act("click", args);
    stage.is("Target", "enabled=false");
    for route in ["auto", "input"] {
        let args = stage.on_with("Target", json!({ "route": route, "timeout_ms": 300 }));
        let error = stage.fails("NOT_ACTIONABLE", "click", args);
        assert!(error["message"].as_str().unwrap().contains("is disabled"), "{error}");
        assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    }
}

#[test]
fn what_is_enabled_meanwhile_is_acted_on() {
    let mut stage = Stage::start();
    let args = stage.on("Enable");
    stage.act("click", args);
    stage.is("Target", "enabled=false");
    let enable = stage.middle("Enable");
    let args = stage.on_with("Target", json!({ "timeout_ms": 30_000 }));
    let waiting = stage.client.begin("click", args);
    let mut other = stage.another();
    // Until it is seen to act there is nothing to be waited for.
    while other.status_of_pid(&stage.app)["acting"].is_null() {}
    stage.person_presses(&mut other, "enable", enable);
    let answer = stage.client.answer(waiting);
    assert_eq!(answer["ok"], true, "{answer}");
}

#[test]
fn what_is_hidden_cannot_be_reached_with_the_mouse() {
    let mut stage = Stage::start();
    let args = stage
        .args(json!({ "target": "text:\"hidden until expanded\"", "route": "input", "timeout_ms": 300 }));
    let code = stage.kit.of_what_is_hidden();
    let error = stage.fails(code, "click", args);
    assert_eq!(error["disposition"]["retry"], "safe", "{error}");
}

#[test]
fn what_is_covered_names_what_covers_it() {
    let mut stage = Stage::start();
    let question = stage.the("Question");
    let args = stage.on_with("Dialog", json!({ "wait_for": question }));
    stage.act("click", args);
    let widget = stage.kit.cover(&mut stage.client, &stage.app, "Press");
    let args = stage.on_with(widget, json!({ "route": "input", "timeout_ms": 400 }));
    let (code, says) = stage.kit.of_what_is_covered();
    let error = stage.fails(code, "click", args);
    assert!(error["message"].as_str().unwrap().contains(says), "{error}");
    assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    let args = stage.on_with("OK", json!({ "wait_for_gone": question }));
    stage.act("click", args);
    stage.counts(0);
}

#[test]
fn what_is_gone_is_stale() {
    let mut stage = Stage::start();
    let rows = |stage: &mut Stage| {
        let all = stage.row(None);
        let args = stage.args(json!({ "selector": all, "limit": 50 }));
        let found = stage.act("find", args);
        let ids = found["matches"].as_array().expect("matches").iter().map(|row| row["id"].clone());
        ids.collect::<Vec<_>>()
    };
    let before = rows(&mut stage);
    assert_eq!(before.len(), 3);
    let args = stage.on("Remove");
    stage.act("click", args);
    let third = stage.row(3);
    stage.wait(json!({ "gone": [third] }));
    let after = rows(&mut stage);
    let gone = before.iter().find(|id| !after.contains(id)).expect("one is gone").clone();
    for command in ["click", "select", "hover"] {
        let error = stage.fails("STALE_REF", command, json!({ "target": gone }));
        assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    }
}

#[test]
fn what_is_not_there_and_what_is_not_one_is_answered_with_candidates() {
    let mut stage = Stage::start();
    let args = stage.args(json!({ "target": "button:Prss" }));
    let error = stage.fails("ELEMENT_NOT_FOUND", "click", args);
    assert!(error["candidates"].as_array().unwrap().iter().any(|one| one["name"] == "Press"), "{error}");
    let rows = stage.row(None);
    let args = stage.args(json!({ "target": rows }));
    let error = stage.fails("AMBIGUOUS_TARGET", "click", args);
    assert_eq!(error["candidates"].as_array().map(Vec::len), Some(3), "{error}");
    let args = stage.args(json!({ "target": "btn_zzzzzz" }));
    stage.fails("ELEMENT_NOT_FOUND", "click", args);
    let args = stage.args(json!({ "target": "button:[" }));
    stage.fails("INVALID_ARGS", "click", args);
    stage.counts(0);
}

#[test]
fn keys_that_end_the_session_are_denied() {
    let mut stage = Stage::start();
    for (command, combo) in [("press", "cmd+q"), ("press", "alt+f4"), ("key-down", "ctrl+alt+delete")] {
        let args = stage.args(json!({ "combo": combo }));
        let error = stage.fails("POLICY_DENIED", command, args);
        assert!(error["message"].as_str().unwrap().contains("blocked-shortcut"), "{error}");
        assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    }
    let args = stage.args(json!({ "combo": "hyperdrive" }));
    stage.fails("INVALID_ARGS", "press", args);
    assert_eq!(stage.held_down(), [""; 0]);
}

#[test]
fn text_without_end_is_denied() {
    let mut stage = Stage::start();
    let text = "x".repeat(10_001);
    let args = stage.on_with("Entry", json!({ "text": text }));
    stage.fails("POLICY_DENIED", "type", args);
    let args = stage.on_with("Entry", json!({ "value": text }));
    stage.fails("POLICY_DENIED", "set-value", args);
    stage.holds("Entry", "");
}

#[test]
fn a_place_off_the_screen_or_amounts_without_end_are_refused() {
    let mut stage = Stage::start();
    let args = stage.on_with("Rows", json!({ "direction": "down", "amount": 100_000 }));
    stage.fails("INVALID_ARGS", "scroll", args);
    stage.fails("INVALID_ARGS", "mouse-click", json!({ "point": "5,5", "count": 99 }));
    stage.fails("INVALID_ARGS", "key-down", json!({ "combo": "shift", "hold_ms": 99_999_999 }));
    stage.fails("INVALID_ARGS", "mouse-move", json!({ "point": "here" }));
}
