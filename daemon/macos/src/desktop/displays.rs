//! The displays, as CoreGraphics sees them.

use std::ffi::c_void;
use std::sync::Weak;

use axd_protocol::{Bounds, DisplayInfo};
use parking_lot::Mutex;

use super::monitor::Hint;
use crate::appkit::host::HostScreen;
use crate::ax::run_loop::Mailbox;
use crate::ax::value;
use crate::ffi::cf::{CFRelease, CFTypeRef};
use crate::ffi::cg::{
    CGDirectDisplayID, CGDisplayBounds, CGDisplayCopyDisplayMode, CGDisplayModeGetPixelWidth,
    CGDisplayModeGetWidth, CGDisplayRegisterReconfigurationCallback, CGGetActiveDisplayList, CGMainDisplayID,
    kCGDisplayBeginConfigurationFlag, kCGErrorSuccess,
};

/// More displays than anybody has.
const MOST: u32 = 32;

/// A display.
#[derive(Debug, Clone, PartialEq)]
pub struct Display {
    /// CoreGraphics' number for it.
    pub id: CGDirectDisplayID,
    /// What others are told of it.
    pub info: DisplayInfo,
    /// The part of it that windows may use.
    pub usable: Bounds,
}

/// The displays that are connected now, the main one first.
pub fn list(screens: &[HostScreen]) -> Vec<Display> {
    let mut ids = [0; MOST as usize];
    let mut count = 0;
    // SAFETY: there is room for as many as is said, and `count` can be written to.
    let error = unsafe { CGGetActiveDisplayList(MOST, ids.as_mut_ptr(), &mut count) };
    if error != kCGErrorSuccess {
        return Vec::new();
    }
    // SAFETY: it takes nothing and only answers a number.
    let main = unsafe { CGMainDisplayID() };
    let mut ids = ids[..count.min(MOST) as usize].to_vec();
    ids.sort_by_key(|id| *id != main);
    let numbered = (1..).zip(ids);
    numbered.filter_map(|(number, id)| describe(number, id, id == main, screens)).collect()
}

/// The display that most of a window is on; the main one if it is on none.
pub fn mostly(window: Bounds, displays: &[Display]) -> Option<&Display> {
    let shared = |display: &Display| {
        let part = window.intersection(&display.info.bounds);
        part.map_or(0, |part| i64::from(part.width) * i64::from(part.height))
    };
    // Of equals the first: that is the main one.
    displays.iter().rev().max_by_key(|display| shared(display))
}

fn describe(number: u32, id: CGDirectDisplayID, primary: bool, screens: &[HostScreen]) -> Option<Display> {
    // SAFETY: any number will do.
    let bounds = value::bounds(unsafe { CGDisplayBounds(id) })?;
    let screen = screens.iter().find(|screen| screen.display == id);
    let name = screen.map(|screen| screen.name.clone()).filter(|name| !name.is_empty());
    let usable = screen.and_then(|screen| value::bounds(screen.usable)).unwrap_or(bounds);
    let info = DisplayInfo {
        display: number,
        name: name.unwrap_or_else(|| format!("Display {number}")),
        primary,
        bounds,
        scale: scale(id),
    };
    Some(Display { id, info, usable })
}

/// Pixels a point.
fn scale(id: CGDirectDisplayID) -> f64 {
    // SAFETY: any number will do; the mode that is handed out is ours, and given back once.
    let (pixels, points) = unsafe {
        let mode = CGDisplayCopyDisplayMode(id);
        if mode.is_null() {
            return 1.0;
        }
        let sizes = (CGDisplayModeGetPixelWidth(mode), CGDisplayModeGetWidth(mode));
        CFRelease(mode as CFTypeRef);
        sizes
    };
    if points == 0 || pixels == 0 { 1.0 } else { pixels as f64 / points as f64 }
}

/// Who is told when displays come, go or change.
static TOLD: Mutex<Option<Weak<Mailbox<Hint>>>> = Mutex::new(None);

/// Has a hint posted whenever the displays are different.
pub fn follow(hints: Weak<Mailbox<Hint>>) {
    let first = TOLD.lock().replace(hints).is_none();
    if first {
        // If it is refused, displays are looked at with the windows.
        // SAFETY: the callback is a function for ever, and its context points to nothing.
        let _ = unsafe { CGDisplayRegisterReconfigurationCallback(changed, std::ptr::null_mut()) };
    }
}

unsafe extern "C" fn changed(_: CGDirectDisplayID, flags: u32, _: *mut c_void) {
    if flags & kCGDisplayBeginConfigurationFlag != 0 {
        return;
    }
    if let Some(hints) = TOLD.lock().as_ref().and_then(Weak::upgrade) {
        // Nobody follows the desktop any more when the daemon stops.
        let _ = hints.post(Hint::Displays);
    }
}
