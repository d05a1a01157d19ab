//! The policy file, held to what the daemon then does, on the built-in desktop: everything is inside it, no error allows more, and
//! what is stopped is so at once. Approving is in `approvals`. What leads around it on a real desktop is in `tests/desktop/guarded`.

use std::fs;

use axd_protocol::Command;
use axd_tests::Policed;
use serde_json::{Value, json};

/// Arguments with which each command is well-formed.
fn some_args(command: &str) -> Value {
    let on_button = json!({ "target": "button:7", "app": "Calculator" });
    match command {
        "snapshot" | "list-windows" | "subscribe" | "focused" | "focus-window" | "minimize" | "maximize"
        | "restore" => json!({ "app": "Calculator" }),
        "changes" => json!({ "since": "c:00000000:1" }),
        "find" => json!({ "selector": "button", "app": "Calculator" }),
        "is" => json!({ "target": "button:7", "property": "enabled", "app": "Calculator" }),
        "element-at" | "mouse-move" | "mouse-click" | "mouse-down" | "mouse-up" => json!({ "point": "5,5" }),
        "mouse-wheel" => json!({ "point": "5,5", "direction": "down" }),
        "attach" | "detach" | "launch" | "close-app" => json!({ "app": "Calculator" }),
        "move-window" => json!({ "app": "Calculator", "to": "5,5" }),
        "resize-window" => json!({ "app": "Calculator", "to": "50x50" }),
        "clipboard-set" => json!({ "text": "x" }),
        "wait" => json!({ "for": ["button"], "app": "Calculator" }),
        "decide" => json!({ "approval": 1, "verdict": "allow" }),
        "type" => json!({ "text": "x", "app": "Calculator" }),
        "set-value" => json!({ "target": "button:7", "value": "x", "app": "Calculator" }),
        "select" => json!({ "target": "button:7", "value": "x", "app": "Calculator" }),
        "menu" => json!({ "path": "File > Quit", "app": "Calculator" }),
        "scroll" => json!({ "target": "button:7", "direction": "down", "app": "Calculator" }),
        "drag" => json!({ "target": "button:7", "to": "button:8", "app": "Calculator" }),
        "perform" => json!({ "target": "button:7", "action": "press", "app": "Calculator" }),
        "press" | "key-down" | "key-up" => json!({ "combo": "x" }),
        "get" | "click" | "double-click" | "triple-click" | "right-click" | "clear" | "focus" | "toggle"
        | "check" | "uncheck" | "expand" | "collapse" | "scroll-to" | "hover" => on_button,
        _ => json!({}),
    }
}

#[test]
fn every_command_is_inside_the_policy_but_those_that_must_always_work() {
    let all = "[[rule]]\nname = \"nothing\"\nverdict = \"deny\"\ncommands = [\"*\"]\n";
    let mut policed = Policed::with(all);
    let always =
        ["batch", "cancel", "doctor", "hello", "pause", "policy-check", "policy-show", "status", "version"];
    // To pause is always possible, and would be in the way of the rest.
    for name in Command::NAMES.iter().filter(|name| **name != "pause") {
        let answer = policed.client.ask(name, some_args(name));
        let is_denied = answer["error"]["code"] == "POLICY_DENIED";
        assert_eq!(is_denied, !always.contains(name), "{name}: {answer}");
        if is_denied {
            let message = answer["error"]["message"].as_str().expect("a message");
            assert!(message.ends_with("(nothing)"), "{name}: {answer}");
        }
    }
    policed.client.ok("pause", json!({}));
    policed.denied("nothing", "resume", json!({}));
    policed.daemon.replace();
    policed.client = policed.daemon.client();
    // Nor is anything of it done in a batch.
    let items = json!([{ "command": "click", "args": some_args("click") }, { "command": "screenshot" }]);
    let results = policed.client.data("batch", json!({ "items": items }))["results"].clone();
    assert!(
        results.as_array().expect("results").iter().all(|result| result["error"]["code"] == "POLICY_DENIED"),
        "{results}"
    );
}

