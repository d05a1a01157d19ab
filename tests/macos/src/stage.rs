//! What checks stand on: `ax`, and the apps that it is tried on.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::ax::{Ax, Checked};
use crate::evidence::Evidence;
use crate::process;
use crate::report::Cost;

/// The title of the test app's window.
pub const TITLE: &str = "Test AppKit";
/// How long the test app may take to say something.
const LINE_LIMIT: Duration = Duration::from_secs(5);
/// How long it may take to come up.
const START_LIMIT: Duration = Duration::from_secs(20);

/// What checks are given.
pub struct Stage<'a> {
    /// `ax`.
    pub ax: &'a Ax,
    /// Where evidence goes.
    pub evidence: &'a Evidence,
    /// The test app, while a check that needs it runs.
    pub actor: Option<Actor>,
    /// What reading apps costs, as checks find out.
    pub costs: Vec<Cost>,
}

/// The test app's process.
pub struct Actor {
    child: Child,
    lines: Receiver<String>,
    program: PathBuf,
    /// The process that the window belongs to.
    pub app: u64,
}

impl Drop for Actor {
    fn drop(&mut self) {
        process::end(&mut self.child);
    }
}

impl Actor {
    /// The next line that the app says.
    pub fn line(&self) -> Checked<String> {
        self.lines.recv_timeout(LINE_LIMIT).map_err(|_| "the test app said nothing in 5 s".to_owned())
    }

    /// The keys and buttons that are down, as the app sees them.
    pub fn held(&self) -> Checked<String> {
        Ok(process::run(Command::new(&self.program).arg("--held"), LINE_LIMIT)?.out)
    }

    /// The id of its process.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap_or(i32::MAX)
    }
}

impl Stage<'_> {
    /// Starts a fresh test app.
    pub fn enter(&mut self, program: &Path) -> Checked {
        self.actor = None;
        let mut child = Command::new(program)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|fault| format!("{} cannot be run: {fault}", program.display()))?;
        let lines = process::lines(child.stdout.take().ok_or("the test app has no output")?);
        let mut actor = Actor { child, lines, program: program.to_owned(), app: 0 };
        match actor.lines.recv_timeout(START_LIMIT) {
            Ok(line) if line == "ready" => {}
            said => return Err(format!("the test app does not come up: {said:?}")),
        }
        actor.app = self.window(TITLE)?;
        self.actor = Some(actor);
        self.on(&["focus-window", TITLE]).map(|_| ())
    }

    /// Waits for a window with this in its title; the process it belongs to.
    pub fn window(&self, title: &str) -> Checked<u64> {
        self.ax.data(&["wait", "--window", title, "--timeout", "30000"])?;
        let windows = self.ax.data(&["list-windows", "--filter", title])?;
        windows["windows"][0]["pid"].as_u64().ok_or_else(|| format!("there is no window {title}: {windows}"))
    }

    /// A command about the test app.
    pub fn on(&self, words: &[&str]) -> Checked<Value> {
        self.of(self.actor()?.app, words)
    }

    /// A command about an app.
    pub fn of(&self, pid: u64, words: &[&str]) -> Checked<Value> {
        self.ax.data(&[words, &["--app", &pid.to_string()]].concat())
    }

    /// The test app.
    pub fn actor(&self) -> Checked<&Actor> {
        self.actor.as_ref().ok_or_else(|| "there is no test app".to_owned())
    }

    /// The value of an element of the test app.
    pub fn value(&self, target: &str) -> Checked<String> {
        let node = self.on(&["get", target])?;
        Ok(node["node"]["value"].as_str().unwrap_or_default().to_owned())
    }

    /// Keeps the tree of an app, and measures what reading all of it again costs.
    pub fn measure(&mut self, name: &str, pid: u64) -> Checked {
        let (before, _) = self.counts(pid)?;
        let begin = Instant::now();
        self.of(pid, &["snapshot", "--verify", "--max-nodes", "1"])?;
        let time = begin.elapsed();
        let (after, nodes) = self.counts(pid)?;
        self.costs.push(Cost { app: name.to_owned(), nodes, requests: after.saturating_sub(before), time });
        self.evidence.keep_tree(name, pid, self.ax);
        Ok(())
    }

    /// The calls to an app so far, and the elements in its tree.
    fn counts(&self, pid: u64) -> Checked<(u64, u64)> {
        let status = self.ax.data(&["status"])?;
        let apps = status["apps"].as_array().map(Vec::as_slice).unwrap_or_default();
        let app = apps
            .iter()
            .find(|app| app["pid"] == pid)
            .ok_or_else(|| format!("{pid} is not attached: {status}"))?;
        Ok((app["calls"].as_u64().unwrap_or(0), app["nodes"].as_u64().unwrap_or(0)))
    }
}

/// Fails with what was found, unless it is so.
pub fn expect(truth: bool, said: impl FnOnce() -> String) -> Checked {
    if truth { Ok(()) } else { Err(said()) }
}
