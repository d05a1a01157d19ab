//! Windows, pictures, the clipboard, and apps that hang.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::acting::TEXT;
use super::{Needs, Table};
use crate::ax::Checked;
use crate::stage::{Stage, TITLE, expect};

pub const CHECKS: Table = &[
    ("a window is moved, minimized and restored", Needs::TestApp, window),
    ("a picture of the window is taken", Needs::Pictures, picture),
    ("the clipboard takes and gives text", Needs::Axd, clipboard),
    ("an app that hangs delays nobody else", Needs::TestApp, hang),
];

fn window(stage: &mut Stage<'_>) -> Checked {
    stage.on(&["move-window", TITLE, "--to", "120,140"])?;
    let bounds = stage.on(&["list-windows"])?["windows"][0]["bounds"].clone();
    expect((&bounds["x"], &bounds["y"]) == (&120.into(), &140.into()), || bounds.to_string())?;
    stage.on(&["minimize", TITLE])?;
    stage.on(&["restore", TITLE]).map(|_| ())
}

fn picture(stage: &mut Stage<'_>) -> Checked {
    let file = stage.ax.folder.join("shot.png");
    stage.on(&["screenshot", &file.to_string_lossy(), "--window", TITLE])?;
    let bytes = fs::read(&file).map_err(|fault| fault.to_string())?;
    expect(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() > 1_000, || {
        format!("{} bytes, no picture", bytes.len())
    })
}

fn clipboard(stage: &mut Stage<'_>) -> Checked {
    let before = stage.ax.ask(&["clipboard-get"])?["data"]["text"].as_str().map(str::to_owned);
    stage.ax.data(&["clipboard-set", TEXT])?;
    let told = stage.ax.data(&["clipboard-get"])?["text"].as_str().unwrap_or_default().to_owned();
    if let Some(before) = before {
        // What the user had is given back.
        let _ = stage.ax.ask(&["clipboard-set", &before]);
    }
    expect(told == TEXT, || format!("it is {told:?}"))
}

/// Another app is read from its root meanwhile, which takes answers of that app.
fn hang(stage: &mut Stage<'_>) -> Checked {
    let apps = stage.ax.data(&["list-apps"])?;
    let own = stage.actor()?.app;
    let apps = apps["apps"].as_array().map(Vec::as_slice).unwrap_or_default();
    let others = apps.iter().filter(|app| app["pid"] != own);
    let finder = others.clone().find(|app| app["identity"] == "com.apple.finder");
    let other =
        finder.or_else(|| others.clone().next()).ok_or("there is no other app")?["pid"].as_u64().unwrap_or(0);
    stage.of(other, &["snapshot", "--max-nodes", "1"])?;
    let pid = Pid::from_raw(stage.actor()?.pid());
    kill(pid, Signal::SIGSTOP).map_err(|fault| format!("the test app cannot be stopped: {fault}"))?;
    // The app that hangs is asked something, which is not answered.
    let begin = Instant::now();
    let asked = stage.on(&["snapshot", "--verify", "--max-nodes", "1", "--deadline-ms", "3000"]);
    let waited = begin.elapsed();
    let begin = Instant::now();
    let read = stage.of(other, &["snapshot", "--verify", "--max-nodes", "1"]);
    let time = begin.elapsed();
    let woken = kill(pid, Signal::SIGCONT);
    read?;
    woken.map_err(|fault| format!("the test app cannot be woken: {fault}"))?;
    expect(time < Duration::from_secs(5), || format!("another app was read in {:.1} s", time.as_secs_f64()))?;
    expect(waited < Duration::from_secs(10), || {
        format!("the app that hangs was waited for {:.1} s: {asked:?}", waited.as_secs_f64())
    })
}
