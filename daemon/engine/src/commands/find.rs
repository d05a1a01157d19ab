//! `find`: elements by selector.

use std::sync::Arc;

use axd_protocol::command::Find;
use axd_protocol::selector::Selector;
use axd_protocol::text::write_clock;
use axd_protocol::{Error, ErrorCode, Result, Role, Unread, render};

use crate::Engine;
use crate::answer::Answer;
use crate::apps::app::App;
use crate::apps::modal;
use crate::apps::one_match::{nth_is_0, nth_of};
use crate::apps::target::{Where, not_looked_at, parse_selector};
use crate::commands::element::write_path;
use crate::commands::find_deep;
use crate::commands::find_deep::Depth;
use axd_platform::{ElementKey, WorkerRequest};
use axd_service::Call;
use axd_tree::{Ix, NodeFields, Scope, Tree};

/// The default maximum number of matches.
const MAX_MATCHES: usize = 100;

impl Engine {
    pub(crate) async fn find(
        self: &Arc<Self>,
        call: &Call,
        args: &Find,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let selector = parse_selector(&args.selector)?;
        if args.nth == Some(0) {
            return Err(nth_is_0());
        }
        let deadline = Engine::deadline(call);
        let of_mark = self.id_of_mark(call, args.root.as_deref(), deadline).await?;
        let of_mark = of_mark.map(|id| Find { root: Some(id), ..args.clone() });
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
            _ => self.app(call, args.app.as_deref().or(selector.leading_app()), deadline).await?,
        };
        let depth = match args.deep {
            true => {
                let root = |tree: &Tree| {
                    let root = self.scope(&app, tree, args.window.as_deref(), args.root.as_deref())?;
                    Ok(tree.id(root))
                };
                let root = self.search(&app, deadline, root).await?;
                let enough =
                    if args.first { 1 } else { args.limit.map_or(MAX_MATCHES, |most| most as usize) };
                find_deep::look_through(&app, &selector, root, enough, deadline).await
            }
            false => Depth::default(),
        };
        self.read_closed_menus(&app, &selector, args, deadline).await?;
        let most_shown = if args.count { 0 } else { args.limit.map_or(MAX_MATCHES, |most| most as usize) };
        let size = |tree: &Tree| most_shown.min(tree.len());
        self.write_from(call, &app, size, |tree| {
            let root = self.scope(&app, tree, args.window.as_deref(), args.root.as_deref())?;
            self.write_matches((call, &app), tree, root, (&selector, args), &depth, answer)
        })
        .await
    }

    fn write_matches(
        &self,
        (call, app): (&Call, &App),
        tree: &Tree,
        root: Ix,
        (selector, args): (&Selector, &Find),
        depth: &Depth,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let limit = if args.nth.is_some() {
            None
        } else {
            Some(args.limit.map_or(MAX_MATCHES, |most| most as usize))
        };
        let found = tree.find(selector, Scope { root }, limit);
        let mut unread = depth.left_of(tree.unread(selector, Scope { root }));
        if found.count == 0 {
            unread.extend(tree.unread_menus(selector, Scope { root }));
        }
        let matches = match (args.first, args.nth) {
            _ if args.count => &[][..],
            (true, _) => &found.matches[..found.matches.len().min(1)],
            (_, Some(nth)) => nth_of(&found.matches, nth),
            _ => &found.matches[..],
        };
        if matches.is_empty() && !args.count && (args.first || args.nth.is_some()) {
            return Err(self.none_found(app, &selector.to_string(), found.count, unread));
        }
        let (clock, info) = (self.clock.now(), app.info_about(call, tree, None));
        let complete = app.is_complete() && unread.is_empty();
        let text = || {
            let mut out = find_text(tree, matches, found.count, args.count, &unread) + &modal::line(&info);
            // A count is for scripts.
            if !args.count {
                write_clock(clock, &mut out);
            }
            out
        };
        answer.either(Some(clock), Some(&info), text, |out| {
            out.extend_from_slice(format!(r#"{{"complete":{complete},"count":{}"#, found.count).as_bytes());
            if !args.count {
                out.extend_from_slice(br#","matches":["#);
                for (at, ix) in matches.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    tree.write_node(*ix, NodeFields::COMMON, None, out);
                    out.pop();
                    out.extend_from_slice(b",\"path\":");
                    write_path(&tree.path(*ix), out);
                    if let Some(row) = tree.row_of(*ix) {
                        out.extend_from_slice(format!(r#","row":{}"#, row + 1).as_bytes());
                    }
                    out.push(b'}');
                }
                out.push(b']');
            }
            if !unread.is_empty() {
                out.extend_from_slice(br#","unread":"#);
                let _ = serde_json::to_writer(&mut *out, &unread);
            }
            out.push(b'}');
        });
        Ok(())
    }

    /// Has the items of closed menus read that the selector may mean; submenus too, a few levels deep.
    async fn read_closed_menus(
        &self,
        app: &Arc<App>,
        selector: &Selector,
        args: &Find,
        deadline: tokio::time::Instant,
    ) -> Result<()> {
        const MAX_MENU_DEPTH: usize = 4;
        for _ in 0..MAX_MENU_DEPTH {
            let menus = self.search(app, deadline, |tree| {
                let root = self.scope(app, tree, args.window.as_deref(), args.root.as_deref())?;
                let unread = tree.unread(selector, Scope { root }).into_iter();
                let is_new = |one: &Unread| one.node.role == Role::Menu && one.read == 0;
                Ok(unread.filter(is_new).filter_map(|one| tree.key(tree.by_id(one.node.id)?)).collect())
            });
            let menus: Vec<ElementKey> = menus.await?;
            if menus.is_empty() {
                break;
            }
            for key in menus {
                // A menu that cannot be read now is told as not looked at.
                let _ = app.ask_raw(deadline, |reply| WorkerRequest::Unfold { key, reply }).await;
            }
        }
        Ok(())
    }

    fn none_found(&self, app: &App, selector: &str, count: usize, unread: Vec<Unread>) -> Error {
        let name = app.seen().name;
        let (code, said) = match (app.is_complete(), count) {
            (false, _) => (
                ErrorCode::Timeout,
                format!("{name} is still being read; no element matches {selector} so far"),
            ),
            (true, 0) => (ErrorCode::ElementNotFound, format!("no element in {name} matches {selector}")),
            (true, count) => {
                (ErrorCode::ElementNotFound, format!("only {count} elements in {name} match {selector}"))
            }
        };
        not_looked_at(Error::new(code, said), unread)
    }
}

fn find_text(tree: &Tree, matches: &[Ix], count: usize, only_count: bool, unread: &[Unread]) -> String {
    let mut out = String::new();
    if only_count {
        out.push_str(&format!("{count}\n"));
        render::write_unread(unread, &mut out);
        return out;
    }
    for ix in matches {
        tree.line(*ix, None, None).write(0, &mut out);
        let row = tree.row_of(*ix).map(|row| format!("row {}", row + 1));
        let place: Vec<String> = row.into_iter().chain(render::place_of(&tree.path(*ix))).collect();
        if !place.is_empty() {
            out.push_str(&format!("  {}\n", place.join(" ")));
        }
    }
    match count {
        0 if !unread.is_empty() => out.push_str("no match in what was searched\n"),
        0 => out.push_str("nothing matches\n"),
        count if count > matches.len() => {
            out.push_str(&format!("({count} match, {} shown)\n", matches.len()))
        }
        _ => {}
    }
    render::write_unread(unread, &mut out);
    out
}
