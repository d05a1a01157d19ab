//! `ax service` and auto-start by launchd, as they are run: against a stand-in `launchctl` that records what it is told,
//! remembers it, and runs what it was given to run. `AXD_START=launchd` has ax use it on any system.

mod fake;
mod home;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use axd_client::{Connection, RequestOptions};
use axd_protocol::Command as AxdCommand;
use axd_protocol::command::Shutdown;
use fake::Ran;
use home::{Home, flags, write_program};
use serde_json::{Value, json};

const SOCKET_OF_DAEMON: &str = "TEST_IS_AXD_AT";

/// What is loaded is a link `loaded-LABEL` to its file in the stand-in's folder; a file `running-LABEL` holds a pid. To
/// load starts what the file names, if it is to run from the start or auto-start waits for it.
///
/// It lets go of a label as launchd was measured to (macOS 26.5): `bootout` returns at once, the label is there for a while
/// (here: for two questions), and after that `bootstrap` is still refused (here: once), with 5. What is loaded again does not
/// start by itself. A file `at-once` makes it polite.
const LAUNCHCTL: &str = r#"#!/bin/sh
cd "$FOLDER" || exit 9
verb=$1
shift
label=${1##*/}
# One less in the file of this name; fails if there is none left.
countdown() {
  left=$(cat "$1" 2>/dev/null || echo 0)
  [ "$left" -gt 0 ] || return 1
  echo $((left - 1)) > "$1"
}
case $verb in
  print)
    if [ -e "leaving-$label" ] && ! countdown "questions-$label"; then rm "leaving-$label"; fi
    if [ ! -e "loaded-$label" ] && [ ! -h "leaving-$label" ]; then
      echo "Bad request."
      echo "Could not find service \"$label\" in domain for user gui: 501" >&2
      exit 113
    fi
    state="not running" pid=
    if [ -e "running-$label" ]; then state=running pid=$(cat "running-$label"); fi
    if [ -e scheduled ]; then state="spawn scheduled"; fi
    file=$(readlink "loaded-$label" || readlink "leaving-$label")
    printf '%s = {\n\tactive count = 1\n\tpath = %s\n\ttype = LaunchAgent\n\tstate = %s\n\n' "$1" "$file" "$state"
    if [ -n "$pid" ]; then printf '\tpid = %s\n' "$pid"; fi
    printf '\tlast exit code = %s\n}\n' "$(cat exit 2>/dev/null || echo '(never exited)')"
    exit ;;
  print-disabled)
    printf '\tdisabled services = {\n'
    if [ -e disabled ]; then printf '\t\t"%s" => disabled\n' "$(cat disabled)"; fi
    printf '\t}\n'
    exit ;;
  bootstrap)
    label=$(basename "$2" .plist)
    if [ -h "leaving-$label" ] || countdown "refusals-$label"; then
      echo "$verb" >> refused
      echo "Bootstrap failed: 5: Input/output error" >&2
      echo "Try re-running the command as root for richer errors." >&2
      exit 5
    fi ;;
esac
echo "$verb" "$@" | sed "s#gui/$(id -u)#gui#; s#$FOLDER/##g" >> log
if [ -e broken ]; then echo "Bootstrap failed: 125: Domain does not support specified action" >&2; exit 125; fi
case $verb in
  bootstrap)
    if [ "$(cat disabled 2>/dev/null)" = "$label" ]; then echo "Bootstrap failed: 5: Input/output error" >&2; exit 5; fi
    if [ -e "loaded-$label" ]; then echo "Bootstrap failed: 37: Operation already in progress" >&2; exit 37; fi
    ln -s "$2" "loaded-$label"
    if [ -x daemon ]; then
      socket=$(sed -n '/SockPathName/{n;s/.*<string>\(.*\)<\/string>/\1/p;}' "$2")
      TEST_IS_AXD_AT=$socket ./daemon > daemon.out 2>&1 &
      echo $! > "running-$label"
      while [ ! -S "$socket" ] && [ ! -e ended ]; do :; done
    elif grep -A1 RunAtLoad "$2" | grep -q true && [ ! -e "known-$label" ]; then
      echo 1 > "running-$label"
    fi
    touch "known-$label" ;;
  kickstart)
    if [ -e "running-$label" ]; then echo "Could not kickstart service: 37: Operation already in progress" >&2; exit 37; fi
    echo 1 > "running-$label" ;;
  bootout)
    if [ ! -e at-once ]; then
      ln -s "$(readlink "loaded-$label")" "leaving-$label"
      echo 2 > "questions-$label"
      echo 1 > "refusals-$label"
    fi
    rm -f "loaded-$label" "running-$label" ;;
  enable) rm -f disabled ;;
