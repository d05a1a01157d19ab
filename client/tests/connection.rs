//! The library: blocking and on tokio, against the same server.

mod fake;

use std::io::Write;
use std::os::unix::net::UnixStream;

use axd_client::protocol::Command;
use axd_client::protocol::command::{Status, Subscribe};
#[cfg(feature = "tokio")]
use axd_client::protocol::event::Event;
use axd_client::{ClientError, Connection, Live, RequestOptions, Update};
use fake::{Fake, changed, end, fresh, subscribed};

fn status() -> Command {
    Command::Status(Status {})
}

fn everything() -> Subscribe {
    let args = serde_json::value::RawValue::from_string(r#"{"snapshot":true}"#.into()).unwrap();
    match Command::parse("subscribe", Some(&args)).unwrap() {
        Command::Subscribe(what) => what,
        _ => unreachable!(),
    }
}

fn streaming() -> Fake {
    Fake::answering(|_| {
        vec![subscribed(1, 3), fresh(3), changed(9, "not ours"), changed(3, "Buy milk"), end(3)]
    })
}

/// Answers late and out of order: an event and the answer to a line sent by hand come first.
fn chatty() -> Fake {
    Fake::answering(|request| {
        vec![
            changed(3, "x"),
            r#"{"id":"by hand","ok":true,"command":"get"}"#.into(),
            format!(
                r#"{{"id":{},"ok":true,"command":"status","clock":"c:00000001:7","data":{{"n":1}}}}"#,
                request["id"]
            ),
        ]
    })
}

#[test]
fn an_answer_is_found_among_other_lines_and_they_are_kept() {
    let fake = chatty();
    let mut connection = Connection::open(&fake.socket()).unwrap();
    let reply = connection.request(&status(), RequestOptions::default()).unwrap();
    assert_eq!(reply.clock.unwrap().tick, 7);
    assert_eq!(reply.data::<serde_json::Value>().unwrap()["n"], 1);
    assert_eq!(connection.recv_line().unwrap().unwrap(), changed(3, "x"));
    assert!(connection.recv_line().unwrap().unwrap().contains("by hand"));
}

#[test]
fn a_live_tree_is_true_at_every_event_of_the_stream() {
    let fake = streaming();
    let subscription = Connection::open(&fake.socket()).unwrap().subscribe(everything()).unwrap();
    let mut live = Live::new();
    let updates: Vec<Update> = subscription.map(|push| live.take(push.unwrap()).unwrap()).collect();
    assert_eq!(updates, [Update::Replaced(9), Update::Changed(9), Update::Over]);
    let body = axd_client::protocol::NodeId::parse("txt_000000").unwrap();
    assert_eq!(live.app(9).unwrap().tree.get(body).unwrap().value.as_deref(), Some("Buy milk"));
}

#[test]
fn what_the_daemon_refuses_is_its_error_and_a_lost_connection_is_ours() {
    let error = axd_client::protocol::Error::new(axd_client::protocol::ErrorCode::Timeout, "too slow");
    let fake =
        Fake::saying(&format!(r#"{{"id":1,"ok":false,"error":{}}}"#, serde_json::to_string(&error).unwrap()));
    let refused = Connection::open(&fake.socket()).unwrap().request(&status(), RequestOptions::default());
    assert!(matches!(refused, Err(ClientError::Daemon(refusal)) if refusal == error));
    let fake = Fake::answering(|_| Vec::new());
    let lost = Connection::open(&fake.socket()).unwrap().request(&status(), RequestOptions::default());
    assert!(matches!(lost, Err(ClientError::Io(_))));
    assert_eq!(fake.requests.try_iter().count(), 1, "nothing was sent twice");
    let nobody = Connection::open(&fake.socket().with_file_name("none"));
    assert!(matches!(nobody, Err(ClientError::Unavailable { tried, .. }) if tried.ends_with("none")));
}

#[cfg(feature = "tokio")]
#[tokio::test(flavor = "current_thread")]
async fn on_tokio_it_is_the_same() {
    use axd_client::r#async;
    let fake = chatty();
    let mut connection = r#async::AsyncConnection::open(&fake.socket()).await.unwrap();
    let reply = connection.request(&status(), RequestOptions::default()).await.unwrap();
    assert_eq!(reply.clock.unwrap().tick, 7);
    assert_eq!(connection.recv_line().await.unwrap().unwrap(), changed(3, "x"));

    let fake = streaming();
    let connection = r#async::AsyncConnection::open(&fake.socket()).await.unwrap();
    let mut subscription = connection.subscribe(everything()).await.unwrap();
    let mut events = Vec::new();
    while let Some(push) = subscription.next().await.unwrap() {
        events.push(push.event);
    }
    assert!(matches!(events[..], [Event::Fresh { .. }, Event::Changes { .. }, Event::End { .. }]));

    let nobody = r#async::AsyncConnection::open(&fake.socket().with_file_name("none")).await;
    assert!(matches!(nobody, Err(ClientError::Unavailable { .. })));
}

#[test]
fn the_first_piece_of_a_line_tells_what_it_is_however_slowly_it_comes() {
    let (near, mut far) = UnixStream::pair().unwrap();
    let long = format!("{}\n", "x".repeat(1_000));
    let lines = ["{\"id\":1,\"ok\":true}\n".to_owned(), long];
    let writer = std::thread::spawn({
        let lines = lines.clone();
        move || {
            for byte in lines.concat().bytes() {
                far.write_all(&[byte]).unwrap();
                std::thread::yield_now();
            }
        }
    });
    let mut connection = Connection::over(near);
    for line in lines {
        let mut pieces: Vec<Vec<u8>> = Vec::new();
        let came = connection.stream_line(|piece| {
            pieces.push(piece.to_vec());
            Ok(())
        });
        assert!(came.unwrap());
        assert!(pieces[0].len() >= line.len().min(256), "{}", pieces[0].len());
        assert_eq!(pieces.concat(), line.as_bytes());
    }
    writer.join().unwrap();
}
