//! Editing text: the caret, the selection, and what typing does.
//!
//! Positions are counted in characters. A field whose caret was never set, or whose text was replaced, has it at
//! the end.

use std::ops::Range;
use std::time::Instant;

use axd_protocol::{Point, Role, State};

use super::{Handle, Model, Refusal};

/// The width of a character and the height of a line.
pub const CELL: (i32, i32) = (6, 12);
/// The distance of text from the edge of its field.
pub const PADDING: i32 = 4;

/// A caret and its selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Caret {
    /// The other end of the selection; the position of the caret if nothing is selected.
    pub anchor: usize,
    /// The index of the character after the caret.
    pub at: usize,
}

impl Caret {
    /// The selected range.
    pub fn selected(self) -> Range<usize> {
        self.anchor.min(self.at)..self.anchor.max(self.at)
    }
}

/// A movement of the caret by a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    Left,
    Right,
    WordLeft,
    WordRight,
    Up,
    Down,
    LineStart,
    LineEnd,
    Start,
    End,
}

impl Model {
    /// Whether text can be typed into a widget.
    pub fn takes_text(&self, handle: Handle) -> Result<(), Refusal> {
        let Some(widget) = self.widget(handle) else { return Err(Refusal::gone()) };
        let is_text = matches!(widget.role, Role::TextField | Role::TextArea | Role::SearchField);
        match (is_text || widget.states.has(State::Editable), widget.states.has(State::Readonly)) {
            (true, true) => Err(Refusal::refused(format!("{} is read-only", widget.describe()))),
            (true, false) => Ok(()),
            (false, _) => Err(Refusal::unable(format!("{} takes no text", widget.describe()))),
        }
    }

    /// The caret of a field.
    pub fn caret(&self, handle: Handle) -> Caret {
        let length = self.length(handle);
        let caret = self.carets.get(&handle).copied().unwrap_or(Caret { anchor: length, at: length });
        Caret { anchor: caret.anchor.min(length), at: caret.at.min(length) }
    }

    fn length(&self, handle: Handle) -> usize {
        self.held(handle).chars().count()
    }

    fn held(&self, handle: Handle) -> &str {
        self.widget(handle).and_then(|widget| widget.value.as_deref()).unwrap_or_default()
    }

    pub(super) fn caret_to_end(&mut self, handle: Handle) {
        self.carets.remove(&handle);
    }

    /// The part of a text that a field accepts: a single-line field takes no line breaks.
    pub(super) fn fitting(&self, handle: Handle, text: &str) -> String {
        match self.widget(handle).map(|widget| widget.role) {
            Some(Role::TextArea) => text.to_owned(),
            _ => text.replace("\r\n", " ").replace(['\n', '\r'], " "),
        }
    }

    /// Inserts text at the caret, replacing the selection.
    pub(super) fn insert_text(&mut self, handle: Handle, text: &str, now: Instant) -> Result<(), Refusal> {
        self.takes_text(handle)?;
        let text = self.fitting(handle, text);
        self.replace(handle, self.caret(handle).selected(), &text, now);
        Ok(())
    }

    fn replace(&mut self, handle: Handle, range: Range<usize>, with: &str, now: Instant) {
        let held: Vec<char> = self.held(handle).chars().collect();
        let before = held.iter().take(range.start);
        let after = held.iter().skip(range.end);
        let text: String = before.copied().chain(with.chars()).chain(after.copied()).collect();
        let at = range.start + with.chars().count();
        if text == self.held(handle) {
            self.carets.insert(handle, Caret { anchor: at, at });
            return;
        }
        self.set_value(handle, text);
        self.carets.insert(handle, Caret { anchor: at, at });
        self.on_user_change(handle, now);
    }

    /// Deletes the selection, or the character before or after the caret.
    pub(super) fn delete_text(&mut self, handle: Handle, forward: bool, now: Instant) {
        if self.takes_text(handle).is_err() {
            return;
        }
        let caret = self.caret(handle);
        let mut range = caret.selected();
        if range.is_empty() {
            range = if forward { caret.at..caret.at + 1 } else { caret.at.saturating_sub(1)..caret.at };
        }
        if range.start < self.length(handle) {
            self.replace(handle, range, "", now);
        }
    }

