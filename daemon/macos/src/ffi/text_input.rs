//! The current keyboard layout.

use std::ffi::c_void;

use super::cf::CFStringRef;

pub const kUCKeyActionDisplay: u16 = 3;
pub const kUCKeyTranslateNoDeadKeysMask: u32 = 1;
/// `shiftKey`, in the form that `UCKeyTranslate` takes.
pub const SHIFT: u32 = 0x0200 >> 8;
/// `cmdKey`, in the same form.
pub const COMMAND: u32 = 0x0100 >> 8;

#[link(name = "Carbon", kind = "framework")]
unsafe extern "C" {
    pub static kTISPropertyUnicodeKeyLayoutData: CFStringRef;

    pub fn TISCopyCurrentKeyboardLayoutInputSource() -> *const c_void;
    pub fn TISCopyCurrentASCIICapableKeyboardLayoutInputSource() -> *const c_void;
    pub fn TISGetInputSourceProperty(source: *const c_void, key: CFStringRef) -> *const c_void;
    pub fn LMGetKbdType() -> u8;
    pub fn UCKeyTranslate(
        layout: *const c_void,
        code: u16,
        action: u16,
        modifiers: u32,
        keyboard: u32,
        options: u32,
        dead: *mut u32,
        most: usize,
        length: *mut usize,
        text: *mut u16,
    ) -> i32;
}
