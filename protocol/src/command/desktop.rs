//! Commands about apps, windows and displays.

use serde::{Deserialize, Serialize};

use super::args;
use crate::app::{AppInfo, DisplayInfo, WindowInfo};

args! {
    /// List running apps.
    struct ListApps {}
}

/// The answer to `list-apps`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListAppsAnswer {
    /// The apps.
    pub apps: Vec<ListedApp>,
}

/// A running app.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedApp {
    /// The app.
    #[serde(flatten)]
    pub app: AppInfo,
    /// Whether the active window is one of its windows.
    pub frontmost: bool,
    /// The number of its windows.
    pub windows: u32,
}

args! {
    /// List open windows.
    ///
    /// Example:
    ///   ax list-windows --app Notes
    struct ListWindows {
        /// Only windows of this app.
        optional app: Option<String> [long, value_name = "APP"],
        /// Only windows whose title contains this text, ignoring case.
        optional filter: Option<String> [long, value_name = "TEXT"],
    }
}

/// The answer to `list-windows`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListWindowsAnswer {
    /// The windows, front to back.
    pub windows: Vec<WindowInfo>,
}

args! {
    /// List the displays.
    struct ListDisplays {}
}

/// The answer to `list-displays`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListDisplaysAnswer {
    /// The displays, the main display first.
    pub displays: Vec<DisplayInfo>,
}

args! {
    /// Read an app's tree and keep it live.
    ///
    /// Commands that name an app attach it automatically; `attach` does it ahead of time and answers when the full tree has been
    /// read.
    ///
    /// Example:
    ///   ax attach Notes
    struct Attach {
        /// App, by name, pid or identity.
        required app: String [value_name = "APP"],
    }
}

/// The answer to `attach` and `detach`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AttachAnswer {
    /// Whether the complete tree has been read.
    pub complete: bool,
    /// The number of elements in the tree.
    pub nodes: u32,
}

args! {
    /// Detach an app.
    ///
    /// Drops its tree; the next command that names the app attaches it again. Ids stay the same.
    ///
    /// Example:
    ///   ax detach Notes
    struct Detach {
        /// App, by name, pid or identity.
        required app: String [value_name = "APP"],
    }
}
