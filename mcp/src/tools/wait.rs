//! `wait`: until something holds, in calls of at most 25 s each.
//!
//! Clients give up calls after a minute. So a wait that is not over answers `waiting`, with a clock, while axd goes on waiting; the same
//! call with that clock takes up the same wait. Nothing that held between the two calls is missed, however briefly it did.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axd_client::Reply;
use axd_protocol::command::{ListApps, Wait, WaitAnswer};
use axd_protocol::text::write_ref;
use axd_protocol::{Clock, Command, Error, ErrorCode};
use serde_json::json;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{Answering, Hints, Tool};
use crate::answer::{Answer, Failure, quoted};
use crate::arguments::{Arguments, invalid};
use crate::call::Call;
use crate::schema::{Input, Object};
use crate::view::{self, Mode, Wanted};

/// How long a call waits, if it does not say.
const DEFAULT_TIMEOUT_MS: u64 = 25_000;
/// How long a call waits at most. Clients end calls after 60 s.
const MAX_TIMEOUT_MS: u64 = 50_000;
/// How long axd waits over all calls.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// How long a wait is kept that nobody takes up again.
const KEPT: Duration = Duration::from_secs(120);
/// The maximum number of waits that are kept.
const MAX_KEPT: usize = 32;

/// The tool.
pub const TOOL: Tool = Tool {
    name: "wait",
    description: "Wait until conditions hold: a selector matches (for) or no longer does (gone), a target has a state or a \
                  value, a window is open, an event came, or nothing changes any more (idle). Answers after 25 s at the latest; \
                  if that says waiting, call again with its clock as since: nothing in between is missed.",
    hints: Hints::Reads,
    input,
    output,
    run,
    command: Some(command),
};

fn input() -> Object {
    let input = Input::new()
        .described("wait", "for", "Selectors")
        .described("wait", "gone", "Selectors")
        .described("wait", "target", "Id or selector, for state and value")
        .described("wait", "state", "Such as checked or enabled=false")
        .described("wait", "value", "Exact value")
        .described("wait", "value_contains", "Text")
        .described("wait", "window", "Part of a title")
        .plain("wait", "idle")
        .plain("wait", "event")
        .described("wait", "any", "One condition is enough")
        .described("wait", "app", "Name or pid [default: frontmost]")
        .described("wait", "since", "Clock of an answer that says waiting")
        .own("timeout_ms", json!({ "type": "integer", "description": "[default: 25000]" }));
    view::arguments(input).schema()
}

fn output() -> Object {
    view::output(json!({
        "waiting": { "type": "boolean" }, "met": { "type": "array" }, "nodes": { "type": "array" },
        "windows": { "type": "array" },
    }))
}

/// As an item of a batch: it is waited for within the batch, and no longer than a call waits.
fn command(mut args: Arguments) -> Result<Command, Error> {
    Wanted::take(&mut args);
    let timeout = args.take_number("timeout_ms").unwrap_or(DEFAULT_TIMEOUT_MS).min(MAX_TIMEOUT_MS);
    args.set("timeout", timeout);
    args.into_command("wait")
}

/// The waits that are not over, by what they wait for.
#[derive(Debug, Default)]
pub struct Waits {
    kept: Arc<Mutex<HashMap<String, Kept>>>,
}

#[derive(Debug)]
struct Kept {
    /// The clock that takes it up.
    clock: Clock,
    reply: JoinHandle<Result<Reply, Error>>,
    /// Ends the wait in axd when this is dropped.
    guard: DropGuard,
    /// Ends the time after which it is dropped.
    expiry: JoinHandle<()>,
}

impl Waits {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        lock(&self.kept)
    }

    /// The wait for this that answered with this clock.
    fn resume(&self, key: &str, clock: Clock) -> Option<Kept> {
        let mut kept = self.lock();
        if kept.get(key)?.clock != clock {
            return None;
        }
        let taken = kept.remove(key)?;
        taken.expiry.abort();
        Some(taken)
    }

    fn keep(&self, key: String, clock: Clock, reply: JoinHandle<Result<Reply, Error>>, guard: DropGuard) {
        let (waits, own_key) = (self.kept.clone(), key.clone());
        let expiry = tokio::spawn(async move {
            tokio::time::sleep(KEPT).await;
            lock(&waits).remove(&own_key);
        });
        let mut kept = self.lock();
        if kept.len() >= MAX_KEPT
            && let Some(oldest) =
                kept.iter().min_by_key(|(_, kept)| kept.clock.tick).map(|(key, _)| key.clone())
            && let Some(dropped) = kept.remove(&oldest)
        {
            dropped.expiry.abort();
        }
        if let Some(replaced) = kept.insert(key, Kept { clock, reply, guard, expiry }) {
            replaced.expiry.abort();
        }
    }
}

