//! Which other elements change along with one, without being announced: pure rules by role, toolkit and place in the tree.

use axd_protocol::Role;

use crate::app::event_queue::ChangeKinds;
use crate::atspi::toolkit::Toolkit;
use crate::read::elements::Elements;
use axd_platform::ElementKey;
use axd_platform::mirror::Mirror;

/// How many related elements one change makes dirty at most; the sweep reads the rest.
const MAX_RELATED: usize = 256;
/// How many cells on either side of a cell are taken to be in its row.
const CELLS_EACH_SIDE: usize = 8;
/// How deep below a date field its parts are.
const MAX_DATE_PART_DEPTH: usize = 4;

/// What is to be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The element.
    Element(ElementKey),
    /// Only its list of children.
    Children(ElementKey),
}

/// What decides which elements change together.
pub(crate) struct Relations<'a> {
    pub toolkit: Toolkit,
    pub elements: &'a Elements,
    pub mirror: &'a Mirror,
}

impl Relations<'_> {
    /// What to read again beside a changed element. `focused` are the elements that claim the focus.
    pub fn related(
        &self,
        key: ElementKey,
        kinds: ChangeKinds,
        focused: impl Iterator<Item = ElementKey>,
    ) -> Vec<Mark> {
        let (toolkit, mirror) = (self.toolkit, self.mirror);
        let parent = mirror.parent(key);
        let mut marks = Vec::new();
        // A scroll bar that moves shows other rows of the view beside it.
        let scrolled = self.elements.partial_views().filter(|other| mirror.parent(*other) == parent);
        marks.extend(scrolled.map(Mark::Element));
        marks.extend(self.tabs(key).into_iter().map(Mark::Element));
        if kinds.has(ChangeKinds::GONE) {
            match toolkit.announces_children_separately() {
                true => marks.extend(parent.map(Mark::Children)),
                false => self.mark_known(parent, &mut marks),
            }
        }
        if kinds.has(ChangeKinds::FOCUS | ChangeKinds::WINDOW) {
            self.mark_known(focused, &mut marks);
        }
        if kinds.has(ChangeKinds::SELECTION) {
            // A combo box shows what is selected in its list.
            self.mark_known(parent, &mut marks);
        }
        // Cells may be in cells, and none of them announces that it was selected or has the focus now.
        if kinds.has(ChangeKinds::SELECTION) || kinds.has(ChangeKinds::FOCUS) && self.holds_items(key) {
            self.mark_known(self.items(key), &mut marks);
        }
        if kinds.has(ChangeKinds::CURRENT_ITEM) {
            self.mark_known(self.row(key), &mut marks);
        }
        marks.extend(self.date_field(key).map(Mark::Element));
        if kinds.has(ChangeKinds::SUBTREE) {
            self.mark_known(mirror.below(&[key]), &mut marks);
        }
        // The icon in a field of GTK 3 is no widget, and does not announce that it is shown with the field.
        if kinds.has(ChangeKinds::VISIBILITY) && toolkit.showing_is_content() {
            marks.extend(self.children(key).map(Mark::Element));
        }
        if !toolkit.is_browser() && kinds.has(ChangeKinds::SENSITIVITY) {
            self.mark_known(mirror.below(&[key]).into_iter().take(MAX_RELATED), &mut marks);
        }
        marks
    }

    /// All tabs beside a changed tab: another one may be current now, and Qt does not announce that of the one before.
    pub fn tabs(&self, key: ElementKey) -> Vec<ElementKey> {
        let list = match self.elements.role(key) {
            Some(Role::TabList) => Some(key),
            Some(Role::Tab) => self.mirror.parent(key),
            _ => None,
        };
        let list = list.filter(|_| self.toolkit.focuses_current_tab());
        list.into_iter().flat_map(|list| self.children(list)).collect()
    }

    fn mark_known(&self, keys: impl IntoIterator<Item = ElementKey>, marks: &mut Vec<Mark>) {
        marks.extend(keys.into_iter().filter(|key| self.mirror.knows(*key)).map(Mark::Element));
    }

    fn holds_items(&self, key: ElementKey) -> bool {
        use Role::{Cell, Grid, List, ListItem, Row, Table, Tree, TreeItem};
        let role = self.elements.role(key);
        role.is_some_and(|role| matches!(role, Cell | Grid | List | ListItem | Row | Table | Tree | TreeItem))
    }

    /// The items in an element: the first [`MAX_RELATED`], and those that were selected.
    fn items(&self, key: ElementKey) -> Vec<ElementKey> {
        let below = self.mirror.below(&[key]);
        let selected = |key: &&ElementKey| self.elements.last(**key).is_some_and(|last| last.selected);
        let items = below.iter().skip(1);
        items.clone().take(MAX_RELATED).chain(items.filter(selected)).copied().collect()
    }

    /// The neighbours of an item, which are in the same row, and what is in them.
    fn row(&self, key: ElementKey) -> Vec<ElementKey> {
        let Some(parent) = self.mirror.parent(key) else { return Vec::new() };
        let siblings = self.mirror.children(parent);
        let Some(at) = siblings.iter().position(|sibling| *sibling == key) else { return Vec::new() };
        let (from, to) = (at.saturating_sub(CELLS_EACH_SIDE), (at + CELLS_EACH_SIDE + 1).min(siblings.len()));
        let mut row = self.mirror.below(&siblings[from..to]);
        row.truncate(MAX_RELATED);
        row
    }

    /// The date field that an element is a part of: its value is made of its parts, and only they announce changes.
    fn date_field(&self, key: ElementKey) -> Option<ElementKey> {
        let fields = self.elements.date_fields();
        if fields.is_empty() {
            return None;
        }
        let above = std::iter::successors(self.mirror.parent(key), |key| self.mirror.parent(*key));
        above.take(MAX_DATE_PART_DEPTH).find(|key| fields.contains(key))
    }

    fn children(&self, key: ElementKey) -> impl Iterator<Item = ElementKey> {
        self.mirror.children(key).iter().take(MAX_RELATED).copied()
    }
}

