//! Strings. Apple's are any sequence of UTF-16 units, also such that no Rust string can hold: apps cut texts in the middle of
//! a character, and then half of it is left. Here such a half, a lone surrogate, is written as the character of plane 15 that
//! ends in the same four digits: the unit D83D as U+FD83D. So scripts can have it in any text.

use std::borrow::Cow;
use std::ffi::{CStr, c_char};

use super::object::{Body, CFTypeRef, ObjectKind, Owned, out, owned, with};
use core_foundation_sys::base::CFRange;

const UTF8: u32 = 0x0800_0100;
const ASCII: u32 = 0x0600;
const LATIN1: u32 = 0x0201;
const UTF16: u32 = 0x0100;
const UTF16LE: u32 = 0x1400_0100;

/// Where the characters begin that stand for units by themselves.
const PLANE_15: u32 = 0xF_0000;

/// The units of a text.
pub(crate) fn units_of(text: &str) -> Vec<u16> {
    let mut units = Vec::with_capacity(text.len());
    for character in text.chars() {
        match u32::from(character) {
            lone @ 0xF_D800..=0xF_DFFF => units.push((lone - PLANE_15) as u16),
            _ => units.extend_from_slice(character.encode_utf16(&mut [0; 2])),
        }
    }
    units
}

/// The text of these units.
pub(crate) fn text_from(units: &[u16]) -> String {
    let character = |unit: Result<char, std::char::DecodeUtf16Error>| {
        unit.unwrap_or_else(|lone| {
            let stand_in = char::from_u32(PLANE_15 + u32::from(lone.unpaired_surrogate()));
            stand_in.unwrap_or(char::REPLACEMENT_CHARACTER)
        })
    };
    char::decode_utf16(units.iter().copied()).map(character).collect()
}

/// A string.
pub(crate) fn string(text: &str, made_by: &'static str) -> Owned {
    owned(ObjectKind::String, Body::Text(Cow::Owned(format!("{text}\0"))), made_by)
}

/// An object of another kind that has a string in it: an attributed string, or a URL.
pub(crate) fn holder_of_string(kind: ObjectKind, text: &str, made_by: &'static str) -> Owned {
    owned(kind, Body::Within(string(text, made_by)), made_by)
}

/// The text of a string; `None` for any other object, which is reported.
pub(crate) fn text_of(string: CFTypeRef, function: &'static str) -> Option<String> {
    let text = with(string, ObjectKind::String, function, |body| match body {
        Body::Text(text) => text.strip_suffix('\0').map(str::to_owned),
        _ => None,
    });
    text.flatten()
}

/// The string in an object of this kind, which is not given away.
fn string_within(object: CFTypeRef, kind: ObjectKind, function: &'static str) -> CFTypeRef {
    let within = with(object, kind, function, |body| match body {
        Body::Within(string) => Some(string.get()),
        _ => None,
    });
    within.flatten().unwrap_or(std::ptr::null())
}

fn bytes<'a>(start: *const u8, count: isize) -> Option<&'a [u8]> {
    let count = usize::try_from(count).ok()?;
    if count == 0 {
        return Some(&[]);
    }
    // SAFETY: C callers hand in as many bytes as they say.
    (!start.is_null()).then(|| unsafe { std::slice::from_raw_parts(start, count) })
}

fn decode(bytes: &[u8], encoding: u32) -> Option<String> {
    match encoding {
        UTF8 => String::from_utf8(bytes.to_vec()).ok(),
        ASCII => bytes.is_ascii().then(|| String::from_utf8_lossy(bytes).into_owned()),
        LATIN1 => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
        UTF16 | UTF16LE => {
            let units: Vec<u16> =
                bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
            Some(text_from(&units))
        }
        _ => None,
    }
}

fn create(text: Option<String>, made_by: &'static str) -> CFTypeRef {
    text.map_or(std::ptr::null(), |text| string(&text, made_by).give())
}

/// `CFStringGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringGetTypeID() -> usize {
    ObjectKind::String as usize
}

/// `CFStringCreateWithBytes`.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringCreateWithBytes(
    _allocator: CFTypeRef,
    start: *const u8,
    count: isize,
    encoding: u32,
    _external: u8,
) -> CFTypeRef {
    create(bytes(start, count).and_then(|bytes| decode(bytes, encoding)), "CFStringCreateWithBytes")
}

/// `CFStringCreateWithBytesNoCopy`. It copies; nobody can tell.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringCreateWithBytesNoCopy(
    allocator: CFTypeRef,
    start: *const u8,
    count: isize,
    encoding: u32,
    external: u8,
    _deallocator: CFTypeRef,
) -> CFTypeRef {
    CFStringCreateWithBytes(allocator, start, count, encoding, external)
}

/// `CFStringCreateWithCString`.
///
/// # Safety
/// The text ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFStringCreateWithCString(
    _allocator: CFTypeRef,
    text: *const c_char,
    encoding: u32,
) -> CFTypeRef {
    // SAFETY: as above.
    let text = (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) });
    create(text.and_then(|text| decode(text.to_bytes(), encoding)), "CFStringCreateWithCString")
}

/// `CFStringCreateWithCharacters`.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringCreateWithCharacters(
    _allocator: CFTypeRef,
    units: *const u16,
    count: isize,
) -> CFTypeRef {
    let bytes = bytes(units.cast(), count * 2);
    create(bytes.and_then(|bytes| decode(bytes, UTF16)), "CFStringCreateWithCharacters")
}

