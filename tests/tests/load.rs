//! Many requests, many clients, and a client that does not read.

use std::thread;

use axd_tests::{Daemon, Mirror, Raw, Setup, apps, sync};
use serde_json::{Value, json};

#[test]
fn a_thousand_requests_at_once_get_a_thousand_answers() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.is_served();
    let commands = [
        r#""command":"get","args":{"target":"button:7","app":"Calculator"}"#,
        r#""command":"snapshot","args":{"app":"Calculator"}"#,
        r#""command":"status""#,
        r#""command":"find","args":{"selector":"button","app":"Calculator","count":true}"#,
        r#""command":"nonsense""#,
    ];
    let lines: String =
        (0..1_000).map(|id| format!("{{\"id\":{id},{}}}\n", commands[id % commands.len()])).collect();
    // From a thread of its own: a client that sends all before it reads must not be what the daemon waits for.
    let stream = client.stream().try_clone().expect("a second handle");
    let sender = thread::spawn(move || std::io::Write::write_all(&mut &stream, lines.as_bytes()));
    let mut answered = vec![false; 1_000];
    for _ in 0..1_000 {
        let answer = client.any_answer();
        let id = answer["id"].as_u64().expect("a number") as usize;
        assert_eq!(answer["ok"], id % commands.len() != 4, "{answer}");
        assert!(!std::mem::replace(&mut answered[id], true), "{id} twice");
    }
    sender.join().expect("a thread").expect("the daemon reads");
}

#[test]
fn a_client_that_sends_and_does_not_read_holds_up_itself_only() {
    let daemon = Daemon::start();
    let (deaf, mut good) = (daemon.client(), daemon.client());
    good.is_served();
    let before = daemon.memory();
    deaf.stream().set_nonblocking(true).expect("it is a socket");
    let line = b"{\"id\":1,\"command\":\"snapshot\",\"args\":{\"app\":\"Calculator\"}}\n";
    // Until the daemon stops reading: answers nobody reads are not made without end.
    let mut sent = 0;
    let mut refused = 0;
    while refused < 1_000 && sent < 200_000 {
        match std::io::Write::write(&mut deaf.stream(), line) {
            Ok(n) if n == line.len() => sent += 1,
            Ok(_) => break,
            Err(_) => {
                refused += 1;
                thread::yield_now();
            }
        }
    }
    assert!(sent < 200_000, "the daemon reads on for ever");
    good.is_served();
    let grown = daemon.memory().saturating_sub(before);
    assert!(grown < 16 << 20, "it grew by {grown} bytes after {sent} requests");
}

#[test]
fn a_hundred_clients_at_once_are_all_served() {
    let daemon = Daemon::start();
    let mut clients: Vec<Raw> = (0..100).map(|_| daemon.client()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.ok("hello", json!({ "client": format!("client {number}"), "agent": "test" }));
    }
    let workers: Vec<_> = clients
        .into_iter()
        .map(|mut client| {
            thread::spawn(move || {
                for _ in 0..5 {
                    client.is_served();
                }
                client
            })
        })
        .collect();
    let clients: Vec<Raw> = workers.into_iter().map(|worker| worker.join().expect("it is served")).collect();
    let status = daemon.client().data("status", json!({}));
    let known = status["clients"].as_array().expect("clients");
    assert_eq!(known.iter().filter(|client| client["agent"] == "test").count(), 100);
    assert!(known.iter().all(|client| client["pid"] == std::process::id()));
    drop(clients);
}

#[test]
fn too_much_under_way_on_one_connection_is_refused_and_the_rest_goes_on() {
    let daemon = Daemon::start();
    let (mut greedy, mut good) = (daemon.client(), daemon.client());
    good.sim("Notes", &["fault", "hang"]);
    for _ in 0..300 {
        greedy.begin_within("attach", json!({ "app": "Notes" }), Some(60_000));
    }
    let answer = greedy.any_answer();
    assert_eq!(answer["error"]["code"], "RATE_LIMITED", "{answer}");
    good.is_served();
    good.sim("Notes", &["heal"]);
}

