//! Decides when an app is idle: it is quiet, and it replies. An app that hangs is quiet too.

use std::sync::Arc;

use tokio::time::Instant;

use crate::Engine;
use crate::commands::wait::{Condition, Test};
use axd_platform::WorkerRequest;

impl Engine {
    /// Sends a fence to apps that have been quiet; it returns after everything they announced. True if any fence was reached:
    /// then the conditions must be checked again.
    pub(super) async fn fence_idle(self: &Arc<Self>, conditions: &mut [Condition], end: Instant) -> bool {
        let mut any = false;
        for condition in conditions {
            let wants = matches!(&condition.test, Test::Idle { wants_fence: true, .. });
            let Some(app) = wants.then(|| self.app_of(condition)).flatten() else { continue };
            let answered = app.ask_raw(end, |reply| WorkerRequest::Fence { reply }).await.is_ok();
            let tick = app.tree.read().tick();
            if let Test::Idle { since, fenced, wants_fence, .. } = &mut condition.test {
                *wants_fence = false;
                match answered {
                    true => *fenced = Some(tick),
                    false => *since = Instant::now(),
                }
            }
            any |= answered;
        }
        any
    }
}
