//! Windows: which one is meant, what is done to it, and that the answer says what came of it.

use axd_tests::{Daemon, Raw, Setup, sync};
use serde_json::{Value, json};

/// An app with two windows whose titles begin alike.
const EDITOR: &str = r#"
name = "Editor"
identity = "test.editor"
[[window]]
id = "first"
title = "Draft 1"
bounds = [10, 10, 300, 200]
children = [{ role = "button", id = "go", name = "Go" }]
[[window]]
id = "second"
title = "Draft 2"
bounds = [50, 50, 300, 200]
"#;

/// The window of an app as `list-windows` shows it.
fn listed(client: &mut Raw, app: &str) -> Value {
    client.data("list-windows", json!({ "app": app }))["windows"][0].take()
}

fn place(window: &Value) -> [i64; 4] {
    ["x", "y", "width", "height"].map(|side| window["bounds"][side].as_i64().expect("bounds"))
}

/// Fails unless the answer says it is done and seen to be.
fn verified(answer: &Value) {
    assert_eq!(
        answer["disposition"],
        json!({ "delivery": "delivered_verified", "retry": "unsafe" }),
        "{answer}"
    );
}

fn unverified(answer: &Value) {
    assert_eq!(answer["disposition"]["delivery"], "delivered_unverified", "{answer}");
}

#[test]
fn a_window_is_moved_to_where_it_was_asked() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let before = listed(&mut client, "Notes");
    let moved = client.data("move-window", json!({ "app": "Notes", "to": "33,44" }));
    verified(&moved);
    assert_eq!(moved["before"], before);
    let [.., width, height] = place(&before);
    assert_eq!(place(&moved["after"]), [33, 44, width, height]);
    assert_eq!(listed(&mut client, "Notes"), moved["after"]);
}

#[test]
fn a_window_gets_the_size_it_was_asked_or_the_answer_says_which_it_got() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let sized = client.data("resize-window", json!({ "app": "Notes", "to": "640x480" }));
    verified(&sized);
    assert_eq!(place(&sized["after"])[2..], [640, 480]);
    // No window is that small.
    let sized = client.data("resize-window", json!({ "app": "Notes", "to": "5x5", "timeout_ms": 50 }));
    unverified(&sized);
    let [.., width, height] = place(&sized["after"]);
    assert!(width > 5 && height > 5 && sized["waited_ms"].as_u64() >= Some(50), "{sized}");
}

#[test]
fn a_window_fills_the_screen_goes_away_and_comes_back() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let screen = client.data("list-displays", json!({}))["displays"][0].take();
    let before = listed(&mut client, "Notes");
    let filled = client.data("maximize", json!({ "app": "Notes" }));
    verified(&filled);
    assert_eq!(filled["after"]["maximized"], true);
    assert_eq!(place(&filled["after"]), place(&screen));
    let back = client.data("restore", json!({ "app": "Notes" }));
    verified(&back);
    assert_eq!((place(&back["after"]), &back["after"]["maximized"]), (place(&before), &Value::Null));
    let away = client.data("minimize", json!({ "app": "Notes" }));
    verified(&away);
    assert_eq!((&away["after"]["minimized"], &away["after"]["focused"]), (&json!(true), &Value::Null));
    let back = client.data("restore", json!({ "app": "Notes" }));
    verified(&back);
    assert_eq!(back["after"]["minimized"], Value::Null);
}

#[test]
fn a_window_that_is_focused_is_the_active_one() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    assert_eq!(listed(&mut client, "Paint")["focused"], Value::Null);
    let focused = client.ok("focus-window", json!({ "app": "Paint" }));
    verified(&focused["data"]);
    assert_eq!(
        (&focused["data"]["after"]["focused"], &focused["app"]["name"]),
        (&json!(true), &json!("Paint"))
    );
    let windows = client.data("list-windows", json!({}));
    assert_eq!(windows["windows"][0], focused["data"]["after"]);
    // What is in front already is in front.
    verified(&client.data("focus-window", json!({ "app": "Paint" })));
}

