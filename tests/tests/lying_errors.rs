//! Apps that do what they are asked, and answer an error. The daemon with the macOS backend, on the double.
#![cfg(not(target_os = "macos"))]

use axd_tests::{Daemon, Raw, Setup, sync};
use serde_json::{Value, json};

const APP: &str = r#"
name = "Contacts"
identity = "test.contacts"
[[window]]
id = "main"
title = "Contacts"
children = [
  { role = "menubar", id = "bar", children = [
    { role = "menu", id = "card", name = "Card", children = [{ role = "menuitem", id = "share", name = "Share" }] },
  ] },
  { role = "button", id = "send", name = "Send" },
  { role = "text", id = "count", name = "count 0" },
  { role = "text", id = "counter", value = "0", states = ["hidden"] },
  { role = "textfield", id = "first", name = "First", value = "Ada" },
  { role = "slider", id = "size", name = "Size", value = "5", min = 0, max = 10 },
  { role = "list", id = "cards", name = "Cards", items = ["one", "two"] },
  { role = "checkbox", id = "company", name = "Company" },
  { role = "combobox", id = "kind", name = "Kind", value = "home", items = ["home", "work"] },
]
[[rule]]
on = "press:send"
do = [{ increase = "counter" }, { rename = "count", text = "count {value:counter}" }]
[[rule]]
on = "press:share"
do = [{ increase = "counter" }, { rename = "count", text = "count {value:counter}" }]
"#;

/// A daemon on a desktop whose apps perform every action and answer this error to it.
fn lying(error: i32) -> Daemon {
    start(&format!("actions-answer={error}"))
}

fn start(words: &str) -> Daemon {
    Setup::new().platform("macos").app(APP).env("AXD_DOUBLE", words).start()
}

/// Everything that AXUIElementPerformAction may answer to something that was done.
const ERRORS: [i32; 7] = [-25200, -25201, -25202, -25205, -25206, -25208, -25212];

fn count(client: &mut Raw) -> Value {
    let found = client.data("find", json!({ "app": "Contacts", "selector": "text" }));
    found["matches"]
        .as_array()
        .and_then(|all| all.first())
        .map(|first| first["name"].clone())
        .unwrap_or_default()
}

#[test]
fn a_click_that_is_answered_with_an_error_is_delivered_once_and_said_to_be_uncertain() {
    for error in ERRORS {
        let daemon = lying(error);
        let mut client = daemon.client();
        sync(&mut client, "Contacts");
        let clicked = client.data("click", json!({ "app": "Contacts", "target": "button:Send" }));
        assert_eq!(clicked["disposition"]["delivery"], "uncertain", "{error}: {clicked}");
        assert!(clicked["note"].is_string(), "{error}: {clicked}");
        assert_eq!(clicked["route"], "semantic", "no second way was tried: {clicked}");
        assert_eq!(count(&mut client), "count 1", "{error}");
    }
}

#[test]
fn a_menu_item_that_is_answered_with_an_error_is_picked_once() {
    for error in ERRORS {
        let daemon = lying(error);
        let mut client = daemon.client();
        sync(&mut client, "Contacts");
        let picked = client.data("menu", json!({ "app": "Contacts", "path": "Card > Share" }));
        assert_eq!(picked["disposition"]["delivery"], "uncertain", "{error}: {picked}");
        assert_eq!(count(&mut client), "count 1", "{error}");
    }
}

#[test]
fn what_is_seen_to_be_done_is_verified_whatever_the_app_answers() {
    for error in ERRORS {
        let daemon = lying(error);
        let mut client = daemon.client();
        sync(&mut client, "Contacts");
        for (command, args, aspect, value) in [
            ("check", json!({ "target": "checkbox:Company" }), "checked", json!(true)),
            ("toggle", json!({ "target": "checkbox:Company" }), "checked", json!(false)),
            ("select", json!({ "target": "combobox:Kind", "value": "work" }), "value", json!("work")),
        ] {
            let mut args = args;
            args["app"] = json!("Contacts");
            let done = client.data(command, args);
            assert_eq!(done["disposition"]["delivery"], "delivered_verified", "{error}, {command}: {done}");
            assert_eq!(done["after"][aspect], value, "{error}, {command}: {done}");
            assert!(done["note"].is_null(), "what is certain needs no word: {error}, {command}: {done}");
        }
    }
}

#[test]
fn an_action_by_its_name_is_performed_once() {
    let daemon = lying(-25206);
    let mut client = daemon.client();
    sync(&mut client, "Contacts");
    let args = json!({ "app": "Contacts", "target": "button:Send", "action": "AXPress" });
    let done = client.data("perform", args);
    assert_eq!(done["disposition"]["delivery"], "uncertain", "{done}");
    assert!(done["note"].as_str().is_some_and(|note| note.contains("kAXErrorActionUnsupported")), "{done}");
    assert_eq!(count(&mut client), "count 1");
}

#[test]
fn what_is_set_and_answered_with_an_error_is_set_once_and_verified() {
    for error in ERRORS.into_iter().filter(|error| *error != -25202) {
        let daemon = start(&format!("sets-answer={error}"));
        let mut client = daemon.client();
        sync(&mut client, "Contacts");
        for (command, args, value) in [
            ("type", json!({ "target": "textfield:First", "text": "!" }), "Ada!"),
            ("set-value", json!({ "target": "textfield:First", "value": "Grace" }), "Grace"),
            ("clear", json!({ "target": "textfield:First" }), ""),
            ("set-value", json!({ "target": "slider:Size", "value": "8" }), "8"),
        ] {
            let mut args = args;
            args["app"] = json!("Contacts");
            let done = client.data(command, args);
            assert_eq!(done["disposition"]["delivery"], "delivered_verified", "{error}, {command}: {done}");
            assert_eq!(done["route"], "semantic", "{error}, {command}: {done}");
            assert_eq!(
                done["after"]["value"].as_str().unwrap_or_default(),
                value,
                "{error}, {command}: {done}"
            );
        }
        let done =
            client.data("select", json!({ "app": "Contacts", "target": "table:Cards", "value": "two" }));
        assert_eq!(done["disposition"]["delivery"], "delivered_verified", "{error}: {done}");
    }
}
