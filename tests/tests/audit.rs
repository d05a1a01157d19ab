//! The audit log: what is in it, what is not, who may read it, and whether a change to it shows. And the limits beside it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Instant;

use axd_tests::{Ax, Daemon, PATIENCE, Policed, Ran, Raw, Setup, folder};
use serde_json::{Value, json};

/// `ax audit`, which needs no daemon.
fn audit(daemon: &Daemon, words: &[&str]) -> Ran {
    Ax::new(&[&["audit"], words, &["--json"]].concat()).env("AXD_STATE", &daemon.state).run()
}

fn lines(daemon: &Daemon) -> Vec<Value> {
    let answer = audit(daemon, &["show", "--limit", "1000"]).exits(0).json();
    answer["data"]["lines"].as_array().cloned().unwrap_or_default()
}

/// Lines are written by a thread of their own; this waits until the last one is there.
fn lines_until(daemon: &Daemon, command: &str) -> Vec<Value> {
    let begun = Instant::now();
    loop {
        let lines = lines(daemon);
        if lines.iter().any(|line| line["command"] == command) {
            return lines;
        }
        assert!(begun.elapsed() < PATIENCE, "no line of {command} in {lines:?}");
        std::thread::yield_now();
    }
}

fn files(daemon: &Daemon) -> Vec<PathBuf> {
    let entries = fs::read_dir(&daemon.state).expect("the state folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect()
}

#[test]
fn every_action_picture_clipboard_access_launch_and_denial_leaves_a_line_and_no_secret() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.ok("hello", json!({ "client": "robot", "agent": "tester" }));
    client.ok("click", json!({ "target": "button:7", "app": "Calculator" }));
    client.ask("press", json!({ "combo": "ctrl+s", "app": "Notes" }));
    client.fails("POLICY_DENIED", "press", json!({ "combo": "cmd+q", "app": "Notes" }));
    client.ask("type", json!({ "text": "hunter2hunter2", "app": "Notes" }));
    client.ask("clipboard-set", json!({ "text": "hunter2hunter2" }));
    client.ask("clipboard-get", json!({}));
    client.ask("screenshot", json!({ "app": "Notes" }));
    let launch = json!({ "app": "Files", "arg": ["--folder"], "env": ["TOKEN=hunter2hunter2"] });
    client.ask("launch", launch);
    let lines = lines_until(&daemon, "launch");
    let of =
        |command: &str| -> Vec<&Value> { lines.iter().filter(|line| line["command"] == command).collect() };
    let click = of("click")[0];
    assert_eq!(
        (&click["app"], &click["role"], &click["name"]),
        (&json!("Calculator"), &json!("button"), &json!("7"))
    );
    assert_eq!((&click["client_name"], &click["agent"]), (&json!("robot"), &json!("tester")));
    assert_eq!(click["client_pid"], std::process::id());
    assert_eq!(of("press")[0]["keys"], "ctrl+s");
    assert_eq!(
        (&of("press")[1]["error"], &of("press")[1]["rule"]),
        (&json!("POLICY_DENIED"), &json!("blocked-shortcut"))
    );
    for command in ["type", "clipboard-set", "clipboard-get", "screenshot"] {
        assert_eq!(of(command).len(), 1, "{command}");
    }
    assert_eq!(
        of("launch")[0]["launch"],
        json!({ "program": "Files", "args": ["--folder"], "env": ["TOKEN"] })
    );
    let all: String = files(&daemon).iter().map(|file| fs::read_to_string(file).expect("a file")).collect();
    assert!(!all.contains("hunter2"), "{all}");
    for file in files(&daemon) {
        assert_eq!(fs::metadata(&file).expect("a file").mode() & 0o7777, 0o600);
    }
    assert_eq!(fs::metadata(&daemon.state).expect("a folder").mode() & 0o7777, 0o700);
    let mine =
        audit(&daemon, &["show", "--client", "tester", "--since", "1h", "--limit", "2"]).exits(0).json();
    assert_eq!(mine["data"]["lines"].as_array().map(Vec::len), Some(2));
    let nobodys = audit(&daemon, &["show", "--client", "nobody"]).exits(0).json();
    assert_eq!(nobodys["data"]["lines"], Value::Null);
}

