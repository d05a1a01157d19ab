//! Apps, windows and displays as clients see them.

use serde::{Deserialize, Serialize};

use crate::caused_by::OtherActor;
use crate::geometry::Bounds;
use crate::id::NodeId;
use crate::node::NodeRef;

/// An app, as it is described in every answer about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppInfo {
    /// The name that people use for it.
    pub name: String,
    /// The id of its process.
    pub pid: u32,
    /// The bundle id or executable, which stays the same when the app restarts.
    pub identity: String,
    /// How complete and current its tree is.
    pub state: AppState,
    /// The modal dialog that blocks the window the answer is about, if one is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modal: Option<NodeRef>,
    /// The other clients that act on it, or did so in the last 30 s; in answers about elements and trees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acting: Vec<OtherActor>,
}

/// How complete and current an app's tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AppState {
    /// The app runs, and its tree is not read.
    Detached,
    /// The tree is being read for the first time, and is incomplete.
    Warming,
    /// The tree is complete, and is kept current by events.
    Live,
    /// The app refused some observers, or calls to it time out.
    Degraded,
    /// The app has ended.
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
    /// The id of its element, if its app is attached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<NodeId>,
    /// Its title.
    pub title: String,
    /// Its app's name.
    pub app: String,
    /// The id of its process.
    pub pid: u32,
    /// Its bounds on the desktop, if they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// Whether it is the active window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub focused: bool,
    /// Whether it is minimised, hidden with its whole app, or on a space that is not shown.
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
    /// The system's name for it.
    pub name: String,
    /// Whether it is the main display.
    pub primary: bool,
    /// Its bounds on the desktop.
    pub bounds: Bounds,
    /// The number of pixels per point.
    pub scale: f64,
}
