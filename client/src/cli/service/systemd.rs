//! The service as systemd user units: their state, and the steps that change it. Only `query` runs programs.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use axd_client::protocol::command::{ServiceFile, ServiceState};
use axd_client::protocol::{Error, ErrorCode};

use super::step::{Step, output_of};
use super::{Manager, ServiceSpec, unit};

const SERVICE: &str = "axd.service";
const SOCKET: &str = "axd.socket";
const SESSION: &str = "graphical-session.target";
/// The properties of a unit that are queried.
const PROPERTIES: &str =
    "--property=Id,LoadState,ActiveState,UnitFileState,FragmentPath,MainPID,NeedDaemonReload";
/// What to do when systemctl fails.
const ADVICE: &str = "see `journalctl --user -u axd.service -e` and `ax service status`";

/// The user's own systemd.
#[derive(Debug)]
pub struct Systemd {
    /// The folder of the user's unit files.
    folder: PathBuf,
}

/// The state of the service in systemd.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemdStatus {
    service: Unit,
    socket: Unit,
    /// Whether the session has started its target, with which services start.
    session: bool,
}

/// A unit: its state in systemd, and its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Unit {
    load: String,
    active: String,
    file_state: String,
    fragment: String,
    pid: Option<u32>,
    needs_reload: bool,
    /// The file in our folder, if there is one.
    text: Option<String>,
}

impl Unit {
    fn is_enabled(&self) -> bool {
        self.file_state.starts_with("enabled")
    }

    fn is_active(&self) -> bool {
        matches!(self.active.as_str(), "active" | "reloading")
    }

    /// Whether it runs, is starting or is stopping.
    fn is_up(&self) -> bool {
        self.is_active() || matches!(self.active.as_str(), "activating" | "deactivating")
    }

    fn is_failed(&self) -> bool {
        self.active == "failed"
    }

    /// Whether there is a file in our folder that `ax` did not write.
    fn is_foreign(&self) -> bool {
        self.text.as_ref().is_some_and(|text| !text.starts_with(unit::MARK))
    }
}

impl Systemd {
    /// The systemd of the user who runs this.
    pub fn of_user() -> Result<Systemd, Error> {
        let path = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let config = path("XDG_CONFIG_HOME").or_else(|| Some(path("HOME")?.join(".config")));
        let config = config.ok_or_else(|| {
            Error::new(ErrorCode::ActionFailed, "HOME is not set, so the unit files have no folder")
                .suggest("set HOME to your home folder")
        })?;
        Ok(Systemd { folder: config.join("systemd/user") })
    }

    fn refuse_foreign(&self, status: &SystemdStatus, force: bool) -> Result<(), Error> {
        let foreign = [(SERVICE, &status.service), (SOCKET, &status.socket)];
        match foreign.into_iter().find(|(_, unit)| unit.is_foreign() && !force) {
            None => Ok(()),
            Some((name, _)) => {
                let path = self.folder.join(name);
                let message = format!("{} was not written by `ax service install`", path.display());
                Err(Error::new(ErrorCode::ActionFailed, message)
                    .suggest("check the file; if it is not needed, add --force"))
            }
        }
    }
}

impl Manager for Systemd {
    const NAME: &'static str = "systemd";
    type Status = SystemdStatus;

    fn files(&self, spec: &ServiceSpec) -> Result<Vec<ServiceFile>, Error> {
        let file =
            |name: &str, text| ServiceFile { path: self.folder.join(name).display().to_string(), text };
        let mut files = vec![file(SERVICE, unit::service(spec)?)];
        if spec.socket_activation {
            files.push(file(SOCKET, unit::socket(spec)?));
        }
        Ok(files)
    }

    fn query(&self) -> Result<SystemdStatus, Error> {
        let output = match output_of(&argv(&["show", SERVICE, SOCKET, SESSION, PROPERTIES])) {
            Ok(Ok(output)) => output,
            Ok(Err(said)) => return Err(no_manager(&said)),
            Err(fault) => return Err(no_systemctl(&fault)),
        };
        let mut status = parse_show(&output);
        for (name, unit) in [(SERVICE, &mut status.service), (SOCKET, &mut status.socket)] {
            let path = self.folder.join(name);
            unit.text = match fs::read(&path) {
                Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
                // A broken link exists and would be in the way.
                Err(_) if path.is_symlink() => Some(String::new()),
                Err(fault) if fault.kind() == ErrorKind::NotFound => None,
                Err(fault) => {
                    let message = format!("cannot read {}: {fault}", path.display());
                    return Err(Error::new(ErrorCode::ActionFailed, message)
                        .suggest("check who owns the file; it must be yours and readable"));
                }
            };
        }
        Ok(status)
    }

