//! What AppKit announces of what happens, and what it does not: that something is enabled or disabled, and that plain
//! views come and go, it never says.

use std::collections::HashMap;
use std::time::Instant;

use axd_protocol::{Bounds, Role, State};
use axd_sim::model::{Change, Handle, Model};
use axd_sim::script::Profile;

use super::attributes::{holds_number, holds_text};
use super::roles::{has_rows, is_row, is_titled};
use super::tree::{Id, Part, Standing, View, canonical};

/// Every notification that can be asked for.
pub(super) const NAMES: &[&str] = &[
    "AXMainWindowChanged",
    "AXFocusedWindowChanged",
    "AXFocusedUIElementChanged",
    "AXApplicationActivated",
    "AXApplicationDeactivated",
    "AXApplicationHidden",
    "AXApplicationShown",
    "AXWindowCreated",
    "AXWindowMoved",
    "AXWindowResized",
    "AXWindowMiniaturized",
    "AXWindowDeminiaturized",
    "AXDrawerCreated",
    "AXSheetCreated",
    "AXHelpTagCreated",
    "AXValueChanged",
    "AXUIElementDestroyed",
    "AXElementBusyChanged",
    "AXMenuOpened",
    "AXMenuClosed",
    "AXMenuItemSelected",
    "AXRowCountChanged",
    "AXRowExpanded",
    "AXRowCollapsed",
    "AXSelectedCellsChanged",
    "AXUnitsChanged",
    "AXSelectedChildrenMoved",
    "AXSelectedChildrenChanged",
    "AXResized",
    "AXMoved",
    "AXCreated",
    "AXSelectedRowsChanged",
    "AXSelectedColumnsChanged",
    "AXSelectedTextChanged",
    "AXTitleChanged",
    "AXLayoutChanged",
    "AXAnnouncementRequested",
    "AXLoadComplete",
    "AXLayoutComplete",
    "AXLiveRegionChanged",
    "AXLiveRegionCreated",
    "AXExpandedChanged",
    "AXInvalidStatusChanged",
];

/// Something that is announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct News {
    pub name: String,
    pub element: Id,
    /// What is to be spoken.
    pub spoken: Option<String>,
}

impl News {
    pub(crate) fn plain(name: &str, element: Id) -> News {
        News { name: name.to_owned(), element, spoken: None }
    }
}

/// Turns what happens in an app into what AppKit announces of it.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    /// The windows as they were, and how many rows the tables had; nothing before the first look.
    before: Option<(Vec<Seen>, HashMap<Handle, usize>)>,
    /// How many ends of elements there were, for the apps that swallow every second.
    ended: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    window: Handle,
    bounds: Option<Bounds>,
    minimized: bool,
}

impl Teller {
    /// What is announced of a change.
    pub(crate) fn tell(&mut self, model: &mut Model, change: &Change) -> Vec<News> {
        let profile = model.script().profile;
        if self.before.is_none() {
            self.before = Some((windows(model), row_counts(model)));
            return vec![];
        }
        if profile == Profile::Silent {
            return vec![];
        }
        match change {
            Change::Name(handle) => named(model, *handle),
            Change::Value(handle) => valued(model, *handle),
            Change::State(handle, state) => self.state(model, *handle, *state),
            Change::Focus(handle) => {
                vec![News::plain("AXFocusedUIElementChanged", canonical(model, *handle))]
            }
            Change::Children(parent) => self.children(model, *parent),
            Change::Destroyed { element, parent } => {
                let mut news = Vec::new();
                let makes_rows = model.widget(*parent).is_some_and(|above| above.total().is_some());
                self.ended += 1;
                // Another that listens takes every second one.
                let is_swallowed = profile == Profile::Appkit && self.ended.is_multiple_of(2);
                if !makes_rows && !is_swallowed {
                    news.push(News::plain("AXUIElementDestroyed", Id::of(*element)));
                }
                news.extend(self.children(model, *parent));
                news
            }
            Change::Announced(text) => {
                let element = model.windows().first().map_or(Id::APP, |window| Id::of(*window));
                let name = "AXAnnouncementRequested".to_owned();
                vec![News { name, element, spoken: Some(text.clone()) }]
            }
            Change::Windows => self.windows(model),
        }
    }

    fn state(&mut self, model: &mut Model, handle: Handle, state: State) -> Vec<News> {
        let Some(widget) = model.widget(handle) else { return vec![] };
        let id = canonical(model, handle);
        let (role, is_on) = (widget.role, widget.states.has(state));
        match state {
            State::Checked | State::Mixed | State::Pressed if !matches!(role, Role::MenuItemCheckbox) => {
                vec![News::plain("AXValueChanged", id)]
            }
            State::Selected if is_row(model, widget) => {
                let table = model.container_of(handle).map(Id::of);
                table.map(|table| News::plain("AXSelectedRowsChanged", table)).into_iter().collect()
            }
            State::Selected if role == Role::Tab => vec![News::plain("AXValueChanged", id)],
            State::Expanded => match role {
                Role::Menu | Role::Combobox => {
                    let menu = if model.is_floating(handle) { id } else { id.part(Part::Menu) };
                    vec![News::plain(if is_on { "AXMenuOpened" } else { "AXMenuClosed" }, menu)]
                }
                Role::TreeItem => {
                    let mut news =
                        vec![News::plain(if is_on { "AXRowExpanded" } else { "AXRowCollapsed" }, id)];
                    let tree = model.container_of(handle).map(Id::of);
                    news.extend(tree.map(|tree| News::plain("AXRowCountChanged", tree)));
                    news
                }
                _ => vec![News::plain("AXValueChanged", id)],
            },
            State::Busy => vec![News::plain("AXElementBusyChanged", id)],
            _ => vec![],
        }
    }

