//! `ax service`: axd as a service of the desktop session.
//!
//! A [`Manager`] queries the state of the service and computes, without side effects, the steps to the requested state; [`step`]
//! executes them. To add a service manager, implement `Manager` beside `systemd` and add it to [`serve_here`].

mod launchd;
mod program;
mod running_daemon;
mod step;
mod systemd;
mod unit;

use std::path::PathBuf;

use axd_client::ClientError;
use axd_client::protocol::command::{Service, ServiceAction, ServiceAnswer, ServiceFile, ServiceState};
use axd_client::protocol::{Error, ErrorCode};

use super::Exit;
use super::output::{self, Mode};
use super::parse::{Options, Usage};
use launchd::Launchd;
use step::Step;
use systemd::Systemd;

/// The values of --platform.
const PLATFORMS: &[&str] = &["auto", "macos", "linux", "sim"];

/// Runs the action and prints the state of the service after it.
pub fn run(what: &Service, options: &Options, mode: Mode) -> Exit {
    if let Some(platform) = options.platform.as_deref().filter(|platform| !PLATFORMS.contains(platform)) {
        let message = format!("unknown platform '{platform}'");
        let tip = format!("use one of {}", PLATFORMS.join(", "));
        let text = format!("error: {message}\n\n  tip: {tip}\n");
        return output::usage(
            &Usage { command: "service".into(), text, message, tip: Some(tip) },
            Some(mode),
        );
    }
    match serve_here(what, options) {
        Ok(answer) => output::answer("service", &answer, mode, Exit::Done),
        Err(error) => output::failure("service", &ClientError::Daemon(error), mode),
    }
}

/// The requested service.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ServiceSpec {
    /// The installed `axd`.
    program: PathBuf,
    /// Its `--platform` [default: that of `axd`].
    platform: Option<String>,
    /// The path of its socket [default: that of `axd`].
    socket: Option<PathBuf>,
    /// Whether the manager listens, and starts `axd` on the first connection.
    socket_activation: bool,
}

impl ServiceSpec {
    fn of(what: &Service, options: &Options) -> Result<ServiceSpec, Error> {
        let socket = options.socket.as_deref().map(std::path::absolute).transpose().map_err(|fault| {
            Error::new(ErrorCode::InvalidArgs, format!("the socket path is invalid: {fault}"))
        })?;
        Ok(ServiceSpec {
            program: program::stable(what.force)?,
            platform: options.platform.clone(),
            socket,
            socket_activation: what.socket_activation,
        })
    }
}

/// A system's service manager.
trait Manager {
    /// The name of the manager.
    const NAME: &'static str;
    /// The result of [`Manager::query`].
    type Status;

    /// The files that make up the service.
    fn files(&self, spec: &ServiceSpec) -> Result<Vec<ServiceFile>, Error>;
    /// Queries the state of the service.
    fn query(&self) -> Result<Self::Status, Error>;
    /// The state in the form of the answer.
    fn state(&self, status: &Self::Status) -> ServiceState;
    /// Whether the manager has the socket or runs the daemon, so that a daemon that answers there is the service.
    fn is_up(&self, status: &Self::Status) -> bool;
    /// Additional remarks for the answer.
    fn notes(&self, status: &Self::Status) -> Vec<String>;
    /// The steps that install these [`Manager::files`]; none if they are installed.
    fn install(&self, status: &Self::Status, files: &[ServiceFile], force: bool) -> Result<Vec<Step>, Error>;
    /// The steps that remove the service.
    fn uninstall(&self, status: &Self::Status, force: bool) -> Result<Vec<Step>, Error>;
    /// The steps that start the service.
    fn start(&self, status: &Self::Status) -> Result<Vec<Step>, Error>;
    /// The steps that stop the service.
    fn stop(&self, status: &Self::Status) -> Result<Vec<Step>, Error>;
}

/// Runs the action with the service manager of this system.
fn serve_here(what: &Service, options: &Options) -> Result<ServiceAnswer, Error> {
    if axd_client::launchd::is_here() {
        return serve(&Launchd::of_user()?, what, options);
    }
    if cfg!(target_os = "linux") {
        return serve(&Systemd::of_user()?, what, options);
    }
    let reason = "`ax service` supports systemd and launchd only";
    Err(Error::new(ErrorCode::PlatformNotSupported, reason)
        .suggest("no setup is needed, because ax starts axd; or start `axd` at login in another way"))
}

fn serve<M: Manager>(manager: &M, what: &Service, options: &Options) -> Result<ServiceAnswer, Error> {
    let mut answer = ServiceAnswer {
        action: what.action,
        manager: M::NAME.to_owned(),
        service: None,
        files: Vec::new(),
        dry_run: what.dry_run,
        steps: Vec::new(),
        notes: Vec::new(),
    };
    if what.action == ServiceAction::Print {
        answer.files = manager.files(&ServiceSpec::of(what, options)?)?;
        return Ok(answer);
    }
    // The request is checked first, because its errors do not depend on the system.
    let spec = match what.action {
        ServiceAction::Install => Some(manager.files(&ServiceSpec::of(what, options)?)?),
        _ => None,
    };
    let status = manager.query()?;
    let mut steps = match what.action {
        ServiceAction::Install => {
            manager.install(&status, spec.as_deref().unwrap_or_default(), what.force)?
        }
        ServiceAction::Uninstall => manager.uninstall(&status, what.force)?,
        ServiceAction::Start => manager.start(&status)?,
        ServiceAction::Stop => manager.stop(&status)?,
        ServiceAction::Status | ServiceAction::Print => Vec::new(),
    };
    let starts = matches!(what.action, ServiceAction::Install | ServiceAction::Start) && !steps.is_empty();
    if starts && !manager.is_up(&status) {
        // Two daemons cannot serve one socket. If the manager is up this is not checked, because connecting would start the service.
        steps.splice(
            0..0,
            running_daemon::step(&options.socket.clone().unwrap_or_else(running_daemon::default_socket))?,
        );
    }
    answer.steps = steps.iter().map(ToString::to_string).collect();
    if what.dry_run || steps.is_empty() {
        answer.service = Some(manager.state(&status));
        answer.notes = manager.notes(&status);
        return Ok(answer);
    }
    for step in &steps {
        step.apply()?;
    }
    let status = manager.query()?;
    answer.service = Some(manager.state(&status));
    answer.notes = manager.notes(&status);
    Ok(answer)
}
