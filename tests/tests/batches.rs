//! Batches in the words of the command line.

use axd_tests::{Daemon, folder};
use serde_json::{Value, json};

/// The display of the calculator.
fn display(daemon: &Daemon) -> Value {
    let args = json!({ "target": "textfield:Display", "app": "Calculator", "property": ["value"] });
    daemon.client().data("get", args)["node"]["value"].clone()
}

const SUM: &str = "# adds two numbers
click button:1
click button:2
ax click button:+

press 3
click 'button:\"=\"'
find textfield:Display
";

#[test]
fn a_batch_is_written_as_one_types_it_and_names_its_app_once() {
    let daemon = Daemon::start();
    let ran =
        daemon.ax(&["batch", "-", "--app", "Calculator"]).run_with(&SUM.replace("press 3", "click button:3"));
    let answer = ran.exits(0).json();
    assert_eq!(answer["data"]["succeeded"], 6, "{answer}");
    assert_eq!(answer["data"]["results"][5]["data"]["matches"][0]["value"], "15", "{answer}");
    let folder = folder();
    let file = folder.path().join("steps.txt");
    std::fs::write(&file, "click button:C\nclick button:7 --app Calculator\n").expect("a file");
    daemon
        .ax(&["batch", "--app", "Calculator", file.to_str().expect("UTF-8"), "--stop-on-error"])
        .run()
        .exits(0);
    assert_eq!(display(&daemon), "7");
    let text = daemon.ax(&["batch", "click button:8\nlook", "--app", "Calculator", "--text"]).run().exits(0);
    assert!(text.out.contains("= \"78\""), "{}", text.out);
    let json = r#"[{"command":"click","args":{"target":"button:9"}}]"#;
    daemon.ax(&["batch", json, "--app", "Calculator"]).run().exits(0);
    assert_eq!(display(&daemon), "789");
}

#[test]
fn a_line_that_is_wrong_is_named_and_nothing_is_done() {
    let daemon = Daemon::start();
    for (lines, message, code) in [
        ("click button:7\nclik button:8", "line 2: unrecognized subcommand 'clik'", 2),
        ("click button:7\nbatch x", "line 2: batch cannot be part of a batch", 2),
        ("click button:7\ntype 'open", "line 2: the quote ' has no end", 2),
        ("", "items must have between 1 and", 1),
    ] {
        let ran = daemon.ax(&["batch", "-", "--app", "Calculator"]).run_with(lines).exits(code);
        let said = ran.json()["error"]["message"].as_str().expect("a message").to_owned();
        assert!(said.contains(message), "{lines}: {said}");
    }
    assert_eq!(display(&daemon), "0");
    let ran = daemon.ax(&["batch", "no-such-file"]).run().exits(1);
    assert!(ran.out.contains("no-such-file cannot be read"), "{}", ran.out);
}

#[test]
fn the_app_of_a_batch_is_that_of_every_command_on_the_wire_too() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let items = json!([
        { "command": "click", "args": { "target": "button:4" } },
        { "command": "get", "args": { "target": "list:Notes", "app": "Notes" } },
        { "command": "press", "args": { "keys": "enter", "dry_run": true } },
    ]);
    let done = client.data("batch", json!({ "items": items, "app": "Calculator" }));
    assert_eq!(done["succeeded"], 3, "{done}");
    assert_eq!(display(&daemon), "4");
}
