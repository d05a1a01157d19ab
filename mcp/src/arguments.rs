//! The arguments of a call: checked against the schema of the tool, and turned into those of a command.

use axd_protocol::{Command, Error, ErrorCode, Result};
use serde_json::Value;
use serde_json::value::to_raw_value;

use crate::schema::Object;
use crate::similar::similar;

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    tool: String,
    fields: Object,
}

impl Arguments {
    /// Checks the arguments of a tool. The error names what is wrong and what was probably meant.
    pub fn checked(tool: &str, schema: &Object, fields: Object) -> Result<Arguments> {
        let properties = schema.get("properties").and_then(Value::as_object);
        let known = |name: &str| properties.and_then(|properties| properties.get(name));
        let mut fields = fields;
        // Models write null for what they leave out.
        fields.retain(|_, value| !value.is_null());
        for (name, value) in &fields {
            let schema = known(name).ok_or_else(|| unknown(tool, name, properties))?;
            check(tool, name, value, schema)?;
        }
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            let name = name.as_str().unwrap_or_default();
            if !fields.contains_key(name) {
                let about = known(name).and_then(|schema| schema["description"].as_str()).unwrap_or_default();
                return Err(invalid(format!("{tool}: {name} is missing")).suggest(format!("{name}: {about}")));
            }
        }
        Ok(Arguments { tool: tool.to_owned(), fields })
    }

    /// Takes an argument out.
    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.fields.remove(name)
    }

    /// Takes a text out.
    pub fn take_text(&mut self, name: &str) -> Option<String> {
        self.take(name).and_then(|value| value.as_str().map(ToOwned::to_owned))
    }

    /// Takes a number out.
    pub fn take_number(&mut self, name: &str) -> Option<u64> {
        self.take(name).and_then(|value| value.as_u64())
    }

    /// Takes a yes or no out; no, if it is not there.
    pub fn take_flag(&mut self, name: &str) -> bool {
        self.take(name).and_then(|value| value.as_bool()).unwrap_or(false)
    }

    /// Whether there is such an argument.
    pub fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    /// A text that stays where it is.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.fields.get(name).and_then(Value::as_str)
    }

    /// Whether there is such an argument, and it is a text that is not empty.
    pub fn has_text(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| !text.is_empty())
    }

    /// Sets an argument.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.fields.insert(name.to_owned(), value.into());
    }

    /// Gives an argument another name.
    pub fn rename(&mut self, from: &str, to: &str) {
        if let Some(value) = self.take(from) {
            self.set(to, value);
        }
    }

    /// The error for an argument that must be there here.
    pub fn missing(&self, name: &str, when: &str) -> Error {
        invalid(format!("{}: {name} is missing", self.tool)).suggest(format!("{when} needs {name}"))
    }

    /// The arguments that are left.
    pub fn rest(&self) -> &Object {
        &self.fields
    }

    /// The command with the arguments that are left. What it does not take is an error.
    pub fn into_command(self, command: &str) -> Result<Command> {
        let raw = to_raw_value(&self.fields).map_err(|fault| invalid(fault.to_string()))?;
        Command::parse(command, Some(&raw)).map_err(|error| {
            // The commands' errors begin with their names and point to their help, neither of which an agent has.
            let said = error.message.strip_prefix(command).unwrap_or(&error.message).to_owned();
            let said = said.trim_start_matches(':').trim().to_owned();
            let what =
                if command == self.tool { self.tool.clone() } else { format!("{} ({command})", self.tool) };
            let taken = said.contains("unknown field");
            let error = invalid(format!("{what}: {said}"));
            if taken { error.suggest("leave that argument out: it belongs to another verb") } else { error }
        })
    }
}

