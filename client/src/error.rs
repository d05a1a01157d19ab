//! The errors of a client.

use std::path::PathBuf;

use axd_protocol::error::{Delivery, Disposition};
use axd_protocol::{Error, ErrorCode};

/// An error of a client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No daemon answers at the socket.
    #[error("no daemon answers at {}: {reason}", tried.display())]
    Unavailable {
        /// The socket.
        tried: PathBuf,
        /// Why it does not answer.
        reason: String,
    },
    /// A daemon was started, and cannot serve.
    #[error("axd could not start: {message}")]
    StartFailed {
        /// The socket.
        tried: PathBuf,
        /// The code of the error that it reported, if it reported one.
        code: Option<ErrorCode>,
        /// The message of that error.
        message: String,
    },
    /// A daemon was started, or is being started by another client, and was not ready in time. Nothing was sent.
    #[error("axd could not be started in time: {message}")]
    StartTimeout {
        /// The socket.
        tried: PathBuf,
        /// What was waited for.
        message: String,
    },
    /// The daemon answers nobody.
    #[error("axd{} does not answer: it has said nothing for {waited_s} s, nor to a second connection", of(*.pid))]
    Silent {
        /// Its process, if it is known.
        pid: Option<u32>,
        /// How long it was waited for, in seconds.
        waited_s: u64,
    },
    /// The connection was lost, or the answer timed out.
    #[error("the connection to axd was lost: {0}")]
    Io(#[from] std::io::Error),
    /// The daemon wrote something that is not an answer.
    #[error("axd sent an invalid answer: {0}")]
    Protocol(String),
    /// The daemon answered with an error.
    #[error(transparent)]
    Daemon(#[from] Error),
}

impl ClientError {
    /// Whether no daemon could be reached or started, so that nothing was sent.
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self,
            ClientError::Unavailable { .. }
                | ClientError::StartFailed { .. }
                | ClientError::StartTimeout { .. }
        )
    }

    /// The error in the form of the daemon's errors.
    pub fn to_error(&self) -> Error {
        match self {
            ClientError::Daemon(error) => error.clone(),
            ClientError::Unavailable { .. } => Error::new(ErrorCode::DaemonUnavailable, self.to_string()),
            ClientError::StartFailed { code, .. } => {
                let error = Error::new(ErrorCode::DaemonUnavailable, self.to_string());
                match code {
                    Some(code) => error.suggest(code.suggestion()),
                    None => error.suggest("run `axd` in a terminal to see what is wrong"),
                }
            }
            ClientError::StartTimeout { .. } => Error::new(ErrorCode::Timeout, self.to_string())
                .suggest("use a longer --deadline-ms, or run `axd` in a terminal to see what it waits for"),
            ClientError::Silent { pid, .. } => {
                let pid = pid.map_or_else(|| "PID".to_owned(), |pid| pid.to_string());
                uncertain(Error::new(ErrorCode::Timeout, self.to_string()).suggest(format!(
                    "it is stopped or hangs: `kill -CONT {pid}` continues it, `kill -9 {pid}` ends it, and the next ax starts another"
                )))
            }
            ClientError::Io(fault) if fault.kind() == std::io::ErrorKind::TimedOut => {
                uncertain(Error::new(ErrorCode::Timeout, "axd did not answer before the deadline"))
            }
            ClientError::Io(_) => uncertain(
                Error::new(ErrorCode::DaemonUnavailable, self.to_string())
                    .suggest("check what happened before sending it again; `ax status` shows the daemon"),
            ),
            ClientError::Protocol(_) => uncertain(Error::new(ErrorCode::Internal, self.to_string())),
        }
    }
}

fn of(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (pid {pid})"))
}

/// Marks the outcome as unknown, because the request had been sent.
fn uncertain(mut error: Error) -> Error {
    error.disposition = Disposition::of(Delivery::Uncertain);
    error
}
