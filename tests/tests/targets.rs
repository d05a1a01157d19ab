//! What a request is about: ids that live, died or never were, selectors that mean several or nothing, and clocks.

use axd_tests::{Daemon, Setup, apps, find, sync};
use serde_json::{Value, json};

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

#[test]
fn an_id_that_was_never_seen_is_not_found() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.is_served();
    for args in [json!({ "target": "btn_zzzzzz" }), json!({ "target": "btn_zzzzzz", "app": "Calculator" })] {
        let error = client.fails("ELEMENT_NOT_FOUND", "get", args);
        assert!(text(&error["message"]).contains("btn_zzzzzz not found"), "{error}");
    }
    client.fails("ELEMENT_NOT_FOUND", "snapshot", json!({ "app": "Calculator", "root": "btn_zzzzzz" }));
}

#[test]
fn a_dead_id_is_stale_and_names_who_may_be_meant_and_what_to_run() {
    let daemon = Setup::new().app(apps::mute("Drafts", "full")).start();
    let mut client = daemon.client();
    let first = find(&sync(&mut client, "Drafts"), "first").id.to_string();
    client.sim("Drafts", &["press", "remove"]);
    sync(&mut client, "Drafts");
    for args in [json!({ "target": first }), json!({ "target": first, "app": "Drafts" })] {
        let error = client.fails("STALE_REF", "get", args);
        let candidates = error["candidates"].as_array().expect("candidates");
        assert_eq!(
            (&candidates[0]["role"], &candidates[0]["name"]),
            (&json!("listitem"), &json!("Draft 2")),
            "{error}"
        );
        let retry = text(&error["retry_command"]);
        assert!(
            retry.starts_with("find ") && retry.contains("Draft 1") && retry.contains("Drafts"),
            "{retry}"
        );
        assert_eq!(error["disposition"], json!({ "delivery": "not_delivered", "retry": "safe" }));
        client.ok("get", json!({ "target": candidates[0]["id"] }));
    }
    client.fails("STALE_REF", "is", json!({ "target": first, "property": "enabled" }));
    client.fails("STALE_REF", "snapshot", json!({ "root": first, "app": "Drafts" }));
    client.fails("STALE_REF", "subscribe", json!({ "within": first }));
}

/// An app that makes a new button of the same name, and is asked not to say so.
const REPLACES: &str = r#"
name = "Replaces"
identity = "test.replaces"
[[window]]
id = "main"
title = "Replaces"
children = [
  { role = "button", id = "swap", name = "Swap" },
  { role = "text", id = "count", name = "Pressed", value = "0" },
  { role = "group", id = "holder", children = [{ role = "button", id = "old", name = "Thing" }] },
]
[template.thing]
role = "button"
id = "thing-{n}"
name = "Thing"
[[rule]]
on = "press:swap"
do = [{ remove = "old" }, { add = "thing", into = "holder" }]
[[rule]]
on = "press:old"
do = [{ set = "count", text = "old" }]
[[rule]]
on = "press:thing-1"
do = [{ increase = "count" }]
"#;

#[test]
fn what_a_selector_means_is_found_again_if_it_was_replaced_and_what_an_id_means_is_not() {
    let daemon = Setup::new().app(REPLACES).start();
    let mut client = daemon.client();
    let before = find(&sync(&mut client, "Replaces"), "old").id.to_string();
    client.sim("Replaces", &["fault", "drop-events"]);
    client.sim("Replaces", &["press", "swap"]);
    client.sim("Replaces", &["heal"]);
    // The tree still has the button that is gone.
    let seen = client.data("get", json!({ "target": "button:Thing", "app": "Replaces" }));
    assert_eq!(seen["node"]["id"], before, "{seen}");
    let done = client.data("click", json!({ "target": "button:Thing", "app": "Replaces" }));
    assert_ne!(done["before"]["id"], before, "{done}");
    let count =
        client.data("get", json!({ "target": "text:Pressed", "app": "Replaces", "property": ["value"] }));
    assert_eq!(count["node"]["value"], "1", "{count}");
    client.fails("STALE_REF", "click", json!({ "target": before, "app": "Replaces" }));
}

#[test]
fn the_retry_command_of_a_stale_id_can_be_run_as_it_is() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let before = sync(&mut client, "Notes");
    let note = find(&before, "notes").children[0].clone();
    client.sim("Notes", &["select", "notes", note.name.as_deref().expect("a name")]);
    client.sim("Notes", &["press", "delete"]);
    sync(&mut client, "Notes");
    let error = client.fails("STALE_REF", "get", json!({ "target": note.id.to_string() }));
    // The shell reads it as a person's would.
    let line = format!("\"$0\" {}", text(&error["retry_command"]));
    let ran = std::process::Command::new("sh")
        .args(["-c", &line])
        .arg(axd_tests::ax())
        .env("AXD_SOCKET", &daemon.socket)
        .output()
        .expect("a shell");
    let answer: Value = serde_json::from_slice(&ran.stdout).expect("an answer");
    assert_eq!((ran.status.code(), &answer["data"]["count"]), (Some(0), &json!(0)), "{line}: {answer}");
}

