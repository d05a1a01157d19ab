//! Starting the daemon: the real `ax`, and a stand-in for `axd` that is this very test binary.

mod fake;

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::os::fd::FromRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use axd_client::{Connection, RequestOptions};
use axd_protocol::Command as AxdCommand;
use axd_protocol::command::Shutdown;
use fake::{Ran, Running, ax};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

const AS_AXD: &str = "TEST_IS_AXD_WITH";
/// A command that the stand-in does not answer.
const SILENT_TO: &str = "TEST_AXD_IS_SILENT_TO";

/// A folder with a stand-in `axd` in it, and a socket that nobody serves yet.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let own = std::env::current_exe().unwrap();
        let script = format!(
            "#!/bin/sh\n{AS_AXD}=\"$*\" exec '{}' --exact this_test_is_the_daemon_when_a_client_starts_it --nocapture\n",
            own.display()
        );
        let place = Place { folder };
        std::fs::write(place.axd(), script).unwrap();
        std::fs::set_permissions(place.axd(), PermissionsExt::from_mode(0o700)).unwrap();
        place
    }

    fn axd(&self) -> PathBuf {
        self.folder.path().join("axd")
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("run/axd.sock")
    }

    fn ax(&self, line: &str) -> Command {
        let mut command = ax(line);
        command.env("AXD_SOCKET", self.socket()).env("AXD_BIN", self.axd()).stdin(Stdio::null());
        command
    }

    fn run(&self, line: &str) -> Ran {
        Ran::of(self.ax(line).output().unwrap())
    }

    /// The arguments of every daemon that was started.
    fn starts(&self) -> Vec<String> {
        let log = std::fs::read_to_string(self.folder.path().join("run/starts")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Ok(mut connection) = Connection::open(&self.socket()) {
            let _ = connection.request(&AxdCommand::Shutdown(Shutdown {}), RequestOptions::any_protocol());
        }
    }
}

fn pid_of(ran: &Ran) -> i32 {
    ran.json()["data"]["pid"].as_i64().unwrap_or_else(|| panic!("{ran:?}")) as i32
}

#[test]
fn a_missing_daemon_is_started_once_and_stays() {
    let place = Place::new();
    let first = place.run("get x --platform sim");
    assert_eq!((first.code, first.err.as_str()), (Some(0), ""), "{first:?}");
    assert_eq!(pid_of(&first), pid_of(&place.run("get x")));
    let starts = place.starts();
    assert_eq!(starts.len(), 1);
    let socket = place.socket();
    assert!(
        starts[0].starts_with(&format!("--socket {} --idle-exit 900 --ready-fd ", socket.display())),
        "{starts:?}"
    );
    assert!(starts[0].ends_with(" --platform sim"), "{starts:?}");
    assert_eq!(socket.parent().unwrap().metadata().unwrap().mode() & 0o777, 0o700);
}

#[test]
fn twenty_clients_at_once_end_up_with_one_daemon() {
    let place = Place::new();
    let clients: Vec<_> = (0..20)
        .map(|_| place.ax("get x").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
        .collect();
    let pids: std::collections::HashSet<i32> =
        clients.into_iter().map(|client| pid_of(&Ran::of(client.wait_with_output().unwrap()))).collect();
    assert_eq!(pids.len(), 1);
    assert_eq!(place.starts().len(), 1);
}

#[test]
fn a_killed_daemon_leaves_its_socket_and_is_replaced() {
    let place = Place::new();
    let first = pid_of(&place.run("get x"));
    kill(Pid::from_raw(first), Signal::SIGKILL).unwrap();
    while UnixStream::connect(place.socket()).is_ok() {
        std::thread::yield_now();
    }
    assert!(place.socket().exists());
    assert_ne!(pid_of(&place.run("get x")), first);
    assert_eq!(place.starts().len(), 2);
}

#[test]
fn a_daemon_that_cannot_serve_says_why_and_ax_exits_3() {
    let place = Place::new();
    let script = "#!/bin/sh\nwhile [ \"$1\" != --ready-fd ]; do shift; done\n\
                  eval \"echo 'error PLATFORM_NOT_SUPPORTED no display here' >&$2\"\nexit 1\n";
    std::fs::write(place.axd(), script).unwrap();
    let ran = place.run("get x");
    assert_eq!((ran.code, ran.err.as_str()), (Some(3), ""));
    let error = &ran.json()["error"];
    assert_eq!(error["code"], "DAEMON_UNAVAILABLE");
    assert_eq!(error["message"], "axd could not start: no display here");
    assert!(
        error["suggestion"].as_str().unwrap().contains("ax doctor"),
        "the suggestion of the daemon's code"
    );
    let ran = place.run("get x --text");
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.starts_with("error: axd could not start: no display here\n"), "{ran:?}");
}

