//! Splits text into pieces that one event can carry. Pure.

/// How many UTF-16 units one event carries; the system cuts off the rest.
const MAX_UNITS: usize = 20;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextPiece {
    /// Text for one event.
    Text {
        /// In UTF-16.
        units: Vec<u16>,
        /// How many characters that is.
        characters: u32,
    },
    /// The Return key: a line break in a text event would not confirm a dialog.
    Return,
    /// The Tab key.
    Tab,
}

/// Splits a text. No character is divided between pieces.
pub fn pieces(text: &str) -> Vec<TextPiece> {
    let mut pieces = Vec::new();
    let (mut units, mut characters) = (Vec::new(), 0);
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let key = match character {
            '\r' => {
                rest.next_if_eq(&'\n');
                Some(TextPiece::Return)
            }
            '\n' => Some(TextPiece::Return),
            '\t' => Some(TextPiece::Tab),
            _ => None,
        };
        if !units.is_empty() && (key.is_some() || units.len() + character.len_utf16() > MAX_UNITS) {
            pieces.push(TextPiece::Text { units: std::mem::take(&mut units), characters });
            characters = 0;
        }
        match key {
            Some(key) => pieces.push(key),
            None => {
                units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
                characters += 1;
            }
        }
    }
    if !units.is_empty() {
        pieces.push(TextPiece::Text { units, characters });
    }
    pieces
}

impl TextPiece {
    /// How many characters of the text it stands for.
    pub fn characters(&self) -> u32 {
        match self {
            TextPiece::Text { characters, .. } => *characters,
            TextPiece::Return | TextPiece::Tab => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let each = |piece: &TextPiece| match piece {
            TextPiece::Text { units, .. } => String::from_utf16(units).unwrap(),
            TextPiece::Return => "<return>".to_owned(),
            TextPiece::Tab => "<tab>".to_owned(),
        };
        pieces(text).iter().map(each).collect()
    }

    #[test]
    fn a_text_goes_in_pieces_of_at_most_twenty_units_without_splitting_a_pair() {
        let long = "abcdefghijklmnopqrs😀xyz";
        assert_eq!(texts(long), ["abcdefghijklmnopqrs", "😀xyz"]);
        for piece in pieces(&"😀é".repeat(50)) {
            let TextPiece::Text { units, characters } = piece else { panic!("only text") };
            assert!(units.len() <= MAX_UNITS);
            let text = String::from_utf16(&units).unwrap();
            assert_eq!(text.chars().count(), usize::try_from(characters).unwrap());
        }
    }

    #[test]
    fn line_breaks_and_tabs_are_keys() {
        assert_eq!(texts("a\nb\r\nc\td"), ["a", "<return>", "b", "<return>", "c", "<tab>", "d"]);
        assert_eq!(texts(""), Vec::<String>::new());
        let total: u32 = pieces("a\nbé😀").iter().map(TextPiece::characters).sum();
        assert_eq!(total, 5);
    }
}
