//! Unloading and loading an agent.
//!
//! `launchctl bootout` returns when launchd has taken the request, not when it is done: launchd forgets the label about five
//! seconds later, and until then it refuses to load the same label again with 5 (`Input/output error`) or 37 (`Operation already
//! in progress`). Nothing announces the end of that time, so it is asked for, up to [`LIMIT`].

use std::time::{Duration, Instant};

use super::{Loaded, domain, is_unknown, launchctl};

/// The time after which launchd must have forgotten a label, and must take it again.
pub const LIMIT: Duration = Duration::from_secs(15);
/// The time between two tries to load an agent.
const LOAD_INTERVAL: Duration = Duration::from_millis(500);
/// The time between two questions whether a label is forgotten.
const QUERY_INTERVAL: Duration = Duration::from_millis(200);
/// The time after which the user is told what is waited for.
const SILENT_WAIT: Duration = Duration::from_secs(2);

/// Told to the user while launchd has not forgotten the agent.
const STILL_UNLOADING: &str = "launchd needs some seconds to unload the previous axd; waiting";
/// Told to the user while launchd refuses to load the agent.
const STILL_REFUSING: &str = "launchd does not load axd yet; trying again";

/// Receives what is waited for, if that takes long.
pub type OnMessage<'a> = Option<&'a dyn Fn(&str)>;

/// Unloads an agent, and waits until its process has ended and launchd has forgotten the label. The error is a message.
pub fn unload(target: &str, pid: Option<u32>, on_message: OnMessage<'_>) -> Result<(), String> {
    match launchctl(&["bootout", target]) {
        Ok(Ok(_)) => {}
        // Another program has unloaded it meanwhile.
        Ok(Err(said)) if is_unknown(&said) || said.contains("No such process") => {}
        // launchd says so if the process has not ended yet.
        Ok(Err(said)) if said.contains("in progress") => {}
        Ok(Err(said)) => return Err(format!("launchctl bootout {target} failed: {said}")),
        Err(fault) => return Err(cannot_run(&fault)),
    }
    if !pid.is_none_or(crate::wait_for_exit) {
        return Err("the daemon was asked to stop, and is still running".to_owned());
    }
    let mut wait = Wait::new(QUERY_INTERVAL, STILL_UNLOADING, on_message);
    loop {
        match query(target)? {
            None => return Ok(()),
            Some(_) if wait.again() => {}
            Some(_) => {
                let limit = LIMIT.as_secs();
                return Err(format!("launchd still has {target} {limit} s after it was asked to unload it"));
            }
        }
    }
}

/// Loads the agent of a file. launchd's refusals that pass are waited out.
pub fn load(target: &str, file: &str, on_message: OnMessage<'_>) -> Result<(), String> {
    let mut wait = Wait::new(LOAD_INTERVAL, STILL_REFUSING, on_message);
    loop {
        let said = match launchctl(&["bootstrap", &domain(), file]) {
            Ok(Ok(_)) => return Ok(()),
            Ok(Err(said)) => said,
            Err(fault) => return Err(cannot_run(&fault)),
        };
        if may_pass(&said) && wait.again() {
            continue;
        }
        // It refuses what is loaded already. Before the limit, that may be what is being unloaded.
        if may_pass(&said) && query(target)?.is_some_and(|loaded| loaded.path == file) {
            return Ok(());
        }
        return Err(format!("launchctl bootstrap {} {file} failed: {said}", domain()));
    }
}

/// Starts the process of a loaded agent. An agent that is loaded again may not start by itself, whatever its file says.
pub fn kickstart(target: &str) -> Result<(), String> {
    match launchctl(&["kickstart", target]) {
        // It has started by itself meanwhile.
        Ok(Err(said)) if !said.contains("in progress") => {
            Err(format!("launchctl kickstart {target} failed: {said}"))
        }
        Ok(_) => Ok(()),
        Err(fault) => Err(cannot_run(&fault)),
    }
}

/// The agent, if it is loaded.
pub fn query(target: &str) -> Result<Option<Loaded>, String> {
    match launchctl(&["print", target]) {
        Ok(Ok(output)) => Ok(Some(Loaded::parse(&output))),
        Ok(Err(said)) if is_unknown(&said) => Ok(None),
        Ok(Err(said)) => Err(format!(
            "launchd has no graphical session for this user ({said}); log in at the screen, or set AXD_START=spawn"
        )),
        Err(fault) => Err(cannot_run(&fault)),
    }
}

/// Whether a refusal to load an agent may pass, because the label is still being unloaded. launchd reports other faults with 5
/// too, such as an agent that is disabled; those do not pass.
fn may_pass(said: &str) -> bool {
    [": 5: ", ": 37: "].iter().any(|code| said.contains(code))
}

fn cannot_run(fault: &std::io::Error) -> String {
    format!("cannot run launchctl: {fault}")
}

/// Waiting for launchd by asking again.
struct Wait<'a> {
    begin: Instant,
    interval: Duration,
    message: &'static str,
    on_message: OnMessage<'a>,
}

impl<'a> Wait<'a> {
    fn new(interval: Duration, message: &'static str, on_message: OnMessage<'a>) -> Wait<'a> {
        Wait { begin: Instant::now(), interval, message, on_message }
    }

    /// Waits for the interval; false if the limit has passed. Says once what is waited for.
    fn again(&mut self) -> bool {
        let waited = self.begin.elapsed();
        if waited >= LIMIT {
            return false;
        }
        if waited >= SILENT_WAIT
            && let Some(on_message) = self.on_message.take()
        {
            on_message(self.message);
        }
        std::thread::sleep(self.interval);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refusals_that_pass_are_tried_again() {
        for (said, expected) in [
            (
                "Bootstrap failed: 5: Input/output error Try re-running the command as root for richer errors.",
                true,
            ),
            ("Bootstrap failed: 37: Operation already in progress", true),
            ("Bootstrap failed: 125: Domain does not support specified action", false),
            ("Bootstrap failed: 1: Operation not permitted", false),
            ("exit status: 5", false),
        ] {
            assert_eq!(may_pass(said), expected, "{said}");
        }
    }
}
