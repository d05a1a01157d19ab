//! Acting on elements: what every such command takes, and the commands.

use std::convert::Infallible;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use super::{act_args, args};

/// By which way something is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Route {
    /// By the app itself if it offers it, else with mouse and keyboard.
    Auto,
    /// By the app itself only. Works in the background, and moves no pointer.
    Semantic,
    /// With mouse and keyboard only.
    Input,
}

/// What all commands that act take beside what is their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActOptions<'a> {
    /// In which app the target is looked for.
    pub app: Option<&'a str>,
    /// In which window.
    pub window: Option<&'a str>,
    /// By which way.
    pub route: Option<Route>,
    /// How long to wait at most until the app has come to rest.
    pub settle_ms: Option<u64>,
    /// How long nothing may change for the app to be at rest.
    pub quiet_ms: Option<u64>,
    /// How long to wait until the target can be acted on.
    pub timeout_ms: Option<u64>,
    /// What is to appear before the answer.
    pub wait_for: Option<&'a str>,
    /// What is to be gone before the answer.
    pub wait_for_gone: Option<&'a str>,
    /// Whether the difference is left out.
    pub no_effects: bool,
    /// Whether nothing is really done.
    pub dry_run: bool,
}

/// A command that acts.
pub trait Acting {
    /// What it takes beside what is its own.
    fn options(&self) -> ActOptions<'_>;
}

/// A text, which may also be sent as a number or as true or false.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "serde_json::Value"))]
pub struct Plain(pub String);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Plain, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => Ok(Plain(text)),
            value @ (serde_json::Value::Number(_) | serde_json::Value::Bool(_)) => {
                Ok(Plain(value.to_string()))
            }
            _ => Err(serde::de::Error::custom("expected a text, a number, or true or false")),
        }
    }
}

impl FromStr for Plain {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Plain, Infallible> {
        Ok(Plain(text.to_owned()))
    }
}

act_args! {
    /// Click an element, or a point.
    ///
    /// By the element's own action where it has one; nothing is clicked twice.
    ///
    /// Examples:
    ///   ax click button:Save
    ///   ax click btn_4k2p9x --wait-for dialog
    ///   ax click 320,240
    struct Click {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
    }
}

act_args! {
    /// Double-click an element, or a point.
    ///
    /// Example:
    ///   ax double-click 'row:Report.txt'
    struct DoubleClick {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
    }
}

act_args! {
    /// Click three times: selects a line of text.
    ///
    /// Example:
    ///   ax triple-click textfield:Address
    struct TripleClick {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
    }
}

act_args! {
    /// Click with the right button: opens the menu of an element.
    ///
    /// Example:
    ///   ax right-click 'row:Report.txt' --wait-for menu
    struct RightClick {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
    }
}

act_args! {
    /// Type text into an element, or where the focus is.
    ///
    /// What the field holds stays; the text comes in at the caret. A line end is the Enter key and a tab the Tab key, and then
    /// the keyboard is used; an area of several lines takes them as text.
    ///
    /// `-` is what comes on standard input, as it is; a lone dash is typed with `ax type TARGET -- -`. A text that begins with
    /// dashes and could be an option stands after `--`.
    ///
    /// Examples:
    ///   ax type textfield:Search 'quarterly report'
    ///   ax type 'hello'
    ///   ax type textarea - < letter.txt
    ///   ax type textfield:Options -- --help
    #[cfg_attr(feature = "cli", command(allow_missing_positional = true))]
    struct Type {
        /// The element: an id, a selector or a point; what has the focus unless said.
        optional target: Option<String> [value_name = "TARGET", allow_negative_numbers = true],
        /// What to type; `-` is standard input.
        required text: Plain [value_name = "TEXT", allow_hyphen_values = true],
    }
}

act_args! {
    /// Put a value into an element, instead of what it holds.
    ///
    /// Text into a field, a number into a slider. Never done with the keyboard: `type` does that.
    ///
    /// Examples:
    ///   ax set-value slider:Volume 30
    ///   ax set-value textfield:Name 'Ada Lovelace'
    struct SetValue {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
        /// What it is to hold.
        required value: Plain [value_name = "VALUE", allow_hyphen_values = true],
    }
}

