//! The keyboard's map: which key, with which modifiers held, gives a character or a named key. Pure; made from what the
//! X keyboard extension tells.

use x11rb::protocol::xkb::{KeySymMap, KeyType};
use x11rb::protocol::xproto::ModMask;
use xkeysym::{Keysym, key};

/// A key with what must be held for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stroke {
    /// Which key.
    pub keycode: u8,
    /// The modifiers that must be down, as bits of X: Shift is 1, Lock 2, Control 4, then Mod1 to Mod5.
    pub modifiers: u8,
}

/// The map of a keyboard.
#[derive(Debug, Default)]
pub(crate) struct Keymap {
    /// The first keycode.
    first: u8,
    /// What is on each key, from the first.
    keys: Vec<KeySymMap>,
    /// How modifiers choose a level, by the number of the type.
    types: Vec<KeyType>,
    /// Which modifiers a key sets, for those that set any.
    sets: Vec<(u8, u8)>,
}

const LOCK: u8 = 2;
const CONTROL: u8 = 4;
/// Keys after this one are not on ordinary keyboards, though maps often put something on them.
const LAST_COMMON: u8 = 108;

impl Keymap {
    /// A map, from keys beginning with keycode `first`.
    pub fn new(first: u8, keys: Vec<KeySymMap>, types: Vec<KeyType>, sets: Vec<(u8, u8)>) -> Keymap {
        Keymap { first, keys, types, sets: sets.into_iter().filter(|(_, bits)| *bits != 0).collect() }
    }

    /// How to type a character in this group of the layout, with modifiers that can be held.
    pub fn character(&self, character: char, group: u8) -> Option<Stroke> {
        self.stroke(group, |symbol| symbol_gives(symbol, character))
    }

    /// How to press the key with this symbol: in this group, else in any, where shortcuts still mean it.
    pub fn symbol(&self, symbol: u32, group: u8) -> Option<Stroke> {
        let others = (0..4).filter(|other| *other != group);
        std::iter::once(group).chain(others).find_map(|group| self.stroke(group, |other| other == symbol))
    }

    /// How to press the key that gives a character, wherever in the layout it is.
    pub fn key_of(&self, character: char, group: u8) -> Option<Stroke> {
        let others = (0..4).filter(|other| *other != group);
        std::iter::once(group).chain(others).find_map(|group| self.character(character, group))
    }

    /// The key to hold for a modifier, if there is one that is held rather than toggled.
    pub fn modifier_key(&self, bit: u8) -> Option<u8> {
        const HELD: [u32; 7] = [
            key::Shift_L,
            key::Shift_R,
            key::Control_L,
            key::Control_R,
            key::ISO_Level3_Shift,
            key::ISO_Level5_Shift,
            key::Mode_switch,
        ];
        let holding = |symbol: u32| {
            self.sets
                .iter()
                .filter(|(_, bits)| *bits == bit)
                .map(|(keycode, _)| *keycode)
                .find(|keycode| self.plain(*keycode) == Some(symbol))
        };
        HELD.into_iter().find_map(holding)
    }

    /// Which modifiers this key sets.
    pub fn modifiers_of(&self, keycode: u8) -> u8 {
        self.sets.iter().filter(|(other, _)| *other == keycode).fold(0, |all, (_, bits)| all | bits)
    }

    /// The modifier that Num Lock is, which does not matter for text.
    pub fn num_lock(&self) -> u8 {
        let with = self.sets.iter().filter(|(keycode, _)| self.plain(*keycode) == Some(key::Num_Lock));
        with.fold(0, |all, (_, bits)| all | bits)
    }

    /// Keys with nothing on them, then keys with nothing but a function of multimedia keyboards, as runs of
    /// neighbours, the longest first.
    pub fn spare_runs(&self) -> Vec<Vec<u8>> {
        let codes = (self.first..=u8::MAX).take(self.keys.len());
        let known = codes.zip(&self.keys).filter(|(keycode, _)| self.modifiers_of(*keycode) == 0);
        let (empty, others): (Vec<_>, Vec<_>) = known.partition(|(_, symbols)| is_empty(symbols));
        let multimedia = others.into_iter().filter(|(_, symbols)| is_multimedia(symbols));
        let mut runs = runs(empty.into_iter().map(|(keycode, _)| keycode));
        runs.extend(crate::x11::input::keymap::runs(multimedia.map(|(keycode, _)| keycode)));
        runs
    }

