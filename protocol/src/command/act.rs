//! Commands that act on elements, and the options that all of them take.

use std::convert::Infallible;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use super::{act_args, args};

/// How an action is performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Route {
    /// With the accessibility API if the app supports it, otherwise with mouse and keyboard.
    Auto,
    /// With the accessibility API only. This works in the background, and does not move the pointer.
    Semantic,
    /// With mouse and keyboard only.
    Input,
}

/// The options that every action takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActOptions<'a> {
    /// The app in which the target is searched.
    pub app: Option<&'a str>,
    /// The window in which the target is searched.
    pub window: Option<&'a str>,
    /// How the action is performed.
    pub route: Option<Route>,
    /// The maximum time to wait until the app has settled.
    pub settle_ms: Option<u64>,
    /// The time without changes after which the app counts as settled.
    pub quiet_ms: Option<u64>,
    /// The maximum time to wait until the target can be acted on.
    pub timeout_ms: Option<u64>,
    /// The selector that must match before the action is answered.
    pub wait_for: Option<&'a str>,
    /// The selector that must no longer match before the action is answered.
    pub wait_for_gone: Option<&'a str>,
    /// Whether the answer omits what changed.
    pub no_effects: bool,
    /// Whether the action is only described and not performed.
    pub dry_run: bool,
}

/// The arguments of a command that acts.
pub trait ActArgs {
    /// The options that every action takes.
    fn options(&self) -> ActOptions<'_>;
}

/// An argument that is a text, and may also be sent as a number or a boolean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
pub struct TextArg(pub String);

impl<'de> Deserialize<'de> for TextArg {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TextArg, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(TextArg(text)),
            value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_)) => {
                Ok(TextArg(value.to_string()))
            }
            _ => Err(serde::de::Error::custom("expected a string, a number or a boolean")),
        }
    }
}

impl FromStr for TextArg {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<TextArg, Infallible> {
        Ok(TextArg(text.to_owned()))
    }
}

act_args! {
    /// Click an element, or a point.
    ///
    /// Uses the element's own action if it has one, otherwise the mouse. Never clicks twice.
    ///
    /// Examples:
    ///   ax click button:Save
    ///   ax click btn_4k2p9x --wait-for dialog
    ///   ax click 320,240
    struct Click {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
    }
}

act_args! {
    /// Double-click an element, or a point.
    ///
    /// Example:
    ///   ax double-click 'row:Report.txt'
    struct DoubleClick {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
    }
}

act_args! {
    /// Triple-click an element, or a point: selects a line of text.
    ///
    /// Example:
    ///   ax triple-click textfield:Address
    struct TripleClick {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
    }
}

act_args! {
    /// Right-click an element, or a point: opens its context menu.
    ///
    /// Example:
    ///   ax right-click 'row:Report.txt' --wait-for menu
    struct RightClick {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
    }
}

act_args! {
    /// Type text into an element, or into the focused one.
    ///
    /// Inserts at the caret and keeps what the field holds. In a single-line field, a newline is the Enter key and a tab is the
    /// Tab key, typed on the keyboard; a multi-line field takes both as text.
    ///
    /// `-` reads the text from standard input, unchanged; to type a lone dash, use `ax type TARGET -- -`. Put text that starts
    /// with dashes and could be an option after `--`.
    ///
    /// Examples:
    ///   ax type textfield:Search 'quarterly report'
    ///   ax type 'hello'
    ///   ax type textarea - < letter.txt
    ///   ax type textfield:Options -- --help
    #[cfg_attr(feature = "cli", command(allow_missing_positional = true))]
    struct Type {
        /// Element: an id, a selector or a point [default: the focused one].
        optional target: Option<String> [value_name = "TARGET", allow_negative_numbers = true],
        /// Text to type; `-` reads standard input.
        required text: TextArg [value_name = "TEXT", allow_hyphen_values = true],
    }
}

act_args! {
    /// Set the value of an element.
    ///
    /// Replaces the text of a field or the number of a slider. Never uses the keyboard; `type` does.
    ///
    /// Examples:
    ///   ax set-value slider:Volume 30
    ///   ax set-value textfield:Name 'Ada Lovelace'
    struct SetValue {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
        /// New value.
        required value: TextArg [value_name = "VALUE", allow_hyphen_values = true],
    }
}

