//! The pipe on which a starter learns that the daemon listens, or why it does not.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::descriptor;

/// The starter's pipe, if there is one. One line is written to it, then it is closed.
#[derive(Debug)]
pub struct Ready(Option<File>);

impl Ready {
    /// Takes the pipe the daemon was started with.
    pub fn on(fd: Option<i32>) -> io::Result<Ready> {
        let pipe = fd.map(descriptor::take).transpose()?;
        Ok(Ready(pipe.map(File::from)))
    }

    /// Tells that the daemon listens.
    pub fn listening(&mut self, socket: &Path) {
        self.tell(&format!("ready {} {}", std::process::id(), socket.display()));
    }

    /// Tells why it does not.
    pub fn failed(&mut self, code: &str, message: &str) {
        let message: Vec<&str> = message.split_whitespace().collect();
        self.tell(&format!("error {code} {}", message.join(" ")));
    }

    fn tell(&mut self, line: &str) {
        if let Some(mut pipe) = self.0.take() {
            // A starter that no longer listens does not want to know.
            let _ = pipe.write_all(format!("{line}\n").as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{PipeReader, Read, pipe};
    use std::os::fd::IntoRawFd;

    use super::*;

    fn ready() -> (Ready, PipeReader) {
        let (reader, writer) = pipe().unwrap();
        (Ready::on(Some(writer.into_raw_fd())).unwrap(), reader)
    }

    #[test]
    fn the_starter_learns_where_the_daemon_listens_and_the_pipe_is_closed() {
        let (mut ready, mut reader) = ready();
        ready.listening(Path::new("/run/axd.sock"));
        ready.failed("INTERNAL", "not told: the pipe is closed");
        let mut told = String::new();
        reader.read_to_string(&mut told).unwrap();
        assert_eq!(told, format!("ready {} /run/axd.sock\n", std::process::id()));
    }

    #[test]
    fn a_failure_is_one_line_whatever_its_message() {
        let (mut ready, mut reader) = ready();
        ready.failed("INVALID_ARGS", "two\nlines  of it");
        let mut told = String::new();
        reader.read_to_string(&mut told).unwrap();
        assert_eq!(told, "error INVALID_ARGS two lines of it\n");
    }

    #[test]
    fn a_starter_that_is_gone_does_no_harm_and_a_pipe_that_is_none_is_an_error() {
        let (mut ready, reader) = ready();
        drop(reader);
        ready.listening(Path::new("/run/axd.sock"));
        assert!(Ready::on(Some(987)).is_err());
        Ready::on(None).unwrap().listening(Path::new("/run/axd.sock"));
    }
}
