//! A table of the file, of which values are read by name and kind. What is wrong is collected with its line.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::FileError;
use crate::suggest;

/// The most errors that are told of one file.
const MAX_ERRORS: usize = 50;
/// The maximum length of a text in the file; nothing that it stands for is longer.
const MAX_TEXT: usize = 1_000;

/// What is wrong in a file.
pub(super) struct Faults<'t> {
    text: &'t str,
    found: RefCell<Vec<FileError>>,
}

impl<'t> Faults<'t> {
    /// Nothing yet, for this text.
    pub fn new(text: &'t str) -> Faults<'t> {
        Faults { text, found: RefCell::default() }
    }

    /// The line of a place in the text.
    pub fn line(&self, place: usize) -> usize {
        let before = &self.text.as_bytes()[..place.min(self.text.len())];
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }

    /// Notes what is wrong at a place.
    pub fn add(&self, place: usize, message: impl Into<String>) {
        let mut found = self.found.borrow_mut();
        if found.len() < MAX_ERRORS {
            found.push(FileError { line: self.line(place), message: message.into() });
        }
    }

    /// What was found, in the order of the file.
    pub fn sorted(&self) -> Vec<FileError> {
        let mut found = self.found.take();
        found.sort();
        found
    }
}

/// A text, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub text: String,
    pub place: usize,
}

/// A table of the file. What nobody read of it by the end is not known, which is an error.
pub(super) struct Section<'f, 't> {
    faults: &'f Faults<'t>,
    /// Its name, as in `[windows]`; empty for the file itself.
    name: String,
    table: &'f DeTable<'t>,
    /// Where it stands.
    pub place: usize,
    known: Vec<&'static str>,
}

impl<'f, 't> Section<'f, 't> {
    /// A table of this name, at this place.
    pub fn new(faults: &'f Faults<'t>, name: String, table: &'f DeTable<'t>, place: usize) -> Self {
        Section { faults, name, table, place, known: Vec::new() }
    }

    /// The line where it stands.
    pub fn line(&self) -> usize {
        self.faults.line(self.place)
    }

    /// Notes what is wrong at a place.
    pub fn fault(&self, place: usize, message: impl Into<String>) {
        self.faults.add(place, message);
    }

    fn value(&mut self, key: &'static str) -> Option<&'f Spanned<DeValue<'t>>> {
        self.known.push(key);
        self.table.get(key)
    }

    /// Notes that a value is of another kind than it must be.
    fn wrong(&self, key: &str, value: &Spanned<DeValue<'t>>, expected: &str) {
        let found = value.get_ref().type_str();
        self.fault(value.span().start, format!("`{key}` must be {expected}, not {found}"));
    }

    /// A text.
    pub fn text(&mut self, key: &'static str) -> Option<Text> {
        let value = self.value(key)?;
        match value.get_ref().as_str() {
            Some(text) => self.checked(key, text, value.span().start),
            None => {
                self.wrong(key, value, "a text in quotes");
                None
            }
        }
    }

    /// One of several words; which one.
    pub fn choice<T: Copy>(&mut self, key: &'static str, choices: &[(&str, T)]) -> Option<T> {
        let word = self.text(key)?;
        let chosen = choices.iter().find(|(name, _)| *name == word.text);
        if chosen.is_none() {
            let names: Vec<String> = choices.iter().map(|(name, _)| format!("{name:?}")).collect();
            self.fault(word.place, format!("`{key}` must be {}, not {:?}", names.join(" or "), word.text));
        }
        chosen.map(|(_, choice)| *choice)
    }

    /// `true` or `false`.
    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let value = self.value(key)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.wrong(key, value, "true or false");
        }
        flag
    }

    /// A whole number.
    pub fn number(&mut self, key: &'static str, range: RangeInclusive<u64>) -> Option<u64> {
        let value = self.value(key)?;
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let Some(integer) = value.get_ref().as_integer() else {
            self.wrong(key, value, &expected);
            return None;
        };
        let number = i128::from_str_radix(integer.as_str(), integer.radix()).ok();
        let number =
            number.and_then(|number| u64::try_from(number).ok()).filter(|number| range.contains(number));
        if number.is_none() {
            self.fault(value.span().start, format!("`{key}` must be {expected}"));
        }
        number
    }

    /// A list of texts.
    pub fn texts(&mut self, key: &'static str) -> Option<Vec<Text>> {
        let value = self.value(key)?;
        let Some(list) = value.get_ref().as_array() else {
            self.wrong(key, value, "a list of texts, as in [\"one\", \"two\"]");
            return None;
        };
        let mut texts = Vec::new();
        for item in list.iter() {
            match item.get_ref().as_str() {
                Some(text) => texts.extend(self.checked(key, text, item.span().start)),
                None => self.wrong(key, item, "a list of texts"),
            }
        }
        Some(texts)
    }

    /// A list of texts that has at least one.
    pub fn some_texts(&mut self, key: &'static str) -> Option<Vec<Text>> {
        let texts = self.texts(key)?;
        if let Some(value) = self.table.get(key).filter(|value| is_empty_list(value.get_ref())) {
            let message = format!(
                "`{key}` is empty, so that the rule matches nothing; leave it out if it makes no difference"
            );
            self.fault(value.span().start, message);
        }
        Some(texts)
    }

    /// Whether the table has a value of this name.
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    fn checked(&self, key: &str, text: &str, place: usize) -> Option<Text> {
        if text.trim().is_empty() {
            self.fault(place, format!("`{key}` has an empty text, which matches nothing"));
        } else if text.len() > MAX_TEXT {
            self.fault(place, format!("`{key}` has a text of more than {MAX_TEXT} bytes"));
        } else {
            return Some(Text { text: text.to_owned(), place });
        }
        None
    }

    /// A table in this one. A missing one is empty.
    pub fn section(&mut self, key: &'static str) -> Option<Section<'f, 't>> {
        let value = self.value(key)?;
        let name = if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) };
        match value.get_ref().as_table() {
            Some(table) => Some(Section::new(self.faults, name, table, value.span().start)),
            None => {
                self.wrong(key, value, &format!("a table; write [{name}] on a line of its own"));
                None
            }
        }
    }

    /// A list of tables.
    pub fn sections(&mut self, key: &'static str) -> Vec<Section<'f, 't>> {
        let Some(value) = self.value(key) else { return Vec::new() };
        let list =
            value.get_ref().as_array().filter(|list| list.iter().all(|item| item.get_ref().is_table()));
        let Some(list) = list else {
            self.wrong(
                key,
                value,
                &format!("a list of tables; write [[{key}]] on a line of its own before each"),
            );
            return Vec::new();
        };
        let tables = list.iter().filter_map(|item| Some((item.get_ref().as_table()?, item.span().start)));
        tables.map(|(table, place)| Section::new(self.faults, key.to_owned(), table, place)).collect()
    }

    /// Notes all keys that nobody read.
    pub fn finish(self) {
        for (key, _) in self.table.iter() {
            let name: &str = key.get_ref();
            if self.known.contains(&name) {
                continue;
            }
            let place = if self.name.is_empty() { "here".to_owned() } else { format!("in [{}]", self.name) };
            let hint = suggest::or_all(name, self.known.iter().copied());
            self.fault(key.span().start, format!("`{name}` means nothing {place}; {hint}"));
        }
    }
}

fn is_empty_list(value: &DeValue<'_>) -> bool {
    value.as_array().is_some_and(|list| list.is_empty())
}