#[test]
fn a_daemon_that_dies_or_does_not_exist_is_told_as_such() {
    let place = Place::new();
    for (axd, said) in [("/bin/false", "exit status: 1"), ("/no/such/axd", "cannot run /no/such/axd")] {
        let ran = Ran::of(place.ax("get x").env("AXD_BIN", axd).output().unwrap());
        assert_eq!(ran.code, Some(3));
        assert!(ran.json()["error"]["message"].as_str().unwrap().contains(said), "{ran:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_daemon_is_in_a_session_of_its_own_and_holds_none_of_its_starters_files() {
    let place = Place::new();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = place.ax("get x");
    // A file that `ax` inherits, and would pass on.
    let inherited = std::os::fd::AsRawFd::as_raw_fd(&writer);
    // SAFETY: a system call on a file that is open in the child as it is here.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(&mut command, move || {
            nix::libc::fcntl(inherited, nix::libc::F_SETFD, 0);
            Ok(())
        });
    }
    let pid = pid_of(&Ran::of(command.output().unwrap()));
    let pipe =
        std::fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader))).unwrap();
    let held = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let held: Vec<PathBuf> = held.map(|file| std::fs::read_link(file.unwrap().path()).unwrap()).collect();
    assert!(!held.contains(&pipe), "{held:?}");
    assert_eq!(nix::unistd::getsid(Some(Pid::from_raw(pid))).unwrap(), Pid::from_raw(pid));
    assert_eq!(std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap(), Path::new("/"));
}

#[test]
fn an_idle_daemon_of_another_major_that_was_auto_started_is_replaced() {
    for line in ["get x", "watch", "watch --text"] {
        let place = Place::new();
        std::fs::create_dir(place.folder.path().join("run")).unwrap();
        File::create(place.folder.path().join("run/old")).unwrap();
        let old = pid_of(&place.run("status"));
        let mut running = Running::start(place.ax(line));
        let first = running.hear();
        assert!(!first.contains("PROTOCOL_MISMATCH") && !first.is_empty(), "{line}: {first}");
        assert_ne!(pid_of(&place.run("status")), old, "{line}");
        assert_eq!(place.starts().len(), 2, "{line}");
        drop(place);
        running.code();
    }
}

