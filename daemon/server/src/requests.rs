//! From a line to its answer: how the requests of one connection are started, cancelled and finished.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axd_protocol::command::{Cancel, CancelAnswer};
use axd_protocol::envelope::AnswerHead;
use axd_protocol::error::{Delivery, Disposition};
use axd_protocol::event::EndCause;
use axd_protocol::{Command, Error, ErrorCode, Format, PROTOCOL_VERSION};
use serde_json::value::RawValue;
use tokio::time::{Instant, timeout_at};
use tracing::{debug, error};

use super::connection::Connection;
use super::offload::offload;
use super::panics::{Panicked, guarded};
use super::parsed::{self, LONG_LINE_BYTES, Malformed, Parsed};
use super::pending::{MAX_PENDING, MAX_SUBSCRIPTIONS, PendingRequest, normalize_id};
use axd_gate::Gate;
use axd_service::{Approved, BoxFuture, Call, Feed, Reply, Served, write_error};

/// How long after the deadline the engine may still answer before the server answers itself.
const ENGINE_DEADLINE_GRACE: Duration = Duration::from_millis(80);

/// The result of a running future.
pub(super) enum Finished {
    /// The request was answered.
    Answered(Reply),
    /// The engine did not answer by the deadline, nor within the grace period after it.
    Late,
    /// A subscription has lines to write or, if false, has ended.
    Ready(Box<dyn Feed>, bool),
    /// A subscription has written its lines.
    Written(Box<dyn Feed>, Vec<u8>),
}

impl Connection {
    /// Serves one line. A long one is parsed elsewhere first; the lines after it wait for it.
    pub(super) fn serve_line(&mut self, line: &[u8]) {
        self.session.requests.fetch_add(1, Relaxed);
        let service = Arc::clone(&self.service);
        match service.runtime() {
            Some(runtime) if line.len() > LONG_LINE_BYTES => {
                let (line, parsing) = (line.to_vec(), Arc::clone(&service));
                let parse = parsed::parse_long(runtime.clone(), line, parsing);
                self.parsing = Some(offload(Some(runtime), Box::pin(parse)));
            }
            _ => self.serve_parsed(parsed::parse(line, service.extensions())),
        }
    }

    /// Serves what was parsed from a line.
    pub(super) fn serve_parsed(&mut self, parsed: Result<Parsed, Box<Malformed>>) {
        match parsed {
            Ok(request) => {
                let name = request.command.name();
                debug!(client = self.session.client, command = name, "request");
                let id = request.id.clone();
                if let Err(error) = self.begin(request) {
                    self.refuse(id.as_deref(), name, &error);
                }
            }
            Err(malformed) => {
                self.refuse(malformed.id.as_deref(), &malformed.command, &malformed.error);
            }
        }
    }

    fn begin(&mut self, request: Parsed) -> Result<(), Error> {
        let deadline = deadline(request.deadline_ms)?;
        // Only a pending request can have the same id, so the id of the common request is not normalized.
        let normalized_id = request.id.as_deref().filter(|_| !self.pending.is_empty()).map(normalize_id);
        if normalized_id.as_deref().and_then(|id| self.pending.find(id)).is_some() {
            let id = request.id.as_deref().map_or("", RawValue::get);
            let message = format!("a request with id {id} is already in progress on this connection");
            return Err(Error::new(ErrorCode::InvalidArgs, message)
                .suggest("use a unique id per request, or wait for the earlier answer"));
        }
        if let Command::Cancel(cancel) = &request.command {
            return self.cancel(&request, cancel);
        }
        let Parsed { id, command, format, .. } = request;
        let (name, kind) = (command.name(), command.kind());
        let gate = Gate::new();
        let call = Call {
            id: id.clone(),
            command,
            format,
            with_data: false,
            is_part: false,
            deadline,
            session: self.session.clone(),
            sub: self.next_sub,
            gate: gate.clone(),
            approved: Approved::default(),
        };
        let service = self.service.clone();
        match guarded(&mut self.out.lines, |out| Arc::clone(&service).serve(call, out)) {
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
                let normalized_id = normalized_id.or_else(|| id.as_deref().map(normalize_id));
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
                let answer = offload(service.runtime(), answer);
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
    fn cancel(&mut self, request: &Parsed, cancel: &Cancel) -> Result<(), Error> {
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
            id: request.id.as_deref(),
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
            Ok(Finished::Written(feed, lines)) => {
                self.writing_feed = None;
                self.out.push(lines);
                self.wait_for_feed(key, feed);
            }
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
            self.out.push(reply.line);
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
        self.out.push(reply.line);
        self.pending.subscribe(key);
        if self.is_draining() {
            self.end_subscription(key, EndCause::Shutdown);
        } else {
            self.wait_for_feed(key, feed);
        }
    }

    /// Waits until a feed has lines to write.
    fn wait_for_feed(&mut self, key: u64, mut feed: Box<dyn Feed>) {
        let ready = Box::pin(async move {
            let more = feed.ready().await;
            Finished::Ready(feed, more)
        });
        self.running.insert(key, offload(self.service.runtime(), ready));
    }

    /// Lets a subscription write while there is room, one at a time. Nothing is queued for want of room: the feed keeps its
    /// position, and later writes one difference from there.
    pub(super) fn write_ready_feeds(&mut self) {
        if self.writing_feed.is_some() || !self.out.has_room_for_feeds() {
            return;
        }
        let Some((key, mut feed)) = self.ready_feeds.pop_front() else { return };
        self.writing_feed = Some(key);
        let write = Box::pin(async move {
            let mut lines = Vec::new();
            feed.write(&mut lines);
            Finished::Written(feed, lines)
        });
        self.running.insert(key, offload(self.service.runtime(), write));
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
        if self.writing_feed == Some(key) {
            self.writing_feed = None;
        }
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
