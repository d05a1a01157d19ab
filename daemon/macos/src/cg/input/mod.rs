//! Mouse and keyboard by CGEvent, on a thread of its own, because a script may contain pauses.
//!
//! Read `device` first, which is what a script runs on; `receiver` finds who would receive it, `events` creates and posts events.
//! `keys` and `text` are pure: key codes, and how much text one event carries.

mod device;
pub mod events;
pub mod keys;
mod receiver;
pub mod text;

use std::sync::mpsc::Receiver;

use self::device::InputDevice;
use self::keys::Keymap;
use crate::appkit;
use crate::appkit::host;
use crate::desktop::permissions;
use crate::desktop::secure_input::secure_input;
use axd_platform::input_thread::Job;
use axd_platform::{Failure, InputStep};

/// Runs one script after the other, until all senders are gone.
pub fn serve(jobs: &Receiver<Job>) {
    let mut device: Option<InputDevice> = None;
    while let Ok(job) = jobs.recv() {
        let result = host::with_autorelease_pool(|| run(&mut device, &job));
        // The caller may have stopped waiting.
        let _ = job.answer.send(result);
    }
}

fn run(device: &mut Option<InputDevice>, job: &Job) -> Result<Option<String>, Failure> {
    permissions::require_accessibility()?;
    let device = match device {
        Some(device) => device,
        None => device.insert(InputDevice::new()?),
    };
    // The layout may have been switched since the last time.
    let presses = job.input.steps.iter().any(|step| matches!(step, InputStep::Key(..)));
    let layout = if presses { host::run_on_main_blocking(appkit::keyboard) } else { None };
    let types = presses || job.input.steps.iter().any(|step| matches!(step, InputStep::Text(_)));
    let held = if types { secure_input() } else { None };
    device.run(&job.input, Keymap::new(layout.unwrap_or_default()), &job.gate)?;
    Ok(held.map(|held| held.warning()))
}
