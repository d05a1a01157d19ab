//! An accessibility element as an owned value; the raw reference stays in this module.

use std::ffi::c_void;
use std::fmt;
use std::hash::{Hash, Hasher};

use core_foundation::array::CFArray;
use core_foundation::base::{CFType, TCFType};
use core_foundation::string::CFString;

use super::error::AxError;
use super::{guard, value};
use crate::ffi::ax::{
    _AXUIElementGetWindow, AXUIElementCopyActionNames, AXUIElementCopyAttributeValue,
    AXUIElementCopyAttributeValues, AXUIElementCopyElementAtPosition, AXUIElementCopyMultipleAttributeValues,
    AXUIElementCopyParameterizedAttributeValue, AXUIElementCreateApplication, AXUIElementCreateSystemWide,
    AXUIElementGetAttributeValueCount, AXUIElementGetPid, AXUIElementGetTypeID,
    AXUIElementIsAttributeSettable, AXUIElementPerformAction, AXUIElementRef, AXUIElementSetAttributeValue,
    AXUIElementSetMessagingTimeout,
};
use crate::ffi::cf::{CFArrayRef, CFHash, CFIndex, CFTypeRef};

/// An element of some app. Two are equal if CFEqual says so; their pointers may differ.
///
/// Calls that query the app block, at most for its messaging timeout.
#[derive(Clone, PartialEq)]
pub struct Element(CFType);

impl Eq for Element {}

impl Hash for Element {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // SAFETY: the object lives.
        state.write_usize(unsafe { CFHash(self.0.as_CFTypeRef()) });
    }
}

/// Prints only the process, because the native description would query the app.
impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Element(of {:?})", self.pid())
    }
}

impl Element {
    /// The root element of an app.
    pub fn app(pid: u32) -> Option<Element> {
        let pid = i32::try_from(pid).ok()?;
        // SAFETY: any value is allowed, and the returned reference is ours.
        unsafe { value::from_owned(AXUIElementCreateApplication(pid) as CFTypeRef) }.map(Element)
    }

    /// The system-wide element.
    pub fn system_wide() -> Option<Element> {
        // SAFETY: the returned reference is ours.
        unsafe { value::from_owned(AXUIElementCreateSystemWide() as CFTypeRef) }.map(Element)
    }

    /// Retains an element that somebody else owns.
    ///
    /// # Safety
    /// `raw` is null, or a living element.
    pub unsafe fn retained(raw: AXUIElementRef) -> Option<Element> {
        // SAFETY: guaranteed by the caller.
        unsafe { value::retained(raw as CFTypeRef) }.map(Element)
    }

    /// The value as an element; `None` if it is something else.
    pub fn from_value(value: &CFType) -> Option<Element> {
        // SAFETY: the function has no preconditions.
        (value.type_of() == unsafe { AXUIElementGetTypeID() }).then(|| Element(value.clone()))
    }

    /// The elements of an array; other values are left out.
    pub fn all_in(array: &CFType) -> Vec<Element> {
        value::array_items(array).iter().filter_map(Element::from_value).collect()
    }

    /// The element as a CoreFoundation value.
    pub fn as_value(&self) -> &CFType {
        &self.0
    }

    /// The raw reference, for a call; valid while `self` lives.
    pub(super) fn raw(&self) -> AXUIElementRef {
        self.0.as_CFTypeRef() as AXUIElementRef
    }

    /// The process it belongs to, without a call to it.
    pub fn pid(&self) -> Option<u32> {
        let mut pid = 0;
        // SAFETY: the element lives, and `pid` is writable.
        let error = unsafe { AXUIElementGetPid(self.raw(), &mut pid) };
        AxError::check(error).ok().and_then(|()| u32::try_from(pid).ok())
    }

    /// Limits how long calls to this element may take, in seconds; 0 restores the limit of the system-wide element.
    pub fn set_timeout(&self, seconds: f32) {
        // If this fails, the previous limit stays.
        // SAFETY: the element lives.
        let _ = guard::call(|| unsafe { AXUIElementSetMessagingTimeout(self.raw(), seconds) });
    }

