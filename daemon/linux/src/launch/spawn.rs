//! Starting a process that outlives axd and takes nothing of it along.
//!
//! Where axd is a service of the user's systemd, a child would inherit what the unit forbids and end with it; there
//! systemd is asked to start the app. Elsewhere it is a process of its own session, with no terminal and no open files.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::unistd::setsid;
use tracing::warn;

use crate::launch::environment::{ALWAYS, KEPT_BACK};
use axd_platform::children::reap;
use axd_platform::{Failure, FailureKind, Sent};

/// A command to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LaunchCommand {
    pub program: PathBuf,
    /// Its command line; the first word is what it is called by.
    pub line: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: Option<PathBuf>,
}

/// Starts a command. Returns its process, where that is known; `ended` is called when it has ended, with how if it
/// failed.
pub(super) fn start(
    start: &LaunchCommand,
    ended: impl FnOnce(u32, Option<String>) + Send + 'static,
) -> Result<Option<u32>, Failure> {
    if let Some(manager) = systemd() {
        match start_by_systemd(&manager, start) {
            Ok(pid) => {
                if let Some(pid) = pid {
                    follow(pid, |pid| ended(pid, None));
                }
                return Ok(pid);
            }
            Err(Refusal::Failed(why)) => {
                return Err(Failure::new(FailureKind::Refused, why).sent(Sent::Maybe));
            }
            Err(Refusal::Absent(why)) => warn!(%why, "systemd cannot be asked; the app is started directly"),
        }
    }
    // Nothing runs if this fails: the system says so before the program is in place.
    start_directly(start, ended).map(Some).map_err(|why| Failure::new(FailureKind::Refused, why))
}

fn start_directly(
    start: &LaunchCommand,
    ended: impl FnOnce(u32, Option<String>) + Send + 'static,
) -> Result<u32, String> {
    let child = detached(start).map_err(|error| format!("{}: {error}", start.program.display()))?;
    let pid = child.id();
    reap(child, ended);
    Ok(pid)
}

/// Calls `ended` when a process that is not a child of axd has ended; how is not known.
fn follow(pid: u32, ended: impl FnOnce(u32) + Send + 'static) {
    use std::os::fd::{AsFd, FromRawFd, OwnedFd};
    // SAFETY: no memory is involved.
    let fd = unsafe { nix::libc::syscall(nix::libc::SYS_pidfd_open, pid, 0) };
    let Some(fd) = i32::try_from(fd).ok().filter(|fd| *fd >= 0) else { return ended(pid) };
    // SAFETY: the call returned it, and nobody else has it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let wait = move || {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        while let Err(nix::errno::Errno::EINTR) =
            poll(&mut [PollFd::new(fd.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE)
        {}
        ended(pid);
    };
    let waiting = std::thread::Builder::new().name("axd-child".to_owned()).stack_size(64 * 1024);
    if let Err(error) = waiting.spawn(wait) {
        warn!(%error, "nobody waits for the end of an app");
    }
}

fn detached(start: &LaunchCommand) -> io::Result<Child> {
    let mut command = Command::new(&start.program);
    command.args(start.line.iter().skip(1)).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Some(first) = start.line.first() {
        command.arg0(first);
    }
    for name in KEPT_BACK {
        command.env_remove(name);
    }
    command.env(ALWAYS.0, ALWAYS.1).envs(start.env.iter().map(|(name, value)| (name, value)));
    if let Some(cwd) = &start.cwd {
        command.current_dir(cwd);
    }
    // SAFETY: between fork and exec only two system calls are made, which are safe there; nothing is allocated.
    unsafe {
        command.pre_exec(|| {
            setsid()?;
            close_on_exec();
            Ok(())
        });
    }
    command.spawn()
}

/// Marks every descriptor but the first three to be closed when the program starts: some that axd was given by whoever
/// started it may not be. They are not closed at once, because one of them reports whether the start succeeded.
fn close_on_exec() {
    // SAFETY: no memory is involved. A kernel that does not know the call leaves things as they are.
    unsafe {
        nix::libc::syscall(nix::libc::SYS_close_range, 3u32, u32::MAX, nix::libc::CLOSE_RANGE_CLOEXEC);
    }
}

/// Why systemd did not start it.
enum Refusal {
    /// It cannot be reached.
    Absent(String),
    /// It tried and failed.
    Failed(String),
}

/// The program to ask systemd with, if axd is a service of the user's systemd.
fn systemd() -> Option<PathBuf> {
    std::env::var_os("INVOCATION_ID")?;
    let group = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    is_user_service(&group).then_some(())?;
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join("systemd-run")).find(|program| program.is_file())
}

/// Whether a process in this group was started by a user's systemd as a service: not in a terminal of a desktop that
/// happens to run under it.
fn is_user_service(group: &str) -> bool {
    group.lines().any(|line| {
        line.contains("/user@") && line.trim_end().ends_with(".service") && !line.ends_with(".scope")
    })
}

