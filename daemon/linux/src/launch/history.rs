//! Which processes belong to a launch, and which running app it may have handed over to.
//!
//! What is started has a mark in its environment, which every process it starts inherits, however often it forks; parents
//! are followed too, for those that begin with a clean environment. A program that hands over to an instance that runs
//! already is known by that instance: the same program, one of the same folder, one of the same name, or one that came of
//! an earlier start of it.

use std::collections::VecDeque;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::process;
use axd_platform::Kinship;

/// The mark, in the environment of what was started and of all it starts.
pub(crate) const MARK_VARIABLE: &str = "AXD_LAUNCH";
/// How many starts are remembered.
const MAX_LAUNCHES: usize = 64;
/// How far up parents are followed.
const MAX_PARENTS: usize = 16;

/// The launches that are remembered.
#[derive(Debug, Default)]
pub(crate) struct LaunchHistory(Mutex<VecDeque<LaunchRecord>>);

/// A launch.
#[derive(Debug, Clone)]
pub(crate) struct LaunchRecord {
    pub mark: String,
    pub pid: Option<u32>,
    pub program: PathBuf,
}

impl LaunchHistory {
    pub(crate) fn remember(&self, origin: LaunchRecord) {
        let mut starts = self.0.lock();
        starts.push_back(origin);
        if starts.len() > MAX_LAUNCHES {
            starts.pop_front();
        }
    }

    fn find(&self, mark: &str) -> Option<LaunchRecord> {
        self.0.lock().iter().find(|origin| origin.mark == mark).cloned()
    }

    /// How a process is related to a launch.
    pub fn kinship(&self, mark: &str, pid: u32) -> Kinship {
        let Some(origin) = self.find(mark) else { return Kinship::Unknown };
        let worn = launch_mark(pid);
        if worn.as_deref() == Some(mark) || origin.pid.is_some_and(|first| descends(pid, first)) {
            return Kinship::Own;
        }
        let earlier = worn.as_deref().and_then(|worn| self.find(worn));
        let program = canonical(&origin.program);
        if earlier.is_some_and(|earlier| canonical(&earlier.program) == program) {
            return Kinship::Heir;
        }
        let running = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let shared: Vec<PathBuf> = std::env::split_paths(&path).map(|folder| canonical(&folder)).collect();
        let names = [process::of_process(pid), file_name(running.as_deref())];
        let is_heir = running.is_some_and(|running| is_same_program(&program, &running, &shared))
            || [file_name(Some(&program)), file_name(Some(&origin.program))]
                .iter()
                .flatten()
                .any(|started| names.iter().flatten().any(|name| is_named_after(name, started)));
        match (is_heir, worn) {
            (true, _) => Kinship::Heir,
            (false, Some(_)) => Kinship::Foreign,
            (false, None) => Kinship::Unknown,
        }
    }

    /// Whether a process of a launch still runs.
    pub fn is_at_work(&self, mark: &str) -> bool {
        let Some(origin) = self.find(mark) else { return false };
        let Ok(processes) = std::fs::read_dir("/proc") else { return false };
        processes
            .flatten()
            .filter_map(|process| process.file_name().to_str()?.parse::<u32>().ok())
            .any(|pid| origin.pid == Some(pid) && runs(pid) || launch_mark(pid).as_deref() == Some(mark))
    }
}

/// The launch mark in the environment of a process.
fn launch_mark(pid: u32) -> Option<String> {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
    let prefix = format!("{MARK_VARIABLE}=");
    let worn = environment.split(|byte| *byte == 0).find_map(|pair| pair.strip_prefix(prefix.as_bytes()))?;
    Some(String::from_utf8_lossy(worn).into_owned())
}

/// Whether a process is another one, or descends from it.
fn descends(pid: u32, from: u32) -> bool {
    std::iter::successors(Some(pid), |pid| parent(*pid)).take(MAX_PARENTS).any(|pid| pid == from)
}

fn parent(pid: u32) -> Option<u32> {
    stat_field(pid, 1)?.parse().ok().filter(|parent| *parent > 1)
}

/// Whether a process runs: one that has ended and waits to be asked how does not.
fn runs(pid: u32) -> bool {
    stat_field(pid, 0).is_some_and(|state| state != "Z" && state != "X")
}

/// What `/proc/PID/stat` says after the name, which may hold anything.
fn stat_field(pid: u32, at: usize) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(at).map(str::to_owned)
}

