//! The form in which names are compared and indexed, so that names that look the same to people are equal.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Normalises a name for comparison: composed (NFC), trimmed, spaces collapsed, case folded, `...` replaced by `…`, and
/// typographic quotes replaced by straight ones. Folding twice changes nothing. A name that is ASCII and already folded is
/// borrowed.
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
    // Composing comes last, because lowercasing can produce a pair that composes.
    if !folded.is_ascii() && !is_nfc(&folded) {
        folded = folded.nfc().collect();
    }
    Cow::Owned(folded)
}

/// Whether `fold(name) == folded`, where `folded` is already folded. It mostly needs no allocation.
pub(super) fn folds_to(name: &str, folded: &str) -> bool {
    if name.is_ascii() {
        if name.eq_ignore_ascii_case(folded) {
            return true;
        }
        // Almost all names differ in the first letter. A leading dot may become `…`, so it is not compared.
        let first = name.trim_start().bytes().next().map(|byte| byte.to_ascii_lowercase());
        if first != Some(b'.') && first != folded.bytes().next() {
            return false;
        }
    }
    fold(name) == folded
}

/// Folds the case of a text and changes nothing else, for the `i` of a filter.
pub(super) fn lower(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(text);
    }
    let mut lowered = String::with_capacity(text.len());
    push_lower(text, &mut lowered);
    Cow::Owned(lowered)
}

/// Appends a text with its case folded and with straight quotes, because people type quotes differently from how apps show them.
fn push_folded(text: &str, out: &mut String) {
    for char in text.chars() {
        match char {
            '‘' | '’' | '‛' | 'ʼ' => out.push('\''),
            '“' | '”' | '„' | '‟' => out.push('"'),
            _ => push_lower(char.encode_utf8(&mut [0; 4]), out),
        }
    }
}

/// Appends a text with its case folded: lowercase per character, plus the two common letters for which that is not enough.
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
