//! Every command does what it is for, on the wire and on the command line, in JSON and in text. A command that is added
//! without a line here fails these tests.

use axd_protocol::Command;
use axd_protocol::command::ALL_NAMES;
use axd_tests::{Daemon, sync};
use serde_json::{Value, json};

/// How a command is tried.
struct Try {
    /// The args on the wire.
    args: Value,
    /// The words after the command's name on the command line; none if it is tried elsewhere.
    words: Option<Vec<String>>,
    /// What is true of the data.
    check: fn(&Value) -> bool,
    /// What is in the text.
    shown: &'static str,
}

/// A try whose words follow from its args: the positional ones first, by the order given, then the flags.
fn tried(args: Value, positional: &[&str], check: fn(&Value) -> bool, shown: &'static str) -> Try {
    let mut words: Vec<String> = Vec::new();
    let fields = args.as_object().expect("args");
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    words.extend(positional.iter().map(|name| word(&fields[*name])));
    for (name, value) in fields.iter().filter(|(name, _)| !positional.contains(&name.as_str())) {
        words.push(format!("--{}", name.replace('_', "-")));
        if *value != Value::Bool(true) {
            words.push(word(value));
        }
    }
    Try { args, words: Some(words), check, shown }
}

/// A command that is tried on the wire here, and on the command line elsewhere.
fn wire_only(args: Value, check: fn(&Value) -> bool) -> Try {
    Try { args, words: None, check, shown: "" }
}

