//! Tells the user why a start takes long. launchd does not start a job sooner than 10 s after its last start, whatever its file
//! says, and accepts connections meanwhile: without a word, `ax` seems to hang after an `ax shutdown`.

use std::path::Path;
use std::time::Duration;

use axd_protocol::Paths;
use axd_protocol::paths::System;

use super::load::query;
use super::start::label_of;
use super::target;

/// The time after which the state of the agent is queried. A daemon that is there answers within it.
const NORMAL_START: Duration = Duration::from_millis(1_500);

/// Told to the user while launchd delays a start.
pub(super) const THROTTLED: &str = "launchd starts axd again only 10 s after its last start; waiting";

/// Calls `on_message` if the daemon of this socket does not run after a while, because launchd delays its start. It returns at
/// once; a thread looks, and ends with the program.
pub fn tell_if_throttled(socket: &Path, on_message: fn(&str)) {
    let uid = nix::unistd::geteuid().as_raw();
    let env = |name: &str| std::env::var_os(name).filter(|_| name != "AXD_SOCKET");
    let default = Paths::resolve(System::CURRENT, uid, env).socket;
    let target = target(&label_of(socket, &default));
    // Without a thread nothing is said, and everything else works.
    let _ = std::thread::Builder::new().name("axd-slow-start".into()).spawn(move || {
        std::thread::sleep(NORMAL_START);
        let known = query(&target).ok().flatten();
        if known.is_some_and(|known| !known.is_running() && known.last_exit.is_some()) {
            on_message(THROTTLED);
        }
    });
}
