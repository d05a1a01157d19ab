//! Commands about the daemon: `status`, `doctor`, `permissions`, `version`, `hello`, `shutdown`. None of them waits for an app.

use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::command::AuditStatus;
use axd_protocol::command::{
    AppStatus, DoctorAnswer, Finding, Hello, HelloAnswer, Permissions, PermissionsAnswer, ShutdownAnswer,
    StatusAnswer, VersionAnswer,
};
use axd_protocol::{Error, ErrorCode, PROTOCOL, PROTOCOL_VERSION, Result};
use tokio::time::timeout_at;

use crate::Engine;
use crate::answer::Answer;
use crate::apps::app::App;
use crate::failure::{Subject, error_of};
use crate::policy::AuditHealth;
use axd_service::Call;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The maximum length of the names that a client gives itself: they are in every line of the audit.
const MAX_NAME_BYTES: usize = 256;

impl Engine {
    pub(crate) fn status(&self, answer: &mut Answer<'_>) -> Result<()> {
        let data = StatusAnswer {
            pid: std::process::id(),
            daemon: VERSION.into(),
            socket: self.info.socket.display().to_string(),
            log: self.info.log.as_ref().map(|log| log.display().to_string()),
            uptime_ms: self.started.elapsed().as_millis() as u64,
            idle_exit_s: self.info.idle_exit.map(|after| after.as_secs()),
            apps: self.all_apps().iter().map(|app| self.app_status(app)).collect(),
            clients: self.sessions.status(),
            held: self.input_lock.status(),
            policy: Some(self.policy.state().status()),
            audit: self.audit_status(),
            paused: self.acting.status(),
        };
        answer.value(Some(self.clock.now()), None, &data);
        Ok(())
    }

    fn app_status(&self, app: &App) -> AppStatus {
        let tree = app.tree.read();
        AppStatus {
            app: app.info(),
            degraded: app.degraded(),
            acting: app.queue.status(),
            complete: app.is_complete(),
            nodes: tree.len() as u32,
            bytes: tree.bytes() as u64,
            events: app.counters.events.load(Relaxed),
            destroyed: app.counters.destroyed.load(Relaxed),
            calls: app.counters.calls.load(Relaxed),
            missed: app.counters.missed.load(Relaxed),
            suspect: tree.suspect(),
            clock: self.clock.at(tree.tick()),
        }
    }

    fn audit_status(&self) -> Option<AuditStatus> {
        let AuditHealth { fault, written, lost } = self.audit.health();
        self.info.state.as_ref().map(|_| AuditStatus { fault, written, lost })
    }

    pub(crate) async fn doctor(&self, call: &Call, answer: &mut Answer<'_>) -> Result<()> {
        let mut checks = vec![Finding::ok("daemon", format!("axd {VERSION}, pid {}", std::process::id()))];
        match timeout_at(Engine::deadline(call), self.platform.diagnose()).await {
            Ok(Ok(Ok(found))) => checks.extend(found),
            Ok(Ok(Err(failure))) => checks.push(Finding::missing("desktop", failure.native, "see the log")),
            Ok(Err(_)) | Err(_) => checks.push(Finding::missing(
                "desktop",
                "it does not answer",
                "try again; if this persists, restart the session's accessibility bus",
            )),
        }
        checks.push(self.policy.state().finding());
        checks.extend(self.audit.health().fault.map(|fault| {
            let remedy = "make room on the disk, or set AXD_STATE to a folder of your own; actions go on without their audit lines";
            Finding::limited("audit", format!("it cannot be written: {fault}"), remedy)
        }));
        // Without permission to read apps, the finding above says so, and no app is at fault.
        let apps = if self.platform.access_error().is_none() { self.all_apps() } else { Vec::new() };
        checks.extend(apps.iter().filter_map(|app| {
            let why = app.degraded()?;
            Some(Finding::limited(
                &app.seen().name,
                why,
                "answers use its last known tree; restart the app if this persists",
            ))
        }));
        answer.value(Some(self.clock.now()), None, &DoctorAnswer::of(checks));
        Ok(())
    }

    pub(crate) async fn permissions(
        &self,
        call: &Call,
        args: &Permissions,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let asked = timeout_at(Engine::deadline(call), self.platform.permissions(args.request)).await;
        let permissions = match asked {
            Ok(Ok(data)) => data.map_err(|failure| error_of(&failure, Subject::Desktop))?,
            Ok(Err(_)) | Err(_) => {
                return Err(Error::new(ErrorCode::Timeout, "the desktop does not report its permissions"));
            }
        };
        let granted = permissions.iter().all(|permission| permission.granted);
        answer.value(Some(self.clock.now()), None, &PermissionsAnswer { granted, permissions });
        Ok(())
    }

    pub(crate) fn version(&self, answer: &mut Answer<'_>) -> Result<()> {
        answer.value(
            None,
            None,
            &VersionAnswer { daemon: VERSION.into(), protocol: PROTOCOL_VERSION.into() },
        );
        Ok(())
    }

    pub(crate) fn hello(&self, call: &Call, args: &Hello, answer: &mut Answer<'_>) -> Result<()> {
        for (field, name) in [("client", Some(&args.client)), ("agent", args.agent.as_ref())] {
            let Some(name) = name else { continue };
            if name.len() > MAX_NAME_BYTES || name.chars().any(char::is_control) {
                let message =
                    format!("{field} must have at most {MAX_NAME_BYTES} bytes and no control characters");
                return Err(Error::new(ErrorCode::InvalidArgs, message).suggest("give a short name"));
            }
        }
        *call.session.names.lock() = (Some(args.client.clone()), args.agent.clone());
        let capabilities =
            self.platform.capabilities().into_iter().chain(self.extensions.names().iter().copied());
        let data = HelloAnswer {
            protocol: PROTOCOL,
            version: VERSION.into(),
            pid: std::process::id(),
            platform: self.platform.name().into(),
            capabilities: capabilities.map(str::to_owned).collect(),
        };
        answer.value(Some(self.clock.now()), None, &data);
        Ok(())
    }

    pub(crate) fn shutdown(&self, answer: &mut Answer<'_>) -> Result<()> {
        answer.value(None, None, &ShutdownAnswer { pid: std::process::id() });
        self.stop.trigger();
        Ok(())
    }
}
