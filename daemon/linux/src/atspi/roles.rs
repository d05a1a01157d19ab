//! AT-SPI's role numbers, what AT-SPI calls them, and the one vocabulary they become. The numbers are the same in
//! every toolkit; the names toolkits send along ("push button", "button") are not, so they are not asked for.

use axd_protocol::Role;

use crate::atspi::states::{NativeState, NativeStates};

/// The number of a role whose text must never be read.
pub(crate) const PASSWORD_TEXT: u32 = 40;
/// The number of the role "filler".
const FILLER: u32 = 20;
/// The number of the role "panel".
pub(crate) const PANEL: u32 = 39;
/// The number of the role "static".
pub(crate) const STATIC: u32 = 116;
/// The number of the role "application".
pub(crate) const APPLICATION: u32 = 75;

/// What AT-SPI calls a role, and what it becomes.
const ROLES: [(&str, Role); 131] = [
    ("invalid", Role::Unknown),
    ("accelerator label", Role::Text),
    ("alert", Role::Alert),
    ("animation", Role::Image),
    ("arrow", Role::Image),
    ("calendar", Role::DateField),
    ("canvas", Role::Canvas),
    ("check box", Role::Checkbox),
    ("check menu item", Role::MenuItemCheckbox),
    ("color chooser", Role::ColorWell),
    ("column header", Role::ColumnHeader),
    ("combo box", Role::Combobox),
    ("date editor", Role::DateField),
    ("desktop icon", Role::Image),
    ("desktop frame", Role::Group),
    ("dial", Role::Slider),
    ("dialog", Role::Dialog),
    ("directory pane", Role::Group),
    ("drawing area", Role::Canvas),
    ("file chooser", Role::Dialog),
    ("filler", Role::Group),
    ("focus traversable", Role::Group),
    ("font chooser", Role::Dialog),
    ("frame", Role::Window),
    ("glass pane", Role::Group),
    ("html container", Role::Document),
    ("icon", Role::Image),
    ("image", Role::Image),
    ("internal frame", Role::Iframe),
    ("label", Role::Text),
    ("layered pane", Role::Group),
    ("list", Role::List),
    ("list item", Role::ListItem),
    ("menu", Role::Menu),
    ("menu bar", Role::MenuBar),
    ("menu item", Role::MenuItem),
    ("option pane", Role::Group),
    ("page tab", Role::Tab),
    ("page tab list", Role::TabList),
    ("panel", Role::Group),
    ("password text", Role::TextField),
    ("popup menu", Role::Menu),
    ("progress bar", Role::ProgressBar),
    ("push button", Role::Button),
    ("radio button", Role::Radio),
    ("radio menu item", Role::MenuItemRadio),
    ("root pane", Role::Group),
    ("row header", Role::RowHeader),
    ("scroll bar", Role::ScrollBar),
    ("scroll pane", Role::ScrollArea),
    ("separator", Role::Separator),
    ("slider", Role::Slider),
    ("spin button", Role::SpinButton),
    ("split pane", Role::SplitGroup),
    ("status bar", Role::StatusBar),
    ("table", Role::Table),
    ("table cell", Role::Cell),
    ("table column header", Role::ColumnHeader),
    ("table row header", Role::RowHeader),
    ("tearoff menu item", Role::MenuItem),
    ("terminal", Role::TextArea),
    ("text", Role::TextField),
    ("toggle button", Role::ToggleButton),
    ("tool bar", Role::Toolbar),
    ("tool tip", Role::Tooltip),
    ("tree", Role::Tree),
    ("tree table", Role::Tree),
    ("unknown", Role::Unknown),
    ("viewport", Role::Group),
    ("window", Role::Window),
    ("extended", Role::Unknown),
    ("header", Role::Group),
    ("footer", Role::Group),
    ("paragraph", Role::Paragraph),
    ("ruler", Role::Separator),
    ("application", Role::Application),
    ("autocomplete", Role::Combobox),
    ("editbar", Role::TextField),
    ("embedded", Role::Group),
    ("entry", Role::TextField),
    ("chart", Role::Image),
    ("caption", Role::Text),
    ("document frame", Role::Document),
    ("heading", Role::Heading),
    ("page", Role::Group),
    ("section", Role::Group),
    ("redundant object", Role::Group),
    ("form", Role::Form),
    ("link", Role::Link),
    ("input method window", Role::Window),
    ("table row", Role::Row),
    ("tree item", Role::TreeItem),
    ("document spreadsheet", Role::Document),
    ("document presentation", Role::Document),
    ("document text", Role::Document),
    ("document web", Role::Document),
    ("document email", Role::Document),
    ("comment", Role::Group),
    ("list box", Role::List),
    ("grouping", Role::Group),
    ("image map", Role::Image),
    ("notification", Role::Notification),
    ("info bar", Role::Notification),
    ("level bar", Role::Meter),
    ("title bar", Role::Group),
    ("block quote", Role::Group),
    ("audio", Role::Media),
    ("video", Role::Media),
    ("definition", Role::Text),
    ("article", Role::Document),
    ("landmark", Role::Landmark),
    ("log", Role::Group),
    ("marquee", Role::Text),
    ("math", Role::Group),
    ("rating", Role::Slider),
    ("timer", Role::Text),
    ("static", Role::Text),
    ("math fraction", Role::Group),
    ("math root", Role::Group),
    ("subscript", Role::Text),
    ("superscript", Role::Text),
    ("description list", Role::List),
    ("description term", Role::Text),
    ("description value", Role::Text),
    ("footnote", Role::Group),
    ("content deletion", Role::Group),
    ("content insertion", Role::Group),
    ("mark", Role::Group),
    ("suggestion", Role::Group),
    ("push button menu", Role::Button),
    ("switch", Role::Switch),
];

