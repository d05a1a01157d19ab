//! The answer of every command that acts: how it was done, and what changed.

use serde::{Deserialize, Serialize};

use super::Route;
use crate::change::Difference;
use crate::clock::Clock;
use crate::error::Disposition;
use crate::node::NodeRef;

/// The answer to a command that acts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActAnswer {
    /// The interface that was used: `atspi`, `xtest`, `ax`, `cgevent` or `sim`; `none` if nothing had to be done.
    pub method: String,
    /// Whether the accessibility API or mouse and keyboard were used.
    pub route: Route,
    /// The target before the action, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<ElementState>,
    /// The target after the action; absent if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<ElementState>,
    /// The properties of the target that changed.
    pub changed: Vec<Aspect>,
    /// How the wait for the app to settle ended.
    pub settled: Settled,
    /// How long that wait took, in ms.
    pub waited_ms: u64,
    /// Why the target was taken, if the selector matches several elements and `nth` was not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// The app and window that received the input, as the desktop reported just before it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<Receiver>,
    /// The element under the pointer just before the mouse was pressed, as the app reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit: Option<NodeRef>,
    /// The modal dialog that blocks the target's window, if one is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modal: Option<Modal>,
    /// What was expected of the action; all of it came true.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected: Vec<Expected>,
    /// What changed in the app since just before the action; absent with `--effects none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// How far the action got, and whether it is safe to retry.
    pub disposition: Disposition,
    /// An additional remark for the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Something that was expected of an action and came true.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Expected {
    /// What was expected, as the request gave it.
    pub expected: String,
    /// The first element that matches, if it was a selector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeRef>,
}

/// The app and window that received input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Receiver {
    /// The name of the app, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// The id of its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The window system's number of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// The window's title.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
}

/// A modal dialog that is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Modal {
    /// The dialog.
    #[serde(flatten)]
    pub node: NodeRef,
    /// The names of its buttons.
    pub buttons: Vec<String>,
}

/// The properties of an element that actions change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ElementState {
    /// The element.
    #[serde(flatten)]
    pub node: NodeRef,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Whether it has the keyboard focus.
    pub focused: bool,
    /// Whether it is checked or pressed, if it can be.
    pub checked: bool,
    /// Whether it is selected.
    pub selected: bool,
    /// Whether it is expanded.
    pub expanded: bool,
}

/// A property of a target that an action may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Aspect {
    /// The element is gone.
    Gone,
    /// Its name.
    Name,
    /// Its value.
    Value,
    /// Whether it is enabled.
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

impl ElementState {
    /// The properties that differ from those of an earlier state.
    pub fn changes_since(&self, before: &ElementState) -> Vec<Aspect> {
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

/// How the wait for an app to settle ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Settled {
    /// The app changed, and then did not change for `quiet_ms`.
    Quiet,
    /// The app did not change.
    NoChange,
    /// The app was still changing after `settle_ms`.
    Busy,
    /// The app does not answer; the events it had sent are included.
    Unresponsive,
    /// The app ended.
    Ended,
    /// The wait was interrupted by a cancellation or the deadline.
    CutShort,
    /// There was no wait.
    Skipped,
}

/// What changed in an app.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effects {
    /// The clock just before the action.
    pub since: Clock,
    /// The clock up to which changes are included.
    pub clock: Clock,
    /// What can be seen to have changed, as text; present instead of the changes with `effects: "brief"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brief: Option<String>,
    /// The changes.
    #[serde(flatten)]
    pub difference: Difference,
    /// Whether more changed than is listed here; `snapshot` shows all of it.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub truncated: bool,
}
