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
        matches!(self, ClientError::Unavailable { .. } | ClientError::StartFailed { .. })
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

/// Marks the outcome as unknown, because the request had been sent.
fn uncertain(mut error: Error) -> Error {
    error.disposition = Disposition::of(Delivery::Uncertain);
    error
}