/// What AT-SPI calls the role.
pub(crate) fn native_name(number: u32) -> Option<&'static str> {
    ROLES.get(number as usize).filter(|_| number != 0).map(|(name, _)| *name)
}

/// Whether a window of this role is the active one or not; popups are neither.
pub(crate) fn can_be_active(number: u32) -> bool {
    // Alert, dialog, file chooser, filler (a plain window of Qt), font chooser, frame.
    matches!(number, 2 | 16 | 19 | FILLER | 22 | 23)
}

/// What an element is that the app itself lists, given its role. Qt calls a window that is a plain widget what it calls any plain
/// widget: a filler. No other toolkit has one there.
pub(crate) fn top_level(number: u32, role: Role) -> Role {
    if number == FILLER { Role::Window } else { role }
}

/// What an element of this role and in these states is.
pub(crate) fn role(number: u32, states: NativeStates) -> Role {
    let role = ROLES.get(number as usize).map_or(Role::Unknown, |(_, role)| *role);
    match role {
        // One number for entries and for views of many lines.
        Role::TextField if states.has(NativeState::MultiLine) => Role::TextArea,
        // Toolkits give text that cannot be edited the same number; a field one can only read is still a field.
        Role::Document if number == 94 && states.has(NativeState::Editable) => Role::TextArea,
        role => role,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_a_name_and_the_known_ones_are_in_place() {
        let states = NativeStates::default();
        for (number, name, expected) in [
            (7, "check box", Role::Checkbox),
            (23, "frame", Role::Window),
            (43, "push button", Role::Button),
            (61, "text", Role::TextField),
            (75, "application", Role::Application),
            (79, "entry", Role::TextField),
            (95, "document web", Role::Document),
            (110, "landmark", Role::Landmark),
            (STATIC, "static", Role::Text),
            (130, "switch", Role::Switch),
        ] {
            assert_eq!(native_name(number), Some(name));
            assert_eq!(role(number, states), expected);
        }
        assert_eq!(role(4711, states), Role::Unknown);
        assert_eq!(native_name(0), None);
    }

    #[test]
    fn a_plain_widget_that_the_app_lists_is_a_window() {
        assert_eq!(top_level(FILLER, Role::Group), Role::Window);
        assert_eq!(top_level(PANEL, Role::Group), Role::Group);
        assert_eq!(top_level(16, Role::Dialog), Role::Dialog);
        assert!(can_be_active(FILLER));
    }

    #[test]
    fn text_of_many_lines_is_a_text_area() {
        assert_eq!(role(61, NativeStates::from_words(&[1 << 17, 0])), Role::TextArea);
        assert_eq!(role(PASSWORD_TEXT, NativeStates::default()), Role::TextField);
    }
}
