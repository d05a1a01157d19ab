//! The pending requests and the subscriptions of a connection, which are found by the id of
//! their request.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::command::CommandKind;
use axd_protocol::error::{Delivery, Disposition};
use axd_protocol::event::{EndCause, Event, Push};
use axd_protocol::{Error, ErrorCode};
use serde_json::Value;
use serde_json::value::RawValue;

use axd_gate::Gate;
use axd_service::Session;
use axd_service::write_error;

/// The maximum number of pending requests of a connection.
pub(super) const MAX_PENDING: usize = 256;
/// The maximum number of subscriptions of a connection.
pub(super) const MAX_SUBSCRIPTIONS: usize = 64;

/// A pending request, or the subscription that it opened.
#[derive(Debug)]
pub(super) struct PendingRequest {
    /// The id as the client wrote it.
    pub(super) id: Option<Box<RawValue>>,
    /// The id in the form in which ids are compared.
    pub(super) normalized_id: Option<Box<str>>,
    /// The name of the command.
    pub(super) command: &'static str,
    /// What the command does besides answering.
    pub(super) kind: CommandKind,
    /// The number of its subscription.
    pub(super) sub: u64,
    /// Whether it has been answered and is now a subscription.
    pub(super) subscribed: bool,
    /// The gate of the request, which is passed once it has sent something.
    pub(super) gate: Gate,
}

/// All pending requests and subscriptions of a connection. Keeps the counters of the session up to date.
#[derive(Debug)]
pub(super) struct PendingRequests {
    session: Arc<Session>,
    entries: HashMap<u64, PendingRequest>,
    subscriptions: usize,
}

impl PendingRequests {
    /// No requests.
    pub(super) fn new(session: Arc<Session>) -> PendingRequests {
        PendingRequests { session, entries: HashMap::new(), subscriptions: 0 }
    }

    /// Whether there are neither requests nor subscriptions.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The number of requests without an answer.
    pub(super) fn requests(&self) -> usize {
        self.entries.len() - self.subscriptions
    }

    /// The number of subscriptions.
    pub(super) fn subscriptions(&self) -> usize {
        self.subscriptions
    }

    /// Adds a request.
    pub(super) fn insert(&mut self, key: u64, entry: PendingRequest) {
        self.entries.insert(key, entry);
        self.update_counters();
    }

    /// The request or subscription with a key.
    pub(super) fn get(&self, key: u64) -> Option<&PendingRequest> {
        self.entries.get(&key)
    }

    /// Turns an answered request into a subscription.
    pub(super) fn subscribe(&mut self, key: u64) {
        if let Some(entry) = self.entries.get_mut(&key).filter(|entry| !entry.subscribed) {
            entry.subscribed = true;
            self.subscriptions += 1;
            self.update_counters();
        }
    }

    /// Removes a request or subscription.
    pub(super) fn remove(&mut self, key: u64) -> Option<PendingRequest> {
        let entry = self.entries.remove(&key)?;
        self.subscriptions -= usize::from(entry.subscribed);
        self.update_counters();
        Some(entry)
    }

    /// The key of the request or subscription with a normalized id.
    pub(super) fn find(&self, normalized_id: &str) -> Option<u64> {
        self.entries
            .iter()
            .find(|(_, entry)| entry.normalized_id.as_deref() == Some(normalized_id))
            .map(|(key, _)| *key)
    }

    /// The keys of all subscriptions, or of all requests without an answer, in the order of the requests.
    pub(super) fn keys(&self, subscribed: bool) -> Vec<u64> {
        let of_kind = self.entries.iter().filter(|(_, entry)| entry.subscribed == subscribed);
        let mut keys: Vec<u64> = of_kind.map(|(key, _)| *key).collect();
        keys.sort_unstable();
        keys
    }

    /// Closes the gates of all requests, so that none of them sends anything from now on.
    pub(super) fn close_gates(&self) {
        for entry in self.entries.values() {
            entry.gate.close();
        }
    }

    fn update_counters(&self) {
        self.session.pending.store(self.requests() as u32, Relaxed);
        self.session.subscriptions.store(self.subscriptions as u32, Relaxed);
    }
}

impl Drop for PendingRequests {
    fn drop(&mut self) {
        self.entries.clear();
        self.subscriptions = 0;
        self.update_counters();
    }
}

