//! The events that the daemon sends to subscribers: one line for each, with the subscription's number.

use serde::{Deserialize, Serialize};

use crate::app::{AppInfo, WindowInfo};
use crate::caused_by::CausedBy;
use crate::change::Difference;
use crate::clock::Clock;
use crate::node::{Node, NodeRef};

/// One line of a subscription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Push {
    /// The subscription it belongs to.
    pub sub: u64,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

/// An event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Event {
    /// An app's tree changed.
    Changes {
        /// The clock after the change.
        clock: Clock,
        /// The app.
        app: AppInfo,
        /// How the daemon learned of the change.
        observed: Observed,
        /// The actions that some of the changes followed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        caused_by: Vec<CausedBy>,
        /// Whether there may be changes among them that followed none of these actions.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        others: bool,
        /// What changed since this subscription's last line about the app.
        #[serde(flatten)]
        difference: Difference,
    },
    /// The app's full tree, sent because the difference is unknown or was not asked for. It replaces any earlier copy.
    Fresh {
        /// The clock the tree was read at.
        clock: Clock,
        /// The app.
        app: AppInfo,
        /// Why the full tree is sent.
        cause: FreshCause,
        /// The tree; absent while the app has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<Node>,
    },
    /// Another element has the keyboard focus.
    Focus(EventData),
    /// A window opened.
    WindowOpened(EventData),
    /// A window closed.
    WindowClosed(EventData),
    /// A window became the active window.
    WindowFocused(EventData),
    /// A window was moved, resized, renamed, minimised or restored.
    WindowChanged(EventData),
    /// An app started.
    AppLaunched(EventData),
    /// An app ended.
    AppTerminated(EventData),
    /// A menu opened.
    MenuOpened(EventData),
    /// A menu closed.
    MenuClosed(EventData),
    /// A dialog or alert opened.
    Dialog(EventData),
    /// The app announced a text for screen readers to speak.
    Announcement(EventData),
    /// An attached app's state changed.
    AppState(EventData),
    /// The subscription ended.
    End {
        /// Why it ended.
        cause: EndCause,
    },
}

/// The data of every event that is not about a tree.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EventData {
    /// The clock at which the daemon noticed the event.
    pub clock: Clock,
    /// The app.
    pub app: AppInfo,
    /// The element that the event is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeRef>,
    /// The window that the event is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<WindowInfo>,
    /// The announced text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The action that it followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caused_by: Option<CausedBy>,
}

/// How the daemon learned of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Observed {
    /// The app announced it.
    Event,
    /// The app did not announce it; the daemon found it by reading again.
    Reread,
}

/// Why the full tree is sent instead of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FreshCause {
    /// The subscriber asked for it.
    Snapshot,
    /// The app was not attached at the given clock.
    Attached,
    /// The given clock is older than the history that is kept.
    History,
    /// The given clock is of another run of the daemon.
    Boot,
}

/// Why a subscription ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EndCause {
    /// Its client cancelled it.
    Cancelled,
    /// The daemon is shutting down.
    Shutdown,
    /// The app or element that was watched is gone.
    Gone,
}

/// A kind of event that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum EventKind {
    /// The tree changed.
    Changes,
    /// The keyboard focus moved.
    Focus,
    /// A window opened.
    WindowOpened,
    /// A window closed.
    WindowClosed,
    /// A window became the active window.
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
    /// A dialog or alert opened.
    Dialog,
    /// The app announced a text for screen readers to speak.
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
