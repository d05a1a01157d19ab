//! The scripts of apps: their widgets and their behaviour, as TOML.
//!
//! `docs/sim.md` describes the format for people who write their own. Here a script is only validated; [`super::model`]
//! runs it.

mod check;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use axd_protocol::{Role, States};
use serde::Deserialize;

use super::rule::{Rule, RuleScript};
use check::{Ids, check_numbered, context_menus};

/// The script of an app.
#[derive(Debug, Clone)]
pub struct Script {
    /// The name.
    pub name: String,
    /// The identity, which stays the same when the app restarts.
    pub identity: String,
    /// Which changes it announces.
    pub profile: Profile,
    /// Whether it runs when the desktop starts.
    pub running: bool,
    /// Whether it can run more than once at a time.
    pub several: bool,
    /// Whether its widgets offer actions, unless they specify it themselves.
    pub semantic: bool,
    /// Its windows and dialogs, back to front.
    pub windows: Vec<WindowScript>,
    /// Widgets that rules can add, by name.
    pub templates: BTreeMap<String, WidgetScript>,
    /// The rules.
    pub rules: Vec<Rule>,
    /// The built-in logic, for behaviour that cannot be written as rules.
    pub machine: Option<LogicScript>,
    /// The ids of the context menus.
    pub context_menus: BTreeSet<String>,
}

/// Which changes an app announces; the profiles are named after the toolkits that behave like this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Everything is announced at once.
    #[default]
    Full,
    /// Rows that come and go are not announced.
    Gtk4,
    /// As `gtk4`, and all other changes are announced late.
    Qt,
    /// Whether an element is enabled is never announced, and only every second destroyed element is.
    Appkit,
    /// Nothing is announced.
    Silent,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    identity: Option<String>,
    #[serde(default)]
    profile: Profile,
    #[serde(default = "default_true")]
    running: bool,
    #[serde(default)]
    several: bool,
    #[serde(default = "default_true")]
    semantic: bool,
    #[serde(default)]
    window: Vec<WindowScript>,
    #[serde(default)]
    template: BTreeMap<String, WidgetScript>,
    #[serde(default)]
    rule: Vec<RuleScript>,
    machine: Option<LogicScript>,
}

/// A window or dialog.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowScript {
    /// The id, which names it in rules and is its identifier.
    pub id: String,
    /// Its title.
    pub title: String,
    /// `window`, `dialog` or `alert`.
    #[serde(default = "window_role")]
    pub role: Role,
    /// The bounds on the desktop: left, top, width, height.
    pub bounds: Option<[i32; 4]>,
    /// Whether it is open from the start.
    #[serde(default = "default_true")]
    pub open: bool,
    /// Whether it blocks the app's other windows.
    #[serde(default)]
    pub modal: bool,
    /// The button that Return presses.
    pub default: Option<String>,
    /// The button that Escape presses; without one, Escape closes a dialog.
    pub cancel: Option<String>,
    /// The layout of its children.
    pub layout: Option<Flow>,
    /// The number of columns of a grid layout.
    pub columns: Option<u16>,
    /// The children.
    #[serde(default)]
    pub children: Vec<WidgetScript>,
}

/// The script of a widget.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WidgetScript {
    /// The role.
    pub role: Role,
    /// The id, which names it in rules and for `ax sim`, and is its identifier. It is unique in an app.
    pub id: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The value.
    pub value: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The role as a toolkit would report it.
    pub native_role: Option<String>,
    /// The initial states.
    #[serde(default)]
    pub states: States,
    /// The actions, instead of those of its role.
    pub actions: Option<Vec<String>>,
    /// Whether it offers actions; if not, only mouse and keyboard work on it.
    pub semantic: Option<bool>,
    /// The shortcut, as in `ctrl+s`.
    pub shortcut: Option<String>,
    /// The id of the context menu.
    pub menu: Option<String>,
    /// The tooltip.
    pub tooltip: Option<String>,
    /// Whether the widget or, for a list, its items can be dragged.
    #[serde(default)]
    pub drag: bool,
    /// Whether its items can be reordered by dragging.
    #[serde(default)]
    pub reorder: bool,
    /// The bounds inside its parent, instead of the automatic layout: left, top, width, height.
    pub bounds: Option<[i32; 4]>,
    /// The height, instead of that of its role.
    pub height: Option<i32>,
    /// The layout of its children.
    pub layout: Option<Flow>,
    /// The number of columns of a grid layout.
    pub columns: Option<u16>,
    /// The minimum of a slider or spin button.
    pub min: Option<f64>,
    /// The maximum of a slider or spin button.
    pub max: Option<f64>,
    /// The step of a slider or spin button.
    pub step: Option<f64>,
    /// The id of the widget that a tab or a disclosure button shows.
    pub shows: Option<String>,
    /// The names of the items of a list, menu or combo box; a short form of `children`.
    #[serde(default)]
    pub items: Vec<String>,
    /// Makes it a container of which only the visible rows exist.
    pub rows: Option<RowsScript>,
    /// Fills it with generated rows.
    pub generate: Option<GenerateScript>,
    /// The children.
    #[serde(default)]
    pub children: Vec<WidgetScript>,
}

