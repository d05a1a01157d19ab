//! Compatibility profiles: the tools of other designs, done with axd's commands.
//!
//! A profile translates, and has no more state than its file says. `mod.rs` has what all of them share: how tools are listed and
//! found, and what an answer is made of. docs/mcp.md says what each of them promises.

mod agent_desktop;
mod strobe;
mod thuvu;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axd_client::Reply;
use axd_protocol::command::McpProfile;
use axd_protocol::error::Retry;
use axd_protocol::{Command, Error, ErrorCode};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use crate::answered::{Answered, Ask};
use crate::arguments::invalid;
use crate::call::Call;
use crate::options::Options;
use crate::schema::Object;
use crate::similar::unknown_tool;
use crate::tools::{Hints, Toolset};

/// The key of what axd adds to the structured content of every profile.
const EXTRA: &str = "_axd";

/// A tool of a profile.
pub struct ProfileTool {
    /// Its name.
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// What it does to the world.
    pub hints: Hints,
    /// The schema of its arguments.
    pub input: Arc<Object>,
    /// The schema of its structured content.
    pub output: Arc<Object>,
}

/// What answers a call.
pub type Answering<'a> = Pin<Box<dyn Future<Output = ProfileAnswer> + Send + 'a>>;

/// The tools of another design.
pub trait Profile: Send + Sync {
    /// The tools, in their order.
    fn tools(&self) -> &[ProfileTool];

    /// What the model reads about them.
    fn instructions(&self) -> &'static str;

    /// Answers a call of one of the tools.
    fn call<'a>(&'a self, call: &'a Call<'a>, tool: &'a ProfileTool, fields: Object) -> Answering<'a>;
}

/// The tools that are served: axd's own, or those of a profile.
pub enum Tools {
    /// axd's own.
    Own(Toolset),
    /// Those of a profile.
    Of(Box<dyn Profile>),
}

impl Tools {
    /// The tools that these options name.
    pub fn new(options: &Options) -> Tools {
        match options.mcp.profile {
            McpProfile::Axd => Tools::Own(Toolset::new(&options.mcp.tools)),
            McpProfile::Strobe => Tools::Of(Box::new(strobe::Strobe::new())),
            McpProfile::AgentDesktop => Tools::Of(Box::new(agent_desktop::AgentDesktop::new())),
            McpProfile::Thuvu => Tools::Of(Box::new(thuvu::Thuvu::new())),
        }
    }

    /// The list for the client.
    pub fn list(&self) -> Vec<rmcp::model::Tool> {
        match self {
            Tools::Own(tools) => tools.list(),
            Tools::Of(profile) => profile.tools().iter().map(listed).collect(),
        }
    }

    /// Whether there is such a tool; if not, what was probably meant.
    pub fn check(&self, name: &str) -> Result<(), String> {
        match self {
            Tools::Own(tools) => tools.check(name),
            Tools::Of(profile) => {
                let names = || profile.tools().iter().map(|tool| tool.name.as_str());
                if names().any(|known| known == name) { Ok(()) } else { Err(unknown_tool(name, names)) }
            }
        }
    }

    /// What the model reads about a profile's tools; `None` for axd's own.
    pub fn instructions(&self) -> Option<&'static str> {
        match self {
            Tools::Own(_) => None,
            Tools::Of(profile) => Some(profile.instructions()),
        }
    }

    /// The command that a call comes to, for a batch.
    pub fn command(&self, name: &str, fields: Object) -> Result<Command, Error> {
        match self {
            Tools::Own(tools) => tools.command(name, fields),
            Tools::Of(_) => Err(invalid(format!("{name} cannot be in a batch"))),
        }
    }

    /// Answers a call.
    pub async fn call(&self, call: &Call<'_>, name: &str, fields: Object) -> Answered {
        match self {
            Tools::Own(tools) => Answered::of(tools.call(call, name, fields).await, &call.shared.marks),
            Tools::Of(profile) => match profile.tools().iter().find(|tool| tool.name == name) {
                Some(tool) => profile.call(call, tool, fields).await.into_answered(),
                None => Answered::failed(self.check(name).err().unwrap_or_default()),
            },
        }
    }
}

fn listed(tool: &ProfileTool) -> rmcp::model::Tool {
    rmcp::model::Tool::new(tool.name.clone(), tool.description.clone(), tool.input.clone())
        .with_raw_output_schema(tool.output.clone())
        .with_annotations(tool.hints.annotations(false))
}

/// The answer to a call of a profile's tool.
#[derive(Debug)]
pub struct ProfileAnswer {
    /// The structured content.
    data: Value,
    /// The same as text, without pictures.
    text: String,
    /// A text before the picture.
    caption: Option<String>,
    /// A picture in base64, and its type.
    image: Option<(String, &'static str)>,
    is_error: bool,
    ask: Ask,
}

impl ProfileAnswer {
    /// An answer whose text is the data itself.
    pub fn new(data: &impl Serialize) -> ProfileAnswer {
        ProfileAnswer {
            // What serializes to an error has a key that is no text, and nothing here has.
            data: serde_json::to_value(data).unwrap_or_default(),
            text: serde_json::to_string_pretty(data).unwrap_or_default(),
            caption: None,
            image: None,
            is_error: false,
            ask: Ask::Nothing,
        }
    }

