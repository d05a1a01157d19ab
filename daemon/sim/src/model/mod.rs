//! The model of a running app: its widgets, and what changes in them. Pure: it has no tasks and no channels, and time is passed in.
//!
//! Every change is recorded for [`Model::take_changes`]; which changes the app announces is not decided
//! here. The same model serves the built-in desktop and the double of the macOS accessibility API.

mod act;
mod behavior;
mod build;
mod builtin_logic;
mod caret;
mod effect;
mod gesture;
mod keyboard;
mod layout;
mod pointer;
mod popups;
mod user_action;
mod windows;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use axd_protocol::keys::Combo;
use axd_protocol::{Bounds, Role, State, States};

pub use act::{Refusal, RefusalKind};
pub use caret::{CELL, Caret, PADDING};
pub use gesture::{Gesture, GestureOutcome, Modifiers};
pub use layout::{Place, SCREEN, union};
pub use user_action::UserAction;
pub use windows::Frame;
pub use windows::span;

use super::rule::TriggerKind;
use super::script::{Flow, Script};
use axd_platform::LaunchPlan;
use builtin_logic::BuiltinLogic;
use gesture::PointerState;
use layout::Layout;

/// The app's own id of a widget, which is never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(pub u64);

impl Handle {
    /// The app itself, whose children are its windows.
    pub const APP: Handle = Handle(0);
}

/// The current state of a widget.
#[derive(Debug)]
pub struct Widget {
    /// The role.
    pub role: Role,
    /// The id from the script.
    pub id: Option<String>,
    /// The name.
    pub name: Option<String>,
    /// The value, also of a secure field; callers must not pass that on.
    pub value: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// The role as a toolkit would report it.
    pub native_role: Option<String>,
    /// The states.
    pub states: States,
    /// The actions, if they differ from those of the role.
    pub own_actions: Option<Vec<String>>,
    /// Whether it offers actions; if not, only mouse and keyboard work on it.
    pub semantic: bool,
    /// The parent.
    pub parent: Option<Handle>,
    /// The children.
    pub children: Vec<Handle>,
    /// The index of a row in a container of which only the visible rows exist.
    pub row: Option<u32>,
    /// The number of a window in the window system.
    pub window: Option<u64>,
    /// The index of the first visible child of a list that scrolls.
    pub(crate) scroll_offset: usize,
    pub(crate) options: Option<Box<WidgetOptions>>,
}

/// Properties that few widgets have. They are boxed, because trees may be large.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct WidgetOptions {
    bounds: Option<[i32; 4]>,
    height: Option<i32>,
    flow: Option<Flow>,
    columns: Option<u16>,
    min: Option<f64>,
    max: Option<f64>,
    step: Option<f64>,
    shows: Option<String>,
    rows: Option<VirtualRows>,
    shortcut: Option<Combo>,
    /// The id of the context menu.
    menu: Option<String>,
    /// Whether it is a context menu, which is hidden until it is opened.
    floating: bool,
    tooltip: Option<String>,
    drag: bool,
    reorder: bool,
}

/// The rows of a container of which only the visible ones exist.
#[derive(Debug, PartialEq)]
struct VirtualRows {
    total: u32,
    visible: u32,
    top: u32,
    cells: Vec<String>,
    selected: Option<u32>,
}

impl Widget {
    /// The names of its actions.
    pub fn actions(&self) -> Vec<String> {
        match &self.own_actions {
            _ if !self.semantic => vec![],
            Some(actions) => actions.clone(),
            None => build::actions_of(self).into_iter().map(str::to_owned).collect(),
        }
    }

    /// The number of rows of a container of which only the visible rows exist.
    pub fn total(&self) -> Option<u32> {
        self.options.as_ref()?.rows.as_ref().map(|rows| rows.total)
    }

    /// The visible rows of a container of which only those exist.
    pub fn rows_in_view(&self) -> Option<std::ops::Range<u32>> {
        let rows = self.options.as_ref()?.rows.as_ref()?;
        Some(rows.top..rows.top.saturating_add(rows.visible))
    }

    /// The index of the first visible child of a list that scrolls.
    pub fn first_in_view(&self) -> usize {
        self.rows_in_view().map_or(self.scroll_offset, |view| view.start as usize)
    }