fn lock(kept: &Mutex<HashMap<String, Kept>>) -> MutexGuard<'_, HashMap<String, Kept>> {
    // A panic leaves nothing half done in the map, so it is used all the same.
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run<'a>(call: &'a Call<'a>, mut args: Arguments) -> Answering<'a> {
    Box::pin(async move {
        let wanted = Wanted::take(&mut args);
        let timeout = args.take_number("timeout_ms").unwrap_or(DEFAULT_TIMEOUT_MS).min(MAX_TIMEOUT_MS);
        let mut what = args.clone();
        what.take("since");
        let key = serde_json::Value::Object(what.rest().clone()).to_string();
        let command = args.into_command("wait")?;
        let Command::Wait(wait) = command else {
            return Err(invalid("wait: nothing to wait for".to_owned()).into());
        };
        let waits = &call.shared.waits;
        let (clock, mut reply, mut guard) = match wait.since.and_then(|since| waits.resume(&key, since)) {
            Some(Kept { clock, reply, guard, .. }) => (clock, reply, guard),
            None => begin(call, wait.clone()).await?,
        };
        let timeout_at = Instant::now() + Duration::from_millis(timeout);
        let mut begun_again = false;
        loop {
            tokio::select! {
                done = &mut reply => match done.map_err(|fault| invalid(fault.to_string()))? {
                    Ok(reply) => return met(call, &reply, clock, wanted).await,
                    // axd ended during the wait; the one that runs now goes on with it.
                    Err(error) if error.code == ErrorCode::DaemonUnavailable && !begun_again => {
                        begun_again = true;
                        let again = Wait { since: Some(clock), ..wait.clone() };
                        (_, reply, guard) = begin(call, again).await?;
                    }
                    Err(error) => return Err(Failure::Axd(error)),
                },
                () = tokio::time::sleep_until(timeout_at) => {
                    waits.keep(key, clock, reply, guard);
                    return Ok(waiting(clock, timeout));
                }
                () = call.cancelled.cancelled() => return Err(cancelled("the wait was cancelled")),
                () = call.shared.closing.cancelled() => return Err(cancelled("the client closed its end")),
            }
        }
    })
}

/// The error of a wait that nobody wants any more. axd is told when its guard is dropped.
fn cancelled(why: &str) -> Failure {
    Failure::Axd(Error::new(ErrorCode::Cancelled, why))
}

/// Begins a wait. It goes on in a task of its own until its guard is dropped.
async fn begin(
    call: &Call<'_>,
    mut wait: Wait,
) -> Result<(Clock, JoinHandle<Result<Reply, Error>>, DropGuard), Failure> {
    // The clock by which the wait is taken up. Without one of the caller's, events count from the wait itself.
    let now = match wait.since {
        Some(since) => since,
        None => {
            let reply = call.request(&Command::ListApps(ListApps {})).await?;
            reply.clock.ok_or_else(|| invalid("axd does not say its clock".to_owned()))?
        }
    };
    wait.timeout = Some(MAX_WAIT.as_millis() as u64);
    let cancelled = CancellationToken::new();
    let guard = cancelled.clone().drop_guard();
    let link = call.shared.link.clone();
    let reply = tokio::spawn(async move {
        let deadline = MAX_WAIT + Duration::from_secs(5);
        link.request_within(&Command::Wait(wait), axd_protocol::Format::Json, deadline, &cancelled).await
    });
    Ok((now, reply, guard))
}

fn waiting(clock: Clock, timeout: u64) -> Answer {
    let mut answer =
        Answer::new(format!("waiting: not met after {timeout} ms; call again with since {clock}"));
    answer.set("waiting", true);
    answer.set("clock", clock);
    answer.set("waited_ms", timeout);
    answer
}

async fn met(call: &Call<'_>, reply: &Reply, since: Clock, wanted: Wanted) -> Result<Answer, Failure> {
    let done: WaitAnswer = reply.data().map_err(|fault| Failure::Axd(fault.to_error()))?;
    let mut answer = Answer::new(format!("met after {} ms", done.waited_ms));
    let mut lines = String::new();
    for condition in &done.met {
        lines.push_str(&format!("met {}\n", quoted(condition)));
    }
    for node in &done.nodes {
        write_ref(node, &mut lines);
        lines.push('\n');
    }
    for window in &done.windows {
        lines.push_str(&format!("window {} app {}\n", quoted(&window.title), quoted(&window.app)));
    }
    answer.lines(&lines);
    answer.set("waiting", false);
    answer.set("met", &done.met);
    answer.set("nodes", &done.nodes);
    answer.set("windows", &done.windows);
    if !done.events.is_empty() {
        answer.set("events", &done.events);
    }
    answer.set("waited_ms", done.waited_ms);
    match &reply.app {
        // What was never looked at is not told, because all of it would be new.
        Some(app) if wanted.mode != Mode::Auto || call.shared.views.latest(app.pid).is_some() => {
            let since = call.shared.views.latest(app.pid).unwrap_or(since);
            view::after(call, app.pid, since, wanted, &mut answer).await?;
        }
        _ => reply.clock.iter().for_each(|clock| answer.clock(*clock)),
    }
    Ok(answer)
}
