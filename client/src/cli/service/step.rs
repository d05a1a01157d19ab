//! The steps of setting up a service, and their execution.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use axd_client::launchd;
use axd_client::protocol::{Error, ErrorCode};

use crate::cli::output;

/// What to do when launchctl fails.
const LAUNCHD_ADVICE: &str = "run `ax service status`; axd's error output is in stderr.log in its log folder";

/// A change to the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Stop the daemon that `ax` started, because it has the socket.
    StopDaemon {
        /// The id of its process.
        pid: u32,
        /// Its socket.
        socket: PathBuf,
    },
    /// Write a file, readable by all.
    Write {
        /// The path.
        path: PathBuf,
        /// The content.
        text: String,
    },
    /// Remove a file.
    Remove(PathBuf),
    /// Create a folder that only the user can access, with its parents.
    Folder(PathBuf),
    /// Unload an agent from launchd, and wait for the end of its process and until launchd has forgotten it.
    Unload {
        /// The agent, as launchctl takes it.
        target: String,
        /// The process, if there is one.
        pid: Option<u32>,
    },
    /// Load an agent into launchd.
    Load {
        /// The agent, as launchctl takes it.
        target: String,
        /// Its file.
        file: PathBuf,
    },
    /// Start the process of an agent.
    Kickstart {
        /// The agent, as launchctl takes it.
        target: String,
    },
    /// Run a program, which must succeed.
    Run {
        /// The program and its args.
        argv: Vec<String>,
        /// What to do if it fails.
        advice: &'static str,
    },
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::StopDaemon { pid, .. } => write!(out, "stop the daemon that ax started (pid {pid})"),
            Step::Write { path, .. } => write!(out, "write {}", path.display()),
            Step::Remove(path) => write!(out, "remove {}", path.display()),
            Step::Folder(path) => write!(out, "create the folder {}", path.display()),
            Step::Unload { target, .. } => write!(out, "run launchctl bootout {target}"),
            Step::Load { file, .. } => {
                write!(out, "run launchctl bootstrap {} {}", launchd::domain(), file.display())
            }
            Step::Kickstart { target } => write!(out, "run launchctl kickstart {target}"),
            Step::Run { argv, .. } => write!(out, "run {}", argv.join(" ")),
        }
    }
}

impl Step {
    /// Executes the step.
    pub fn apply(&self) -> Result<(), Error> {
        match self {
            Step::StopDaemon { socket, .. } => axd_client::stop(socket).map_err(|fault| fault.to_error()),
            Step::Write { path, text } => {
                write_atomically(path, text).map_err(|fault| cannot("write", path, &fault))
            }
            Step::Remove(path) => match fs::remove_file(path) {
                Err(fault) if fault.kind() != io::ErrorKind::NotFound => Err(cannot("remove", path, &fault)),
                _ => Ok(()),
            },
            Step::Folder(path) => {
                let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
                made.map_err(|fault| cannot("create the folder", path, &fault))
            }
            Step::Unload { target, pid } => by_launchd(|tell| launchd::unload(target, *pid, tell)),
            Step::Load { target, file } => {
                by_launchd(|tell| launchd::load(target, &file.to_string_lossy(), tell))
            }
            Step::Kickstart { target } => by_launchd(|_| launchd::kickstart(target)),
            Step::Run { argv, advice } => match output_of(argv) {
                Ok(Ok(_)) => Ok(()),
                Ok(Err(said)) => Err(failed(&format!("{} failed: {said}", argv.join(" "))).suggest(*advice)),
                Err(fault) => Err(failed(&format!("cannot run {}: {fault}", argv.join(" ")))),
            },
        }
    }
}

/// Runs a step of launchd, which may take seconds and then says so.
fn by_launchd(step: impl FnOnce(launchd::OnMessage<'_>) -> Result<(), String>) -> Result<(), Error> {
    let tell = output::on_message();
    step(tell.as_ref().map(|tell| tell as &dyn Fn(&str)))
        .map_err(|message| failed(&message).suggest(LAUNCHD_ADVICE))
}

/// The output of a program; `Ok(Err)` is its error output if it failed.
pub fn output_of(argv: &[String]) -> io::Result<Result<String, String>> {
    let (program, args) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    // The output is shown and partly parsed, so it must be in one language and without colours or links.
    let ran = Process::new(program)
        .args(args)
        .env("LC_ALL", "C")
        .env("SYSTEMD_COLORS", "0")
        .env("SYSTEMD_URLIFY", "0")
        .stdin(std::process::Stdio::null())
        .output()?;
    if ran.status.success() {
        return Ok(Ok(String::from_utf8_lossy(&ran.stdout).into_owned()));
    }
    let said = String::from_utf8_lossy(&ran.stderr);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(Err(if said.is_empty() { ran.status.to_string() } else { said }))
}

/// Writes a file atomically, with mode 0644 regardless of the umask.
fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(folder)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = folder.join(name);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o644).open(&new)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.set_permissions(fs::Permissions::from_mode(0o644)))
        .and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // Only the first error is reported.
        let _ = fs::remove_file(&new);
    }
    written
}

fn cannot(what: &str, path: &Path, fault: &io::Error) -> Error {
    failed(&format!("cannot {what} {}: {fault}", path.display()))
        .suggest("check who owns the folder; it must be yours and writable")
}

fn failed(message: &str) -> Error {
    Error::new(ErrorCode::ActionFailed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str) -> Step {
        Step::Run { argv: ["sh", "-c", script].map(String::from).to_vec(), advice: "look again" }
    }

    #[test]
    fn a_file_is_written_whole_with_its_folder_and_readable_by_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b/systemd/user/axd.service");
        for text in ["first", "second"] {
            Step::Write { path: path.clone(), text: text.into() }.apply().unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "nothing else is left");
    }

    #[test]
    fn what_is_gone_already_needs_no_removing() {
        Step::Remove("/no/such/file".into()).apply().unwrap();
    }

    #[test]
    fn a_program_that_fails_is_told_with_its_words_and_what_to_do() {
        run("exit 0").apply().unwrap();
        let error = run("echo 'no  bus' >&2; exit 4").apply().unwrap_err();
        assert!(error.message.ends_with("failed: no bus"), "{}", error.message);
        assert_eq!(error.suggestion, "look again");
        assert!(run("exit 4").apply().unwrap_err().message.ends_with("exit status: 4"));
    }

    #[test]
    fn a_step_says_what_it_does() {
        assert_eq!(Step::Remove("/u/axd.socket".into()).to_string(), "remove /u/axd.socket");
        assert_eq!(run("exit 0").to_string(), "run sh -c exit 0");
        let stray = Step::StopDaemon { pid: 7, socket: "/s".into() };
        assert_eq!(stray.to_string(), "stop the daemon that ax started (pid 7)");
    }
}
