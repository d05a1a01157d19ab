//! What AppKit calls each kind of widget.

use axd_protocol::{Role, State};
use axd_sim::model::{Model, Widget};

use super::tree::{Id, Part};

/// The role and the subrole of an element; `None` if it is gone.
pub(super) fn role_of(model: &Model, id: Id) -> Option<(String, Option<&'static str>)> {
    let widget = model.widget(id.widget())?;
    let (role, subrole) = match id.part {
        Part::Itself => {
            if let Some(own) = widget.native_role.as_ref().filter(|own| own.starts_with("AX")) {
                return Some((own.clone(), None));
            }
            role_of_widget(model, id, widget)
        }
        Part::Menu if widget.role == Role::Combobox && widget.states.has(State::Editable) => ("AXList", None),
        Part::Menu => ("AXMenu", None),
        Part::Cell | Part::RowCell(..) => ("AXCell", None),
        Part::Text | Part::RowText(..) => ("AXStaticText", None),
        Part::Row(_) => ("AXRow", Some("AXTableRow")),
        Part::ScrollArea => ("AXScrollArea", None),
        Part::ScrollBar => ("AXScrollBar", None),
        Part::CloseButton => ("AXButton", Some("AXCloseButton")),
        Part::ZoomButton => ("AXButton", Some("AXZoomButton")),
        Part::MinimizeButton => ("AXButton", Some("AXMinimizeButton")),
    };
    Some((role.to_owned(), subrole))
}

fn role_of_widget(model: &Model, id: Id, widget: &Widget) -> (&'static str, Option<&'static str>) {
    let above = widget.parent.and_then(|parent| model.widget(parent)).map(|above| above.role);
    match widget.role {
        Role::Application => ("AXApplication", None),
        Role::Window => ("AXWindow", Some("AXStandardWindow")),
        Role::Dialog | Role::Alert => ("AXWindow", Some("AXDialog")),
        Role::Button if model.shown_by(id.widget()).is_some() => ("AXDisclosureTriangle", None),
        Role::Button => ("AXButton", None),
        Role::ToggleButton => ("AXCheckBox", Some("AXToggle")),
        Role::Checkbox => ("AXCheckBox", None),
        Role::Switch => ("AXCheckBox", Some("AXSwitch")),
        Role::Radio => ("AXRadioButton", None),
        Role::RadioGroup => ("AXRadioGroup", None),
        Role::TextField if widget.states.has(State::Secure) => ("AXTextField", Some("AXSecureTextField")),
        Role::TextField => ("AXTextField", None),
        Role::SearchField => ("AXTextField", Some("AXSearchField")),
        Role::TextArea => ("AXTextArea", None),
        Role::Combobox if widget.states.has(State::Editable) => ("AXComboBox", None),
        Role::Combobox => ("AXPopUpButton", None),
        Role::Slider => ("AXSlider", None),
        Role::SpinButton => ("AXIncrementor", None),
        Role::Link => ("AXLink", None),
        Role::MenuBar => ("AXMenuBar", None),
        Role::Menu => match above {
            Some(Role::MenuBar) => ("AXMenuBarItem", None),
            Some(Role::Menu) => ("AXMenuItem", None),
            _ if model.is_floating(id.widget()) => ("AXMenu", None),
            _ => ("AXMenuButton", None),
        },
        Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio => ("AXMenuItem", None),
        Role::TabList => ("AXTabGroup", None),
        Role::Tab => ("AXRadioButton", Some("AXTabButton")),
        Role::List | Role::Table => ("AXTable", None),
        Role::Grid => ("AXGrid", None),
        Role::Tree => ("AXOutline", None),
        Role::ListItem => match above {
            Some(Role::Combobox) => ("AXMenuItem", None),
            _ => ("AXRow", Some("AXTableRow")),
        },
        Role::Row => ("AXRow", Some("AXTableRow")),
        Role::TreeItem => ("AXRow", Some("AXOutlineRow")),
        Role::Cell | Role::RowHeader => ("AXCell", None),
        Role::ColumnHeader => ("AXButton", Some("AXSortButton")),
        Role::Column => ("AXColumn", None),
        Role::Text | Role::Paragraph => ("AXStaticText", None),
        Role::Heading => ("AXHeading", None),
        Role::Image => ("AXImage", None),
        Role::Canvas => ("AXLayoutArea", None),
        Role::Toolbar => ("AXToolbar", None),
        Role::ScrollArea => ("AXScrollArea", None),
        Role::ScrollBar => ("AXScrollBar", None),
        Role::SplitGroup => ("AXSplitGroup", None),
        Role::Separator => ("AXSplitter", None),
        Role::ProgressBar => ("AXProgressIndicator", None),
        Role::Meter => ("AXLevelIndicator", None),
        Role::Tooltip => ("AXHelpTag", None),
        Role::Document => ("AXWebArea", None),
        Role::Landmark => ("AXGroup", Some("AXLandmarkRegion")),
        Role::DateField => ("AXDateField", None),
        Role::ColorWell => ("AXColorWell", None),
        Role::Group | Role::StatusBar | Role::TabPanel | Role::Notification | Role::Iframe | Role::Form => {
            ("AXGroup", None)
        }
        Role::Media => ("AXGroup", Some("AXVideo")),
        Role::Unknown => ("AXUnknown", None),
    }
}

/// Whether AppKit puts what it is called into its title; if not, that is its description.
pub(super) fn is_titled(role: Role) -> bool {
    matches!(
        role,
        Role::Application
            | Role::Window
            | Role::Dialog
            | Role::Alert
            | Role::Button
            | Role::ToggleButton
            | Role::Checkbox
            | Role::Switch
            | Role::Radio
            | Role::Link
            | Role::Menu
            | Role::MenuItem
            | Role::MenuItemCheckbox
            | Role::MenuItemRadio
            | Role::Tab
            | Role::ColumnHeader
            | Role::Heading
    )
}

/// Whether it is a control, which can be enabled or not.
pub(super) fn is_control(role: Role) -> bool {
    !matches!(
        role,
        Role::Application
            | Role::Window
            | Role::Dialog
            | Role::Alert
            | Role::Group
            | Role::StatusBar
            | Role::TabPanel
            | Role::Row
            | Role::TreeItem
            | Role::Cell
            | Role::Document
            | Role::Landmark
            | Role::Form
            | Role::Iframe
            | Role::SplitGroup
            | Role::Notification
    )
}

/// Whether AppKit shows it as a table, whose rows are elements.
pub(super) fn has_rows(role: Role) -> bool {
    matches!(role, Role::List | Role::Table | Role::Grid | Role::Tree)
}

/// Whether it is a row of such a table.
pub(super) fn is_row(model: &Model, widget: &Widget) -> bool {
    let above = widget.parent.and_then(|parent| model.widget(parent)).map(|above| above.role);
    match widget.role {
        Role::Row | Role::TreeItem => true,
        Role::ListItem => above.is_some_and(has_rows),
        _ => false,
    }
}
