//! The compatibility profiles of `ax mcp`, through the real `ax-mcp`, on the built-in desktop: what is asked and answered stands in
//! `tests/golden/profiles`, and what their contracts promise word for word stands here.

use std::fs;

use axd_tests::{Daemon, Mcp, Reviewed, Setup};
use serde_json::{Value, json};

/// A policy with the profile `thuvu` on, and nobody asked.
const THUVU: &str = "[profile.thuvu]\nenabled = true\nrequire_approval_for_input = false\n";

fn names(mcp: &Mcp) -> Vec<&str> {
    mcp.tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

/// The four hints of a tool: read only, destructive, idempotent, open world.
fn hints(mcp: &Mcp, name: &str) -> [bool; 4] {
    let tool = mcp.tools.iter().find(|tool| tool["name"] == name).expect("it is listed");
    ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]
        .map(|hint| tool["annotations"][hint].as_bool().unwrap_or_else(|| panic!("{name} has no {hint}")))
}

fn required(mcp: &Mcp, name: &str) -> Value {
    mcp.tools.iter().find(|tool| tool["name"] == name).expect("it is listed")["inputSchema"]["required"]
        .clone()
}

/// Every schema is an object, without what makes clients drop tools.
fn has_plain_schemas(mcp: &Mcp) {
    for tool in &mcp.tools {
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{tool}");
            let text = tool[schema].to_string();
            for word in ["anyOf", "oneOf", "allOf", "\"if\"", "$schema", "$ref"] {
                assert!(!text.contains(word), "{word} in {text}");
            }
        }
    }
}

fn raised(mcp: &mut Mcp, tool: &str, arguments: Value) -> String {
    let result = mcp.call(tool, arguments);
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}

#[test]
fn strobe_lists_its_three_tools() {
    let daemon = Daemon::start();
    let mcp = Mcp::of(&daemon, "strobe");
    assert_eq!(names(&mcp), ["debug_launch", "debug_ui", "debug_ui_action"]);
    assert_eq!(required(&mcp, "debug_ui"), json!(["sessionId", "mode"]));
    assert_eq!(required(&mcp, "debug_ui_action"), json!(["sessionId", "action"]));
    assert_eq!(hints(&mcp, "debug_ui"), [true, false, true, true]);
    assert_eq!(hints(&mcp, "debug_ui_action"), [false, true, false, true]);
    has_plain_schemas(&mcp);
}

#[test]
fn strobe_shows_what_was_reviewed() {
    let daemon = Daemon::start();
    Reviewed::read("profiles/strobe/debug_ui.json").check_calls(&mut Mcp::of(&daemon, "strobe"));
}

#[test]
fn strobe_does_what_was_reviewed() {
    let daemon = Daemon::start();
    Reviewed::read("profiles/strobe/debug_ui_action.json").check_calls(&mut Mcp::of(&daemon, "strobe"));
}

#[test]
fn strobe_says_what_is_missing_in_the_words_of_its_contract() {
    let daemon = Daemon::start();
    let mut mcp = Mcp::of(&daemon, "strobe");
    for (arguments, text) in [
        (json!({ "sessionId": "", "action": "jump" }), "debug_ui_action: action has no value 'jump'"),
        (json!({ "sessionId": "", "action": "set_value" }), "sessionId must not be empty"),
        (
            json!({ "sessionId": "1006", "action": "set_value" }),
            "id is required for all actions except 'key'",
        ),
        (
            json!({ "sessionId": "1006", "action": "set_value", "id": "x" }),
            "value is required for 'set_value' action",
        ),
        (json!({ "sessionId": "1006", "action": "type", "id": "x" }), "text is required for 'type' action"),
        (json!({ "sessionId": "1006", "action": "key" }), "key is required for 'key' action"),
        (
            json!({ "sessionId": "1006", "action": "scroll", "id": "x" }),
            "direction is required for 'scroll' action",
        ),
        (json!({ "sessionId": "1006", "action": "drag", "id": "x" }), "toId is required for 'drag' action"),
        (
            json!({ "sessionId": "77", "action": "click", "id": "x" }),
            "UI_QUERY_FAILED: Process not running (PID 77 exited). Cannot perform UI action.",
        ),
    ] {
        let said = raised(&mut mcp, "debug_ui_action", arguments.clone());
        assert!(said.starts_with(text), "{arguments}: {said}");
        assert!(said == text || text.starts_with("debug_ui_action:"), "{arguments}: {said}");
    }
    for (arguments, text) in [
        (json!({ "sessionId": "", "mode": "tree" }), "sessionId must not be empty"),
        (
            json!({ "sessionId": "77", "mode": "tree" }),
            "UI_QUERY_FAILED: Process not running (PID 77 exited). Cannot query UI.",
        ),
    ] {
        assert_eq!(raised(&mut mcp, "debug_ui", arguments), text);
    }
}

