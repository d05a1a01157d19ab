//! The built-in logic of apps whose behaviour cannot be written as rules: a calculator and a notebook.

use std::collections::HashMap;
use std::sync::Arc;

use axd_protocol::{Role, State};

use super::behavior::format_number;
use super::{Change, Handle, Model, Widget};
use crate::rule::TriggerKind;
use crate::script::LogicScript;

/// The state of the built-in logic.
#[derive(Debug)]
pub(super) enum BuiltinLogic {
    Calculator(Calculator),
    Notebook(Notebook),
}

/// A pocket calculator without operator precedence.
#[derive(Debug, Default)]
pub(super) struct Calculator {
    entry: String,
    total: Option<f64>,
    pending: Option<char>,
    /// The keys since the last result, for the history.
    line: String,
}

/// The text of each note, by its list item.
#[derive(Debug, Default)]
pub(super) struct Notebook {
    texts: HashMap<Handle, String>,
    made: u32,
}

impl Calculator {
    /// Presses a key; returns the new text of the display, and a line for the history if there is a result.
    fn key(&mut self, key: &str) -> (String, Option<String>) {
        match key {
            "C" => *self = Calculator::default(),
            "=" => return self.equals(),
            "+" | "-" | "*" | "/" => {
                let shown = self.apply_operator();
                self.pending = key.chars().next();
                self.line.push_str(&format!(" {key} "));
                return (shown, None);
            }
            "." if self.entry.contains('.') => {}
            "." if self.entry.is_empty() => self.entry.push_str("0."),
            digit => {
                if self.entry == "0" {
                    self.entry.clear();
                }
                if self.pending.is_none() && self.entry.is_empty() {
                    // A digit right after a result starts a new calculation.
                    self.total = None;
                    self.line.clear();
                }
                self.entry.push_str(digit);
            }
        }
        (if self.entry.is_empty() { "0".to_owned() } else { self.entry.clone() }, None)
    }

    /// Applies the pending operator to the entry, and returns the new total.
    fn apply_operator(&mut self) -> String {
        let entry = std::mem::take(&mut self.entry);
        if let Ok(value) = entry.parse::<f64>() {
            self.line.push_str(&format_number(value));
            let total = self.total.unwrap_or(0.0);
            self.total = Some(match self.pending.take() {
                Some('+') => total + value,
                Some('-') => total - value,
                Some('*') => total * value,
                Some('/') => total / value,
                _ => value,
            });
        } else if self.pending.take().is_some() {
            // An operator after an operator replaces it.
            self.line.truncate(self.line.len().saturating_sub(3));
        }
        if self.line.is_empty() {
            self.line = format_number(self.total.unwrap_or(0.0));
        }
        format_number(self.total.unwrap_or(0.0))
    }

    fn equals(&mut self) -> (String, Option<String>) {
        let asked = self.pending.is_some() && !self.entry.is_empty();
        let result = self.apply_operator();
        let line = format!("{} = {result}", self.line);
        self.line.clear();
        (result, asked.then_some(line))
    }
}

impl Model {
    pub(super) fn start_logic(&mut self) {
        let script = Arc::clone(&self.script);
        self.machine = script.machine.as_ref().map(|machine| match machine {
            LogicScript::Calculator { .. } => BuiltinLogic::Calculator(Calculator::default()),
            LogicScript::Notebook { .. } => BuiltinLogic::Notebook(Notebook::default()),
        });
        if let Some(LogicScript::Notebook { list, body, notes, .. }) = &script.machine
            && let Some(BuiltinLogic::Notebook(mut notebook)) = self.machine.take()
        {
            for note in notes {
                self.add_note(&mut notebook, list, note, None);
            }
            let first = self.find(list).and_then(|list| self.widget(list)?.children.first().copied());
            self.show_note(&notebook, first, body);
            self.machine = Some(BuiltinLogic::Notebook(notebook));
        }
    }

    pub(super) fn run_logic(&mut self, happening: TriggerKind, id: &str, text: &str) {
        let script = Arc::clone(&self.script);
        // The logic is taken out of the model while it changes the widgets, and put back below.
        match (self.machine.take(), &script.machine) {
            (
                Some(BuiltinLogic::Calculator(mut calculator)),
                Some(LogicScript::Calculator { display, history, keys }),
            ) => {
                if happening == TriggerKind::Press
                    && let Some(key) = keys.get(id)
                {
                    self.run_calculator(&mut calculator, key, display, history.as_deref());
                }
                self.machine = Some(BuiltinLogic::Calculator(calculator));
            }
            (Some(BuiltinLogic::Notebook(mut notebook)), Some(script)) => {
                self.run_notebook(&mut notebook, script, happening, id, text);
                self.machine = Some(BuiltinLogic::Notebook(notebook));
            }
            (machine, _) => self.machine = machine,
        }
    }