    /// What is on a key when nothing is held.
    fn plain(&self, keycode: u8) -> Option<u32> {
        let symbols = self.keys.get(usize::from(keycode.checked_sub(self.first)?))?;
        symbols.syms.first().copied()
    }

    /// The easiest way to what `wanted` accepts.
    fn stroke(&self, group: u8, wanted: impl Fn(u32) -> bool) -> Option<Stroke> {
        let codes = (self.first..=u8::MAX).take(self.keys.len());
        let mut best: Option<(u32, Stroke)> = None;
        for (keycode, symbols) in codes.zip(&self.keys) {
            let Some(group) = effective_group(symbols.group_info, group) else { continue };
            let width = usize::from(symbols.width);
            let levels = symbols.syms.iter().skip(usize::from(group) * width).take(width);
            for (level, _) in (0..).zip(levels).filter(|(_, symbol)| wanted(**symbol)) {
                let number = symbols.kt_index[usize::from(group)];
                let Some(modifiers) =
                    self.types.get(usize::from(number)).and_then(|kind| self.held(kind, level))
                else {
                    continue;
                };
                let far = if keycode > LAST_COMMON { 100 } else { 0 };
                let cost = far + modifiers.count_ones() * 10;
                if best.is_none_or(|(least, _)| cost < least) {
                    best = Some((cost, Stroke { keycode, modifiers }));
                }
            }
        }
        best.map(|(_, stroke)| stroke)
    }

    /// What must be held to reach a level; `None` if nothing that can be held does.
    fn held(&self, kind: &KeyType, level: u8) -> Option<u8> {
        if level == 0 {
            return Some(0);
        }
        let entries = kind.map.iter().filter(|entry| entry.active && entry.level == level);
        let can = |bits: u8| {
            let mut each = (0..8).map(|place| 1 << place).filter(|bit| bits & bit != 0);
            bits & (LOCK | CONTROL) == 0 && each.all(|bit| self.modifier_key(bit).is_some())
        };
        let usable = entries.map(|entry| bits(entry.mods_mask)).filter(|bits| can(*bits));
        usable.min_by_key(|bits| bits.count_ones())
    }
}

/// The eight modifiers of a mask, which may hold mouse buttons too.
pub(crate) fn bits(mask: ModMask) -> u8 {
    (u16::from(mask) & 0xff) as u8
}

/// The symbol that stands for a character.
pub(crate) fn symbol_of(character: char) -> u32 {
    match u32::from(character) {
        plain @ (0x20..=0x7e | 0xa0..=0xff) => plain,
        other => 0x0100_0000 | other,
    }
}

fn symbol_gives(symbol: u32, character: char) -> bool {
    let symbol = Keysym::new(symbol);
    // What the keypad gives depends on Num Lock, and function keys give control characters.
    !symbol.is_keypad_key() && symbol.key_char() == Some(character)
}

/// The group of a key when the keyboard is in this one: keys may have fewer than the keyboard.
fn effective_group(info: u8, group: u8) -> Option<u8> {
    const CLAMP: u8 = 0x40;
    const REDIRECT: u8 = 0x80;
    let count = info & 0x0f;
    match count {
        0 => None,
        _ if group < count => Some(group),
        _ if info & REDIRECT != 0 => Some(((info >> 4) & 3).min(count - 1)),
        _ if info & CLAMP != 0 => Some(count - 1),
        _ => Some(group % count),
    }
}

fn is_empty(symbols: &KeySymMap) -> bool {
    symbols.syms.iter().all(|symbol| *symbol == key::NoSymbol)
}

fn is_multimedia(symbols: &KeySymMap) -> bool {
    const VENDOR: std::ops::RangeInclusive<u32> = 0x1008_ff00..=0x1008_ffff;
    symbols.syms.len() <= 2 && symbols.syms.iter().all(|symbol| VENDOR.contains(symbol))
}

fn runs(codes: impl Iterator<Item = u8>) -> Vec<Vec<u8>> {
    let mut runs: Vec<Vec<u8>> = Vec::new();
    for code in codes {
        match runs.last_mut() {
            Some(run) if run.last().is_some_and(|last| code - last == 1) => run.push(code),
            _ => runs.push(vec![code]),
        }
    }
    runs.sort_by_key(|run| std::cmp::Reverse(run.len()));
    runs
}

