//! Acting on elements: what every such command takes, what it answers, and the commands.

use std::convert::Infallible;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use super::{act_args, args};
use crate::change::Difference;
use crate::clock::Clock;
use crate::error::Disposition;
use crate::node::NodeRef;

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

/// The answer to a command that acts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActAnswer {
    /// By what it was done: `atspi`, `xtest`, `ax`, `cgevent`, `sim`; `none` if nothing had to be done.
    pub method: String,
    /// The way it went.
    pub route: Route,
    /// The target before, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Brief>,
    /// The target after; absent if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Brief>,
    /// What is different about the target.
    pub changed: Vec<Aspect>,
    /// How the app came to rest.
    pub settled: Settled,
    /// How long that took.
    pub waited_ms: u64,
    /// What changed in the app since just before; absent with `--no-effects`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// How surely it was delivered.
    pub disposition: Disposition,
    /// What is worth knowing beside that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// An element, as far as actions change it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Brief {
    /// The element.
    #[serde(flatten)]
    pub node: NodeRef,
    /// What it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether it can be used.
    pub enabled: bool,
    /// Whether it has the keyboard focus.
    pub focused: bool,
    /// Whether it is checked or pressed, if it can be.
    pub checked: bool,
    /// Whether it is selected.
    pub selected: bool,
    /// Whether it shows what it holds.
    pub expanded: bool,
}

/// What may be different about a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Aspect {
    /// It is gone.
    Gone,
    /// Its name.
    Name,
    /// Its value.
    Value,
    /// Whether it can be used.
    Enabled,
    /// Whether it has the focus.
    Focused,
    /// Whether it is checked.
    Checked,
    /// Whether it is selected.
    Selected,
    /// Whether it is expanded.
    Expanded,
}

impl Brief {
    /// What is different between this and what it was.
    pub fn since(&self, before: &Brief) -> Vec<Aspect> {
        let differs = [
            (Aspect::Name, self.node.name != before.node.name),
            (Aspect::Value, self.value != before.value),
            (Aspect::Enabled, self.enabled != before.enabled),
            (Aspect::Focused, self.focused != before.focused),
            (Aspect::Checked, self.checked != before.checked),
            (Aspect::Selected, self.selected != before.selected),
            (Aspect::Expanded, self.expanded != before.expanded),
        ];
        differs.into_iter().filter(|(_, differs)| *differs).map(|(aspect, _)| aspect).collect()
    }
}

/// How an app came to rest after an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Settled {
    /// It changed, and then nothing more did for `quiet_ms`.
    Quiet,
    /// It did not change.
    NoChange,
    /// It still changed when `settle_ms` were over.
    Busy,
    /// It does not answer; what it announced is in.
    Unresponsive,
    /// It ended.
    Ended,
    /// The wait was cut short by a cancellation or the deadline.
    CutShort,
    /// It was not waited for.
    Skipped,
}

/// What changed in an app.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effects {
    /// Since this clock.
    pub since: Clock,
    /// Up to this one.
    pub clock: Clock,
    /// What.
    #[serde(flatten)]
    pub difference: Difference,
    /// More changed than is worth telling: look at the app instead.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub truncated: bool,
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
    /// What the field holds stays; the text comes in at the caret.
    ///
    /// Examples:
    ///   ax type textfield:Search 'quarterly report'
    ///   ax type 'hello'
    #[cfg_attr(feature = "cli", command(allow_missing_positional = true))]
    struct Type {
        /// The element: an id, a selector or a point; what has the focus unless said.
        optional target: Option<String> [value_name = "TARGET", allow_negative_numbers = true],
        /// What to type.
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
