//! Elements: objects that refer to something in an app, and the functions that read it. Each one that is returned is
//! a new object; two are equal if they refer to the same thing.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use axd_platform::DesktopWindow;
use axd_protocol::Point;
use parking_lot::Mutex;
use rustc_hash::FxHasher;

use super::attributes::{Value, part_of};
use super::error::{Error, code};
use super::tree::{AppState, Id, View};
use super::value::{boxed_error, object, value_of};
use crate::cf::{self, Body, CFTypeRef, Foreign, ObjectKind, Owned, constant_strings, out};
use crate::faults::{Call, Fault};
use crate::trace::TracedCall;
use crate::world::{Inner, current};

/// The process of the system-wide element.
const SYSTEM_WIDE: u32 = 0;

constant_strings! {
    kAXTrustedCheckOptionPrompt = "AXTrustedCheckOptionPrompt";
}

/// What an element refers to.
#[derive(Debug)]
pub(crate) struct Element {
    pub pid: u32,
    pub id: Id,
    /// The messaging timeout of this object; equal objects have their own.
    pub timeout: Mutex<Option<f32>>,
}

impl Foreign for Element {
    fn equal(&self, other: &dyn Foreign) -> bool {
        let other: &dyn std::any::Any = other;
        other.downcast_ref::<Element>().is_some_and(|other| (self.pid, self.id) == (other.pid, other.id))
    }

    fn hash(&self) -> Option<u64> {
        let mut hasher = FxHasher::default();
        (self.pid, self.id).hash(&mut hasher);
        Some(hasher.finish())
    }

    fn describe(&self) -> String {
        format!("{:?} of {}", self.id, self.pid)
    }
}

/// An element, as an object.
pub(crate) fn element(pid: u32, id: Id, made_by: &'static str) -> Owned {
    let element = Element { pid, id, timeout: Mutex::new(None) };
    cf::owned(ObjectKind::Element, Body::Foreign(Arc::new(element)), made_by)
}

pub(super) fn element_of(element: CFTypeRef, function: &'static str) -> Option<Arc<Element>> {
    cf::foreign(element, ObjectKind::Element, function)
}

/// The world, if this process has the permission.
pub(super) fn trusted() -> Result<Arc<Inner>, Error> {
    let world = current().ok_or(Error::CannotComplete)?;
    if world.settings.lock().trusted { Ok(world) } else { Err(Error::APIDisabled) }
}

/// A call about an element.
pub(super) struct Ask {
    pub call: Call,
    pub name: String,
    pub function: &'static str,
}

impl Ask {
    pub(super) fn new(call: Call, name: impl Into<String>, function: &'static str) -> Ask {
        Ask { call, name: name.into(), function }
    }

    /// Sends the call to the app, and waits up to its messaging timeout.
    pub(super) fn of<T: Send + 'static>(
        self,
        element: CFTypeRef,
        look: impl FnOnce(&mut View<'_>, Id, &Inner) -> Result<T, Error> + Send + 'static,
    ) -> Result<(u32, T), Error> {
        self.acting(element, |view, id, world, fault| {
            strike(view, id, fault)?;
            look(view, id, world)
        })
    }

    /// Like `of`, for a call that acts: the fault that is injected is left to the closure.
    pub(super) fn acting<T: Send + 'static>(
        self,
        element: CFTypeRef,
        look: impl FnOnce(&mut View<'_>, Id, &Inner, Option<Fault>) -> Result<T, Error> + Send + 'static,
    ) -> Result<(u32, T), Error> {
        if element.is_null() {
            return Err(Error::IllegalArgument);
        }
        let element = element_of(element, self.function).ok_or(Error::InvalidUIElement)?;
        let world = trusted()?;
        let (pid, id) = (element.pid, element.id);
        let timeout = world.message_timeout(*element.timeout.lock());
        world.trace.record_call();
        let inner = Arc::clone(&world);
        let looked = world.visit(pid, timeout, move |inside| {
            let mut view = View::of(inside, inner.standing(pid));
            let fault = self.traced(&view, pid, id, &inner);
            look(&mut view, id, &inner, fault)
        });
        // What it announced before comes after the answer.
        world.post_waiting(pid);
        // The way to another process and back takes its time, whatever the app answers.
        let round_trip = world.settings.lock().manners.round_trip;
        if !round_trip.is_zero() {
            std::thread::sleep(round_trip);
        }
        looked.flatten().map(|looked| (pid, looked))
    }

