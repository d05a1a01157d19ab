//! What AppKit announces, and what it never does: that something is enabled or disabled, and that plain
//! views appear and disappear.

use std::collections::HashMap;
use std::time::Instant;

use axd_protocol::{Bounds, Role, State};
use axd_sim::model::{Change, Handle, Model};
use axd_sim::script::Profile;

use super::attributes::{holds_number, holds_text};
use super::roles::{has_rows, is_row, is_titled};
use super::tree::{AppState, Id, Part, View, canonical};

/// Every notification that can be registered for.
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

/// A notification of an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notification {
    pub name: String,
    pub element: Id,
    /// The text that is to be spoken.
    pub spoken: Option<String>,
}

impl Notification {
    pub(crate) fn plain(name: &str, element: Id) -> Notification {
        Notification { name: name.to_owned(), element, spoken: None }
    }
}

/// Turns the changes of an app into the notifications that AppKit sends.
#[derive(Debug, Default)]
pub(crate) struct NotificationSource {
    /// The windows and the row counts of tables, as of the last change.
    before: Option<(Vec<WindowSnapshot>, HashMap<Handle, usize>)>,
    /// How many elements were removed, for apps that announce only every second one.
    ended: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct WindowSnapshot {
    window: Handle,
    bounds: Option<Bounds>,
    minimized: bool,
}

impl NotificationSource {
    /// The notifications for a change.
    pub(crate) fn notifications_of(&mut self, model: &mut Model, change: &Change) -> Vec<Notification> {
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
                vec![Notification::plain("AXFocusedUIElementChanged", canonical(model, *handle))]
            }
            Change::Children(parent) => self.children(model, *parent),
            Change::Destroyed { element, parent } => {
                let mut notifications = Vec::new();
                let makes_rows = model.widget(*parent).is_some_and(|above| above.total().is_some());
                self.ended += 1;
                // Another that listens takes every second one.
                let is_swallowed = profile == Profile::Appkit && self.ended.is_multiple_of(2);
                if !makes_rows && !is_swallowed {
                    notifications.push(Notification::plain("AXUIElementDestroyed", Id::of(*element)));
                }
                notifications.extend(self.children(model, *parent));
                notifications
            }
            Change::Announced(text) => {
                let element = model.windows().first().map_or(Id::APP, |window| Id::of(*window));
                let name = "AXAnnouncementRequested".to_owned();
                vec![Notification { name, element, spoken: Some(text.clone()) }]
            }
            Change::Windows => self.windows(model),
        }
    }

    fn state(&mut self, model: &mut Model, handle: Handle, state: State) -> Vec<Notification> {
        let Some(widget) = model.widget(handle) else { return vec![] };
        let id = canonical(model, handle);
        let (role, is_on) = (widget.role, widget.states.has(state));
        match state {
            State::Checked | State::Mixed | State::Pressed if !matches!(role, Role::MenuItemCheckbox) => {
                vec![Notification::plain("AXValueChanged", id)]
            }
            State::Selected if is_row(model, widget) => {
                let table = model.container_of(handle).map(Id::of);
                table.map(|table| Notification::plain("AXSelectedRowsChanged", table)).into_iter().collect()
            }
            State::Selected if role == Role::Tab => vec![Notification::plain("AXValueChanged", id)],
            State::Expanded => match role {
                Role::Menu | Role::Combobox => {
                    let menu = if model.is_floating(handle) { id } else { id.part(Part::Menu) };
                    vec![Notification::plain(if is_on { "AXMenuOpened" } else { "AXMenuClosed" }, menu)]
                }
                Role::TreeItem => {
                    let mut notifications =
                        vec![Notification::plain(if is_on { "AXRowExpanded" } else { "AXRowCollapsed" }, id)];
                    let tree = model.container_of(handle).map(Id::of);
                    notifications.extend(tree.map(|tree| Notification::plain("AXRowCountChanged", tree)));
                    notifications
                }
                _ => vec![Notification::plain("AXValueChanged", id)],
            },
            State::Busy => vec![Notification::plain("AXElementBusyChanged", id)],
            _ => vec![],
        }
    }

    fn children(&mut self, model: &mut Model, parent: Handle) -> Vec<Notification> {
        let Some(widget) = model.widget(parent) else { return vec![] };
        let id = Id::of(parent);
        if widget.total().is_some() {
            // It was scrolled.
            return vec![Notification::plain("AXValueChanged", id.part(Part::ScrollBar))];
        }
        let tip = widget.children.last().copied();
        let tip = tip.filter(|last| model.widget(*last).is_some_and(|last| last.role == Role::Tooltip));
        if let Some(tip) = tip {
            return vec![Notification::plain("AXHelpTagCreated", Id::of(tip))];
        }
        let page = page_of(model, parent);
        let table = if widget.role == Role::TreeItem { model.container_of(parent) } else { Some(parent) };
        let table = table.filter(|table| model.widget(*table).is_some_and(|table| has_rows(table.role)));
        if let (Some(table), Some((_, counts))) = (table, &mut self.before) {
            let count = view(model, |view| view.rows(Id::of(table)).len());
            if counts.insert(table, count) != Some(count) {
                return vec![Notification::plain("AXRowCountChanged", Id::of(table))];
            }
        }
        // Browsers do say when a page was laid out anew.
        page.map(|page| Notification::plain("AXLayoutComplete", Id::of(page))).into_iter().collect()
    }

    fn windows(&mut self, model: &mut Model) -> Vec<Notification> {
        let now = windows(model);
        let Some((before, _)) = &mut self.before else { return vec![] };
        let mut notifications = Vec::new();
        for seen in &now {
            let id = Id::of(seen.window);
            match before.iter().find(|old| old.window == seen.window) {
                None => notifications.extend([
                    Notification::plain("AXWindowCreated", id),
                    Notification::plain("AXCreated", id),
                ]),
                Some(old) => {
                    let size = |bounds: &Bounds| (bounds.width, bounds.height);
                    let place = |bounds: &Bounds| (bounds.x, bounds.y);
                    if old.bounds.as_ref().map(place) != seen.bounds.as_ref().map(place) {
                        notifications.push(Notification::plain("AXWindowMoved", id));
                    }
                    if old.bounds.as_ref().map(size) != seen.bounds.as_ref().map(size) {
                        notifications.push(Notification::plain("AXWindowResized", id));
                    }
                    match (old.minimized, seen.minimized) {
                        (false, true) => notifications.push(Notification::plain("AXWindowMiniaturized", id)),
                        (true, false) => {
                            notifications.push(Notification::plain("AXWindowDeminiaturized", id))
                        }
                        _ => {}
                    }
                }
            }
        }
        if before.first().map(|old| old.window) != now.first().map(|seen| seen.window)
            && let Some(front) = now.first().map(|seen| Id::of(seen.window))
        {
            notifications.push(Notification::plain("AXMainWindowChanged", front));
            notifications.push(Notification::plain("AXFocusedWindowChanged", front));
        }
        *before = now;
        notifications
    }
}