#[test]
fn strobe_says_why_an_action_came_to_nothing_in_the_words_of_its_contract() {
    let daemon = Daemon::start();
    let mut mcp = Mcp::of(&daemon, "strobe");
    let unknown_key = "unknown key: 'PageDown'. Supported: a-z, 0-9, return, tab, space, delete, escape, arrow keys, f1-f12";
    for (more, error, has_before) in [
        (json!({ "action": "click", "id": "sep_heyxxg" }), "Element has no bounds for CGEvent click", true),
        (json!({ "action": "click", "id": "btn_zzzzzz" }), "node not found", false),
        (
            json!({ "action": "drag", "id": "li_6xy0b2", "toId": "li_zzzzzz" }),
            "drag destination node not found",
            true,
        ),
        (
            json!({ "action": "set_value", "id": "btn_2xt1qb", "value": 1 }),
            "element does not support set_value; try 'type'",
            true,
        ),
        (json!({ "action": "key", "key": "PageDown" }), unknown_key, false),
        (
            json!({ "action": "scroll", "id": "mi_04qk68", "direction": "up" }),
            "Element has no bounds for scroll",
            true,
        ),
        (
            json!({ "action": "drag", "id": "mi_04qk68", "toId": "li_6xy0b2" }),
            "Source element has no bounds for drag",
            true,
        ),
        (
            json!({ "action": "drag", "id": "li_6xy0b2", "toId": "mi_04qk68" }),
            "Destination element has no bounds for drag",
            true,
        ),
    ] {
        let mut arguments = more.clone();
        arguments["sessionId"] = "Notes".into();
        let result = mcp.call("debug_ui_action", arguments);
        assert_ne!(result["isError"], true, "{more}: it is told inside");
        let data = &result["structuredContent"];
        assert_eq!((&data["success"], &data["error"]), (&json!(false), &json!(error)), "{more}");
        assert_eq!(data["nodeBefore"].is_object(), has_before, "{more}: {data}");
        assert!(data.get("nodeAfter").is_none() && data.get("changed").is_none(), "{more}: {data}");
    }
}

#[test]
fn strobe_launches_an_app_and_notices_when_it_has_ended() {
    let daemon = Daemon::start();
    let mut mcp = Mcp::of(&daemon, "strobe");
    let launched =
        mcp.data("debug_launch", json!({ "command": "Files", "args": ["a b"], "env": { "COLOUR": 1 } }));
    let session = launched["sessionId"].as_str().expect("a session").to_owned();
    assert_eq!(session, launched["pid"].to_string());
    let shown = mcp.data("debug_ui", json!({ "sessionId": session, "mode": "tree" }));
    assert!(shown["tree"].as_str().expect("a tree").starts_with("[window \"Files"), "{shown}");
    assert!(shown["tree"].as_str().is_some_and(|tree| tree.contains("a b")), "{shown}");
    let mut client = daemon.client();
    client.data("sim", json!(["Files", "quit"]));
    let said = raised(&mut mcp, "debug_ui", json!({ "sessionId": session, "mode": "both" }));
    assert_eq!(
        said,
        format!("UI_QUERY_FAILED: Process not running (PID {session} exited). Cannot query UI.")
    );
    assert!(
        raised(&mut mcp, "debug_launch", json!({ "command": "/nothing/here" }))
            .starts_with("UI_QUERY_FAILED: ")
    );
    assert_eq!(raised(&mut mcp, "debug_launch", json!({})), "command must not be empty");
}

