//! How the daemon comes and goes: started by twenty clients at once, killed, told to stop in the middle of its work,
//! left alone, and short of disk.

use std::collections::HashSet;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

use axd_tests::{Ax, Daemon, Ran, Raw, Setup, apps, ax, axd, folder, is_root, skipped};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder in which `ax` starts daemons by itself. What it started is stopped when this is dropped.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(folder())
    }

    fn socket(&self) -> std::path::PathBuf {
        self.0.path().join("run/axd.sock")
    }

    fn ax(&self, words: &[&str]) -> Ax {
        Ax::new(words)
            .env("AXD_SOCKET", self.socket())
            .env("AXD_STATE", self.0.path().join("state"))
            .env("AXD_BIN", axd())
            .env("AXD_PLATFORM", "sim")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = axd_client::stop(&self.socket());
    }
}

fn pid(status: &Value) -> i32 {
    status["data"]["pid"].as_i64().unwrap_or_else(|| panic!("{status}")) as i32
}

#[test]
fn twenty_clients_at_once_start_one_daemon_and_all_are_answered() {
    let place = Place::new();
    let clients: Vec<_> = (0..20).map(|_| place.ax(&["status", "--json"]).spawn()).collect();
    let pids: HashSet<i32> = clients.into_iter().map(|ax| pid(&Ran::of(ax).exits(0).json())).collect();
    assert_eq!(pids.len(), 1, "{pids:?}");
}

#[test]
fn a_daemon_that_ax_started_says_that_it_will_go_by_itself() {
    let place = Place::new();
    let status = place.ax(&["status", "--json"]).run().exits(0).json();
    assert_eq!((&status["platform"], &status["data"]["idle_exit_s"]), (&json!("sim"), &json!(900)));
}

#[test]
fn after_a_daemon_was_killed_the_next_ax_starts_another() {
    let place = Place::new();
    let first = pid(&place.ax(&["status", "--json"]).run().exits(0).json());
    // The client that waits for its end learns of it by the end of its connection.
    let mut witness = Raw::connect(&place.socket());
    kill(Pid::from_raw(first), Signal::SIGKILL).expect("it runs");
    assert_eq!(witness.line(), None);
    assert!(place.socket().exists(), "a killed daemon leaves its socket");
    // Its connections may be closed a moment before what it listens on.
    while UnixStream::connect(place.socket()).is_ok() {}
    let second = pid(&place.ax(&["status", "--json"]).run().exits(0).json());
    assert_ne!(first, second);
}

#[test]
fn asking_again_right_after_stopping_is_always_answered() {
    let place = Place::new();
    for _ in 0..5 {
        place.ax(&["status"]).run().exits(0);
        // One that is on its way out may have answered just now; then there is none left to stop.
        let stopped = place.ax(&["shutdown"]).run();
        assert!([0, 3].contains(&stopped.code), "{stopped:?}");
    }
}

#[test]
fn to_stop_what_does_not_run_starts_nothing() {
    let place = Place::new();
    place.ax(&["shutdown"]).run().exits(3);
    assert!(!place.socket().exists());
}

#[test]
fn a_signal_stops_the_daemon_in_good_order() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut daemon = Daemon::start();
        let mut client = daemon.client();
        client.ok("subscribe", json!({ "app": "Notes" }));
        daemon.signal(signal);
        assert_eq!(client.event_where(|event| event["event"] == "end")["cause"], "shutdown");
        assert_eq!(client.line(), None);
        assert_eq!(daemon.exit().code(), Some(0), "{signal}");
        assert!(!daemon.socket.exists());
    }
}

#[test]
fn what_is_in_flight_when_the_daemon_stops_is_answered() {
    let mut daemon = Setup::new().app(apps::long_list("Slow", 2_000)).start();
    let (mut waiting, mut stopping) = (daemon.client(), daemon.client());
    stopping.sim("Slow", &["fault", "slow", "60"]);
    // Two calls of 60 ms and more: the first walk is under way when the daemon is told to stop.
    let walk = waiting.begin("attach", json!({ "app": "Slow" }));
    let quick = waiting.begin("version", json!({}));
    assert_eq!(waiting.any_answer()["id"], quick);
    stopping.ok("shutdown", json!({}));
    let answer = waiting.answer(walk);
    if answer["ok"] == false {
        assert_eq!(answer["error"]["code"], "CANCELLED", "{answer}");
    }
    assert_eq!(waiting.line(), None);
    assert_eq!(daemon.exit().code(), Some(0));
    assert!(!daemon.socket.exists());
}

