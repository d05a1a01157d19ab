//! Which program a process runs, by `/proc`: that stays the same when an app restarts, so ids are made from it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The name of the program of a process: its executable, or, for an interpreter, the script it runs.
pub(crate) fn of_process(pid: u32) -> Option<String> {
    let executable = executable(pid).map(|path| path.to_string_lossy().into_owned());
    of_program(executable.as_deref(), &command_line(pid))
}

fn command_line(pid: u32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// What a process runs, by all names it has: its executable behind all links, the script that an interpreter runs, as it was named
/// and behind all links, and the name that the kernel knows it by. `None` if the process does not tell what it runs.
pub(crate) fn programs(pid: u32) -> Option<Vec<String>> {
    let proc = Path::new("/proc").join(pid.to_string());
    let executable = std::fs::read_link(proc.join("exe")).ok()?.to_string_lossy().into_owned();
    let executable = executable.trim_end_matches(" (deleted)").to_owned();
    let words = command_line(pid);
    let mut programs = Vec::with_capacity(4);
    if base_name(&executable).is_some_and(is_interpreter)
        && let Some(script) = script_of(&words)
    {
        let folder = std::fs::read_link(proc.join("cwd")).unwrap_or_default();
        let target = std::fs::canonicalize(folder.join(script)).ok();
        programs.extend(target.map(|path| path.to_string_lossy().into_owned()));
        programs.push(script.to_owned());
    }
    programs.push(executable);
    let name = std::fs::read_to_string(proc.join("comm")).unwrap_or_default();
    programs.push(name.trim_end().to_owned());
    Some(programs)
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
    if is_interpreter(program)
        && let Some(script) = script_of(words)
    {
        return base_name(script).map(str::to_owned);
    }
    Some(program.to_owned())
}

/// The script or module that an interpreter runs, by its command line.
fn script_of(words: &[String]) -> Option<&str> {
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-m" => return rest.next().map(String::as_str),
            "-c" | "-e" => return None,
            word if word.starts_with('-') => {}
            word => return Some(word),
        }
    }
    None
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
