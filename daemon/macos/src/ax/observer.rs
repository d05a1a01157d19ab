//! Observers: how an app reports what happens in it.
//!
//! The callback only puts a notification into the [`EventQueue`]; the thread handles it when its run loop has returned, so
//! that nothing is done inside of callbacks. A callback may still come when its observer is gone. Its context is therefore an
//! id and no pointer, and notifications of an id that is no longer registered are dropped.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ffi::c_void;
use std::rc::Rc;

use core_foundation::base::{CFType, TCFType};
use core_foundation::string::CFString;

use super::element::{Element, context_pointer};
use super::error::AxError;
use super::{guard, value};
use crate::ffi::ax::{
    AXObserverAddNotification, AXObserverCreateWithInfoCallback, AXObserverGetRunLoopSource, AXObserverRef,
    AXObserverRemoveNotification, AXUIElementRef, kAXErrorNotificationAlreadyRegistered,
};
use crate::ffi::cf::{
    CFDictionaryRef, CFRunLoopAddSource, CFRunLoopGetCurrent, CFRunLoopSourceInvalidate, CFRunLoopSourceRef,
    CFStringRef, CFTypeRef, kCFRunLoopDefaultMode,
};
use crate::ffi::names::{kAXAnnouncementKey, kAXUIElementsKey};

/// A notification of an app.
#[derive(Debug)]
pub struct AxNotification {
    /// Its name, such as `AXValueChanged`.
    pub name: String,
    /// The element it is about.
    pub element: Element,
    /// The text that is to be spoken, if it is an announcement.
    pub announcement: Option<String>,
    /// Other elements that it is about, from the user info.
    pub other_elements: Vec<Element>,
}

/// How many notifications wait at most. Beyond that they are dropped, and the whole app is read again.
const MAX_PENDING: usize = 20_000;

/// Notifications that were received and not handled yet. Clones share one queue.
#[derive(Clone, Default)]
pub struct EventQueue(Rc<RefCell<Pending>>);

#[derive(Default)]
struct Pending {
    notifications: VecDeque<AxNotification>,
    /// Whether a notification was dropped because the queue was full.
    overflowed: bool,
}

impl EventQueue {
    /// Takes the oldest notification.
    pub fn pop(&self) -> Option<AxNotification> {
        self.0.borrow_mut().notifications.pop_front()
    }

    /// Whether notifications were dropped since the last call.
    pub fn take_overflow(&self) -> bool {
        std::mem::take(&mut self.0.borrow_mut().overflowed)
    }

    fn push(&self, notification: AxNotification) {
        let mut pending = self.0.borrow_mut();
        if pending.notifications.len() < MAX_PENDING {
            pending.notifications.push_back(notification);
        } else {
            pending.overflowed = true;
        }
    }
}

thread_local! {
    static OBSERVERS: RefCell<ObserverTable> = RefCell::default();
}

/// The queues of this thread's observers, by the id that their callbacks get as context.
#[derive(Default)]
struct ObserverTable {
    last_id: usize,
    queues: HashMap<usize, EventQueue>,
}

/// Observes one process, on the thread that made it.
pub struct Observer {
    observer: CFType,
    id: usize,
    source: CFRunLoopSourceRef,
}

impl Observer {
    /// Creates an observer of a process; the notifications that are added to it go into `queue`.
    pub fn new(pid: u32, queue: &EventQueue) -> Result<Observer, AxError> {
        let pid = i32::try_from(pid).map_err(|_| AxError::GONE)?;
        let mut raw: AXObserverRef = std::ptr::null_mut();
        // SAFETY: `raw` is writable, and the callback is a static function.
        let error =
            guard::call(|| unsafe { AXObserverCreateWithInfoCallback(pid, observer_callback, &mut raw) });
        // SAFETY: it is null, or an object whose reference is ours.
        let observer = unsafe { value::from_owned(raw as CFTypeRef) };
        AxError::check(error)?;
        let observer = observer.ok_or(AxError::BUSY)?;
        // SAFETY: the observer lives, and its source as long as it does; the loop is this thread's.
        let source = unsafe {
            let source = AXObserverGetRunLoopSource(observer.as_CFTypeRef() as AXObserverRef);
            CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
            source
        };
        let id = OBSERVERS.with_borrow_mut(|observers| {
            observers.last_id += 1;
            observers.queues.insert(observers.last_id, queue.clone());
            observers.last_id
        });
        Ok(Observer { observer, id, source })
    }