#[test]
fn another_policy_is_in_force_as_soon_as_it_is_written_and_a_broken_one_allows_nothing_more() {
    let deny = "[[rule]]\nname = \"no-seven\"\nverdict = \"deny\"\ncommands = [\"click\"]\nnames = [\"7\"]\n";
    let mut policed = Policed::with("");
    policed.client.ok("click", some_args("click"));
    policed.write(deny);
    policed.denied("no-seven", "click", some_args("click"));
    policed.client.ok("click", json!({ "target": "button:8", "app": "Calculator" }));
    policed.write("[[rule]]\nverdict = \"allow everything\"\n");
    policed.denied("no-seven", "click", some_args("click"));
    let told = policed.status();
    assert!(told["error"].as_str().expect("an error").contains("verdict"), "{told}");
    let checks = policed.client.data("doctor", json!({}))["checks"].to_string();
    assert!(checks.contains("policy"), "{checks}");
    fs::remove_file(&policed.file).expect("it can be removed");
    policed.denied("no-seven", "click", some_args("click"));
    policed.write("");
    policed.client.ok("click", some_args("click"));
}

#[test]
fn a_file_that_is_broken_from_the_start_refuses_whatever_acts_and_nothing_else() {
    let mut policed = Policed::with("default = 7\n");
    policed.denied("policy-unreadable", "click", some_args("click"));
    policed.denied("policy-unreadable", "launch", some_args("launch"));
    policed.client.ok("snapshot", some_args("snapshot"));
    assert_eq!(policed.status()["refuses"], true);
    policed.write("default = \"allow\"\n");
    policed.client.ok("click", some_args("click"));
}

#[test]
fn what_only_observes_reads_and_releases_but_does_nothing() {
    let mut policed = Policed::with("");
    policed.client.ok("key-down", json!({ "combo": "shift" }));
    policed.write("mode = \"observe-only\"\n");
    policed.denied("observe-only", "click", some_args("click"));
    policed.denied("observe-only", "clipboard-set", some_args("clipboard-set"));
    policed.client.ok("screenshot", json!({ "all": true }));
    policed.client.ok("key-up", json!({ "combo": "shift" }));
}

#[test]
fn an_app_that_may_not_be_read_is_there_for_nobody_else_to_see() {
    let rule =
        "[[rule]]\nname = \"private\"\nverdict = \"deny\"\ncommands = [\"@reads\"]\napps = [\"Notes\"]\n";
    let mut policed = Policed::with(rule);
    policed.client.ok("hello", json!({ "client": "reader" }));
    for command in ["snapshot", "focused", "attach"] {
        policed.denied("private", command, json!({ "app": "Notes" }));
    }
    policed.denied("private", "find", json!({ "selector": "textarea", "app": "Notes" }));
    policed.client.fails("TIMEOUT", "wait", json!({ "for": ["textarea"], "app": "Notes", "timeout": 50 }));
    policed.denied("private", "screenshot", json!({ "app": "Notes" }));
    for command in ["list-apps", "list-windows"] {
        let told = policed.client.data(command, json!({})).to_string();
        assert!(!told.contains("Notes") && told.contains("Calculator"), "{command}: {told}");
    }
    let mut watcher = policed.daemon.client();
    watcher.ok("subscribe", json!({ "snapshot": true }));
    policed.client.sim("Notes", &["raise"]);
    policed.client.sim("Calculator", &["raise"]);
    policed.client.ok("click", some_args("click"));
    loop {
        let line = watcher.line().expect("an event").to_string();
        assert!(!line.contains("Notes"), "{line}");
        if line.contains("\"fresh\"") && line.contains("Calculator") {
            break;
        }
    }
}

