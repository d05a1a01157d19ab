//! Observers: their registrations, and how notifications are delivered. A notification waits in the observer's port until the run
//! loop with its source runs; one that was posted before its registration was removed is still delivered.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::{Arc, OnceLock, Weak};

use parking_lot::Mutex;

use super::element::{Ask, element, element_of, trusted};
use super::error::{Error, code};
use super::notify::{NAMES, Notification};
use super::tree::Id;
use crate::cf::{self, Body, CFTypeRef, Foreign, ObjectKind, Owned, Port, Source, out, port_source};
use crate::faults::Call;
use crate::manners::{ELEMENT_SCOPED, Manners};

type Callback = unsafe extern "C" fn(CFTypeRef, CFTypeRef, CFTypeRef, *mut c_void);
type CallbackWithInfo = unsafe extern "C" fn(CFTypeRef, CFTypeRef, CFTypeRef, CFTypeRef, *mut c_void);

#[derive(Clone, Copy)]
enum Callout {
    Plain(Callback),
    WithInfo(CallbackWithInfo),
}

/// An observer.
pub(crate) struct Observer {
    pid: u32,
    callout: Callout,
    registered: Mutex<Vec<Registration>>,
    pending: Mutex<VecDeque<PendingCall>>,
    source: OnceLock<(Owned, Arc<Source>)>,
    /// The object itself, as an argument of the callback; it is not retained.
    object: OnceLock<usize>,
}

#[derive(Clone, Copy)]
struct Context(*mut c_void);

// SAFETY: the caller that registers it guarantees that it may be used on the run loop's thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

struct Registration {
    element: Id,
    name: String,
    context: Context,
}

struct PendingCall {
    notification: Notification,
    context: Context,
}

impl Observer {
    /// Queues a notification, once for each registration.
    pub(crate) fn post(&self, pid: u32, notification: &Notification, manners: &Manners) {
        if pid != self.pid {
            return;
        }
        let app_hears =
            manners.app_observers_hear_all || !ELEMENT_SCOPED.contains(&notification.name.as_str());
        let is_about = |registration: &&Registration| {
            registration.name == notification.name
                && (registration.element == notification.element
                    || registration.element == Id::APP && app_hears)
        };
        let contexts: Vec<Context> =
            self.registered.lock().iter().filter(is_about).map(|registration| registration.context).collect();
        if contexts.is_empty() {
            return;
        }
        let pending =
            contexts.into_iter().map(|context| PendingCall { notification: notification.clone(), context });
        {
            let mut waiting = self.pending.lock();
            let room = manners.port_size.saturating_sub(waiting.len());
            waiting.extend(pending.take(room));
        }
        if notification.name == "AXUIElementDestroyed" {
            self.registered.lock().retain(|registration| registration.element != notification.element);
        }
        if let Some((_, source)) = self.source.get() {
            source.wake();
        }
    }

    /// Drops all registrations, as sleep does.
    pub(crate) fn clear(&self) {
        self.registered.lock().clear();
    }

    /// Whether it observes this process.
    pub(crate) fn is_of(&self, pid: u32) -> bool {
        self.pid == pid
    }

    /// How many notifications are registered.
    pub(crate) fn registered(&self) -> usize {
        self.registered.lock().len()
    }
}

impl Port for Observer {
    fn has_pending(&self) -> bool {
        !self.pending.lock().is_empty()
    }

    fn deliver(&self) -> bool {
        const NAME: &str = "a notification";
        let Some(PendingCall { notification, context }) = self.pending.lock().pop_front() else {
            return false;
        };
        let Some(observer) = self.object.get().map(|address| std::ptr::with_exposed_provenance(*address))
        else {
            return false;
        };
        let about = element(self.pid, notification.element, NAME);
        let name = cf::string(&notification.name, NAME);
        match self.callout {
            // SAFETY: the callback was given for such arguments, and its context was registered with it.
            Callout::Plain(callback) => unsafe { callback(observer, about.get(), name.get(), context.0) },
            Callout::WithInfo(callback) => {
                let entries = notification.spoken.iter().flat_map(|text| {
                    [
                        (cf::string("AXAnnouncementKey", NAME), cf::string(text, NAME)),
                        (cf::string("AXPriorityKey", NAME), cf::integer(50, NAME)),
                    ]
                });
                let info = cf::dictionary(entries.collect(), NAME);
                // SAFETY: as above.
                unsafe { callback(observer, about.get(), name.get(), info.get(), context.0) }
            }
        }
        true
    }
}

