//! Events: how they are created, changed and posted.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

use super::CGPoint;
use super::input::pointer;
use super::keys::key_of;
use crate::cf::{self, Body, CFTypeRef, Foreign};
use crate::world::current;
use axd_protocol::keys::Key;

const LEFT_DOWN: u32 = 1;
const LEFT_UP: u32 = 2;
const RIGHT_DOWN: u32 = 3;
const RIGHT_UP: u32 = 4;
const MOVED: u32 = 5;
const LEFT_DRAGGED: u32 = 6;
const RIGHT_DRAGGED: u32 = 7;
const KEY_DOWN: u32 = 10;
const KEY_UP: u32 = 11;
pub(super) const FLAGS_CHANGED: u32 = 12;
const SCROLL_WHEEL: u32 = 22;
const OTHER_DOWN: u32 = 25;
const OTHER_UP: u32 = 26;
const OTHER_DRAGGED: u32 = 27;

const PRESS: u32 = 0;
const CLICK_STATE: u32 = 1;
const BUTTON_NUMBER: u32 = 3;
const KEY_CODE: u32 = 9;

/// An event, as it was posted.
#[derive(Debug, Clone, PartialEq)]
pub struct Posted {
    /// Its type, as `CGEventType` numbers them.
    pub number: u32,
    /// Its kind.
    pub kind: EventKind,
    /// Its location.
    pub at: CGPoint,
    /// The mouse button.
    pub button: u32,
    /// The click count.
    pub clicks: i64,
    /// The event number, which a press and its release share.
    pub press: i64,
    /// The key code.
    pub key: u16,
    /// The text that it types.
    pub text: Option<String>,
    /// The modifiers that are held.
    pub flags: u64,
    /// How many lines it scrolls, up and left.
    pub wheel: (i32, i32),
    /// The process it was posted to; `None` if it was posted to the system.
    pub pid: Option<i32>,
    /// How long the user's own mouse and keyboard are ignored after it, in seconds.
    pub suppresses: f64,
    /// When it was posted.
    pub when: Instant,
}

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum EventKind {
    Move,
    Button { down: bool },
    Key { down: bool },
    Wheel,
    Other,
}

#[derive(Debug)]
struct Event(Mutex<Posted>);

impl Foreign for Event {
    fn describe(&self) -> String {
        format!("{:?}", self.0.lock())
    }
}

/// An event source: how long its events suppress the user's own.
#[derive(Debug)]
struct EventSource(Mutex<f64>);

impl Foreign for EventSource {}

/// The default, as documented by Apple.
const DEFAULT_SUPPRESSION_SECONDS: f64 = 0.25;

fn kind_of(number: u32, key: u16, flags: u64) -> EventKind {
    match number {
        LEFT_DOWN | RIGHT_DOWN | OTHER_DOWN => EventKind::Button { down: true },
        LEFT_UP | RIGHT_UP | OTHER_UP => EventKind::Button { down: false },
        MOVED | LEFT_DRAGGED | RIGHT_DRAGGED | OTHER_DRAGGED => EventKind::Move,
        KEY_DOWN => EventKind::Key { down: true },
        KEY_UP => EventKind::Key { down: false },
        FLAGS_CHANGED => match key_of(key) {
            Some(Key::Modifier(modifier)) => {
                EventKind::Key { down: flags & super::keys::flag_of(modifier) != 0 }
            }
            _ => EventKind::Other,
        },
        SCROLL_WHEEL => EventKind::Wheel,
        _ => EventKind::Other,
    }
}

