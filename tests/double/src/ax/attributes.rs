//! The attributes of elements, as AppKit has them.

use axd_protocol::{Bounds, Role, State};
use axd_sim::model::Widget;

use super::error::Error;
use super::places::OFF_SCREEN;
use super::roles::{has_rows, is_control, is_row, is_titled, role_of};
use super::tree::{Id, Part, View};
use crate::cf::{text_from, units_of};

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Truth(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    /// A text with attributes, as text views have.
    Attributed(String),
    Url(String),
    /// Seconds since 2001.
    Date(f64),
    Element(Id),
    Elements(Vec<Id>),
    /// An element of another process.
    Abroad(u32, Id),
    /// Elements of several processes.
    Mixed(Vec<(u32, Id)>),
    Point(f64, f64),
    Size(f64, f64),
    Rect(f64, f64, f64, f64),
    Range(isize, isize),
}

/// Every attribute that any element has.
pub(super) const NAMES: &[&str] = &[
    "AXRole",
    "AXSubrole",
    "AXRoleDescription",
    "AXTitle",
    "AXDescription",
    "AXHelp",
    "AXValue",
    "AXMinValue",
    "AXMaxValue",
    "AXEnabled",
    "AXFocused",
    "AXParent",
    "AXChildren",
    "AXVisibleChildren",
    "AXSelectedChildren",
    "AXWindow",
    "AXTopLevelUIElement",
    "AXPosition",
    "AXSize",
    "AXFrame",
    "AXIdentifier",
    "AXSelected",
    "AXExpanded",
    "AXDisclosing",
    "AXDisclosureLevel",
    "AXDisclosedByRow",
    "AXIndex",
    "AXRows",
    "AXVisibleRows",
    "AXSelectedRows",
    "AXColumns",
    "AXTabs",
    "AXContents",
    "AXVerticalScrollBar",
    "AXOrientation",
    "AXMain",
    "AXMinimized",
    "AXModal",
    "AXFullScreen",
    "AXCloseButton",
    "AXZoomButton",
    "AXMinimizeButton",
    "AXWindows",
    "AXMenuBar",
    "AXExtrasMenuBar",
    "AXMainWindow",
    "AXFocusedWindow",
    "AXFocusedUIElement",
    "AXFrontmost",
    "AXHidden",
    "AXEnhancedUserInterface",
    "AXManualAccessibility",
    "AXNumberOfCharacters",
    "AXSelectedText",
    "AXSelectedTextRange",
    "AXVisibleCharacterRange",
    "AXPlaceholderValue",
    "AXMenuItemMarkChar",
    "AXElementBusy",
    "AXRequired",
    "AXInvalid",
    "AXHasPopup",
];

const UNSUPPORTED: Result<Value, Error> = Err(Error::AttributeUnsupported);

