//! Commands that start and close apps, and that move and resize windows.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::input::PointArg;
use crate::app::{AppInfo, WindowInfo};
use crate::error::Disposition;

/// A size: `800x600`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct Size {
    /// The width in points.
    pub width: u32,
    /// The height in points.
    pub height: u32,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let parse = || {
            let (width, height) = text.split_once(['x', ','])?;
            Some(Size { width: width.trim().parse().ok()?, height: height.trim().parse().ok()? })
        };
        parse()
            .filter(|size| (1..=100_000).contains(&size.width) && (1..=100_000).contains(&size.height))
            .ok_or_else(|| format!("'{text}' is not a size; write WIDTHxHEIGHT, as in 800x600"))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Size, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Start an app.
///
/// With --wait, answers when the first window is open, with the app and the window. Follows launchers that hand over to another
/// process or to a running instance of the app (`handed over to …`). Stops waiting when nothing that was started is running
/// any more.
///
/// Examples:
///   ax launch Notes --wait
///   ax launch /usr/bin/mousepad --arg notes.txt --wait
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Launch {
    /// App: a name, an identity, or the path of a program.
    #[cfg_attr(feature = "cli", arg(value_name = "APP"))]
    pub app: String,
    /// Command-line argument for it; may be repeated.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "ARG", allow_hyphen_values = true))]
    pub arg: Vec<String>,
    /// Environment variable for it; may be repeated.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME=VALUE"))]
    pub env: Vec<String>,
    /// Working directory.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FOLDER"))]
    pub cwd: Option<PathBuf>,
    /// Wait until its window is open.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub wait: bool,
    /// Maximum time to wait for it, in ms [default: 30000].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub timeout_ms: Option<u64>,
}

/// The answer to `launch`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaunchAnswer {
    /// The id of the process that was started, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The app, if it has appeared; always present with `--wait`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launched: Option<AppInfo>,
    /// Its window, with `--wait`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowInfo>,
    /// With `--wait`, the id of the running process that the started process handed over to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_over_to: Option<u32>,
    /// How long the wait took, in ms.
    pub waited_ms: u64,
    /// How far the action got, and whether it is safe to retry.
    pub disposition: Disposition,
    /// An additional remark for the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Quit an app; with --force, kill it.
///
/// Examples:
///   ax close-app Notes
///   ax close-app 4711 --force
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CloseApp {
    /// App, by name, pid or identity.
    #[cfg_attr(feature = "cli", arg(value_name = "APP"))]
    pub app: String,
    /// Kill the app instead of asking it to quit.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
    /// Maximum time to wait until it has ended, in ms [default: 5000].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub timeout_ms: Option<u64>,
}

/// The answer to `close-app`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CloseAppAnswer {
    /// Whether the app has ended.
    pub closed: bool,
    /// How long the wait took, in ms.
    pub waited_ms: u64,
    /// How far the action got, and whether it is safe to retry.
    pub disposition: Disposition,
}

/// Bring a window to the front and focus it.
///
/// Example:
///   ax focus-window Inbox
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FocusWindow {
    /// Window: its title, id or number [default: the app's front window].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "WINDOW"))]
    pub window: Option<String>,
    /// App of the window [default: the frontmost].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Maximum time to wait until it is done, in ms [default: 2000].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub timeout_ms: Option<u64>,
}

/// Move a window.
///
/// Example:
///   ax move-window Inbox --to 0,40
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MoveWindow {
    /// Window: its title, id or number [default: the app's front window].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "WINDOW"))]
    pub window: Option<String>,
    /// New position of its top left corner.
    #[cfg_attr(feature = "cli", arg(long, value_name = "X,Y", allow_hyphen_values = true))]
    pub to: PointArg,
    /// App of the window [default: the frontmost].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Maximum time to wait until it is done, in ms [default: 2000].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub timeout_ms: Option<u64>,
}

/// Resize a window.
///
/// Example:
///   ax resize-window Inbox --to 800x600
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResizeWindow {
    /// Window: its title, id or number [default: the app's front window].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "WINDOW"))]
    pub window: Option<String>,
    /// New size.
    #[cfg_attr(feature = "cli", arg(long, value_name = "WIDTHxHEIGHT"))]
    pub to: Size,
    /// App of the window [default: the frontmost].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Maximum time to wait until it is done, in ms [default: 2000].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub timeout_ms: Option<u64>,
}

/// Minimize a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Minimize {
    /// Window: its title, id or number [default: the app's front window].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "WINDOW"))]
    pub window: Option<String>,
    /// App of the window [default: the frontmost].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Maximum time to wait until it is done, in ms [default: 2000].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub timeout_ms: Option<u64>,
}

/// Maximize a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Maximize {
    /// Window: its title, id or number [default: the app's front window].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "WINDOW"))]
    pub window: Option<String>,
    /// App of the window [default: the frontmost].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Maximum time to wait until it is done, in ms [default: 2000].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub timeout_ms: Option<u64>,
}

/// Restore a minimized or maximized window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Restore {
    /// Window: its title, id or number [default: the app's front window].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "WINDOW"))]
    pub window: Option<String>,
    /// App of the window [default: the frontmost].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Maximum time to wait until it is done, in ms [default: 2000].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub timeout_ms: Option<u64>,
}

/// The answer to a command about a window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WindowAnswer {
    /// The window before the action.
    pub before: WindowInfo,
    /// The window after the action; absent if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<WindowInfo>,
    /// How long the wait took, in ms.
    pub waited_ms: u64,
    /// How far the action got, and whether it is safe to retry.
    pub disposition: Disposition,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_two_whole_numbers() {
        assert_eq!("800x600".parse(), Ok(Size { width: 800, height: 600 }));
        for wrong in ["800", "0x5", "-1x5", "axb", "9999999x1"] {
            assert!(wrong.parse::<Size>().unwrap_err().contains("800x600"), "{wrong}");
        }
    }
}
