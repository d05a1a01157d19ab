//! Maps keys to virtual key codes, by the current layout or else the ANSI keyboard. Pure.

use axd_protocol::keys::{Key, Modifier, Named};

use crate::appkit::host::HostKey;
use crate::ffi::cg::{CGEventFlags, CGKeyCode, KeyCode};

/// A key to press, with modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyStroke {
    /// Its virtual key code.
    pub code: CGKeyCode,
    /// The flags of its event, in addition to those of held modifiers.
    pub flags: CGEventFlags,
}

/// The keys that type characters, and what they type without and with shift.
const ANSI_KEYS: &[(CGKeyCode, char, char)] = &[
    (KeyCode::ANSI_A, 'a', 'A'),
    (KeyCode::ANSI_S, 's', 'S'),
    (KeyCode::ANSI_D, 'd', 'D'),
    (KeyCode::ANSI_F, 'f', 'F'),
    (KeyCode::ANSI_H, 'h', 'H'),
    (KeyCode::ANSI_G, 'g', 'G'),
    (KeyCode::ANSI_Z, 'z', 'Z'),
    (KeyCode::ANSI_X, 'x', 'X'),
    (KeyCode::ANSI_C, 'c', 'C'),
    (KeyCode::ANSI_V, 'v', 'V'),
    (KeyCode::ANSI_B, 'b', 'B'),
    (KeyCode::ANSI_Q, 'q', 'Q'),
    (KeyCode::ANSI_W, 'w', 'W'),
    (KeyCode::ANSI_E, 'e', 'E'),
    (KeyCode::ANSI_R, 'r', 'R'),
    (KeyCode::ANSI_Y, 'y', 'Y'),
    (KeyCode::ANSI_T, 't', 'T'),
    (KeyCode::ANSI_1, '1', '!'),
    (KeyCode::ANSI_2, '2', '@'),
    (KeyCode::ANSI_3, '3', '#'),
    (KeyCode::ANSI_4, '4', '$'),
    (KeyCode::ANSI_6, '6', '^'),
    (KeyCode::ANSI_5, '5', '%'),
    (KeyCode::ANSI_EQUAL, '=', '+'),
    (KeyCode::ANSI_9, '9', '('),
    (KeyCode::ANSI_7, '7', '&'),
    (KeyCode::ANSI_MINUS, '-', '_'),
    (KeyCode::ANSI_8, '8', '*'),
    (KeyCode::ANSI_0, '0', ')'),
    (KeyCode::ANSI_RIGHT_BRACKET, ']', '}'),
    (KeyCode::ANSI_O, 'o', 'O'),
    (KeyCode::ANSI_U, 'u', 'U'),
    (KeyCode::ANSI_LEFT_BRACKET, '[', '{'),
    (KeyCode::ANSI_I, 'i', 'I'),
    (KeyCode::ANSI_P, 'p', 'P'),
    (KeyCode::ANSI_L, 'l', 'L'),
    (KeyCode::ANSI_J, 'j', 'J'),
    (KeyCode::ANSI_QUOTE, '\'', '"'),
    (KeyCode::ANSI_K, 'k', 'K'),
    (KeyCode::ANSI_SEMICOLON, ';', ':'),
    (KeyCode::ANSI_BACKSLASH, '\\', '|'),
    (KeyCode::ANSI_COMMA, ',', '<'),
    (KeyCode::ANSI_SLASH, '/', '?'),
    (KeyCode::ANSI_N, 'n', 'N'),
    (KeyCode::ANSI_M, 'm', 'M'),
    (KeyCode::ANSI_PERIOD, '.', '>'),
    (KeyCode::ANSI_GRAVE, '`', '~'),
];

/// F1 to F20; a Mac has no more.
const FUNCTION_KEYS: [CGKeyCode; 20] = [
    KeyCode::F1,
    KeyCode::F2,
    KeyCode::F3,
    KeyCode::F4,
    KeyCode::F5,
    KeyCode::F6,
    KeyCode::F7,
    KeyCode::F8,
    KeyCode::F9,
    KeyCode::F10,
    KeyCode::F11,
    KeyCode::F12,
    KeyCode::F13,
    KeyCode::F14,
    KeyCode::F15,
    KeyCode::F16,
    KeyCode::F17,
    KeyCode::F18,
    KeyCode::F19,
    KeyCode::F20,
];

/// The key of Windows keyboards that opens the context menu. Apple has no name for it.
const CONTEXT_MENU_KEY: CGKeyCode = 110;

/// Finds the key codes of characters and named keys.
#[derive(Debug, Clone, Default)]
pub struct Keymap {
    /// The keys of the current layout; empty if it is not known.
    layout: Vec<HostKey>,
}

impl Keymap {
    /// A keyboard with these keys; an ANSI keyboard if there are none.
    pub fn new(layout: Vec<HostKey>) -> Keymap {
        Keymap { layout }
    }

    /// The key to press for this one; `None` if the keyboard has none.
    pub fn stroke(&self, key: Key) -> Option<KeyStroke> {
        match key {
            Key::Char(character) => self.character(character),
            Key::Named(named) => Some(stroke_of(named)),
            Key::Function(number) => {
                let code = *FUNCTION_KEYS.get(usize::from(number).checked_sub(1)?)?;
                Some(KeyStroke { code, flags: CGEventFlags::CGEventFlagSecondaryFn })
            }
            Key::Modifier(modifier) => {
                Some(KeyStroke { code: code_of(modifier), flags: CGEventFlags::empty() })
            }
        }
    }

