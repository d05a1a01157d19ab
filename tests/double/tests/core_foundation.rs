//! The double's CoreFoundation: who owns what, what equals what, run loops, and that every misuse is found.
#![cfg(not(target_os = "macos"))]

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use axd_double::ledger::{self, MisuseKind};
use core_foundation::array::CFArray;
use core_foundation::base::TCFType;
use core_foundation::boolean::CFBoolean;
use core_foundation::data::CFData;
use core_foundation::dictionary::CFDictionary;
use core_foundation::number::CFNumber;
use core_foundation::string::CFString;
use core_foundation_sys::base::{CFEqual, CFGetRetainCount, CFHash, CFRelease, CFRetain, CFTypeRef};
use core_foundation_sys::runloop::{
    CFRunLoopAddSource, CFRunLoopAddTimer, CFRunLoopGetCurrent, CFRunLoopRef, CFRunLoopRunInMode,
    CFRunLoopSourceContext, CFRunLoopSourceCreate, CFRunLoopSourceInvalidate, CFRunLoopSourceSignal,
    CFRunLoopStop, CFRunLoopTimerCreate, CFRunLoopTimerRef, CFRunLoopWakeUp, kCFRunLoopDefaultMode,
    kCFRunLoopRunFinished, kCFRunLoopRunHandledSource, kCFRunLoopRunStopped, kCFRunLoopRunTimedOut,
};

/// The ledger is the process's: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[test]
fn strings_go_in_and_out_in_any_script() {
    let _alone = alone();
    let mark = ledger::mark();
    for text in ["", "plain", "Grüße, 世界", "a 👩‍👩‍👧 b"] {
        let string = CFString::new(text);
        assert_eq!(string.to_string(), text);
        assert_eq!(string.char_len() as usize, text.encode_utf16().count());
        assert_eq!(string, CFString::new(text));
    }
    assert_ne!(CFString::new("a"), CFString::new("b"));
    let balance = ledger::balance(mark);
    assert!(balance.is_even(), "{balance}");
}

#[test]
fn numbers_booleans_and_data_keep_what_they_were_given() {
    let _alone = alone();
    let mark = ledger::mark();
    assert_eq!(CFNumber::from(7i32).to_i64(), Some(7));
    assert_eq!(CFNumber::from(2.5f64).to_f64(), Some(2.5));
    assert_eq!(CFNumber::from(2.5f64).to_i32(), None, "something is lost");
    assert_eq!(CFNumber::from(7i32).as_CFType(), CFNumber::from(7.0f64).as_CFType(), "the same number");
    assert!(bool::from(CFBoolean::true_value()) && !bool::from(CFBoolean::false_value()));
    assert_eq!(CFData::from_buffer(&[1, 2, 3]).bytes(), [1, 2, 3]);
    let balance = ledger::balance(mark);
    assert!(balance.is_even(), "{balance}");
}

#[test]
fn containers_hold_what_is_in_them_and_let_go_of_it() {
    let _alone = alone();
    let mark = ledger::mark();
    let inside = CFString::new("inside");
    let raw = inside.as_CFTypeRef();
    let array = CFArray::from_CFTypes(&[inside.clone(), CFString::new("other")]);
    let dictionary = CFDictionary::from_CFType_pairs(&[(CFString::new("key"), inside.clone())]);
    // SAFETY: it lives.
    assert_eq!(unsafe { CFGetRetainCount(raw) }, 3);
    assert_eq!(array.len(), 2);
    assert_eq!(array.get(0).map(|item| item.to_string()).as_deref(), Some("inside"));
    let key = CFString::new("key");
    assert_eq!(dictionary.find(&key).map(|found| found.to_string()).as_deref(), Some("inside"));
    assert!(dictionary.find(CFString::new("none")).is_none());
    drop((array, dictionary, key));
    // SAFETY: it lives.
    assert_eq!(unsafe { CFGetRetainCount(raw) }, 1);
    drop(inside);
    let balance = ledger::balance(mark);
    assert!(balance.is_even(), "{balance}");
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

static PERFORMED: AtomicUsize = AtomicUsize::new(0);
static RELEASED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn perform(_info: *const c_void) {
    PERFORMED.fetch_add(1, Ordering::SeqCst);
}

extern "C" fn release(_info: *const c_void) {
    RELEASED.fetch_add(1, Ordering::SeqCst);
}

fn source() -> core_foundation_sys::runloop::CFRunLoopSourceRef {
    let mut context = CFRunLoopSourceContext {
        version: 0,
        info: std::ptr::null_mut(),
        retain: None,
        release: Some(release),
        copyDescription: None,
        equal: None,
        hash: None,
        schedule: None,
        cancel: None,
        perform,
    };
    // SAFETY: the context is one of version 0.
    unsafe { CFRunLoopSourceCreate(std::ptr::null(), 0, &raw mut context) }
}

fn run(seconds: f64, after_source: bool) -> i32 {
    // SAFETY: the mode is a constant.
    unsafe { CFRunLoopRunInMode(kCFRunLoopDefaultMode, seconds, u8::from(after_source)) }
}

#[test]
fn a_source_is_done_when_it_is_signalled_and_the_loop_woken() {
    let _alone = alone();
    std::thread::spawn(|| {
        let mark = ledger::mark();
        PERFORMED.store(0, Ordering::SeqCst);
        RELEASED.store(0, Ordering::SeqCst);
        assert_eq!(run(5.0, false), kCFRunLoopRunFinished, "there is nothing to wait for");
        let source = source();
        // SAFETY: both live.
        unsafe { CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode) };
        assert_eq!(run(0.0, true), kCFRunLoopRunTimedOut);
        let (loop_address, source_address) = {
            // SAFETY: the loop is this thread's.
            (unsafe { CFRunLoopGetCurrent() }.expose_provenance(), source.expose_provenance())
        };
        let other = std::thread::spawn(move || {
            // SAFETY: both live until this thread was joined.
            unsafe {
                CFRunLoopSourceSignal(std::ptr::with_exposed_provenance_mut(source_address));
                CFRunLoopWakeUp(std::ptr::with_exposed_provenance_mut(loop_address));
            }
        });
        assert_eq!(run(30.0, true), kCFRunLoopRunHandledSource);
        other.join().unwrap();
        assert_eq!(PERFORMED.load(Ordering::SeqCst), 1);
        // SAFETY: it lives, and is let go of once.
        unsafe {
            CFRunLoopSourceInvalidate(source);
            CFRunLoopSourceSignal(source);
            CFRelease(source.cast());
        }
        assert_eq!(RELEASED.load(Ordering::SeqCst), 1, "what went with it is let go of once");
        assert_eq!(run(5.0, false), kCFRunLoopRunFinished, "it is in no loop any more");
        assert_eq!(PERFORMED.load(Ordering::SeqCst), 1);
        let balance = ledger::balance(mark);
        assert!(balance.is_even(), "{balance}");
    })
    .join()
    .unwrap();
}