#[test]
fn strobe_has_no_picture_of_an_app_without_a_window_on_the_screen() {
    let daemon = Daemon::start();
    let mut mcp = Mcp::of(&daemon, "strobe");
    daemon.client().data("minimize", json!({ "app": "Paint" }));
    let pid = daemon.client().data("list-windows", json!({ "app": "Paint" }))["windows"][0]["pid"].clone();
    let said = raised(&mut mcp, "debug_ui", json!({ "sessionId": "Paint", "mode": "screenshot" }));
    assert_eq!(said, format!("UI_QUERY_FAILED: No visible window found for PID {pid}"));
}

#[test]
fn strobe_has_the_same_ids_ten_times() {
    let daemon = Daemon::start();
    let mut mcp = Mcp::of(&daemon, "strobe");
    let mut trees: Vec<Value> = (0..10)
        .map(|_| mcp.data("debug_ui", json!({ "sessionId": "Settings", "mode": "tree" }))["tree"].take())
        .collect();
    trees.dedup();
    assert_eq!(trees.len(), 1);
}

const ASKED: &str = r#"
[[rule]]
name = "sevens"
verdict = "ask"
commands = ["click"]
names = ["7"]
[[rule]]
name = "eights"
verdict = "deny"
reason = "no eights"
commands = ["click"]
names = ["8"]
"#;

#[test]
fn what_the_policy_says_holds_under_a_profile() {
    let daemon = Setup::new().policy(ASKED).start();
    let seven = json!({ "sessionId": "Calculator", "action": "click", "id": "btn_t6gs09" });
    let eight = json!({ "sessionId": "Calculator", "action": "click", "id": "btn_6c1381" });
    let mut mcp = Mcp::of(&daemon, "strobe");
    let refused = mcp.data("debug_ui_action", eight);
    assert_eq!(refused["success"], false);
    assert!(refused["error"].as_str().is_some_and(|said| said.contains("no eights")), "{refused}");
    assert_eq!(refused["_axd"]["delivery"], "not_delivered");
    assert_eq!(mcp.data("debug_ui_action", seven.clone())["_axd"]["code"], "APPROVAL_REQUIRED");
    for (person, success) in [("accept", true), ("decline", false)] {
        let mut mcp = Mcp::with_person(&daemon, "strobe", Some(person));
        assert_eq!(mcp.data("debug_ui_action", seven.clone())["success"], success, "{person}");
        assert!(mcp.asked.len() == 1 && mcp.asked[0].contains("(sevens)"), "{:?}", mcp.asked);
    }
}

#[test]
fn what_the_policy_says_is_told_in_the_envelope_of_agent_desktop() {
    let daemon = Setup::new().policy(ASKED).start();
    let mut mcp = Mcp::of(&daemon, "agent-desktop");
    for (target, code) in [("button:8", "POLICY_DENIED"), ("button:7", "APPROVAL_REQUIRED")] {
        let refused = mcp.data("desktop_click", json!({ "ref": target }));
        assert_eq!((&refused["ok"], &refused["error"]["code"]), (&json!(false), &json!(code)), "{refused}");
        assert_eq!(refused["error"]["disposition"]["delivery"], "not_delivered");
    }
    let mut mcp = Mcp::with_person(&daemon, "agent-desktop", Some("accept"));
    assert_eq!(mcp.data("desktop_click", json!({ "ref": "button:7" }))["ok"], true);
    assert_eq!(mcp.asked.len(), 1);
}

