//! CoreGraphics: events, windows, displays, images.
//!
//! Types and constants are those of the `core-graphics` crates, the calls are declared here. `core-graphics-types` builds on
//! every system and gives the geometry and the errors. `core-graphics` has the modules for events, windows and displays on
//! macOS only; elsewhere `cg_types` stands in for them under the same names, and L0 of `scripts/check-macos` holds both against
//! each other and against Apple's metadata. The crate's calls are not used. Those for events are private to its wrappers, which
//! exist on macOS only, and the code above must also run against a double; and it lacks some that are needed: an event without
//! a source, the suppression interval, the state of keys and buttons.

use std::ffi::c_void;

use super::cf::{Boolean, CFArrayRef, CFDataRef, CFDictionaryRef, CFStringRef};

#[cfg(target_os = "macos")]
pub use core_graphics::base::{
    kCGBitmapByteOrder32Little, kCGImageAlphaFirst, kCGImageAlphaNoneSkipFirst,
    kCGImageAlphaPremultipliedFirst,
};
#[cfg(target_os = "macos")]
pub use core_graphics::display::CGDirectDisplayID;
#[cfg(target_os = "macos")]
pub use core_graphics::event::{
    CGEventField, CGEventFlags, CGEventTapLocation, CGEventType, CGKeyCode, CGMouseButton, CGScrollEventUnit,
    EventField, KeyCode, ScrollEventUnit,
};
#[cfg(target_os = "macos")]
pub use core_graphics::event_source::CGEventSourceStateID;
#[cfg(target_os = "macos")]
pub use core_graphics::sys::{
    CGDataProviderRef, CGDisplayModeRef, CGEvent, CGEventRef, CGEventSource, CGEventSourceRef, CGImage,
    CGImageRef,
};
#[cfg(target_os = "macos")]
pub use core_graphics::window::{
    CGWindowID, kCGNullWindowID, kCGWindowImageBestResolution, kCGWindowImageBoundsIgnoreFraming,
    kCGWindowImageDefault, kCGWindowListExcludeDesktopElements, kCGWindowListOptionAll,
    kCGWindowListOptionIncludingWindow, kCGWindowListOptionOnScreenOnly,
};
pub use core_graphics_types::base::{CGError, kCGErrorSuccess};
pub use core_graphics_types::geometry::{CGPoint, CGRect, CGSize};

#[cfg(not(target_os = "macos"))]
pub use super::cg_types::*;

// The crates do not have these.
pub const kCGBitmapAlphaInfoMask: u32 = 0x1f;
pub const kCGBitmapByteOrderMask: u32 = 0x7000;
pub const kCGDisplayBeginConfigurationFlag: u32 = 1;