    /// The selected text of a field; none for a secure field.
    pub(super) fn selected_text(&self, handle: Handle) -> Option<String> {
        let range = self.caret(handle).selected();
        if range.is_empty() || self.has(handle, State::Secure) {
            return None;
        }
        Some(self.held(handle).chars().skip(range.start).take(range.len()).collect())
    }

    /// Moves the caret before a character, and extends the selection if `extend`.
    pub(super) fn set_caret(&mut self, handle: Handle, at: usize, extend: bool) {
        let anchor = if extend { self.caret(handle).anchor } else { at };
        self.carets.insert(handle, Caret { anchor, at });
    }

    /// Selects a part of a text, with the caret at its end.
    pub fn select_text(&mut self, handle: Handle, range: Range<usize>) {
        self.carets.insert(handle, Caret { anchor: range.start, at: range.end });
    }

    pub(super) fn select_all(&mut self, handle: Handle) {
        self.select_text(handle, 0..self.length(handle));
    }

    /// Selects the word the caret is in.
    pub(super) fn select_word(&mut self, handle: Handle) {
        let text: Vec<char> = self.held(handle).chars().collect();
        let at = self.caret(handle).at.min(text.len().saturating_sub(1));
        let kind = |character: char| (character.is_alphanumeric(), character.is_whitespace());
        let Some(here) = text.get(at).copied().map(kind) else { return };
        let start = text[..at].iter().rposition(|character| kind(*character) != here).map_or(0, |at| at + 1);
        let rest = text[at..].iter().position(|character| kind(*character) != here);
        self.select_text(handle, start..rest.map_or(text.len(), |rest| at + rest));
    }

    /// Selects the line the caret is in.
    pub(super) fn select_line(&mut self, handle: Handle) {
        let line = line_of(&self.held(handle).chars().collect::<Vec<_>>(), self.caret(handle).at);
        self.select_text(handle, line);
    }

    /// Moves the caret.
    pub(super) fn move_caret(&mut self, handle: Handle, motion: Motion, extend: bool) {
        let text: Vec<char> = self.held(handle).chars().collect();
        let caret = self.caret(handle);
        let selected = caret.selected();
        let line = line_of(&text, caret.at);
        let column = caret.at - line.start;
        let is_word = |at: &usize| text.get(*at).is_some_and(|character| character.is_alphanumeric());
        let at = match motion {
            Motion::Left if !extend && !selected.is_empty() => selected.start,
            Motion::Right if !extend && !selected.is_empty() => selected.end,
            Motion::Left => caret.at.saturating_sub(1),
            Motion::Right => (caret.at + 1).min(text.len()),
            Motion::WordLeft => {
                let end = (0..caret.at).rfind(is_word).unwrap_or(0);
                (0..end).rfind(|at| !is_word(at)).map_or(0, |at| at + 1)
            }
            Motion::WordRight => {
                let start = (caret.at..text.len()).find(is_word).unwrap_or(text.len());
                (start..text.len()).find(|at| !is_word(at)).unwrap_or(text.len())
            }
            Motion::Up if line.start == 0 => 0,
            Motion::Up => {
                let above = line_of(&text, line.start - 1);
                (above.start + column).min(above.end)
            }
            Motion::Down if line.end == text.len() => text.len(),
            Motion::Down => {
                let below = line_of(&text, line.end + 1);
                (below.start + column).min(below.end)
            }
            Motion::LineStart => line.start,
            Motion::LineEnd => line.end,
            Motion::Start => 0,
            Motion::End => text.len(),
        };
        self.set_caret(handle, at, extend);
    }

