//! Turns a platform's failures into errors of answers, with whether a retry is safe.

use axd_protocol::error::Delivery;
use axd_protocol::{Error, ErrorCode};

use axd_platform::{Failure, FailureKind, Sent};

/// The error for a failed request to the desktop. `Gone` is taken to mean a window.
pub(crate) fn desktop_error(failure: Failure) -> Error {
    let Failure { kind, native, sent } = failure;
    let error = match kind {
        FailureKind::Gone => Error::new(ErrorCode::WindowNotFound, native),
        FailureKind::Unresponsive => {
            Error::new(ErrorCode::AppUnresponsive, native).suggest("check what is there before trying again")
        }
        FailureKind::NotSupported => Error::new(ErrorCode::PlatformNotSupported, native),
        FailureKind::Refused => Error::new(ErrorCode::ActionFailed, native).suggest(
            "check what is there before trying another way; `ax doctor` shows what this desktop supports",
        ),
        FailureKind::Invalid => Error::new(ErrorCode::InvalidArgs, native),
        FailureKind::Closed => Error::new(ErrorCode::Cancelled, native),
        FailureKind::NotAllowed => permission_error(native),
        FailureKind::Elsewhere => Error::new(ErrorCode::NotActionable, native),
    };
    error.delivered(delivery(sent))
}

/// The error for a permission that the user has not granted.
pub(crate) fn permission_error(native: String) -> Error {
    Error::new(ErrorCode::PermissionDenied, native).retry("permissions --request")
}

/// The delivery of an action that failed.
pub(crate) fn delivery(sent: Sent) -> Delivery {
    match sent {
        Sent::No => Delivery::NotDelivered,
        Sent::Maybe | Sent::Yes => Delivery::Uncertain,
    }
}

/// Changes "window not found" into "app not found", where the request was about an app.
pub(crate) fn about_an_app(mut error: Error) -> Error {
    if error.code == ErrorCode::WindowNotFound {
        error.code = ErrorCode::ApplicationNotFound;
        error.suggestion = ErrorCode::ApplicationNotFound.suggestion().to_owned();
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_sent_is_safe_to_repeat() {
        for (sent, expected) in [
            (Sent::No, Delivery::NotDelivered),
            (Sent::Maybe, Delivery::Uncertain),
            (Sent::Yes, Delivery::Uncertain),
        ] {
            let error = desktop_error(Failure::new(FailureKind::Refused, "no").sent(sent));
            assert_eq!((error.code, error.disposition.delivery), (ErrorCode::ActionFailed, expected));
        }
    }

    #[test]
    fn what_is_gone_is_a_window_unless_it_is_known_to_be_an_app() {
        let error = desktop_error(Failure::new(FailureKind::Gone, "it is gone"));
        assert_eq!(error.code, ErrorCode::WindowNotFound);
        let error = about_an_app(error);
        assert_eq!(error.code, ErrorCode::ApplicationNotFound);
        assert!(error.suggestion.contains("list-apps"));
    }
}
