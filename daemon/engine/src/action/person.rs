//! Yielding to a person: an action that waits until nobody has used its window with mouse or keyboard for a while, and stops when
//! somebody does.

use std::sync::Arc;
use std::time::Duration;

use axd_platform::{FailureKind, PersonActivity};
use axd_protocol::{Error, ErrorCode, Result};
use tokio::time::Instant;

use crate::action::context::ActionContext;
use crate::change_wait::Next;

/// The person to whom an action yields.
#[derive(Clone)]
pub(crate) struct Person {
    activity: Arc<PersonActivity>,
    pid: Option<u32>,
    window: Option<u64>,
    quiet: Duration,
    command: &'static str,
}

impl ActionContext<'_> {
    /// Waits until no person has used the window for as long as the request says.
    pub async fn yield_to_person(&mut self) -> Result<()> {
        let Some(quiet) = self.options.yield_to_person_ms else { return Ok(()) };
        let engine = Arc::clone(self.engine);
        let activity = tokio::task::spawn_blocking(move || engine.platform.person()).await;
        let activity = activity.map_err(|fault| Error::new(ErrorCode::Internal, fault.to_string()))?;
        let window = self.target.and_then(|id| self.window_of(id).ok().flatten());
        let activity = activity.map_err(|failure| match failure.kind {
            FailureKind::NotSupported => {
                let message = format!("yield_to_person_ms: {failure}");
                Error::new(ErrorCode::PlatformNotSupported, message).suggest("omit --yield-to-person-ms")
            }
            _ => self.failed(&failure),
        })?;
        let person = Person {
            activity,
            pid: self.app.as_ref().map(|app| app.pid()),
            window,
            quiet: Duration::from_millis(quiet),
            command: self.call.command.name(),
        };
        let mut wait = self.engine.change_wait(self.action_deadline(), &self.call.gate);
        while let Err(error) = person.check() {
            match wait.next_until(person.is_free_at()).await {
                Next::Check => {}
                Next::TimedOut => return Err(error),
                Next::Cancelled => return Err(self.cancelled()),
            }
        }
        self.person = Some(person);
        Ok(())
    }
}

impl Person {
    /// When the window has been left alone for long enough, if nobody uses it until then.
    fn is_free_at(&self) -> Instant {
        let last = self.activity.last_use(self.pid, self.window);
        Instant::from_std(last.checked_add(self.quiet).unwrap_or(last + Duration::from_secs(1 << 30)))
    }

    /// Fails if a person has used the window a moment ago.
    pub fn check(&self) -> Result<()> {
        if Instant::now() >= self.is_free_at() {
            return Ok(());
        }
        let message = format!("{}: a person is using the window", self.command);
        Err(Error::new(ErrorCode::NotActionable, message).suggest(
            "try again later, or increase --timeout-ms, which is how long to wait until the window is left alone",
        ))
    }
}
