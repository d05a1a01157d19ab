//! An app whose windows are monitored: it is observed, and asked which windows it has.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::windows::WindowState;
use crate::appkit::host::{HostApp, HostAppKind};
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::observer::{EventQueue, Observer};
use crate::ffi::names as n;

/// How long an app may take to answer a call about its windows, in seconds.
pub const WINDOW_REPLY_TIMEOUT: f32 = 0.25;

/// The notifications that are registered for on the app.
const APP_NOTIFICATIONS: &[&str] = &[
    n::kAXWindowCreatedNotification,
    n::kAXWindowMovedNotification,
    n::kAXWindowResizedNotification,
    n::kAXWindowMiniaturizedNotification,
    n::kAXWindowDeminiaturizedNotification,
    n::kAXFocusedWindowChangedNotification,
    n::kAXMainWindowChangedNotification,
];
/// Those that apps send only for windows they were registered for on the window itself.
const WINDOW_NOTIFICATIONS: &[&str] = &[n::kAXUIElementDestroyedNotification, n::kAXTitleChangedNotification];

/// An app whose windows are monitored.
pub struct MonitoredApp {
    pub app: HostApp,
    pub element: Element,
    pub observer: Option<Observer>,
    /// Its windows with their ids, as last read from the app.
    pub windows: HashMap<Element, (u64, WindowState)>,
    /// When to ask it again if it did not answer, and the current delay.
    pub next_retry: Option<(Instant, Duration)>,
    /// Whether its windows may have changed since they were read.
    pub dirty: bool,
}

impl MonitoredApp {
    /// Whether the app is in the Dock.
    pub fn is_shown(&self) -> bool {
        self.app.kind == HostAppKind::Regular
    }

    /// Observes the app if it is not observed yet, and reads its windows.
    pub fn query_windows(&mut self, queue: &EventQueue) -> Result<(), AxError> {
        if self.observer.is_none() {
            let observer = Observer::new(self.app.pid, queue)?;
            for name in APP_NOTIFICATIONS {
                match observer.add(&self.element, name) {
                    Err(error) if error.is_app_level() => return Err(error),
                    // A notification that it does not support is made up for by the others.
                    _ => {}
                }
            }
            self.observer = Some(observer);
        }
        let open = match self.element.elements(n::kAXWindowsAttribute) {
            Err(error) if error.is_app_level() => return Err(error),
            open => open.unwrap_or_default(),
        };
        // The windows of a hidden app count as minimised.
        let hidden = self.element.boolean(n::kAXHiddenAttribute).ok().flatten() == Some(true);
        let mut open = open;
        if hidden {
            // While an app is hidden it lists no windows, but it has them.
            let children = self.element.elements(n::kAXChildrenAttribute).unwrap_or_default();
            let is_window = |child: &Element| {
                child.text(n::kAXRoleAttribute).ok().flatten().as_deref() == Some("AXWindow")
            };
            let more = self.windows.keys().cloned().chain(children.into_iter().filter(is_window));
            for window in more.collect::<Vec<Element>>() {
                if !open.contains(&window) {
                    open.push(window);
                }
            }
        }
        self.windows.retain(|window, _| open.contains(window));
        for window in open {
            let number = match self.windows.get(&window) {
                Some((number, _)) => Some(*number),
                None => self.observe_window(&window),
            };
            let Some(number) = number else { continue };
            let state = match read_window(&window, hidden) {
                Err(error) if error.is_app_level() => return Err(error),
                Err(AxError::GONE) => {
                    self.windows.remove(&window);
                    continue;
                }
                Err(_) => continue,
                Ok(state) => state,
            };
            self.windows.insert(window, (number, state));
        }
        Ok(())
    }

    /// Registers for the notifications of a new window, and returns the window's id.
    fn observe_window(&self, window: &Element) -> Option<u64> {
        window.set_timeout(WINDOW_REPLY_TIMEOUT);
        let number = window.window_number()?;
        for name in WINDOW_NOTIFICATIONS {
            // Without the notification, the change is seen at the next refresh.
            let _ = self.observer.as_ref().map(|observer| observer.add(window, name));
        }
        Some(number)
    }

    /// The focused window of this app.
    pub fn focused(&self) -> Option<u64> {
        let window = self.element.element(n::kAXFocusedWindowAttribute).ok().flatten()?;
        match self.windows.get(&window) {
            // A minimised window is not in front, even if its app reports it as focused.
            Some((_, state)) if state.minimized => None,
            Some((number, _)) => Some(*number),
            None => window.window_number(),
        }
    }
}

fn read_window(window: &Element, hidden: bool) -> Result<WindowState, AxError> {
    let minimized = hidden || window.boolean(n::kAXMinimizedAttribute)?.unwrap_or_default();
    Ok(WindowState {
        title: window.text(n::kAXTitleAttribute)?.filter(|title| !title.is_empty()),
        // The window server lists the bounds of all others.
        bounds: if minimized { super::window_ops::frame(window)? } else { None },
        minimized,
        full_screen: window.boolean(n::AXFullScreen).ok().flatten().unwrap_or_default(),
    })
}
