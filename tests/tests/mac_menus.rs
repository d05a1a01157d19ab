//! Menus on a Mac, whose items are read when somebody asks for them. The daemon with the macOS backend, on the double.
#![cfg(not(target_os = "macos"))]

use axd_tests::{Setup, sync};
use serde_json::json;

const NOTES: &str = r#"
name = "Notes"
identity = "test.notes"
[[window]]
id = "main"
title = "Notes"
bounds = [40, 40, 400, 300]
children = [
  { role = "menubar", id = "bar", children = [{ role = "menu", id = "file", name = "File", children = [
    { role = "menuitem", id = "new", name = "New" },
    { role = "menuitem", id = "close", name = "Close", states = ["disabled"] },
    { role = "menu", id = "recent", name = "Recent", children = [{ role = "menuitem", id = "one", name = "One" }] },
  ] }] },
  { role = "text", id = "count", name = "none" },
]
[[rule]]
on = "press:new"
do = [{ rename = "count", text = "made" }]
[[rule]]
on = "press:one"
do = [{ rename = "count", text = "opened" }]
"#;

const OTHER: &str = r#"
name = "Other"
identity = "test.other"
[[window]]
id = "main"
title = "Other"
bounds = [500, 40, 300, 300]
children = [{ role = "button", id = "press", name = "Press" }]
"#;

#[test]
fn items_of_closed_menus_are_read_for_who_asks_for_them_and_others_are_told_that_they_were_not() {
    let daemon = Setup::new().platform("macos").app(NOTES).start();
    let mut client = daemon.client();
    sync(&mut client, "Notes");
    let none = client.data("find", json!({ "app": "Notes", "selector": "*:One" }));
    assert_eq!((&none["count"], &none["complete"]), (&json!(0), &json!(false)), "{none}");
    assert_eq!(none["unread"][0]["name"], "File", "{none}");
    let button = client.data("find", json!({ "app": "Notes", "selector": "button:Nothing" }));
    assert_eq!((&button["count"], &button["complete"]), (&json!(0), &json!(true)), "{button}");
    let items = client.data("find", json!({ "app": "Notes", "selector": "menuitem" }));
    assert_eq!(items["count"], json!(3), "{items}");
    let one = client.data("find", json!({ "app": "Notes", "selector": "*:One" }));
    assert_eq!((&one["count"], &one["complete"]), (&json!(1), &json!(true)), "{one}");
}

#[test]
fn an_item_of_a_menu_of_an_app_in_the_background_is_picked() {
    let daemon = Setup::new().platform("macos").app(NOTES).app(OTHER).start();
    let mut client = daemon.client();
    sync(&mut client, "Notes");
    client.data("menu", json!({ "app": "Notes", "path": "File > New" }));
    client.data("wait", json!({ "app": "Notes", "for": ["text:made"] }));
    client.data("menu", json!({ "app": "Notes", "path": "File > Recent > One" }));
    client.data("wait", json!({ "app": "Notes", "for": ["text:opened"] }));
    client.fails("NOT_ACTIONABLE", "menu", json!({ "app": "Notes", "path": "File > Close" }));
}
