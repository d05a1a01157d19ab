//! Patterns: a text in which `*` stands for any characters and `?` for one.

use std::fmt;

use crate::selector::fold;

/// A pattern. It must match the whole text; case, spacing and the spelling of quotes make no difference, as in selectors.
#[derive(Clone, PartialEq, Eq)]
pub struct Pattern {
    written: String,
    folded: Vec<char>,
}

impl Pattern {
    /// The pattern that is written so.
    pub fn new(written: &str) -> Pattern {
        Pattern { written: written.to_owned(), folded: fold(written).chars().collect() }
    }

    /// The pattern as it is written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether it stands for one text only.
    pub fn is_literal(&self) -> bool {
        !self.written.contains(['*', '?'])
    }

    /// Whether it is about paths, and not about names.
    pub fn is_path(&self) -> bool {
        self.written.contains('/')
    }

    /// Whether it matches a text.
    pub fn matches(&self, text: &str) -> bool {
        self.matches_folded(&Folded::new(text))
    }

    /// Whether it matches a text that was folded before. Goes through both once, and back only to the last `*`: so the work is bounded by the product of the lengths.
    pub fn matches_folded(&self, Folded(text): &Folded) -> bool {
        let (mut at, mut place) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while at < text.len() {
            match self.folded.get(place) {
                Some('*') => {
                    star = Some((place, at));
                    place += 1;
                }
                Some(expected) if *expected == '?' || *expected == text[at] => {
                    (at, place) = (at + 1, place + 1);
                }
                _ => {
                    let Some((star_place, taken)) = star else { return false };
                    star = Some((star_place, taken + 1));
                    (at, place) = (taken + 1, star_place + 1);
                }
            }
        }
        self.folded[place..].iter().all(|rest| *rest == '*')
    }
}

/// A text in the form in which it is compared, for those who compare it with many patterns.
pub struct Folded(Vec<char>);

impl Folded {
    /// The form of this text.
    pub fn new(text: &str) -> Folded {
        Folded(fold(text).chars().collect())
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.written)
    }
}

/// Whether one of the patterns matches a text.
pub fn any_matches(patterns: &[Pattern], text: &str) -> bool {
    patterns.iter().any(|pattern| pattern.matches(text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).matches(text)
    }

    #[test]
    fn a_star_stands_for_any_characters_and_a_question_mark_for_one() {
        for (pattern, text, expected) in [
            ("*Password*", "Change password — Settings", true),
            ("*Password*", "Passwort", false),
            ("Bank", "Banking", false),
            ("Bank*", "Bank", true),
            ("b?nk", "Bank", true),
            ("b?nk", "bnk", false),
            ("*a*b*", "xxabab", true),
            ("*a*b", "xxaba", false),
            ("*", "", true),
            ("?", "", false),
            ("", "", true),
            ("/usr/*/evil", "/usr/local/bin/evil", true),
            ("*ü*", "FÜR", true),
            ("*ü*", "Fu\u{308}r", true),
            ("a*\nb", "a\nb", true),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn a_pattern_that_backtracks_a_lot_ends_soon() {
        assert!(!matches(&"*a".repeat(50), &("a".repeat(10_000) + "b")));
    }

    proptest! {
        #[test]
        fn a_part_of_a_text_between_stars_matches_it(text in "[ -~äÖ]{0,20}", from in 0usize..20, length in 0usize..10) {
            let part: String = fold(&text).chars().skip(from).take(length).collect();
            // Folding a part again may change it: it has ends of its own.
            prop_assume!(fold(&part) == part);
            let pattern = format!("*{}*", part.replace('*', "?"));
            prop_assert!(matches(&pattern, &text), "{}", pattern);
        }
    }
}
