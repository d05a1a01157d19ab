//! The roles of elements: one ARIA-like vocabulary for every toolkit.
//!
//! The table below is the only place a role is described. Platforms map their native roles to it, selectors accept
//! its names and aliases, ids take their prefix from it, and the tree asks it how an element is keyed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What distinguishes an element of a role from its siblings when its stable id is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyed {
    /// The name: for controls and text, which people call by name.
    ByName,
    /// The index among siblings of the same role: for containers, whose names change often.
    ByOrdinal,
    /// The name, or without one the text of the first named descendants: for rows, cells, items and buttons.
    ByContent,
    /// The title, or without one the index: for windows and dialogs.
    ByTitle,
}

macro_rules! roles {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal, $prefix:literal, $keyed:ident, $interactive:literal $(, $alias:literal)* ;)+) => {
        /// The role of an element.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Role { $($(#[doc = $doc])+ $variant,)+ }

        impl Role {
            /// All roles, in the order of the table.
            pub const ALL: &'static [Role] = &[$(Role::$variant,)+];

            /// The name used on the wire, in selectors and in the text form.
            pub const fn name(self) -> &'static str {
                match self { $(Role::$variant => $name,)+ }
            }

            /// The first part of the ids of elements of this role.
            pub const fn prefix(self) -> &'static str {
                match self { $(Role::$variant => $prefix,)+ }
            }

            /// What distinguishes elements of this role from their siblings.
            pub const fn keyed(self) -> Keyed {
                match self { $(Role::$variant => Keyed::$keyed,)+ }
            }

            /// Whether elements of this role are controls that users act on.
            pub const fn is_interactive(self) -> bool {
                match self { $(Role::$variant => $interactive,)+ }
            }

            /// Other spellings that selectors accept.
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(Role::$variant => &[$($alias,)*],)+ }
            }
        }
    };
}

roles! {
    /// A whole application: the root of its tree.
    Application = "application", "app", ByOrdinal, false, "app";
    /// A top-level window.
    Window = "window", "win", ByTitle, false, "frame";
    /// A dialog, sheet or modal panel.
    Dialog = "dialog", "dlg", ByTitle, false, "sheet", "modal";
    /// A message that must be answered before anything else.
    Alert = "alert", "alrt", ByTitle, false, "alertdialog", "messagebox";
    /// A push button.
    Button = "button", "btn", ByContent, true, "pushbutton";
    /// A button that stays down.
    ToggleButton = "togglebutton", "tgl", ByContent, true;
    /// A two-state (or mixed) check box.
    Checkbox = "checkbox", "chk", ByName, true, "check";
    /// An on/off switch.
    Switch = "switch", "swt", ByName, true;
    /// One of a set of exclusive choices.
    Radio = "radio", "rad", ByName, true, "radiobutton";
    /// A set of radio buttons.
    RadioGroup = "radiogroup", "rgrp", ByOrdinal, false;
    /// A single-line text field.
    TextField = "textfield", "txt", ByName, true, "textbox", "entry", "input", "edit", "passwordfield";
    /// A multi-line text area.
    TextArea = "textarea", "area", ByName, true, "editor";
    /// A field for searching.
    SearchField = "searchfield", "srch", ByName, true, "searchbox";
    /// A field with a list of choices.
    Combobox = "combobox", "cmb", ByName, true, "popupbutton", "dropdown", "select";
    /// A control that takes a value from a range.
    Slider = "slider", "sld", ByName, true;
    /// A number field with steppers.
    SpinButton = "spinbutton", "spin", ByName, true, "stepper";
    /// A hyperlink.
    Link = "link", "lnk", ByContent, true, "hyperlink";
    /// The bar of an application's or window's menus.
    MenuBar = "menubar", "mbar", ByOrdinal, false;
    /// A menu.
    Menu = "menu", "menu", ByName, true;
    /// An item of a menu.
    MenuItem = "menuitem", "mi", ByContent, true;
    /// A menu item that is checked or not.
    MenuItemCheckbox = "menuitemcheckbox", "mic", ByContent, true;
    /// A menu item of an exclusive set.
    MenuItemRadio = "menuitemradio", "mir", ByContent, true;
    /// The row of tabs over pages.
    TabList = "tablist", "tabs", ByOrdinal, false, "tabgroup", "pagetablist";
    /// One tab.
    Tab = "tab", "tab", ByContent, true, "pagetab";
    /// The page under a tab.
    TabPanel = "tabpanel", "page", ByOrdinal, false;
    /// A list of items.
    List = "list", "lst", ByOrdinal, false, "listbox";
    /// An item of a list.
    ListItem = "listitem", "li", ByContent, true, "option", "item";
    /// A tree of items.
    Tree = "tree", "tree", ByOrdinal, false, "outline";
    /// An item of a tree.
    TreeItem = "treeitem", "ti", ByContent, true, "outlinerow";
    /// A table.
    Table = "table", "tbl", ByOrdinal, false;
    /// A table whose cells are acted on.
    Grid = "grid", "grid", ByOrdinal, false;
    /// A row of a table.
    Row = "row", "row", ByContent, true, "tablerow";
    /// A cell of a table.
    Cell = "cell", "cell", ByContent, true, "tablecell", "gridcell";
    /// The header of a column.
    ColumnHeader = "columnheader", "col", ByContent, true;
    /// The header of a row.
    RowHeader = "rowheader", "rowh", ByContent, true;
    /// A column of a table, where a toolkit has one.
    Column = "column", "colm", ByOrdinal, false;
    /// Static text, such as a label.
    Text = "text", "lbl", ByName, false, "label", "statictext";
    /// A heading.
    Heading = "heading", "head", ByName, false, "header";
    /// A paragraph.
    Paragraph = "paragraph", "para", ByOrdinal, false;
    /// An image or icon.
    Image = "image", "img", ByName, false, "icon", "img";
    /// A drawing surface that shows no tree of its own.
    Canvas = "canvas", "cnv", ByName, true, "drawingarea";
    /// Elements that belong together.
    Group = "group", "grp", ByOrdinal, false, "panel", "section", "generic", "filler";
    /// A row of controls.
    Toolbar = "toolbar", "tool", ByOrdinal, false;
    /// A bar that shows the app's status.
    StatusBar = "statusbar", "stat", ByOrdinal, false, "status";
    /// An area that scrolls.
    ScrollArea = "scrollarea", "scra", ByOrdinal, false, "scrollpane", "scrollview";
    /// A scroll bar.
    ScrollBar = "scrollbar", "scrb", ByOrdinal, true;
    /// Panes with a divider between.
    SplitGroup = "splitgroup", "spl", ByOrdinal, false, "splitpane";
    /// The divider between panes, or a line between items.
    Separator = "separator", "sep", ByOrdinal, false, "splitter";
    /// An indicator of a task's progress.
    ProgressBar = "progressbar", "prog", ByName, false, "progressindicator";
    /// A measured value within a range.
    Meter = "meter", "mtr", ByName, false, "levelindicator", "levelbar";
    /// A hint that pops up.
    Tooltip = "tooltip", "tip", ByName, false;
    /// A message that appeared without a user action.
    Notification = "notification", "note", ByName, false, "infobar";
    /// A web page or document.
    Document = "document", "doc", ByOrdinal, false, "webarea", "documentweb", "article";
    /// An embedded page.
    Iframe = "iframe", "frm", ByOrdinal, false, "internalframe";
    /// A landmark of a page: main, navigation, banner, region.
    Landmark = "landmark", "mark", ByOrdinal, false, "main", "navigation", "banner", "region", "complementary", "contentinfo";
    /// A form.
    Form = "form", "form", ByOrdinal, false;
    /// A date or time control.
    DateField = "datefield", "date", ByName, true, "calendar", "datetime";
    /// A colour control.
    ColorWell = "colorwell", "clr", ByName, true, "colorchooser";
    /// A video, sound or other medium.
    Media = "media", "med", ByName, false, "video", "audio";
    /// Anything the vocabulary has no word for; `native_role` says what it is.
    Unknown = "unknown", "el", ByName, false, "custom";
}