act_args! {
    /// Empty a text field.
    ///
    /// Example:
    ///   ax clear textfield:Search
    struct Clear {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

act_args! {
    /// Give an element the keyboard focus.
    ///
    /// Example:
    ///   ax focus textfield:Search
    struct Focus {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

act_args! {
    /// Choose an item of a list, combo box, tab list or radio group.
    ///
    /// Examples:
    ///   ax select combobox:Country Norway
    ///   ax select list:Notes 3
    ///   ax select tab:Advanced
    struct Select {
        /// What holds the item, or the item itself: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
        /// The item: its name, else its number from 1. Unless said, the target itself.
        optional value: Option<Plain> [value_name = "ITEM", allow_hyphen_values = true],
    }
}

act_args! {
    /// Pick an item of a menu.
    ///
    /// Examples:
    ///   ax menu 'File > Save'
    ///   ax menu 'View > Zoom > 200%' --app Maps
    struct Menu {
        /// The names from the menu bar down.
        required path: String [value_name = "PATH"],
    }
}

act_args! {
    /// Turn a check box, switch or toggle button to the other side.
    ///
    /// Example:
    ///   ax toggle switch:Wi-Fi
    struct Toggle {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

act_args! {
    /// Check a check box, switch, radio button or toggle button, unless it is.
    ///
    /// Example:
    ///   ax check 'checkbox:"Remember me"'
    struct Check {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

act_args! {
    /// Uncheck a check box, switch or toggle button, if it is checked.
    ///
    /// Example:
    ///   ax uncheck 'checkbox:"Remember me"'
    struct Uncheck {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

act_args! {
    /// Show what an element holds, unless it does.
    ///
    /// Example:
    ///   ax expand 'treeitem:Documents'
    struct Expand {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
    }
}

act_args! {
    /// Hide what an element holds, if it shows it.
    ///
    /// Example:
    ///   ax collapse 'treeitem:Documents'
    struct Collapse {
        /// The element: an id, a selector or a point.
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
    /// Scroll an element, or what is at a point.
    ///
    /// Example:
    ///   ax scroll list:Messages --direction down --amount 5
    struct Scroll {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
        /// Where to.
        required direction: Direction [long, value_name = "DIRECTION", value_enum],
        /// How many notches of the wheel; 3 unless said.
        optional amount: Option<u32> [long, value_name = "N"],
    }
}

act_args! {
    /// Scroll until an element can be seen.
    ///
    /// In a table that shows some of its rows, `table > row:nth(5000)` is reached as well: it becomes an element then.
    ///
    /// Examples:
    ///   ax scroll-to button:Agree
    ///   ax scroll-to table:Log --row 5000
    struct ScrollTo {
        /// The element: an id or a selector; with --row, what holds the row.
        required target: String [value_name = "TARGET"],
        /// The row of it to scroll to, from 1.
        optional row: Option<u32> [long, value_name = "N"],
    }
}

act_args! {
    /// Drag an element, or from a point, onto another.
    ///
    /// Example:
    ///   ax drag 'listitem:Draft' --to 'list:Done'
    struct Drag {
        /// What to drag: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
        /// Where to: an id, a selector or a point.
        required to: String [long, value_name = "TARGET", allow_hyphen_values = true],
    }
}

act_args! {
    /// Move the pointer over an element and leave it there.
    ///
    /// Example:
    ///   ax hover button:Info --wait-for tooltip
    struct Hover {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET", allow_hyphen_values = true],
    }
}

act_args! {
    /// Have an element do one of its native actions.
    ///
    /// `ax get TARGET --property actions` lists them.
    ///
    /// Example:
    ///   ax perform 'row:Report.txt' 'expand or contract'
    struct Perform {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
        /// The action's native name.
        required action: String [value_name = "ACTION"],
    }
}

args! {
    /// Show where the pointer is.
    struct MousePosition {}
}

/// The answer to `mouse-position`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MousePositionAnswer {
    /// From the left.
    pub x: i32,
    /// From the top.
    pub y: i32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_may_be_sent_where_text_is_wanted() {
        for (json, text) in [("\"a\"", "a"), ("42", "42"), ("1.5", "1.5"), ("true", "true")] {
            assert_eq!(serde_json::from_str::<Plain>(json).unwrap().0, text);
        }
        assert!(serde_json::from_str::<Plain>("[1]").is_err());
    }
}
