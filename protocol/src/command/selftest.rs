//! The answer of `ax selftest`: what the system was measured to do with a window of axd's own.

use serde::{Deserialize, Serialize};

/// The answer to `selftest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SelftestAnswer {
    /// What calls to an element cost.
    pub round_trips: Vec<RoundTripCost>,
    /// Which notifications arrive, by where they were registered for.
    pub notifications: Vec<NotificationCheck>,
    /// Which texts arrive as they are.
    pub texts: Vec<TextCheck>,
    /// What a press did.
    pub press: PressCheck,
}

/// What a call costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoundTripCost {
    /// The call.
    pub call: String,
    /// How often it was made.
    pub count: usize,
    /// Half of the calls took no longer, in microseconds.
    pub median_us: u64,
    /// The longest one, in microseconds.
    pub worst_us: u64,
}

/// Which registrations for a notification were answered when something happened that it is for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotificationCheck {
    /// The notification.
    pub notification: String,
    /// What was done.
    pub change: String,
    /// Registered for on the app.
    pub app: Heard,
    /// Registered for on the window.
    pub window: Heard,
    /// Registered for on the element itself; the window or the app, if it is about that.
    pub element: Heard,
}

/// Whether a notification was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Heard {
    /// It arrived.
    Yes,
    /// The registration was accepted, and nothing arrived.
    No,
    /// The registration was refused.
    Refused,
}

/// Whether a text arrives as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextCheck {
    /// What is special about it.
    pub text: String,
    /// What arrived.
    pub received: String,
    /// Whether that is all of it.
    pub intact: bool,
}

/// What a press of a button did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PressCheck {
    /// Whether the button was pressed.
    pub performed: bool,
    /// The error that the call answered, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
