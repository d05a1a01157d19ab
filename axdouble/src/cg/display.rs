//! The one display of the scripted desktop.

use std::ffi::c_void;
use std::sync::Arc;

use axd::platform::sim::model::SCREEN;

use super::{CGPoint, CGRect};
use crate::cf::{self, Body, CFTypeRef, Foreign, Kind, out};
use crate::world::current;

/// Its number.
const MAIN: u32 = 1;
const ILLEGAL_ARGUMENT: i32 = 1001;

struct Mode;

impl Foreign for Mode {}

/// `CGMainDisplayID`.
#[unsafe(no_mangle)]
pub extern "C" fn CGMainDisplayID() -> u32 {
    MAIN
}

/// `CGGetActiveDisplayList`.
#[unsafe(no_mangle)]
pub extern "C" fn CGGetActiveDisplayList(most: u32, displays: *mut u32, count: *mut u32) -> i32 {
    if most > 0 {
        out(displays, MAIN);
    }
    if out(count, 1) { 0 } else { ILLEGAL_ARGUMENT }
}

/// `CGDisplayBounds`.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayBounds(display: u32) -> CGRect {
    if display != MAIN {
        return CGRect::default();
    }
    let size = CGPoint { x: f64::from(SCREEN.width), y: f64::from(SCREEN.height) };
    CGRect { origin: CGPoint { x: f64::from(SCREEN.x), y: f64::from(SCREEN.y) }, size }
}

/// `CGDisplayPixelsWide`.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayPixelsWide(display: u32) -> usize {
    if display == MAIN { SCREEN.width.unsigned_abs() as usize } else { 0 }
}

/// `CGDisplayCopyDisplayMode`.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayCopyDisplayMode(display: u32) -> CFTypeRef {
    if display != MAIN {
        return std::ptr::null();
    }
    cf::owned(Kind::DisplayMode, Body::Foreign(Arc::new(Mode)), "CGDisplayCopyDisplayMode").give()
}

fn width(mode: CFTypeRef, function: &'static str) -> usize {
    let mode = cf::foreign::<Mode>(mode, Kind::DisplayMode, function);
    mode.map_or(0, |_| SCREEN.width.unsigned_abs() as usize)
}

/// `CGDisplayModeGetPixelWidth`.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayModeGetPixelWidth(mode: CFTypeRef) -> usize {
    width(mode, "CGDisplayModeGetPixelWidth")
}

/// `CGDisplayModeGetWidth`.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayModeGetWidth(mode: CFTypeRef) -> usize {
    width(mode, "CGDisplayModeGetWidth")
}

/// `CGDisplayRegisterReconfigurationCallback`: the display stays as it is, so nobody is ever called.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayRegisterReconfigurationCallback(
    _callback: unsafe extern "C" fn(u32, u32, *mut c_void),
    _context: *mut c_void,
) -> i32 {
    0
}

/// `CGDisplayRemoveReconfigurationCallback`.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayRemoveReconfigurationCallback(
    _callback: unsafe extern "C" fn(u32, u32, *mut c_void),
    _context: *mut c_void,
) -> i32 {
    0
}

/// `CGPreflightScreenCaptureAccess`.
#[unsafe(no_mangle)]
pub extern "C" fn CGPreflightScreenCaptureAccess() -> bool {
    current().is_some_and(|world| world.settings.lock().may_capture)
}

/// `CGRequestScreenCaptureAccess`: whatever the user answers, it counts from the next start on.
#[unsafe(no_mangle)]
pub extern "C" fn CGRequestScreenCaptureAccess() -> bool {
    CGPreflightScreenCaptureAccess()
}