/// A client that subscribes, does not read while an app floods, and then reads.
#[test]
fn a_subscriber_that_stops_reading_costs_no_memory_and_catches_up_by_folding() {
    const FLOODS: usize = 20;
    let daemon = Setup::new().app(apps::BELL).app(apps::long_list("Big", 2_000)).start();
    let mut good = daemon.client();
    good.ok("attach", json!({ "app": "Calculator" }));
    sync(&mut good, "Big");
    let mut slow = Mirror::of(&daemon);
    while slow.tree("Big").is_none() || slow.tree("Calculator").is_none() {
        slow.take();
    }
    let read_before = slow.events;
    // Once the socket is full, which happens in the first rounds, the daemon must hold no more for this client.
    let mut memory = Vec::new();
    for round in 0..FLOODS {
        good.sim("Calculator", &["fault", "flood", "display 1000"]);
        good.sim("Big", &["fault", "flood", "field 1000"]);
        good.sim("Big", &["fault", "reparent", if round % 2 == 0 { "go list" } else { "go main" }]);
        good.sim("Calculator", &["press", "seven"]);
        good.sim("Calculator", &["press", "equals"]);
        if round % 5 == 4 {
            good.sim("Calculator", &["restart"]);
        }
        sync(&mut good, "Big");
        sync(&mut good, "Calculator");
        good.is_served();
        memory.push(daemon.memory());
    }
    let grown = memory[FLOODS - 1].saturating_sub(memory[FLOODS / 4]);
    assert!(grown < 8 << 20, "{memory:?}");
    slow.catch_up(&mut good);
    slow.equals_fresh(&daemon, "Calculator");
    slow.equals_fresh(&daemon, "Big");
    let told = slow.events - read_before;
    assert!(told < FLOODS * 1_000, "{told} events of {} changes: nothing was folded", FLOODS * 2_000);
}

/// The same with raw lines, so much of it that the socket is full for certain.
#[test]
fn a_subscriber_to_huge_changes_is_not_written_to_beyond_what_it_reads() {
    let daemon = Setup::new().app(apps::long_list("Big", 20_000)).start();
    let mut good = daemon.client();
    sync(&mut good, "Big");
    let mut slow = daemon.client();
    slow.ok("subscribe", json!({ "app": "Big", "snapshot": true }));
    let before = daemon.memory();
    for round in 0..10 {
        // All 20,000 items move: a difference of about two megabytes each time.
        good.sim("Big", &["fault", "reparent", if round % 2 == 0 { "list main" } else { "go main" }]);
        sync_one(&mut good);
    }
    good.is_served();
    let grown = daemon.memory().saturating_sub(before);
    assert!(grown < 64 << 20, "it grew by {grown} bytes");
    assert_eq!(slow.event()["event"], "fresh");
}

#[test]
fn restarts_and_faults_that_a_client_slept_through_are_folded_into_what_is() {
    let daemon = Setup::new().app(apps::BELL).app(apps::long_list("Big", 20_000)).start();
    let mut good = daemon.client();
    sync(&mut good, "Big");
    for app in ["Calculator", "Notes", "Table"] {
        sync(&mut good, app);
    }
    // The first tree alone is more than the socket holds: what happens from here on is not written but folded.
    let mut asleep = Mirror::of(&daemon);
    for round in 0..4 {
        good.sim("Calculator", &["press", "seven"]);
        good.sim("Calculator", &["press", "equals"]);
        good.sim("Calculator", &["fault", "reparent", "keypad history"]);
        good.sim("Notes", &["press", "new"]);
        good.sim("Table", &["scroll", "table", ["100", "5000", "110", "1"][round]]);
        sync(&mut good, "Calculator");
        good.sim("Calculator", &["restart"]);
        sync(&mut good, "Calculator");
        if round % 2 == 0 {
            good.sim("Notes", &["restart"]);
            sync(&mut good, "Notes");
        }
        good.sim("Calculator", &["press", "four"]);
    }
    for app in ["Calculator", "Notes", "Table", "Big"] {
        sync(&mut good, app);
        asleep.catch_up(&mut good);
        asleep.equals_fresh(&daemon, app);
    }
}

fn sync_one(client: &mut Raw) {
    let answer = client.ok("snapshot", json!({ "app": "Big", "sync": true, "max_nodes": 1 }));
    assert_eq!(answer["data"]["nodes"], 1);
}

#[test]
fn sixty_four_subscriptions_are_kept_and_one_more_is_refused() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.is_served();
    for _ in 0..64 {
        client.ok("subscribe", json!({ "app": "Calculator" }));
    }
    client.fails("RATE_LIMITED", "subscribe", json!({ "app": "Calculator" }));
    client.sim("Calculator", &["press", "nine"]);
    let mut heard: Vec<Value> = Vec::new();
    while heard.len() < 64 {
        let event = client.event_where(|event| event["event"] == "changes");
        if !heard.contains(&event["sub"]) {
            heard.push(event["sub"].clone());
        }
    }
}
