//! What can go wrong between a client and the daemon.

use std::path::PathBuf;

use axd_protocol::error::{Delivery, Disposition};
use axd_protocol::{Error, ErrorCode};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No daemon answers at the socket.
    #[error("no daemon answers at {}: {reason}", tried.display())]
    Unavailable {
        /// The socket.
        tried: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A daemon was started and could not serve.
    #[error("axd could not start: {message}")]
    StartFailed {
        /// The socket it was to serve.
        tried: PathBuf,
        /// The kind of error it reported, if it got so far.
        code: Option<ErrorCode>,
        /// What it said.
        message: String,
    },
    /// The connection was lost, or the answer did not come in time.
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
    /// Whether no daemon could be reached or started, so that nothing at all was sent.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, ClientError::Unavailable { .. } | ClientError::StartFailed { .. })
    }

    /// The error in the form the daemon gives its own.
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

/// The request had been sent: nobody knows how far it got.
fn uncertain(mut error: Error) -> Error {
    error.disposition = Disposition::of(Delivery::Uncertain);
    error
}