    /// The position in the text that is nearest to a point.
    pub(super) fn text_place(&mut self, handle: Handle, point: Point) -> usize {
        let Some(bounds) = self.place(handle).and_then(|place| place.bounds) else { return 0 };
        let text: Vec<char> = self.held(handle).chars().collect();
        let is_single = self.widget(handle).is_some_and(|widget| widget.role != Role::TextArea);
        let row = if is_single { 0 } else { (point.y - bounds.y - PADDING).max(0) / CELL.1 };
        let column = (point.x - bounds.x - PADDING + CELL.0 / 2).max(0) / CELL.0;
        let (mut line, mut left) = (line_of(&text, 0), row);
        while left > 0 && line.end < text.len() {
            line = line_of(&text, line.end + 1);
            left -= 1;
        }
        (line.start + usize::try_from(column).unwrap_or(0)).min(line.end)
    }
}

/// The range of the line that contains a position, without its line break.
fn line_of(text: &[char], at: usize) -> Range<usize> {
    let at = at.min(text.len());
    let start = text[..at].iter().rposition(|character| *character == '\n').map_or(0, |end| end + 1);
    let length = text[at..].iter().position(|character| *character == '\n');
    start..length.map_or(text.len(), |length| at + length)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::script::Script;

    fn field(role: &str, value: &str) -> (Model, Handle) {
        let text = format!(
            "name='X'\n[[window]]\nid='w'\ntitle='X'\nchildren=[{{role='{role}',id='f',value={value:?}}}]"
        );
        let model = Model::new(Arc::new(Script::parse("x.toml", &text).unwrap()), 1, Instant::now());
        let field = model.find("f").unwrap();
        (model, field)
    }

    fn selection(model: &Model, field: Handle) -> Range<usize> {
        model.caret(field).selected()
    }

    #[test]
    fn typing_goes_in_at_the_caret_and_instead_of_what_is_selected() {
        let now = Instant::now();
        let (mut model, field) = field("textfield", "milk");
        model.insert_text(field, "!", now).unwrap();
        model.move_caret(field, Motion::Start, false);
        model.insert_text(field, "more ", now).unwrap();
        assert_eq!(model.held(field), "more milk!");
        model.select_word(field);
        assert_eq!(model.selected_text(field).as_deref(), Some("milk"));
        model.insert_text(field, "bread\nand", now).unwrap();
        assert_eq!(model.held(field), "more bread and!");
        model.delete_text(field, false, now);
        model.delete_text(field, true, now);
        assert_eq!(model.held(field), "more bread an");
        model.set_value(field, "anew");
        assert_eq!(model.caret(field).at, 4, "text put in whole has the caret at its end");
    }

    #[test]
    fn the_caret_moves_by_characters_words_and_lines() {
        let (mut model, field) = field("textarea", "one two\nthree\n");
        model.move_caret(field, Motion::Start, false);
        model.move_caret(field, Motion::WordRight, false);
        assert_eq!(model.caret(field).at, 3);
        model.move_caret(field, Motion::Down, false);
        assert_eq!(model.caret(field).at, 11);
        model.move_caret(field, Motion::LineEnd, true);
        assert_eq!(selection(&model, field), 11..13);
        model.move_caret(field, Motion::Left, false);
        assert_eq!(selection(&model, field), 11..11, "a selection ends where it began");
        model.move_caret(field, Motion::Up, false);
        model.move_caret(field, Motion::WordLeft, false);
        assert_eq!(model.caret(field).at, 0);
        model.move_caret(field, Motion::End, false);
        assert_eq!(model.caret(field).at, 14);
    }

    #[test]
    fn a_point_finds_its_place_in_the_text() {
        let (mut model, field) = field("textarea", "one two\nthree");
        let bounds = model.place(field).unwrap().bounds.unwrap();
        let at = |column: i32, row: i32| Point {
            x: bounds.x + PADDING + column * CELL.0 + 1,
            y: bounds.y + PADDING + row * CELL.1 + 1,
        };
        assert_eq!(model.text_place(field, at(4, 0)), 4);
        assert_eq!(model.text_place(field, at(2, 1)), 10);
        assert_eq!(model.text_place(field, at(60, 5)), 13);
    }
}