    /// Registers for a notification of the element; of an app's own element, also for those of everything below it. To
    /// register twice is not an error.
    pub fn add(&self, element: &Element, notification: &str) -> Result<(), AxError> {
        let name = CFString::new(notification);
        // SAFETY: observer, element and name live; the context is an id and never dereferenced.
        let error = guard::call(|| unsafe {
            AXObserverAddNotification(
                self.observer.as_CFTypeRef() as AXObserverRef,
                element.raw(),
                name.as_concrete_TypeRef(),
                context_pointer(self.id),
            )
        });
        if error == kAXErrorNotificationAlreadyRegistered { Ok(()) } else { AxError::check(error) }
    }

    /// Registers no longer for a notification of the element.
    pub fn remove(&self, element: &Element, notification: &str) {
        let name = CFString::new(notification);
        // If this fails, the element is gone or was not registered for.
        // SAFETY: observer, element and name live.
        let _ = guard::call(|| unsafe {
            AXObserverRemoveNotification(
                self.observer.as_CFTypeRef() as AXObserverRef,
                element.raw(),
                name.as_concrete_TypeRef(),
            )
        });
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        // The table is gone already if the thread is ending.
        let _ = OBSERVERS.try_with(|observers| observers.borrow_mut().queues.remove(&self.id));
        // SAFETY: the source lives as long as the observer, which is released after this.
        unsafe { CFRunLoopSourceInvalidate(self.source) };
    }
}

unsafe extern "C" fn observer_callback(
    _: AXObserverRef,
    element: AXUIElementRef,
    notification: CFStringRef,
    info: CFDictionaryRef,
    context: *mut c_void,
) {
    // A notification that cannot be taken counts as one that was dropped.
    if guard::catch_panic("an observer", || receive(element, notification, info, context)).is_none() {
        with_queue(context, |queue| queue.0.borrow_mut().overflowed = true);
    }
}

fn receive(element: AXUIElementRef, notification: CFStringRef, info: CFDictionaryRef, context: *mut c_void) {
    // SAFETY: the arguments of a callback live while it runs.
    let (element, name) = unsafe { (Element::retained(element), value::retained(notification as CFTypeRef)) };
    let (Some(element), Some(name)) = (element, name.as_ref().and_then(value::text)) else { return };
    let user_info = |key: &str| {
        // SAFETY: as above; the user info is a dictionary of objects, or null.
        unsafe { value::lookup(info, &CFString::new(key)) }
    };
    let announcement = user_info(kAXAnnouncementKey).as_ref().and_then(value::text);
    let other_elements = user_info(kAXUIElementsKey).as_ref().map(Element::all_in).unwrap_or_default();
    let notification = AxNotification { name, element, announcement, other_elements };
    with_queue(context, |queue| queue.push(notification));
}

/// Does something with the queue of an observer, if that is still registered. Nothing is borrowed while the loop runs.
fn with_queue(context: *mut c_void, change: impl FnOnce(EventQueue)) {
    // The table is gone already if the thread is ending.
    let _ = OBSERVERS.try_with(|observers| {
        let queue = observers.borrow().queues.get(&context.addr()).cloned();
        if let Some(queue) = queue {
            change(queue);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_bounded_and_says_that_it_overflowed() {
        let (queue, element) = (EventQueue::default(), Element::app(1).unwrap());
        let flood = |count: usize| {
            for _ in 0..count {
                let (name, element) = ("AXValueChanged".to_owned(), element.clone());
                queue.push(AxNotification { name, element, announcement: None, other_elements: Vec::new() });
            }
        };
        flood(MAX_PENDING);
        assert!(!queue.take_overflow());
        flood(1);
        assert!(queue.take_overflow());
        assert!(!queue.take_overflow(), "it is said once");
        assert_eq!(std::iter::from_fn(|| queue.pop()).count(), MAX_PENDING);
    }
}
