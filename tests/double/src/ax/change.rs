//! The actions of elements and the attributes that can be set, and the effect that each has in
//! the app.

use axd_platform::{Act, Direction, WindowOp};
use axd_protocol::{Point, Role, State};
use axd_sim::model::{Handle, Widget};

use super::attributes::{Value, holds_number, holds_text, part_of};
use super::error::Error;
use super::roles::is_row;
use super::tree::{Id, Part, View};

/// The effect of an action or a set attribute.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// An action on a widget.
    Act(Handle, Act),
    /// Selects a row that may not be in view yet.
    SelectRow(Handle, u32),
    /// A window operation.
    Window(u64, WindowOp),
    /// No effect.
    Done,
    /// Activates the app.
    Activate,
    /// Hides or shows the app.
    Hide(bool),
    /// Builds the trees of its web pages.
    ShowPages,
    /// Sets or clears `AXEnhancedUserInterface`.
    Enhance(bool),
}

impl View<'_> {
    /// The actions of an element, with their descriptions.
    pub(crate) fn actions(&self, id: Id) -> Result<Vec<(String, String)>, Error> {
        if !self.exists(id) {
            return Err(Error::InvalidUIElement);
        }
        let Some(widget) = self.model.widget(id.widget()) else { return Err(Error::InvalidUIElement) };
        let mut names: Vec<String> = match id.part {
            Part::Itself => self.actions_of(id, widget),
            Part::Menu => vec!["AXCancel".to_owned()],
            Part::Row(_) => vec!["AXScrollToVisible".to_owned()],
            Part::CloseButton | Part::ZoomButton | Part::MinimizeButton => vec!["AXPress".to_owned()],
            _ => vec![],
        };
        names.dedup();
        let described = |name: String| {
            let word = match name.strip_prefix("Name:").and_then(|rest| rest.split('\n').next()) {
                Some(own) => own.to_owned(),
                None => name.trim_start_matches("AX").to_lowercase(),
            };
            (name, word)
        };
        Ok(names.into_iter().map(described).collect())
    }

    fn actions_of(&self, id: Id, widget: &Widget) -> Vec<String> {
        if !widget.semantic {
            return vec![];
        }
        let is_row = is_row(self.model, widget);
        let mut names = Vec::new();
        for action in widget.actions() {
            match action.as_str() {
                "press" => names.push("AXPress".to_owned()),
                // Items of a menu are pressed; rows are selected by their attribute.
                "select" if !is_row => names.push("AXPress".to_owned()),
                "select" | "expand" | "collapse" => {}
                "increment" => names.push("AXIncrement".to_owned()),
                "decrement" => names.push("AXDecrement".to_owned()),
                "confirm" => names.push("AXConfirm".to_owned()),
                "show-menu" => names.push("AXShowMenu".to_owned()),
                "raise" => names.push("AXRaise".to_owned()),
                own => names.push(format!("Name:{own}\nTarget:0x0\nSelector:(null)")),
            }
        }
        if is_row {
            names.push("AXScrollToVisible".to_owned());
        }
        let in_menu = |above: &Widget| matches!(above.role, Role::Menu | Role::Combobox);
        let above = widget.parent.and_then(|parent| self.model.widget(parent));
        if widget.role == Role::Menu || above.is_some_and(in_menu) || self.model.is_floating(id.widget()) {
            names.push("AXCancel".to_owned());
        }
        names
    }

    /// The effect of an action.
    pub(crate) fn effect_of_action(&mut self, id: Id, action: &str) -> Result<Effect, Error> {
        if !self.actions(id)?.iter().any(|(name, _)| name == action) {
            return Err(Error::ActionUnsupported);
        }
        if action == "AXPress" && self.is_idle_item(id) {
            return Ok(Effect::Done);
        }
        let handle = id.widget();
        let Some(widget) = self.model.widget(handle) else { return Err(Error::InvalidUIElement) };
        let number = widget.window;
        let is_full = self.model.frame(handle).restore_bounds.is_some();
        let of_window = |op| number.map(|number| Effect::Window(number, op)).ok_or(Error::Failure);
        match id.part {
            Part::Row(row) => return Ok(Effect::Act(handle, Act::Reveal(row))),
            Part::Menu => return Ok(Effect::Act(handle, Act::Collapse)),
            Part::ZoomButton if is_full => return of_window(WindowOp::Restore),
            Part::ZoomButton => return of_window(WindowOp::Maximize),
            Part::MinimizeButton => return of_window(WindowOp::Minimize),
            Part::CloseButton => {
                let now = self.now;
                self.model.close(handle, now);
                return Ok(Effect::Done);
            }
            _ => {}
        }
        let act = match action {
            "AXPress" => Act::Press,
            "AXIncrement" => Act::Native("increment".to_owned()),
            "AXDecrement" => Act::Native("decrement".to_owned()),
            "AXConfirm" => Act::Native("confirm".to_owned()),
            "AXShowMenu" => Act::Native("show-menu".to_owned()),
            "AXRaise" => Act::Native("raise".to_owned()),
            "AXScrollToVisible" => Act::ScrollTo,
            "AXCancel" => {
                let menu = if widget.role == Role::Menu { Some(handle) } else { widget.parent };
                return menu.map(|menu| Effect::Act(menu, Act::Collapse)).ok_or(Error::Failure);
            }
            own => {
                let own = own.strip_prefix("Name:").and_then(|rest| rest.split('\n').next());
                Act::Native(own.ok_or(Error::ActionUnsupported)?.to_owned())
            }
        };
        Ok(Effect::Act(handle, act))
    }

    /// Whether an attribute can be set.
    pub(crate) fn is_settable(&mut self, id: Id, name: &str) -> Result<bool, Error> {
        // What an element does not have cannot be asked about either.
        let read = self.attribute(id, name);
        if let Err(error @ (Error::AttributeUnsupported | Error::InvalidUIElement)) = read {
            return Err(error);
        }
        if id == Id::APP {
            return Ok(matches!(
                name,
                "AXFrontmost" | "AXHidden" | "AXManualAccessibility" | "AXEnhancedUserInterface"
            ));
        }
        let Some(widget) = self.model.widget(id.widget()) else { return Err(Error::InvalidUIElement) };
        let role = widget.role;
        Ok(match (id.part, name) {
            (Part::ScrollBar, "AXValue") | (Part::Row(_), "AXSelected") => true,
            (Part::Itself, _) if !widget.semantic => false,
            (Part::Itself, "AXFocused") => role.is_interactive() || role.is_window(),
            (Part::Itself, "AXValue") => {
                let is_number = holds_number(role) && !matches!(role, Role::ProgressBar | Role::Meter);
                let is_text = holds_text(role) || widget.states.has(State::Editable);
                (is_number || is_text || role == Role::DateField) && !widget.states.has(State::Readonly)
            }
            (Part::Itself, "AXSelected") => is_row(self.model, widget),
            (Part::Itself, "AXSelectedRows" | "AXSelectedChildren" | "AXDisclosing" | "AXExpanded") => true,
            (Part::Itself, "AXMain" | "AXMinimized" | "AXPosition" | "AXSize" | "AXFullScreen") => {
                role.is_window()
            }
            (Part::Itself, "AXSelectedText" | "AXSelectedTextRange") => {
                holds_text(role) && !widget.states.has(State::Readonly)
            }
            _ => false,
        })
    }

    /// The effect of setting an attribute.
    pub(crate) fn effect_of_setting(&mut self, id: Id, name: &str, value: &Value) -> Result<Effect, Error> {
        if !self.is_settable(id, name)? {
            return Err(Error::AttributeUnsupported);
        }
        let handle = id.widget();
        let act = |act| Ok(Effect::Act(handle, act));
        let number = self.model.widget(handle).and_then(|widget| widget.window);
        let of_window = |op| number.map(|number| Effect::Window(number, op)).ok_or(Error::Failure);
        match (name, value) {
            ("AXFrontmost", Value::Truth(true)) => Ok(Effect::Activate),
            ("AXManualAccessibility", Value::Truth(true)) => Ok(Effect::ShowPages),
            ("AXHidden", Value::Truth(hidden)) => Ok(Effect::Hide(*hidden)),
            ("AXManualAccessibility", Value::Truth(_)) => Ok(Effect::Done),
            ("AXEnhancedUserInterface", Value::Truth(on)) => Ok(Effect::Enhance(*on)),
            ("AXFocused", Value::Truth(true)) if number.is_some() => of_window(WindowOp::Focus),
            ("AXFocused", Value::Truth(true)) => act(Act::Focus),
            ("AXValue", _) if id.part == Part::ScrollBar => self.scroll_to(id, value),
            ("AXValue", value) => self.put(id, value),
            ("AXSelected", Value::Truth(true)) => match id.part {
                Part::Row(row) => Ok(Effect::SelectRow(handle, row)),
                _ => act(Act::Select),
            },
            ("AXSelectedRows" | "AXSelectedChildren", Value::Elements(rows)) => match rows.as_slice() {
                [Id { handle: table, part: Part::Row(row) }] => Ok(Effect::SelectRow(Handle(*table), *row)),
                [row] => Ok(Effect::Act(row.widget(), Act::Select)),
                _ => Err(Error::IllegalArgument),
            },
            ("AXDisclosing" | "AXExpanded", Value::Truth(open)) => {
                act(if *open { Act::Expand } else { Act::Collapse })
            }
            ("AXMain", Value::Truth(true)) => act(Act::Native("raise".to_owned())),
            ("AXMinimized", Value::Truth(true)) => of_window(WindowOp::Minimize),
            ("AXFullScreen", Value::Truth(true)) => of_window(WindowOp::Maximize),
            ("AXMinimized" | "AXFullScreen", Value::Truth(false)) => of_window(WindowOp::Restore),
            ("AXPosition", Value::Point(x, y)) => {
                of_window(WindowOp::Move(Point { x: *x as i32, y: *y as i32 }))
            }
            ("AXSize", Value::Size(width, height)) => {
                of_window(WindowOp::Resize { width: *width as u32, height: *height as u32 })
            }
            ("AXSelectedText", Value::Text(text)) => act(Act::Insert(text.clone())),
            ("AXSelectedTextRange", Value::Range(start, count)) => {
                let (start, count) = (usize::try_from(*start), usize::try_from(*count));
                let (Ok(start), Ok(count)) = (start, count) else { return Err(Error::IllegalArgument) };
                let held = self.held(id);
                let characters = |units| part_of(&held, 0, units).chars().count();
                self.model.select_text(handle, characters(start)..characters(start + count));
                Ok(Effect::Done)
            }
            _ => Err(Error::IllegalArgument),
        }
    }

    /// Numbers go into what holds numbers, and text into what holds text; nothing is turned into the other.
    fn put(&self, id: Id, value: &Value) -> Result<Effect, Error> {
        let role = self.model.widget(id.widget()).ok_or(Error::InvalidUIElement)?.role;
        let text = match value {
            Value::Text(text) if !holds_number(role) => text.clone(),
            Value::Integer(number) if holds_number(role) => number.to_string(),
            Value::Real(number) if holds_number(role) => number.to_string(),
            _ => return Err(Error::IllegalArgument),
        };
        Ok(Effect::Act(id.widget(), Act::SetValue(text)))
    }

    fn scroll_to(&mut self, id: Id, value: &Value) -> Result<Effect, Error> {
        let part = match value {
            Value::Real(part) => *part,
            Value::Integer(part) => *part as f64,
            _ => return Err(Error::IllegalArgument),
        };
        let last = self.last_top(id);
        let top = self.model.widget(id.widget()).ok_or(Error::InvalidUIElement)?.first_in_view();
        let wanted = (part.clamp(0.0, 1.0) * last as f64).round() as usize;
        let steps = u32::try_from(wanted.abs_diff(top)).map_err(|_| Error::IllegalArgument)?;
        let direction = if wanted > top { Direction::Down } else { Direction::Up };
        Ok(Effect::Act(id.widget(), Act::Scroll(direction, steps)))
    }
}
