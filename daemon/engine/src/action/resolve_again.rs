//! Finds an element again that its app replaced: office programs replace elements at any time, and so do lists that are
//! refilled.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::Engine;
use axd_platform::{ElementKey, RunningApp, WorkerRequest};

/// How long updating the tree may take.
const REFRESH_TIMEOUT: Duration = Duration::from_millis(2_000);

impl Engine {
    /// Updates the tree of an app: with the changes it announced on the first try, with a full walk after that. Failures are
    /// not reported here; the search for the element that follows reports them.
    pub(crate) async fn find_again(
        self: &Arc<Self>,
        seen: Option<&RunningApp>,
        tries: u32,
        deadline: Instant,
    ) {
        let Some(app) = seen.and_then(|seen| self.by_pid(seen.pid)) else { return };
        let until = deadline.min(Instant::now() + REFRESH_TIMEOUT);
        let _ = match tries {
            0 => app.ask(until, |reply| WorkerRequest::Fence { reply }).await,
            _ => app.ask(until, |reply| WorkerRequest::Walk { key: ElementKey::APP, reply }).await,
        };
    }
}
