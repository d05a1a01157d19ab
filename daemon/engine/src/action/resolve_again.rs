//! Looking again for an element that its app replaced: office programs make new ones as they like, and lists that are
//! filled anew too.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use crate::Engine;
use axd_platform::{ElementKey, RunningApp, WorkerRequest};

/// How long it may take to learn what is there now.
const LOOKS: Duration = Duration::from_millis(2_000);

impl Engine {
    /// Has the tree of an app brought up to what it is now: what it announced at first, all of it after that. What goes wrong
    /// is said by whoever looks for the element then.
    pub(crate) async fn find_again(
        self: &Arc<Self>,
        seen: Option<&RunningApp>,
        tries: u32,
        deadline: Instant,
    ) {
        let Some(app) = seen.and_then(|seen| self.by_pid(seen.pid)) else { return };
        let until = deadline.min(Instant::now() + LOOKS);
        let _ = match tries {
            0 => app.ask(until, |reply| WorkerRequest::Fence { reply }).await,
            _ => app.ask(until, |reply| WorkerRequest::Walk { key: ElementKey::APP, reply }).await,
        };
    }
}
