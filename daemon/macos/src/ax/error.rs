//! What the accessibility interface's errors mean.

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

/// An error of the accessibility interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault(pub AXError);

impl Fault {
    /// The app timed out. It is busy, not gone.
    pub const BUSY: Fault = Fault(kAXErrorCannotComplete);
    /// There is no such element any more.
    pub const GONE: Fault = Fault(kAXErrorInvalidUIElement);

    /// We are not allowed to ask.
    pub const NOT_ALLOWED: Fault = Fault(kAXErrorAPIDisabled);

    /// Success, or the fault.
    pub fn check(error: AXError) -> Result<(), Fault> {
        if error == kAXErrorSuccess { Ok(()) } else { Err(Fault(error)) }
    }

    /// Whether it only says that there is no value.
    pub fn is_no_value(self) -> bool {
        let Fault(error) = self;
        error == kAXErrorNoValue || self.is_unsupported()
    }

    /// Whether the element has nothing of that name.
    pub fn is_unsupported(self) -> bool {
        let Fault(error) = self;
        matches!(
            error,
            kAXErrorAttributeUnsupported
                | kAXErrorParameterizedAttributeUnsupported
                | kAXErrorActionUnsupported
                | kAXErrorNotificationUnsupported
                | kAXErrorNotImplemented
        )
    }

    /// The failure of a question: nothing was sent that acts.
    pub fn asking(self) -> Failure {
        let kind = match self.0 {
            kAXErrorInvalidUIElement => FailureKind::Gone,
            kAXErrorCannotComplete => FailureKind::Unresponsive,
            kAXErrorAPIDisabled => FailureKind::NotAllowed,
            _ if self.is_no_value() => FailureKind::NotSupported,
            _ => FailureKind::Refused,
        };
        Failure::new(kind, self.text())
    }

    /// The failure of something that acts, after it was sent.
    pub fn acting(self) -> Failure {
        let (kind, sent) = match self.0 {
            // No answer: it may have opened a dialog that it waits for.
            kAXErrorCannotComplete => (FailureKind::Unresponsive, Sent::Maybe),
            // What closes itself may be gone before it has answered.
            kAXErrorInvalidUIElement => (FailureKind::Gone, Sent::Maybe),
            // Nothing was there that could have taken it.
            kAXErrorIllegalArgument | kAXErrorNoValue => (FailureKind::NotSupported, Sent::No),
            kAXErrorAPIDisabled => (FailureKind::NotAllowed, Sent::No),
            _ if self.is_unsupported() => (FailureKind::NotSupported, Sent::No),
            _ => (FailureKind::Refused, Sent::Yes),
        };
        Failure::new(kind, self.text()).sent(sent)
    }

    /// What it says, for people.
    pub fn text(self) -> String {
        match self.0 {
            kAXErrorInvalidUIElement => "the element is gone".to_owned(),
            kAXErrorCannotComplete => "the app does not answer".to_owned(),
            kAXErrorAPIDisabled => permissions::text(&permissions::apps()),
            error => format!("the app answers {} ({error})", self.name()),
        }
    }

    /// Apple's name for it.
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
        assert_eq!(Fault::BUSY.asking().kind, FailureKind::Unresponsive);
        assert_eq!(Fault::GONE.asking().kind, FailureKind::Gone);
        assert!(Fault(kAXErrorNoValue).is_no_value());
        assert!(Fault(kAXErrorAttributeUnsupported).is_no_value());
        assert!(!Fault::BUSY.is_no_value() && !Fault::GONE.is_no_value());
    }

    #[test]
    fn only_what_nothing_could_have_taken_was_not_sent() {
        for (error, kind, sent) in [
            (kAXErrorCannotComplete, FailureKind::Unresponsive, Sent::Maybe),
            (kAXErrorInvalidUIElement, FailureKind::Gone, Sent::Maybe),
            (kAXErrorActionUnsupported, FailureKind::NotSupported, Sent::No),
            (kAXErrorAttributeUnsupported, FailureKind::NotSupported, Sent::No),
            (kAXErrorAPIDisabled, FailureKind::NotAllowed, Sent::No),
            (kAXErrorFailure, FailureKind::Refused, Sent::Yes),
        ] {
            let failure = Fault(error).acting();
            assert_eq!((failure.kind, failure.sent), (kind, sent), "{}", Fault(error).name());
        }
    }
}
