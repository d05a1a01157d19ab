//! Whose change it was: the action that a change followed.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The action of a client that a change followed: it came after the action had been sent and before it was answered. Changes that
/// come while no action is done have none, whoever made them: a person, the app itself, or another program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CausedBy {
    /// The number of the client.
    pub client: u64,
    /// The name of the client, from `hello`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The agent it works for, from `hello`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The id of the request, as the client wrote it; absent for items of a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Value>,
    /// The name of the command.
    pub command: String,
}

impl CausedBy {
    /// Whether this is an action of that client, or of the same agent over another connection.
    pub fn is_of(&self, client: u64, agent: Option<&str>) -> bool {
        self.client == client || (agent.is_some() && self.agent.as_deref() == agent)
    }

    /// The actor in words: `reviewer (client 7)`.
    pub fn actor(&self) -> String {
        match self.agent.as_ref().or(self.name.as_ref()) {
            Some(name) => format!("{} (client {})", crate::text::one_line(name), self.client),
            None => format!("client {}", self.client),
        }
    }
}

/// A client that acts on an app, or did so a moment ago.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherActor {
    /// What it does or did last.
    #[serde(flatten)]
    pub action: CausedBy,
    /// How long ago that was, in ms; absent if it is doing it now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ago_ms: Option<u64>,
}

impl OtherActor {
    /// It in words: `reviewer (client 7), click 3 s ago`.
    pub fn in_words(&self) -> String {
        let when = self.ago_ms.map_or("now".to_owned(), |ms| format!("{} s ago", ms / 1_000));
        format!("{}, {} {when}", self.action.actor(), self.action.command)
    }
}
