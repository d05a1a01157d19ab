//! The command that controls the built-in desktop: what a person would do there, and the faults that its apps can have.

use serde::{Deserialize, Serialize};

/// Use an app of the built-in desktop as a person would, or give it a fault.
///
/// Only with `--platform sim`. What is done this way is done to the app from outside: the daemon learns of it
/// as it would from a person at the screen.
///
/// Examples:
///   ax sim Calculator press seven
///   ax sim Notes type body 'Buy milk'
///   ax sim Notes fault hang
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sim {
    /// The app.
    #[cfg_attr(feature = "cli", arg(value_name = "APP"))]
    pub app: String,
    /// What to do.
    #[cfg_attr(feature = "cli", arg(value_name = "VERB", value_enum))]
    pub verb: SimVerb,
    /// To which widget (its identifier in the app's script), or which fault.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "WIDGET|FAULT"))]
    pub target: Option<String>,
    /// The text, value, choice or count.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "TEXT", allow_hyphen_values = true))]
    pub text: Option<String>,
}

/// What a person can do to an app of the built-in desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum SimVerb {
    /// Press a button, menu item, tab, check box or row.
    Press,
    /// Put text or a number into a field or slider.
    Set,
    /// Type text at the end of what a field holds.
    Type,
    /// Choose an item of a list, combo box or table.
    Select,
    /// Give a widget the keyboard focus.
    Focus,
    /// Scroll a table or list to a row.
    Scroll,
    /// Bring the app's window to the front.
    Raise,
    /// Start the app, if it does not run.
    Launch,
    /// End the app.
    Quit,
    /// End the app and start it again.
    Restart,
    /// Give the app a fault.
    Fault,
    /// Take all faults away.
    Heal,
    /// Tell which keys and mouse buttons are held down, by whoever does that.
    Held,
}

/// The answer to `sim`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SimAnswer {
    /// What the app did.
    pub done: String,
}
