//! The service as an agent of macOS's launchd: its state, and the steps that change it. Only `query` runs programs.
//!
//! launchd always listens for the daemon. `--socket-activation` decides only whether axd also starts at login.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use axd_client::BUNDLE;
use axd_client::launchd::{
    Agent, LABEL, Loaded, MARK, argv, domain, is_disabled, is_unknown, launchctl, target, to_allow,
};
use axd_client::protocol::command::{ServiceFile, ServiceState};
use axd_client::protocol::paths::System;
use axd_client::protocol::{Error, ErrorCode, Paths};

use super::step::Step;
use super::{Manager, ServiceSpec};

/// The user's own launchd.
#[derive(Debug)]
pub struct Launchd {
    /// The folder of the user's agents.
    folder: PathBuf,
    /// The default paths of the service's socket and logs.
    paths: Paths,
}

/// The state of the service in launchd.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaunchdStatus {
    /// The file in our folder, if there is one.
    text: Option<String>,
    /// The agent, if launchd has loaded it: from that file, or from another that auto-start wrote.
    loaded: Option<Loaded>,
    /// Whether it is disabled, so that launchd does not load it.
    disabled: bool,
}

impl LaunchdStatus {
    fn is_running(&self) -> bool {
        self.loaded.as_ref().is_some_and(Loaded::is_running)
    }
}

impl Launchd {
    /// The launchd of the user who runs this.
    pub fn of_user() -> Result<Launchd, Error> {
        let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        let home = home.ok_or_else(|| {
            Error::new(ErrorCode::ActionFailed, "HOME is not set, so the agent's file has no folder")
                .suggest("set HOME to your home folder")
        })?;
        // The variables of the shell are not those of the service.
        let env = |name: &str| std::env::var_os(name).filter(|_| !name.starts_with("AXD_"));
        let paths = Paths::resolve(System::CURRENT, nix::unistd::geteuid().as_raw(), env);
        Ok(Launchd { folder: home.join("Library/LaunchAgents"), paths })
    }

    fn file(&self) -> PathBuf {
        self.folder.join(format!("{LABEL}.plist"))
    }

    fn log(&self) -> PathBuf {
        self.paths.state.join("stderr.log")
    }

    fn refuse_foreign(&self, status: &LaunchdStatus, force: bool) -> Result<(), Error> {
        if force || status.text.as_ref().is_none_or(|text| text.contains(MARK)) {
            return Ok(());
        }
        let message = format!("{} was not written by `ax service install`", self.file().display());
        Err(Error::new(ErrorCode::ActionFailed, message)
            .suggest("check the file; if it is not needed, add --force"))
    }

    /// The steps that load the agent; a disabled agent is enabled first. One that is to run is started too, because launchd may
    /// not do so itself if it had the agent before.
    fn load(&self, status: &LaunchdStatus, start: bool) -> Vec<Step> {
        let enable = status.disabled.then(|| Step::Run {
            argv: argv(&["enable", &target(LABEL)]),
            advice: "run `ax service status` to see its state",
        });
        let load = Step::Load { target: target(LABEL), file: self.file() };
        enable.into_iter().chain([load]).chain(start.then(kickstart)).collect()
    }
}

impl Manager for Launchd {
    const NAME: &'static str = "launchd";
    type Status = LaunchdStatus;

    fn files(&self, spec: &ServiceSpec) -> Result<Vec<ServiceFile>, Error> {
        let platform = spec.platform.iter().flat_map(|platform| ["--platform".to_owned(), platform.clone()]);
        let agent = Agent {
            label: LABEL.to_owned(),
            program: spec.program.clone(),
            arguments: platform.collect(),
            environment: Vec::new(),
            socket: spec.socket.clone().unwrap_or_else(|| self.paths.socket.clone()),
            run_at_load: !spec.socket_activation,
            log: self.log(),
        };
        Ok(vec![ServiceFile { path: self.file().display().to_string(), text: agent.plist()? }])
    }

