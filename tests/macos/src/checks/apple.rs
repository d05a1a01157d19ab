//! Apps of Apple's, each in its own toolkit: TextEdit and Calculator, Finder, Safari with a page, System Settings in SwiftUI.
//!
//! What ran before is left running; what was started here is ended.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::acting::TEXT;
use super::{Needs, Table};
use crate::ax::Checked;
use crate::process;
use crate::stage::{Stage, expect};

pub const CHECKS: Table = &[
    ("TextEdit is read, and typed into by AX and by keys", Needs::Axd, text_edit),
    ("Calculator is pressed by AX and by the mouse", Needs::Axd, calculator),
    ("Finder shows the files of a folder", Needs::Axd, finder),
    ("Safari shows a page, and what its scripts change", Needs::Axd, safari),
    ("System Settings is read", Needs::Axd, settings),
];

/// A page with a button, and with a number that a script counts up.
const PAGE: &str = "<!doctype html><title>axd-l4-page</title><h1>A page</h1>\
    <button onclick=\"document.getElementById('n').textContent = 'pressed ' + ++n\">Press me</button>\
    <p id=n>pressed 0</p><p id=t>second 0</p>\
    <script>var n = 0, t = 0; setInterval(function () { document.getElementById('t').textContent = 'second ' + ++t }, 1000)</script>\n";

/// An app of Apple's that is to be closed after the check, unless it ran before.
struct Guest {
    pid: u64,
    ran_before: bool,
}

impl Guest {
    fn leave(self, stage: &Stage<'_>) {
        if !self.ran_before {
            // The next check does not depend on it.
            let _ = stage.ax.ask(&["close-app", &self.pid.to_string(), "--force"]);
        }
    }
}

fn is_running(stage: &Stage<'_>, identity: &str) -> Checked<bool> {
    let apps = stage.ax.data(&["list-apps"])?;
    let apps = apps["apps"].as_array().map(Vec::as_slice).unwrap_or_default();
    Ok(apps
        .iter()
        .any(|app| app["identity"].as_str().is_some_and(|other| other.eq_ignore_ascii_case(identity))))
}

/// Opens a file or a folder in an app, and waits for the window.
fn open(stage: &Stage<'_>, app: &str, identity: &str, file: &Path, title: &str) -> Checked<Guest> {
    let ran_before = is_running(stage, identity)?;
    let ran =
        process::tool("open", ["-a".as_ref(), app.as_ref(), file.as_os_str()], Duration::from_secs(30))?;
    expect(ran.code == Some(0), || format!("open -a {app}: {}", ran.text()))?;
    let pid = stage.window(title)?;
    let guest = Guest { pid, ran_before };
    stage.of(pid, &["focus-window", title])?;
    Ok(guest)
}

/// Starts an app.
fn launch(stage: &Stage<'_>, identity: &str) -> Checked<Guest> {
    let ran_before = is_running(stage, identity)?;
    let told = stage.ax.data(&["launch", identity, "--wait", "--timeout-ms", "30000"])?;
    let pid = told["pid"].as_u64().ok_or_else(|| format!("no process in {told}"))?;
    Ok(Guest { pid, ran_before })
}

/// A file of our own with this content.
fn file(stage: &Stage<'_>, name: &str, content: &str) -> Checked<PathBuf> {
    let file = stage.ax.folder.join(name);
    let folder = file.parent().unwrap_or(&stage.ax.folder);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&file, content));
    written.map_err(|fault| format!("{} cannot be written: {fault}", file.display()))?;
    Ok(file)
}

