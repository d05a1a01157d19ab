//! Subscriptions: told in order, folded when the reader is slow, ended with a word.

use super::*;

async fn subscribe(client: &mut Client, id: u64) -> u64 {
    let answer = client.ask(&format!(r#"{{"id":{id},"command":"subscribe"}}"#)).await;
    answer["data"]["sub"].as_u64().expect("no subscription")
}

#[tokio::test]
async fn news_come_after_the_answer_under_the_number_it_gave() {
    let rig = Rig::start();
    rig.stub.news.send_replace(3);
    let mut client = rig.connect();
    let sub = subscribe(&mut client, 1).await;
    let line = client.line().await.unwrap();
    assert_eq!((&line["sub"], &line["from"], &line["to"]), (&json!(sub), &json!(0), &json!(3)));
    rig.stub.news.send_replace(4);
    assert_eq!(client.line().await.unwrap()["from"], 3);
    let other = subscribe(&mut client, 2).await;
    assert_ne!(other, sub);
}

#[tokio::test]
async fn a_subscription_is_cancelled_by_the_id_it_was_asked_under() {
    let rig = Rig::start();
    let mut client = rig.connect();
    let sub = subscribe(&mut client, 1).await;
    let end = client.ask(r#"{"id":2,"command":"cancel","args":{"id":1}}"#).await;
    assert_eq!(end, json!({ "sub": sub, "event": "end", "cause": "cancelled" }));
    assert_eq!(client.line().await.unwrap()["data"]["cancelled"], true);
    rig.stub.news.send_replace(1);
    assert_eq!(client.ask(r#"{"id":3,"command":"status"}"#).await["data"], json!([3, 0, 0]));
    assert_eq!(rig.stub.news.receiver_count(), 0);
}

#[tokio::test]
async fn a_subscription_with_nothing_more_to_tell_ends_and_so_does_one_that_panics() {
    for last in [u64::MAX, u64::MAX - 1] {
        let rig = Rig::start();
        let mut client = rig.connect();
        let sub = subscribe(&mut client, 1).await;
        rig.stub.news.send_replace(last);
        let end = client.line().await.unwrap();
        assert_eq!(end, json!({ "sub": sub, "event": "end", "cause": "gone" }));
        assert_eq!(client.ask(r#"{"id":3,"command":"status"}"#).await["data"], json!([2, 0, 0]));
    }
}

#[tokio::test]
async fn a_slow_reader_is_told_everything_folded_into_few_lines() {
    const NEWS: u64 = 20_000;
    let rig = Rig::start_with(ServerOptions::default(), 10_000);
    let (mut slow, mut busy) = (rig.connect(), rig.connect());
    subscribe(&mut slow, 1).await;
    for news in 1..=NEWS {
        rig.stub.news.send_replace(news);
        if news % 100 == 0 {
            // The server gets its turn, and serves others meanwhile.
            busy.ask(r#"{"id":1,"command":"status"}"#).await;
        }
    }
    let tellings = rig.stub.tellings.load(SeqCst);
    assert!(tellings < 100, "{tellings} lines of 10 kB were written for a client that reads none");
    let mut read_up_to = 0;
    while read_up_to < NEWS {
        let line = slow.line().await.unwrap();
        assert_eq!(line["from"], read_up_to, "a gap");
        read_up_to = line["to"].as_u64().unwrap();
    }
    assert!(rig.stub.tellings.load(SeqCst) <= tellings + 2);
}

#[tokio::test]
async fn a_subscription_that_always_has_news_keeps_no_request_from_being_read() {
    let rig = Rig::start();
    let mut client = rig.connect();
    subscribe(&mut client, 1).await;
    let news = rig.stub.news.clone();
    let flood = tokio::spawn(async move {
        loop {
            news.send_modify(|news| *news += 1);
            tokio::task::yield_now().await;
        }
    });
    for _ in 0..100 {
        assert!(client.line().await.unwrap()["sub"].is_u64());
    }
    client.send("{\"id\":2,\"command\":\"cancel\",\"args\":{\"id\":1}}\n").await;
    while client.line().await.unwrap()["id"] != 2 {}
    flood.abort();
}

#[tokio::test]
async fn a_subscriber_that_shut_down_its_sending_side_is_told_on_until_it_closes() {
    let rig = Rig::start();
    let mut client = rig.connect();
    client.send("{\"id\":1,\"command\":\"subscribe\"}\n").await;
    client.stream.shutdown().await.unwrap();
    assert_eq!(client.line().await.unwrap()["id"], 1);
    for news in 1..5 {
        rig.stub.news.send_replace(news);
        assert_eq!(client.line().await.unwrap()["to"], news);
    }
    drop(client);
    eventually(|| rig.sessions.is_empty() && rig.stub.news.receiver_count() == 0).await;
}
