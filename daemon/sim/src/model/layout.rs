//! The layout of widgets: given bounds, or automatic ones in columns, rows and grids.

use std::collections::HashMap;

use axd_protocol::{Bounds, Point, Role, State};

use super::build::is_popup;
use super::{Handle, Model, Widget};
use crate::script::Flow;

/// The bounds of the default display.
pub const SCREEN: Bounds = Bounds { x: 0, y: 0, width: 1280, height: 800 };

/// The height of the title bar of a window.
const TITLE_BAR_HEIGHT: i32 = 28;
/// The distance between the edge of a window and its content.
const MARGIN: i32 = 8;
/// The distance between widgets.
const GAP: i32 = 4;
/// The width of menus.
pub(super) const POPUP_WIDTH: i32 = 180;
/// The indentation of the items of a branch.
const INDENT: i32 = 16;
/// The height of a row, an item or a line of a tree.
const LINE_HEIGHT: i32 = 20;

/// The position of a widget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The bounds; `None` while the widget is hidden, and for the app itself.
    pub bounds: Option<Bounds>,
    /// Whether any of it is visible: not hidden, scrolled out or clipped.
    pub visible: bool,
}

/// Whether widgets of the role scroll their content.
pub(super) fn scrolls(role: Role) -> bool {
    matches!(role, Role::List | Role::Tree | Role::Table | Role::Grid | Role::ScrollArea)
}

/// The layout of all widgets. It is computed on demand, after any change that can move widgets.
#[derive(Debug, Default)]
pub(super) struct Layout {
    entries: HashMap<Handle, LayoutEntry>,
    /// The widgets in painting order: children come after their parent.
    painted: Vec<PaintEntry>,
}

#[derive(Debug, Clone, Copy)]
struct LayoutEntry {
    bounds: Bounds,
    seen: Option<Bounds>,
}

#[derive(Debug, Clone, Copy)]
struct PaintEntry {
    handle: Handle,
    window: Handle,
    /// The layer; open menus are above widgets that are painted later.
    layer: u8,
    tip: bool,
}

/// The smallest rectangle around two.
pub fn union(one: Bounds, other: Bounds) -> Bounds {
    let (x, y) = (one.x.min(other.x), one.y.min(other.y));
    let right = (one.x + one.width).max(other.x + other.width);
    let bottom = (one.y + one.height).max(other.y + other.height);
    Bounds { x, y, width: right - x, height: bottom - y }
}

/// What a widget passes on to its children.
#[derive(Clone, Copy)]
struct PaintContext {
    window: Handle,
    clip: Bounds,
    layer: u8,
}

impl Layout {
    pub(super) fn of(model: &Model) -> Layout {
        let mut layout = Layout::default();
        for window in model.widget(Handle::APP).map(|app| app.children.as_slice()).unwrap_or_default() {
            let bounds = model.window_bounds(*window).unwrap_or(SCREEN);
            let canvas = PaintContext { window: *window, clip: model.desktop(), layer: 0 };
            if !model.frame(*window).minimized {
                layout.place_widget(model, *window, bounds, canvas);
            }
        }
        layout
    }

    pub(super) fn place(&self, handle: Handle) -> Place {
        match self.entries.get(&handle) {
            Some(spot) => Place { bounds: Some(spot.bounds), visible: spot.seen.is_some() },
            None => Place { bounds: None, visible: false },
        }
    }

    /// Whether a widget is completely visible.
    pub(super) fn is_fully_visible(&self, handle: Handle) -> bool {
        self.entries.get(&handle).is_some_and(|spot| spot.seen == Some(spot.bounds))
    }

    /// The popups of a window, from the lowest to the topmost.
    pub(super) fn popups(&self, window: Handle) -> Vec<Bounds> {
        let mut layers: Vec<(u8, Bounds)> = Vec::new();
        for painted in self.painted.iter().filter(|painted| painted.window == window && painted.layer > 0) {
            let Some(seen) = self.entries.get(&painted.handle).and_then(|spot| spot.seen) else { continue };
            match layers.iter_mut().find(|(layer, _)| *layer == painted.layer) {
                Some((_, popup)) => *popup = union(*popup, seen),
                None => layers.push((painted.layer, seen)),
            }
        }
        layers.sort_by_key(|(layer, _)| *layer);
        layers.into_iter().map(|(_, popup)| popup).collect()
    }