impl View<'_> {
    /// The attributes that an element has.
    pub(crate) fn names(&mut self, id: Id) -> Vec<&'static str> {
        let has = |view: &mut Self, name: &str| view.attribute(id, name) != UNSUPPORTED;
        NAMES.iter().copied().filter(|name| has(self, name)).collect()
    }

    /// The value of an attribute.
    pub(crate) fn attribute(&mut self, id: Id, name: &str) -> Result<Value, Error> {
        if !self.exists(id) {
            self.ghosts.retain(|(_, ghost)| *ghost != id.widget());
            return Err(Error::InvalidUIElement);
        }
        match name {
            "AXRole" => self.role(id).map(|(role, _)| Value::Text(role)),
            "AXSubrole" => {
                self.role(id)?.1.map(|subrole| Value::Text(subrole.to_owned())).ok_or(Error::NoValue)
            }
            "AXRoleDescription" => {
                let (role, subrole) = self.role(id)?;
                let word = subrole.unwrap_or(&role).trim_start_matches("AX").to_lowercase();
                Ok(Value::Text(word))
            }
            "AXParent" => self.parent(id).map(Value::Element).ok_or(Error::NoValue),
            "AXChildren" => Ok(Value::Elements(self.children(id))),
            "AXWindow" | "AXTopLevelUIElement" if id != Id::APP => {
                self.window(id).map(Value::Element).ok_or(Error::NoValue)
            }
            "AXPosition" | "AXSize" | "AXFrame" => self.geometry(id, name),
            _ if id == Id::APP => self.of_app(name),
            _ => match id.part {
                Part::Itself => self.of_widget(id, name),
                _ => self.of_part(id, name),
            },
        }
    }

    fn role(&self, id: Id) -> Result<(String, Option<&'static str>), Error> {
        role_of(self.model, id).ok_or(Error::InvalidUIElement)
    }

    fn geometry(&mut self, id: Id, name: &str) -> Result<Value, Error> {
        if id == Id::APP {
            return UNSUPPORTED;
        }
        let Bounds { x, y, width, height } = self.place(id).unwrap_or(OFF_SCREEN);
        let (x, y, width, height) = (f64::from(x), f64::from(y), f64::from(width), f64::from(height));
        Ok(match name {
            "AXPosition" => Value::Point(x, y),
            "AXSize" => Value::Size(width, height),
            _ => Value::Rect(x, y, width, height),
        })
    }

    fn of_app(&mut self, name: &str) -> Result<Value, Error> {
        let windows = self.model.windows();
        let front = windows.iter().copied().find(|window| !self.model.frame(*window).minimized);
        let front = front.map(|window| Value::Element(Id::of(window))).ok_or(Error::NoValue);
        match name {
            "AXTitle" => Ok(Value::Text(self.model.script().name.clone())),
            "AXWindows" if self.standing.lists_no_windows => Ok(Value::Elements(vec![])),
            "AXWindows" => Ok(Value::Elements(windows.iter().map(|window| Id::of(*window)).collect())),
            "AXExtrasMenuBar" if self.standing.status => {
                self.menu_bars().first().copied().map(Value::Element).ok_or(Error::NoValue)
            }
            "AXMenuBar" if self.standing.status => Err(Error::NoValue),
            "AXMenuBar" => self.menu_bars().first().copied().map(Value::Element).ok_or(Error::NoValue),
            "AXMainWindow" | "AXFocusedWindow" => front,
            "AXFocusedUIElement" => {
                let focus = self.model.focus();
                focus.map(|focus| Value::Element(self.id_of(focus))).ok_or(Error::NoValue)
            }
            "AXFrontmost" => Ok(Value::Truth(self.standing.frontmost)),
            "AXHidden" => Ok(Value::Truth(self.standing.hidden)),
            "AXEnhancedUserInterface" => Ok(Value::Truth(self.standing.enhanced)),
            "AXManualAccessibility" => match self.standing.shown {
                Some(shown) if self.standing.manual => Ok(Value::Truth(shown > 0)),
                _ => UNSUPPORTED,
            },
            _ => UNSUPPORTED,
        }
    }

    /// The attributes of elements that AppKit adds and scripts do not have.
    fn of_part(&mut self, id: Id, name: &str) -> Result<Value, Error> {
        let Some(widget) = self.model.widget(id.widget()) else { return Err(Error::InvalidUIElement) };
        match (id.part, name) {
            (Part::Text, "AXValue") => Ok(Value::Text(widget.name.clone().unwrap_or_default())),
            (Part::RowText(row, cell), "AXValue") => {
                let cells = widget.cells_of_row(row).unwrap_or_default();
                Ok(Value::Text(
                    cells.get(cell as usize).cloned().unwrap_or_else(|| format!("Row {}", row + 1)),
                ))
            }
            (Part::Text | Part::RowText(..), "AXEnabled") => Ok(Value::Truth(true)),
            (Part::Row(row), "AXIndex") => Ok(Value::Integer(i64::from(row))),
            (Part::Row(row), "AXSelected") => {
                let realised = self.realised(id.widget(), row).and_then(|row| self.model.widget(row));
                Ok(Value::Truth(realised.is_some_and(|row| row.states.has(State::Selected))))
            }
            (Part::ScrollArea, "AXContents") => Ok(Value::Elements(vec![id.part(Part::Itself)])),
            (Part::ScrollArea, "AXVerticalScrollBar") => Ok(Value::Element(id.part(Part::ScrollBar))),
            (Part::ScrollBar, "AXValue") => Ok(Value::Real(self.scrolled(id))),
            (Part::ScrollBar, "AXOrientation") => Ok(Value::Text("AXVerticalOrientation".to_owned())),
            (Part::ScrollBar | Part::CloseButton | Part::ZoomButton | Part::MinimizeButton, "AXEnabled") => {
                Ok(Value::Truth(true))
            }
            (Part::CloseButton | Part::ZoomButton | Part::MinimizeButton, "AXTitle") => {
                Ok(Value::Text(String::new()))
            }
            (_, "AXFocused") => Ok(Value::Truth(false)),
            _ => UNSUPPORTED,
        }
    }

    /// How far a table is scrolled: 0 at the top, 1 at the bottom.
    pub(crate) fn scrolled(&mut self, id: Id) -> f64 {
        let last = self.last_top(id) as f64;
        let top = self.model.widget(id.widget()).map_or(0, Widget::first_in_view) as f64;
        if last > 0.0 { (top / last).min(1.0) } else { 0.0 }
    }

    fn of_widget(&mut self, id: Id, name: &str) -> Result<Value, Error> {
        let handle = id.widget();
        let Some(widget) = self.model.widget(handle) else { return Err(Error::InvalidUIElement) };
        let (role, states) = (widget.role, widget.states);
        let truth = |state: State| Ok(Value::Truth(states.has(state)));
        let is_window = role.is_window();
        let is_row = is_row(self.model, widget);
        match name {
            "AXTitle" if is_titled(role) || (role == Role::ListItem && !is_row) => {
                Ok(Value::Text(widget.name.clone().unwrap_or_default()))
            }
            "AXDescription" if !is_titled(role) && role != Role::ListItem && !is_row => {
                // The text of a label is its value.
                let name = widget.name.clone().filter(|_| role != Role::Text || widget.value.is_some());
                let name = name.filter(|_| role != Role::Cell);
                name.map(Value::Text).ok_or(Error::NoValue)
            }
            "AXHelp" => widget.description.clone().map(Value::Text).ok_or(Error::NoValue),
            "AXIdentifier" => widget.id.clone().map(Value::Text).ok_or(Error::NoValue),
            "AXValue" => self.value(id),
            "AXMinValue" | "AXMaxValue" if holds_number(role) => {
                let (min, max) = self.model.range(handle);
                let bound = if name == "AXMinValue" { min } else { max };
                bound.map(Value::Real).ok_or(Error::NoValue)
            }
            "AXEnabled" if is_control(role) => Ok(Value::Truth(!states.has(State::Disabled))),
            "AXFocused" => truth(State::Focused),
            "AXSelected" if is_row || matches!(role, Role::MenuItem | Role::ListItem | Role::Tab) => {
                truth(State::Selected)
            }
            "AXSelected" if role == Role::Menu => truth(State::Expanded),
            "AXExpanded" if role == Role::Combobox => truth(State::Expanded),
            "AXDisclosing" if role == Role::TreeItem => truth(State::Expanded),
            "AXDisclosureLevel" if role == Role::TreeItem => {
                let path = self.model.path(handle).unwrap_or_default();
                let is_item = |part: &&axd_sim::model::Handle| {
                    self.model.widget(**part).is_some_and(|widget| widget.role == Role::TreeItem)
                };
                Ok(Value::Integer(path.iter().filter(is_item).count() as i64 - 1))
            }
            "AXDisclosedByRow" if role == Role::TreeItem => {
                let above = widget.parent.filter(|parent| {
                    self.model.widget(*parent).is_some_and(|above| above.role == Role::TreeItem)
                });
                above.map(|above| Value::Element(Id::of(above))).ok_or(Error::NoValue)
            }
            "AXIndex" if is_row => {
                let table = self.parent(id).ok_or(Error::NoValue)?;
                let place = self.rows(table).iter().position(|row| *row == id);
                place.map(|place| Value::Integer(place as i64)).ok_or(Error::NoValue)
            }
            "AXRows" if has_rows(role) => Ok(Value::Elements(self.rows(id))),
            "AXVisibleRows" | "AXVisibleChildren" if has_rows(role) => {
                Ok(Value::Elements(self.visible_rows(id)))
            }
            "AXSelectedRows" | "AXSelectedChildren" if has_rows(role) => {
                Ok(Value::Elements(self.selected(id)))
            }
            "AXColumns" if has_rows(role) => Ok(Value::Elements(vec![])),
            "AXTabs" if role == Role::TabList => {
                let tabs = widget.children.iter().map(|tab| Id::of(*tab)).collect();
                Ok(Value::Elements(tabs))
            }
            "AXOrientation" if matches!(role, Role::Slider | Role::ScrollBar) => {
                Ok(Value::Text("AXHorizontalOrientation".to_owned()))
            }
            "AXMain" if is_window => Ok(Value::Truth(self.model.windows().first() == Some(&handle))),
            "AXMinimized" if is_window => Ok(Value::Truth(self.model.frame(handle).minimized)),
            "AXFullScreen" if is_window => {
                Ok(Value::Truth(self.model.frame(handle).restore_bounds.is_some()))
            }
            "AXModal" if is_window => truth(State::Modal),
            "AXCloseButton" if role == Role::Window => Ok(Value::Element(id.part(Part::CloseButton))),
            "AXZoomButton" if role == Role::Window => Ok(Value::Element(id.part(Part::ZoomButton))),
            "AXMinimizeButton" if role == Role::Window => Ok(Value::Element(id.part(Part::MinimizeButton))),
            "AXCloseButton" | "AXZoomButton" | "AXMinimizeButton" if is_window => Err(Error::NoValue),
            "AXVisibleCharacterRange" if role == Role::TextArea => self
                .standing
                .visible_text
                .map(|(start, count)| Value::Range(start, count))
                .ok_or(Error::NoValue),
            "AXNumberOfCharacters" | "AXSelectedText" | "AXSelectedTextRange" if holds_text(role) => {
                self.text(id, name)
            }
            "AXPlaceholderValue" if holds_text(role) => Err(Error::NoValue),
            "AXMenuItemMarkChar" if matches!(role, Role::MenuItemCheckbox | Role::MenuItemRadio) => {
                states.has(State::Checked).then(|| Value::Text("✓".to_owned())).ok_or(Error::NoValue)
            }
            "AXElementBusy" if role == Role::Document || states.has(State::Busy) => truth(State::Busy),
            "AXRequired" if states.has(State::Required) => Ok(Value::Truth(true)),
            "AXInvalid" if states.has(State::Invalid) => Ok(Value::Text("true".to_owned())),
            "AXHasPopup" if role == Role::Button && states.has(State::Haspopup) => Ok(Value::Truth(true)),
            _ => UNSUPPORTED,
        }
    }

    /// The rows of a table that are selected.
    pub(crate) fn selected(&mut self, id: Id) -> Vec<Id> {
        let rows = match self.model.widget(id.widget()).and_then(Widget::total) {
            // Of the others it is not known whether they would be.
            Some(_) => self.visible_rows(id),
            None => self.rows(id),
        };
        let is_selected = |row: &Id| self.attribute(*row, "AXSelected") == Ok(Value::Truth(true));
        rows.into_iter().filter(is_selected).collect()
    }

    fn value(&self, id: Id) -> Result<Value, Error> {
        let Some(widget) = self.model.widget(id.widget()) else { return Err(Error::InvalidUIElement) };
        let states = widget.states;
        let held = || widget.value.clone().unwrap_or_default();
        match widget.role {
            Role::Checkbox | Role::Switch | Role::Radio => Ok(Value::Integer(if states.has(State::Mixed) {
                2
            } else {
                i64::from(states.has(State::Checked))
            })),
            Role::ToggleButton => Ok(Value::Integer(i64::from(states.has(State::Pressed)))),
            Role::Tab => Ok(Value::Integer(i64::from(states.has(State::Selected)))),
            Role::Button if self.model.shown_by(id.widget()).is_some() => {
                Ok(Value::Integer(i64::from(states.has(State::Expanded))))
            }
            Role::RadioGroup | Role::TabList => {
                let state = if widget.role == Role::TabList { State::Selected } else { State::Checked };
                let is_it = |child: &&axd_sim::model::Handle| {
                    self.model.widget(**child).is_some_and(|child| child.states.has(state))
                };
                let chosen = widget.children.iter().find(is_it);
                chosen.map(|chosen| Value::Element(Id::of(*chosen))).ok_or(Error::NoValue)
            }
            role if holds_number(role) => held().trim().parse().map(Value::Real).map_err(|_| Error::NoValue),
            // As AppKit does: as many dots as there are characters.
            _ if states.has(State::Secure) => Ok(Value::Text("•".repeat(held().chars().count()))),
            role if holds_text(role) => Ok(Value::Text(held())),
            Role::Text | Role::Paragraph => {
                Ok(Value::Text(widget.value.clone().or_else(|| widget.name.clone()).unwrap_or_default()))
            }
            Role::Combobox | Role::DateField | Role::ColorWell => Ok(Value::Text(held())),
            Role::Heading => Ok(Value::Integer(1)),
            Role::Link | Role::Image | Role::Canvas | Role::Group | Role::StatusBar | Role::Notification => {
                widget.value.clone().map(Value::Text).ok_or(Error::NoValue)
            }
            _ => UNSUPPORTED,
        }
    }

    fn text(&self, id: Id, name: &str) -> Result<Value, Error> {
        let held = self.held(id);
        let (start, end) = self.selection(id);
        Ok(match name {
            "AXNumberOfCharacters" => Value::Integer(units_of(&held).len() as i64),
            "AXSelectedTextRange" => Value::Range(start as isize, (end - start) as isize),
            _ => Value::Text(part_of(&held, start, end - start)),
        })
    }

    /// The text of a field as it is shown.
    pub(crate) fn held(&self, id: Id) -> String {
        match self.value(id) {
            Ok(Value::Text(held)) => held,
            _ => String::new(),
        }
    }

    /// What is selected in a field, in UTF-16 units.
    fn selection(&self, id: Id) -> (usize, usize) {
        let selected = self.model.caret(id.widget()).selected();
        let held = self.held(id);
        let units = |characters: usize| {
            let end = held.char_indices().nth(characters).map_or(held.len(), |(end, _)| end);
            units_of(&held[..end]).len()
        };
        (units(selected.start), units(selected.end))
    }
}

/// A part of a text, in UTF-16 units.
pub(super) fn part_of(text: &str, start: usize, count: usize) -> String {
    let units: Vec<u16> = units_of(text).into_iter().skip(start).take(count).collect();
    text_from(&units)
}

/// Whether its value is a number.
pub(super) fn holds_number(role: Role) -> bool {
    matches!(role, Role::Slider | Role::SpinButton | Role::ScrollBar | Role::ProgressBar | Role::Meter)
}

/// Whether its value is text with a caret.
pub(super) fn holds_text(role: Role) -> bool {
    matches!(role, Role::TextField | Role::TextArea | Role::SearchField)
}