fn event(source: CFTypeRef, fill: impl FnOnce(&mut Posted), made_by: &'static str) -> CFTypeRef {
    let source =
        (!source.is_null()).then(|| cf::foreign::<EventSource>(source, cf::ObjectKind::EventSource, made_by));
    let at = current().map(|world| pointer(&world)).unwrap_or_default();
    let flags = current().map_or(0, |world| world.input.flags());
    let mut posted = Posted {
        number: 0,
        kind: EventKind::Other,
        at,
        button: 0,
        clicks: 0,
        press: 0,
        key: 0,
        text: None,
        flags,
        wheel: (0, 0),
        pid: None,
        when: Instant::now(),
        suppresses: source.flatten().map_or(DEFAULT_SUPPRESSION_SECONDS, |source| *source.0.lock()),
    };
    fill(&mut posted);
    let event = Event(Mutex::new(posted));
    cf::owned(cf::ObjectKind::Event, Body::Foreign(Arc::new(event)), made_by).give()
}

fn with<T>(event: CFTypeRef, function: &'static str, change: impl FnOnce(&mut Posted) -> T) -> Option<T> {
    let event = cf::foreign::<Event>(event, cf::ObjectKind::Event, function)?;
    Some(change(&mut event.0.lock()))
}

/// `CGEventSourceCreate`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventSourceCreate(_state: i32) -> CFTypeRef {
    let source = EventSource(Mutex::new(DEFAULT_SUPPRESSION_SECONDS));
    cf::owned(cf::ObjectKind::EventSource, Body::Foreign(Arc::new(source)), "CGEventSourceCreate").give()
}

/// `CGEventSourceSetLocalEventsSuppressionInterval`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventSourceSetLocalEventsSuppressionInterval(source: CFTypeRef, seconds: f64) {
    const NAME: &str = "CGEventSourceSetLocalEventsSuppressionInterval";
    if let Some(source) = cf::foreign::<EventSource>(source, cf::ObjectKind::EventSource, NAME) {
        *source.0.lock() = seconds;
    }
}

/// `CGEventCreate`: where the pointer is now.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventCreate(source: CFTypeRef) -> CFTypeRef {
    event(source, |_| {}, "CGEventCreate")
}

/// `CGEventCreateMouseEvent`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventCreateMouseEvent(
    source: CFTypeRef,
    number: u32,
    at: CGPoint,
    button: u32,
) -> CFTypeRef {
    // The type says which button it is, but for those that have none of their own.
    let button = match number {
        LEFT_DOWN | LEFT_UP | LEFT_DRAGGED | MOVED => 0,
        RIGHT_DOWN | RIGHT_UP | RIGHT_DRAGGED => 1,
        _ => button,
    };
    let fill = |posted: &mut Posted| {
        (posted.number, posted.at, posted.button, posted.clicks) = (number, at, button, 1);
    };
    event(source, fill, "CGEventCreateMouseEvent")
}

/// `CGEventCreateKeyboardEvent`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventCreateKeyboardEvent(source: CFTypeRef, key: u16, down: bool) -> CFTypeRef {
    let fill = |posted: &mut Posted| {
        posted.key = key;
        posted.number = if down { KEY_DOWN } else { KEY_UP };
        if let Some(Key::Modifier(modifier)) = key_of(key) {
            posted.number = FLAGS_CHANGED;
            let flag = super::keys::flag_of(modifier);
            posted.flags = if down { posted.flags | flag } else { posted.flags & !flag };
        }
    };
    event(source, fill, "CGEventCreateKeyboardEvent")
}

/// `CGEventCreateScrollWheelEvent2`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventCreateScrollWheelEvent2(
    source: CFTypeRef,
    _units: u32,
    _wheels: u32,
    up: i32,
    left: i32,
    _depth: i32,
) -> CFTypeRef {
    let fill = |posted: &mut Posted| (posted.number, posted.wheel) = (SCROLL_WHEEL, (up, left));
    event(source, fill, "CGEventCreateScrollWheelEvent2")
}

/// `CGEventKeyboardSetUnicodeString`: no more than twenty units get through, as on a Mac.
///
/// # Safety
/// `units` has `count` units.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn CGEventKeyboardSetUnicodeString(event: CFTypeRef, count: usize, units: *const u16) {
    const MOST: usize = 20;
    if units.is_null() {
        return;
    }
    // SAFETY: as above.
    let units = unsafe { std::slice::from_raw_parts(units, count) };
    let text = String::from_utf16_lossy(&units[..count.min(MOST)]);
    with(event, "CGEventKeyboardSetUnicodeString", |posted| posted.text = Some(text));
}