#[cfg_attr(target_os = "macos", link(name = "CoreGraphics", kind = "framework"))]
unsafe extern "C" {
    pub static kCGWindowNumber: CFStringRef;
    pub static kCGWindowOwnerPID: CFStringRef;
    pub static kCGWindowLayer: CFStringRef;
    pub static kCGWindowBounds: CFStringRef;
    pub static kCGWindowName: CFStringRef;
    pub static kCGWindowAlpha: CFStringRef;
    pub static CGRectNull: CGRect;

    pub fn CGEventSourceCreate(state: CGEventSourceStateID) -> CGEventSourceRef;
    pub fn CGEventSourceSetLocalEventsSuppressionInterval(source: CGEventSourceRef, seconds: f64);
    pub fn CGEventCreate(source: CGEventSourceRef) -> CGEventRef;
    pub fn CGEventCreateMouseEvent(
        source: CGEventSourceRef,
        kind: CGEventType,
        at: CGPoint,
        button: CGMouseButton,
    ) -> CGEventRef;
    pub fn CGEventCreateKeyboardEvent(source: CGEventSourceRef, key: CGKeyCode, down: bool) -> CGEventRef;
    pub fn CGEventCreateScrollWheelEvent2(
        source: CGEventSourceRef,
        units: CGScrollEventUnit,
        wheels: u32,
        down: i32,
        right: i32,
        depth: i32,
    ) -> CGEventRef;
    pub fn CGEventKeyboardSetUnicodeString(event: CGEventRef, length: usize, text: *const u16);
    pub fn CGEventSetFlags(event: CGEventRef, flags: CGEventFlags);
    pub fn CGEventSetIntegerValueField(event: CGEventRef, field: CGEventField, value: i64);
    pub fn CGEventGetLocation(event: CGEventRef) -> CGPoint;
    pub fn CGEventSetLocation(event: CGEventRef, at: CGPoint);
    pub fn CGEventPost(tap: CGEventTapLocation, event: CGEventRef);
    pub fn CGEventSourceButtonState(state: CGEventSourceStateID, button: CGMouseButton) -> bool;
    pub fn CGEventSourceKeyState(state: CGEventSourceStateID, key: CGKeyCode) -> bool;

    pub fn CGWindowListCopyWindowInfo(options: u32, relative_to: CGWindowID) -> CFArrayRef;
    pub fn CGRectMakeWithDictionaryRepresentation(dictionary: CFDictionaryRef, rect: *mut CGRect) -> bool;

    pub fn CGMainDisplayID() -> CGDirectDisplayID;
    pub fn CGGetActiveDisplayList(most: u32, displays: *mut CGDirectDisplayID, count: *mut u32) -> CGError;
    pub fn CGDisplayBounds(display: CGDirectDisplayID) -> CGRect;
    pub fn CGDisplayCopyDisplayMode(display: CGDirectDisplayID) -> CGDisplayModeRef;
    pub fn CGDisplayModeGetPixelWidth(mode: CGDisplayModeRef) -> usize;
    pub fn CGDisplayModeGetWidth(mode: CGDisplayModeRef) -> usize;
    pub fn CGDisplayRegisterReconfigurationCallback(
        callback: unsafe extern "C" fn(CGDirectDisplayID, u32, *mut c_void),
        context: *mut c_void,
    ) -> CGError;

    pub fn CGImageGetWidth(image: CGImageRef) -> usize;
    pub fn CGImageGetHeight(image: CGImageRef) -> usize;
    pub fn CGImageGetBytesPerRow(image: CGImageRef) -> usize;
    pub fn CGImageGetBitsPerPixel(image: CGImageRef) -> usize;
    pub fn CGImageGetBitmapInfo(image: CGImageRef) -> u32;
    pub fn CGImageGetDataProvider(image: CGImageRef) -> CGDataProviderRef;
    pub fn CGDataProviderCopyData(provider: CGDataProviderRef) -> CFDataRef;

    pub fn CGSessionCopyCurrentDictionary() -> CFDictionaryRef;
    pub fn CGPreflightScreenCaptureAccess() -> bool;
    pub fn CGRequestScreenCaptureAccess() -> bool;
}

#[cfg_attr(target_os = "macos", link(name = "Carbon", kind = "framework"))]
unsafe extern "C" {
    pub fn IsSecureEventInputEnabled() -> Boolean;
}

/// `CGWindowListCreateImage`.
pub type CreateWindowImage =
    unsafe extern "C" fn(bounds: CGRect, options: u32, window: CGWindowID, image_options: u32) -> CGImageRef;

/// `CGWindowListCreateImage`, where the system still has it: it is no longer declared from the SDK of macOS 15 on, and
/// may end any day.
#[cfg(target_os = "macos")]
pub fn window_list_create_image() -> Option<CreateWindowImage> {
    // SAFETY: the name ends in a zero byte, and looking up a symbol has no other conditions.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"CGWindowListCreateImage".as_ptr()) };
    // SAFETY: the symbol of this name has had this signature for as long as it has existed.
    (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, CreateWindowImage>(found) })
}

/// `CGWindowListCreateImage` of the double, which is always there.
#[cfg(not(target_os = "macos"))]
pub fn window_list_create_image() -> Option<CreateWindowImage> {
    unsafe extern "C" {
        fn CGWindowListCreateImage(
            bounds: CGRect,
            options: u32,
            window: CGWindowID,
            image_options: u32,
        ) -> CGImageRef;
    }
    Some(CGWindowListCreateImage)
}
