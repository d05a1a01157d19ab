//! The limits of what an app may call its things. Without them an app could fill the daemon's memory with a few names.

use super::{KeyMap, KeySet};
use crate::{ElementKey, Facts, MAX_TEXT_LEN};

/// An element with more bytes of text than this is counted.
const LONG_BYTES: usize = 1_024;
/// How long the texts of all elements that are counted may be together.
pub const MAX_LONG_BYTES: usize = 64 << 20;
/// How many characters are kept of each text of an element for which there is no room.
const SHORT_CHARS: usize = 64;
/// How many actions are kept of an element, and how many characters of each, and of its native role.
const MAX_ACTIONS: usize = 64;
const MAX_WORD_CHARS: usize = 1_024;

/// The long texts of an app.
#[derive(Debug)]
pub(super) struct Texts {
    /// The bytes of each element with long texts.
    long: KeyMap<usize>,
    /// Their sum.
    bytes: usize,
    max_bytes: usize,
    /// Elements whose texts were cut because there was no room for them.
    cut: KeySet,
}

impl Texts {
    pub fn new(max_bytes: usize) -> Texts {
        Texts { long: KeyMap::default(), bytes: 0, max_bytes, cut: KeySet::default() }
    }

    /// Cuts the texts of an element where they are too long, by themselves or with those of all others.
    pub fn bound(&mut self, key: ElementKey, facts: &mut Facts) {
        facts.actions.truncate(MAX_ACTIONS);
        facts.native_role.iter_mut().chain(&mut facts.actions).for_each(|word| cut(word, MAX_WORD_CHARS));
        cut_texts(facts, MAX_TEXT_LEN);
        let bytes = bytes_of(facts);
        if bytes <= LONG_BYTES && self.long.is_empty() && self.cut.is_empty() {
            return;
        }
        self.forget(key);
        if bytes <= LONG_BYTES {
            return;
        }
        if self.bytes + bytes <= self.max_bytes {
            self.bytes += bytes;
            self.long.insert(key, bytes);
        } else {
            cut_texts(facts, SHORT_CHARS);
            self.cut.insert(key);
        }
    }

    /// Called when an element is gone.
    pub fn forget(&mut self, key: ElementKey) {
        self.bytes -= self.long.remove(&key).unwrap_or_default();
        self.cut.remove(&key);
    }

    /// Whether there was no room for some texts.
    pub fn is_short(&self) -> bool {
        !self.cut.is_empty()
    }
}

fn cut_texts(facts: &mut Facts, most: usize) {
    let Facts { native_role, name, value, description, identifier, actions, .. } = facts;
    let texts = [native_role, name, value, description, identifier].into_iter().flatten().chain(actions);
    texts.for_each(|text| cut(text, most));
}

fn cut(text: &mut String, most: usize) {
    if text.len() > most
        && let Some((end, _)) = text.char_indices().nth(most)
    {
        text.truncate(end);
        text.shrink_to_fit();
    }
}

fn bytes_of(facts: &Facts) -> usize {
    let Facts { native_role, name, value, description, identifier, actions, .. } = facts;
    let texts = [native_role, name, value, description, identifier].into_iter().flatten().chain(actions);
    texts.map(String::len).sum()
}

#[cfg(test)]
mod tests {
    use axd_protocol::Role;

    use super::*;

    fn named(name: String) -> Facts {
        Facts { name: Some(name), ..Facts::new(Role::Button) }
    }

    /// How many characters are kept of a name.
    fn kept(texts: &mut Texts, key: u64, name: &str) -> usize {
        let mut facts = named(name.to_owned());
        texts.bound(ElementKey(key), &mut facts);
        facts.name.map_or(0, |name| name.chars().count())
    }

    #[test]
    fn a_text_is_kept_up_to_a_length_and_ends_with_a_whole_character() {
        let mut texts = Texts::new(MAX_LONG_BYTES);
        assert_eq!(kept(&mut texts, 1, &"\u{1f600}".repeat(MAX_TEXT_LEN + 3)), MAX_TEXT_LEN);
        assert_eq!(kept(&mut texts, 2, &"x".repeat(MAX_TEXT_LEN)), MAX_TEXT_LEN);
        let all = "y".repeat(MAX_TEXT_LEN + 1);
        let mut facts = Facts {
            value: Some(all.clone()),
            description: Some(all.clone()),
            identifier: Some(all.clone()),
            native_role: Some(all.clone()),
            actions: vec![all.clone(); 1_000],
            ..named(all)
        };
        texts.bound(ElementKey(3), &mut facts);
        assert_eq!(bytes_of(&facts), 4 * MAX_TEXT_LEN + (1 + MAX_ACTIONS) * MAX_WORD_CHARS);
    }

    #[test]
    fn texts_for_which_there_is_no_room_are_cut_until_there_is() {
        let mut texts = Texts::new(3_000);
        let long = "x".repeat(2_000);
        assert_eq!((kept(&mut texts, 1, &long), texts.is_short()), (2_000, false));
        assert_eq!((kept(&mut texts, 2, &long), texts.is_short()), (SHORT_CHARS, true));
        assert_eq!(kept(&mut texts, 3, "short"), 5, "a short text has room in any case");
        assert_eq!(kept(&mut texts, 1, &long), 2_000, "the same element is not counted twice");
        texts.forget(ElementKey(1));
        assert_eq!((kept(&mut texts, 2, &long), texts.is_short()), (2_000, false));
        assert_eq!((kept(&mut texts, 2, "short"), texts.bytes), (5, 0));
    }
}
