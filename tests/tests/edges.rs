//! The edges of what can be asked: pairs of commands by two clients, pauses beyond a deadline, fields that are given twice, points
//! beyond all screens, more clients than there are files, and a socket that somebody removes.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use axd_tests::{Daemon, PATIENCE, Raw, axd, folder};
use serde_json::{Value, json};

#[test]
fn a_key_that_one_ax_holds_is_released_by_the_next() {
    let daemon = Daemon::start();
    daemon.ax(&["key-down", "shift", "--hold-ms", "600000"]).run().exits(0);
    assert_eq!(daemon.client().data("status", json!({}))["held"][0]["what"], "shift");
    daemon.ax(&["--deadline-ms", "5000", "key-up", "shift"]).run().exits(0);
    let held = daemon.client().data("status", json!({}))["held"].clone();
    assert_eq!(held.as_array().map_or(0, Vec::len), 0, "{held}");
}

#[test]
fn a_pause_that_the_deadline_cuts_short_is_not_said_to_be_over() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let id = client.begin_within("wait", json!({ "ms": 60_000 }), Some(50));
    let error = client.fails_later("TIMEOUT", id);
    assert!(error["message"].as_str().is_some_and(|message| message.contains("60000 ms")), "{error}");
    client.fails("TIMEOUT", "wait", json!({ "ms": 60_000, "timeout": 50 }));
    let id = client.begin_within("wait", json!({ "ms": 20 }), Some(60_000));
    assert_eq!(client.answer(id)["data"]["met"], json!(["20 ms"]));
}

#[test]
fn a_field_that_is_given_twice_is_refused() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    for (command, args) in [
        ("get", r#"{"target":"button:7","app":"Calculator","app":"Notes"}"#),
        ("get", r#"{"target":"button:7","app":"Calculator","\u0061pp":"Notes"}"#),
        ("click", r#"{"target":"button:7","app":"Calculator","target":"button:8"}"#),
        ("click", r#"{"target":"button:7","app":"Calculator","settle_ms":1,"settleMs":2}"#),
        ("batch", r#"{"items":[{"command":"get","args":{"target":"button:7","target":"button:8"}}]}"#),
        ("batch", r#"{"items":[{"command":"get","command":"click","args":{}}]}"#),
        ("sim", r#"{"app":"Calculator","words":["press","7"],"words":["press","8"]}"#),
    ] {
        client.send(format!("{{\"id\":1,\"command\":\"{command}\",\"args\":{args}}}\n"));
        let answer = client.any_answer();
        assert_eq!(answer["error"]["code"], "INVALID_ARGS", "{args}: {answer}");
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("twice") || message.contains("duplicate"), "{args}: {message}");
    }
    // The same name in two places is not the same field.
    let env = json!({ "app": "nothing-of-that-name", "env": { "aB": "1", "a_b": "2" } });
    let answer = client.ask("launch", env);
    assert_ne!(answer["error"]["code"], "INTERNAL", "{answer}");
    client.is_served();
}

#[test]
fn a_point_beyond_all_screens_is_refused_and_told_in_words() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    let windows = client.data("list-windows", json!({}))["windows"].clone();
    let is_off_the_corner = |window: &&Value| {
        let at = |axis: &str| window["bounds"][axis].as_i64().unwrap_or_default();
        at("x") > 0 && at("y") > 0
    };
    let window = windows.as_array().and_then(|all| all.iter().find(is_off_the_corner).cloned());
    let window = window.unwrap_or_else(|| panic!("all windows are in the corner: {windows}"));
    for point in ["2147483647,1", "1,2147483647"] {
        let args = json!({ "point": point, "app": window["app"], "window": window["title"] });
        let error = client.fails("INVALID_ARGS", "mouse-move", args);
        assert!(error["message"].as_str().is_some_and(|message| message.contains(point)), "{error}");
    }
    let answer = client.ask("screenshot", json!({ "region": "90000,90000,10,10" }));
    let message = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("90000,90000") && !message.contains('{'), "{answer}");
}

/// `axd` with this limit of open files; returns when it listens.
fn limited(limit: &str, folder: &Path) -> Child {
    let mut child = Command::new("sh")
        .args(["-c", &format!(r#"ulimit {limit}; exec "$0" "$@" --ready-fd 9 9>&1 >/dev/null"#)])
        .arg(axd())
        .args(["--platform", "sim", "--socket"])
        .arg(folder.join("axd.sock"))
        .arg("--state")
        .arg(folder.join("state"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("axd runs");
    let mut ready = String::new();
    BufReader::new(child.stdout.take().expect("a pipe"))
        .read_line(&mut ready)
        .expect("it says that it is ready");
    child
}

#[test]
fn a_low_limit_of_open_files_is_raised_where_it_may_be_and_else_told() {
    for (limit, all_served) in [("-S -n 100", true), ("-n 100", false)] {
        let place = folder();
        let mut child = limited(limit, place.path());
        let mut clients: Vec<Raw> = (0..150).map(|_| Raw::connect(&place.path().join("axd.sock"))).collect();
        let mut refused = 0;
        for client in &mut clients {
            client.send_anyhow(b"{\"id\":1,\"command\":\"version\"}\n");
            let answer = client.line().unwrap_or_default();
            match answer["error"]["code"].as_str() {
                None => assert_eq!(answer["ok"], true, "{limit}: {answer}"),
                Some(code) => {
                    assert_eq!(code, "RATE_LIMITED", "{limit}: {answer}");
                    assert!(answer["error"]["message"].to_string().contains("file descriptors"), "{answer}");
                    refused += 1;
                }
            }
        }
        assert_eq!(refused == 0, all_served, "{limit}: {refused} were refused");
        drop(clients);
        Raw::connect(&place.path().join("axd.sock")).is_served();
        child.kill().expect("it runs");
        child.wait().expect("it ends");
    }
}

#[test]
fn a_socket_that_somebody_removed_is_there_again() {
    let daemon = Daemon::start();
    let mut before = daemon.client();
    fs::remove_file(&daemon.socket).expect("it was there");
    let began = Instant::now();
    while !daemon.socket.exists() {
        before.is_served();
        assert!(began.elapsed() < PATIENCE, "the socket did not come back");
    }
    daemon.ax(&["version"]).run().exits(0);
    before.is_served();
}
