//! The windows of an app: they open, close, come forward, and are moved about by the window manager.

use std::sync::Arc;
use std::time::Instant;

use axd_protocol::{Bounds, Point, State};

use super::layout::SCREEN;
use super::{Change, Handle, Model};
use crate::rule::TriggerKind;
use axd_platform::WindowOp;

/// The least size a window can be made.
const MIN_WINDOW_SIZE: (i32, i32) = (120, 60);

/// How far from the corner of the main display a window is put whose display is gone.
const STRANDED_WINDOW_OFFSET: i32 = 40;

/// What the window manager knows of a window besides its bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Frame {
    /// Whether it is put away.
    pub minimized: bool,
    /// Where it was before it filled the screen.
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

    /// The focus goes to where it last was in the front window, if it is not there.
    fn refocus(&mut self) {
        let Some(front) = self.stack.first().copied() else { return };
        let is_there = self.focus.is_some_and(|focus| self.window_of(focus) == Some(front));
        if let Some(focus) = self.focuses.get(&front).copied().filter(|_| !is_there) {
            self.set_focus(focus);
        }
    }

    /// The window of this number.
    pub fn window_numbered(&self, number: u64) -> Option<Handle> {
        let is_it = |window: &Handle| self.widget(*window).is_some_and(|it| it.window == Some(number));
        self.stack.iter().copied().find(is_it)
    }

    /// How the window manager has a window.
    pub fn frame(&self, window: Handle) -> Frame {
        self.frames.get(&window).copied().unwrap_or_default()
    }

    /// Does what the window manager does, whatever the app is busy with.
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
        if let Some(plan) = self.widget_mut(window).and_then(|widget| widget.options.as_mut()) {
            plan.bounds = Some(bounds);
        }
        self.layout = None;
        if was_away && !frame.minimized {
            return self.raise(window);
        }
        self.changes.push(Change::Windows);
        self.refocus();
    }

    /// All that the displays show: what lies outside of it is not seen.
    pub(super) fn desktop(&self) -> Bounds {
        self.desktop
    }

    /// There are other displays now, the main one first. Windows that are on none of them come to the main one.
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

    /// Where a window is, put away or not.
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

/// What rectangles span.
pub fn span(all: impl Iterator<Item = Bounds> + Clone) -> Option<Bounds> {
    let (x, y) = (all.clone().map(|one| one.x).min()?, all.clone().map(|one| one.y).min()?);
    let right = all.clone().map(|one| one.x + one.width).max()?;
    let bottom = all.map(|one| one.y + one.height).max()?;
    Some(Bounds { x, y, width: right - x, height: bottom - y })
}
