//! The behaviour of each role, which is the same for actions, mouse and keyboard.

use std::time::Instant;

use axd_protocol::{Role, State};

use super::{Handle, Model, Refusal};
use crate::rule::TriggerKind;

impl Model {
    /// Does what a click on the widget does.
    pub(super) fn press(&mut self, handle: Handle, now: Instant) -> Result<(), Refusal> {
        let Some(widget) = self.widget(handle) else { return Ok(()) };
        let (role, label) = (widget.role, widget.describe());
        match role {
            Role::Checkbox | Role::Switch | Role::MenuItemCheckbox => {
                self.set_state(handle, State::Mixed, false);
                self.toggle_state(handle, State::Checked);
                self.trigger(TriggerKind::Change, Some(handle), "", now);
            }
            Role::ToggleButton => {
                self.toggle_state(handle, State::Pressed);
                self.trigger(TriggerKind::Change, Some(handle), "", now);
            }
            Role::Radio | Role::MenuItemRadio => {
                self.set_exclusively(handle, State::Checked);
                self.trigger(TriggerKind::Change, Some(handle), "", now);
            }
            Role::Tab => {
                self.set_exclusively(handle, State::Selected);
                self.show_selected_page(handle);
                self.trigger(TriggerKind::Select, Some(handle), "", now);
            }
            Role::Menu | Role::Combobox => {
                let open = !self.has(handle, State::Expanded);
                self.close_popups(handle);
                self.set_popup_open(handle, open);
            }
            Role::ListItem | Role::Row | Role::TreeItem | Role::Cell => self.select_item(handle, now)?,
            Role::Button | Role::Link | Role::MenuItem | Role::Canvas | Role::ColumnHeader => {}
            Role::TextField | Role::TextArea | Role::SearchField | Role::DateField => {
                self.focus_on(handle, now);
            }
            _ => return Err(Refusal::unable(format!("{label} cannot be pressed"))),
        }
        if role == Role::Button {
            self.toggle_disclosure(handle);
        }
        self.trigger(TriggerKind::Press, Some(handle), "", now);
        if matches!(role, Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio) {
            self.close_popups(handle);
        }
        Ok(())
    }

    /// Sets the value as a user would, within what the role accepts.
    pub(super) fn enter_value(&mut self, handle: Handle, text: &str, now: Instant) -> Result<(), Refusal> {
        let Some(widget) = self.widget(handle) else { return Ok(()) };
        let label = widget.describe();
        if widget.states.has(State::Readonly) {
            return Err(Refusal::refused(format!("{label} is read-only")));
        }
        match widget.role {
            Role::Slider | Role::SpinButton | Role::ScrollBar => {
                let wanted = text.trim().parse().ok().filter(|number: &f64| number.is_finite());
                let wanted = wanted
                    .ok_or_else(|| Refusal::invalid(format!("{label} takes a number, not '{text}'")))?;
                let value = self.clamp_to_range(handle, wanted);
                self.set_value(handle, format_number(value));
            }
            Role::Combobox => return self.select_by_text(handle, text, now),
            _ if widget.states.has(State::Editable) => {
                let text = self.fitting(handle, text);
                self.set_value(handle, text);
            }
            _ => return Err(Refusal::unable(format!("{label} takes no text"))),
        }
        self.on_user_change(handle, now);
        Ok(())
    }

    /// Triggers the rules for a change of the value by the user.
    pub(super) fn on_user_change(&mut self, handle: Handle, now: Instant) {
        let held = self.widget(handle).and_then(|widget| widget.value.clone()).unwrap_or_default();
        // The value of a secure field must not leave it through a rule.
        let shown = if self.has(handle, State::Secure) { "" } else { &held };
        self.trigger(TriggerKind::Change, Some(handle), shown, now);
    }

    /// Changes a number by a number of steps.
    pub(super) fn step(&mut self, handle: Handle, steps: f64, now: Instant) -> Result<(), Refusal> {
        let Some(widget) = self.widget(handle) else { return Ok(()) };
        let held: f64 = widget.value.as_deref().and_then(|held| held.trim().parse().ok()).unwrap_or(0.0);
        let step = widget.options.as_ref().and_then(|options| options.step).unwrap_or(1.0);
        self.enter_value(handle, &format_number(held + steps * step), now)
    }

