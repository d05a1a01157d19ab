//! The arguments of commands that act: those of the command, and the options that all of them take.

use std::ops::{Deref, DerefMut};

use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::clock::Clock;

#[cfg(feature = "cli")]
use super::ACTION_OPTIONS;

/// How an action is performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Route {
    /// With the accessibility API if the app supports it, otherwise with mouse and keyboard.
    Auto,
    /// With the accessibility API only. This works in the background, and does not move the pointer.
    Semantic,
    /// With mouse and keyboard only.
    Input,
}

/// Where a change counts for an action that is only done if nothing has changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum IfScope {
    /// In the target and what is in it.
    Target,
    /// In the window of the target, or of the focus; a new window of the app counts, too.
    #[default]
    Window,
    /// In the app.
    App,
}

/// How much of what changed an answer tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum EffectsDetail {
    /// Nothing.
    None,
    /// What can be seen to have changed, as text for readers.
    Brief,
    /// All of it, as a replica needs it.
    Full,
}

/// The options that every action takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActOptions<'a> {
    /// The app in which the target is searched.
    pub app: Option<&'a str>,
    /// The window in which the target is searched.
    pub window: Option<&'a str>,
    /// The number of the match that is meant, if the target is a selector.
    pub nth: Option<i32>,
    /// How the action is performed.
    pub route: Option<Route>,
    /// The maximum time to wait until the app has settled.
    pub settle_ms: Option<u64>,
    /// The time without changes after which the app counts as settled.
    pub quiet_ms: Option<u64>,
    /// The maximum time to wait until the target can be acted on.
    pub timeout_ms: Option<u64>,
    /// The selector that must match before the action is answered.
    pub wait_for: Option<&'a str>,
    /// The selector that must no longer match before the action is answered.
    pub wait_for_gone: Option<&'a str>,
    /// The clock since which nothing may have changed.
    pub if_since: Option<Clock>,
    /// Where nothing may have changed.
    pub if_scope: Option<IfScope>,
    /// How long no person may have used the window.
    pub yield_to_person_ms: Option<u64>,
    /// What must have come true when the action is answered.
    pub expect: &'a [String],
    /// How much of what changed the answer tells; by default all in JSON, and what can be seen in text.
    pub effects: Option<EffectsDetail>,
    /// Whether the action is only described and not performed.
    pub dry_run: bool,
}

/// The arguments of a command that acts: its own, and the options that every action takes. On the wire and on the command
/// line they are not distinguished.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActArgs<T> {
    /// The arguments of the command itself.
    #[serde(flatten)]
    pub own: T,
    /// The options that every action takes.
    #[serde(flatten)]
    pub common: ActOptionArgs,
}

/// The options that every action takes, as arguments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActOptionArgs {
    /// App to act on [default: the frontmost].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP", help_heading = ACTION_OPTIONS))]
    pub app: Option<String>,
    /// Window to act in, by title, id or window number; points are relative to it.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WINDOW", help_heading = ACTION_OPTIONS))]
    pub window: Option<String>,
    /// Act on the N-th match of the selector, in tree order; negative numbers count from the end.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", allow_negative_numbers = true, help_heading = ACTION_OPTIONS))]
    pub nth: Option<i32>,
    /// Use the accessibility API, or mouse and keyboard [default: auto].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "ROUTE", value_enum, help_heading = ACTION_OPTIONS))]
    pub route: Option<Route>,
    /// Maximum time to wait for the app to settle, in ms; 0 = do not wait [default: 1000].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS", help_heading = ACTION_OPTIONS))]
    pub settle_ms: Option<u64>,
    /// Time without changes after which the app counts as settled, in ms [default: 25].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS", help_heading = ACTION_OPTIONS))]
    pub quiet_ms: Option<u64>,
    /// Maximum time to wait until the target can be acted on, and for --wait-for, in ms [default: 5000].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS", help_heading = ACTION_OPTIONS))]
    pub timeout_ms: Option<u64>,
    /// After the action, wait until this selector matches an element.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SELECTOR", help_heading = ACTION_OPTIONS))]
    pub wait_for: Option<String>,
    /// After the action, wait until this selector matches no element.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SELECTOR", help_heading = ACTION_OPTIONS))]
    pub wait_for_gone: Option<String>,
    /// Only act if nothing has changed since this clock; else answer CHANGED, with the changes.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLOCK", help_heading = ACTION_OPTIONS))]
    pub if_since: Option<Clock>,
    /// Where nothing may have changed [default: window].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SCOPE", value_enum, requires = "if_since", help_heading = ACTION_OPTIONS))]
    pub if_scope: Option<IfScope>,
    /// Wait until no person has used the window with mouse or keyboard for this long, in ms; stop when one does.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS", help_heading = ACTION_OPTIONS))]
    pub yield_to_person_ms: Option<u64>,
    /// State of the target that must come true: a state (with =false, its absence), value=TEXT, value~=TEXT or gone; or a
    /// selector that must match. Else the answer is NOT_AS_EXPECTED, with what changed. May be repeated.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "STATE|SELECTOR", help_heading = ACTION_OPTIONS))]
    pub expect: Vec<String>,
    /// How much of what changed to tell: nothing, what can be seen, or all of it [default: brief in text, full in JSON].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "DETAIL", value_enum, conflicts_with = "no_effects", help_heading = ACTION_OPTIONS))]
    pub effects: Option<EffectsDetail>,
    /// Omit what changed from the answer, as --effects none.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, help_heading = ACTION_OPTIONS))]
    pub no_effects: bool,
    /// Show what would be done without doing it.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, help_heading = ACTION_OPTIONS))]
    pub dry_run: bool,
}

