//! What each toolkit does its own way. `docs/linux.md` says how it was found and how late axd learns of what is
//! never announced.

use std::time::Duration;

use axd_protocol::Role;

/// What an app is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Toolkit {
    /// GTK 3 (and 2), by ATK.
    Gtk3,
    /// GTK 4, which talks AT-SPI by itself.
    Gtk4,
    /// Qt 5 and 6.
    Qt,
    /// Chromium and Electron.
    Chromium,
    /// Firefox and Thunderbird.
    Gecko,
    /// LibreOffice.
    Office,
    /// Anything else: trusted with nothing.
    Other,
}

impl Toolkit {
    /// The toolkit by the name and version that an app reports.
    pub fn named(name: &str, version: &str) -> Toolkit {
        let plain = name.to_ascii_lowercase();
        match plain.as_str() {
            "gtk" if version.starts_with('4') => Toolkit::Gtk4,
            "gtk" | "gail" => Toolkit::Gtk3,
            "chromium" => Toolkit::Chromium,
            "gecko" => Toolkit::Gecko,
            "vcl" => Toolkit::Office,
            _ if plain.starts_with("qt") => Toolkit::Qt,
            _ if plain.contains("libreoffice") => Toolkit::Office,
            _ => Toolkit::Other,
        }
    }

