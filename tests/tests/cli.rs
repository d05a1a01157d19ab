//! `ax` as people and programs use it: exit codes, JSON and text, streams, pipes, the tour, the reference.

use std::io::Write;
use std::process::Child;

use axd_tests::{Ax, Daemon, Ran, axd, folder, lines, workspace};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

fn interrupt(child: Child) -> Ran {
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).expect("it runs");
    Ran::of(child)
}

#[test]
fn exit_codes_tell_success_error_misuse_and_absence_apart() {
    let daemon = Daemon::start();
    daemon.ax(&["find", "button:7", "--app", "Calculator"]).run().exits(0);
    daemon.ax(&["get", "btn_zzzzzz"]).run().exits(1);
    daemon.ax(&["get", "button:", "--app", "Calculator"]).run().exits(1);
    daemon.ax(&["get"]).run().exits(2);
    daemon.ax(&["snapshot", "--depth", "deep"]).run().exits(2);
    daemon.ax(&["dance"]).run().exits(2);
    daemon.ax(&[]).run().exits(2);
    daemon.ax(&["--help"]).run().exits(0);
    daemon.ax(&["--version"]).run().exits(0);
    let nowhere = folder();
    let absent = |words: &[&str]| Ax::new(words).env("AXD_SOCKET", nowhere.path().join("axd.sock")).run();
    for words in
        [&["status", "--no-autostart"][..], &["watch", "--no-autostart"], &["pipe", "--no-autostart"]]
    {
        let ran = absent(words).exits(3);
        assert_eq!(ran.json()["error"]["code"], "DAEMON_UNAVAILABLE", "{ran:?}");
    }
}

#[test]
fn json_is_the_daemons_own_line_and_text_is_for_people() {
    let daemon = Daemon::start();
    let ran = daemon.ax(&["get", "textfield:Display", "--app", "Calculator"]).run().exits(0);
    assert!(
        ran.out.starts_with(
            "{\"id\":1,\"ok\":true,\"command\":\"get\",\"version\":\"1.0\",\"platform\":\"sim\""
        )
    );
    assert_eq!((ran.json()["data"]["node"]["value"].as_str(), ran.err.as_str()), (Some("0"), ""));
    let text = daemon.ax(&["get", "textfield:Display", "--app", "Calculator", "--text"]).run().exits(0);
    assert!(
        text.out.starts_with("textfield \"Display\" = \"0\" txt_") && text.out.ends_with('\n'),
        "{}",
        text.out
    );
    let tree = daemon.ax(&["snapshot", "--app", "Calculator", "--text"]).run().exits(0).out;
    assert!(tree.contains("\n      button \"7\" btn_"), "{tree}");
}

#[test]
fn a_batch_tells_each_of_its_answers_in_the_words_of_that_command() {
    let daemon = Daemon::start();
    let alone = |words: &[&str]| daemon.ax(words).run();
    let items = json!([
        { "command": "find", "args": { "selector": "button:7", "app": "Calculator" } },
        { "command": "get", "args": { "target": "$0.matches.0.id", "property": ["name"] } },
        { "command": "get", "args": { "target": "button:Nobody", "app": "Calculator" } },
    ]);
    let told = daemon.ax(&["batch", &items.to_string(), "--text"]).run().exits(0).out;
    let found = alone(&["find", "button:7", "--app", "Calculator", "--text"]).exits(0).out;
    let found: String = found.lines().map(|line| format!("  {line}\n")).collect();
    let failed = alone(&["get", "button:Nobody", "--app", "Calculator", "--text"]).exits(1).err;
    assert_eq!(told, format!("0 find\n{found}1 get: 7\n2 get: {failed}2 succeeded, 1 failed\n"));
}

