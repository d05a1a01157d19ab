//! The audit log: one line for every action, picture, use of the clipboard, launch and denial, whatever came of it. What is typed,
//! and what is on the clipboard, is not in it.
//!
//! A thread of its own writes, so that no disk holds up an action; what cannot be written is counted, and told in `status`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use axd_protocol::error::Delivery;
use axd_protocol::{Error, ErrorCode, NodeId, Role};
use parking_lot::Mutex;
use serde::Serialize;
use tracing::{info, warn};

use super::audit_file::AuditFile;

/// The maximum number of lines that wait to be written.
const LINES: usize = 4_096;

/// The audit line of one action.
#[derive(Debug, Clone, Serialize)]
pub struct Entry<'a> {
    /// The connection's number.
    pub client: u64,
    /// The name that the client gave itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_name: Option<&'a str>,
    /// The client's process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_pid: Option<u32>,
    /// The agent that the client works for, if it gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<&'a str>,
    /// The command.
    pub command: &'a str,
    /// The name of the app that received it, or was meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub app: Option<&'a str>,
    /// The app's process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<NodeId>,
    /// The element's role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The start of the element's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// The keys, by their names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
    /// What is launched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch: Option<Launched<'a>>,
    /// The client that approved it, if the policy asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<u64>,
    /// How far it got.
    pub delivery: Delivery,
    /// The error, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorCode>,
    /// The rule of the policy that denied it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'a str>,
}

/// What a `launch` is to start. Of environment variables the names alone: their values are often secrets.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Launched<'a> {
    /// The app or program.
    pub program: &'a str,
    /// Its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<&'a str>,
    /// The names of its environment variables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<&'a str>,
    /// Its working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<&'a Path>,
}

/// Whether the audit is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditHealth {
    /// Why lines cannot be written now; `None` if they can.
    pub fault: Option<String>,
    /// The number of lines that were written since the daemon started.
    pub written: u64,
    /// The number of lines that were lost since then.
    pub lost: u64,
}

/// The writer of audit lines.
#[derive(Default)]
pub struct Audit {
    writer: Option<(SyncSender<Message>, JoinHandle<()>)>,
    health: Arc<Mutex<AuditHealth>>,
}

/// What the writer's thread is sent: the fields of a line as a JSON object.
enum Message {
    Line(String),
    End,
}

impl Audit {
    /// Writes to files in the state folder. If that fails, the log, `status` and `doctor` say so, and it is tried again with each
    /// line.
    pub fn in_folder(state: &Path) -> Audit {
        let health = Arc::<Mutex<AuditHealth>>::default();
        let (sender, receiver) = sync_channel(LINES);
        let (folder, shared) = (state.to_owned(), Arc::clone(&health));
        let thread = std::thread::Builder::new().name("audit".into());
        match thread.spawn(move || write_all(folder, &receiver, &shared)) {
            Ok(thread) => Audit { writer: Some((sender, thread)), health },
            Err(fault) => {
                warn!(%fault, "there is no audit: its thread cannot be started");
                health.lock().fault = Some(fault.to_string());
                Audit { writer: None, health }
            }
        }
    }

    /// Adds a line. Does not wait for it to be written.
    pub fn write(&self, entry: &Entry<'_>) {
        #[derive(Serialize)]
        struct Line<'a> {
            at_ms: u64,
            #[serde(flatten)]
            entry: &'a Entry<'a>,
        }
        let Some((writer, _)) = &self.writer else { return };
        let Ok(line) = serde_json::to_string(&Line { at_ms: now_ms(), entry }) else { return };
        if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) =
            writer.try_send(Message::Line(line))
        {
            let mut health = self.health.lock();
            health.lost += 1;
            health.fault.get_or_insert_with(|| "the disk is too slow for it".to_owned());
        }
    }

    /// Whether it is written, and how much of it.
    pub fn health(&self) -> AuditHealth {
        self.health.lock().clone()
    }

    /// Refuses an action whose line could not be written, for a policy that requires the line (`audit.required`). The refusal is
    /// recorded too, which tries again to write.
    pub fn check(&self) -> Result<(), Error> {
        let fault = match &self.writer {
            Some(_) => self.health.lock().fault.clone(),
            None => Some("there is none".to_owned()),
        };
        fault.map_or(Ok(()), |fault| {
            let message = format!("the audit cannot be written: {fault} (audit-required)");
            Err(Error::new(ErrorCode::PolicyDenied, message)
                .suggest("make room on the disk, or mend the state folder; `ax status` shows it"))
        })
    }
}

