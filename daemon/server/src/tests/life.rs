//! How a server ends.

use std::io;
use std::net::Shutdown;

use super::*;
use crate::accept_retry_time;

#[tokio::test]
async fn a_server_that_is_to_stop_answers_what_is_under_way_and_ends_subscriptions() {
    let rig = Rig::start();
    let mut client = rig.connect();
    let find = r#"{"id":1,"command":"find","args":{"selector":"button"}}"#;
    client.send(&format!("{find}\n{}\n", r#"{"id":2,"command":"subscribe"}"#)).await;
    let sub = client.line().await.unwrap()["data"]["sub"].clone();
    let mut other = rig.connect();
    assert_eq!(other.ask(r#"{"id":1,"command":"shutdown"}"#).await["ok"], true);
    other.end().await;
    assert_eq!(client.line().await.unwrap(), json!({ "sub": sub, "event": "end", "cause": "shutdown" }));
    // The path is free for a successor while the last answers are still on their way.
    eventually(|| !rig.socket().exists()).await;
    drop(Listener::bind(&rig.socket()).unwrap());
    rig.stub.release.add_permits(1);
    let answer = client.line().await.unwrap();
    assert_eq!((&answer["id"], &answer["ok"]), (&json!(1), &json!(true)));
    client.end().await;
    rig.stopped().await;
}

#[tokio::test(start_paused = true)]
async fn what_does_not_finish_in_time_is_told_so() {
    let rig = Rig::start();
    let mut client = rig.connect();
    client.send("{\"id\":1,\"command\":\"find\",\"args\":{\"selector\":\"button\"}}\n").await;
    eventually(|| rig.stub.waiting.load(SeqCst) == 1).await;
    rig.stop.trigger();
    let answer = client.line().await.unwrap();
    assert_eq!((&answer["id"], code(&answer)), (&json!(1), "CANCELLED"));
    client.end().await;
    rig.stopped().await;
}

#[tokio::test]
async fn what_was_sent_before_the_stop_is_served_even_if_nobody_had_accepted_it() {
    let rig = Rig::start();
    rig.stop.trigger();
    // On this one thread the server has not run yet.
    let mut client = rig.connect();
    client.send_now(b"{\"id\":1,\"command\":\"get\",\"args\":{\"target\":\"a\"}}\n");
    assert_eq!(client.line().await.unwrap()["id"], 1);
    client.end().await;
    rig.stopped().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_its_last_answers_does_not_keep_the_server() {
    let rig = Rig::start();
    let mut client = rig.connect();
    client.send("{\"id\":1,\"command\":\"get\",\"args\":{\"target\":\"big:3000000\"}}\n").await;
    eventually(|| rig.sessions.status().first().is_some_and(|client| client.requests == 1)).await;
    rig.stop.trigger();
    rig.stopped().await;
}

#[tokio::test(start_paused = true)]
async fn without_a_client_for_long_enough_the_server_stops_and_removes_its_socket() {
    let options = ServerOptions { idle_exit: Some(Duration::from_secs(900)), ..ServerOptions::default() };
    let rig = Rig::start_with(options, 0);
    let mut client = rig.connect();
    client.ask(r#"{"id":1,"command":"status"}"#).await;
    // As long as somebody is connected it stays.
    tokio::time::advance(Duration::from_secs(3600)).await;
    assert_eq!(client.ask(r#"{"id":1,"command":"status"}"#).await["ok"], true);
    client.stream.into_std().unwrap().shutdown(Shutdown::Both).unwrap();
    let socket = rig.socket();
    rig.server.await.unwrap().unwrap();
    assert!(!socket.exists());
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_of_no_use_does_not_wait_for_clients_that_long() {
    let options = ServerOptions { idle_exit: Some(Duration::from_secs(900)), ..ServerOptions::default() };
    let rig = Rig::start_with(options, 0);
    let mut client = rig.connect();
    client.ask(r#"{"id":1,"command":"status"}"#).await;
    *rig.stub.idle_limit.lock() = Some(Duration::from_secs(10));
    let began = tokio::time::Instant::now();
    client.stream.into_std().unwrap().shutdown(Shutdown::Both).unwrap();
    rig.server.await.unwrap().unwrap();
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_system_that_refuses_new_connections_is_given_time_and_one_lost_client_is_not_a_refusal() {
    assert!(accept_retry_time(&io::Error::from_raw_os_error(nix::libc::EMFILE)).is_some());
    assert!(accept_retry_time(&io::Error::from_raw_os_error(nix::libc::ECONNABORTED)).is_none());
}
