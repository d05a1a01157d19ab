//! Text in pieces that one event can carry. Pure.

/// More UTF-16 units than this are cut off by the system.
const MOST_UNITS: usize = 20;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// What is typed as it is.
    Text {
        /// In UTF-16.
        units: Vec<u16>,
        /// How many characters that is.
        characters: u32,
    },
    /// The Return key: a line break that came as text would not confirm anything.
    Return,
    /// The Tab key.
    Tab,
}

/// The pieces of a text, in order. No character is split.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let (mut units, mut characters) = (Vec::new(), 0);
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        let key = match character {
            '\r' => {
                rest.next_if_eq(&'\n');
                Some(Piece::Return)
            }
            '\n' => Some(Piece::Return),
            '\t' => Some(Piece::Tab),
            _ => None,
        };
        if !units.is_empty() && (key.is_some() || units.len() + character.len_utf16() > MOST_UNITS) {
            pieces.push(Piece::Text { units: std::mem::take(&mut units), characters });
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
        pieces.push(Piece::Text { units, characters });
    }
    pieces
}

impl Piece {
    /// How many characters of the text it is.
    pub fn characters(&self) -> u32 {
        match self {
            Piece::Text { characters, .. } => *characters,
            Piece::Return | Piece::Tab => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        let each = |piece: &Piece| match piece {
            Piece::Text { units, .. } => String::from_utf16(units).unwrap(),
            Piece::Return => "<return>".to_owned(),
            Piece::Tab => "<tab>".to_owned(),
        };
        pieces(text).iter().map(each).collect()
    }

    #[test]
    fn a_text_goes_in_pieces_of_at_most_twenty_units_without_splitting_a_pair() {
        let long = "abcdefghijklmnopqrs😀xyz";
        assert_eq!(texts(long), ["abcdefghijklmnopqrs", "😀xyz"]);
        for piece in pieces(&"😀é".repeat(50)) {
            let Piece::Text { units, characters } = piece else { panic!("only text") };
            assert!(units.len() <= MOST_UNITS);
            let text = String::from_utf16(&units).unwrap();
            assert_eq!(text.chars().count(), usize::try_from(characters).unwrap());
        }
    }

    #[test]
    fn line_breaks_and_tabs_are_keys() {
        assert_eq!(texts("a\nb\r\nc\td"), ["a", "<return>", "b", "<return>", "c", "<tab>", "d"]);
        assert_eq!(texts(""), Vec::<String>::new());
        let total: u32 = pieces("a\nbé😀").iter().map(Piece::characters).sum();
        assert_eq!(total, 5);
    }
}