#[cfg(test)]
mod tests {
    use x11rb::protocol::xkb::KTMapEntry;

    use super::*;

    const SHIFT: u8 = 1;
    const MOD5: u8 = 0x80;

    fn kind(levels: &[(u8, u8)]) -> KeyType {
        let map = levels.iter().map(|(bits, level)| KTMapEntry {
            active: true,
            mods_mask: ModMask::from(*bits),
            level: *level,
            mods_mods: ModMask::from(*bits),
            mods_vmods: Default::default(),
        });
        KeyType {
            mods_mask: ModMask::from(0u8),
            mods_mods: ModMask::from(0u8),
            mods_vmods: Default::default(),
            num_levels: 4,
            has_preserve: false,
            map: map.collect(),
            preserve: Vec::new(),
        }
    }

    fn key(groups: u8, width: u8, kind: u8, syms: &[u32]) -> KeySymMap {
        KeySymMap { kt_index: [kind; 4], group_info: groups, width, syms: syms.to_vec() }
    }

    /// Keys from 10: q/Q/@ as in Germany with a Cyrillic group, one/exclam, Shift, AltGr, empty, empty, play, keypad one.
    fn german() -> Keymap {
        let types = vec![
            kind(&[]),
            kind(&[(SHIFT, 1)]),
            kind(&[(SHIFT, 1), (MOD5, 2), (SHIFT | MOD5, 3), (LOCK, 1)]),
        ];
        let q = key(2, 4, 2, &[0x71, 0x51, 0x40, 0x7d9, 0x6ca, 0x6ea, 0, 0]);
        let keys = vec![
            q,
            key(1, 2, 1, &[0x31, 0x21]),
            key(1, 1, 0, &[key::Shift_L]),
            key(1, 1, 0, &[key::ISO_Level3_Shift]),
            key(0, 0, 0, &[]),
            key(1, 1, 0, &[0]),
            key(1, 1, 0, &[0x1008_ff14]),
            key(1, 1, 0, &[key::KP_1]),
        ];
        Keymap::new(10, keys, types, vec![(12, SHIFT), (13, MOD5)])
    }

    fn stroke(keycode: u8, modifiers: u8) -> Option<Stroke> {
        Some(Stroke { keycode, modifiers })
    }

    #[test]
    fn characters_are_found_with_what_must_be_held() {
        let map = german();
        assert_eq!(map.character('q', 0), stroke(10, 0));
        assert_eq!(map.character('Q', 0), stroke(10, SHIFT));
        assert_eq!(map.character('@', 0), stroke(10, MOD5));
        assert_eq!(map.character('Ω', 0), stroke(10, SHIFT | MOD5));
        assert_eq!(map.character('1', 0), stroke(11, 0), "and not on the keypad");
        assert_eq!(map.character('é', 0), None);
    }

    #[test]
    fn the_group_in_force_decides_and_keys_without_it_keep_theirs() {
        let map = german();
        assert_eq!(map.character('й', 1), stroke(10, 0));
        assert_eq!(map.character('q', 1), None);
        assert_eq!(map.character('!', 1), stroke(11, SHIFT));
        assert_eq!(map.key_of('q', 1), stroke(10, 0), "a shortcut means the key");
        assert_eq!(map.symbol(key::Shift_L, 3), stroke(12, 0));
    }

    #[test]
    fn a_level_that_no_held_key_reaches_is_none() {
        let without_altgr = Keymap { sets: vec![(12, SHIFT)], ..german() };
        assert_eq!(without_altgr.character('@', 0), None);
        assert_eq!(without_altgr.modifier_key(MOD5), None);
    }

    #[test]
    fn spare_keys_are_the_empty_ones_then_those_of_multimedia() {
        assert_eq!(german().spare_runs(), [vec![14, 15], vec![16]]);
    }

    #[test]
    fn every_character_has_a_symbol_that_gives_it_back() {
        for character in "aÿ€世🙂\u{301}".chars() {
            assert!(symbol_gives(symbol_of(character), character), "{character}");
        }
        assert_eq!(symbol_of('é'), 0xe9);
    }
}