#[test]
fn an_error_is_json_on_standard_output_and_text_on_standard_error() {
    let daemon = Daemon::start();
    let ran = daemon.ax(&["get", "button", "--app", "Calculator", "--json"]).run().exits(1);
    assert_eq!((ran.json()["error"]["code"].as_str(), ran.err.as_str()), (Some("AMBIGUOUS_TARGET"), ""));
    let ran = daemon.ax(&["get", "button", "--app", "Calculator", "--text"]).run().exits(1);
    assert!(ran.out.is_empty() && ran.err.starts_with("error: "), "{ran:?}");
    assert!(ran.err.contains("  try: ") && ran.err.contains("  - button \"7\" btn_"), "{ran:?}");
    let ran = daemon.ax(&["get", "--json"]).run().exits(2);
    assert_eq!(ran.json()["error"]["code"], "INVALID_ARGS");
    let ran = daemon.ax(&["get", "--text"]).run().exits(2);
    assert!(ran.out.is_empty() && ran.err.contains("<TARGET>"), "{ran:?}");
}

#[test]
fn a_deadline_of_ax_reaches_the_daemon() {
    let daemon = Daemon::start();
    daemon.client().sim("Notes", &["fault", "hang"]);
    let ran = daemon.ax(&["snapshot", "--app", "Notes", "--sync", "--deadline-ms", "50"]).run().exits(1);
    let code = &ran.json()["error"]["code"];
    assert!([json!("APP_UNRESPONSIVE"), json!("TIMEOUT")].contains(code), "{ran:?}");
}

#[test]
fn watch_tells_a_line_a_change_until_it_is_interrupted() {
    let daemon = Daemon::start();
    let mut hand = daemon.client();
    let mut watch = daemon.ax(&["watch", "--app", "Calculator", "--text"]).spawn();
    let mut told = lines(&mut watch);
    assert_eq!(told.next().as_deref(), Some("watching Calculator; Ctrl-C ends it"));
    assert!(told.next().is_some_and(|line| line.ends_with("24 elements")));
    hand.sim("Calculator", &["press", "seven"]);
    let line = told.next().expect("a line");
    assert!(line.contains(" Calculator  ~ textfield \"Display\" value = \"7\" txt_"), "{line}");
    for key in ["plus", "four", "equals"] {
        hand.sim("Calculator", &["press", key]);
    }
    let line = told.find(|line| line.contains("+ listitem")).expect("a line of history");
    assert!(line.contains("\"History\""), "{line}");
    interrupt(watch).exits(0);
    hand.is_served();
}

#[test]
fn watch_as_json_is_the_daemons_own_lines_and_ends_with_the_daemon() {
    let mut daemon = Daemon::start();
    let mut hand = daemon.client();
    let mut watch = daemon.ax(&["subscribe", "--app", "Calculator", "--snapshot", "--json"]).spawn();
    let mut told =
        lines(&mut watch).map(|line| serde_json::from_str::<Value>(&line).expect("a line of JSON"));
    assert_eq!(told.next().expect("an answer")["command"], "subscribe");
    assert_eq!(told.next().expect("a tree")["event"], "fresh");
    hand.sim("Calculator", &["press", "seven"]);
    assert_eq!(told.find(|line| line["event"] == "changes").expect("a change")["observed"], "event");
    hand.ok("shutdown", json!({}));
    assert_eq!(told.last().expect("an end")["cause"], "shutdown");
    Ran::of(watch).exits(0);
    daemon.exit();
}

#[test]
fn watch_of_what_is_not_there_is_an_error() {
    let daemon = Daemon::start();
    for mode in ["--json", "--text"] {
        daemon.ax(&["watch", "--app", "Nobody", mode]).run().exits(1);
    }
}

