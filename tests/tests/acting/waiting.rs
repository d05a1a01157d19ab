//! Waits: for something, for its end, for states, values, windows, rest and events; any of them or all; and in vain.

use axd_tests::Stage;
use serde_json::json;

#[test]
fn what_is_waited_for_is_found_when_it_comes() {
    let mut stage = Stage::start();
    let mut other = stage.another();
    let args = stage.args(json!({ "for": [stage.the("Question")], "timeout": 20_000 }));
    let waiting = other.begin("wait", args);
    let args = stage.on("Dialog");
    stage.act("click", args);
    let answer = other.answer(waiting);
    assert!(answer["data"]["nodes"][0]["id"].is_string(), "{answer}");
    let args = stage.args(json!({ "gone": [stage.the("Question")], "timeout": 20_000 }));
    let waiting = other.begin("wait", args);
    let args = stage.on("OK");
    stage.act("click", args);
    assert_eq!(other.answer(waiting)["ok"], true);
}

#[test]
fn states_and_values_are_waited_for() {
    let mut stage = Stage::start();
    let mut other = stage.another();
    let args = stage.args(json!({ "target": stage.the("Check"), "state": "checked", "timeout": 20_000 }));
    let state = other.begin("wait", args);
    let args = stage.on("Check");
    stage.act("check", args);
    assert_eq!(other.answer(state)["data"]["met"], json!(["state checked"]));
    for condition in
        [json!({ "value": "37" }), json!({ "value_contains": "3" }), json!({ "value_matches": "^3[0-9]$" })]
    {
        let args = stage.on_with("Slider", json!({ "value": 0 }));
        stage.act("set-value", args);
        stage.holds("Slider", "0");
        let mut args = stage.on_with("Slider", condition);
        args["timeout"] = json!(20_000);
        let value = other.begin("wait", args);
        let args = stage.on_with("Slider", json!({ "value": 37 }));
        stage.act("set-value", args);
        let answer = other.answer(value);
        assert_eq!(answer["data"]["nodes"][0]["role"], "slider", "{answer}");
    }
}

#[test]
fn one_of_several_is_enough_or_all_are_needed() {
    let mut stage = Stage::start();
    let (press, nobody) = (stage.the("Press"), "button:Nobody");
    let args = stage.args(json!({ "for": [press, nobody], "any": true }));
    let done = stage.act("wait", args);
    assert_eq!(done["met"], json!([format!("for {press}")]), "{done}");
    let args = stage.args(json!({ "for": [press], "gone": [nobody] }));
    assert_eq!(stage.act("wait", args)["met"].as_array().map(Vec::len), Some(2));
    let args = stage.args(json!({ "for": [press, nobody], "timeout": 200 }));
    stage.fails("TIMEOUT", "wait", args);
}

#[test]
fn a_wait_in_vain_says_what_is_missing() {
    let mut stage = Stage::start();
    let args = stage.args(json!({ "for": ["button:Nobody"], "timeout": 200 }));
    let error = stage.fails("TIMEOUT", "wait", args);
    assert!(error["message"].as_str().unwrap().contains("button:Nobody"), "{error}");
    let args = stage.args(json!({ "target": stage.the("Check"), "state": "checked", "timeout": 200 }));
    let error = stage.fails("TIMEOUT", "wait", args);
    assert!(error["message"].as_str().unwrap().contains("checked"), "{error}");
    stage.fails("INVALID_ARGS", "wait", json!({}));
    stage.fails("INVALID_ARGS", "wait", json!({ "for": ["button:["] }));
}

#[test]
fn a_window_and_rest_and_a_time_are_waited_for() {
    let mut stage = Stage::start();
    let title = stage.kit.title();
    assert_eq!(stage.act("wait", json!({ "window": title }))["met"], json!([format!("window {title}")]));
    stage.fails("TIMEOUT", "wait", json!({ "window": "No such window", "timeout": 100 }));
    let args = stage.args(json!({ "idle": true, "quiet_ms": 60, "timeout": 20_000 }));
    let done = stage.act("wait", args);
    assert!(done["waited_ms"].as_u64() >= Some(60), "{done}");
    assert!(stage.act("wait", json!({ "ms": 30 }))["waited_ms"].as_u64() >= Some(30));
}

#[test]
fn what_happens_is_waited_for_and_what_happened_since_counts() {
    let mut stage = Stage::start();
    stage.tree();
    let clock = stage.client.ok("status", json!({}))["clock"].clone();
    let args = stage.on_with("Dialog", json!({ "wait_for": stage.the("Question") }));
    stage.act("click", args);
    let kind = "dialog";
    let args = stage.args(json!({ "event": [kind, "changes"], "since": clock, "timeout": 20_000 }));
    let done = stage.act("wait", args);
    assert_eq!(done["met"].as_array().map(Vec::len), Some(2), "{done}");
    assert_eq!(done["events"][0]["event"], kind, "{done}");
    // What was is not waited for unless a clock says so.
    let args = stage.args(json!({ "event": [kind], "timeout": 100 }));
    stage.fails("TIMEOUT", "wait", args);
}

#[test]
fn an_action_waits_for_what_it_is_to_bring_and_to_end() {
    let mut stage = Stage::start();
    let question = stage.the("Question");
    let args = stage.on_with("Dialog", json!({ "wait_for": question }));
    let done = stage.act("click", args);
    assert!(done["effects"]["added"].as_array().is_some_and(|added| !added.is_empty()), "{done}");
    let args = stage.on_with("OK", json!({ "wait_for_gone": question }));
    let done = stage.act("click", args);
    assert!(done["effects"]["removed"].as_array().is_some_and(|gone| !gone.is_empty()), "{done}");
    assert!(done["after"].is_null(), "{done}");
    assert_eq!(done["changed"], json!(["gone"]), "{done}");
}

#[test]
fn an_action_whose_outcome_does_not_come_says_that_it_was_done() {
    let mut stage = Stage::start();
    let args = stage.on_with("Press", json!({ "wait_for": "dialog:Nobody", "timeout_ms": 300 }));
    let error = stage.fails("TIMEOUT", "click", args);
    assert_eq!(error["disposition"], json!({ "delivery": "delivered_unverified", "retry": "unsafe" }));
    stage.counts(1);
}
