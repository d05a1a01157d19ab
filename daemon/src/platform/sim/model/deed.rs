//! What a person can do to an app, and what its widgets do by themselves when it is done.

use std::time::Instant;

use axd_protocol::{Role, State};

use super::build::pops_up;
use super::{Change, Handle, Model};
use crate::platform::sim::rule::Happening;

/// What a person does; widgets are named by id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Presses it.
    Press(String),
    /// Puts this in, instead of what it holds.
    Set(String, String),
    /// Types this at the end of what it holds.
    Type(String, String),
    /// Selects it, or the item named or numbered (from 1) in it.
    Select(String, Option<String>),
    /// Gives it the focus.
    Focus(String),
    /// Scrolls it to a row, numbered from 1.
    Scroll(String, u32),
    /// Brings a window, or the app's front window, to the front.
    Raise(Option<String>),
}

/// Why a person could not do that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refusal(pub String);

impl Model {
    /// Does what a person does; says what came of it.
    pub fn act(&mut self, deed: &Deed, now: Instant) -> Result<String, Refusal> {
        match deed {
            Deed::Press(id) => {
                let handle = self.come_to(id)?;
                self.press(handle, now)?;
                Ok(format!("pressed {id}"))
            }
            Deed::Set(id, text) => {
                let handle = self.come_to(id)?;
                self.put(handle, text, now)?;
                Ok(format!("set {id}"))
            }
            Deed::Type(id, text) => {
                let handle = self.come_to(id)?;
                self.focus_on(handle, now);
                let before = self.widget(handle).and_then(|widget| widget.value.clone()).unwrap_or_default();
                self.put(handle, &(before + text), now)?;
                Ok(format!("typed into {id}"))
            }
            Deed::Select(id, choice) => {
                let handle = self.come_to(id)?;
                match choice {
                    Some(choice) => self.choose(handle, choice, now)?,
                    None => self.pick(handle, now)?,
                }
                Ok(format!("selected {}", choice.as_deref().unwrap_or(id)))
            }
            Deed::Focus(id) => {
                let handle = self.come_to(id)?;
                if let Some(widget) = self.widget(handle).filter(|widget| !widget.role.is_interactive()) {
                    return Err(Refusal(format!("{} cannot have the focus", widget.called())));
                }
                self.focus_on(handle, now);
                Ok(format!("focused {id}"))
            }
            Deed::Scroll(id, row) => {
                let handle = self.reach(id)?;
                self.scroll(handle, row.saturating_sub(1))?;
                Ok(format!("scrolled {id} to row {row}"))
            }
            Deed::Raise(id) => {
                let window = match id {
                    Some(id) => self.named(id).map(|handle| self.window_of(handle))?,
                    None => self.stack.first().copied(),
                };
                let window = window.ok_or_else(|| Refusal("the app has no window open".to_owned()))?;
                self.raise(window);
                Ok("raised".to_owned())
            }
        }
    }

    fn named(&self, id: &str) -> Result<Handle, Refusal> {
        self.find(id).ok_or_else(|| {
            Refusal(format!("there is no widget '{id}' now; there are: {}", self.ids().join(", ")))
        })
    }

    /// The widget, if a person could use it now.
    fn reach(&self, id: &str) -> Result<Handle, Refusal> {
        let handle = self.named(id)?;
        let path = self.path(handle).unwrap_or_default();
        let called = self.widget(handle).map(super::Widget::called).unwrap_or_default();
        if let Some(hidden) = path.iter().find(|part| self.has(**part, State::Hidden)) {
            let whole = *hidden == handle;
            let what = self.widget(*hidden).map(super::Widget::called).unwrap_or_default();
            let what = if whole { "it".to_owned() } else { what };
            return Err(Refusal(format!("{called} cannot be reached: {what} is hidden now")));
        }
        if self.has(handle, State::Disabled) {
            return Err(Refusal(format!("{called} is disabled")));
        }
        let modal = self.stack.iter().find(|window| self.has(**window, State::Modal));
        if let Some(modal) = modal.filter(|modal| !path.contains(modal)) {
            let dialog = self.widget(*modal).map(super::Widget::called).unwrap_or_default();
            return Err(Refusal(format!("{called} is blocked by the {dialog}")));
        }
        Ok(handle)
    }

    /// The same, with its window brought forward, as a click into it would.
    fn come_to(&mut self, id: &str) -> Result<Handle, Refusal> {
        let handle = self.reach(id)?;
        match self.window_of(handle) {
            Some(window) if self.stack.first() != Some(&window) => self.raise(window),
            _ => {}
        }
        Ok(handle)
    }

