//! CoreFoundation objects: a kind, a retain count and a body, and the functions for all of them.

use std::any::Any;
use std::borrow::Cow;
use std::ffi::c_void;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, AtomicU64, Ordering};

use parking_lot::RwLock;
use rustc_hash::FxHasher;

use super::collections::Array;
use super::dictionary::Dictionary;
use super::number::Number;
use crate::ledger::{self, MisuseKind, ObjectRecord};

/// Any object, as C sees it.
pub type CFTypeRef = *const c_void;

/// The magic number that objects begin with, to detect pointers to something else.
const MAGIC: u64 = 0xA11C_0DE5_D0B1_E5ED;

/// The kind of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are Apple's")]
pub enum ObjectKind {
    Null = 1,
    Allocator,
    Boolean,
    Number,
    String,
    AttributedString,
    Url,
    Array,
    Dictionary,
    Data,
    Date,
    RunLoop,
    RunLoopSource,
    RunLoopTimer,
    Element,
    Value,
    Observer,
    Event,
    EventSource,
    Image,
    DataProvider,
    DisplayMode,
}

/// An object.
#[repr(C)]
pub(crate) struct Object {
    magic: AtomicU64,
    kind: ObjectKind,
    /// Whether it is a constant, which is neither counted nor freed.
    constant: bool,
    retains: AtomicIsize,
    serial: AtomicU64,
    made_by: &'static str,
    body: RwLock<Body>,
}

/// The content of an object.
pub(crate) enum Body {
    /// None: the object was released for the last time.
    Gone,
    Empty,
    Boolean(bool),
    Number(Number),
    /// A text as [`super::text`] writes it, and a zero byte behind it.
    Text(Cow<'static, str>),
    /// A string that is in another object.
    Within(Owned),
    Array(Array),
    Dictionary(Dictionary),
    Data(Vec<u8>),
    /// Seconds since 2001.
    Date(f64),
    /// An object of a framework above CoreFoundation.
    Foreign(Arc<dyn Foreign>),
}

/// An object of a framework above CoreFoundation.
pub(crate) trait Foreign: Any + Send + Sync {
    /// Whether it equals another object.
    fn equal(&self, _other: &dyn Foreign) -> bool {
        false
    }

    /// A hash that goes with `equal`; `None` if an object is equal to itself alone.
    fn hash(&self) -> Option<u64> {
        None
    }

    /// A description, for messages.
    fn describe(&self) -> String {
        String::new()
    }
}

impl Object {
    /// A constant object.
    pub(crate) const fn constant(kind: ObjectKind, body: Body) -> Object {
        Object {
            magic: AtomicU64::new(MAGIC),
            kind,
            constant: true,
            retains: AtomicIsize::new(1),
            serial: AtomicU64::new(0),
            made_by: "the system",
            body: RwLock::new(body),
        }
    }

    /// Creates an object, which the caller owns.
    pub(crate) fn create(kind: ObjectKind, body: Body, made_by: &'static str) -> CFTypeRef {
        let object = Box::into_raw(Box::new(Object {
            magic: AtomicU64::new(MAGIC),
            kind,
            constant: false,
            retains: AtomicIsize::new(1),
            serial: AtomicU64::new(0),
            made_by,
            body: RwLock::new(body),
        }));
        let serial = ledger::register(object);
        // SAFETY: it was made just now, and nobody else has it.
        unsafe { &*object }.serial.store(serial, Ordering::Relaxed);
        object.cast_const().cast()
    }

    /// The object behind a pointer, alive or released; any other pointer is reported.
    fn at<'a>(pointer: CFTypeRef, function: &'static str) -> Option<&'a Object> {
        let object: *const Object = pointer.cast();
        if pointer.is_null() || !object.is_aligned() {
            ledger::report(MisuseKind::NotAnObject, function, None);
            return None;
        }
        // SAFETY: whoever calls C functions has to hand in objects; those that were released are in quarantine, so
        // this reads an object or, of what never was one, at least memory that the caller has.
        let found = unsafe { &*object };
        if found.magic.load(Ordering::Relaxed) == MAGIC {
            return Some(found);
        }
        ledger::report(MisuseKind::NotAnObject, function, None);
        None
    }

    /// The object behind a pointer if it lives; a released one is reported.
    fn alive<'a>(pointer: CFTypeRef, function: &'static str) -> Option<&'a Object> {
        let object = Object::at(pointer, function)?;
        if object.retains.load(Ordering::Acquire) > 0 {
            return Some(object);
        }
        ledger::report(MisuseKind::UseAfterRelease, function, Some(object.record()));
        None
    }

    /// The object behind a pointer if it lives and is of this kind; any other is reported.
    fn of_kind<'a>(pointer: CFTypeRef, kind: ObjectKind, function: &'static str) -> Option<&'a Object> {
        let object = Object::alive(pointer, function)?;
        if object.kind == kind {
            return Some(object);
        }
        ledger::report(MisuseKind::WrongType, function, Some(object.record()));
        None
    }

    /// Its record in the ledger.
    pub(crate) fn record(&self) -> ObjectRecord {
        ObjectRecord {
            serial: self.serial.load(Ordering::Relaxed),
            kind: self.kind,
            made_by: self.made_by,
            holds: self.body.read_recursive().describe(),
            retains: self.retains.load(Ordering::Relaxed),
        }
    }

    fn retain(pointer: CFTypeRef, function: &'static str) -> bool {
        let Some(object) = Object::alive(pointer, function) else { return false };
        if !object.constant {
            object.retains.fetch_add(1, Ordering::AcqRel);
        }
        true
    }

    fn release(pointer: CFTypeRef, function: &'static str) {
        let Some(object) = Object::at(pointer, function) else { return };
        if object.constant {
            return;
        }
        let counted = object
            .retains
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |count| (count > 0).then_some(count - 1));
        match counted {
            Err(_) => ledger::report(MisuseKind::OverRelease, function, Some(object.record())),
            Ok(1) => {
                let body = std::mem::replace(&mut *object.body.write(), Body::Gone);
                // Outside the lock: what is in it is released with it, and may be anything.
                drop(body);
                ledger::retire(object.serial.load(Ordering::Relaxed), pointer.cast_mut().cast());
            }
            Ok(_) => {}
        }
    }
}

