//! Describes conditions that did not become true: what is there instead, and what is wrong with their apps.

use std::sync::Arc;

use axd_protocol::selector::RoleTest;
use axd_protocol::{AppState, Error, ErrorCode, NodeRef, Role, Unread};
use tokio::time::Instant;

use crate::Engine;
use crate::apps::target::not_looked_at;
use crate::commands::wait::{Condition, Holds, NODES, Test};
use crate::tree_work::search_small;
use axd_tree::Scope;

/// What is there instead of what was waited for, and where was not looked.
type Hints = (Vec<NodeRef>, Vec<Unread>);

impl Engine {
    pub(super) fn not_met(
        self: &Arc<Self>,
        conditions: &[Condition],
        holds: &[Option<Holds>],
        began: Instant,
    ) -> Error {
        let unmet = conditions.iter().zip(holds).filter(|(_, holds)| holds.is_none());
        let labels: Vec<&str> = unmet.clone().map(|(condition, _)| condition.label.as_str()).collect();
        let mut message =
            format!("timed out after {} ms: {}", began.elapsed().as_millis(), labels.join("; "));
        let (mut candidates, mut unread) = (Vec::new(), Vec::<Unread>::new());
        let mut troubles: Vec<String> = Vec::new();
        for (condition, _) in unmet {
            troubles.extend(self.trouble(condition).filter(|trouble| !troubles.contains(trouble)));
            let Some(app) = self.app_of(condition) else { continue };
            // These are hints; where they take long to find there are none.
            let hints = search_small(&app, |tree| match &condition.test {
                Test::Gone { selector, .. } => {
                    let Some(root) = tree.root() else { return Hints::default() };
                    let found = tree.find(selector, Scope { root }, Some(NODES));
                    let found = found.matches.iter().map(|ix| tree.node_ref(*ix)).collect();
                    (found, tree.unread(selector, Scope { root }))
                }
                Test::Match(selector) => {
                    let unread = tree.root().map(|root| tree.unread(selector, Scope { root }));
                    let last = selector.paths()[0].last();
                    let role = if let RoleTest::Role(role) = last.role { role } else { Role::Unknown };
                    let like = last.name.as_deref().map(|name| tree.like(role, Some(name), NODES));
                    (like.unwrap_or_default(), unread.unwrap_or_default())
                }
                _ => Hints::default(),
            });
            let (found, not_read) = hints.unwrap_or_default();
            candidates.extend(found);
            unread.extend(not_read);
        }
        candidates.truncate(NODES);
        troubles.iter().for_each(|trouble| message.push_str(&format!("; {trouble}")));
        unread.dedup();
        let error = Error::new(ErrorCode::Timeout, message)
            .candidates(candidates)
            .suggest("increase --timeout, or see what is there with `ax snapshot`");
        not_looked_at(error, unread)
    }

    /// What is wrong with the app of a condition: it ended, or it hangs.
    fn trouble(self: &Arc<Self>, condition: &Condition) -> Option<String> {
        if let Some(app) = self.app_of(condition) {
            let name = app.seen().name;
            return match app.state() {
                AppState::Degraded => Some(format!("{name}: {}", app.degraded().unwrap_or_default())),
                AppState::Gone => app.how_ended().map(|how| format!("{name} {how}")),
                _ => None,
            };
        }
        let desktop = self.desktop.read();
        let spec = condition.app.as_deref()?;
        Some(desktop.how_ended(spec).unwrap_or_else(|| format!("app '{spec}' not found")))
    }
}