#[test]
fn thuvu_lists_its_eight_tools() {
    let daemon = Daemon::start();
    let mcp = Mcp::of(&daemon, "thuvu");
    let expected = [
        ("ui_capture", [true, false, true, true]),
        ("ui_list_windows", [true, false, true, true]),
        ("ui_get_element", [true, false, true, true]),
        ("ui_click", [false, true, false, true]),
        ("ui_type", [false, true, false, true]),
        ("ui_mouse_move", [false, false, true, true]),
        ("ui_focus_window", [false, false, true, true]),
        ("ui_wait", [true, false, true, true]),
    ];
    assert_eq!(names(&mcp), expected.map(|(name, _)| name));
    for (name, said) in expected {
        assert_eq!(hints(&mcp, name), said, "{name}");
    }
    for (name, needed) in [
        ("ui_click", json!(["x", "y"])),
        ("ui_mouse_move", json!(["x", "y"])),
        ("ui_focus_window", json!(["window_title"])),
        ("ui_capture", Value::Null),
        ("ui_type", Value::Null),
        ("ui_wait", Value::Null),
    ] {
        assert_eq!(required(&mcp, name), needed, "{name}");
    }
    has_plain_schemas(&mcp);
}

#[test]
fn thuvu_answers_what_was_reviewed() {
    for part in ["windows", "elements", "input", "capture"] {
        let daemon = Setup::new().policy(THUVU).start();
        let golden = Reviewed::read(&format!("profiles/thuvu/{part}.json"));
        golden.check_calls(&mut Mcp::of(&daemon, "thuvu"));
    }
}

#[test]
fn thuvu_is_off_until_the_policy_file_enables_it() {
    let daemon = Daemon::start();
    let mut mcp = Mcp::of(&daemon, "thuvu");
    let off = "UI automation is off; set enabled = true under [profile.thuvu] in policy.toml";
    for tool in names(&mcp).into_iter().map(ToOwned::to_owned).collect::<Vec<_>>() {
        let result = mcp.call(&tool, json!({}));
        assert_eq!(result["isError"], true, "{tool}");
        assert_eq!(result["structuredContent"], json!({ "success": false, "error": off }), "{tool}");
    }
}

#[test]
fn thuvu_uses_no_window_that_a_pattern_blocks() {
    let policy = format!(
        "{THUVU}blocked_window_patterns = [\"*CALC*\"]\nallowed_window_patterns = [\"Calc*\", \"N*\"]\n"
    );
    let daemon = Setup::new().policy(policy).start();
    let mut mcp = Mcp::of(&daemon, "thuvu");
    let said = "Window 'Calculator' is blocked by pattern '*CALC*'";
    for (tool, arguments) in [
        ("ui_capture", json!({ "mode": "window", "window_title": "calc" })),
        ("ui_click", json!({ "x": 100, "y": 150 })),
        ("ui_click", json!({ "x": 1, "y": 1, "window_title": "calc" })),
        ("ui_click", json!({ "selector": "Button:7" })),
        ("ui_type", json!({ "text": "a" })),
        ("ui_type", json!({ "text": "a", "window_title": "calc" })),
        ("ui_mouse_move", json!({ "x": 100, "y": 150 })),
        ("ui_focus_window", json!({ "window_title": "calc" })),
        ("ui_get_element", json!({ "x": 100, "y": 150 })),
        ("ui_get_element", json!({ "selector": "Button:7" })),
        ("ui_wait", json!({ "window_title": "calc" })),
    ] {
        let data = mcp.data(tool, arguments.clone());
        assert_eq!((&data["success"], &data["error"]), (&json!(false), &json!(said)), "{tool} {arguments}");
    }
    let other = mcp.data("ui_focus_window", json!({ "window_title": "paint" }));
    assert_eq!(other["error"], "Window 'Paint' matches no pattern of allowed_window_patterns");
    assert_eq!(mcp.data("ui_focus_window", json!({ "window_title": "note" }))["success"], true);
}

