//! Mouse and keyboard through XTEST, on a thread of its own with a connection of its own: a drag pauses on its way.
//!
//! `script` runs the steps, and `receiver` says who would receive them. `keymap` and `keys` are pure: which key gives what. `keyboard` presses keys, `text` types
//! with it, `spare_keys` lends keys to characters that have none, and `wm_ping` asks apps whether they have read them.

mod keyboard;
mod keymap;
mod keys;
pub(crate) mod pointer;
mod receiver;
mod script;
mod spare_keys;
mod text;
mod wm_ping;

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use tracing::debug;

use crate::x11::input::script::Hands;
use axd_platform::input_thread::Job;
use axd_platform::{DesktopAnswer, Failure, Sent};

/// Runs one script after the other, until nobody can ask any more.
pub(crate) fn serve(jobs: &Receiver<Job>) {
    /// How long to wait before asking an app again whether it has read what was typed.
    const LOOK_AGAIN: Duration = Duration::from_secs(3);
    let mut hands: Option<Hands> = None;
    loop {
        let job = match hands.as_ref().is_some_and(Hands::is_untidy) {
            true => jobs.recv_timeout(LOOK_AGAIN),
            false => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match job {
            Ok(job) => {
                let result = run(&mut hands, &job);
                let _ = job.answer.send(result.map(|()| DesktopAnswer::Done));
            }
            Err(RecvTimeoutError::Timeout) => tidy(&mut hands),
            Err(RecvTimeoutError::Disconnected) => return tidy(&mut hands),
        }
    }
}

fn run(hands: &mut Option<Hands>, job: &Job) -> Result<(), Failure> {
    let fresh = hands.is_none();
    let ready = match hands {
        Some(ready) => ready,
        None => hands.insert(Hands::open()?),
    };
    let result = ready.run(&job.input, &job.gate);
    if !ready.lost {
        return result;
    }
    *hands = None;
    match result {
        // The server has been restarted since the last script; nothing of this one has been sent.
        Err(failure) if !fresh && failure.sent == Sent::No => run(hands, job),
        result => result,
    }
}

fn tidy(hands: &mut Option<Hands>) {
    if let Some(Err(fault)) = hands.as_mut().map(Hands::tidy) {
        debug!(%fault, "keys cannot be given back");
        *hands = None;
    }
}
