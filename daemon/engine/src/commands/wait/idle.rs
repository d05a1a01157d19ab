//! When an app is idle: it is quiet, and it answers. One that hangs is quiet too.

use std::sync::Arc;

use tokio::time::Instant;

use crate::Engine;
use crate::commands::wait::{Condition, Test};
use axd_platform::WorkerRequest;

impl Engine {
    /// Asks apps that have been quiet for a sign of life, which comes after all they announced. True if any answered: then it
    /// is to be looked at again.
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
