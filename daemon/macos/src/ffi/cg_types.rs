//! The types and constants that `cg` takes from the `core-graphics` crate, which has them on macOS only, under the same names.

pub type CGDirectDisplayID = u32;
pub type CGWindowID = u32;
pub type CGEventField = u32;
pub type CGKeyCode = u16;
pub type CGScrollEventUnit = u32;

pub enum CGEvent {}
pub type CGEventRef = *mut CGEvent;
pub enum CGEventSource {}
pub type CGEventSourceRef = *mut CGEventSource;
pub enum CGImage {}
pub type CGImageRef = *mut CGImage;
pub enum CGDataProvider {}
pub type CGDataProviderRef = *mut CGDataProvider;
pub enum CGDisplayMode {}
pub type CGDisplayModeRef = *mut CGDisplayMode;

pub const kCGNullWindowID: CGWindowID = 0;
pub const kCGWindowListOptionAll: u32 = 0;
pub const kCGWindowListOptionOnScreenOnly: u32 = 1;
pub const kCGWindowListOptionIncludingWindow: u32 = 1 << 3;
pub const kCGWindowListExcludeDesktopElements: u32 = 1 << 4;
pub const kCGWindowImageDefault: u32 = 0;
pub const kCGWindowImageBoundsIgnoreFraming: u32 = 1;
pub const kCGWindowImageBestResolution: u32 = 1 << 3;

pub const kCGImageAlphaPremultipliedFirst: u32 = 2;
pub const kCGImageAlphaFirst: u32 = 4;
pub const kCGImageAlphaNoneSkipFirst: u32 = 6;
pub const kCGBitmapByteOrder32Little: u32 = 2 << 12;

