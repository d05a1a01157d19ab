//! Values: set, cleared; the focus.

use axd_tests::Stage;
use axd_tests::stage::{Deed, Kit};
use serde_json::json;

#[test]
fn text_is_set_instead_of_what_a_field_holds() {
    let mut stage = Stage::start();
    for text in ["first", "Ünïcode ✓", "x"] {
        let args = stage.on_with("Entry", json!({ "value": text }));
        let Some(done) = stage.does(Deed::SetText, "set-value", args) else { return };
        assert_eq!(done["after"]["value"], text, "{done}");
        assert_eq!(done["disposition"]["delivery"], "delivered_verified", "{done}");
        stage.holds("Entry", text);
    }
}

#[test]
fn a_number_is_set_in_a_slider_and_a_spin_button() {
    let mut stage = Stage::start();
    for widget in ["Slider", "Spin"] {
        let args = stage.on_with(widget, json!({ "value": 42 }));
        let done = stage.does(Deed::SetNumber, "set-value", args).expect("numbers can be set");
        assert_eq!(
            (&done["before"]["value"], &done["after"]["value"]),
            (&json!("0"), &json!("42")),
            "{done}"
        );
        assert_eq!(done["changed"], json!(["value"]), "{done}");
        stage.holds(widget, "42");
    }
}

#[test]
fn a_number_beyond_the_range_is_answered_with_what_the_app_made_of_it() {
    let mut stage = Stage::start();
    let args = stage.on_with("Slider", json!({ "value": "250" }));
    let done = stage.act("set-value", args);
    assert_eq!(done["after"]["value"], "100", "{done}");
    assert!(done["note"].as_str().is_some_and(|note| note.contains("shows another")), "{done}");
}

#[test]
fn a_number_goes_into_a_text_field_as_text() {
    let mut stage = Stage::start();
    let args = stage.on_with("Entry", json!({ "value": 42.5 }));
    if stage.does(Deed::SetText, "set-value", args).is_some() {
        stage.holds("Entry", "42.5");
    }
}

#[test]
fn what_takes_no_value_says_to_type() {
    let mut stage = Stage::start();
    for (widget, value) in [("Press", "x"), ("Rows", "5")] {
        let args = stage.on_with(widget, json!({ "value": value }));
        let error = stage.fails("ACTION_NOT_SUPPORTED", "set-value", args);
        let said = error["message"].as_str().unwrap();
        assert!(said.ends_with("element does not support set_value; try 'type'"), "{error}");
        assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    }
}

#[test]
fn words_are_no_number() {
    let mut stage = Stage::start();
    let args = stage.on_with("Slider", json!({ "value": "loud" }));
    stage.fails("INVALID_ARGS", "set-value", args);
    stage.holds("Slider", "0");
}

#[test]
fn a_field_is_cleared_and_an_empty_one_is_left_alone() {
    let mut stage = Stage::start();
    let args = stage.on("Entry");
    let done = stage.act("clear", args);
    assert_eq!(done["method"], "none", "{done}");
    let args = stage.on_with("Entry", json!({ "text": "away with it" }));
    stage.act("type", args);
    stage.holds("Entry", "away with it");
    let args = stage.on("Entry");
    let done = stage.act("clear", args);
    assert_ne!(done["method"], "none", "{done}");
    stage.holds("Entry", "");
}

#[test]
fn a_field_is_given_the_focus_once() {
    let mut stage = Stage::start();
    let args = stage.on("Entry");
    let done = stage.does(Deed::Focus, "focus", args).expect("a field can have the focus");
    assert_eq!(done["disposition"]["delivery"], "delivered_verified", "{done}");
    stage.is("Entry", "focused");
    let focused = stage.args(json!({}));
    assert_eq!(stage.act("focused", focused)["node"]["name"], "Entry");
    let args = stage.on("Entry");
    assert_eq!(stage.act("focus", args)["method"], "none");
}

#[test]
fn an_element_does_one_of_its_native_actions() {
    let mut stage = Stage::start();
    let actions = stage.get("Check")["actions"].clone();
    let action = actions[0].as_str().unwrap_or("click").to_owned();
    let args = stage.on_with("Check", json!({ "action": action }));
    if stage.does(Deed::Perform, "perform", args).is_some() {
        stage.is("Check", "checked");
    }
}

#[test]
fn an_action_an_element_has_not_is_refused_and_those_it_has_are_named() {
    let mut stage = Stage::start();
    let args = stage.on_with("Press", json!({ "action": "levitate" }));
    let error = stage.fails("ACTION_NOT_SUPPORTED", "perform", args);
    assert!(error["message"].as_str().unwrap().contains("levitate"), "{error}");
    if stage.kit != Kit::Chromium {
        let own = stage.get("Press")["actions"][0].as_str().unwrap().to_lowercase();
        assert!(error["message"].as_str().unwrap().to_lowercase().contains(&own), "{own} in {error}");
    }
    let args = stage.on_with("Press", json!({ "action": "press", "route": "input" }));
    stage.fails("ACTION_NOT_SUPPORTED", "perform", args);
    stage.counts(0);
}
