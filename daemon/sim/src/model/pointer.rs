//! What the mouse does in an app: clicks, drags, drops, the wheel, and hovering.

use std::time::Instant;

use axd_protocol::keys::Button;
use axd_protocol::{Bounds, Point, Role, State};

use super::behavior::format_number;
use super::build::is_branch;
use super::gesture::{DragPhase, Modifiers, PressedButton};
use super::layout::scrolls;
use super::{CELL, Change, Handle, Model, PADDING, Widget};
use crate::rule::TriggerKind;
use axd_platform::Direction;

/// The distance that the pointer moves with a button down before it is a drag.
const DRAG_THRESHOLD: i32 = 3;
/// The number of rows that a notch of the wheel scrolls.
const ROWS_PER_NOTCH: u32 = 3;
/// The width of the arrow of a branch.
const BRANCH_ARROW_WIDTH: i32 = 14;

impl Model {
    pub(super) fn pointer_down(
        &mut self,
        at: Point,
        button: Button,
        clicks: u32,
        modifiers: Modifiers,
        now: Instant,
    ) {
        let Some(path) = self.hit_test(at) else { return };
        let Some(window) = path.get(1).copied() else { return };
        let open = self.open_popups(window);
        if !open.is_empty() && !path.iter().any(|part| open.contains(part)) {
            // A click outside of an open menu closes it, and does nothing else.
            open.into_iter().for_each(|popup| self.set_popup_open(popup, false));
            return;
        }
        let Some(handle) = self.target(&path) else { return };
        match button {
            Button::Left => {
                self.pointer.pressed =
                    Some(PressedButton { handle, at, clicks, drag: DragPhase::NotStarted });
                self.focus_by_click(handle, now);
                if self.shows_text(handle) {
                    let place = self.text_place(handle, at);
                    match clicks {
                        0 | 1 => self.set_caret(handle, place, modifiers.shift),
                        2 => self.select_word(handle),
                        _ => self.select_line(handle),
                    }
                }
                self.slide(handle, at, now);
            }
            Button::Right => {
                let is_new = self.container_of(handle).is_some() && !self.has(handle, State::Selected);
                if is_new && self.context_menu(handle).is_some() {
                    // A context menu is about the item on which it was opened, so that is selected.
                    let _ = self.select_item(handle, now);
                }
                self.show_menu(handle, Some(at));
            }
            Button::Middle => {}
        }
    }

    pub(super) fn pointer_moved(&mut self, at: Point, now: Instant) {
        if let Some(pressed) = self.pointer.pressed {
            let handle = pressed.handle;
            if self.shows_text(handle) {
                let place = self.text_place(handle, at);
                self.set_caret(handle, place, true);
            } else if !self.slide(handle, at, now) {
                let far = (at.x - pressed.at.x).abs().max((at.y - pressed.at.y).abs()) > DRAG_THRESHOLD;
                let drag = match pressed.drag {
                    DragPhase::NotStarted if far => {
                        self.pointer.dragged = self.drag_source(handle);
                        DragPhase::Started
                    }
                    DragPhase::NotStarted => DragPhase::NotStarted,
                    DragPhase::Started | DragPhase::Moving => DragPhase::Moving,
                };
                self.pointer.pressed = Some(PressedButton { drag, ..pressed });
            }
        }
        let path = self.hit_test(at);
        let over = path.and_then(|path| self.deepest_control(&path).or(path.last().copied()));
        self.hover(over, now);
    }

    /// Handles the release of a button; returns the name of what was dragged out of the app.
    pub(super) fn pointer_up(
        &mut self,
        at: Point,
        button: Button,
        outside: bool,
        now: Instant,
    ) -> Option<String> {
        if button != Button::Left {
            return None;
        }
        let pressed = self.pointer.pressed.take()?;
        let dragged = self.pointer.dragged.filter(|_| pressed.drag == DragPhase::Moving);
        if let Some(dragged) = dragged {
            let name = self.widget(dragged).and_then(|widget| widget.name.clone()).unwrap_or_default();
            if outside {
                self.pointer.dragged = None;
                return Some(name);
            }
            self.drop_at(at, dragged, &name, now);
        } else if !outside {
            let path = self.hit_test(at).unwrap_or_default();
            if self.target(&path) == Some(pressed.handle) {
                self.click(pressed, at, now);
            }
        }
        self.pointer.dragged = None;
        None
    }

