//! What an app's notifications mean: a pure table.

use crate::ffi::names as n;

/// What a notification means for the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means {
    /// Something about the element is different.
    Changed,
    /// Its children are different.
    Structure,
    /// It is new; whoever has it did not say so.
    New,
    /// The app has another window.
    NewWindow,
    /// It ended.
    Destroyed,
    /// It has the focus now.
    Focused,
    /// Other children of it are selected now.
    Selection,
    /// It shows, or hides, what it holds.
    Unfolded,
    /// A menu opened.
    MenuOpened,
    /// A menu closed.
    MenuClosed,
    /// Another window is the main one.
    Window,
    /// The app came forward, went back, was hidden or shown.
    App,
    /// Something is to be spoken.
    Announced,
    /// It is elsewhere, or of another size: geometry, which is measured when it is asked for.
    Place,
}

/// A notification that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub means: Means,
    /// Whether the tree goes out of date without it.
    pub essential: bool,
}

const fn must(name: &'static str, means: Means) -> Wanted {
    Wanted { name, means, essential: true }
}

const fn may(name: &'static str, means: Means) -> Wanted {
    Wanted { name, means, essential: false }
}

/// What is asked of an app.
pub const WANTED: &[Wanted] = &[
    must(n::kAXCreatedNotification, Means::New),
    must(n::kAXUIElementDestroyedNotification, Means::Destroyed),
    must(n::kAXValueChangedNotification, Means::Changed),
    must(n::kAXTitleChangedNotification, Means::Changed),
    must(n::kAXFocusedUIElementChangedNotification, Means::Focused),
    must(n::kAXWindowCreatedNotification, Means::NewWindow),
    must(n::kAXFocusedWindowChangedNotification, Means::Window),
    may(n::kAXMainWindowChangedNotification, Means::Window),
    may(n::kAXSheetCreatedNotification, Means::New),
    may(n::kAXDrawerCreatedNotification, Means::New),
    may(n::kAXHelpTagCreatedNotification, Means::New),
    may(n::kAXLayoutChangedNotification, Means::Structure),
    may(n::kAXRowCountChangedNotification, Means::Structure),
    may(n::kAXRowExpandedNotification, Means::Unfolded),
    may(n::kAXRowCollapsedNotification, Means::Unfolded),
    may(n::kAXSelectedRowsChangedNotification, Means::Selection),
    may(n::kAXSelectedChildrenChangedNotification, Means::Selection),
    may(n::kAXSelectedChildrenMovedNotification, Means::Structure),
    may(n::kAXSelectedCellsChangedNotification, Means::Selection),
    may(n::kAXSelectedColumnsChangedNotification, Means::Selection),
    may(n::kAXSelectedTextChangedNotification, Means::Changed),
    may(n::kAXElementBusyChangedNotification, Means::Changed),
    may(n::kAXMenuOpenedNotification, Means::MenuOpened),
    may(n::kAXMenuClosedNotification, Means::MenuClosed),
    may(n::kAXMenuItemSelectedNotification, Means::Changed),
    may(n::kAXWindowMiniaturizedNotification, Means::Changed),
    may(n::kAXWindowDeminiaturizedNotification, Means::Changed),
    may(n::kAXWindowMovedNotification, Means::Place),
    may(n::kAXWindowResizedNotification, Means::Place),
    may(n::kAXApplicationActivatedNotification, Means::App),
    may(n::kAXApplicationDeactivatedNotification, Means::App),
    may(n::kAXApplicationHiddenNotification, Means::App),
    may(n::kAXApplicationShownNotification, Means::App),
    may(n::kAXAnnouncementRequestedNotification, Means::Announced),
    may(n::AXLoadComplete, Means::Structure),
    may(n::AXLayoutComplete, Means::Structure),
    may(n::AXLiveRegionCreated, Means::Structure),
    may(n::AXLiveRegionChanged, Means::Structure),
    may(n::AXInvalidStatusChanged, Means::Changed),
    may(n::AXExpandedChanged, Means::Unfolded),
];

/// What apps do not tell of all their windows unless they are asked window by window.
pub const OF_WINDOWS: &[&str] =
    &[n::kAXUIElementDestroyedNotification, n::kAXTitleChangedNotification, n::kAXValueChangedNotification];

/// What a notification means; `None` if nobody asked for it.
pub fn meaning(name: &str) -> Option<Means> {
    WANTED.iter().find(|wanted| wanted.name == name).map(|wanted| wanted.means)
}

/// What of the notifications an app accepted: one bit each, by their place in [`WANTED`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Accepted(u64);

const _: () = assert!(WANTED.len() <= 64);

impl Accepted {
    /// Notes one.
    pub fn add(&mut self, at: usize) {
        self.0 |= 1 << at;
    }

    /// Whether it was accepted.
    pub fn has(self, at: usize) -> bool {
        self.0 & (1 << at) != 0
    }

    /// The names of those that are missing and without which the tree goes out of date.
    pub fn missing(self) -> Vec<&'static str> {
        let missing = WANTED.iter().enumerate().filter(|(at, wanted)| wanted.essential && !self.has(*at));
        missing.map(|(_, wanted)| wanted.name).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_notification_is_asked_for_once_and_understood() {
        let mut seen = HashSet::new();
        for wanted in WANTED {
            assert!(seen.insert(wanted.name), "{} is there twice", wanted.name);
            assert_eq!(meaning(wanted.name), Some(wanted.means));
        }
        assert_eq!(meaning("AXNobodyAskedForThis"), None);
        assert!(OF_WINDOWS.iter().all(|name| seen.contains(name)));
    }

    #[test]
    fn only_essential_ones_are_missed() {
        let mut accepted = Accepted::default();
        assert!(accepted.missing().contains(&n::kAXValueChangedNotification));
        for (at, _) in WANTED.iter().enumerate().filter(|(_, wanted)| wanted.essential) {
            accepted.add(at);
        }
        assert!(accepted.missing().is_empty());
    }
}