/// How the command of that name is tried; the clock is of before the last change, the point that of a button.
fn happy(name: &str, clock: &str, point: &str) -> Try {
    match name {
        "snapshot" => tried(
            json!({ "app": "Calculator", "interactive": true, "bounds": true, "max_nodes": 9 }),
            &[],
            |data| data["nodes"] == 9 && data["truncated"] == true && data["tree"]["role"] == "application",
            "application \"Calculator\"",
        ),
        "look" => tried(
            json!({ "app": "Calculator", "depth": 1 }),
            &["app"],
            |data| {
                let lines = data["lines"].as_str().unwrap_or_default();
                data["truncated"] == true
                    && lines.contains("  group \"Keypad\"\n")
                    && !lines.contains("button \"7\"")
            },
            "window \"Calculator\"",
        ),
        "changes" => tried(
            json!({ "since": clock, "app": "Calculator" }),
            &[],
            |data| data["apps"][0]["changed"][0]["set"]["value"] == "7",
            "value = \"7\"",
        ),
        "find" => tried(
            json!({ "selector": "group:Keypad > button", "app": "Calculator", "limit": 2 }),
            &["selector"],
            |data| data["count"] == 17 && data["matches"][1]["path"][1]["name"] == "Keypad",
            "(17 match, 2 shown)",
        ),
        "get" => tried(
            json!({ "target": "button:7", "app": "Calculator", "property": "name" }),
            &["target"],
            |data| data["node"]["name"] == "7" && data["node"]["role"] == Value::Null,
            "7",
        ),
        "is" => tried(
            json!({ "target": "button:7", "property": "visible", "app": "Calculator" }),
            &["target"],
            |data| data["value"] == true && data["node"]["name"] == "7",
            "true",
        ),
        "element-at" => {
            tried(json!({ "point": point }), &["point"], |data| data["node"]["name"] == "7", "button \"7\"")
        }
        "focused" => tried(
            json!({ "app": "Notes" }),
            &[],
            |data| data["node"]["name"] == "Search",
            "searchfield \"Search\"",
        ),
        "list-apps" => tried(
            json!({}),
            &[],
            |data| {
                data["apps"].as_array().is_some_and(|apps| apps.iter().any(|app| app["frontmost"] == true))
            },
            "Calculator*",
        ),
        "list-windows" => tried(
            json!({ "app": "Notes", "filter": "not" }),
            &[],
            |data| data["windows"][0]["title"] == "Notes",
            "Notes",
        ),
        "list-displays" => tried(json!({}), &[], |data| data["displays"][0]["primary"] == true, "Built-in"),
        "attach" => {
            tried(json!({ "app": "Paint" }), &["app"], |data| data["complete"] == true, "10 elements")
        }
        "detach" => tried(json!({ "app": "Paint" }), &["app"], |data| data["nodes"].as_u64() > Some(5), ""),
        "screenshot" => tried(
            json!({ "element": "button:7", "app": "Calculator" }),
            &[],
            |data| {
                data["width"].as_u64() > Some(9) && data["bytes"].as_str().is_some_and(|file| file.len() > 50)
            },
            "to save it",
        ),
        "mouse-position" => tried(json!({}), &[], |data| data["x"].is_i64() && data["y"].is_i64(), ","),
        "launch" => tried(
            json!({ "app": "Paint", "wait": true }),
            &["app"],
            |data| data["launched"]["name"] == "Paint" && data["window"]["id"].is_string(),
            "handed over to Paint",
        ),
        "close-app" => tried(json!({ "app": "Paint" }), &["app"], |data| data["closed"] == true, "closed"),
        "focus-window" => tried(
            json!({ "window": "Notes", "app": "Notes" }),
            &["window"],
            |data| data["after"]["focused"] == true,
            "window \"Notes\"",
        ),
        "move-window" => tried(
            json!({ "to": "50,60", "app": "Notes" }),
            &[],
            |data| data["after"]["bounds"]["x"] == 50 && data["after"]["bounds"]["y"] == 60,
            "@50,60 ",
        ),
        "resize-window" => tried(
            json!({ "to": "500x400", "app": "Notes" }),
            &[],
            |data| data["after"]["bounds"]["width"] == 500,
            " 500x400",
        ),
        "minimize" => {
            tried(json!({ "app": "Notes" }), &[], |data| data["after"]["minimized"] == true, "(minimized)")
        }
        "maximize" => {
            tried(json!({ "app": "Notes" }), &[], |data| data["after"]["maximized"] == true, "(maximized)")
        }
        "restore" => tried(
            json!({ "app": "Notes" }),
            &[],
            |data| data["after"]["maximized"].is_null() && data["after"]["minimized"].is_null(),
            "window \"Notes\"",
        ),
        // The clipboard of a desktop that has just begun is empty; what comes back is tried in clipboard.rs.
        "clipboard-get" => tried(json!({}), &[], |data| *data == json!({}), "(nothing)"),
        "clipboard-set" => tried(
            json!({ "text": "hello" }),
            &["text"],
            |data| data["kind"] == "text",
            "text is on the clipboard",
        ),
        "clipboard-clear" => tried(json!({}), &[], |data| *data == json!({}), "the clipboard is empty"),
        "click" => tried(json!({ "target": "button:8", "app": "Calculator" }), &["target"], is_done, "done"),
        "double-click" => {
            tried(json!({ "target": "button:8", "app": "Calculator" }), &["target"], is_done, "done")
        }
        "triple-click" => {
            tried(json!({ "target": "button:8", "app": "Calculator" }), &["target"], is_done, "done")
        }
        "right-click" => {
            tried(json!({ "target": "button:8", "app": "Calculator" }), &["target"], is_done, "done")
        }
        "type" => tried(
            json!({ "target": "searchfield:Search", "text": "milk", "app": "Notes" }),
            &["target", "text"],
            is_done,
            "done",
        ),
        "set-value" => tried(
            json!({ "target": "slider:Volume", "value": 30, "app": "Settings" }),
            &["target", "value"],
            is_done,
            "done",
        ),
        "clear" => {
            tried(json!({ "target": "searchfield:Search", "app": "Notes" }), &["target"], is_done, "done")
        }
        "focus" => {
            tried(json!({ "target": "searchfield:Search", "app": "Notes" }), &["target"], is_done, "done")
        }
        "select" => tried(
            json!({ "target": "combobox:Language", "value": "Deutsch", "app": "Settings" }),
            &["target", "value"],
            is_done,
            "done",
        ),
        "menu" => tried(json!({ "path": "File > Save", "app": "Notes" }), &["path"], is_done, "done"),
        "toggle" => {
            tried(json!({ "target": "switch:Wi-Fi", "app": "Settings" }), &["target"], is_done, "done")
        }
        "check" => tried(
            json!({ "target": "checkbox:\"All sounds\"", "app": "Settings" }),
            &["target"],
            is_done,
            "done",
        ),
        "uncheck" => tried(
            json!({ "target": "checkbox:\"All sounds\"", "app": "Settings" }),
            &["target"],
            is_done,
            "done",
        ),
        "expand" => {
            tried(json!({ "target": "combobox:Language", "app": "Settings" }), &["target"], is_done, "done")
        }
        "collapse" => {
            tried(json!({ "target": "combobox:Language", "app": "Settings" }), &["target"], is_done, "done")
        }
        "scroll" => tried(
            json!({ "target": "list", "direction": "down", "amount": 1, "app": "Calculator" }),
            &["target"],
            is_done,
            "done",
        ),
        "scroll-to" => {
            tried(json!({ "target": "button:8", "app": "Calculator" }), &["target"], is_done, "done")
        }
        "drag" => tried(
            json!({ "target": "button:8", "to": "button:9", "app": "Calculator" }),
            &["target"],
            is_done,
            "done",
        ),
        "hover" => tried(json!({ "target": "button:8", "app": "Calculator" }), &["target"], is_done, "done"),
        "perform" => tried(
            json!({ "target": "button:8", "action": "press", "app": "Calculator" }),
            &["target", "action"],
            is_done,
            "done",
        ),
        "press" => tried(json!({ "combo": "escape", "app": "Calculator" }), &["combo"], is_done, "done"),
        "key-down" => tried(json!({ "combo": "shift", "hold_ms": 10000 }), &["combo"], is_done, "done"),
        "key-up" => tried(json!({ "combo": "shift" }), &["combo"], is_done, "done"),
        "mouse-move" => tried(json!({ "point": point }), &["point"], is_done, "done"),
        "mouse-click" => tried(json!({ "point": point, "count": 2 }), &["point"], is_done, "done"),
        "mouse-down" => tried(json!({ "point": point, "hold_ms": 10000 }), &["point"], is_done, "done"),
        "mouse-up" => tried(json!({ "point": point }), &["point"], is_done, "done"),
        "mouse-wheel" => tried(json!({ "point": point, "direction": "up" }), &["point"], is_done, "done"),
        "wait" => tried(
            json!({ "for": "button:8", "app": "Calculator" }),
            &[],
            |data| data["met"][0] == "for button:8" && data["nodes"][0]["name"] == "8",
            "for button:8",
        ),
        "batch" => tried(
            json!({ "items": [{ "command": "version" }] }),
            &["items"],
            |data| data["succeeded"] == 1,
            "1 succeeded",
        ),
        // `ax watch` is tried in cli.rs.
        "subscribe" => wire_only(json!({ "app": "Calculator" }), |data| data["sub"].is_u64()),
        "status" => tried(json!({}), &[], |data| data["apps"][0]["name"] == "Calculator", "Calculator"),
        "doctor" => tried(json!({}), &[], |data| data["healthy"] == json!(true), "healthy"),
        "permissions" => {
            tried(json!({}), &[], |data| data["granted"] == json!(true), "no permissions are required")
        }
        "version" => tried(json!({}), &[], |data| data["protocol"] == "1.0", "1.0"),
        "policy-check" => tried(
            json!({ "request": { "command": "press", "args": { "combo": "ctrl+q" } }, "client": "test" }),
            &["request"],
            |data| data["verdict"] == "deny" && data["rule"] == "blocked-shortcut",
            "deny press: ctrl+q quits the app",
        ),
        "policy-show" => tried(json!({}), &[], |data| data["mode"] == "normal", "no-protected-app"),
        "hello" => tried(
            json!({ "client": "test", "agent": "tester" }),
            &["client"],
            |data| data["protocol"] == 1 && data["platform"] == "sim",
            "sim",
        ),
        "cancel" => tried(json!({ "id": 99 }), &["id"], |data| data["cancelled"] == false, "no such request"),
        "approvals" => {
            tried(json!({}), &[], |data| data["approvals"] == json!([]), "nothing waits for approval")
        }
        "pause" => tried(
            json!({ "reason": "a test" }),
            &[],
            |data| data["was_paused"] == false && data["stopped"] == json!([]),
            "paused; `ax resume` goes on",
        ),
        "resume" => tried(json!({}), &[], |data| data["paused_ms"].is_u64(), "actions are allowed again"),
        "shutdown" => tried(json!({}), &[], |data| data["pid"].is_u64(), ""),
        "skills" => tried(
            json!({ "action": "get" }),
            &["action"],
            |data| data["guide"].as_str().is_some_and(|guide| guide.contains("## Act")),
            "## Act",
        ),
        // Tried in cli.rs, `audit` in audit.rs, `service` with a systemctl that records in client/tests/service.rs, `selftest` in on_a_mac.rs,
        // `decide` in policy.rs, `approve` in tests/desktop/guarded, `mcp` in tests/mcp/run.
        "pipe" | "schema" | "demo" | "service" | "selftest" | "audit" | "policy" | "approve" | "decide"
        | "mcp" => wire_only(json!({}), |_| true),
        name => panic!("{name} has no happy path: give it one here"),
    }
}

