//! The errors of the accessibility API.

/// `AXError`, but for success.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are Apple's")]
pub enum Error {
    Failure = -25200,
    IllegalArgument = -25201,
    InvalidUIElement = -25202,
    InvalidUIElementObserver = -25203,
    CannotComplete = -25204,
    AttributeUnsupported = -25205,
    ActionUnsupported = -25206,
    NotificationUnsupported = -25207,
    NotImplemented = -25208,
    NotificationAlreadyRegistered = -25209,
    NotificationNotRegistered = -25210,
    APIDisabled = -25211,
    NoValue = -25212,
    ParameterizedAttributeUnsupported = -25213,
    NotEnoughPrecision = -25214,
    /// None of Apple's: the call throws an Objective-C exception, which here unwinds as a panic does.
    Exception = 1,
}

impl Error {
    /// All of them.
    pub const ALL: [Error; 15] = [
        Error::Failure,
        Error::IllegalArgument,
        Error::InvalidUIElement,
        Error::InvalidUIElementObserver,
        Error::CannotComplete,
        Error::AttributeUnsupported,
        Error::ActionUnsupported,
        Error::NotificationUnsupported,
        Error::NotImplemented,
        Error::NotificationAlreadyRegistered,
        Error::NotificationNotRegistered,
        Error::APIDisabled,
        Error::NoValue,
        Error::ParameterizedAttributeUnsupported,
        Error::NotEnoughPrecision,
    ];
}

/// What a C function answers.
pub(super) fn code(result: Result<(), Error>) -> i32 {
    match result {
        Ok(()) => 0,
        // No message is printed, because nothing is wrong.
        Err(Error::Exception) => std::panic::resume_unwind(Box::new("an exception")),
        Err(error) => error as i32,
    }
}
