//! The rules of a script: what triggers them, and their effects.

use axd_protocol::State;
use serde::Deserialize;

/// A rule as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleScript {
    /// `verb:widget`, one or several.
    #[serde(deserialize_with = "one_or_many")]
    pub on: Vec<String>,
    /// The conditions, which must all be met: one, or a list.
    #[serde(default, deserialize_with = "conditions")]
    pub when: Vec<ConditionScript>,
    /// The delay of the effects, in ms.
    #[serde(default)]
    pub after_ms: u64,
    /// The effects.
    #[serde(rename = "do")]
    pub effects: Vec<EffectScript>,
}

/// A condition as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConditionScript {
    /// The widget that is tested.
    pub widget: String,
    /// The widget has this state.
    pub is: Option<String>,
    /// The widget does not have this state.
    pub is_not: Option<String>,
    /// The widget has this value.
    pub value: Option<String>,
    /// The widget has this name.
    pub name: Option<String>,
    /// The value of the widget is empty, or is not.
    pub empty: Option<bool>,
}

/// An effect as it is written: one verb and what it needs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs)] // Each verb is documented where it means something: on [`Effect`].
pub struct EffectScript {
    pub set: Option<String>,
    pub append: Option<String>,
    pub increase: Option<String>,
    pub toggle: Option<String>,
    pub mark: Option<String>,
    pub unmark: Option<String>,
    pub enable: Option<String>,
    pub disable: Option<String>,
    pub show: Option<String>,
    pub hide: Option<String>,
    pub add: Option<String>,
    pub remove: Option<String>,
    pub open: Option<String>,
    pub close: Option<String>,
    #[serde(rename = "move")]
    pub move_: Option<String>,
    pub rename: Option<String>,
    pub announce: Option<String>,
    pub select: Option<String>,
    pub focus: Option<String>,
    #[serde(default, deserialize_with = "truth")]
    pub quit: Option<String>,
    /// For `set`, `append` and `rename`.
    pub text: Option<String>,
    /// For `toggle`, `mark` and `unmark`.
    pub state: Option<String>,
    /// For `add` and `move`.
    pub into: Option<String>,
    /// For `add` and `move`: the place among the children; the end if absent.
    pub index: Option<usize>,
    /// For `increase`.
    pub by: Option<f64>,
}

/// What triggers a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trigger {
    /// The kind of event.
    pub kind: TriggerKind,
    /// The widget's id, or `*` for any.
    pub widget: String,
}

/// The events that can trigger a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerKind {
    /// The app started.
    Start,
    /// The widget was pressed.
    Press,
    /// The user changed its value or whether it is checked.
    Change,
    /// The widget, or something in it, was selected.
    Select,
    /// The widget received the focus.
    Focus,
    /// The window opened.
    Open,
    /// The window closed.
    Close,
    /// The widget was double-clicked, or Return was pressed in it.
    Activate,
    /// Something was dropped on the widget, or on something in it.
    Drop,
    /// The pointer moved onto the widget.
    Hover,
    /// An action that only the script defines was requested.
    Action,
    /// The app was asked to end.
    Quit,
}

impl TriggerKind {
    const ALL: [(&'static str, TriggerKind); 12] = [
        ("start", TriggerKind::Start),
        ("press", TriggerKind::Press),
        ("change", TriggerKind::Change),
        ("select", TriggerKind::Select),
        ("focus", TriggerKind::Focus),
        ("open", TriggerKind::Open),
        ("close", TriggerKind::Close),
        ("activate", TriggerKind::Activate),
        ("drop", TriggerKind::Drop),
        ("hover", TriggerKind::Hover),
        ("action", TriggerKind::Action),
        ("quit", TriggerKind::Quit),
    ];

    /// Whether the event is one of the app rather than of a widget.
    fn is_app_level(self) -> bool {
        matches!(self, TriggerKind::Start | TriggerKind::Quit)
    }
}

/// A condition of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The widget that is tested.
    pub widget: String,
    /// The test.
    pub test: Test,
}

/// What a condition tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// The widget has the state, or does not have it.
    State(State, bool),
    /// The widget has the value.
    Value(String),
    /// The widget has the name.
    Name(String),
    /// The value of the widget is empty, or is not.
    Empty(bool),
}

