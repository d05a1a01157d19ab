//! The displays of the scripted desktop. CoreGraphics counts in points; how many pixels a point has is said by the mode
//! of a display alone.
//!
//! The origin is the top left corner of the main display, so what lies left of it or above it has negative
//! coordinates. Callbacks for changes are called on the main thread, for each display, before the change
//! and again after it.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use axd_protocol::DisplayInfo;
use parking_lot::Mutex;

use super::CGRect;
use crate::cf::{self, Body, CFTypeRef, Foreign, ObjectKind, out};
use crate::world::{World, current};

const ILLEGAL_ARGUMENT: i32 = 1001;

/// A change of a display.
const BEGINS: u32 = 1;
const MOVED: u32 = 1 << 1;
const MODE_CHANGED: u32 = 1 << 3;
const ADDED: u32 = 1 << 4;
const REMOVED: u32 = 1 << 5;
const SHAPE_CHANGED: u32 = 1 << 12;

type Callback = unsafe extern "C" fn(u32, u32, *mut c_void);

/// The callbacks for display changes: they are the process's, whichever world is current.
static CALLBACKS: Mutex<Vec<(Callback, usize)>> = Mutex::new(Vec::new());

struct Mode {
    points: usize,
    pixels: usize,
}

impl Foreign for Mode {}

fn displays() -> Vec<DisplayInfo> {
    current().map(|world| world.sim.displays()).unwrap_or_default()
}

fn display(number: u32) -> Option<DisplayInfo> {
    displays().into_iter().find(|display| display.display == number)
}

impl World {
    /// Replaces the connected displays, the main one first.
    ///
    /// # Panics
    /// If the main one is not at the origin, or the desktop does not answer.
    pub fn connect_displays(&self, after: Vec<DisplayInfo>) {
        let main = after.first().expect("there is a main display").bounds;
        assert_eq!((main.x, main.y), (0, 0), "the main display is at the origin");
        let before = self.sim().displays();
        let world = self.shared();
        let (done, told) = std::sync::mpsc::channel();
        crate::appkit::on_main(Box::new(move || {
            before.iter().for_each(|display| call(display.display, BEGINS));
            world.host.displays_change(before.clone());
            world.runtime.block_on(world.sim.set_displays(after.clone()));
            for old in &before {
                if !after.iter().any(|new| new.display == old.display) {
                    call(old.display, REMOVED);
                }
            }
            for new in &after {
                call(new.display, change_flags(before.iter().find(|old| old.display == new.display), new));
            }
            // Who waits may have given up.
            let _ = done.send(());
        }));
        told.recv_timeout(Duration::from_secs(60)).expect("the displays are connected");
    }
}

/// The flags that describe a display's change.
fn change_flags(before: Option<&DisplayInfo>, now: &DisplayInfo) -> u32 {
    let Some(before) = before else { return ADDED | SHAPE_CHANGED };
    let mut flags = SHAPE_CHANGED;
    if (before.bounds.x, before.bounds.y) != (now.bounds.x, now.bounds.y) {
        flags |= MOVED;
    }
    if (before.bounds.width, before.bounds.height) != (now.bounds.width, now.bounds.height)
        || before.scale != now.scale
    {
        flags |= MODE_CHANGED;
    }
    flags
}

fn call(display: u32, flags: u32) {
    let called = CALLBACKS.lock().clone();
    for (callback, context) in called {
        // SAFETY: the callback was registered for such arguments, with this context.
        unsafe { callback(display, flags, std::ptr::with_exposed_provenance_mut(context)) };
    }
}

/// `CGMainDisplayID`.
#[unsafe(no_mangle)]
pub extern "C" fn CGMainDisplayID() -> u32 {
    displays().first().map_or(0, |main| main.display)
}

/// `CGGetActiveDisplayList`: the main one first.
///
/// # Safety
/// `displays` has room for `most` ids.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CGGetActiveDisplayList(most: u32, list: *mut u32, count: *mut u32) -> i32 {
    let mut displays = displays();
    if !list.is_null() {
        displays.truncate(most as usize);
        for (at, display) in displays.iter().enumerate() {
            // SAFETY: as above.
            unsafe { list.add(at).write(display.display) };
        }
    }
    if out(count, displays.len() as u32) { 0 } else { ILLEGAL_ARGUMENT }
}

/// `CGDisplayBounds`: in points.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayBounds(number: u32) -> CGRect {
    display(number).map(|display| CGRect::of(display.bounds)).unwrap_or_default()
}

/// `CGDisplayPixelsWide`: in points too, whatever it is called.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayPixelsWide(number: u32) -> usize {
    display(number).map_or(0, |display| display.bounds.width.unsigned_abs() as usize)
}

/// `CGDisplayCopyDisplayMode`.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayCopyDisplayMode(number: u32) -> CFTypeRef {
    let Some(display) = display(number) else { return std::ptr::null() };
    let points = display.bounds.width.unsigned_abs() as usize;
    let mode = Mode { points, pixels: (points as f64 * display.scale).round() as usize };
    cf::owned(ObjectKind::DisplayMode, Body::Foreign(Arc::new(mode)), "CGDisplayCopyDisplayMode").give()
}

fn mode_of(mode: CFTypeRef, function: &'static str) -> Option<Arc<Mode>> {
    cf::foreign::<Mode>(mode, ObjectKind::DisplayMode, function)
}

/// `CGDisplayModeGetPixelWidth`.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayModeGetPixelWidth(mode: CFTypeRef) -> usize {
    mode_of(mode, "CGDisplayModeGetPixelWidth").map_or(0, |mode| mode.pixels)
}

/// `CGDisplayModeGetWidth`: in points.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayModeGetWidth(mode: CFTypeRef) -> usize {
    mode_of(mode, "CGDisplayModeGetWidth").map_or(0, |mode| mode.points)
}

/// `CGDisplayRegisterReconfigurationCallback`.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayRegisterReconfigurationCallback(callback: Callback, context: *mut c_void) -> i32 {
    CALLBACKS.lock().push((callback, context.expose_provenance()));
    0
}

/// `CGDisplayRemoveReconfigurationCallback`.
#[unsafe(no_mangle)]
pub extern "C" fn CGDisplayRemoveReconfigurationCallback(callback: Callback, context: *mut c_void) -> i32 {
    let is_it = |(other, its): &(Callback, usize)| {
        std::ptr::fn_addr_eq(*other, callback) && *its == context.expose_provenance()
    };
    CALLBACKS.lock().retain(|called| !is_it(called));
    0
}

/// `CGPreflightScreenCaptureAccess`.
#[unsafe(no_mangle)]
pub extern "C" fn CGPreflightScreenCaptureAccess() -> bool {
    current().is_some_and(|world| {
        let settings = world.settings.lock();
        settings.says_may_capture.unwrap_or(settings.may_capture)
    })
}

/// `CGRequestScreenCaptureAccess`: whatever the user answers, it counts from the next start on.
#[unsafe(no_mangle)]
pub extern "C" fn CGRequestScreenCaptureAccess() -> bool {
    if let Some(world) = current() {
        world.settings.lock().dialogs += 1;
    }
    CGPreflightScreenCaptureAccess()
}
