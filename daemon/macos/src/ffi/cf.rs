//! CoreFoundation, as the `core-foundation` crates declare it. It is listed by name, so that one can see what is used.

pub use core_foundation_sys::array::{CFArrayGetCount, CFArrayGetValueAtIndex, CFArrayRef};
pub use core_foundation_sys::attributed_string::{
    CFAttributedStringGetString, CFAttributedStringGetTypeID, CFAttributedStringRef,
};
pub use core_foundation_sys::base::{
    Boolean, CFHash, CFIndex, CFRange, CFRelease, CFRetain, CFTypeID, CFTypeRef, kCFAllocatorDefault,
};
pub use core_foundation_sys::data::{CFDataGetBytePtr, CFDataGetLength, CFDataRef};
pub use core_foundation_sys::date::{CFDateGetAbsoluteTime, CFDateGetTypeID, CFDateRef};
pub use core_foundation_sys::dictionary::{CFDictionaryGetValueIfPresent, CFDictionaryRef};
pub use core_foundation_sys::runloop::{
    CFRunLoopAddSource, CFRunLoopGetCurrent, CFRunLoopRef, CFRunLoopRunInMode, CFRunLoopSourceContext,
    CFRunLoopSourceCreate, CFRunLoopSourceInvalidate, CFRunLoopSourceRef, CFRunLoopSourceSignal,
    CFRunLoopWakeUp, kCFRunLoopDefaultMode, kCFRunLoopRunHandledSource,
};
pub use core_foundation_sys::string::{
    CFStringGetCharacters, CFStringGetLength, CFStringGetTypeID, CFStringRef,
};
pub use core_foundation_sys::url::{CFURLGetString, CFURLGetTypeID, CFURLRef};