act_args! {
    /// Clear a text field.
    ///
    /// Example:
    ///   ax clear textfield:Search
    struct Clear {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

act_args! {
    /// Focus an element.
    ///
    /// Example:
    ///   ax focus textfield:Search
    struct Focus {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

act_args! {
    /// Select an item of a list, combo box, tab list or radio group.
    ///
    /// Examples:
    ///   ax select combobox:Country Norway
    ///   ax select list:Notes 3
    ///   ax select tab:Advanced
    struct Select {
        /// Container of the item, or the item itself: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
        /// Item: its name, or its number from 1 [default: the target itself].
        optional value: Option<TextArg> [value_name = "ITEM", allow_hyphen_values = true],
    }
}

act_args! {
    /// Choose a menu item.
    ///
    /// Examples:
    ///   ax menu 'File > Save'
    ///   ax menu 'View > Zoom > 200%' --app Maps
    struct Menu {
        /// Names from the menu bar down, separated by `>`.
        required path: String [value_name = "PATH"],
    }
}

act_args! {
    /// Toggle a check box, switch or toggle button.
    ///
    /// Example:
    ///   ax toggle switch:Wi-Fi
    struct Toggle {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

act_args! {
    /// Check a check box, switch, radio button or toggle button; no-op if it is checked.
    ///
    /// Example:
    ///   ax check 'checkbox:"Remember me"'
    struct Check {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

act_args! {
    /// Uncheck a check box, switch or toggle button; no-op if it is not checked.
    ///
    /// Example:
    ///   ax uncheck 'checkbox:"Remember me"'
    struct Uncheck {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

act_args! {
    /// Expand an element; no-op if it is expanded.
    ///
    /// Example:
    ///   ax expand 'treeitem:Documents'
    struct Expand {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

act_args! {
    /// Collapse an element; no-op if it is collapsed.
    ///
    /// Example:
    ///   ax collapse 'treeitem:Documents'
    struct Collapse {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

/// A direction to scroll in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Direction {
    /// Towards the top.
    Up,
    /// Towards the bottom.
    Down,
    /// Towards the left.
    Left,
    /// Towards the right.
    Right,
}

act_args! {
    /// Scroll an element, or the one at a point.
    ///
    /// Example:
    ///   ax scroll list:Messages --direction down --amount 5
    struct Scroll {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
        /// Direction to scroll in.
        required direction: Direction [long, value_name = "DIRECTION", value_enum],
        /// Number of wheel notches [default: 3].
        optional amount: Option<u32> [long, value_name = "N"],
    }
}

act_args! {
    /// Scroll until an element is visible.
    ///
    /// Also reaches rows that a large table does not show yet, such as `table > row:nth(5000)`.
    ///
    /// Examples:
    ///   ax scroll-to button:Agree
    ///   ax scroll-to table:Log --row 5000
    struct ScrollTo {
        /// Element: an id or a selector; with --row, the container of the row.
        required target: String [value_name = "TARGET"],
        /// Row to scroll to, from 1.
        optional row: Option<u32> [long, value_name = "N"],
    }
}

act_args! {
    /// Drag an element, or from a point, to another.
    ///
    /// Example:
    ///   ax drag 'listitem:Draft' --to 'list:Done'
    struct Drag {
        /// Element to drag: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
        /// Drop target: an id, a selector or a point.
        required to: String [long, value_name = "TARGET", allow_hyphen_values = true],
    }
}

act_args! {
    /// Move the pointer over an element.
    ///
    /// Example:
    ///   ax hover button:Info --wait-for tooltip
    struct Hover {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
    }
}

act_args! {
    /// Perform a native action of an element.
    ///
    /// `ax get TARGET --property actions` lists them.
    ///
    /// Example:
    ///   ax perform 'row:Report.txt' 'expand or contract'
    struct Perform {
        /// Element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
        /// Native name of the action.
        required action: String [value_name = "ACTION"],
    }
}

args! {
    /// Show the position of the pointer.
    struct MousePosition {}
}

/// The answer to `mouse-position`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MousePositionAnswer {
    /// The distance from the left edge.
    pub x: i32,
    /// The distance from the top edge.
    pub y: i32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_be_sent_where_text_is_wanted() {
        for (json, text) in [("\"a\"", "a"), ("42", "42"), ("1.5", "1.5"), ("true", "true")] {
            assert_eq!(serde_json::from_str::<TextArg>(json).unwrap().0, text);
        }
        assert!(serde_json::from_str::<TextArg>("[1]").is_err());
    }
}
