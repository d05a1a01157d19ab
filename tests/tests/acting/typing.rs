//! Text: typed into fields, into what has the focus, into secrets; keys.

use axd_tests::Stage;
use axd_tests::stage::{Deed, Kit};
use serde_json::json;

#[test]
fn text_is_typed_into_a_field_and_what_it_holds_stays() {
    let mut stage = Stage::start();
    let args = stage.on_with("Entry", json!({ "text": "hello" }));
    let done = stage.does(Deed::Insert, "type", args).expect("text can be typed");
    assert_eq!(done["disposition"]["delivery"], "delivered_verified", "{done}");
    assert_eq!(done["after"]["value"], "hello", "{done}");
    assert!(done["changed"].as_array().unwrap().contains(&json!("value")), "{done}");
    let args = stage.on_with("Entry", json!({ "text": " again" }));
    stage.act("type", args);
    stage.holds("Entry", "hello again");
}

#[test]
fn text_is_typed_with_the_keyboard_when_asked_to() {
    let mut stage = Stage::start();
    let args = stage.on_with("Entry", json!({ "text": "By hand: 1+1=2 (ok) #@!", "route": "input" }));
    let done = stage.act("type", args);
    assert_eq!(done["route"], "input", "{done}");
    stage.holds("Entry", "By hand: 1+1=2 (ok) #@!");
}

#[test]
fn text_of_every_script_arrives_as_it_was_sent() {
    let text = "Grüße, Ελλάδα, Москва, 日本語, שלום 🦀";
    for route in ["auto", "input"] {
        let mut stage = Stage::start();
        let args = stage.on_with("Entry", json!({ "text": text, "route": route }));
        stage.act("type", args);
        stage.holds("Entry", text);
    }
}

#[test]
fn text_without_a_target_goes_to_what_has_the_focus() {
    let mut stage = Stage::start();
    let args = stage.on("Entry");
    stage.act("focus", args);
    stage.is("Entry", "focused");
    let args = stage.args(json!({ "text": "to whom it may concern" }));
    let done = stage.act("type", args);
    assert_eq!(done["before"]["name"], "Entry", "{done}");
    stage.holds("Entry", "to whom it may concern");
}

#[test]
fn lines_are_typed_into_a_text_area() {
    let mut stage = Stage::start();
    if stage.kit != Kit::Chromium {
        let args = stage.on("Text");
        stage.act("select", args);
    }
    let args = stage.on("Notes");
    stage.act("clear", args);
    stage.holds("Notes", "");
    let args = stage.on_with("Notes", json!({ "text": "one\ntwo" }));
    stage.act("type", args);
    stage.holds("Notes", "one\ntwo");
}

#[test]
fn a_line_end_and_a_tab_are_keys_in_a_field_of_one_line_by_either_route() {
    for route in ["auto", "input"] {
        let mut stage = Stage::start();
        for text in ["foo\n", "bar\tx"] {
            let args = stage.on_with("Entry", json!({ "text": text, "route": route }));
            let done = stage.act("type", args);
            assert_eq!(done["route"], "input", "{done}");
            assert_eq!(done["disposition"]["delivery"], "delivered_unverified", "{done}");
        }
        stage.holds("Entry", "foobar");
        stage.is("Entry", "focused=false");
    }
}

#[test]
fn a_line_end_that_no_key_may_be_pressed_for_is_refused_in_a_field_of_one_line() {
    let mut stage = Stage::start();
    for (command, args, code) in [
        ("type", json!({ "text": "foo\n", "route": "semantic" }), "ACTION_NOT_SUPPORTED"),
        ("type", json!({ "text": "a\tb", "route": "semantic" }), "ACTION_NOT_SUPPORTED"),
        ("set-value", json!({ "value": "foo\nbar" }), "INVALID_ARGS"),
    ] {
        let args = stage.on_with("Entry", args);
        let error = stage.fails(code, command, args);
        assert!(error["message"].as_str().unwrap().contains("single-line"), "{error}");
        assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    }
    stage.holds("Entry", "");
}