    fn character(&self, character: char) -> Option<KeyStroke> {
        let shifted = |code| KeyStroke { code, flags: CGEventFlags::CGEventFlagShift };
        let plain = |code| KeyStroke { code, flags: CGEventFlags::empty() };
        if self.layout.is_empty() {
            let find = ANSI_KEYS.iter().find(|(_, low, _)| *low == character).map(|(code, ..)| plain(*code));
            return find.or_else(|| {
                ANSI_KEYS.iter().find(|(_, _, high)| *high == character).map(|(code, ..)| shifted(*code))
            });
        }
        let low = self.layout.iter().find(|key| key.plain == Some(character)).map(|key| plain(key.code));
        low.or_else(|| {
            self.layout.iter().find(|key| key.shifted == Some(character)).map(|key| shifted(key.code))
        })
    }
}

fn stroke_of(named: Named) -> KeyStroke {
    const NONE: CGEventFlags = CGEventFlags::empty();
    const FN: CGEventFlags = CGEventFlags::CGEventFlagSecondaryFn;
    // Real arrow keys have these flags.
    const ARROW: CGEventFlags = FN.union(CGEventFlags::CGEventFlagNumericPad);
    let (code, flags) = match named {
        Named::Return => (KeyCode::RETURN, NONE),
        Named::Tab => (KeyCode::TAB, NONE),
        Named::Space => (KeyCode::SPACE, NONE),
        // A Mac has "delete" on the key that others call Backspace.
        Named::Delete | Named::Backspace => (KeyCode::DELETE, NONE),
        Named::Escape => (KeyCode::ESCAPE, NONE),
        Named::CapsLock => (KeyCode::CAPS_LOCK, NONE),
        Named::ForwardDelete => (KeyCode::FORWARD_DELETE, FN),
        Named::Left => (KeyCode::LEFT_ARROW, ARROW),
        Named::Right => (KeyCode::RIGHT_ARROW, ARROW),
        Named::Down => (KeyCode::DOWN_ARROW, ARROW),
        Named::Up => (KeyCode::UP_ARROW, ARROW),
        Named::Home => (KeyCode::HOME, FN),
        Named::End => (KeyCode::END, FN),
        Named::PageUp => (KeyCode::PAGE_UP, FN),
        Named::PageDown => (KeyCode::PAGE_DOWN, FN),
        // Help, which is where Insert is on other keyboards.
        Named::Insert => (KeyCode::HELP, FN),
        Named::Menu => (CONTEXT_MENU_KEY, FN),
        // F13, which is where Print Screen is on other keyboards.
        Named::PrintScreen => (KeyCode::F13, FN),
    };
    KeyStroke { code, flags }
}

fn code_of(modifier: Modifier) -> CGKeyCode {
    match modifier {
        Modifier::Cmd => KeyCode::COMMAND,
        Modifier::Shift => KeyCode::SHIFT,
        Modifier::Alt => KeyCode::OPTION,
        Modifier::Ctrl => KeyCode::CONTROL,
    }
}

/// The flag that a held modifier sets on later events.
pub fn flag_of(key: Key) -> CGEventFlags {
    match key {
        Key::Modifier(Modifier::Cmd) => CGEventFlags::CGEventFlagCommand,
        Key::Modifier(Modifier::Shift) => CGEventFlags::CGEventFlagShift,
        Key::Modifier(Modifier::Alt) => CGEventFlags::CGEventFlagAlternate,
        Key::Modifier(Modifier::Ctrl) => CGEventFlags::CGEventFlagControl,
        Key::Named(Named::CapsLock) => CGEventFlags::CGEventFlagAlphaShift,
        _ => CGEventFlags::empty(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_key_that_has_a_name_is_on_the_keyboard_once() {
        let map = Keymap::default();
        let mut codes = HashSet::new();
        let shared = [Named::PrintScreen, Named::Delete];
        let named = Named::ALL.iter().copied().filter(|named| !shared.contains(named)).map(Key::Named);
        let modifiers = Modifier::ALL.iter().copied().map(Key::Modifier);
        let functions = (1..=20).map(Key::Function);
        let characters = ANSI_KEYS.iter().map(|(_, low, _)| Key::Char(*low));
        for key in named.chain(modifiers).chain(functions).chain(characters) {
            let stroke = map.stroke(key).unwrap_or_else(|| panic!("{key} is missing"));
            assert!(codes.insert(stroke.code), "{key} shares its code");
        }
        assert_eq!(map.stroke(Key::Function(21)), None);
        assert_eq!(map.stroke(Key::Named(Named::PrintScreen)), map.stroke(Key::Function(13)));
        assert_eq!(map.stroke(Key::Named(Named::Delete)), map.stroke(Key::Named(Named::Backspace)));
    }

    #[test]
    fn shift_is_added_where_a_character_needs_it() {
        let map = Keymap::default();
        assert_eq!(map.stroke(Key::Char('a')), Some(KeyStroke { code: 0, flags: CGEventFlags::empty() }));
        assert_eq!(
            map.stroke(Key::Char('+')),
            Some(KeyStroke { code: 24, flags: CGEventFlags::CGEventFlagShift })
        );
        assert_eq!(map.stroke(Key::Char('é')), None);
    }

    #[test]
    fn the_layout_in_use_decides_where_a_letter_is() {
        // On a French keyboard "a" is where ANSI has "q": by ANSI's code cmd+a would quit the app.
        let french = vec![
            HostKey { code: 12, plain: Some('a'), shifted: Some('A') },
            HostKey { code: 18, plain: Some('&'), shifted: Some('1') },
        ];
        let map = Keymap::new(french);
        assert_eq!(map.stroke(Key::Char('a')), Some(KeyStroke { code: 12, flags: CGEventFlags::empty() }));
        assert_eq!(
            map.stroke(Key::Char('1')),
            Some(KeyStroke { code: 18, flags: CGEventFlags::CGEventFlagShift })
        );
        assert_eq!(map.stroke(Key::Char('z')), None);
    }
}
