//! Asking a person: what the policy does not allow by itself, the client shows to whoever sits in front of it.
//!
//! axd holds a request about which its policy asks until a client that approves has answered; without one it says that approval is
//! required. A call that was answered so, and of which nothing was sent, is made once more with an approver beside it: a connection of its own, for that call only, because
//! axd takes no answer from who asks. In the older era of the protocol the person is asked by `elicitation/create`, in the newer one by an
//! answer that says which input is required; the call goes on when it is repeated with that input.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axd_protocol::command::{Approval, ApprovalVerdict, Approvals, ApprovalsAnswer, Decide};
use axd_protocol::render::Render;
use axd_protocol::text::defuse;
use axd_protocol::{Command, Error};
use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequiredResult, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::answered::Answered;
use crate::link::Link;
use crate::schema::Object;

/// How long one question to axd waits for something to approve.
const WAIT_MS: u64 = 25_000;
/// The name of the question among the inputs of an answer.
const QUESTION: &str = "approval";
/// How long a call is kept that waits for its answer to be repeated; axd denies before that.
const KEPT: Duration = Duration::from_secs(180);
/// How long a person has to agree to a call. Clients end calls after 60 s.
const CONSENT_TIME: Duration = Duration::from_secs(50);

/// A connection that approves, while it is there.
pub struct Approver {
    link: Arc<Link>,
    connection: crate::link::Exclusive,
    asked: Arc<Mutex<HashSet<u64>>>,
    after: Option<u64>,
}

impl Approver {
    /// Makes this process one that approves. An error if the policy does not allow that to it.
    async fn connect(link: &Arc<Link>, asked: &Arc<Mutex<HashSet<u64>>>) -> Result<Approver, Error> {
        let connection = link.exclusive().await?;
        let mut approver = Approver { link: link.clone(), connection, asked: asked.clone(), after: None };
        // The first question registers. What waits already is asked about by whoever sent it.
        let waiting = approver.waiting(0).await?;
        approver.after = waiting.last().map(|approval| approval.approval);
        Ok(approver)
    }

    /// The next request of this process that waits for approval.
    async fn next(&mut self) -> Result<Approval, Error> {
        loop {
            for approval in self.waiting(WAIT_MS).await? {
                self.after = Some(approval.approval);
                if lock(&self.asked).insert(approval.approval) {
                    return Ok(approval);
                }
            }
        }
    }

    async fn waiting(&self, wait_ms: u64) -> Result<Vec<Approval>, Error> {
        let of_pid = Some(std::process::id());
        let ask = Command::Approvals(Approvals { after: self.after, wait_ms: Some(wait_ms), of_pid });
        let deadline = Duration::from_millis(wait_ms) + Duration::from_secs(5);
        let reply = self.link.ask(&self.connection, &ask, deadline).await?;
        let answer: ApprovalsAnswer = reply.data().map_err(|fault| fault.to_error())?;
        Ok(answer.approvals)
    }

    async fn decide(&self, approval: u64, decision: Decision) -> Result<(), Error> {
        let verdict = if decision.allow { ApprovalVerdict::Allow } else { ApprovalVerdict::Deny };
        let decide = Command::Decide(Decide { approval, verdict, always: decision.always });
        self.link.ask(&self.connection, &decide, Duration::from_secs(5)).await.map(drop)
    }
}

/// What a person decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decision {
    allow: bool,
    always: bool,
}

impl Decision {
    const NO: Decision = Decision { allow: false, always: false };

    /// Reads an answer. Whatever is not a clear yes is a no.
    fn of(result: &ElicitResult) -> Decision {
        let content = result.content.as_ref();
        let always = content.and_then(|content| content["always"].as_bool()).unwrap_or(false);
        Decision { allow: result.action == ElicitationAction::Accept, always }
    }
}

/// A call in progress.
pub type Answering = JoinHandle<Answered>;

/// A call that waits for a person.
struct Asking {
    approval: u64,
    approver: Approver,
    answering: Answering,
    /// Ends the call in axd when nobody repeats it.
    guard: DropGuard,
}

