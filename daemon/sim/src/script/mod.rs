//! The app scripts: what an app of the built-in desktop is made of and how it behaves, as TOML.
//!
//! `docs/sim.md` describes the format for people who write their own. Reading one only checks it; [`super::model`]
//! brings it to life.

mod check;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use axd_protocol::{Role, States};
use serde::Deserialize;

use super::rule::{Rule, RuleScript};
use check::{Ids, check_numbered, context_menus};

/// A whole app.
#[derive(Debug, Clone)]
pub struct Script {
    /// What people call it.
    pub name: String,
    /// What stays the same when it restarts.
    pub identity: String,
    /// How badly it announces what happens in it.
    pub profile: Profile,
    /// Whether it runs when the desktop starts.
    pub running: bool,
    /// Whether it can run more than once at a time.
    pub several: bool,
    /// Whether its widgets can be asked to act, where they do not say so themselves.
    pub semantic: bool,
    /// Its windows and dialogs, back to front.
    pub windows: Vec<WindowScript>,
    /// Widgets that rules can add, by name.
    pub templates: BTreeMap<String, WidgetScript>,
    /// What happens when something is done to it.
    pub rules: Vec<Rule>,
    /// The machine inside, for what rules cannot say.
    pub machine: Option<LogicScript>,
    /// The menus that are there only when they are opened beside something.
    pub context_menus: BTreeSet<String>,
}

/// How badly an app announces what happens in it, after the toolkits that do it so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Everything, at once.
    #[default]
    Full,
    /// Rows that come and go are not announced.
    Gtk4,
    /// As `gtk4`, and the rest comes late.
    Qt,
    /// Enabled and disabled is never announced, and every second end of an element is swallowed.
    Appkit,
    /// Nothing.
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
    /// Names it in rules; its identifier.
    pub id: String,
    /// Its title.
    pub title: String,
    /// `window`, `dialog` or `alert`.
    #[serde(default = "window_role")]
    pub role: Role,
    /// Left, top, width, height on the desktop.
    pub bounds: Option<[i32; 4]>,
    /// Whether it is there from the start.
    #[serde(default = "default_true")]
    pub open: bool,
    /// Whether it blocks the app's other windows.
    #[serde(default)]
    pub modal: bool,
    /// The button that Return presses.
    pub default: Option<String>,
    /// The button that Escape presses; without one, Escape closes a dialog.
    pub cancel: Option<String>,
    /// How its children are laid out.
    pub layout: Option<Flow>,
    /// The columns of a grid layout.
    pub columns: Option<u16>,
    /// What is in it.
    #[serde(default)]
    pub children: Vec<WidgetScript>,
}

/// Anything in a window.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WidgetScript {
    /// What it is.
    pub role: Role,
    /// Names it in rules and to `ax sim`; its identifier. Once per app.
    pub id: Option<String>,
    /// What it is called.
    pub name: Option<String>,
    /// What it holds.
    pub value: Option<String>,
    /// More about it.
    pub description: Option<String>,
    /// What its toolkit would call its role.
    pub native_role: Option<String>,
    /// What is true of it at the start.
    #[serde(default)]
    pub states: States,
    /// What it can do, instead of what its role does.
    pub actions: Option<Vec<String>>,
    /// Whether it can be asked to act; if not, only mouse and keyboard move it.
    pub semantic: Option<bool>,
    /// The keys that press it, as in `ctrl+s`.
    pub shortcut: Option<String>,
    /// The menu that a right click on it, or on anything in it, opens.
    pub menu: Option<String>,
    /// What pops up when the pointer is on it.
    pub tooltip: Option<String>,
    /// Whether it, or what is in it, can be dragged.
    #[serde(default)]
    pub drag: bool,
    /// Whether items dragged onto each other in it change places.
    #[serde(default)]
    pub reorder: bool,
    /// Left, top, width, height inside its parent, instead of the automatic place.
    pub bounds: Option<[i32; 4]>,
    /// Its height, instead of its role's.
    pub height: Option<i32>,
    /// How its children are laid out.
    pub layout: Option<Flow>,
    /// The columns of a grid layout.
    pub columns: Option<u16>,
    /// The least value of a slider or spin button.
    pub min: Option<f64>,
    /// The greatest.
    pub max: Option<f64>,
    /// By how much its arrows move it.
    pub step: Option<f64>,
    /// The page that a tab shows, or what a disclosure button opens and closes.
    pub shows: Option<String>,
    /// Short for children: the items of a list or combo box.
    #[serde(default)]
    pub items: Vec<String>,
    /// Makes it a container that has many rows and shows some.
    pub rows: Option<RowsScript>,
    /// Fills it with real children by the number.
    pub generate: Option<GenerateScript>,
    /// What is in it.
    #[serde(default)]
    pub children: Vec<WidgetScript>,
}

/// Rows of which only those in view exist.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowsScript {
    /// How many there are.
    pub total: u32,
    /// How many are in view.
    #[serde(default = "default_visible_rows")]
    pub visible: u32,
    /// What the cells hold; `{row}` is the row's number, from 1. None: the row has a name and no cells.
    #[serde(default)]
    pub cells: Vec<String>,
}

/// Real children by the number, for tests and benches.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenerateScript {
    /// How many rows (or items, in a list).
    pub rows: u32,
    /// How many cells each has.
    #[serde(default)]
    pub columns: u32,
}

/// How children are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flow {
    /// One under the other.
    Column,
    /// Side by side.
    Row,
    /// In rows of as many as `columns` says.
    Grid,
}

/// The machine inside an app, for what rules cannot say.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum LogicScript {
    /// A pocket calculator.
    Calculator {
        /// The field that shows the number.
        display: String,
        /// The list that gets a line for every result.
        history: Option<String>,
        /// What pressing a widget enters: a digit, `.`, `+ - * / =`, `C` (clear), `CH` (clear the history).
        keys: BTreeMap<String, String>,
    },
    /// Notes in a list, one of which is shown and edited.
    Notebook {
        /// The list.
        list: String,
        /// The text area.
        body: String,
        /// Widgets that begin a new note.
        new: Vec<String>,
        /// Widgets that delete the selected one.
        delete: Vec<String>,
        /// The field that hides the notes that do not hold its text.
        search: Option<String>,
        /// The notes at the start.
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

/// Why a script cannot be used.
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