#[test]
fn a_text_area_takes_lines_and_tabs_as_they_are() {
    let mut stage = Stage::start();
    let text = "one\n\ttwo\tthree";
    if stage.kit == Kit::Chromium {
        // Its keyboard goes to the next field with a tab, and nothing is typed there.
        let args = stage.on_with("Notes", json!({ "text": text }));
        let error = stage.fails("ACTION_FAILED", "type", args);
        assert_eq!(error["delivered_chars"], 5, "{error}");
        return;
    }
    let args = stage.on("Text");
    stage.act("select", args);
    for route in ["auto", "input"] {
        let args = stage.on("Notes");
        stage.act("clear", args);
        stage.holds("Notes", "");
        let args = stage.on_with("Notes", json!({ "text": text, "route": route }));
        stage.act("type", args);
        stage.holds("Notes", text);
    }
}

#[test]
fn a_secret_that_is_typed_or_set_shows_nowhere() {
    let mut stage = Stage::start();
    let secret = "Zyx9-SESAME";
    for route in ["auto", "input"] {
        let args = stage.on_with("Password", json!({ "text": secret, "route": route }));
        let done = stage.act("type", args);
        assert_eq!(done["disposition"]["delivery"], "delivered_unverified", "{done}");
    }
    stage.tree();
    let args = stage.args(json!({ "sync": true, "max_nodes": 0, "format": "text" }));
    stage.client.ask("snapshot", args);
    let contains = |bytes: &[u8]| bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
    assert!(!contains(&stage.client.received), "in an answer");
    assert!(!contains(&stage.daemon.log()), "in the log or the audit");
}

#[test]
fn keys_go_to_what_has_the_focus() {
    let mut stage = Stage::start();
    let args = stage.on_with("Entry", json!({ "text": "ab" }));
    stage.act("type", args);
    stage.holds("Entry", "ab");
    let args = stage.on("Entry");
    stage.act("focus", args);
    for combo in ["end", "backspace", "shift+x"] {
        let args = stage.args(json!({ "combo": combo }));
        let done = stage.act("press", args);
        assert_eq!(done["route"], "input", "{done}");
    }
    stage.holds("Entry", "aX");
}

#[test]
fn backspace_deletes_before_the_caret_and_delete_after_it() {
    let mut stage = Stage::start();
    let args = stage.on_with("Entry", json!({ "text": "abcdef" }));
    stage.act("type", args);
    stage.holds("Entry", "abcdef");
    let args = stage.on("Entry");
    stage.act("focus", args);
    // The Mac's key of that name deletes what is before the caret.
    let delete = if stage.kit.is_appkit() { "forwarddelete" } else { "delete" };
    for (combo, left) in [("home", "abcdef"), (delete, "bcdef"), ("del", "cdef"), ("right", "cdef")] {
        let args = stage.args(json!({ "combo": combo }));
        stage.act("press", args);
        stage.holds("Entry", left);
    }
    for (combo, left) in [("backspace", "def"), ("forwarddelete", "ef"), ("end", "ef"), ("backspace", "e")] {
        let args = stage.args(json!({ "combo": combo }));
        stage.act("press", args);
        stage.holds("Entry", left);
    }
}

#[test]
fn shortcuts_work() {
    let mut stage = Stage::start();
    let args = stage.on_with("Entry", json!({ "text": "copied" }));
    stage.act("type", args);
    stage.holds("Entry", "copied");
    let args = stage.on("Entry");
    stage.act("focus", args);
    for combo in ["ctrl+a", "ctrl+c", "end", "ctrl+v"] {
        let args = stage.args(json!({ "combo": combo }));
        stage.act("press", args);
    }
    stage.holds("Entry", "copiedcopied");
}

#[test]
fn the_space_bar_presses_the_button_that_has_the_focus() {
    let mut stage = Stage::start();
    let args = stage.on_with("Press", json!({ "route": "input" }));
    stage.act("click", args);
    stage.counts(1);
    let args = stage.args(json!({ "combo": "space" }));
    stage.act("press", args);
    stage.counts(2);
}
