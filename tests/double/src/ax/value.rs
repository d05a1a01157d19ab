//! AXValue: points, sizes, rectangles, ranges and errors.

use std::ffi::c_void;
use std::sync::Arc;

use super::attributes::Value;
use super::element::{element, element_of};
use super::error::Error;
use crate::cf::{self, Body, CFTypeRef, Foreign, ObjectKind, Owned};

/// What is in the box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Boxed {
    Point([f64; 2]),
    Size([f64; 2]),
    Rect([f64; 4]),
    Range([isize; 2]),
    Error(i32),
}

impl Boxed {
    fn kind(self) -> u32 {
        match self {
            Boxed::Point(_) => 1,
            Boxed::Size(_) => 2,
            Boxed::Rect(_) => 3,
            Boxed::Range(_) => 4,
            Boxed::Error(_) => 5,
        }
    }
}

impl Foreign for Boxed {
    fn equal(&self, other: &dyn Foreign) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref() == Some(self)
    }

    fn hash(&self) -> Option<u64> {
        Some(u64::from(self.kind()))
    }

    fn describe(&self) -> String {
        format!("{self:?}")
    }
}

fn boxed(value: Boxed, made_by: &'static str) -> Owned {
    cf::owned(ObjectKind::Value, Body::Foreign(Arc::new(value)), made_by)
}

/// The box of an error, as it stands in the place of a value that could not be read.
pub(super) fn boxed_error(error: Error, made_by: &'static str) -> Owned {
    boxed(Boxed::Error(error as i32), made_by)
}

/// A value as an object. Each time a new one, as everything is that comes over a message.
pub(super) fn object(pid: u32, value: &Value, made_by: &'static str) -> Owned {
    match value {
        Value::Truth(value) => cf::boolean(*value),
        Value::Integer(number) => cf::integer(*number, made_by),
        Value::Real(number) => cf::real(*number, made_by),
        Value::Text(text) => cf::string(text, made_by),
        Value::Attributed(text) => cf::holder_of_string(ObjectKind::AttributedString, text, made_by),
        Value::Url(text) => cf::holder_of_string(ObjectKind::Url, text, made_by),
        Value::Date(seconds) => cf::owned(ObjectKind::Date, Body::Date(*seconds), made_by),
        Value::Element(id) => element(pid, *id, made_by),
        Value::Elements(ids) => cf::array(ids.iter().map(|id| element(pid, *id, made_by)).collect(), made_by),
        Value::Abroad(pid, id) => element(*pid, *id, made_by),
        Value::Mixed(ids) => {
            cf::array(ids.iter().map(|(pid, id)| element(*pid, *id, made_by)).collect(), made_by)
        }
        Value::Point(x, y) => boxed(Boxed::Point([*x, *y]), made_by),
        Value::Size(width, height) => boxed(Boxed::Size([*width, *height]), made_by),
        Value::Rect(x, y, width, height) => boxed(Boxed::Rect([*x, *y, *width, *height]), made_by),
        Value::Range(start, count) => boxed(Boxed::Range([*start, *count]), made_by),
    }
}

/// What an object holds that somebody hands in.
pub(super) fn value_of(object: CFTypeRef, function: &'static str) -> Option<Value> {
    let kind = cf::CFGetTypeID(object);
    let is = |other: ObjectKind| kind == other as usize;
    Some(if is(ObjectKind::Boolean) {
        Value::Truth(cf::truth_of(object, function)?)
    } else if is(ObjectKind::Number) && cf::CFNumberIsFloatType(object) != 0 {
        Value::Real(cf::real_of(object, function)?)
    } else if is(ObjectKind::Number) {
        Value::Integer(cf::integer_of(object, function)?)
    } else if is(ObjectKind::String) {
        Value::Text(cf::text_of(object, function)?)
    } else if is(ObjectKind::Element) {
        Value::Element(element_of(object, function)?.id)
    } else if is(ObjectKind::Array) {
        let items = cf::items_of(object, function)?;
        let ids = items.into_iter().map(|item| Some(element_of(item, function)?.id));
        Value::Elements(ids.collect::<Option<Vec<_>>>()?)
    } else if is(ObjectKind::Value) {
        match *cf::foreign::<Boxed>(object, ObjectKind::Value, function)? {
            Boxed::Point([x, y]) => Value::Point(x, y),
            Boxed::Size([width, height]) => Value::Size(width, height),
            Boxed::Rect([x, y, width, height]) => Value::Rect(x, y, width, height),
            Boxed::Range([start, count]) => Value::Range(start, count),
            Boxed::Error(_) => return None,
        }
    } else {
        return None;
    })
}

/// `AXValueGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn AXValueGetTypeID() -> usize {
    ObjectKind::Value as usize
}

/// `AXValueCreate`.
///
/// # Safety
/// The value is of the type that is named.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn AXValueCreate(kind: u32, value: *const c_void) -> CFTypeRef {
    if value.is_null() {
        return std::ptr::null();
    }
    // SAFETY: as above.
    let value = unsafe {
        match kind {
            1 => Boxed::Point(value.cast::<[f64; 2]>().read_unaligned()),
            2 => Boxed::Size(value.cast::<[f64; 2]>().read_unaligned()),
            3 => Boxed::Rect(value.cast::<[f64; 4]>().read_unaligned()),
            4 => Boxed::Range(value.cast::<[isize; 2]>().read_unaligned()),
            5 => Boxed::Error(value.cast::<i32>().read_unaligned()),
            _ => return std::ptr::null(),
        }
    };
    boxed(value, "AXValueCreate").give()
}

/// `AXValueGetType`.
#[unsafe(no_mangle)]
pub extern "C" fn AXValueGetType(value: CFTypeRef) -> u32 {
    cf::foreign::<Boxed>(value, ObjectKind::Value, "AXValueGetType").map_or(0, |value| value.kind())
}

/// `AXValueGetValue`: false if another type is asked for than is in the box.
///
/// # Safety
/// There is room for a value of the type that is named.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn AXValueGetValue(value: CFTypeRef, kind: u32, into: *mut c_void) -> bool {
    let Some(value) = cf::foreign::<Boxed>(value, ObjectKind::Value, "AXValueGetValue") else { return false };
    if value.kind() != kind || into.is_null() {
        return false;
    }
    // SAFETY: as above.
    unsafe {
        match *value {
            Boxed::Point(pair) | Boxed::Size(pair) => into.cast::<[f64; 2]>().write_unaligned(pair),
            Boxed::Rect(four) => into.cast::<[f64; 4]>().write_unaligned(four),
            Boxed::Range(pair) => into.cast::<[isize; 2]>().write_unaligned(pair),
            Boxed::Error(error) => into.cast::<i32>().write_unaligned(error),
        }
    }
    true
}