impl Body {
    fn describe(&self) -> String {
        match self {
            Body::Gone => "gone".to_owned(),
            Body::Empty => String::new(),
            Body::Boolean(value) => value.to_string(),
            Body::Number(number) => format!("{number:?}"),
            Body::Text(text) => format!("{:?}", text.trim_end_matches('\0')),
            Body::Within(_) => "a string".to_owned(),
            Body::Array(array) => format!("{} items", array.len()),
            Body::Dictionary(dictionary) => format!("{} entries", dictionary.len()),
            Body::Data(bytes) => format!("{} bytes", bytes.len()),
            Body::Date(seconds) => seconds.to_string(),
            Body::Foreign(foreign) => foreign.describe(),
        }
    }

    fn equal(&self, other: &Body) -> bool {
        match (self, other) {
            (Body::Boolean(a), Body::Boolean(b)) => a == b,
            (Body::Number(a), Body::Number(b)) => a == b,
            (Body::Text(a), Body::Text(b)) => a == b,
            (Body::Data(a), Body::Data(b)) => a == b,
            (Body::Date(a), Body::Date(b)) => a.to_bits() == b.to_bits(),
            (Body::Array(a), Body::Array(b)) => a.equal(b),
            (Body::Dictionary(a), Body::Dictionary(b)) => a.equal(b),
            (Body::Foreign(a), Body::Foreign(b)) => a.equal(b.as_ref()),
            _ => false,
        }
    }

    /// A hash that goes with `equal`.
    fn hash(&self) -> Option<u64> {
        let mut hasher = FxHasher::default();
        match self {
            Body::Boolean(value) => value.hash(&mut hasher),
            Body::Number(number) => number.hash(&mut hasher),
            Body::Text(text) => text.hash(&mut hasher),
            Body::Data(bytes) => bytes.hash(&mut hasher),
            Body::Date(seconds) => seconds.to_bits().hash(&mut hasher),
            Body::Array(array) => array.len().hash(&mut hasher),
            Body::Dictionary(dictionary) => dictionary.len().hash(&mut hasher),
            Body::Foreign(foreign) => return foreign.hash(),
            Body::Gone | Body::Empty | Body::Within(_) => return None,
        }
        Some(hasher.finish())
    }
}

/// Reads an object of this kind; any other is reported. The closure must not call back into foreign code.
pub(crate) fn with<R>(
    pointer: CFTypeRef,
    kind: ObjectKind,
    function: &'static str,
    look: impl FnOnce(&Body) -> R,
) -> Option<R> {
    let object = Object::of_kind(pointer, kind, function)?;
    Some(look(&object.body.read_recursive()))
}

/// Changes an object of this kind; any other is reported. The closure must not call back into foreign code.
pub(crate) fn with_mut<R>(
    pointer: CFTypeRef,
    kind: ObjectKind,
    function: &'static str,
    change: impl FnOnce(&mut Body) -> R,
) -> Option<R> {
    let object = Object::of_kind(pointer, kind, function)?;
    Some(change(&mut object.body.write()))
}

/// The foreign body of an object of this kind.
pub(crate) fn foreign<T: Foreign>(
    pointer: CFTypeRef,
    kind: ObjectKind,
    function: &'static str,
) -> Option<Arc<T>> {
    let found = with(pointer, kind, function, |body| match body {
        Body::Foreign(foreign) => Some(Arc::clone(foreign)),
        _ => None,
    });
    let any: Arc<dyn Any + Send + Sync> = found.flatten()?;
    any.downcast().ok()
}

/// An owned reference to an object; it is released when this is dropped.
#[derive(Debug, PartialEq, Eq)]
pub struct Owned(CFTypeRef);

