//! Starting apps and closing them.

use axd_tests::{Daemon, Setup, sync};
use serde_json::{Value, json};

/// An app that does not run at first, and shows what it was started with.
const LATER: &str = r#"
name = "Later"
identity = "test.later"
running = false
[[window]]
id = "main"
title = "Later"
children = [{ role = "textfield", id = "told", name = "Told" }]
[[rule]]
on = "start"
do = [{ set = "told", text = "{args} | {env:COLOUR} | {cwd}" }]
"#;

/// An app that asks before it ends.
const ASKS: &str = r#"
name = "Asks"
identity = "test.asks"
[[window]]
id = "main"
title = "Letter"
[[window]]
id = "sure"
title = "Keep your letter?"
role = "dialog"
modal = true
open = false
children = [{ role = "button", id = "no", name = "Throw Away" }]
[[rule]]
on = "quit"
do = [{ open = "sure" }]
[[rule]]
on = "press:no"
do = [{ quit = true }]
"#;

/// An app that runs without a window, once it is started.
const QUIET: &str = r#"
name = "Quiet"
identity = "test.quiet"
running = false
[[window]]
id = "main"
title = "Quiet"
open = false
"#;

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn runs(client: &mut axd_tests::Raw, app: &str) -> bool {
    let apps = client.data("list-apps", json!({}));
    apps["apps"].as_array().expect("apps").iter().any(|known| known["name"] == app)
}

#[test]
fn an_app_that_is_waited_for_is_up_with_a_window_that_has_an_id() {
    let daemon = Setup::new().app(LATER).start();
    let mut client = daemon.client();
    assert!(!runs(&mut client, "Later"));
    let launched = client.ok("launch", json!({ "app": "later", "wait": true }));
    let data = &launched["data"];
    assert_eq!(data["disposition"]["delivery"], "delivered_verified", "{data}");
    assert_eq!((&data["launched"]["name"], &data["launched"]["pid"]), (&json!("Later"), &data["pid"]));
    assert_eq!((&data["window"]["title"], &launched["app"]["name"]), (&json!("Later"), &json!("Later")));
    let window = client.data("get", json!({ "target": data["window"]["id"] }));
    assert_eq!(window["node"]["role"], "window");
}

#[test]
fn an_app_that_is_not_waited_for_is_answered_at_once() {
    let daemon = Setup::new().app(LATER).start();
    let mut client = daemon.client();
    let data = client.data("launch", json!({ "app": "test.later" }));
    assert_eq!(data["disposition"]["delivery"], "delivered_unverified", "{data}");
    assert!(data["pid"].is_u64() && data["window"].is_null(), "{data}");
    assert!(runs(&mut client, "Later"));
}

#[test]
fn an_app_gets_the_args_the_environment_and_the_folder_it_was_started_with() {
    let daemon = Setup::new().app(LATER).start();
    let mut client = daemon.client();
    let folder = daemon.folder().to_str().expect("a plain path").to_owned();
    let args = json!({ "app": "Later", "arg": ["-v", "a b"], "env": ["COLOUR=red=blue"], "cwd": folder, "wait": true });
    client.ok("launch", args);
    sync(&mut client, "Later");
    let told =
        client.data("get", json!({ "target": "textfield:Told", "app": "Later", "property": ["value"] }));
    assert_eq!(told["node"]["value"], format!("-v a b | red=blue | {folder}"));
}

#[test]
fn an_app_that_runs_already_comes_forward() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let before = client.data("list-windows", json!({ "app": "Paint" }))["windows"][0].take();
    let data = client.data("launch", json!({ "app": "Paint", "wait": true }));
    assert_eq!((&data["pid"], &data["window"]["window"]), (&before["pid"], &before["window"]), "{data}");
    assert_eq!(data["window"]["focused"], true);
    assert_eq!(data["handed_over_to"], before["pid"], "{data}");
}

#[test]
fn what_cannot_be_started_is_said_before_anything_is() {
    let daemon = Setup::new().app(LATER).start();
    let mut client = daemon.client();
    let error = client.fails("APPLICATION_NOT_FOUND", "launch", json!({ "app": "Nobody", "wait": true }));
    assert!(text(&error["message"]).contains("Nobody"), "{error}");
    for args in [
        json!({ "app": "" }),
        json!({ "app": "bin/later" }),
        json!({ "app": "Later", "env": ["COLOUR"] }),
        json!({ "app": "Later", "env": ["=red"] }),
        json!({ "app": "Later", "arg": ["a\u{0}b"] }),
        json!({ "app": "Later", "cwd": "here" }),
        json!({ "app": "Later", "cwd": "/nowhere/at/all" }),
    ] {
        let error = client.fails("INVALID_ARGS", "launch", args);
        assert_eq!(error["disposition"], json!({ "delivery": "not_delivered", "retry": "safe" }), "{error}");
    }
    assert!(!runs(&mut client, "Later"));
}

