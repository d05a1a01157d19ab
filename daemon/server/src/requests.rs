//! From a line to its answer: how the requests of one connection are started, cancelled and finished.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axd_protocol::command::{Cancel, CancelAnswer};
use axd_protocol::envelope::AnswerHead;
use axd_protocol::error::{Delivery, Disposition};
use axd_protocol::event::EndCause;
use axd_protocol::{Command, Error, ErrorCode, Format, PROTOCOL_VERSION, Request};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};
use tracing::{debug, error};

use super::connection::Connection;
use super::panics::{Panicked, guarded};
use super::pending::{MAX_PENDING, MAX_SUBSCRIPTIONS, PendingRequest, normalize_id};
use axd_gate::Gate;
use axd_service::{BoxFuture, Call, Feed, Reply, Served, write_error};

/// How long after the deadline the engine may still answer before the server answers itself.
const ENGINE_DEADLINE_GRACE: Duration = Duration::from_millis(250);

/// The result of a running future.
pub(super) enum Finished {
    /// The request was answered.
    Answered(Reply),
    /// The engine did not answer by the deadline, nor within the grace period after it.
    Late,
    /// A subscription has lines to write or, if false, has ended.
    Ready(Box<dyn Feed>, bool),
}

impl Connection {
    /// Serves one line.
    pub(super) fn serve_line(&mut self, line: &[u8]) {
        self.session.requests.fetch_add(1, Relaxed);
        let Ok(text) = std::str::from_utf8(line) else {
            let id = Request::id_of(&String::from_utf8_lossy(line));
            let error = Error::new(ErrorCode::InvalidArgs, "the line is not UTF-8")
                .suggest("send one JSON object per line, in UTF-8");
            return self.refuse(id.as_deref(), "", &error);
        };
        let request = match Request::parse(text) {
            Ok(request) => request,
            Err(error) => return self.refuse(Request::id_of(text).as_deref(), "", &error),
        };
        debug!(client = self.session.client, command = %request.command, "request");
        if let Err(error) = self.begin(&request) {
            self.refuse(request.id, &request.command, &error);
        }
    }

    fn begin(&mut self, request: &Request<'_>) -> Result<(), Error> {
        let command = request.command(self.service.extensions())?;
        let deadline = deadline(request.deadline_ms)?;
        // Only a pending request can have the same id, so the id of the common request is not normalized.
        let normalized_id = request.id.filter(|_| !self.pending.is_empty()).map(normalize_id);
        if normalized_id.as_deref().and_then(|id| self.pending.find(id)).is_some() {
            let id = request.id.map_or("", RawValue::get);
            let message = format!("a request with id {id} is already in progress on this connection");
            return Err(Error::new(ErrorCode::InvalidArgs, message)
                .suggest("use a unique id per request, or wait for the earlier answer"));
        }
        let command = match command {
            Command::Cancel(cancel) => return self.cancel(request, &cancel),
            command => command,
        };
        let (name, kind) = (command.name(), command.kind());
        let id = request.id.map(ToOwned::to_owned);
        let gate = Gate::new();
        let call = Call {
            id: id.clone(),
            command,
            format: request.format,
            with_data: false,
            deadline,
            session: self.session.clone(),
            sub: self.next_sub,
            gate: gate.clone(),
        };
        let service = self.service.clone();
        match guarded(&mut self.out.lines, |out| service.serve(call, out)) {
            Ok(Served::Now) => debug_assert!(self.out.lines.ends_with(b"\n"), "{name}: half a line"),
            Ok(Served::Later(_)) if self.pending.requests() >= MAX_PENDING => {
                let message = format!(
                    "{MAX_PENDING} requests are in progress on this connection, which is the maximum"
                );
                let mut error = Error::new(ErrorCode::RateLimited, message);
                // The request has started. Closing its gate makes sure that it sends nothing from now on.
                if !gate.close() {
                    error.disposition = Disposition::of(Delivery::Uncertain);
                }
                return Err(error);
            }
            Ok(Served::Later(answer)) => {
                let normalized_id = normalized_id.or_else(|| request.id.map(normalize_id));
                let entry = PendingRequest {
                    id,
                    normalized_id,
                    command: name,
                    kind,
                    sub: self.next_sub,
                    subscribed: false,
                    gate,
                };
                self.next_sub += 1;
                self.next_key += 1;
                self.pending.insert(self.next_key, entry);
                self.running.insert(self.next_key, with_deadline(answer, deadline));
            }
            Err(panicked) => {
                error!(command = name, %panicked, "a panic while serving a request");
                let entry = PendingRequest {
                    id,
                    normalized_id: None,
                    command: name,
                    kind,
                    sub: 0,
                    subscribed: false,
                    gate,
                };
                entry.fail(self.platform, ErrorCode::Internal, panicked.to_string(), &mut self.out.lines);
            }
        }
        Ok(())
    }

