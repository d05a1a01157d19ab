//! Arrays and data.

use super::object::{
    Body, CFEqual, CFRelease, CFRetain, CFTypeRef, ObjectKind, Owned, owned, with, with_mut,
};
use crate::ledger::{self, MisuseKind};

type RetainItem = unsafe extern "C" fn(CFTypeRef, CFTypeRef) -> CFTypeRef;
type ReleaseItem = unsafe extern "C" fn(CFTypeRef, CFTypeRef);
type EqualItems = unsafe extern "C" fn(CFTypeRef, CFTypeRef) -> u8;

/// The callbacks of a container for its items, as C callers pass them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ItemCallbacks {
    version: isize,
    retain: Option<RetainItem>,
    release: Option<ReleaseItem>,
    describe: Option<unsafe extern "C" fn(CFTypeRef) -> CFTypeRef>,
    equal: Option<EqualItems>,
}

impl ItemCallbacks {
    const PLAIN: ItemCallbacks =
        ItemCallbacks { version: 0, retain: None, release: None, describe: None, equal: None };

    /// For containers of objects.
    pub(super) const OBJECTS: ItemCallbacks = ItemCallbacks {
        version: 0,
        retain: Some(retain_item),
        release: Some(release_item),
        describe: None,
        equal: Some(equal_items),
    };

    /// The callbacks that a C caller passes; without any, items are neither retained nor released.
    pub(super) fn at(callbacks: *const ItemCallbacks) -> ItemCallbacks {
        // SAFETY: C callers hand in callbacks or none.
        if callbacks.is_null() { ItemCallbacks::PLAIN } else { unsafe { *callbacks } }
    }

    pub(super) fn hold(&self, item: CFTypeRef) -> Item {
        if let Some(retain) = self.retain {
            // SAFETY: the callbacks are for such items.
            unsafe { retain(std::ptr::null(), item) };
        }
        Item { pointer: item, release: self.release }
    }

    pub(super) fn equal(&self, a: CFTypeRef, b: CFTypeRef) -> bool {
        // SAFETY: the callbacks are for such items.
        a == b || self.equal.is_some_and(|equal| unsafe { equal(a, b) } != 0)
    }
}

/// The callbacks of arrays of objects.
#[unsafe(no_mangle)]
pub static kCFTypeArrayCallBacks: ItemCallbacks = ItemCallbacks::OBJECTS;

unsafe extern "C" fn retain_item(_allocator: CFTypeRef, item: CFTypeRef) -> CFTypeRef {
    CFRetain(item)
}

unsafe extern "C" fn release_item(_allocator: CFTypeRef, item: CFTypeRef) {
    CFRelease(item);
}

unsafe extern "C" fn equal_items(a: CFTypeRef, b: CFTypeRef) -> u8 {
    CFEqual(a, b)
}

/// An item of a container; it is released when this is dropped.
pub(super) struct Item {
    pointer: CFTypeRef,
    release: Option<ReleaseItem>,
}

// SAFETY: objects may be used from any thread; what is no object is only handed out again.
unsafe impl Send for Item {}
// SAFETY: as above.
unsafe impl Sync for Item {}

impl Item {
    pub(super) fn get(&self) -> CFTypeRef {
        self.pointer
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it was retained by the same callbacks.
            unsafe { release(std::ptr::null(), self.pointer) };
        }
    }
}

/// The content of an array.
pub(crate) struct Array {
    items: Vec<Item>,
    callbacks: ItemCallbacks,
}

impl Array {
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn equal(&self, other: &Array) -> bool {
        let pairs = self.items.iter().zip(&other.items);
        self.len() == other.len() && pairs.into_iter().all(|(a, b)| self.callbacks.equal(a.get(), b.get()))
    }
}

/// An array of objects.
pub(crate) fn array(items: Vec<Owned>, made_by: &'static str) -> Owned {
    let callbacks = ItemCallbacks::OBJECTS;
    let items = items.into_iter().map(|item| Item { pointer: item.give(), release: callbacks.release });
    owned(ObjectKind::Array, Body::Array(Array { items: items.collect(), callbacks }), made_by)
}

/// The objects in an array.
pub(crate) fn items_of(array: CFTypeRef, function: &'static str) -> Option<Vec<CFTypeRef>> {
    let items = with(array, ObjectKind::Array, function, |body| match body {
        Body::Array(array) => Some(array.items.iter().map(Item::get).collect()),
        _ => None,
    });
    items.flatten()
}

/// Data.
pub(crate) fn data(bytes: Vec<u8>, made_by: &'static str) -> Owned {
    owned(ObjectKind::Data, Body::Data(bytes), made_by)
}

/// `CFArrayGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFArrayGetTypeID() -> usize {
    ObjectKind::Array as usize
}

/// `CFArrayCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn CFArrayCreate(
    _allocator: CFTypeRef,
    values: *const CFTypeRef,
    count: isize,
    callbacks: *const ItemCallbacks,
) -> CFTypeRef {
    let callbacks = ItemCallbacks::at(callbacks);
    let items = pointers(values, count).iter().map(|item| callbacks.hold(*item)).collect();
    owned(ObjectKind::Array, Body::Array(Array { items, callbacks }), "CFArrayCreate").give()
}

