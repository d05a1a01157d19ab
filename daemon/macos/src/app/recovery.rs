//! What becomes of an app's thread when axd panics on it: the request fails, the app is read again, and the thread goes on.

use super::attached_app::AttachedApp;
use crate::ax::guard;
use crate::ax::run_loop;
use axd_platform::worker::AppNotification;
use axd_platform::{Act, ElementKey, Failure, FailureKind, Gate, Sent};

impl AttachedApp {
    /// Has everything of the app read again after a panic. The pause is for one that comes again at once.
    pub(super) fn recover(&mut self) {
        self.read_ahead.clear();
        self.notify(AppNotification::Everything);
        run_loop::wait(Some(guard::PAUSE_AFTER_PANIC));
    }

    /// Does the work of a request. If that panics the request fails; were its reply dropped, the app would count as ended.
    pub(super) fn attempt<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        guard::catch_panic("a request to an app", || work(self)).unwrap_or_else(|| {
            self.recover();
            Err(Failure::new(FailureKind::Refused, "axd failed at this; its log says why"))
        })
    }

    /// Performs an action. If that panics, it is not known whether it was before or after it was sent.
    pub(super) fn attempt_action(&mut self, key: ElementKey, act: &Act, gate: &Gate) -> Result<(), Failure> {
        let mut returned = false;
        let result = self.attempt(|app| {
            let result = app.act(key, act, gate);
            returned = true;
            result
        });
        match result {
            Err(failure) if !returned && gate.is_sent() => Err(failure.sent(Sent::Maybe)),
            result => result,
        }
    }
}
