//! Asking somebody: what the policy does not decide by itself waits until a connected approver answers. No answer is no.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use axd_policy::Decision;
use axd_protocol::command::{Approval, ApprovalVerdict, Approvals, ApprovalsAnswer, Decide, DecideAnswer};
use axd_protocol::{Error, ErrorCode, NodeRef, Result, State};
use parking_lot::Mutex;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, timeout_at};

use crate::Engine;
use crate::answer::Answer;
use crate::policy::facts::{About, ElementView};
use axd_service::Call;

/// The maximum number of requests that wait for approval.
const MAX_WAITING: usize = 256;
/// The maximum number of characters of a text that approvers are shown.
const SHOWN_CHARS: usize = 2_000;

/// The requests that wait, and who may answer.
#[derive(Debug)]
pub(crate) struct Waiting {
    state: Mutex<Requests>,
    /// Changed when a request has come.
    came: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Requests {
    last: u64,
    waiting: BTreeMap<u64, WaitingRequest>,
    /// The clients that approve.
    approvers: HashSet<u64>,
}

#[derive(Debug)]
struct WaitingRequest {
    shown: Approval,
    client: u64,
    until: Instant,
    answer: Option<oneshot::Sender<Given>>,
}

/// An approver's answer.
#[derive(Debug, Clone, Copy)]
struct Given {
    verdict: ApprovalVerdict,
    always: bool,
    by: u64,
}

impl Default for Waiting {
    fn default() -> Waiting {
        Waiting { state: Mutex::default(), came: watch::Sender::new(0) }
    }
}

/// What would be done, as approvers are shown it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    app: Option<(String, u32)>,
    pub window: Option<String>,
    element: Option<NodeRef>,
    keys: Option<String>,
    text: Option<String>,
    launch: Vec<String>,
}

impl Wanted {
    /// The process of the app.
    pub fn pid(&self) -> Option<u32> {
        self.app.as_ref().map(|(_, pid)| *pid)
    }

    pub fn of(about: &About<'_>) -> Wanted {
        let element = about.element.known();
        let is_secure = element.is_some_and(|element| element.states.contains(&State::Secure));
        let keys: Vec<String> = about.keys.iter().map(ToString::to_string).collect();
        Wanted {
            app: about.app.known().map(|app| (app.name.clone(), app.pid)),
            window: about.window.known().map(str::to_owned),
            element: element.map(ElementView::node_ref),
            keys: (!keys.is_empty()).then(|| keys.join(" ")),
            text: about.text.filter(|_| !is_secure).map(|text| text.chars().take(SHOWN_CHARS).collect()),
            launch: about.launch.map_or_else(Vec::new, |launch| {
                launch.programs.first().into_iter().chain(&launch.args).cloned().collect()
            }),
        }
    }
}

/// Takes a request off the list when it is over, however it ends.
struct Listed<'a> {
    waiting: &'a Waiting,
    number: u64,
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.waiting.state.lock().waiting.remove(&self.number);
    }
}

impl Waiting {
    /// Called when a client has disconnected.
    pub fn client_left(&self, client: u64) {
        let mut state = self.state.lock();
        if state.approvers.remove(&client) && state.approvers.is_empty() {
            // Nobody is left to answer: no is told at once.
            state.waiting.values_mut().for_each(|request| drop(request.answer.take()));
        }
    }
}

