//! The displays, as CoreGraphics reports them.

use std::ffi::c_void;
use std::sync::Weak;

use axd_protocol::{Bounds, DisplayInfo};
use parking_lot::Mutex;

use super::monitor::MonitorEvent;
use crate::appkit::host::HostScreen;
use crate::ax::guard;
use crate::ax::run_loop::MessageQueue;
use crate::ax::value;
use crate::ffi::cf::{CFRelease, CFTypeRef};
use crate::ffi::cg::{
    CGDirectDisplayID, CGDisplayBounds, CGDisplayCopyDisplayMode, CGDisplayModeGetPixelWidth,
    CGDisplayModeGetWidth, CGDisplayRegisterReconfigurationCallback, CGGetActiveDisplayList, CGMainDisplayID,
    kCGDisplayBeginConfigurationFlag, kCGErrorSuccess,
};

/// How many displays are read at most.
const MAX_DISPLAYS: u32 = 32;

/// A display.
#[derive(Debug, Clone, PartialEq)]
pub struct Display {
    /// Its id in CoreGraphics.
    pub id: CGDirectDisplayID,
    /// Its description, as clients see it.
    pub info: DisplayInfo,
    /// The part that windows may use: without the menu bar and the Dock.
    pub usable: Bounds,
}

/// The displays that are connected now, the main one first.
pub fn list(screens: &[HostScreen]) -> Vec<Display> {
    let mut ids = [0; MAX_DISPLAYS as usize];
    let mut count = 0;
    // SAFETY: the array has room for that many ids, and `count` is writable.
    let error = unsafe { CGGetActiveDisplayList(MAX_DISPLAYS, ids.as_mut_ptr(), &mut count) };
    if error != kCGErrorSuccess {
        return Vec::new();
    }
    // SAFETY: the function has no preconditions.
    let main = unsafe { CGMainDisplayID() };
    let mut ids = ids[..count.min(MAX_DISPLAYS) as usize].to_vec();
    ids.sort_by_key(|id| *id != main);
    let numbered = (1..).zip(ids);
    numbered.filter_map(|(number, id)| describe(number, id, id == main, screens)).collect()
}

/// The display that shows the largest part of a window; the main one if none shows any.
pub fn display_of(window: Bounds, displays: &[Display]) -> Option<&Display> {
    let shared = |display: &Display| {
        let part = window.intersection(&display.info.bounds);
        part.map_or(0, |part| i64::from(part.width) * i64::from(part.height))
    };
    // `max_by_key` takes the last of equals, and the main display is first in the list.
    displays.iter().rev().max_by_key(|display| shared(display))
}

fn describe(number: u32, id: CGDirectDisplayID, primary: bool, screens: &[HostScreen]) -> Option<Display> {
    // SAFETY: any id is allowed.
    let bounds = value::to_bounds(unsafe { CGDisplayBounds(id) })?;
    let screen = screens.iter().find(|screen| screen.display == id);
    let name = screen.map(|screen| screen.name.clone()).filter(|name| !name.is_empty());
    let usable = screen.and_then(|screen| value::to_bounds(screen.usable)).unwrap_or(bounds);
    let info = DisplayInfo {
        display: number,
        name: name.unwrap_or_else(|| format!("Display {number}")),
        primary,
        bounds,
        scale: scale(id),
    };
    Some(Display { id, info, usable })
}

/// Pixels per point.
fn scale(id: CGDirectDisplayID) -> f64 {
    // SAFETY: any id is allowed; the mode is returned with a reference that is ours, and released once.
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

/// The queue that learns of display changes. The system's callback takes no owned context, hence a static.
static SUBSCRIBER: Mutex<Option<Weak<MessageQueue<MonitorEvent>>>> = Mutex::new(None);

/// Sends [`MonitorEvent::Displays`] whenever displays are connected, removed or reconfigured.
pub fn observe_changes(queue: Weak<MessageQueue<MonitorEvent>>) {
    let first = SUBSCRIBER.lock().replace(queue).is_none();
    if first {
        // If the callback is refused, displays are still read again after the machine wakes.
        // SAFETY: the callback is a static function, and it does not use its context.
        let _ = unsafe {
            CGDisplayRegisterReconfigurationCallback(reconfiguration_callback, std::ptr::null_mut())
        };
    }
}

unsafe extern "C" fn reconfiguration_callback(_: CGDirectDisplayID, flags: u32, _: *mut c_void) {
    if flags & kCGDisplayBeginConfigurationFlag != 0 {
        return;
    }
    guard::catch_panic("a change of displays", || {
        if let Some(queue) = SUBSCRIBER.lock().as_ref().and_then(Weak::upgrade) {
            // The monitor has ended if the daemon stops.
            let _ = queue.send(MonitorEvent::Displays);
        }
    });
}
