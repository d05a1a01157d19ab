//! How the system and its apps behave beyond what Apple documents. They are rude by default, as people have measured on Macs; a
//! test may ask for the polite ones.

use std::time::Duration;

/// How apps behave.
#[derive(Debug, Clone)]
pub struct Manners {
    /// What one call to an app costs at least.
    pub round_trip: Duration,
    /// Whether an observer that is registered on the app hears of the end and the selection of everything in it. The
    /// registration is accepted either way.
    pub app_observers_hear_all: bool,
    /// Whether menus are true to life while they are closed, and work in apps that are not in front. Otherwise their items are
    /// enabled as when the menu was last open, and not before that; and those of an app in the background answer success and
    /// do nothing.
    pub menus_are_live: bool,
    /// Whether a hidden app lists its windows among `AXWindows`.
    pub hidden_windows_listed: bool,
    /// Whether AppKit tells that an app has ended. It does most of the time.
    pub ends_are_told: bool,
    /// How long after a display changed AppKit still says what it was like before.
    pub screens_lag: Duration,
    /// How long an announcement takes that is made while the app answers; with that time it comes after the answer to the next
    /// question.
    pub announcements_lag: Duration,
    /// How many notifications an observer's port holds. Those that do not fit are lost, and nobody is told.
    pub port_size: usize,
}

/// The notifications that only observers on the element itself hear.
pub(crate) const ELEMENT_SCOPED: &[&str] = &[
    "AXUIElementDestroyed",
    "AXSelectedRowsChanged",
    "AXSelectedChildrenChanged",
    "AXSelectedCellsChanged",
    "AXRowCountChanged",
];

impl Default for Manners {
    fn default() -> Manners {
        Manners {
            round_trip: Duration::from_micros(100),
            app_observers_hear_all: false,
            menus_are_live: false,
            hidden_windows_listed: false,
            ends_are_told: true,
            screens_lag: Duration::from_millis(500),
            announcements_lag: Duration::from_millis(5),
            port_size: 1024,
        }
    }
}

impl Manners {
    /// As Apple's documentation could be understood.
    pub fn polite() -> Manners {
        Manners {
            round_trip: Duration::ZERO,
            app_observers_hear_all: true,
            menus_are_live: true,
            hidden_windows_listed: true,
            ends_are_told: true,
            screens_lag: Duration::ZERO,
            announcements_lag: Duration::ZERO,
            port_size: usize::MAX,
        }
    }
}
