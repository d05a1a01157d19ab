//! Commands that start and close apps, and that move and resize windows.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::args;
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

args! {
    /// Start an app.
    ///
    /// With --wait, answers when the first window is open, with the app and the window. Follows launchers that hand over to another
    /// process or to a running instance of the app (`handed over to …`). Stops waiting when nothing that was started is running
    /// any more.
    ///
    /// Examples:
    ///   ax launch Notes --wait
    ///   ax launch /usr/bin/mousepad --arg notes.txt --wait
    struct Launch {
        /// App: a name, an identity, or the path of a program.
        required app: String [value_name = "APP"],
        /// Command-line argument for it; may be repeated.
        optional arg: Vec<String> [long, value_name = "ARG", allow_hyphen_values = true],
        /// Environment variable for it; may be repeated.
        optional env: Vec<String> [long, value_name = "NAME=VALUE"],
        /// Working directory.
        optional cwd: Option<PathBuf> [long, value_name = "FOLDER"],
        /// Wait until its window is open.
        optional wait: bool [long],
        /// Maximum time to wait for it, in ms [default: 30000].
        optional timeout_ms: Option<u64> [long, value_name = "MS"],
    }
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

args! {
    /// Quit an app; with --force, kill it.
    ///
    /// Examples:
    ///   ax close-app Notes
    ///   ax close-app 4711 --force
    struct CloseApp {
        /// App, by name, pid or identity.
        required app: String [value_name = "APP"],
        /// Kill the app instead of asking it to quit.
        optional force: bool [long],
        /// Maximum time to wait until it has ended, in ms [default: 5000].
        optional timeout_ms: Option<u64> [long, value_name = "MS"],
    }
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

macro_rules! window_args {
    ($(#[$meta:meta])* struct $name:ident { $($own:tt)* }) => {
        args! {
            $(#[$meta])*
            struct $name {
                /// Window: its title, id or number [default: the app's front window].
                optional window: Option<String> [value_name = "WINDOW"],
                $($own)*
                /// App of the window [default: the frontmost].
                optional app: Option<String> [long, value_name = "APP"],
                /// Maximum time to wait until it is done, in ms [default: 2000].
                optional timeout_ms: Option<u64> [long, value_name = "MS"],
            }
        }
    };
}

window_args! {
    /// Bring a window to the front and focus it.
    ///
    /// Example:
    ///   ax focus-window Inbox
    struct FocusWindow {}
}

window_args! {
    /// Move a window.
    ///
    /// Example:
    ///   ax move-window Inbox --to 0,40
    struct MoveWindow {
        /// New position of its top left corner.
        required to: PointArg [long, value_name = "X,Y", allow_hyphen_values = true],
    }
}

window_args! {
    /// Resize a window.
    ///
    /// Example:
    ///   ax resize-window Inbox --to 800x600
    struct ResizeWindow {
        /// New size.
        required to: Size [long, value_name = "WIDTHxHEIGHT"],
    }
}

window_args! {
    /// Minimize a window.
    struct Minimize {}
}

window_args! {
    /// Maximize a window.
    struct Maximize {}
}

window_args! {
    /// Restore a minimized or maximized window.
    struct Restore {}
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
