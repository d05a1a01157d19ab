//! CoreGraphics: events, windows, displays, pictures. Declared here for every system, since no crate that has them
//! builds elsewhere than on macOS.

use std::ffi::c_void;

use super::cf::{Boolean, CFArrayRef, CFDataRef, CFDictionaryRef, CFStringRef};

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CGPoint {
    pub x: f64,
    pub y: f64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CGSize {
    pub width: f64,
    pub height: f64,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CGRect {
    pub origin: CGPoint,
    pub size: CGSize,
}

pub enum OpaqueEvent {}
pub type CGEventRef = *mut OpaqueEvent;
pub enum OpaqueEventSource {}
pub type CGEventSourceRef = *mut OpaqueEventSource;
pub enum OpaqueImage {}
pub type CGImageRef = *mut OpaqueImage;
pub enum OpaqueDataProvider {}
pub type CGDataProviderRef = *mut OpaqueDataProvider;
pub enum OpaqueDisplayMode {}
pub type CGDisplayModeRef = *mut OpaqueDisplayMode;

pub type CGEventType = u32;
pub type CGEventField = u32;
pub type CGEventFlags = u64;
pub type CGMouseButton = u32;
pub type CGKeyCode = u16;
pub type CGWindowID = u32;
pub type CGDirectDisplayID = u32;
pub type CGError = i32;

pub const kCGErrorSuccess: CGError = 0;

// Where an event's state comes from, and where it is put in.
pub const kCGEventSourceStateHIDSystemState: i32 = 1;
pub const kCGHIDEventTap: u32 = 0;

pub const kCGEventLeftMouseDown: CGEventType = 1;
pub const kCGEventLeftMouseUp: CGEventType = 2;
pub const kCGEventRightMouseDown: CGEventType = 3;
pub const kCGEventRightMouseUp: CGEventType = 4;
pub const kCGEventMouseMoved: CGEventType = 5;
pub const kCGEventLeftMouseDragged: CGEventType = 6;
pub const kCGEventRightMouseDragged: CGEventType = 7;
pub const kCGEventOtherMouseDown: CGEventType = 25;
pub const kCGEventOtherMouseUp: CGEventType = 26;
pub const kCGEventOtherMouseDragged: CGEventType = 27;

pub const kCGMouseButtonLeft: CGMouseButton = 0;
pub const kCGMouseButtonRight: CGMouseButton = 1;
pub const kCGMouseButtonCenter: CGMouseButton = 2;

pub const kCGMouseEventNumber: CGEventField = 0;
pub const kCGMouseEventClickState: CGEventField = 1;
pub const kCGScrollEventUnitLine: u32 = 1;

pub const kCGEventFlagMaskAlphaShift: CGEventFlags = 0x0001_0000;
pub const kCGEventFlagMaskShift: CGEventFlags = 0x0002_0000;
pub const kCGEventFlagMaskControl: CGEventFlags = 0x0004_0000;
pub const kCGEventFlagMaskAlternate: CGEventFlags = 0x0008_0000;
pub const kCGEventFlagMaskCommand: CGEventFlags = 0x0010_0000;
pub const kCGEventFlagMaskNumericPad: CGEventFlags = 0x0020_0000;
pub const kCGEventFlagMaskSecondaryFn: CGEventFlags = 0x0080_0000;

pub const kCGWindowListOptionAll: u32 = 0;
pub const kCGWindowListOptionOnScreenOnly: u32 = 1;
pub const kCGWindowListOptionIncludingWindow: u32 = 1 << 3;
pub const kCGWindowListExcludeDesktopElements: u32 = 1 << 4;
pub const kCGNullWindowID: CGWindowID = 0;

pub const kCGWindowImageDefault: u32 = 0;
pub const kCGWindowImageBoundsIgnoreFraming: u32 = 1;
pub const kCGWindowImageBestResolution: u32 = 1 << 3;

// How the bytes of a pixel are laid out.
pub const kCGBitmapAlphaInfoMask: u32 = 0x1f;
pub const kCGImageAlphaPremultipliedFirst: u32 = 2;
pub const kCGImageAlphaFirst: u32 = 4;
pub const kCGImageAlphaNoneSkipFirst: u32 = 6;
pub const kCGBitmapByteOrderMask: u32 = 0x7000;
pub const kCGBitmapByteOrder32Little: u32 = 2 << 12;

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

    pub fn CGEventSourceCreate(state: i32) -> CGEventSourceRef;
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
        units: u32,
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
    pub fn CGEventPost(tap: u32, event: CGEventRef);
    pub fn CGEventSourceButtonState(state: i32, button: CGMouseButton) -> bool;
    pub fn CGEventSourceKeyState(state: i32, key: CGKeyCode) -> bool;

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

/// The same where it is linked.
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