#[test]
fn a_hidden_window_is_absent_from_trees_and_painted_over_in_pictures() {
    let app = r#"
name = "Vault"
identity = "sim.vault"
[[window]]
id = "a"
title = "Open things"
bounds = [10, 10, 200, 100]
children = [{ role = "button", id = "open", name = "Open" }]
[[window]]
id = "b"
title = "Secret things"
bounds = [300, 10, 200, 100]
children = [{ role = "button", id = "code", name = "Code 1234" }]
"#;
    let mut policed = Policed::with_apps("[windows]\nhidden = [\"secret*\"]\n", &[app]);
    let told = policed.client.data("snapshot", json!({ "app": "Vault" })).to_string();
    assert!(!told.contains("1234") && !told.contains("Secret"), "{told}");
    let found = policed.client.data("find", json!({ "selector": "button", "app": "Vault" }));
    assert_eq!(found["count"], 1, "{found}");
    let error = policed.client.fails(
        "ELEMENT_NOT_FOUND",
        "click",
        json!({ "target": "button:\"Code 1234\"", "app": "Vault" }),
    );
    assert!(!error["candidates"].to_string().contains("1234"), "{error}");
    policed.denied("hidden-window", "mouse-click", json!({ "point": "400,60" }));
    let picture = policed.client.data("screenshot", json!({ "all": true }));
    assert_eq!(picture["blocked_windows"], 1, "{}", picture["blocked_windows"]);
    policed.write("[windows]\nhidden = []\n");
    let found = policed.client.data("find", json!({ "selector": "button", "app": "Vault" }));
    assert_eq!(found["count"], 2, "{found}");
}

#[test]
fn what_is_launched_copied_and_typed_is_inside_it() {
    let rules = r#"
[limits]
text_chars = 20
captures_per_minute = 2
[[rule]]
name = "no-shell"
verdict = "deny"
commands = ["launch"]
programs = ["*/sh", "sh", "bash", "*/bash", "dash", "*/dash"]
[[rule]]
name = "no-keys"
verdict = "deny"
commands = ["clipboard-set", "type"]
texts = ["*BEGIN PRIVATE KEY*"]
[[rule]]
name = "no-reading-the-clipboard"
verdict = "deny"
commands = ["clipboard-get"]
"#;
    let mut policed = Policed::with(rules);
    policed.denied("no-shell", "launch", json!({ "app": "/bin/sh", "arg": ["-c", "true"] }));
    policed.denied("no-keys", "clipboard-set", json!({ "text": "-BEGIN PRIVATE KEY-" }));
    policed.denied("no-reading-the-clipboard", "clipboard-get", json!({}));
    policed.client.ok("clipboard-set", json!({ "text": "fine" }));
    let typed = |text: &str| json!({ "command": "type", "args": { "target": "textarea", "text": text, "app": "Notes" } });
    let items = json!([typed("0123456789"), typed("0123456789"), typed("x")]);
    let results = policed.client.data("batch", json!({ "items": items }))["results"].clone();
    let codes: Vec<&Value> =
        results.as_array().expect("results").iter().map(|result| &result["error"]["code"]).collect();
    assert_eq!(codes, [&Value::Null, &Value::Null, &json!("POLICY_DENIED")], "{results}");
    // It is counted for each batch.
    let items = json!([typed("0123456789"), typed("0123456789")]);
    assert_eq!(policed.client.data("batch", json!({ "items": items }))["succeeded"], 2);
    for _ in 0..2 {
        policed.client.ok("screenshot", json!({ "all": true }));
    }
    policed.client.fails("RATE_LIMITED", "screenshot", json!({ "all": true }));
}

#[test]
fn actions_of_every_kind_are_counted_but_a_key_goes_up_whatever_the_count() {
    let mut policed = Policed::with("[limits]\nactions_per_minute = 2\n");
    let dry = json!({ "target": "button:7", "app": "Calculator", "dry_run": true });
    policed.client.ok("click", dry);
    policed.client.ok("key-down", json!({ "combo": "shift" }));
    policed.client.ok("clipboard-set", some_args("clipboard-set"));
    for command in ["click", "launch", "minimize", "clipboard-clear"] {
        policed.client.fails("RATE_LIMITED", command, some_args(command));
    }
    policed.client.ok("key-up", json!({ "combo": "shift" }));
}

