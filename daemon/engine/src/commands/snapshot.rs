//! `snapshot`: a tree, or the changes in it.

use std::sync::Arc;

use axd_protocol::command::Snapshot;
use axd_protocol::text::write_clock;
use axd_protocol::{Error, ErrorCode, Result, State};
use tokio::time::Instant;

use crate::Engine;
use crate::answer::Answer;
use crate::apps::app::App;
use crate::apps::measure::Measurements;
use crate::apps::modal;
use crate::apps::target::Where;
use axd_platform::{ElementKey, WorkerRequest};
use axd_service::Call;
use axd_tree::{Filter, Ix, NodeFields, Tree, View};

/// The default maximum number of elements in a snapshot.
const MAX_NODES: usize = 10_000;

impl Engine {
    pub(crate) async fn snapshot(
        self: &Arc<Self>,
        call: &Call,
        args: &Snapshot,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        if args.interactive && args.skeleton {
            return Err(Error::new(
                ErrorCode::InvalidArgs,
                "snapshot: interactive and skeleton exclude each other",
            ));
        }
        let deadline = Engine::deadline(call);
        let of_mark = self.id_of_mark(call, args.root.as_deref(), deadline).await?;
        let of_mark = of_mark.map(|id| Snapshot { root: Some(id), ..args.clone() });
        let args = of_mark.as_ref().unwrap_or(args);
        let app = match &args.root {
            Some(root) if args.app.is_none() => {
                self.locate(
                    call,
                    root,
                    Where { app: None, window: args.window.as_deref(), ..Where::default() },
                    deadline,
                )
                .await?
                .app
            }
            _ => self.app(call, args.app.as_deref(), deadline).await?,
        };
        self.refresh(&app, args.sync, args.verify, deadline).await?;
        if let Some(since) = args.since {
            return self.answer_changes(call, &[app], (since, false), answer).await;
        }
        let mut view = View {
            filter: if args.interactive {
                Filter::Interactive
            } else if args.skeleton {
                Filter::Skeleton
            } else {
                Filter::All
            },
            depth: args.depth,
            menubar: args.menubar,
            max_nodes: Some(
                args.max_nodes.map_or(MAX_NODES, |most| if most == 0 { usize::MAX } else { most as usize }),
            ),
            max_tokens: args.max_tokens.map(|most| most as usize),
            ..View::default()
        };
        let mut age = None;
        if args.bounds || args.visible {
            let keys = self.search(&app, deadline, |tree| self.shown_keys(&app, tree, args, &view)).await?;
            let places = Measurements::of(&app, keys, deadline).await;
            let tree = app.tree.read();
            view.bounds = args.bounds.then(|| places.bounds_in(&tree));
            view.visible = args.visible.then(|| places.visible_in(&tree));
            age = places.age;
        }
        let fields = NodeFields { actions: args.actions, native_role: false };
        let size = |tree: &Tree| view.max_nodes.unwrap_or(usize::MAX).min(tree.len());
        self.write_from(call, &app, size, |tree| {
            let root = self.snapshot_root(&app, tree, args)?;
            let (clock, info, complete) =
                (self.clock.now(), app.info_about(call, tree, None), app.is_complete());
            let showing = tree.show(root, &view);
            let text = || {
                let mut out = String::with_capacity(showing.nodes.len() * 48);
                tree.write_text(&showing, &view, &mut out);
                if !complete {
                    out.push_str("(partial: the app is still being read)\n");
                } else if showing.truncated {
                    out.push_str(&format!(
                        "(truncated: {} elements shown; raise --max-nodes, or show one branch with --root)\n",
                        showing.nodes.len()
                    ));
                }
                out.push_str(&modal::line(&info));
                write_clock(clock, &mut out);
                out
            };
            answer.either(Some(clock), Some(&info), text, |out| {
                out.reserve(showing.nodes.len() * 160);
                let (nodes, truncated) = (showing.nodes.len(), showing.truncated);
                out.extend_from_slice(
                    format!(r#"{{"complete":{complete},"nodes":{nodes},"truncated":{truncated}"#).as_bytes(),
                );
                if let Some(age) = age {
                    out.extend_from_slice(format!(r#","bounds_age_ms":{}"#, age.as_millis()).as_bytes());
                }
                out.extend_from_slice(br#","tree":"#);
                tree.write_json(&showing, &view, fields, out);
                out.push(b'}');
            });
            Ok(())
        })
        .await
    }

    /// Updates the tree as far as the request asks for.
    async fn refresh(&self, app: &App, sync: bool, verify: bool, deadline: Instant) -> Result<()> {
        if verify {
            app.ask(deadline, |reply| WorkerRequest::Walk { key: ElementKey::APP, reply }).await?;
        } else if sync {
            app.ask(deadline, |reply| WorkerRequest::Fence { reply }).await?;
        }
        Ok(())
    }

    fn snapshot_root(&self, app: &Arc<App>, tree: &Tree, args: &Snapshot) -> Result<Ix> {
        let whole_app = args.app.is_some() || args.window.is_some() || args.root.is_some();
        let scope = self.scope(app, tree, args.window.as_deref(), args.root.as_deref())?;
        Ok(if whole_app { scope } else { self.focused_window(tree).unwrap_or(scope) })
    }

    fn shown_keys(
        &self,
        app: &Arc<App>,
        tree: &Tree,
        args: &Snapshot,
        view: &View,
    ) -> Result<Vec<ElementKey>> {
        let root = self.snapshot_root(app, tree, args)?;
        // Visibility is known only once elements are measured, so no budget may cut the tree before.
        let whole = View { max_nodes: None, max_tokens: None, ..view.clone() };
        let shown = tree.show(root, if args.visible { &whole } else { view });
        let hidden = |ix: Ix| args.visible && tree.states(ix).has(State::Hidden);
        Ok(shown
            .nodes
            .iter()
            .filter(|shown| !hidden(shown.ix))
            .filter_map(|shown| tree.key(shown.ix))
            .collect())
    }
}
