//! The `axd` process, as whoever starts it sees it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use axd_server::Listener;
use tempfile::TempDir;

fn private_folder() -> TempDir {
    tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir().unwrap()
}

/// Runs axd to its end; its exit code, and what it told its starter.
fn start(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let told = folder.join("told");
    let Output { status, .. } = Command::new("sh")
        .args(["-c", r#"told=$1; shift; exec "$0" "$@" --ready-fd 9 9>"$told""#, env!("CARGO_BIN_EXE_axd")])
        .arg(&told)
        .args(args)
        .arg("--socket")
        .arg(folder.join("axd.sock"))
        .arg("--state")
        .arg(folder.join("state"))
        .output()
        .unwrap();
    (status.code(), fs::read_to_string(told).unwrap())
}

#[test]
fn a_second_daemon_says_that_it_is_the_second_and_leaves_the_first_alone() {
    let folder = private_folder();
    let _first = Listener::bind(&folder.path().join("axd.sock")).unwrap();
    let (code, told) = start(folder.path(), &["--platform", "sim"]);
    assert_eq!(code, Some(75));
    let pid = std::process::id();
    assert!(
        told.starts_with(&format!("error ALREADY_RUNNING another axd (pid {pid}) already serves")),
        "{told}"
    );
    assert!(folder.path().join("axd.sock").exists());
    assert!(!folder.path().join("state").exists(), "only the daemon that serves writes the log");
}

#[test]
fn a_daemon_that_cannot_listen_says_why_in_one_line() {
    let folder = private_folder();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    let (code, told) = start(folder.path(), &["--platform", "sim"]);
    assert_eq!(code, Some(1));
    assert!(told.starts_with("error PERMISSION_DENIED ") && told.contains("chmod 700"), "{told}");
    assert_eq!(told.lines().count(), 1);
}
