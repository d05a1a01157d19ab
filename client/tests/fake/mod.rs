//! A daemon that says what a test tells it to, and `ax` run against it.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::Value;

/// A server on a socket of its own.
pub struct Fake {
    folder: tempfile::TempDir,
    /// The requests, in the order they came.
    pub requests: Receiver<Value>,
}

impl Fake {
    /// Answers each request with the lines that `answer` makes of it. No lines: the connection is closed.
    pub fn answering(answer: impl Fn(&Value) -> Vec<String> + Send + Sync + 'static) -> Fake {
        let (tell, requests) = mpsc::channel();
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join("axd.sock")).unwrap();
        let answer = std::sync::Arc::new(answer);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (tell, answer) = (tell.clone(), std::sync::Arc::clone(&answer));
                thread::spawn(move || {
                    serve(stream, |request| {
                        let _ = tell.send(request.clone());
                        answer(request)
                    })
                });
            }
        });
        Fake { folder, requests }
    }

    /// Answers every request with this line.
    pub fn saying(line: &str) -> Fake {
        let line = line.to_owned();
        Fake::answering(move |_| vec![line.clone()])
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("axd.sock")
    }

    /// `ax` with these words, talking to this server.
    pub fn ax(&self, line: &str) -> Command {
        let mut command = ax(line);
        command.arg("--socket").arg(self.socket()).arg("--no-autostart");
        command
    }

    /// Runs `ax` to its end.
    pub fn run(&self, line: &str) -> Ran {
        Ran::of(self.ax(line).stdin(Stdio::null()).output().unwrap())
    }
}

fn serve(stream: UnixStream, answer: impl Fn(&Value) -> Vec<String>) {
    let mut writer = stream.try_clone().unwrap();
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let lines = answer(&serde_json::from_str(&line).unwrap_or(Value::Null));
        if lines.is_empty() {
            return;
        }
        for line in lines {
            // A client that has left is part of some tests.
            let _ = writer.write_all(format!("{line}\n").as_bytes());
        }
    }
}

/// `ax` with these words and a clean environment.
pub fn ax(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ax"));
    command.args(line.split_whitespace());
    for name in ["AXD_SOCKET", "AXD_BIN", "AXD_NO_AUTOSTART", "AXD_PLATFORM"] {
        command.env_remove(name);
    }
    // Not the system's own launchd, where there is one.
    command.env("AXD_START", "spawn");
    command
}

/// What a run of `ax` left.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    pub fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Standard output as one JSON object.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|fault| panic!("{fault}: {self:?}"))
    }
}

/// A run of `ax` that is talked to while it runs.
pub struct Running {
    pub child: Child,
    pub stdout: BufReader<std::process::ChildStdout>,
}

impl Running {
    pub fn start(mut command: Command) -> Running {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Running { child, stdout }
    }

    pub fn say(&mut self, line: &str) {
        self.child.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next line of its output; empty at its end.
    pub fn hear(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub fn end_input(&mut self) {
        drop(self.child.stdin.take());
    }

    pub fn code(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

pub const APP: &str = r#""app":{"name":"Notes","pid":9,"identity":"notes","state":"live"}"#;

pub fn fresh(sub: u64) -> String {
    format!(
        r#"{{"sub":{sub},"event":"fresh","clock":"c:00000001:1",{APP},"cause":"snapshot","tree":{{"id":"app_000000","role":"application","name":"Notes","children":[{{"id":"txt_000000","role":"textfield","name":"Body"}}]}}}}"#
    )
}

pub fn changed(sub: u64, value: &str) -> String {
    format!(
        r#"{{"sub":{sub},"event":"changes","clock":"c:00000001:2",{APP},"observed":"event","removed":[],"moved":[],"added":[],"changed":[{{"id":"txt_000000","set":{{"value":"{value}"}}}}]}}"#
    )
}

pub fn end(sub: u64) -> String {
    format!(r#"{{"sub":{sub},"event":"end","cause":"shutdown"}}"#)
}

pub fn subscribed(id: u64, sub: u64) -> String {
    format!(
        r#"{{"id":{id},"ok":true,"command":"subscribe","version":"1.0","platform":"sim","data":{{"sub":{sub}}}}}"#
    )
}
