//! Why a text is not a selector.

use std::fmt;

/// How many characters of the text an error shows on each side of the place.
const EXCERPT: usize = 32;

/// A text that is not a selector: where, what should be there, and what was probably meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError {
    /// The byte at which reading stopped.
    pub offset: usize,
    /// What the text would need there.
    pub expected: String,
    /// What to write instead, when that can be guessed.
    pub hint: Option<String>,
    /// The text around the place, which is marked.
    excerpt: String,
}

impl SelectorError {
    pub(super) fn new(
        text: &str,
        offset: usize,
        expected: impl Into<String>,
        hint: Option<String>,
    ) -> SelectorError {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        SelectorError { offset, expected: expected.into(), hint, excerpt: excerpt(text, offset) }
    }

    /// Where it failed and what was expected, without the hint.
    pub fn place(&self) -> String {
        format!("expected {} at byte {}: {}", self.expected, self.offset, self.excerpt)
    }
}

/// One line, because it travels in JSON: the place is marked in the text instead of under it.
fn excerpt(text: &str, offset: usize) -> String {
    let (before, after) = text.split_at(offset);
    let start = before.char_indices().rev().take(EXCERPT).last().map_or(offset, |(at, _)| at);
    let end = after.char_indices().nth(EXCERPT).map_or(after.len(), |(at, _)| at);
    let (head, tail) = (if start > 0 { "…" } else { "" }, if end < after.len() { "…" } else { "" });
    format!("{head}{}HERE-->{}{tail}", &before[start..], &after[..end]).replace(char::is_control, " ")
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SelectorError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_shows_the_place_what_was_expected_and_the_hint() {
        let error = SelectorError::new("button:Save As", 12, "a role", Some("quote it".into()));
        assert_eq!(error.to_string(), "expected a role at byte 12: button:Save HERE-->As (quote it)");
    }

    #[test]
    fn a_long_text_is_shown_in_part_and_never_cut_inside_a_character() {
        let text = "é".repeat(500);
        let error = SelectorError::new(&text, 501, "a role", None);
        assert_eq!(error.offset, 500);
        let side = "é".repeat(EXCERPT);
        assert_eq!(error.to_string(), format!("expected a role at byte 500: …{side}HERE-->{side}…"));
        assert!(SelectorError::new("a", 99, "more", None).to_string().ends_with("aHERE-->"));
    }
}
