//! `ax`, run as a person or a program runs it.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};

use serde_json::Value;

use crate::daemon::wait_for_exit;
use crate::{PATIENCE, programs};

/// An `ax` that is about to run.
#[derive(Debug)]
pub struct Ax(Command);

/// How an `ax` ended.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code.
    pub code: i32,
    /// What it wrote to its standard output.
    pub out: String,
    /// What it wrote to its standard error.
    pub err: String,
}

impl Ax {
    /// `ax` with these words.
    pub fn new(words: &[&str]) -> Ax {
        let mut command = Command::new(programs::ax());
        command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for name in [
            "AXD_SOCKET",
            "AXD_STATE",
            "AXD_BIN",
            "AXD_PLATFORM",
            "AXD_NO_AUTOSTART",
            "AXD_SIM_APPS",
            "AXD_CONFIG",
        ] {
            command.env_remove(name);
        }
        // Where launchd starts daemons, these are not among them: they serve the built-in desktop, and go with the test.
        command.env("AXD_START", "spawn");
        Ax(command)
    }

    /// With this variable in its environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Ax {
        self.0.env(name, value);
        self
    }

    /// Starts it, with a pipe to its standard input.
    pub fn spawn(mut self) -> Child {
        self.0.stdin(Stdio::piped()).spawn().expect("ax runs")
    }

    /// Runs it to its end.
    pub fn run(self) -> Ran {
        self.run_with("")
    }

    /// Runs it to its end, with this as its standard input.
    pub fn run_with(self, input: &str) -> Ran {
        let mut child = self.spawn();
        let mut stdin = child.stdin.take().expect("it was asked for");
        // One that ends before it has read everything is not at fault.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        Ran::of(child)
    }
}

impl Ran {
    /// Waits for the end of an `ax`.
    pub fn of(child: Child) -> Ran {
        let Output { status, stdout, stderr } = output(child);
        Ran {
            code: status.code().unwrap_or(-1),
            out: String::from_utf8(stdout).expect("ax writes UTF-8"),
            err: String::from_utf8_lossy(&stderr).into_owned(),
        }
    }

    /// What it printed, as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|fault| panic!("{fault}: {self:?}"))
    }

    /// Fails unless it exited so.
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}

/// The lines a process writes, as it writes them. One that does not come in time fails the test.
pub fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    let pipe = child.stdout.take().expect("it was asked for");
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    std::iter::from_fn(move || match told.recv_timeout(PATIENCE) {
        Ok(line) => Some(line),
        Err(RecvTimeoutError::Disconnected) => None,
        Err(RecvTimeoutError::Timeout) => panic!("no line came"),
    })
}

fn output(mut child: Child) -> Output {
    fn read(pipe: Option<impl std::io::Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
        std::thread::spawn(move || {
            let mut all = Vec::new();
            if let Some(mut pipe) = pipe {
                let _ = pipe.read_to_end(&mut all);
            }
            all
        })
    }
    let (out, err) = (read(child.stdout.take()), read(child.stderr.take()));
    let status = wait_for_exit(&mut child);
    Output { status, stdout: out.join().unwrap_or_default(), stderr: err.join().unwrap_or_default() }
}
