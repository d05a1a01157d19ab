//! The tools: a table, and a file for each of the default ones.
//!
//! A tool is a row of [`DEFAULT`]: its name, what the model reads about it, its schemas, and the function that answers a call. Tools of
//! the other sets are commands of axd under their own names (`plain.rs`).

mod act;
mod apps;
mod batch;
mod changes;
mod find;
mod keys;
mod look;
mod picture;
mod plain;
mod read;
mod status;
mod wait;
mod watch;
mod write;

use std::pin::Pin;
use std::sync::Arc;

use axd_protocol::command::McpToolSet;
use axd_protocol::{Command, Error};
use rmcp::model::ToolAnnotations;

use crate::answer::{Answer, Failure};
use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::schema::Object;
use crate::similar::unknown_tool;

pub use wait::Waits;

/// What answers a call.
type Answering<'a> = Pin<Box<dyn Future<Output = Result<Answer, Failure>> + Send + 'a>>;

/// A tool.
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What the model reads about it.
    pub description: &'static str,
    /// What it does to the world, for clients that ask before some calls.
    pub hints: Hints,
    /// The schema of its arguments.
    pub input: fn() -> Object,
    /// The schema of its structured content.
    pub output: fn() -> Object,
    /// Answers a call.
    pub run: for<'a> fn(&'a Call<'a>, Arguments) -> Answering<'a>,
    /// The one command that it comes to, if a batch can hold it.
    pub command: Option<fn(Arguments) -> Result<Command, Error>>,
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy)]
pub enum Hints {
    /// It only reads.
    Reads,
    /// It changes what can be changed back, and doing it twice is the same as once.
    Arranges,
    /// It may do anything that the app does when it is asked.
    Acts,
}

impl Hints {
    /// The same as MCP says it; what only concerns axd reaches nothing outside.
    pub fn annotations(self, of_axd: bool) -> ToolAnnotations {
        let (read_only, destructive, idempotent) = match self {
            Hints::Reads => (true, false, true),
            Hints::Arranges => (false, false, true),
            Hints::Acts => (false, true, false),
        };
        ToolAnnotations::from_raw(None, Some(read_only), Some(destructive), Some(idempotent), Some(!of_axd))
    }
}

/// The tools that every agent has.
const DEFAULT: [Tool; 12] = [
    look::TOOL,
    find::TOOL,
    read::TOOL,
    act::TOOL,
    write::TOOL,
    keys::TOOL,
    wait::TOOL,
    changes::TOOL,
    picture::TOOL,
    apps::TOOL,
    batch::TOOL,
    status::TOOL,
];

/// A tool with its schemas made.
struct Entry {
    name: String,
    description: String,
    hints: Hints,
    input: Arc<Object>,
    output: Arc<Object>,
    kind: Kind,
}

enum Kind {
    Own(Tool),
    Plain(&'static plain::PlainTool),
}

/// The tools that this agent has.
pub struct Toolset {
    entries: Vec<Entry>,
}

impl Toolset {
    /// The default tools, and those of these sets.
    pub fn new(sets: &[McpToolSet]) -> Toolset {
        let mut own = Vec::from(DEFAULT);
        if sets.iter().any(|set| matches!(set, McpToolSet::Watch | McpToolSet::All)) {
            own.push(watch::TOOL);
        }
        let own = own.into_iter().map(|tool| Entry {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            hints: tool.hints,
            input: Arc::new((tool.input)()),
            output: Arc::new((tool.output)()),
            kind: Kind::Own(tool),
        });
        let plain = plain::of_sets(sets).map(|tool| Entry {
            name: tool.name(),
            description: tool.description(),
            hints: tool.hints,
            input: Arc::new(tool.input()),
            output: Arc::new(plain::PlainTool::output()),
            kind: Kind::Plain(tool),
        });
        Toolset { entries: own.chain(plain).collect() }
    }

    /// The list for the client.
    pub fn list(&self) -> Vec<rmcp::model::Tool> {
        let describe = |entry: &Entry| {
            let tool =
                rmcp::model::Tool::new(entry.name.clone(), entry.description.clone(), entry.input.clone());
            let of_axd = entry.name == "status";
            tool.with_raw_output_schema(entry.output.clone())
                .with_annotations(entry.hints.annotations(of_axd))
        };
        self.entries.iter().map(describe).collect()
    }