impl Foreign for Observer {
    fn describe(&self) -> String {
        format!("of {}, {} registered", self.pid, self.registered())
    }
}

fn create(pid: i32, callout: Callout, observer: *mut CFTypeRef, made_by: &'static str) -> Result<(), Error> {
    let world = trusted()?;
    if observer.is_null() || pid <= 0 {
        return Err(Error::IllegalArgument);
    }
    let new = Arc::new(Observer {
        pid: pid.unsigned_abs(),
        callout,
        registered: Mutex::default(),
        pending: Mutex::default(),
        source: OnceLock::new(),
        object: OnceLock::new(),
    });
    world.observers.lock().push(Arc::downgrade(&new));
    let object =
        cf::owned(ObjectKind::Observer, Body::Foreign(Arc::clone(&new) as Arc<dyn Foreign>), made_by);
    new.object.get_or_init(|| object.get().expose_provenance());
    out(observer, object.give());
    Ok(())
}

fn observer_of(observer: CFTypeRef, function: &'static str) -> Option<Arc<Observer>> {
    cf::foreign(observer, ObjectKind::Observer, function)
}

/// `AXObserverGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C" fn AXObserverGetTypeID() -> usize {
    ObjectKind::Observer as usize
}

/// `AXObserverCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn AXObserverCreate(pid: i32, callback: Callback, observer: *mut CFTypeRef) -> i32 {
    code(create(pid, Callout::Plain(callback), observer, "AXObserverCreate"))
}

/// `AXObserverCreateWithInfoCallback`.
#[unsafe(no_mangle)]
pub extern "C" fn AXObserverCreateWithInfoCallback(
    pid: i32,
    callback: CallbackWithInfo,
    observer: *mut CFTypeRef,
) -> i32 {
    code(create(pid, Callout::WithInfo(callback), observer, "AXObserverCreateWithInfoCallback"))
}

/// `AXObserverGetRunLoopSource`: borrowed from the observer.
#[unsafe(no_mangle)]
pub extern "C" fn AXObserverGetRunLoopSource(observer: CFTypeRef) -> CFTypeRef {
    const NAME: &str = "AXObserverGetRunLoopSource";
    let Some(observer) = observer_of(observer, NAME) else { return std::ptr::null() };
    let port: Weak<dyn Port> = Arc::downgrade(&observer) as Weak<dyn Port>;
    observer.source.get_or_init(|| port_source(port, NAME)).0.get()
}

/// `AXObserverAddNotification`: asks the app, which may refuse.
#[unsafe(no_mangle)]
pub extern "C" fn AXObserverAddNotification(
    observer: CFTypeRef,
    element: CFTypeRef,
    notification: CFTypeRef,
    context: *mut c_void,
) -> i32 {
    const NAME: &str = "AXObserverAddNotification";
    let Some(observer) = observer_of(observer, NAME) else {
        return Error::InvalidUIElementObserver as i32;
    };
    let (Some(about), Some(name)) = (element_of(element, NAME), cf::text_of(notification, NAME)) else {
        return Error::IllegalArgument as i32;
    };
    if about.pid != observer.pid {
        return Error::IllegalArgument as i32;
    }
    let context = Context(context);
    let wanted = name.clone();
    let asked = Ask::new(Call::AddNotification, name, NAME).of(element, move |view, id, _| {
        if !view.exists(id) {
            return Err(Error::InvalidUIElement);
        }
        if !NAMES.contains(&wanted.as_str()) {
            return Err(Error::NotificationUnsupported);
        }
        let mut registered = observer.registered.lock();
        if registered.iter().any(|other| other.element == id && other.name == wanted) {
            return Err(Error::NotificationAlreadyRegistered);
        }
        registered.push(Registration { element: id, name: wanted, context });
        Ok(())
    });
    code(asked.map(drop))
}

/// `AXObserverRemoveNotification`: what has been posted already still comes.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXObserverRemoveNotification(
    observer: CFTypeRef,
    element: CFTypeRef,
    notification: CFTypeRef,
) -> i32 {
    const NAME: &str = "AXObserverRemoveNotification";
    let Some(observer) = observer_of(observer, NAME) else {
        return Error::InvalidUIElementObserver as i32;
    };
    let (Some(about), Some(name)) = (element_of(element, NAME), cf::text_of(notification, NAME)) else {
        return Error::IllegalArgument as i32;
    };
    let mut registered = observer.registered.lock();
    let before = registered.len();
    registered.retain(|other| other.element != about.id || other.name != name);
    if registered.len() < before { 0 } else { Error::NotificationNotRegistered as i32 }
}
