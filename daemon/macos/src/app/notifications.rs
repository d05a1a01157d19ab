//! The notifications that axd registers for, and what each means for the tree: a pure table.

use crate::ffi::names as n;

/// What a notification means for the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Attributes of the element changed.
    Changed,
    /// Its children changed.
    ChildrenChanged,
    /// The element is new, and its parent does not announce that.
    Created,
    /// The app has another window.
    WindowCreated,
    /// The element is gone.
    Destroyed,
    /// The element has the keyboard focus now.
    FocusMoved,
    /// Other children of the element are selected now.
    SelectionChanged,
    /// The element was expanded or collapsed.
    ExpansionChanged,
    /// A menu opened.
    MenuOpened,
    /// A menu closed.
    MenuClosed,
    /// Another window is the main or the focused one.
    WindowFocusMoved,
    /// The app was activated, deactivated, hidden or shown.
    AppStateChanged,
    /// The app wants a text to be spoken.
    Announcement,
    /// The element was moved or resized. Geometry is measured on request, so the tree does not change.
    Moved,
}

/// A notification to register for.
#[derive(Debug, Clone, Copy)]
pub struct NotificationSpec {
    /// Its name.
    pub name: &'static str,
    /// What it means.
    pub effect: Effect,
    /// Whether the tree goes out of date without it.
    pub required: bool,
}

const fn required(name: &'static str, effect: Effect) -> NotificationSpec {
    NotificationSpec { name, effect, required: true }
}

const fn optional(name: &'static str, effect: Effect) -> NotificationSpec {
    NotificationSpec { name, effect, required: false }
}

/// Every notification that an app is asked for.
pub const NOTIFICATIONS: &[NotificationSpec] = &[
    required(n::kAXCreatedNotification, Effect::Created),
    required(n::kAXUIElementDestroyedNotification, Effect::Destroyed),
    required(n::kAXValueChangedNotification, Effect::Changed),
    required(n::kAXTitleChangedNotification, Effect::Changed),
    required(n::kAXFocusedUIElementChangedNotification, Effect::FocusMoved),
    required(n::kAXWindowCreatedNotification, Effect::WindowCreated),
    required(n::kAXFocusedWindowChangedNotification, Effect::WindowFocusMoved),
    optional(n::kAXMainWindowChangedNotification, Effect::WindowFocusMoved),
    optional(n::kAXSheetCreatedNotification, Effect::Created),
    optional(n::kAXDrawerCreatedNotification, Effect::Created),
    optional(n::kAXHelpTagCreatedNotification, Effect::Created),
    optional(n::kAXLayoutChangedNotification, Effect::ChildrenChanged),
    optional(n::kAXRowCountChangedNotification, Effect::ChildrenChanged),
    optional(n::kAXRowExpandedNotification, Effect::ExpansionChanged),
    optional(n::kAXRowCollapsedNotification, Effect::ExpansionChanged),
    optional(n::kAXSelectedRowsChangedNotification, Effect::SelectionChanged),
    optional(n::kAXSelectedChildrenChangedNotification, Effect::SelectionChanged),
    optional(n::kAXSelectedChildrenMovedNotification, Effect::ChildrenChanged),
    optional(n::kAXSelectedCellsChangedNotification, Effect::SelectionChanged),
    optional(n::kAXSelectedColumnsChangedNotification, Effect::SelectionChanged),
    optional(n::kAXSelectedTextChangedNotification, Effect::Changed),
    optional(n::kAXElementBusyChangedNotification, Effect::Changed),
    optional(n::kAXMenuOpenedNotification, Effect::MenuOpened),
    optional(n::kAXMenuClosedNotification, Effect::MenuClosed),
    optional(n::kAXMenuItemSelectedNotification, Effect::Changed),
    optional(n::kAXWindowMiniaturizedNotification, Effect::Changed),
    optional(n::kAXWindowDeminiaturizedNotification, Effect::Changed),
    optional(n::kAXWindowMovedNotification, Effect::Moved),
    optional(n::kAXWindowResizedNotification, Effect::Moved),
    optional(n::kAXApplicationActivatedNotification, Effect::AppStateChanged),
    optional(n::kAXApplicationDeactivatedNotification, Effect::AppStateChanged),
    optional(n::kAXApplicationHiddenNotification, Effect::AppStateChanged),
    optional(n::kAXApplicationShownNotification, Effect::AppStateChanged),
    optional(n::kAXAnnouncementRequestedNotification, Effect::Announcement),
    optional(n::AXLoadComplete, Effect::ChildrenChanged),
    optional(n::AXLayoutComplete, Effect::ChildrenChanged),
    optional(n::AXLiveRegionCreated, Effect::ChildrenChanged),
    optional(n::AXLiveRegionChanged, Effect::ChildrenChanged),
    optional(n::AXInvalidStatusChanged, Effect::Changed),
    optional(n::AXExpandedChanged, Effect::ExpansionChanged),
];