impl<T> ActArgs<T> {
    /// The options that every action takes.
    pub fn options(&self) -> ActOptions<'_> {
        let common = &self.common;
        ActOptions {
            app: common.app.as_deref(),
            window: common.window.as_deref(),
            nth: common.nth,
            route: common.route,
            settle_ms: common.settle_ms,
            quiet_ms: common.quiet_ms,
            timeout_ms: common.timeout_ms,
            wait_for: common.wait_for.as_deref(),
            wait_for_gone: common.wait_for_gone.as_deref(),
            if_since: common.if_since,
            if_scope: common.if_scope,
            yield_to_person_ms: common.yield_to_person_ms,
            expect: &common.expect,
            effects: if common.no_effects { Some(EffectsDetail::None) } else { common.effects },
            dry_run: common.dry_run,
        }
    }
}

impl<T> From<T> for ActArgs<T> {
    fn from(own: T) -> ActArgs<T> {
        ActArgs { own, common: ActOptionArgs::default() }
    }
}

impl<T> Deref for ActArgs<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.own
    }
}

impl<T> DerefMut for ActArgs<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.own
    }
}

/// Serde's `flatten` cannot be combined with `deny_unknown_fields` and does not say which field is wrong, so the object is
/// divided here.
impl<'de, T: DeserializeOwned> Deserialize<'de> for ActArgs<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ActArgs<T>, D::Error> {
        let mut own = Map::deserialize(deserializer)?;
        let (own_fields, common_fields) = (field_names::<T>(), field_names::<ActOptionArgs>());
        let is_known = |name: &str| own_fields.contains(&name) || common_fields.contains(&name);
        if let Some(unknown) = own.keys().find(|name| !is_known(name)) {
            let known: Vec<String> =
                own_fields.iter().chain(common_fields).map(|name| format!("`{name}`")).collect();
            let message = format!("unknown field `{unknown}`, expected one of {}", known.join(", "));
            return Err(D::Error::custom(message));
        }
        let common = common_fields.iter().filter_map(|name| own.remove_entry(*name)).collect();
        Ok(ActArgs { own: parse_fields(own)?, common: parse_fields(common)? })
    }
}

/// Parses an object. The error names the field that is wrong.
fn parse_fields<T: DeserializeOwned, E: serde::de::Error>(fields: Map<String, Value>) -> Result<T, E> {
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| match error.path().to_string() {
        path if path == "." => E::custom(error.into_inner()),
        path => E::custom(format_args!("{path}: {}", error.into_inner())),
    })
}

/// The names of a struct's fields, which a derived `Deserialize` passes to its deserializer.
fn field_names<T: DeserializeOwned>() -> &'static [&'static str] {
    struct Recorder<'a>(&'a mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for Recorder<'_> {
        type Error = serde::de::value::Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(Self::Error::custom("only the field names are needed"))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            *self.0 = fields;
            self.deserialize_any(visitor)
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut names: &'static [&'static str] = &[];
    // It always fails, because there is no value; the names have been recorded by then.
    let _ = T::deserialize(Recorder(&mut names));
    names
}

#[cfg(feature = "cli")]
impl<T: clap::Args> clap::Args for ActArgs<T> {
    fn augment_args(command: clap::Command) -> clap::Command {
        // The command's own arguments come last, because they set its description.
        T::augment_args(ActOptionArgs::augment_args(command))
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        T::augment_args_for_update(ActOptionArgs::augment_args_for_update(command))
    }
}

#[cfg(feature = "cli")]
impl<T: clap::FromArgMatches> clap::FromArgMatches for ActArgs<T> {
    fn from_arg_matches(matches: &clap::ArgMatches) -> Result<ActArgs<T>, clap::Error> {
        let common = ActOptionArgs::from_arg_matches(matches)?;
        Ok(ActArgs { own: T::from_arg_matches(matches)?, common })
    }

    fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
        self.own.update_from_arg_matches(matches)?;
        self.common.update_from_arg_matches(matches)
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for ActArgs<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = T::json_schema(generator);
        let common = ActOptionArgs::json_schema(generator);
        let properties = schema.ensure_object().entry("properties").or_insert_with(|| Map::new().into());
        if let (Some(Value::Object(common)), Value::Object(properties)) =
            (common.get("properties"), properties)
        {
            properties.extend(common.clone());
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Click;

    #[test]
    fn own_arguments_and_options_are_one_object() {
        let json = r#"{"target":"button:Save","app":"Notes","settle_ms":5}"#;
        let click: ActArgs<Click> = serde_json::from_str(json).unwrap();
        assert_eq!((click.target.as_str(), click.options().app), ("button:Save", Some("Notes")));
        assert_eq!(serde_json::to_string(&click).unwrap(), json);
    }

    #[test]
    fn an_error_names_the_field() {
        for (json, message) in [
            (r#"{"app":"Notes"}"#, "missing field `target`"),
            (r#"{"target":"a","settle_ms":"x"}"#, "settle_ms: invalid type: string \"x\", expected u64"),
            (
                r#"{"target":"a","colour":1}"#,
                "unknown field `colour`, expected one of `target`, `app`, `window`, ",
            ),
        ] {
            let error = serde_json::from_str::<ActArgs<Click>>(json).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
