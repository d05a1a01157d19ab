//! Menus: picks an item by the names on the path from the menu bar down.

use std::time::Duration;

use axd_protocol::command::{Menu, Route};
use axd_protocol::error::Delivery;
use axd_protocol::selector::fold;
use axd_protocol::{Error, ErrorCode, NodeId, Result, Role, State};

use crate::action::context::{ActionContext, Outcome};
use crate::action::popup::is_shown;
use crate::action::select::MAX_CANDIDATES;
use crate::action::spec::{Action, ActionSpec, TargetKind};
use crate::apps::target::CANDIDATES_HINT;
use axd_platform::{Act, Sent, WorkerRequest};
use axd_tree::{Ix, Resolved, Tree};

impl Action for Menu {
    fn spec(&self) -> Result<ActionSpec<'_>> {
        menu_path(&self.path)?;
        Ok(ActionSpec::on(TargetKind::App))
    }

    async fn run(&self, context: &mut ActionContext<'_>) -> Result<Outcome> {
        context.menu(&menu_path(&self.path)?).await
    }
}

impl ActionContext<'_> {
    /// Picks a menu item: directly if the app allows it, else by opening one menu after the other. If that fails, the opened
    /// menus are closed again, because an open menu grabs the pointer and the keyboard.
    async fn menu(&mut self, path: &[&str]) -> Result<Outcome> {
        let mut opened = None;
        let done = self.walk_menus(path, &mut opened).await;
        if let (Some(menu), Err(_)) = (opened, &done) {
            // The failure that led here is reported, rather than a failure to close the menu.
            let _ = self.close(menu).await;
        }
        done
    }

    /// Opens the menus on a path and picks the item; the first menu that was opened is stored in `first`.
    async fn walk_menus(&mut self, path: &[&str], first: &mut Option<NodeId>) -> Result<Outcome> {
        let Some((last, above)) = path.split_last() else { return Err(self.no_such_item("", &[])) };
        if self.engine.platform.menus_need_focus() {
            self.raise(self.front_window_of_app(), false).await?;
        }
        for depth in 1..path.len() {
            if let Some(menu) = self.menu_item(&path[..depth], false) {
                self.unfold(menu).await?;
            }
        }
        if self.options.route != Some(Route::Input)
            && let Some(leaf) = self.menu_item(path, false)
        {
            match self.perform(leaf, Act::Press).await {
                Ok(()) => return Ok(self.semantic_outcome(Delivery::DeliveredUnverified)),
                Err(failure) if failure.sent != Sent::No => return self.outcome_without_reply(&failure),
                // Some apps allow their items to be picked only while the menu is open.
                Err(_) => {}
            }
        }
        for depth in 1..=above.len() {
            let opened = &path[..depth];
            let next = &path[..=depth];
            if self.menu_item(next, true).is_some() {
                continue;
            }
            let Some(menu) = self.menu_item(opened, depth > 1) else {
                return Err(self.no_such_item(opened[depth - 1], &path[..depth - 1]));
            };
            // A menu whose items are known is not opened just to find the next one missing, and an item without a submenu is
            // not picked on the way.
            let opens = depth == 1 || self.opens(menu);
            if self.menu_item(next, false).is_none() && (self.holds_items(menu) || !opens) {
                return Err(self.no_such_item(path[depth], opened));
            }
            first.get_or_insert(menu);
            self.pick(menu).await?;
            let end = self.action_deadline().min(tokio::time::Instant::now() + Duration::from_secs(2));
            self.until(end, || self.menu_item(next, true).is_some()).await?;
        }
        match self.menu_item(path, true).or_else(|| self.menu_item(path, false)) {
            Some(leaf) => {
                self.target = Some(leaf);
                self.before = self.now();
                self.pick(leaf).await
            }
            None => Err(self.no_such_item(last, above)),
        }
    }

    /// The number of the app's frontmost window that is on the screen.
    fn front_window_of_app(&self) -> Option<u64> {
        let pid = self.app.as_ref()?.pid();
        let desktop = self.engine.desktop.read();
        let mut windows = desktop.windows.iter().filter(|window| window.pid == pid);
        windows.find(|window| !window.minimized).map(|window| window.window)
    }

    /// Has the items of a menu read, if they were not.
    async fn unfold(&self, menu: NodeId) -> Result<()> {
        let app = self.app()?;
        let key = self.read_node(menu, |tree, ix| tree.unread_of(ix).and_then(|_| tree.key(ix)));
        if let Ok(Some(key)) = key {
            app.ask(self.deadline, |reply| WorkerRequest::Unfold { key, reply }).await?;
        }
        Ok(())
    }

    /// Whether any items of a menu are known.
    fn holds_items(&self, menu: NodeId) -> bool {
        self.read_node(menu, |tree, ix| tree.subtree(ix).skip(1).any(|below| is_menu(tree.role(below))))
            .unwrap_or(false)
    }

    /// Whether a menu item opens a submenu, as far as the app reports it; those of a menu bar always do. Pressing an item that
    /// does not would pick it.
    fn opens(&self, id: NodeId) -> bool {
        self.read_node(id, |tree, ix| {
            let is_item =
                matches!(tree.role(ix), Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio);
            let says_so = [State::Haspopup, State::Collapsed, State::Expanded];
            !is_item
                || says_so.iter().any(|state| tree.states(ix).has(*state))
                || tree.subtree(ix).skip(1).any(|below| tree.role(below) == Role::Menu)
        })
        .unwrap_or(false)
    }

    /// Presses a menu or an item of one.
    async fn pick(&self, id: NodeId) -> Result<Outcome> {
        match self.try_semantic_on(id, Act::Press).await? {
            Some(done) => Ok(done),
            None => self.click_on(id).await,
        }
    }

    /// The item at a path of names, from the menu bar or from an open menu down.
    fn menu_item(&self, path: &[&str], shown: bool) -> Option<NodeId> {
        let app = self.app.as_ref()?;
        let tree = app.tree.read();
        let root = tree.root()?;
        let bars = tree.subtree(root).filter(|ix| matches!(tree.role(*ix), Role::MenuBar));
        let mut at: Vec<Ix> = bars.collect();
        // The menus of the front window come first.
        if let Some(front) = self.engine.focused_window(&tree) {
            at.sort_by_key(|bar| !tree.is_within(*bar, front));
        }
        for (depth, name) in path.iter().enumerate() {
            let wanted = fold(name).into_owned();
            let fits = |ix: &Ix| {
                is_menu(tree.role(*ix))
                    && tree.name(*ix).is_some_and(|name| fold(name) == wanted)
                    && (!shown || is_shown(&tree, *ix))
            };
            let found = at.iter().find_map(|above| nearest(&tree, *above, &fits)).or_else(|| {
                // The submenu of a menu may be elsewhere in the tree.
                (depth > 0).then(|| {
                    let menus = tree.subtree(root).filter(|ix| tree.role(*ix) == Role::Menu);
                    menus.filter(|menu| is_shown(&tree, *menu)).find_map(|menu| nearest(&tree, menu, &fits))
                })?
            })?;
            at = vec![found];
        }
        at.first().map(|ix| tree.id(*ix))
    }

    fn no_such_item(&self, name: &str, above: &[&str]) -> Error {
        let place =
            if above.is_empty() { "menu bar".to_owned() } else { format!("menu '{}'", above.join(" > ")) };
        let mut candidates = Vec::new();
        // Found before the tree is locked, because the lock must not be taken twice.
        let opened = self.menu_item(above, false);
        if let Some(app) = &self.app {
            let tree = app.tree.read();
            let within = match above {
                [] => {
                    tree.root().and_then(|root| tree.subtree(root).find(|ix| tree.role(*ix) == Role::MenuBar))
                }
                _ => opened.and_then(|id| match tree.resolve(id) {
                    Resolved::Alive(ix) => Some(ix),
                    _ => None,
                }),
            };
            if let Some(within) = within {
                let items = tree
                    .subtree(within)
                    .skip(1)
                    .filter(|ix| is_menu(tree.role(*ix)) && tree.name(*ix).is_some());
                candidates = items.take(MAX_CANDIDATES).map(|ix| tree.node_ref(ix)).collect();
            } else if above.is_empty() {
                let name = app.seen().name;
                return Error::new(ErrorCode::ActionNotSupported, format!("{name} has no menu bar"))
                    .suggest("open the menu with its button, using `ax click`");
            }
        }
        let error = Error::new(ErrorCode::ElementNotFound, format!("'{name}' not found in the {place}"));
        let error =
            if candidates.is_empty() { error } else { error.suggest(CANDIDATES_HINT).candidates(candidates) };
        error.retry("snapshot --menubar")
    }
}

