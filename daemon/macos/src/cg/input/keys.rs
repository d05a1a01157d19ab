//! Maps keys to virtual key codes, by the current layout, the Latin one that the system has for shortcuts, or the ANSI keyboard.
//! Pure.

use axd_protocol::keys::{Key, Modifier, Named};

use crate::appkit::host::{HostKey, HostKeyboard};
use crate::ffi::cg::{CGEventFlags, CGKeyCode, KeyCode};

/// A key to press, with modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyStroke {
    /// Its virtual key code.
    pub code: CGKeyCode,
    /// The flags of its event, in addition to those of held modifiers.
    pub flags: CGEventFlags,
    /// Whether Shift must be held for it.
    pub shift: bool,
}

/// Which modifiers are held, as far as that decides where a character is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeldModifiers {
    /// None but Shift: a character that the layout lacks can be typed as text.
    None,
    /// Command: layouts may have another arrangement then.
    Command,
    /// Others.
    Other,
}

impl HeldModifiers {
    /// Those of an event with these flags.
    pub fn of(flags: CGEventFlags) -> HeldModifiers {
        let others = CGEventFlags::CGEventFlagControl | CGEventFlags::CGEventFlagAlternate;
        match () {
            () if flags.contains(CGEventFlags::CGEventFlagCommand) => HeldModifiers::Command,
            () if flags.intersects(others) => HeldModifiers::Other,
            () => HeldModifiers::None,
        }
    }
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
    layouts: HostKeyboard,
}

impl Keymap {
    /// A keyboard with these layouts; an ANSI keyboard if they are not known.
    pub fn new(layouts: HostKeyboard) -> Keymap {
        Keymap { layouts }
    }

    /// The key to press for this one while these modifiers are held; `None` if the keyboard has none.
    pub fn stroke(&self, key: Key, held: HeldModifiers) -> Option<KeyStroke> {
        let stroke = |code, flags| Some(KeyStroke { code, flags, shift: false });
        match key {
            Key::Char(character) => self.character(character, held),
            Key::Named(named) => {
                let (code, flags) = code_of_named(named);
                stroke(code, flags)
            }
            Key::Function(number) => {
                let code = *FUNCTION_KEYS.get(usize::from(number).checked_sub(1)?)?;
                stroke(code, CGEventFlags::CGEventFlagSecondaryFn)
            }
            Key::Modifier(modifier) => stroke(code_of(modifier), CGEventFlags::empty()),
        }
    }

    fn character(&self, character: char, held: HeldModifiers) -> Option<KeyStroke> {
        let HostKeyboard { current, latin } = &self.layouts;
        let by_command = || match held {
            HeldModifiers::Command => find(current, |key| key.with_command == Some(character), false),
            HeldModifiers::None | HeldModifiers::Other => None,
        };
        let in_current = || by_command().or_else(|| find_character(current, character));
        // With a modifier the system too looks a letter up in a layout that has it.
        let in_others = || find_character(latin, character).or_else(|| ansi_key(character));
        match held {
            HeldModifiers::None if !current.is_empty() => in_current(),
            _ => in_current().or_else(in_others),
        }
    }
}

fn find_character(keys: &[HostKey], character: char) -> Option<KeyStroke> {
    let plain = find(keys, |key| key.plain == Some(character), false);
    plain.or_else(|| find(keys, |key| key.shifted == Some(character), true))
}

fn find(keys: &[HostKey], is_it: impl Fn(&HostKey) -> bool, shift: bool) -> Option<KeyStroke> {
    keys.iter().find(|key| is_it(key)).map(|key| KeyStroke {
        code: key.code,
        flags: CGEventFlags::empty(),
        shift,
    })
}

fn ansi_key(character: char) -> Option<KeyStroke> {
    let (code, low, _) = ANSI_KEYS.iter().find(|(_, low, high)| [*low, *high].contains(&character))?;
    Some(KeyStroke { code: *code, flags: CGEventFlags::empty(), shift: *low != character })
}

