//! The C functions as tests call them, with owned results.
#![allow(dead_code, missing_docs)]

use std::ffi::c_void;

use axd_double::ax::Error;
use axd_double::cg::CGPoint;
use core_foundation::array::CFArray;
use core_foundation::base::{CFType, TCFType};
use core_foundation::number::CFNumber;
use core_foundation::string::CFString;
use core_foundation_sys::array::CFArrayRef;
use core_foundation_sys::base::CFTypeRef;
use core_foundation_sys::dictionary::CFDictionaryRef;
use core_foundation_sys::runloop::CFRunLoopSourceRef;
use core_foundation_sys::string::CFStringRef;

pub type Callback = extern "C" fn(CFTypeRef, CFTypeRef, CFStringRef, CFDictionaryRef, *mut c_void);

unsafe extern "C" {
    fn AXUIElementCreateApplication(pid: i32) -> CFTypeRef;
    fn AXUIElementCreateSystemWide() -> CFTypeRef;
    fn AXUIElementCopyAttributeValue(element: CFTypeRef, name: CFStringRef, value: *mut CFTypeRef) -> i32;
    fn AXUIElementCopyAttributeNames(element: CFTypeRef, names: *mut CFArrayRef) -> i32;
    fn AXUIElementCopyMultipleAttributeValues(
        element: CFTypeRef,
        names: CFArrayRef,
        options: u32,
        values: *mut CFArrayRef,
    ) -> i32;
    fn AXUIElementGetAttributeValueCount(element: CFTypeRef, name: CFStringRef, count: *mut isize) -> i32;
    fn AXUIElementSetAttributeValue(element: CFTypeRef, name: CFStringRef, value: CFTypeRef) -> i32;
    fn AXUIElementIsAttributeSettable(element: CFTypeRef, name: CFStringRef, settable: *mut u8) -> i32;
    fn AXUIElementCopyActionNames(element: CFTypeRef, names: *mut CFArrayRef) -> i32;
    fn AXUIElementPerformAction(element: CFTypeRef, action: CFStringRef) -> i32;
    fn AXUIElementSetMessagingTimeout(element: CFTypeRef, seconds: f32) -> i32;
    fn AXValueCreate(kind: u32, value: *const c_void) -> CFTypeRef;
    fn AXValueGetType(value: CFTypeRef) -> u32;
    fn AXValueGetTypeID() -> usize;
    fn AXValueGetValue(value: CFTypeRef, kind: u32, into: *mut c_void) -> bool;
    fn AXObserverCreateWithInfoCallback(pid: i32, callback: Callback, observer: *mut CFTypeRef) -> i32;
    fn AXObserverAddNotification(
        observer: CFTypeRef,
        element: CFTypeRef,
        name: CFStringRef,
        context: *mut c_void,
    ) -> i32;
    fn AXObserverRemoveNotification(observer: CFTypeRef, element: CFTypeRef, name: CFStringRef) -> i32;
    fn CGEventCreateKeyboardEvent(source: CFTypeRef, key: u16, down: bool) -> CFTypeRef;
    fn CGEventCreateMouseEvent(source: CFTypeRef, number: u32, at: CGPoint, button: u32) -> CFTypeRef;
    fn CGEventKeyboardSetUnicodeString(event: CFTypeRef, count: usize, units: *const u16);
    fn CGEventPost(tap: u32, event: CFTypeRef);
    fn CGEventPostToPid(pid: i32, event: CFTypeRef);
    fn CGEventSourceKeyState(state: i32, key: u16) -> bool;
    fn AXObserverGetRunLoopSource(observer: CFTypeRef) -> CFRunLoopSourceRef;
}

fn result<T>(code: i32, found: impl FnOnce() -> T) -> Result<T, Error> {
    match code {
        0 => Ok(found()),
        code => Err(*Error::ALL.iter().find(|error| **error as i32 == code).expect("an AXError")),
    }
}

/// An element.
#[derive(Clone, PartialEq)]
pub struct Element(pub CFType);

impl Element {
    pub fn app(pid: u32) -> Element {
        // SAFETY: what is created is owned.
        Element(unsafe { CFType::wrap_under_create_rule(AXUIElementCreateApplication(pid as i32)) })
    }

    pub fn system_wide() -> Element {
        // SAFETY: what is created is owned.
        Element(unsafe { CFType::wrap_under_create_rule(AXUIElementCreateSystemWide()) })
    }

    pub fn raw(&self) -> CFTypeRef {
        self.0.as_CFTypeRef()
    }

