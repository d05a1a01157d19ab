//! The `ax` and `axd.app` that are tested: installed in a place of their own, started by launchd at a socket of their own.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use axd_client::BUNDLE;
use serde_json::Value;

use crate::process::{self, Ran};

/// How long a command of `ax` may take, unless it says otherwise itself.
const COMMAND_LIMIT: Duration = Duration::from_secs(60);

/// Why something is not as it should be, in one sentence or more.
pub type Fault = String;
/// The result of a check or of a part of one.
pub type Checked<T = ()> = Result<T, Fault>;

/// `ax`, and its daemon.
#[derive(Debug)]
pub struct Ax {
    /// The folder of `ax` and `axd.app`.
    pub home: PathBuf,
    /// The folder of the socket and of what checks write; its path is short, because a socket's is at most 103 bytes.
    pub folder: PathBuf,
    /// The folder of the daemon's logs.
    pub state: PathBuf,
    /// The last command that failed, with all it said.
    last_failure: RefCell<Option<String>>,
}

impl Ax {
    /// Installs the programs of `bin` in `home`.
    pub fn install(bin: &Path, home: &Path, state: &Path) -> Checked<Ax> {
        let cannot = |what: &Path, fault: &io::Error| format!("cannot install {}: {fault}", what.display());
        fs::create_dir_all(home).map_err(|fault| cannot(home, &fault))?;
        for name in ["ax", BUNDLE] {
            let (from, to) = (bin.join(name), home.join(name));
            // What macOS has run before keeps its signature for as long as the file is the same.
            remove(&to).and_then(|()| copy(&from, &to)).map_err(|fault| cannot(&from, &fault))?;
        }
        // What a browser fetched would not be run. That there is no mark is no fault.
        let _ = process::tool(
            "xattr",
            ["-dr".as_ref(), "com.apple.quarantine".as_ref(), home.as_os_str()],
            Duration::from_secs(10),
        );
        let folder = PathBuf::from(format!("/tmp/axd-l4-{}", std::process::id()));
        // axd serves nobody in a folder that others can enter.
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
        made.map_err(|fault| cannot(&folder, &fault))?;
        fs::create_dir_all(state).map_err(|fault| cannot(state, &fault))?;
        Ok(Ax { home: home.into(), folder, state: state.into(), last_failure: RefCell::default() })
    }

    /// The bundle that is to be allowed.
    pub fn bundle(&self) -> PathBuf {
        self.home.join(BUNDLE)
    }

    /// The socket of the daemon.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("axd.sock")
    }

    /// Runs `ax` with these words, and tells what it printed.
    pub fn run(&self, words: &[&str], limit: Duration) -> Checked<Ran> {
        let mut command = Command::new(self.home.join("ax"));
        command
            .args(words)
            .env("AXD_SOCKET", self.socket())
            .env("AXD_STATE", &self.state)
            .env("AXD_BIN", self.bundle())
            // The notifications that the daemon hears are in its log.
            .env("AXD_LOG", "info,axd_macos=trace");
        for name in ["AXD_PLATFORM", "AXD_NO_AUTOSTART"] {
            command.env_remove(name);
        }
        process::run(&mut command, limit)
    }

    /// What `ax` answers, as JSON, whether it is a success or not.
    pub fn ask(&self, words: &[&str]) -> Checked<Value> {
        let ran = self.run(&[words, &["--json"]].concat(), COMMAND_LIMIT)?;
        let line = words.join(" ");
        let failed = |what: &str| {
            let said = format!("ax {line}: {what}\n{}", ran.text());
            self.last_failure.replace(Some(said.clone()));
            said
        };
        if ran.timed_out {
            return Err(failed(&format!("no answer in {} s", COMMAND_LIMIT.as_secs())));
        }
        let answer: Value = serde_json::from_str(&ran.out).map_err(|_| failed("the answer is not JSON"))?;
        if answer["ok"] != true {
            failed("failed");
        }
        Ok(answer)
    }

    /// The data of an answer that is to be a success.
    pub fn data(&self, words: &[&str]) -> Checked<Value> {
        let mut answer = self.ask(words)?;
        if answer["ok"] == true {
            return Ok(answer["data"].take());
        }
        let error = &answer["error"];
        let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        Err(format!("ax {}: {}: {}", words.join(" "), text("code"), text("message")))
    }

    /// The last command that failed since the last call, for the report.
    pub fn take_failure(&self) -> Option<String> {
        self.last_failure.take()
    }

    /// Everything in the daemon's log so far.
    pub fn log(&self) -> String {
        let mut files: Vec<PathBuf> =
            fs::read_dir(&self.state).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        files.sort();
        let read = |file: &PathBuf| String::from_utf8_lossy(&fs::read(file).unwrap_or_default()).into_owned();
        files.iter().filter(|file| file.is_file()).map(read).collect()
    }
}

impl Drop for Ax {
    fn drop(&mut self) {
        // The log is elsewhere; the rest is of no use to anybody.
        let _ = remove(&self.folder);
    }
}

fn remove(path: &Path) -> io::Result<()> {
    let removed =
        if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(fault),
        _ => Ok(()),
    }
}

/// Copies a file or a folder, with the permissions of the files.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