/// `CFStringCreateCopy`.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringCreateCopy(_allocator: CFTypeRef, string: CFTypeRef) -> CFTypeRef {
    create(text_of(string, "CFStringCreateCopy"), "CFStringCreateCopy")
}

/// `CFStringGetLength`.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringGetLength(string: CFTypeRef) -> isize {
    text_of(string, "CFStringGetLength").map_or(0, |text| units_of(&text).len() as isize)
}

/// `CFStringGetCStringPtr`: the bytes themselves if they are all ASCII, as Apple has them then. Whoever takes them for a C string
/// loses what is behind a zero in the text.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringGetCStringPtr(string: CFTypeRef, _encoding: u32) -> *const c_char {
    let start = with(string, ObjectKind::String, "CFStringGetCStringPtr", |body| match body {
        Body::Text(text) if text.is_ascii() => text.as_ptr().cast(),
        _ => std::ptr::null(),
    });
    start.unwrap_or(std::ptr::null())
}

/// `CFStringGetCharactersPtr`: may always answer nothing, and does, so that callers must cope.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringGetCharactersPtr(_string: CFTypeRef) -> *const u16 {
    std::ptr::null()
}

/// `CFStringGetBytes`: whole characters only, as many as fit; answers how many units that were. It ends at half a character,
/// unless there is a byte to take its place.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringGetBytes(
    string: CFTypeRef,
    range: CFRange,
    encoding: u32,
    loss: u8,
    _external: u8,
    buffer: *mut u8,
    room: isize,
    used: *mut isize,
) -> isize {
    let Some(text) = text_of(string, "CFStringGetBytes") else { return 0 };
    let (start, count) = (usize::try_from(range.location), usize::try_from(range.length));
    let (Ok(start), Ok(count)) = (start, count) else { return 0 };
    let units: Vec<u16> = units_of(&text).into_iter().skip(start).take(count).collect();
    let room = if buffer.is_null() { usize::MAX } else { usize::try_from(room).unwrap_or(0) };
    let (mut bytes, mut taken) = (Vec::new(), 0);
    for character in char::decode_utf16(units) {
        let mut encoded = Vec::new();
        let lone = character.as_ref().err().map(|lone| lone.unpaired_surrogate());
        let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
        match encoding {
            UTF16 | UTF16LE if lone.is_some() => encoded.extend(lone.unwrap_or_default().to_le_bytes()),
            UTF8 if lone.is_none() => encoded.extend(character.to_string().into_bytes()),
            ASCII if character.is_ascii() => encoded.push(character as u8),
            LATIN1 if u32::from(character) < 256 => encoded.push(character as u8),
            UTF16 | UTF16LE => {
                encoded
                    .extend(character.encode_utf16(&mut [0; 2]).iter().flat_map(|unit| unit.to_le_bytes()));
            }
            // Half a character ends the conversion also where something could stand for it.
            _ if loss != 0 && lone.is_none() => encoded.push(loss),
            _ => break,
        }
        if bytes.len() + encoded.len() > room {
            break;
        }
        bytes.extend(encoded);
        taken += character.len_utf16();
    }
    if !buffer.is_null() {
        // SAFETY: the caller says that there is so much room, and no more was taken.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer, bytes.len()) };
    }
    out(used, bytes.len() as isize);
    taken as isize
}

/// `CFStringGetCString`.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringGetCString(
    string: CFTypeRef,
    buffer: *mut c_char,
    room: isize,
    encoding: u32,
) -> u8 {
    let length = CFStringGetLength(string);
    let mut used = 0;
    let all = CFRange { location: 0, length };
    let taken = CFStringGetBytes(string, all, encoding, 0, 0, buffer.cast(), room - 1, &raw mut used);
    if buffer.is_null() || room < 1 || taken < length {
        return 0;
    }
    // SAFETY: one byte of the room was left for it.
    unsafe { buffer.offset(used).write(0) };
    1
}

/// `CFStringGetCharacters`.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringGetCharacters(string: CFTypeRef, range: CFRange, buffer: *mut u16) {
    let room = range.length * 2;
    CFStringGetBytes(string, range, UTF16, 0, 0, buffer.cast(), room, std::ptr::null_mut());
}

/// `CFStringGetMaximumSizeForEncoding`.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringGetMaximumSizeForEncoding(length: isize, encoding: u32) -> isize {
    match encoding {
        UTF8 => length * 3,
        UTF16 | UTF16LE => length * 2,
        _ => length,
    }
}

/// `CFStringCompare`, without any options.
#[unsafe(no_mangle)]
pub extern "C" fn CFStringCompare(a: CFTypeRef, b: CFTypeRef, _options: usize) -> isize {
    let text = |string: CFTypeRef| text_of(string, "CFStringCompare");
    text(a).cmp(&text(b)) as isize
}

/// `CFAttributedStringGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFAttributedStringGetTypeID() -> usize {
    ObjectKind::AttributedString as usize
}

/// `CFAttributedStringGetString`.
#[unsafe(no_mangle)]
pub extern "C" fn CFAttributedStringGetString(string: CFTypeRef) -> CFTypeRef {
    string_within(string, ObjectKind::AttributedString, "CFAttributedStringGetString")
}

/// `CFURLGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFURLGetTypeID() -> usize {
    ObjectKind::Url as usize
}

/// `CFURLGetString`.
#[unsafe(no_mangle)]
pub extern "C" fn CFURLGetString(url: CFTypeRef) -> CFTypeRef {
    string_within(url, ObjectKind::Url, "CFURLGetString")
}
