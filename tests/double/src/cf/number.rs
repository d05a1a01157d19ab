//! Numbers, booleans and dates.

use std::ffi::c_void;
use std::hash::{Hash, Hasher};
use std::time::{SystemTime, UNIX_EPOCH};

use super::object::{Body, CFTypeRef, Constant, Object, ObjectKind, Owned, owned, with};

/// A number, in the type it was created with.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    Integer(i64),
    Real(f64),
}

impl Number {
    pub(crate) fn real(self) -> f64 {
        match self {
            Number::Integer(number) => number as f64,
            Number::Real(number) => number,
        }
    }

    pub(crate) fn integer(self) -> i64 {
        match self {
            Number::Integer(number) => number,
            Number::Real(number) => number as i64,
        }
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Number) -> bool {
        match (self, other) {
            (Number::Integer(a), Number::Integer(b)) => a == b,
            _ => self.real() == other.real(),
        }
    }
}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal numbers have equal hashes, however they were put in.
        self.real().to_bits().hash(state);
    }
}

static TRUE: Object = Object::constant(ObjectKind::Boolean, Body::Boolean(true));
static FALSE: Object = Object::constant(ObjectKind::Boolean, Body::Boolean(false));

/// `kCFBooleanTrue`.
#[unsafe(no_mangle)]
pub static kCFBooleanTrue: Constant = Constant(&raw const TRUE);
/// `kCFBooleanFalse`.
#[unsafe(no_mangle)]
pub static kCFBooleanFalse: Constant = Constant(&raw const FALSE);

/// An integer as an object.
pub(crate) fn integer(number: i64, made_by: &'static str) -> Owned {
    owned(ObjectKind::Number, Body::Number(Number::Integer(number)), made_by)
}

/// A float as an object.
pub(crate) fn real(number: f64, made_by: &'static str) -> Owned {
    owned(ObjectKind::Number, Body::Number(Number::Real(number)), made_by)
}

/// A boolean as an object.
pub(crate) fn boolean(value: bool) -> Owned {
    let constant: *const Object = if value { &raw const TRUE } else { &raw const FALSE };
    // SAFETY: constants need no retain.
    unsafe { Owned::taken(constant.cast()) }
}

fn number_of(number: CFTypeRef, function: &'static str) -> Option<Number> {
    let found = with(number, ObjectKind::Number, function, |body| match body {
        Body::Number(number) => Some(*number),
        _ => None,
    });
    found.flatten()
}

/// The value of a number; `None` for any other object, which is reported.
pub(crate) fn real_of(number: CFTypeRef, function: &'static str) -> Option<f64> {
    number_of(number, function).map(Number::real)
}

/// The value of an integer; `None` for any other object, which is reported.
pub(crate) fn integer_of(number: CFTypeRef, function: &'static str) -> Option<i64> {
    number_of(number, function).map(Number::integer)
}

/// The value of a boolean.
pub(crate) fn truth_of(value: CFTypeRef, function: &'static str) -> Option<bool> {
    let found = with(value, ObjectKind::Boolean, function, |body| match body {
        Body::Boolean(value) => Some(*value),
        _ => None,
    });
    found.flatten()
}

/// `CFNumberGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFNumberGetTypeID() -> usize {
    ObjectKind::Number as usize
}

/// `CFNumberCreate`.
///
/// # Safety
/// The value is of the type that is named.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFNumberCreate(_allocator: CFTypeRef, kind: u32, value: *const c_void) -> CFTypeRef {
    if value.is_null() {
        return std::ptr::null();
    }
    // SAFETY: as above.
    let number = unsafe {
        match kind {
            1 | 7 => Number::Integer(i64::from(value.cast::<i8>().read_unaligned())),
            2 | 8 => Number::Integer(i64::from(value.cast::<i16>().read_unaligned())),
            3 | 9 => Number::Integer(i64::from(value.cast::<i32>().read_unaligned())),
            4 | 10 | 11 | 14 | 15 => Number::Integer(value.cast::<i64>().read_unaligned()),
            5 | 12 => Number::Real(f64::from(value.cast::<f32>().read_unaligned())),
            6 | 13 | 16 => Number::Real(value.cast::<f64>().read_unaligned()),
            _ => return std::ptr::null(),
        }
    };
    owned(ObjectKind::Number, Body::Number(number), "CFNumberCreate").give()
}

/// `CFNumberGetValue`: false if something was lost.
///
/// # Safety
/// There is room for a value of the type that is named.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFNumberGetValue(number: CFTypeRef, kind: u32, into: *mut c_void) -> u8 {
    let Some(found) = number_of(number, "CFNumberGetValue") else { return 0 };
    if into.is_null() {
        return 0;
    }
    let (whole, real) = (found.integer(), found.real());
    // SAFETY: as above.
    let kept = unsafe {
        match kind {
            1 | 7 => {
                into.cast::<i8>().write_unaligned(whole as i8);
                f64::from(whole as i8)
            }
            2 | 8 => {
                into.cast::<i16>().write_unaligned(whole as i16);
                f64::from(whole as i16)
            }
            3 | 9 => {
                into.cast::<i32>().write_unaligned(whole as i32);
                f64::from(whole as i32)
            }
            4 | 10 | 11 | 14 | 15 => {
                into.cast::<i64>().write_unaligned(whole);
                whole as f64
            }
            5 | 12 => {
                into.cast::<f32>().write_unaligned(real as f32);
                f64::from(real as f32)
            }
            6 | 13 | 16 => {
                into.cast::<f64>().write_unaligned(real);
                real
            }
            _ => return 0,
        }
    };
    u8::from(kept == real)
}

/// `CFNumberIsFloatType`.
#[unsafe(no_mangle)]
pub extern "C" fn CFNumberIsFloatType(number: CFTypeRef) -> u8 {
    u8::from(matches!(number_of(number, "CFNumberIsFloatType"), Some(Number::Real(_))))
}

/// `CFNumberGetType`.
#[unsafe(no_mangle)]
pub extern "C" fn CFNumberGetType(number: CFTypeRef) -> u32 {
    match number_of(number, "CFNumberGetType") {
        Some(Number::Real(_)) => 6,
        Some(Number::Integer(_)) => 4,
        None => 0,
    }
}

/// `CFBooleanGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFBooleanGetTypeID() -> usize {
    ObjectKind::Boolean as usize
}

/// `CFBooleanGetValue`.
#[unsafe(no_mangle)]
pub extern "C" fn CFBooleanGetValue(value: CFTypeRef) -> u8 {
    u8::from(truth_of(value, "CFBooleanGetValue") == Some(true))
}

/// `CFAbsoluteTimeGetCurrent`: seconds since the first of January 2001.
#[unsafe(no_mangle)]
pub extern "C" fn CFAbsoluteTimeGetCurrent() -> f64 {
    const FROM_1970_TO_2001: f64 = 978_307_200.0;
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64()) - FROM_1970_TO_2001
}

/// `CFDateGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDateGetTypeID() -> usize {
    ObjectKind::Date as usize
}

/// `CFDateCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDateCreate(_allocator: CFTypeRef, seconds: f64) -> CFTypeRef {
    owned(ObjectKind::Date, Body::Date(seconds), "CFDateCreate").give()
}

/// `CFDateGetAbsoluteTime`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDateGetAbsoluteTime(date: CFTypeRef) -> f64 {
    let seconds = with(date, ObjectKind::Date, "CFDateGetAbsoluteTime", |body| match body {
        Body::Date(seconds) => *seconds,
        _ => 0.0,
    });
    seconds.unwrap_or(0.0)
}