#[test]
fn a_selector_that_means_several_is_ambiguous_and_lists_them() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let error = client.fails("AMBIGUOUS_TARGET", "get", json!({ "target": "button", "app": "Calculator" }));
    let candidates = error["candidates"].as_array().expect("candidates");
    assert!(candidates.len() > 1 && candidates.iter().all(|node| node["role"] == "button"), "{error}");
    let id = text(&candidates[0]["id"]);
    let got = client.data("get", json!({ "target": id }));
    assert_eq!(got["node"]["name"], candidates[0]["name"]);
}

/// An app with several buttons of one name, which are not siblings.
const SAVES: &str = r#"
name = "Saves"
identity = "test.saves"
[[window]]
id = "main"
title = "Saves"
children = [
  { role = "text", id = "count", name = "Pressed", value = "0" },
  { role = "group", id = "left", name = "Left", children = [
    { role = "group", id = "inner", children = [{ role = "button", id = "a", name = "Save" }] },
    { role = "button", id = "x", name = "Undo", states = ["hidden"] },
    { role = "textfield", id = "t1", name = "Amount", value = "12" },
  ] },
  { role = "group", id = "right", name = "Right", children = [
    { role = "button", id = "b", name = "Save" },
    { role = "button", id = "y", name = "Undo", states = ["disabled"] },
    { role = "button", id = "z", name = "Undo" },
    { role = "textfield", id = "t2", name = "Amount", value = "34" },
    { role = "togglebutton", id = "k", name = "Bold" },
    { role = "button", id = "l", name = "Bold" },
  ] },
]
[[rule]]
on = "press:a"
do = [{ set = "count", text = "a" }]
[[rule]]
on = "press:b"
do = [{ set = "count", text = "b" }]
[[rule]]
on = "press:z"
do = [{ set = "count", text = "z" }]
"#;

/// What was pressed last in [`SAVES`].
fn pressed(client: &mut axd_tests::Raw) -> Value {
    let args = json!({ "target": "text:Pressed", "app": "Saves", "property": ["value"] });
    client.data("get", args)["node"]["value"].clone()
}

#[test]
fn candidates_show_what_tells_them_apart_and_can_be_taken_by_number() {
    let daemon = Setup::new().app(SAVES).start();
    let mut client = daemon.client();
    let error = client.fails("AMBIGUOUS_TARGET", "click", json!({ "target": "button:Save", "app": "Saves" }));
    let candidates = error["candidates"].as_array().expect("candidates");
    let places: Vec<&str> = candidates.iter().map(|one| text(&one["path"][0]["name"])).collect();
    assert_eq!(places, ["Left", "Right"], "{error}");
    assert!(
        candidates.iter().all(|one| one["path"].as_array().is_some_and(|path| path.len() == 1)),
        "{error}"
    );
    assert_eq!((&candidates[0]["nth"], &candidates[1]["nth"]), (&json!(1), &json!(2)), "{error}");
    assert!(text(&error["suggestion"]).contains("--nth"), "{error}");
    for (nth, what) in [(2, "b"), (1, "a"), (-1, "b")] {
        client.data("click", json!({ "target": "button:Save", "app": "Saves", "nth": nth }));
        assert_eq!(pressed(&mut client), what);
    }
    let error = client.fails(
        "ELEMENT_NOT_FOUND",
        "click",
        json!({ "target": "button:Save", "app": "Saves", "nth": 3 }),
    );
    assert_eq!(error["candidates"].as_array().map(Vec::len), Some(2), "{error}");
    client.fails("INVALID_ARGS", "click", json!({ "target": "button:Save", "app": "Saves", "nth": 0 }));
    client.fails("INVALID_ARGS", "press", json!({ "combo": "enter", "app": "Saves", "nth": 1 }));
    let error =
        client.fails("AMBIGUOUS_TARGET", "get", json!({ "target": "textfield:Amount", "app": "Saves" }));
    assert_eq!(
        (&error["candidates"][0]["value"], &error["candidates"][1]["value"]),
        (&json!("12"), &json!("34"))
    );
}