/// Whether an action was done.
fn is_done(data: &Value) -> bool {
    data["disposition"]["delivery"].as_str().is_some_and(|delivery| delivery.starts_with("delivered"))
}

/// A daemon on which every happy path is open: its clock before the last change, and a point of the button 7.
fn ready() -> (Daemon, String, String) {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    sync(&mut client, "Calculator");
    let clock = client.ok("status", json!({}))["clock"].as_str().expect("a clock").to_owned();
    client.sim("Notes", &["focus", "search"]);
    client.sim("Calculator", &["press", "seven"]);
    sync(&mut client, "Notes");
    sync(&mut client, "Calculator");
    let seven =
        client.data("get", json!({ "target": "button:7", "app": "Calculator", "property": ["bounds"] }));
    let bounds = &seven["node"]["bounds"];
    let middle = |from: &str, size: &str| {
        bounds[from].as_i64().zip(bounds[size].as_i64()).map(|(at, size)| at + size / 2)
    };
    let point = middle("x", "width").zip(middle("y", "height")).map(|(x, y)| format!("{x},{y}"));
    (daemon, clock, point.unwrap_or_else(|| panic!("{seven}")))
}

#[test]
fn every_command_has_a_happy_path_on_the_wire() {
    let (daemon, clock, point) = ready();
    let mut client = daemon.client();
    // The last one ends the daemon.
    // What there is to decide is elsewhere.
    let order = Command::NAMES.iter().filter(|name| !["shutdown", "decide"].contains(name));
    let order = order.chain(&["shutdown"]);
    for name in order {
        let Try { args, check, .. } = happy(name, &clock, &point);
        // On the command line one of several is a word, on the wire it is a list of one.
        let mut args = args;
        for (command, field) in [("get", "property"), ("wait", "for")] {
            if *name == command
                && let Some(one) = args.get(field).cloned()
            {
                args[field] = json!([one]);
            }
        }
        let answer = client.ok(name, args);
        assert_eq!((&answer["command"], &answer["platform"]), (&json!(name), &json!("sim")));
        assert!(check(&answer["data"]), "{answer}");
    }
}