    /// The visible widgets of a window in painting order, each with its bounds and the visible part of those.
    pub(super) fn painted(&self, window: Handle) -> Vec<(Handle, Bounds, Bounds)> {
        let mut there: Vec<&PaintEntry> =
            self.painted.iter().filter(|other| other.window == window).collect();
        there.sort_by_key(|painted| painted.layer);
        let seen = there.into_iter().filter_map(|painted| {
            let spot = self.entries.get(&painted.handle)?;
            Some((painted.handle, spot.bounds, spot.seen?))
        });
        seen.collect()
    }

    /// The deepest widget at a point, in the frontmost window there.
    pub(super) fn hit_test(&self, point: Point, stack: &[Handle]) -> Option<Handle> {
        stack.iter().find_map(|window| {
            let there = self.painted.iter().enumerate().filter(|(_, painted)| painted.window == *window);
            // A tooltip does not receive clicks.
            let there = there.filter(|(_, painted)| !painted.tip);
            let hit = there.filter(|(_, painted)| {
                let spot = self.entries.get(&painted.handle);
                spot.and_then(|spot| spot.seen).is_some_and(|seen| seen.contains(point))
            });
            hit.max_by_key(|(order, painted)| (painted.layer, *order)).map(|(_, painted)| painted.handle)
        })
    }

    fn place_widget(&mut self, model: &Model, handle: Handle, bounds: Bounds, canvas: PaintContext) {
        let Some(widget) = model.widget(handle).filter(|widget| !widget.states.has(State::Hidden)) else {
            return;
        };
        let seen = bounds.intersection(&canvas.clip);
        self.entries.insert(handle, LayoutEntry { bounds, seen });
        let tip = widget.role == Role::Tooltip;
        self.painted.push(PaintEntry { handle, window: canvas.window, layer: canvas.layer, tip });
        if is_popup(widget.role) {
            let top = if model.is_floating(handle) { bounds.y } else { bounds.y + bounds.height };
            return self.place_popup(model, widget, Bounds { y: top, ..bounds }, canvas);
        }
        let clips = widget.role.is_window() || scrolls(widget.role);
        // If the widget is not visible the clip is empty, so that its children are not visible either.
        let nothing = Bounds { width: 0, height: 0, ..bounds };
        let clip = if clips { seen.unwrap_or(nothing) } else { canvas.clip };
        self.place_children(model, widget, bounds, PaintContext { clip, ..canvas });
    }

    fn place_popup(&mut self, model: &Model, widget: &Widget, bounds: Bounds, canvas: PaintContext) {
        let mut y = bounds.y;
        let width = bounds.width.max(POPUP_WIDTH);
        for child in shown(model, widget) {
            let height = height_of(model, child);
            let canvas =
                PaintContext { clip: model.desktop(), layer: canvas.layer.saturating_add(1), ..canvas };
            self.place_widget(model, child, Bounds { x: bounds.x, y, width, height }, canvas);
            y += height;
        }
    }

    fn place_children(&mut self, model: &Model, widget: &Widget, bounds: Bounds, canvas: PaintContext) {
        let (margin, top) = insets(widget.role);
        let indent = if widget.role == Role::TreeItem { INDENT } else { 0 };
        let (left, width) = (bounds.x + margin + indent, (bounds.width - 2 * margin - indent).max(0));
        let mut y = bounds.y + top;
        let skipped = widget.children.iter().take(widget.scroll_offset).copied();
        let skipped = skipped.filter(|child| is_shown(model, *child));
        y -= skipped.map(|child| height_of(model, child) + gap(widget.role)).sum::<i32>();
        let (flowing, given): (Vec<Handle>, Vec<Handle>) =
            shown(model, widget).partition(|child| given_bounds(model, *child).is_none());
        let across = match flow_of(widget) {
            Flow::Column => 1,
            Flow::Row => flowing.len().max(1),
            Flow::Grid => usize::from(columns_of(widget)),
        };
        let count = i32::try_from(across).unwrap_or(i32::MAX);
        let each = ((width - GAP * (count - 1)) / count).max(1);
        for line in flowing.chunks(across) {
            let height = line.iter().map(|child| height_of(model, *child)).max().unwrap_or(0);
            for (place, child) in (0..).zip(line) {
                let x = left + place * (each + GAP);
                let own = height_of(model, *child);
                self.place_widget(model, *child, Bounds { x, y, width: each, height: own }, canvas);
            }
            y += height + gap(widget.role);
        }
        for child in given {
            if let Some([x, y, width, height]) = given_bounds(model, child) {
                let floats = is_floating(model, child);
                let height = if floats { popup_height(model, child) } else { height };
                let layer = canvas.layer.saturating_add(u8::from(floats));
                let clip = if floats { model.desktop() } else { canvas.clip };
                let canvas = PaintContext { layer, clip, ..canvas };
                self.place_widget(
                    model,
                    child,
                    Bounds { x: bounds.x + x, y: bounds.y + y, width, height },
                    canvas,
                );
            }
        }
    }
}

