//! What every command that acts answers: how it was done, and what changed.

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
    /// Who received what was sent by mouse or keyboard, by what the desktop said just before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receiver: Option<Receiver>,
    /// The element that the mouse was over just before it was pressed, by what the app said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hit: Option<NodeRef>,
    /// A modal dialog that is open over what this was about, and does not hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modal: Option<Modal>,
    /// What changed in the app since just before; absent with `--no-effects`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// How surely it was delivered.
    pub disposition: Disposition,
    /// What is worth knowing beside that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Who received what was sent by mouse or keyboard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Receiver {
    /// The app, if it is one that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<String>,
    /// Its process.
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
    /// What its buttons are called.
    pub buttons: Vec<String>,
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
