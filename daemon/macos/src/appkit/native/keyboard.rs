//! The keyboard layouts.

use std::ffi::c_void;

use core_foundation::base::TCFType;
use core_foundation::data::CFData;

use crate::appkit::host::{HostKey, HostKeyboard};
use crate::ffi::cf::{CFDataRef, CFRelease};
use crate::ffi::text_input::{
    COMMAND, LMGetKbdType, SHIFT, TISCopyCurrentASCIICapableKeyboardLayoutInputSource,
    TISCopyCurrentKeyboardLayoutInputSource, TISGetInputSourceProperty, UCKeyTranslate,
    kTISPropertyUnicodeKeyLayoutData, kUCKeyActionDisplay, kUCKeyTranslateNoDeadKeysMask,
};

/// The last virtual key code that types a character.
const LAST_KEY: u16 = 50;

/// The current layout, and the one that shortcuts are looked up in if that has no Latin letters.
pub fn keyboard() -> HostKeyboard {
    // SAFETY: both functions have no preconditions, and the references that they return are given away.
    unsafe {
        HostKeyboard {
            current: keys_of(TISCopyCurrentKeyboardLayoutInputSource()),
            latin: keys_of(TISCopyCurrentASCIICapableKeyboardLayoutInputSource()),
        }
    }
}

/// The keys of a layout; empty if it has no layout data.
///
/// # Safety
/// `source` is null, or an input source with a reference that the caller gives away.
unsafe fn keys_of(source: *const c_void) -> Vec<HostKey> {
    if source.is_null() {
        return Vec::new();
    }
    // SAFETY: the reference is ours and released once; the layout lives as long as its source, and is retained.
    let layout = unsafe {
        let data = TISGetInputSourceProperty(source, kTISPropertyUnicodeKeyLayoutData) as CFDataRef;
        let layout = (!data.is_null()).then(|| CFData::wrap_under_get_rule(data));
        CFRelease(source);
        layout
    };
    let Some(layout) = layout else { return Vec::new() };
    let key = |code| HostKey {
        code,
        plain: typed(&layout, code, 0),
        shifted: typed(&layout, code, SHIFT),
        with_command: typed(&layout, code, COMMAND),
    };
    let types = |key: &HostKey| key.plain.is_some() || key.shifted.is_some() || key.with_command.is_some();
    (0..=LAST_KEY).map(key).filter(types).collect()
}

/// What a key types.
fn typed(layout: &CFData, code: u16, modifiers: u32) -> Option<char> {
    let (mut dead, mut length, mut text) = (0, 0, [0_u16; 4]);
    // SAFETY: the layout's bytes live as long as `layout`, and the buffers are ours and as long as they are said to be.
    let error = unsafe {
        UCKeyTranslate(
            layout.bytes().as_ptr().cast(),
            code,
            kUCKeyActionDisplay,
            modifiers,
            u32::from(LMGetKbdType()),
            kUCKeyTranslateNoDeadKeysMask,
            &mut dead,
            text.len(),
            &mut length,
            text.as_mut_ptr(),
        )
    };
    let text = text.get(..length).filter(|_| error == 0)?;
    let mut characters = char::decode_utf16(text.iter().copied()).filter_map(Result::ok);
    let only = characters.next().filter(|character| !character.is_control() && *character != ' ');
    only.filter(|_| characters.next().is_none())
}
