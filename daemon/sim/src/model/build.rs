//! Creates the widgets of a script, and the rows that become visible.

use axd_protocol::{Role, State, States};

use super::{Change, Handle, Model, VirtualRows, Widget, WidgetOptions};
use crate::script::{GenerateScript, Script, WidgetScript, WindowScript};

/// The actions of a widget, as its toolkit would list them; the default action is the first.
pub(super) fn actions_of(widget: &Widget) -> Vec<&'static str> {
    let mut actions = role_actions(widget.role).to_vec();
    let options = widget.options.as_deref();
    if options.is_some_and(|options| options.shows.is_some()) && widget.role != Role::Tab || is_branch(widget)
    {
        actions.extend(["expand", "collapse"]);
    }
    if options.is_some_and(|options| options.menu.is_some()) {
        actions.push("show-menu");
    }
    actions
}

fn role_actions(role: Role) -> &'static [&'static str] {
    match role {
        Role::Button | Role::ToggleButton | Role::Link | Role::MenuItem | Role::Tab => &["press"],
        Role::Checkbox | Role::Switch | Role::Radio => &["press"],
        Role::MenuItemCheckbox | Role::MenuItemRadio => &["press"],
        Role::Menu | Role::Combobox => &["press", "show-menu"],
        Role::Slider | Role::SpinButton => &["increment", "decrement"],
        Role::TextField | Role::SearchField => &["confirm"],
        Role::ListItem | Role::Row | Role::TreeItem => &["select"],
        Role::Window | Role::Dialog | Role::Alert => &["raise"],
        _ => &[],
    }
}

/// Whether children of the role are visible only while it is open.
pub(super) fn is_popup(role: Role) -> bool {
    matches!(role, Role::Menu | Role::Combobox)
}

/// Whether the widget is a branch of a tree, which opens and closes.
pub(super) fn is_branch(widget: &Widget) -> bool {
    widget.role == Role::TreeItem && !widget.children.is_empty()
}

fn role_states(role: Role, states: States) -> States {
    match role {
        Role::TextField | Role::TextArea | Role::SearchField if !states.has(State::Readonly) => {
            states.with(State::Editable)
        }
        _ if is_popup(role) && !states.has(State::Expanded) => {
            states.with(State::Haspopup).with(State::Collapsed)
        }
        _ => states,
    }
}

impl Widget {
    pub(super) fn new(role: Role) -> Widget {
        Widget {
            role,
            id: None,
            name: None,
            value: None,
            description: None,
            native_role: None,
            states: States::NONE,
            own_actions: None,
            semantic: true,
            parent: None,
            children: Vec::new(),
            row: None,
            window: None,
            scroll_offset: 0,
            options: None,
        }
    }

    pub(super) fn named(role: Role, name: impl Into<String>) -> Widget {
        Widget { name: Some(name.into()), ..Widget::new(role) }
    }
}

impl Model {
    pub(super) fn build(&mut self, script: &Script) {
        let mut app = Widget::named(Role::Application, &script.name);
        app.id = Some(script.identity.clone());
        self.widgets.push(Some(Box::new(app)));
        for window in script.windows.iter().filter(|window| window.open) {
            self.build_window(window);
        }
    }

    /// Creates a window of the script, in front of the others.
    pub(super) fn build_window(&mut self, script: &WindowScript) -> Handle {
        let mut window = Widget::named(script.role, &script.title);
        window.id = Some(script.id.clone());
        window.window = Some(self.next_window);
        window.states.set(State::Modal, script.modal);
        let ordinal = i32::try_from(self.next_window % 8).unwrap_or(0);
        let bounds = script.bounds.unwrap_or([80 + ordinal * 40, 60 + ordinal * 30, 480, 520]);
        window.options = Some(Box::new(WidgetOptions {
            bounds: Some(bounds),
            flow: script.layout,
            columns: script.columns,
            ..WidgetOptions::default()
        }));
        self.next_window += 1;
        let handle = self.insert(window, Handle::APP, None);
        for child in &script.children {
            self.build_widget(child, handle, None, "");
        }
        self.hide_closed_pages(handle);
        self.stack.insert(0, handle);
        self.changes.extend([Change::Children(Handle::APP), Change::Windows]);
        handle
    }

    /// Creates a widget of the script; `n` replaces `{n}` in its texts.
    pub(super) fn build_widget(
        &mut self,
        script: &WidgetScript,
        parent: Handle,
        index: Option<usize>,
        n: &str,
    ) -> Handle {
        let fill = |text: &Option<String>| text.as_ref().map(|text| text.replace("{n}", n));
        let mut widget = Widget::new(script.role);
        widget.id = fill(&script.id);
        widget.name = fill(&script.name);
        widget.value = fill(&script.value);
        widget.description = fill(&script.description);
        widget.native_role = script.native_role.clone();
        widget.states = role_states(script.role, script.states);
        widget.own_actions = script.actions.clone();
        widget.semantic = script.semantic.unwrap_or(self.script.semantic);
        let is_closed = |model: &Model| {
            model.widget(parent).is_some_and(|above| {
                (is_popup(above.role) || above.role == Role::TreeItem) && !above.states.has(State::Expanded)
            })
        };
        if is_closed(self) {
            widget.states.set(State::Hidden, true);
        }
        if script.role == Role::Button && script.shows.is_some() && !widget.states.has(State::Expanded) {
            widget.states.set(State::Collapsed, true);
        }
        let is_branch =
            script.role == Role::TreeItem && !(script.children.is_empty() && script.items.is_empty());
        if is_branch && !widget.states.has(State::Expanded) {
            widget.states.set(State::Collapsed, true);
        }
        let is_closed_branch = widget.states.has(State::Collapsed) && is_branch;
        widget.options = options_of(script);
        if script.id.as_ref().is_some_and(|id| self.script.context_menus.contains(id)) {
            widget.states.set(State::Hidden, true);
            widget.options.get_or_insert_default().floating = true;
        }
        let semantic = widget.semantic;
        let handle = self.insert(widget, parent, index);
        let item = match script.role {
            Role::Menu => Role::MenuItem,
            Role::Tree | Role::TreeItem => Role::TreeItem,
            _ => Role::ListItem,
        };
        for name in &script.items {
            let mut widget = Widget::named(item, name);
            widget.semantic = semantic;
            widget.states.set(State::Hidden, is_popup(script.role) || is_closed_branch);
            widget.states.set(State::Selected, script.value.as_ref() == Some(name));
            self.insert(widget, handle, None);
        }
        if let Some(generate) = &script.generate {
            self.generate(handle, script.role, generate);
        }
        for child in &script.children {
            self.build_widget(child, handle, None, n);
        }
        self.create_visible_rows(handle);
        handle
    }

