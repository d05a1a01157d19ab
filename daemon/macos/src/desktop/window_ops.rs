//! Window operations, by the accessibility API of the window's app.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axd_protocol::{Bounds, Point};
use core_foundation::base::CFType;
use parking_lot::Mutex;

use super::displays::{self, Display};
use super::mac_desktop::Shared;
use super::windows;
use crate::appkit;
use crate::appkit::host;
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::observer::{EventQueue, Observer};
use crate::ax::run_loop;
use crate::ax::value::{self, from_bool, from_point, from_size, to_cg_point};
use crate::ffi::cg::{CGRect, CGSize};
use crate::ffi::names as n;
use axd_platform::{Failure, FailureKind, Gate, Sent, WindowOp};

/// How long to wait for an effect that the app's answer denies.
const EFFECT_TIMEOUT: Duration = Duration::from_millis(300);
/// The longest pause between two reads; a notification of the app ends it earlier.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The frames of windows before they were maximised.
#[derive(Default)]
pub struct SavedFrames(Mutex<HashMap<u64, Bounds>>);

/// The window of an operation, and what the operation needs.
struct WindowTarget<'a> {
    window: Element,
    app: Element,
    pid: u32,
    /// Whether the app is a Chromium browser.
    browser: bool,
    gate: &'a Gate,
    /// Whether something was sent already.
    sent: bool,
    /// Whether the app animates moves and resizes.
    animated: bool,
}

/// Performs an operation on a window. Blocks.
pub fn apply(
    window: u64,
    op: WindowOp,
    shared: &Shared,
    frames: &SavedFrames,
    gate: &Gate,
) -> Result<(), Failure> {
    let displays = &shared.displays.lock().clone();
    let mut target = find_target(window, shared, gate)?;
    match op {
        WindowOp::Focus | WindowOp::Insist => target.focus(),
        WindowOp::Move(to) => target.without_animation(|target| target.move_to(to)),
        WindowOp::Resize { width, height } => target.without_animation(|target| target.resize(width, height)),
        WindowOp::Minimize => target.set(n::kAXMinimizedAttribute, &from_bool(true)),
        WindowOp::Maximize => {
            let now = frame(&target.window).map_err(AxError::read_failure)?;
            let now = now.ok_or_else(|| Failure::unsupported("the window does not report its position"))?;
            let on = displays::display_of(now, displays)
                .ok_or_else(|| Failure::unsupported("no display contains it"))?;
            let usable = on.usable;
            target.unhide()?;
            target.without_animation(|target| target.set_frame(usable))?;
            if now != usable {
                let all = windows::all();
                let mut frames = frames.0.lock();
                frames.retain(|window, _| all.contains(window));
                frames.insert(window, now);
            }
            Ok(())
        }
        WindowOp::Restore => {
            let before = frames.0.lock().remove(&window);
            target.restore(before, displays)
        }
    }
}

fn find_target<'a>(window: u64, shared: &Shared, gate: &'a Gate) -> Result<WindowTarget<'a>, Failure> {
    let gone = || Failure::new(FailureKind::Gone, format!("window {window} not found"));
    let pid = windows::owner(window).ok_or_else(gone)?;
    let app = Element::app(pid).ok_or_else(gone)?;
    let open = app.elements(n::kAXWindowsAttribute).map_err(AxError::read_failure)?;
    let is_it = |open: &Element| open.window_number() == Some(window);
    // A hidden app lists no windows, but it has them.
    let found = open.into_iter().find(is_it).or_else(|| {
        let children = app.elements(n::kAXChildrenAttribute).unwrap_or_default();
        children.into_iter().find(is_it)
    });
    match found {
        Some(found) => {
            let browser = shared.is_browser(pid);
            Ok(WindowTarget { window: found, app, pid, browser, gate, sent: false, animated: false })
        }
        None => Err(Failure::new(
            FailureKind::NotSupported,
            format!("the app does not report window {window}; it may be on another space"),
        )),
    }
}

/// The frame of a window, as its app reports it.
pub fn frame(window: &Element) -> Result<Option<Bounds>, AxError> {
    let origin = window.get(n::kAXPositionAttribute)?.as_ref().and_then(value::point);
    let size = window.get(n::kAXSizeAttribute)?.as_ref().and_then(value::size);
    Ok(origin.zip(size).and_then(|(origin, size)| value::to_bounds(CGRect { origin, size })))
}

