//! Being told by an app what happens in it.
//!
//! What an observer hears waits in its [`Ear`], and is dealt with when the run loop has returned: nothing is done inside
//! of callbacks. A callback may come late, when its observer is gone; so what it is handed is a number and no pointer,
//! and a number that nobody has any more is not listened to.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::rc::Rc;

use core_foundation::base::{CFType, TCFType};
use core_foundation::string::CFString;

use super::element::{Element, token};
use super::error::Fault;
use super::value;
use crate::ffi::ax::{
    AXObserverAddNotification, AXObserverCreateWithInfoCallback, AXObserverGetRunLoopSource, AXObserverRef,
    AXUIElementRef, kAXErrorNotificationAlreadyRegistered,
};
use crate::ffi::cf::{
    CFDictionaryRef, CFRunLoopAddSource, CFRunLoopGetCurrent, CFRunLoopSourceInvalidate, CFRunLoopSourceRef,
    CFStringRef, CFTypeRef, kCFRunLoopDefaultMode,
};
use crate::ffi::names::{kAXAnnouncementKey, kAXUIElementsKey};

/// What an app told.
#[derive(Debug)]
pub struct Heard {
    /// What happened.
    pub name: String,
    /// To what.
    pub element: Element,
    /// What is to be spoken.
    pub announcement: Option<String>,
    /// What else it happened to.
    pub others: Vec<Element>,
}

/// Where what was heard waits. Clones are the same ear.
#[derive(Clone, Default)]
pub struct Ear(Rc<RefCell<Waiting>>);

#[derive(Default)]
struct Waiting {
    heard: VecDeque<Heard>,
    /// So much was heard that not all of it was kept.
    overflowed: bool,
}

impl Ear {
    /// What was heard first, if anything was.
    pub fn next(&self) -> Option<Heard> {
        self.0.borrow_mut().heard.pop_front()
    }

    /// Whether something was heard and not kept, since this was last asked.
    pub fn has_overflowed(&self) -> bool {
        std::mem::take(&mut self.0.borrow_mut().overflowed)
    }

    fn hear(&self, heard: Heard) {
        let mut waiting = self.0.borrow_mut();
        if waiting.heard.len() < MOST_HEARD {
            waiting.heard.push_back(heard);
        } else {
            waiting.overflowed = true;
        }
    }
}

/// More that nobody dealt with is not kept: everything is read again then.
const MOST_HEARD: usize = 20_000;

thread_local! {
    static LISTENING: RefCell<Listening> = RefCell::default();
}

#[derive(Default)]
struct Listening {
    last: usize,
    ears: HashMap<usize, Ear>,
}

/// Observes one process, on the thread that made it.
pub struct Observer {
    observer: CFType,
    number: usize,
    source: CFRunLoopSourceRef,
}

impl Observer {
    /// Begins to listen to a process; what it tells, once it is asked to, goes to `ear`.
    pub fn new(pid: u32, ear: &Ear) -> Result<Observer, Fault> {
        let pid = i32::try_from(pid).map_err(|_| Fault::GONE)?;
        let mut raw: AXObserverRef = std::ptr::null_mut();
        // SAFETY: `raw` can be written to, and the callback is a function for ever.
        let error = unsafe { AXObserverCreateWithInfoCallback(pid, heard, &mut raw) };
        // SAFETY: what was handed out is ours; nothing was if it is null.
        let observer = unsafe { value::own(raw as CFTypeRef) };
        Fault::check(error)?;
        let observer = observer.ok_or(Fault::BUSY)?;
        // SAFETY: the observer lives, and its source as long as it does; the loop is this thread's.
        let source = unsafe {
            let source = AXObserverGetRunLoopSource(observer.as_CFTypeRef() as AXObserverRef);
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
            source
        };
        let number = LISTENING.with_borrow_mut(|listening| {
            listening.last += 1;
            listening.ears.insert(listening.last, ear.clone());
            listening.last
        });
        Ok(Observer { observer, number, source })
    }

    /// Asks to be told when this happens to the element, or to anything below it if it is an app. To have asked before
    /// is as good.
    pub fn add(&self, element: &Element, notification: &str) -> Result<(), Fault> {
        let name = CFString::new(notification);
        // SAFETY: observer, element and name live; the context is a number and never followed.
        let error = unsafe {
            AXObserverAddNotification(
                self.observer.as_CFTypeRef() as AXObserverRef,
                element.raw(),
                name.as_concrete_TypeRef(),
                token(self.number),
            )
        };
        if error == kAXErrorNotificationAlreadyRegistered { Ok(()) } else { Fault::check(error) }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        // The thread may be ending, and its listeners with it.
        let _ = LISTENING.try_with(|listening| listening.borrow_mut().ears.remove(&self.number));
        // SAFETY: the source lives as long as the observer, which is released after this.
        unsafe { CFRunLoopSourceInvalidate(self.source) };
    }
}

unsafe extern "C" fn heard(
    _: AXObserverRef,
    element: AXUIElementRef,
    notification: CFStringRef,
    info: CFDictionaryRef,
    context: *mut c_void,
) {
    // SAFETY: what a callback is handed lives while it runs.
    let (element, name) = unsafe { (Element::share(element), value::share(notification as CFTypeRef)) };
    let (Some(element), Some(name)) = (element, name.as_ref().and_then(value::text)) else { return };
    let about = |key: &str| {
        // SAFETY: as above; the information is a dictionary of objects, or null.
        unsafe { value::lookup(info, &CFString::new(key)) }
    };
    let announcement = about(kAXAnnouncementKey).as_ref().and_then(value::text);
    let others = about(kAXUIElementsKey).as_ref().map(Element::all).unwrap_or_default();
    let heard = Heard { name, element, announcement, others };
    // A panic must not cross into the caller, and there is none here: nothing is borrowed while the loop runs.
    let _ = LISTENING.try_with(|listening| {
        let ear = listening.borrow().ears.get(&context.addr()).cloned();
        if let Some(ear) = ear {
            ear.hear(heard);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_bounded_and_says_that_it_overflowed() {
        let (ear, element) = (Ear::default(), Element::app(1).unwrap());
        let flood = |count: usize| {
            for _ in 0..count {
                let (name, element) = ("AXValueChanged".to_owned(), element.clone());
                ear.hear(Heard { name, element, announcement: None, others: Vec::new() });
            }
        };
        flood(MOST_HEARD);
        assert!(!ear.has_overflowed());
        flood(1);
        assert!(ear.has_overflowed());
        assert!(!ear.has_overflowed(), "it is said once");
        assert_eq!(std::iter::from_fn(|| ear.next()).count(), MOST_HEARD);
    }
}