fn code_of_named(named: Named) -> (CGKeyCode, CGEventFlags) {
    const NONE: CGEventFlags = CGEventFlags::empty();
    const FN: CGEventFlags = CGEventFlags::CGEventFlagSecondaryFn;
    // Real arrow keys have these flags.
    const ARROW: CGEventFlags = FN.union(CGEventFlags::CGEventFlagNumericPad);
    match named {
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
    }
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

    use super::HeldModifiers::{Command, None as NoModifier, Other};
    use super::*;

    fn plain(code: CGKeyCode) -> Option<KeyStroke> {
        Some(KeyStroke { code, flags: CGEventFlags::empty(), shift: false })
    }

    fn shifted(code: CGKeyCode) -> Option<KeyStroke> {
        Some(KeyStroke { code, flags: CGEventFlags::empty(), shift: true })
    }

    fn key(code: CGKeyCode, plain: char, shifted: char, with_command: char) -> HostKey {
        HostKey { code, plain: Some(plain), shifted: Some(shifted), with_command: Some(with_command) }
    }

    fn keymap(current: &[HostKey], latin: &[HostKey]) -> Keymap {
        Keymap::new(HostKeyboard { current: current.to_vec(), latin: latin.to_vec() })
    }

    #[test]
    fn every_key_that_has_a_name_is_on_the_keyboard_once() {
        let map = Keymap::default();
        let mut codes = HashSet::new();
        let shared = [Named::PrintScreen, Named::Delete];
        let named = Named::ALL.iter().copied().filter(|named| !shared.contains(named)).map(Key::Named);
        let modifiers = Modifier::ALL.iter().copied().map(Key::Modifier);
        let functions = (1..=20).map(Key::Function);
        let characters = ANSI_KEYS.iter().map(|(_, low, _)| Key::Char(*low));
        let stroke = |key| map.stroke(key, NoModifier);
        for key in named.chain(modifiers).chain(functions).chain(characters) {
            let stroke = stroke(key).unwrap_or_else(|| panic!("{key} is missing"));
            assert!(codes.insert(stroke.code), "{key} shares its code");
        }
        assert_eq!(stroke(Key::Function(21)), None);
        assert_eq!(stroke(Key::Named(Named::PrintScreen)), stroke(Key::Function(13)));
        assert_eq!(stroke(Key::Named(Named::Delete)), stroke(Key::Named(Named::Backspace)));
    }

    #[test]
    fn shift_is_needed_for_some_characters() {
        let map = Keymap::default();
        assert_eq!(map.stroke(Key::Char('a'), NoModifier), plain(0));
        assert_eq!(map.stroke(Key::Char('+'), NoModifier), shifted(24));
        assert_eq!(map.stroke(Key::Char('é'), Command), None);
    }

    #[test]
    fn the_layout_in_use_decides_where_a_letter_is() {
        // On a French keyboard "a" is where ANSI has "q": by ANSI's code cmd+a would quit the app.
        let map = keymap(&[key(12, 'a', 'A', 'a'), key(18, '&', '1', '&')], &[]);
        assert_eq!(map.stroke(Key::Char('a'), Command), plain(12));
        assert_eq!(map.stroke(Key::Char('1'), NoModifier), shifted(18));
        assert_eq!(map.stroke(Key::Char('z'), NoModifier), None, "it is typed as text");
    }

    #[test]
    fn a_shortcut_is_found_though_the_layout_has_no_latin_letters() {
        let greek = [key(8, 'ψ', 'Ψ', 'ψ')];
        let french = [key(12, 'a', 'A', 'a'), key(8, 'c', 'C', 'c')];
        for held in [Command, Other] {
            assert_eq!(keymap(&greek, &french).stroke(Key::Char('a'), held), plain(12));
            assert_eq!(keymap(&greek, &[]).stroke(Key::Char('c'), held), plain(8), "ANSI is the last resort");
        }
        assert_eq!(keymap(&greek, &french).stroke(Key::Char('c'), NoModifier), None);
        assert_eq!(keymap(&greek, &french).stroke(Key::Char('ψ'), Command), plain(8));
    }

    #[test]
    fn with_command_the_arrangement_for_command_counts() {
        // Dvorak whose shortcuts are where QWERTY has them, and a Russian layout that is Latin with command.
        let dvorak = [key(8, 'j', 'J', 'c'), key(34, 'c', 'C', 'i')];
        let map = keymap(&dvorak, &[]);
        assert_eq!(map.stroke(Key::Char('c'), Command), plain(8));
        assert_eq!(map.stroke(Key::Char('c'), Other), plain(34));
        let russian = keymap(&[key(8, 'с', 'С', 'c')], &[key(40, 'c', 'C', 'c')]);
        assert_eq!(russian.stroke(Key::Char('c'), Command), plain(8));
        assert_eq!(russian.stroke(Key::Char('c'), Other), plain(40));
    }
}
