//! What apps say cannot reach a terminal as anything but text: no control characters, no lines that are not ours.

use axd_tests::{Daemon, Setup, sync};
use serde_json::json;

/// What an app may call its things: a terminal's title, a line of another's, colours by one byte, letters in another order.
const HOSTILE: &str =
    "\u{1b}]0;owned\u{7}\u{9b}31m\nerror: forged\r\n\tbtn_000000 \u{202e}desrever\u{2066}\u{2028}end";

/// An app all of whose texts are `text`.
fn app(text: &str) -> String {
    let text = text.escape_default();
    let text = text.to_string().replace("\\u{", "\\U{");
    let mut toml = String::new();
    let mut rest = text.as_str();
    // TOML wants eight digits.
    while let Some((before, after)) = rest.split_once("\\U{") {
        let (digits, after) = after.split_once('}').expect("an escape ends");
        toml.push_str(before);
        toml.push_str(&format!("\\U{digits:0>8}"));
        rest = after;
    }
    let text = toml + rest;
    format!(
        r#"
name = "App {text}"
identity = "test.app"
[[window]]
id = "main"
title = "{text}"
children = [
  {{ role = "button", id = "go", name = "{text}", description = "{text}" }},
  {{ role = "button", id = "also", name = "{text}" }},
  {{ role = "textfield", id = "field", name = "{text}", value = "{text}", description = "{text}" }},
  {{ role = "list", id = "list", name = "{text}", children = [
    {{ role = "listitem", id = "first", name = "{text}" }},
  ] }},
]
"#
    )
}

const COMMANDS: &[&[&str]] = &[
    &["list-apps"],
    &["list-windows"],
    &["status"],
    &["attach", "--app", "test.app"],
    &["snapshot", "--app", "test.app"],
    &["snapshot", "--app", "test.app", "--bounds", "--actions"],
    &["find", "button", "--app", "test.app"],
    &["get", "textfield", "--app", "test.app"],
    &["get", "textfield", "--app", "test.app", "--property", "value"],
    &["get", "textfield", "--app", "test.app", "--property", "value", "--property", "description"],
    &["get", "listitem", "--app", "test.app"],
    &["is", "textfield", "--app", "test.app", "--property", "enabled"],
    &["click", "button:first", "--app", "test.app"],
    &["click", "button", "--app", "test.app"],
    &["get", "button:Nowhere", "--app", "test.app"],
    &["get", "btn_000000", "--app", "test.app"],
    &["focused", "--app", "test.app"],
    &["focus-window", "--app", "test.app"],
    &["move-window", "--app", "test.app", "40,40"],
    &["wait", "--for", "textfield", "--app", "test.app"],
    &["wait", "--for-window", "--app", "test.app"],
    &["type", "x", "--into", "textfield", "--app", "test.app"],
    &["set-value", "textfield", "y", "--app", "test.app"],
    &["press", "ctrl+q", "--app", "test.app"],
    &["press", "cmd+q", "--app", "test.app"],
    &["changes", "--since", "c:00000000:1"],
    &["screenshot", "--app", "nobody"],
    &["mouse-position"],
    &["launch", "test.app"],
    &["list-windows", "--app", "test.app"],
    &["close-app", "test.app", "--timeout", "1"],
];

/// All that is written for each command, as text.
fn outputs(daemon: &Daemon) -> Vec<(String, String)> {
    let mut client = daemon.client();
    sync(&mut client, "test.app");
    let mut all: Vec<(String, String)> = Vec::new();
    for words in COMMANDS {
        let ran = daemon.ax(&[words, &["--text"][..]].concat()).run();
        all.push((words.join(" "), ran.out + &ran.err));
    }
    let items = json!([
        { "command": "list-windows" },
        { "command": "get", "args": { "target": "textfield", "app": "test.app" } },
        { "command": "get", "args": { "target": "button", "app": "test.app" } },
    ]);
    let ran = daemon.ax(&["batch", &items.to_string(), "--text"]).run();
    all.push(("batch".to_owned(), ran.out + &ran.err));
    all
}

#[test]
fn whatever_an_app_calls_its_things_no_command_writes_a_control_character_or_a_line_of_the_apps() {
    let (plain, hostile) = (Setup::new().app(app("Plain")).start(), Setup::new().app(app(HOSTILE)).start());
    let (plain, hostile) = (outputs(&plain), outputs(&hostile));
    let mut shown = 0;
    for ((command, plain), (_, hostile)) in plain.iter().zip(&hostile) {
        let active = |c: char| {
            c != '\n' && (c.is_control() || "\u{2028}\u{2029}\u{202a}\u{202e}\u{2066}\u{2069}".contains(c))
        };
        assert!(!hostile.contains(active), "{command}: {hostile:?}");
        assert_eq!(plain.lines().count(), hostile.lines().count(), "{command}:\n{plain}\n{hostile}");
        shown += usize::from(hostile.contains("\\u{1b}]0;owned\\u{7}"));
    }
    assert!(shown >= 12, "only {shown} commands showed what the app said");
}