#[test]
fn a_window_is_known_by_title_number_or_id_and_is_the_front_one_unless_named() {
    let daemon = Setup::new().app(EDITOR).start();
    let mut client = daemon.client();
    let titles = |client: &mut Raw, args: Value| {
        let mut args = args;
        args["to"] = "5,6".into();
        client.data("move-window", args)["after"]["title"].take()
    };
    client.ok("focus-window", json!({ "app": "Calculator" }));
    assert_eq!(titles(&mut client, json!({})), "Calculator");
    assert_eq!(titles(&mut client, json!({ "app": "Editor", "window": "draft 1" })), "Draft 1");
    assert_eq!(titles(&mut client, json!({ "app": "Editor", "window": "2" })), "Draft 2");
    sync(&mut client, "Editor");
    let windows = client.data("list-windows", json!({ "app": "Editor" }));
    for window in windows["windows"].as_array().expect("windows") {
        for name in [window["window"].to_string(), window["id"].as_str().expect("an id").to_owned()] {
            // In another app than the frontmost one, and not named.
            assert_eq!(titles(&mut client, json!({ "window": name })), window["title"], "{name}");
        }
    }
    client.ok("focus-window", json!({ "app": "Editor", "window": "Draft 1" }));
    assert_eq!(titles(&mut client, json!({ "app": "Editor" })), "Draft 1");
}

#[test]
fn a_window_that_is_not_there_or_not_the_only_one_is_answered_with_those_that_are() {
    let daemon = Setup::new().app(EDITOR).start();
    let mut client = daemon.client();
    let error = client.fails("WINDOW_NOT_FOUND", "minimize", json!({ "app": "Editor", "window": "Inbox" }));
    assert!(error["suggestion"].as_str().is_some_and(|said| said.contains("'Draft 1'")), "{error}");
    client.ok("focus-window", json!({ "app": "Calculator" }));
    let error = client.fails("WINDOW_NOT_FOUND", "minimize", json!({ "window": "Draft 1" }));
    assert!(error["suggestion"].as_str().is_some_and(|said| said.contains("--app")), "{error}");
    let error = client.fails("AMBIGUOUS_TARGET", "minimize", json!({ "app": "Editor", "window": "Draft" }));
    let said = error["suggestion"].as_str().expect("a suggestion");
    assert!(said.contains("'Draft 1'") && said.contains("'Draft 2'"), "{error}");
    client.fails("APPLICATION_NOT_FOUND", "minimize", json!({ "app": "Nobody" }));
    client.fails("WINDOW_NOT_FOUND", "minimize", json!({ "window": "999999999" }));
    sync(&mut client, "Editor");
    let button =
        client.data("find", json!({ "selector": "button:Go", "app": "Editor" }))["matches"][0]["id"].take();
    let error = client.fails("WINDOW_NOT_FOUND", "minimize", json!({ "window": button }));
    assert!(error["message"].as_str().is_some_and(|said| said.contains("is not a window")), "{error}");
    for (command, to) in [("move-window", "here"), ("resize-window", "0x5"), ("resize-window", "wide")] {
        let error = client.fails("INVALID_ARGS", command, json!({ "app": "Editor", "to": to }));
        assert_eq!(error["disposition"]["delivery"], "not_delivered");
    }
    let untouched = client.data("list-windows", json!({ "app": "Editor", "filter": "Draft 1" }));
    assert_eq!(place(&untouched["windows"][0]), [10, 10, 300, 200]);
}

#[test]
fn the_windows_of_an_app_that_hangs_can_be_moved_about() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.sim("Notes", &["fault", "hang"]);
    verified(&client.data("move-window", json!({ "app": "Notes", "to": "7,8" })));
    verified(&client.data("minimize", json!({ "app": "Notes" })));
}

#[test]
fn a_wait_for_a_window_ends_when_it_is_cancelled_or_its_deadline_comes() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let small = json!({ "app": "Notes", "to": "5x5", "timeout_ms": 600_000 });
    let id = client.begin_within("resize-window", small.clone(), Some(300));
    unverified(&client.answer(id)["data"]);
    client.ok("subscribe", json!({ "kind": ["window-changed"] }));
    client.ok("resize-window", json!({ "app": "Notes", "to": "400x400" }));
    client.event_where(|event| event["window"]["bounds"]["width"] == 400);
    let resized = client.begin("resize-window", small);
    // It has been sent when its effect is told.
    client.event_where(|event| event["window"]["bounds"]["width"] != 400);
    let cancel = client.begin("cancel", json!({ "id": resized }));
    assert_eq!(client.answer(cancel)["data"]["cancelled"], false, "too late: it has been sent");
    unverified(&client.answer(resized)["data"]);
}
