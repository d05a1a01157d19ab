//! Typing text: any character, whatever the layout, whoever holds a modifier.

use axd_protocol::keys::{Key, Named};

use crate::x11::connection::{Display, XError, XResult};
use crate::x11::input::keyboard::{Keyboard, SavedModifiers, key_event, tap_key};
use crate::x11::input::keymap::Stroke;
use crate::x11::input::keys;
use crate::x11::input::notes::Physical;
use axd_platform::{Failure, FailureKind, Gate};

/// What is typed: keys, each with how many characters of the text it stands for.
pub(crate) fn taps(text: &str) -> Result<Vec<(Key, u32)>, Failure> {
    let mut taps = Vec::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        taps.push(match character {
            '\r' if characters.next_if_eq(&'\n').is_some() => (Key::Named(Named::Return), 2),
            '\n' | '\r' => (Key::Named(Named::Return), 1),
            '\t' => (Key::Named(Named::Tab), 1),
            control if control.is_control() => {
                let message = format!(
                    "no key types the control character {}; press keys by name instead",
                    control.escape_unicode()
                );
                return Err(Failure::new(FailureKind::Invalid, message));
            }
            character => (Key::Char(character), 1),
        });
    }
    Ok(taps)
}

/// Types a text. The modifiers that are held are lifted meanwhile.
#[derive(Default)]
pub(crate) struct TextTyper {
    /// The modifiers as they were before the text.
    before: SavedModifiers,
    /// Modifier keys that are down for the character typed last.
    holding: Vec<u8>,
}

impl TextTyper {
    /// Waits until the user holds no modifier, and lifts those that axd holds.
    pub fn begin(display: &Display, keyboard: &mut Keyboard, gate: &Gate) -> Result<TextTyper, Failure> {
        if !keyboard.wait_for_modifiers(display, gate)? {
            if gate.is_closed() {
                return Err(Failure::closed());
            }
            let message = "a modifier key is held on the keyboard, which would change the text; release it and try again";
            return Err(Failure::new(FailureKind::Refused, message));
        }
        gate.enter()?;
        // Noted once for the whole text, and not for each character that needs one.
        let modifiers = keyboard.modifier_keys(u8::MAX);
        keyboard.held_note.add(display, modifiers.into_iter().map(Physical::Key))?;
        Ok(TextTyper { before: keyboard.release_modifiers(display)?, holding: Vec::new() })
    }

    /// Taps a key, with the modifiers that it needs.
    pub fn tap(&mut self, display: &Display, keyboard: &Keyboard, key: Key) -> XResult<()> {
        let stroke = stroke(keyboard, key).ok_or(XError::Missing("a key for a character"))?;
        self.hold(display, keyboard, stroke.modifiers)?;
        tap_key(display, stroke.keycode)
    }

    /// Restores the modifiers.
    pub fn end(mut self, display: &Display, keyboard: &mut Keyboard) -> XResult<()> {
        self.hold(display, keyboard, 0)?;
        keyboard.restore(display, &self.before)
    }

    /// Holds these modifiers, and no others.
    fn hold(&mut self, display: &Display, keyboard: &Keyboard, modifiers: u8) -> XResult<()> {
        let wanted = keyboard.modifier_keys(modifiers);
        for keycode in self.holding.iter().filter(|keycode| !wanted.contains(keycode)) {
            key_event(display, *keycode, false)?;
        }
        for keycode in wanted.iter().filter(|keycode| !self.holding.contains(keycode)) {
            key_event(display, *keycode, true)?;
        }
        self.holding = wanted;
        Ok(())
    }
}

/// Puts the next taps on spare keys where needed. Returns how many can be typed then; at least one.
pub(crate) fn prepare(
    display: &Display,
    keyboard: &mut Keyboard,
    taps: &[(Key, u32)],
) -> Result<usize, Failure> {
    let ready = taps.iter().take_while(|(key, _)| stroke(keyboard, *key).is_some()).count();
    if ready > 0 {
        return Ok(ready);
    }
    let room = keyboard.spare_keys.room(&keyboard.held_keycodes());
    // What is lent now may be taken back for what follows, so only the keyboard's own keys count.
    let lacking = taps.iter().map(|(key, _)| match own_stroke(keyboard, *key) {
        Some(_) => None,
        None => Some(keys::symbol(*key)),
    });
    let (count, symbols) = plan_stretch(lacking, room);
    if count == 0 {
        let message =
            "the keyboard has no key for a character of the text, and no unused key to assign it to";
        return Err(Failure::new(FailureKind::NotSupported, message));
    }
    keyboard.lend(display, &symbols)?;
    Ok(count)
}

/// How to press a key, on a spare key if it is on one.
fn stroke(keyboard: &Keyboard, key: Key) -> Option<Stroke> {
    let lent = keyboard.spare_keys.key_of(keys::symbol(key));
    lent.map(|keycode| Stroke { keycode, modifiers: 0 }).or_else(|| own_stroke(keyboard, key))
}

fn own_stroke(keyboard: &Keyboard, key: Key) -> Option<Stroke> {
    match key {
        Key::Char(character) => keyboard.map.character(character, keyboard.group),
        _ => keyboard.map.symbol(keys::symbol(key), keyboard.group),
    }
}

/// How many taps can be made before keys have to be lent anew, and the symbols that need one for it.
pub(crate) fn plan_stretch(lacking: impl Iterator<Item = Option<u32>>, room: usize) -> (usize, Vec<u32>) {
    let mut symbols = Vec::new();
    let mut count = 0;
    for symbol in lacking {
        if let Some(symbol) = symbol.filter(|symbol| !symbols.contains(symbol)) {
            if symbols.len() == room {
                break;
            }
            symbols.push(symbol);
        }
        count += 1;
    }
    (count, symbols)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::x11::input::keymap::symbol_of;

    #[test]
    fn line_ends_and_tabs_are_keys_and_other_control_characters_are_refused() {
        let taps = taps("a\r\nb\n\t").unwrap();
        let (ret, tab) = (Key::Named(Named::Return), Key::Named(Named::Tab));
        assert_eq!(taps, [(Key::Char('a'), 1), (ret, 2), (Key::Char('b'), 1), (ret, 1), (tab, 1)]);
        let failure = super::taps("a\u{7}").unwrap_err();
        assert_eq!(failure.kind, FailureKind::Invalid);
        assert!(failure.native.contains("\\u{7}"), "{failure}");
    }

    #[test]
    fn a_stretch_ends_where_there_is_no_room_for_one_more_character() {
        let (a, b, c) = (Some(symbol_of('世')), Some(symbol_of('界')), Some(symbol_of('語')));
        assert_eq!(plan_stretch([None, a, a, None, b, c].into_iter(), 2), (5, vec![a.unwrap(), b.unwrap()]));
        assert_eq!(plan_stretch([None, None].into_iter(), 0), (2, vec![]));
        assert_eq!(plan_stretch([a].into_iter(), 0), (0, vec![]));
    }
}