/// Whether a process runs the program, or one that lies beside it in a folder of its own.
fn is_same_program(program: &Path, running: &Path, shared: &[PathBuf]) -> bool {
    if program == running {
        return true;
    }
    let is_interpreter = |path: &Path| path.as_os_str().as_bytes().ends_with(b"sh");
    match (program.parent(), running.parent()) {
        (Some(folder), Some(other)) => {
            folder == other && !shared.iter().any(|shared| shared == folder) && !is_interpreter(running)
        }
        _ => false,
    }
}

/// Whether a program goes by the name of another: `soffice.bin` is of `soffice`, `gnome-terminal-server` of
/// `gnome-terminal`.
fn is_named_after(name: &str, started: &str) -> bool {
    let (name, started) = (name.to_lowercase(), started.to_lowercase());
    match name.strip_prefix(&*started) {
        Some(rest) => !started.is_empty() && (rest.is_empty() || rest.starts_with(['-', '.', '_'])),
        None => false,
    }
}

fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn file_name(path: Option<&Path>) -> Option<String> {
    path?.file_name().map(|name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A shell that tells the process it leaves behind.
    fn leaves(script: &str, mark: Option<&str>) -> (Child, u32) {
        use std::io::BufRead;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(mark) = mark {
            command.env(MARK_VARIABLE, mark);
        }
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        (child, line.trim().parse().unwrap())
    }

    fn starts(mark: &str, pid: Option<u32>, program: &str) -> LaunchHistory {
        let starts = LaunchHistory::default();
        starts.remember(LaunchRecord { mark: mark.into(), pid, program: program.into() });
        starts
    }

    fn end(pid: u32) {
        let _ = nix::sys::signal::kill(
            nix::unistd::Pid::from_raw(pid.try_into().unwrap()),
            nix::sys::signal::Signal::SIGKILL,
        );
    }

    /// Waits until this holds; fails if it never does.
    #[track_caller]
    fn eventually(holds: impl Fn() -> bool) {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while !holds() {
            assert!(std::time::Instant::now() < deadline, "it does not come to be");
            std::thread::yield_now();
        }
    }

    #[test]
    fn what_was_forked_twice_is_known_by_the_mark_it_inherited() {
        let (mut first, left) = leaves("setsid sleep 60 >/dev/null & echo $!", Some("m1"));
        first.wait().unwrap();
        let starts = starts("m1", Some(first.id()), "/opt/x/launcher");
        // For a moment, while a process becomes another program, it wears nothing.
        eventually(|| starts.kinship("m1", left) == Kinship::Own && starts.is_at_work("m1"));
        assert_eq!(starts.kinship("m1", std::process::id()), Kinship::Unknown);
        assert_eq!(starts.kinship("m2", left), Kinship::Unknown, "of that start nothing is known");
        end(left);
        eventually(|| !starts.is_at_work("m1"));
    }

    #[test]
    fn a_child_with_a_clean_environment_is_known_by_its_parents() {
        let (mut first, left) = leaves("env -i sleep 60 >/dev/null & echo $!; wait", Some("m3"));
        let starts = starts("m3", Some(first.id()), "/opt/x/launcher");
        assert_eq!(starts.kinship("m3", left), Kinship::Own);
        end(left);
        first.wait().unwrap();
    }

    #[test]
    fn what_came_of_another_start_is_foreign_unless_that_was_of_the_same_program() {
        let (mut first, left) = leaves("sleep 60 >/dev/null & echo $!", Some("m4"));
        first.wait().unwrap();
        let starts = starts("m5", None, "/opt/x/launcher");
        eventually(|| starts.kinship("m5", left) == Kinship::Foreign);
        starts.remember(LaunchRecord { mark: "m4".into(), pid: None, program: "/opt/x/launcher".into() });
        assert_eq!(starts.kinship("m5", left), Kinship::Heir);
        end(left);
    }

    #[test]
    fn an_instance_is_known_by_its_program_its_folder_or_its_name() {
        let shared = [PathBuf::from("/usr/bin")];
        let same =
            |program: &str, running: &str| is_same_program(Path::new(program), Path::new(running), &shared);
        assert!(same("/usr/bin/mousepad", "/usr/bin/mousepad"));
        assert!(same("/usr/lib/libreoffice/program/soffice", "/usr/lib/libreoffice/program/soffice.bin"));
        assert!(!same("/usr/bin/gedit", "/usr/bin/mousepad"));
        assert!(
            is_named_after("soffice.bin", "soffice")
                && is_named_after("gnome-terminal-server", "gnome-terminal")
        );
        assert!(
            !is_named_after("geditor", "gedit")
                && !is_named_after("gedit", "")
                && !is_named_after("ged", "gedit")
        );
    }
}
