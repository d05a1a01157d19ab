//! Keys that a program should not press, whatever else is held down with them.

use std::collections::BTreeSet;

use axd_protocol::keys::{Combo, Key, Modifier};

use axd_protocol::pattern::Pattern;

/// Shortcuts that quit an app, end the session or lock the screen.
pub(crate) const BLOCKED: &[(&str, &str)] = &[
    ("cmd+q", "quits the app"),
    ("ctrl+q", "quits the app"),
    ("alt+f4", "closes the window"),
    ("cmd+alt+escape", "forces apps to quit"),
    ("cmd+l", "locks the screen"),
    ("ctrl+alt+l", "locks the screen"),
    ("ctrl+alt+delete", "logs out"),
    ("ctrl+alt+forwarddelete", "logs out"),
    ("ctrl+alt+backspace", "ends the session"),
    ("cmd+shift+delete", "empties the trash"),
    ("cmd+shift+backspace", "empties the trash"),
];

/// Combinations of the policy file: `ctrl+w`, `ctrl+*`, `*`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyPattern {
    written: String,
    /// The modifiers; absent in `*`, which is any combination.
    modifiers: Option<Vec<Modifier>>,
    key: KeyMatch,
}

/// The last part of a pattern of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
enum KeyMatch {
    Key(Key),
    Named(Pattern),
}

impl KeyPattern {
    /// Parses a combination whose key may be a pattern.
    pub fn parse(written: &str) -> Result<KeyPattern, String> {
        let any = |modifiers, key| KeyPattern { written: written.to_owned(), modifiers, key };
        let text = written.trim();
        if text == "*" {
            return Ok(any(None, KeyMatch::Named(Pattern::new("*"))));
        }
        let (before, key) = text.rsplit_once('+').unwrap_or(("", text));
        if key.contains(['*', '?']) {
            let modifiers = before.split('+').filter(|name| !name.is_empty()).map(|name| name.trim().parse());
            let modifiers =
                modifiers.collect::<Result<Vec<Modifier>, _>>().map_err(|error| error.to_string())?;
            return Ok(any(Some(modifiers), KeyMatch::Named(Pattern::new(key))));
        }
        let combo: Combo =
            text.parse().map_err(|error: axd_protocol::keys::ParseKeysError| error.to_string())?;
        Ok(any(Some(combo.modifiers), KeyMatch::Key(combo.key)))
    }

    /// The pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether a pressed combination contains it: its key, and at least its modifiers.
    pub fn is_within(&self, pressed: &Combo) -> bool {
        let held = |modifiers: &Vec<Modifier>| modifiers.iter().all(|held| pressed.modifiers.contains(held));
        self.has_key(pressed.key) && self.modifiers.as_ref().is_none_or(held)
    }

    /// Whether it is this combination, with no other modifier held.
    pub fn is(&self, pressed: &Combo) -> bool {
        let no_other =
            |modifiers: &Vec<Modifier>| pressed.modifiers.iter().all(|held| modifiers.contains(held));
        self.is_within(pressed) && self.modifiers.as_ref().is_none_or(no_other)
    }

    fn has_key(&self, pressed: Key) -> bool {
        match &self.key {
            KeyMatch::Key(key) => *key == pressed,
            KeyMatch::Named(pattern) => pattern.matches(&pressed.to_string()),
        }
    }
}

/// The shortcuts that the built-in rule blocks, each with what it does.
pub(crate) fn builtin() -> Vec<(KeyPattern, String)> {
    let parsed = |(combo, what): &(&str, &str)| Some((KeyPattern::parse(combo).ok()?, (*what).to_owned()));
    // A test parses all of them.
    BLOCKED.iter().filter_map(parsed).collect()
}

/// Whether keys switch to another session of the system: `ctrl+alt+f1` and its like.
pub(crate) fn switches_session(pressed: &Combo) -> bool {
    let holds = |modifier| pressed.modifiers.contains(&modifier);
    matches!(pressed.key, Key::Function(_)) && holds(Modifier::Ctrl) && holds(Modifier::Alt)
}

