//! The error codes of the accessibility API, and what they mean.

#![allow(non_upper_case_globals, reason = "the names are Apple's")]

use crate::desktop::permissions;
use crate::ffi::ax::{
    AXError, kAXErrorAPIDisabled, kAXErrorActionUnsupported, kAXErrorAttributeUnsupported,
    kAXErrorCannotComplete, kAXErrorFailure, kAXErrorIllegalArgument, kAXErrorInvalidUIElement,
    kAXErrorInvalidUIElementObserver, kAXErrorNoValue, kAXErrorNotEnoughPrecision, kAXErrorNotImplemented,
    kAXErrorNotificationAlreadyRegistered, kAXErrorNotificationNotRegistered,
    kAXErrorNotificationUnsupported, kAXErrorParameterizedAttributeUnsupported, kAXErrorSuccess,
};
use axd_platform::{Failure, FailureKind, Sent};

/// An error of the accessibility API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxError(pub AXError);

impl AxError {
    /// The app did not answer in time. It is busy, not gone.
    pub const BUSY: AxError = AxError(kAXErrorCannotComplete);
    /// The element no longer exists.
    pub const GONE: AxError = AxError(kAXErrorInvalidUIElement);

    /// This process lacks the accessibility permission.
    pub const NOT_ALLOWED: AxError = AxError(kAXErrorAPIDisabled);

    /// Turns a result code into a result.
    pub fn check(error: AXError) -> Result<(), AxError> {
        if error == kAXErrorAPIDisabled {
            permissions::note_refusal();
        }
        if error != kAXErrorCannotComplete {
            super::pulse::beat();
        }
        if error == kAXErrorSuccess { Ok(()) } else { Err(AxError(error)) }
    }

    /// Whether it only means that there is no value.
    pub fn is_no_value(self) -> bool {
        let AxError(error) = self;
        error == kAXErrorNoValue || self.is_unsupported()
    }

    /// Whether the element does not support what was requested.
    pub fn is_unsupported(self) -> bool {
        let AxError(error) = self;
        matches!(
            error,
            kAXErrorAttributeUnsupported
                | kAXErrorParameterizedAttributeUnsupported
                | kAXErrorActionUnsupported
                | kAXErrorNotificationUnsupported
                | kAXErrorNotImplemented
        )
    }

    /// Whether the whole app is concerned, and not only one of its elements.
    pub fn is_app_level(self) -> bool {
        self == AxError::BUSY || self == AxError::NOT_ALLOWED
    }

    /// The failure of a read: nothing that acts was sent.
    pub fn read_failure(self) -> Failure {
        let kind = match self.0 {
            kAXErrorInvalidUIElement => FailureKind::Gone,
            kAXErrorCannotComplete => FailureKind::Unresponsive,
            kAXErrorAPIDisabled => FailureKind::NotAllowed,
            _ if self.is_no_value() => FailureKind::NotSupported,
            _ => FailureKind::Refused,
        };
        Failure::new(kind, self.message())
    }

    /// The failure of an action that the element offers, or of setting an attribute, after it was sent. Apps answer any error
    /// to what they have done: AppKit says of a button that it pressed that the attribute or the action is unsupported. Only a
    /// missing permission says that nothing reached the app.
    pub fn action_failure(self) -> Failure {
        let (kind, sent) = match self.0 {
            kAXErrorAPIDisabled => (FailureKind::NotAllowed, Sent::No),
            // The app may have opened a dialog, and answers when that is closed.
            kAXErrorCannotComplete => (FailureKind::Unresponsive, Sent::Maybe),
            // An element that closes itself may be gone before the app answers.
            kAXErrorInvalidUIElement => (FailureKind::Gone, Sent::Maybe),
            _ => (FailureKind::Refused, Sent::Maybe),
        };
        Failure::new(kind, self.message()).sent(sent)
    }

    /// A message for users.
    pub fn message(self) -> String {
        match self.0 {
            kAXErrorInvalidUIElement => "the element is gone".to_owned(),
            kAXErrorCannotComplete => "the app does not answer".to_owned(),
            kAXErrorAPIDisabled => permissions::message(&permissions::accessibility()),
            error => format!("the app answers {} ({error})", self.name()),
        }
    }

    /// Apple's name of the error.
    pub fn name(self) -> &'static str {
        match self.0 {
            kAXErrorFailure => "kAXErrorFailure",
            kAXErrorIllegalArgument => "kAXErrorIllegalArgument",
            kAXErrorInvalidUIElement => "kAXErrorInvalidUIElement",
            kAXErrorInvalidUIElementObserver => "kAXErrorInvalidUIElementObserver",
            kAXErrorCannotComplete => "kAXErrorCannotComplete",
            kAXErrorAttributeUnsupported => "kAXErrorAttributeUnsupported",
            kAXErrorActionUnsupported => "kAXErrorActionUnsupported",
            kAXErrorNotificationUnsupported => "kAXErrorNotificationUnsupported",
            kAXErrorNotImplemented => "kAXErrorNotImplemented",
            kAXErrorNotificationAlreadyRegistered => "kAXErrorNotificationAlreadyRegistered",
            kAXErrorNotificationNotRegistered => "kAXErrorNotificationNotRegistered",
            kAXErrorAPIDisabled => "kAXErrorAPIDisabled",
            kAXErrorNoValue => "kAXErrorNoValue",
            kAXErrorParameterizedAttributeUnsupported => "kAXErrorParameterizedAttributeUnsupported",
            kAXErrorNotEnoughPrecision => "kAXErrorNotEnoughPrecision",
            _ => "an unknown error",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_is_not_gone_and_no_value_is_no_failure() {
        assert_eq!(AxError::BUSY.read_failure().kind, FailureKind::Unresponsive);
        assert_eq!(AxError::GONE.read_failure().kind, FailureKind::Gone);
        assert!(AxError(kAXErrorNoValue).is_no_value());
        assert!(AxError(kAXErrorAttributeUnsupported).is_no_value());
        assert!(!AxError::BUSY.is_no_value() && !AxError::GONE.is_no_value());
    }

    #[test]
    fn only_a_missing_permission_says_that_nothing_was_done() {
        for (error, kind, sent) in [
            (kAXErrorCannotComplete, FailureKind::Unresponsive, Sent::Maybe),
            (kAXErrorInvalidUIElement, FailureKind::Gone, Sent::Maybe),
            (kAXErrorActionUnsupported, FailureKind::Refused, Sent::Maybe),
            (kAXErrorAttributeUnsupported, FailureKind::Refused, Sent::Maybe),
            (kAXErrorNotImplemented, FailureKind::Refused, Sent::Maybe),
            (kAXErrorIllegalArgument, FailureKind::Refused, Sent::Maybe),
            (kAXErrorNoValue, FailureKind::Refused, Sent::Maybe),
            (kAXErrorFailure, FailureKind::Refused, Sent::Maybe),
            (kAXErrorAPIDisabled, FailureKind::NotAllowed, Sent::No),
        ] {
            let failure = AxError(error).action_failure();
            assert_eq!((failure.kind, failure.sent), (kind, sent), "{}", AxError(error).name());
        }
    }
}
