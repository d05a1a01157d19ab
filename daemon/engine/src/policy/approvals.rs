//! Asking somebody: what the policy does not decide by itself waits until a connected approver answers. No answer is no.

use std::collections::BTreeMap;
use std::sync::Arc;

use axd_policy::Decision;
use axd_protocol::command::{Approval, ApprovalVerdict, Approvals, ApprovalsAnswer, Decide, DecideAnswer};
use axd_protocol::{Error, ErrorCode, Result, State};
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
    /// The clients that approve, which are few.
    approvers: Vec<Approver>,
}

#[derive(Debug)]
struct WaitingRequest {
    shown: Approval,
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

/// A client that approves.
#[derive(Debug, Clone, Copy)]
struct Approver {
    client: u64,
    /// The process whose requests it approves, if not those of all.
    of_pid: Option<u32>,
}

impl Approver {
    /// Whether it may be asked about a request: never about its own.
    fn is_for(&self, asked: &Approval) -> bool {
        self.client != asked.client && self.of_pid.is_none_or(|pid| asked.client_pid == Some(pid))
    }
}

/// What somebody would have to approve; who requests it is added when it is asked.
pub(crate) fn asked(decision: &Decision, about: &About<'_>) -> Approval {
    let (app, element) = (about.app.known(), about.element.known());
    let is_secure = element.is_some_and(|element| element.states.contains(&State::Secure));
    let keys: Vec<String> = about.keys.iter().map(ToString::to_string).collect();
    Approval {
        rule: decision.rule.clone(),
        reason: decision.why.clone(),
        app: app.map(|app| app.name.clone()),
        pid: app.map(|app| app.pid),
        window: about.window.known().map(str::to_owned),
        element: element.map(ElementView::node_ref),
        keys: (!keys.is_empty()).then(|| keys.join(" ")),
        text: about.text.filter(|_| !is_secure).map(|text| text.chars().take(SHOWN_CHARS).collect()),
        launch: about.launch.map_or_else(Vec::new, |launch| {
            launch.programs.first().into_iter().chain(&launch.args).cloned().collect()
        }),
        ..Approval::default()
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

impl Requests {
    fn has_approver_for(&self, asked: &Approval) -> bool {
        self.approvers.iter().any(|approver| approver.is_for(asked))
    }
}

impl Waiting {
    /// Called when a client has disconnected.
    pub fn client_left(&self, client: u64) {
        let Requests { waiting, approvers, .. } = &mut *self.state.lock();
        approvers.retain(|approver| approver.client != client);
        for request in waiting.values_mut() {
            if !approvers.iter().any(|approver| approver.is_for(&request.shown)) {
                // Nobody is left to answer: no is told at once.
                request.answer = None;
            }
        }
    }
}

impl Engine {
    /// What must be approved before a request that failed can be tried again, if it failed for that, and nothing of it was sent.
    pub(crate) fn needs_approval(call: &Call, error: &Error) -> Option<Approval> {
        let needed = call.approved.take_needed();
        needed.filter(|_| error.code == ErrorCode::ApprovalRequired && !call.gate.is_sent())
    }

    /// Waits until somebody approves what a request needs. Fails if nobody does.
    pub(crate) async fn have_approved(self: &Arc<Self>, call: &Call, asked: Approval) -> Result<()> {
        let client = call.session.client;
        let limit = self.policy.current().ask_timeout;
        let until = Instant::now() + limit;
        let until = call.deadline.map_or(until, |deadline| deadline.min(until));
        let (answer, given) = oneshot::channel();
        let (client_name, agent) = call.session.names.lock().clone();
        let (command, client_pid) = (call.command.name().to_owned(), call.session.pid);
        let asked = Approval { command, client, client_name, agent, client_pid, ..asked };
        let (reason, rule) = (&asked.reason, &asked.rule);
        let listed = {
            let mut state = self.waiting.state.lock();
            if !state.has_approver_for(&asked) {
                let message =
                    format!("{reason}: approval is required, and no approver is connected ({rule})");
                return Err(Error::new(ErrorCode::ApprovalRequired, message));
            }
            if state.waiting.len() >= MAX_WAITING {
                let message = format!("{MAX_WAITING} requests wait for approval already");
                return Err(Error::new(ErrorCode::RateLimited, message));
            }
            state.last += 1;
            let number = state.last;
            let shown = Approval { approval: number, ..asked.clone() };
            state.waiting.insert(number, WaitingRequest { shown, until, answer: Some(answer) });
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
            let message = format!("{reason}: {how} ({rule})");
            Err(Error::new(ErrorCode::PolicyDenied, message)
                .suggest("do not try again unless the user asks for it"))
        };
        match given {
            Ok(Ok(Given { verdict: ApprovalVerdict::Allow, always, by })) => {
                if always {
                    self.client_grants(client).allow_always(rule.clone());
                }
                call.approved.add(&asked, Some(by));
                Ok(())
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
        let approver = Approver { client: call.session.client, of_pid: args.of_pid };
        {
            let mut state = self.waiting.state.lock();
            state.approvers.retain(|other| other.client != approver.client);
            state.approvers.push(approver);
        }
        // It may have disconnected before; then nobody would take it off again.
        if call.session.is_gone.load(std::sync::atomic::Ordering::Relaxed) {
            self.waiting.client_left(call.session.client);
        }
        let until = Engine::within(call, Some(args.wait_ms.unwrap_or(0)), 0);
        let mut came = self.waiting.came.subscribe();
        loop {
            came.borrow_and_update();
            let approvals = self.waiting_for(approver, args.after.unwrap_or(0));
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

    /// The requests that wait for an approver, after this number.
    fn waiting_for(&self, approver: Approver, number: u64) -> Vec<Approval> {
        let now = Instant::now();
        let state = self.waiting.state.lock();
        let later = state.waiting.range(number.saturating_add(1)..);
        let its = later.filter(|(_, request)| approver.of_pid.is_none() || approver.is_for(&request.shown));
        let shown = its.map(|(_, request)| Approval {
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
            if request.as_ref().is_some_and(|request| request.shown.client == by) {
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