    /// Whether there is such a tool; if not, what was probably meant.
    pub fn check(&self, name: &str) -> Result<(), String> {
        if self.entry(name).is_some() {
            return Ok(());
        }
        Err(unknown_tool(name, || self.entries.iter().map(|entry| entry.name.as_str())))
    }

    /// Answers a call.
    pub async fn call(&self, call: &Call<'_>, name: &str, fields: Object) -> Result<Answer, Failure> {
        let Some(entry) = self.entry(name) else {
            return Err(invalid(self.check(name).err().unwrap_or_default()).into());
        };
        let args = Arguments::checked(name, &entry.input, fields)?;
        match &entry.kind {
            Kind::Own(tool) => (tool.run)(call, args).await,
            Kind::Plain(tool) => tool.run(call, args).await,
        }
    }

    /// The command that a call comes to, for a batch.
    pub fn command(&self, name: &str, fields: Object) -> Result<Command, Error> {
        self.check(name).map_err(invalid)?;
        let entry = self.entry(name).filter(|entry| match &entry.kind {
            Kind::Own(tool) => tool.command.is_some(),
            Kind::Plain(_) => true,
        });
        let entry = entry.ok_or_else(|| {
            invalid(format!("{name} cannot be in a batch")).suggest(format!("call {name} by itself"))
        })?;
        let args = Arguments::checked(name, &entry.input, fields)?;
        match &entry.kind {
            Kind::Own(Tool { command: Some(command), .. }) => command(args),
            Kind::Own(_) => Err(invalid(format!("{name} cannot be in a batch"))),
            Kind::Plain(tool) => args.into_command(tool.command),
        }
    }

    fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_has_both_schemas_and_all_hints_and_no_combinators() {
        for tool in Toolset::new(&[McpToolSet::All]).list() {
            let json = serde_json::to_value(&tool).unwrap();
            for schema in ["inputSchema", "outputSchema"] {
                assert_eq!(json[schema]["type"], "object", "{}", tool.name);
                let text = json[schema].to_string();
                for word in ["anyOf", "oneOf", "allOf", "\"if\"", "$schema", "$ref"] {
                    assert!(!text.contains(word), "{}: {text}", tool.name);
                }
            }
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(json["annotations"][hint].is_boolean(), "{}: {hint}", tool.name);
            }
            assert!(!json["description"].as_str().unwrap().is_empty());
        }
    }

    #[test]
    fn the_default_tools_are_twelve_and_cost_few_tokens() {
        let list = Toolset::new(&[]).list();
        assert_eq!(list.len(), 12);
        let text = serde_json::to_string(&serde_json::json!({ "tools": list })).unwrap();
        let tokens = bpe_openai::o200k_base().count(&text);
        assert!(tokens <= 3_000, "{tokens} tokens");
    }

    #[test]
    fn the_guide_for_models_costs_few_tokens() {
        let guide = include_str!("../../../client/src/cli/guide.md");
        let tokens = bpe_openai::o200k_base().count(guide);
        assert!(tokens <= 1_500, "{tokens} tokens");
    }

    #[test]
    fn the_entry_for_the_registry_is_of_this_version() {
        let entry: serde_json::Value = serde_json::from_str(include_str!("../../../server.json")).unwrap();
        assert_eq!(entry["version"], env!("CARGO_PKG_VERSION"));
        assert!(entry["description"].as_str().unwrap().len() <= 100);
        assert_eq!(entry["name"].as_str().unwrap().matches('/').count(), 1);
    }

    #[test]
    fn an_unknown_tool_is_answered_with_the_one_that_was_meant() {
        let tools = Toolset::new(&[]);
        assert!(tools.check("lok").unwrap_err().contains("did you mean 'look'?"));
        assert!(tools.check("xyzzy").unwrap_err().contains("the tools are: look, find"));
        assert!(tools.check("look").is_ok());
    }
}