    fn query(&self) -> Result<LaunchdStatus, Error> {
        let loaded = match launchctl(&["print", &target(LABEL)]) {
            Ok(Ok(output)) => Some(Loaded::parse(&output)),
            Ok(Err(said)) if is_unknown(&said) => None,
            Ok(Err(said)) => return Err(no_session(&said)),
            Err(fault) => return Err(no_launchctl(&fault)),
        };
        let disabled = launchctl(&["print-disabled", &domain()]).ok().and_then(Result::ok);
        let path = self.file();
        let text = match fs::read(&path) {
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
        Ok(LaunchdStatus {
            text,
            loaded,
            disabled: disabled.is_some_and(|output| is_disabled(&output, LABEL)),
        })
    }

    fn state(&self, status: &LaunchdStatus) -> ServiceState {
        let loaded = status.loaded.as_ref();
        let installed = status.text.is_some();
        let failed = loaded
            .is_some_and(|loaded| !loaded.is_running() && loaded.last_exit.is_some_and(|code| code != 0));
        ServiceState {
            installed,
            enabled: installed && !status.disabled,
            active: status.is_running(),
            state: match (status.is_running(), failed) {
                (true, _) => "active",
                (false, true) => "failed",
                (false, false) => "inactive",
            }
            .to_owned(),
            pid: loaded.and_then(|loaded| loaded.pid),
            socket_activation: status.text.as_ref().is_some_and(|text| !Agent::runs_at_load_in(text)),
            listening: loaded.is_some(),
            unit: installed.then(|| self.file().display().to_string()),
        }
    }

    fn is_up(&self, status: &LaunchdStatus) -> bool {
        status.loaded.is_some()
    }

    fn notes(&self, status: &LaunchdStatus) -> Vec<String> {
        let mut notes = Vec::new();
        match (&status.text, &status.loaded) {
            (None, None) => notes.push(
                "not installed; `ax service install` installs it. Until then, ax makes launchd start axd for the session"
                    .into(),
            ),
            (None, Some(_)) => notes.push(
                "not installed; launchd starts axd for this session only. `ax service install` makes it permanent".into(),
            ),
            (Some(text), _) => notes.push(format!(
                "axd needs the Accessibility permission once: allow {} in System Settings › Privacy & Security › Accessibility; `ax permissions --request` makes macOS ask for it",
                Agent::program_in(text).map_or_else(|| BUNDLE.to_owned(), |program| to_allow(&program))
            )),
        }
        if status.text.is_some() && status.disabled {
            notes.push(
                "it is disabled in System Settings › General › Login Items; enable it with `ax service start`"
                    .into(),
            );
        }
        if let Some(code) =
            status.loaded.as_ref().filter(|loaded| !loaded.is_running()).and_then(|loaded| loaded.last_exit)
            && code != 0
        {
            notes.push(format!("it ended with {code}; see {}", self.log().display()));
        }
        notes
    }

    fn install(
        &self,
        status: &LaunchdStatus,
        files: &[ServiceFile],
        force: bool,
    ) -> Result<Vec<Step>, Error> {
        self.refuse_foreign(status, force)?;
        let Some(ServiceFile { text, .. }) = files.first() else { return Ok(Vec::new()) };
        let is_written = status.text.as_ref() == Some(text);
        let is_loaded = status.loaded.as_ref().is_some_and(|loaded| Path::new(&loaded.path) == self.file());
        if is_written && is_loaded && !status.disabled {
            let starts = Agent::runs_at_load_in(text) && !status.is_running();
            return Ok(starts.then(kickstart).into_iter().collect());
        }
        let mut steps = unload(status);
        // launchd does not create the folders of the socket and the log.
        let folders = [Agent::socket_in(text), Some(self.log())];
        steps.extend(
            folders
                .iter()
                .flatten()
                .filter_map(|file| file.parent())
                .map(|folder| Step::Folder(folder.into())),
        );
        if !is_written {
            steps.push(Step::Write { path: self.file(), text: text.clone() });
        }
        steps.extend(self.load(status, Agent::runs_at_load_in(text)));
        Ok(steps)
    }

    fn uninstall(&self, status: &LaunchdStatus, force: bool) -> Result<Vec<Step>, Error> {
        self.refuse_foreign(status, force)?;
        let mut steps = unload(status);
        steps.extend(status.text.as_ref().map(|_| Step::Remove(self.file())));
        Ok(steps)
    }

    fn start(&self, status: &LaunchdStatus) -> Result<Vec<Step>, Error> {
        if status.text.is_none() {
            return Err(Error::new(ErrorCode::ActionFailed, "the service is not installed")
                .suggest("install and start it with `ax service install`")
                .retry("service install"));
        }
        if status.is_running() {
            return Ok(Vec::new());
        }
        Ok(if status.loaded.is_some() { vec![kickstart()] } else { self.load(status, true) })
    }

    fn stop(&self, status: &LaunchdStatus) -> Result<Vec<Step>, Error> {
        // The agent is unloaded, because as long as launchd listens, a connection would start the process again.
        Ok(unload(status))
    }
}

fn unload(status: &LaunchdStatus) -> Vec<Step> {
    let loaded = status.loaded.iter();
    loaded.map(|loaded| Step::Unload { target: target(LABEL), pid: loaded.pid }).collect()
}

fn kickstart() -> Step {
    Step::Kickstart { target: target(LABEL) }
}

fn no_launchctl(fault: &std::io::Error) -> Error {
    Error::new(ErrorCode::PlatformNotSupported, format!("cannot run launchctl: {fault}"))
        .suggest("launchd is part of macOS; add /bin to the PATH")
}

fn no_session(said: &str) -> Error {
    let message = format!("launchd has no graphical session for this user: {said}");
    Error::new(ErrorCode::PlatformNotSupported, message).suggest(
        "run this as the user who is logged in at the screen, without sudo; over ssh, that user must be logged in at the screen too",
    )
}

#[cfg(test)]
#[path = "launchd_tests.rs"]
mod tests;