/// One effect of a rule. Widgets are named by id, or as `selected:LIST` or `last:LIST`.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Sets the value.
    Set(String, String),
    /// Appends text to the value.
    Append(String, String),
    /// Adds to the value, which is a number, within its range.
    Increase(String, f64),
    /// Toggles a state.
    Toggle(String, State),
    /// Sets a state, or clears it.
    Mark(String, State, bool),
    /// Adds a widget from a template.
    Add {
        /// The template.
        template: String,
        /// The new parent.
        into: String,
        /// The index among its children; the end if absent.
        index: Option<usize>,
    },
    /// Removes the widget.
    Remove(String),
    /// Opens the window, or raises it.
    Open(String),
    /// Closes the window.
    Close(String),
    /// Moves the widget.
    Move {
        /// The widget.
        widget: String,
        /// The new parent.
        into: String,
        /// The index among its children; the end if absent.
        index: Option<usize>,
    },
    /// Changes the name.
    Rename(String, String),
    /// Announces a text for screen readers to speak.
    Announce(String),
    /// Selects the widget exclusively.
    Select(String),
    /// Moves the focus to the widget.
    Focus(String),
    /// Ends the app.
    Quit,
}

/// A validated rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// The triggers.
    pub on: Vec<Trigger>,
    /// The conditions, which must all be met.
    pub when: Vec<Condition>,
    /// The delay of the effects, in ms.
    pub after_ms: u64,
    /// The effects.
    pub effects: Vec<Effect>,
}

impl Rule {
    /// Validates a rule.
    pub fn parse(script: RuleScript) -> Result<Rule, String> {
        let on = script.on.iter().map(|on| trigger(on)).collect::<Result<Vec<_>, _>>()?;
        let when = script.when.into_iter().map(condition).collect::<Result<Vec<_>, _>>()?;
        let effects = script.effects.into_iter().enumerate();
        let effects = effects
            .map(|(number, effect)| {
                Effect::parse(effect).map_err(|what| format!("effect {}: {what}", number + 1))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Rule { on, when, after_ms: script.after_ms, effects })
    }

    /// The widgets that the rule refers to.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        let on = self.on.iter().map(|trigger| trigger.widget.as_str()).filter(|id| !matches!(*id, "*" | ""));
        let when = self.when.iter().map(|condition| condition.widget.as_str());
        let effects = self.effects.iter().flat_map(Effect::references);
        on.chain(when).chain(effects.map(|id| id.split_once(':').map_or(id, |(_, list)| list)))
    }

    /// The templates that the rule refers to.
    pub fn templates(&self) -> impl Iterator<Item = &str> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Add { template, .. } => Some(template.as_str()),
            _ => None,
        })
    }
}

fn trigger(on: &str) -> Result<Trigger, String> {
    let (verb, widget) = on.split_once(':').unwrap_or((on, ""));
    let found = TriggerKind::ALL.iter().find(|(name, _)| *name == verb).map(|(_, happening)| *happening);
    match found {
        Some(happening) if happening.is_app_level() == widget.is_empty() => {
            Ok(Trigger { kind: happening, widget: widget.to_owned() })
        }
        Some(happening) if happening.is_app_level() => Err(format!("'{verb}' takes no widget")),
        Some(_) => Err(format!("'{on}' does not name a widget; write {verb}:WIDGET, or {verb}:* for any")),
        None => {
            let names: Vec<&str> = TriggerKind::ALL.iter().map(|(name, _)| *name).collect();
            Err(format!("'{verb}' is not an event; use one of {}", names.join(", ")))
        }
    }
}

fn condition(script: ConditionScript) -> Result<Condition, String> {
    let ConditionScript { widget, is, is_not, value, name, empty } = script;
    let test = match (is, is_not, value, name, empty) {
        (Some(state), None, None, None, None) => Test::State(state_named(&state)?, true),
        (None, Some(state), None, None, None) => Test::State(state_named(&state)?, false),
        (None, None, Some(value), None, None) => Test::Value(value),
        (None, None, None, Some(name), None) => Test::Name(name),
        (None, None, None, None, Some(empty)) => Test::Empty(empty),
        _ => return Err("'when' takes one of is, is_not, value, name and empty".to_owned()),
    };
    Ok(Condition { widget, test })
}

fn state_named(word: &str) -> Result<State, String> {
    let names = || State::ALL.iter().map(|state| state.name()).collect::<Vec<_>>().join(", ");
    State::parse(word).ok_or_else(|| format!("'{word}' is not a state; states: {}", names()))
}

