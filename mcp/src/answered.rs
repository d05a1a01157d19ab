//! A call that was answered, whichever tools are served: the result for the client, and whether somebody can be asked about it.

use axd_protocol::ErrorCode;
use axd_protocol::error::Retry;
use rmcp::model::{CallToolResult, ContentBlock};

use crate::answer::{Answer, Failure};
use crate::marks::Marks;

/// A call that was answered.
#[derive(Debug)]
pub struct Answered {
    /// The result for the client.
    pub result: CallToolResult,
    /// Who could be asked, so that the call can be made again.
    pub ask: Ask,
}

/// Who could be asked about a call of which nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ask {
    /// Nobody: the answer is what it is.
    Nothing,
    /// Whoever approves what the policy asks about.
    Policy,
    /// The client's person, with this question.
    Person(String),
}

impl Answered {
    /// The answer of one of axd's own tools.
    pub fn of(answered: Result<Answer, Failure>, marks: &Marks) -> Answered {
        match answered {
            Ok(answer) => Answered { result: answer.into_result(marks), ask: Ask::Nothing },
            Err(failure) => {
                let ask = if can_be_approved(&failure) { Ask::Policy } else { Ask::Nothing };
                Answered { result: failure.into_result(marks), ask }
            }
        }
    }

    /// A call that came to nothing for a reason of ours.
    pub fn failed(message: String) -> Answered {
        Answered { result: CallToolResult::error(vec![ContentBlock::text(message)]), ask: Ask::Nothing }
    }
}

/// Whether nothing was sent, and the call can be made if somebody approves it.
fn can_be_approved(failure: &Failure) -> bool {
    matches!(failure, Failure::Axd(error)
        if error.code == ErrorCode::ApprovalRequired && error.disposition.retry == Retry::Safe)
}
