//! `look`: what can be seen of a window, as short text.

use std::sync::Arc;

use axd_protocol::Result;
use axd_protocol::command::{Look, LookAnswer};
use axd_protocol::text::write_clock;

use crate::Engine;
use crate::answer::Answer;
use crate::apps::modal;
use crate::apps::target::Where;
use axd_service::Call;
use axd_tree::{LookBudget, Tree};

/// The maximum number of elements that an answer is expected to show.
const MANY: usize = 10_000;

impl Engine {
    pub(crate) async fn look(
        self: &Arc<Self>,
        call: &Call,
        args: &Look,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let deadline = Engine::deadline(call);
        let place = Where { window: args.window.as_deref(), ..Where::default() };
        let app = match &args.root {
            Some(root) if args.app.is_none() => self.locate(call, root, place, deadline).await?.app,
            _ => self.app(call, args.app.as_deref(), deadline).await?,
        };
        let budget = LookBudget { depth: args.depth, max_tokens: args.max_tokens.map(|most| most as usize) };
        let size = |tree: &Tree| tree.len().min(MANY);
        self.write_from(call, &app, size, |tree| {
            let names_a_place = args.app.is_some() || args.window.is_some() || args.root.is_some();
            let scope = self.scope(&app, tree, args.window.as_deref(), args.root.as_deref())?;
            let root = if names_a_place { scope } else { self.focused_window(tree).unwrap_or(scope) };
            let (clock, info) = (self.clock.now(), app.info_about(call, tree, None));
            let complete = app.is_complete();
            let look = tree.look(root, budget);
            let data = LookAnswer {
                complete,
                nodes: look.nodes as u32,
                truncated: look.truncated,
                root: Some(tree.id(root)),
                lines: look.lines,
            };
            let text = || {
                let mut out = data.lines.clone();
                if !complete {
                    out.push_str("(partial: the app is still being read)\n");
                } else if data.truncated {
                    out.push_str(&format!(
                        "(truncated: {} elements shown; raise --max-tokens, or show one branch with --root)\n",
                        data.nodes
                    ));
                } else if data.nodes == 0 {
                    out.push_str("nothing is visible; `ax snapshot` shows what is there\n");
                }
                out.push_str(&modal::line(&info));
                write_clock(clock, &mut out);
                out
            };
            // Writing to a `Vec` cannot fail, and the answer always serializes.
            answer.either(Some(clock), Some(&info), text, |out| drop(serde_json::to_writer(out, &data)));
            Ok(())
        })
        .await
    }
}
