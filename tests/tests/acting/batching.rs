//! Batches: a whole form at once, answers used by later commands, one that fails, and all checked first.

use axd_tests::Stage;
use axd_tests::stage::{Deed, Way};
use serde_json::{Value, json};

fn item(command: &str, args: Value) -> Value {
    json!({ "command": command, "args": args })
}

#[test]
fn a_whole_form_is_filled_in_one_batch() {
    let mut stage = Stage::start();
    let mut items = vec![
        item("type", stage.on_with("Entry", json!({ "text": "Ada Lovelace" }))),
        item("type", stage.on_with("Password", json!({ "text": "hunter2" }))),
        item("check", stage.on("Check")),
        item("check", stage.on("Green")),
        item("set-value", stage.on_with("Slider", json!({ "value": 30 }))),
        item("set-value", stage.on_with("Spin", json!({ "value": 7 }))),
        item("click", stage.on("Press")),
    ];
    if !matches!(stage.kit.way(Deed::SelectChoice), Way::Not(_)) {
        items.insert(4, item("select", stage.on_with("Combo", json!({ "value": "two" }))));
    }
    let count = items.len();
    let done = stage.act("batch", json!({ "items": items, "stop_on_error": true }));
    assert_eq!(done["succeeded"], count, "{done}");
    assert_eq!((&done["failed"], &done["skipped"]), (&json!(0), &json!(0)));
    let results = done["results"].as_array().expect("results");
    assert!(results.iter().enumerate().all(|(index, result)| result["index"] == index), "{done}");
    stage.holds("Entry", "Ada Lovelace");
    stage.is("Check", "checked");
    stage.is("Green", "checked");
    stage.holds("Slider", "30");
    stage.holds("Spin", "7");
    stage.counts(1);
}

#[test]
fn a_later_command_uses_what_an_earlier_one_answered() {
    let mut stage = Stage::start();
    let items = json!([
        item("find", stage.args(json!({ "selector": stage.the("Press") }))),
        item("click", json!({ "target": "$0.matches.0.id" })),
        item("get", json!({ "target": "$1.before.id" })),
    ]);
    let done = stage.act("batch", json!({ "items": items }));
    assert_eq!(done["succeeded"], 3, "{done}");
    assert_eq!(done["results"][2]["data"]["node"]["name"], "Press", "{done}");
    stage.counts(1);
}

#[test]
fn a_wait_for_an_event_counts_from_before_the_action_before_it() {
    let mut stage = Stage::start();
    stage.tree();
    let items = json!([
        item("click", stage.on_with("Dialog", json!({ "wait_for": stage.the("Question") }))),
        // It has been by now.
        item("wait", stage.args(json!({ "event": ["dialog", "changes"], "timeout": 20_000 }))),
    ]);
    let done = stage.act("batch", json!({ "items": items }));
    assert_eq!(done["succeeded"], 2, "{done}");
    let waited = &done["results"][1]["data"];
    assert_eq!(waited["met"].as_array().map(Vec::len), Some(2), "{done}");
    assert_eq!(waited["events"][0]["event"], "dialog", "{done}");
}

#[test]
fn a_batch_goes_on_after_a_failure_unless_it_is_to_stop() {
    let mut stage = Stage::start();
    let items = json!([
        item("click", stage.on("Press")),
        item("click", stage.args(json!({ "target": "button:Nobody" }))),
        item("click", stage.on("Press")),
    ]);
    let done = stage.act("batch", json!({ "items": items }));
    assert_eq!((&done["succeeded"], &done["failed"], &done["skipped"]), (&json!(2), &json!(1), &json!(0)));
    assert_eq!(done["results"][1]["error"]["code"], "ELEMENT_NOT_FOUND", "{done}");
    stage.counts(2);
    let done = stage.act("batch", json!({ "items": items, "stop_on_error": true }));
    assert_eq!((&done["succeeded"], &done["failed"], &done["skipped"]), (&json!(1), &json!(1), &json!(1)));
    stage.counts(3);
}

#[test]
fn a_batch_is_checked_whole_before_anything_is_done() {
    let mut stage = Stage::start();
    for wrong in [
        item("clikc", json!({})),
        item("click", json!({})),
        item("click", json!({ "target": "$1.id" })),
        item("press", json!({ "combo": "hyperdrive" })),
    ] {
        let items = json!([item("click", stage.on("Press")), wrong]);
        let error = stage.fails("INVALID_ARGS", "batch", json!({ "items": items }));
        assert!(error["message"].as_str().unwrap().contains("items[1]"), "{error}");
    }
    stage.counts(0);
}