#[test]
fn thuvu_paints_over_what_it_may_not_show_in_pictures_of_the_screen() {
    let policy = |more: &str| format!("{THUVU}{more}");
    let daemon = Setup::new().policy(policy("")).start();
    let place = json!({ "mode": "region", "x": 70, "y": 100, "width": 40, "height": 30 });
    let picture =
        |daemon: &Daemon| Mcp::of(daemon, "thuvu").data("ui_capture", place.clone())["base64_data"].take();
    let open = picture(&daemon);
    for more in [
        "blocked_window_patterns = [\"Calc*\"]",
        "allowed_window_patterns = [\"Notes\"]",
        "allowed_window_patterns = []",
    ] {
        let daemon = Setup::new().policy(policy(more)).start();
        let painted = picture(&daemon);
        assert_ne!(open, painted, "{more}");
        assert!(
            painted.as_str().expect("a picture").len() < open.as_str().expect("a picture").len(),
            "{more}: it is one colour"
        );
    }
}

#[test]
fn thuvu_counts_captures_and_writes_them_to_files() {
    let daemon = Setup::new().policy(format!("{THUVU}max_captures_per_minute = 2\n")).start();
    let mut mcp = Mcp::of(&daemon, "thuvu");
    let path = daemon.folder().join("shot.jpg");
    let to_file = json!({ "format": "jpeg", "output": "file", "file_path": path });
    let written = mcp.data("ui_capture", to_file.clone());
    assert_eq!((&written["file_path"], &written["mime_type"]), (&json!(path), &json!("image/jpeg")));
    assert!(written.get("base64_data").is_none(), "{written}");
    assert_eq!(written["file_size_bytes"], fs::metadata(&path).expect("a file").len());
    assert_eq!(
        mcp.data("ui_capture", to_file.clone())["success"],
        true,
        "a picture takes the place of a picture"
    );
    let refused = mcp.data("ui_capture", to_file);
    assert_eq!(refused["error"], "Rate limit: at most 2 captures a minute");
}

#[test]
fn thuvu_has_a_person_agree_to_input() {
    let daemon =
        Setup::new().policy("[profile.thuvu]\nenabled = true\nrequire_approval_for_capture = true\n").start();
    let click = json!({ "selector": "Button:7", "window_title": "calc" });
    let mut nobody = Mcp::of(&daemon, "thuvu");
    let refused = nobody.data("ui_click", click.clone());
    assert_eq!(
        refused["error"],
        "nobody has approved ui_click (require_approval_for_input under [profile.thuvu] in policy.toml)"
    );
    assert_eq!(nobody.data("ui_list_windows", json!({}))["success"], true);
    assert_eq!(nobody.data("ui_wait", json!({ "window_title": "calc" }))["success"], true);
    assert_eq!(nobody.data("ui_capture", json!({}))["success"], false);
    for (person, success) in [("accept", true), ("decline", false), ("cancel", false)] {
        let mut mcp = Mcp::with_person(&daemon, "thuvu", Some(person));
        assert_eq!(mcp.data("ui_click", click.clone())["success"], success, "{person}");
        let question = "Allow the agent to call ui_click?\nselector=\"Button:7\"\nwindow_title=\"calc\"";
        assert_eq!(mcp.asked, [question]);
    }
}

#[test]
fn thuvu_types_nothing_twice_when_the_keys_after_it_must_be_approved() {
    let rule =
        "[[rule]]\nname = \"saving\"\nverdict = \"ask\"\ncommands = [\"press\"]\nkeys = [\"ctrl+s\"]\n";
    let daemon = Setup::new().policy(format!("{rule}{THUVU}")).start();
    let mut mcp = Mcp::with_person(&daemon, "thuvu", Some("accept"));
    mcp.data("ui_click", json!({ "selector": "TextBox:Name", "window_title": "sign up" }));
    let both =
        mcp.data("ui_type", json!({ "text": "Ada", "keys": ["ctrl", "s"], "window_title": "sign up" }));
    assert_eq!((&both["success"], &both["_axd"]["retry"]), (&json!(false), &json!("unsafe")), "{both}");
    assert!(
        both["error"].as_str().is_some_and(|said| said.starts_with("the text was typed, the keys were not")),
        "{both}"
    );
    assert_eq!(mcp.asked, [""; 0], "it cannot be made again");
    let shown = mcp.data("ui_get_element", json!({ "selector": "TextBox:Name", "window_title": "sign up" }));
    assert_eq!(shown["elements"][0]["value"], "Ada");
    assert_eq!(mcp.data("ui_type", json!({ "keys": ["ctrl", "s"] }))["success"], true);
    assert_eq!(mcp.asked.len(), 1, "alone they can");
}

