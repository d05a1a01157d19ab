//! What follows at once from another policy: which windows are hidden, and that whoever waits looks again.

use std::sync::Arc;

use axd_platform::RunningApp;
use axd_policy::{Fact, Policy};

use crate::Engine;

impl Engine {
    /// Follows the policy from now on.
    pub(crate) fn follow_policy(self: &Arc<Self>) {
        let engine = Arc::downgrade(self);
        self.policy.on_change(move |policy| {
            if let Some(engine) = engine.upgrade() {
                // It is called on a thread of the policy's own.
                let _runtime = engine.runtime.enter();
                engine.hide_by(policy);
            }
        });
        // Whatever came into force before this is seen here, and what comes after it there.
        self.hide_by(&self.policy.current());
    }

    fn hide_by(self: &Arc<Self>, policy: &Arc<Policy>) {
        let hides_now = policy.hides_anything();
        // Without anything to hide there is nothing to ask, unless something was hidden until now.
        if hides_now || self.desktop.read().hidden_by().0.is_some() {
            let (engine, policy) = (Arc::downgrade(self), Arc::clone(policy));
            self.set_hidden(Arc::new(move |app: &RunningApp, title: &str| {
                hides_now
                    && engine.upgrade().is_some_and(|engine| {
                        let view = engine.view_of(app);
                        policy.hides(Fact::Known(view.facts()), Fact::Known(title))
                    })
            }));
        }
        self.notify_changed();
    }
}