    fn state(&self, status: &SystemdStatus) -> ServiceState {
        let SystemdStatus { service, socket, .. } = status;
        ServiceState {
            installed: service.load == "loaded",
            enabled: service.is_enabled() || socket.is_enabled(),
            active: service.is_active(),
            state: service.active.clone(),
            pid: service.pid,
            socket_activation: socket.is_enabled() || socket.is_active(),
            listening: socket.is_active(),
            unit: (!service.fragment.is_empty()).then(|| service.fragment.clone()),
        }
    }

    fn is_up(&self, status: &SystemdStatus) -> bool {
        status.service.is_up() || status.socket.is_up()
    }

    fn notes(&self, status: &SystemdStatus) -> Vec<String> {
        let mut notes = Vec::new();
        match status.service.load.as_str() {
            "loaded" => {}
            "masked" => {
                notes.push(format!("{SERVICE} is masked; unmask it with `systemctl --user unmask {SERVICE}`"))
            }
            "not-found" => notes.push(
                "not installed; `ax service install` installs it. Until then, ax starts axd when needed"
                    .into(),
            ),
            other => notes.push(format!(
                "systemd cannot use the unit ({other}); see `systemctl --user status {SERVICE}`"
            )),
        }
        if status.service.is_failed() || status.socket.is_failed() {
            notes.push(format!(
                "it failed; see `journalctl --user -u {SERVICE} -e`, then try again with `ax service start`"
            ));
        }
        if status.service.is_enabled() && !status.session {
            notes.push(format!(
                "this session does not start {SESSION}, so axd will not start at login: install with --socket-activation, or run `systemctl --user start {SERVICE}` at login"
            ));
        }
        notes
    }

    fn install(
        &self,
        status: &SystemdStatus,
        files: &[ServiceFile],
        force: bool,
    ) -> Result<Vec<Step>, Error> {
        self.refuse_foreign(status, force)?;
        let SystemdStatus { service, socket, .. } = status;
        let [service_text, socket_text] = [0, 1].map(|at| files.get(at).map(|file| &file.text));
        let with_socket = socket_text.is_some();
        let service_changes = service_text != service.text.as_ref();
        let socket_changes = socket_text != socket.text.as_ref();
        let needs_reload = service_changes || socket_changes || service.needs_reload || socket.needs_reload;
        let (main, name, other, other_name) =
            if with_socket { (socket, SOCKET, service, SERVICE) } else { (service, SERVICE, socket, SOCKET) };
        if !needs_reload
            && main.is_enabled()
            && main.is_active()
            && !other.is_enabled()
            && (with_socket || !socket.is_up())
        {
            return Ok(Vec::new());
        }
        let mut steps = Vec::new();
        // Whoever listens now is not who is to listen: both go, and come back as they are spec.
        let listens_anew = socket_changes || with_socket != socket.is_up();
        let running = up(status);
        if listens_anew && !running.is_empty() {
            steps.push(systemctl("stop", &running));
        }
        if other.is_enabled() {
            steps.push(systemctl("disable", &[other_name]));
        }
        if !with_socket && socket.text.is_some() {
            steps.push(Step::Remove(self.folder.join(SOCKET)));
        }
        let writes = [(SERVICE, service_text, service_changes), (SOCKET, socket_text, socket_changes)];
        for (name, text, _) in writes.into_iter().filter(|(.., changes)| *changes) {
            steps.extend(text.map(|text| Step::Write { path: self.folder.join(name), text: text.clone() }));
        }
        if needs_reload {
            steps.push(run(&["daemon-reload"]));
        }
        reset_failures(status, &mut steps);
        steps.push(run(&["enable", "--now", name]));
        if !listens_anew && service.is_up() && (service_changes || service.needs_reload) {
            steps.push(systemctl("restart", &[SERVICE]));
        }
        Ok(steps)
    }

    fn uninstall(&self, status: &SystemdStatus, force: bool) -> Result<Vec<Step>, Error> {
        self.refuse_foreign(status, force)?;
        // The socket first: while it listens, whoever asks starts the service again.
        let ours: Vec<&str> = [(SOCKET, &status.socket), (SERVICE, &status.service)]
            .into_iter()
            .filter_map(|(name, unit)| unit.text.as_ref().map(|_| name))
            .collect();
        if ours.is_empty() {
            if status.service.load != "loaded" || status.service.fragment.is_empty() {
                return Ok(Vec::new());
            }
            let message = format!("{} was not written by `ax service install`", status.service.fragment);
            return Err(Error::new(ErrorCode::ActionFailed, message).suggest(format!(
                "disable it with `systemctl --user disable --now {SERVICE}`; it must be removed by whoever installed it"
            )));
        }
        let mut steps = vec![run(&[&["disable", "--now"], ours.as_slice()].concat())];
        reset_failures(status, &mut steps);
        steps.extend(ours.iter().map(|name| Step::Remove(self.folder.join(name))));
        steps.push(run(&["daemon-reload"]));
        Ok(steps)
    }