static FIRED: AtomicBool = AtomicBool::new(false);

extern "C" fn stop(_timer: CFRunLoopTimerRef, info: *mut c_void) {
    FIRED.store(true, Ordering::SeqCst);
    let run_loop: CFRunLoopRef = info.cast();
    // SAFETY: the loop is that of the thread that runs the timer.
    unsafe { CFRunLoopStop(run_loop) };
}

#[test]
fn a_timer_fires_and_a_stop_ends_the_run_it_comes_in() {
    let _alone = alone();
    std::thread::spawn(|| {
        // SAFETY: the loop is this thread's, and the context is for the callback.
        let timer = unsafe {
            let run_loop = CFRunLoopGetCurrent();
            let mut context = core_foundation_sys::runloop::CFRunLoopTimerContext {
                version: 0,
                info: run_loop.cast(),
                retain: None,
                release: None,
                copyDescription: None,
            };
            let soon = core_foundation_sys::date::CFAbsoluteTimeGetCurrent() + 0.01;
            let timer = CFRunLoopTimerCreate(std::ptr::null(), soon, 0.0, 0, 0, stop, &raw mut context);
            CFRunLoopStop(run_loop);
            CFRunLoopAddTimer(run_loop, timer, kCFRunLoopDefaultMode);
            timer
        };
        assert_eq!(run(30.0, false), kCFRunLoopRunStopped);
        assert!(FIRED.load(Ordering::SeqCst), "the stop before the run was lost, the timer's was not");
        assert_eq!(run(30.0, false), kCFRunLoopRunFinished, "one that fired once is no reason to wait");
        // SAFETY: it is let go of once.
        unsafe { CFRelease(timer.cast()) };
    })
    .join()
    .unwrap();
}

#[test]
fn a_string_holds_any_units_and_conversion_ends_at_half_a_character() {
    use core_foundation_sys::base::CFRange;
    use core_foundation_sys::string as cf;
    let _alone = alone();
    let units = [0x61_u16, 0xD83D, 0x62];
    // SAFETY: there are three units, as is said; the string is released by its owner, and the buffers have room for it.
    unsafe {
        let raw = cf::CFStringCreateWithCharacters(std::ptr::null(), units.as_ptr(), 3);
        let string = CFString::wrap_under_create_rule(raw);
        assert_eq!(cf::CFStringGetLength(raw), 3);
        let mut back = [0_u16; 3];
        cf::CFStringGetCharacters(raw, CFRange { location: 0, length: 3 }, back.as_mut_ptr());
        assert_eq!(back, units);
        let all = CFRange { location: 0, length: 3 };
        let converted = |loss| {
            let (mut bytes, mut used) = ([0_u8; 9], 0);
            let utf8 = cf::kCFStringEncodingUTF8;
            let taken = cf::CFStringGetBytes(raw, all, utf8, loss, 0, bytes.as_mut_ptr(), 9, &mut used);
            (taken, bytes[..used as usize].to_vec())
        };
        assert_eq!(converted(0), (1, b"a".to_vec()), "it ends there");
        assert_eq!(converted(b'?'), (3, b"a?b".to_vec()), "unless something may take its place");
        assert!(cf::CFStringGetCStringPtr(raw, cf::kCFStringEncodingUTF8).is_null());
        drop(string);
    }
    let ascii = CFString::new("zero\0behind");
    // SAFETY: the string lives.
    let pointer =
        unsafe { cf::CFStringGetCStringPtr(ascii.as_concrete_TypeRef(), cf::kCFStringEncodingUTF8) };
    // SAFETY: it is not null, as the text is ASCII, and ends in a zero.
    let as_c = unsafe { std::ffi::CStr::from_ptr(pointer) };
    assert_eq!(as_c, c"zero", "who takes it for a C string loses the rest");
}
