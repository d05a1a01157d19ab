//! `find --deep`: searches the rows that a container does not show, page by page.
//!
//! The rows of a page are read and matched outside the tree, in a scratch tree of the container, its ancestors and the page, so
//! that subscribers do not see them come and go. Rows that match are kept: they get ids and stay in the tree, with their
//! indexes, wherever the container is scrolled to.

use std::sync::Arc;

use axd_protocol::selector::Selector;
use axd_protocol::{NodeId, Unread};
use tokio::time::Instant;
use tracing::debug;

use crate::apps::app::App;
use axd_platform::{Batch, Cause, ElementKey, Rows, Update, WorkerRequest};
use axd_tree::{Scope, Tree};

/// The number of rows that are read at a time. Between two pages a request can be cancelled or time out.
const PAGE: u32 = 64;

/// A container to search.
struct Container {
    id: NodeId,
    key: ElementKey,
    total: u32,
    /// The container and its ancestors, as updates for an empty tree.
    frame: Vec<Update>,
}

/// The containers that were searched, and how many of their rows.
#[derive(Default)]
pub(crate) struct Depth(Vec<(NodeId, u32)>);

impl Depth {
    /// What is still unread of the containers, not counting the rows that were searched.
    pub fn left_of(&self, mut unread: Vec<Unread>) -> Vec<Unread> {
        for one in &mut unread {
            if let Some((_, read)) = self.0.iter().find(|(id, _)| *id == one.node.id) {
                one.read = one.read.max(*read);
            }
        }
        unread.retain(|one| one.total.is_none_or(|total| one.read < total));
        unread
    }
}

/// Searches every container below `root` that may hold a match of the selector, until `enough` rows match.
pub(crate) async fn look_through(
    app: &Arc<App>,
    selector: &Selector,
    root: NodeId,
    enough: usize,
    deadline: Instant,
) -> Depth {
    let mut depth = Depth::default();
    for container in containers(app, selector, root) {
        let (mut rows, mut at) = (Vec::new(), 0);
        while at < container.total && rows.len() < enough && Instant::now() < deadline {
            let (key, page) = (container.key, at..(at + PAGE).min(container.total));
            let end = page.end;
            let asked = app.ask_raw(deadline, |reply| WorkerRequest::Look { key, rows: page, reply }).await;
            match asked {
                Ok(Rows { order, updates }) => {
                    rows.extend(matching(&container, order, updates, selector));
                    at = end;
                }
                Err(failure) => {
                    debug!(%failure, container = %container.id, "its rows cannot be looked through");
                    break;
                }
            }
        }
        // Rows that do not match are released, too.
        if at > 0 {
            let key = container.key;
            // If the app does not reply to this, the container lists the same rows as before.
            let _ = app.ask_raw(deadline, |reply| WorkerRequest::Keep { key, rows, reply }).await;
            depth.0.push((container.id, at));
        }
    }
    depth
}

fn containers(app: &App, selector: &Selector, root: NodeId) -> Vec<Container> {
    let tree = app.tree.read();
    let Some(root) = tree.by_id(root) else { return Vec::new() };
    let unread = tree.unread(selector, Scope { root });
    let container = |unread: Unread| {
        let ix = tree.by_id(unread.node.id)?;
        // Where the number of rows is unknown, rows cannot be requested by index.
        let (id, total) = (unread.node.id, unread.total?);
        Some(Container { id, key: tree.key(ix)?, total, frame: tree.excerpt(ix) })
    };
    unread.into_iter().filter_map(container).collect()
}

/// The indexes of the rows in a page that match the selector, or contain a match.
fn matching(
    container: &Container,
    order: Vec<ElementKey>,
    updates: Vec<Update>,
    selector: &Selector,
) -> Vec<u32> {
    let mut scratch = Tree::new(0, 0);
    let page = Update::Children { parent: container.key, order, total: Some(container.total) };
    let updates = container.frame.iter().cloned().chain([page]).chain(updates).collect();
    scratch.apply(Batch { cause: Cause::Walk, updates }, 1);
    let Some(root) = scratch.by_key(container.key) else { return Vec::new() };
    let found = scratch.find(selector, Scope { root }, None).matches;
    let mut rows: Vec<u32> = found.into_iter().filter_map(|ix| scratch.row_of(ix)).collect();
    rows.dedup();
    rows
}
