//! Mouse and keyboard through XTEST, on a thread of its own with a connection of its own: a drag pauses on its way.
//!
//! `devices` is what a script runs on, and `receiver` says who would receive it. `keymap` and `keys` are pure: which key gives what. `keyboard` presses keys, `text` types
//! with it, `spare_keys` lends keys to characters that have none, and `wm_ping` asks apps whether they have read them. `notes` says
//! what a daemon that is killed leaves held or lent.

mod devices;
mod keyboard;
mod keymap;
mod keys;
mod notes;
pub(crate) mod pointer;
pub(crate) mod receiver;
mod spare_keys;
mod text;
mod wm_ping;

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tracing::debug;

use crate::x11::input::devices::InputDevices;
use axd_platform::input_thread::Job;
use axd_platform::{Failure, Sent};

/// Runs one script after the other, until nobody can ask any more.
pub(crate) fn serve(jobs: &Receiver<Job>) {
    /// How long to wait before asking an app again whether it has read what was typed.
    const RETRY_DELAY: Duration = Duration::from_secs(3);
    // Opened at once, and not for the first script: what a daemon that was killed has left is undone by that.
    let mut devices = InputDevices::open().map_err(|failure| debug!(%failure, "no input yet")).ok();
    loop {
        let job = match devices.as_ref().is_some_and(InputDevices::has_work_left) {
            true => jobs.recv_timeout(RETRY_DELAY),
            false => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match job {
            Ok(job) => {
                let result = run(&mut devices, &job);
                let _ = job.answer.send(result.map(|()| None));
            }
            Err(RecvTimeoutError::Timeout) => tidy_up(&mut devices),
            Err(RecvTimeoutError::Disconnected) => return tidy_up(&mut devices),
        }
    }
}

fn run(devices: &mut Option<InputDevices>, job: &Job) -> Result<(), Failure> {
    let fresh = devices.is_none();
    let ready = match devices {
        Some(ready) => ready,
        None => devices.insert(InputDevices::open()?),
    };
    let result = ready.run(&job.input, &job.gate);
    if !ready.lost {
        return result;
    }
    *devices = None;
    match result {
        // The server has been restarted since the last script; nothing of this one has been sent.
        Err(failure) if !fresh && failure.sent == Sent::No => run(devices, job),
        result => result,
    }
}

fn tidy_up(devices: &mut Option<InputDevices>) {
    if let Some(Err(error)) = devices.as_mut().map(InputDevices::tidy_up) {
        debug!(%error, "keys cannot be given back");
        *devices = None;
    }
}
