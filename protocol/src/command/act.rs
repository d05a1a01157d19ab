//! Commands that act on elements. Each also takes the options of [`ActArgs`](super::ActArgs).

use std::convert::Infallible;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

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

/// Click an element, or a point.
///
/// Uses the element's own action if it has one, otherwise the mouse. Never clicks twice.
///
/// Examples:
///   ax click button:Save
///   ax click btn_4k2p9x --wait-for dialog
///   ax click 320,240
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Click {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET", allow_hyphen_values = true))]
    pub target: String,
}

/// Double-click an element, or a point.
///
/// Example:
///   ax double-click 'row:Report.txt'
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoubleClick {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET", allow_hyphen_values = true))]
    pub target: String,
}

/// Triple-click an element, or a point: selects a line of text.
///
/// Example:
///   ax triple-click textfield:Address
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TripleClick {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET", allow_hyphen_values = true))]
    pub target: String,
}

/// Right-click an element, or a point: opens its context menu.
///
/// Example:
///   ax right-click 'row:Report.txt' --wait-for menu
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RightClick {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET", allow_hyphen_values = true))]
    pub target: String,
}

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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", command(allow_missing_positional = true))]
pub struct Type {
    /// Element: an id, a selector or a point [default: the focused one].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET", allow_negative_numbers = true))]
    pub target: Option<String>,
    /// Text to type; `-` reads standard input.
    #[cfg_attr(feature = "cli", arg(value_name = "TEXT", allow_hyphen_values = true))]
    pub text: TextArg,
}

/// Set the value of an element.
///
/// Replaces the text of a field or the number of a slider. Never uses the keyboard; `type` does.
///
/// Examples:
///   ax set-value slider:Volume 30
///   ax set-value textfield:Name 'Ada Lovelace'
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetValue {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
    /// New value.
    #[cfg_attr(feature = "cli", arg(value_name = "VALUE", allow_hyphen_values = true))]
    pub value: TextArg,
}

/// Clear a text field.
///
/// Example:
///   ax clear textfield:Search
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clear {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
}

/// Focus an element.
///
/// Example:
///   ax focus textfield:Search
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Focus {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
}

/// Select an item of a list, combo box, tab list or radio group.
///
/// Examples:
///   ax select combobox:Country Norway
///   ax select list:Notes 3
///   ax select tab:Advanced
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Select {
    /// Container of the item, or the item itself: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
    /// Item: its name, or its number from 1 [default: the target itself].
    #[serde(default, alias = "item", skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "ITEM", allow_hyphen_values = true))]
    pub value: Option<TextArg>,
}

/// Choose a menu item.
///
/// Examples:
///   ax menu 'File > Save'
///   ax menu 'View > Zoom > 200%' --app Maps
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Menu {
    /// Names from the menu bar down, separated by `>`.
    #[cfg_attr(feature = "cli", arg(value_name = "PATH"))]
    pub path: String,
}

/// Toggle a check box, switch or toggle button.
///
/// Example:
///   ax toggle switch:Wi-Fi
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Toggle {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
}

/// Check a check box, switch, radio button or toggle button; no-op if it is checked.
///
/// Example:
///   ax check 'checkbox:"Remember me"'
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
}

/// Uncheck a check box, switch or toggle button; no-op if it is not checked.
///
/// Example:
///   ax uncheck 'checkbox:"Remember me"'
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Uncheck {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
}

/// Expand an element; no-op if it is expanded.
///
/// Example:
///   ax expand 'treeitem:Documents'
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expand {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
}

/// Collapse an element; no-op if it is collapsed.
///
/// Example:
///   ax collapse 'treeitem:Documents'
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Collapse {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
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

/// Scroll an element, or the one at a point.
///
/// Examples:
///   ax scroll list:Messages --direction down --amount 5
///   ax scroll document:News --direction down --until 'link:Imprint'
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scroll {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET", allow_hyphen_values = true))]
    pub target: String,
    /// Direction to scroll in.
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIRECTION", value_enum))]
    pub direction: Direction,
    /// Number of wheel notches [default: 3].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub amount: Option<u32>,
    /// Selector: scroll on until an element in the target matches and is in view. It ends with an error when nothing moves any
    /// more for --timeout-ms.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SELECTOR"))]
    pub until: Option<String>,
}

/// Scroll until an element is visible.
///
/// Also reaches rows that a large table does not show yet, such as `table > row:nth(5000)`.
///
/// Examples:
///   ax scroll-to button:Agree
///   ax scroll-to table:Log --row 5000
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScrollTo {
    /// Element: an id or a selector; with --row, the container of the row.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
    /// Row to scroll to, from 1.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub row: Option<u32>,
}

/// Drag an element, or from a point, to another.
///
/// Example:
///   ax drag 'listitem:Draft' --to 'list:Done'
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drag {
    /// Element to drag: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET", allow_hyphen_values = true))]
    pub target: String,
    /// Drop target: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(long, value_name = "TARGET", allow_hyphen_values = true))]
    pub to: String,
}

/// Move the pointer over an element.
///
/// Example:
///   ax hover button:Info --wait-for tooltip
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hover {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET", allow_hyphen_values = true))]
    pub target: String,
}

/// Perform a native action of an element.
///
/// `ax get TARGET --property actions` lists them.
///
/// Example:
///   ax perform 'row:Report.txt' 'expand or contract'
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Perform {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
    /// Native name of the action.
    #[cfg_attr(feature = "cli", arg(value_name = "ACTION"))]
    pub action: String,
}

/// Show the position of the pointer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MousePosition {}

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