/// What an attribute of a window holds: a point, a size or a boolean.
fn contents(value: &CFType) -> [Option<(f64, f64)>; 3] {
    let boolean = value::boolean(value).map(|on| (f64::from(u8::from(on)), 0.0));
    [
        value::point(value).map(|point| (point.x, point.y)),
        value::size(value).map(|size| (size.width, size.height)),
        boolean,
    ]
}

impl WindowTarget<'_> {
    fn pass_gate(&mut self) -> Result<(), Failure> {
        match self.gate.pass() {
            true => {
                self.sent = true;
                Ok(())
            }
            false if self.sent => Err(Failure::closed().sent(Sent::Yes)),
            false => Err(Failure::closed()),
        }
    }

    /// The failure, marked as sent if an earlier step of the operation was.
    fn with_sent(&self, failure: Failure, before: bool) -> Failure {
        match failure.sent {
            Sent::No if before => failure.sent(Sent::Yes),
            _ => failure,
        }
    }

    fn set(&mut self, attribute: &str, to: &CFType) -> Result<(), Failure> {
        let before = self.sent;
        if !self
            .window
            .is_settable(attribute)
            .map_err(|error| self.with_sent(error.read_failure(), before))?
        {
            return Err(self
                .with_sent(Failure::unsupported(format!("the window's {attribute} cannot be set")), before));
        }
        let held = self.window.get(attribute).ok().flatten().as_ref().map(contents);
        self.pass_gate()?;
        let answer =
            self.window.set(attribute, to).map_err(|error| self.with_sent(error.action_failure(), before));
        // Apps answer errors to what they have done, so what is there now decides.
        self.unless_seen(answer, |target| {
            let now = target.window.get(attribute)?.as_ref().map(contents);
            Ok(now.is_some() && (now != held || now == Some(contents(to))))
        })
    }

    /// The answer to something that was sent, or success if the app answered an error and the effect is seen all the same.
    fn unless_seen(
        &self,
        answer: Result<(), Failure>,
        is_seen: impl Fn(&Self) -> Result<bool, AxError>,
    ) -> Result<(), Failure> {
        let Err(failure) = answer else { return Ok(()) };
        if (failure.kind, failure.sent) != (FailureKind::Refused, Sent::Maybe) {
            return Err(failure);
        }
        let end = Instant::now() + EFFECT_TIMEOUT;
        loop {
            if is_seen(self) == Ok(true) {
                return Ok(());
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(failure);
            }
            run_loop::wait(Some(left.min(POLL_INTERVAL)));
        }
    }

    /// Raises the window and activates its app.
    fn focus(&mut self) -> Result<(), Failure> {
        self.unhide()?;
        let before = self.sent;
        self.pass_gate()?;
        // Some windows cannot be raised; to make it the main window has the same effect.
        if let Err(error @ (AxError::BUSY | AxError::GONE)) = self.window.perform(n::kAXRaiseAction) {
            return Err(self.with_sent(error.action_failure(), before));
        }
        let _ = self.window.set(n::kAXMainAttribute, &from_bool(true));
        self.pass_gate()?;
        let pid = self.pid;
        let activated = host::run_on_main_blocking(move || appkit::activate(pid)) == Some(true);
        // From macOS 14 on, AppKit reports success although the active app may refuse to yield.
        if activated && self.app.boolean(n::kAXFrontmostAttribute) == Ok(Some(true)) {
            return Ok(());
        }
        match self.app.set(n::kAXFrontmostAttribute, &from_bool(true)) {
            Err(error) if !activated => {
                let answer = Err(self.with_sent(error.action_failure(), true));
                self.unless_seen(answer, |target| {
                    Ok(target.app.boolean(n::kAXFrontmostAttribute)? == Some(true))
                })
            }
            _ => Ok(()),
        }
    }

    /// Shows a minimised window or a hidden app, and returns whether it was either.
    fn unhide(&mut self) -> Result<bool, Failure> {
        let before = self.sent;
        let minimized =
            self.window.boolean(n::kAXMinimizedAttribute).map_err(AxError::read_failure)? == Some(true);
        if minimized {
            self.set(n::kAXMinimizedAttribute, &from_bool(false))?;
        }
        let hidden = self.app.boolean(n::kAXHiddenAttribute);
        let hidden = hidden.map_err(|error| self.with_sent(error.read_failure(), before))? == Some(true);
        if hidden {
            self.pass_gate()?;
            let pid = self.pid;
            // If this fails, the window stays hidden, which the caller can see.
            let _ = host::run_on_main_blocking(move || appkit::unhide(pid));
        }
        Ok(minimized || hidden)
    }

    fn move_to(&mut self, to: Point) -> Result<(), Failure> {
        let place = from_point(to_cg_point(to))
            .ok_or_else(|| Failure::unsupported("the position is out of range"))?;
        self.set(n::kAXPositionAttribute, &place)?;
        self.wait_for_animation(|now| (now.x, now.y) == (to.x, to.y));
        Ok(())
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), Failure> {
        let size = from_size(CGSize { width: f64::from(width), height: f64::from(height) });
        self.set(
            n::kAXSizeAttribute,
            &size.ok_or_else(|| Failure::unsupported("the size is out of range"))?,
        )?;
        self.wait_for_animation(|now| {
            (now.width.unsigned_abs(), now.height.unsigned_abs()) == (width, height)
        });
        Ok(())
    }

    fn set_frame(&mut self, place: Bounds) -> Result<(), Failure> {
        self.move_to(Point { x: place.x, y: place.y })?;
        self.resize(place.width.unsigned_abs(), place.height.unsigned_abs())?;
        // A window that was too large for its new position was not moved all the way.
        self.move_to(Point { x: place.x, y: place.y })
    }

    /// Restores a window that is minimised, maximised or in full screen.
    fn restore(&mut self, before: Option<Bounds>, displays: &[Display]) -> Result<(), Failure> {
        if self.window.boolean(n::AXFullScreen).ok().flatten() == Some(true) {
            return self.set(n::AXFullScreen, &from_bool(false));
        }
        if self.unhide()? {
            return Ok(());
        }
        if let Some(before) = before {
            return self.without_animation(|target| target.set_frame(before));
        }
        // A window that the user has zoomed is restored by the same button.
        let now = frame(&self.window).map_err(AxError::read_failure)?;
        let fills =
            now.is_some_and(|now| displays::display_of(now, displays).is_some_and(|on| on.usable == now));
        let zoom = self.window.element(n::kAXZoomButtonAttribute).map_err(AxError::read_failure)?;
        match zoom.filter(|_| fills) {
            Some(zoom) => {
                self.pass_gate()?;
                let answer = zoom.perform(n::kAXPressAction).map_err(AxError::action_failure);
                self.unless_seen(answer, |target| Ok(frame(&target.window)? != now))
            }
            // It is neither minimised nor maximised: there is nothing to restore.
            None => Ok(()),
        }
    }

    /// Moves or resizes the window without animation, or else waits for it: apps animate while `AXEnhancedUserInterface` is
    /// set, and what is read meanwhile would be wrong.
    fn without_animation(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.app.boolean(n::AXEnhancedUserInterface).ok().flatten() != Some(true) {
            return act(self);
        }
        if self.browser {
            // Without the attribute, a browser would drop the trees of its pages for seconds.
            self.animated = true;
            return act(self);
        }
        let _ = self.app.set(n::AXEnhancedUserInterface, &from_bool(false));
        // The answer to that says nothing about whether it is off.
        self.animated = self.app.boolean(n::AXEnhancedUserInterface).ok().flatten() == Some(true);
        let done = act(self);
        let _ = self.app.set(n::AXEnhancedUserInterface, &from_bool(true));
        done
    }

    /// Waits until an animated window is at its target, or for the timeout if its app keeps it elsewhere.
    fn wait_for_animation(&self, is_there: impl Fn(Bounds) -> bool) {
        const ANIMATION_TIMEOUT: Duration = Duration::from_secs(1);
        let queue = EventQueue::default();
        let Some(observer) = self.animated.then(|| Observer::new(self.pid, &queue).ok()).flatten() else {
            return;
        };
        for moved in [n::kAXWindowMovedNotification, n::kAXWindowResizedNotification] {
            // Without the notification, the next poll sees the change.
            let _ = observer.add(&self.window, moved);
        }
        let end = Instant::now() + ANIMATION_TIMEOUT;
        while let Ok(Some(now)) = frame(&self.window) {
            let left = end.saturating_duration_since(Instant::now());
            if is_there(now) || left.is_zero() {
                return;
            }
            run_loop::wait(Some(left.min(POLL_INTERVAL)));
        }
    }
}