impl Drop for Audit {
    /// Waits until everything is written.
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.writer.take()
            && sender.send(Message::End).is_ok()
        {
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Audit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.writer.is_some() { "Audit" } else { "Audit(none)" })
    }
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

/// Writes lines until the end. What was lost is told by a line as soon as one can be written again.
fn write_all(folder: PathBuf, lines: &Receiver<Message>, health: &Mutex<AuditHealth>) {
    let mut file = AuditFile::new(folder);
    let mut told = 0;
    // The file is opened at once, so that a fault is known before the first action.
    note(health, file.prepare(now_ms() / 1_000), None);
    while let Ok(Message::Line(fields)) = lines.recv() {
        let day = now_ms() / 1_000;
        let lost = health.lock().lost;
        if lost > told {
            let line = format!(r#"{{"at_ms":{},"lost":{}}}"#, now_ms(), lost - told);
            if file.append(&line, day).is_ok() {
                told = lost;
            }
        }
        note(health, file.append(&fields, day), Some(&mut told));
    }
}

/// Notes what came of a write: `line` is `None` if nothing was to be written.
fn note(health: &Mutex<AuditHealth>, outcome: std::io::Result<()>, line: Option<&mut u64>) {
    let mut health = health.lock();
    match outcome {
        Ok(()) => {
            health.written += u64::from(line.is_some());
            if health.fault.take().is_some() {
                info!(lost = health.lost, "the audit is written again");
            }
        }
        Err(fault) => {
            health.lost += u64::from(line.is_some());
            if health.fault.is_none() {
                warn!(%fault, "the audit cannot be written");
            }
            health.fault = Some(fault.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn click() -> Entry<'static> {
        Entry {
            client: 3,
            client_name: None,
            client_pid: Some(9),
            agent: None,
            command: "click",
            app: Some("Notes"),
            pid: Some(70),
            target: None,
            role: None,
            name: None,
            keys: None,
            launch: None,
            approved_by: None,
            delivery: Delivery::NotDelivered,
            error: Some(ErrorCode::PolicyDenied),
            rule: Some("no-protected-app"),
        }
    }

    #[test]
    fn every_line_says_who_did_what_and_what_came_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let audit = Audit::in_folder(folder.path());
        audit.write(&click());
        drop(audit);
        let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        let line: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        assert_eq!((&line["n"], &line["command"]), (&1.into(), &"click".into()));
        assert_eq!((&line["error"], &line["rule"]), (&"POLICY_DENIED".into(), &"no-protected-app".into()));
        assert!(line["at_ms"].as_u64().unwrap() > 0);
    }

    #[test]
    fn what_cannot_be_written_is_counted_and_told_by_the_next_line() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("state");
        std::fs::write(&folder, "in the way").unwrap();
        let audit = Audit::in_folder(&folder);
        let entry = click();
        let wait_for = |reached: &dyn Fn(&AuditHealth) -> bool| {
            while !reached(&audit.health()) {
                std::thread::yield_now();
            }
        };
        audit.write(&entry);
        audit.write(&entry);
        wait_for(&|health| health.lost == 2);
        assert_eq!(audit.check().unwrap_err().code, ErrorCode::PolicyDenied);
        std::fs::remove_file(&folder).unwrap();
        audit.write(&entry);
        wait_for(&|health| health.written == 1);
        assert!(audit.check().is_ok());
        drop(audit);
        let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
        let text = std::fs::read_to_string(file).unwrap();
        assert!(text.lines().next().unwrap().ends_with(r#""lost":2}"#), "{text}");
        assert_eq!(text.lines().count(), 2);
    }
}
