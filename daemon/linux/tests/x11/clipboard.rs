//! What is put on the clipboard is there for others, and what others put there is read.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use axd_platform::{CaptureTarget, ClipboardContent, ClipboardKind, Failure, FailureKind, Gate, Platform};

use crate::desk::{Desk, inside, root};
use crate::manager::{Manager, Manner};

fn app(words: &[&str]) -> Command {
    let mut command = Command::new("/usr/bin/python3");
    command
        .arg(root().join("tests/desktop/apps/clip.py"))
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

/// Another app that owns the clipboard until it is dropped.
struct Owner(Child);

impl Owner {
    fn new(words: &[&str]) -> Owner {
        let mut child = app(&[&["own"], words].concat()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        Owner(child)
    }

    fn signal(&self, signal: nix::sys::signal::Signal) {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(self.0.id() as i32), signal).unwrap();
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What another app reads from the clipboard.
async fn read_by_another(kind: &'static str) -> serde_json::Value {
    let output = tokio::task::spawn_blocking(move || app(&["read", kind]).output().unwrap()).await.unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

async fn get(desk: &Desk, kind: ClipboardKind) -> Result<Option<ClipboardContent>, Failure> {
    desk.call(|platform, _| platform.clipboard(kind)).await
}

async fn set(desk: &Desk, clip: Option<ClipboardContent>) {
    desk.call(|platform, gate| platform.set_clipboard(clip, gate)).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn others_read_what_axd_puts_there() {
    if !inside("clipboard::others_read_what_axd_puts_there", &[]) {
        return;
    }
    let desk = Desk::new().await;
    assert_eq!(get(&desk, ClipboardKind::Any).await, Ok(None));
    // The second is handed out in pieces.
    for text in ["Grüße, 世界 🙂\n".to_owned(), "Zwölf Boxkämpfer ".repeat(100_000)] {
        set(&desk, Some(ClipboardContent::Text(text.clone()))).await;
        assert_eq!(read_by_another("text").await, serde_json::json!(text));
        assert_eq!(get(&desk, ClipboardKind::Any).await, Ok(Some(ClipboardContent::Text(text))));
        assert_eq!(get(&desk, ClipboardKind::Image).await, Ok(None));
    }
    let files = vec![PathBuf::from("/tmp/a b.txt"), PathBuf::from("/tmp/世.txt")];
    set(&desk, Some(ClipboardContent::Files(files.clone()))).await;
    assert_eq!(read_by_another("files").await, serde_json::json!(files));
    assert_eq!(read_by_another("text").await, serde_json::json!("/tmp/a b.txt\n/tmp/世.txt"));
    assert_eq!(get(&desk, ClipboardKind::Any).await, Ok(Some(ClipboardContent::Files(files))));

    set(&desk, None).await;
    assert_eq!(read_by_another("text").await, serde_json::Value::Null);
    assert_eq!(get(&desk, ClipboardKind::Any).await, Ok(None));
    for clip in [ClipboardContent::Image(b"GIF89a".to_vec()), ClipboardContent::Files(vec!["here".into()])] {
        let failure = desk.call(|platform, gate| platform.set_clipboard(Some(clip), gate)).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invalid, "{failure}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_put_there_is_read() {
    if !inside("clipboard::what_others_put_there_is_read", &[]) {
        return;
    }
    let desk = Desk::new().await;
    for times in ["1", "100000"] {
        let _owner = Owner::new(&["text", "ä世🙂 ", times]);
        let text = "ä世🙂 ".repeat(times.parse().unwrap());
        assert_eq!(get(&desk, ClipboardKind::Text).await, Ok(Some(ClipboardContent::Text(text.clone()))));
        assert_eq!(get(&desk, ClipboardKind::Any).await, Ok(Some(ClipboardContent::Text(text))));
        assert_eq!(get(&desk, ClipboardKind::Files).await, Ok(None));
    }
    let owner = Owner::new(&["files", "/tmp/a b.txt", "/tmp/ü.txt"]);
    let files = vec![PathBuf::from("/tmp/a b.txt"), PathBuf::from("/tmp/ü.txt")];
    assert_eq!(get(&desk, ClipboardKind::Any).await, Ok(Some(ClipboardContent::Files(files))));
    drop(owner);

    // An image goes all the way round: what axd has read from another app, it puts there for a third.
    for size in ["16", "700"] {
        let owner = Owner::new(&["image", size]);
        let Ok(Some(ClipboardContent::Image(png))) = get(&desk, ClipboardKind::Any).await else {
            panic!("no image")
        };
        assert!(png.starts_with(b"\x89PNG"));
        drop(owner);
        set(&desk, Some(ClipboardContent::Image(png))).await;
        let size: u32 = size.parse().unwrap();
        assert_eq!(read_by_another("image").await, serde_json::json!([size, size]));
    }
    let _owner = Owner::new(&["bmp"]);
    let failure = get(&desk, ClipboardKind::Image).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::NotSupported);
    assert!(failure.native.contains("image/bmp"), "{failure}");
    assert_eq!(get(&desk, ClipboardKind::Text).await, Ok(None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_is_not_read_and_an_owner_that_hangs_holds_nobody_up() {
    if !inside("clipboard::a_secret_is_not_read_and_an_owner_that_hangs_holds_nobody_up", &[]) {
        return;
    }
    let desk = Desk::new().await;
    let owner = Owner::new(&["secret", "hunter2"]);
    for kind in [ClipboardKind::Any, ClipboardKind::Text] {
        let failure = get(&desk, kind).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Refused);
        assert!(!failure.native.contains("hunter2"));
    }
    drop(owner);

    let owner = Owner::new(&["text", "late", "1"]);
    owner.signal(nix::sys::signal::Signal::SIGSTOP);
    let started = Instant::now();
    let hanging = desk.platform.clipboard(ClipboardKind::Any);
    let of = CaptureTarget::All;
    desk.call(|platform, _| platform.capture(of, false)).await.unwrap();
    let failure = hanging.await.unwrap().unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unresponsive, "{failure}");
    eprintln!("said after {:?}", started.elapsed());
    owner.signal(nix::sys::signal::Signal::SIGCONT);
    assert_eq!(get(&desk, ClipboardKind::Any).await, Ok(Some(ClipboardContent::Text("late".into()))));
    // A gate that is closed leaves the clipboard as it was.
    let gate = Gate::new();
    gate.close();
    let never = Some(ClipboardContent::Text("never".into()));
    assert_eq!(
        desk.platform.set_clipboard(never, gate).await.unwrap().unwrap_err().kind,
        FailureKind::Closed
    );
    assert_eq!(get(&desk, ClipboardKind::Any).await, Ok(Some(ClipboardContent::Text("late".into()))));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_axd_put_there_stays_with_the_clipboard_manager_when_axd_ends() {
    if !inside("clipboard::what_axd_put_there_stays_with_the_clipboard_manager_when_axd_ends", &[]) {
        return;
    }
    let manager = Manager::start(Manner::Saves);
    // The second is handed out in pieces.
    for text in ["Grüße, 世界 🙂".to_owned(), "Zwölf Boxkämpfer ".repeat(50_000)] {
        let desk = Desk::new().await;
        // With nothing of ours on it there is nothing to give away.
        desk.platform.shutdown().await.unwrap().unwrap();
        set(&desk, Some(ClipboardContent::Text(text.clone()))).await;
        desk.platform.shutdown().await.unwrap().unwrap();
        drop(desk);
        assert_eq!(read_by_another("text").await, serde_json::json!(text));
    }
    drop(manager);

    let desk = Desk::new().await;
    set(&desk, Some(ClipboardContent::Text("mine".into()))).await;
    desk.platform.shutdown().await.unwrap().expect("without a manager nobody is waited for");
    for (manner, kind) in
        [(Manner::Refuses, FailureKind::Refused), (Manner::Hangs, FailureKind::Unresponsive)]
    {
        let _manager = Manager::start(manner);
        assert_eq!(desk.platform.shutdown().await.unwrap().unwrap_err().kind, kind);
        assert_eq!(read_by_another("text").await, serde_json::json!("mine"));
    }
}