    /// Handles a press and a release on the same widget.
    fn click(&mut self, pressed: PressedButton, at: Point, now: Instant) {
        let handle = pressed.handle;
        let left = self.place(handle).and_then(|place| place.bounds).map_or(0, |bounds| bounds.x);
        let is_branch = self.widget(handle).is_some_and(is_branch);
        if is_branch && (at.x < left + BRANCH_ARROW_WIDTH || pressed.clicks == 2) {
            let open = !self.has(handle, State::Expanded);
            self.open_branch(handle, open);
        }
        if is_branch && at.x < left + BRANCH_ARROW_WIDTH {
            return;
        }
        // A click on a widget that cannot be pressed does nothing.
        let _ = self.press(handle, now);
        if pressed.clicks == 2 && !self.shows_text(handle) {
            self.confirm(handle, now);
        }
    }

    /// Drops a widget of the app.
    fn drop_at(&mut self, at: Point, dragged: Handle, name: &str, now: Instant) {
        let path = self.hit_test(at).unwrap_or_default();
        if self.target(&path).is_none() || path.contains(&dragged) {
            return;
        }
        let from = self.widget(dragged).and_then(|widget| widget.parent);
        let list =
            from.filter(|list| path.contains(list) && self.has_option(*list, |options| options.reorder));
        if let Some(list) = list {
            let onto = path.iter().skip_while(|part| **part != list).nth(1);
            let place = onto.and_then(|onto| self.widget(list)?.index_of(*onto));
            self.move_to(dragged, list, place);
        }
        self.trigger_deepest(&path, TriggerKind::Drop, name, now);
    }

    /// Drops something from another app.
    pub(super) fn drop_from_outside(&mut self, at: Point, text: &str, now: Instant) {
        let path = self.hit_test(at).unwrap_or_default();
        if self.target(&path).is_some() {
            self.trigger_deepest(&path, TriggerKind::Drop, text, now);
        }
    }

    /// Triggers the rules of the deepest widget that has any for the event.
    fn trigger_deepest(&mut self, path: &[Handle], happening: TriggerKind, text: &str, now: Instant) {
        for part in path.iter().rev() {
            if self.trigger(happening, Some(*part), text, now) {
                return;
            }
        }
    }

    pub(super) fn wheel(&mut self, at: Point, down: i32) {
        let Some(path) = self.hit_test(at) else { return };
        if path.get(1).is_some_and(|window| self.check_modal(*window).is_err()) {
            return;
        }
        let list = path.into_iter().rev().find(|part| self.widget(*part).is_some_and(|it| scrolls(it.role)));
        let direction = if down < 0 { Direction::Up } else { Direction::Down };
        if let Some(list) = list {
            // The widget scrolls, so this is not refused.
            let _ = self.scroll_by(list, direction, down.unsigned_abs().saturating_mul(ROWS_PER_NOTCH));
        }
    }

    /// Handles the pointer being over another widget.
    pub(super) fn hover(&mut self, over: Option<Handle>, now: Instant) {
        if self.pointer.hovered == over {
            return;
        }
        self.pointer.hovered = over;
        if let Some(tip) = self.pointer.tip.take() {
            self.remove(tip);
        }
        let Some(over) = over else { return };
        self.trigger(TriggerKind::Hover, Some(over), "", now);
        self.show_tip(over);
    }

