//! An app's widgets as AppKit shows views. It shows some that scripts do not have: the scroll area around a table, the
//! cells and texts of rows, the menu of a menu bar's item, the buttons of a window; and does not show what is hidden.

use std::time::Instant;

use axd_protocol::{Role, State};
use axd_sim::Inspection;
use axd_sim::model::{Handle, Model, Widget};

use super::roles::{has_rows, is_row};

/// An element of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id {
    /// The app's own name for the widget that it is, or is a part of.
    pub handle: u64,
    /// Which part.
    pub part: Part,
}

/// Which part of a widget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// All of it.
    Itself,
    /// The menu that it opens.
    Menu,
    /// The one cell of a row that has none.
    Cell,
    /// The text of a cell.
    Text,
    /// A row of a table that makes its rows as they come into view, by index.
    Row(u32),
    /// A cell of such a row.
    RowCell(u32, u32),
    /// Its text.
    RowText(u32, u32),
    /// The scroll area around a table.
    ScrollArea,
    /// Its scroll bar.
    ScrollBar,
    /// The button that closes a window.
    CloseButton,
    /// The one that makes it fill the screen.
    ZoomButton,
    /// The one that puts it away.
    MinimizeButton,
}

impl Id {
    /// The app itself.
    pub const APP: Id = Id { handle: 0, part: Part::Itself };

    /// A widget.
    pub fn of(handle: Handle) -> Id {
        Id { handle: handle.0, part: Part::Itself }
    }

    /// A part of it.
    pub(crate) fn part(self, part: Part) -> Id {
        Id { part, ..self }
    }

    /// The widget that it is, or is a part of.
    pub(crate) fn widget(self) -> Handle {
        Handle(self.handle)
    }
}

/// An app as it shows itself.
pub(crate) struct View<'a> {
    pub model: &'a mut Model,
    pub claims: &'a [(Handle, Handle)],
    pub ghosts: &'a mut Vec<(Handle, Handle)>,
    pub standing: AppState,
    pub now: Instant,
}

/// How the desktop has an app.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AppState {
    /// How many levels of its web pages are shown; all of them if `None`.
    pub shown: Option<usize>,
    /// Whether they sleep.
    pub asleep: bool,
    /// Whether they are shown by `AXManualAccessibility`.
    pub manual: bool,
    /// Whether `AXEnhancedUserInterface` is set.
    pub enhanced: bool,
    /// Whether it is the active one.
    pub frontmost: bool,
    /// Whether it is hidden.
    pub hidden: bool,
    /// The part of its text areas that can be seen: the first unit, and how many.
    pub visible_text: Option<(isize, isize)>,
    /// Whether `AXWindows` is empty, though it has windows.
    pub lists_no_windows: bool,
    /// Whether it is an item at the right of the menu bar and nothing else.
    pub status: bool,
    /// Whether its windows are on a space that is not shown.
    pub is_elsewhere: bool,
    /// Whether the items of its menus do nothing while it is not in front.
    pub idle_menus: bool,
}