#[test]
fn the_chain_goes_on_after_a_restart_and_a_changed_or_removed_line_shows() {
    let mut daemon = Daemon::start();
    for command in ["clipboard-clear", "clipboard-get"] {
        daemon.client().ask(command, json!({}));
        lines_until(&daemon, command);
        daemon.replace();
    }
    daemon.client().ask("screenshot", json!({ "app": "Notes" }));
    lines_until(&daemon, "screenshot");
    let intact = audit(&daemon, &["verify"]).exits(0).json();
    assert_eq!((&intact["data"]["intact"], &intact["data"]["last"]), (&json!(true), &json!(3)));
    let [file] = &files(&daemon)[..] else { panic!("one day, one file") };
    let text = fs::read_to_string(file).expect("a file");
    fs::write(file, text.replacen("clipboard-get", "clipboard-gat", 1)).expect("ours");
    let changed = audit(&daemon, &["verify"]).exits(1).json();
    assert!(changed["data"]["broken"].as_str().is_some_and(|said| said.contains("line 2")), "{changed}");
    let without: String =
        text.lines().enumerate().filter(|(at, _)| *at != 1).map(|(_, line)| format!("{line}\n")).collect();
    fs::write(file, without).expect("ours");
    audit(&daemon, &["verify"]).exits(1);
    fs::write(file, text).expect("ours");
    audit(&daemon, &["verify"]).exits(0);
}

#[test]
fn an_audit_that_cannot_be_written_is_told_and_counted_and_stops_nothing() {
    let place = folder();
    let state = place.path().join("state");
    // A file where the folder should be.
    fs::write(&state, "").expect("a file");
    let daemon = Setup::new().state(&state).start();
    let mut client = daemon.client();
    client.ok("click", json!({ "target": "button:7", "app": "Calculator" }));
    let begun = Instant::now();
    let told = loop {
        let told = client.data("status", json!({}))["audit"].clone();
        if told["lost"] == 1 {
            break told;
        }
        assert!(begun.elapsed() < PATIENCE, "{told}");
    };
    assert!(told["fault"].is_string(), "{told}");
    let checks = client.data("doctor", json!({}))["checks"].clone();
    assert!(
        checks.as_array().is_some_and(|all| all.iter().any(|check| check["what"] == "audit")),
        "{checks}"
    );
    assert!(daemon.ax(&["status", "--text"]).run().exits(0).out.contains("1 lines lost"));
}

#[test]
fn a_fifo_or_a_link_in_place_of_the_files_holds_up_nothing() {
    let place = folder();
    let state = place.path().join("state");
    fs::create_dir(&state).expect("a folder");
    let day = axd_client::protocol::audit::day_of(
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs(),
    );
    let fifo = |name: String| {
        nix::unistd::mkfifo(&state.join(name), nix::sys::stat::Mode::S_IRWXU).expect("a fifo");
    };
    fifo(format!("audit.{day}.jsonl"));
    let victim = place.path().join("victim");
    std::os::unix::fs::symlink(&victim, state.join(format!("axd.{day}.log"))).expect("a link");
    let daemon = Setup::new().state(&state).start();
    let mut client = daemon.client();
    client.is_served();
    assert!(client.data("status", json!({}))["audit"]["fault"].is_string());
    assert!(!victim.exists());
}

#[test]
fn names_in_hello_are_short_and_printable() {
    let daemon = Daemon::start();
    let mut client = daemon.client();
    client.fails("INVALID_ARGS", "hello", json!({ "client": "x".repeat(257) }));
    client.fails("INVALID_ARGS", "hello", json!({ "client": "x", "agent": "a\u{1b}[1m" }));
    client.ok("hello", json!({ "client": "x".repeat(256) }));
}

#[test]
fn a_socket_file_that_was_removed_is_there_again() {
    let daemon = Daemon::start();
    let mut before = daemon.client();
    fs::remove_file(&daemon.socket).expect("ours");
    let begun = Instant::now();
    while !daemon.socket.exists() {
        assert!(begun.elapsed() < PATIENCE, "the socket did not come back");
        std::thread::yield_now();
    }
    before.is_served();
    Raw::connect(&daemon.socket).is_served();
    assert_eq!(fs::symlink_metadata(&daemon.socket).expect("a socket").mode() & 0o777, 0o600);
}

#[test]
fn a_broken_script_of_the_built_in_desktop_is_told_in_the_log() {
    let daemon = Setup::new().app("name = ").start();
    let log = String::from_utf8_lossy(&daemon.log()).into_owned();
    assert!(log.contains("0.toml"), "{log}");
}

