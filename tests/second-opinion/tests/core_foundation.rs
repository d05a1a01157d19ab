//! What the double's CoreFoundation is held to, on Apple's own.

#[path = "../../double/tests/common/core_foundation.rs"]
mod contract;

// The build script links it.
use axd_second_opinion as _;
use core_foundation_sys::base::CFTypeRef;

/// Nothing is watched: this library keeps no ledger.
fn watched(test: impl FnOnce()) {
    test();
}

/// It does not export how often an object is retained.
fn retain_count(_object: CFTypeRef) -> Option<isize> {
    None
}
