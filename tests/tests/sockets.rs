//! Where the daemon listens and whom it serves: folders that are not the user's alone, files in the way, two daemons at
//! once, and other users.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use axd_tests::{Daemon, axd, folder, is_root, skipped, wait_for_exit};
use serde_json::{Value, json};

/// Who owns what is not ours; `nobody` everywhere.
const NOBODY: u32 = 65534;

/// `axd` on a socket in this folder.
fn begin(folder: &Path) -> Child {
    Command::new("sh")
        .args(["-c", r#"exec "$0" "$@" --ready-fd 9 9>&1 >/dev/null"#])
        .arg(axd())
        .args(["--platform", "sim", "--socket"])
        .arg(folder.join("axd.sock"))
        .arg("--state")
        .arg(folder.join("state"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("axd runs")
}

/// Runs `axd` where it cannot serve: what it tells its starter. It has to say the same to a person.
fn refusal(folder: &Path) -> String {
    let mut child = begin(folder);
    let mut told = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut told).expect("what it tells");
    let mut said = String::new();
    child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("what it says");
    assert_eq!(wait_for_exit(&mut child).code(), Some(1), "{told}{said}");
    let (_, message) =
        told.trim_end().split_once(' ').and_then(|(_, rest)| rest.split_once(' ')).expect("an error");
    assert!(said.contains(message), "told {told:?}, said {said:?}");
    told
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").mode() & 0o777
}

#[test]
fn the_socket_is_the_users_alone() {
    let daemon = Daemon::start();
    assert_eq!(mode(&daemon.socket), 0o600);
    assert!(fs::symlink_metadata(&daemon.socket).expect("it is there").file_type().is_socket());
}

#[test]
fn a_folder_that_is_missing_is_made_for_the_user_alone() {
    let outer = folder();
    let inner = outer.path().join("run/axd");
    let mut child = begin(&inner);
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("what it tells");
    assert!(line.starts_with("ready "), "{line}");
    assert_eq!((mode(&inner), mode(&inner.join("state"))), (0o700, 0o700));
    child.kill().expect("it runs");
    wait_for_exit(&mut child);
}

#[test]
fn a_folder_that_is_open_to_others_is_refused() {
    for open in [0o755, 0o750, 0o701, 0o1777] {
        let folder = folder();
        fs::set_permissions(folder.path(), Permissions::from_mode(open)).expect("it is ours");
        let told = refusal(folder.path());
        assert!(
            told.starts_with("error PERMISSION_DENIED ") && told.contains("accessible to other users"),
            "{told}"
        );
        // Who reads it in a shared folder such as /tmp is not told to close that.
        assert_eq!(told.contains("chmod 700"), open != 0o1777, "{told}");
        assert_eq!(fs::read_dir(folder.path()).expect("it is ours").count(), 0, "nothing was put there");
    }
}

#[test]
fn a_folder_of_somebody_else_is_refused() {
    if !is_root() {
        return skipped("only root can give a folder away");
    }
    let folder = folder();
    chown(folder.path(), Some(NOBODY), None).expect("root can");
    let told = refusal(folder.path());
    assert!(told.starts_with("error PERMISSION_DENIED ") && told.contains("belongs to user 65534"), "{told}");
}

#[test]
fn a_link_of_somebody_else_is_refused_however_good_the_folder_it_leads_to() {
    if !is_root() {
        return skipped("only root can give a link away");
    }
    let (outer, real) = (folder(), folder());
    let link = outer.path().join("link");
    symlink(real.path(), &link).expect("a link");
    std::os::unix::fs::lchown(&link, Some(NOBODY), None).expect("root can");
    let told = refusal(&link);
    assert!(told.starts_with("error PERMISSION_DENIED ") && told.contains("belongs to user 65534"), "{told}");
    assert_eq!(fs::read_dir(real.path()).expect("it is ours").count(), 0);
}

#[test]
fn a_link_of_the_users_own_leads_to_the_folder_that_is_judged() {
    let (outer, open) = (folder(), folder());
    fs::set_permissions(open.path(), Permissions::from_mode(0o755)).expect("it is ours");
    let link = outer.path().join("link");
    symlink(open.path(), &link).expect("a link");
    assert!(refusal(&link).starts_with("error PERMISSION_DENIED "));
}

#[test]
fn a_file_where_the_socket_goes_survives() {
    let folder = folder();
    let file = folder.path().join("axd.sock");
    fs::write(&file, "precious").expect("a file");
    let told = refusal(folder.path());
    assert!(told.starts_with("error INVALID_ARGS ") && told.contains("is not a socket"), "{told}");
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "precious");
}

#[test]
fn a_link_where_the_socket_goes_survives_with_what_it_leads_to() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "precious").expect("a file");
    symlink(&file, folder.path().join("axd.sock")).expect("a link");
    assert!(refusal(folder.path()).starts_with("error INVALID_ARGS "));
    assert_eq!(fs::read_to_string(folder.path().join("axd.sock")).expect("it is there"), "precious");
}