    fn run_calculator(
        &mut self,
        calculator: &mut Calculator,
        key: &str,
        display: &str,
        history: Option<&str>,
    ) {
        let history = history.and_then(|id| self.find(id));
        if key == "CH" {
            let lines = history.and_then(|list| self.widget(list)).map(|list| list.children.clone());
            for line in lines.unwrap_or_default() {
                self.remove(line);
            }
            return;
        }
        let (shown, line) = calculator.key(key);
        if let Some(display) = self.find(display) {
            self.set_value(display, shown);
        }
        if let (Some(line), Some(history)) = (line, history) {
            self.insert(Widget::named(Role::ListItem, line), history, None);
            self.changes.push(Change::Children(history));
        }
    }

    fn run_notebook(
        &mut self,
        notebook: &mut Notebook,
        script: &LogicScript,
        happening: TriggerKind,
        id: &str,
        text: &str,
    ) {
        let LogicScript::Notebook { list, body, new, delete, search, .. } = script else { return };
        let is = |ids: &[String]| ids.iter().any(|other| other == id);
        match happening {
            TriggerKind::Press if is(new) => {
                let note = self.add_note(notebook, list, "", Some(0));
                self.show_note(notebook, note, body);
                if let Some(body) = self.find(body) {
                    self.set_focus(body);
                }
            }
            TriggerKind::Press if is(delete) => {
                let Some(list) = self.find(list) else { return };
                let Some(note) = self.selected_in(list) else { return };
                notebook.texts.remove(&note);
                self.remove(note);
                let next = self.widget(list).and_then(|list| list.children.first().copied());
                self.show_note(notebook, next, body);
            }
            TriggerKind::Select if id == list => {
                let note = self.find(list).and_then(|list| self.selected_in(list));
                self.show_note(notebook, note, body);
            }
            TriggerKind::Change if id == body => {
                if let Some(note) = self.find(list).and_then(|list| self.selected_in(list)) {
                    notebook.texts.insert(note, text.to_owned());
                    self.set_name(note, title(text));
                }
            }
            TriggerKind::Change if search.as_deref() == Some(id) => {
                let notes =
                    self.find(list).and_then(|list| self.widget(list)).map(|list| list.children.clone());
                let wanted = text.to_lowercase();
                for note in notes.unwrap_or_default() {
                    let holds =
                        notebook.texts.get(&note).is_some_and(|text| text.to_lowercase().contains(&wanted));
                    self.set_state(note, State::Hidden, !holds);
                }
            }
            _ => {}
        }
    }

    fn add_note(
        &mut self,
        notebook: &mut Notebook,
        list: &str,
        text: &str,
        index: Option<usize>,
    ) -> Option<Handle> {
        let list = self.find(list)?;
        notebook.made += 1;
        let mut item = Widget::named(Role::ListItem, title(text));
        item.id = Some(format!("note-{}", notebook.made));
        let note = self.insert(item, list, index);
        notebook.texts.insert(note, text.to_owned());
        self.changes.push(Change::Children(list));
        Some(note)
    }

    fn show_note(&mut self, notebook: &Notebook, note: Option<Handle>, body: &str) {
        if let Some(note) = note {
            self.set_exclusively(note, State::Selected);
        }
        if let Some(body) = self.find(body) {
            let text = note.and_then(|note| notebook.texts.get(&note)).cloned().unwrap_or_default();
            self.set_value(body, text);
        }
    }
}

fn title(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default().trim();
    if first.is_empty() { "New Note".to_owned() } else { first.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keyed(keys: &str) -> (String, Vec<String>) {
        let mut calculator = Calculator::default();
        let mut lines = Vec::new();
        let mut shown = String::new();
        for key in keys.split(' ') {
            let (now, line) = calculator.key(key);
            shown = now;
            lines.extend(line);
        }
        (shown, lines)
    }

    #[test]
    fn the_calculator_calculates() {
        assert_eq!(keyed("7 + 8 ="), ("15".into(), vec!["7 + 8 = 15".into()]));
        assert_eq!(keyed("1 2 . 5 * 4 =").0, "50");
        assert_eq!(keyed("0 . 1 + 0 . 2 =").0, "0.3");
        assert_eq!(keyed("9 / 0 =").0, "Error");
        assert_eq!(keyed("5 C").0, "0");
    }

    #[test]
    fn a_result_can_be_used_further_or_left_behind() {
        assert_eq!(keyed("2 + 3 = * 4 =").1, ["2 + 3 = 5", "5 * 4 = 20"]);
        assert_eq!(keyed("2 + 3 = 4 + 1 =").1, ["2 + 3 = 5", "4 + 1 = 5"]);
        assert_eq!(keyed("2 + * 3 =").1, ["2 * 3 = 6"]);
    }
}
