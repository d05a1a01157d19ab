//! Apps, windows and displays as clients see them.

use serde::{Deserialize, Serialize};

use crate::geometry::Bounds;
use crate::id::NodeId;
use crate::node::NodeRef;

/// An app, as every answer about it names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppInfo {
    /// What people call it.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// What stays the same when it restarts: bundle id or executable.
    pub identity: String,
    /// How far its tree can be trusted.
    pub state: AppState,
    /// The modal dialog that is open over what the answer is about: it waits for an answer of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modal: Option<NodeRef>,
}

/// How far an app's tree can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AppState {
    /// It runs; nobody asked about it yet.
    Detached,
    /// Its first walk is under way: the tree is partial.
    Warming,
    /// Its tree is whole and kept true by events.
    Live,
    /// Some observers were refused, or its calls time out.
    Degraded,
    /// It ended.
    Gone,
}

impl AppState {
    /// The name used on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            AppState::Detached => "detached",
            AppState::Warming => "warming",
            AppState::Live => "live",
            AppState::Degraded => "degraded",
            AppState::Gone => "gone",
        }
    }
}

/// A top-level window, as the desktop knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowInfo {
    /// The window system's number for it.
    pub window: u64,
    /// Its element, once its app is attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<NodeId>,
    /// Its title.
    pub title: String,
    /// Its app's name.
    pub app: String,
    /// Its process.
    pub pid: u32,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// Whether it is the active window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub focused: bool,
    /// Whether it is put away: minimised, or with all of its app hidden.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub minimized: bool,
    /// Whether it is maximised.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub maximized: bool,
}

/// A display.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DisplayInfo {
    /// Its number, from 1; what `--display` takes.
    pub display: u32,
    /// What the system calls it.
    pub name: String,
    /// Whether it is the main one.
    pub primary: bool,
    /// Where it lies on the desktop.
    pub bounds: Bounds,
    /// Pixels per point.
    pub scale: f64,
}