    fn press(&mut self, handle: Handle, now: Instant) -> Result<(), Refusal> {
        let Some(widget) = self.widget(handle) else { return Ok(()) };
        let (role, called) = (widget.role, widget.called());
        match role {
            Role::Checkbox | Role::Switch | Role::MenuItemCheckbox => {
                self.set_state(handle, State::Mixed, false);
                self.flip(handle, State::Checked);
                self.happen(Happening::Change, Some(handle), "", now);
            }
            Role::ToggleButton => {
                self.flip(handle, State::Pressed);
                self.happen(Happening::Change, Some(handle), "", now);
            }
            Role::Radio | Role::MenuItemRadio => {
                self.only(handle, State::Checked);
                self.happen(Happening::Change, Some(handle), "", now);
            }
            Role::Tab => {
                self.only(handle, State::Selected);
                self.settle_pages(handle);
                self.happen(Happening::Select, Some(handle), "", now);
            }
            Role::Menu | Role::Combobox => {
                let open = !self.has(handle, State::Expanded);
                self.close_popups(handle);
                self.pop(handle, open);
            }
            Role::ListItem | Role::Row | Role::TreeItem | Role::Cell => self.pick(handle, now)?,
            Role::Button | Role::Link | Role::MenuItem | Role::Canvas | Role::ColumnHeader => {}
            Role::TextField | Role::TextArea | Role::SearchField => self.focus_on(handle, now),
            _ => return Err(Refusal(format!("{called} cannot be pressed"))),
        }
        if role == Role::Button {
            self.disclose(handle);
        }
        self.happen(Happening::Press, Some(handle), "", now);
        if matches!(role, Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio) {
            self.close_popups(handle);
        }
        Ok(())
    }

    /// Puts a value in, as its role takes it.
    fn put(&mut self, handle: Handle, text: &str, now: Instant) -> Result<(), Refusal> {
        let Some(widget) = self.widget(handle) else { return Ok(()) };
        let called = widget.called();
        if widget.states.has(State::Readonly) {
            return Err(Refusal(format!("{called} is read-only")));
        }
        match widget.role {
            Role::Slider | Role::SpinButton | Role::ScrollBar => {
                let wanted: f64 = text
                    .trim()
                    .parse()
                    .map_err(|_| Refusal(format!("{called} takes a number, not '{text}'")))?;
                let value = self.within(handle, wanted);
                self.set_value(handle, number(value));
            }
            Role::Combobox => return self.choose(handle, text, now),
            _ if widget.states.has(State::Editable) => self.set_value(handle, text),
            _ => return Err(Refusal(format!("{called} takes no text"))),
        }
        // What goes into a secure field must not come out by way of a rule.
        let told = if self.has(handle, State::Secure) { "" } else { text };
        self.happen(Happening::Change, Some(handle), told, now);
        Ok(())
    }

    /// The number, held within the widget's range.
    pub(super) fn within(&self, handle: Handle, wanted: f64) -> f64 {
        let plan = self.widget(handle).and_then(|widget| widget.plan.as_ref());
        let (min, max) = plan.map_or((None, None), |plan| (plan.min, plan.max));
        wanted.max(min.unwrap_or(f64::MIN)).min(max.unwrap_or(f64::MAX))
    }

    /// Selects an item of a container by name or number.
    fn choose(&mut self, container: Handle, choice: &str, now: Instant) -> Result<(), Refusal> {
        let Some(widget) = self.widget(container) else { return Ok(()) };
        let called = widget.called();
        let ordinal = choice.trim().parse::<u32>().ok().and_then(|number| number.checked_sub(1));
        if let Some(total) = widget.total() {
            let row = ordinal.filter(|row| *row < total);
            let row = row.ok_or_else(|| Refusal(format!("{called} takes a row from 1 to {total}")))?;
            return self.pick_row(container, row, now);
        }
        let named =
            |item: &Handle| self.widget(*item).is_some_and(|item| item.name.as_deref() == Some(choice));
        let numbered = || widget.children.get(usize::try_from(ordinal?).ok()?).copied();
        let Some(item) = widget.children.iter().copied().find(named).or_else(numbered) else {
            let names: Vec<&str> = widget
                .children
                .iter()
                .filter_map(|item| self.widget(*item)?.name.as_deref())
                .take(20)
                .collect();
            return Err(Refusal(format!("{called} has no '{choice}'; it has: {}", names.join(", "))));
        };
        self.pick(item, now)
    }

    /// Selects a row that may not exist yet.
    fn pick_row(&mut self, container: Handle, row: u32, now: Instant) -> Result<(), Refusal> {
        let rows = self.widget_mut(container).and_then(|widget| widget.plan.as_mut()?.rows.as_mut());
        if let Some(rows) = rows {
            rows.selected = Some(row);
            if !(rows.top..rows.top + rows.visible).contains(&row) {
                self.scroll(container, row)?;
            }
        }
        let children = self.widget(container).map(|widget| widget.children.clone()).unwrap_or_default();
        match children.into_iter().find(|child| self.widget(*child).is_some_and(|line| line.row == Some(row)))
        {
            Some(line) => self.pick(line, now),
            None => Ok(()),
        }
    }