fn shown(model: &Model, widget: &Widget) -> impl Iterator<Item = Handle> {
    widget.children.iter().copied().filter(|child| is_shown(model, *child))
}

fn is_shown(model: &Model, handle: Handle) -> bool {
    model.widget(handle).is_some_and(|widget| !widget.states.has(State::Hidden))
}

/// Whether the widget is above the layout of its window, as a context menu or tooltip is.
fn is_floating(model: &Model, handle: Handle) -> bool {
    let is_tip = model.widget(handle).is_some_and(|widget| widget.role == Role::Tooltip);
    is_tip || model.is_floating(handle)
}

fn popup_height(model: &Model, handle: Handle) -> i32 {
    match model.widget(handle) {
        Some(widget) if is_popup(widget.role) => {
            shown(model, widget).map(|item| height_of(model, item)).sum()
        }
        _ => LINE_HEIGHT,
    }
}

fn given_bounds(model: &Model, handle: Handle) -> Option<[i32; 4]> {
    model.widget(handle)?.options.as_ref()?.bounds
}

fn flow_of(widget: &Widget) -> Flow {
    let by_role = match widget.role {
        Role::MenuBar | Role::Toolbar | Role::TabList | Role::StatusBar | Role::Row => Flow::Row,
        _ => Flow::Column,
    };
    widget.options.as_ref().and_then(|options| options.flow).unwrap_or(by_role)
}

fn columns_of(widget: &Widget) -> u16 {
    widget.options.as_ref().and_then(|options| options.columns).unwrap_or(2).max(1)
}

/// The margin at the sides and at the top of the children.
fn insets(role: Role) -> (i32, i32) {
    match role {
        Role::Window | Role::Dialog | Role::Alert => (MARGIN, TITLE_BAR_HEIGHT + MARGIN),
        Role::TreeItem => (0, LINE_HEIGHT),
        _ => (0, 0),
    }
}

fn gap(role: Role) -> i32 {
    if scrolls(role) || role == Role::TreeItem { 0 } else { GAP }
}

/// The height of a widget without given bounds.
fn height_of(model: &Model, handle: Handle) -> i32 {
    let Some(widget) = model.widget(handle) else { return 0 };
    if let Some(options) = &widget.options {
        if let Some(rows) = options.rows.as_ref().filter(|_| options.height.is_none()) {
            return i32::try_from(rows.visible).unwrap_or(20) * LINE_HEIGHT;
        }
        if let Some(height) = options.bounds.map(|[_, _, _, height]| height).or(options.height) {
            return height;
        }
    }
    match widget.role {
        Role::Text | Role::Paragraph => 18,
        Role::Row | Role::ListItem | Role::Cell | Role::Image | Role::Tooltip => LINE_HEIGHT,
        Role::TreeItem => LINE_HEIGHT + shown(model, widget).map(|item| height_of(model, item)).sum::<i32>(),
        Role::Heading | Role::MenuBar | Role::MenuItem | Role::ProgressBar | Role::StatusBar => 24,
        Role::TextArea => 120,
        Role::Canvas => 300,
        Role::Separator => 2,
        role if scrolls(role) => 160,
        role if role.is_interactive() || widget.children.is_empty() => 28,
        _ => {
            let heights: Vec<i32> = shown(model, widget).map(|child| height_of(model, child)).collect();
            let across = match flow_of(widget) {
                Flow::Column => 1,
                Flow::Row => heights.len().max(1),
                Flow::Grid => usize::from(columns_of(widget)),
            };
            let lines: Vec<i32> =
                heights.chunks(across).map(|line| line.iter().copied().max().unwrap_or(0)).collect();
            let gaps = i32::try_from(lines.len().saturating_sub(1)).unwrap_or(0) * GAP;
            lines.iter().sum::<i32>() + gaps
        }
    }
}