#[test]
fn an_action_takes_the_only_match_that_can_be_used_and_says_so() {
    let daemon = Setup::new().app(SAVES).start();
    let mut client = daemon.client();
    let done = client.data("click", json!({ "target": "button:Undo", "app": "Saves" }));
    assert!(text(&done["chosen"]).contains("the only one of 3 matches"), "{done}");
    assert_eq!(pressed(&mut client), "z");
    let error = client.fails("AMBIGUOUS_TARGET", "get", json!({ "target": "button:Undo", "app": "Saves" }));
    assert_eq!(error["candidates"][0]["states"], json!(["hidden"]), "{error}");
    let one = client.data("click", json!({ "target": "button:Save", "app": "Saves", "nth": 1 }));
    assert_eq!(one["chosen"], Value::Null, "{one}");
    let both = json!([
        { "command": "click", "args": { "target": "button:Undo", "app": "Saves" } },
        { "command": "click", "args": { "target": "button:Save", "app": "Saves", "nth": 2 } },
    ]);
    let done = client.data("batch", json!({ "items": both }));
    assert_eq!(done["succeeded"], 2, "{done}");
    assert_eq!(pressed(&mut client), "b");
}

#[test]
fn of_a_role_and_its_kinds_the_role_itself_is_meant() {
    let daemon = Setup::new().app(SAVES).start();
    let mut client = daemon.client();
    let got = client.data("get", json!({ "target": "button:Bold", "app": "Saves" }));
    assert_eq!(got["node"]["role"], "button", "{got}");
    let found = client.data("find", json!({ "selector": "button:Bold", "app": "Saves" }));
    assert_eq!(found["count"], 2, "{found}");
    let kind = client.data("get", json!({ "target": "togglebutton:Bold", "app": "Saves" }));
    assert_eq!(kind["node"]["role"], "togglebutton", "{kind}");
}

#[test]
fn a_selector_that_means_nothing_names_what_is_near() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let args = json!({ "target": "button:'Clear Historie'", "app": "Calculator" });
    let error = client.fails("ELEMENT_NOT_FOUND", "get", args);
    assert_eq!(error["candidates"][0]["name"], "Clear History", "{error}");
}

#[test]
fn a_broken_selector_says_where_it_broke_and_what_was_meant() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for (selector, offset, hint) in [
        ("button:Clear History", "at byte 13", "\"Clear History\""),
        ("button[", "at byte 7", ""),
        ("button:nth(x)", "at byte 11", ""),
        ("button > ", "at byte", ""),
        ("buton", "at byte 0", "button"),
        ("*[name=~\"(\"]", "at byte", ""),
        ("", "at byte 0", ""),
        ("button:\"7", "at byte", ""),
    ] {
        for command in ["find", "get"] {
            let args = if command == "find" {
                json!({ "selector": selector })
            } else {
                json!({ "target": selector })
            };
            let error = client.fails("INVALID_ARGS", command, args);
            let message = text(&error["message"]);
            assert!(message.contains(offset) && message.contains("HERE-->"), "{selector}: {message}");
            assert!(text(&error["suggestion"]).contains(hint), "{selector}: {error}");
        }
    }
    let long = format!("button{}", "[enabled]".repeat(200));
    client.fails("INVALID_ARGS", "find", json!({ "selector": long }));
    client.is_served();
}

#[test]
fn an_app_or_window_that_is_not_there_is_answered_with_those_that_are() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let error = client.fails("APPLICATION_NOT_FOUND", "snapshot", json!({ "app": "Nobody" }));
    assert!(text(&error["suggestion"]).contains("Calculator"), "{error}");
    let error = client.fails("WINDOW_NOT_FOUND", "snapshot", json!({ "app": "Notes", "window": "Nothing" }));
    assert_eq!(error["candidates"][0]["name"], "Notes", "{error}");
    client.fails("ELEMENT_NOT_FOUND", "element-at", json!({ "point": "-9000,-9000" }));
}

#[test]
fn a_clock_of_another_boot_is_answered_with_whole_trees() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.is_served();
    let answer = client.ok("changes", json!({ "since": "c:00000001:7" }));
    let app = &answer["data"]["apps"][0];
    assert_eq!((&app["app"]["name"], &app["fresh"]), (&json!("Calculator"), &json!(true)));
    assert_eq!(app["tree"]["role"], "application");
    client.ok("subscribe", json!({ "since": "c:00000001:7", "app": "Calculator" }));
    let event = client.event_where(|event| event["event"] == "fresh");
    assert_eq!(event["cause"], "boot");
    let after = client.ok("changes", json!({ "since": answer["clock"] }));
    assert_eq!(after["data"]["apps"], json!([]));
}

#[test]
fn a_clock_from_the_future_is_refused() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.is_served();
    let clock = text(&client.ok("status", json!({}))["clock"]).to_owned();
    let (boot, _) = clock.rsplit_once(':').expect("a clock");
    let future = format!("{boot}:999999999");
    for (command, args) in [
        ("changes", json!({ "since": future })),
        ("snapshot", json!({ "since": future, "app": "Calculator" })),
        ("subscribe", json!({ "since": future, "app": "Calculator" })),
    ] {
        let error = client.fails("INVALID_ARGS", command, args);
        assert!(text(&error["message"]).contains("future"), "{command}: {error}");
    }
}