    fn children(&mut self, model: &mut Model, parent: Handle) -> Vec<News> {
        let Some(widget) = model.widget(parent) else { return vec![] };
        let id = Id::of(parent);
        if widget.total().is_some() {
            // It was scrolled.
            return vec![News::plain("AXValueChanged", id.part(Part::ScrollBar))];
        }
        let tip = widget.children.last().copied();
        let tip = tip.filter(|last| model.widget(*last).is_some_and(|last| last.role == Role::Tooltip));
        if let Some(tip) = tip {
            return vec![News::plain("AXHelpTagCreated", Id::of(tip))];
        }
        let page = page_of(model, parent);
        let table = if widget.role == Role::TreeItem { model.container_of(parent) } else { Some(parent) };
        let table = table.filter(|table| model.widget(*table).is_some_and(|table| has_rows(table.role)));
        if let (Some(table), Some((_, counts))) = (table, &mut self.before) {
            let count = view(model, |view| view.rows(Id::of(table)).len());
            if counts.insert(table, count) != Some(count) {
                return vec![News::plain("AXRowCountChanged", Id::of(table))];
            }
        }
        // Browsers do say when a page was laid out anew.
        page.map(|page| News::plain("AXLayoutComplete", Id::of(page))).into_iter().collect()
    }

    fn windows(&mut self, model: &mut Model) -> Vec<News> {
        let now = windows(model);
        let Some((before, _)) = &mut self.before else { return vec![] };
        let mut news = Vec::new();
        for seen in &now {
            let id = Id::of(seen.window);
            match before.iter().find(|old| old.window == seen.window) {
                None => news.extend([News::plain("AXWindowCreated", id), News::plain("AXCreated", id)]),
                Some(old) => {
                    let size = |bounds: &Bounds| (bounds.width, bounds.height);
                    let place = |bounds: &Bounds| (bounds.x, bounds.y);
                    if old.bounds.as_ref().map(place) != seen.bounds.as_ref().map(place) {
                        news.push(News::plain("AXWindowMoved", id));
                    }
                    if old.bounds.as_ref().map(size) != seen.bounds.as_ref().map(size) {
                        news.push(News::plain("AXWindowResized", id));
                    }
                    match (old.minimized, seen.minimized) {
                        (false, true) => news.push(News::plain("AXWindowMiniaturized", id)),
                        (true, false) => news.push(News::plain("AXWindowDeminiaturized", id)),
                        _ => {}
                    }
                }
            }
        }
        if before.first().map(|old| old.window) != now.first().map(|seen| seen.window)
            && let Some(front) = now.first().map(|seen| Id::of(seen.window))
        {
            news.push(News::plain("AXMainWindowChanged", front));
            news.push(News::plain("AXFocusedWindowChanged", front));
        }
        *before = now;
        news
    }
}

fn named(model: &Model, handle: Handle) -> Vec<News> {
    let Some(widget) = model.widget(handle) else { return vec![] };
    let id = canonical(model, handle);
    let text = match id.part {
        Part::RowCell(row, cell) => Id { part: Part::RowText(row, cell), ..id },
        _ => id.part(Part::Text),
    };
    match widget.role {
        role if is_titled(role) => vec![News::plain("AXTitleChanged", id)],
        Role::Cell => vec![News::plain("AXValueChanged", text)],
        _ if is_row(model, widget) => vec![News::plain("AXValueChanged", text)],
        Role::Text | Role::Paragraph if widget.value.is_none() => vec![News::plain("AXValueChanged", id)],
        // That a view is described in other words is not announced.
        _ => vec![],
    }
}

fn valued(model: &Model, handle: Handle) -> Vec<News> {
    let Some(widget) = model.widget(handle) else { return vec![] };
    let id = canonical(model, handle);
    match widget.role {
        role if holds_text(role) => {
            vec![News::plain("AXValueChanged", id), News::plain("AXSelectedTextChanged", id)]
        }
        role if holds_number(role) => vec![News::plain("AXValueChanged", id)],
        Role::Combobox | Role::DateField | Role::ColorWell | Role::Text | Role::Paragraph => {
            vec![News::plain("AXValueChanged", id)]
        }
        _ => vec![],
    }
}

fn page_of(model: &Model, handle: Handle) -> Option<Handle> {
    let is_page = |part: &Handle| model.widget(*part).is_some_and(|widget| widget.role == Role::Document);
    model.path(handle)?.into_iter().find(is_page)
}

fn windows(model: &Model) -> Vec<Seen> {
    let seen = |window: &Handle| Seen {
        window: *window,
        bounds: model.window_bounds(*window),
        minimized: model.frame(*window).minimized,
    };
    model.windows().iter().map(seen).collect()
}

fn row_counts(model: &mut Model) -> HashMap<Handle, usize> {
    let (mut tables, mut waiting) = (Vec::new(), vec![Handle::APP]);
    while let Some(handle) = waiting.pop() {
        let Some(widget) = model.widget(handle) else { continue };
        if has_rows(widget.role) && widget.total().is_none() {
            tables.push(handle);
        } else {
            waiting.extend(&widget.children);
        }
    }
    tables.into_iter().map(|table| (table, view(model, |view| view.rows(Id::of(table)).len()))).collect()
}

fn view<T>(model: &mut Model, look: impl FnOnce(&View<'_>) -> T) -> T {
    let mut none = Vec::new();
    let now = Instant::now();
    look(&View { model, claims: &[], ghosts: &mut none, standing: Standing::default(), now })
}
