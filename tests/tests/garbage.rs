//! Lines that no client should send: each has a clear answer, the connection goes on where the contract says so, and
//! nobody else is disturbed.

use axd_tests::{Daemon, Raw};
use serde_json::{Value, json};

/// A daemon, the client that misbehaves, and the one that does not and must not notice.
fn three() -> (Daemon, Raw, Raw) {
    let daemon = Daemon::start();
    let (bad, mut good) = (daemon.client(), daemon.client());
    good.is_served();
    (daemon, bad, good)
}

/// The answer to a line that could not be matched to a request.
fn refused(client: &mut Raw, code: &str) -> Value {
    let answer = client.any_answer();
    assert_eq!((&answer["id"], &answer["ok"]), (&Value::Null, &json!(false)), "{answer}");
    assert_eq!(answer["error"]["code"], code, "{answer}");
    answer["error"].clone()
}

#[test]
fn garbage_gets_an_error_a_line_and_the_connection_goes_on() {
    let (_daemon, mut bad, mut good) = three();
    let lines: [&[u8]; 9] = [
        b"hello?",
        b"{",
        b"[]",
        b"7",
        b"null",
        b"\0\0\0\0",
        b"GET / HTTP/1.1",
        b"{\"id\":}",
        b"{\"command\":\"status\"} {\"command\":\"status\"}",
    ];
    for line in lines {
        bad.send([line, b"\n"].concat());
        let error = refused(&mut bad, "INVALID_ARGS");
        assert!(error["suggestion"].as_str().unwrap().contains(r#"{"id":1,"command":"status""#), "{error}");
    }
    bad.is_served();
    good.is_served();
}

#[test]
fn empty_lines_are_no_requests() {
    let (_daemon, mut bad, _good) = three();
    bad.send("\n\r\n\n");
    bad.is_served();
}

#[test]
fn bytes_of_every_kind_never_end_the_daemon() {
    let (_daemon, mut bad, mut good) = three();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = Vec::new();
    for _ in 0..64 * 1024 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        noise.push((state >> 56) as u8);
    }
    noise.push(b'\n');
    // A line of nothing, or of nothing but a carriage return, is not answered.
    let lines = noise.split(|byte| *byte == b'\n').filter(|line| !matches!(line, [] | [b'\r'])).count();
    bad.send(&noise);
    for _ in 0..lines {
        refused(&mut bad, "INVALID_ARGS");
    }
    bad.is_served();
    good.is_served();
}

#[test]
fn invalid_utf8_is_refused_under_the_id_it_came_with() {
    let (_daemon, mut bad, mut good) = three();
    bad.send(b"{\"id\":41,\"command\":\"get\",\"args\":{\"target\":\"\xff\xfe\"}}\n");
    let error = bad.fails_later("INVALID_ARGS", 41);
    assert!(error["message"].as_str().unwrap().contains("UTF-8"), "{error}");
    bad.send(b"\xc3\x28\n");
    refused(&mut bad, "INVALID_ARGS");
    bad.is_served();
    good.is_served();
}

#[test]
fn half_a_line_waits_for_its_other_half() {
    let (_daemon, mut bad, mut good) = three();
    bad.send(r#"{"id":1,"comm"#);
    good.is_served();
    bad.send("and\":\"version\"}\n");
    assert_eq!(bad.answer(1)["ok"], true);
}

#[test]
fn half_a_line_at_the_end_of_input_is_not_served() {
    let (_daemon, mut bad, mut good) = three();
    bad.send("{\"id\":1,\"command\":\"version\"}\n{\"id\":2,\"command\":\"shutdown\"}");
    bad.finish_sending();
    assert_eq!(bad.answer(1)["ok"], true);
    assert_eq!(bad.line(), None);
    good.is_served();
}

#[test]
fn a_line_of_two_mebibytes_is_refused_and_its_connection_closed() {
    let (_daemon, mut bad, mut good) = three();
    let mut line = br#"{"id":1,"command":"get","args":{"target":""#.to_vec();
    line.resize(2 << 20, b'x');
    line.extend_from_slice(b"\"}}\n");
    bad.send_anyhow(&line);
    let error = refused(&mut bad, "PAYLOAD_TOO_LARGE");
    assert!(error["suggestion"].as_str().unwrap().contains("1 MiB"), "{error}");
    assert_eq!(bad.line(), None);
    good.is_served();
}

#[test]
fn a_line_that_never_ends_takes_no_memory_and_ends_its_connection() {
    let (daemon, mut bad, mut good) = three();
    let before = daemon.memory();
    let chunk = vec![b'['; 1 << 20];
    for _ in 0..64 {
        bad.send_anyhow(&chunk);
    }
    refused(&mut bad, "PAYLOAD_TOO_LARGE");
    assert_eq!(bad.line(), None);
    good.is_served();
    let grown = daemon.memory().saturating_sub(before);
    assert!(grown < 16 << 20, "it grew by {grown} bytes");
}

#[test]
fn the_longest_line_the_contract_allows_is_served() {
    let (_daemon, mut client, _good) = three();
    let mut line = br#"{"id":1,"command":"version""#.to_vec();
    line.resize(axd_protocol::MAX_REQUEST_BYTES - 1, b' ');
    line.extend_from_slice(b"}\n");
    client.send(&line);
    assert_eq!(client.answer(1)["ok"], true);
}

#[test]
fn ten_thousand_brackets_are_an_error_and_not_a_stack_overflow() {
    let (_daemon, mut bad, mut good) = three();
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(10_000), close.repeat(10_000));
    bad.send(format!("{}\n", deep("[", "]")));
    refused(&mut bad, "INVALID_ARGS");
    bad.send(format!("{}\n", deep(r#"{"a":"#, "}").replace(":}", ":1}")));
    refused(&mut bad, "INVALID_ARGS");
    for args in [deep("[", "]"), format!(r#"{{"target":{}}}"#, deep("[", "]"))] {
        bad.send(format!("{{\"id\":5,\"command\":\"get\",\"args\":{args}}}\n"));
        let answer = bad.any_answer();
        assert_eq!(answer["error"]["code"], "INVALID_ARGS", "{answer}");
    }
    bad.send(format!("{{\"id\":{},\"command\":\"status\"}}\n", deep("[", "]")));
    refused(&mut bad, "INVALID_ARGS");
    bad.is_served();
    good.is_served();
}

#[test]
fn what_a_command_does_not_take_is_named() {
    let (_daemon, mut client, _good) = three();
    for (command, args, said) in [
        ("clikc", json!({}), "unknown command 'clikc'"),
        ("", json!({}), "unknown command ''"),
        ("get", json!({ "target": "button", "colour": "red" }), "unknown field `colour`"),
        ("snapshot", json!({ "depth": "deep" }), "depth: "),
        ("snapshot", json!({ "depth": -1 }), "depth: "),
        ("snapshot", json!({ "max_nodes": 1e40 }), "max_nodes: "),
        ("snapshot", json!({ "interactive": "yes" }), "interactive: "),
        ("snapshot", json!([1, 2]), "named fields"),
        ("snapshot", json!("Notes"), "named fields"),
        ("get", json!({}), "missing field `target`"),
        ("get", json!({ "target": 7 }), "target: "),
        ("get", json!({ "target": null }), "target: "),
        ("is", json!({ "target": "button:7", "property": "pretty" }), "property: "),
        ("changes", json!({ "since": "yesterday" }), "since: "),
        ("element-at", json!({ "point": "here" }), "point: "),
        ("subscribe", json!({ "kind": ["rumour"] }), "kind[0]: "),
        ("find", json!({ "selector": "button", "nth": 0 }), "nth must"),
        ("cancel", json!({ "id": {} }), "id must"),
        ("sim", json!({ "app": "Notes", "verb": "shout" }), "verb 'shout' not found"),
        ("sim", json!({ "app": "Notes", "verb": "fault", "target": "melt" }), "fault 'melt' not found"),
        ("sim", json!({ "app": "Nobody", "verb": "raise" }), "app 'Nobody' not found"),
    ] {
        let error = client.fails("INVALID_ARGS", command, args.clone());
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(said), "{command} {args}: {message}");
    }
    client.is_served();
}

#[test]
fn a_request_with_a_field_of_its_own_is_refused_under_its_id() {
    let (_daemon, mut client, _good) = three();
    for (line, said) in [
        (r#"{"id":3,"command":"status","extra":1}"#, "extra"),
        (r#"{"id":3,"command":7}"#, "string"),
        (r#"{"id":3}"#, "command"),
        (r#"{"id":3,"command":"status","deadline_ms":"soon"}"#, "u64"),
        (r#"{"id":3,"command":"status","deadline_ms":0}"#, "deadline_ms"),
        (r#"{"id":3,"command":"status","format":"html"}"#, "html"),
    ] {
        client.send(format!("{line}\n"));
        let error = client.fails_later("INVALID_ARGS", 3);
        assert!(error["message"].as_str().unwrap().contains(said), "{line}: {error}");
    }
}

#[test]
fn an_id_comes_back_as_it_was_written() {
    let (_daemon, mut client, _good) = three();
    for id in ["0", "-7", "1.50", "1e3", "18446744073709551615", r#""a b""#, r#""\u00e9\"""#, r#""""#] {
        client.send(format!("{{\"id\":{id},\"command\":\"version\"}}\n"));
        let start = client.received.len();
        client.any_answer();
        let line = String::from_utf8_lossy(&client.received[start..]).into_owned();
        assert!(line.starts_with(&format!("{{\"id\":{id},\"ok\":true,")), "{line}");
    }
    for id in ["{}", "[1]", "true"] {
        client.send(format!("{{\"id\":{id},\"command\":\"version\"}}\n"));
        refused(&mut client, "INVALID_ARGS");
    }
}

#[test]
fn a_client_of_another_major_is_told_both_majors() {
    let (_daemon, mut bad, mut good) = three();
    bad.send("{\"id\":1,\"command\":\"list-apps\",\"protocol\":2}\n");
    let error = bad.fails_later("PROTOCOL_MISMATCH", 1);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("protocol 2") && message.contains("uses 1"), "{message}");
    bad.send("{\"id\":2,\"command\":\"list-apps\",\"protocol\":1}\n");
    assert_eq!(bad.answer(2)["ok"], true);
    good.is_served();
}