impl Engine {
    /// Waits until somebody approves a request that the policy asks about; returns who did.
    pub(crate) async fn have_approved(
        self: &Arc<Self>,
        call: &Call,
        decision: &Decision,
        wanted: Wanted,
    ) -> Result<Option<u64>> {
        let client = call.session.client;
        if self.client_grants(client).is_always_allowed(decision) {
            return Ok(None);
        }
        let limit = self.policy.current().ask_timeout;
        let until = Instant::now() + limit;
        let until = call.deadline.map_or(until, |deadline| deadline.min(until));
        let (answer, given) = oneshot::channel();
        let (name, agent) = call.session.names.lock().clone();
        let listed = {
            let mut state = self.waiting.state.lock();
            if state.approvers.iter().all(|approver| *approver == client) {
                let message = format!(
                    "{}: approval is required, and no approver is connected ({})",
                    decision.why, decision.rule
                );
                return Err(Error::new(ErrorCode::PolicyDenied, message)
                    .suggest("ask the user to run `ax approve` in a terminal, then try again"));
            }
            if state.waiting.len() >= MAX_WAITING {
                let message = format!("{MAX_WAITING} requests wait for approval already");
                return Err(Error::new(ErrorCode::RateLimited, message));
            }
            state.last += 1;
            let number = state.last;
            let shown = Approval {
                approval: number,
                command: call.command.name().to_owned(),
                client,
                client_name: name,
                agent,
                client_pid: call.session.pid,
                rule: decision.rule.clone(),
                reason: decision.why.clone(),
                pid: wanted.pid(),
                app: wanted.app.map(|(name, _)| name),
                window: wanted.window,
                element: wanted.element,
                keys: wanted.keys,
                text: wanted.text,
                launch: wanted.launch,
                left_ms: 0,
            };
            let request = WaitingRequest { shown, client, until, answer: Some(answer) };
            state.waiting.insert(number, request);
            Listed { waiting: &self.waiting, number }
        };
        self.waiting.came.send_modify(|version| *version += 1);
        // Whoever answers sockets goes on meanwhile.
        crate::tree_work::leave_place().await;
        let given = tokio::select! {
            given = timeout_at(until, given) => given,
            () = call.gate.closed() => {
                return Err(Error::new(ErrorCode::Cancelled, format!("{} was cancelled", call.command.name())));
            }
        };
        drop(listed);
        let no = |how: &str| {
            let message = format!("{}: {how} ({})", decision.why, decision.rule);
            Err(Error::new(ErrorCode::PolicyDenied, message)
                .suggest("do not try again unless the user asks for it"))
        };
        match given {
            Ok(Ok(Given { verdict: ApprovalVerdict::Allow, always, by })) => {
                if always {
                    self.client_grants(client).allow_always(decision);
                }
                Ok(Some(by))
            }
            Ok(Ok(Given { verdict: ApprovalVerdict::Deny, .. })) => no("it was not approved"),
            Ok(Err(_)) => no("the approver has disconnected"),
            Err(_) => no("nobody has approved it in time"),
        }
    }

    /// `approvals`
    pub(crate) async fn approvals(
        self: &Arc<Self>,
        call: &Call,
        args: &Approvals,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        self.waiting.state.lock().approvers.insert(call.session.client);
        // It may have disconnected before; then nobody would take it off again.
        if call.session.is_gone.load(std::sync::atomic::Ordering::Relaxed) {
            self.waiting.client_left(call.session.client);
        }
        let until = Engine::within(call, Some(args.wait_ms.unwrap_or(0)), 0);
        let mut came = self.waiting.came.subscribe();
        loop {
            came.borrow_and_update();
            let approvals = self.waiting_after(args.after.unwrap_or(0));
            if !approvals.is_empty() || Instant::now() >= until {
                answer.value(None, None, &ApprovalsAnswer { approvals });
                return Ok(());
            }
            tokio::select! {
                _ = timeout_at(until, came.changed()) => {}
                () = call.gate.closed() => {
                    return Err(Error::new(ErrorCode::Cancelled, "approvals was cancelled"));
                }
            }
        }
    }

    fn waiting_after(&self, number: u64) -> Vec<Approval> {
        let now = Instant::now();
        let state = self.waiting.state.lock();
        let later = state.waiting.range(number.saturating_add(1)..);
        let shown = later.map(|(_, request)| Approval {
            left_ms: request.until.saturating_duration_since(now).as_millis() as u64,
            ..request.shown.clone()
        });
        shown.collect()
    }

    /// `decide`
    pub(crate) fn decide_approval(&self, call: &Call, args: &Decide, answer: &mut Answer<'_>) -> Result<()> {
        let by = call.session.client;
        let sender = {
            let mut state = self.waiting.state.lock();
            let request = state.waiting.get_mut(&args.approval);
            if request.as_ref().is_some_and(|request| request.client == by) {
                let message = "a client cannot approve its own request";
                return Err(Error::new(ErrorCode::PolicyDenied, message)
                    .suggest("the user approves it, with `ax approve` in a terminal"));
            }
            request.and_then(|request| request.answer.take())
        };
        let given = Given { verdict: args.verdict, always: args.always, by };
        if sender.is_none_or(|sender| sender.send(given).is_err()) {
            let message = format!("request {} does not wait for approval", args.approval);
            return Err(Error::new(ErrorCode::InvalidArgs, message)
                .suggest("it was answered, or is over; `ax approvals` shows those that wait"));
        }
        answer.value(None, None, &DecideAnswer { approval: args.approval, verdict: args.verdict });
        Ok(())
    }
}