fn is_menu(role: Role) -> bool {
    matches!(
        role,
        Role::Menu
            | Role::MenuItem
            | Role::MenuItemCheckbox
            | Role::MenuItemRadio
            | Role::Button
            | Role::ToggleButton
    )
}

/// The nearest element below another one that fits; other menus that do not fit are not entered.
fn nearest(tree: &Tree, above: Ix, fits: &impl Fn(&Ix) -> bool) -> Option<Ix> {
    let mut level: Vec<Ix> = tree.children(above).to_vec();
    while !level.is_empty() {
        if let Some(found) = level.iter().copied().find(|ix| fits(ix)) {
            return Some(found);
        }
        let passed =
            level.iter().filter(|ix| !is_menu(tree.role(**ix)) || tree.name(**ix).is_none_or(str::is_empty));
        level = passed.flat_map(|ix| tree.children(*ix).iter().copied()).collect();
    }
    None
}

fn menu_path(path: &str) -> Result<Vec<&str>> {
    let names: Vec<&str> = path.split('>').map(str::trim).collect();
    if names.iter().any(|name| name.is_empty()) {
        return Err(Error::new(ErrorCode::InvalidArgs, format!("path: '{path}' has an empty name in it"))
            .suggest("give the names from the menu bar down, as in 'File > Save'"));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_menu_path_has_a_name_at_every_step() {
        assert_eq!(menu_path("View > Zoom>200%").unwrap(), ["View", "Zoom", "200%"]);
        for wrong in ["", "File >", "> Save", "File > > Save"] {
            assert_eq!(menu_path(wrong).unwrap_err().code, ErrorCode::InvalidArgs, "{wrong}");
        }
    }
}