// SAFETY: objects may be used from any thread.
unsafe impl Send for Owned {}
// SAFETY: as above.
unsafe impl Sync for Owned {}

impl Owned {
    /// Takes ownership of an object from the caller.
    ///
    /// # Safety
    /// The pointer is an object, and the caller owns one of its retains.
    pub unsafe fn taken(pointer: CFTypeRef) -> Owned {
        Owned(pointer)
    }

    /// Retains an object; `None` if it was released already, which is reported.
    pub(crate) fn retained(pointer: CFTypeRef, function: &'static str) -> Option<Owned> {
        Object::retain(pointer, function).then_some(Owned(pointer))
    }

    /// The object, borrowed.
    pub fn get(&self) -> CFTypeRef {
        self.0
    }

    /// The object, with ownership of the reference.
    pub fn give(self) -> CFTypeRef {
        let pointer = self.0;
        std::mem::forget(self);
        pointer
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        Object::release(self.0, "CFRelease");
    }
}

/// Creates an object that the double itself owns.
pub(crate) fn owned(kind: ObjectKind, body: Body, made_by: &'static str) -> Owned {
    Owned(Object::create(kind, body, made_by))
}

/// Writes a result through a pointer of a C caller; false if that is null.
pub(crate) fn out<T>(place: *mut T, value: T) -> bool {
    if place.is_null() {
        return false;
    }
    // SAFETY: C callers hand in places that can be written to, or none.
    unsafe { place.write(value) };
    true
}

fn equal(a: CFTypeRef, b: CFTypeRef, function: &'static str) -> bool {
    let (Some(one), Some(other)) = (Object::alive(a, function), Object::alive(b, function)) else {
        return false;
    };
    if a == b {
        return true;
    }
    one.kind == other.kind && one.body.read_recursive().equal(&other.body.read_recursive())
}

/// A constant object as a C symbol.
#[repr(transparent)]
#[derive(Debug)]
pub struct Constant(pub(crate) *const Object);

// SAFETY: objects may be used from any thread.
unsafe impl Sync for Constant {}

/// Constant strings as C symbols.
macro_rules! constant_strings {
    ($($name:ident = $text:literal;)+) => {
        $(
            #[doc = $text]
            #[unsafe(no_mangle)]
            pub static $name: crate::cf::Constant = {
                static OBJECT: crate::cf::Object = crate::cf::Object::constant(
                    crate::cf::ObjectKind::String,
                    crate::cf::Body::Text(std::borrow::Cow::Borrowed(concat!($text, "\0"))),
                );
                crate::cf::Constant(&raw const OBJECT)
            };
        )+
    };
}
pub(crate) use constant_strings;

static NULL: Object = Object::constant(ObjectKind::Null, Body::Empty);
static NO_ALLOCATOR: Object = Object::constant(ObjectKind::Allocator, Body::Empty);

/// `kCFNull`.
#[unsafe(no_mangle)]
pub static kCFNull: Constant = Constant(&raw const NULL);
/// The default allocator is null, as in Apple's headers.
#[unsafe(no_mangle)]
pub static kCFAllocatorDefault: Constant = Constant(std::ptr::null());
/// The allocator that frees nothing.
#[unsafe(no_mangle)]
pub static kCFAllocatorNull: Constant = Constant(&raw const NO_ALLOCATOR);

/// `CFRetain`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRetain(object: CFTypeRef) -> CFTypeRef {
    Object::retain(object, "CFRetain");
    object
}

/// `CFRelease`.
#[unsafe(no_mangle)]
pub extern "C" fn CFRelease(object: CFTypeRef) {
    Object::release(object, "CFRelease");
}

/// `CFEqual`.
#[unsafe(no_mangle)]
pub extern "C" fn CFEqual(a: CFTypeRef, b: CFTypeRef) -> u8 {
    u8::from(equal(a, b, "CFEqual"))
}

/// `CFHash`.
#[unsafe(no_mangle)]
pub extern "C" fn CFHash(object: CFTypeRef) -> usize {
    let hash = Object::alive(object, "CFHash").and_then(|found| found.body.read_recursive().hash());
    hash.map_or(object.addr(), |hash| hash as usize)
}

/// `CFGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFGetTypeID(object: CFTypeRef) -> usize {
    Object::alive(object, "CFGetTypeID").map_or(0, |found| found.kind as usize)
}

/// `CFGetRetainCount`.
#[unsafe(no_mangle)]
pub extern "C" fn CFGetRetainCount(object: CFTypeRef) -> isize {
    Object::alive(object, "CFGetRetainCount").map_or(0, |found| found.retains.load(Ordering::Acquire))
}

/// `CFCopyDescription`.
#[unsafe(no_mangle)]
pub extern "C" fn CFCopyDescription(object: CFTypeRef) -> CFTypeRef {
    let described = Object::alive(object, "CFCopyDescription").map(|found| found.record().holds);
    super::string(&described.unwrap_or_default(), "CFCopyDescription").give()
}

/// `CFNullGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn CFNullGetTypeID() -> usize {
    ObjectKind::Null as usize
}