/// The combinations that arise while keys go down and up one by one, starting with those that are held down already. Each has
/// all modifiers that are down by then. A key that goes down before its modifiers is found when the last modifier does.
pub fn pressed_combos(held: &[Key], steps: impl IntoIterator<Item = (Key, bool)>) -> Vec<Combo> {
    let mut down: BTreeSet<Key> = held.iter().copied().collect();
    let mut combos = Vec::new();
    for (key, is_down) in steps {
        if !is_down {
            down.remove(&key);
            continue;
        }
        down.insert(key);
        let mut modifiers = Vec::new();
        for modifier in Modifier::ALL {
            if down.contains(&Key::Modifier(*modifier)) {
                modifiers.push(*modifier);
            }
        }
        let others: Vec<Key> = match key {
            Key::Modifier(_) => down.iter().copied().filter(|key| !matches!(key, Key::Modifier(_))).collect(),
            key => vec![key],
        };
        combos.extend(others.into_iter().map(|key| Combo { modifiers: modifiers.clone(), key }));
    }
    combos
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combo(text: &str) -> Combo {
        text.parse().unwrap()
    }

    fn blocks(blocked: &str, pressed: &str) -> bool {
        KeyPattern::parse(blocked).unwrap().is_within(&combo(pressed))
    }

    fn allows(allowed: &str, pressed: &str) -> bool {
        KeyPattern::parse(allowed).unwrap().is(&combo(pressed))
    }

    #[test]
    fn every_blocked_combination_can_be_pressed() {
        assert_eq!(builtin().len(), BLOCKED.len());
        assert!(!BLOCKED.iter().any(|(combo, _)| *combo == "ctrl+w"), "it closes a tab, which programs do");
    }

    #[test]
    fn the_key_of_a_pattern_may_be_any_and_its_modifiers_are_the_least_for_one_and_all_for_the_other() {
        assert!(blocks("ctrl+*", "ctrl+alt+x") && !blocks("ctrl+*", "alt+x"));
        assert!(blocks("f?", "shift+f5") && !blocks("f?", "f12") && blocks("*", "ctrl+c"));
        assert!(allows("ctrl+*", "ctrl+x") && !allows("ctrl+*", "ctrl+alt+x"));
        assert!(
            allows("ctrl+c", "Control+C") && !allows("ctrl+c", "ctrl+shift+c") && allows("*", "ctrl+shift+c")
        );
        assert!(blocks("cmd+plus", "cmd++") && allows("ctrl++", "ctrl+plus"));
        assert!(KeyPattern::parse("strg+c").unwrap_err().contains("strg"));
        assert!(KeyPattern::parse("strg+*").unwrap_err().contains("strg"));
        assert!(KeyPattern::parse("").is_err());
    }

    #[test]
    fn a_combination_contains_another_whatever_else_is_held() {
        assert!(blocks("alt+f4", "alt+f4") && blocks("alt+f4", "alt+shift+f4"));
        assert!(blocks("cmd+q", "Super+Shift+Q"));
        assert!(!blocks("cmd+q", "q") && !blocks("ctrl+alt+delete", "ctrl+delete"));
        assert!(switches_session(&combo("ctrl+alt+f1")) && switches_session(&combo("ctrl+alt+shift+f7")));
        assert!(!switches_session(&combo("alt+f1")) && !switches_session(&combo("ctrl+alt+t")));
    }

    #[test]
    fn what_is_held_counts_as_pressed_in_whichever_order_the_keys_go_down() {
        let (alt, f4) = (Key::Modifier(Modifier::Alt), Key::Function(4));
        assert_eq!(pressed_combos(&[alt], [(f4, true), (f4, false)]), [combo("alt+f4")]);
        assert_eq!(pressed_combos(&[f4], [(alt, true)]), [combo("alt+f4")]);
        assert_eq!(pressed_combos(&[], [(alt, true), (alt, false), (f4, true)]), [combo("f4")]);
    }
}