impl<'a> View<'a> {
    pub(crate) fn of(inside: Inspection<'a>, standing: AppState) -> View<'a> {
        let Inspection { model, claims, stale_children: ghosts, now } = inside;
        View { model, claims, ghosts, standing, now }
    }

    /// Whether there is such an element.
    pub(crate) fn exists(&self, id: Id) -> bool {
        let Some(widget) = self.model.widget(id.widget()) else { return false };
        match id.part {
            Part::Row(row) | Part::RowCell(row, _) | Part::RowText(row, _) => {
                widget.total().is_some_and(|total| row < total)
            }
            Part::Menu => opens_menu(self.model, id.widget(), widget),
            _ => true,
        }
    }

    /// The element that stands for a widget.
    pub(crate) fn id_of(&self, handle: Handle) -> Id {
        canonical(self.model, handle)
    }

    /// What is in an element.
    pub(crate) fn children(&self, id: Id) -> Vec<Id> {
        let Some(widget) = self.model.widget(id.widget()) else { return vec![] };
        let mut children = match id.part {
            Part::Itself => self.children_of_widget(id, widget),
            Part::Menu => widget.children.iter().map(|item| self.id_of(*item)).collect(),
            Part::Cell => {
                let text = widget.name.is_some().then_some(id.part(Part::Text));
                let inside = widget.children.iter().filter(|child| self.is_plain(**child));
                text.into_iter().chain(inside.map(|child| self.framed(*child))).collect()
            }
            Part::Row(row) => match widget.cells_of_row(row) {
                Some(cells) if !cells.is_empty() => {
                    (0..cells.len() as u32).map(|cell| id.part(Part::RowCell(row, cell))).collect()
                }
                _ => vec![id.part(Part::RowCell(row, 0))],
            },
            Part::RowCell(row, cell) => vec![id.part(Part::RowText(row, cell))],
            Part::ScrollArea => vec![id.part(Part::Itself), id.part(Part::ScrollBar)],
            _ => vec![],
        };
        if id.part == Part::Itself {
            let claimed = self.claims.iter().chain(self.ghosts.iter());
            let claimed = claimed.filter(|(parent, _)| *parent == id.widget());
            children.extend(claimed.map(|(_, child)| self.id_of(*child)));
        }
        children
    }

    fn children_of_widget(&self, id: Id, widget: &Widget) -> Vec<Id> {
        match widget.role {
            Role::Application => {
                let is_listed = |_: &&Handle| !self.standing.is_elsewhere;
                let windows = self.model.windows().iter().filter(is_listed).map(|window| Id::of(*window));
                windows.chain(self.menu_bars()).collect()
            }
            Role::Menu if self.model.is_floating(id.widget()) => {
                widget.children.iter().map(|item| self.id_of(*item)).collect()
            }
            Role::Menu | Role::Combobox => {
                let shows = opens_menu(self.model, id.widget(), widget);
                shows.then_some(id.part(Part::Menu)).into_iter().collect()
            }
            role if has_rows(role) => self.rows(id),
            Role::Row if widget.children.is_empty() => vec![id.part(Part::Cell)],
            Role::ListItem | Role::TreeItem if is_row(self.model, widget) => vec![id.part(Part::Cell)],
            Role::Cell => {
                let text = widget.name.is_some().then_some(id.part(Part::Text));
                text.into_iter().chain(self.shown_children(widget)).collect()
            }
            Role::Window => {
                let buttons = [Part::CloseButton, Part::ZoomButton, Part::MinimizeButton];
                let buttons = buttons.map(|part| id.part(part));
                self.shown_children(widget).into_iter().chain(buttons).collect()
            }
            _ => match self.page_depth(id.widget()) {
                Some(depth) if self.standing.shown.is_some_and(|shown| depth >= shown) => vec![],
                _ => self.shown_children(widget),
            },
        }
    }

    fn shown_children(&self, widget: &Widget) -> Vec<Id> {
        let shown = widget.children.iter().filter(|child| self.is_plain(**child));
        shown.map(|child| self.framed(*child)).collect()
    }

    /// Whether a child of a widget is shown as its child.
    fn is_plain(&self, child: Handle) -> bool {
        self.model.widget(child).is_some_and(|child| {
            let sleeps = self.standing.asleep && child.role == Role::Document;
            !child.states.has(State::Hidden)
                && !sleeps
                && !matches!(child.role, Role::MenuBar | Role::TreeItem)
        })
    }

    /// A widget, or the scroll area that it is in.
    fn framed(&self, handle: Handle) -> Id {
        let id = self.id_of(handle);
        let is_table = self.model.widget(handle).is_some_and(|widget| has_rows(widget.role));
        if is_table { id.part(Part::ScrollArea) } else { id }
    }

    /// The menu bars of the front window: on a Mac they are the app's.
    pub(crate) fn menu_bars(&self) -> Vec<Id> {
        let is_bar =
            |child: &&Handle| self.model.widget(**child).is_some_and(|widget| widget.role == Role::MenuBar);
        let mut inside = self.model.windows().iter().filter_map(|window| self.model.widget(*window));
        let bars = inside.find_map(|window| {
            let bars: Vec<Id> = window.children.iter().filter(is_bar).map(|bar| Id::of(*bar)).collect();
            (!bars.is_empty()).then_some(bars)
        });
        bars.unwrap_or_default()
    }

    /// All rows of a table, in view or not; of a tree those whose branches are open.
    pub(crate) fn rows(&self, id: Id) -> Vec<Id> {
        let Some(widget) = self.model.widget(id.widget()) else { return vec![] };
        if let Some(total) = widget.total() {
            return (0..total).map(|row| id.part(Part::Row(row))).collect();
        }
        let mut rows = Vec::new();
        let mut waiting: Vec<Handle> = widget.children.iter().rev().copied().collect();
        while let Some(handle) = waiting.pop() {
            let Some(row) = self.model.widget(handle).filter(|row| !row.states.has(State::Hidden)) else {
                continue;
            };
            rows.push(Id::of(handle));
            if row.role == Role::TreeItem && row.states.has(State::Expanded) {
                waiting.extend(row.children.iter().rev());
            }
        }
        rows
    }

    /// The rows of a table that can be seen.
    pub(crate) fn visible_rows(&mut self, id: Id) -> Vec<Id> {
        let Some(widget) = self.model.widget(id.widget()) else { return vec![] };
        if let (Some(view), Some(total)) = (widget.rows_in_view(), widget.total()) {
            return (view.start..view.end.min(total)).map(|row| id.part(Part::Row(row))).collect();
        }
        let rows = self.rows(id);
        let model = &mut *self.model;
        rows.into_iter().filter(|row| model.place(row.widget()).is_some_and(|place| place.visible)).collect()
    }

    /// What an element is in; `None` of the app.
    pub(crate) fn parent(&self, id: Id) -> Option<Id> {
        let widget = self.model.widget(id.widget())?;
        let itself = id.part(Part::Itself);
        Some(match id.part {
            Part::Menu | Part::Cell | Part::CloseButton | Part::ZoomButton | Part::MinimizeButton => itself,
            Part::Text if widget.role == Role::Cell => itself,
            Part::Text => id.part(Part::Cell),
            Part::Row(_) => itself,
            Part::RowCell(row, _) => id.part(Part::Row(row)),
            Part::RowText(row, cell) => id.part(Part::RowCell(row, cell)),
            Part::ScrollBar => id.part(Part::ScrollArea),
            Part::Itself if has_rows(widget.role) => id.part(Part::ScrollArea),
            Part::Itself if widget.role == Role::MenuBar => Id::APP,
            Part::Itself if is_row(self.model, widget) => {
                self.model.container_of(id.widget()).map_or(Id::APP, Id::of)
            }
            Part::Itself | Part::ScrollArea => self.around(widget.parent?),
        })
    }

    /// The element that children of a widget are in.
    fn around(&self, parent: Handle) -> Id {
        let id = self.id_of(parent);
        match self.model.widget(parent) {
            Some(above) if above.role == Role::Menu && self.model.is_floating(parent) => id,
            Some(above) if matches!(above.role, Role::Menu | Role::Combobox) => id.part(Part::Menu),
            Some(above) if is_row(self.model, above) && above.role != Role::Row => id.part(Part::Cell),
            _ => id,
        }
    }

    /// The window that an element is in.
    pub(crate) fn window(&self, id: Id) -> Option<Id> {
        self.model.window_of(id.widget()).map(Id::of)
    }

    /// How deep a widget is in a web page; `None` if it is in none.
    fn page_depth(&self, handle: Handle) -> Option<usize> {
        let path = self.model.path(handle)?;
        let is_page =
            |part: &Handle| self.model.widget(*part).is_some_and(|widget| widget.role == Role::Document);
        path.iter().rev().position(is_page)
    }

    /// The app's web pages, and how many levels the deepest has.
    pub(crate) fn pages(&self) -> (Vec<Id>, usize) {
        let (mut pages, mut deepest) = (Vec::new(), 0);
        let mut waiting = vec![Handle::APP];
        while let Some(handle) = waiting.pop() {
            let Some(widget) = self.model.widget(handle) else { continue };
            if widget.role == Role::Document {
                pages.push(Id::of(handle));
            }
            deepest = deepest.max(self.page_depth(handle).map_or(0, |depth| depth + 1));
            waiting.extend(&widget.children);
        }
        (pages, deepest)
    }

    /// The row of this index, if it has come into view.
    pub(crate) fn realised(&self, container: Handle, row: u32) -> Option<Handle> {
        let children = &self.model.widget(container)?.children;
        let is_it = |child: &Handle| self.model.widget(*child).is_some_and(|widget| widget.row == Some(row));
        children.iter().copied().find(is_it)
    }
}

/// Whether a menu of its own is shown in it: always in a menu bar, else while it is open.
fn opens_menu(model: &Model, handle: Handle, widget: &Widget) -> bool {
    match widget.role {
        Role::Menu => !model.is_floating(handle),
        Role::Combobox => widget.states.has(State::Expanded),
        _ => false,
    }
}

/// The element that stands for a widget: rows that are made as they come into view go by their index.
pub(super) fn canonical(model: &Model, handle: Handle) -> Id {
    let Some(widget) = model.widget(handle) else { return Id::of(handle) };
    let Some(parent) = widget.parent else { return Id::of(handle) };
    if let Some(row) = widget.row {
        return Id::of(parent).part(Part::Row(row));
    }
    if widget.role == Role::Cell
        && let Some(above) = model.widget(parent)
        && let (Some(row), Some(table)) = (above.row, above.parent)
    {
        let cell = above.children.iter().position(|other| *other == handle).unwrap_or(0) as u32;
        return Id::of(table).part(Part::RowCell(row, cell));
    }
    Id::of(handle)
}