/// A bus, or an X server, that is stopped: it has a socket, and never answers.
#[cfg(target_os = "linux")]
#[test]
fn a_desktop_that_does_not_answer_when_the_daemon_starts_is_told_within_seconds() {
    use std::process::{Command, Stdio};
    let place = folder();
    let bus = place.path().join("bus");
    let _stopped = std::os::unix::net::UnixListener::bind(&bus).expect("a socket");
    let child = Command::new(axd_tests::axd())
        .args(["--platform", "linux", "--socket"])
        .arg(place.path().join("run/axd.sock"))
        .arg("--state")
        .arg(place.path().join("state"))
        .env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", bus.display()))
        .env_remove("AT_SPI_BUS_ADDRESS")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("axd runs");
    let ran = Ran::of(child);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("does not answer within"), "{ran:?}");
}

/// The service manager's side of `Type=notify` and `WatchdogSec=`.
#[cfg(target_os = "linux")]
#[test]
fn a_daemon_that_works_tells_the_service_manager_and_a_stopped_one_does_not() {
    use nix::sys::signal::Signal;
    let place = folder();
    let path = place.path().join("notify");
    let manager = std::os::unix::net::UnixDatagram::bind(&path).expect("a socket");
    manager.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    let notify = path.to_str().expect("a path");
    let daemon = Setup::new().env("NOTIFY_SOCKET", notify).env("WATCHDOG_USEC", "300000").start();
    let mut message = [0; 64];
    let mut told =
        || manager.recv(&mut message).map(|length| String::from_utf8_lossy(&message[..length]).into_owned());
    assert_eq!(told().expect("it listens"), "READY=1");
    for _ in 0..3 {
        assert_eq!(told().expect("it works"), "WATCHDOG=1");
    }
    daemon.signal(Signal::SIGSTOP);
    // What was sent before it stopped may still be there; then nothing comes for longer than the limit.
    manager.set_read_timeout(Some(std::time::Duration::from_millis(900))).expect("a timeout");
    let after = std::iter::from_fn(|| told().ok()).take(5).count();
    assert!(after < 5, "it reports although it is stopped");
    daemon.signal(Signal::SIGCONT);
    manager.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    assert_eq!(told().expect("it works again"), "WATCHDOG=1");
}

#[test]
fn an_action_that_is_cancelled_before_anything_was_sent_leaves_a_line_too() {
    let daemon = Daemon::start();
    let (mut holder, mut client) = (daemon.client(), daemon.client());
    holder.ok("key-down", json!({ "combo": "shift" }));
    let waiting = client.begin("press", json!({ "combo": "x" }));
    // It waits until the key is released, and is not polled again before that.
    let mut other = daemon.client();
    other.is_served();
    client.begin("cancel", json!({ "id": waiting }));
    let answers = [client.any_answer(), client.any_answer()];
    let cancelled = answers.iter().find(|answer| answer["id"] == waiting).expect("its answer");
    assert_eq!(cancelled["error"]["code"], "CANCELLED", "{cancelled}");
    let lines = lines_until(&daemon, "press");
    let line = lines.iter().find(|line| line["command"] == "press").expect("its line");
    assert_eq!((&line["error"], &line["delivery"]), (&json!("CANCELLED"), &json!("not_delivered")), "{line}");
}

#[test]
fn who_approved_is_told_whatever_was_approved() {
    let rule = "[[rule]]\nverdict = \"ask\"\ncommands = [\"close-app\", \"minimize\", \"clipboard-get\", \"click\"]\n";
    let mut policed = Policed::with(rule);
    let mut approver = policed.daemon.client();
    approver.ok("approvals", json!({}));
    for (command, args) in [
        ("clipboard-get", json!({})),
        ("minimize", json!({ "app": "Notes" })),
        ("click", json!({ "target": "button:7", "app": "Calculator" })),
        ("close-app", json!({ "app": "Notes", "force": true })),
    ] {
        let asking = policed.client.begin(command, args);
        let shown = approver.data("approvals", json!({ "wait_ms": 60_000 }))["approvals"][0].clone();
        assert_eq!(shown["command"], command);
        approver.ok("decide", json!({ "approval": shown["approval"], "verdict": "allow" }));
        let answer = policed.client.answer(asking);
        assert_eq!(answer["ok"], true, "{answer}");
        let lines = lines_until(&policed.daemon, command);
        let its: Vec<&Value> = lines.iter().filter(|line| line["command"] == command).collect();
        assert!(its.len() == 1 && its[0]["approved_by"].is_u64(), "{its:?}");
    }
}