    pub fn get(&self, name: &str) -> Result<CFType, Error> {
        let (name, mut value) = (CFString::new(name), std::ptr::null());
        // SAFETY: both live, and the copy is owned.
        unsafe {
            let code = AXUIElementCopyAttributeValue(self.raw(), name.as_concrete_TypeRef(), &raw mut value);
            result(code, || CFType::wrap_under_create_rule(value))
        }
    }

    pub fn text(&self, name: &str) -> String {
        let found = self.get(name).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        found.downcast::<CFString>().expect("a string").to_string()
    }

    pub fn number(&self, name: &str) -> f64 {
        let found = self.get(name).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        found.downcast::<CFNumber>().expect("a number").to_f64().expect("a number")
    }

    pub fn elements(&self, name: &str) -> Vec<Element> {
        let found = self.get(name).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        items(&found.downcast::<CFArray>().expect("an array")).into_iter().map(Element).collect()
    }

    pub fn names(&self) -> Result<Vec<String>, Error> {
        let mut names = std::ptr::null();
        // SAFETY: it lives, and the copy is owned.
        let array = unsafe {
            let code = AXUIElementCopyAttributeNames(self.raw(), &raw mut names);
            result(code, || CFArray::wrap_under_create_rule(names))?
        };
        Ok(texts(&array))
    }

    /// Reads several attributes at once.
    pub fn many(&self, names: &[&str]) -> Result<Vec<CFType>, Error> {
        let names: Vec<CFString> = names.iter().map(|name| CFString::new(name)).collect();
        let (names, mut values) = (CFArray::from_CFTypes(&names), std::ptr::null());
        // SAFETY: both live, and the copy is owned.
        unsafe {
            let names = names.as_concrete_TypeRef();
            let code = AXUIElementCopyMultipleAttributeValues(self.raw(), names, 0, &raw mut values);
            result(code, || items(&CFArray::wrap_under_create_rule(values)))
        }
    }

    pub fn count(&self, name: &str) -> Result<isize, Error> {
        let (name, mut count) = (CFString::new(name), 0);
        // SAFETY: both live.
        let code = unsafe {
            AXUIElementGetAttributeValueCount(self.raw(), name.as_concrete_TypeRef(), &raw mut count)
        };
        result(code, || count)
    }

    pub fn set(&self, name: &str, value: &CFType) -> Result<(), Error> {
        let name = CFString::new(name);
        // SAFETY: all live.
        let code = unsafe {
            AXUIElementSetAttributeValue(self.raw(), name.as_concrete_TypeRef(), value.as_CFTypeRef())
        };
        result(code, || ())
    }

    pub fn is_settable(&self, name: &str) -> Result<bool, Error> {
        let (name, mut settable) = (CFString::new(name), 0);
        // SAFETY: both live.
        let code = unsafe {
            AXUIElementIsAttributeSettable(self.raw(), name.as_concrete_TypeRef(), &raw mut settable)
        };
        result(code, || settable != 0)
    }

    pub fn actions(&self) -> Vec<String> {
        let mut names = std::ptr::null();
        // SAFETY: it lives, and the copy is owned.
        let array = unsafe {
            assert_eq!(AXUIElementCopyActionNames(self.raw(), &raw mut names), 0);
            CFArray::wrap_under_create_rule(names)
        };
        texts(&array)
    }

    pub fn perform(&self, action: &str) -> Result<(), Error> {
        let action = CFString::new(action);
        // SAFETY: both live.
        result(unsafe { AXUIElementPerformAction(self.raw(), action.as_concrete_TypeRef()) }, || ())
    }

    pub fn set_timeout(&self, seconds: f32) {
        // SAFETY: it lives.
        assert_eq!(unsafe { AXUIElementSetMessagingTimeout(self.raw(), seconds) }, 0);
    }

    /// All elements from here on down, each once.
    pub fn walk(&self) -> Vec<Element> {
        let (mut all, mut waiting) = (Vec::new(), vec![self.clone()]);
        while let Some(element) = waiting.pop() {
            waiting.extend(element.elements("AXChildren").into_iter().rev());
            all.push(element);
        }
        all
    }

    /// The first element with this identifier.
    pub fn find(&self, identifier: &str) -> Element {
        let is_it = |element: &Element| {
            element
                .get("AXIdentifier")
                .is_ok_and(|found| found.downcast::<CFString>().is_some_and(|found| found == identifier))
        };
        self.walk().into_iter().find(is_it).unwrap_or_else(|| panic!("no {identifier}"))
    }
}

