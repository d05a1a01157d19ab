//! What is expected of an action: that it came true is in the answer, that it did not is an error that says what happened instead.

use axd_tests::Stage;
use serde_json::json;

#[test]
fn what_came_true_is_in_the_answer() {
    let mut stage = Stage::start();
    let args = stage.on_with("Check", json!({ "expect": ["checked"] }));
    let done = stage.act("check", args);
    assert_eq!(done["expected"], json!([{ "expected": "checked" }]), "{done}");
    let question = stage.the("Question");
    let args = stage.on_with("Dialog", json!({ "expect": [question], "timeout_ms": 20_000 }));
    let done = stage.act("click", args);
    assert_eq!(done["expected"][0]["expected"], question, "{done}");
    assert!(done["expected"][0]["node"]["id"].is_string(), "{done}");
    let args = stage.on_with("OK", json!({ "expect": ["gone"], "timeout_ms": 20_000 }));
    stage.act("click", args);
}

#[test]
fn what_did_not_come_true_is_an_error_that_says_what_happened_instead() {
    let mut stage = Stage::start();
    let before = stage.count();
    let args = stage.on_with("Press", json!({ "expect": ["checked", "dialog:Nobody"], "timeout_ms": 300 }));
    let error = stage.fails("NOT_AS_EXPECTED", "click", args);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("checked; dialog:Nobody"), "{error}");
    assert_ne!(error["disposition"]["delivery"], "not_delivered", "{error}");
    assert!(error["changed"]["clock"].is_string(), "{error}");
    stage.counts(before + 1);
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_done() {
    let mut stage = Stage::start();
    let before = stage.count();
    for expected in ["button:[", "checkd=maybe=x"] {
        let args = stage.on_with("Press", json!({ "expect": [expected] }));
        stage.fails("INVALID_ARGS", "click", args);
    }
    let args = stage.args(json!({ "combo": "shift", "expect": ["checked"] }));
    let error = stage.fails("INVALID_ARGS", "press", args);
    assert!(error["message"].as_str().unwrap().contains("about a target"), "{error}");
    stage.counts(before);
}
