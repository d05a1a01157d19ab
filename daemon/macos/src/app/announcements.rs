//! Passes on what the app announces: to the worker, as where to read, and to the desktop monitor.

use std::time::{Duration, Instant};

use tracing::{debug, trace};

use super::attached_app::AttachedApp;
use super::notifications::{Effect, effect_of};
use crate::ax::observer::AxNotification;
use crate::ax::run_loop;
use crate::desktop::monitor::MonitorEvent;
use crate::ffi::names as n;
use axd_platform::ElementKey;
use axd_platform::worker::AppNotification;

/// How long the parents of new elements are looked up before a batch of notifications is passed on without them.
const PARENT_LOOKUP_BUDGET: Duration = Duration::from_millis(50);
/// As many notifications at once mean that more may have been lost: the kernel keeps 1024 messages of a port at most.
const FULL_PORT: usize = 1_000;
/// How many children are read again at most when a container's selection changes.
const MAX_SELECTION_REREADS: usize = 512;

impl AttachedApp {
    /// Receives the notifications that have arrived. If there are as many as a port holds, others may have been lost.
    pub(super) fn receive(&mut self, until: Instant) {
        let mut count = 0;
        while run_loop::wait(Some(Duration::ZERO)) && Instant::now() < until {
            count += 1;
        }
        if count >= FULL_PORT {
            debug!(
                pid = self.pid,
                "so much was announced at once that some may be lost; everything is read again"
            );
            self.process_notifications();
            self.notify(AppNotification::Everything);
        }
    }

    /// Passes on all notifications that were received.
    pub(super) fn process_notifications(&mut self) {
        let began = Instant::now();
        while let Some(notification) = self.events.pop() {
            self.on_notification(&notification, began.elapsed() < PARENT_LOOKUP_BUDGET);
        }
        if self.events.take_overflow() {
            debug!(pid = self.pid, "so much was announced that everything is read again");
            self.notify(AppNotification::Everything);
        }
    }

    /// Passes on one notification; `may_ask` says whether the app may be asked for more about it.
    fn on_notification(&mut self, notification: &AxNotification, may_ask: bool) {
        let Some(effect) = effect_of(&notification.name) else { return };
        trace!(pid = self.pid, name = notification.name, "announced");
        if let Some(key) = self.reader.handles.find(&notification.element) {
            self.read_ahead.remove(&key);
        }
        match effect {
            Effect::Destroyed => {
                self.registrations
                    .borrow_mut()
                    .values_mut()
                    .for_each(|one| one.forget(&notification.element));
                if let Some(key) = self.reader.handles.find(&notification.element) {
                    let was_window = self.reader.is_window(key);
                    self.notify(AppNotification::Destroyed(key));
                    if was_window {
                        self.notify_monitor();
                    }
                }
                return;
            }
            Effect::Announcement => {
                if let Some(text) = notification.announcement.clone().filter(|text| !text.is_empty()) {
                    self.notify(AppNotification::Announced(text));
                }
                return;
            }
            Effect::Moved => return self.notify_monitor(),
            _ => {}
        }
        let key = self.reader.handles.key(&notification.element);
        match effect {
            Effect::Changed => {
                self.notify(AppNotification::Changed(key));
                if self.reader.is_window(key) {
                    self.notify_monitor();
                }
            }
            Effect::ChildrenChanged => self.notify(AppNotification::Structure(key)),
            Effect::Created => {
                // The parent is looked up only while there is time for it: there may be many new elements at once.
                let parent = match self.reader.parent_of(key) {
                    None if may_ask => notification.element.element(n::kAXParentAttribute).ok().flatten(),
                    _ => None,
                };
                let parent = parent.and_then(|parent| self.reader.handles.find(&parent));
                match parent.or_else(|| self.reader.parent_of(key)) {
                    Some(parent) => self.notify(AppNotification::Structure(parent)),
                    None => self.notify(AppNotification::Structure(key)),
                }
            }
            Effect::WindowCreated | Effect::WindowFocusMoved => {
                self.notify(AppNotification::Structure(ElementKey::APP));
                if key != ElementKey::APP {
                    self.notify(AppNotification::Changed(key));
                }
                self.notify_monitor();
            }
            Effect::AppStateChanged => {
                self.enabler.forget_pokes();
                self.notify(AppNotification::Changed(ElementKey::APP));
                self.notify_monitor();
            }
            Effect::FocusMoved => {
                let before = self.focused.replace(key);
                before.into_iter().for_each(|before| self.notify(AppNotification::Changed(before)));
                self.notify(AppNotification::Changed(key));
            }
            Effect::SelectionChanged => {
                self.notify(AppNotification::Structure(key));
                let children: Vec<ElementKey> = self.reader.selectable_children(key, MAX_SELECTION_REREADS);
                children.into_iter().for_each(|child| self.notify(AppNotification::Changed(child)));
            }
            Effect::ExpansionChanged => {
                // Which rows are below which is read from the outline.
                self.reader
                    .outline_of(key)
                    .into_iter()
                    .for_each(|outline| self.notify(AppNotification::Structure(outline)));
                self.notify(AppNotification::Structure(key));
                if let Some(parent) = self.reader.parent_of(key) {
                    self.notify(AppNotification::Structure(parent));
                }
            }
            Effect::MenuOpened | Effect::MenuClosed => {
                let changed = self.reader.set_menu_open(key, effect == Effect::MenuOpened);
                changed.into_iter().for_each(|key| self.notify(AppNotification::Structure(key)));
                if let Some(parent) = self.reader.parent_of(key) {
                    self.notify(AppNotification::Structure(parent));
                }
            }
            Effect::Destroyed | Effect::Announcement | Effect::Moved => {}
        }
        for element in &notification.other_elements {
            let key = self.reader.handles.key(element);
            self.notify(AppNotification::Structure(key));
        }
    }

    /// Tells the desktop monitor that the app's windows may have changed.
    fn notify_monitor(&self) {
        // The monitor has ended if the daemon stops.
        let _ = self.monitor.send(MonitorEvent::Windows(self.pid));
    }
}