    /// The texts of the cells of a row, visible or not, in a container of which only the visible rows exist.
    pub fn cells_of_row(&self, row: u32) -> Option<Vec<String>> {
        let rows = self.options.as_ref()?.rows.as_ref().filter(|rows| row < rows.total)?;
        Some(rows.cells.iter().map(|cell| cell.replace("{row}", &(row + 1).to_string())).collect())
    }

    /// The index of a child.
    fn index_of(&self, child: Handle) -> Option<usize> {
        self.children.iter().position(|other| *other == child)
    }

    /// Describes the widget for a message.
    pub fn describe(&self) -> String {
        let label = self.id.as_deref().or(self.name.as_deref()).unwrap_or("without a name");
        format!("{} '{label}'", self.role)
    }
}

/// A change in an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The name changed.
    Name(Handle),
    /// The value changed.
    Value(Handle),
    /// A state was set or cleared.
    State(Handle, State),
    /// Children were added, removed or moved.
    Children(Handle),
    /// A widget was removed, with all its descendants.
    Destroyed {
        /// The removed widget.
        element: Handle,
        /// Its former parent.
        parent: Handle,
    },
    /// The widget received the focus.
    Focus(Handle),
    /// The app announced a text for screen readers to speak.
    Announced(String),
    /// Windows opened, closed, were raised or renamed.
    Windows,
}

/// The model of a running app.
#[derive(Debug)]
pub struct Model {
    script: Arc<Script>,
    /// The widgets by handle; `None` where a widget was removed. They are boxed, because handles are never reused and empty entries add up.
    widgets: Vec<Option<Box<Widget>>>,
    ids: HashMap<String, Handle>,
    /// The open windows, front to back.
    stack: Vec<Handle>,
    focus: Option<Handle>,
    /// The widget that last had the focus, by window.
    focuses: HashMap<Handle, Handle>,
    /// The widget that had the focus before a menu was opened.
    focus_before_popup: Option<Handle>,
    /// The window manager's state of windows that it has changed.
    frames: HashMap<Handle, Frame>,
    /// The carets of fields in which the caret is not at the end.
    carets: HashMap<Handle, Caret>,
    changes: Vec<Change>,
    /// The number of widgets made from each template.
    made: HashMap<String, u32>,
    scheduled: Vec<ScheduledRule>,
    machine: Option<BuiltinLogic>,
    next_window: u64,
    layout: Option<Layout>,
    /// The bounding box of the displays.
    desktop: Bounds,
    pointer: PointerState,
    /// The arguments, environment and working directory it was started with.
    started: LaunchPlan,
    /// Whether the app has ended itself.
    ended: bool,
}

/// A rule whose effects are delayed.
#[derive(Debug)]
struct ScheduledRule {
    due: Instant,
    rule: usize,
    text: String,
}

impl Model {
    /// Starts the app. Its windows are numbered from `first_window`.
    pub fn new(script: Arc<Script>, first_window: u64, now: Instant) -> Model {
        Model::started(script, first_window, LaunchPlan::default(), now)
    }

    /// Starts the app with arguments, environment and working directory.
    pub fn started(script: Arc<Script>, first_window: u64, started: LaunchPlan, now: Instant) -> Model {
        let mut model = Model {
            script: Arc::clone(&script),
            widgets: Vec::new(),
            ids: HashMap::new(),
            stack: Vec::new(),
            focus: None,
            focuses: HashMap::new(),
            focus_before_popup: None,
            frames: HashMap::new(),
            carets: HashMap::new(),
            changes: Vec::new(),
            made: HashMap::new(),
            scheduled: Vec::new(),
            machine: None,
            next_window: first_window,
            layout: None,
            desktop: SCREEN,
            pointer: PointerState::default(),
            started,
            ended: false,
        };
        model.build(&script);
        model.start_logic();
        model.trigger(TriggerKind::Start, None, "", now);
        model.changes.clear();
        model
    }

    /// The script of the app.
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// The widget of a handle, if it still exists.
    pub fn widget(&self, handle: Handle) -> Option<&Widget> {
        self.widgets.get(usize::try_from(handle.0).ok()?)?.as_deref()
    }