fn named(model: &Model, handle: Handle) -> Vec<Notification> {
    let Some(widget) = model.widget(handle) else { return vec![] };
    let id = canonical(model, handle);
    let text = match id.part {
        Part::RowCell(row, cell) => Id { part: Part::RowText(row, cell), ..id },
        _ => id.part(Part::Text),
    };
    match widget.role {
        role if is_titled(role) => vec![Notification::plain("AXTitleChanged", id)],
        Role::Cell => vec![Notification::plain("AXValueChanged", text)],
        _ if is_row(model, widget) => vec![Notification::plain("AXValueChanged", text)],
        Role::Text | Role::Paragraph if widget.value.is_none() => {
            vec![Notification::plain("AXValueChanged", id)]
        }
        // That a view is described in other words is not announced.
        _ => vec![],
    }
}

fn valued(model: &Model, handle: Handle) -> Vec<Notification> {
    let Some(widget) = model.widget(handle) else { return vec![] };
    let id = canonical(model, handle);
    match widget.role {
        role if holds_text(role) => {
            vec![Notification::plain("AXValueChanged", id), Notification::plain("AXSelectedTextChanged", id)]
        }
        role if holds_number(role) => vec![Notification::plain("AXValueChanged", id)],
        Role::Combobox | Role::DateField | Role::ColorWell | Role::Text | Role::Paragraph => {
            vec![Notification::plain("AXValueChanged", id)]
        }
        _ => vec![],
    }
}

fn page_of(model: &Model, handle: Handle) -> Option<Handle> {
    let is_page = |part: &Handle| model.widget(*part).is_some_and(|widget| widget.role == Role::Document);
    model.path(handle)?.into_iter().find(is_page)
}

fn windows(model: &Model) -> Vec<WindowSnapshot> {
    let seen = |window: &Handle| WindowSnapshot {
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
    look(&View { model, claims: &[], ghosts: &mut none, standing: AppState::default(), now })
}
