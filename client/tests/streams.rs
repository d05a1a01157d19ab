//! `ax subscribe` and `ax pipe`: lines that go on coming.

mod fake;

use std::process::Stdio;
use std::sync::Mutex;

use fake::{Fake, Ran, Running, changed, end, fresh, subscribed};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

fn subscription() -> Fake {
    Fake::answering(|_| vec![subscribed(1, 3), changed(3, "a"), end(3)])
}

#[test]
fn a_subscription_prints_its_answer_and_its_events_until_it_ends() {
    let fake = subscription();
    let ran = fake.run("subscribe --app Notes");
    let out = format!("{}\n{}\n{}\n", subscribed(1, 3), changed(3, "a"), end(3));
    assert_eq!(ran, Ran { code: Some(0), out, err: String::new() });
    assert_eq!(fake.requests.recv().unwrap()["args"].to_string(), r#"{"app":"Notes"}"#);
}

#[test]
fn a_watch_in_text_calls_things_by_name() {
    let fake = Fake::answering(|_| vec![subscribed(1, 3), fresh(3), changed(3, "Buy milk"), end(3)]);
    let ran = fake.run("watch --app Notes --text");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let lines: Vec<&str> = ran.out.lines().collect();
    let printed: Vec<&str> = lines[1..].iter().map(|line| line.split_once(' ').unwrap().1).collect();
    assert_eq!(lines[0], "watching Notes; Ctrl-C ends it");
    assert_eq!(
        printed,
        [
            "Notes  2 elements",
            "Notes  ~ textfield \"Body\" value = \"Buy milk\" txt_000000",
            "axd  the subscription ended: the daemon is shutting down",
        ]
    );
    let time = lines[1].split(' ').next().unwrap();
    assert!(time.len() == 12 && time.as_bytes()[8] == b'.', "{time}");
    assert_eq!(fake.requests.recv().unwrap()["args"]["snapshot"], true, "names need the tree");
}

#[test]
fn a_subscription_that_is_refused_exits_1() {
    let refused = r#"{"id":1,"ok":false,"command":"subscribe","version":"1.0","error":{"code":"APPLICATION_NOT_FOUND","message":"no app Nots","suggestion":"list-apps","disposition":{"delivery":"not_delivered","retry":"safe"}}}"#;
    let fake = Fake::saying(refused);
    assert_eq!(
        fake.run("watch --app Nots"),
        Ran { code: Some(1), out: format!("{refused}\n"), err: String::new() }
    );
    let ran = fake.run("watch --app Nots --text");
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), "error: no app Nots\n  try: list-apps\n"));
}

#[test]
fn an_interrupt_ends_a_subscription_well_and_each_line_is_out_at_once() {
    for mode in ["--json", "--text"] {
        let fake = Fake::answering(|_| vec![subscribed(1, 3), fresh(3)]);
        let mut running = Running::start(fake.ax(&format!("watch {mode}")));
        running.hear();
        assert!(running.hear().contains("Notes"), "while it still runs");
        kill(Pid::from_raw(running.child.id() as i32), Signal::SIGINT).unwrap();
        assert_eq!(running.code(), Some(0), "{mode}");
    }
}

#[test]
fn a_stream_that_breaks_off_is_an_error() {
    let once = Mutex::new(false);
    let fake = Fake::answering(move |_| {
        let first = !std::mem::replace(&mut *once.lock().unwrap(), true);
        if first { vec![subscribed(1, 3)] } else { vec![] }
    });
    // A second line makes this server hang up.
    let mut running = Running::start(fake.ax("pipe"));
    running.say(r#"{"id":1,"command":"subscribe"}"#);
    assert_eq!(running.hear(), subscribed(1, 3));
    running.say(r#"{"id":2,"command":"status"}"#);
    assert!(running.hear().contains("DAEMON_UNAVAILABLE"));
    assert_eq!(running.code(), Some(1));
}

#[test]
fn nobody_reading_a_stream_is_no_error() {
    let fake = subscription();
    for mode in ["--json", "--text"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let command = format!("watch {mode}");
        let output =
            fake.ax(&command).stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(Ran::of(output), Ran { code: Some(0), out: String::new(), err: String::new() });
    }
}

fn echo() -> Fake {
    Fake::answering(|request| {
        vec![format!(
            r#"{{"id":{},"ok":true,"command":{},"version":"1.0"}}"#,
            request["id"], request["command"]
        )]
    })
}

#[test]
fn a_pipe_answers_while_its_input_is_open_and_ends_when_all_is_answered() {
    let fake = echo();
    let mut running = Running::start(fake.ax("pipe"));
    running.say(r#"{"id":1,"command":"status"}"#);
    assert_eq!(running.hear(), r#"{"id":1,"ok":true,"command":"status","version":"1.0"}"#);
    running.say("");
    running.say(r#"{"id":"b","command":"get"}"#);
    running.say(r#"{"id":3,"command":"get"}"#);
    running.end_input();
    assert_eq!(running.hear(), r#"{"id":"b","ok":true,"command":"get","version":"1.0"}"#);
    assert_eq!(running.hear(), r#"{"id":3,"ok":true,"command":"get","version":"1.0"}"#);
    assert_eq!(running.hear(), "");
    assert_eq!(running.code(), Some(0));
}

#[test]
fn a_pipe_with_nothing_in_it_ends_at_once() {
    let fake = echo();
    assert_eq!(fake.run("pipe"), Ran { code: Some(0), out: String::new(), err: String::new() });
}

#[test]
fn a_pipe_with_an_open_subscription_goes_on_until_its_end() {
    let fake = Fake::answering(|request| match request["command"].as_str() {
        Some("subscribe") => vec![subscribed(1, 3)],
        // Stands for whatever happens later, on another connection's behalf.
        _ => vec![
            r#"{"id":2,"ok":true,"command":"status","version":"1.0"}"#.into(),
            changed(3, "late"),
            end(3),
        ],
    });
    let mut running = Running::start(fake.ax("pipe"));
    running.say(r#"{"id":1,"command":"subscribe"}"#);
    running.say(r#"{"id":2,"command":"status"}"#);
    running.end_input();
    let heard: Vec<String> =
        std::iter::from_fn(|| Some(running.hear()).filter(|line| !line.is_empty())).collect();
    assert_eq!(heard.len(), 4, "{heard:?}");
    assert_eq!(heard[3], end(3));
    assert_eq!(running.code(), Some(0));
}