    /// Does what Return does in a field and a double click on an item. True if there was a rule for it.
    pub(super) fn confirm(&mut self, handle: Handle, now: Instant) -> bool {
        let name = self.widget(handle).and_then(|widget| widget.name.clone()).unwrap_or_default();
        let own = self.trigger(TriggerKind::Activate, Some(handle), &name, now);
        let container = self.container_of(handle);
        own | container.is_some_and(|list| self.trigger(TriggerKind::Activate, Some(list), &name, now))
    }

    /// The number, limited to the range of the widget.
    pub(super) fn clamp_to_range(&self, handle: Handle, wanted: f64) -> f64 {
        let (min, max) = self.range(handle);
        wanted.max(min.unwrap_or(f64::MIN)).min(max.unwrap_or(f64::MAX))
    }

    /// The minimum and the maximum of a widget.
    pub fn range(&self, handle: Handle) -> (Option<f64>, Option<f64>) {
        let options = self.widget(handle).and_then(|widget| widget.options.as_ref());
        options.map_or((None, None), |options| (options.min, options.max))
    }

    /// Selects an item of a container by name or number.
    pub(super) fn select_by_text(
        &mut self,
        container: Handle,
        choice: &str,
        now: Instant,
    ) -> Result<(), Refusal> {
        let Some(widget) = self.widget(container) else { return Ok(()) };
        let label = widget.describe();
        let ordinal = choice.trim().parse::<u32>().ok().and_then(|number| number.checked_sub(1));
        if let Some(total) = widget.total() {
            let row = ordinal.filter(|row| *row < total);
            let row =
                row.ok_or_else(|| Refusal::invalid(format!("{label} takes a row from 1 to {total}")))?;
            return self.select_row(container, row, now);
        }
        let named =
            |item: &Handle| self.widget(*item).is_some_and(|item| item.name.as_deref() == Some(choice));
        let numbered = || widget.children.get(usize::try_from(ordinal?).ok()?).copied();
        let Some(item) = widget.children.iter().copied().find(named).or_else(numbered) else {
            if widget.role == Role::Combobox && widget.states.has(State::Editable) {
                self.set_value(container, choice);
                self.on_user_change(container, now);
                return Ok(());
            }
            let names: Vec<&str> = widget
                .children
                .iter()
                .filter_map(|item| self.widget(*item)?.name.as_deref())
                .take(20)
                .collect();
            let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
            return Err(Refusal::invalid(format!("{label} has no '{choice}'; it has: {names}")));
        };
        self.select_item(item, now)
    }

    /// Selects a row that may not exist yet.
    pub(super) fn select_row(&mut self, container: Handle, row: u32, now: Instant) -> Result<(), Refusal> {
        let rows = self.widget_mut(container).and_then(|widget| widget.options.as_mut()?.rows.as_mut());
        if let Some(rows) = rows {
            rows.selected = Some(row);
            if !(rows.top..rows.top + rows.visible).contains(&row) {
                self.scroll(container, row)?;
            }
        }
        let children = self.widget(container).map(|widget| widget.children.clone()).unwrap_or_default();
        match children.into_iter().find(|child| self.widget(*child).is_some_and(|line| line.row == Some(row)))
        {
            Some(line) => self.select_item(line, now),
            None => Ok(()),
        }
    }

    /// Selects an item exclusively.
    pub(super) fn select_item(&mut self, item: Handle, now: Instant) -> Result<(), Refusal> {
        let Some(widget) = self.widget(item) else { return Ok(()) };
        let parent = widget.parent.unwrap_or(Handle::APP);
        match widget.role {
            Role::Cell => return self.select_item(parent, now),
            Role::Tab | Role::Radio => return self.press(item, now),
            Role::ListItem | Role::Row | Role::TreeItem => {}
            _ => return Err(Refusal::unable(format!("{} cannot be selected", widget.describe()))),
        }
        let (row, name) = (widget.row, widget.name.clone().unwrap_or_default());
        let container = self.container_of(item).unwrap_or(parent);
        if let Some(rows) = self.widget_mut(container).and_then(|above| above.options.as_mut()?.rows.as_mut())
        {
            rows.selected = row;
        }
        self.unselect_in(container, item);
        self.set_exclusively(item, State::Selected);
        if self.widget(container).is_some_and(|above| above.role == Role::Combobox) {
            self.set_value(container, &name);
            self.set_popup_open(container, false);
            self.trigger(TriggerKind::Change, Some(container), &name, now);
        }
        self.trigger(TriggerKind::Select, Some(item), &name, now);
        self.trigger(TriggerKind::Select, Some(container), &name, now);
        Ok(())
    }

