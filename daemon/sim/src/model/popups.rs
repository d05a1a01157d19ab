//! Widgets that open and close: menus, combo boxes, context menus, disclosure buttons and branches of trees.

use axd_protocol::{Point, Role, State};

use super::build::{is_branch, is_popup};
use super::layout::POPUP_WIDTH;
use super::{Handle, Model};

impl Model {
    /// Opens or closes what a disclosure button shows.
    pub(super) fn toggle_disclosure(&mut self, button: Handle) {
        if let Some(page) = self.shown_by(button) {
            let open = !self.has(button, State::Expanded);
            self.set_state(button, State::Expanded, open);
            self.set_state(button, State::Collapsed, !open);
            self.set_state(page, State::Hidden, !open);
        }
    }

    /// The widget that a tab or a disclosure button shows.
    pub fn shown_by(&self, handle: Handle) -> Option<Handle> {
        self.find(self.widget(handle)?.options.as_ref()?.shows.as_deref()?)
    }

    /// Opens or closes a branch of a tree. Branches in it stay as they are.
    pub(super) fn open_branch(&mut self, item: Handle, open: bool) {
        if !self.widget(item).is_some_and(is_branch) {
            return;
        }
        self.set_state(item, State::Expanded, open);
        self.set_state(item, State::Collapsed, !open);
        let inside = self.widget(item).map(|widget| widget.children.clone()).unwrap_or_default();
        for child in inside {
            self.set_state(child, State::Hidden, !open);
        }
    }

    /// Opens or closes a menu or combo box.
    pub(super) fn set_popup_open(&mut self, handle: Handle, open: bool) {
        self.set_state(handle, State::Expanded, open);
        self.set_state(handle, State::Collapsed, !open);
        let items = self.widget(handle).map(|widget| widget.children.clone()).unwrap_or_default();
        for item in &items {
            self.set_state(*item, State::Hidden, !open);
        }
        if self.is_floating(handle) {
            self.set_state(handle, State::Hidden, !open);
        }
        // After a menu was used, the focus returns to where it was before.
        if !open
            && self.focus.is_some_and(|focus| items.contains(&focus))
            && let Some(before) = self.focus_before_popup.take()
        {
            self.set_focus(before);
        }
    }

    /// Opens the popup of a menu or combo box, or the context menu of another widget, at a point or below the widget.
    /// False if it has none.
    pub(super) fn show_menu(&mut self, handle: Handle, at: Option<Point>) -> bool {
        if self.widget(handle).is_some_and(|widget| is_popup(widget.role)) {
            self.close_popups(handle);
            self.set_popup_open(handle, true);
            return true;
        }
        let Some(menu) = self.context_menu(handle) else { return false };
        let below = self.place(handle).and_then(|place| place.bounds);
        let at = at.or_else(|| below.map(|bounds| Point { x: bounds.x, y: bounds.y + bounds.height }));
        let parent = self.widget(menu).and_then(|widget| widget.parent);
        let origin = parent.and_then(|parent| self.place(parent)?.bounds).unwrap_or_default();
        let at = at.unwrap_or(Point { x: origin.x, y: origin.y });
        if let Some(options) = self.widget_mut(menu).and_then(|menu| menu.options.as_mut()) {
            options.bounds = Some([at.x - origin.x, at.y - origin.y, POPUP_WIDTH, 0]);
        }
        self.close_popups(menu);
        self.set_popup_open(menu, true);
        self.layout = None;
        true
    }

    /// The context menu of a widget, or of its nearest ancestor that has one.
    pub fn context_menu(&self, handle: Handle) -> Option<Handle> {
        let path = self.path(handle)?;
        path.into_iter()
            .rev()
            .find_map(|part| self.find(self.widget(part)?.options.as_ref()?.menu.as_deref()?))
    }

    /// Whether the widget is a context menu, which is hidden until it is opened.
    pub fn is_floating(&self, handle: Handle) -> bool {
        self.widget(handle)
            .is_some_and(|widget| widget.options.as_ref().is_some_and(|options| options.floating))
    }

    /// The menus and combo boxes of a window that are open, the innermost last.
    pub(super) fn open_popups(&self, window: Handle) -> Vec<Handle> {
        let mut waiting = vec![window];
        let mut open = Vec::new();
        while let Some(handle) = waiting.pop() {
            let Some(widget) = self.widget(handle) else { continue };
            if is_popup(widget.role) && widget.states.has(State::Expanded) {
                open.push(handle);
            }
            // Rows have no menus, and there may be thousands of them.
            if !matches!(widget.role, Role::Table | Role::Grid) {
                waiting.extend(&widget.children);
            }
        }
        open
    }

    /// Closes the menus of the window, except `but`.
    pub(super) fn close_popups(&mut self, but: Handle) {
        let Some(window) = self.window_of(but) else { return };
        for handle in self.open_popups(window) {
            if handle != but {
                self.set_popup_open(handle, false);
            }
        }
    }
}