pub(super) fn pointers<'a>(values: *const CFTypeRef, count: isize) -> &'a [CFTypeRef] {
    match usize::try_from(count) {
        // SAFETY: C callers hand in as many as they say.
        Ok(count) if count > 0 && !values.is_null() => unsafe { std::slice::from_raw_parts(values, count) },
        _ => &[],
    }
}

/// `CFArrayCreateCopy`.
#[unsafe(no_mangle)]
pub extern "C" fn CFArrayCreateCopy(_allocator: CFTypeRef, array: CFTypeRef) -> CFTypeRef {
    let copied = with(array, ObjectKind::Array, "CFArrayCreateCopy", |body| match body {
        Body::Array(Array { items, callbacks }) => {
            Some((items.iter().map(|item| callbacks.hold(item.get())).collect(), *callbacks))
        }
        _ => None,
    });
    let Some((items, callbacks)) = copied.flatten() else { return std::ptr::null() };
    owned(ObjectKind::Array, Body::Array(Array { items, callbacks }), "CFArrayCreateCopy").give()
}

/// `CFArrayCreateMutable`.
#[unsafe(no_mangle)]
pub extern "C" fn CFArrayCreateMutable(
    _allocator: CFTypeRef,
    _capacity: isize,
    callbacks: *const ItemCallbacks,
) -> CFTypeRef {
    let callbacks = ItemCallbacks::at(callbacks);
    let body = Body::Array(Array { items: Vec::new(), callbacks });
    owned(ObjectKind::Array, body, "CFArrayCreateMutable").give()
}

/// `CFArrayAppendValue`.
#[unsafe(no_mangle)]
pub extern "C" fn CFArrayAppendValue(array: CFTypeRef, value: CFTypeRef) {
    with_mut(array, ObjectKind::Array, "CFArrayAppendValue", |body| {
        if let Body::Array(Array { items, callbacks }) = body {
            items.push(callbacks.hold(value));
        }
    });
}

/// `CFArrayGetCount`.
#[unsafe(no_mangle)]
pub extern "C" fn CFArrayGetCount(array: CFTypeRef) -> isize {
    let count = with(array, ObjectKind::Array, "CFArrayGetCount", |body| match body {
        Body::Array(array) => array.len() as isize,
        _ => 0,
    });
    count.unwrap_or(0)
}

/// `CFArrayGetValueAtIndex`: borrowed.
#[unsafe(no_mangle)]
pub extern "C" fn CFArrayGetValueAtIndex(array: CFTypeRef, index: isize) -> CFTypeRef {
    let found = with(array, ObjectKind::Array, "CFArrayGetValueAtIndex", |body| {
        match (body, usize::try_from(index)) {
            (Body::Array(array), Ok(index)) => array.items.get(index).map(Item::get),
            _ => None,
        }
    });
    if found == Some(None) {
        ledger::report(MisuseKind::OutOfRange, "CFArrayGetValueAtIndex", None);
    }
    found.flatten().unwrap_or(std::ptr::null())
}

/// `CFArrayGetValues`: borrowed.
///
/// # Safety
/// `values` has room for the range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFArrayGetValues(
    array: CFTypeRef,
    range: core_foundation_sys::base::CFRange,
    into: *mut CFTypeRef,
) {
    let items = items_of(array, "CFArrayGetValues").unwrap_or_default();
    let start = usize::try_from(range.location).unwrap_or(usize::MAX);
    let count = usize::try_from(range.length).unwrap_or(0);
    for (place, item) in items.into_iter().skip(start).take(count).enumerate() {
        // SAFETY: as above.
        unsafe { into.add(place).write(item) };
    }
}

/// `CFDataGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDataGetTypeID() -> usize {
    ObjectKind::Data as usize
}

/// `CFDataCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDataCreate(_allocator: CFTypeRef, bytes: *const u8, count: isize) -> CFTypeRef {
    let bytes = match usize::try_from(count) {
        // SAFETY: C callers hand in as many as they say.
        Ok(count) if count > 0 && !bytes.is_null() => unsafe { std::slice::from_raw_parts(bytes, count) },
        _ => &[],
    };
    data(bytes.to_vec(), "CFDataCreate").give()
}

/// `CFDataGetLength`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDataGetLength(data: CFTypeRef) -> isize {
    let length = with(data, ObjectKind::Data, "CFDataGetLength", |body| match body {
        Body::Data(bytes) => bytes.len() as isize,
        _ => 0,
    });
    length.unwrap_or(0)
}

/// `CFDataGetBytePtr`: good for as long as the data lives.
#[unsafe(no_mangle)]
pub extern "C" fn CFDataGetBytePtr(data: CFTypeRef) -> *const u8 {
    let start = with(data, ObjectKind::Data, "CFDataGetBytePtr", |body| match body {
        Body::Data(bytes) => bytes.as_ptr(),
        _ => std::ptr::null(),
    });
    start.unwrap_or(std::ptr::null())
}