impl Drop for PendingRequest {
    /// Closes the gate, so that nothing more is sent to an app for a request that nobody waits for.
    fn drop(&mut self) {
        self.gate.close();
    }
}

impl PendingRequest {
    /// Answers with an error in place of the engine, which was interrupted.
    pub(super) fn fail(&self, platform: &'static str, code: ErrorCode, message: String, out: &mut Vec<u8>) {
        let mut error = Error::new(code, message);
        // The gate is closed first, so that the disposition stays true.
        if !self.gate.close() || self.kind == CommandKind::Manages {
            error.disposition = Disposition::of(Delivery::Uncertain);
        }
        write_error(platform, self.id.as_deref(), self.command, &error, out);
    }

    /// Writes the last line of a subscription.
    pub(super) fn end(&self, cause: EndCause, out: &mut Vec<u8>) {
        let push = Push { sub: self.sub, event: Event::End { cause } };
        // Writing to a Vec cannot fail, and these fields cannot fail to serialise.
        let _ = serde_json::to_writer(&mut *out, &push);
        out.push(b'\n');
    }
}

/// Normalizes an id for comparison: `"\u0061"` and `"a"` are the same id.
pub(super) fn normalize_id(id: &RawValue) -> Box<str> {
    match serde_json::from_str::<Value>(id.get()) {
        Ok(value) => value.to_string().into(),
        // A number that is too large to parse is compared as text.
        Err(_) => id.get().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_service::Sessions;

    fn entry(id: &str, command: &'static str) -> PendingRequest {
        let id = RawValue::from_string(id.to_owned()).unwrap();
        PendingRequest {
            normalized_id: Some(normalize_id(&id)),
            id: Some(id),
            command,
            kind: CommandKind::Reads,
            sub: 3,
            subscribed: false,
            gate: Gate::new(),
        }
    }

    #[test]
    fn ids_are_the_same_however_they_are_written() {
        let raw = |text: &str| normalize_id(&RawValue::from_string(text.to_owned()).unwrap());
        assert_eq!(raw(r#""a""#), raw(r#""\u0061""#));
        assert_ne!(raw("1"), raw(r#""1""#));
        assert_eq!(raw("1e999"), raw("1e999"));
    }

    #[test]
    fn the_sessions_counters_follow_on_every_path() {
        let session = Sessions::default().open(None);
        let counters = || (session.pending.load(Relaxed), session.subscriptions.load(Relaxed));
        let mut pending = PendingRequests::new(Arc::clone(&session));
        pending.insert(1, entry("1", "get"));
        pending.insert(2, entry("2", "subscribe"));
        assert_eq!(counters(), (2, 0));
        pending.subscribe(2);
        pending.subscribe(2);
        assert_eq!(counters(), (1, 1));
        assert_eq!(pending.find("2"), Some(2));
        assert_eq!((pending.keys(true), pending.keys(false)), (vec![2], vec![1]));
        pending.remove(2);
        pending.remove(2);
        assert_eq!(counters(), (1, 0));
        drop(pending);
        assert_eq!(counters(), (0, 0));
    }

    #[test]
    fn what_was_cut_off_is_safe_to_repeat_only_if_nothing_was_sent() {
        let cases = [
            (CommandKind::Reads, false, "not_delivered"),
            (CommandKind::Acts, false, "not_delivered"),
            (CommandKind::Acts, true, "uncertain"),
            (CommandKind::Manages, false, "uncertain"),
        ];
        for (kind, sent, delivery) in cases {
            let mut out = Vec::new();
            let mut entry = entry("7", "a-command");
            entry.kind = kind;
            assert!(!sent || entry.gate.pass());
            entry.fail("sim", ErrorCode::Timeout, "late".into(), &mut out);
            assert!(!entry.gate.pass(), "nothing more is sent");
            let line: Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(line["id"], 7);
            assert_eq!(line["error"]["disposition"]["delivery"], delivery);
        }
    }

    #[test]
    fn the_last_line_of_a_subscription_says_why() {
        let mut out = Vec::new();
        entry("7", "subscribe").end(EndCause::Cancelled, &mut out);
        assert_eq!(out, b"{\"sub\":3,\"event\":\"end\",\"cause\":\"cancelled\"}\n");
    }
}
