//! What the keyboard does in an app: text, shortcuts, the focus, and the keys of each kind of control.

use std::time::Instant;

use axd_protocol::keys::{Combo, Key, Modifier, Named};
use axd_protocol::{Role, State};

use super::caret::Motion;
use super::gesture::Modifiers;
use super::{Handle, Model};

/// The number of steps or rows that PageUp and PageDown move.
const STEPS_PER_PAGE: i32 = 10;

impl Model {
    /// Handles a key press; returns the text that it copied.
    pub(super) fn key(
        &mut self,
        key: Key,
        modifiers: Modifiers,
        clipboard: Option<&str>,
        now: Instant,
    ) -> Option<String> {
        let window = self.active_window()?;
        let focus = self.focus_in(window);
        let is_text = focus.is_some_and(|focus| self.shows_text(focus));
        let plain = !modifiers.command && !modifiers.alt;
        let types = plain && matches!(key, Key::Char(_) | Key::Named(Named::Space));
        if !(types && is_text)
            && let Some(widget) = self.shortcut(window, key, modifiers)
        {
            // The shortcut of a widget that cannot be pressed does nothing.
            let _ = self.press(widget, now);
            return None;
        }
        if let Some(popup) = self.open_popups(window).last().copied() {
            self.popup_key(popup, key, now);
            return None;
        }
        match (key, focus) {
            (Key::Named(Named::Tab), Some(focus)) if plain && !modifiers.shift && self.takes_tabs(focus) => {
                let _ = self.insert_text(focus, "\t", now);
            }
            (Key::Named(Named::Tab), _) => self.tab(window, modifiers.shift, now),
            (Key::Named(Named::Escape), _) => self.escape(window, now),
            (Key::Named(Named::Menu), Some(focus)) => drop(self.show_menu(focus, None)),
            (Key::Char(character), Some(focus)) if plain => {
                let character = if modifiers.shift { shifted(character) } else { character };
                let _ = self.insert_text(focus, &character.to_string(), now);
            }
            (_, Some(focus)) if is_text => return self.text_key(focus, key, modifiers, clipboard, now),
            (Key::Named(named), Some(focus)) => self.control_key(focus, named, now),
            (Key::Named(Named::Return), None) => self.press_default(window, now),
            _ => {}
        }
        None
    }

    /// Handles a typed character, independent of the keyboard layout.
    pub(super) fn on_character(&mut self, character: char, now: Instant) {
        let key = match character {
            '\n' | '\r' => Key::Named(Named::Return),
            '\t' => Key::Named(Named::Tab),
            ' ' => Key::Named(Named::Space),
            other => {
                let focus = self.active_window().and_then(|window| self.focus_in(window));
                if let Some(focus) = focus.filter(|focus| self.shows_text(*focus)) {
                    // A read-only field refuses the text.
                    let _ = self.insert_text(focus, &other.to_string(), now);
                    return;
                }
                Key::Char(other)
            }
        };
        self.key(key, Modifiers::default(), None, now);
    }

    /// The window that receives keys.
    fn active_window(&self) -> Option<Handle> {
        self.stack.iter().copied().find(|window| !self.frame(*window).minimized)
    }

    /// The widget that has the focus in a window, if it can be used now.
    fn focus_in(&self, window: Handle) -> Option<Handle> {
        let own = self.focus.filter(|focus| self.window_of(*focus) == Some(window));
        let focus = own.or_else(|| self.focuses.get(&window).copied())?;
        let can_be_used = self.check_shown(focus, |_| false).is_ok() && !self.has(focus, State::Disabled);
        (self.widget(focus).is_some() && can_be_used).then_some(focus)
    }

    /// The widget of a window that has this shortcut.
    fn shortcut(&self, window: Handle, key: Key, modifiers: Modifiers) -> Option<Handle> {
        let is_pressed_by = |combo: &Combo| {
            let has = |wanted: &[Modifier]| combo.modifiers.iter().any(|other| wanted.contains(other));
            combo.key == key
                && has(&[Modifier::Ctrl, Modifier::Cmd]) == modifiers.command
                && has(&[Modifier::Shift]) == modifiers.shift
                && has(&[Modifier::Alt]) == modifiers.alt
        };
        let found = self.descendants_in_order(window, |_| true).into_iter().find(|handle| {
            let options = self.widget(*handle).and_then(|widget| widget.options.as_ref());
            options.and_then(|options| options.shortcut.as_ref()).is_some_and(is_pressed_by)
        })?;
        (!self.has(found, State::Disabled)).then_some(found)
    }

