//! What another user of the machine, and a daemon that hangs, can do to `ax`: nothing is opened, followed or waited for that is not
//! ours, and every wait has an end.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use axd_tests::{Ax, Daemon, Ran, ax, axd, folder, is_root, skipped};
use nix::sys::signal::Signal;
use tempfile::TempDir;

/// A user that no account has, and who owns nothing.
const STRANGER: u32 = 61_234;
/// How long a call with a deadline of a second may take, on a busy machine too.
const SOON: Duration = Duration::from_secs(20);

/// A folder of another user, in which a daemon's socket would be.
struct Squatted(TempDir);

impl Squatted {
    fn new() -> Option<Squatted> {
        if !is_root() {
            skipped("only root can act as another user");
            return None;
        }
        let place = folder();
        fs::create_dir(place.path().join("axd-0")).expect("a folder");
        Some(Squatted(place))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("axd-0").join(name)
    }

    /// Hands the folder over, and runs `ax` with its socket in it.
    fn run(&self) -> Ran {
        fs::set_permissions(self.0.path(), Permissions::from_mode(0o755)).expect("ours");
        fs::set_permissions(self.path(""), Permissions::from_mode(0o777)).expect("ours");
        chown(self.path(""), Some(STRANGER), Some(STRANGER)).expect("root may");
        in_time(|| run_at(&self.path("axd.sock"), &axd()))
    }
}

fn run_at(socket: &Path, axd: &Path) -> Ran {
    Ax::new(&["version", "--json", "--deadline-ms", "1000"])
        .env("AXD_SOCKET", socket)
        .env("AXD_STATE", socket.with_file_name("state"))
        .env("AXD_BIN", axd)
        .env("AXD_PLATFORM", "sim")
        .run()
}

fn in_time(run: impl FnOnce() -> Ran) -> Ran {
    let begun = Instant::now();
    let ran = run();
    assert!(begun.elapsed() < SOON, "{ran:?}");
    ran
}

fn as_stranger(mut command: Command) -> Child {
    command.uid(STRANGER).gid(STRANGER).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("root may run programs as others")
}

#[test]
fn a_link_in_another_users_folder_is_not_followed() {
    let Some(place) = Squatted::new() else { return };
    let victim = place.0.path().join("must-not-be-created");
    symlink(&victim, place.path("start.lock")).expect("a link");
    let ran = place.run().exits(3);
    assert!(!victim.exists(), "{ran:?}");
    let message = ran.json()["error"]["message"].to_string();
    assert!(message.contains(&format!("belongs to user {STRANGER}")), "{message}");
}

#[test]
fn a_fifo_in_another_users_folder_is_not_waited_for() {
    let Some(place) = Squatted::new() else { return };
    let mode = nix::sys::stat::Mode::from_bits_truncate(0o666);
    nix::unistd::mkfifo(&place.path("start.lock"), mode).expect("a fifo");
    place.run().exits(3);
}

#[test]
fn a_lock_that_another_user_holds_is_not_waited_for() {
    let Some(place) = Squatted::new() else { return };
    fs::write(place.path("start.lock"), "").expect("a file");
    fs::set_permissions(place.path("start.lock"), Permissions::from_mode(0o666)).expect("ours");
    chown(place.path("start.lock"), Some(STRANGER), None).expect("root may");
    let held = File::open(place.path("start.lock")).expect("a file");
    held.lock().expect("nobody holds it");
    place.run().exits(3);
}

#[test]
fn another_user_is_refused_by_the_daemon_even_through_an_open_folder() {
    if !is_root() {
        return skipped("only root can act as another user");
    }
    let daemon = Daemon::start();
    // As if somebody had opened everything after the daemon had made it.
    fs::set_permissions(daemon.folder(), Permissions::from_mode(0o755)).expect("ours");
    fs::set_permissions(&daemon.socket, Permissions::from_mode(0o777)).expect("ours");
    let program = daemon.folder().join("ax");
    fs::copy(ax(), &program).expect("a copy where others can run it");
    let mut command = Command::new(program);
    command.args(["status", "--json", "--no-autostart"]).env("AXD_SOCKET", &daemon.socket);
    let ran = Ran::of(as_stranger(command));
    // The client refuses nobody's socket but that of another user; root's is accepted, and the daemon answers.
    let answer = ran.json();
    assert_eq!(answer["error"]["code"], "PERMISSION_DENIED", "{answer}");
    daemon.client().is_served();
}

/// A folder of our own, with a script for `axd` in it.
fn place_with_axd(script: &str) -> (TempDir, PathBuf) {
    let place = folder();
    let program = place.path().join("axd");
    fs::write(&program, script).expect("a script");
    fs::set_permissions(&program, Permissions::from_mode(0o700)).expect("ours");
    (place, program)
}

#[test]
fn the_deadline_covers_a_daemon_that_hangs_when_it_starts() {
    // It ends with its own standard input, which is /dev/null, were it not for the fifo that nobody writes to.
    let (place, program) = place_with_axd("#!/bin/sh\nexec cat \"$(dirname \"$0\")/never\"\n");
    let mode = nix::sys::stat::Mode::S_IRWXU;
    nix::unistd::mkfifo(&place.path().join("never"), mode).expect("a fifo");
    let ran = in_time(|| run_at(&place.path().join("run/axd.sock"), &program)).exits(3);
    let error = &ran.json()["error"];
    assert_eq!(error["code"], "TIMEOUT", "{error}");
    assert!(error["message"].as_str().is_some_and(|said| said.contains("not ready yet")), "{error}");
    // Whoever reads the fifo ends when it has had a writer.
    drop(fs::OpenOptions::new().write(true).open(place.path().join("never")));
}

#[test]
fn the_deadline_covers_a_start_lock_that_a_hung_ax_holds() {
    let place = folder();
    fs::create_dir(place.path().join("run")).expect("a folder");
    let held = File::create(place.path().join("run/start.lock")).expect("a file");
    held.lock().expect("nobody holds it");
    let ran = in_time(|| run_at(&place.path().join("run/axd.sock"), &axd())).exits(3);
    let error = &ran.json()["error"];
    assert_eq!(error["code"], "TIMEOUT", "{error}");
    assert!(error["message"].as_str().is_some_and(|said| said.contains("start.lock")), "{error}");
}

#[test]
fn a_stopped_daemon_is_not_waited_for_for_ever_and_the_error_says_what_to_do() {
    let mut daemon = Daemon::start();
    daemon.client().is_served();
    daemon.signal(Signal::SIGSTOP);
    let asked: Vec<Child> = [["status", "--json"], ["shutdown", "--json"], ["watch", "--json"]]
        .iter()
        .map(|words| daemon.ax(words).spawn())
        .collect();
    for ran in asked.into_iter().map(Ran::of) {
        let error = &ran.json()["error"];
        assert_eq!(error["code"], "TIMEOUT", "{error}");
        let suggestion = error["suggestion"].as_str().expect("it has one");
        assert!(suggestion.contains(&format!("kill -9 {}", daemon.pid())), "{suggestion}");
    }
    // Nothing that was sent is lost: it ends as it was told to when it goes on.
    daemon.signal(Signal::SIGCONT);
    assert_eq!(daemon.exit().code(), Some(0));
}

#[test]
fn a_request_that_takes_long_is_waited_for_while_the_daemon_answers_others() {
    let daemon = Daemon::start();
    // Longer than the silence after which the daemon is asked whether it is there.
    daemon.ax(&["wait", "6000", "--json"]).run().exits(0);
}