#[repr(u32)]
#[derive(Debug, Clone, Copy)]
pub enum CGEventType {
    LeftMouseDown = 1,
    LeftMouseUp = 2,
    RightMouseDown = 3,
    RightMouseUp = 4,
    MouseMoved = 5,
    LeftMouseDragged = 6,
    RightMouseDragged = 7,
    OtherMouseDown = 25,
    OtherMouseUp = 26,
    OtherMouseDragged = 27,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum CGMouseButton {
    Left,
    Right,
    Center,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum CGEventTapLocation {
    HID,
}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub enum CGEventSourceStateID {
    // It makes the type signed, as Apple's is.
    Private = -1,
    HIDSystemState = 1,
}

pub struct EventField;

impl EventField {
    pub const MOUSE_EVENT_NUMBER: CGEventField = 0;
    pub const MOUSE_EVENT_CLICK_STATE: CGEventField = 1;
}

pub struct ScrollEventUnit;

impl ScrollEventUnit {
    pub const LINE: CGScrollEventUnit = 1;
}

bitflags::bitflags! {
    #[repr(C)]
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct CGEventFlags: u64 {
        const CGEventFlagAlphaShift = 0x0001_0000;
        const CGEventFlagShift = 0x0002_0000;
        const CGEventFlagControl = 0x0004_0000;
        const CGEventFlagAlternate = 0x0008_0000;
        const CGEventFlagCommand = 0x0010_0000;
        const CGEventFlagNumericPad = 0x0020_0000;
        const CGEventFlagSecondaryFn = 0x0080_0000;
    }
}

pub struct KeyCode;

impl KeyCode {
    pub const ANSI_A: CGKeyCode = 0x00;
    pub const ANSI_S: CGKeyCode = 0x01;
    pub const ANSI_D: CGKeyCode = 0x02;
    pub const ANSI_F: CGKeyCode = 0x03;
    pub const ANSI_H: CGKeyCode = 0x04;
    pub const ANSI_G: CGKeyCode = 0x05;
    pub const ANSI_Z: CGKeyCode = 0x06;
    pub const ANSI_X: CGKeyCode = 0x07;
    pub const ANSI_C: CGKeyCode = 0x08;
    pub const ANSI_V: CGKeyCode = 0x09;
    pub const ANSI_B: CGKeyCode = 0x0b;
    pub const ANSI_Q: CGKeyCode = 0x0c;
    pub const ANSI_W: CGKeyCode = 0x0d;
    pub const ANSI_E: CGKeyCode = 0x0e;
    pub const ANSI_R: CGKeyCode = 0x0f;
    pub const ANSI_Y: CGKeyCode = 0x10;
    pub const ANSI_T: CGKeyCode = 0x11;
    pub const ANSI_1: CGKeyCode = 0x12;
    pub const ANSI_2: CGKeyCode = 0x13;
    pub const ANSI_3: CGKeyCode = 0x14;
    pub const ANSI_4: CGKeyCode = 0x15;
    pub const ANSI_6: CGKeyCode = 0x16;
    pub const ANSI_5: CGKeyCode = 0x17;
    pub const ANSI_EQUAL: CGKeyCode = 0x18;
    pub const ANSI_9: CGKeyCode = 0x19;
    pub const ANSI_7: CGKeyCode = 0x1a;
    pub const ANSI_MINUS: CGKeyCode = 0x1b;
    pub const ANSI_8: CGKeyCode = 0x1c;
    pub const ANSI_0: CGKeyCode = 0x1d;
    pub const ANSI_RIGHT_BRACKET: CGKeyCode = 0x1e;
    pub const ANSI_O: CGKeyCode = 0x1f;
    pub const ANSI_U: CGKeyCode = 0x20;
    pub const ANSI_LEFT_BRACKET: CGKeyCode = 0x21;
    pub const ANSI_I: CGKeyCode = 0x22;
    pub const ANSI_P: CGKeyCode = 0x23;
    pub const ANSI_L: CGKeyCode = 0x25;
    pub const ANSI_J: CGKeyCode = 0x26;
    pub const ANSI_QUOTE: CGKeyCode = 0x27;
    pub const ANSI_K: CGKeyCode = 0x28;
    pub const ANSI_SEMICOLON: CGKeyCode = 0x29;
    pub const ANSI_BACKSLASH: CGKeyCode = 0x2a;
    pub const ANSI_COMMA: CGKeyCode = 0x2b;
    pub const ANSI_SLASH: CGKeyCode = 0x2c;
    pub const ANSI_N: CGKeyCode = 0x2d;
    pub const ANSI_M: CGKeyCode = 0x2e;
    pub const ANSI_PERIOD: CGKeyCode = 0x2f;
    pub const ANSI_GRAVE: CGKeyCode = 0x32;
    pub const RETURN: CGKeyCode = 0x24;
    pub const TAB: CGKeyCode = 0x30;
    pub const SPACE: CGKeyCode = 0x31;
    pub const DELETE: CGKeyCode = 0x33;
    pub const ESCAPE: CGKeyCode = 0x35;
    pub const COMMAND: CGKeyCode = 0x37;
    pub const SHIFT: CGKeyCode = 0x38;
    pub const CAPS_LOCK: CGKeyCode = 0x39;
    pub const OPTION: CGKeyCode = 0x3a;
    pub const CONTROL: CGKeyCode = 0x3b;
    pub const HELP: CGKeyCode = 0x72;
    pub const HOME: CGKeyCode = 0x73;
    pub const PAGE_UP: CGKeyCode = 0x74;
    pub const FORWARD_DELETE: CGKeyCode = 0x75;
    pub const END: CGKeyCode = 0x77;
    pub const PAGE_DOWN: CGKeyCode = 0x79;
    pub const LEFT_ARROW: CGKeyCode = 0x7b;
    pub const RIGHT_ARROW: CGKeyCode = 0x7c;
    pub const DOWN_ARROW: CGKeyCode = 0x7d;
    pub const UP_ARROW: CGKeyCode = 0x7e;
    pub const F1: CGKeyCode = 0x7a;
    pub const F2: CGKeyCode = 0x78;
    pub const F3: CGKeyCode = 0x63;
    pub const F4: CGKeyCode = 0x76;
    pub const F5: CGKeyCode = 0x60;
    pub const F6: CGKeyCode = 0x61;
    pub const F7: CGKeyCode = 0x62;
    pub const F8: CGKeyCode = 0x64;
    pub const F9: CGKeyCode = 0x65;
    pub const F10: CGKeyCode = 0x6d;
    pub const F11: CGKeyCode = 0x67;
    pub const F12: CGKeyCode = 0x6f;
    pub const F13: CGKeyCode = 0x69;
    pub const F14: CGKeyCode = 0x6b;
    pub const F15: CGKeyCode = 0x71;
    pub const F16: CGKeyCode = 0x6a;
    pub const F17: CGKeyCode = 0x40;
    pub const F18: CGKeyCode = 0x4f;
    pub const F19: CGKeyCode = 0x50;
    pub const F20: CGKeyCode = 0x5a;
}
