//! CoreFoundation: reference-counted objects, and what the backend needs of strings, numbers, containers and run loops.
//!
//! Read `object` first, which all of them are; the other files have the C functions, by family.

mod collections;
mod dictionary;
mod number;
mod object;
mod run_loop;
mod source;
mod text;
mod timer;

pub(crate) use collections::{array, data, items_of};
pub(crate) use dictionary::{dictionary, entry};
pub use number::CFNumberIsFloatType;
pub(crate) use number::{boolean, integer, integer_of, real, real_of, truth_of};
pub(crate) use object::{Body, Constant, Foreign, Object, constant_strings, foreign, out, owned};
pub use object::{CFGetRetainCount, CFGetTypeID, CFRelease, CFRetain, CFTypeRef, ObjectKind, Owned};
pub(crate) use source::{Port, Source, port_source};
pub(crate) use text::{holder_of_string, string, text_from, text_of, units_of};
