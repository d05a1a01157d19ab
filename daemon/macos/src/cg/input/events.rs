//! Input events as owned values, and how they are posted.

use std::ptr::NonNull;

use axd_protocol::Point;

use crate::ax::value::to_cg_point;
use crate::ffi::cf::{CFRelease, CFTypeRef};
use crate::ffi::cg::{
    CGEvent, CGEventCreate, CGEventCreateKeyboardEvent, CGEventCreateMouseEvent,
    CGEventCreateScrollWheelEvent2, CGEventFlags, CGEventGetLocation, CGEventKeyboardSetUnicodeString,
    CGEventPost, CGEventRef, CGEventSetFlags, CGEventSetIntegerValueField, CGEventSetLocation, CGEventSource,
    CGEventSourceButtonState, CGEventSourceCreate, CGEventSourceKeyState, CGEventSourceRef,
    CGEventSourceSetLocalEventsSuppressionInterval, CGEventSourceStateID, CGEventTapLocation, CGEventType,
    CGMouseButton, EventField, ScrollEventUnit,
};

/// The source that events are created with.
pub struct EventSource(NonNull<CGEventSource>);

impl EventSource {
    /// A source in the state of the hardware. `None` if the system refuses one.
    pub fn new() -> Option<EventSource> {
        // SAFETY: any state is allowed, and the returned reference is ours.
        let source = NonNull::new(unsafe { CGEventSourceCreate(CGEventSourceStateID::HIDSystemState) })?;
        // Otherwise the user's own mouse and keyboard are ignored for a quarter of a second after each event.
        // SAFETY: the source lives.
        unsafe { CGEventSourceSetLocalEventsSuppressionInterval(source.as_ptr(), 0.0) };
        Some(EventSource(source))
    }

    fn raw(&self) -> CGEventSourceRef {
        self.0.as_ptr()
    }

    /// A mouse event at a point.
    pub fn mouse(&self, kind: CGEventType, at: Point, button: CGMouseButton) -> Option<InputEvent> {
        // SAFETY: the source lives, and the returned reference is ours.
        InputEvent::from_owned(unsafe { CGEventCreateMouseEvent(self.raw(), kind, to_cg_point(at), button) })
    }

    /// A key press or release.
    pub fn key(&self, code: u16, down: bool) -> Option<InputEvent> {
        // SAFETY: as above.
        InputEvent::from_owned(unsafe { CGEventCreateKeyboardEvent(self.raw(), code, down) })
    }

    /// A turn of the wheel in lines; positive is up and left.
    pub fn wheel(&self, up: i32, left: i32) -> Option<InputEvent> {
        // SAFETY: as above.
        InputEvent::from_owned(unsafe {
            CGEventCreateScrollWheelEvent2(self.raw(), ScrollEventUnit::LINE, 2, up, left, 0)
        })
    }
}

impl Drop for EventSource {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and released once.
        unsafe { CFRelease(self.0.as_ptr() as CFTypeRef) };
    }
}

/// An event that is not posted yet.
pub struct InputEvent(NonNull<CGEvent>);

impl InputEvent {
    fn from_owned(raw: CGEventRef) -> Option<InputEvent> {
        NonNull::new(raw).map(InputEvent)
    }

    /// Sets the modifiers that are held.
    #[must_use]
    pub fn with_flags(self, flags: CGEventFlags) -> InputEvent {
        // SAFETY: the event lives.
        unsafe { CGEventSetFlags(self.0.as_ptr(), flags) };
        self
    }

    /// Sets the click count: 2 for the second click of a double click.
    #[must_use]
    pub fn with_clicks(self, clicks: u32) -> InputEvent {
        // SAFETY: the event lives.
        unsafe {
            CGEventSetIntegerValueField(
                self.0.as_ptr(),
                EventField::MOUSE_EVENT_CLICK_STATE,
                i64::from(clicks),
            );
        }
        self
    }

    /// Sets the event number, which is the same for the press and the release of a button.
    #[must_use]
    pub fn with_number(self, number: i64) -> InputEvent {
        // SAFETY: the event lives.
        unsafe { CGEventSetIntegerValueField(self.0.as_ptr(), EventField::MOUSE_EVENT_NUMBER, number) };
        self
    }

    /// Sets the location. By default it is where the pointer was when the event was created.
    #[must_use]
    pub fn with_location(self, at: Point) -> InputEvent {
        // SAFETY: the event lives.
        unsafe { CGEventSetLocation(self.0.as_ptr(), to_cg_point(at)) };
        self
    }

    /// Sets the text that it types, whatever its key.
    #[must_use]
    pub fn with_text(self, units: &[u16]) -> InputEvent {
        // SAFETY: the event lives, and the text is as long as is said; it is copied.
        unsafe { CGEventKeyboardSetUnicodeString(self.0.as_ptr(), units.len(), units.as_ptr()) };
        self
    }

    /// Posts it where hardware events enter the system.
    pub fn post(&self) {
        // SAFETY: the event lives.
        unsafe { CGEventPost(CGEventTapLocation::HID, self.0.as_ptr()) };
    }
}

impl Drop for InputEvent {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and released once.
        unsafe { CFRelease(self.0.as_ptr() as CFTypeRef) };
    }
}

/// The position of the pointer.
pub fn pointer() -> Option<Point> {
    // SAFETY: an event of no source is allowed, and the returned reference is ours.
    let event = InputEvent::from_owned(unsafe { CGEventCreate(std::ptr::null_mut()) })?;
    // SAFETY: the event lives.
    let at = unsafe { CGEventGetLocation(event.0.as_ptr()) };
    Some(Point { x: at.x.floor() as i32, y: at.y.floor() as i32 })
}

/// Whether the system has registered a mouse button as down.
pub fn is_button_down(button: CGMouseButton) -> bool {
    // SAFETY: any value is allowed.
    unsafe { CGEventSourceButtonState(CGEventSourceStateID::HIDSystemState, button) }
}

/// Whether the system has registered a key as down.
pub fn is_key_down(code: u16) -> bool {
    // SAFETY: as above.
    unsafe { CGEventSourceKeyState(CGEventSourceStateID::HIDSystemState, code) }
}