    fn widget_mut(&mut self, handle: Handle) -> Option<&mut Widget> {
        self.widgets.get_mut(usize::try_from(handle.0).ok()?)?.as_deref_mut()
    }

    /// The widget with this id, or `selected:LIST`, `last:LIST` or `dragged`.
    pub fn find(&self, reference: &str) -> Option<Handle> {
        match reference.split_once(':') {
            Some(("selected", list)) => self.selected_in(self.find(list)?),
            Some(("last", list)) => self.widget(self.find(list)?)?.children.last().copied(),
            _ if reference == "dragged" => self.pointer.dragged,
            _ => self.ids.get(reference).copied(),
        }
    }

    /// The ids of the existing widgets, sorted.
    pub fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.ids.keys().map(String::as_str).collect();
        ids.sort_unstable();
        ids
    }

    /// The path from the app to the widget.
    pub fn path(&self, handle: Handle) -> Option<Vec<Handle>> {
        let mut path = vec![handle];
        let mut widget = self.widget(handle)?;
        while let Some(parent) = widget.parent {
            path.push(parent);
            widget = self.widget(parent)?;
        }
        path.reverse();
        Some(path)
    }

    /// The widget that has the focus.
    pub fn focus(&self) -> Option<Handle> {
        self.focus
    }

    /// The open windows, front to back.
    pub fn windows(&self) -> &[Handle] {
        &self.stack
    }

    /// The window of a widget, or the widget itself if it is one.
    pub fn window_of(&self, handle: Handle) -> Option<Handle> {
        self.path(handle)?.get(1).copied()
    }

    /// The changes since the last call, in order.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// The time of the next delayed rule.
    pub fn next_due(&self) -> Option<Instant> {
        self.scheduled.iter().map(|later| later.due).min()
    }

    /// Runs the delayed rules that are due.
    pub fn advance(&mut self, now: Instant) {
        while let Some(next) = (0..self.scheduled.len()).min_by_key(|index| self.scheduled[*index].due) {
            if self.scheduled[next].due > now {
                break;
            }
            let ScheduledRule { rule, text, .. } = self.scheduled.remove(next);
            self.run_effects(rule, &text, now);
        }
    }

    /// The bounds of a widget, and whether any of it is visible.
    pub fn place(&mut self, handle: Handle) -> Option<Place> {
        self.widget(handle)?;
        Some(self.layout().place(handle))
    }

    /// The widgets at a point, from the window down to the deepest.
    pub fn hit_test(&mut self, point: axd_protocol::Point) -> Option<Vec<Handle>> {
        let stack = self.stack.clone();
        let deepest = self.layout().hit_test(point, &stack)?;
        self.path(deepest)
    }

    /// Whether a widget is completely visible.
    fn is_fully_visible(&mut self, handle: Handle) -> bool {
        self.layout().is_fully_visible(handle)
    }

    /// The visible widgets of a window in painting order, each with its bounds and the visible part of those.
    pub fn painted(&mut self, window: Handle) -> Vec<(Handle, Bounds, Bounds)> {
        self.layout().painted(window)
    }

    /// The open popups of a window, from the lowest to the topmost.
    pub fn popups(&mut self, window: Handle) -> Vec<Bounds> {
        self.layout().popups(window)
    }

    /// The position of a widget's number in its range, from 0 to 1.
    pub fn fraction(&self, handle: Handle) -> Option<f64> {
        let (min, max) = self.range(handle);
        let (min, max) = (min?, max?);
        let held: f64 = self.widget(handle)?.value.as_deref()?.trim().parse().ok()?;
        (max > min).then(|| ((held - min) / (max - min)).clamp(0.0, 1.0))
    }

    /// Whether the app has ended itself.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Asks the app to quit. It does so, unless a rule handles it.
    pub fn quit(&mut self, now: Instant) {
        self.ended = !self.trigger(TriggerKind::Quit, None, "", now);
    }

    fn layout(&mut self) -> &Layout {
        let layout = self.layout.take().unwrap_or_else(|| Layout::of(self));
        self.layout.insert(layout)
    }

    /// Sets the value of a widget.
    pub fn set_value(&mut self, handle: Handle, value: impl Into<String>) {
        let value = Some(value.into());
        if let Some(widget) = self.widget_mut(handle)
            && widget.value != value
        {
            widget.value = value;
            self.carets.remove(&handle);
            self.changes.push(Change::Value(handle));
        }
    }

    /// Sets the name of a widget.
    pub fn set_name(&mut self, handle: Handle, name: impl Into<String>) {
        let name = Some(name.into());
        if let Some(widget) = self.widget_mut(handle)
            && widget.name != name
        {
            widget.name = name;
            let is_window = widget.role.is_window();
            self.changes.push(Change::Name(handle));
            if is_window {
                self.changes.push(Change::Windows);
            }
        }
    }

    /// Sets or clears a state.
    pub fn set_state(&mut self, handle: Handle, state: State, on: bool) {
        if let Some(widget) = self.widget_mut(handle)
            && widget.states.has(state) != on
        {
            widget.states.set(state, on);
            self.changes.push(Change::State(handle, state));
            if matches!(state, State::Hidden | State::Expanded) {
                self.layout = None;
            }
        }
    }

    fn has(&self, handle: Handle, state: State) -> bool {
        self.widget(handle).is_some_and(|widget| widget.states.has(state))
    }

    /// Moves the focus.
    pub fn set_focus(&mut self, handle: Handle) {
        if self.focus == Some(handle) || self.widget(handle).is_none() {
            return;
        }
        if let Some(before) = self.focus.replace(handle) {
            self.set_state(before, State::Focused, false);
        }
        self.set_state(handle, State::Focused, true);
        if let Some(window) = self.window_of(handle) {
            self.focuses.insert(window, handle);
        }
        self.changes.push(Change::Focus(handle));
    }

    /// Moves a widget with its descendants. False for a window, and if the widget would become its own descendant.
    pub fn move_to(&mut self, handle: Handle, into: Handle, index: Option<usize>) -> bool {
        let inside = self.path(into).is_none_or(|path| path.contains(&handle));
        let Some(from) = self.widget(handle).and_then(|widget| widget.parent) else { return false };
        if inside || from == Handle::APP {
            return false;
        }
        if let Some(parent) = self.widget_mut(from) {
            parent.children.retain(|child| *child != handle);
        }
        self.insert_child(into, handle, index);
        self.changes.extend([Change::Children(from), Change::Children(into)]);
        true
    }

    /// Removes a widget and its descendants.
    pub fn remove(&mut self, handle: Handle) {
        let Some(parent) = self.widget(handle).and_then(|widget| widget.parent) else { return };
        if let Some(above) = self.widget_mut(parent) {
            above.children.retain(|child| *child != handle);
        }
        let mut going = vec![handle];
        while let Some(next) = going.pop() {
            let slot = usize::try_from(next.0).ok().and_then(|index| self.widgets.get_mut(index));
            let Some(widget) = slot.and_then(Option::take) else { continue };
            if let Some(id) = widget.id {
                self.ids.remove(&id);
            }
            if self.focus == Some(next) {
                self.focus = None;
            }
            self.carets.remove(&next);
            going.extend(widget.children);
        }
        self.layout = None;
        self.changes.push(Change::Destroyed { element: handle, parent });
    }

    /// The selected item of a list, or anywhere in a tree.
    fn selected_in(&self, list: Handle) -> Option<Handle> {
        let children = &self.widget(list)?.children;
        let own = children.iter().copied().find(|child| self.has(*child, State::Selected));
        let branches = children.iter().filter(|child| self.widget(**child).is_some_and(build::is_branch));
        own.or_else(|| branches.copied().find_map(|branch| self.selected_in(branch)))
    }

    fn insert_child(&mut self, parent: Handle, child: Handle, index: Option<usize>) {
        if let Some(above) = self.widget_mut(parent) {
            let index = index.unwrap_or(usize::MAX).min(above.children.len());
            above.children.insert(index, child);
        }
        if let Some(widget) = self.widget_mut(child) {
            widget.parent = Some(parent);
        }
        self.layout = None;
    }
}

#[cfg(test)]
mod tests;