    /// The widgets of a window in tree order, without the descendants of those for which `enter` is false.
    fn descendants_in_order(&self, window: Handle, enter: impl Fn(Handle) -> bool) -> Vec<Handle> {
        let mut all = Vec::new();
        let mut waiting = vec![window];
        while let Some(handle) = waiting.pop() {
            let Some(widget) = self.widget(handle).filter(|_| enter(handle)) else { continue };
            all.push(handle);
            // Rows have no shortcuts, and there may be thousands of them; the tab key stops at one per container.
            if !matches!(widget.role, Role::Row | Role::Cell) {
                waiting.extend(widget.children.iter().rev());
            }
        }
        all
    }

    /// Moves the focus to the next control, or to the previous one.
    fn tab(&mut self, window: Handle, back: bool, now: Instant) {
        let shown = self.descendants_in_order(window, |handle| {
            !self.has(handle, State::Hidden) && !self.has(handle, State::Disabled)
        });
        let focus = self.focus_in(window);
        let stops: Vec<Handle> =
            shown.into_iter().filter(|handle| Some(*handle) == focus || self.is_tab_stop(*handle)).collect();
        let here = stops.iter().position(|stop| Some(*stop) == focus);
        let next = match (here, back) {
            (Some(here), false) => (here + 1) % stops.len(),
            (Some(here), true) => (here + stops.len() - 1) % stops.len(),
            (None, false) => 0,
            (None, true) => stops.len().saturating_sub(1),
        };
        if let Some(stop) = stops.get(next).copied() {
            self.focus_on(stop, now);
            if self.shows_text(stop) {
                self.select_all(stop);
            }
        }
    }

    /// Whether the tab key stops at the widget. Of items, radio buttons and tabs it stops at the selected one, or at the first.
    fn is_tab_stop(&self, handle: Handle) -> bool {
        let Some(widget) = self.widget(handle) else { return false };
        let state = match widget.role {
            Role::Radio => State::Checked,
            Role::Tab | Role::ListItem | Role::Row => State::Selected,
            Role::TreeItem => {
                let container = self.container_of(handle);
                let chosen = container.and_then(|tree| self.selected_in(tree));
                let first = container.and_then(|tree| self.widget(tree)?.children.first().copied());
                return chosen.or(first) == Some(handle);
            }
            Role::Cell
            | Role::ColumnHeader
            | Role::RowHeader
            | Role::Menu
            | Role::Canvas
            | Role::ScrollBar => {
                return false;
            }
            Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio => return false,
            role => return role.is_interactive(),
        };
        let siblings = widget.parent.and_then(|parent| self.widget(parent)).map(|parent| &parent.children);
        let Some(siblings) = siblings else { return true };
        let can_be = |other: &&Handle| !self.has(**other, State::Hidden);
        let chosen = siblings.iter().filter(can_be).find(|other| self.has(**other, state));
        chosen.or_else(|| siblings.iter().find(can_be)) == Some(&handle)
    }

    /// Whether the tab key inserts a tab, as in an editable text area.
    fn takes_tabs(&self, handle: Handle) -> bool {
        let is_area = self.widget(handle).is_some_and(|widget| widget.role == Role::TextArea);
        is_area && self.takes_text(handle).is_ok()
    }

    /// Presses the cancel button of a dialog, or closes the dialog.
    fn escape(&mut self, window: Handle, now: Instant) {
        let Some(widget) = self.widget(window) else { return };
        let (role, id) = (widget.role, widget.id.clone().unwrap_or_default());
        let cancel = self.window_button(window, |script| script.cancel.clone());
        match cancel {
            Some(button) => drop(self.press(button, now)),
            None if matches!(role, Role::Dialog | Role::Alert) => self.close_window(&id, now),
            None => {}
        }
    }

    fn press_default(&mut self, window: Handle, now: Instant) {
        if let Some(button) = self.window_button(window, |script| script.default.clone()) {
            let _ = self.press(button, now);
        }
    }

    /// A button that the script of the window names, if it can be pressed now.
    fn window_button(
        &self,
        window: Handle,
        which: impl Fn(&crate::script::WindowScript) -> Option<String>,
    ) -> Option<Handle> {
        let id = self.widget(window)?.id.clone()?;
        let script = self.script.windows.iter().find(|script| script.id == id)?;
        let button = self.find(&which(script)?)?;
        (!self.has(button, State::Disabled)).then_some(button)
    }

