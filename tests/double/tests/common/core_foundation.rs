//! What CoreFoundation does, as far as the backend relies on it. The double's is held to it, and so is the one that Swift has on Linux,
//! which is Apple's own (`tests/second-opinion`). Whoever includes this says in `watched` what is watched meanwhile, and in `retain_count`
//! how often an object is retained, where that can be known.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use core_foundation::array::CFArray;
use core_foundation::base::TCFType;
use core_foundation::boolean::CFBoolean;
use core_foundation::data::CFData;
use core_foundation::dictionary::CFDictionary;
use core_foundation::number::CFNumber;
use core_foundation::string::CFString;
use core_foundation_sys::base::{CFRange, CFRelease};
use core_foundation_sys::runloop::{
    CFRunLoopAddSource, CFRunLoopAddTimer, CFRunLoopGetCurrent, CFRunLoopRef, CFRunLoopRunInMode,
    CFRunLoopSourceContext, CFRunLoopSourceCreate, CFRunLoopSourceInvalidate, CFRunLoopSourceSignal,
    CFRunLoopStop, CFRunLoopTimerCreate, CFRunLoopTimerRef, CFRunLoopWakeUp, kCFRunLoopDefaultMode,
    kCFRunLoopRunFinished, kCFRunLoopRunHandledSource, kCFRunLoopRunStopped, kCFRunLoopRunTimedOut,
};
use core_foundation_sys::string::{
    CFStringCreateWithCharacters, CFStringGetBytes, CFStringGetCharacters, CFStringGetLength,
    kCFStringEncodingUTF8,
};

use super::{retain_count, watched};

#[test]
fn strings_go_in_and_out_in_any_script() {
    watched(|| {
        for text in ["", "plain", "Grüße, 世界", "a 👩‍👩‍👧 b"] {
            let string = CFString::new(text);
            assert_eq!(string.to_string(), text);
            assert_eq!(string.char_len() as usize, text.encode_utf16().count());
            assert_eq!(string, CFString::new(text));
        }
        assert_ne!(CFString::new("a"), CFString::new("b"));
    });
}

#[test]
fn numbers_booleans_and_data_keep_what_they_were_given() {
    watched(|| {
        assert_eq!(CFNumber::from(7i32).to_i64(), Some(7));
        assert_eq!(CFNumber::from(2.5f64).to_f64(), Some(2.5));
        assert_eq!(CFNumber::from(2.5f64).to_i32(), None, "something is lost");
        assert_eq!(CFNumber::from(7i32).as_CFType(), CFNumber::from(7.0f64).as_CFType(), "the same number");
        assert!(bool::from(CFBoolean::true_value()) && !bool::from(CFBoolean::false_value()));
        assert_eq!(CFData::from_buffer(&[1, 2, 3]).bytes(), [1, 2, 3]);
    });
}

#[test]
fn containers_hold_what_is_in_them_and_let_go_of_it() {
    watched(|| {
        let inside = CFString::new("inside");
        let raw = inside.as_CFTypeRef();
        let array = CFArray::from_CFTypes(&[inside.clone(), CFString::new("other")]);
        let dictionary = CFDictionary::from_CFType_pairs(&[(CFString::new("key"), inside.clone())]);
        assert!(retain_count(raw).is_none_or(|count| count == 3));
        assert_eq!(array.len(), 2);
        assert_eq!(array.get(0).map(|item| item.to_string()).as_deref(), Some("inside"));
        let key = CFString::new("key");
        assert_eq!(dictionary.find(&key).map(|found| found.to_string()).as_deref(), Some("inside"));
        assert!(dictionary.find(CFString::new("none")).is_none());
        drop((array, dictionary, key));
        assert!(retain_count(raw).is_none_or(|count| count == 1));
        drop(inside);
    });
}

/// A string of these UTF-16 units, whether or not they are text.
fn string_of(units: &[u16]) -> CFString {
    // SAFETY: the units are as many as is said, and what is created is owned.
    unsafe {
        let count = isize::try_from(units.len()).unwrap();
        CFString::wrap_under_create_rule(CFStringCreateWithCharacters(
            std::ptr::null(),
            units.as_ptr(),
            count,
        ))
    }
}

fn units_of(string: &CFString) -> Vec<u16> {
    // SAFETY: the string lives, and the buffer is as long as it.
    unsafe {
        let raw = string.as_concrete_TypeRef();
        let length = CFStringGetLength(raw);
        let mut units = vec![0; usize::try_from(length).unwrap()];
        CFStringGetCharacters(raw, CFRange { location: 0, length }, units.as_mut_ptr());
        units
    }
}

/// How many units are converted to UTF-8, and the bytes; `loss` may stand for what UTF-8 cannot say.
fn utf8_of(string: &CFString, loss: u8) -> (isize, Vec<u8>) {
    let (mut bytes, mut used) = (vec![0; 64], 0);
    // SAFETY: the string lives, and the buffer is as long as is said.
    let converted = unsafe {
        let raw = string.as_concrete_TypeRef();
        let all = CFRange { location: 0, length: CFStringGetLength(raw) };
        CFStringGetBytes(raw, all, kCFStringEncodingUTF8, loss, 0, bytes.as_mut_ptr(), 64, &raw mut used)
    };
    bytes.truncate(usize::try_from(used).unwrap());
    (converted, bytes)
}

#[test]
fn half_a_character_is_kept_and_stops_a_conversion() {
    watched(|| {
        let units = [u16::from(b'a'), 0xD83D, u16::from(b'b')];
        let string = string_of(&units);
        assert_eq!(units_of(&string), units);
        assert_eq!(utf8_of(&string, 0), (1, b"a".to_vec()));
        assert_eq!(utf8_of(&string, b'?'), (1, b"a".to_vec()), "nothing stands for it");
        let whole = string_of(&"a😀b".encode_utf16().collect::<Vec<u16>>());
        assert_eq!(utf8_of(&whole, 0), (4, "a😀b".as_bytes().to_vec()));
    });
}

#[test]
fn a_zero_is_a_unit_like_others() {
    watched(|| {
        let units = [u16::from(b'a'), 0, u16::from(b'b')];
        let string = string_of(&units);
        assert_eq!(units_of(&string), units);
        assert_eq!(utf8_of(&string, 0), (3, b"a\0b".to_vec()));
    });
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
    watched(|| {
        std::thread::spawn(|| {
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
        })
        .join()
        .unwrap();
    });
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
    watched(|| {
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
    });
}
