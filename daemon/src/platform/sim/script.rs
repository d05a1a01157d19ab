//! The app scripts: what an app of the built-in desktop is made of and how it behaves, as TOML.
//!
//! `docs/sim.md` describes the format for people who write their own. Reading one only checks it; [`super::model`]
//! brings it to life.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use axd_protocol::{Role, States};
use serde::Deserialize;

use super::rule::{EffectScript, Rule, RuleScript};

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
    /// Its windows and dialogs, back to front.
    pub windows: Vec<WindowScript>,
    /// Widgets that rules can add, by name.
    pub templates: BTreeMap<String, WidgetScript>,
    /// What happens when something is done to it.
    pub rules: Vec<Rule>,
    /// The machine inside, for what rules cannot say.
    pub machine: Option<MachineScript>,
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
    #[serde(default = "yes")]
    running: bool,
    #[serde(default)]
    window: Vec<WindowScript>,
    #[serde(default)]
    template: BTreeMap<String, WidgetScript>,
    #[serde(default)]
    rule: Vec<RuleScript>,
    machine: Option<MachineScript>,
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
    #[serde(default = "yes")]
    pub open: bool,
    /// Whether it blocks the app's other windows.
    #[serde(default)]
    pub modal: bool,
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
    #[serde(default = "twenty")]
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
pub enum MachineScript {
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

fn yes() -> bool {
    true
}
fn twenty() -> u32 {
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
        let File { name, identity, profile, running, window, template, rule, machine } =
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
        ids.check_shown(&window, &template).map_err(&fail)?;
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
                return Err(fail(format!("{place}: there is no [template.{wanted}]; templates: {there}")));
            }
            rules.push(rule);
        }
        if let Some(machine) = &machine {
            machine.check(&ids).map_err(|what| fail(format!("machine: {what}")))?;
        }
        let identity = identity.unwrap_or_else(|| format!("sim.{}", name.to_lowercase().replace(' ', "-")));
        let (windows, templates) = (window, template);
        Ok(Script { name, identity, profile, running, windows, templates, rules, machine })
    }
}

/// A template may be used more than once, so what it makes needs ids of its own each time.
fn check_numbered(widget: &WidgetScript, place: &str) -> Result<(), String> {
    if let Some(id) = widget.id.as_ref().filter(|id| !id.contains("{n}")) {
        return Err(format!("{place}: id '{id}' would be used twice; put {{n}} in it, as in '{id}-{{n}}'"));
    }
    widget.children.iter().try_for_each(|child| check_numbered(child, place))
}

impl MachineScript {
    fn check(&self, ids: &Ids) -> Result<(), String> {
        self.references().into_iter().try_for_each(|reference| ids.check(reference))?;
        let MachineScript::Calculator { keys, .. } = self else { return Ok(()) };
        let is_key = |key: &str| {
            matches!(key, "." | "+" | "-" | "*" | "/" | "=" | "C" | "CH")
                || (key.len() == 1 && key.starts_with(|c: char| c.is_ascii_digit()))
        };
        match keys.iter().find(|(_, key)| !is_key(key)) {
            Some((widget, key)) => Err(format!("{widget} = '{key}' is no key; use 0-9 . + - * / = C CH")),
            None => Ok(()),
        }
    }

    fn references(&self) -> Vec<&str> {
        match self {
            MachineScript::Calculator { display, history, keys } => {
                let keys = keys.keys().map(String::as_str);
                [display.as_str()].into_iter().chain(history.as_deref()).chain(keys).collect()
            }
            MachineScript::Notebook { list, body, new, delete, search, notes: _ } => {
                let keys = new.iter().chain(delete).map(String::as_str);
                [list.as_str(), body].into_iter().chain(search.as_deref()).chain(keys).collect()
            }
        }
    }
}

/// The ids of a script, as they are checked.
#[derive(Default)]
struct Ids {
    /// In the order they appear, for lists in errors.
    all: Vec<String>,
    seen: HashSet<String>,
}

impl Ids {
    fn add(&mut self, id: &str, place: &str) -> Result<(), String> {
        if id.is_empty() || id.contains(char::is_whitespace) || id.contains(':') {
            return Err(format!("{place}: id {id:?} must be a word without spaces and colons"));
        }
        if !self.seen.insert(id.to_owned()) {
            return Err(format!("{place}: id '{id}' is used twice; every id of an app names one widget"));
        }
        self.all.push(id.to_owned());
        Ok(())
    }

    fn window(&mut self, window: &WindowScript) -> Result<(), String> {
        let place = format!("window '{}'", window.id);
        self.add(&window.id, &place)?;
        if !window.role.is_window() {
            return Err(format!("{place}: role '{}' is no window; use window, dialog or alert", window.role));
        }
        if window.bounds.is_some_and(|[_, _, width, height]| width <= 0 || height <= 0) {
            return Err(format!("{place}: bounds are [left, top, width, height] with a size above 0"));
        }
        window.children.iter().try_for_each(|child| self.widget(child, &place))
    }

    fn widget(&mut self, widget: &WidgetScript, inside: &str) -> Result<(), String> {
        let called = widget.id.as_deref().or(widget.name.as_deref()).unwrap_or("without id");
        let place = format!("{inside}, {} '{called}'", widget.role);
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
        if widget.columns == Some(0) {
            return Err(format!("{place}: columns must be at least 1"));
        }
        widget.children.iter().try_for_each(|child| self.widget(child, inside))
    }