#[test]
fn thuvu_logs_calls_without_what_was_typed() {
    let folder = axd_tests::folder();
    let log = folder.path().join("ui.log");
    let daemon = Setup::new().policy(format!("{THUVU}log_file = {log:?}\n")).start();
    let mut mcp = Mcp::of(&daemon, "thuvu");
    mcp.data("ui_capture", json!({ "mode": "window", "window_title": "Notes" }));
    mcp.data("ui_click", json!({ "x": 100, "y": 150, "button": "left" }));
    mcp.data("ui_type", json!({ "text": "hunter2", "window_title": "Notes" }));
    mcp.data("ui_focus_window", json!({ "window_title": "nothing" }));
    let text = fs::read_to_string(&log).expect("a log");
    let lines: Vec<&str> = text
        .lines()
        .map(|line| {
            let (head, rest) = line.split_at("[UI] 2025-01-15 10:30:45".len());
            let shape: String = head.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            assert_eq!(shape, "[UI] 0000-00-00 00:00:00", "{line}");
            rest
        })
        .collect();
    assert_eq!(
        lines,
        [
            " ui_capture mode=window window=\"Notes\" size=560x520",
            " ui_click button=left x=100 y=150",
            " ui_type text=\"[REDACTED]\" window=\"Notes\"",
            " ui_focus_window window=\"nothing\" success=false",
        ]
    );
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(&log).expect("a log").permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_unknown_tool_of_a_profile_is_an_error_of_the_protocol() {
    let daemon = Daemon::start();
    for (profile, name, said) in [
        ("strobe", "debug_uii", "did you mean 'debug_ui'?"),
        ("thuvu", "look", "the tools are: ui_capture, ui_list_windows"),
    ] {
        let answer =
            Mcp::of(&daemon, profile).request("tools/call", json!({ "name": name, "arguments": {} }));
        assert!(answer["error"]["message"].as_str().is_some_and(|text| text.contains(said)), "{answer}");
    }
}

const COMMANDS: [&str; 29] = [
    "snapshot",
    "find",
    "screenshot",
    "get",
    "is",
    "click",
    "double-click",
    "right-click",
    "type",
    "set-value",
    "focus",
    "toggle",
    "expand",
    "collapse",
    "select",
    "scroll",
    "press",
    "launch",
    "close-app",
    "list-windows",
    "list-apps",
    "focus-window",
    "clipboard-get",
    "clipboard-set",
    "wait",
    "status",
    "permissions",
    "version",
    "batch",
];

#[test]
fn agent_desktop_lists_a_tool_for_each_command() {
    let daemon = Daemon::start();
    let mcp = Mcp::of(&daemon, "agent-desktop");
    let expected: Vec<String> =
        COMMANDS.iter().map(|name| format!("desktop_{}", name.replace('-', "_"))).collect();
    assert_eq!(names(&mcp), expected);
    for (name, said) in [
        ("desktop_snapshot", [true, false, true, true]),
        ("desktop_wait", [true, false, true, true]),
        ("desktop_focus_window", [false, false, true, true]),
        ("desktop_click", [false, true, false, true]),
        ("desktop_batch", [false, true, false, true]),
    ] {
        assert_eq!(hints(&mcp, name), said, "{name}");
    }
    assert_eq!(required(&mcp, "desktop_type"), json!(["ref", "text"]));
    assert_eq!(required(&mcp, "desktop_get"), json!(["ref", "property"]));
    assert_eq!(required(&mcp, "desktop_snapshot"), Value::Null);
    has_plain_schemas(&mcp);
}

#[test]
fn agent_desktop_answers_what_was_reviewed() {
    for part in ["observe", "act", "desktop"] {
        let daemon = Daemon::start();
        let golden = Reviewed::read(&format!("profiles/agent-desktop/{part}.json"));
        golden.check_calls(&mut Mcp::of(&daemon, "agent-desktop"));
    }
}

#[test]
fn agent_desktop_tells_errors_in_the_words_of_its_contract() {
    let daemon = Daemon::start();
    let mut mcp = Mcp::of(&daemon, "agent-desktop");
    for (tool, arguments, code, message) in [
        ("desktop_click", json!({ "ref": "@e1" }), "STALE_REF", "@e1 not found in current RefMap"),
        (
            "desktop_click",
            json!({ "ref": "@s8f3k2p9:e3" }),
            "STALE_REF",
            "@s8f3k2p9:e3 not found in current RefMap",
        ),
        ("desktop_click", json!({ "ref": "@ex" }), "INVALID_ARGS", "ref_id must match @e{N}"),
        ("desktop_click", json!({ "ref": "@e123456789" }), "INVALID_ARGS", "ref_id must match @e{N}"),
        ("desktop_press", json!({ "combo": " " }), "INVALID_ARGS", "empty key combo"),
    ] {
        let result = mcp.call(tool, arguments.clone());
        let data = &result["structuredContent"];
        assert_eq!((&result["isError"], &data["ok"]), (&json!(true), &json!(false)), "{arguments}");
        assert_eq!(
            (&data["error"]["code"], &data["error"]["message"]),
            (&json!(code), &json!(message)),
            "{arguments}"
        );
        assert_eq!((&data["version"], data.get("data")), (&json!("1.0"), None), "{arguments}");
        if code == "STALE_REF" {
            assert_eq!(data["error"]["suggestion"], "Run 'snapshot' to refresh, then retry with updated ref");
        }
    }
    assert_eq!(mcp.data("desktop_clipboard_get", json!({}))["data"], json!({ "text": null }));
}

#[test]
fn a_ref_stays_right_while_its_element_lives_and_no_longer() {
    let mut daemon = Daemon::start();
    let mut mcp = Mcp::of(&daemon, "agent-desktop");
    let shown = mcp.data("desktop_snapshot", json!({ "app": "Settings" }));
    let numbering = shown["data"]["snapshot_id"].as_str().expect("a numbering").to_owned();
    assert_eq!(
        shown["data"]["tree"]["children"][0]["children"][0]["children"][0]["ref"], "@e1",
        "the first tab"
    );
    // Somebody else looks at another app meanwhile.
    daemon.client().data("snapshot", json!({ "app": "Notes" }));
    let role = json!({ "property": "role", "value": "tab" });
    for written in ["@e1".to_owned(), format!("@{numbering}:e1")] {
        assert_eq!(mcp.data("desktop_get", json!({ "ref": written, "property": "role" }))["data"], role);
    }
    mcp.data("desktop_snapshot", json!({ "app": "Calculator" }));
    let code = |mcp: &mut Mcp, written: String| {
        mcp.data("desktop_get", json!({ "ref": written, "property": "role" }))["error"]["code"].take()
    };
    assert_eq!(
        code(&mut mcp, format!("@{numbering}:e1")),
        "STALE_REF",
        "each snapshot replaces the whole numbering"
    );
    daemon.replace();
    assert_eq!(code(&mut mcp, "@e1".to_owned()), "STALE_REF", "the map has the run of the daemon in it");
}

/// `ax` under the name `agent-desktop`.
struct Linked {
    daemon: Daemon,
    link: std::path::PathBuf,
}

impl Linked {
    fn start() -> Linked {
        let daemon = Daemon::start();
        let link = daemon.folder().join("agent-desktop");
        std::os::unix::fs::symlink(axd_tests::ax(), &link).expect("a link");
        Linked { daemon, link }
    }

    /// Its exit code, and the one line that it prints.
    fn run(&self, words: &[&str]) -> (i32, Value) {
        let ran = std::process::Command::new(&self.link)
            .args(words)
            .env("AXD_SOCKET", &self.daemon.socket)
            .env("AXD_NO_AUTOSTART", "1")
            .output()
            .expect("it runs");
        let out = String::from_utf8(ran.stdout).expect("text");
        assert!(out.ends_with('\n') && out.matches('\n').count() == 1, "{words:?}: {out}");
        (ran.status.code().expect("a code"), serde_json::from_str(&out).expect("JSON"))
    }
}

#[test]
fn agent_desktop_is_a_command_line_that_answers_what_was_reviewed() {
    let linked = Linked::start();
    Reviewed::read("profiles/agent-desktop/cli.json").check(|step| {
        let words: Vec<&str> = step["line"]
            .as_array()
            .expect("words")
            .iter()
            .map(|word| word.as_str().expect("a word"))
            .collect();
        let (exit, out) = linked.run(&words);
        json!({ "exit": exit, "out": out })
    });
}

#[test]
fn agent_desktop_exits_with_what_came_of_it() {
    let mut linked = Linked::start();
    assert_eq!(linked.run(&["list-apps"]).0, 0);
    assert_eq!(linked.run(&["click", "@e1"]).0, 1);
    let (code, out) = linked.run(&["clik"]);
    assert_eq!(code, 2);
    let expected = json!({
        "version": "1.0", "ok": false, "command": "unknown",
        "error": { "code": "INVALID_ARGS", "message": "unrecognized subcommand 'clik'" },
    });
    assert_eq!(out, expected);
    linked.daemon.client().data("shutdown", json!({}));
    linked.daemon.exit();
    let (code, out) = linked.run(&["list-apps"]);
    assert_eq!((code, &out["error"]["code"]), (1, &json!("INTERNAL")), "there is no daemon: {out}");
}

#[test]
fn agent_desktop_keeps_its_refs_in_a_file_of_its_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let mut linked = Linked::start();
    linked.run(&["snapshot", "--app", "Calculator"]);
    let file = linked.daemon.socket.with_extension("refs.json");
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(linked.daemon.folder()).expect("a folder").permissions().mode() & 0o777, 0o700);
    assert_eq!(
        linked.run(&["is", "@e1", "--property", "enabled"]).1["data"],
        json!({ "property": "enabled", "result": true })
    );
    let stale =
        |linked: &Linked| linked.run(&["is", "@e1", "--property", "enabled"]).1["error"]["code"].take();
    linked.daemon.replace();
    assert_eq!(stale(&linked), "STALE_REF", "another run of the daemon");
    for broken in ["{ broken".to_owned(), " ".repeat((1 << 20) + 1)] {
        fs::write(&file, broken).expect("it can be written");
        assert_eq!(stale(&linked), "STALE_REF");
    }
    let names: Vec<String> = fs::read_dir(linked.daemon.folder())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("part"))
        .collect();
    assert_eq!(names, [""; 0]);
}

#[test]
fn agent_desktop_writes_pictures_to_files_and_help_as_text() {
    let linked = Linked::start();
    let path = linked.daemon.folder().join("shot.png");
    let words = ["screenshot", path.to_str().expect("a path"), "--app", "Paint"];
    assert_eq!(linked.run(&words), (0, linked.run(&words).1));
    assert!(fs::read(&path).expect("a file").starts_with(b"\x89PNG"));
    fs::write(&path, "mine").expect("it can be written");
    assert_eq!(linked.run(&words).0, 1, "it is not a picture any more");
    for (word, said) in [("--help", "focus-window"), ("--version", "agent-desktop ")] {
        let ran = std::process::Command::new(&linked.link).arg(word).output().expect("it runs");
        assert!(ran.status.success() && String::from_utf8_lossy(&ran.stdout).contains(said));
    }
}
