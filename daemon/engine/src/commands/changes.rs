//! `changes`: the changes since a clock.

use std::sync::Arc;

use axd_protocol::command::Changes;
use axd_protocol::selector::budget::{spend, within};
use axd_protocol::text::write_clock;
use axd_protocol::{AppInfo, AppState, Clock, Error, ErrorCode, Result};

use crate::Engine;
use crate::answer::Answer;
use crate::apps::app::App;
use crate::apps::causes::Attribution;
use crate::tree_work::{SMALL_ANSWER, long_work};
use axd_service::Call;
use axd_tree::{LookBudget, Tree, View};

impl Engine {
    pub(crate) async fn changes(
        self: &Arc<Self>,
        call: &Call,
        args: &Changes,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let apps = match &args.app {
            Some(spec) => vec![self.app(call, Some(spec), Engine::deadline(call)).await?],
            None => self.readable_apps(&self.reader(call)),
        };
        self.answer_changes(call, &apps, (args.since, args.brief), answer).await
    }

    /// The changes of these apps; an app whose history does not reach back far enough is sent whole.
    pub(crate) async fn answer_changes(
        &self,
        call: &Call,
        apps: &[Arc<App>],
        (since, brief): (Clock, bool),
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        self.not_from_the_future(since)?;
        self.room_for_answer(call).await?;
        if self.is_small(apps, since) {
            self.write_all_changes(apps, (since, brief), answer);
        } else {
            let _turn = self.large_answer_turn(call).await?;
            long_work(|| self.write_all_changes(apps, (since, brief), answer));
        }
        Ok(())
    }

    /// Whether few elements have changed.
    fn is_small(&self, apps: &[Arc<App>], since: Clock) -> bool {
        let count = || {
            for app in apps {
                let tree = app.tree.read();
                if self.known_changes(app, &tree, since).is_none() {
                    spend(tree.len() as u64);
                }
            }
        };
        within(SMALL_ANSWER as u64, None, count).is_ok()
    }

    /// The changes of an app since a clock, if its history reaches back that far.
    pub(crate) fn known_changes(&self, app: &App, tree: &Tree, since: Clock) -> Option<axd_tree::Changes> {
        let is_remembered = since.boot == self.clock.boot() && since.tick >= app.attached;
        if is_remembered { tree.changes_since(since.tick) } else { None }
    }

    fn write_all_changes(&self, apps: &[Arc<App>], (since, brief): (Clock, bool), answer: &mut Answer<'_>) {
        // All trees are locked at once, so that one clock is valid for all of them.
        let trees: Vec<_> = apps.iter().map(|app| (app, app.info(), app.tree.read())).collect();
        let clock = self.clock.now();
        let known = |app: &App, tree: &Tree| self.known_changes(app, tree, since);
        let info = if let [(_, info, _)] = &trees[..] { Some(info) } else { None };
        let text = || {
            let mut out = String::new();
            for (app, info, tree) in &trees {
                let changes = known(app, tree);
                if changes.as_ref().is_some_and(|changes| changes.is_empty()) {
                    continue;
                }
                out.push_str(&format!(
                    "{} ({})",
                    axd_protocol::text::one_line(&info.name),
                    info.state.name()
                ));
                match (changes, tree.root()) {
                    (Some(changes), _) if brief => {
                        out.push('\n');
                        tree.write_brief(&changes, since.tick, &mut out);
                    }
                    (Some(changes), _) => {
                        out.push('\n');
                        tree.write_changes_text(&changes, &mut out);
                    }
                    (None, Some(root)) if brief => {
                        out.push_str(" full tree follows; discard any earlier copy\n");
                        out.push_str(&tree.look(root, LookBudget::default()).lines);
                    }
                    (None, Some(root)) => {
                        out.push_str(" full tree follows; discard any earlier copy\n");
                        tree.write_text(&tree.show(root, &View::default()), &View::default(), &mut out);
                    }
                    (None, None) => out.push_str(" fresh: it has no tree\n"),
                }
            }
            if out.is_empty() {
                out.push_str("nothing changed\n");
            }
            write_clock(clock, &mut out);
            out
        };
        answer.either(Some(clock), info, text, |out| {
            out.extend_from_slice(b"{\"apps\":[");
            let start = out.len();
            for (app, info, tree) in &trees {
                let changes = known(app, tree);
                if changes.as_ref().is_some_and(|changes| changes.is_empty()) {
                    continue;
                }
                if out.len() > start {
                    out.push(b',');
                }
                let followed = app.causes.lock().since(since.tick);
                write_app_changes(info, tree, changes.as_ref().map(|changes| (changes, &followed)), out);
            }
            out.extend_from_slice(b"]}");
        });
    }

    /// Rejects a clock that this run of the daemon has not reached, because no change could ever be reported since then.
    pub(crate) fn not_from_the_future(&self, since: Clock) -> Result<()> {
        if since.boot == self.clock.boot() && since.tick > self.clock.now().tick {
            return Err(Error::new(ErrorCode::InvalidArgs, format!("since: {since} is in the future")));
        }
        Ok(())
    }
}

/// One app's part of an answer to `changes`.
fn write_app_changes(
    info: &AppInfo,
    tree: &Tree,
    changes: Option<(&axd_tree::Changes, &Attribution)>,
    out: &mut Vec<u8>,
) {
    out.extend_from_slice(b"{\"app\":");
    let _ = serde_json::to_writer(&mut *out, info);
    match changes {
        Some((changes, followed)) => {
            out.extend_from_slice(b",\"fresh\":false");
            followed.write(out);
            out.push(b',');
            tree.write_changes(changes, out);
        }
        None => {
            out.extend_from_slice(b",\"fresh\":true");
            if let Some(root) = tree.root().filter(|_| info.state != AppState::Gone) {
                out.extend_from_slice(b",\"tree\":");
                tree.write_whole(root, out);
            }
        }
    }
    out.push(b'}');
}