    fn check_shown(
        &self,
        windows: &[WindowScript],
        templates: &BTreeMap<String, WidgetScript>,
    ) -> Result<(), String> {
        let mut waiting: Vec<&WidgetScript> =
            windows.iter().flat_map(|window| &window.children).chain(templates.values()).collect();
        while let Some(widget) = waiting.pop() {
            if let Some(shown) = &widget.shows {
                let called = widget.id.as_deref().or(widget.name.as_deref()).unwrap_or("without id");
                self.check(shown).map_err(|what| format!("{} '{called}' shows: {what}", widget.role))?;
            }
            waiting.extend(&widget.children);
        }
        Ok(())
    }

    /// Whether the word can name a widget: an id of the script, or one a template will make.
    fn check(&self, reference: &str) -> Result<(), String> {
        let made = |id: &String| id.split_once("{n}").is_some_and(|(stem, _)| reference.starts_with(stem));
        if self.seen.contains(reference) || self.all.iter().any(made) {
            return Ok(());
        }
        Err(format!("there is no widget '{reference}'; ids: {}", self.all.join(", ")))
    }
}

impl EffectScript {
    /// For lists in errors.
    pub const VERBS: &'static str = "set, append, increase, toggle, mark, unmark, enable, disable, show, hide, add, \
         remove, open, close, move, rename, announce, select, focus";
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> String {
        Script::parse("my.toml", text).unwrap_err().to_string()
    }

    fn with(rest: &str) -> String {
        format!(
            "name = 'X'\n[[window]]\nid = 'main'\ntitle = 'X'\n\
             children = [{{ role = 'button', id = 'go', name = 'Go' }}]\n{rest}"
        )
    }

    #[test]
    fn a_small_script_is_enough() {
        let script = Script::parse("my.toml", &with("")).unwrap();
        assert_eq!(
            (script.identity.as_str(), script.running, script.profile),
            ("sim.x", true, Profile::Full)
        );
    }

    #[test]
    fn a_misspelt_key_is_named_with_its_line() {
        let text = problem(&with("[[rule]]\nonn = 'press:go'\n"));
        assert!(text.starts_with("my.toml: "), "{text}");
        assert!(text.contains("onn") && text.contains("line 7"), "{text}");
    }

    #[test]
    fn an_unknown_role_or_state_is_named() {
        assert!(
            problem("name='X'\n[[window]]\nid='m'\ntitle='X'\nchildren=[{role='gizmo'}]").contains("'gizmo'")
        );
        let text =
            problem("name='X'\n[[window]]\nid='m'\ntitle='X'\nchildren=[{role='text', states=['sleepy']}]");
        assert!(text.contains("'sleepy' is not a state"), "{text}");
    }

    #[test]
    fn an_id_used_twice_is_named_with_its_place() {
        let text = problem(
            "name='X'\n[[window]]\nid='m'\ntitle='X'\n\
             children=[{role='text',id='a'},{role='group',id='g',children=[{role='button',id='a'}]}]",
        );
        assert!(text.contains("window 'm', button 'a': id 'a' is used twice"), "{text}");
    }

    #[test]
    fn a_rule_about_a_widget_that_is_not_there_lists_those_that_are() {
        let text = problem(&with("[[rule]]\non = 'press:stop'\ndo = [{ announce = 'hm' }]\n"));
        assert!(text.contains("rule 1") && text.contains("no widget 'stop'; ids: main, go"), "{text}");
    }

    #[test]
    fn an_effect_with_no_verb_or_two_lists_the_verbs() {
        let text = problem(&with("[[rule]]\non = 'press:go'\ndo = [{ text = 'hm' }]\n"));
        assert!(text.contains("effect 1") && text.contains("set, append"), "{text}");
        let text = problem(&with("[[rule]]\non = 'press:go'\ndo = [{ show = 'go', hide = 'go' }]\n"));
        assert!(text.contains("show, hide"), "{text}");
    }

    #[test]
    fn an_effect_lacking_something_says_what() {
        let text = problem(&with("[[rule]]\non = 'press:go'\ndo = [{ set = 'go' }]\n"));
        assert!(text.contains("'set' needs 'text'"), "{text}");
        let text = problem(&with("[[rule]]\non = 'press:go'\ndo = [{ add = 'row', into = 'main' }]\n"));
        assert!(text.contains("no [template.row]"), "{text}");
    }

    #[test]
    fn a_template_that_would_use_an_id_twice_is_refused() {
        let text = problem(&with("[template.row]\nrole = 'listitem'\nid = 'row'\n"));
        assert!(text.contains("template 'row': id 'row'") && text.contains("'row-{n}'"), "{text}");
    }

    #[test]
    fn a_key_no_calculator_has_is_refused() {
        let machine = "[machine]\nkind = 'calculator'\ndisplay = 'go'\nkeys = { go = 'sin' }\n";
        assert!(problem(&with(machine)).contains("go = 'sin' is no key"));
    }

    #[test]
    fn an_app_without_a_window_is_refused() {
        assert!(problem("name = 'X'").contains("no window"));
    }
}