/// Those that some apps send only for windows they were registered for on the window itself.
pub const WINDOW_NOTIFICATIONS: &[&str] =
    &[n::kAXUIElementDestroyedNotification, n::kAXTitleChangedNotification, n::kAXValueChangedNotification];

/// Those that an app sends only for the element they are about: accepted for the whole app, they never come for what is in it.
/// Which of them a container is registered for; none if it is no container.
pub fn container_notifications(native: &str) -> &'static [&'static str] {
    match native {
        "AXTable" | "AXOutline" | "AXGrid" | "AXTreeGrid" | "AXList" | "AXBrowser" => &[
            n::kAXUIElementDestroyedNotification,
            n::kAXSelectedRowsChangedNotification,
            n::kAXSelectedChildrenChangedNotification,
            n::kAXSelectedCellsChangedNotification,
            n::kAXRowCountChangedNotification,
        ],
        "AXTabGroup" | "AXRadioGroup" | "AXWebArea" => {
            &[n::kAXUIElementDestroyedNotification, n::kAXSelectedChildrenChangedNotification]
        }
        "AXScrollArea" | "AXSheet" | "AXDrawer" | "AXPopover" => &[n::kAXUIElementDestroyedNotification],
        _ => &[],
    }
}

/// What a notification means; `None` if it is not in the table.
pub fn effect_of(name: &str) -> Option<Effect> {
    NOTIFICATIONS.iter().find(|spec| spec.name == name).map(|spec| spec.effect)
}

/// Which notifications an app accepted: one bit each, by the index in [`NOTIFICATIONS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AcceptedSet(u64);

const _: () = assert!(NOTIFICATIONS.len() <= 64);

impl AcceptedSet {
    /// Adds the notification with this index.
    pub fn insert(&mut self, index: usize) {
        self.0 |= 1 << index;
    }

    /// Whether the notification with this index was accepted.
    pub fn contains(self, index: usize) -> bool {
        self.0 & (1 << index) != 0
    }

    /// The names of the required notifications that were not accepted.
    pub fn missing(self) -> Vec<&'static str> {
        let missing =
            NOTIFICATIONS.iter().enumerate().filter(|(index, spec)| spec.required && !self.contains(*index));
        missing.map(|(_, spec)| spec.name).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_notification_is_listed_once_and_has_an_effect() {
        let mut seen = HashSet::new();
        for spec in NOTIFICATIONS {
            assert!(seen.insert(spec.name), "{} is there twice", spec.name);
            assert_eq!(effect_of(spec.name), Some(spec.effect));
        }
        assert_eq!(effect_of("AXNobodyAskedForThis"), None);
        assert!(WINDOW_NOTIFICATIONS.iter().all(|name| seen.contains(name)));
        for native in ["AXTable", "AXTabGroup", "AXSheet"] {
            assert!(container_notifications(native).iter().all(|name| seen.contains(name)));
        }
        assert!(container_notifications("AXButton").is_empty());
    }

    #[test]
    fn only_required_ones_are_missed() {
        let mut accepted = AcceptedSet::default();
        assert!(accepted.missing().contains(&n::kAXValueChangedNotification));
        for (index, _) in NOTIFICATIONS.iter().enumerate().filter(|(_, spec)| spec.required) {
            accepted.insert(index);
        }
        assert!(accepted.missing().is_empty());
    }
}