    /// Cancels the request with an id. The cancelled request is answered first, the cancellation second.
    fn cancel(&mut self, request: &Request<'_>, cancel: &Cancel) -> Result<(), Error> {
        if !(cancel.id.is_number() || cancel.id.is_string()) {
            return Err(Error::new(ErrorCode::InvalidArgs, "cancel: id must be a number or a string"));
        }
        let found = self.pending.find(&cancel.id.to_string());
        // A request that has sent something must finish and report its outcome; closing its gate makes it finish sooner.
        let key = found
            .filter(|key| self.pending.get(*key).is_some_and(|entry| entry.subscribed || entry.gate.close()));
        if let Some(entry) = key.and_then(|key| self.remove_request(key)) {
            if entry.subscribed {
                entry.end(EndCause::Cancelled, &mut self.out.lines);
            } else {
                let message = format!("{} was cancelled", entry.command);
                entry.fail(self.platform, ErrorCode::Cancelled, message, &mut self.out.lines);
            }
        }
        let head = AnswerHead {
            id: request.id,
            ok: true,
            command: "cancel",
            version: PROTOCOL_VERSION,
            platform: self.platform,
            clock: None,
            app: None,
        };
        match request.format {
            Format::Json => head.write_data(&CancelAnswer { cancelled: key.is_some() }, &mut self.out.lines),
            Format::Text => {
                let text = match (key, found) {
                    (Some(_), _) => "cancelled",
                    (None, Some(_)) => "too late: it has been sent",
                    (None, None) => "no such request is in progress",
                };
                head.write_text(text, &mut self.out.lines);
            }
        }
        Ok(())
    }

    /// Handles the result of a future.
    pub(super) fn on_finished(&mut self, key: u64, outcome: Result<Finished, Panicked>) {
        match outcome {
            Ok(Finished::Answered(reply)) => self.answer(key, reply),
            Ok(Finished::Late) => {
                if let Some(entry) = self.pending.remove(key) {
                    let message = format!("{} timed out", entry.command);
                    entry.fail(self.platform, ErrorCode::Timeout, message, &mut self.out.lines);
                }
            }
            Ok(Finished::Ready(feed, true)) => self.ready_feeds.push_back((key, feed)),
            Ok(Finished::Ready(_, false)) => self.end_subscription(key, EndCause::Gone),
            Err(panicked) => {
                let Some(entry) = self.pending.get(key) else { return };
                error!(command = entry.command, %panicked, "a panic while serving a request");
                if entry.subscribed {
                    return self.end_subscription(key, EndCause::Gone);
                }
                entry.fail(self.platform, ErrorCode::Internal, panicked.to_string(), &mut self.out.lines);
                self.pending.remove(key);
            }
        }
    }