fn start_by_systemd(manager: &Path, start: &LaunchCommand) -> Result<Option<u32>, Refusal> {
    let unit = unit(&start.program, std::process::id(), std::time::SystemTime::now());
    let output = Command::new(manager)
        .args(arguments(&unit, start, |name| std::env::var_os(name)))
        // The values go by the environment of `systemd-run`: its arguments can be read by every user.
        .env(ALWAYS.0, ALWAYS.1)
        .envs(start.env.iter().filter(|(name, _)| !is_for_systemd_run(name)).cloned())
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Refusal::Absent(error.to_string()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let absent = ["Failed to connect", "not been booted", "Failed to create bus"];
        return Err(match absent.iter().any(|words| message.contains(words)) {
            true => Refusal::Absent(message),
            false => Refusal::Failed(format!("{}: {message}", start.program.display())),
        });
    }
    let shown = Command::new(manager.with_file_name("systemctl"))
        .args(["--user", "show", "--property=MainPID", "--value", &unit])
        .stdin(Stdio::null())
        .output();
    let pid = shown.ok().and_then(|shown| String::from_utf8_lossy(&shown.stdout).trim().parse().ok());
    Ok(pid.filter(|pid| *pid != 0))
}

/// A name that no other unit has.
fn unit(program: &Path, pid: u32, now: std::time::SystemTime) -> String {
    let name = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String =
        name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!("app-axd-{name}-{pid}-{since:x}.service")
}

/// Whether `systemd-run` itself would act on a variable: those are passed as arguments, because it has to reach the manager.
fn is_for_systemd_run(name: &str) -> bool {
    name == "XDG_RUNTIME_DIR" || ["DBUS_", "LD_", "SYSTEMD_"].iter().any(|prefix| name.starts_with(prefix))
}

