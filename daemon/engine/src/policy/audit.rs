//! The audit log: one line for every action, allowed or not, whatever its result. Typed text is not in it.

use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use axd_protocol::error::Delivery;
use axd_protocol::{ErrorCode, NodeId};
use parking_lot::Mutex;
use serde::Serialize;
use tracing::warn;
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_appender::rolling::{RollingFileAppender, Rotation};

/// The number of days that are kept.
const DAYS: usize = 7;
/// The maximum number of lines that wait to be written. Their buffer is allocated at the start, so it should be small.
const LINES: usize = 4_096;

/// The audit line of one action.
#[derive(Debug, Clone, Serialize)]
pub struct Entry<'a> {
    /// The connection's number.
    pub client: u64,
    /// The client's process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_pid: Option<u32>,
    /// The agent that the client works for, if it gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<&'a str>,
    /// The command.
    pub command: &'a str,
    /// The name of the app.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<&'a str>,
    /// The app's process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<NodeId>,
    /// How far it got.
    pub delivery: Delivery,
    /// The error, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorCode>,
}

/// The writer of audit lines.
#[derive(Default)]
pub struct Audit(Option<Mutex<(NonBlocking, WorkerGuard)>>);

impl Audit {
    /// Writes one file per day in the state folder. If that fails, the log says so and actions go on.
    pub fn in_folder(state: &Path) -> Audit {
        let file = RollingFileAppender::builder()
            .rotation(Rotation::DAILY)
            .filename_prefix("audit")
            .filename_suffix("jsonl")
            .max_log_files(DAYS)
            .build(state);
        match file {
            Ok(file) => {
                // The writer waits rather than drops lines: an action without its line is worse than a slower action.
                let writer = NonBlockingBuilder::default().lossy(false).buffered_lines_limit(LINES);
                Audit(Some(Mutex::new(writer.thread_name("audit").finish(file))))
            }
            Err(fault) => {
                warn!(%fault, "there is no audit: its file cannot be written");
                Audit(None)
            }
        }
    }

    /// Adds a line.
    pub fn write(&self, entry: &Entry<'_>) {
        #[derive(Serialize)]
        struct Line<'a> {
            at_ms: u64,
            #[serde(flatten)]
            entry: &'a Entry<'a>,
        }
        let Some(writer) = &self.0 else { return };
        let at_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64);
        if let Ok(mut line) = serde_json::to_vec(&Line { at_ms, entry }) {
            line.push(b'\n');
            // A failed write is not noticed here, and must not stop an action.
            let _ = writer.lock().0.write_all(&line);
        }
    }
}

impl std::fmt::Debug for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Audit" } else { "Audit(none)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_says_who_did_what_and_what_came_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::in_folder(folder.path());
        let entry = Entry {
            client: 3,
            client_pid: Some(9),
            agent: None,
            command: "click",
            app: Some("Notes"),
            pid: Some(70),
            target: None,
            delivery: Delivery::NotDelivered,
            error: Some(ErrorCode::PolicyDenied),
        };
        audit.write(&entry);
        drop(audit);
        let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let line: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        assert_eq!(line["command"], "click");
        assert_eq!(line["error"], "POLICY_DENIED");
        assert!(line["at_ms"].as_u64().unwrap() > 0);
    }
}
