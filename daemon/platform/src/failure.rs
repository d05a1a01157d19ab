//! Failures of platforms: what happened, and whether something had been sent by then.

/// Why a platform call failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{native}")]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The platform's own error text.
    pub native: String,
    /// Whether an action had been sent by then.
    pub sent: Sent,
}

impl From<axd_gate::Closed> for Failure {
    fn from(_: axd_gate::Closed) -> Failure {
        Failure::closed()
    }
}

impl Failure {
    /// A failure before anything was sent.
    pub fn new(kind: FailureKind, native: impl Into<String>) -> Failure {
        Failure { kind, native: native.into(), sent: Sent::No }
    }

    /// This failure, with whether something was sent before it.
    #[must_use]
    pub fn sent(mut self, sent: Sent) -> Failure {
        self.sent = sent;
        self
    }

    /// The failure of an action whose gate was closed before anything was sent.
    pub fn closed() -> Failure {
        Failure::new(FailureKind::Closed, "it was cancelled before it was sent")
    }

    /// The failure for an element that is gone.
    pub fn gone() -> Failure {
        Failure::new(FailureKind::Gone, "the element is gone")
    }

    /// The failure of something that the app or the platform does not support.
    pub fn unsupported(why: impl Into<String>) -> Failure {
        Failure::new(FailureKind::NotSupported, why)
    }

    /// The failure of an action that the app accepted, and that had no effect.
    pub fn not_effective(why: impl Into<String>) -> Failure {
        Failure::new(FailureKind::Refused, why).sent(Sent::Yes)
    }
}

/// Whether something was sent before a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sent {
    /// Nothing was sent.
    #[default]
    No,
    /// Something may have been sent.
    Maybe,
    /// Something was sent.
    Yes,
}

/// The kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The element is gone.
    Gone,
    /// The app timed out; it is busy, not gone.
    Unresponsive,
    /// The app or the platform does not support it.
    NotSupported,
    /// It was refused.
    Refused,
    /// The request is invalid.
    Invalid,
    /// The gate was closed before anything was sent.
    Closed,
    /// The user has not granted permission.
    NotAllowed,
    /// The input would have reached the wrong receiver.
    Elsewhere,
    /// The policy does not allow what was to be sent, or who would have received it.
    Denied,
}
