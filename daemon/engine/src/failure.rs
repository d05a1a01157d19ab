//! Turns a platform's failure into the error of an answer, with whether a retry is safe.

use axd_protocol::error::Delivery;
use axd_protocol::{Error, ErrorCode};

use axd_platform::{Failure, FailureKind, Sent};

/// The suggestion for an action that failed after something was sent.
pub(crate) const MAYBE_DONE: &str = "it may have been done; check with `ax snapshot` before trying again";

/// What a failed request was about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject<'a> {
    /// A window, or the desktop as a whole.
    Desktop,
    /// An app as a whole.
    App,
    /// Reading elements of the app with this name.
    Elements(&'a str),
    /// An action on the target with this label.
    Target(&'a str),
}

/// The error for a failed request.
pub(crate) fn error_of(failure: &Failure, subject: Subject<'_>) -> Error {
    let message = match subject {
        Subject::Desktop | Subject::App => failure.native.clone(),
        Subject::Elements(label) | Subject::Target(label) => format!("{label}: {failure}"),
    };
    let error = Error::new(code_of(failure.kind, subject), message);
    let error = match (failure.kind, subject) {
        (FailureKind::NotAllowed, _) => Error { message: failure.native.clone(), ..error }.retry("permissions --request"),
        (FailureKind::Unresponsive, Subject::Desktop | Subject::App) => {
            error.suggest("check what is there before trying again")
        }
        (FailureKind::Refused, Subject::Desktop | Subject::App) => error.suggest(
            "check what is there before trying another way; `ax doctor` shows what this desktop supports",
        ),
        (FailureKind::Unresponsive, Subject::Elements(name)) => error.suggest(format!(
            "wait until it answers with `ax wait --idle --app '{name}'`, or kill it with `ax close-app '{name}' --force`; reads without --sync, --verify, --bounds and --visible still work"
        )),
        (_, Subject::Target(_)) if failure.sent != Sent::No => {
            error.suggest(MAYBE_DONE)
        }
        _ => error,
    };
    error.delivered(delivery(failure.sent))
}

fn code_of(kind: FailureKind, subject: Subject<'_>) -> ErrorCode {
    match (kind, subject) {
        (FailureKind::Gone, Subject::Desktop) => ErrorCode::WindowNotFound,
        (FailureKind::Gone, Subject::App) => ErrorCode::ApplicationNotFound,
        (FailureKind::Gone, Subject::Elements(_) | Subject::Target(_)) => ErrorCode::StaleRef,
        (FailureKind::NotSupported, Subject::Target(_)) => ErrorCode::ActionNotSupported,
        (FailureKind::NotSupported, _) => ErrorCode::PlatformNotSupported,
        (FailureKind::Unresponsive, _) => ErrorCode::AppUnresponsive,
        (FailureKind::Refused, _) => ErrorCode::ActionFailed,
        (FailureKind::Invalid, _) => ErrorCode::InvalidArgs,
        (FailureKind::Closed, _) => ErrorCode::Cancelled,
        (FailureKind::NotAllowed, _) => ErrorCode::PermissionDenied,
        (FailureKind::Elsewhere, _) => ErrorCode::NotActionable,
        (FailureKind::Denied, _) => ErrorCode::PolicyDenied,
    }
}

/// The delivery of an action that failed.
pub(crate) fn delivery(sent: Sent) -> Delivery {
    match sent {
        Sent::No => Delivery::NotDelivered,
        Sent::Maybe | Sent::Yes => Delivery::Uncertain,
    }
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
            for subject in
                [Subject::Desktop, Subject::App, Subject::Elements("Notes"), Subject::Target("button")]
            {
                let error = error_of(&Failure::new(FailureKind::Refused, "no").sent(sent), subject);
                assert_eq!((error.code, error.disposition.delivery), (ErrorCode::ActionFailed, expected));
            }
        }
    }

    #[test]
    fn what_is_gone_is_what_the_request_was_about() {
        for (subject, code) in [
            (Subject::Desktop, ErrorCode::WindowNotFound),
            (Subject::App, ErrorCode::ApplicationNotFound),
            (Subject::Elements("Notes"), ErrorCode::StaleRef),
            (Subject::Target("button:Save"), ErrorCode::StaleRef),
        ] {
            let error = error_of(&Failure::new(FailureKind::Gone, "it is gone"), subject);
            assert_eq!((error.code, error.suggestion.as_str()), (code, code.suggestion()));
        }
    }
}
