//! Validates a script: ids are unique, and all widgets that it refers to exist.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use axd_protocol::Role;
use axd_protocol::keys::Combo;

use super::{LogicScript, WidgetScript, WindowScript};

/// Checks that the ids of a template contain `{n}`, because a template may be used more than once.
pub(super) fn check_numbered(widget: &WidgetScript, place: &str) -> Result<(), String> {
    if let Some(id) = widget.id.as_ref().filter(|id| !id.contains("{n}")) {
        return Err(format!("{place}: id '{id}' would be used twice; put {{n}} in it, as in '{id}-{{n}}'"));
    }
    widget.children.iter().try_for_each(|child| check_numbered(child, place))
}

impl LogicScript {
    pub(super) fn check(&self, ids: &Ids) -> Result<(), String> {
        self.references().into_iter().try_for_each(|reference| ids.check(reference))?;
        let LogicScript::Calculator { keys, .. } = self else { return Ok(()) };
        let is_key = |key: &str| {
            matches!(key, "." | "+" | "-" | "*" | "/" | "=" | "C" | "CH")
                || (key.len() == 1 && key.starts_with(|c: char| c.is_ascii_digit()))
        };
        match keys.iter().find(|(_, key)| !is_key(key)) {
            Some((widget, key)) => Err(format!("{widget} = '{key}' is not a key; use 0-9 . + - * / = C CH")),
            None => Ok(()),
        }
    }

    fn references(&self) -> Vec<&str> {
        match self {
            LogicScript::Calculator { display, history, keys } => {
                let keys = keys.keys().map(String::as_str);
                [display.as_str()].into_iter().chain(history.as_deref()).chain(keys).collect()
            }
            LogicScript::Notebook { list, body, new, delete, search, notes: _ } => {
                let keys = new.iter().chain(delete).map(String::as_str);
                [list.as_str(), body].into_iter().chain(search.as_deref()).chain(keys).collect()
            }
        }
    }
}

/// The ids of a script.
#[derive(Default)]
pub(super) struct Ids {
    /// The ids in the order of the script, for error messages.
    all: Vec<String>,
    seen: HashSet<String>,
}

impl Ids {
    fn add(&mut self, id: &str, place: &str) -> Result<(), String> {
        if id.is_empty() || id.contains(char::is_whitespace) || id.contains(':') {
            return Err(format!("{place}: id {id:?} must be a word without spaces and colons"));
        }
        if id == "dragged" {
            return Err(format!("{place}: the id 'dragged' is reserved; choose another"));
        }
        if !self.seen.insert(id.to_owned()) {
            return Err(format!("{place}: id '{id}' is used twice; every id of an app names one widget"));
        }
        self.all.push(id.to_owned());
        Ok(())
    }

    pub(super) fn window(&mut self, window: &WindowScript) -> Result<(), String> {
        let place = format!("window '{}'", window.id);
        self.add(&window.id, &place)?;
        if !window.role.is_window() {
            return Err(format!(
                "{place}: role '{}' is not a window; use window, dialog or alert",
                window.role
            ));
        }
        if window.bounds.is_some_and(|[_, _, width, height]| width <= 0 || height <= 0) {
            return Err(format!("{place}: bounds are [left, top, width, height] with a size above 0"));
        }
        window.children.iter().try_for_each(|child| self.widget(child, &place))
    }

    pub(super) fn widget(&mut self, widget: &WidgetScript, inside: &str) -> Result<(), String> {
        let label = widget.id.as_deref().or(widget.name.as_deref()).unwrap_or("without id");
        let place = format!("{inside}, {} '{label}'", widget.role);
        if let Some(id) = &widget.id {
            self.add(id, &place)?;
        }
        if widget.role.is_window() || widget.role == Role::Application {
            return Err(format!("{place}: a {} cannot be inside another; make it a [[window]]", widget.role));
        }
        let ways = [widget.rows.is_some(), widget.generate.is_some(), !widget.items.is_empty()];
        if ways.iter().filter(|way| **way).count() + usize::from(!widget.children.is_empty()) > 1 {
            return Err(format!("{place}: takes one of children, items, rows and generate"));
        }
        if let (Some(min), Some(max)) = (widget.min, widget.max)
            && min > max
        {
            return Err(format!("{place}: min {min} is above max {max}"));
        }
        if let Some(problem) = widget.shortcut.as_ref().and_then(|keys| keys.parse::<Combo>().err()) {
            return Err(format!("{place}: shortcut: {problem}"));
        }
        if widget.columns == Some(0) {
            return Err(format!("{place}: columns must be at least 1"));
        }
        widget.children.iter().try_for_each(|child| self.widget(child, inside))
    }

    /// Checks that the widgets to which widgets and windows refer exist.
    pub(super) fn check_named(
        &self,
        windows: &[WindowScript],
        templates: &BTreeMap<String, WidgetScript>,
    ) -> Result<(), String> {
        for window in windows {
            for (key, named) in [("default", &window.default), ("cancel", &window.cancel)] {
                let check = |named: &String| self.check(named);
                named
                    .as_ref()
                    .map_or(Ok(()), check)
                    .map_err(|what| format!("window '{}', {key}: {what}", window.id))?;
            }
        }
        for widget in widgets(windows, templates) {
            let named = [("shows", &widget.shows), ("menu", &widget.menu)];
            for (key, named) in named.iter().filter_map(|(key, named)| Some((key, named.as_ref()?))) {
                let label = widget.id.as_deref().or(widget.name.as_deref()).unwrap_or("without id");
                self.check(named).map_err(|what| format!("{} '{label}' {key}: {what}", widget.role))?;
            }
        }
        Ok(())
    }

    /// Checks that a word refers to a widget: by an id of the script, or one that a template will have.
    pub(super) fn check(&self, reference: &str) -> Result<(), String> {
        let made = |id: &String| id.split_once("{n}").is_some_and(|(stem, _)| reference.starts_with(stem));
        if reference == "dragged" || self.seen.contains(reference) || self.all.iter().any(made) {
            return Ok(());
        }
        Err(format!("widget '{reference}' not found; ids: {}", self.all.join(", ")))
    }
}

/// All widgets of a script, including those of templates.
fn widgets<'a>(
    windows: &'a [WindowScript],
    templates: &'a BTreeMap<String, WidgetScript>,
) -> Vec<&'a WidgetScript> {
    let mut waiting: Vec<&WidgetScript> =
        windows.iter().flat_map(|window| &window.children).chain(templates.values()).collect();
    let mut all = Vec::new();
    while let Some(widget) = waiting.pop() {
        all.push(widget);
        waiting.extend(&widget.children);
    }
    all
}

/// The ids of the context menus of all widgets.
pub(super) fn context_menus(
    windows: &[WindowScript],
    templates: &BTreeMap<String, WidgetScript>,
) -> BTreeSet<String> {
    widgets(windows, templates).into_iter().filter_map(|widget| widget.menu.clone()).collect()
}
