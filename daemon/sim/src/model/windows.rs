//! The windows of an app: opening, closing, raising, and the operations of the window manager.

use std::sync::Arc;
use std::time::Instant;

use axd_protocol::{Bounds, Point, State};

use super::layout::SCREEN;
use super::{Change, Handle, Model};
use crate::rule::TriggerKind;
use axd_platform::WindowOp;

/// The minimum size of a window.
const MIN_WINDOW_SIZE: (i32, i32) = (120, 60);

/// The distance from the corner of the main display to which a window moves when its display is removed.
const STRANDED_WINDOW_OFFSET: i32 = 40;

/// The window manager's state of a window, apart from its bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frame {
    /// Whether the window is minimized.
    pub minimized: bool,
    /// The bounds before it was maximized.
    pub restore_bounds: Option<[i32; 4]>,
}

impl Model {
    /// Opens a window of the script, or raises it.
    pub(super) fn open_window(&mut self, id: &str, now: Instant) {
        if let Some(window) = self.find(id) {
            return self.raise(window);
        }
        let script = Arc::clone(&self.script);
        if let Some(window) = script.windows.iter().find(|window| window.id == id) {
            let handle = self.build_window(window);
            self.trigger(TriggerKind::Open, Some(handle), "", now);
        }
    }

    /// Closes a window.
    pub(super) fn close_window(&mut self, id: &str, now: Instant) {
        if let Some(window) = self.find(id).and_then(|handle| self.window_of(handle)) {
            self.trigger(TriggerKind::Close, Some(window), "", now);
            self.stack.retain(|other| *other != window);
            self.frames.remove(&window);
            self.focuses.remove(&window);
            self.remove(window);
            self.changes.push(Change::Windows);
            self.refocus();
        }
    }

    /// Closes a window as its own button does.
    pub fn close(&mut self, window: Handle, now: Instant) {
        if let Some(id) = self.widget(window).and_then(|widget| widget.id.clone()) {
            self.close_window(&id, now);
        }
    }

    /// Brings a window to the front of the app's windows. A modal dialog stays before them all.
    pub fn raise(&mut self, window: Handle) {
        if !self.stack.contains(&window) {
            return;
        }
        self.stack.retain(|other| *other != window);
        self.stack.insert(0, window);
        let (mut stack, others): (Vec<Handle>, Vec<Handle>) =
            self.stack.iter().partition(|window| self.has(**window, State::Modal));
        stack.extend(others);
        self.stack = stack;
        if let Some(frame) = self.frames.get_mut(&window).filter(|frame| frame.minimized) {
            frame.minimized = false;
            self.layout = None;
        }
        self.changes.push(Change::Windows);
        self.refocus();
    }

    /// Moves the focus to the widget of the front window that last had it.
    fn refocus(&mut self) {
        let Some(front) = self.stack.first().copied() else { return };
        let is_there = self.focus.is_some_and(|focus| self.window_of(focus) == Some(front));
        if let Some(focus) = self.focuses.get(&front).copied().filter(|_| !is_there) {
            self.set_focus(focus);
        }
    }

    /// The window with a number.
    pub fn window_numbered(&self, number: u64) -> Option<Handle> {
        let is_it = |window: &Handle| self.widget(*window).is_some_and(|it| it.window == Some(number));
        self.stack.iter().copied().find(is_it)
    }

    /// The window manager's state of a window.
    pub fn frame(&self, window: Handle) -> Frame {
        self.frames.get(&window).copied().unwrap_or_default()
    }

    /// Runs an operation of the window manager.
    pub fn arrange(&mut self, window: Handle, op: WindowOp) {
        let mut frame = self.frame(window);
        let was_away = frame.minimized;
        let mut bounds = self.given_window_bounds(window);
        match op {
            WindowOp::Focus | WindowOp::Insist => return self.raise(window),
            WindowOp::Move(point) => {
                (bounds[0], bounds[1]) = (point.x, point.y);
                frame.restore_bounds = None;
            }
            WindowOp::Resize { width, height } => {
                let size =
                    |wanted: u32, least| i32::try_from(wanted).unwrap_or(i32::MAX).clamp(least, 16_384);
                (bounds[2], bounds[3]) = (size(width, MIN_WINDOW_SIZE.0), size(height, MIN_WINDOW_SIZE.1));
                frame.restore_bounds = None;
            }
            WindowOp::Minimize => {
                frame.minimized = true;
                self.stack.retain(|other| *other != window);
                self.stack.push(window);
            }
            WindowOp::Maximize => {
                frame.restore_bounds = frame.restore_bounds.or(Some(bounds));
                frame.minimized = false;
                bounds = [SCREEN.x, SCREEN.y, SCREEN.width, SCREEN.height];
            }
            WindowOp::Restore => {
                bounds = frame.restore_bounds.take().unwrap_or(bounds);
                frame.minimized = false;
            }
        }
        self.frames.insert(window, frame);
        if let Some(options) = self.widget_mut(window).and_then(|widget| widget.options.as_mut()) {
            options.bounds = Some(bounds);
        }
        self.layout = None;
        if was_away && !frame.minimized {
            return self.raise(window);
        }
        self.changes.push(Change::Windows);
        self.refocus();
    }

    /// The bounding box of the displays; what is outside of it is not visible.
    pub(super) fn desktop(&self) -> Bounds {
        self.desktop
    }

    /// Replaces the displays, the main one first. Windows that are on none of them move to the main one.
    pub fn set_displays(&mut self, displays: &[Bounds]) {
        self.desktop = span(displays.iter().copied()).unwrap_or(SCREEN);
        self.layout = None;
        let Some(main) = displays.first() else { return };
        for window in self.stack.clone() {
            let [x, y, width, height] = self.given_window_bounds(window);
            let bounds = Bounds { x, y, width, height };
            if !displays.iter().any(|display| display.intersection(&bounds).is_some()) {
                self.arrange(
                    window,
                    WindowOp::Move(Point {
                        x: main.x + STRANDED_WINDOW_OFFSET,
                        y: main.y + STRANDED_WINDOW_OFFSET,
                    }),
                );
            }
        }
    }

    /// The bounds of a window, minimized or not.
    pub fn window_bounds(&self, window: Handle) -> Option<Bounds> {
        self.widget(window)?;
        let [x, y, width, height] = self.given_window_bounds(window);
        Some(Bounds { x, y, width, height })
    }

    fn given_window_bounds(&self, window: Handle) -> [i32; 4] {
        let bounds = self.widget(window).and_then(|widget| widget.options.as_ref()?.bounds);
        bounds.unwrap_or([SCREEN.x, SCREEN.y, SCREEN.width, SCREEN.height])
    }
}

/// The bounding box of rectangles.
pub fn span(all: impl Iterator<Item = Bounds> + Clone) -> Option<Bounds> {
    let (x, y) = (all.clone().map(|one| one.x).min()?, all.clone().map(|one| one.y).min()?);
    let right = all.clone().map(|one| one.x + one.width).max()?;
    let bottom = all.map(|one| one.y + one.height).max()?;
    Some(Bounds { x, y, width: right - x, height: bottom - y })
}