    /// Its name, for the log.
    pub fn name(self) -> &'static str {
        match self {
            Toolkit::Gtk3 => "GTK 3",
            Toolkit::Gtk4 => "GTK 4",
            Toolkit::Qt => "Qt",
            Toolkit::Chromium => "Chromium",
            Toolkit::Gecko => "Gecko",
            Toolkit::Office => "LibreOffice",
            Toolkit::Other => "an unknown toolkit",
        }
    }

    /// Whether `Cache.GetItems` lists most of the app at once. Qt's is empty, GTK 4's holds what was walked before.
    pub fn serves_cache(self) -> bool {
        !matches!(self, Toolkit::Qt | Toolkit::Gtk4)
    }

    /// Whether `GetAll` may be called. ATK's bridge answers it for Chromium; of the others only Qt was tried, which
    /// crashes.
    pub fn supports_get_all(self) -> bool {
        self == Toolkit::Chromium
    }

    /// Whether it is read over a connection to the app itself. That may work in all toolkits with ATK's bridge, but
    /// only browsers have trees large enough for it to matter.
    pub fn is_read_directly(self) -> bool {
        self == Toolkit::Chromium
    }

    /// Whether the actions of buttons and links follow from what they are: Chromium presses the one and jumps to the other.
    pub fn names_actions_by_role(self) -> bool {
        self == Toolkit::Chromium
    }

    /// How many children an element of this role has at least if there are more of them than it has elements for. List views of
    /// GTK 4 have elements for 205 rows, grid views for a bit more than 30 times as many as go into a row, and none of them reports how many
    /// rows there are.
    pub fn shows_at_most(self, number: u32) -> Option<usize> {
        match number {
            // List and list box.
            31 | 98 if self == Toolkit::Gtk4 => Some(200),
            // Table.
            55 if self == Toolkit::Gtk4 => Some(30),
            _ => None,
        }
    }

    /// Whether new and removed children are announced. Where not, rescans find them.
    pub fn announces_children(self) -> bool {
        !matches!(self, Toolkit::Gtk4 | Toolkit::Qt | Toolkit::Other)
    }

    /// Whether an element that has got other children is otherwise as it was, unless that is announced too.
    pub fn announces_children_separately(self) -> bool {
        self.is_browser()
    }

    /// Whether an element of this role announces whatever happens to it: the plain texts of pages do.
    pub fn announces_all_of(self, role: Role) -> bool {
        self.is_browser() && role == Role::Text
    }

    /// Whether children of elements of this role may appear unannounced: in GTK 3, rows that are put into a list box.
    pub fn adds_children_silently(self, role: Role) -> bool {
        match self {
            Toolkit::Gtk3 => role == Role::List,
            _ => !self.announces_children(),
        }
    }

    /// Whether children of any role may appear unannounced, so that rescans are needed.
    pub fn needs_rescan(self) -> bool {
        self.adds_children_silently(Role::List)
    }

    /// Whether elements that are called by their text announce their new name when that changes.
    pub fn announces_names_of_text(self) -> bool {
        self == Toolkit::Gtk3
    }

    /// Whether "showing" is about being mapped, which is announced, and not about scrolling, which is not.
    pub fn showing_is_content(self) -> bool {
        matches!(self, Toolkit::Gtk3 | Toolkit::Qt)
    }

    /// Whether elements without a name are named by their class, and some by their label twice: GTK 4.
    pub fn invents_names(self) -> bool {
        self == Toolkit::Gtk4
    }

    /// Whether an element of this role may be renamed unannounced.
    pub fn renames_silently(self, role: Role) -> bool {
        use Role::{Cell, ColumnHeader, Combobox, ListItem, RowHeader, Tab, TabList, TreeItem};
        let shows = matches!(role, Combobox | TabList) || role.is_window();
        let item = matches!(role, Cell | ListItem | TreeItem | Tab | ColumnHeader | RowHeader) || shows;
        item && matches!(self, Toolkit::Qt | Toolkit::Other)
    }

    /// Whether states may change unannounced.
    pub fn changes_states_silently(self) -> bool {
        matches!(self, Toolkit::Qt | Toolkit::Other)
    }

    /// Whether the current tab has the state "focused", whichever element has the focus, and never "selected".
    pub fn focuses_current_tab(self) -> bool {
        self == Toolkit::Qt
    }

    /// Whether rows and cells that are scrolled away are not even "visible".
    pub fn visible_is_scrolling(self) -> bool {
        self == Toolkit::Qt
    }

    /// Whether only windows are ever "showing": then what is visible and has a place is shown.
    pub fn lacks_showing(self) -> bool {
        self == Toolkit::Gtk4
    }

    /// Whether open menus and lists of combo boxes are elements of the window they were opened from, wherever they are on
    /// the screen, and not what that window says is at a point.
    pub fn has_popups_inside(self) -> bool {
        self == Toolkit::Qt
    }

    /// Whether what is in popups is said to be where it is not: GTK 4 leaves out where their surfaces are.
    pub fn misplaces_popups(self) -> bool {
        self == Toolkit::Gtk4
    }

    /// Whether listing the children of a table or tree makes new objects for its headers every time. They are never
    /// freed before the view is, so such a view is listed only when it has another number of children than before.
    pub fn recreates_headers(self) -> bool {
        self == Toolkit::Qt
    }

    /// Whether `GetChildren` may list grandchildren: GTK 4 leaves the pages of a stack out, which it has by index.
    pub fn may_list_grandchildren(self) -> bool {
        self == Toolkit::Gtk4
    }

    /// Whether all coordinates are relative to the window, whichever are asked for.
    pub fn has_window_coordinates_only(self) -> bool {
        self == Toolkit::Gtk4
    }

    /// The coordinates to ask for: 0 for the screen's, 1 for the window's. GTK 4 complains when asked for the first.
    pub fn coordinates(self) -> u32 {
        u32::from(self.has_window_coordinates_only())
    }

    /// What `GetText` takes for "to the end": GTK 4 knows no −1 but cuts what is too much, ATK the other way round.
    pub fn end_of_text(self) -> i32 {
        if self == Toolkit::Gtk4 { i32::MAX } else { -1 }
    }

    /// For how long after an element of this role was pressed by its own action it swallows another press: GTK 4 and Qt show
    /// a button as pressed for a while before they do what it is for, and count presses meanwhile as the same one.
    pub fn swallows_presses_for(self, role: Role) -> Duration {
        use Role::{Button, Checkbox, Radio, ToggleButton};
        match (self, role) {
            (Toolkit::Gtk4, Button | ToggleButton) => Duration::from_millis(250),
            (Toolkit::Qt, Button | ToggleButton | Checkbox | Radio) => Duration::from_millis(100),
            _ => Duration::ZERO,
        }
    }

    /// Whether acts take effect late: GTK 4 holds a button down for 250 ms, Qt for 100 ms, before it is clicked; what a page of
    /// Firefox does goes through two processes, and a dialog that it opens takes 130 ms and more.
    pub fn acts_late(self) -> bool {
        matches!(self, Toolkit::Gtk4 | Toolkit::Qt | Toolkit::Gecko)
    }

    /// How long after the focus moved something may come that it moved for. A dialog that a page of Firefox opens comes 40 ms and
    /// more after the page has lost the focus, from another process.
    pub fn dialog_delay_after_focus(self) -> Option<Duration> {
        (self == Toolkit::Gecko).then_some(Duration::from_millis(200))
    }

    /// Whether an app reads nothing more from a connection while it performs an action that it was sent over it, as
    /// long as a dialog is open that the action opened. That is how ATK's bridge works; Chromium uses it too but acts
    /// later, by itself.
    pub fn blocks_connection_while_acting(self) -> bool {
        matches!(self, Toolkit::Gtk3 | Toolkit::Office | Toolkit::Gecko)
    }

    /// Whether text is set when the app says that it is. Gecko says so and does nothing.
    pub fn sets_text(self) -> bool {
        self != Toolkit::Gecko
    }

    /// Whether text between elements is no element of its own, but the text of the box that they are in.
    pub fn has_text_in_boxes(self) -> bool {
        self == Toolkit::Gecko
    }

    /// Whether a byte order mark follows each character that takes two halves of UTF-16, so that both are counted alike.
    pub fn pads_wide_characters(self) -> bool {
        self == Toolkit::Gecko
    }

    /// Whether the characters of texts are counted in halves of UTF-16.
    pub fn counts_utf16(self) -> bool {
        self == Toolkit::Qt
    }

    /// Whether it shows web pages: there an element's developer's name is the attribute `id`, elsewhere it is the
    /// property `AccessibleId`.
    pub fn is_browser(self) -> bool {
        matches!(self, Toolkit::Chromium | Toolkit::Gecko)
    }

    /// Whether the tree stays empty until somebody asks the app for its attributes.
    pub fn needs_attributes_to_wake(self) -> bool {
        self == Toolkit::Chromium
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_gtks_are_distinguished_by_version() {
        assert_eq!(Toolkit::named("gtk", "3.24.38"), Toolkit::Gtk3);
        assert_eq!(Toolkit::named("GTK", "4.8.3"), Toolkit::Gtk4);
        assert_eq!(Toolkit::named("Qt", "6.4.2"), Toolkit::Qt);
        assert_eq!(Toolkit::named("WebKitGTK", "2.44"), Toolkit::Other);
    }

    #[test]
    fn only_views_of_gtk4_may_have_more_rows_than_they_list() {
        assert_eq!(Toolkit::Gtk4.shows_at_most(31), Some(200));
        assert_eq!(Toolkit::Gtk4.shows_at_most(39), None);
        assert_eq!(Toolkit::Gtk3.shows_at_most(31), None);
    }

    #[test]
    fn only_plain_texts_of_browsers_are_known_to_announce_everything() {
        assert!(
            Toolkit::Chromium.announces_all_of(Role::Text) && Toolkit::Gecko.announces_all_of(Role::Text)
        );
        assert!(!Toolkit::Chromium.announces_all_of(Role::Button));
        assert!(
            ![Toolkit::Gtk3, Toolkit::Qt, Toolkit::Other].iter().any(|it| it.announces_all_of(Role::Text))
        );
    }
}
