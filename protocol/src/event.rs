//! What the daemon pushes to a subscriber: one line each, under the subscription's number.

use serde::{Deserialize, Serialize};

use crate::app::{AppInfo, WindowInfo};
use crate::change::Difference;
use crate::clock::Clock;
use crate::node::{Node, NodeRef};

/// One line of a subscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Push {
    /// The subscription it belongs to.
    pub sub: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Event {
    /// An app's tree changed.
    Changes {
        /// The clock after it.
        clock: Clock,
        /// The app.
        app: AppInfo,
        /// How it came to be known.
        observed: Observed,
        /// What changed since this subscription's last line about the app.
        #[serde(flatten)]
        difference: Difference,
    },
    /// The difference is not known, or was not asked for: drop what was held of this app and take this.
    Fresh {
        /// The clock it was read at.
        clock: Clock,
        /// The app.
        app: AppInfo,
        /// Why it comes whole.
        cause: FreshCause,
        /// The whole tree; absent while the app has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<Node>,
    },
    /// Another element has the keyboard focus.
    Focus(Happening),
    /// A window came up.
    WindowOpened(Happening),
    /// A window went away.
    WindowClosed(Happening),
    /// A window became the active one.
    WindowFocused(Happening),
    /// A window was moved, resized, renamed, minimised or restored.
    WindowChanged(Happening),
    /// An app started.
    AppLaunched(Happening),
    /// An app ended.
    AppTerminated(Happening),
    /// A menu opened.
    MenuOpened(Happening),
    /// A menu closed.
    MenuClosed(Happening),
    /// A dialog or alert came up.
    Dialog(Happening),
    /// The app said something for screen readers to speak.
    Announcement(Happening),
    /// An attached app's state changed.
    AppState(Happening),
    /// The subscription is over.
    End {
        /// Why.
        cause: EndCause,
    },
}

/// A discrete event: something that happened, rather than something that is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Happening {
    /// The clock when it was noticed.
    pub clock: Clock,
    /// The app.
    pub app: AppInfo,
    /// The element it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeRef>,
    /// The window it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowInfo>,
    /// What was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// How a change came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Observed {
    /// The app announced it.
    Event,
    /// The app kept silent; reading again found it.
    Reread,
}

/// Why a tree comes whole instead of as a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FreshCause {
    /// The subscriber asked for it.
    Snapshot,
    /// The app was not known at the clock given.
    Attached,
    /// The clock given lies before what is remembered.
    History,
    /// The clock given is of another run of the daemon.
    Boot,
}

/// Why a subscription ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EndCause {
    /// Its client cancelled it.
    Cancelled,
    /// The daemon is going down.
    Shutdown,
    /// What it watched is gone for good.
    Gone,
}

/// A kind of event, as asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum EventKind {
    /// The tree changed.
    Changes,
    /// The keyboard focus moved.
    Focus,
    /// A window came up.
    WindowOpened,
    /// A window went away.
    WindowClosed,
    /// A window became the active one.
    WindowFocused,
    /// A window was moved, resized, renamed, minimised or restored.
    WindowChanged,
    /// An app started.
    AppLaunched,
    /// An app ended.
    AppTerminated,
    /// A menu opened.
    MenuOpened,
    /// A menu closed.
    MenuClosed,
    /// A dialog or alert came up.
    Dialog,
    /// The app said something for screen readers to speak.
    Announcement,
    /// An attached app's state changed.
    AppState,
}

impl EventKind {
    /// The name used on the wire and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            EventKind::Changes => "changes",
            EventKind::Focus => "focus",
            EventKind::WindowOpened => "window-opened",
            EventKind::WindowClosed => "window-closed",
            EventKind::WindowFocused => "window-focused",
            EventKind::WindowChanged => "window-changed",
            EventKind::AppLaunched => "app-launched",
            EventKind::AppTerminated => "app-terminated",
            EventKind::MenuOpened => "menu-opened",
            EventKind::MenuClosed => "menu-closed",
            EventKind::Dialog => "dialog",
            EventKind::Announcement => "announcement",
            EventKind::AppState => "app-state",
        }
    }
}
