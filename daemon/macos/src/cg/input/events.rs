//! Input events, owned, and the way into the system.

use std::ptr::NonNull;

use axd_protocol::Point;

use crate::ax::value::to_cg_point;
use crate::ffi::cf::{CFRelease, CFTypeRef};
use crate::ffi::cg::{
    CGEventCreate, CGEventCreateKeyboardEvent, CGEventCreateMouseEvent, CGEventCreateScrollWheelEvent2,
    CGEventFlags, CGEventGetLocation, CGEventKeyboardSetUnicodeString, CGEventPost, CGEventRef,
    CGEventSetFlags, CGEventSetIntegerValueField, CGEventSetLocation, CGEventSourceButtonState,
    CGEventSourceCreate, CGEventSourceKeyState, CGEventSourceRef,
    CGEventSourceSetLocalEventsSuppressionInterval, CGEventType, CGMouseButton, OpaqueEvent,
    OpaqueEventSource, kCGEventSourceStateHIDSystemState, kCGHIDEventTap, kCGMouseEventClickState,
    kCGMouseEventNumber, kCGScrollEventUnitLine,
};

/// Where events come from, to those who ask.
pub struct EventSource(NonNull<OpaqueEventSource>);

impl EventSource {
    /// One that counts as hardware. `None` if the system does not let us.
    pub fn new() -> Option<EventSource> {
        // SAFETY: any state will do, and what is handed out is ours.
        let source = NonNull::new(unsafe { CGEventSourceCreate(kCGEventSourceStateHIDSystemState) })?;
        // Else the user's own mouse and keyboard are dead for a quarter of a second after each event.
        // SAFETY: the source lives.
        unsafe { CGEventSourceSetLocalEventsSuppressionInterval(source.as_ptr(), 0.0) };
        Some(EventSource(source))
    }

    fn raw(&self) -> CGEventSourceRef {
        self.0.as_ptr()
    }

    /// The mouse does something at a place.
    pub fn mouse(&self, kind: CGEventType, at: Point, button: CGMouseButton) -> Option<InputEvent> {
        // SAFETY: the source lives, and what is handed out is ours.
        InputEvent::from_owned(unsafe { CGEventCreateMouseEvent(self.raw(), kind, to_cg_point(at), button) })
    }

    /// A key goes down or up.
    pub fn key(&self, code: u16, down: bool) -> Option<InputEvent> {
        // SAFETY: as above.
        InputEvent::from_owned(unsafe { CGEventCreateKeyboardEvent(self.raw(), code, down) })
    }

    /// The wheel turns, by lines: up and left, as the system counts.
    pub fn wheel(&self, up: i32, left: i32) -> Option<InputEvent> {
        // SAFETY: as above.
        InputEvent::from_owned(unsafe {
            CGEventCreateScrollWheelEvent2(self.raw(), kCGScrollEventUnitLine, 2, up, left, 0)
        })
    }
}

impl Drop for EventSource {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and given back once.
        unsafe { CFRelease(self.0.as_ptr() as CFTypeRef) };
    }
}

/// An event that is not sent yet.
pub struct InputEvent(NonNull<OpaqueEvent>);

impl InputEvent {
    fn from_owned(raw: CGEventRef) -> Option<InputEvent> {
        NonNull::new(raw).map(InputEvent)
    }

    /// What is held while it happens.
    #[must_use]
    pub fn with_flags(self, flags: CGEventFlags) -> InputEvent {
        // SAFETY: the event lives.
        unsafe { CGEventSetFlags(self.0.as_ptr(), flags) };
        self
    }

    /// The how-manieth of clicks that belong together it is.
    #[must_use]
    pub fn with_clicks(self, clicks: u32) -> InputEvent {
        // SAFETY: the event lives.
        unsafe {
            CGEventSetIntegerValueField(self.0.as_ptr(), kCGMouseEventClickState, i64::from(clicks));
        }
        self
    }

    /// Which press of a button it belongs to: what goes down has the number of what comes up.
    #[must_use]
    pub fn with_number(self, number: i64) -> InputEvent {
        // SAFETY: the event lives.
        unsafe { CGEventSetIntegerValueField(self.0.as_ptr(), kCGMouseEventNumber, number) };
        self
    }

    /// Where it happens. Without this it is where the pointer was when the event was made.
    #[must_use]
    pub fn with_location(self, at: Point) -> InputEvent {
        // SAFETY: the event lives.
        unsafe { CGEventSetLocation(self.0.as_ptr(), to_cg_point(at)) };
        self
    }

    /// What it types, whatever its key.
    #[must_use]
    pub fn with_text(self, units: &[u16]) -> InputEvent {
        // SAFETY: the event lives, and the text is as long as is said; it is copied.
        unsafe { CGEventKeyboardSetUnicodeString(self.0.as_ptr(), units.len(), units.as_ptr()) };
        self
    }

    /// Sends it as hardware would.
    pub fn post(&self) {
        // SAFETY: the event lives.
        unsafe { CGEventPost(kCGHIDEventTap, self.0.as_ptr()) };
    }
}

impl Drop for InputEvent {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and given back once.
        unsafe { CFRelease(self.0.as_ptr() as CFTypeRef) };
    }
}

/// Where the pointer is.
pub fn pointer() -> Option<Point> {
    // SAFETY: an event of no source is allowed, and what is handed out is ours.
    let event = InputEvent::from_owned(unsafe { CGEventCreate(std::ptr::null_mut()) })?;
    // SAFETY: the event lives.
    let at = unsafe { CGEventGetLocation(event.0.as_ptr()) };
    Some(Point { x: at.x.floor() as i32, y: at.y.floor() as i32 })
}

/// Whether a mouse button is down, as the system knows.
pub fn is_button_down(button: CGMouseButton) -> bool {
    // SAFETY: any number will do, and it only answers.
    unsafe { CGEventSourceButtonState(kCGEventSourceStateHIDSystemState, button) }
}

/// Whether a key is down, as the system knows.
pub fn is_key_down(code: u16) -> bool {
    // SAFETY: as above.
    unsafe { CGEventSourceKeyState(kCGEventSourceStateHIDSystemState, code) }
}
