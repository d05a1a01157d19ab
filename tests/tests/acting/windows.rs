//! Windows and apps: brought to the front, moved, resized, put away and back; started and ended.

use std::time::Instant;

use axd_tests::{PATIENCE, Stage};
use serde_json::{Value, json};

fn window(stage: &Stage, more: Value) -> Value {
    let mut args = stage.args(json!({ "window": stage.kit.title() }));
    for (name, value) in more.as_object().expect("args") {
        args[name] = value.clone();
    }
    args
}

#[test]
fn a_window_is_moved_and_resized() {
    let mut stage = Stage::start();
    let args = window(&stage, json!({ "to": "120,90" }));
    let done = stage.act("move-window", args);
    assert_eq!(
        (&done["after"]["bounds"]["x"], &done["after"]["bounds"]["y"]),
        (&json!(120), &json!(90)),
        "{done}"
    );
    assert_eq!(stage.window()["bounds"], done["after"]["bounds"]);
    let args = window(&stage, json!({ "to": "980x690" }));
    let done = stage.act("resize-window", args);
    let size = (&done["after"]["bounds"]["width"], &done["after"]["bounds"]["height"]);
    assert_eq!(size, (&json!(980), &json!(690)), "{done}");
    assert_eq!(done["disposition"]["delivery"], "delivered_verified", "{done}");
    // What is in it is clicked where it is now.
    let args = stage.on_with("Press", json!({ "route": "input" }));
    stage.act("click", args);
    stage.counts(1);
}

#[test]
fn a_window_is_put_away_and_back_and_fills_the_screen_and_does_not() {
    let mut stage = Stage::start();
    let before = stage.window()["bounds"].clone();
    let args = window(&stage, json!({}));
    let done = stage.act("minimize", args.clone());
    assert_eq!(done["after"]["minimized"], true, "{done}");
    let done = stage.act("restore", args.clone());
    assert_ne!(done["after"]["minimized"], true, "{done}");
    let done = stage.act("maximize", args.clone());
    assert_eq!(done["after"]["maximized"], true, "{done}");
    assert!(done["after"]["bounds"]["width"].as_i64() > before["width"].as_i64(), "{done}");
    let done = stage.act("restore", args);
    assert_ne!(done["after"]["maximized"], true, "{done}");
    // A window goes back in two steps on some desktops: to its place, and to its size.
    let began = Instant::now();
    while stage.window()["bounds"] != before {
        assert!(began.elapsed() < PATIENCE / 4, "{} is not {before}", stage.window()["bounds"]);
    }
}

#[test]
fn a_window_is_brought_to_the_front() {
    let mut stage = Stage::start();
    let args = stage.args(json!({ "window": stage.kit.title() }));
    stage.act("minimize", args.clone());
    assert_ne!(stage.window()["focused"], true);
    let done = stage.act("focus-window", args);
    assert_eq!(done["after"]["focused"], true, "{done}");
    assert_eq!(stage.window()["focused"], true);
}

#[test]
fn a_click_reaches_a_window_that_was_put_away() {
    let mut stage = Stage::start();
    let args = stage.args(json!({ "window": stage.kit.title() }));
    stage.act("minimize", args);
    let args = stage.on_with("Press", json!({ "route": "input" }));
    stage.act("click", args);
    stage.counts(1);
}

#[test]
fn a_window_that_is_not_there_is_not_found() {
    let mut stage = Stage::start();
    for (command, more) in
        [("move-window", json!({ "to": "0,0" })), ("focus-window", json!({})), ("minimize", json!({}))]
    {
        let mut args = window(&stage, more);
        args["window"] = json!("No such window");
        let error = stage.fails("WINDOW_NOT_FOUND", command, args);
        assert_eq!(error["disposition"]["retry"], "safe", "{error}");
    }
}

#[test]
fn an_app_is_started_and_its_window_is_there_then_and_it_is_closed() {
    let mut stage = Stage::start();
    let args = stage.kit.launch(stage.daemon.folder());
    let done = stage.act("launch", args);
    let pid = done["launched"]["pid"].as_u64().unwrap_or_else(|| panic!("{done}"));
    assert_ne!(pid.to_string(), stage.app, "{done}");
    assert!(done["window"]["id"].is_string(), "{done}");
    let apps = stage.act("list-apps", json!({}));
    assert!(apps["apps"].as_array().unwrap().iter().any(|app| app["pid"] == pid), "{apps}");
    let done = stage.act("close-app", json!({ "app": pid.to_string() }));
    assert_eq!(done["closed"], true, "{done}");
    let apps = stage.act("list-apps", json!({}));
    assert!(!apps["apps"].as_array().unwrap().iter().any(|app| app["pid"] == pid), "{apps}");
    stage.counts(0);
}

#[test]
fn an_app_that_hangs_is_ended_by_force() {
    let mut stage = Stage::start();
    stage.hang();
    let mut other = stage.another();
    if stage.kit.is_scripted() {
        let id = other.begin("close-app", json!({ "app": stage.app, "timeout_ms": 300 }));
        other.fails_later("TIMEOUT", id);
    }
    let done = other.data("close-app", json!({ "app": stage.app, "force": true }));
    assert_eq!(done["closed"], true, "{done}");
    other.fails("APPLICATION_NOT_FOUND", "snapshot", json!({ "app": stage.app }));
}

#[test]
fn an_app_that_is_not_there_is_not_found() {
    let mut stage = Stage::start();
    stage.fails("APPLICATION_NOT_FOUND", "close-app", json!({ "app": "Nobody" }));
    stage.fails("APPLICATION_NOT_FOUND", "launch", json!({ "app": "no-such-program-anywhere" }));
    stage.fails("APPLICATION_NOT_FOUND", "click", json!({ "app": "Nobody", "target": "button" }));
}