    /// The value of an attribute; `None` if it has none.
    pub fn get(&self, attribute: &str) -> Result<Option<CFType>, AxError> {
        let name = CFString::new(attribute);
        let mut got: CFTypeRef = std::ptr::null();
        // SAFETY: element and name live, and `got` is writable.
        let error = guard::call(|| unsafe {
            AXUIElementCopyAttributeValue(self.raw(), name.as_concrete_TypeRef(), &mut got)
        });
        // SAFETY: it is null, or an object whose reference is ours.
        let got = unsafe { value::from_owned(got) };
        match AxError::check(error) {
            Ok(()) => Ok(got),
            Err(error) if error.is_no_value() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The values of several attributes, in their order, in one round trip.
    pub fn get_many(
        &self,
        names: &CFArray<CFString>,
    ) -> Result<Vec<Result<Option<CFType>, AxError>>, AxError> {
        let mut got: CFArrayRef = std::ptr::null();
        // SAFETY: element and names live, and `got` is writable.
        let error = guard::call(|| unsafe {
            AXUIElementCopyMultipleAttributeValues(self.raw(), names.as_concrete_TypeRef(), 0, &mut got)
        });
        // SAFETY: it is null, or an object whose reference is ours.
        let got = unsafe { value::from_owned_array(got) };
        AxError::check(error)?;
        Ok(got.into_iter().map(into_value).collect())
    }

    /// How many values an attribute has.
    pub fn count(&self, attribute: &str) -> Result<Option<usize>, AxError> {
        let name = CFString::new(attribute);
        let mut count: CFIndex = 0;
        // SAFETY: element and name live, and `count` is writable.
        let error = guard::call(|| unsafe {
            AXUIElementGetAttributeValueCount(self.raw(), name.as_concrete_TypeRef(), &mut count)
        });
        match AxError::check(error) {
            Ok(()) => Ok(usize::try_from(count).ok()),
            Err(error) if error.is_no_value() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Up to `most` elements of an attribute, from an index on.
    pub fn elements_from(&self, attribute: &str, from: usize, most: usize) -> Result<Vec<Element>, AxError> {
        let name = CFString::new(attribute);
        let (Ok(from), Ok(most)) = (CFIndex::try_from(from), CFIndex::try_from(most)) else {
            return Ok(Vec::new());
        };
        let mut got: CFArrayRef = std::ptr::null();
        // SAFETY: element and name live, and `got` is writable.
        let error = guard::call(|| unsafe {
            AXUIElementCopyAttributeValues(self.raw(), name.as_concrete_TypeRef(), from, most, &mut got)
        });
        // SAFETY: it is null, or an object whose reference is ours.
        let got = unsafe { value::from_owned_array(got) };
        match AxError::check(error) {
            Ok(()) => Ok(got.iter().filter_map(Element::from_value).collect()),
            Err(error) if error.is_no_value() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The elements of an attribute.
    pub fn elements(&self, attribute: &str) -> Result<Vec<Element>, AxError> {
        Ok(self.get(attribute)?.map(|value| Element::all_in(&value)).unwrap_or_default())
    }

    /// The element of an attribute.
    pub fn element(&self, attribute: &str) -> Result<Option<Element>, AxError> {
        Ok(self.get(attribute)?.and_then(|value| Element::from_value(&value)))
    }

    /// The text of an attribute.
    pub fn text(&self, attribute: &str) -> Result<Option<String>, AxError> {
        Ok(self.get(attribute)?.and_then(|value| value::text(&value)))
    }

    /// The boolean of an attribute.
    pub fn boolean(&self, attribute: &str) -> Result<Option<bool>, AxError> {
        Ok(self.get(attribute)?.and_then(|value| value::boolean(&value)))
    }

    /// The number of an attribute.
    pub fn number(&self, attribute: &str) -> Result<Option<f64>, AxError> {
        Ok(self.get(attribute)?.and_then(|value| value::number(&value)))
    }

    /// The value of a parameterized attribute: the text of a range, for example.
    pub fn get_parameterized(&self, attribute: &str, parameter: &CFType) -> Result<Option<CFType>, AxError> {
        let name = CFString::new(attribute);
        let mut got: CFTypeRef = std::ptr::null();
        // SAFETY: element, name and parameter live, and `got` is writable.
        let error = guard::call(|| unsafe {
            AXUIElementCopyParameterizedAttributeValue(
                self.raw(),
                name.as_concrete_TypeRef(),
                parameter.as_CFTypeRef(),
                &mut got,
            )
        });
        // SAFETY: it is null, or an object whose reference is ours.
        let got = unsafe { value::from_owned(got) };
        match AxError::check(error) {
            Ok(()) => Ok(got),
            Err(error) if error.is_no_value() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether an attribute can be set.
    pub fn is_settable(&self, attribute: &str) -> Result<bool, AxError> {
        let name = CFString::new(attribute);
        let mut settable = 0;
        // SAFETY: element and name live, and `settable` is writable.
        let error = guard::call(|| unsafe {
            AXUIElementIsAttributeSettable(self.raw(), name.as_concrete_TypeRef(), &mut settable)
        });
        match AxError::check(error) {
            Ok(()) => Ok(settable != 0),
            Err(error) if error.is_no_value() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Sets an attribute.
    pub fn set(&self, attribute: &str, value: &CFType) -> Result<(), AxError> {
        let name = CFString::new(attribute);
        // SAFETY: element, name and value live.
        AxError::check(guard::call(|| unsafe {
            AXUIElementSetAttributeValue(self.raw(), name.as_concrete_TypeRef(), value.as_CFTypeRef())
        }))
    }

    /// The names of its actions.
    pub fn actions(&self) -> Result<Vec<String>, AxError> {
        let mut names: CFArrayRef = std::ptr::null();
        // SAFETY: the element lives, and `names` is writable.
        let error = guard::call(|| unsafe { AXUIElementCopyActionNames(self.raw(), &mut names) });
        // SAFETY: it is null, or an object whose reference is ours.
        let names = unsafe { value::from_owned_array(names) };
        match AxError::check(error) {
            Ok(()) => Ok(names.iter().filter_map(value::text).collect()),
            Err(error) if error.is_no_value() => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Performs one of its actions.
    pub fn perform(&self, action: &str) -> Result<(), AxError> {
        let name = CFString::new(action);
        // SAFETY: element and name live.
        AxError::check(guard::call(|| unsafe {
            AXUIElementPerformAction(self.raw(), name.as_concrete_TypeRef())
        }))
    }

    /// The innermost element of this app at a point.
    pub fn hit_test(&self, x: f32, y: f32) -> Result<Option<Element>, AxError> {
        let mut found: AXUIElementRef = std::ptr::null_mut();
        // SAFETY: the element lives, and `found` is writable.
        let error = guard::call(|| unsafe { AXUIElementCopyElementAtPosition(self.raw(), x, y, &mut found) });
        // SAFETY: it is null, or an object whose reference is ours.
        let found = unsafe { value::from_owned(found as CFTypeRef) };
        match AxError::check(error) {
            Ok(()) => Ok(found.map(Element)),
            Err(error) if error.is_no_value() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The window server's id of a window.
    pub fn window_number(&self) -> Option<u64> {
        let mut number = 0;
        // SAFETY: the element lives, and `number` is writable.
        let error = guard::call(|| unsafe { _AXUIElementGetWindow(self.raw(), &mut number) });
        AxError::check(error).ok().filter(|()| number != 0).map(|()| u64::from(number))
    }
}

/// One value of a [`get_many`](Element::get_many) reply, in which an error stands in the place of a value.
fn into_value(value: CFType) -> Result<Option<CFType>, AxError> {
    match value::error(&value).map(AxError) {
        Some(error) if error.is_no_value() => Ok(None),
        Some(error) => Err(error),
        None => Ok(Some(value)),
    }
}

/// A list of attribute names for [`Element::get_many`].
pub fn attribute_names(attributes: &[&str]) -> CFArray<CFString> {
    let names: Vec<CFString> = attributes.iter().map(|name| CFString::new(name)).collect();
    CFArray::from_CFTypes(&names)
}

/// An id as a context pointer, which is never dereferenced.
pub fn context_pointer(number: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(number)
}