/// The arguments of `systemd-run`.
fn arguments(unit: &str, start: &LaunchCommand, env: impl Fn(&str) -> Option<OsString>) -> Vec<OsString> {
    /// What the user's systemd may not know, or know otherwise.
    const HANDED_ON: [&str; 9] = [
        "DBUS_SESSION_BUS_ADDRESS",
        "DISPLAY",
        "LANG",
        "PATH",
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
        "XDG_CURRENT_DESKTOP",
        "XDG_DATA_DIRS",
        "XDG_SESSION_TYPE",
    ];
    let mut words: Vec<OsString> = Vec::new();
    // A start that fails is reported (exec), what the app leaves running stays (process), and nothing is left (collect).
    let fixed = ["--user", "--quiet", "--collect", "--service-type=exec", "--property=KillMode=process"];
    words.extend(fixed.map(OsString::from));
    words.extend([format!("--unit={unit}").into(), "--slice=app.slice".into()]);
    if let Some(cwd) = &start.cwd {
        let mut word = OsString::from("--working-directory=");
        word.push(cwd);
        words.push(word);
    }
    // Without a value, `systemd-run` takes it from its own environment.
    let mut set = |name: &str| words.push(format!("--setenv={name}").into());
    HANDED_ON.into_iter().filter(|name| env(name).is_some()).for_each(&mut set);
    set(ALWAYS.0);
    for (name, value) in &start.env {
        match is_for_systemd_run(name) {
            true => set(&format!("{name}={value}")),
            false => set(name),
        }
    }
    words.extend(["--".into(), start.program.clone().into()]);
    words.extend(start.line.iter().skip(1).map(OsString::from));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start_of(program: &str, words: &[&str]) -> LaunchCommand {
        let line = words.iter().map(|word| (*word).to_owned()).collect();
        LaunchCommand {
            program: program.into(),
            line,
            env: vec![("K".into(), "v w".into())],
            cwd: Some("/tmp".into()),
        }
    }

    #[test]
    fn systemd_gets_everything_as_its_own_options() {
        let start = start_of("/usr/bin/app", &["app", "--x", "a b"]);
        let words = arguments("u.service", &start, |name| (name == "DISPLAY").then(|| ":7".into()));
        let words: Vec<String> = words.into_iter().map(|word| word.into_string().unwrap()).collect();
        for word in
            ["--user", "--unit=u.service", "--working-directory=/tmp", "--setenv=DISPLAY", "--setenv=K"]
        {
            assert!(words.iter().any(|other| other == word), "{word}: {words:?}");
        }
        assert!(
            words.ends_with(&["--".into(), "/usr/bin/app".into(), "--x".into(), "a b".into()]),
            "{words:?}"
        );
    }

    #[test]
    fn no_value_of_a_variable_is_in_the_arguments_that_every_user_can_read() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("systemd-run");
        std::fs::write(&run, "#!/bin/sh\necho \"$@\" >\"$0.args\"; echo \"$TOKEN\" >\"$0.env\"\n").unwrap();
        std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut start = start_of("/usr/bin/app", &["app"]);
        start.env = vec![("TOKEN".into(), "s3cret".into()), ("LD_PRELOAD".into(), "/l.so".into())];
        assert!(start_by_systemd(&run, &start).is_ok());
        let read = |end: &str| std::fs::read_to_string(format!("{}.{end}", run.display())).unwrap();
        let args = read("args");
        assert!(!args.contains("s3cret") && args.contains("--setenv=TOKEN "), "{args}");
        assert!(args.contains("--setenv=LD_PRELOAD=/l.so"), "{args}");
        assert_eq!(read("env"), "s3cret\n");
    }

    #[test]
    fn what_systemd_answers_is_understood() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            path
        };
        let start = start_of("/usr/bin/app", &["app"]);
        script("systemctl", "echo 4711");
        let run = script("systemd-run", "exit 0");
        assert!(matches!(start_by_systemd(&run, &start), Ok(Some(4711))));
        script("systemctl", "echo 0");
        assert!(matches!(start_by_systemd(&run, &start), Ok(None)), "it has ended already, or handed over");
        script("systemd-run", "echo 'Failed to connect to bus: No such file' >&2; exit 1");
        assert!(matches!(start_by_systemd(&run, &start), Err(Refusal::Absent(_))));
        script("systemd-run", "echo 'Job failed: exec format error' >&2; exit 1");
        assert!(
            matches!(start_by_systemd(&run, &start), Err(Refusal::Failed(why)) if why.contains("exec format error"))
        );
    }

    #[test]
    fn only_a_service_of_the_users_systemd_starts_apps_through_it() {
        assert!(is_user_service("0::/user.slice/user-1000.slice/user@1000.service/app.slice/axd.service\n"));
        assert!(!is_user_service(
            "0::/user.slice/user-1000.slice/user@1000.service/app.slice/vte-spawn-1.scope\n"
        ));
        assert!(!is_user_service("0::/system.slice/cron.service\n"));
        assert!(!is_user_service("0::/\n"));
    }

    #[test]
    fn a_program_that_cannot_start_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let start = LaunchCommand { cwd: None, ..start_of("/nowhere/app", &["app"]) };
        assert!(start_directly(&start, |_, _| ()).unwrap_err().contains("No such file"));
        let text = folder.path().join("text");
        std::fs::write(&text, "not a program").unwrap();
        let start = LaunchCommand { program: text, ..start };
        assert!(start_directly(&start, |_, _| ()).unwrap_err().contains("Permission denied"));
    }

    #[test]
    fn how_a_process_ended_is_reported() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let start = LaunchCommand { cwd: None, ..start_of("/bin/sh", &["sh", "-c", "exit 3"]) };
        let pid = start_directly(&start, move |pid, how| sender.send((pid, how)).unwrap()).unwrap();
        assert_eq!(receiver.recv().unwrap(), (pid, Some("exit status: 3".to_owned())));
        // One that ends well may have handed over to another.
        let (sender, receiver) = std::sync::mpsc::channel();
        let start = LaunchCommand { line: vec!["sh".into(), "-c".into(), "true".into()], ..start };
        let pid = start_directly(&start, move |pid, how| sender.send((pid, how)).unwrap()).unwrap();
        assert_eq!(receiver.recv().unwrap(), (pid, None));
    }

    #[test]
    fn the_end_of_a_process_that_is_no_child_is_reported() {
        let mut child = Command::new("/bin/sh").args(["-c", "read x"]).stdin(Stdio::piped()).spawn().unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        follow(child.id(), move |pid| sender.send(pid).unwrap());
        assert!(receiver.try_recv().is_err(), "it runs");
        drop(child.stdin.take());
        assert_eq!(receiver.recv().unwrap(), child.id());
        child.wait().unwrap();
    }

    #[test]
    fn an_app_has_its_own_session_no_files_of_ours_and_leaves_no_zombie() {
        let folder = tempfile::tempdir().unwrap();
        // A file that is inherited unless something is done about it.
        let open = std::fs::File::create(folder.path().join("open")).unwrap();
        nix::fcntl::fcntl(&open, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty())).unwrap();
        let script = "ls -l /proc/self/fd > fds; cut -d' ' -f6 /proc/self/stat > session; echo \"$K\" > env; \
                      readlink /proc/self/fd/0 > stdin";
        let start = LaunchCommand {
            cwd: Some(folder.path().to_owned()),
            ..start_of("/bin/sh", &["sh", "-c", &format!("{script}; mv env done")])
        };
        let (sender, receiver) = std::sync::mpsc::channel();
        let pid = start_directly(&start, move |_, how| sender.send(how).unwrap()).unwrap();
        assert_eq!(receiver.recv().unwrap(), None);
        assert!(!PathBuf::from(format!("/proc/{pid}")).exists(), "it stayed as a zombie");
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(!read("fds").contains("/open"), "{}", read("fds"));
        assert_eq!(read("session").trim(), pid.to_string());
        assert_eq!(read("done").trim(), "v w");
        assert_eq!(read("stdin").trim(), "/dev/null");
    }
}
