//! `ax service` as it is run, against a stand-in `systemctl` that records what it is told and remembers it; and the
//! units it writes, read by the real systemd where there is one.
#![cfg(target_os = "linux")]

mod fake;
mod home;

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;

use fake::{Fake, Ran};
use home::{Home, flags, write_program};
use serde_json::Value;

/// Answers `show` from what it remembers: a file `enabled-UNIT` or `active-UNIT` in its folder means yes.
const SYSTEMCTL: &str = r#"#!/bin/sh
cd "$FOLDER" || exit 9
[ "$1" = --user ] || exit 9
shift
verb=$1
shift
if [ "$verb" = show ]; then
  for unit in axd.service axd.socket graphical-session.target; do
    load=not-found active=inactive enabled= fragment= pid=0
    if [ -e "$UNITS/$unit" ]; then load=loaded enabled=disabled fragment=$UNITS/$unit; fi
    if [ -e "enabled-$unit" ]; then enabled=enabled; fi
    if [ -e "active-$unit" ]; then active=active pid=77; fi
    printf 'Id=%s\nLoadState=%s\nActiveState=%s\nUnitFileState=%s\nFragmentPath=%s\nMainPID=%s\nNeedDaemonReload=no\n\n' \
      "$unit" "$load" "$active" "$enabled" "$fragment" "$pid"
  done
  exit
fi
echo "$verb" "$@" >> log
if [ -e broken ]; then echo "Job for axd.service failed." >&2; exit 1; fi
now=no
for unit; do
  if [ "$unit" = --now ]; then now=yes; continue; fi
  case $verb in
    enable) : > "enabled-$unit"; if [ $now = yes ]; then : > "active-$unit"; fi ;;
    disable) rm -f "enabled-$unit"; if [ $now = yes ]; then rm -f "active-$unit"; fi ;;
    start|restart) : > "active-$unit" ;;
    stop) rm -f "active-$unit" ;;
  esac
done
"#;

fn home() -> Home {
    let mut home = Home::new("systemd", ("systemctl", SYSTEMCTL));
    home.set("UNITS", home.at("config/systemd/user"));
    fs::create_dir(home.at("run")).unwrap();
    fs::write(home.at("active-graphical-session.target"), "").unwrap();
    home
}

fn unit(home: &Home, name: &str) -> PathBuf {
    home.at("config/systemd/user").join(name)
}

#[test]
fn a_service_is_installed_started_stopped_and_uninstalled_and_each_may_be_said_twice() {
    let home = home();
    assert_eq!(flags(&home.data("status")), [false, false, false, false]);
    for (line, expected_log, expected) in [
        ("install", vec!["daemon-reload", "enable --now axd.service"], [true, true, true, false]),
        ("stop", vec!["stop axd.service"], [true, true, false, false]),
        ("start", vec!["start axd.service"], [true, true, true, false]),
        ("uninstall", vec!["disable --now axd.service", "daemon-reload"], [false, false, false, false]),
    ] {
        if line != "install" {
            assert!(unit(&home, "axd.service").exists(), "{line}");
        }
        assert_eq!(flags(&home.data(line)), expected, "{line}");
        assert_eq!(home.log(), expected_log, "{line}");
        let again = home.data(line);
        assert_eq!(flags(&again), expected, "{line} again");
        assert_eq!((again["steps"].clone(), home.log()), (Value::Null, vec![]), "{line} again");
    }
    assert!(!unit(&home, "axd.service").exists());
}