    fn start(&self, status: &SystemdStatus) -> Result<Vec<Step>, Error> {
        if status.service.load != "loaded" {
            return Err(Error::new(ErrorCode::ActionFailed, "the service is not installed")
                .suggest("install and start it with `ax service install`")
                .retry("service install"));
        }
        let with_socket = status.socket.is_enabled() || status.socket.is_up();
        if status.service.is_active() && (!with_socket || status.socket.is_active()) {
            return Ok(Vec::new());
        }
        let mut steps = Vec::new();
        reset_failures(status, &mut steps);
        if with_socket && !status.socket.is_up() && status.service.is_up() {
            // The service listens itself, and systemd cannot listen at the same time.
            steps.push(systemctl("stop", &[SERVICE]));
        }
        // systemd starts the socket before the service.
        steps.push(systemctl("start", if with_socket { &[SOCKET, SERVICE] } else { &[SERVICE] }));
        Ok(steps)
    }

    fn stop(&self, status: &SystemdStatus) -> Result<Vec<Step>, Error> {
        let running = up(status);
        Ok(if running.is_empty() { Vec::new() } else { vec![systemctl("stop", &running)] })
    }
}

/// The units that are up. The socket is first, because a connection to it would start the service again.
fn up(status: &SystemdStatus) -> Vec<&'static str> {
    let units = [(SOCKET, &status.socket), (SERVICE, &status.service)];
    units.into_iter().filter(|(_, unit)| unit.is_up()).map(|(name, _)| name).collect()
}

/// Resets failed units, because systemd does not start a unit that failed too often.
fn reset_failures(status: &SystemdStatus, steps: &mut Vec<Step>) {
    let units = [(SOCKET, &status.socket), (SERVICE, &status.service)];
    let failed: Vec<&str> =
        units.into_iter().filter(|(_, unit)| unit.is_failed()).map(|(name, _)| name).collect();
    if !failed.is_empty() {
        steps.push(systemctl("reset-failed", &failed));
    }
}

fn systemctl(verb: &str, units: &[&str]) -> Step {
    run(&[&[verb], units].concat())
}

fn run(args: &[&str]) -> Step {
    Step::Run { argv: argv(args), advice: ADVICE }
}

fn argv(args: &[&str]) -> Vec<String> {
    ["systemctl", "--user"].iter().chain(args).map(ToString::to_string).collect()
}

/// Parses the output of `systemctl show`: `Key=value` lines, with an empty line between units.
fn parse_show(output: &str) -> SystemdStatus {
    let mut status = SystemdStatus::default();
    for block in output.split("\n\n") {
        let value = |key: &str| {
            let found = block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            found.unwrap_or_default().to_owned()
        };
        let unit = Unit {
            load: value("LoadState"),
            active: value("ActiveState"),
            file_state: value("UnitFileState"),
            fragment: value("FragmentPath"),
            pid: value("MainPID").parse().ok().filter(|pid| *pid != 0),
            needs_reload: value("NeedDaemonReload") == "yes",
            text: None,
        };
        match value("Id").as_str() {
            SERVICE => status.service = unit,
            SOCKET => status.socket = unit,
            SESSION => status.session = unit.is_active(),
            _ => {}
        }
    }
    status
}

fn no_systemctl(fault: &std::io::Error) -> Error {
    let message = match fault.kind() {
        ErrorKind::NotFound => "systemctl not found on the PATH; this system does not use systemd".to_owned(),
        _ => format!("cannot run systemctl: {fault}"),
    };
    Error::new(ErrorCode::PlatformNotSupported, message)
        .suggest("no setup is needed, because ax starts axd; or start `axd` at login in another way")
}

fn no_manager(said: &str) -> Error {
    let message = format!("the systemd user manager does not answer: {said}");
    Error::new(ErrorCode::PlatformNotSupported, message).suggest(
        "run this inside the desktop session, as its user, without sudo and with XDG_RUNTIME_DIR set, so that `systemctl --user status` works; ax starts axd without it too",
    )
}

#[cfg(test)]
#[path = "systemd_tests.rs"]
mod tests;
