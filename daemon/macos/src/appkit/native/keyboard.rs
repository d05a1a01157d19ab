//! The current keyboard layout.

use core_foundation::base::TCFType;
use core_foundation::data::CFData;

use crate::appkit::host::HostKey;
use crate::ffi::cf::{CFDataRef, CFRelease};
use crate::ffi::text_input::{
    LMGetKbdType, SHIFT, TISCopyCurrentKeyboardLayoutInputSource, TISGetInputSourceProperty, UCKeyTranslate,
    kTISPropertyUnicodeKeyLayoutData, kUCKeyActionDisplay, kUCKeyTranslateNoDeadKeysMask,
};

/// The last virtual key code that types a character.
const LAST_KEY: u16 = 50;

/// The keys of the current layout; empty if it has no layout data.
pub fn keyboard() -> Vec<HostKey> {
    // SAFETY: the copied reference is ours and released once; the layout lives as long as its source, and is retained.
    let layout = unsafe {
        let source = TISCopyCurrentKeyboardLayoutInputSource();
        if source.is_null() {
            return Vec::new();
        }
        let data = TISGetInputSourceProperty(source, kTISPropertyUnicodeKeyLayoutData) as CFDataRef;
        let layout = (!data.is_null()).then(|| CFData::wrap_under_get_rule(data));
        CFRelease(source);
        layout
    };
    let Some(layout) = layout else { return Vec::new() };
    (0..=LAST_KEY)
        .map(|code| HostKey { code, plain: typed(&layout, code, 0), shifted: typed(&layout, code, SHIFT) })
        .filter(|key| key.plain.is_some() || key.shifted.is_some())
        .collect()
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
