//! What an answer says: how it was before and after, what changed, how the app came to rest, and how surely it was delivered.

use axd_protocol::Difference;
use axd_tests::{Stage, fresh};
use serde_json::{Value, json};

fn difference(effects: &Value) -> Difference {
    serde_json::from_value(effects.clone()).unwrap_or_else(|fault| panic!("{fault}: {effects}"))
}

/// Fails unless the effects of an action, applied to the tree before it, give the tree after it. An app may change by itself
/// in between; one that does so every time is not believed.
fn effects_are_the_difference(stage: &mut Stage, widget: &str) {
    let mut differs = String::new();
    for _ in 0..8 {
        let args = stage.args(json!({ "idle": true, "quiet_ms": 150, "timeout": 20_000 }));
        stage.act("wait", args);
        stage.tree();
        let mut replica = stage.replica();
        let args = stage.on(widget);
        let done = stage.act("click", args);
        let effects = &done["effects"];
        assert_ne!(effects["truncated"], true, "{done}");
        if let Err(misfit) = replica.apply(difference(effects)) {
            differs = format!("{misfit}: {effects}");
            continue;
        }
        // What came after the answer is not part of it.
        let later = stage.args(json!({ "since": effects["clock"] }));
        let later = stage.act("changes", later);
        for app in later["apps"].as_array().into_iter().flatten() {
            replica.apply(difference(app)).expect("a difference that fits");
        }
        let (held, now) = (replica.tree(), fresh(&stage.daemon, &stage.app));
        if held == now {
            return;
        }
        differs = format!("{effects}");
    }
    panic!("the effects are not the difference: {differs}");
}

#[test]
fn the_effects_of_an_action_are_the_difference_it_made() {
    let mut stage = Stage::start();
    for widget in ["Press", "Add", "Enable", "Remove", "Rename"] {
        effects_are_the_difference(&mut stage, widget);
    }
}

#[test]
fn the_effects_tell_what_changed_since_just_before() {
    let mut stage = Stage::start();
    stage.tree();
    let args = stage.on_with("Press", json!({ "wait_for": "text:\"count 1\"" }));
    let done = stage.act("click", args);
    // A label gets another name, or another takes its place.
    let list = |name: &str| done["effects"][name].as_array().expect("a list").clone();
    let renamed = list("changed").iter().any(|change| change["set"]["name"] == "count 1");
    let replaced = list("added").iter().any(|added| added["node"]["name"] == "count 1");
    assert!(renamed || replaced, "{done}");
    assert_eq!(done["settled"], "quiet", "{done}");
    assert_eq!(done["disposition"]["retry"], "unsafe", "{done}");
}

#[test]
fn what_an_action_adds_and_takes_away_is_known_when_it_is_answered() {
    let mut stage = Stage::start();
    assert_eq!(stage.rows(), ["row 1", "row 2", "row 3"]);
    let args = stage.on("Add");
    let done = stage.act("click", args);
    assert!(done["effects"]["added"].to_string().contains("row 4"), "{done}");
    assert_eq!(stage.rows(), ["row 1", "row 2", "row 3", "row 4"]);
    let args = stage.on("Remove");
    let done = stage.act("click", args);
    assert_eq!(done["effects"]["removed"].as_array().map(Vec::len), Some(1), "{done}");
    assert_eq!(stage.rows().len(), 3);
}

#[test]
fn effects_are_left_out_when_nobody_wants_them() {
    let mut stage = Stage::start();
    for (count, wanted) in [(1, json!({ "no_effects": true })), (2, json!({ "effects": "none" }))] {
        let args = stage.on_with("Press", wanted);
        let done = stage.act("click", args);
        assert!(done["effects"].is_null(), "{done}");
        stage.counts(count);
    }
}

