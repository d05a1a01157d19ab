//! Compares the text of a field before and after typing, to find out what became of the typed text.

use axd_platform::MAX_TEXT_LEN;

/// What became of the typed text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Came<'n> {
    /// The text is in the field.
    Whole,
    /// The field is unchanged.
    Nothing,
    /// Only this part is in the field: some characters of the text are missing, and there are no others instead.
    Short(&'n str),
    /// The field has other new text: apps complete, correct and format what is typed.
    Otherwise,
    /// It cannot be known, because the field has more text than is read.
    Unknown,
}

/// Compares the text of a field before typing with its text now.
pub(crate) fn came<'n>(before: &str, now: &'n str, text: &str) -> Came<'n> {
    let text = text.trim_end_matches(['\n', '\r']);
    if now != before && now.contains(text) {
        return Came::Whole;
    }
    if is_cut(before) || is_cut(now) {
        return Came::Unknown;
    }
    if now == before {
        return Came::Nothing;
    }
    let more = more(before, now);
    match is_part(more.trim_end_matches(['\n', '\r']), text) {
        true => Came::Short(more),
        false => Came::Otherwise,
    }
}

/// The part of a text that is at the end of what is new in a field, where the app told other new text before it only afterwards.
pub(crate) fn came_last<'n>(before: &str, now: &'n str, text: &str) -> Option<&'n str> {
    let more = more(before, now);
    more.char_indices().map(|(at, _)| &more[at..]).find(|tail| text.starts_with(tail))
}

/// Whether a text was cut off when it was read.
fn is_cut(text: &str) -> bool {
    text.len() >= MAX_TEXT_LEN && text.encode_utf16().count() >= MAX_TEXT_LEN
}

/// The part of `now` between the common prefix and the common suffix.
fn more<'n>(before: &str, now: &'n str) -> &'n str {
    let same = |ends: &mut dyn Iterator<Item = (char, char)>| -> usize {
        ends.take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
    };
    let head = same(&mut before.chars().zip(now.chars()));
    let (before, now) = (&before[head..], &now[head..]);
    let tail = same(&mut before.chars().rev().zip(now.chars().rev()));
    &now[..now.len() - tail]
}

/// Whether all characters of one text occur in another, in the same order.
fn is_part(part: &str, whole: &str) -> bool {
    let mut whole = whole.chars();
    part.chars().all(|wanted| whole.any(|character| character == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_whole_wherever_it_was_put_and_whatever_it_replaced() {
        assert_eq!(came("", "word", "word"), Came::Whole);
        assert_eq!(came("ab", "awordb", "word\n"), Came::Whole);
        assert_eq!(came("selected", "word", "word"), Came::Whole);
        assert_eq!(came("", "word completed", "word"), Came::Whole);
    }

    #[test]
    fn a_text_that_was_there_before_has_not_come_again() {
        assert_eq!(came("word", "word", "word"), Came::Nothing);
        assert_eq!(came("", "", "word"), Came::Nothing);
    }

    #[test]
    fn missing_characters_are_seen_at_any_place() {
        assert_eq!(came("old ", "old 漢 x", "漢字 x"), Came::Short("漢 x"));
        assert_eq!(came("", "1234", "123456"), Came::Short("1234"));
        assert_eq!(came("a|b", "a|xb", "xy"), Came::Short("x"));
    }

    #[test]
    fn what_an_app_made_of_a_text_is_not_short() {
        assert_eq!(came("", "(123) 456", "123456"), Came::Otherwise);
        assert_eq!(came("", "the", "teh"), Came::Otherwise);
        assert_eq!(came("", "ABC", "abc"), Came::Otherwise);
    }

    #[test]
    fn what_was_typed_last_is_told_from_what_was_told_late() {
        assert_eq!(came_last("one", "one\ntw", "two"), Some("tw"));
        assert_eq!(came_last("one ", "one more two xx", "two xxxx"), Some("two xx"));
        assert_eq!(came_last("one", "one and", "two"), None);
        assert_eq!(came_last("one", "one", "two"), None);
    }

    #[test]
    fn of_a_text_that_was_read_in_part_nothing_is_known() {
        let long = "x".repeat(MAX_TEXT_LEN);
        assert_eq!(came(&long, &long, "more"), Came::Unknown);
    }
}
