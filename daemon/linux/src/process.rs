//! Which program a process runs, by `/proc`: that stays the same when an app restarts, so ids are made from it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of the program of a process: its executable, or, for an interpreter, the script it runs.
pub(crate) fn of_process(pid: u32) -> Option<String> {
    let proc = Path::new("/proc").join(pid.to_string());
    let executable = std::fs::read_link(proc.join("exe")).ok();
    let line = std::fs::read(proc.join("cmdline")).unwrap_or_default();
    let words: Vec<String> = line
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty())
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let executable = executable.map(|path| path.to_string_lossy().into_owned());
    of_program(executable.as_deref(), &words)
}

/// The program file of a process.
pub(crate) fn executable(pid: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The name of a program, by its executable and its command line.
fn of_program(executable: Option<&str>, words: &[String]) -> Option<String> {
    // A program that was replaced while it runs, as by an update.
    let executable = executable.map(|path| path.trim_end_matches(" (deleted)"));
    let program = base_name(executable.or(words.first().map(String::as_str))?)?;
    if is_interpreter(program) {
        let mut rest = words.iter().skip(1);
        while let Some(word) = rest.next() {
            match word.as_str() {
                "-m" => return rest.next().cloned(),
                "-c" | "-e" => break,
                word if word.starts_with('-') => {}
                word => return base_name(word).map(str::to_owned),
            }
        }
    }
    Some(program.to_owned())
}

/// The user a process belongs to; `None` if there is no such process.
pub(crate) fn owner(pid: u32) -> Option<u32> {
    Some(std::fs::metadata(format!("/proc/{pid}")).ok()?.uid())
}

fn base_name(path: &str) -> Option<&str> {
    path.rsplit('/').next().filter(|name| !name.is_empty())
}

fn is_interpreter(program: &str) -> bool {
    let plain = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    matches!(
        plain,
        "python" | "perl" | "ruby" | "node" | "gjs" | "gjs-console" | "java" | "bash" | "sh" | "mono"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(executable: &str, line: &str) -> Option<String> {
        of_program(Some(executable), &line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_program_is_known_by_its_executable() {
        assert_eq!(of("/usr/bin/mousepad", "mousepad a.txt").as_deref(), Some("mousepad"));
        assert_eq!(of("/opt/app (deleted)", "app").as_deref(), Some("app"));
    }

    #[test]
    fn a_script_is_known_by_its_own_name() {
        assert_eq!(of("/usr/bin/python3.11", "python3 -u /srv/notes.py --x").as_deref(), Some("notes.py"));
        assert_eq!(of("/usr/bin/python3.11", "python3 -m notes").as_deref(), Some("notes"));
        assert_eq!(of("/usr/bin/python3.11", "python3 -c pass").as_deref(), Some("python3.11"));
    }

    #[test]
    fn this_process_has_one() {
        assert!(of_process(std::process::id()).is_some());
        assert_eq!(of_process(u32::MAX), None);
        assert_eq!(owner(std::process::id()), Some(nix::unistd::geteuid().as_raw()));
        assert_eq!(owner(u32::MAX), None);
    }
}
