//! What a Mac may say no to, told to whoever asks: permissions that are missing, and keys that are swallowed. The daemon
//! with the macOS backend, on the double.
#![cfg(not(target_os = "macos"))]

use axd_tests::{Ax, Setup, axd, axd_on_double, sync};
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

/// Text by the keyboard.
fn by_hand() -> Value {
    json!({ "app": "Notes", "target": "textfield:Note", "text": "hello", "route": "input" })
}

#[test]
fn keys_that_come_to_nothing_are_explained_and_the_mouse_still_works() {
    let held = Setup::new().platform("macos").app(APP).env("AXD_DOUBLE", "secure-input=4711").start();
    let mut client = held.client();
    sync(&mut client, "Notes");
    let error = client.fails("ACTION_FAILED", "type", by_hand());
    let said = error["message"].as_str().unwrap_or_default();
    assert!(said.contains("secure input") && said.contains("process 4711"), "{error}");
    assert_eq!(error["disposition"]["delivery"], "uncertain", "{error}");
    let clicked = client.data("click", json!({ "app": "Notes", "target": "button:Add", "route": "input" }));
    assert!(clicked["note"].is_null() && clicked["settled"] == "quiet", "{clicked}");
    let doctor = held.ax(&["doctor"]).run();
    assert!(doctor.out.contains("process 4711"), "{doctor:?}");
}

#[test]
fn keys_that_arrive_need_no_word() {
    let daemon = Setup::new().platform("macos").app(APP).start();
    let mut client = daemon.client();
    sync(&mut client, "Notes");
    let typed = client.data("type", by_hand());
    assert_eq!((&typed["after"]["value"], &typed["note"]), (&json!("hello"), &Value::Null), "{typed}");
}

#[test]
fn without_permission_everything_says_which_program_to_allow_and_where() {
    let daemon = Setup::new().platform("macos").app(APP).env("AXD_DOUBLE", "untrusted,no-capture").start();
    let mut client = daemon.client();
    for (command, args) in [
        ("attach", json!({ "app": "Notes" })),
        ("snapshot", json!({ "app": "Notes" })),
        ("find", json!({ "app": "Notes", "selector": "button" })),
        ("click", json!({ "app": "Notes", "target": "button:Add" })),
        ("press", json!({ "combo": "a" })),
        ("screenshot", json!({ "all": true })),
    ] {
        let error = client.fails("PERMISSION_DENIED", command, args);
        let said = error["message"].as_str().unwrap_or_default();
        assert!(said.contains("axd-on-double") && said.contains("Privacy & Security"), "{command}: {error}");
    }
    // Who runs is no secret.
    assert!(!client.data("list-apps", json!({}))["apps"].as_array().unwrap().is_empty());
    let told = client.data("permissions", json!({}));
    assert_eq!(told["granted"], json!(false));
    for (at, name) in ["accessibility", "screen recording"].iter().enumerate() {
        let permission = &told["permissions"][at];
        assert_eq!((&permission["name"], &permission["granted"]), (&json!(name), &json!(false)), "{told}");
    }
    let doctor = client.data("doctor", json!({}));
    let checks = doctor["checks"].as_array().unwrap();
    assert!(checks.iter().any(|check| check["what"] == "accessibility" && check["verdict"] == "missing"));
    assert!(!checks.iter().any(|check| check["what"] == "Notes"), "no app is to blame: {doctor}");
    let text = daemon.ax(&["permissions", "--text"]).run();
    assert!(text.out.contains("MISSING  accessibility"), "{text:?}");
}

#[test]
fn a_permission_of_another_build_is_told_as_such() {
    let daemon = Setup::new().platform("macos").app(APP).env("AXD_DOUBLE", "other-build").start();
    let mut client = daemon.client();
    let told = client.data("permissions", json!({}));
    let accessibility = &told["permissions"][0];
    assert_eq!(
        (&accessibility["granted"], &accessibility["state"]),
        (&json!(false), &json!("other_build")),
        "{told}"
    );
    for (command, args) in [("snapshot", json!({ "app": "Notes" })), ("press", json!({ "combo": "a" }))] {
        let error = client.fails("PERMISSION_DENIED", command, args);
        let said = error["message"].as_str().unwrap_or_default();
        assert!(said.contains("another build") && said.contains("remove it"), "{command}: {error}");
    }
    let text = daemon.ax(&["permissions", "--text"]).run();
    assert!(text.out.contains("INVALID  accessibility"), "{text:?}");
}

#[test]
fn what_is_allowed_later_works_without_a_restart() {
    // The system goes on saying no to this process. The daemon does not ask by itself when it comes up.
    let words = "untrusted,says-yes-after=1";
    let daemon = Setup::new().platform("macos").app(APP).env("AXD_DOUBLE", words).start();
    let mut client = daemon.client();
    client.fails("PERMISSION_DENIED", "snapshot", json!({ "app": "Notes" }));
    let told = client.data("permissions", json!({ "request": true }));
    assert_eq!(told["granted"], json!(true), "{told}");
    let clicked = client.data("click", json!({ "app": "Notes", "target": "button:Add" }));
    assert_eq!(clicked["settled"], "quiet", "{clicked}");
}

#[test]
fn selftest_measures_the_system_and_says_where_it_cannot() {
    let selftest =
        |form: &str, program: std::path::PathBuf| Ax::new(&["selftest", form]).env("AXD_BIN", program).run();
    let text = selftest("--text", axd_on_double()).exits(0);
    assert!(text.out.contains("AXUIElementDestroyed") && text.out.contains("silent"), "{text:?}");
    assert!(text.out.contains("a press of a button: performed, no error"), "{text:?}");
    let refused = selftest("--json", axd()).exits(1).json();
    assert_eq!(refused["error"]["code"], "PLATFORM_NOT_SUPPORTED", "{refused}");
}
