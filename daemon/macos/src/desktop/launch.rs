//! Starts apps by bundle identifier, name or path, or a program by its path; and ends them.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::appkit;
use crate::appkit::host::{self, HostLaunch};
use axd_platform::children::reap;
use axd_platform::{Failure, FailureKind, Gate, LaunchPlan, Launched, Sent};

/// How long an app may take to start.
const LAUNCH_TIMEOUT: Duration = Duration::from_secs(30);

/// Starts an app, and blocks until it has started. `ended` is called when a program that was started here ends.
pub fn launch(
    plan: &LaunchPlan,
    gate: &Gate,
    ended: impl FnOnce(u32, Option<String>) + Send + 'static,
) -> Result<Launched, Failure> {
    let name = plan.app.trim().to_owned();
    if name.is_empty() {
        return Err(invalid("no app is given".to_owned()));
    }
    if let Some(cwd) = plan.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return Err(invalid(format!("{} is not a folder", cwd.display())));
    }
    let path = Path::new(&name);
    if name.contains('/') && !path.exists() {
        return Err(not_found(format!("{name} not found")));
    }
    let wanted = name.clone();
    let found = host::run_on_main_blocking(move || appkit::find_app(&wanted)).ok_or_else(shutting_down)?;
    match found {
        Some(bundle) => open(bundle, plan, gate),
        None if name.contains('/') && is_program(path) => run(path, plan, gate, ended),
        None if name.contains('/') => Err(invalid(format!("{name} is not an app or a program"))),
        None => match find_in_path(&name) {
            Some(program) => run(&program, plan, gate, ended),
            None => Err(not_found(format!(
                "no app or program is called '{name}'; give an app's name or bundle identifier, a program in PATH, or a path"
            ))),
        },
    }
}

/// Opens a bundle.
fn open(bundle: PathBuf, plan: &LaunchPlan, gate: &Gate) -> Result<Launched, Failure> {
    let launch = HostLaunch {
        bundle,
        args: plan.args.iter().map(Into::into).collect(),
        env: plan.env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        cwd: plan.cwd.clone(),
    };
    let (answer, reply) = std::sync::mpsc::channel();
    let gate = gate.clone();
    let asked = host::run_on_main_blocking(move || {
        let identity = appkit::bundle_identifier(&launch.bundle);
        gate.enter()?;
        // The receiver is gone if the launch timed out.
        appkit::launch(&launch, Box::new(move |result| drop(answer.send(result))));
        Ok::<_, Failure>(identity)
    });
    let identity = asked.ok_or_else(shutting_down)??;
    match reply.recv_timeout(LAUNCH_TIMEOUT) {
        Ok(Ok(app)) => {
            let identity = app.bundle.clone().or(identity);
            Ok(Launched { pid: Some(app.pid), identity })
        }
        Ok(Err(message)) => Err(Failure::new(FailureKind::Refused, message).sent(Sent::Maybe)),
        Err(_) => {
            let message = format!("the app did not start within {} s", LAUNCH_TIMEOUT.as_secs());
            Err(Failure::new(FailureKind::Unresponsive, message).sent(Sent::Maybe))
        }
    }
}

/// Runs a program in a process group of its own, so that it does not end with axd.
fn run(
    program: &Path,
    plan: &LaunchPlan,
    gate: &Gate,
    ended: impl FnOnce(u32, Option<String>) + Send + 'static,
) -> Result<Launched, Failure> {
    let mut command = Command::new(program);
    if let Ok(path) = std::env::join_paths(program_folders()) {
        command.env("PATH", path);
    }
    command
        .args(&plan.args)
        .envs(plan.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    if let Some(cwd) = plan.cwd.clone().or_else(home) {
        command.current_dir(cwd);
    }
    gate.enter()?;
    let child = command
        .spawn()
        .map_err(|error| Failure::new(FailureKind::Refused, format!("{}: {error}", program.display())))?;
    let pid = child.id();
    reap(child, ended);
    let identity = program.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Launched { pid: Some(pid), identity })
}

/// Asks an app to quit, or kills it. Blocks.
pub fn close(pid: u32, force: bool, gate: &Gate) -> Result<(), Failure> {
    if pid == std::process::id() {
        return Err(Failure::new(FailureKind::Refused, "that is axd itself; use `ax shutdown`"));
    }
    let process = i32::try_from(pid).ok().filter(|pid| *pid > 1).map(Pid::from_raw);
    let process = process.ok_or_else(|| not_found(format!("process {pid} not found")))?;
    gate.enter()?;
    if host::run_on_main_blocking(move || appkit::terminate(pid, force)).ok_or_else(shutting_down)? {
        return Ok(());
    }
    // AppKit does not know the process as an app.
    match kill(process, if force { Signal::SIGKILL } else { Signal::SIGTERM }) {
        Ok(()) => Ok(()),
        Err(Errno::ESRCH) => Err(not_found(format!("process {pid} not found"))),
        Err(error) => {
            Err(Failure::new(FailureKind::Refused, format!("cannot send a signal to process {pid}: {error}")))
        }
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The folders that programs are looked for in. launchd gives its jobs a `PATH` without those that people install programs in.
fn program_folders() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    for folder in ["/opt/homebrew/bin", "/usr/local/bin"].map(PathBuf::from) {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

fn find_in_path(name: &str) -> Option<PathBuf> {
    program_folders().into_iter().map(|folder| folder.join(name)).find(|path| is_program(path))
}

/// The default working directory of a program: not that of axd.
fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_dir())
}

/// The failure for an app or process that does not exist.
fn not_found(message: String) -> Failure {
    Failure::new(FailureKind::Gone, message)
}

fn invalid(message: String) -> Failure {
    Failure::new(FailureKind::Invalid, message)
}

fn shutting_down() -> Failure {
    Failure::new(FailureKind::Refused, "axd is stopping")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_where_people_install_them_too() {
        let folders = program_folders();
        for folder in ["/opt/homebrew/bin", "/usr/local/bin"] {
            assert_eq!(folders.iter().filter(|other| *other == Path::new(folder)).count(), 1, "{folder}");
        }
    }
}