#[cfg(test)]
mod tests {
    use axd_platform::Facts;
    use axd_platform::mirror::{Reading, Readings};

    use super::*;
    use crate::read::elements::LastReading;

    const WINDOW: u64 = 1;

    /// A window, and what is in it: each element with its role and its parent.
    struct Fixture {
        mirror: Mirror,
        elements: Elements,
        focused: Vec<ElementKey>,
    }

    impl Fixture {
        fn new(tree: &[(u64, Role, u64)]) -> Fixture {
            let mut all = vec![(ElementKey::APP.0, Role::Application, u64::MAX), (WINDOW, Role::Window, 0)];
            all.extend(tree);
            let mut readings = Readings::default();
            let mut elements = Elements::default();
            for (key, role, _) in &all {
                let children = all.iter().filter(|(_, _, parent)| parent == key);
                let children = children.map(|(child, ..)| ElementKey(*child)).collect();
                readings
                    .add(ElementKey(*key), Some(Reading { facts: Facts::new(*role), children, total: None }));
                elements.store(ElementKey(*key), last(*role));
            }
            let mut mirror = Mirror::with_limit(1000);
            mirror.apply(readings);
            Fixture { mirror, elements, focused: Vec::new() }
        }

        fn marks(&self, toolkit: Toolkit, key: u64, kinds: ChangeKinds) -> Vec<Mark> {
            let relations = Relations { toolkit, elements: &self.elements, mirror: &self.mirror };
            relations.related(ElementKey(key), kinds, self.focused.iter().copied())
        }

        /// The elements that are read again in full.
        fn dirty(&self, toolkit: Toolkit, key: u64, kinds: ChangeKinds) -> Vec<u64> {
            let element = |mark: Mark| match mark {
                Mark::Element(key) => Some(key.0),
                Mark::Children(_) => None,
            };
            self.marks(toolkit, key, kinds).into_iter().filter_map(element).collect()
        }
    }

    fn last(role: Role) -> LastReading {
        LastReading {
            role,
            selected: false,
            inactive: false,
            date_field: role == Role::DateField,
            page: false,
            fingerprint: None,
            silent: None,
        }
    }

    #[test]
    fn a_plain_change_concerns_no_other_element() {
        let fixture = Fixture::new(&[(2, Role::Button, WINDOW), (3, Role::Button, WINDOW)]);
        for kinds in [ChangeKinds::NAME, ChangeKinds::VALUE, ChangeKinds::STATES, ChangeKinds::CHILDREN] {
            assert_eq!(fixture.marks(Toolkit::Gtk3, 2, kinds), [], "{kinds:?}");
        }
    }

    #[test]
    fn a_removed_element_has_its_parent_read_and_in_pages_only_the_list_of_children() {
        let fixture = Fixture::new(&[(2, Role::Group, WINDOW), (3, Role::Button, 2)]);
        let group = ElementKey(2);
        assert_eq!(fixture.marks(Toolkit::Gtk3, 3, ChangeKinds::GONE), [Mark::Element(group)]);
        assert_eq!(fixture.marks(Toolkit::Chromium, 3, ChangeKinds::GONE), [Mark::Children(group)]);
    }

