//! Requests: in what order they are answered, cancelled, bounded.

use std::net::Shutdown;

use super::*;
use crate::pending::{MAX_PENDING, MAX_SUBSCRIPTIONS};

const FIND: &str = r#""command":"find","args":{"selector":"button"}"#;

#[tokio::test]
async fn a_request_is_answered_under_its_id() {
    let rig = Rig::start();
    let mut client = rig.connect();
    let line = client.ask(r#"{"id":"seven","command":"get","args":{"target":"hello"}}"#).await;
    assert_eq!((&line["id"], &line["ok"], &line["data"]), (&json!("seven"), &json!(true), &json!("hello")));
    let line = client.ask(r#"{"command":"get","args":{"target":"anonymous"}}"#).await;
    assert_eq!((&line["id"], &line["ok"]), (&Value::Null, &json!(true)));
}

#[tokio::test]
async fn requests_sent_together_are_answered_as_they_finish() {
    let rig = Rig::start();
    let mut client = rig.connect();
    let get = |id| format!(r#"{{"id":{id},"command":"get","args":{{"target":"a"}}}}"#);
    client.send(&format!("{{\"id\":1,{FIND}}}\r\n\n{}\n{}\n", get(2), get(3))).await;
    assert_eq!(client.line().await.unwrap()["id"], 2);
    assert_eq!(client.line().await.unwrap()["id"], 3);
    rig.stub.release.add_permits(1);
    assert_eq!(client.line().await.unwrap()["id"], 1);
}

#[tokio::test]
async fn hundreds_of_requests_in_one_write_are_all_answered_in_order() {
    let rig = Rig::start();
    let mut client = rig.connect();
    let request = |id| format!("{{\"id\":{id},\"command\":\"get\",\"args\":{{\"target\":\"a\"}}}}\n");
    client.send(&(0..1000).map(request).collect::<String>()).await;
    for id in 0..1000 {
        assert_eq!(client.line().await.unwrap()["id"], id);
    }
}

#[tokio::test]
async fn a_cancelled_request_is_dropped_and_answers_before_the_cancellation_does() {
    let rig = Rig::start();
    let mut client = rig.connect();
    client.send(&format!("{{\"id\":\"\\u0061\",{FIND}}}\n")).await;
    eventually(|| rig.stub.waiting.load(SeqCst) == 1).await;
    let first = client.ask(r#"{"id":2,"command":"cancel","args":{"id":"a"}}"#).await;
    assert_eq!((&first["id"], code(&first)), (&json!("a"), "CANCELLED"));
    assert_eq!(first["error"]["disposition"]["retry"], "safe");
    let second = client.line().await.unwrap();
    assert_eq!((&second["id"], &second["data"]["cancelled"]), (&json!(2), &json!(true)));
    assert_eq!(rig.stub.waiting.load(SeqCst), 0);
    let again = client.ask(r#"{"id":2,"command":"cancel","args":{"id":"a"}}"#).await;
    assert_eq!(again["data"]["cancelled"], false);
    let wrong = client.ask(r#"{"id":2,"command":"cancel","args":{"id":{}}}"#).await;
    assert_eq!(code(&wrong), "INVALID_ARGS");
    assert_eq!(client.ask(r#"{"id":3,"command":"status"}"#).await["data"], json!([5, 0, 0]));
}

#[tokio::test]
async fn one_connection_cannot_cancel_what_another_asked() {
    let rig = Rig::start();
    let (mut one, mut other) = (rig.connect(), rig.connect());
    one.send(&format!("{{\"id\":1,{FIND}}}\n")).await;
    eventually(|| rig.stub.waiting.load(SeqCst) == 1).await;
    let line = other.ask(r#"{"id":2,"command":"cancel","args":{"id":1}}"#).await;
    assert_eq!(line["data"]["cancelled"], false);
    rig.stub.release.add_permits(1);
    assert_eq!(one.line().await.unwrap()["ok"], true);
}

#[tokio::test]
async fn an_id_that_is_under_way_cannot_be_used_again_until_it_is_answered() {
    let rig = Rig::start();
    let mut client = rig.connect();
    client.send(&format!("{{\"id\":1,{FIND}}}\n")).await;
    let twice = client.ask(r#"{"id":1,"command":"get","args":{"target":"a"}}"#).await;
    assert_eq!(code(&twice), "INVALID_ARGS");
    rig.stub.release.add_permits(1);
    assert_eq!(client.line().await.unwrap()["ok"], true);
    assert_eq!(client.ask(r#"{"id":1,"command":"get","args":{"target":"a"}}"#).await["ok"], true);
}

#[tokio::test(start_paused = true)]
async fn what_the_engine_lets_run_past_its_deadline_is_answered_by_the_server() {
    let rig = Rig::start();
    let mut client = rig.connect();
    let line = client.ask(&format!("{{\"id\":1,{FIND},\"deadline_ms\":40}}")).await;
    assert_eq!((&line["id"], code(&line)), (&json!(1), "TIMEOUT"));
    assert_eq!(rig.stub.waiting.load(SeqCst), 0);
    for (ms, expected) in [("0", "INVALID_ARGS"), ("18446744073709551615", "")] {
        let get = format!(r#"{{"id":2,"command":"hello","args":{{"client":"a"}},"deadline_ms":{ms}}}"#);
        assert_eq!(code(&client.ask(&get).await), expected);
    }
}

#[tokio::test]
async fn too_many_requests_at_once_are_refused_and_what_needs_no_wait_still_goes_through() {
    let rig = Rig::start();
    let mut client = rig.connect();
    let requests = (0..MAX_PENDING).map(|id| format!("{{\"id\":{id},{FIND}}}\n"));
    client.send(&requests.collect::<String>()).await;
    let refused = client.ask(&format!("{{\"id\":\"more\",{FIND}}}")).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!("more"), "RATE_LIMITED"));
    assert_eq!(refused["error"]["disposition"]["delivery"], "not_delivered");
    let sent = client.ask(r#"{"id":"sent","command":"clipboard-clear"}"#).await;
    assert_eq!((code(&sent), &sent["error"]["disposition"]["retry"]), ("RATE_LIMITED", &json!("unsafe")));
    let status = client.ask(r#"{"id":"status","command":"status"}"#).await;
    assert_eq!(status["data"], json!([MAX_PENDING + 3, MAX_PENDING, 0]));
    rig.stub.release.add_permits(MAX_PENDING);
    for _ in 0..MAX_PENDING {
        assert_eq!(client.line().await.unwrap()["ok"], true);
    }
}

#[tokio::test]
async fn too_many_subscriptions_are_refused() {
    let rig = Rig::start();
    let mut client = rig.connect();
    for id in 0..MAX_SUBSCRIPTIONS {
        let line = client.ask(&format!(r#"{{"id":{id},"command":"subscribe"}}"#)).await;
        assert_eq!(line["ok"], true);
    }
    let refused = client.ask(r#"{"id":"more","command":"subscribe"}"#).await;
    assert_eq!((&refused["id"], code(&refused)), (&json!("more"), "RATE_LIMITED"));
    let status = client.ask(r#"{"id":"status","command":"status"}"#).await;
    assert_eq!(status["data"], json!([MAX_SUBSCRIPTIONS + 2, 0, MAX_SUBSCRIPTIONS]));
}

#[tokio::test]
async fn a_client_that_only_shut_down_its_sending_side_gets_its_answers() {
    let rig = Rig::start();
    let mut client = rig.connect();
    client
        .send(&format!(
            "{{\"id\":1,{FIND}}}\n{{\"id\":2,\"command\":\"hello\",\"args\":{{\"client\":\"a\"}}}}\n"
        ))
        .await;
    client.stream.shutdown().await.unwrap();
    assert_eq!(client.line().await.unwrap()["id"], 2);
    rig.stub.release.add_permits(1);
    assert_eq!(client.line().await.unwrap()["id"], 1);
    client.end().await;
    eventually(|| rig.sessions.is_empty()).await;
}

#[tokio::test]
async fn what_a_client_that_is_gone_asked_for_is_dropped() {
    for half_closed_first in [false, true] {
        let rig = Rig::start();
        let mut client = rig.connect();
        client.send(&format!("{{\"id\":1,{FIND}}}\n")).await;
        eventually(|| rig.stub.waiting.load(SeqCst) == 1).await;
        let stream = client.stream.into_std().unwrap();
        if half_closed_first {
            stream.shutdown(Shutdown::Write).unwrap();
        }
        drop(stream);
        eventually(|| rig.stub.waiting.load(SeqCst) == 0 && rig.sessions.is_empty()).await;
    }
}