    /// Traces the call, and returns the fault that is injected.
    fn traced(&self, view: &View<'_>, pid: u32, id: Id, world: &Inner) -> Option<Fault> {
        let widget = view.model.widget(id.widget()).and_then(|widget| widget.id.clone());
        let (call, name) = (self.call, &self.name);
        let traced = || TracedCall { call, pid, element: id, widget: widget.clone(), name: name.clone() };
        world.trace.record(traced);
        world.faults.take(call, pid, widget.as_deref(), name)
    }
}

/// Fails as the fault says, if there is one.
pub(super) fn strike(view: &mut View<'_>, id: Id, fault: Option<Fault>) -> Result<(), Error> {
    let Some(fault) = fault else { return Ok(()) };
    if fault.kills {
        view.model.remove(id.widget());
        return Err(fault.error.unwrap_or(Error::InvalidUIElement));
    }
    fault.error.map_or(Ok(()), Err)
}

/// Reads an attribute, and counts reads of secure fields.
fn read(view: &mut View<'_>, pid: u32, id: Id, name: &str, world: &Inner) -> Result<Value, Error> {
    let is_secret = name == "AXValue" && {
        let widget = view.model.widget(id.widget());
        widget.is_some_and(|widget| widget.states.has(axd_protocol::State::Secure))
    };
    if is_secret {
        world.trace.record_secure_read();
    }
    if name == "AXRole"
        && let Some(world) = current()
    {
        world.looked_at(pid, view, id);
    }
    let value = view.attribute(id, name)?;
    let value = world.through_menus(view, pid, id, name, value);
    let value = world.across(pid, id, name, value);
    let value = world.dressed(pid, view, id, name, value);
    match &value {
        Value::Elements(ids) => world.trace.record_elements(ids.len()),
        Value::Mixed(ids) => world.trace.record_elements(ids.len()),
        _ => {}
    }
    Ok(value)
}

/// `AXIsProcessTrusted`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXIsProcessTrusted() -> bool {
    current().is_some_and(|world| {
        let mut settings = world.settings.lock();
        let now = settings.trusted;
        *settings.says_trusted.get_or_insert(now)
    })
}

/// `AXIsProcessTrustedWithOptions`: the user is asked if that is wanted, and answers after this has.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXIsProcessTrustedWithOptions(options: CFTypeRef) -> bool {
    const NAME: &str = "AXIsProcessTrustedWithOptions";
    let before = AXIsProcessTrusted();
    let prompt = cf::string("AXTrustedCheckOptionPrompt", NAME);
    let asks = !options.is_null()
        && cf::entry(options, prompt.get(), NAME)
            .is_some_and(|wanted| cf::truth_of(wanted, NAME) == Some(true));
    if let Some(world) = current().filter(|_| asks) {
        let mut settings = world.settings.lock();
        settings.dialogs += 1;
        settings.says_yes_after = settings.says_yes_after.map(|times| times.saturating_sub(1));
        settings.trusted |= settings.says_yes_after == Some(0);
    }
    before
}

/// `AXUIElementGetTypeID`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementGetTypeID() -> usize {
    ObjectKind::Element as usize
}

/// `AXUIElementCreateApplication`: whether there is such an app is not looked at.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementCreateApplication(pid: i32) -> CFTypeRef {
    element(pid.unsigned_abs(), Id::APP, "AXUIElementCreateApplication").give()
}