/// How a call ended, or what it needs.
pub enum Outcome {
    /// It ended.
    Answered(Answered),
    /// A person must be asked, and the call repeated.
    InputRequired(InputRequiredResult),
}

/// The calls that wait for a person.
#[derive(Default)]
pub struct Desk {
    asked: Arc<Mutex<HashSet<u64>>>,
    /// Those of the newer era, by what the client repeats.
    kept: Arc<Mutex<HashMap<String, Asking>>>,
    /// The calls of the newer era that a profile wants consent to, by what the client repeats.
    consents: Arc<Mutex<HashMap<String, (String, Object)>>>,
    last_consent: AtomicU64,
}

/// What became of the question whether a call may be made.
pub enum Consent {
    /// The person agrees.
    Given,
    /// The person does not, or did not answer.
    Refused,
    /// The call must be repeated with the answer.
    InputRequired(InputRequiredResult),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic leaves nothing half done in the maps, so they are used all the same.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the client asks its person.
pub enum Channel {
    /// By a request of ours.
    Elicitation(Peer<RoleServer>),
    /// By an answer that requires input.
    Input,
}

impl Desk {
    /// Makes a call again that the policy refused, with an approver beside it. `None` if this process may not approve.
    pub async fn call_again(
        &self,
        link: &Arc<Link>,
        channel: &Channel,
        cancelled: CancellationToken,
        begin: impl FnOnce() -> Answering,
    ) -> Option<Outcome> {
        let approver = Approver::connect(link, &self.asked).await.ok()?;
        Some(self.attend(approver, begin(), cancelled.drop_guard(), channel).await)
    }

    /// Asks the person whether a call may be made, which a profile requires and of which axd knows nothing.
    pub async fn consent(&self, channel: &Channel, question: &str, tool: &str, fields: &Object) -> Consent {
        match channel {
            Channel::Elicitation(peer) => {
                match elicit(peer, consent_question(question), CONSENT_TIME).await {
                    Decision { allow: true, .. } => Consent::Given,
                    _ => Consent::Refused,
                }
            }
            Channel::Input => {
                let state = format!("consent-{}", self.last_consent.fetch_add(1, Ordering::Relaxed) + 1);
                lock(&self.consents).insert(state.clone(), (tool.to_owned(), fields.clone()));
                let (kept, key) = (self.consents.clone(), state.clone());
                tokio::spawn(async move {
                    tokio::time::sleep(KEPT).await;
                    lock(&kept).remove(&key);
                });
                let request = InputRequest::Elicitation(ElicitRequest::new(consent_question(question)));
                let required = [(QUESTION.to_owned(), request)].into();
                Consent::InputRequired(InputRequiredResult::new(Some(required), Some(state)))
            }
        }
    }

    /// What a person answered to such a question, if it was asked about this very call. `None` if there was no such question.
    pub fn consent_of(
        &self,
        state: &str,
        tool: &str,
        fields: &Object,
        answer: Option<&Value>,
    ) -> Option<bool> {
        let (asked_tool, asked_fields) = lock(&self.consents).remove(state)?;
        let is_it = asked_tool == tool && asked_fields == *fields;
        Some(is_it && decision_in(answer).allow)
    }

    /// Goes on with a call whose person has answered.
    pub async fn go_on(&self, state: &str, answer: Option<&Value>, channel: &Channel) -> Option<Outcome> {
        let Asking { approval, approver, answering, guard } = lock(&self.kept).remove(state)?;
        let decision = decision_in(answer);
        // It may be over: then the call itself says so.
        let _ = approver.decide(approval, decision).await;
        Some(self.attend(approver, answering, guard, channel).await)
    }