    /// Selects an item, and nothing else beside it.
    pub(super) fn pick(&mut self, item: Handle, now: Instant) -> Result<(), Refusal> {
        let Some(widget) = self.widget(item) else { return Ok(()) };
        let parent = widget.parent.unwrap_or(Handle::APP);
        match widget.role {
            Role::Cell => return self.pick(parent, now),
            Role::Tab | Role::Radio => return self.press(item, now),
            Role::ListItem | Role::Row | Role::TreeItem => {}
            _ => return Err(Refusal(format!("{} cannot be selected", widget.called()))),
        }
        let (row, name) = (widget.row, widget.name.clone().unwrap_or_default());
        if let Some(rows) = self.widget_mut(parent).and_then(|above| above.plan.as_mut()?.rows.as_mut()) {
            rows.selected = row;
        }
        self.only(item, State::Selected);
        if self.widget(parent).is_some_and(|above| above.role == Role::Combobox) {
            self.set_value(parent, &name);
            self.pop(parent, false);
            self.happen(Happening::Change, Some(parent), &name, now);
        }
        self.happen(Happening::Select, Some(item), &name, now);
        self.happen(Happening::Select, Some(parent), &name, now);
        Ok(())
    }

    fn scroll(&mut self, handle: Handle, row: u32) -> Result<(), Refusal> {
        let Some(widget) = self.widget_mut(handle) else { return Ok(()) };
        if let Some(rows) = widget.plan.as_mut().and_then(|plan| plan.rows.as_mut()) {
            rows.top = row.min(rows.total.saturating_sub(rows.visible));
            self.realise(handle);
            return Ok(());
        }
        if !super::layout::scrolls(widget.role) {
            return Err(Refusal(format!("{} does not scroll", widget.called())));
        }
        widget.scrolled =
            usize::try_from(row).unwrap_or(usize::MAX).min(widget.children.len().saturating_sub(1));
        self.layout = None;
        Ok(())
    }

    fn focus_on(&mut self, handle: Handle, now: Instant) {
        if self.focus != Some(handle) {
            self.set_focus(handle);
            self.happen(Happening::Focus, Some(handle), "", now);
        }
    }

    fn flip(&mut self, handle: Handle, state: State) {
        let on = self.has(handle, state);
        self.set_state(handle, state, !on);
    }

    /// Turns a state on here and off on all siblings.
    pub(super) fn only(&mut self, handle: Handle, state: State) {
        let parent = self.widget(handle).and_then(|widget| widget.parent);
        let siblings = parent.and_then(|parent| self.widget(parent)).map(|parent| parent.children.clone());
        for sibling in siblings.unwrap_or_default() {
            self.set_state(sibling, state, sibling == handle);
        }
        self.set_state(handle, state, true);
    }

    /// Shows the page of the selected tab and hides those of its siblings.
    fn settle_pages(&mut self, tab: Handle) {
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

    /// Opens or closes what a disclosure button shows.
    fn disclose(&mut self, button: Handle) {
        if let Some(page) = self.shown_by(button) {
            let open = !self.has(button, State::Expanded);
            self.set_state(button, State::Expanded, open);
            self.set_state(button, State::Collapsed, !open);
            self.set_state(page, State::Hidden, !open);
        }
    }

    fn shown_by(&self, handle: Handle) -> Option<Handle> {
        self.find(self.widget(handle)?.plan.as_ref()?.shows.as_deref()?)
    }

    /// Opens or closes a menu or combo box.
    fn pop(&mut self, handle: Handle, open: bool) {
        self.set_state(handle, State::Expanded, open);
        self.set_state(handle, State::Collapsed, !open);
        let items = self.widget(handle).map(|widget| widget.children.clone()).unwrap_or_default();
        for item in items {
            self.set_state(item, State::Hidden, !open);
        }
    }

    /// Closes the menus of the window, except those that `but` is, or is inside of and stays open.
    fn close_popups(&mut self, but: Handle) {
        let Some(window) = self.window_of(but) else { return };
        let mut waiting = vec![window];
        let mut open = Vec::new();
        while let Some(handle) = waiting.pop() {
            let Some(widget) = self.widget(handle) else { continue };
            if pops_up(widget.role) && widget.states.has(State::Expanded) && handle != but {
                open.push(handle);
            }
            waiting.extend(&widget.children);
        }
        for handle in open {
            self.pop(handle, false);
        }
    }

    /// Opens a window of the script, or raises it.
    pub(super) fn open_window(&mut self, id: &str, now: Instant) {
        if let Some(window) = self.find(id) {
            return self.raise(window);
        }
        let script = std::sync::Arc::clone(&self.script);
        if let Some(window) = script.windows.iter().find(|window| window.id == id) {
            let handle = self.build_window(window);
            self.happen(Happening::Open, Some(handle), "", now);
        }
    }

    /// Closes a window.
    pub(super) fn close_window(&mut self, id: &str, now: Instant) {
        if let Some(window) = self.find(id).and_then(|handle| self.window_of(handle)) {
            self.happen(Happening::Close, Some(window), "", now);
            self.stack.retain(|other| *other != window);
            self.remove(window);
            self.changes.push(Change::Windows);
        }
    }
}

/// A number as a widget shows it: whole where it is whole.
pub(super) fn number(value: f64) -> String {
    let rounded = (value * 1e10).round() / 1e10;
    if rounded.is_finite() { format!("{}", rounded + 0.0) } else { "Error".to_owned() }
}
