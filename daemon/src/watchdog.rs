//! Tells the service manager that the daemon works, for as long as it does.
//!
//! Each time the daemon asks itself for its status, over its own socket as any client would. Only when the answer has come, so that
//! accepting, reading, the engine and writing are known to work, the manager is told. A daemon that hangs says nothing, and the
//! manager ends it and starts another.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tracing::{info, warn};

use crate::ready::notify;

/// The longest answer that is read: a daemon with many clients has a long status.
const REQUEST: &[u8] = b"{\"id\":1,\"command\":\"status\"}\n";

/// What the service manager wants to be told, and how often at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watchdog {
    manager: OsString,
    limit: Duration,
}

impl Watchdog {
    /// What the environment says of `WATCHDOG_USEC` of `sd_watchdog_enabled(3)`; `None` if nobody watches this process.
    pub fn of(env: impl Fn(&str) -> Option<OsString>, pid: u32) -> Option<Watchdog> {
        let number = |name: &str| env(name)?.to_str()?.parse::<u64>().ok();
        if number("WATCHDOG_PID").is_some_and(|meant| meant != u64::from(pid)) {
            return None;
        }
        let limit = Duration::from_micros(number("WATCHDOG_USEC").filter(|limit| *limit > 0)?);
        Some(Watchdog { manager: env("NOTIFY_SOCKET")?, limit })
    }

    /// Reports for as long as the daemon at this socket answers. Runs on the threads that serve clients.
    pub async fn run(self, socket: PathBuf) {
        info!(limit_ms = self.limit.as_millis(), "the service manager watches this daemon");
        // Three chances before the limit.
        let mut ticks = interval(self.limit / 3);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            match timeout(self.limit, answers(&socket)).await {
                Ok(Ok(())) => {
                    if let Err(fault) = notify(&self.manager, "WATCHDOG=1") {
                        warn!(%fault, "the service manager cannot be told that axd works");
                    }
                }
                Ok(Err(fault)) => {
                    warn!(%fault, "axd does not answer itself; the service manager is not told")
                }
                Err(_) => warn!("axd does not answer itself in time; the service manager is not told"),
            }
        }
    }
}

/// Asks the daemon at a socket for its status.
async fn answers(socket: &PathBuf) -> io::Result<()> {
    let mut stream = BufReader::new(UnixStream::connect(socket).await?);
    stream.get_mut().write_all(REQUEST).await?;
    let mut line = Vec::new();
    stream.read_until(b'\n', &mut line).await?;
    if line.starts_with(b"{\"id\":1,\"ok\":true") {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&line).chars().take(200).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;

    use tokio::net::UnixListener;

    use super::*;

    fn watchdog(notify: &str, usec: &str, pid: &str) -> Option<Watchdog> {
        let env = |name: &str| {
            let value = match name {
                "NOTIFY_SOCKET" => notify,
                "WATCHDOG_USEC" => usec,
                "WATCHDOG_PID" => pid,
                _ => return None,
            };
            Some(value.into())
        };
        Watchdog::of(env, 7)
    }

    #[test]
    fn only_the_process_that_is_meant_is_watched() {
        assert!(watchdog("/n", "30000000", "7").is_some());
        assert_eq!(watchdog("/n", "30000000", "8"), None);
        assert_eq!(watchdog("/n", "0", "7"), None);
        assert_eq!(watchdog("/n", "soon", "7"), None);
    }

    #[tokio::test]
    async fn the_manager_is_told_after_an_answer_and_only_then() {
        let folder = tempfile::tempdir().unwrap();
        let (notify, socket) = (folder.path().join("notify"), folder.path().join("axd.sock"));
        let manager = UnixDatagram::bind(&notify).unwrap();
        manager.set_nonblocking(true).unwrap();
        let listener = UnixListener::bind(&socket).unwrap();
        let watchdog = watchdog(notify.to_str().unwrap(), "30000", "7").unwrap();
        let running = tokio::spawn(watchdog.run(socket));
        let mut message = [0; 64];
        for _ in 0..3 {
            // The daemon has been asked and has not answered yet.
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut asked = String::new();
            BufReader::new(&mut stream).read_line(&mut asked).await.unwrap();
            assert!(asked.contains("status"));
            assert!(manager.recv(&mut message).is_err(), "it is told before the answer");
            stream.write_all(b"{\"id\":1,\"ok\":true}\n").await.unwrap();
            let length = loop {
                match manager.recv(&mut message) {
                    Ok(length) => break length,
                    Err(_) => tokio::task::yield_now().await,
                }
            };
            assert_eq!(&message[..length], b"WATCHDOG=1");
        }
        running.abort();
    }
}