    /// Handles a key in a text field; returns the text that it copied.
    fn text_key(
        &mut self,
        field: Handle,
        key: Key,
        modifiers: Modifiers,
        clipboard: Option<&str>,
        now: Instant,
    ) -> Option<String> {
        let Modifiers { command, shift, .. } = modifiers;
        let is_area = self.widget(field).is_some_and(|widget| widget.role == Role::TextArea);
        let motion = match key {
            Key::Named(Named::Left) if command => Some(Motion::WordLeft),
            Key::Named(Named::Right) if command => Some(Motion::WordRight),
            Key::Named(Named::Home) if command => Some(Motion::Start),
            Key::Named(Named::End) if command => Some(Motion::End),
            Key::Named(Named::Left) => Some(Motion::Left),
            Key::Named(Named::Right) => Some(Motion::Right),
            Key::Named(Named::Up) => Some(Motion::Up),
            Key::Named(Named::Down) => Some(Motion::Down),
            Key::Named(Named::Home) => Some(Motion::LineStart),
            Key::Named(Named::End) => Some(Motion::LineEnd),
            Key::Named(Named::PageUp) => Some(Motion::Start),
            Key::Named(Named::PageDown) => Some(Motion::End),
            _ => None,
        };
        if let Some(motion) = motion {
            self.move_caret(field, motion, shift);
            return None;
        }
        match key {
            Key::Named(Named::Return) if is_area => drop(self.insert_text(field, "\n", now)),
            Key::Named(Named::Return) => {
                if !self.confirm(field, now)
                    && let Some(window) = self.window_of(field)
                {
                    self.press_default(window, now);
                }
            }
            Key::Named(Named::Space) => drop(self.insert_text(field, " ", now)),
            Key::Named(Named::Backspace) => self.delete_text(field, false, now),
            Key::Named(Named::Delete | Named::ForwardDelete) => self.delete_text(field, true, now),
            Key::Char('a') if command => self.select_all(field),
            Key::Char('c') if command => return self.selected_text(field),
            Key::Char('x') if command => {
                let cut = self.selected_text(field).filter(|_| self.takes_text(field).is_ok())?;
                self.delete_text(field, false, now);
                return Some(cut);
            }
            Key::Char('v') if command => {
                if let Some(text) = clipboard {
                    let _ = self.insert_text(field, text, now);
                }
            }
            _ => {}
        }
        None
    }

    /// Handles a key on a control without text.
    fn control_key(&mut self, handle: Handle, key: Named, now: Instant) {
        let Some(widget) = self.widget(handle) else { return };
        let role = widget.role;
        match (role, key) {
            (Role::Slider | Role::SpinButton, _) => self.number_key(handle, key, now),
            (Role::Radio | Role::Tab, Named::Left | Named::Up) => self.press_sibling(handle, -1, now),
            (Role::Radio | Role::Tab, Named::Right | Named::Down) => self.press_sibling(handle, 1, now),
            (Role::ListItem | Role::Row | Role::Cell | Role::TreeItem, _) => self.item_key(handle, key, now),
            (Role::Combobox, Named::Up | Named::Down) => {
                let chosen = self.selected_in(handle);
                let places = self.widget(handle).map(|widget| widget.children.clone()).unwrap_or_default();
                let here = chosen.and_then(|chosen| places.iter().position(|item| *item == chosen));
                let next = match (here, key) {
                    (Some(here), Named::Up) => here.checked_sub(1),
                    (Some(here), _) => Some(here + 1),
                    (None, _) => Some(0),
                };
                if let Some(item) = next.and_then(|next| places.get(next)) {
                    let _ = self.select_item(*item, now);
                }
            }
            (
                Role::Combobox | Role::Button | Role::ToggleButton | Role::Link,
                Named::Return | Named::Space,
            )
            | (Role::Checkbox | Role::Switch | Role::Radio | Role::Tab, Named::Space) => {
                let _ = self.press(handle, now);
            }
            (_, Named::Return) => {
                if let Some(window) = self.window_of(handle) {
                    self.press_default(window, now);
                }
            }
            _ => {}
        }
    }

    fn number_key(&mut self, handle: Handle, key: Named, now: Instant) {
        let (min, max) = self.range(handle);
        let steps = match key {
            Named::Left | Named::Down => -1,
            Named::Right | Named::Up => 1,
            Named::PageDown => -STEPS_PER_PAGE,
            Named::PageUp => STEPS_PER_PAGE,
            Named::Home | Named::End => {
                let end = if key == Named::Home { min } else { max };
                if let Some(end) = end {
                    let _ = self.enter_value(handle, &end.to_string(), now);
                }
                return;
            }
            _ => return,
        };
        let _ = self.step(handle, f64::from(steps), now);
    }

    /// Presses a sibling of the same role, and moves the focus there.
    fn press_sibling(&mut self, handle: Handle, by: isize, now: Instant) {
        let role = self.widget(handle).map(|widget| widget.role);
        let parent = self.widget(handle).and_then(|widget| self.widget(widget.parent?));
        let mut kin: Vec<Handle> = parent.map(|parent| parent.children.clone()).unwrap_or_default();
        kin.retain(|other| {
            self.widget(*other).map(|other| other.role) == role
                && !self.has(*other, State::Disabled)
                && !self.has(*other, State::Hidden)
        });
        let here = kin.iter().position(|other| *other == handle);
        if let Some(next) = here.and_then(|here| here.checked_add_signed(by)).and_then(|next| kin.get(next)) {
            self.focus_on(*next, now);
            let _ = self.press(*next, now);
        }
    }

