//! CoreFoundation values to Rust's types and back.

use std::ffi::c_void;

use axd_protocol::{Bounds, Point};
use core_foundation::base::{CFType, TCFType};
use core_foundation::boolean::CFBoolean;
use core_foundation::number::CFNumber;
use core_foundation::string::CFString;

use crate::ffi::ax::{
    AXError, AXValueCreate, AXValueGetType, AXValueGetTypeID, AXValueGetValue, AXValueRef, AXValueType,
    kAXValueTypeAXError, kAXValueTypeCFRange, kAXValueTypeCGPoint, kAXValueTypeCGRect, kAXValueTypeCGSize,
};
use crate::ffi::cf::{
    CFArrayGetCount, CFArrayGetValueAtIndex, CFArrayRef, CFDictionaryGetValueIfPresent, CFDictionaryRef,
    CFRange, CFTypeRef,
};
use crate::ffi::cg::{CGPoint, CGRect, CGSize};

pub use super::text::text;

/// Takes ownership of a value that a Copy or Create function returned.
///
/// # Safety
/// `value` is null, or a CoreFoundation object with a reference that the caller gives away.
pub unsafe fn from_owned(value: CFTypeRef) -> Option<CFType> {
    // SAFETY: it is not null, and the reference is ours.
    (!value.is_null()).then(|| unsafe { CFType::wrap_under_create_rule(value) })
}

/// Retains a value that somebody else owns.
///
/// # Safety
/// `value` is null, or a living CoreFoundation object.
pub unsafe fn retained(value: CFTypeRef) -> Option<CFType> {
    // SAFETY: it is not null and alive, so that it can be retained.
    (!value.is_null()).then(|| unsafe { CFType::wrap_under_get_rule(value) })
}

/// The items of an array, of which this takes ownership.
///
/// # Safety
/// As for [`from_owned`], and what it points to is an array of CoreFoundation objects.
pub unsafe fn from_owned_array(array: CFArrayRef) -> Vec<CFType> {
    // SAFETY: guaranteed by the caller.
    let Some(array) = (unsafe { from_owned(array as CFTypeRef) }) else { return Vec::new() };
    array_items(&array)
}

/// The items of an array; empty if the value is something else.
pub fn array_items(array: &CFType) -> Vec<CFType> {
    if !array.instance_of::<core_foundation::array::CFArray>() {
        return Vec::new();
    }
    let raw = array.as_CFTypeRef() as CFArrayRef;
    // SAFETY: it is an array, and lives as long as `array` is borrowed.
    let count = unsafe { CFArrayGetCount(raw) };
    let each = |at| {
        // SAFETY: the index is in range, and an array keeps its items alive.
        unsafe { retained(CFArrayGetValueAtIndex(raw, at)) }
    };
    (0..count).filter_map(each).collect()
}

/// The value of a key in a dictionary.
///
/// # Safety
/// `dictionary` is null, or a living dictionary of CoreFoundation objects.
pub unsafe fn lookup(dictionary: CFDictionaryRef, key: &CFString) -> Option<CFType> {
    if dictionary.is_null() {
        return None;
    }
    let mut value: *const c_void = std::ptr::null();
    // SAFETY: the dictionary lives, the key is an object, and `value` is writable.
    let found = unsafe { CFDictionaryGetValueIfPresent(dictionary, key.as_CFTypeRef(), &mut value) };
    // SAFETY: a dictionary keeps its values alive.
    if found != 0 { unsafe { retained(value) } } else { None }
}

/// The value as a number; `None` if it is something else, also for a boolean.
pub fn number(value: &CFType) -> Option<f64> {
    value.downcast::<CFNumber>()?.to_f64()
}

/// The value as a boolean; a number is true unless it is 0.
pub fn boolean(value: &CFType) -> Option<bool> {
    let plain = value.downcast::<CFBoolean>().map(bool::from);
    plain.or_else(|| number(value).map(|number| number != 0.0))
}

/// Text as a value.
pub fn from_text(text: &str) -> CFType {
    CFString::new(text).into_CFType()
}

/// A number as a value: an integer if it has no fraction.
pub fn from_number(number: f64) -> CFType {
    // Above 2^53 a float does not represent every integer.
    if number.fract() == 0.0 && number.abs() < 9e15 {
        CFNumber::from(number as i64).into_CFType()
    } else {
        CFNumber::from(number).into_CFType()
    }
}

/// A boolean as a value.
pub fn from_bool(boolean: bool) -> CFType {
    CFBoolean::from(boolean).into_CFType()
}