/// The rows of a container of which only the visible ones exist.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowsScript {
    /// The number of rows.
    pub total: u32,
    /// The number of visible rows.
    #[serde(default = "default_visible_rows")]
    pub visible: u32,
    /// The texts of the cells; `{row}` is the number of the row, from 1. Without texts, rows have a name and no cells.
    #[serde(default)]
    pub cells: Vec<String>,
}

/// Generated rows, for tests and benchmarks.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerateScript {
    /// The number of rows, or of items in a list.
    pub rows: u32,
    /// The number of cells per row.
    #[serde(default)]
    pub columns: u32,
}

/// The layout of children.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flow {
    /// One under the other.
    Column,
    /// Side by side.
    Row,
    /// In rows of `columns` each.
    Grid,
}

/// The built-in logic of an app, for behaviour that cannot be written as rules.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum LogicScript {
    /// A pocket calculator.
    Calculator {
        /// The field that shows the number.
        display: String,
        /// The list that gets a line for every result.
        history: Option<String>,
        /// The keys by the widgets that enter them: a digit, `.`, `+ - * / =`, `C` (clear), `CH` (clear the history).
        keys: BTreeMap<String, String>,
    },
    /// Notes in a list, one of which is shown and edited.
    Notebook {
        /// The list.
        list: String,
        /// The text area.
        body: String,
        /// The widgets that create a note.
        new: Vec<String>,
        /// The widgets that delete the selected note.
        delete: Vec<String>,
        /// The search field, which hides the notes that do not contain its text.
        search: Option<String>,
        /// The initial notes.
        notes: Vec<String>,
    },
}

fn default_true() -> bool {
    true
}
fn default_visible_rows() -> u32 {
    20
}
fn window_role() -> Role {
    Role::Window
}

/// The error of a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {what}")]
pub struct ScriptError {
    /// The file.
    pub file: String,
    /// What is wrong, where, and what to do.
    pub what: String,
}

impl Script {
    /// Reads a script from a file.
    pub fn load(path: &Path) -> Result<Script, ScriptError> {
        let file = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => Script::parse(&file, &text),
            Err(error) => Err(ScriptError { file, what: format!("cannot be read: {error}") }),
        }
    }

    /// Reads a script; `file` is for the error.
    pub fn parse(file: &str, text: &str) -> Result<Script, ScriptError> {
        let fail = |what: String| ScriptError { file: file.to_owned(), what };
        let File { name, identity, profile, running, several, semantic, window, template, rule, machine } =
            toml::from_str(text).map_err(|error| fail(error.to_string().trim_end().to_owned()))?;
        if name.trim().is_empty() {
            return Err(fail("name is empty; give the app the name people call it by".to_owned()));
        }
        if window.is_empty() {
            return Err(fail(format!("app '{name}' has no window; add a [[window]] with id and title")));
        }
        let mut ids = Ids::default();
        for window in &window {
            ids.window(window).map_err(&fail)?;
        }
        for (template, widget) in &template {
            let place = format!("template '{template}'");
            ids.widget(widget, &place).map_err(&fail)?;
            check_numbered(widget, &place).map_err(&fail)?;
        }
        ids.check_named(&window, &template).map_err(&fail)?;
        let mut rules = Vec::with_capacity(rule.len());
        for (number, rule) in rule.into_iter().enumerate() {
            let place =
                format!("rule {} (on = {:?})", number + 1, rule.on.first().map_or("", String::as_str));
            let rule = Rule::parse(rule).map_err(|what| fail(format!("{place}: {what}")))?;
            for reference in rule.references() {
                ids.check(reference).map_err(|what| fail(format!("{place}: {what}")))?;
            }
            if let Some(wanted) = rule.templates().find(|wanted| !template.contains_key(*wanted)) {
                let names: Vec<&str> = template.keys().map(String::as_str).collect();
                let there = if names.is_empty() { "there are none".to_owned() } else { names.join(", ") };
                return Err(fail(format!("{place}: [template.{wanted}] not found; templates: {there}")));
            }
            rules.push(rule);
        }
        if let Some(machine) = &machine {
            machine.check(&ids).map_err(|what| fail(format!("machine: {what}")))?;
        }
        let identity = identity.unwrap_or_else(|| format!("sim.{}", name.to_lowercase().replace(' ', "-")));
        let context_menus = context_menus(&window, &template);
        let (windows, templates) = (window, template);
        Ok(Script {
            name,
            identity,
            profile,
            running,
            several,
            semantic,
            windows,
            templates,
            rules,
            machine,
            context_menus,
        })
    }
}

#[cfg(test)]
mod tests;