/// Checks the type of a value, and that it is one of those that are listed.
fn check(tool: &str, name: &str, value: &Value, schema: &Value) -> Result<()> {
    let expected = schema["type"].as_str().unwrap_or("string");
    let fits = match expected {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    if !fits {
        let example = match expected {
            "array" => format!("[{}]", example_of(&schema["items"])),
            _ => example_of(schema),
        };
        let article = if expected.starts_with(['a', 'i', 'o']) { "an" } else { "a" };
        return Err(invalid(format!("{tool}: {name} must be {article} {expected}, not {}", kind_of(value)))
            .suggest(format!("write it as in \"{name}\": {example}")));
    }
    if let Some(items) = value.as_array() {
        return items.iter().try_for_each(|item| check(tool, name, item, &schema["items"]));
    }
    let Some(allowed) = schema["enum"].as_array() else { return Ok(()) };
    if allowed.contains(value) {
        return Ok(());
    }
    let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
    let given = value.as_str().unwrap_or_default();
    let error = invalid(format!("{tool}: {name} has no value '{given}'"));
    Err(match similar(given, allowed.iter().copied()) {
        Some(meant) => error.suggest(format!("did you mean '{meant}'?")),
        None => error.suggest(format!("{name} is one of: {}", allowed.join(", "))),
    })
}

fn example_of(schema: &Value) -> String {
    if let Some(first) = schema["enum"].get(0) {
        return first.to_string();
    }
    match schema["type"].as_str().unwrap_or("string") {
        "integer" | "number" => "1".to_owned(),
        "boolean" => "true".to_owned(),
        "object" => "{…}".to_owned(),
        _ => "\"…\"".to_owned(),
    }
}

fn kind_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn unknown(tool: &str, name: &str, properties: Option<&Object>) -> Error {
    let names: Vec<&str> =
        properties.into_iter().flat_map(|known| known.keys().map(String::as_str)).collect();
    let error = invalid(format!("{tool}: there is no argument '{name}'"));
    match similar(name, names.iter().copied()) {
        Some(meant) => error.suggest(format!("did you mean '{meant}'?")),
        None if names.is_empty() => error.suggest(format!("{tool} takes no arguments")),
        None => error.suggest(format!("{tool} takes: {}", names.join(", "))),
    }
}

/// An error for a call that is not well-formed.
pub fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidArgs, message)
        .suggest("correct the call and make it again; nothing was done")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Input;
    use serde_json::json;

    fn checked(fields: Value) -> Result<Arguments> {
        let schema = Input::new().of("snapshot", &["app", "depth", "interactive"]).of("wait", &["for"]);
        let schema = schema.of("click", &["route", "target"]).required(&["target"]).schema();
        Arguments::checked("look", &schema, fields.as_object().unwrap().clone())
    }

    #[test]
    fn a_wrong_argument_is_named_with_what_was_probably_meant() {
        for (fields, said, tip) in [
            (json!({"target": "a", "dept": 1}), "no argument 'dept'", "did you mean 'depth'?"),
            (json!({"target": "a", "xyzzy": 1}), "no argument 'xyzzy'", "look takes: "),
            (json!({"target": "a", "depth": "2"}), "depth must be an integer, not a string", "\"depth\": 1"),
            (
                json!({"target": "a", "interactive": "yes"}),
                "interactive must be a boolean",
                "\"interactive\": true",
            ),
            (json!({"target": 5}), "target must be a string, not 5", "\"target\": \"…\""),
            (json!({"target": "a", "for": "b"}), "for must be an array", "\"for\": [\"…\"]"),
            (json!({"target": "a", "for": [1]}), "for must be a string, not 1", "\"…\""),
            (json!({"target": "a", "route": "semantik"}), "no value 'semantik'", "did you mean 'semantic'?"),
            (json!({"target": "a", "route": "x"}), "no value 'x'", "one of: auto, semantic, input"),
            (json!({"app": "a"}), "target is missing", "target: "),
        ] {
            let error = checked(fields).unwrap_err();
            assert!(error.message.contains(said), "{}", error.message);
            assert!(error.suggestion.contains(tip), "{}", error.suggestion);
        }
    }

    #[test]
    fn null_is_left_out() {
        assert!(!checked(json!({"target": "a", "depth": null})).unwrap().has("depth"));
    }

    #[test]
    fn what_a_command_does_not_take_is_an_error() {
        let mut args = checked(json!({"target": "a", "depth": 1})).unwrap();
        let error = args.clone().into_command("click").unwrap_err();
        assert!(error.message.starts_with("look (click): unknown field `depth`"), "{}", error.message);
        assert_eq!(args.take_number("depth"), Some(1));
        assert_eq!(args.into_command("click").unwrap().name(), "click");
    }
}
