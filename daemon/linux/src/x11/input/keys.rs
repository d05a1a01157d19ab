//! The X symbols of keys that are called by name.

use axd_protocol::keys::{Button, Key, Modifier, Named};
use xkeysym::key;

use crate::x11::input::keymap::symbol_of;

/// The symbol of a key.
pub(crate) fn symbol(of: Key) -> u32 {
    match of {
        Key::Char(character) => symbol_of(character),
        Key::Function(number) => key::F1 + u32::from(number.saturating_sub(1)),
        Key::Modifier(Modifier::Cmd) => key::Super_L,
        Key::Modifier(Modifier::Ctrl) => key::Control_L,
        Key::Modifier(Modifier::Alt) => key::Alt_L,
        Key::Modifier(Modifier::Shift) => key::Shift_L,
        Key::Named(named) => match named {
            Named::Return => key::Return,
            Named::Tab => key::Tab,
            Named::Space => key::space,
            Named::Backspace => key::BackSpace,
            Named::Delete | Named::ForwardDelete => key::Delete,
            Named::Escape => key::Escape,
            Named::Left => key::Left,
            Named::Right => key::Right,
            Named::Up => key::Up,
            Named::Down => key::Down,
            Named::Home => key::Home,
            Named::End => key::End,
            Named::PageUp => key::Page_Up,
            Named::PageDown => key::Page_Down,
            Named::Insert => key::Insert,
            Named::CapsLock => key::Caps_Lock,
            Named::Menu => key::Menu,
            Named::PrintScreen => key::Print,
        },
    }
}

/// The number X gives a button.
pub(crate) fn button(button: Button) -> u8 {
    match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    }
}
