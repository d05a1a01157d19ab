//! How whoever started the daemon learns that it listens, or why it does not: `ax` by a pipe, systemd by a message.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;

use tracing::warn;

use axd_server::descriptor;

/// Who wants to know.
#[derive(Debug)]
pub struct Ready {
    /// The starter's pipe, if there is one. One line is written to it, then it is closed.
    pipe: Option<File>,
    /// Where a service manager listens, if one waits: `NOTIFY_SOCKET` of `sd_notify(3)`.
    manager: Option<OsString>,
}

impl Ready {
    /// Takes the pipe the daemon was started with, and whom the environment names.
    pub fn on(fd: Option<i32>, env: impl Fn(&str) -> Option<OsString>) -> io::Result<Ready> {
        let pipe = fd.map(descriptor::take).transpose()?;
        Ok(Ready { pipe: pipe.map(File::from), manager: env("NOTIFY_SOCKET") })
    }

    /// Tells that the daemon listens.
    pub fn listening(&mut self, socket: &Path) {
        if let Some(Err(fault)) = self.manager.take().map(|manager| notify(&manager, "READY=1")) {
            warn!("the service manager cannot be told that axd listens: {fault}");
        }
        self.tell(&format!("ready {} {}", std::process::id(), socket.display()));
    }

    /// Tells why it does not.
    pub fn failed(&mut self, code: &str, message: &str) {
        let message: Vec<&str> = message.split_whitespace().collect();
        self.tell(&format!("error {code} {}", message.join(" ")));
    }

    fn tell(&mut self, line: &str) {
        if let Some(mut pipe) = self.pipe.take() {
            // A starter that no longer listens does not want to know.
            let _ = pipe.write_all(format!("{line}\n").as_bytes());
        }
    }
}

/// Tells a service manager something. It learns of a failure by the daemon's end.
pub fn notify(manager: &OsString, message: &str) -> io::Result<()> {
    let address = match manager.as_encoded_bytes().strip_prefix(b"@") {
        #[cfg(target_os = "linux")]
        Some(name) => <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(manager)?,
    };
    UnixDatagram::unbound()?.send_to_addr(message.as_bytes(), &address).map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::{PipeReader, Read, pipe};
    use std::os::fd::IntoRawFd;

    use super::*;

    fn ready() -> (Ready, PipeReader) {
        let (reader, writer) = pipe().unwrap();
        (Ready::on(Some(writer.into_raw_fd()), |_| None).unwrap(), reader)
    }

    #[test]
    fn a_service_manager_that_waits_is_told_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let manager = UnixDatagram::bind(&path).unwrap();
        manager.set_nonblocking(true).unwrap();
        let mut ready =
            Ready::on(None, |name| (name == "NOTIFY_SOCKET").then(|| path.clone().into())).unwrap();
        let mut message = [0; 64];
        assert!(manager.recv(&mut message).is_err(), "nothing is told before it is so");
        ready.listening(Path::new("/run/axd.sock"));
        let length = manager.recv(&mut message).unwrap();
        assert_eq!(&message[..length], b"READY=1");
        ready.listening(Path::new("/run/axd.sock"));
        assert!(manager.recv(&mut message).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_service_manager_may_listen_at_a_name_that_is_no_path() {
        let name = format!("axd-ready-{}", std::process::id());
        let address = <SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(&name).unwrap();
        let manager = UnixDatagram::bind_addr(&address).unwrap();
        Ready::on(None, |_| Some(format!("@{name}").into())).unwrap().listening(Path::new("/run/axd.sock"));
        let mut message = [0; 64];
        assert_eq!(manager.recv(&mut message).unwrap(), "READY=1".len());
    }

    #[test]
    fn the_starter_learns_where_the_daemon_listens_and_the_pipe_is_closed() {
        let (mut ready, mut reader) = ready();
        ready.listening(Path::new("/run/axd.sock"));
        ready.failed("INTERNAL", "not told: the pipe is closed");
        let mut written = String::new();
        reader.read_to_string(&mut written).unwrap();
        assert_eq!(written, format!("ready {} /run/axd.sock\n", std::process::id()));
    }

    #[test]
    fn a_failure_is_one_line_whatever_its_message() {
        let (mut ready, mut reader) = ready();
        ready.failed("INVALID_ARGS", "two\nlines  of it");
        let mut written = String::new();
        reader.read_to_string(&mut written).unwrap();
        assert_eq!(written, "error INVALID_ARGS two lines of it\n");
    }

    #[test]
    fn a_starter_that_is_gone_does_no_harm_and_a_pipe_that_is_none_is_an_error() {
        let (mut ready, reader) = ready();
        drop(reader);
        ready.listening(Path::new("/run/axd.sock"));
        assert!(Ready::on(Some(987), |_| None).is_err());
        Ready::on(None, |_| Some("/no/such/manager".into())).unwrap().listening(Path::new("/run/axd.sock"));
    }
}