#[test]
fn an_app_that_shows_no_window_in_time_is_said_to_be_up() {
    let daemon = Setup::new().app(QUIET).start();
    let mut client = daemon.client();
    let args = json!({ "app": "Quiet", "wait": true, "timeout_ms": 50 });
    let error = client.fails("TIMEOUT", "launch", args);
    assert!(text(&error["message"]).contains("is running, but has no window"), "{error}");
    assert_eq!(error["disposition"], json!({ "delivery": "uncertain", "retry": "unsafe" }));
    assert!(runs(&mut client, "Quiet"));
}

#[test]
fn an_app_that_ends_before_it_shows_a_window_is_not_waited_for_any_longer() {
    let brief =
        QUIET.replace("Quiet", "Brief") + "[[rule]]\non = 'start'\nafter_ms = 20\ndo = [{ quit = true }]\n";
    let daemon = Setup::new().app(brief).start();
    let mut client = daemon.client();
    let error = client.fails(
        "ACTION_FAILED",
        "launch",
        json!({ "app": "Brief", "wait": true, "timeout_ms": 600_000 }),
    );
    assert!(text(&error["message"]).contains("ended before it opened a window"), "{error}");
}

#[test]
fn a_wait_for_a_window_can_be_cancelled_and_says_that_the_app_was_started() {
    let daemon = Setup::new().app(QUIET).start();
    let mut client = daemon.client();
    client.ok("subscribe", json!({ "kind": ["app-launched"] }));
    let id = client.begin("launch", json!({ "app": "Quiet", "wait": true, "timeout_ms": 600_000 }));
    client.event_where(|event| event["event"] == "app-launched");
    let cancel = client.begin("cancel", json!({ "id": id }));
    assert_eq!(client.answer(cancel)["data"]["cancelled"], false);
    let error = client.fails_later("CANCELLED", id);
    assert_eq!(error["disposition"]["retry"], "unsafe", "{error}");
}

#[test]
fn an_app_that_is_closed_is_gone_when_the_answer_comes() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    sync(&mut client, "Paint");
    let closed = client.ok("close-app", json!({ "app": "Paint" }));
    assert_eq!(closed["data"]["closed"], true, "{closed}");
    assert_eq!(closed["data"]["disposition"]["delivery"], "delivered_verified");
    assert_eq!((&closed["app"]["name"], &closed["app"]["state"]), (&json!("Paint"), &json!("gone")));
    assert!(!runs(&mut client, "Paint"));
    client.fails("APPLICATION_NOT_FOUND", "close-app", json!({ "app": "Paint" }));
}

#[test]
fn an_app_that_asks_before_it_ends_is_still_there_and_its_question_is_named() {
    let daemon = Setup::new().app(ASKS).start();
    let mut client = daemon.client();
    let args = json!({ "app": "Asks", "timeout_ms": 100 });
    let error = client.fails("TIMEOUT", "close-app", args.clone());
    assert!(text(&error["message"]).contains("'Keep your letter?'"), "its front window: {error}");
    assert!(text(&error["suggestion"]).contains("--force"), "{error}");
    assert_eq!(error["disposition"], json!({ "delivery": "delivered_unverified", "retry": "unsafe" }));
    sync(&mut client, "Asks");
    let error = client.fails("ACTION_FAILED", "close-app", args);
    assert_eq!(error["candidates"][0]["name"], "Keep your letter?", "its dialog, to be answered: {error}");
    // What is suggested can be run as it is.
    let words: Vec<&str> = text(&error["retry_command"]).split(' ').collect();
    let ran = daemon.ax(&words).run().exits(0);
    assert_eq!(ran.json()["data"]["closed"], true);
    assert!(!runs(&mut client, "Asks"));
}

#[test]
fn an_answer_given_in_time_lets_an_app_that_asks_end() {
    let daemon = Setup::new().app(ASKS).start();
    let mut client = daemon.client();
    client.ok("subscribe", json!({ "kind": ["window-opened"] }));
    let id = client.begin("close-app", json!({ "app": "Asks", "timeout_ms": 600_000 }));
    client.event_where(|event| event["window"]["title"] == "Keep your letter?");
    daemon.client().sim("Asks", &["press", "no"]);
    assert_eq!(client.answer(id)["data"]["closed"], true);
}

#[test]
fn an_app_that_hangs_ends_only_by_force() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.sim("Notes", &["fault", "hang"]);
    client.fails("TIMEOUT", "close-app", json!({ "app": "Notes", "timeout_ms": 50 }));
    let closed = client.data("close-app", json!({ "app": "Notes", "force": true }));
    assert_eq!(closed["closed"], true);
    assert!(!runs(&mut client, "Notes"));
}