#[test]
fn a_rule_about_elements_is_about_the_one_at_the_pointer_not_the_one_with_the_focus() {
    let deny = "[[rule]]\nname = \"no-seven\"\nverdict = \"deny\"\ncommands = [\"@acts\"]\nroles = [\"button\"]\nnames = [\"7\"]\n";
    let mut policed = Policed::with("");
    policed.client.ok("focus", json!({ "target": "button:8", "app": "Calculator" }));
    let seven = json!({ "target": "button:7", "app": "Calculator", "property": ["bounds"] });
    let bounds = policed.client.data("get", seven)["node"]["bounds"].clone();
    let middle = |at: &str, size: &str| {
        bounds[at].as_i64().expect("a number") + bounds[size].as_i64().expect("a number") / 2
    };
    let point = format!("{},{}", middle("x", "width"), middle("y", "height"));
    policed.write(deny);
    // Nobody has looked what is at the point: it may be that button.
    policed.denied("no-seven", "mouse-click", json!({ "point": point }));
    policed.denied("no-seven", "click", json!({ "target": point }));
    policed.client.ok("click", json!({ "target": "button:8", "app": "Calculator", "route": "input" }));
    assert_eq!(policed.value(), "8");
}

#[test]
fn what_a_list_permits_works_with_the_mouse_too() {
    let only = "default = \"deny\"\n[[rule]]\nverdict = \"allow\"\ncommands = [\"@reads\"]\n[[rule]]\nverdict = \"allow\"\ncommands = [\"click\", \"hover\"]\nroles = [\"button\"]\n";
    let mut policed = Policed::with(only);
    for command in ["hover", "click"] {
        policed.client.ok(command, json!({ "target": "button:7", "app": "Calculator", "route": "input" }));
    }
    assert_eq!(policed.value(), "7");
    policed.denied("default", "hover", json!({ "target": "textfield", "app": "Calculator" }));
}

#[test]
fn a_pause_ends_what_is_going_on_and_lets_nothing_begin_until_it_is_over() {
    let mut policed = Policed::with("");
    policed.client.ok("hello", json!({ "client": "robot", "agent": "claude" }));
    policed.client.ok("key-down", json!({ "combo": "shift", "hold_ms": 60_000 }));
    let waits =
        json!({ "target": "button:7", "app": "Calculator", "wait_for": "dialog", "timeout_ms": 60_000 });
    let acting = policed.client.begin("click", waits);
    let mut person = policed.daemon.client();
    while person.data("get", json!({ "target": "textfield", "app": "Calculator" }))["node"]["value"] == "0" {}
    let told = person.data("pause", json!({ "reason": "let me look" }));
    assert_eq!(told["stopped"][0]["client_name"], "robot", "{told}");
    assert_eq!((&told["stopped"][0]["sent"], &told["released"]), (&json!(true), &json!(["shift"])), "{told}");
    policed.client.fails_later("PAUSED", acting);
    let error = policed.client.fails("PAUSED", "click", some_args("click"));
    assert!(error["message"].as_str().expect("a message").contains("let me look"), "{error}");
    policed.client.fails("PAUSED", "clipboard-set", some_args("clipboard-set"));
    policed.client.ok("snapshot", some_args("snapshot"));
    assert_eq!(person.data("status", json!({}))["paused"]["reason"], "let me look");
    assert!(person.data("status", json!({}))["held"].is_null());
    assert_eq!(person.data("pause", json!({}))["was_paused"], true);
    assert!(person.data("resume", json!({}))["paused_ms"].is_u64());
    policed.client.ok("click", some_args("click"));
    assert_eq!(policed.value(), "77");
}