impl Role {
    /// Finds a role by its name or an alias, in any case; spaces, hyphens and underscores do not count.
    pub fn parse(word: &str) -> Option<Role> {
        let plain: String =
            word.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).flat_map(char::to_lowercase).collect();
        Role::ALL
            .iter()
            .copied()
            .find(|role| role.name() == plain || role.aliases().contains(&plain.as_str()))
    }

    /// Whether elements of this role only hold others, and say nothing unless they have a name.
    pub const fn is_plain(self) -> bool {
        matches!(
            self,
            Role::Group
                | Role::ScrollArea
                | Role::SplitGroup
                | Role::Unknown
                | Role::Paragraph
                | Role::Separator
                | Role::TabPanel
        )
    }

    /// Whether the role is a top-level surface: what `--window` names and snapshots start from.
    pub const fn is_window(self) -> bool {
        matches!(self, Role::Window | Role::Dialog | Role::Alert)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a word that is not a role.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a role; `ax schema roles` lists them")]
pub struct UnknownRole(pub String);

impl FromStr for Role {
    type Err = UnknownRole;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Role::parse(s).ok_or_else(|| UnknownRole(s.to_owned()))
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        word.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Role {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Role".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<&str> = Role::ALL.iter().map(|role| role.name()).collect();
        schemars::json_schema!({ "type": "string", "enum": names })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_aliases_and_prefixes_name_one_role_each() {
        let mut words = HashSet::new();
        let mut prefixes = HashSet::new();
        for role in Role::ALL {
            assert!(prefixes.insert(role.prefix()), "{}", role.prefix());
            assert!((1..=4).contains(&role.prefix().len()), "{}", role.prefix());
            assert!(role.prefix().bytes().all(|b| b.is_ascii_lowercase()), "{}", role.prefix());
            for word in role.aliases().iter().filter(|alias| **alias != role.name()).chain([&role.name()]) {
                assert!(words.insert(*word), "{word} is used twice");
                assert_eq!(Role::parse(word), Some(*role));
            }
        }
    }

    #[test]
    fn a_role_is_found_in_any_case_and_spelling() {
        assert_eq!(Role::parse("TextBox"), Some(Role::TextField));
        assert_eq!(Role::parse("push button"), Some(Role::Button));
        assert_eq!(Role::parse("Radio-Button"), Some(Role::Radio));
        assert_eq!(Role::parse("gizmo"), None);
    }
}
