//! Closes apps: by asking their windows to close, as their close buttons do, or by SIGKILL.

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, geteuid};
use x11rb::protocol::xproto::{ClientMessageEvent, ConnectionExt as _, EventMask, Window};

use crate::process;
use crate::x11::connection::{Display, XResult};
use crate::x11::ewmh::{self, SOURCE_PAGER, WindowManager};
use axd_platform::{Failure, FailureKind, Gate, Sent};

/// Ends an app at once.
pub(crate) fn kill_app(pid: u32, gate: &Gate) -> Result<(), Failure> {
    let process = check_permitted(pid)?;
    signal(process, Signal::SIGKILL, gate)
}

/// Asks an app to end: its windows, or the process itself if it has none that can be asked.
pub(crate) fn close_app(display: &Display, pid: u32, gate: &Gate) -> Result<(), Failure> {
    let process = check_permitted(pid)?;
    let windows = closable_windows(display, pid)?;
    if windows.is_empty() {
        return signal(process, Signal::SIGTERM, gate);
    }
    let through_manager = WindowManager::find(display)?
        .is_some_and(|manager| manager.supports(display.atoms._NET_CLOSE_WINDOW));
    let mut sent = Sent::No;
    for window in windows {
        if !gate.pass() {
            return Err(Failure::closed().sent(sent));
        }
        match request_close(display, window, through_manager) {
            Ok(()) => sent = Sent::Yes,
            // It closed with the one before.
            Err(error) if error.is_gone() => {}
            Err(error) => return Err(Failure::from(error).sent(Sent::Maybe)),
        }
    }
    display.sync().map_err(|error| Failure::from(error).sent(Sent::Maybe))
}

/// The process, if it may be ended: it is this user's, and neither axd itself nor process 1.
fn check_permitted(pid: u32) -> Result<Pid, Failure> {
    let refused = |why: &str| Err(Failure::new(FailureKind::Refused, format!("process {pid} is {why}")));
    let process = i32::try_from(pid).map_err(|_| gone(pid))?;
    if process <= 1 {
        return refused("not an app");
    }
    if pid == std::process::id() {
        return refused("axd itself; use `ax shutdown`");
    }
    match process::owner(pid) {
        None => Err(gone(pid)),
        Some(owner) if owner != geteuid().as_raw() => refused(&format!("another user's (uid {owner})")),
        Some(_) => Ok(Pid::from_raw(process)),
    }
}

fn signal(process: Pid, signal: Signal, gate: &Gate) -> Result<(), Failure> {
    gate.enter()?;
    match kill(process, signal) {
        Ok(()) => Ok(()),
        Err(Errno::ESRCH) => Err(gone(process.as_raw().unsigned_abs())),
        Err(error) => Err(Failure::new(
            FailureKind::Refused,
            format!("cannot send a signal to process {process}: {error}"),
        )),
    }
}

/// The windows of a process that can be asked to close.
fn closable_windows(display: &Display, pid: u32) -> XResult<Vec<Window>> {
    let atoms = &display.atoms;
    let mut found = Vec::new();
    for window in ewmh::managed_windows(display)? {
        // One that is being closed just now answers errors: it is not there any more.
        let of_pid =
            display.numbers(window, atoms._NET_WM_PID).is_ok_and(|owner| owner.first() == Some(&pid));
        let takes = || display.numbers(window, atoms.WM_PROTOCOLS).unwrap_or_default();
        if of_pid && takes().contains(&atoms.WM_DELETE_WINDOW) {
            found.push(window);
        }
    }
    Ok(found)
}

fn request_close(display: &Display, window: Window, through_manager: bool) -> XResult<()> {
    let atoms = &display.atoms;
    if through_manager {
        return ewmh::send_request(display, window, atoms._NET_CLOSE_WINDOW, [0, SOURCE_PAGER, 0, 0, 0]);
    }
    let data = [atoms.WM_DELETE_WINDOW, x11rb::CURRENT_TIME, 0, 0, 0];
    let message = ClientMessageEvent::new(32, window, atoms.WM_PROTOCOLS, data);
    display.connection.send_event(false, window, EventMask::NO_EVENT, message)?.check()?;
    Ok(())
}

fn gone(pid: u32) -> Failure {
    Failure::new(FailureKind::Gone, format!("process {pid} not found"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_app_is_never_ended() {
        for (pid, kind) in [
            (0, FailureKind::Refused),
            (1, FailureKind::Refused),
            (std::process::id(), FailureKind::Refused),
            (u32::MAX, FailureKind::Gone),
            (i32::MAX.unsigned_abs(), FailureKind::Gone),
        ] {
            let gate = Gate::new();
            assert_eq!(kill_app(pid, &gate).unwrap_err().kind, kind, "{pid}");
            assert!(!gate.is_sent());
        }
    }

    #[test]
    fn a_process_is_ended_unless_its_gate_is_closed() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let closed = Gate::new();
        closed.close();
        assert_eq!(kill_app(child.id(), &closed).unwrap_err().kind, FailureKind::Closed);
        assert!(child.try_wait().unwrap().is_none());
        kill_app(child.id(), &Gate::new()).unwrap();
        assert!(!child.wait().unwrap().success());
    }
}
