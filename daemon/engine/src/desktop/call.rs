//! Sends requests to the desktop.

use std::time::Duration;

use axd_protocol::command::MousePositionAnswer;
use axd_protocol::{Error, ErrorCode, Result};
use tokio::time::{Instant, timeout_at};

use crate::Engine;
use crate::answer::Answer;
use crate::failure::{Subject, delivery, error_of};
use axd_platform::{Gate, Platform, Reply, Sent};
use axd_service::Call;

/// A deadline that is never reached; some clocks cannot represent times further ahead.
const FAR_FUTURE: Duration = Duration::from_secs(365 * 24 * 3600);

impl Engine {
    /// The time `ms` milliseconds from now, or `unless_said` if the request has none, but not beyond the request's own
    /// deadline.
    pub(crate) fn within(call: &Call, ms: Option<u64>, unless_said: u64) -> Instant {
        let now = Instant::now();
        let end = now.checked_add(Duration::from_millis(ms.unwrap_or(unless_said)));
        let end = end.unwrap_or(now + FAR_FUTURE).min(now + FAR_FUTURE);
        call.deadline.map_or(end, |deadline| deadline.min(end))
    }

    /// Sends a request to the desktop, and waits for its reply until the deadline.
    pub(crate) async fn call_desktop<T>(
        &self,
        subject: Subject<'_>,
        gate: &Gate,
        deadline: Instant,
        call: impl FnOnce(&dyn Platform, Gate) -> Reply<T>,
    ) -> Result<T> {
        let gate = gate.part();
        let result = timeout_at(deadline, call(&*self.platform, gate.clone())).await;
        let error = match result {
            Ok(Ok(answered)) => return answered.map_err(|failure| error_of(&failure, subject)),
            Ok(Err(_)) => Error::new(ErrorCode::Internal, "the desktop did not answer"),
            Err(_) => Error::new(ErrorCode::Timeout, "the desktop timed out"),
        };
        // The gate is closed first, so that what the error says about delivery stays true.
        let sent = if gate.close() { Sent::No } else { Sent::Maybe };
        Err(error.delivered(delivery(sent)))
    }

    /// `mouse-position`.
    pub(crate) async fn mouse_position(&self, call: &Call, answer: &mut Answer<'_>) -> Result<()> {
        let at = self
            .call_desktop(Subject::Desktop, &call.gate, Engine::deadline(call), |platform, _| {
                platform.pointer()
            })
            .await?;
        answer.value(Some(self.clock.now()), None, &MousePositionAnswer { x: at.x, y: at.y });
        Ok(())
    }
}
