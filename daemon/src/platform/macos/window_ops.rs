//! Doing things to windows: by their app, through the accessibility interface.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axd_protocol::{Bounds, Point};
use core_foundation::base::CFType;
use parking_lot::Mutex;

#[cfg(target_os = "macos")]
use super::appkit;
use super::desktop::Shared;
use super::displays::{self, Display};
use super::element::Element;
use super::fault::Fault;
use super::ffi::cg::{CGRect, CGSize};
use super::ffi::names as n;
use super::observer::{Ear, Observer};
use super::value::{self, from_point, from_size, from_truth, native_point};
use super::{host, run_loop, windows};
#[cfg(not(target_os = "macos"))]
use crate::appkit;
use crate::platform::{Failure, FailureKind, Gate, Sent, WindowOp};

/// Where windows were before they were made to fill the screen.
#[derive(Default)]
pub struct Frames(Mutex<HashMap<u64, Bounds>>);

/// A window, about to have something done to it.
struct Subject<'a> {
    window: Element,
    app: Element,
    pid: u32,
    /// Whether the app is a browser of Chrome's kin.
    browser: bool,
    gate: &'a Gate,
    /// Whether something was sent.
    sent: bool,
    /// Whether the window takes its time to get somewhere.
    animated: bool,
}

/// Does something to a window. Blocks.
pub fn apply(
    window: u64,
    op: WindowOp,
    shared: &Shared,
    frames: &Frames,
    gate: &Gate,
) -> Result<(), Failure> {
    let displays = &shared.displays.lock().clone();
    let mut subject = find(window, shared, gate)?;
    match op {
        WindowOp::Focus | WindowOp::Insist => subject.focus(),
        WindowOp::Move(to) => subject.steadily(|subject| subject.move_to(to)),
        WindowOp::Resize { width, height } => subject.steadily(|subject| subject.resize(width, height)),
        WindowOp::Minimize => subject.set(n::kAXMinimizedAttribute, &from_truth(true)),
        WindowOp::Maximize => {
            let now = frame(&subject.window).map_err(Fault::asking)?;
            let now = now.ok_or_else(|| not_offered("the window does not report its position"))?;
            let on = displays::mostly(now, displays).ok_or_else(|| not_offered("no display contains it"))?;
            let usable = on.usable;
            subject.show()?;
            subject.steadily(|subject| subject.fill(usable))?;
            if now != usable {
                frames.0.lock().insert(window, now);
            }
            Ok(())
        }
        WindowOp::Restore => {
            let before = frames.0.lock().remove(&window);
            subject.restore(before, displays)
        }
    }
}

fn find<'a>(window: u64, shared: &Shared, gate: &'a Gate) -> Result<Subject<'a>, Failure> {
    let gone = || Failure::new(FailureKind::Gone, format!("window {window} not found"));
    let pid = windows::owner(window).ok_or_else(gone)?;
    let app = Element::app(pid).ok_or_else(gone)?;
    let open = app.elements(n::kAXWindowsAttribute).map_err(Fault::asking)?;
    let found = open.into_iter().find(|open| open.window_number() == Some(window));
    match found {
        Some(found) => {
            let browser = shared.is_browser(pid);
            Ok(Subject { window: found, app, pid, browser, gate, sent: false, animated: false })
        }
        None => Err(Failure::new(
            FailureKind::NotSupported,
            format!("the app does not report window {window}; it may be on another space"),
        )),
    }
}

/// Where a window is, as its app says.
pub fn frame(window: &Element) -> Result<Option<Bounds>, Fault> {
    let origin = window.get(n::kAXPositionAttribute)?.as_ref().and_then(value::point);
    let size = window.get(n::kAXSizeAttribute)?.as_ref().and_then(value::size);
    Ok(origin.zip(size).and_then(|(origin, size)| value::bounds(CGRect { origin, size })))
}

