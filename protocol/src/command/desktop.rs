//! Commands about apps, windows and displays.

use serde::{Deserialize, Serialize};

use crate::app::{AppInfo, DisplayInfo, WindowInfo};

/// List running apps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListApps {}

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

/// List open windows.
///
/// Example:
///   ax list-windows --app Notes
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListWindows {
    /// Only windows of this app.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Only windows whose title contains this text, ignoring case.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT"))]
    pub filter: Option<String>,
}

/// The answer to `list-windows`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListWindowsAnswer {
    /// The windows, front to back.
    pub windows: Vec<WindowInfo>,
}

/// List the displays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListDisplays {}

/// The answer to `list-displays`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListDisplaysAnswer {
    /// The displays, the main display first.
    pub displays: Vec<DisplayInfo>,
}

/// Read an app's tree and keep it live.
///
/// Commands that name an app attach it automatically; `attach` does it ahead of time and answers when the full tree has been
/// read.
///
/// Example:
///   ax attach Notes
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attach {
    /// App, by name, pid or identity.
    #[cfg_attr(feature = "cli", arg(value_name = "APP"))]
    pub app: String,
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

/// Detach an app.
///
/// Drops its tree; the next command that names the app attaches it again. Ids stay the same.
///
/// Example:
///   ax detach Notes
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detach {
    /// App, by name, pid or identity.
    #[cfg_attr(feature = "cli", arg(value_name = "APP"))]
    pub app: String,
}