impl Effect {
    fn parse(script: EffectScript) -> Result<Effect, String> {
        let EffectScript { text, state, into, index, by, .. } = &script;
        let verbs = script.verbs();
        let [(verb, widget)] = verbs.as_slice() else {
            let named: Vec<&str> = verbs.iter().map(|(verb, _)| *verb).collect();
            let has = if named.is_empty() { "no verb".to_owned() } else { named.join(", ") };
            return Err(format!("has {has}; it takes exactly one of {}", EffectScript::VERBS));
        };
        let lacks = |what: &str| format!("'{verb}' needs '{what}'");
        let text = || text.clone().ok_or_else(|| lacks("text"));
        let state = || state_named(state.as_ref().ok_or_else(|| lacks("state"))?);
        let into = || into.clone().ok_or_else(|| lacks("into"));
        let (widget, index) = (widget.to_string(), *index);
        Ok(match *verb {
            "set" => Effect::Set(widget, text()?),
            "append" => Effect::Append(widget, text()?),
            "increase" => Effect::Increase(widget, by.unwrap_or(1.0)),
            "toggle" => Effect::Toggle(widget, state()?),
            "mark" => Effect::Mark(widget, state()?, true),
            "unmark" => Effect::Mark(widget, state()?, false),
            "enable" => Effect::Mark(widget, State::Disabled, false),
            "disable" => Effect::Mark(widget, State::Disabled, true),
            "show" => Effect::Mark(widget, State::Hidden, false),
            "hide" => Effect::Mark(widget, State::Hidden, true),
            "add" => Effect::Add { template: widget, into: into()?, index },
            "remove" => Effect::Remove(widget),
            "open" => Effect::Open(widget),
            "close" => Effect::Close(widget),
            "move" => Effect::Move { widget, into: into()?, index },
            "rename" => Effect::Rename(widget, text()?),
            "announce" => Effect::Announce(widget),
            "select" => Effect::Select(widget),
            "quit" => Effect::Quit,
            _ => Effect::Focus(widget),
        })
    }

    fn references(&self) -> Vec<&str> {
        match self {
            Effect::Announce(_) | Effect::Quit => vec![],
            Effect::Add { into, .. } => vec![into],
            Effect::Move { widget, into, .. } => vec![widget, into],
            Effect::Set(widget, _)
            | Effect::Append(widget, _)
            | Effect::Increase(widget, _)
            | Effect::Toggle(widget, _)
            | Effect::Mark(widget, _, _)
            | Effect::Remove(widget)
            | Effect::Open(widget)
            | Effect::Close(widget)
            | Effect::Rename(widget, _)
            | Effect::Select(widget)
            | Effect::Focus(widget) => vec![widget],
        }
    }
}

impl EffectScript {
    /// The verbs, for error messages.
    const VERBS: &'static str = "set, append, increase, toggle, mark, unmark, enable, disable, show, hide, add, \
         remove, open, close, move, rename, announce, select, focus, quit";

    fn verbs(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("set", &self.set),
            ("append", &self.append),
            ("increase", &self.increase),
            ("toggle", &self.toggle),
            ("mark", &self.mark),
            ("unmark", &self.unmark),
            ("enable", &self.enable),
            ("disable", &self.disable),
            ("show", &self.show),
            ("hide", &self.hide),
            ("add", &self.add),
            ("remove", &self.remove),
            ("open", &self.open),
            ("close", &self.close),
            ("move", &self.move_),
            ("rename", &self.rename),
            ("announce", &self.announce),
            ("select", &self.select),
            ("focus", &self.focus),
            ("quit", &self.quit),
        ];
        all.into_iter().filter_map(|(verb, widget)| Some((verb, widget.as_deref()?))).collect()
    }
}

/// Parses `quit = true`, which names no widget.
fn truth<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(bool::deserialize(deserializer)?.then(String::new))
}

fn conditions<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<ConditionScript>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a condition or a list of them: { widget = ID, is = STATE }")]
    enum Either {
        One(ConditionScript),
        Many(Vec<ConditionScript>),
    }
    Ok(match Either::deserialize(deserializer)? {
        Either::One(condition) => vec![condition],
        Either::Many(conditions) => conditions,
    })
}

fn one_or_many<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "\"verb:widget\" or a list of them")]
    enum Either {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Either::deserialize(deserializer)? {
        Either::One(on) => vec![on],
        Either::Many(on) => on,
    })
}