esac
"#;

fn home() -> Home {
    let mut home = Home::new("launchd", ("launchctl", LAUNCHCTL));
    home.set("AXD_START", "launchd");
    home
}

/// The agent's file.
fn file(home: &Home) -> PathBuf {
    home.at("Library/LaunchAgents/dev.axd.axd.plist")
}

const BOOTSTRAP: &str = "bootstrap gui Library/LaunchAgents/dev.axd.axd.plist";
const KICKSTART: &str = "kickstart gui/dev.axd.axd";
const BOOTOUT: &str = "bootout gui/dev.axd.axd";

#[test]
fn a_service_is_installed_started_stopped_and_uninstalled_and_each_may_be_said_twice() {
    let home = home();
    assert_eq!(flags(&home.data("status")), [false, false, false, false]);
    for (line, expected_log, expected) in [
        ("install", &[BOOTSTRAP, KICKSTART][..], [true, true, true, false]),
        ("stop", &[BOOTOUT], [true, true, false, false]),
        ("start", &[BOOTSTRAP, KICKSTART], [true, true, true, false]),
        ("uninstall", &[BOOTOUT], [false, false, false, false]),
    ] {
        // The stand-in's process is a number that belongs to nobody who ends.
        let _ = fs::remove_file(home.at("running-dev.axd.axd"));
        assert_eq!(flags(&home.data(line)), expected, "{line}");
        assert_eq!(home.log(), expected_log, "{line}");
        let again = home.data(line);
        assert_eq!(flags(&again), expected, "{line} again");
        assert_eq!((again["steps"].clone(), home.log()), (Value::Null, vec![]), "{line} again");
    }
    assert!(!file(&home).exists());
}