/// A type that an AXValue can wrap.
trait AxValueKind: Copy + Default {
    const KIND: AXValueType;
}

#[derive(Clone, Copy, Default)]
struct ErrorCode(AXError);

/// A range of a text, in UTF-16 units.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextRange {
    /// The first unit.
    pub location: isize,
    /// The number of units.
    pub length: isize,
}

impl TextRange {
    /// A range of units.
    pub fn of(units: std::ops::Range<usize>) -> TextRange {
        let number = |units: usize| isize::try_from(units).unwrap_or(isize::MAX);
        TextRange { location: number(units.start), length: number(units.len()) }
    }

    /// The units; `None` if there are none: a range that says that nothing was found has an absurd location.
    pub fn units(self) -> Option<std::ops::Range<usize>> {
        let start = usize::try_from(self.location).ok()?;
        Some(start..start.checked_add(usize::try_from(self.length).ok()?)?)
    }
}

// It replaces CFRange, which does not implement `Default`.
const _: () = assert!(size_of::<TextRange>() == size_of::<CFRange>());

impl AxValueKind for CGPoint {
    const KIND: AXValueType = kAXValueTypeCGPoint;
}
impl AxValueKind for CGSize {
    const KIND: AXValueType = kAXValueTypeCGSize;
}
impl AxValueKind for CGRect {
    const KIND: AXValueType = kAXValueTypeCGRect;
}
impl AxValueKind for TextRange {
    const KIND: AXValueType = kAXValueTypeCFRange;
}
impl AxValueKind for ErrorCode {
    const KIND: AXValueType = kAXValueTypeAXError;
}

fn from_ax_value<T: AxValueKind>(value: &CFType) -> Option<T> {
    // SAFETY: the function has no preconditions.
    if value.type_of() != unsafe { AXValueGetTypeID() } {
        return None;
    }
    let raw = value.as_CFTypeRef() as AXValueRef;
    let mut into = T::default();
    // SAFETY: it is an AXValue that lives while `value` does, and `into` is of the type that is requested.
    let got = unsafe {
        AXValueGetType(raw) == T::KIND && AXValueGetValue(raw, T::KIND, (&raw mut into).cast::<c_void>())
    };
    got.then_some(into)
}

fn to_ax_value<T: AxValueKind>(value: T) -> Option<CFType> {
    // SAFETY: `value` is of the type that is named, and the returned reference is ours.
    unsafe { from_owned(AXValueCreate(T::KIND, (&raw const value).cast::<c_void>()) as CFTypeRef) }
}

/// The value as a point.
pub fn point(value: &CFType) -> Option<CGPoint> {
    from_ax_value(value)
}

/// The value as a size.
pub fn size(value: &CFType) -> Option<CGSize> {
    from_ax_value(value)
}

/// The value as a rectangle.
pub fn rect(value: &CFType) -> Option<CGRect> {
    from_ax_value(value)
}

/// The value as a range of text.
pub fn range(value: &CFType) -> Option<TextRange> {
    from_ax_value(value)
}

/// The error that stands in the place of a value.
pub fn error(value: &CFType) -> Option<AXError> {
    from_ax_value::<ErrorCode>(value).map(|ErrorCode(error)| error)
}

/// A point as a value.
pub fn from_point(point: CGPoint) -> Option<CFType> {
    to_ax_value(point)
}

/// A size as a value.
pub fn from_size(size: CGSize) -> Option<CFType> {
    to_ax_value(size)
}

/// A range of text as a value.
pub fn from_range(range: TextRange) -> Option<CFType> {
    to_ax_value(range)
}

/// A point of the desktop as a CGPoint.
pub fn to_cg_point(point: Point) -> CGPoint {
    CGPoint { x: f64::from(point.x), y: f64::from(point.y) }
}

/// A rectangle of the desktop in whole points; `None` if it is not finite or absurdly large.
pub fn to_bounds(rect: CGRect) -> Option<Bounds> {
    let numbers = [rect.origin.x, rect.origin.y, rect.size.width, rect.size.height];
    if numbers.iter().any(|number| !number.is_finite() || number.abs() > 1e6) {
        return None;
    }
    // Edges are rounded, not sizes, so that rectangles that touch still touch.
    let (left, top) = (rect.origin.x.round(), rect.origin.y.round());
    let right = (rect.origin.x + rect.size.width).round();
    let bottom = (rect.origin.y + rect.size.height).round();
    Some(Bounds {
        x: left as i32,
        y: top as i32,
        width: (right - left) as i32,
        height: (bottom - top) as i32,
    })
}