    fn show_tip(&mut self, over: Handle) {
        let tooltip = self.widget(over).and_then(|widget| widget.options.as_ref()?.tooltip.clone());
        let (Some(text), Some(window)) = (tooltip, self.window_of(over)) else { return };
        let place = |model: &mut Model, handle| model.place(handle).and_then(|place| place.bounds);
        let (Some(under), Some(within)) = (place(self, over), place(self, window)) else { return };
        let width = i32::try_from(text.chars().count()).unwrap_or(0) * CELL.0 + 2 * PADDING;
        let mut tip = Widget::named(Role::Tooltip, text);
        let (x, y) = (under.x - within.x, under.y + under.height + PADDING - within.y);
        tip.options.get_or_insert_default().bounds = Some([x, y, width, 0]);
        self.pointer.tip = Some(self.insert(tip, window, None));
        self.changes.push(Change::Children(window));
    }

    /// The widget that receives a click: the deepest control, or the deepest widget if there is none. `None` if it is disabled or
    /// behind a modal dialog.
    fn target(&self, path: &[Handle]) -> Option<Handle> {
        let window = path.get(1)?;
        let target = self.deepest_control(path).or(path.last().copied())?;
        let is_disabled = path.iter().any(|part| self.has(*part, State::Disabled));
        (!is_disabled && self.check_modal(*window).is_ok()).then_some(target)
    }

    /// The deepest control of a path.
    fn deepest_control(&self, path: &[Handle]) -> Option<Handle> {
        let is_control = |part: &Handle| {
            self.widget(*part).is_some_and(|it| it.role.is_interactive() && it.role != Role::Cell)
        };
        path.iter().copied().rfind(is_control)
    }

    fn focus_by_click(&mut self, handle: Handle, now: Instant) {
        let Some(widget) = self.widget(handle) else { return };
        let is_in_popup = widget.parent.is_some_and(|parent| self.has(parent, State::Haspopup));
        let is_menu =
            matches!(widget.role, Role::Menu | Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio);
        if widget.role.is_interactive() && !is_menu && !is_in_popup {
            self.focus_on(handle, now);
        }
    }

    /// Moves a slider to the pointer; false if the widget is not a slider.
    fn slide(&mut self, handle: Handle, at: Point, now: Instant) -> bool {
        let Some(widget) = self.widget(handle).filter(|widget| widget.role == Role::Slider) else {
            return false;
        };
        let step = widget.options.as_ref().and_then(|options| options.step).unwrap_or(1.0);
        let (Some(min), Some(max)) = self.range(handle) else { return true };
        if let Some(Bounds { x, width, .. }) = self.place(handle).and_then(|place| place.bounds) {
            let part = f64::from(at.x - x) / f64::from((width - 1).max(1));
            let wanted = min + (part.clamp(0.0, 1.0) * (max - min) / step).round() * step;
            // A slider accepts any number.
            let _ = self.enter_value(handle, &format_number(wanted), now);
        }
        true
    }

    /// The widget that a drag from here moves: one that can be dragged, or an item of a container whose
    /// items can be.
    fn drag_source(&self, handle: Handle) -> Option<Handle> {
        let path = self.path(handle)?;
        path.windows(2).rev().find_map(|pair| {
            let [parent, part] = pair else { return None };
            let is_list = self.widget(*parent).is_some_and(|parent| scrolls(parent.role));
            let by_list = is_list && self.has_option(*parent, |options| options.drag || options.reorder);
            let own = self.has_option(*part, |options| options.drag)
                && self.widget(*part).is_some_and(|part| !scrolls(part.role));
            (own || by_list).then_some(*part)
        })
    }

    fn has_option(&self, handle: Handle, what: impl Fn(&super::WidgetOptions) -> bool) -> bool {
        self.widget(handle).and_then(|widget| widget.options.as_deref()).is_some_and(what)
    }

    /// Whether the widget is a text field, which has a caret.
    pub fn shows_text(&self, handle: Handle) -> bool {
        let role = self.widget(handle).map(|widget| widget.role);
        matches!(role, Some(Role::TextField | Role::TextArea | Role::SearchField | Role::DateField))
    }
}
