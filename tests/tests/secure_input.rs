//! On macOS somebody may have the keyboard to itself: whoever has keys made that come to nothing is told why.
#![cfg(not(target_os = "macos"))]

use axd_tests::{Daemon, Setup, sync};
use serde_json::{Value, json};

const APP: &str = r#"
name = "Notes"
identity = "test.notes"
[[window]]
id = "main"
title = "Notes"
children = [
  { role = "textfield", id = "note", name = "Note", value = "" },
  { role = "button", id = "add", name = "Add" },
  { role = "text", id = "count", name = "0" },
]
[[rule]]
on = "press:add"
do = [{ rename = "count", text = "1" }]
"#;

fn typed(daemon: &Daemon) -> (Value, Value) {
    let mut client = daemon.client();
    sync(&mut client, "Notes");
    let by_hand = json!({ "app": "Notes", "target": "textfield:Note", "text": "hello", "route": "input" });
    let typed = client.ok("type", by_hand);
    let clicked = client.ok("click", json!({ "app": "Notes", "target": "button:Add", "route": "input" }));
    (typed["data"].clone(), clicked["data"].clone())
}

#[test]
fn keys_that_come_to_nothing_are_explained_and_the_mouse_still_works() {
    let held = Setup::new().platform("macos").app(APP).env("AXD_DOUBLE_SECURE_INPUT", "4711").start();
    let (typed, clicked) = typed(&held);
    assert_eq!(typed["after"]["value"], json!(""), "{typed}");
    let note = typed["note"].as_str().unwrap_or_default();
    assert!(note.contains("secure input") && note.contains("process 4711"), "{typed}");
    assert!(clicked["note"].is_null() && clicked["settled"] == "quiet", "{clicked}");
    let doctor = held.ax(&["doctor"]).run();
    assert!(doctor.out.contains("process 4711"), "{doctor:?}");
}

#[test]
fn keys_that_arrive_need_no_word() {
    let (typed, _) = typed(&Setup::new().platform("macos").app(APP).start());
    assert_eq!((&typed["after"]["value"], &typed["note"]), (&json!("hello"), &Value::Null), "{typed}");
}