/// `CGEventSetFlags`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventSetFlags(event: CFTypeRef, flags: u64) {
    with(event, "CGEventSetFlags", |posted| posted.flags = flags);
}

/// `CGEventGetFlags`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventGetFlags(event: CFTypeRef) -> u64 {
    with(event, "CGEventGetFlags", |posted| posted.flags).unwrap_or(0)
}

/// `CGEventSetType`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventSetType(event: CFTypeRef, number: u32) {
    with(event, "CGEventSetType", |posted| posted.number = number);
}

/// `CGEventSetIntegerValueField`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventSetIntegerValueField(event: CFTypeRef, field: u32, value: i64) {
    with(event, "CGEventSetIntegerValueField", |posted| match field {
        PRESS => posted.press = value,
        CLICK_STATE => posted.clicks = value,
        BUTTON_NUMBER => posted.button = value as u32,
        KEY_CODE => posted.key = value as u16,
        _ => {}
    });
}

/// `CGEventGetIntegerValueField`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventGetIntegerValueField(event: CFTypeRef, field: u32) -> i64 {
    let value = with(event, "CGEventGetIntegerValueField", |posted| match field {
        PRESS => posted.press,
        CLICK_STATE => posted.clicks,
        BUTTON_NUMBER => i64::from(posted.button),
        KEY_CODE => i64::from(posted.key),
        _ => 0,
    });
    value.unwrap_or(0)
}

/// `CGEventGetLocation`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventGetLocation(event: CFTypeRef) -> CGPoint {
    with(event, "CGEventGetLocation", |posted| posted.at).unwrap_or_default()
}

/// `CGEventSetLocation`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventSetLocation(event: CFTypeRef, at: CGPoint) {
    with(event, "CGEventSetLocation", |posted| posted.at = at);
}

fn post(event: CFTypeRef, pid: Option<i32>, function: &'static str) {
    let posted = with(event, function, |posted| posted.clone());
    if let (Some(mut posted), Some(world)) = (posted, current()) {
        posted.kind = kind_of(posted.number, posted.key, posted.flags);
        (posted.pid, posted.when) = (pid, Instant::now());
        // Without the permission to control the machine nothing gets through, and nobody is told.
        let (allowed, hurries) = {
            let settings = world.settings.lock();
            (settings.trusted, settings.takes_hurried_clicks)
        };
        if allowed {
            world.input.post(posted, hurries);
        }
    }
}

/// `CGEventPost`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventPost(_tap: u32, event: CFTypeRef) {
    post(event, None, "CGEventPost");
}

/// `CGEventPostToPid`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventPostToPid(pid: i32, event: CFTypeRef) {
    post(event, Some(pid), "CGEventPostToPid");
}

/// `CGWarpMouseCursorPosition`.
#[unsafe(no_mangle)]
pub extern "C" fn CGWarpMouseCursorPosition(at: CGPoint) -> i32 {
    let moved = CGEventCreateMouseEvent(std::ptr::null(), MOVED, at, 0);
    CGEventPost(0, moved);
    cf::CFRelease(moved);
    0
}

/// `CGEventSourceFlagsState`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventSourceFlagsState(_state: i32) -> u64 {
    current().map_or(0, |world| world.input.flags())
}

/// `CGEventSourceKeyState`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventSourceKeyState(_state: i32, key: u16) -> bool {
    current().is_some_and(|world| world.input.is_key_down(key))
}

/// `CGEventSourceButtonState`.
#[unsafe(no_mangle)]
pub extern "C" fn CGEventSourceButtonState(_state: i32, button: u32) -> bool {
    current().is_some_and(|world| world.input.is_button_down(button))
}
