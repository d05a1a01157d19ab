//! The accessibility API: elements, values, observers.

use std::ffi::{c_uchar, c_void};

use super::cf::{CFArrayRef, CFDictionaryRef, CFIndex, CFRunLoopSourceRef, CFStringRef, CFTypeID, CFTypeRef};

#[cfg(target_os = "macos")]
pub use accessibility_sys::{
    AXError, AXObserverCallbackWithInfo, AXObserverRef, AXUIElementRef, AXValueRef, AXValueType,
};

#[cfg(not(target_os = "macos"))]
pub use declared::*;

pub const kAXErrorSuccess: AXError = 0;
pub const kAXErrorFailure: AXError = -25200;
pub const kAXErrorIllegalArgument: AXError = -25201;
pub const kAXErrorInvalidUIElement: AXError = -25202;
pub const kAXErrorInvalidUIElementObserver: AXError = -25203;
pub const kAXErrorCannotComplete: AXError = -25204;
pub const kAXErrorAttributeUnsupported: AXError = -25205;
pub const kAXErrorActionUnsupported: AXError = -25206;
pub const kAXErrorNotificationUnsupported: AXError = -25207;
pub const kAXErrorNotImplemented: AXError = -25208;
pub const kAXErrorNotificationAlreadyRegistered: AXError = -25209;
pub const kAXErrorNotificationNotRegistered: AXError = -25210;
pub const kAXErrorAPIDisabled: AXError = -25211;
pub const kAXErrorNoValue: AXError = -25212;
pub const kAXErrorParameterizedAttributeUnsupported: AXError = -25213;
pub const kAXErrorNotEnoughPrecision: AXError = -25214;

pub const kAXValueTypeCGPoint: AXValueType = 1;
pub const kAXValueTypeCGSize: AXValueType = 2;
pub const kAXValueTypeCGRect: AXValueType = 3;
pub const kAXValueTypeCFRange: AXValueType = 4;
pub const kAXValueTypeAXError: AXValueType = 5;

// The functions are declared here and not taken from `accessibility-sys`, which says that they never unwind: an Objective-C
// exception would then abort the daemon.
#[cfg_attr(target_os = "macos", link(name = "ApplicationServices", kind = "framework"))]
unsafe extern "C-unwind" {
    pub static kAXTrustedCheckOptionPrompt: CFStringRef;
    pub fn AXIsProcessTrusted() -> bool;
    pub fn AXIsProcessTrustedWithOptions(options: CFDictionaryRef) -> bool;

    pub fn AXUIElementGetTypeID() -> CFTypeID;
    pub fn AXUIElementCreateApplication(pid: i32) -> AXUIElementRef;
    pub fn AXUIElementCreateSystemWide() -> AXUIElementRef;
    pub fn AXUIElementGetPid(element: AXUIElementRef, pid: *mut i32) -> AXError;
    pub fn AXUIElementSetMessagingTimeout(element: AXUIElementRef, seconds: f32) -> AXError;
    pub fn AXUIElementCopyAttributeValue(
        element: AXUIElementRef,
        attribute: CFStringRef,
        value: *mut CFTypeRef,
    ) -> AXError;
    pub fn AXUIElementCopyAttributeValues(
        element: AXUIElementRef,
        attribute: CFStringRef,
        index: CFIndex,
        most: CFIndex,
        values: *mut CFArrayRef,
    ) -> AXError;
    pub fn AXUIElementGetAttributeValueCount(
        element: AXUIElementRef,
        attribute: CFStringRef,
        count: *mut CFIndex,
    ) -> AXError;
    pub fn AXUIElementCopyMultipleAttributeValues(
        element: AXUIElementRef,
        attributes: CFArrayRef,
        options: u32,
        values: *mut CFArrayRef,
    ) -> AXError;
    pub fn AXUIElementCopyParameterizedAttributeValue(
        element: AXUIElementRef,
        attribute: CFStringRef,
        parameter: CFTypeRef,
        value: *mut CFTypeRef,
    ) -> AXError;
    pub fn AXUIElementIsAttributeSettable(
        element: AXUIElementRef,
        attribute: CFStringRef,
        settable: *mut c_uchar,
    ) -> AXError;
    pub fn AXUIElementSetAttributeValue(
        element: AXUIElementRef,
        attribute: CFStringRef,
        value: CFTypeRef,
    ) -> AXError;
    pub fn AXUIElementCopyActionNames(element: AXUIElementRef, names: *mut CFArrayRef) -> AXError;
    pub fn AXUIElementPerformAction(element: AXUIElementRef, action: CFStringRef) -> AXError;
    pub fn AXUIElementCopyElementAtPosition(
        application: AXUIElementRef,
        x: f32,
        y: f32,
        element: *mut AXUIElementRef,
    ) -> AXError;

    pub fn AXValueGetTypeID() -> CFTypeID;
    pub fn AXValueCreate(kind: AXValueType, value: *const c_void) -> AXValueRef;
    pub fn AXValueGetType(value: AXValueRef) -> AXValueType;
    pub fn AXValueGetValue(value: AXValueRef, kind: AXValueType, into: *mut c_void) -> bool;

    pub fn AXObserverCreateWithInfoCallback(
        application: i32,
        callback: AXObserverCallbackWithInfo,
        observer: *mut AXObserverRef,
    ) -> AXError;
    pub fn AXObserverAddNotification(
        observer: AXObserverRef,
        element: AXUIElementRef,
        notification: CFStringRef,
        context: *mut c_void,
    ) -> AXError;
    pub fn AXObserverRemoveNotification(
        observer: AXObserverRef,
        element: AXUIElementRef,
        notification: CFStringRef,
    ) -> AXError;
    pub fn AXObserverGetRunLoopSource(observer: AXObserverRef) -> CFRunLoopSourceRef;

    // Not in Apple's headers, but in the framework since 10.5, and what every window tool uses.
    pub fn _AXUIElementGetWindow(element: AXUIElementRef, window: *mut u32) -> AXError;
}

/// The types of `accessibility-sys`, which builds on macOS only.
#[cfg(not(target_os = "macos"))]
mod declared {
    use std::ffi::c_void;

    use super::super::cf::{CFDictionaryRef, CFStringRef};

    pub type AXError = i32;
    pub type AXValueType = u32;
    pub enum OpaqueElement {}
    pub type AXUIElementRef = *mut OpaqueElement;
    pub enum OpaqueObserver {}
    pub type AXObserverRef = *mut OpaqueObserver;
    pub enum OpaqueValue {}
    pub type AXValueRef = *mut OpaqueValue;
    pub type AXObserverCallbackWithInfo =
        unsafe extern "C" fn(AXObserverRef, AXUIElementRef, CFStringRef, CFDictionaryRef, *mut c_void);
}
