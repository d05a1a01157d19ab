//! Which key gives what: virtual key codes of the ANSI keyboard, and of whatever layout is in use. Pure.

use axd_protocol::keys::{Key, Modifier, Named};

use crate::appkit::host::HostKey;
use crate::ffi::cg::{
    CGEventFlags, kCGEventFlagMaskAlphaShift, kCGEventFlagMaskAlternate, kCGEventFlagMaskCommand,
    kCGEventFlagMaskControl, kCGEventFlagMaskNumericPad, kCGEventFlagMaskSecondaryFn, kCGEventFlagMaskShift,
};

/// A key to press.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyStroke {
    /// Its virtual key code.
    pub code: u16,
    /// The flags that go with it, whatever else is held.
    pub flags: CGEventFlags,
}

/// The keys that type characters, and what they type without and with shift.
const ANSI_KEYS: &[(u16, char, char)] = &[
    (0, 'a', 'A'),
    (1, 's', 'S'),
    (2, 'd', 'D'),
    (3, 'f', 'F'),
    (4, 'h', 'H'),
    (5, 'g', 'G'),
    (6, 'z', 'Z'),
    (7, 'x', 'X'),
    (8, 'c', 'C'),
    (9, 'v', 'V'),
    (11, 'b', 'B'),
    (12, 'q', 'Q'),
    (13, 'w', 'W'),
    (14, 'e', 'E'),
    (15, 'r', 'R'),
    (16, 'y', 'Y'),
    (17, 't', 'T'),
    (18, '1', '!'),
    (19, '2', '@'),
    (20, '3', '#'),
    (21, '4', '$'),
    (22, '6', '^'),
    (23, '5', '%'),
    (24, '=', '+'),
    (25, '9', '('),
    (26, '7', '&'),
    (27, '-', '_'),
    (28, '8', '*'),
    (29, '0', ')'),
    (30, ']', '}'),
    (31, 'o', 'O'),
    (32, 'u', 'U'),
    (33, '[', '{'),
    (34, 'i', 'I'),
    (35, 'p', 'P'),
    (37, 'l', 'L'),
    (38, 'j', 'J'),
    (39, '\'', '"'),
    (40, 'k', 'K'),
    (41, ';', ':'),
    (42, '\\', '|'),
    (43, ',', '<'),
    (44, '/', '?'),
    (45, 'n', 'N'),
    (46, 'm', 'M'),
    (47, '.', '>'),
    (50, '`', '~'),
];

/// F1 to F20; there are no more on a Mac.
const FUNCTION_KEYS: [u16; 20] =
    [122, 120, 99, 118, 96, 97, 98, 100, 101, 109, 103, 111, 105, 107, 113, 106, 64, 79, 80, 90];

/// The Return and Tab keys, which texts hold as characters.
pub const RETURN: u16 = 36;
pub const TAB: u16 = 48;

/// The key codes that give what is asked for.
#[derive(Debug, Clone, Default)]
pub struct Keymap {
    /// The keys of the layout in use; empty if it is not known.
    layout: Vec<HostKey>,
}

impl Keymap {
    /// A keyboard with these keys; with none it is an ANSI one.
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
                Some(KeyStroke { code, flags: kCGEventFlagMaskSecondaryFn })
            }
            Key::Modifier(modifier) => Some(KeyStroke { code: code_of(modifier), flags: 0 }),
        }
    }

    fn character(&self, character: char) -> Option<KeyStroke> {
        let shifted = |code| KeyStroke { code, flags: kCGEventFlagMaskShift };
        let plain = |code| KeyStroke { code, flags: 0 };
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
    const FN: CGEventFlags = kCGEventFlagMaskSecondaryFn;
    // As the real keys do.
    const ARROW: CGEventFlags = kCGEventFlagMaskSecondaryFn | kCGEventFlagMaskNumericPad;
    let (code, flags) = match named {
        Named::Return => (RETURN, 0),
        Named::Tab => (TAB, 0),
        Named::Space => (49, 0),
        // A Mac has "delete" on the key that others call Backspace.
        Named::Delete | Named::Backspace => (51, 0),
        Named::Escape => (53, 0),
        Named::CapsLock => (57, 0),
        Named::ForwardDelete => (117, FN),
        Named::Left => (123, ARROW),
        Named::Right => (124, ARROW),
        Named::Down => (125, ARROW),
        Named::Up => (126, ARROW),
        Named::Home => (115, FN),
        Named::End => (119, FN),
        Named::PageUp => (116, FN),
        Named::PageDown => (121, FN),
        // Help, which is where Insert is on other keyboards.
        Named::Insert => (114, FN),
        Named::Menu => (110, FN),
        // F13, which is where Print Screen is on other keyboards.
        Named::PrintScreen => (105, FN),
    };
    KeyStroke { code, flags }
}

fn code_of(modifier: Modifier) -> u16 {
    match modifier {
        Modifier::Cmd => 55,
        Modifier::Shift => 56,
        Modifier::Alt => 58,
        Modifier::Ctrl => 59,
    }
}

/// The flag that a held key sets on all that follows.
pub fn flag_of(key: Key) -> CGEventFlags {
    match key {
        Key::Modifier(Modifier::Cmd) => kCGEventFlagMaskCommand,
        Key::Modifier(Modifier::Shift) => kCGEventFlagMaskShift,
        Key::Modifier(Modifier::Alt) => kCGEventFlagMaskAlternate,
        Key::Modifier(Modifier::Ctrl) => kCGEventFlagMaskControl,
        Key::Named(Named::CapsLock) => kCGEventFlagMaskAlphaShift,
        _ => 0,
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
        assert_eq!(map.stroke(Key::Char('a')), Some(KeyStroke { code: 0, flags: 0 }));
        assert_eq!(map.stroke(Key::Char('+')), Some(KeyStroke { code: 24, flags: kCGEventFlagMaskShift }));
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
        assert_eq!(map.stroke(Key::Char('a')), Some(KeyStroke { code: 12, flags: 0 }));
        assert_eq!(map.stroke(Key::Char('1')), Some(KeyStroke { code: 18, flags: kCGEventFlagMaskShift }));
        assert_eq!(map.stroke(Key::Char('z')), None);
    }
}
