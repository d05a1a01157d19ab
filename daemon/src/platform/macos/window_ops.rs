//! Doing things to windows: by their app, through the accessibility interface.

use std::collections::HashMap;

use axd_protocol::{Bounds, Point};
use core_foundation::base::CFType;
use parking_lot::Mutex;

#[cfg(target_os = "macos")]
use super::appkit;
use super::displays::{self, Display};
use super::element::Element;
use super::fault::Fault;
use super::ffi::cg::{CGRect, CGSize};
use super::ffi::names as n;
use super::host;
use super::value::{self, from_point, from_size, from_truth, native_point};
use super::windows;
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
    gate: &'a Gate,
    /// Whether something was sent.
    sent: bool,
}

/// Does something to a window. Blocks.
pub fn apply(
    window: u64,
    op: WindowOp,
    displays: &[Display],
    frames: &Frames,
    gate: &Gate,
) -> Result<(), Failure> {
    let mut subject = find(window, gate)?;
    match op {
        WindowOp::Focus => subject.focus(),
        WindowOp::Move(to) => subject.quietly(|subject| subject.move_to(to)),
        WindowOp::Resize { width, height } => subject.quietly(|subject| subject.resize(width, height)),
        WindowOp::Minimize => subject.set(n::kAXMinimizedAttribute, &from_truth(true)),
        WindowOp::Maximize => {
            let now = frame(&subject.window).map_err(Fault::asking)?;
            let now = now.ok_or_else(|| not_offered("the window does not say where it is"))?;
            let on = displays::of(now, displays).ok_or_else(|| not_offered("there is no display for it"))?;
            let usable = on.usable;
            subject.show()?;
            subject.quietly(|subject| subject.fill(usable))?;
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

fn find(window: u64, gate: &Gate) -> Result<Subject<'_>, Failure> {
    let gone = || Failure::new(FailureKind::Gone, format!("there is no window {window}"));
    let pid = windows::owner(window).ok_or_else(gone)?;
    let app = Element::app(pid).ok_or_else(gone)?;
    let open = app.elements(n::kAXWindowsAttribute).map_err(Fault::asking)?;
    let found = open.into_iter().find(|open| open.window_number() == Some(window));
    match found {
        Some(found) => Ok(Subject { window: found, app, pid, gate, sent: false }),
        None => Err(Failure::new(
            FailureKind::NotSupported,
            format!("the app of window {window} does not offer it; it may be on another space"),
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

    /// Brings it back if it is minimised, or its app hidden.
    fn show(&mut self) -> Result<(), Failure> {
        let before = self.sent;
        let minimized = self.window.truth(n::kAXMinimizedAttribute).map_err(Fault::asking)?;
        if minimized == Some(true) {
            self.set(n::kAXMinimizedAttribute, &from_truth(false))?;
        }
        if self.app.truth(n::kAXHiddenAttribute).map_err(|fault| self.after(fault.asking(), before))?
            == Some(true)
        {
            self.pass()?;
            let pid = self.pid;
            // If it stays hidden, whoever looks sees that.
            let _ = host::ask_waiting(move || appkit::unhide(pid));
        }
        Ok(())
    }

    fn move_to(&mut self, to: Point) -> Result<(), Failure> {
        let to = from_point(native_point(to)).ok_or_else(|| not_offered("there is no such place"))?;
        self.set(n::kAXPositionAttribute, &to)
    }

    fn resize(&mut self, width: u32, height: u32) -> Result<(), Failure> {
        let size = from_size(CGSize { width: f64::from(width), height: f64::from(height) });
        self.set(n::kAXSizeAttribute, &size.ok_or_else(|| not_offered("there is no such size"))?)
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
        let minimized = self.window.truth(n::kAXMinimizedAttribute).map_err(Fault::asking)?;
        if minimized == Some(true) {
            return self.set(n::kAXMinimizedAttribute, &from_truth(false));
        }
        if let Some(before) = before {
            return self.quietly(|subject| subject.fill(before));
        }
        // One that a person has zoomed goes back by the same button.
        let now = frame(&self.window).map_err(Fault::asking)?;
        let fills = now.is_some_and(|now| displays::of(now, displays).is_some_and(|on| on.usable == now));
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

    /// Moves without the animation that an app makes for screen readers: what is asked meanwhile would be wrong.
    fn quietly(&mut self, act: impl FnOnce(&mut Self) -> Result<(), Failure>) -> Result<(), Failure> {
        let enhanced = self.app.truth(n::AXEnhancedUserInterface).ok().flatten() == Some(true);
        if enhanced {
            let _ = self.app.set(n::AXEnhancedUserInterface, &from_truth(false));
        }
        let done = act(self);
        if enhanced {
            let _ = self.app.set(n::AXEnhancedUserInterface, &from_truth(true));
        }
        done
    }
}

fn not_offered(why: impl Into<String>) -> Failure {
    Failure::new(FailureKind::NotSupported, why)
}