    #[test]
    fn whoever_claims_the_focus_is_read_when_another_gets_it() {
        let mut fixture = Fixture::new(&[(2, Role::Button, WINDOW), (3, Role::Button, WINDOW)]);
        fixture.focused = vec![ElementKey(2), ElementKey(99)];
        assert_eq!(fixture.dirty(Toolkit::Qt, 3, ChangeKinds::FOCUS), [2], "99 is not in the tree");
    }

    #[test]
    fn all_tabs_of_qt_are_read_when_one_changes() {
        let fixture = Fixture::new(&[(2, Role::TabList, WINDOW), (3, Role::Tab, 2), (4, Role::Tab, 2)]);
        assert_eq!(fixture.dirty(Toolkit::Qt, 3, ChangeKinds::NAME), [3, 4]);
        assert_eq!(fixture.dirty(Toolkit::Qt, 2, ChangeKinds::STATES), [3, 4]);
        assert!(fixture.dirty(Toolkit::Gtk3, 3, ChangeKinds::NAME).is_empty());
    }

    #[test]
    fn a_selection_concerns_the_combo_box_and_the_items() {
        let fixture = Fixture::new(&[
            (2, Role::Combobox, WINDOW),
            (3, Role::List, 2),
            (4, Role::ListItem, 3),
            (5, Role::ListItem, 3),
        ]);
        assert_eq!(fixture.dirty(Toolkit::Gtk3, 3, ChangeKinds::SELECTION), [2, 4, 5]);
        assert_eq!(fixture.dirty(Toolkit::Gtk3, 3, ChangeKinds::FOCUS), [4, 5]);
    }

    #[test]
    fn of_very_many_items_the_first_and_the_selected_are_read() {
        let items = (3..700).map(|key| (key, Role::ListItem, 2));
        let tree: Vec<_> = std::iter::once((2, Role::List, WINDOW)).chain(items).collect();
        let mut fixture = Fixture::new(&tree);
        fixture.elements.store(ElementKey(650), LastReading { selected: true, ..last(Role::ListItem) });
        let dirty = fixture.dirty(Toolkit::Gtk3, 2, ChangeKinds::SELECTION);
        assert_eq!(dirty.len(), 1 + MAX_RELATED + 1, "with the parent of the list");
        assert_eq!(dirty.last(), Some(&650));
    }

    #[test]
    fn the_current_cell_has_its_row_read() {
        let cells = (10..60).map(|key| (key, Role::Cell, 2));
        let tree: Vec<_> = std::iter::once((2, Role::Table, WINDOW)).chain(cells).collect();
        let dirty = Fixture::new(&tree).dirty(Toolkit::Gtk3, 30, ChangeKinds::CURRENT_ITEM);
        assert_eq!(dirty, (22..=38).collect::<Vec<u64>>());
    }

    #[test]
    fn a_part_of_a_date_has_the_field_read() {
        let fixture =
            Fixture::new(&[(2, Role::DateField, WINDOW), (3, Role::Group, 2), (4, Role::SpinButton, 3)]);
        assert_eq!(fixture.dirty(Toolkit::Gecko, 4, ChangeKinds::VALUE), [2]);
        assert!(fixture.dirty(Toolkit::Gecko, 2, ChangeKinds::NAME).is_empty());
    }

    #[test]
    fn a_view_is_read_again_when_its_scroll_bar_moves() {
        let mut fixture = Fixture::new(&[
            (2, Role::Group, WINDOW),
            (3, Role::Table, 2),
            (4, Role::ScrollBar, 2),
            (5, Role::Slider, WINDOW),
        ]);
        fixture.elements.set_partial(ElementKey(3), Vec::new());
        assert_eq!(fixture.dirty(Toolkit::Gtk3, 4, ChangeKinds::VALUE), [3]);
        assert!(fixture.dirty(Toolkit::Gtk3, 5, ChangeKinds::VALUE).is_empty());
    }

    #[test]
    fn what_is_below_follows_a_loaded_page_and_a_disabled_group() {
        let fixture = Fixture::new(&[(2, Role::Group, WINDOW), (3, Role::Button, 2), (4, Role::Text, 3)]);
        assert_eq!(fixture.dirty(Toolkit::Chromium, 2, ChangeKinds::SUBTREE), [2, 3, 4]);
        assert_eq!(fixture.dirty(Toolkit::Gtk4, 2, ChangeKinds::SENSITIVITY), [2, 3, 4]);
        assert!(fixture.dirty(Toolkit::Chromium, 2, ChangeKinds::SENSITIVITY).is_empty());
        assert_eq!(fixture.dirty(Toolkit::Gtk3, 2, ChangeKinds::VISIBILITY), [3], "its children only");
        assert!(fixture.dirty(Toolkit::Gtk4, 2, ChangeKinds::VISIBILITY).is_empty());
    }
}