    /// The list, table, combo box or tree of an item.
    pub fn container_of(&self, item: Handle) -> Option<Handle> {
        let widget = self.widget(item)?;
        match widget.role {
            Role::ListItem | Role::Row => widget.parent,
            Role::Cell => self.container_of(widget.parent?),
            Role::TreeItem => {
                let path = self.path(item)?;
                let is_item =
                    |part: &Handle| self.widget(*part).is_some_and(|widget| widget.role == Role::TreeItem);
                path.into_iter().rfind(|part| !is_item(part))
            }
            _ => None,
        }
    }

    /// Unselects everything in a tree except one item.
    fn unselect_in(&mut self, container: Handle, but: Handle) {
        if self.widget(container).is_none_or(|widget| widget.role != Role::Tree) {
            return;
        }
        let mut waiting = vec![container];
        while let Some(handle) = waiting.pop() {
            if handle != but {
                self.set_state(handle, State::Selected, false);
            }
            waiting.extend(self.widget(handle).map(|widget| widget.children.clone()).unwrap_or_default());
        }
    }

    /// Scrolls a container until the row of this index is the first visible one, as far as possible.
    pub(super) fn scroll(&mut self, handle: Handle, row: u32) -> Result<(), Refusal> {
        let Some(widget) = self.widget_mut(handle) else { return Ok(()) };
        if let Some(rows) = widget.options.as_mut().and_then(|options| options.rows.as_mut()) {
            rows.top = row.min(rows.total.saturating_sub(rows.visible));
            self.create_visible_rows(handle);
            return Ok(());
        }
        if !super::layout::scrolls(widget.role) {
            return Err(Refusal::unable(format!("{} does not scroll", widget.describe())));
        }
        widget.scroll_offset =
            usize::try_from(row).unwrap_or(usize::MAX).min(widget.children.len().saturating_sub(1));
        self.layout = None;
        Ok(())
    }

    pub(super) fn focus_on(&mut self, handle: Handle, now: Instant) {
        if self.focus != Some(handle) {
            self.set_focus(handle);
            self.trigger(TriggerKind::Focus, Some(handle), "", now);
        }
    }

    fn toggle_state(&mut self, handle: Handle, state: State) {
        let on = self.has(handle, state);
        self.set_state(handle, state, !on);
    }

    /// Sets a state on a widget and clears it on its siblings.
    pub(super) fn set_exclusively(&mut self, handle: Handle, state: State) {
        let parent = self.widget(handle).and_then(|widget| widget.parent);
        let siblings = parent.and_then(|parent| self.widget(parent)).map(|parent| parent.children.clone());
        for sibling in siblings.unwrap_or_default() {
            self.set_state(sibling, state, sibling == handle);
        }
        self.set_state(handle, state, true);
    }

    /// Shows the page of the selected tab, and hides those of the other tabs.
    fn show_selected_page(&mut self, tab: Handle) {
        let parent = self.widget(tab).and_then(|widget| widget.parent);
        let tabs = parent.and_then(|parent| self.widget(parent)).map(|parent| parent.children.clone());
        for tab in tabs.unwrap_or_default() {
            let page = self.shown_by(tab);
            let selected = self.has(tab, State::Selected);
            if let Some(page) = page {
                self.set_state(page, State::Hidden, !selected);
            }
        }
    }
}

/// Formats a number as a widget shows it, without decimals if it is whole.
pub(super) fn format_number(value: f64) -> String {
    let rounded = (value * 1e10).round() / 1e10;
    if rounded.is_finite() { format!("{}", rounded + 0.0) } else { "Error".to_owned() }
}
