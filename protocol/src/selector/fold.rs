//! When two names are the same to a person: the form in which names are compared and indexed.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The name with everything taken out that a person would not call a difference: composed (NFC), trimmed, spaces
/// collapsed, case folded, `...` written `…`, quotes written straight. Two names are the same if their folds are equal; folding twice changes
/// nothing. A name that is ASCII and folded already is borrowed.
pub fn fold(name: &str) -> Cow<'_, str> {
    if is_folded_ascii(name) {
        return Cow::Borrowed(name);
    }
    let mut folded = String::with_capacity(name.len());
    for word in name.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        push_folded(word, &mut folded);
    }
    if folded.contains("...") {
        folded = folded.replace("...", "…");
    }
    // Composing comes last: lowering can leave a pair that composes, while canonical equivalents lower alike.
    if !folded.is_ascii() && !is_nfc(&folded) {
        folded = folded.nfc().collect();
    }
    Cow::Owned(folded)
}

/// Whether `name` folds to `folded`, which is folded already: `fold(name) == folded`, mostly without allocating.
pub(super) fn folds_to(name: &str, folded: &str) -> bool {
    if name.is_ascii() {
        if name.eq_ignore_ascii_case(folded) {
            return true;
        }
        // The first letter tells almost all names apart. A leading dot may become `…`, so it tells nothing.
        let first = name.trim_start().bytes().next().map(|byte| byte.to_ascii_lowercase());
        if first != Some(b'.') && first != folded.bytes().next() {
            return false;
        }
    }
    fold(name) == folded
}

/// The text with its case folded and nothing else changed: what the `i` of a filter compares.
pub(super) fn lower(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(text);
    }
    let mut lowered = String::with_capacity(text.len());
    push_lower(text, &mut lowered);
    Cow::Owned(lowered)
}

/// Case folding by lowercase per character, plus the two common letters for which lowercase is not enough, and quotes, which are
/// set one way and typed another.
fn push_folded(text: &str, out: &mut String) {
    for char in text.chars() {
        match char {
            '‘' | '’' | '‛' | 'ʼ' => out.push('\''),
            '“' | '”' | '„' | '‟' => out.push('"'),
            _ => push_lower(char.encode_utf8(&mut [0; 4]), out),
        }
    }
}

/// Case folding by lowercase per character, plus the two common letters for which lowercase is not enough.
fn push_lower(text: &str, out: &mut String) {
    for char in text.chars() {
        match char {
            'ß' | 'ẞ' => out.push_str("ss"),
            'ς' => out.push('σ'),
            _ if char.is_ascii() => out.push(char.to_ascii_lowercase()),
            _ => out.extend(char.to_lowercase()),
        }
    }
}

fn is_folded_ascii(name: &str) -> bool {
    let bytes = name.as_bytes();
    let plain = |byte: &u8| (b' '..=b'~').contains(byte) && !byte.is_ascii_uppercase();
    bytes.iter().all(plain)
        && bytes.first() != Some(&b' ')
        && bytes.last() != Some(&b' ')
        && !bytes.windows(2).any(|pair| pair == b"  ")
        && !bytes.windows(3).any(|three| three == b"...")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(name: &str, expected: &str) {
        assert_eq!(fold(name), expected, "{name:?}");
    }

    #[test]
    fn names_that_read_the_same_fold_to_the_same() {
        check("Save", "save");
        check("  Save \t\n As ", "save as");
        check("Open\u{a0}File", "open file");
        check("Save As...", "save as…");
        check("Save As…", "save as…");
        check("....", "….");
        check("STRASSE", "strasse");
        check("Straße", "strasse");
        check("STRAẞE", "strasse");
        check("ΟΔΟΣ", "οδοσ");
        check("οδος", "οδοσ");
        check("Cafe\u{301}", "café");
        check("CAFÉ", "café");
        check("İstanbul", "i\u{307}stanbul");
        check("\u{212b}", "å");
        check("", "");
        check("   ", "");
        check("日本語", "日本語");
        check("Don’t Save", "don't save");
        check("“Quoted”", "\"quoted\"");
    }

    #[test]
    fn a_folded_ascii_name_is_borrowed() {
        for name in ["", "save", "save as", "7", "100%", "a..b"] {
            assert!(matches!(fold(name), Cow::Borrowed(_)), "{name:?}");
        }
        for name in ["Save", " save", "save ", "save  as", "save...", "a\tb"] {
            assert!(matches!(fold(name), Cow::Owned(_)), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn folding_twice_changes_nothing(name in any::<String>()) {
            let once = fold(&name).into_owned();
            prop_assert_eq!(fold(&once), once.as_str());
        }

        #[test]
        fn composed_and_decomposed_names_fold_alike(name in any::<String>()) {
            let (composed, decomposed) = (name.nfc().collect::<String>(), name.nfd().collect::<String>());
            prop_assert_eq!(fold(&composed), fold(&decomposed));
        }

        #[test]
        fn comparing_without_allocating_agrees_with_comparing_folds(
            name in "[ .aAßZz…\t]{0,8}", other in "[ .aAßZz…\t]{0,8}",
        ) {
            let folded = fold(&other);
            prop_assert_eq!(folds_to(&name, &folded), fold(&name) == folded);
            prop_assert!(folds_to(&other, &folded));
        }
    }
}