#[test]
fn a_link_where_the_lock_goes_is_not_followed() {
    let folder = folder();
    let file = folder.path().join("file");
    fs::write(&file, "precious").expect("a file");
    symlink(&file, folder.path().join("axd.lock")).expect("a link");
    assert!(refusal(folder.path()).starts_with("error "));
    assert_eq!(fs::read_to_string(&file).expect("it is there"), "precious");
}

#[test]
fn of_two_daemons_started_at_once_exactly_one_serves_and_the_other_says_so() {
    for _ in 0..5 {
        let folder = folder();
        let children: Vec<Child> = (0..2).map(|_| begin(folder.path())).collect();
        let (mut serving, mut others) = (Vec::new(), Vec::new());
        for mut child in children {
            let mut line = String::new();
            BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("what it tells");
            if line.starts_with("ready ") {
                serving.push(child);
            } else {
                assert!(line.starts_with("error ALREADY_RUNNING "), "{line}");
                others.push(child);
            }
        }
        assert_eq!((serving.len(), others.len()), (1, 1));
        assert_eq!(wait_for_exit(&mut others[0]).code(), Some(75));
        axd_tests::Raw::connect(&folder.path().join("axd.sock")).is_served();
        serving[0].kill().expect("it runs");
        wait_for_exit(&mut serving[0]);
    }
}

#[test]
fn a_socket_that_a_killed_daemon_left_is_taken_over() {
    let mut daemon = Daemon::start();
    let first = daemon.pid();
    daemon.replace();
    assert_ne!(daemon.pid(), first);
    daemon.client().is_served();
}

/// What `ax list-apps` comes to when another user runs it: its exit code, and the error it prints.
fn as_nobody(socket: &Path) -> (Option<i32>, Value) {
    // Where the programs were built may be out of another user's reach.
    let reachable = folder();
    fs::set_permissions(reachable.path(), Permissions::from_mode(0o755)).expect("it is ours");
    let ax = reachable.path().join("ax");
    // By another process: were the file open for writing here, children that other tests start would hold it so.
    assert!(Command::new("cp").arg(axd_tests::ax()).arg(&ax).status().is_ok_and(|ended| ended.success()));
    let nobody = NOBODY.to_string();
    let ran = Command::new("setpriv")
        .args(["--reuid", &nobody, "--regid", &nobody, "--clear-groups"])
        .arg(&ax)
        .args(["list-apps", "--json", "--no-autostart", "--socket"])
        .arg(socket)
        .output()
        .expect("setpriv runs");
    let mut answer: Value =
        serde_json::from_slice(&ran.stdout).unwrap_or_else(|fault| panic!("{fault}: {ran:?}"));
    assert_eq!((&answer["id"], &answer["ok"]), (&Value::Null, &Value::Bool(false)), "{answer}");
    (ran.status.code(), answer["error"].take())
}

fn can_become_nobody() -> bool {
    is_root() && Command::new("setpriv").arg("--version").output().is_ok_and(|ran| ran.status.success())
}

#[test]
fn another_user_cannot_reach_the_socket() {
    if !can_become_nobody() {
        return skipped("becoming another user takes root and setpriv");
    }
    let daemon = Daemon::start();
    let (code, error) = as_nobody(&daemon.socket);
    assert_eq!((code, &error["code"]), (Some(3), &json!("DAEMON_UNAVAILABLE")), "{error}");
    assert!(error["message"].as_str().is_some_and(|said| said.contains("Permission denied")), "{error}");
    daemon.client().is_served();
}

#[test]
fn another_user_who_reaches_the_socket_is_turned_away_and_told_why() {
    if !can_become_nobody() {
        return skipped("becoming another user takes root and setpriv");
    }
    let daemon = Daemon::start();
    fs::set_permissions(daemon.folder(), Permissions::from_mode(0o755)).expect("it is ours");
    fs::set_permissions(&daemon.socket, Permissions::from_mode(0o666)).expect("it is ours");
    // More than once: whether the refusal or the request is first is up to the system.
    for _ in 0..20 {
        let (code, error) = as_nobody(&daemon.socket);
        assert_eq!((code, &error["code"]), (Some(1), &json!("PERMISSION_DENIED")), "{error}");
        assert!(error["message"].as_str().is_some_and(|said| said.contains("65534")), "{error}");
    }
    daemon.client().is_served();
}
