//! `ax service`: axd as a service of the desktop session.
//!
//! A [`Manager`] looks at how things are and says, purely, which steps lead to what is wanted; [`step`] takes them. To
//! add a system's service manager, implement `Manager` beside `systemd` and name it in [`serve_here`].

mod launchd;
mod program;
mod step;
mod stray;
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

/// The platforms a daemon can be told to serve.
const PLATFORMS: &[&str] = &["auto", "macos", "linux", "sim"];

/// Does what was asked for and prints how things are then.
pub fn run(what: &Service, options: &Options, mode: Mode) -> Exit {
    if let Some(platform) = options.platform.as_deref().filter(|platform| !PLATFORMS.contains(platform)) {
        let message = format!("unknown platform '{platform}'");
        let tip = format!("it is one of {}", PLATFORMS.join(", "));
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

/// What the service is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wanted {
    /// The installed `axd`.
    program: PathBuf,
    /// Its `--platform`; its own default unless said.
    platform: Option<String>,
    /// Where it listens; its own default unless said.
    socket: Option<PathBuf>,
    /// Whether the manager listens, and starts it on demand.
    socket_activation: bool,
}

impl Wanted {
    fn of(what: &Service, options: &Options) -> Result<Wanted, Error> {
        let socket = options.socket.as_deref().map(std::path::absolute).transpose().map_err(|fault| {
            Error::new(ErrorCode::InvalidArgs, format!("the socket path is invalid: {fault}"))
        })?;
        Ok(Wanted {
            program: program::stable(what.force)?,
            platform: options.platform.clone(),
            socket,
            socket_activation: what.socket_activation,
        })
    }
}

/// A system's service manager.
trait Manager {
    /// How it is called.
    const NAME: &'static str;
    /// What [`Manager::look`] finds out.
    type Seen;

    /// The files that make up the service.
    fn files(&self, wanted: &Wanted) -> Result<Vec<ServiceFile>, Error>;
    /// How things are.
    fn look(&self) -> Result<Self::Seen, Error>;
    /// The same, as it is answered.
    fn state(&self, seen: &Self::Seen) -> ServiceState;
    /// Whether the manager holds the socket or runs the daemon, so that whoever answers there is the service.
    fn is_up(&self, seen: &Self::Seen) -> bool;
    /// What else is worth knowing.
    fn notes(&self, seen: &Self::Seen) -> Vec<String>;
    /// The steps from how things are to the service made up of these [`Manager::files`]; none if that is how they are.
    fn install(&self, seen: &Self::Seen, files: &[ServiceFile], force: bool) -> Result<Vec<Step>, Error>;
    /// The steps to no service.
    fn uninstall(&self, seen: &Self::Seen, force: bool) -> Result<Vec<Step>, Error>;
    /// The steps to a service that runs.
    fn start(&self, seen: &Self::Seen) -> Result<Vec<Step>, Error>;
    /// The steps to a service that does not run.
    fn stop(&self, seen: &Self::Seen) -> Result<Vec<Step>, Error>;
}

/// Does it with the service manager of this system.
fn serve_here(what: &Service, options: &Options) -> Result<ServiceAnswer, Error> {
    if axd_client::launchd::is_here() {
        return serve(&Launchd::of_user()?, what, options);
    }
    if cfg!(target_os = "linux") {
        return serve(&Systemd::of_user()?, what, options);
    }
    let reason = "`ax service` knows systemd and launchd, and this system has another service manager";
    Err(Error::new(ErrorCode::PlatformNotSupported, reason).suggest(
        "nothing has to be set up: ax starts axd by itself; or have your session start `axd` at login",
    ))
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
        answer.files = manager.files(&Wanted::of(what, options)?)?;
        return Ok(answer);
    }
    // What is wrong with the wish is said first: it is so whatever the system is like.
    let wanted = match what.action {
        ServiceAction::Install => Some(manager.files(&Wanted::of(what, options)?)?),
        _ => None,
    };
    let seen = manager.look()?;
    let mut steps = match what.action {
        ServiceAction::Install => {
            manager.install(&seen, wanted.as_deref().unwrap_or_default(), what.force)?
        }
        ServiceAction::Uninstall => manager.uninstall(&seen, what.force)?,
        ServiceAction::Start => manager.start(&seen)?,
        ServiceAction::Stop => manager.stop(&seen)?,
        ServiceAction::Status | ServiceAction::Print => Vec::new(),
    };
    let starts = matches!(what.action, ServiceAction::Install | ServiceAction::Start) && !steps.is_empty();
    if starts && !manager.is_up(&seen) {
        // Two daemons cannot serve one socket. If the manager were up, to ask there would start what we ask about.
        steps.splice(0..0, stray::step(&options.socket.clone().unwrap_or_else(stray::default_socket))?);
    }
    answer.steps = steps.iter().map(ToString::to_string).collect();
    if what.dry_run || steps.is_empty() {
        answer.service = Some(manager.state(&seen));
        answer.notes = manager.notes(&seen);
        return Ok(answer);
    }
    for step in &steps {
        step.take()?;
    }
    let seen = manager.look()?;
    answer.service = Some(manager.state(&seen));
    answer.notes = manager.notes(&seen);
    Ok(answer)
}