#[test]
fn what_cannot_be_finished_is_cancelled_when_the_daemon_stops() {
    let mut daemon = Daemon::start();
    let (mut waiting, mut stopping) = (daemon.client(), daemon.client());
    stopping.sim("Notes", &["fault", "hang"]);
    let walk = waiting.begin_within("attach", json!({ "app": "Notes" }), Some(60_000));
    waiting.begin("version", json!({}));
    waiting.any_answer();
    stopping.ok("shutdown", json!({}));
    waiting.fails_later("CANCELLED", walk);
    assert_eq!(daemon.exit().code(), Some(0));
}

#[test]
fn requests_sent_before_the_daemon_was_told_to_stop_are_all_answered() {
    let mut daemon = Daemon::start();
    let mut client = daemon.client();
    client.is_served();
    let get = r#"{"command":"get","args":{"target":"button:7","app":"Calculator"}}"#;
    let lines: Vec<String> = (0..300).map(|id| get.replacen('{', &format!("{{\"id\":{id},"), 1)).collect();
    client.send(format!("{}\n{{\"id\":\"end\",\"command\":\"shutdown\"}}\n", lines.join("\n")));
    for id in 0..300 {
        assert_eq!(client.answer(id)["ok"], true);
    }
    assert_eq!(client.any_answer()["id"], "end");
    assert_eq!(client.line(), None);
    assert_eq!(daemon.exit().code(), Some(0));
}

#[test]
fn a_daemon_that_nobody_needs_goes_and_one_that_somebody_holds_stays() {
    let mut daemon = Setup::new().args(&["--idle-exit", "1"]).start();
    let mut client = daemon.client();
    assert_eq!(client.data("status", json!({}))["idle_exit_s"], 1);
    client.ok("subscribe", json!({ "app": "Calculator" }));
    // An app that was told to do something a second and a half ago has done it: the daemon outlived its idle time.
    client.sim("Settings", &["press", "tab-advanced"]);
    client.ok("attach", json!({ "app": "Settings" }));
    client.ok("subscribe", json!({ "app": "Settings", "kind": ["announcement"] }));
    for _ in 0..4 {
        client.sim("Settings", &["press", "update"]);
        client.event_where(|event| event["event"] == "announcement");
    }
    client.is_served();
    drop(client);
    assert_eq!(daemon.exit().code(), Some(0));
    assert!(!daemon.socket.exists());
}

/// A disk of its own of which nothing is left.
struct FullDisk(TempDir);

impl FullDisk {
    #[cfg(not(target_os = "linux"))]
    fn new() -> Option<FullDisk> {
        None
    }

    #[cfg(target_os = "linux")]
    fn new() -> Option<FullDisk> {
        use nix::mount::{MsFlags, mount};
        let disk = FullDisk(folder());
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("tmpfs"), disk.0.path(), Some("tmpfs"), flags, Some("size=16k,mode=700")).ok()?;
        let filling = std::fs::write(disk.path().join("filling"), vec![b'x'; 64 * 1024]);
        assert!(filling.is_err(), "the disk is not as small as was asked for");
        Some(disk)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        #[cfg(target_os = "linux")]
        let _ = nix::mount::umount2(self.path(), nix::mount::MntFlags::MNT_DETACH);
    }
}

#[test]
fn a_full_disk_stops_the_log_and_nothing_else() {
    let disk = if is_root() { FullDisk::new() } else { None };
    let Some(disk) = disk else {
        return skipped("a disk of its own takes Linux, root and the right to mount");
    };
    for state in [disk.path().to_owned(), disk.path().join("state")] {
        let mut daemon = Setup::new().state(&state).start();
        let mut client = daemon.client();
        for _ in 0..50 {
            client.is_served();
        }
        client.sim("Calculator", &["press", "seven"]);
        client.ok("shutdown", json!({}));
        assert_eq!(daemon.exit().code(), Some(0));
    }
}

#[test]
fn a_state_folder_that_cannot_be_made_does_not_stop_the_daemon() {
    let place = folder();
    let file = place.path().join("file");
    std::fs::write(&file, "").expect("a file");
    let daemon = Setup::new().state(&file.join("state")).start();
    let mut client = daemon.client();
    client.is_served();
    assert_eq!(client.data("status", json!({}))["log"], Value::Null);
    let said = String::from_utf8_lossy(&daemon.log()).into_owned();
    assert!(said.contains("cannot log to the state folder"), "{said}");
}

#[test]
fn an_ax_whose_reader_has_seen_enough_ends_well() {
    let daemon = Daemon::start();
    let line = format!("'{}' snapshot --app Table --json | head -c 10", ax().display());
    let ran =
        Command::new("bash").args(["-o", "pipefail", "-c", &line]).env("AXD_SOCKET", &daemon.socket).output();
    let ran = ran.expect("a shell");
    assert_eq!((ran.status.code(), ran.stdout.len()), (Some(0), 10), "{ran:?}");
}