#[test]
fn the_file_names_axd_as_it_was_found_and_the_folders_are_made() {
    let home = home();
    home.data("install --platform sim --socket-activation");
    let plist = plist::Value::from_file(file(&home)).unwrap().into_dictionary().unwrap();
    let words: Vec<&str> =
        plist["ProgramArguments"].as_array().unwrap().iter().map(|word| word.as_string().unwrap()).collect();
    assert_eq!(words, [home.at("bin/axd").to_str().unwrap(), "--platform", "sim"]);
    assert_eq!(plist["RunAtLoad"].as_boolean(), Some(false));
    let socket = plist["Sockets"].as_dictionary().unwrap()["axd"].as_dictionary().unwrap();
    let folder = Path::new(socket["SockPathName"].as_string().unwrap()).parent().unwrap();
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(Path::new(plist["StandardErrorPath"].as_string().unwrap()).parent().unwrap().is_dir());
    assert_eq!(file(&home).metadata().unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn an_agent_that_is_turned_off_is_turned_on_first() {
    let home = home();
    fs::write(home.at("disabled"), "dev.axd.axd").unwrap();
    home.data("install");
    assert_eq!(home.log(), ["enable gui/dev.axd.axd", BOOTSTRAP, KICKSTART]);
}

/// How often the stand-in refused to load a label that it had not let go of, since the last time this was asked.
fn refusals(home: &Home) -> usize {
    let refused = fs::read_to_string(home.at("refused")).unwrap_or_default();
    let _ = fs::remove_file(home.at("refused"));
    refused.lines().count()
}

#[test]
fn an_agent_that_launchd_has_not_let_go_of_yet_is_loaded_when_it_has() {
    let home = home();
    with_daemon(&home);
    // The usual first session: a command, which has launchd load an agent, then the service.
    assert_eq!(home.run("get x").code, Some(0));
    home.log();
    end(&home.at("run/axd/axd.sock"));
    let _ = fs::remove_file(home.at("run/axd/axd.sock"));
    let _ = fs::remove_file(home.at("daemon"));
    let _ = fs::remove_file(home.at("running-dev.axd.axd"));
    assert_eq!(flags(&home.data("install")), [true, true, true, false]);
    assert_eq!(home.log(), [BOOTOUT, BOOTSTRAP, KICKSTART]);
    assert_eq!(refusals(&home), 1, "only what cannot be known beforehand is tried in vain");
    assert!(!home.at("leaving-dev.axd.axd").exists());
}

#[test]
fn what_is_stopped_and_started_at_once_runs_though_launchd_does_not_start_it_by_itself() {
    let home = home();
    home.data("install");
    let _ = fs::remove_file(home.at("running-dev.axd.axd"));
    home.data("stop");
    let started = home.data("start");
    assert_eq!(flags(&started), [true, true, true, false], "{started}");
    assert!(home.at("running-dev.axd.axd").exists());
    assert_eq!(home.log(), [BOOTSTRAP, KICKSTART, BOOTOUT, BOOTSTRAP, KICKSTART]);
}

#[test]
fn a_start_that_launchd_delays_is_explained_on_a_terminal() {
    let home = home();
    // launchd listens, and starts the daemon when it will: here, when the user has been told that it takes a while.
    fs::create_dir_all(home.at("run/axd")).unwrap();
    let listener = UnixListener::bind(home.at("run/axd/axd.sock")).unwrap();
    let (was_told, await_told) = mpsc::channel();
    std::thread::spawn(move || {
        let stream = listener.accept().unwrap().0;
        let _ = await_told.recv_timeout(Duration::from_secs(20));
        answer(stream);
    });
    fs::write(home.at("other.plist"), "").unwrap();
    std::os::unix::fs::symlink(home.at("other.plist"), home.at("loaded-dev.axd.axd")).unwrap();
    fs::write(home.at("exit"), "0").unwrap();
    fs::write(home.at("scheduled"), "").unwrap();
    let terminal = nix::pty::openpty(None, None).unwrap();
    let mut child = home.ax("get x").stdout(Stdio::null()).stderr(terminal.slave).spawn().unwrap();
    let mut told = String::new();
    let _ = BufReader::new(fs::File::from(terminal.master)).read_line(&mut told);
    let _ = was_told.send(());
    assert_eq!(child.wait().unwrap().code(), Some(0), "{told}");
    assert!(told.contains("only 10 s after its last start"), "{told}");
}

#[test]
fn a_dry_run_says_the_steps_and_changes_nothing() {
    let home = home();
    let data = home.data("install --dry-run");
    let steps: Vec<&str> =
        data["steps"].as_array().unwrap().iter().map(|step| step.as_str().unwrap()).collect();
    assert!(
        steps[0].starts_with("create the folder ") && steps[3].starts_with("run launchctl bootstrap gui/"),
        "{steps:?}"
    );
    assert!(home.log().is_empty() && !home.at("Library").exists() && !home.at("run").exists());
}

#[test]
fn what_launchctl_says_when_it_fails_is_told_with_what_to_do() {
    let home = home();
    fs::write(home.at("broken"), "").unwrap();
    let error = home.error("install");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .ends_with("failed: Bootstrap failed: 125: Domain does not support specified action"),
        "{error}"
    );
    assert!(error["suggestion"].as_str().unwrap().contains("stderr.log"), "{error}");
    write_program(&home.at("bin/launchctl"), "#!/bin/sh\necho 'Could not find domain for' >&2\nexit 125\n");
    let error = home.error("status");
    assert_eq!(error["code"], "PLATFORM_NOT_SUPPORTED");
    assert!(error["suggestion"].as_str().unwrap().contains("logged in"), "{error}");
}

/// Has the stand-in run this very test as the daemon.
fn with_daemon(home: &Home) {
    let own = std::env::current_exe().unwrap();
    let script = format!(
        "#!/bin/sh\nexec '{}' --exact this_test_is_the_daemon_that_launchd_starts --nocapture\n",
        own.display()
    );
    write_program(&home.at("daemon"), &script);
}

fn end(socket: &Path) {
    if let Ok(mut connection) = Connection::open(socket) {
        let _ = connection.request(&AxdCommand::Shutdown(Shutdown {}), RequestOptions::any_protocol());
    }
}

#[test]
fn a_missing_daemon_is_started_by_launchd_once_a_session() {
    let home = home();
    with_daemon(&home);
    for _ in 0..2 {
        let ran = Ran::of(home.ax("get x").env("AXD_LOG", "debug").output().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    }
    assert_eq!(home.log(), ["bootstrap gui run/axd/dev.axd.axd.plist"]);
    let plist =
        plist::Value::from_file(home.at("run/axd/dev.axd.axd.plist")).unwrap().into_dictionary().unwrap();
    let words = plist["ProgramArguments"].as_array().unwrap();
    assert_eq!(words[1..], ["--idle-exit", "900"].map(plist::Value::from));
    assert_eq!(plist["EnvironmentVariables"].as_dictionary().unwrap()["AXD_LOG"].as_string(), Some("debug"));
    assert!(!file(&home).exists(), "nothing stays after the session");
    assert!(home.data("status")["notes"][0].as_str().unwrap().contains("for this session"));
    end(&home.at("run/axd/axd.sock"));
}

#[test]
fn another_socket_has_an_agent_of_its_own() {
    let home = home();
    with_daemon(&home);
    let socket = home.at("other/axd.sock");
    let ran = Ran::of(home.ax("get x").env("AXD_SOCKET", &socket).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let log = home.log();
    assert!(log[0].starts_with("bootstrap gui other/dev.axd.axd.") && log.len() == 1, "{log:?}");
    end(&socket);
}

#[test]
fn an_agent_whose_socket_is_gone_is_loaded_again() {
    let home = home();
    with_daemon(&home);
    // Loaded by another ax, from a file of this session; its socket was swept away since.
    fs::write(home.at("other.plist"), "").unwrap();
    std::os::unix::fs::symlink(home.at("other.plist"), home.at("loaded-dev.axd.axd")).unwrap();
    let ran = home.run("get x");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(home.log(), [BOOTOUT, "bootstrap gui run/axd/dev.axd.axd.plist"]);
    assert_eq!(refusals(&home), 1);
    end(&home.at("run/axd/axd.sock"));
}

#[test]
fn a_daemon_that_cannot_run_under_launchd_is_told_with_its_own_words() {
    let home = home();
    // It listens, as launchd does in the daemon's place, and never answers.
    // The socket has its name only once it listens.
    let script = "#!/usr/bin/env python3\nimport os, socket, time\ns = socket.socket(socket.AF_UNIX)\n\
                  at = os.environ['TEST_IS_AXD_AT']\ns.bind(at + '~')\ns.listen()\nos.rename(at + '~', at)\ntime.sleep(60)\n";
    write_program(&home.at("daemon"), script);
    fs::write(home.at("exit"), "1").unwrap();
    fs::create_dir_all(home.at("state/axd")).unwrap();
    fs::write(home.at("state/axd/stderr.log"), "axd: no display here\n").unwrap();
    let child = home.ax("get x").stdout(Stdio::piped()).spawn().unwrap();
    // launchd sees its process end.
    while !home.at("running-dev.axd.axd").exists() {
        std::thread::yield_now();
    }
    let pid = loop {
        let pid = fs::read_to_string(home.at("running-dev.axd.axd")).unwrap_or_default();
        if pid.ends_with('\n') && home.at("run/axd/axd.sock").exists() {
            break pid;
        }
    };
    fs::remove_file(home.at("running-dev.axd.axd")).unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    let _ = Command::new("kill").arg(pid.trim()).status();
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let message = ran.json()["error"]["message"].as_str().unwrap().to_owned();
    for said in ["it ended with 1", "axd: no display here", "launchctl print gui/"] {
        assert!(message.contains(said), "{said} in {message}");
    }
}

#[test]
fn without_a_graphical_session_auto_start_says_so() {
    let home = home();
    write_program(&home.at("bin/launchctl"), "#!/bin/sh\necho 'Could not find domain for' >&2\nexit 125\n");
    let ran = home.run("get x");
    assert_eq!(ran.code, Some(3));
    let message = &ran.json()["error"]["message"];
    assert!(message.as_str().unwrap().contains("no graphical session"), "{message}");
}

#[test]
fn this_test_is_the_daemon_that_launchd_starts() {
    let Ok(socket) = std::env::var(SOCKET_OF_DAEMON) else { return };
    let listener = UnixListener::bind(socket).unwrap();
    for stream in listener.incoming() {
        let stream = stream.unwrap();
        std::thread::spawn(move || answer(stream));
    }
}

fn answer(mut stream: UnixStream) {
    for line in BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok) {
        let request: Value = serde_json::from_str(&line).unwrap();
        let command = request["command"].as_str().unwrap();
        let checks = json!([{ "what": "accessibility", "verdict": "ok", "found": "told by the daemon" }]);
        let data =
            json!({ "pid": std::process::id(), "idle_exit_s": 900, "clients": [{}], "checks": checks });
        let _ =
            writeln!(stream, r#"{{"id":{},"ok":true,"command":"{command}","data":{data}}}"#, request["id"]);
        if command == "shutdown" {
            std::process::exit(0);
        }
    }
}

/// What `ax doctor` found of a thing.
fn found(ran: &Ran, what: &str) -> Option<String> {
    let checks = ran.json()["data"]["checks"].as_array().cloned().unwrap_or_default();
    checks.iter().find(|check| check["what"] == what).map(|check| check["found"].as_str().unwrap().to_owned())
}

#[test]
fn the_doctor_asks_the_daemon_that_launchd_starts() {
    let home = home();
    with_daemon(&home);
    let ran = home.run("doctor");
    assert_eq!((ran.code, found(&ran, "permissions")), (Some(0), None), "{ran:?}");
    assert_eq!(ran.json()["data"]["checks"][0]["found"], "told by the daemon");
    assert_eq!(home.log(), ["bootstrap gui run/axd/dev.axd.axd.plist"]);
    end(&home.at("run/axd/axd.sock"));
}

#[test]
fn a_doctor_without_a_daemon_says_whose_permissions_it_tells() {
    let home = home();
    let answer = r#"{"healthy":true,"checks":[{"what":"accessibility","verdict":"ok","found":"allowed"}]}"#;
    write_program(&home.at("bin/axd"), &format!("#!/bin/sh\necho '{answer}'\n"));
    let ran = home.run("doctor --no-autostart");
    assert_eq!((ran.code, found(&ran, "accessibility")), (Some(3), Some("allowed".to_owned())), "{ran:?}");
    assert!(found(&ran, "permissions").unwrap().contains("not of the daemon that launchd starts"), "{ran:?}");
    fs::write(home.at("broken"), "").unwrap();
    let ran = home.run("doctor");
    assert_eq!(ran.code, Some(3));
    assert!(found(&ran, "daemon").unwrap().contains("Bootstrap failed"), "{ran:?}");
    assert!(found(&ran, "permissions").is_some(), "{ran:?}");
}

/// Has axd.app in the user's folder of applications, and no `AXD_BIN`.
fn with_bundle(home: &Home) -> PathBuf {
    let program = home.at("Applications/axd.app/Contents/MacOS/axd");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    write_program(&program, "#!/bin/sh\n");
    program
}

#[test]
fn launchd_runs_the_program_in_the_bundle_and_the_user_is_told_to_allow_the_bundle() {
    let home = home();
    let program = with_bundle(&home);
    let install = home.ax("service install --socket-activation").env_remove("AXD_BIN").output().unwrap();
    let ran = Ran::of(install);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let plist = plist::Value::from_file(file(&home)).unwrap().into_dictionary().unwrap();
    assert_eq!(plist["ProgramArguments"].as_array().unwrap()[0].as_string(), program.to_str());
    let note = ran.json()["data"]["notes"][0].as_str().unwrap().to_owned();
    let bundle = home.at("Applications/axd.app");
    assert!(note.contains(&format!("allow {} in System Settings", bundle.display())), "{note}");
}

#[test]
fn a_program_that_is_in_no_bundle_is_said_not_to_be_listed_by_newer_systems() {
    let home = home();
    let note = home.data("install")["notes"][0].as_str().unwrap().to_owned();
    assert!(note.contains("bin/axd (not in axd.app") && note.contains("26.1"), "{note}");
}