#[test]
fn brief_effects_are_text_for_readers_and_full_ones_are_what_they_are_by_default() {
    let mut stage = Stage::start();
    let args = stage.on_with("Press", json!({ "effects": "brief" }));
    let done = stage.act("click", args);
    let brief = done["effects"]["brief"].as_str().expect("a text");
    assert!(brief.contains("count 1"), "{done}");
    assert!(done["effects"]["clock"].is_string() && done["effects"]["changed"].is_null(), "{done}");
    let args = stage.on_with("Add", json!({ "effects": "brief" }));
    let done = stage.act("click", args);
    let brief = done["effects"]["brief"].as_str().expect("a text");
    // On macOS the text is in a cell of the row.
    assert!(brief.lines().any(|line| line.starts_with("+ ")) && brief.contains("row 4"), "{done}");
    let args = stage.on_with("Press", json!({ "effects": "full" }));
    let done = stage.act("click", args);
    assert!(done["effects"]["changed"].is_array() && done["effects"]["brief"].is_null(), "{done}");
}

#[test]
fn a_rehearsal_does_nothing_and_says_how_it_would_be_done() {
    let mut stage = Stage::start();
    for (command, widget, more) in [
        ("click", "Press", json!({})),
        ("check", "Check", json!({})),
        ("type", "Entry", json!({ "text": "no" })),
        ("double-click", "Press", json!({})),
    ] {
        let mut args = stage.on_with(widget, more);
        args["dry_run"] = json!(true);
        let done = stage.act(command, args);
        assert_eq!(done["disposition"], json!({ "delivery": "not_delivered", "retry": "safe" }), "{done}");
        assert_eq!(done["settled"], "skipped", "{done}");
        assert_eq!(done["note"], "nothing was done", "{done}");
    }
    stage.counts(0);
    stage.is("Check", "checked=false");
    stage.holds("Entry", "");
    // What could not be done is said all the same.
    let args = stage.args(json!({ "target": "button:Nobody", "dry_run": true }));
    stage.fails("ELEMENT_NOT_FOUND", "click", args);
}

#[test]
fn an_action_that_changes_nothing_says_so() {
    let mut stage = Stage::start();
    stage.tree();
    let args = stage.on("Target");
    let done = stage.act("click", args);
    assert!(done["settled"] == "no_change" || done["settled"] == "quiet", "{done}");
    assert!(done["waited_ms"].as_u64() < Some(2_000), "{done}");
    if done["settled"] == "no_change" {
        assert_eq!(done["changed"], json!([]), "{done}");
    }
}

#[test]
fn how_long_to_wait_for_rest_can_be_said() {
    let mut stage = Stage::start();
    let args = stage.on_with("Press", json!({ "settle_ms": 0 }));
    let done = stage.act("click", args);
    assert_eq!(done["settled"], "skipped", "{done}");
    let args = stage.on_with("Press", json!({ "quiet_ms": 120 }));
    let done = stage.act("click", args);
    assert!(done["waited_ms"].as_u64() >= Some(100), "{done}");
    stage.counts(2);
}

#[test]
fn every_action_leaves_a_line_in_the_audit_without_what_was_typed() {
    let mut stage = Stage::start();
    let args = stage.on_with("Entry", json!({ "text": "private words" }));
    stage.act("type", args);
    let args = stage.args(json!({ "combo": "cmd+q" }));
    stage.fails("POLICY_DENIED", "press", args);
    // The lines are written by another thread; the daemon writes the last of them before it ends.
    stage.act("shutdown", json!({}));
    stage.daemon.exit();
    let log = String::from_utf8_lossy(&stage.daemon.log()).into_owned();
    let lines: Vec<Value> = log
        .lines()
        .filter(|line| line.starts_with("{\"n\":"))
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let typed = lines.iter().find(|line| line["command"] == "type").unwrap_or_else(|| panic!("{lines:?}"));
    assert_eq!(typed["pid"].to_string(), stage.app, "{typed}");
    assert!(typed["target"].is_string() && typed["error"].is_null(), "{typed}");
    assert!(
        lines.iter().any(|line| line["command"] == "press" && line["error"] == "POLICY_DENIED"),
        "{lines:?}"
    );
    assert!(!log.contains("private words"));
}
