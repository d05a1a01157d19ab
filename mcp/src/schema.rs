//! The schemas of tools, made from those of axd's commands.
//!
//! Clients drop a tool, or all tools of a server, over a combinator at the root of a schema; some do over any. And every word of a
//! schema is in the context of the model from the start. So types are inlined, combinators become plain types, and only what a model needs
//! is kept.

use axd_protocol::command::args_schema;
use serde_json::{Map, Value, json};

/// A JSON object.
pub type Object = Map<String, Value>;

/// The input schema of a tool, as it is put together.
#[derive(Debug, Default)]
pub struct Input {
    properties: Object,
    required: Vec<Value>,
}

impl Input {
    /// A schema without properties.
    pub fn new() -> Input {
        Input::default()
    }

    /// With these arguments of a command, with its types and its descriptions.
    pub fn of(self, command: &str, names: &[&str]) -> Input {
        names.iter().fold(self, |input, name| input.renamed(command, name, name, None))
    }

    /// With an argument of a command whose name says enough.
    pub fn plain(mut self, command: &str, name: &str) -> Input {
        self = self.renamed(command, name, name, None);
        if let Some(Value::Object(property)) = self.properties.get_mut(name) {
            property.remove("description");
        }
        self
    }

    /// With an argument of a command, described for the tool.
    pub fn described(self, command: &str, name: &str, description: &str) -> Input {
        self.renamed(command, name, name, Some(description))
    }

    /// With an argument of a command under another name.
    pub fn renamed(mut self, command: &str, name: &str, as_name: &str, description: Option<&str>) -> Input {
        let schema = command_schema(command);
        let mut property = schema["properties"][name].clone();
        assert!(property.is_object(), "{command} has no argument {name}");
        if let Some(description) = description {
            property["description"] = description.into();
        }
        self.properties.insert(as_name.to_owned(), property);
        self
    }

    /// With an argument that no command has.
    pub fn own(mut self, name: &str, schema: Value) -> Input {
        self.properties.insert(name.to_owned(), schema);
        self
    }

    /// With these arguments required.
    pub fn required(mut self, names: &[&str]) -> Input {
        self.required.extend(names.iter().map(|name| Value::from(*name)));
        self
    }

    /// The schema.
    pub fn schema(self) -> Object {
        let mut schema = Object::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), self.properties.into());
        if !self.required.is_empty() {
            schema.insert("required".to_owned(), self.required.into());
        }
        schema
    }
}

/// The schema of all arguments of a command, in the form that tools have.
pub fn command_schema(command: &str) -> Value {
    let schema = args_schema(command).map(Value::from).unwrap_or_default();
    let mut plain = plain(&schema, &schema["$defs"]);
    if let Some(properties) = plain["properties"].as_object_mut() {
        for (name, described) in schema["properties"].as_object().into_iter().flatten() {
            if let Some(description) = described["description"].as_str() {
                properties[name]["description"] = first_paragraph(description).into();
            }
        }
    }
    plain
}

fn first_paragraph(text: &str) -> String {
    let first = text.split("\n\n").next().unwrap_or_default();
    first.replace('\n', " ").trim_end_matches('.').to_owned()
}

/// A schema without references, combinators and what only people read.
fn plain(schema: &Value, definitions: &Value) -> Value {
    let Value::Object(fields) = schema else {
        // `true` is anything: a text, in every command that takes it.
        return json!({ "type": "string" });
    };
    if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
        let name = name.rsplit('/').next().unwrap_or_default();
        return plain(&definitions[name], definitions);
    }
    for combinator in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(choices)) = fields.get(combinator) {
            return plain_choice(choices, definitions);
        }
    }
    let mut out = Object::new();
    match fields.get("type") {
        Some(Value::Array(types)) => {
            let known = types.iter().find(|known| *known != "null");
            out.insert("type".to_owned(), known.cloned().unwrap_or_else(|| "string".into()));
        }
        Some(known) => drop(out.insert("type".to_owned(), known.clone())),
        None => drop(out.insert("type".to_owned(), "string".into())),
    }
    if let Some(Value::Array(values)) = fields.get("enum") {
        let values: Vec<Value> = values.iter().filter(|value| !value.is_null()).cloned().collect();
        out.insert("enum".to_owned(), values.into());
    }
    if let Some(value) = fields.get("const") {
        out.insert("enum".to_owned(), vec![value.clone()].into());
    }
    if let Some(items) = fields.get("items") {
        out.insert("items".to_owned(), plain(items, definitions));
    }
    if let Some(Value::Object(properties)) = fields.get("properties") {
        let properties = properties.iter().map(|(name, schema)| (name.clone(), plain(schema, definitions)));
        out.insert("properties".to_owned(), properties.collect::<Object>().into());
        if let Some(required) = fields.get("required") {
            out.insert("required".to_owned(), required.clone());
        }
    }
    out.into()
}

/// One schema for several: the only one that is not null, or the values of all.
fn plain_choice(choices: &[Value], definitions: &Value) -> Value {
    let choices: Vec<Value> = choices
        .iter()
        .filter(|choice| choice["type"] != "null")
        .map(|choice| plain(choice, definitions))
        .collect();
    match &choices[..] {
        [one] => one.clone(),
        several => {
            let values = several.iter().filter_map(|choice| choice["enum"].as_array()).flatten().cloned();
            json!({ "type": "string", "enum": values.collect::<Vec<_>>() })
        }
    }
}

/// An output schema: an object with these properties. None of them is required, because an error has `error` in their place.
pub fn output(properties: Value) -> Object {
    let mut schema = Object::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_protocol::Command;

    #[test]
    fn every_command_has_a_schema_without_combinators() {
        for name in Command::NAMES {
            let text = command_schema(name).to_string();
            for word in ["anyOf", "oneOf", "allOf", "$ref", "$schema", "\"null\"", "\"if\""] {
                assert!(!text.contains(word), "{name}: {text}");
            }
        }
    }

    #[test]
    fn arguments_keep_their_types_and_descriptions() {
        let schema = Input::new().of("snapshot", &["app", "depth", "interactive"]).schema();
        assert_eq!(schema["properties"]["depth"]["type"], "integer");
        assert_eq!(schema["properties"]["interactive"]["type"], "boolean");
        assert!(schema["properties"]["app"]["description"].as_str().unwrap().starts_with("App, by name"));
        let route = Input::new().of("click", &["route"]).schema();
        assert_eq!(route["properties"]["route"]["enum"], json!(["auto", "semantic", "input"]));
        let wait = Input::new().of("wait", &["for"]).schema();
        assert_eq!(wait["properties"]["for"]["items"]["type"], "string");
    }
}
