//! Dictionaries. They are small here, so a linear search is fast enough.

use super::collections::{Item, ItemCallbacks, pointers};
use super::object::{Body, CFEqual, CFHash, CFTypeRef, ObjectKind, Owned, out, owned, with, with_mut};

/// The callbacks of a dictionary for its keys, as C callers pass them.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct KeyCallbacks {
    items: ItemCallbacks,
    hash: Option<unsafe extern "C" fn(CFTypeRef) -> usize>,
}

unsafe extern "C" fn hash_key(key: CFTypeRef) -> usize {
    CFHash(key)
}

/// The callbacks for keys that are objects.
#[unsafe(no_mangle)]
pub static kCFTypeDictionaryKeyCallBacks: KeyCallbacks =
    KeyCallbacks { items: ItemCallbacks::OBJECTS, hash: Some(hash_key) };
/// The callbacks for values that are objects.
#[unsafe(no_mangle)]
pub static kCFTypeDictionaryValueCallBacks: ItemCallbacks = ItemCallbacks::OBJECTS;

/// The content of a dictionary.
pub(crate) struct Dictionary {
    entries: Vec<(Item, Item)>,
    keys: ItemCallbacks,
    values: ItemCallbacks,
}

impl Dictionary {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    fn find(&self, key: CFTypeRef) -> Option<usize> {
        self.entries.iter().position(|(other, _)| self.keys.equal(other.get(), key))
    }

    fn value(&self, key: CFTypeRef) -> Option<CFTypeRef> {
        self.find(key).map(|at| self.entries[at].1.get())
    }

    /// Sets a value, and returns the one that it replaced.
    fn set(&mut self, key: CFTypeRef, value: CFTypeRef) -> Option<Item> {
        let value = self.values.hold(value);
        match self.find(key) {
            Some(at) => Some(std::mem::replace(&mut self.entries[at].1, value)),
            None => {
                self.entries.push((self.keys.hold(key), value));
                None
            }
        }
    }

    pub(crate) fn equal(&self, other: &Dictionary) -> bool {
        self.len() == other.len()
            && self.entries.iter().all(|(key, value)| {
                other.value(key.get()).is_some_and(|there| CFEqual(value.get(), there) != 0)
            })
    }
}

/// A dictionary of objects.
pub(crate) fn dictionary(entries: Vec<(Owned, Owned)>, made_by: &'static str) -> Owned {
    let (keys, values) = (ItemCallbacks::OBJECTS, ItemCallbacks::OBJECTS);
    let mut made = Dictionary { entries: Vec::new(), keys, values };
    for (key, value) in &entries {
        made.set(key.get(), value.get());
    }
    owned(ObjectKind::Dictionary, Body::Dictionary(made), made_by)
}

/// The value of a key, borrowed.
pub(crate) fn entry(dictionary: CFTypeRef, key: CFTypeRef, function: &'static str) -> Option<CFTypeRef> {
    let found = with(dictionary, ObjectKind::Dictionary, function, |body| match body {
        Body::Dictionary(dictionary) => dictionary.value(key),
        _ => None,
    });
    found.flatten()
}

fn empty(keys: *const KeyCallbacks, values: *const ItemCallbacks) -> Dictionary {
    // What is done to keys as items comes first in what is done to keys.
    let keys = ItemCallbacks::at(keys.cast());
    Dictionary { entries: Vec::new(), keys, values: ItemCallbacks::at(values) }
}

/// `CFDictionaryGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDictionaryGetTypeID() -> usize {
    ObjectKind::Dictionary as usize
}

/// `CFDictionaryCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDictionaryCreate(
    _allocator: CFTypeRef,
    keys: *const CFTypeRef,
    values: *const CFTypeRef,
    count: isize,
    key_callbacks: *const KeyCallbacks,
    value_callbacks: *const ItemCallbacks,
) -> CFTypeRef {
    let mut made = empty(key_callbacks, value_callbacks);
    for (key, value) in pointers(keys, count).iter().zip(pointers(values, count)) {
        made.set(*key, *value);
    }
    owned(ObjectKind::Dictionary, Body::Dictionary(made), "CFDictionaryCreate").give()
}