pub fn items(array: &CFArray) -> Vec<CFType> {
    // SAFETY: the array's items are objects, and are retained.
    array.iter().map(|item| unsafe { CFType::wrap_under_get_rule(*item) }).collect()
}

fn texts(array: &CFArray) -> Vec<String> {
    items(array).iter().map(|item| item.downcast::<CFString>().expect("a string").to_string()).collect()
}

/// An AXValue of two numbers: a point is of kind 1, a size of kind 2.
pub fn boxed(kind: u32, pair: [f64; 2]) -> CFType {
    // SAFETY: both kinds are two numbers, and what is created is owned.
    unsafe { CFType::wrap_under_create_rule(AXValueCreate(kind, pair.as_ptr().cast())) }
}

/// The two numbers of an AXValue.
pub fn unboxed(value: &CFType) -> [f64; 2] {
    let mut pair = [0.0; 2];
    // SAFETY: it lives, and there is room for two numbers.
    unsafe {
        let kind = AXValueGetType(value.as_CFTypeRef());
        assert!(matches!(kind, 1 | 2), "it is of kind {kind}");
        assert!(AXValueGetValue(value.as_CFTypeRef(), kind, pair.as_mut_ptr().cast()));
    }
    pair
}

/// The error in the place of a value.
pub fn boxed_error(value: &CFType) -> Option<Error> {
    // SAFETY: it lives, and there is room for an error.
    unsafe {
        if value.type_of() != AXValueGetTypeID() || AXValueGetType(value.as_CFTypeRef()) != 5 {
            return None;
        }
        let mut code = 0i32;
        assert!(AXValueGetValue(value.as_CFTypeRef(), 5, (&raw mut code).cast()));
        Error::ALL.iter().copied().find(|error| *error as i32 == code)
    }
}

/// An observer.
pub struct Observer(pub CFType);

impl Observer {
    pub fn new(pid: u32, callback: Callback) -> Result<Observer, Error> {
        let mut observer = std::ptr::null();
        // SAFETY: what is created is owned.
        unsafe {
            let code = AXObserverCreateWithInfoCallback(pid as i32, callback, &raw mut observer);
            result(code, || Observer(CFType::wrap_under_create_rule(observer)))
        }
    }

    pub fn add(&self, element: &Element, name: &str, context: *mut c_void) -> Result<(), Error> {
        let name = CFString::new(name);
        // SAFETY: all live.
        let code = unsafe {
            AXObserverAddNotification(
                self.0.as_CFTypeRef(),
                element.raw(),
                name.as_concrete_TypeRef(),
                context,
            )
        };
        result(code, || ())
    }

    pub fn remove(&self, element: &Element, name: &str) -> Result<(), Error> {
        let name = CFString::new(name);
        // SAFETY: all live.
        let code = unsafe {
            AXObserverRemoveNotification(self.0.as_CFTypeRef(), element.raw(), name.as_concrete_TypeRef())
        };
        result(code, || ())
    }

    pub fn source(&self) -> CFRunLoopSourceRef {
        // SAFETY: it lives.
        unsafe { AXObserverGetRunLoopSource(self.0.as_CFTypeRef()) }
    }
}

/// An event that is not posted yet.
pub struct Event(CFType);

impl Event {
    pub fn key(code: u16, down: bool) -> Event {
        // SAFETY: an event of no source is allowed, and what is created is owned.
        unsafe {
            Event(CFType::wrap_under_create_rule(CGEventCreateKeyboardEvent(std::ptr::null(), code, down)))
        }
    }

    pub fn mouse(number: u32, at: CGPoint) -> Event {
        // SAFETY: as above.
        unsafe {
            Event(CFType::wrap_under_create_rule(CGEventCreateMouseEvent(std::ptr::null(), number, at, 0)))
        }
    }

    #[must_use]
    pub fn typing(self, text: &str) -> Event {
        let units: Vec<u16> = text.encode_utf16().collect();
        // SAFETY: the event lives, and there are as many units as is said.
        unsafe { CGEventKeyboardSetUnicodeString(self.0.as_CFTypeRef(), units.len(), units.as_ptr()) };
        self
    }

    pub fn post(&self) {
        // SAFETY: it lives.
        unsafe { CGEventPost(0, self.0.as_CFTypeRef()) };
    }

    pub fn post_to(&self, pid: u32) {
        // SAFETY: it lives.
        unsafe { CGEventPostToPid(pid as i32, self.0.as_CFTypeRef()) };
    }
}

/// Whether a key is down in the state of the hardware.
pub fn is_key_down(code: u16) -> bool {
    // SAFETY: any number will do.
    unsafe { CGEventSourceKeyState(1, code) }
}