impl Subject<'_> {
    fn pass(&mut self) -> Result<(), Failure> {
        match self.gate.pass() {
            true => {
                self.sent = true;
                Ok(())
            }
            false if self.sent => Err(Failure::closed().sent(Sent::Yes)),
            false => Err(Failure::closed()),
        }
    }

    /// What went wrong, when something before it may have been done.
    fn after(&self, failure: Failure, before: bool) -> Failure {
        match failure.sent {
            Sent::No if before => failure.sent(Sent::Yes),
            _ => failure,
        }
    }

    fn set(&mut self, attribute: &str, to: &CFType) -> Result<(), Failure> {
        let before = self.sent;
        if !self.window.is_settable(attribute).map_err(|fault| self.after(fault.asking(), before))? {
            return Err(self.after(not_offered(format!("the window's {attribute} cannot be set")), before));
        }
        self.pass()?;
        self.window.set(attribute, to).map_err(|fault| self.after(fault.acting(), before))
    }

    /// Brings it to the front and gives it the focus.
    fn focus(&mut self) -> Result<(), Failure> {
        self.show()?;
        let before = self.sent;
        self.pass()?;
        // Some windows cannot be raised; being the main one does it too.
        if let Err(fault @ (Fault::BUSY | Fault::GONE)) = self.window.perform(n::kAXRaiseAction) {
            return Err(self.after(fault.acting(), before));
        }
        let _ = self.window.set(n::kAXMainAttribute, &from_truth(true));
        self.pass()?;
        let pid = self.pid;
        let activated = host::ask_waiting(move || appkit::activate(pid)) == Some(true);
        // From macOS 14 on, AppKit says yes and leaves it to the app in front whether it gives way.
        if activated && self.app.truth(n::kAXFrontmostAttribute) == Ok(Some(true)) {
            return Ok(());
        }
        match self.app.set(n::kAXFrontmostAttribute, &from_truth(true)) {
            Err(fault) if !activated => Err(self.after(fault.acting(), true)),
            _ => Ok(()),
        }
    }

    /// Brings it back if it is minimised, or its app hidden; whether either was so.
    fn show(&mut self) -> Result<bool, Failure> {
        let before = self.sent;
        let minimized = self.window.truth(n::kAXMinimizedAttribute).map_err(Fault::asking)? == Some(true);
        if minimized {
            self.set(n::kAXMinimizedAttribute, &from_truth(false))?;
        }
        let hidden = self.app.truth(n::kAXHiddenAttribute);
        let hidden = hidden.map_err(|fault| self.after(fault.asking(), before))? == Some(true);
        if hidden {
            self.pass()?;
            let pid = self.pid;
            // If it stays hidden, whoever looks sees that.
            let _ = host::ask_waiting(move || appkit::unhide(pid));
        }
        Ok(minimized || hidden)
    }

    fn move_to(&mut self, to: Point) -> Result<(), Failure> {
        let place =
            from_point(native_point(to)).ok_or_else(|| not_offered("the position is out of range"))?;
        self.set(n::kAXPositionAttribute, &place)?;
        self.arrive(|now| (now.x, now.y) == (to.x, to.y));
        Ok(())
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), Failure> {
        let size = from_size(CGSize { width: f64::from(width), height: f64::from(height) });
        self.set(n::kAXSizeAttribute, &size.ok_or_else(|| not_offered("the size is out of range"))?)?;
        self.arrive(|now| (now.width.unsigned_abs(), now.height.unsigned_abs()) == (width, height));
        Ok(())
    }

    fn fill(&mut self, place: Bounds) -> Result<(), Failure> {
        self.move_to(Point { x: place.x, y: place.y })?;
        self.resize(place.width.unsigned_abs(), place.height.unsigned_abs())?;
        // A window that was too large for its new place was held back when it moved.
        self.move_to(Point { x: place.x, y: place.y })
    }

    /// Undoes that it is minimised, or fills the screen.
    fn restore(&mut self, before: Option<Bounds>, displays: &[Display]) -> Result<(), Failure> {
        if self.window.truth(n::AXFullScreen).ok().flatten() == Some(true) {
            return self.set(n::AXFullScreen, &from_truth(false));
        }
        if self.show()? {
            return Ok(());
        }
        if let Some(before) = before {
            return self.steadily(|subject| subject.fill(before));
        }
        // One that a person has zoomed goes back by the same button.
        let now = frame(&self.window).map_err(Fault::asking)?;
        let fills = now.is_some_and(|now| displays::mostly(now, displays).is_some_and(|on| on.usable == now));
        let zoom = self.window.element(n::kAXZoomButtonAttribute).map_err(Fault::asking)?;
        match zoom.filter(|_| fills) {
            Some(zoom) => {
                self.pass()?;
                zoom.perform(n::kAXPressAction).map_err(Fault::acting)
            }
            // It is neither minimised nor does it fill the screen: nothing is to be undone.
            None => Ok(()),
        }
    }

    /// Moves or resizes it and does not come back before it is there, though its app may animate that for screen readers:
    /// what is asked on the way would be wrong.
    fn steadily(&mut self, act: impl FnOnce(&mut Self) -> Result<(), Failure>) -> Result<(), Failure> {
        if self.app.truth(n::AXEnhancedUserInterface).ok().flatten() != Some(true) {
            return act(self);
        }
        if self.browser {
            // To switch it off would take its pages away for seconds.
            self.animated = true;
            return act(self);
        }
        let _ = self.app.set(n::AXEnhancedUserInterface, &from_truth(false));
        let done = act(self);
        let _ = self.app.set(n::AXEnhancedUserInterface, &from_truth(true));
        done
    }

    /// Waits until an animated window is where it is to be. One that its app holds elsewhere is not waited for long.
    fn arrive(&self, is_there: impl Fn(Bounds) -> bool) {
        const ANIMATION: Duration = Duration::from_secs(1);
        const LOOK_AGAIN: Duration = Duration::from_millis(20);
        let ear = Ear::default();
        let Some(observer) = self.animated.then(|| Observer::new(self.pid, &ear).ok()).flatten() else {
            return;
        };
        for moved in [n::kAXWindowMovedNotification, n::kAXWindowResizedNotification] {
            // What is not told is seen with the next look.
            let _ = observer.add(&self.window, moved);
        }
        let end = Instant::now() + ANIMATION;
        while let Ok(Some(now)) = frame(&self.window) {
            let left = end.saturating_duration_since(Instant::now());
            if is_there(now) || left.is_zero() {
                return;
            }
            run_loop::wait(Some(left.min(LOOK_AGAIN)));
        }
    }
}

fn not_offered(why: impl Into<String>) -> Failure {
    Failure::new(FailureKind::NotSupported, why)
}
