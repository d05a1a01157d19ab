//! Compare and act: an action that is done only if nothing has changed since its client looked.
//!
//! It is compared once all that the app has announced is applied, and again just before the first thing is sent. What the action
//! has sent itself changes the app, so later steps of it are not compared.

use std::sync::Arc;

use axd_protocol::command::{Effects, IfScope};
use axd_protocol::{Clock, Difference, Error, ErrorCode, Field, NodeId, Result, State};
use axd_tree::{Changes, Ix, Resolved, Tree};

use crate::Engine;
use crate::action::context::ActionContext;
use crate::action::report::MAX_CHANGES;
use crate::action::settle::fence;
use crate::apps::app::App;
use axd_platform::Gate;

/// What must not have changed before anything of an action is sent.
#[derive(Clone)]
pub(crate) struct Comparison {
    app: Arc<App>,
    target: Option<NodeId>,
    since: Clock,
    scope: IfScope,
    command: &'static str,
    /// The gate of the action, which tells whether anything of it has been sent.
    gate: Gate,
}

impl ActionContext<'_> {
    /// Fails if something has changed since the clock that the request names.
    pub async fn compare(&mut self) -> Result<()> {
        let Some(since) = self.options.if_since else {
            return match self.options.if_scope {
                None => Ok(()),
                Some(_) => Err(Error::new(
                    ErrorCode::InvalidArgs,
                    "if_scope: nothing to compare with without if_since",
                )
                .suggest("give the clock of your look with --if-since, or omit --if-scope")),
            };
        };
        self.engine.not_from_the_future(since)?;
        let app = Arc::clone(self.app()?);
        match fence(&app, self.deadline, &self.call.gate).await {
            None => return Err(self.cancelled()),
            Some(Err(failure)) => return Err(self.failed(&failure)),
            Some(Ok(())) => {}
        }
        let comparison = Comparison {
            app,
            target: self.target,
            since,
            scope: self.options.if_scope.unwrap_or_default(),
            command: self.call.command.name(),
            gate: self.call.gate.clone(),
        };
        comparison.check(self.engine)?;
        self.comparison = Some(comparison);
        Ok(())
    }
}

impl Comparison {
    /// Fails if something has changed before anything of the action was sent.
    pub fn check(&self, engine: &Engine) -> Result<()> {
        if self.gate.is_sent() {
            return Ok(());
        }
        let tree = self.app.tree.read();
        // Nothing can be applied while the tree is locked, so the next comparison can begin at this clock.
        let clock = engine.clock.now();
        let Some(changes) = engine.known_changes(&self.app, &tree, self.since) else {
            let message =
                format!("{}: it is not known any more what has changed since {}", self.command, self.since);
            return Err(Error::new(ErrorCode::Changed, message)
                .suggest(format!("look again, and act on the clock of that answer; it is {clock} now")));
        };
        let changes = self.concerning(&tree, changes);
        if changes.is_empty() {
            return Ok(());
        }
        let what = match self.scope {
            IfScope::Target if self.target.is_some() => "its target",
            IfScope::Target | IfScope::Window => "its window",
            IfScope::App => "its app",
        };
        let message = format!("{}: {what} has changed since {}", self.command, self.since);
        let truncated = changes.len() > MAX_CHANGES;
        let difference = if truncated { Difference::default() } else { difference(&tree, &changes) };
        let error = Error::new(ErrorCode::Changed, message)
            .suggest(format!("read what has changed; if it is still right, act with --if-since {clock}"));
        Err(error.changed(Effects { since: self.since, clock, brief: None, difference, truncated }))
    }

    /// Those of the changes that are within what is compared. Of what was moved it is not known where it was before.
    fn concerning(&self, tree: &Tree, mut changes: Changes) -> Changes {
        let Some(root) = self.root(tree) else { return changes };
        let (id, is_window) = (tree.id(root), tree.windows().any(|window| window == root));
        let is_inside = |ix: Ix| tree.is_within(ix, root);
        changes.removed.retain(|removed| tree.was_removed_within(*removed, id));
        changes.added.retain(|(ix, _)| {
            // A window or popup that came may be in the way.
            let is_in_the_way = is_window && tree.parent(*ix) == tree.root();
            is_inside(*ix) || is_in_the_way || !tree.came_after(*ix, self.since.tick)
        });
        changes.changed.retain(|(ix, fields)| {
            // So may one that was there all along and is shown, or comes to the front.
            let comes = is_window
                && tree.parent(*ix) == tree.root()
                && fields.has(Field::States)
                && !tree.states(*ix).has(State::Hidden);
            is_inside(*ix) || comes
        });
        changes
    }

    /// The element in which changes count; `None` if they count in the whole app.
    fn root(&self, tree: &Tree) -> Option<Ix> {
        let alive = |id: NodeId| match tree.resolve(id) {
            Resolved::Alive(ix) => Some(ix),
            _ => None,
        };
        let target = self.target.and_then(alive);
        match (self.scope, target) {
            (IfScope::App, _) => None,
            (IfScope::Target, Some(target)) => Some(target),
            (IfScope::Target | IfScope::Window, target) => {
                let within = target.or(tree.focused())?;
                tree.windows().find(|window| tree.is_within(within, *window))
            }
        }
    }
}

/// A difference as it is sent.
pub(crate) fn difference(tree: &Tree, changes: &Changes) -> Difference {
    let mut json = b"{".to_vec();
    tree.write_changes(changes, &mut json);
    json.push(b'}');
    serde_json::from_slice(&json).unwrap_or_default()
}