#[test]
fn a_pipe_carries_requests_events_and_cancellation_on_one_connection() {
    let daemon = Daemon::start();
    let mut pipe = daemon.ax(&["pipe"]).spawn();
    let mut input = pipe.stdin.take().expect("a pipe");
    let mut told = lines(&mut pipe).map(|line| serde_json::from_str::<Value>(&line).expect("a line of JSON"));
    let mut send = |line: Value| writeln!(input, "{line}").expect("it reads");
    send(json!({ "id": 1, "command": "subscribe", "args": { "app": "Calculator", "kind": ["changes"] } }));
    assert_eq!(told.next().expect("an answer")["id"], 1);
    send(
        json!({ "id": 2, "command": "sim", "args": { "app": "Calculator", "verb": "press", "target": "seven" } }),
    );
    let (one, other) = (told.next().expect("a line"), told.next().expect("a line"));
    let (answer, event) = if one["id"] == 2 { (one, other) } else { (other, one) };
    assert_eq!((&answer["id"], &event["event"]), (&json!(2), &json!("changes")));
    send(json!({ "id": 3, "command": "cancel", "args": { "id": 1 } }));
    assert_eq!(told.next().expect("an end")["event"], "end");
    assert_eq!(told.next().expect("an answer")["data"]["cancelled"], true);
    drop(input);
    assert_eq!(told.next(), None);
    Ran::of(pipe).exits(0);
}

#[test]
fn a_pipe_answers_every_line_even_the_last_and_the_broken() {
    let daemon = Daemon::start();
    let input = "{\"id\":1,\"command\":\"version\"}\nnonsense\n\n{\"id\":2,\"command\":\"version\"}";
    let ran = daemon.ax(&["pipe"]).run_with(input).exits(0);
    let answers: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let ids: Vec<&Value> = answers.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &Value::Null, &json!(2)]);
    daemon.ax(&["pipe"]).run().exits(0);
}

#[test]
fn the_tour_runs_and_leaves_nothing_behind() {
    let temporary = folder();
    let ran = Ax::new(&["demo"]).env("TMPDIR", temporary.path()).env("AXD_BIN", axd()).run().exits(0);
    for shown in ["$ ax list-apps", "button \"7\" btn_", "$ ax watch", "value = \"7\"", "$ ax status", "µs"]
    {
        assert!(ran.out.contains(shown), "{shown} in {}", ran.out);
    }
    assert!(!ran.out.contains("no event was received") && ran.err.is_empty(), "{ran:?}");
    let left: Vec<_> = std::fs::read_dir(temporary.path()).expect("it is ours").flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    let pid = ran.out.split("pid ").nth(1).and_then(|rest| rest.split(' ').next()).expect("the daemon's pid");
    let number = nix::unistd::Pid::from_raw(pid.parse().expect("a number"));
    // Not ours to wait for: it is gone when no signal reaches it.
    let alive = nix::sys::signal::kill(number, None).is_ok();
    assert!(!alive, "the daemon of the tour, {pid}, still runs");
}

#[test]
fn the_reference_in_docs_is_the_one_ax_makes() {
    let made = Ax::new(&["schema", "--markdown"]).run().exits(0).out;
    let kept = std::fs::read_to_string(workspace().join("docs/commands.md")).expect("docs/commands.md");
    assert!(made == kept, "docs/commands.md is out of date: run ax schema --markdown > docs/commands.md");
}

#[test]
fn every_command_has_help_with_a_line_for_every_arg() {
    for name in axd_protocol::command::ALL_NAMES {
        let help = Ax::new(&[name, "--help"]).run().exits(0).out;
        let schema = Ax::new(&["schema", name, "--json"]).run().exits(0).json();
        let args = schema["args"]["properties"].as_object().into_iter().flatten();
        for (arg, about) in args {
            let flag = format!("--{}", arg.replace('_', "-"));
            let positional =
                |word: &str| help.contains(&format!("<{word}>")) || help.contains(&format!("[{word}]"));
            let shown = help.contains(&flag)
                || positional(&arg.to_uppercase())
                || about["description"]
                    .as_str()
                    .is_some_and(|about| help.contains(about.trim_end_matches('.')));
            assert!(shown, "{name}: {arg} in {help}");
        }
    }
}