fn matches(found: &Value) -> &[Value] {
    found["matches"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text_edit(stage: &mut Stage<'_>) -> Checked {
    let note = file(stage, "axd-l4-note.txt", "first line\n")?;
    let guest = open(stage, "TextEdit", "com.apple.TextEdit", &note, "axd-l4-note")?;
    let result = (|| {
        let pid = guest.pid;
        let target = "window[name~='axd-l4-note'] textarea";
        let value = |stage: &Stage<'_>| {
            let node = stage.of(pid, &["get", target, "--property", "value"])?;
            Ok::<_, String>(node["node"]["value"].as_str().unwrap_or_default().to_owned())
        };
        let before = value(stage)?;
        expect(before.starts_with("first line"), || format!("it shows {before:?}"))?;
        for route in ["semantic", "input"] {
            stage.of(pid, &["type", target, TEXT, "--route", route])?;
            stage.of(pid, &["snapshot", "--sync", "--max-nodes", "1"])?;
            let after = value(stage)?;
            let times = if route == "semantic" { 1 } else { 2 };
            expect(after.matches(TEXT).count() == times, || format!("{route}: it shows {after:?}"))?;
        }
        stage.measure("TextEdit", pid)
    })();
    guest.leave(stage);
    result
}

/// The first button that is called one of these, whatever the version of macOS calls it.
fn button(stage: &Stage<'_>, pid: u64, names: &[&str]) -> Checked<String> {
    let found = stage.of(pid, &["find", "button"])?;
    let is_it = |node: &&Value| {
        ["name", "description", "identifier"].iter().any(|field| {
            let said = node[*field].as_str().unwrap_or_default();
            names.iter().any(|name| said.eq_ignore_ascii_case(name))
        })
    };
    let id = matches(&found).iter().find(is_it).and_then(|node| node["id"].as_str());
    id.map(str::to_owned).ok_or_else(|| {
        let all: Vec<String> = matches(&found).iter().map(|node| node["name"].to_string()).collect();
        format!("no button is called {}; there are {}", names.join(" or "), all.join(", "))
    })
}

fn calculator(stage: &mut Stage<'_>) -> Checked {
    let guest = launch(stage, "com.apple.calculator")?;
    let result = (|| {
        let pid = guest.pid;
        let keys = [&["7", "seven"][..], &["+", "add", "plus"], &["8", "eight"], &["=", "equals"]];
        for route in ["semantic", "input"] {
            for names in keys {
                let key = button(stage, pid, names)?;
                stage.of(pid, &["click", &key, "--route", route])?;
            }
            stage.of(pid, &["snapshot", "--sync", "--max-nodes", "1"])?;
            let shown = stage.of(pid, &["snapshot"])?["tree"].to_string();
            expect(shown.contains("15"), || format!("{route}: 7 + 8 is not shown as 15"))?;
        }
        stage.measure("Calculator", pid)
    })();
    guest.leave(stage);
    result
}

fn finder(stage: &mut Stage<'_>) -> Checked {
    for name in ["alpha", "beta"] {
        file(stage, &format!("axd-l4-folder/{name}.txt"), "")?;
    }
    let folder = stage.ax.folder.join("axd-l4-folder");
    let guest = open(stage, "Finder", "com.apple.finder", &folder, "axd-l4-folder")?;
    for name in ["alpha", "beta"] {
        // Finder may hide the end of the name.
        let named = format!("window[name~='axd-l4-folder'] *[name^='{name}']");
        let valued = format!("window[name~='axd-l4-folder'] *[value^='{name}']");
        stage.of(guest.pid, &["wait", "--any", "--for", &named, "--for", &valued, "--timeout", "10000"])?;
    }
    stage.measure("Finder", guest.pid)?;
    // Finder always runs; only the window is ours.
    let _ = stage.of(guest.pid, &["press", "cmd+w"]);
    Ok(())
}

fn safari(stage: &mut Stage<'_>) -> Checked {
    let page = file(stage, "axd-l4-page.html", PAGE)?;
    let guest = open(stage, "Safari", "com.apple.Safari", &page, "axd-l4-page")?;
    let result = (|| {
        let pid = guest.pid;
        stage.of(pid, &["wait", "--for", "button:'Press me'", "--timeout", "15000"])?;
        stage.of(pid, &["click", "button:'Press me'"])?;
        stage.of(pid, &["wait", "--for", "*[name~='pressed 1']", "--timeout", "5000"])?;
        stage.of(pid, &["click", "button:'Press me'", "--route", "input"])?;
        stage.of(pid, &["wait", "--for", "*[name~='pressed 2']", "--timeout", "5000"])?;
        let second = |stage: &Stage<'_>| {
            stage
                .of(pid, &["find", "*[name^='second ']"])
                .map(|found| found["matches"][0]["name"].to_string())
        };
        let before = second(stage)?;
        stage.ax.data(&["wait", "4000"])?;
        let after = second(stage)?;
        stage.measure("Safari", pid)?;
        expect(before != after, || format!("what a script changes every second stays {before}"))
    })();
    guest.leave(stage);
    result
}

fn settings(stage: &mut Stage<'_>) -> Checked {
    let guest = launch(stage, "com.apple.systempreferences")?;
    let result = (|| {
        let found = stage.of(guest.pid, &["find", "*"])?;
        stage.measure("System Settings", guest.pid)?;
        expect(matches(&found).len() >= 10, || format!("{} elements", matches(&found).len()))
    })();
    guest.leave(stage);
    result
}
