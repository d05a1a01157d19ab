//! Commands of one desktop that are no part of the contract.

use axd_protocol::Result;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// A command that only one kind of desktop offers. The engine passes it on with its arguments as they were written, and
/// knows nothing of what it does.
pub trait Extension: Send + Sync {
    /// The name of the command. It must not be a name of the contract, which comes first.
    fn name(&self) -> &'static str;

    /// Checks the arguments without doing anything: a batch is checked as a whole before its first command runs.
    fn check(&self, args: Option<&RawValue>) -> Result<()>;

    /// Runs the command. Returns at once; the reply comes by the deadline, as an error if it has to. What was begun is
    /// finished also if the receiver is dropped.
    fn call(&self, args: Option<&RawValue>, deadline: Instant) -> ExtensionReply;
}

/// The reply of an extension, which comes later.
pub type ExtensionReply = oneshot::Receiver<Result<ExtensionAnswer>>;

/// What an extension answers.
#[derive(Debug)]
pub struct ExtensionAnswer {
    /// The `data` of the answer.
    pub data: Box<RawValue>,
    /// The answer as text, in complete lines.
    pub text: String,
}