    /// An error that the other design raises: the text, and the same as `error` of the structured content.
    pub fn raised(message: impl Into<String>) -> ProfileAnswer {
        let message = message.into();
        let data = json!({ "error": message });
        ProfileAnswer { data, text: message, caption: None, image: None, is_error: true, ask: Ask::Nothing }
    }

    /// With another text.
    #[must_use]
    pub fn with_text(mut self, text: String) -> ProfileAnswer {
        self.text = text;
        self
    }

    /// Makes it an error for the client.
    #[must_use]
    pub fn into_error(mut self) -> ProfileAnswer {
        self.is_error = true;
        self
    }

    /// With a field in the structured content only.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> ProfileAnswer {
        self.data[name] = value.into();
        self
    }

    /// With something that axd adds.
    #[must_use]
    pub fn extra(mut self, name: &str, value: impl Serialize) -> ProfileAnswer {
        self.data[EXTRA][name] = serde_json::to_value(value).unwrap_or_default();
        self
    }

    /// With what axd says of an error: how far it got, and whether it may be done if somebody approves it.
    #[must_use]
    pub fn of_error(self, error: &Error) -> ProfileAnswer {
        let disposition = error.disposition;
        let mut answer = self
            .extra("delivery", disposition.delivery)
            .extra("retry", disposition.retry)
            .extra("code", error.code);
        if error.code == ErrorCode::ApprovalRequired && disposition.retry == Retry::Safe {
            answer.ask = Ask::Policy;
        }
        answer
    }

    /// A person must be asked this before the call is made.
    #[must_use]
    pub fn needs_consent(mut self, question: String) -> ProfileAnswer {
        self.ask = Ask::Person(question);
        self
    }

    /// With a picture.
    #[must_use]
    pub fn image(mut self, base64: String, mime: &'static str) -> ProfileAnswer {
        self.image = Some((base64, mime));
        self
    }

    /// With a text before the picture.
    #[must_use]
    pub fn caption(mut self, text: String) -> ProfileAnswer {
        self.caption = Some(text);
        self
    }

    fn into_answered(self) -> Answered {
        let mut content = vec![ContentBlock::text(self.text)];
        content.extend(self.caption.map(ContentBlock::text));
        content.extend(self.image.map(|(base64, mime)| ContentBlock::image(base64, mime)));
        let mut result =
            if self.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        result.structured_content = Some(self.data);
        Answered { result, ask: self.ask }
    }
}

/// The output schema of a tool: these properties, and what axd adds.
fn output(properties: Value) -> Arc<Object> {
    let mut schema = crate::schema::output(properties);
    schema["properties"][EXTRA] = json!({ "type": "object", "description": "What axd adds: delivery, retry, clock, settled, method, note" });
    Arc::new(schema)
}

/// An input schema: these properties, of which some are required.
fn input(properties: Value, required: &[&str]) -> Arc<Object> {
    let mut schema = crate::schema::output(properties);
    if !required.is_empty() {
        schema.insert("required".to_owned(), json!(required));
    }
    Arc::new(schema)
}

/// The same schema with nothing required, for a profile that says itself what is missing.
fn without_required(schema: &Object) -> Object {
    let mut schema = schema.clone();
    schema.remove("required");
    schema
}

/// The error that axd answered with.
fn error_of(failure: crate::answer::Failure) -> Error {
    match failure {
        crate::answer::Failure::Ours(error) | crate::answer::Failure::Axd(error) => error,
    }
}

/// Asks axd, and reads the answer. The arguments are those of the command on the wire.
async fn ask<T: DeserializeOwned>(call: &Call<'_>, command: &str, args: Value) -> Result<(T, Reply), Error> {
    let command = command_of(command, &args)?;
    let reply = call.request(&command).await.map_err(error_of)?;
    let data = reply.data().map_err(|fault| fault.to_error())?;
    Ok((data, reply))
}

/// The same with a deadline of its own.
async fn ask_within<T: DeserializeOwned>(
    call: &Call<'_>,
    command: &str,
    args: Value,
    deadline: Duration,
) -> Result<(T, Reply), Error> {
    let command = command_of(command, &args)?;
    let reply = call.request_within(&command, deadline).await.map_err(error_of)?;
    let data = reply.data().map_err(|fault| fault.to_error())?;
    Ok((data, reply))
}

fn command_of(command: &str, args: &Value) -> Result<Command, Error> {
    let args = to_raw_value(args).map_err(|fault| invalid(fault.to_string()))?;
    Command::parse(command, Some(&args))
}