#[test]
fn a_daemon_on_its_way_out_is_waited_for() {
    let place = Place::new();
    let run = place.folder.path().join("run");
    std::fs::create_dir(&run).unwrap();
    let last = File::create(run.join("axd.lock")).unwrap();
    last.lock().unwrap();
    let client = place.ax("get x").stdout(Stdio::piped()).spawn().unwrap();
    while place.starts().is_empty() {
        std::thread::yield_now();
    }
    drop(last);
    let output = client.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

#[test]
fn the_tour_shows_what_it_runs_and_leaves_nothing_behind() {
    let place = Place::new();
    let temporary = place.folder.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let ran = Ran::of(place.ax("demo").env("TMPDIR", &temporary).output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    for shown in [
        "$ ax list-apps\nlist-apps rendered\n",
        "$ ax find button:7 --app Calculator --first\n",
        "$ ax watch --app Calculator &\n",
        "$ ax sim Calculator press seven\n",
        "Notes  ~ textfield \"Body\" value = \"pushed\" txt_000000\n",
        "$ ax changes --since c:00000001:5 --app Calculator\n",
        " µs",
    ] {
        assert!(ran.out.contains(shown), "{shown:?} in {}", ran.out);
    }
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
    assert!(place.starts().is_empty(), "the tour has a daemon of its own");
}

#[test]
fn an_interrupted_tour_leaves_nothing_behind() {
    let place = Place::new();
    let temporary = place.folder.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = place.ax("demo");
    command.env("TMPDIR", &temporary).env(SILENT_TO, "status");
    let mut running = Running::start(command);
    while running.hear() != "$ ax status" {}
    kill(Pid::from_raw(running.child.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(running.code(), Some(130));
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn a_tour_that_cannot_begin_leaves_nothing_behind() {
    let place = Place::new();
    let ran = Ran::of(
        place
            .ax("demo --text")
            .env("TMPDIR", place.folder.path())
            .env("AXD_BIN", "/bin/false")
            .output()
            .unwrap(),
    );
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.contains("it ended before it was ready"), "{ran:?}");
    assert!(std::fs::read_dir(place.folder.path()).unwrap().all(|entry| entry.unwrap().file_name() == "axd"));
}

#[test]
fn this_test_is_the_daemon_when_a_client_starts_it() {
    let Ok(args) = std::env::var(AS_AXD) else { return };
    let words: Vec<&str> = args.split(' ').collect();
    let after = |flag: &str| words[words.iter().position(|word| *word == flag).unwrap() + 1];
    let socket = Path::new(after("--socket"));
    let run = socket.parent().unwrap();
    let mut starts = OpenOptions::new().create(true).append(true).open(run.join("starts")).unwrap();
    writeln!(starts, "{args}").unwrap();
    let lock = File::create(run.join("axd.lock")).unwrap();
    if lock.try_lock().is_err() {
        std::process::exit(75);
    }
    let is_old = std::fs::remove_file(run.join("old")).is_ok();
    let _ = std::fs::remove_file(socket);
    let listener = UnixListener::bind(socket).unwrap();
    // SAFETY: the descriptor was passed to this process, which has no other use for it.
    let mut ready = unsafe { File::from_raw_fd(after("--ready-fd").parse().unwrap()) };
    writeln!(ready, "ready {} {}", std::process::id(), socket.display()).unwrap();
    drop(ready);
    for stream in listener.incoming() {
        let stream = stream.unwrap();
        let socket = socket.to_owned();
        std::thread::spawn(move || stand_in(stream, is_old, &socket));
    }
}

/// Who is told when something is done to an app.
static SUBSCRIBER: Mutex<Option<UnixStream>> = Mutex::new(None);

fn stand_in(mut stream: UnixStream, is_old: bool, socket: &Path) {
    for line in BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok) {
        let request: Value = serde_json::from_str(&line).unwrap();
        let (id, command) = (&request["id"], request["command"].as_str().unwrap());
        if std::env::var(SILENT_TO).is_ok_and(|silent| silent == command) {
            continue;
        }
        let mut answer = if is_old && !request["protocol"].is_null() {
            let error = axd_protocol::Error::new(axd_protocol::ErrorCode::ProtocolMismatch, "another major");
            format!(r#"{{"id":{id},"ok":false,"command":"{command}","error":{}}}"#, json!(error))
        } else {
            // Enough for every answer that a client here reads.
            let data = json!({
                "pid": std::process::id(), "idle_exit_s": 900, "clients": [{}], "sub": 3, "complete": true, "count": 0,
            });
            format!(
                r#"{{"id":{id},"ok":true,"command":"{command}","clock":"c:00000001:5","data":{data},"text":"{command} rendered"}}"#
            )
        };
        answer.push('\n');
        if command == "subscribe" {
            answer.push_str(&format!("{}\n", fake::fresh(3)));
            *SUBSCRIBER.lock().unwrap() = Some(stream.try_clone().unwrap());
        }
        if command == "shutdown" {
            let _ = std::fs::remove_file(socket);
        }
        let _ = stream.write_all(answer.as_bytes());
        match (command, SUBSCRIBER.lock().unwrap().as_mut()) {
            ("sim", Some(subscriber)) => writeln!(subscriber, "{}", fake::changed(3, "pushed")).unwrap(),
            ("shutdown", _) => std::process::exit(0),
            _ => {}
        }
    }
}