/// `AXUIElementCreateSystemWide`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementCreateSystemWide() -> CFTypeRef {
    element(SYSTEM_WIDE, Id::APP, "AXUIElementCreateSystemWide").give()
}

/// `AXUIElementGetPid`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementGetPid(element: CFTypeRef, pid: *mut i32) -> i32 {
    if let Some(world) = current() {
        world.panic_once();
    }
    match element_of(element, "AXUIElementGetPid") {
        Some(element) if out(pid, element.pid as i32) => 0,
        Some(_) => Error::IllegalArgument as i32,
        None => Error::InvalidUIElement as i32,
    }
}

/// `AXUIElementSetMessagingTimeout`: for this object alone, or for all if it is the system-wide one.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementSetMessagingTimeout(element: CFTypeRef, seconds: f32) -> i32 {
    let Some(element) = element_of(element, "AXUIElementSetMessagingTimeout") else {
        return Error::InvalidUIElement as i32;
    };
    if !seconds.is_finite() || seconds < 0.0 {
        return Error::IllegalArgument as i32;
    }
    let timeout = (seconds > 0.0).then_some(seconds);
    match current().filter(|_| element.pid == SYSTEM_WIDE) {
        Some(world) => world.settings.lock().timeout = timeout,
        None => *element.timeout.lock() = timeout,
    }
    0
}

/// `AXUIElementCopyAttributeNames`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementCopyAttributeNames(element: CFTypeRef, names: *mut CFTypeRef) -> i32 {
    const NAME: &str = "AXUIElementCopyAttributeNames";
    let asked = Ask::new(Call::Names, "", NAME)
        .of(element, |view, id, _| view.exists(id).then(|| view.names(id)).ok_or(Error::InvalidUIElement));
    code(asked.and_then(|(_, found)| {
        let found = found.into_iter().map(|name| cf::string(name, NAME)).collect();
        return_object(names, cf::array(found, NAME))
    }))
}

/// Returns an object to a C caller through a pointer, if that is not null.
pub(super) fn return_object(place: *mut CFTypeRef, object: Owned) -> Result<(), Error> {
    if place.is_null() {
        return Err(Error::IllegalArgument);
    }
    out(place, object.give());
    Ok(())
}

/// `AXUIElementCopyAttributeValue`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementCopyAttributeValue(
    element: CFTypeRef,
    attribute: CFTypeRef,
    value: *mut CFTypeRef,
) -> i32 {
    const NAME: &str = "AXUIElementCopyAttributeValue";
    let Some(attribute) = cf::text_of(attribute, NAME) else { return Error::IllegalArgument as i32 };
    let pid = element_of(element, NAME).map_or(0, |element| element.pid);
    if !element.is_null() && pid == SYSTEM_WIDE {
        return code(of_system(&attribute).and_then(|found| return_object(value, found)));
    }
    let ask = Ask::new(Call::Read, attribute.clone(), NAME);
    let asked = ask.of(element, move |view, id, world| read(view, pid, id, &attribute, world));
    code(asked.and_then(|(pid, found)| return_object(value, object(pid, &found, NAME))))
}

/// The system-wide element knows the focused app and element.
fn of_system(attribute: &str) -> Result<Owned, Error> {
    const NAME: &str = "AXUIElementCopyAttributeValue";
    let world = trusted()?;
    let pid = world.sim.active().0.ok_or(Error::NoValue)?;
    match attribute {
        "AXRole" => Ok(cf::string("AXSystemWide", NAME)),
        "AXFocusedApplication" => Ok(element(pid, Id::APP, NAME)),
        "AXFocusedUIElement" => {
            let timeout = world.message_timeout(None);
            let focus = world.visit(pid, timeout, |inside| {
                let view = View::of(inside, AppState::default());
                view.model.focus().map(|focus| view.id_of(focus))
            });
            focus?.map(|focus| element(pid, focus, NAME)).ok_or(Error::NoValue)
        }
        _ => Err(Error::AttributeUnsupported),
    }
}

