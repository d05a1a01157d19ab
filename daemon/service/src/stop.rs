//! The signal by which every part of the daemon learns that it has to stop.

use std::sync::Arc;

use tokio::sync::watch;

/// A signal that can be triggered once. Clones share it.
#[derive(Debug, Clone)]
pub struct Stop(Arc<watch::Sender<bool>>);

impl Stop {
    /// A signal that has not been triggered.
    pub fn new() -> Stop {
        Stop(Arc::new(watch::Sender::new(false)))
    }

    /// Triggers the signal; a second time does nothing.
    pub fn trigger(&self) {
        self.0.send_if_modified(|stopping| !std::mem::replace(stopping, true));
    }

    /// Whether the signal has been triggered.
    pub fn is_stopping(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the signal is triggered; returns at once if it has been.
    pub async fn wait(&self) {
        // The only error is a dropped sender, and `self` holds it.
        let _ = self.0.subscribe().wait_for(|stopping| *stopping).await;
    }
}

impl Default for Stop {
    fn default() -> Stop {
        Stop::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn all_clones_learn_of_it_early_and_late() {
        let stop = Stop::new();
        let early = tokio::spawn({
            let stop = stop.clone();
            async move { stop.wait().await }
        });
        assert!(!stop.is_stopping());
        stop.clone().trigger();
        stop.trigger();
        early.await.unwrap();
        stop.wait().await;
        assert!(stop.is_stopping());
    }
}