/// `CFDictionaryCreateMutable`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDictionaryCreateMutable(
    _allocator: CFTypeRef,
    _capacity: isize,
    key_callbacks: *const KeyCallbacks,
    value_callbacks: *const ItemCallbacks,
) -> CFTypeRef {
    let body = Body::Dictionary(empty(key_callbacks, value_callbacks));
    owned(ObjectKind::Dictionary, body, "CFDictionaryCreateMutable").give()
}

/// `CFDictionarySetValue`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDictionarySetValue(dictionary: CFTypeRef, key: CFTypeRef, value: CFTypeRef) {
    let replaced = with_mut(dictionary, ObjectKind::Dictionary, "CFDictionarySetValue", |body| match body {
        Body::Dictionary(dictionary) => dictionary.set(key, value),
        _ => None,
    });
    // Let go of outside the lock.
    drop(replaced);
}

/// `CFDictionaryAddValue`: only if the key is not there.
#[unsafe(no_mangle)]
pub extern "C" fn CFDictionaryAddValue(dictionary: CFTypeRef, key: CFTypeRef, value: CFTypeRef) {
    if entry(dictionary, key, "CFDictionaryAddValue").is_none() {
        CFDictionarySetValue(dictionary, key, value);
    }
}

/// `CFDictionaryRemoveValue`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDictionaryRemoveValue(dictionary: CFTypeRef, key: CFTypeRef) {
    let removed =
        with_mut(dictionary, ObjectKind::Dictionary, "CFDictionaryRemoveValue", |body| match body {
            Body::Dictionary(dictionary) => dictionary.find(key).map(|at| dictionary.entries.remove(at)),
            _ => None,
        });
    drop(removed);
}

/// `CFDictionaryGetCount`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDictionaryGetCount(dictionary: CFTypeRef) -> isize {
    let count = with(dictionary, ObjectKind::Dictionary, "CFDictionaryGetCount", |body| match body {
        Body::Dictionary(dictionary) => dictionary.len() as isize,
        _ => 0,
    });
    count.unwrap_or(0)
}

/// `CFDictionaryGetValue`: borrowed.
#[unsafe(no_mangle)]
pub extern "C" fn CFDictionaryGetValue(dictionary: CFTypeRef, key: CFTypeRef) -> CFTypeRef {
    entry(dictionary, key, "CFDictionaryGetValue").unwrap_or(std::ptr::null())
}

/// `CFDictionaryGetValueIfPresent`: borrowed.
#[unsafe(no_mangle)]
pub extern "C" fn CFDictionaryGetValueIfPresent(
    dictionary: CFTypeRef,
    key: CFTypeRef,
    value: *mut CFTypeRef,
) -> u8 {
    match entry(dictionary, key, "CFDictionaryGetValueIfPresent") {
        Some(found) => {
            out(value, found);
            1
        }
        None => 0,
    }
}

/// `CFDictionaryContainsKey`.
#[unsafe(no_mangle)]
pub extern "C" fn CFDictionaryContainsKey(dictionary: CFTypeRef, key: CFTypeRef) -> u8 {
    u8::from(entry(dictionary, key, "CFDictionaryContainsKey").is_some())
}

/// `CFDictionaryGetKeysAndValues`: borrowed.
///
/// # Safety
/// Each pointer is null, or has room for all entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CFDictionaryGetKeysAndValues(
    dictionary: CFTypeRef,
    keys: *mut CFTypeRef,
    values: *mut CFTypeRef,
) {
    with(dictionary, ObjectKind::Dictionary, "CFDictionaryGetKeysAndValues", |body| {
        let Body::Dictionary(dictionary) = body else { return };
        for (place, (key, value)) in dictionary.entries.iter().enumerate() {
            if !keys.is_null() {
                // SAFETY: as above.
                unsafe { keys.add(place).write(key.get()) };
            }
            if !values.is_null() {
                // SAFETY: as above.
                unsafe { values.add(place).write(value.get()) };
            }
        }
    });
}