    /// Fills a widget with generated rows.
    pub fn generate(&mut self, into: Handle, role: Role, script: &GenerateScript) {
        let item = match role {
            Role::Table | Role::Grid => Role::Row,
            Role::Tree => Role::TreeItem,
            Role::List => Role::ListItem,
            _ => Role::Group,
        };
        for row in 1..=script.rows {
            let line = self.insert(Widget::named(item, format!("Row {row}")), into, None);
            for column in 1..=script.columns {
                self.insert(Widget::named(Role::Cell, format!("R{row}C{column}")), line, None);
            }
        }
    }

    /// Adds a list of `rows` items to the front window, to make the app huge.
    pub fn add_list(&mut self, rows: u32) {
        let Some(window) = self.stack.first().copied() else { return };
        let list = self.insert(Widget::named(Role::List, "Huge"), window, None);
        self.generate(list, Role::List, &GenerateScript { rows, columns: 0 });
        self.changes.push(Change::Children(window));
    }

    pub(super) fn insert(&mut self, widget: Widget, parent: Handle, index: Option<usize>) -> Handle {
        let handle = Handle(self.widgets.len() as u64);
        if let Some(id) = &widget.id {
            self.ids.insert(id.clone(), handle);
        }
        self.widgets.push(Some(Box::new(widget)));
        self.insert_child(parent, handle, index);
        handle
    }

    /// Reserves a handle without a widget, for an element that no longer exists when it is read.
    pub fn reserve_handle(&mut self) -> Handle {
        self.widgets.push(None);
        Handle(self.widgets.len() as u64 - 1)
    }

    /// Hides the pages of tabs that are not selected, and the content of closed disclosure buttons.
    fn hide_closed_pages(&mut self, window: Handle) {
        let mut waiting = vec![window];
        let mut shown = Vec::new();
        while let Some(handle) = waiting.pop() {
            let Some(widget) = self.widget(handle) else { continue };
            waiting.extend(&widget.children);
            if let Some(id) = widget.options.as_ref().and_then(|options| options.shows.clone()) {
                let open = widget.states.has(State::Selected) || widget.states.has(State::Expanded);
                shown.push((id, open));
            }
        }
        for (id, open) in shown {
            if let Some(page) = self.find(&id) {
                self.set_state(page, State::Hidden, !open);
            }
        }
    }

    /// Creates the rows that have become visible, and removes all that no longer are. Rows that stay visible keep their handles.
    pub(super) fn create_visible_rows(&mut self, container: Handle) {
        let Some(widget) = self.widget(container) else { return };
        let Some(rows) = widget.options.as_ref().and_then(|options| options.rows.as_ref()) else { return };
        let (top, bottom) = (rows.top, (rows.top + rows.visible).min(rows.total));
        let (cells, selected, role) = (rows.cells.clone(), rows.selected, widget.role);
        let item = if role == Role::List { Role::ListItem } else { Role::Row };
        let there: Vec<(Handle, u32)> =
            widget.children.iter().filter_map(|row| Some((*row, self.widget(*row)?.row?))).collect();
        for (handle, _) in there.iter().filter(|(_, row)| !(top..bottom).contains(row)) {
            self.remove(*handle);
        }
        for (place, row) in (top..bottom).enumerate() {
            if there.iter().any(|(_, other)| *other == row) {
                continue;
            }
            let mut widget = Widget::named(item, format!("Row {}", row + 1));
            widget.row = Some(row);
            widget.states.set(State::Selected, selected == Some(row));
            let handle = self.insert(widget, container, Some(place));
            for cell in &cells {
                let text = cell.replace("{row}", &(row + 1).to_string());
                self.insert(Widget::named(Role::Cell, text), handle, None);
            }
            self.changes.push(Change::Children(container));
        }
    }
}

fn options_of(script: &WidgetScript) -> Option<Box<WidgetOptions>> {
    let rows = script.rows.as_ref().map(|rows| VirtualRows {
        total: rows.total,
        visible: rows.visible,
        top: 0,
        cells: rows.cells.clone(),
        selected: None,
    });
    let options = WidgetOptions {
        bounds: script.bounds,
        height: script.height,
        flow: script.layout,
        columns: script.columns,
        min: script.min,
        max: script.max,
        step: script.step,
        shows: script.shows.clone(),
        rows,
        // The script has been validated, so parsing cannot fail.
        shortcut: script.shortcut.as_ref().and_then(|keys| keys.parse().ok()),
        menu: script.menu.clone(),
        floating: false,
        tooltip: script.tooltip.clone(),
        drag: script.drag,
        reorder: script.reorder,
    };
    (options != WidgetOptions::default()).then(|| Box::new(options))
}
