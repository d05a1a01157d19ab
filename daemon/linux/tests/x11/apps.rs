//! Apps are started so that axd sees them, and closed as a person closes them.

use axd_platform::{FailureKind, LaunchPlan};

use crate::desk::{Desk, inside, root, skipped};

async fn launch(desk: &Desk, app: &str, args: &[&str]) -> (Option<u32>, Option<String>) {
    let args = args.iter().map(|word| (*word).to_owned()).collect();
    let plan = LaunchPlan { app: app.to_owned(), args, ..LaunchPlan::default() };
    let launched = desk.call(|platform, gate| platform.launch(plan, gate)).await.unwrap();
    (launched.pid, launched.identity)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_is_started_seen_and_closed_by_its_window() {
    if !inside("apps::an_app_is_started_seen_and_closed_by_its_window", &[]) {
        return;
    }
    let mut desk = Desk::new().await;
    let script = root().join("tests/desktop/apps/echo.py").display().to_string();
    let mut pids = Vec::new();
    for (toolkit, force) in [("gtk3", false), ("gtk4", false), ("qt6", false), ("gtk3", true)] {
        let (pid, identity) = launch(&desk, "/usr/bin/python3", &[&script, toolkit]).await;
        let pid = pid.expect("a process");
        assert_eq!(identity.as_deref(), Some("echo.py"));
        desk.until("its window is up and its tree is there", |desk| {
            desk.windows.iter().any(|window| window.pid == pid)
                && desk.seen.iter().any(|app| app.pid == pid && app.identity == "echo.py")
        })
        .await;
        desk.call(|platform, gate| platform.close_app(pid, force, gate)).await.unwrap();
        desk.until("it is gone", |desk| desk.windows.iter().all(|window| window.pid != pid)).await;
        pids.push(pid);
    }
    // None of them stays as a zombie: whoever started them has waited for them.
    for pid in pids {
        let proc = format!("/proc/{pid}");
        desk.until_true("its process is gone", || !std::path::Path::new(&proc).exists()).await;
        let failure = desk.call(|platform, gate| platform.close_app(pid, false, gate)).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Gone, "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_installed_app_is_started_by_its_name() {
    if !inside("apps::an_installed_app_is_started_by_its_name", &[]) {
        return;
    }
    if !std::path::Path::new("/usr/share/applications/org.xfce.mousepad.desktop").exists() {
        skipped("apps::an_installed_app_is_started_by_its_name", "mousepad");
        return;
    }
    let mut desk = Desk::new().await;
    let file = std::env::temp_dir().join("a note.txt");
    std::fs::write(&file, "hello").unwrap();
    let (_, identity) = launch(&desk, "Mousepad", &[file.to_str().unwrap()]).await;
    assert_eq!(identity.as_deref(), Some("mousepad"));
    desk.until("the file is open", |desk| {
        desk.windows.iter().any(|window| window.title.contains("a note.txt"))
    })
    .await;
    let pid = desk.windows.iter().find(|window| window.title.contains("a note.txt")).unwrap().pid;
    desk.call(|platform, gate| platform.close_app(pid, false, gate)).await.unwrap();
    desk.until("it is gone", |desk| desk.windows.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_app_without_windows_gets_sigterm() {
    if !inside("apps::an_app_without_windows_gets_sigterm", &[]) {
        return;
    }
    let mut desk = Desk::new().await;
    let (pid, identity) = launch(&desk, "sleep", &["600"]).await;
    assert_eq!(identity.as_deref(), Some("sleep"));
    let pid = pid.unwrap();
    let session = nix::unistd::getsid(Some(nix::unistd::Pid::from_raw(pid as i32))).unwrap();
    assert_eq!(session.as_raw(), pid as i32, "it is in a session of its own");
    desk.call(|platform, gate| platform.close_app(pid, false, gate)).await.unwrap();
    desk.until_true("it has ended", || !std::path::Path::new(&format!("/proc/{pid}")).exists()).await;
}
