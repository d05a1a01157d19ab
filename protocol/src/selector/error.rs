//! The error for a text that is not a selector.

use std::fmt;

/// The number of characters of the text that an error shows on each side of the position.
const EXCERPT_CHARS: usize = 32;

/// The error for a text that is not a selector: the position, what was expected there, and what was probably meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError {
    /// The byte at which parsing stopped.
    pub offset: usize,
    /// What was expected there.
    pub expected: String,
    /// What to write instead, if that can be guessed.
    pub hint: Option<String>,
    /// The text around the position, which is marked in it.
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

    /// The position and what was expected, without the hint.
    pub fn position(&self) -> String {
        format!("expected {} at byte {}: {}", self.expected, self.offset, self.excerpt)
    }
}

/// The text around a position. It is one line, because errors are sent as JSON, so the position is marked in the text.
fn excerpt(text: &str, offset: usize) -> String {
    let (before, after) = text.split_at(offset);
    let start = before.char_indices().rev().take(EXCERPT_CHARS).last().map_or(offset, |(at, _)| at);
    let end = after.char_indices().nth(EXCERPT_CHARS).map_or(after.len(), |(at, _)| at);
    let (head, tail) = (if start > 0 { "…" } else { "" }, if end < after.len() { "…" } else { "" });
    format!("{head}{}HERE-->{}{tail}", &before[start..], &after[..end]).replace(char::is_control, " ")
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.position())?;
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
    fn the_message_shows_the_position_what_was_expected_and_the_hint() {
        let error = SelectorError::new("button:Save As", 12, "a role", Some("quote it".into()));
        assert_eq!(error.to_string(), "expected a role at byte 12: button:Save HERE-->As (quote it)");
    }

    #[test]
    fn a_long_text_is_shown_in_part_and_never_cut_inside_a_character() {
        let text = "é".repeat(500);
        let error = SelectorError::new(&text, 501, "a role", None);
        assert_eq!(error.offset, 500);
        let side = "é".repeat(EXCERPT_CHARS);
        assert_eq!(error.to_string(), format!("expected a role at byte 500: …{side}HERE-->{side}…"));
        assert!(SelectorError::new("a", 99, "more", None).to_string().ends_with("aHERE-->"));
    }
}