/// `AXUIElementCopyAttributeValues`: some of the elements of an attribute that has many.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementCopyAttributeValues(
    element: CFTypeRef,
    attribute: CFTypeRef,
    start: isize,
    most: isize,
    values: *mut CFTypeRef,
) -> i32 {
    const NAME: &str = "AXUIElementCopyAttributeValues";
    let (start, most) = (usize::try_from(start), usize::try_from(most));
    let (Some(attribute), Ok(start), Ok(most)) = (cf::text_of(attribute, NAME), start, most) else {
        return Error::IllegalArgument as i32;
    };
    let ask = Ask::new(Call::Read, attribute.clone(), NAME);
    let asked = ask.of(element, move |view, id, world| match view.attribute(id, &attribute)? {
        Value::Elements(all) if start > all.len() => Err(Error::IllegalArgument),
        Value::Elements(all) => {
            let some: Vec<Id> = all.into_iter().skip(start).take(most).collect();
            world.trace.record_elements(some.len());
            Ok(Value::Elements(some))
        }
        _ => Err(Error::IllegalArgument),
    });
    code(asked.and_then(|(pid, found)| return_object(values, object(pid, &found, NAME))))
}

/// `AXUIElementGetAttributeValueCount`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementGetAttributeValueCount(
    element: CFTypeRef,
    attribute: CFTypeRef,
    count: *mut isize,
) -> i32 {
    const NAME: &str = "AXUIElementGetAttributeValueCount";
    let Some(attribute) = cf::text_of(attribute, NAME) else { return Error::IllegalArgument as i32 };
    let ask = Ask::new(Call::Count, attribute.clone(), NAME);
    let pid = element_of(element, NAME).map_or(0, |element| element.pid);
    let asked = ask.of(element, move |view, id, world| {
        match view.attribute(id, &attribute).map(|value| world.across(pid, id, &attribute, value))? {
            Value::Elements(all) => Ok(all.len() as isize),
            Value::Mixed(all) => Ok(all.len() as isize),
            _ => Err(Error::IllegalArgument),
        }
    });
    code(asked.and_then(|(_, found)| out(count, found).then_some(()).ok_or(Error::IllegalArgument)))
}

/// `AXUIElementCopyMultipleAttributeValues`: what cannot be read has the error in its place.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementCopyMultipleAttributeValues(
    element: CFTypeRef,
    attributes: CFTypeRef,
    options: u32,
    values: *mut CFTypeRef,
) -> i32 {
    const NAME: &str = "AXUIElementCopyMultipleAttributeValues";
    const STOP_ON_ERROR: u32 = 1;
    let names = cf::items_of(attributes, NAME).unwrap_or_default();
    let names: Option<Vec<String>> = names.into_iter().map(|name| cf::text_of(name, NAME)).collect();
    let Some(names) = names else { return Error::IllegalArgument as i32 };
    let ask = Ask::new(Call::ReadMany, names.join(" "), NAME);
    let pid = element_of(element, NAME).map_or(0, |element| element.pid);
    let asked = ask.of(element, move |view, id, world| {
        let mut found = Vec::with_capacity(names.len());
        for name in &names {
            let widget = view.model.widget(id.widget()).and_then(|widget| widget.id.clone());
            let fault = world.faults.take(Call::Read, pid, widget.as_deref(), name);
            match strike(view, id, fault).and_then(|()| read(view, pid, id, name, world)) {
                // It ended: there is nothing to put anywhere.
                Err(Error::InvalidUIElement) => return Err(Error::InvalidUIElement),
                Err(error) if options & STOP_ON_ERROR != 0 => return Err(error),
                other => found.push(other),
            }
        }
        Ok(found)
    });
    code(asked.and_then(|(pid, found)| {
        let objects = found.iter().map(|found| match found {
            Ok(value) => object(pid, value, NAME),
            Err(error) => boxed_error(*error, NAME),
        });
        return_object(values, cf::array(objects.collect(), NAME))
    }))
}