    /// Waits for the end of a call, and asks whatever the policy asks meanwhile.
    async fn attend(
        &self,
        mut approver: Approver,
        mut answering: Answering,
        guard: DropGuard,
        channel: &Channel,
    ) -> Outcome {
        loop {
            let approval = tokio::select! {
                biased;
                answered = &mut answering => {
                    drop(guard.disarm());
                    return Outcome::Answered(joined(answered));
                }
                approval = approver.next() => approval,
            };
            let Ok(approval) = approval else {
                // Without an approver axd refuses, and the call ends.
                return Outcome::Answered(joined(answering.await));
            };
            match channel {
                Channel::Elicitation(peer) => {
                    let left = Duration::from_millis(approval.left_ms.max(1));
                    let decision = tokio::select! {
                        // Somebody else may have answered.
                        answered = &mut answering => {
                            drop(guard.disarm());
                            return Outcome::Answered(joined(answered));
                        }
                        decision = elicit(peer, question(&approval), left) => decision,
                    };
                    let _ = approver.decide(approval.approval, decision).await;
                }
                Channel::Input => {
                    let asking = Asking { approval: approval.approval, approver, answering, guard };
                    return Outcome::InputRequired(self.keep(asking, &approval));
                }
            }
        }
    }

    /// Keeps a call until it is repeated.
    fn keep(&self, asking: Asking, approval: &Approval) -> InputRequiredResult {
        let state = format!("approval-{}", approval.approval);
        let (kept, key) = (self.kept.clone(), state.clone());
        lock(&self.kept).insert(state.clone(), asking);
        tokio::spawn(async move {
            tokio::time::sleep(KEPT).await;
            lock(&kept).remove(&key);
        });
        let request = InputRequest::Elicitation(ElicitRequest::new(question(approval)));
        InputRequiredResult::new(Some([(QUESTION.to_owned(), request)].into()), Some(state))
    }
}

/// The answer to the question in what a client repeats a call with.
pub fn answer_in(responses: Option<&std::collections::BTreeMap<String, Value>>) -> Option<&Value> {
    responses?.get(QUESTION)
}

/// Reads an answer as a client repeats it.
fn decision_in(answer: Option<&Value>) -> Decision {
    let answer = answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer.clone()).ok());
    answer.as_ref().map_or(Decision::NO, Decision::of)
}

fn joined(answered: Result<Answered, tokio::task::JoinError>) -> Answered {
    answered.unwrap_or_else(|fault| Answered::failed(fault.to_string()))
}

/// Asks the person by a request. No answer in time is a no.
async fn elicit(peer: &Peer<RoleServer>, question: ElicitRequestParams, time: Duration) -> Decision {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(question));
    let options = PeerRequestOptions::with_timeout(time);
    let sent = match peer.send_request_with_option(request, options).await {
        Ok(handle) => handle.await_response().await,
        Err(_) => return Decision::NO,
    };
    match sent {
        Ok(rmcp::model::ClientResult::ElicitResult(result)) => Decision::of(&result),
        _ => Decision::NO,
    }
}

/// The question: what would be done, where, and which rule asks.
fn question(approval: &Approval) -> ElicitRequestParams {
    let mut shown = String::new();
    approval.render(&mut shown);
    let message = format!("Allow the agent to do this?\n{}", defuse(shown.trim_end()));
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: form() }
}

/// The question whether a call may be made.
fn consent_question(question: &str) -> ElicitRequestParams {
    let message = defuse(question).into_owned();
    let form = ElicitationSchema::new(Default::default());
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: form }
}

/// The form, which has nothing to fill in but whether the answer is for later, too.
fn form() -> ElicitationSchema {
    let always =
        json!({ "type": "boolean", "title": "Also what the same rule asks about later", "default": false });
    let form = json!({ "type": "object", "properties": { "always": always } });
    // The form is a constant, and a test reads it.
    serde_json::from_value(form).unwrap_or_else(|_| ElicitationSchema::new(Default::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_a_yes() {
        for (result, decision) in [
            (json!({ "action": "accept" }), Decision { allow: true, always: false }),
            (
                json!({ "action": "accept", "content": { "always": true } }),
                Decision { allow: true, always: true },
            ),
            (
                json!({ "action": "decline", "content": { "always": true } }),
                Decision { allow: false, always: true },
            ),
            (json!({ "action": "cancel" }), Decision::NO),
        ] {
            assert_eq!(Decision::of(&serde_json::from_value(result).unwrap()), decision);
        }
    }

    #[test]
    fn the_form_asks_whether_it_is_for_later_too() {
        let form = serde_json::to_value(form()).unwrap();
        assert_eq!(form["properties"]["always"]["type"], "boolean");
    }
}
