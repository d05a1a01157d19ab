//! The double's CoreFoundation: who owns what, what equals what, run loops, and that every misuse is found.
#![cfg(not(target_os = "macos"))]

#[path = "common/core_foundation.rs"]
mod contract;

use std::sync::{Mutex, MutexGuard};

use axd_double::ledger::{self, MisuseKind};
use core_foundation::base::TCFType;
use core_foundation::string::CFString;
use core_foundation_sys::base::{CFEqual, CFGetRetainCount, CFHash, CFRelease, CFRetain, CFTypeRef};

/// The ledger is the process's: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Runs a test, and checks that it left nothing behind.
fn watched(test: impl FnOnce()) {
    let _alone = alone();
    let mark = ledger::mark();
    test();
    let balance = ledger::balance(mark);
    assert!(balance.is_even(), "{balance}");
}

fn retain_count(object: CFTypeRef) -> Option<isize> {
    // SAFETY: it lives.
    Some(unsafe { CFGetRetainCount(object) })
}

#[test]
fn a_leak_is_found_with_what_it_is_and_who_made_it() {
    let _alone = alone();
    let mark = ledger::mark();
    let leaked = CFString::new("left behind");
    let raw = leaked.as_CFTypeRef();
    // SAFETY: it lives. This is the leak.
    unsafe { CFRetain(raw) };
    drop(leaked);
    let balance = ledger::balance(mark);
    let [birth] = balance.leaked.as_slice() else { panic!("{balance}") };
    assert_eq!((birth.holds.as_str(), birth.retains), ("\"left behind\"", 1));
    assert!(birth.made_by.starts_with("CFStringCreate"), "{birth:?}");
    // SAFETY: it is retained once more than it was released.
    unsafe { CFRelease(raw) };
    assert!(ledger::balance(mark).is_even());
}

#[test]
fn an_over_release_and_a_use_after_it_are_found() {
    let _alone = alone();
    let mark = ledger::mark();
    let string = CFString::new("gone too soon");
    let raw = string.as_CFTypeRef();
    drop(string);
    // SAFETY: it is in quarantine, so nothing but the ledger takes harm.
    unsafe {
        CFRelease(raw);
        CFHash(raw);
    }
    let kinds: Vec<MisuseKind> = ledger::balance(mark).misused.iter().map(|misuse| misuse.kind).collect();
    assert_eq!(kinds, [MisuseKind::OverRelease, MisuseKind::UseAfterRelease]);
}

#[test]
fn what_is_no_object_is_found() {
    let _alone = alone();
    let mark = ledger::mark();
    let stranger = [0u64; 16];
    let pointer: CFTypeRef = stranger.as_ptr().cast();
    // SAFETY: it is memory that can be read.
    let equal = unsafe { CFEqual(pointer, pointer) };
    assert_eq!(equal, 0);
    assert!(ledger::balance(mark).misused.iter().all(|misuse| misuse.kind == MisuseKind::NotAnObject));
    assert!(!ledger::balance(mark).is_even());
}
