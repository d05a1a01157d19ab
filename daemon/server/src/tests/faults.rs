//! Clients that misbehave, and services that do.

use axd_protocol::MAX_REQUEST_BYTES;

use super::*;

const GET: &str = r#"{"id":9,"command":"get","args":{"target":"still here"}}"#;

async fn assert_served(client: &mut Client) {
    assert_eq!(client.ask(GET).await["data"], "still here");
}

#[tokio::test]
async fn a_line_that_is_no_request_gets_an_error_and_the_connection_goes_on() {
    let rig = Rig::start();
    let mut client = rig.connect();
    for (line, id) in [
        ("garbage", Value::Null),
        ("{", Value::Null),
        ("[]", Value::Null),
        ("null", Value::Null),
        (r#"{"id":4}"#, json!(4)),
        (r#"{"id":[4],"command":"get"}"#, Value::Null),
        (r#"{"id":4,"command":7}"#, json!(4)),
        (r#"{"id":4,"command":"no-such-command"}"#, json!(4)),
        (r#"{"id":4,"command":"get","args":{"target":7}}"#, json!(4)),
        (r#"{"id":4,"command":"get","args":[]}"#, json!(4)),
        (r#"{"id":4,"command":"get","args":{"target":"a"},"deadline_ms":"soon"}"#, json!(4)),
        (r#"{"id":4,"command":"get","args":{"target":"a"},"surprise":1}"#, json!(4)),
    ] {
        let answer = client.ask(line).await;
        assert_eq!(
            (&answer["id"], &answer["ok"], code(&answer)),
            (&id, &json!(false), "INVALID_ARGS"),
            "{line}"
        );
        assert_served(&mut client).await;
    }
    let other = client.ask(r#"{"id":4,"command":"status","protocol":9}"#).await;
    assert_eq!(code(&other), "PROTOCOL_MISMATCH");
}

#[tokio::test]
async fn bytes_that_are_not_utf8_get_an_error_with_the_id_if_it_can_be_found() {
    let rig = Rig::start();
    let mut client = rig.connect();
    let lines: [(&[u8], Value); 3] = [
        (b"\xff\xfe\x00\x01\n", Value::Null),
        (b"{\"id\":5,\"command\":\"get\",\"args\":{\"target\":\"\xc3\x28\"}}\n", json!(5)),
        (b"\x00\n", Value::Null),
    ];
    for (line, id) in lines {
        client.send_bytes(line).await;
        let answer = client.line().await.unwrap();
        assert_eq!((&answer["id"], code(&answer)), (&id, "INVALID_ARGS"));
        assert_served(&mut client).await;
    }
}

#[tokio::test]
async fn a_half_line_at_the_end_is_not_served() {
    let rig = Rig::start();
    let mut client = rig.connect();
    client.send(&format!("{GET}\n{}", r#"{"id":1,"command":"shutdown"}"#)).await;
    client.stream.shutdown().await.unwrap();
    assert_eq!(client.line().await.unwrap()["id"], 9);
    client.end().await;
    assert!(!rig.stop.is_stopping());
}

#[tokio::test]
async fn an_overlong_line_gets_an_error_after_what_came_before_it_and_the_connection_is_closed() {
    let rig = Rig::start();
    let mut client = rig.connect();
    let pending = r#"{"id":1,"command":"find","args":{"selector":"button"}}"#;
    client.send(&format!("{GET}\n{pending}\n{}\n{GET}\n", "x".repeat(2 << 20))).await;
    assert_eq!(client.line().await.unwrap()["id"], 9);
    let refused = client.line().await.unwrap();
    assert_eq!((&refused["id"], code(&refused)), (&Value::Null, "PAYLOAD_TOO_LARGE"));
    let cut_off = client.line().await.unwrap();
    assert_eq!((&cut_off["id"], code(&cut_off)), (&json!(1), "CANCELLED"));
    client.end().await;
    assert_served(&mut rig.connect()).await;
}

#[tokio::test]
async fn the_longest_line_that_is_allowed_is_served() {
    let rig = Rig::start();
    let mut client = rig.connect();
    let frame = r#"{"id":1,"command":"get","args":{"target":""}}"#.len();
    let target = "x".repeat(MAX_REQUEST_BYTES - frame);
    let answer = client.ask(&format!(r#"{{"id":1,"command":"get","args":{{"target":"{target}"}}}}"#)).await;
    assert_eq!(answer["data"], target);
}

#[tokio::test]
async fn a_panic_in_the_service_is_an_answer_and_nothing_more() {
    let rig = Rig::start();
    let mut client = rig.connect();
    for (command, said) in [("version", "a bug at once"), ("focused", "a bug later")] {
        let answer = client.ask(&format!(r#"{{"id":1,"command":"{command}"}}"#)).await;
        assert_eq!((&answer["id"], code(&answer)), (&json!(1), "INTERNAL"));
        assert_eq!(answer["error"]["message"], said);
        assert_served(&mut client).await;
    }
    assert_eq!(client.ask(r#"{"id":1,"command":"status"}"#).await["data"], json!([5, 0, 0]));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_read_from_and_others_are_served() {
    let rig = Rig::start();
    let mut silent = rig.connect();
    let request = b"{\"id\":1,\"command\":\"get\",\"args\":{\"target\":\"big:500000\"}}\n";
    // Writing stops when the server stops reading and the sockets' buffers are full.
    let mut sent = 0;
    let flood = async {
        loop {
            silent.stream.write_all(request).await.unwrap();
            sent += 1;
        }
    };
    let mut other = rig.connect();
    let stalled = async {
        loop {
            let before = silent_requests(&rig);
            for _ in 0..50 {
                assert_served(&mut other).await;
            }
            if before > 0 && silent_requests(&rig) == before {
                return before;
            }
        }
    };
    let served = tokio::select! {
        () = flood => unreachable!("a flood does not end"),
        served = timeout(PATIENCE, stalled) => served.expect("the server reads on and on"),
    };
    // A megabyte of answers in the buffer, some in the socket's, and not the thousands that were asked for.
    assert!(served < 10, "{served} requests of half a megabyte were served to a client that reads none");
    assert!(sent > served);
    for _ in 0..served {
        assert_eq!(silent.line().await.unwrap()["id"], 1);
    }
}

#[tokio::test]
async fn a_client_that_reads_late_gets_more_than_the_buffers_hold() {
    let rig = Rig::start();
    let mut client = rig.connect();
    let request =
        |id| format!("{{\"id\":{id},\"command\":\"get\",\"args\":{{\"target\":\"big:700000\"}}}}\n");
    client.send(&(0..20).map(request).collect::<String>()).await;
    for id in 0..20 {
        assert_eq!(client.line().await.unwrap()["id"], id);
    }
}

fn silent_requests(rig: &Rig) -> u64 {
    rig.sessions.status().first().map_or(0, |client| client.requests)
}

#[tokio::test]
async fn every_connection_is_in_the_register_as_long_as_it_is_open() {
    let rig = Rig::start();
    let mut clients: Vec<Client> = (0..5).map(|_| rig.connect()).collect();
    for client in &mut clients {
        assert_served(client).await;
    }
    let status = rig.sessions.status();
    assert_eq!(status.len(), 5);
    assert!(status.iter().all(|client| client.pid == Some(std::process::id()) && client.requests == 1));
    clients.truncate(2);
    eventually(|| rig.sessions.len() == 2).await;
}