#[test]
fn every_command_has_a_happy_path_on_the_command_line_in_both_forms() {
    for form in ["--json", "--text"] {
        let (daemon, clock, point) = ready();
        let order = ALL_NAMES.iter().filter(|name| **name != "shutdown").chain(&["shutdown"]);
        for name in order {
            let Try { words: Some(words), check, shown, .. } = happy(name, &clock, &point) else { continue };
            let words: Vec<&str> =
                [*name].into_iter().chain(words.iter().map(String::as_str)).chain([form]).collect();
            let ran = daemon.ax(&words).run().exits(0);
            assert_eq!(ran.err, "", "{words:?}");
            if form == "--json" {
                assert!(check(&ran.json()["data"]), "{words:?}: {ran:?}");
            } else {
                assert!(ran.out.contains(shown) && ran.out.ends_with('\n'), "{words:?}: {ran:?}");
            }
        }
    }
}

#[test]
fn the_built_in_desktop_offers_an_extension_that_no_schema_lists() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let hello = client.data("hello", json!({ "client": "test" }));
    let offered = hello["capabilities"].as_array().expect("a list").iter().filter(|word| **word == "sim");
    assert_eq!(offered.count(), 1, "{hello}");
    assert!(!ALL_NAMES.contains(&"sim"));
    daemon.ax(&["schema", "sim"]).run().exits(2);

    let nine = |done: &Value| done.as_str().is_some_and(|done| done.contains("nine"));
    let named = client.data("sim", json!({ "app": "Calculator", "verb": "press", "target": "nine" }));
    assert!(nine(&named["done"]), "{named}");
    let words = client.data("sim", json!(["Calculator", "press", "nine"]));
    assert_eq!(words, named);
    let ran = daemon.ax(&["sim", "Calculator", "press", "nine", "--json"]).run().exits(0);
    assert_eq!(ran.json()["data"], named);
    let ran = daemon.ax(&["sim", "Calculator", "press", "nine", "--text"]).run().exits(0);
    assert_eq!(ran.out, format!("{}\n", named["done"].as_str().expect("a text")));
    let ran = daemon.ax(&["sim", "Calculator", "sing", "--json"]).run().exits(1);
    assert_eq!(ran.json()["error"]["message"], "sim: verb 'sing' not found");
}

#[test]
fn an_extension_is_checked_and_run_as_part_of_a_batch() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let press = |key: &str| json!({ "command": "sim", "args": ["Calculator", "press", key] });
    let wrong = json!({ "command": "sim", "args": ["Calculator", "sing"] });
    let error = client.fails("INVALID_ARGS", "batch", json!({ "items": [press("nine"), wrong] }));
    assert_eq!(error["message"], "items[1]: sim: verb 'sing' not found");
    let get = json!({ "command": "get", "args": { "target": "button:7", "app": "Calculator" } });
    let before = sync(&mut client, "Calculator");
    let done = client.data("batch", json!({ "items": [press("nine"), get] }));
    assert_eq!((&done["succeeded"], &done["failed"]), (&json!(2), &json!(0)), "{done}");
    assert_ne!(before, sync(&mut client, "Calculator"), "it was pressed");
}
