//! Texts of CoreFoundation to Rust's.
//!
//! A CFString is any sequence of UTF-16 units. Apps cut titles and labels in the middle of a character, and web pages have texts
//! that are no valid UTF-16 at all, so what cannot be said in UTF-8 is replaced. A zero is a character like any other.

use core_foundation::base::{CFType, TCFType};

use super::value;
use crate::ffi::cf::{
    CFAttributedStringGetString, CFAttributedStringGetTypeID, CFAttributedStringRef, CFDateGetAbsoluteTime,
    CFDateGetTypeID, CFDateRef, CFRange, CFStringGetCharacters, CFStringGetLength, CFStringGetTypeID,
    CFStringRef, CFTypeRef, CFURLGetString, CFURLGetTypeID, CFURLRef,
};

/// The value as text, if it is a string with or without attributes; `None` if it is something else.
pub fn text(value: &CFType) -> Option<String> {
    units(value).map(|units| String::from_utf16_lossy(&units))
}

/// The UTF-16 units of a string with or without attributes; `None` if it is something else.
pub fn units(value: &CFType) -> Option<Vec<u16>> {
    // SAFETY: the function has no preconditions.
    if value.type_of() == unsafe { CFAttributedStringGetTypeID() } {
        let string = value.as_CFTypeRef() as CFAttributedStringRef;
        // SAFETY: it is an attributed string, which keeps its string alive.
        let plain = unsafe { value::retained(CFAttributedStringGetString(string) as CFTypeRef) };
        return plain.and_then(|plain| units_of_string(&plain));
    }
    units_of_string(value)
}

fn units_of_string(value: &CFType) -> Option<Vec<u16>> {
    // SAFETY: the function has no preconditions.
    if value.type_of() != unsafe { CFStringGetTypeID() } {
        return None;
    }
    let string = value.as_CFTypeRef() as CFStringRef;
    // SAFETY: it is a string that lives while `value` does.
    let length = unsafe { CFStringGetLength(string) };
    let mut units = vec![0_u16; usize::try_from(length).ok()?];
    if !units.is_empty() {
        // SAFETY: as above, and there is room for as many units as it has.
        unsafe { CFStringGetCharacters(string, CFRange { location: 0, length }, units.as_mut_ptr()) };
    }
    Some(units)
}

/// The address that a URL is; `None` if it is something else.
pub fn url(value: &CFType) -> Option<String> {
    // SAFETY: the function has no preconditions.
    if value.type_of() != unsafe { CFURLGetTypeID() } {
        return None;
    }
    // SAFETY: it is a URL, which keeps its string alive.
    let address = unsafe { value::retained(CFURLGetString(value.as_CFTypeRef() as CFURLRef) as CFTypeRef) };
    address.as_ref().and_then(text)
}

/// A date as text, in UTC; `None` if it is something else.
pub fn date(value: &CFType) -> Option<String> {
    // SAFETY: the function has no preconditions.
    if value.type_of() != unsafe { CFDateGetTypeID() } {
        return None;
    }
    // SAFETY: it is a date that lives while `value` does.
    written_date(unsafe { CFDateGetAbsoluteTime(value.as_CFTypeRef() as CFDateRef) })
}

/// The moment so many seconds after the beginning of 2001 in UTC; `None` if it is not within the years that have four digits.
fn written_date(seconds: f64) -> Option<String> {
    const DAY: i64 = 86_400;
    // From the first day of March of the year 0 to the beginning of 2001; March first, so that leap days are last.
    const DAYS_BEFORE: i64 = 730_791;
    const FOUR_CENTURIES: i64 = 146_097;
    if !(-6.3e10..2.5e11).contains(&seconds) {
        return None;
    }
    let seconds = seconds.floor() as i64;
    let (days, clock) = (seconds.div_euclid(DAY) + DAYS_BEFORE, seconds.rem_euclid(DAY));
    let (era, of_era) = (days.div_euclid(FOUR_CENTURIES), days.rem_euclid(FOUR_CENTURIES));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) =
        if month < 10 { (year + 400 * era, month + 3) } else { (year + 400 * era + 1, month - 9) };
    let (hours, minutes, seconds) = (clock / 3_600, clock / 60 % 60, clock % 60);
    Some(format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}Z"))
}

/// The text of a part that was read with one more unit at either end where there is one: `before` and `behind` say at which
/// ends. Such a unit is left out, unless it completes a character.
pub fn whole_characters(units: &[u16], before: bool, behind: bool) -> String {
    let mut units = units;
    if before && units.len() > 1 && !is_high(units[0]) {
        units = &units[1..];
    }
    if behind && units.len() > 1 && !is_high(units[units.len() - 2]) {
        units = &units[..units.len() - 1];
    }
    String::from_utf16_lossy(units)
}

/// Whether a unit is the first half of a character.
fn is_high(unit: u16) -> bool {
    (0xD800..0xDC00).contains(&unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_in_utc() {
        assert_eq!(written_date(0.0).as_deref(), Some("2001-01-01T00:00:00Z"));
        assert_eq!(written_date(-1.0).as_deref(), Some("2000-12-31T23:59:59Z"));
        assert_eq!(written_date(-978_307_200.0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(written_date(94_608_000.0 + 59.0 * 86_400.0).as_deref(), Some("2004-02-29T00:00:00Z"));
        assert_eq!(written_date(801_207_600.5).as_deref(), Some("2026-05-23T05:40:00Z"));
        assert_eq!(written_date(f64::NAN), None);
        assert_eq!(written_date(1e15), None);
    }

    #[test]
    fn a_part_ends_between_characters() {
        let units: Vec<u16> = "a😀b".encode_utf16().collect();
        assert_eq!(whole_characters(&units, false, false), "a😀b");
        assert_eq!(whole_characters(&units, true, true), "😀", "the letters were asked for in case");
        assert_eq!(whole_characters(&units[1..], true, false), "😀b", "it completes the emoji");
        assert_eq!(whole_characters(&units[2..], true, false), "b", "half an emoji is left out");
        assert_eq!(whole_characters(&units[..3], false, true), "a😀");
        assert_eq!(whole_characters(&units[..2], false, true), "a");
        assert_eq!(whole_characters(&[], true, true), "");
    }
}