    /// Handles a key on an item of a list, table or tree.
    fn item_key(&mut self, item: Handle, key: Named, now: Instant) {
        let by = match key {
            Named::Up => -1,
            Named::Down => 1,
            Named::PageUp => -STEPS_PER_PAGE,
            Named::PageDown => STEPS_PER_PAGE,
            Named::Home => -i32::MAX,
            Named::End => i32::MAX,
            Named::Left | Named::Right => return self.open_branch(item, key == Named::Right),
            Named::Return => {
                self.confirm(item, now);
                return;
            }
            Named::Space => {
                let _ = self.select_item(item, now);
                return;
            }
            _ => return,
        };
        let Some(container) = self.container_of(item) else { return };
        let Some(list) = self.widget(container) else { return };
        if let (Some(total), Some(row)) = (list.total(), self.widget(item).and_then(|item| item.row)) {
            let last = i64::from(total.saturating_sub(1));
            let wanted = (i64::from(row) + i64::from(by)).clamp(0, last);
            let wanted = u32::try_from(wanted).unwrap_or(0);
            // The row exists, so this is not refused.
            let _ = self.select_row(container, wanted, now);
        } else {
            let mut items = self.descendants_in_order(container, |part| !self.has(part, State::Hidden));
            items.retain(|part| *part != container && self.container_of(*part) == Some(container));
            items.retain(|part| self.widget(*part).is_some_and(|widget| widget.role != Role::Cell));
            let here = items.iter().position(|part| *part == item).unwrap_or(0);
            let here = i32::try_from(here).unwrap_or(i32::MAX);
            let last = i32::try_from(items.len().saturating_sub(1)).unwrap_or(i32::MAX);
            let wanted = usize::try_from(here.saturating_add(by).clamp(0, last)).unwrap_or(0);
            if let Some(next) = items.get(wanted).copied() {
                self.scroll_to(next);
                let _ = self.select_item(next, now);
            }
        }
        if let Some(chosen) = self.selected_in(container) {
            self.focus_on(chosen, now);
        }
    }

    /// Handles a key while a menu or combo box is open.
    fn popup_key(&mut self, popup: Handle, key: Key, now: Instant) {
        let Key::Named(key) = key else { return };
        let mut items = self.widget(popup).map(|widget| widget.children.clone()).unwrap_or_default();
        items.retain(|item| {
            self.widget(*item).is_some_and(|widget| widget.role.is_interactive())
                && !self.has(*item, State::Disabled)
        });
        let here = self.focus.and_then(|focus| items.iter().position(|item| *item == focus));
        let last = items.len().saturating_sub(1);
        let next = match key {
            Named::Down => here.map_or(0, |here| (here + 1).min(last)),
            Named::Up => here.map_or(last, |here| here.saturating_sub(1)),
            Named::Home => 0,
            Named::End => last,
            Named::Escape => return self.set_popup_open(popup, false),
            Named::Left | Named::Right => return self.open_adjacent_menu(popup, key == Named::Right),
            Named::Return | Named::Space => {
                if let Some(item) = here.and_then(|here| items.get(here).copied()) {
                    let _ = self.press(item, now);
                }
                return;
            }
            _ => return,
        };
        if here.is_none() {
            self.focus_before_popup = self.focus;
        }
        if let Some(item) = items.get(next) {
            self.focus_on(*item, now);
        }
    }

    /// Opens the next or previous menu of the menu bar.
    fn open_adjacent_menu(&mut self, menu: Handle, right: bool) {
        let siblings = self.widget(menu).and_then(|widget| self.widget(widget.parent?));
        let Some(siblings) = siblings.filter(|bar| bar.role == Role::MenuBar) else { return };
        let beside =
            siblings.index_of(menu).and_then(|here| here.checked_add_signed(if right { 1 } else { -1 }));
        if let Some(next) = beside.and_then(|beside| siblings.children.get(beside).copied()) {
            self.close_popups(next);
            self.set_popup_open(next, true);
        }
    }
}

/// The character that a key types with shift on a US keyboard.
fn shifted(character: char) -> char {
    const PLAIN: &str = "`1234567890-=[]\\;',./";
    const SHIFTED: &str = "~!@#$%^&*()_+{}|:\"<>?";
    let found = PLAIN.chars().zip(SHIFTED.chars()).find(|(plain, _)| *plain == character);
    found.map_or_else(|| character.to_uppercase().next().unwrap_or(character), |(_, shifted)| shifted)
}