    fn answer(&mut self, key: u64, reply: Reply) {
        let Some(feed) = reply.feed else {
            self.out.lines.extend_from_slice(&reply.line);
            self.pending.remove(key);
            return;
        };
        if self.pending.subscriptions() >= MAX_SUBSCRIPTIONS {
            if let Some(entry) = self.pending.remove(key) {
                let message =
                    format!("this connection has {MAX_SUBSCRIPTIONS} subscriptions, which is the maximum");
                let error = Error::new(ErrorCode::RateLimited, message)
                    .suggest("cancel one of them, or use one subscription for more");
                self.refuse(entry.id.as_deref(), entry.command, &error);
            }
            return;
        }
        self.out.lines.extend_from_slice(&reply.line);
        self.pending.subscribe(key);
        if self.is_draining() {
            self.end_subscription(key, EndCause::Shutdown);
        } else {
            self.running.insert(key, wait_for_feed(feed));
        }
    }

    /// Lets subscriptions write while there is room. Nothing is queued for want of room: the feed keeps its position, and
    /// later writes one difference from there.
    pub(super) fn write_ready_feeds(&mut self) {
        for _ in 0..self.ready_feeds.len() {
            if !self.out.has_room_for_feeds() {
                return;
            }
            let Some((key, mut feed)) = self.ready_feeds.pop_front() else { return };
            match guarded(&mut self.out.lines, |out| feed.write(out)) {
                Ok(()) => self.running.insert(key, wait_for_feed(feed)),
                Err(panicked) => {
                    error!(%panicked, "a panic while writing a subscription");
                    self.end_subscription(key, EndCause::Gone);
                }
            }
        }
    }

    /// Ends all subscriptions because the daemon is shutting down.
    pub(super) fn end_subscriptions(&mut self) {
        for key in self.pending.keys(true) {
            self.end_subscription(key, EndCause::Shutdown);
        }
    }

    /// Drops all subscriptions without a last line.
    pub(super) fn drop_subscriptions(&mut self) {
        for key in self.pending.keys(true) {
            self.remove_request(key);
        }
    }

    /// Answers every pending request with an error.
    pub(super) fn fail_pending(&mut self, code: ErrorCode, message: &str) {
        for key in self.pending.keys(false) {
            if let Some(entry) = self.remove_request(key) {
                entry.fail(self.platform, code, message.to_owned(), &mut self.out.lines);
            }
        }
    }

    fn end_subscription(&mut self, key: u64, cause: EndCause) {
        if let Some(entry) = self.remove_request(key) {
            entry.end(cause, &mut self.out.lines);
        }
    }

    /// Removes a request or subscription, and drops its future.
    fn remove_request(&mut self, key: u64) -> Option<PendingRequest> {
        self.running.remove(key);
        self.ready_feeds.retain(|(other, _)| *other != key);
        self.pending.remove(key)
    }

    fn refuse(&mut self, id: Option<&RawValue>, command: &str, error: &Error) {
        write_error(self.platform, id, command, error, &mut self.out.lines);
    }
}

/// The time by which a request must be answered.
fn deadline(ms: Option<u64>) -> Result<Option<Instant>, Error> {
    match ms {
        Some(0) => Err(Error::new(ErrorCode::InvalidArgs, "deadline_ms must be at least 1")
            .suggest("omit deadline_ms to wait without a limit")),
        // A deadline beyond the range of the clock is the same as none.
        ms => Ok(ms.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)))),
    }
}

/// Bounds a request that the engine does not finish by its deadline. Normally the engine keeps the deadline itself.
fn with_deadline(
    answer: BoxFuture<'static, Reply>,
    deadline: Option<Instant>,
) -> BoxFuture<'static, Finished> {
    match deadline.and_then(|deadline| deadline.checked_add(ENGINE_DEADLINE_GRACE)) {
        None => Box::pin(async { Finished::Answered(answer.await) }),
        Some(end) => Box::pin(async move {
            match timeout_at(end, answer).await {
                Ok(reply) => Finished::Answered(reply),
                Err(_) => Finished::Late,
            }
        }),
    }
}

/// Waits until a feed has lines to write.
fn wait_for_feed(mut feed: Box<dyn Feed>) -> BoxFuture<'static, Finished> {
    Box::pin(async move {
        let more = feed.ready().await;
        Finished::Ready(feed, more)
    })
}