#[test]
fn the_unit_file_names_axd_as_it_was_found_and_is_readable_by_all() {
    let home = home();
    let data = home.data("install --platform sim");
    let unit = unit(&home, "axd.service");
    assert_eq!(data["service"]["unit"], unit.display().to_string());
    assert_eq!(unit.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    let axd = home.at("bin/axd").display().to_string().replace('%', "%%");
    let line = format!("\nExecStart=\"{axd}\" --platform \"sim\"\n");
    assert!(fs::read_to_string(&unit).unwrap().contains(&line), "{line}");
}

#[test]
fn a_changed_unit_is_written_anew_and_the_daemon_restarted() {
    let home = home();
    home.data("install");
    home.log();
    home.data("install --platform sim");
    assert_eq!(home.log(), ["daemon-reload", "enable --now axd.service", "restart axd.service"]);
}

#[test]
fn with_socket_activation_the_socket_is_enabled_and_the_last_install_wins() {
    let home = home();
    assert_eq!(flags(&home.data("install --socket-activation")), [true, true, false, true]);
    assert_eq!(home.log(), ["daemon-reload", "enable --now axd.socket"]);
    assert!(
        fs::read_to_string(unit(&home, "axd.socket")).unwrap().contains("ListenStream=%t/axd/axd.sock\n")
    );
    assert_eq!(flags(&home.data("start")), [true, true, true, true]);
    assert_eq!(home.log(), ["start axd.socket axd.service"]);
    assert_eq!(flags(&home.data("install")), [true, true, true, false]);
    assert!(!unit(&home, "axd.socket").exists());
    home.data("install --socket-activation");
    home.log();
    home.data("uninstall");
    assert_eq!(home.log(), ["disable --now axd.socket axd.service", "daemon-reload"]);
    assert_eq!(fs::read_dir(home.at("config/systemd/user")).unwrap().count(), 0);
}

#[test]
fn a_dry_run_says_the_steps_and_changes_nothing() {
    let home = home();
    let data = home.data("install --dry-run --socket-activation");
    let steps: Vec<&str> =
        data["steps"].as_array().unwrap().iter().map(|step| step.as_str().unwrap()).collect();
    assert!(steps[0].starts_with("write ") && steps[0].ends_with("systemd/user/axd.service"), "{steps:?}");
    assert_eq!(
        steps[2..],
        ["run systemctl --user daemon-reload", "run systemctl --user enable --now axd.socket"]
    );
    assert_eq!(data["dry_run"], true);
    assert_eq!(home.log(), Vec::<String>::new());
    assert!(!home.at("config").exists());
    let text = home.run("service install --dry-run --text").out;
    assert!(text.ends_with("would run systemctl --user enable --now axd.service\nnote: not installed; `ax service install` installs it. Until then, ax starts axd when needed\n"), "{text}");
    home.data("install");
    home.log();
    home.data("uninstall --dry-run");
    assert!(unit(&home, "axd.service").exists() && home.log().is_empty());
}

#[test]
fn an_axd_in_a_build_folder_is_refused_unless_forced() {
    let home = home();
    let built = home.at("target/release/axd");
    fs::create_dir_all(built.parent().unwrap()).unwrap();
    write_program(&built, "#!/bin/sh\n");
    let ran = Ran::of(home.ax("service install").env("AXD_BIN", &built).output().unwrap());
    assert_eq!(ran.code, Some(1));
    let error = &ran.json()["error"];
    assert!(error["message"].as_str().unwrap().contains("build folder"), "{error}");
    assert!(error["suggestion"].as_str().unwrap().contains("install it first"), "{error}");
    assert!(!home.at("config").exists());
    let ran = Ran::of(home.ax("service install --force").env("AXD_BIN", &built).output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // The ax of this test is itself in a build folder, and there may be an axd beside it.
    let ran = Ran::of(home.ax("service print").env_remove("AXD_BIN").output().unwrap());
    assert!(ran.code == Some(0) || ran.out.contains("build folder"), "{ran:?}");
}

#[test]
fn print_shows_what_install_would_write_and_needs_no_systemd() {
    let home = home();
    fs::remove_file(home.at("bin/systemctl")).unwrap();
    let data = home.data("print --socket-activation");
    assert_eq!(data["files"].as_array().unwrap().len(), 2);
    write_program(&home.at("bin/systemctl"), SYSTEMCTL);
    home.data("install --socket-activation");
    for file in data["files"].as_array().unwrap() {
        let written = fs::read_to_string(file["path"].as_str().unwrap()).unwrap();
        assert_eq!(written, file["text"].as_str().unwrap());
    }
    let text = home.run("service print --text").out;
    assert!(text.starts_with("# ") && text.contains("\n[Service]\n"), "{text}");
}

#[test]
fn without_systemd_or_without_a_user_manager_it_says_what_to_do() {
    let home = home();
    let ran = Ran::of(home.ax("service status").env("PATH", home.at("empty")).output().unwrap());
    let error = &ran.json()["error"];
    assert_eq!((ran.code, &error["code"]), (Some(1), &"PLATFORM_NOT_SUPPORTED".into()));
    assert!(error["message"].as_str().unwrap().contains("systemctl not found"), "{error}");
    let no_bus = "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2\nexit 1\n";
    write_program(&home.at("bin/systemctl"), no_bus);
    for line in ["status", "install", "uninstall", "start", "stop"] {
        let error = home.error(line);
        assert_eq!(error["code"], "PLATFORM_NOT_SUPPORTED", "{line}");
        assert!(error["message"].as_str().unwrap().ends_with("No medium found"), "{error}");
        assert!(error["suggestion"].as_str().unwrap().contains("without sudo"), "{error}");
    }
    assert!(!home.at("config").exists());
    let ran = home.run("service status --text");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert!(ran.err.starts_with("error: the systemd user manager does not answer"), "{ran:?}");
}

#[test]
fn a_service_that_does_not_start_is_an_error_with_systemctls_words() {
    let home = home();
    let error = home.error("start");
    assert_eq!(
        (&error["code"], &error["retry_command"]),
        (&"ACTION_FAILED".into(), &"service install".into())
    );
    home.data("install");
    home.data("stop");
    fs::write(home.at("broken"), "").unwrap();
    let error = home.error("start");
    assert_eq!(error["code"], "ACTION_FAILED");
    assert!(error["message"].as_str().unwrap().ends_with("Job for axd.service failed."), "{error}");
    assert!(error["suggestion"].as_str().unwrap().contains("journalctl --user"), "{error}");
}

#[test]
fn a_daemon_that_ax_started_makes_room_and_any_other_is_named() {
    let home = home();
    let idle =
        r#"{"id":1,"ok":true,"command":"status","data":{"pid":4711,"idle_exit_s":900,"clients":[{}]}}"#;
    let daemon = Fake::saying(idle);
    let at = |daemon: &Fake, line: &str| {
        home.ax(&format!("service {line}")).arg("--socket").arg(daemon.socket()).output().unwrap()
    };
    let ran = Ran::of(at(&daemon, "install --dry-run"));
    assert_eq!(ran.json()["data"]["steps"][0], "stop the daemon that ax started (pid 4711)", "{ran:?}");
    let ran = Ran::of(at(&daemon, "install"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let asked: Vec<Value> = daemon.requests.try_iter().map(|request| request["command"].clone()).collect();
    assert_eq!(asked, ["status", "status", "shutdown"]);
    home.data("uninstall");
    home.log();

    for (other, said) in [
        (idle.replace("[{}]", "[{},{}]"), "has other clients (1)"),
        (idle.replace(r#""idle_exit_s":900,"#, ""), "not started by ax"),
    ] {
        let ran = Ran::of(at(&Fake::saying(&other), "install"));
        let error = &ran.json()["error"];
        assert_eq!((ran.code, &error["retry_command"]), (Some(1), &"shutdown".into()));
        assert!(error["message"].as_str().unwrap().contains(said), "{error}");
        assert!(home.log().is_empty() && !unit(&home, "axd.service").exists());
    }
}

#[test]
fn nobody_asks_at_a_socket_that_would_start_the_service() {
    let home = home();
    home.data("install --socket-activation");
    fs::create_dir(home.at("run/axd")).unwrap();
    let listener = UnixListener::bind(home.at("run/axd/axd.sock")).unwrap();
    listener.set_nonblocking(true).unwrap();
    for line in ["status", "start", "install", "stop"] {
        home.data(line);
    }
    assert!(listener.accept().is_err());
}

#[test]
fn a_platform_that_is_none_and_an_action_that_is_none_are_bad_usage() {
    let home = home();
    for (line, tip) in [("install --platform amiga", "sim"), ("instal", "install")] {
        let ran = home.run(&format!("service {line}"));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.json()["error"]["suggestion"].as_str().unwrap().contains(tip), "{ran:?}");
    }
}

#[test]
fn systemd_itself_finds_no_fault_with_the_units() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        // Past the capture of the test harness, so that it is seen.
        let _ = writeln!(std::io::stderr(), "skipped: there is no systemd-analyze here to read the units");
        return;
    }
    let home = home();
    for options in ["", "--platform sim --socket /tmp/a%b$c/axd.sock"] {
        home.data(&format!("install --socket-activation {options}"));
        let verified = Command::new("systemd-analyze")
            .args(["--user", "verify"])
            .args([unit(&home, "axd.service"), unit(&home, "axd.socket")])
            .env("HOME", home.at(""))
            .env("XDG_RUNTIME_DIR", home.at("run"))
            .output()
            .unwrap();
        let said = Ran::of(verified);
        assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{options}");
    }
}
