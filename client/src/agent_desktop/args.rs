//! The arguments of a command, checked against the table.

use axd_protocol::{Error, ErrorCode, Result};
use serde_json::{Map, Value};

use super::table::{ArgKind, ArgSpec, CommandSpec};

/// Checked arguments.
#[derive(Debug, Clone, Default)]
pub struct Args {
    fields: Map<String, Value>,
}

/// An error for arguments that make no sense.
pub fn invalid(message: impl Into<String>) -> Error {
    Error::new(ErrorCode::InvalidArgs, message).suggest("correct the arguments; nothing was done")
}

impl Args {
    /// Checks names and types, and whether everything that must be there is.
    pub fn checked(command: &CommandSpec, fields: Map<String, Value>) -> Result<Args> {
        let mut args = Args::default();
        for (name, value) in fields {
            let Some(spec) = command.args.iter().find(|spec| spec.is_called(&name)) else {
                let known: Vec<String> = command.args.iter().map(ArgSpec::name).collect();
                let taken = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                return Err(invalid(format!("{}: there is no argument '{name}'", command.name))
                    .suggest(format!("its arguments are: {taken}")));
            };
            if value.is_null() {
                continue;
            }
            let value = typed(command, spec, value)?;
            args.fields.insert(spec.name(), value);
        }
        match command.args.iter().find(|spec| spec.is_required() && !args.fields.contains_key(&spec.name())) {
            Some(missing) => Err(invalid(format!("{}: {} is required", command.name, missing.name()))),
            None => Ok(args),
        }
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// A whole number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.fields.get(name).and_then(Value::as_u64)
    }

    /// Whether a flag is set.
    pub fn flag(&self, name: &str) -> bool {
        self.fields.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// The commands of a batch.
    pub fn items(&self, name: &str) -> &[Value] {
        self.fields.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// A value of the type that an argument takes.
fn typed(command: &CommandSpec, spec: &ArgSpec, value: Value) -> Result<Value> {
    let wrong = |wanted: &str| {
        Err(invalid(format!("{}: {} must be {wanted}, not {value}", command.name, spec.name())))
    };
    match (spec.kind, &value) {
        (ArgKind::Text, Value::Number(_) | Value::Bool(_)) => Ok(value.to_string().into()),
        (ArgKind::Text, Value::String(_))
        | (ArgKind::Flag, Value::Bool(_))
        | (ArgKind::Items, Value::Array(_)) => Ok(value),
        (ArgKind::Number, Value::Number(number)) if number.is_u64() => Ok(value),
        (ArgKind::OneOf(words), Value::String(word)) if words.contains(&word.as_str()) => Ok(value),
        (ArgKind::Text, _) => wrong("a text"),
        (ArgKind::Number, _) => wrong("a whole number"),
        (ArgKind::Flag, _) => wrong("true or false"),
        (ArgKind::OneOf(words), _) => wrong(&format!("one of {}", words.join(", "))),
        (ArgKind::Items, _) => wrong("a list of commands"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_desktop::table;
    use serde_json::json;

    fn checked(command: &str, fields: Value) -> Result<Args> {
        Args::checked(table::find(command).unwrap(), fields.as_object().unwrap().clone())
    }

    #[test]
    fn a_wrong_argument_is_named() {
        for (command, fields, said) in [
            ("click", json!({}), "click: ref is required"),
            ("click", json!({ "reff": "@e1" }), "click: there is no argument 'reff'"),
            (
                "get",
                json!({ "ref": "@e1", "property": "colour" }),
                "property must be one of text, value, title",
            ),
            ("get", json!({ "ref": "@e1" }), "get: property is required"),
            ("scroll", json!({ "ref": "@e1", "amount": "3" }), "amount must be a whole number, not \"3\""),
            ("snapshot", json!({ "compact": 1 }), "compact must be true or false, not 1"),
            ("batch", json!({ "commands": "[]" }), "commands must be a list of commands"),
        ] {
            let error = checked(command, fields).unwrap_err();
            assert!(
                error.message.contains(said) && error.code == ErrorCode::InvalidArgs,
                "{}",
                error.message
            );
        }
    }

    #[test]
    fn other_spellings_and_numbers_for_texts_are_taken() {
        let args = checked("snapshot", json!({ "root": "@e4", "max_depth": 3, "app": null })).unwrap();
        assert_eq!(
            (args.text("subtree"), args.number("max_depth"), args.text("app")),
            (Some("@e4"), Some(3), None)
        );
        let value = checked("set-value", json!({ "ref": "@e1", "value": 30 })).unwrap();
        assert_eq!(value.text("value"), Some("30"));
    }
}