/// `AXUIElementCopyParameterizedAttributeValue`.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementCopyParameterizedAttributeValue(
    element: CFTypeRef,
    attribute: CFTypeRef,
    parameter: CFTypeRef,
    value: *mut CFTypeRef,
) -> i32 {
    const NAME: &str = "AXUIElementCopyParameterizedAttributeValue";
    let (Some(attribute), Some(parameter)) = (cf::text_of(attribute, NAME), value_of(parameter, NAME)) else {
        return Error::IllegalArgument as i32;
    };
    let ask = Ask::new(Call::Parameterized, attribute.clone(), NAME);
    let asked = ask.of(element, move |view, id, _| {
        if view.attribute(id, "AXNumberOfCharacters").is_err() {
            return Err(Error::ParameterizedAttributeUnsupported);
        }
        let Value::Range(start, count) = parameter else { return Err(Error::IllegalArgument) };
        let (Ok(start), Ok(count)) = (usize::try_from(start), usize::try_from(count)) else {
            return Err(Error::IllegalArgument);
        };
        match attribute.as_str() {
            "AXStringForRange" => Ok(Value::Text(part_of(&view.held(id), start, count))),
            _ => Err(Error::ParameterizedAttributeUnsupported),
        }
    });
    code(asked.and_then(|(pid, found)| return_object(value, object(pid, &found, NAME))))
}

/// `AXUIElementCopyElementAtPosition`: of one app, or of whichever is in front there.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn AXUIElementCopyElementAtPosition(
    application: CFTypeRef,
    x: f32,
    y: f32,
    found: *mut CFTypeRef,
) -> i32 {
    const NAME: &str = "AXUIElementCopyElementAtPosition";
    let point = Point { x: x.floor() as i32, y: y.floor() as i32 };
    let Some(of) = element_of(application, NAME) else { return Error::IllegalArgument as i32 };
    let look = move |of: CFTypeRef| {
        let pid = element_of(of, NAME).map_or(0, |of| of.pid);
        Ask::new(Call::At, "", NAME).of(of, move |view, _, world| {
            let hit = view.at(point).ok_or(Error::NoValue)?;
            Ok(world.touched(pid, view, hit))
        })
    };
    let asked = if of.pid == SYSTEM_WIDE {
        trusted().and_then(|world| {
            let is_there = |bounds: axd_protocol::Bounds| bounds.contains(point);
            let windows = world.sim.windows();
            let is_up = |seen: &&DesktopWindow| !seen.minimized && !world.sim.is_hidden(seen.pid);
            let mut there = windows.iter().filter(is_up).filter(|seen| seen.bounds.is_some_and(is_there));
            let pid = there.next().ok_or(Error::NoValue)?.pid;
            let app = element(pid, Id::APP, NAME);
            look(app.get())
        })
    } else {
        look(application)
    };
    // Where another process shows something, what is there is of that one.
    let asked = asked.map(|(pid, id)| {
        let guest = current().and_then(|world| world.shown_in((pid, id)));
        let inside = guest.and_then(|(pid, _)| look(element(pid, Id::APP, NAME).get()).ok());
        inside.unwrap_or((pid, id))
    });
    code(asked.and_then(|(pid, id)| return_object(found, element(pid, id, NAME))))
}

/// `_AXUIElementGetWindow`: the window system's number of a window.
#[unsafe(no_mangle)]
pub extern "C-unwind" fn _AXUIElementGetWindow(element: CFTypeRef, window: *mut u32) -> i32 {
    const NAME: &str = "_AXUIElementGetWindow";
    let asked = Ask::new(Call::Window, "", NAME).of(element, |view, id, _| {
        let widget = view.model.widget(id.widget()).ok_or(Error::InvalidUIElement)?;
        let number = widget.window.and_then(|number| u32::try_from(number).ok());
        number.ok_or(Error::IllegalArgument)
    });
    code(asked.and_then(|(_, number)| out(window, number).then_some(()).ok_or(Error::IllegalArgument)))
}
