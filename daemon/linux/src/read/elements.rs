//! What is remembered of elements between readings: one record each.
//!
//! Some kinds of elements are looked for on every event: windows, pages, date fields, views. Their keys are indexed, so that no
//! event costs a search through all records.

use std::collections::HashSet;
use std::num::NonZeroU64;

use axd_platform::ElementKey;
use axd_protocol::Role;
use rustc_hash::FxHashMap;

use crate::atspi::states::NativeStates;
use crate::read::rows::ViewSize;
use crate::x11::window_match::AppWindow;

/// What was last read of an element, as far as later readings need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LastReading {
    pub role: Role,
    pub selected: bool,
    /// It is a window, and was not the active one.
    pub inactive: bool,
    /// It is a date field of a page, which is made of parts.
    pub date_field: bool,
    /// It is a page of a browser.
    pub page: bool,
    /// A hash of what a cache holds of it, where the app serves one.
    pub fingerprint: Option<NonZeroU64>,
    /// What its toolkit changes without an event.
    pub silent: Option<Box<Silent>>,
}

/// What a toolkit changes without an event, as it was last read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Silent {
    /// The native states, where those change unannounced.
    pub native_states: Option<NativeStates>,
    /// The content that changes unannounced.
    pub content: SilentContent,
}

/// Content that a toolkit changes without an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum SilentContent {
    /// None.
    #[default]
    Nothing,
    /// The number of a slider or the like; `None` if it has none.
    Number(Option<String>),
    /// The name of an item.
    Name(String),
}

/// Everything that is remembered of an element. Small, because there is one for each of up to 250,000 elements.
#[derive(Debug, Default)]
struct Record {
    /// `None` until it is read for the first time.
    last: Option<LastReading>,
    /// What only few elements have.
    rare: Option<Box<RareRecord>>,
}

/// What is remembered of few elements.
#[derive(Debug, Default)]
struct RareRecord {
    /// Its row, in a view of which only some rows are read.
    row: Option<u32>,
    /// Its children must be read by index.
    by_index: bool,
    window: Option<AppWindow>,
    /// The number of its window on the screen.
    window_number: Option<u64>,
    view: Option<ViewRecord>,
}

/// What is remembered of a view.
#[derive(Debug, Default)]
struct ViewRecord {
    /// The children that were read, where only some are.
    partial: Option<Vec<ElementKey>>,
    /// Its size, where only some of its rows are read.
    size: Option<ViewSize>,
    /// The rows that are read wherever it is scrolled to.
    kept_rows: Vec<u32>,
    /// All of its children, where the toolkit recreates headers whenever they are listed.
    listed: Option<Vec<ElementKey>>,
}

/// The records of an app's elements.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    records: FxHashMap<ElementKey, Record>,
    windows: HashSet<ElementKey>,
    pages: HashSet<ElementKey>,
    date_fields: HashSet<ElementKey>,
    /// Views of which only some rows are read.
    partial: HashSet<ElementKey>,
    /// Views whose children are remembered because listing them is costly.
    listed: HashSet<ElementKey>,
}

impl Elements {
    /// Stores what was read of an element.
    pub fn store(&mut self, key: ElementKey, reading: LastReading) {
        index(&mut self.pages, key, reading.page);
        index(&mut self.date_fields, key, reading.date_field);
        self.record(key).last = Some(reading);
    }

    /// What was last read of an element.
    pub fn last(&self, key: ElementKey) -> Option<&LastReading> {
        self.records.get(&key)?.last.as_ref()
    }

    /// The role that an element was last read to have.
    pub fn role(&self, key: ElementKey) -> Option<Role> {
        self.last(key).map(|last| last.role)
    }

    /// The elements that have been read.
    pub fn read(&self) -> impl Iterator<Item = ElementKey> {
        self.records.iter().filter(|(_, record)| record.last.is_some()).map(|(key, _)| *key)
    }

    /// The pages of a browser.
    pub fn pages(&self) -> impl Iterator<Item = ElementKey> {
        self.pages.iter().copied()
    }

    /// The date fields of pages.
    pub fn date_fields(&self) -> &HashSet<ElementKey> {
        &self.date_fields
    }

    /// Stores how an app describes one of its windows.
    pub fn set_window(&mut self, key: ElementKey, window: AppWindow) {
        self.windows.insert(key);
        self.rare(key).window = Some(window);
    }

    /// Forgets a window that is gone.
    pub fn remove_window(&mut self, key: ElementKey) {
        if self.windows.remove(&key) {
            self.rare(key).window = None;
        }
    }

    /// The app's windows, in the order of their keys.
    pub fn windows(&self) -> Vec<(ElementKey, AppWindow)> {
        let window = |key: &ElementKey| Some((*key, self.known_rare(*key)?.window.clone()?));
        let mut windows: Vec<(ElementKey, AppWindow)> = self.windows.iter().filter_map(window).collect();
        windows.sort_unstable_by_key(|(key, _)| *key);
        windows
    }

    /// The number of an element's window on the screen.
    pub fn window_number(&self, key: ElementKey) -> Option<u64> {
        self.known_rare(key)?.window_number
    }

    /// Stores the number of an element's window on the screen.
    pub fn set_window_number(&mut self, key: ElementKey, number: u64) {
        self.rare(key).window_number = Some(number);
    }

    /// The row of an element, in a view of which only some rows are read.
    pub fn row(&self, key: ElementKey) -> Option<u32> {
        self.known_rare(key)?.row
    }

    /// Stores the row of an element.
    pub fn set_row(&mut self, key: ElementKey, row: Option<u32>) {
        if row.is_some() || self.known_rare(key).is_some() {
            self.rare(key).row = row;
        }
    }

    /// Whether the children of an element must be read by index.
    pub fn is_by_index(&self, key: ElementKey) -> bool {
        self.known_rare(key).is_some_and(|rare| rare.by_index)
    }

    /// Stores whether the children of an element must be read by index.
    pub fn set_by_index(&mut self, key: ElementKey, by_index: bool) {
        if by_index || self.known_rare(key).is_some() {
            self.rare(key).by_index = by_index;
        }
    }

    /// The views of which only some rows are read.
    pub fn partial_views(&self) -> impl Iterator<Item = ElementKey> {
        self.partial.iter().copied()
    }

    /// Whether only some rows of a view are read.
    pub fn is_partial(&self, key: ElementKey) -> bool {
        self.partial.contains(&key)
    }

    /// Stores which children were read of a view of which only some are.
    pub fn set_partial(&mut self, key: ElementKey, children: Vec<ElementKey>) {
        self.partial.insert(key);
        self.view(key).partial = Some(children);
    }

    /// Takes the children that were last read of a view of which only some are.
    pub fn take_partial(&mut self, key: ElementKey) -> Option<Vec<ElementKey>> {
        self.partial.remove(&key);
        self.known_view(key)?.partial.take()
    }

    /// Notes that all children of an element are read.
    pub fn set_whole(&mut self, key: ElementKey) {
        self.partial.remove(&key);
        if let Some(view) = self.known_view(key) {
            view.partial = None;
            view.size = None;
        }
    }

    /// The size of a view of which only some rows are read.
    pub fn view_size(&self, key: ElementKey) -> Option<ViewSize> {
        self.known_rare(key)?.view.as_ref()?.size
    }

    /// Stores the size of a view of which only some rows are read.
    pub fn set_view_size(&mut self, key: ElementKey, size: ViewSize) {
        self.view(key).size = Some(size);
    }

    /// The rows of a view that are read wherever it is scrolled to.
    pub fn kept_rows(&self, key: ElementKey) -> &[u32] {
        let view = self.known_rare(key).and_then(|rare| rare.view.as_ref());
        view.map_or(&[], |view| &view.kept_rows)
    }

    /// Stores the rows of a view that are read wherever it is scrolled to.
    pub fn set_kept_rows(&mut self, key: ElementKey, rows: Vec<u32>) {
        self.view(key).kept_rows = rows;
    }

    /// The children of a view that was listed, where the toolkit recreates headers whenever it is.
    pub fn listed(&self, key: ElementKey) -> Option<&[ElementKey]> {
        self.known_rare(key)?.view.as_ref()?.listed.as_deref()
    }

    /// Stores the children of such a view.
    pub fn set_listed(&mut self, key: ElementKey, children: Vec<ElementKey>) {
        self.listed.insert(key);
        self.view(key).listed = Some(children);
    }

    /// Takes an element that is gone out of the views that listed it: they have to be listed again.
    pub fn remove_from_listed(&mut self, child: ElementKey) {
        for view in &self.listed {
            let rare = self.records.get_mut(view).and_then(|record| record.rare.as_mut());
            let view = rare.and_then(|rare| rare.view.as_mut());
            if let Some(listed) = view.and_then(|view| view.listed.as_mut()) {
                listed.retain(|key| *key != child);
            }
        }
    }

    /// Forgets all elements that are not to be kept.
    pub fn retain(&mut self, keep: impl Fn(ElementKey) -> bool) {
        self.records.retain(|key, _| keep(*key));
        for keys in
            [&mut self.windows, &mut self.pages, &mut self.date_fields, &mut self.partial, &mut self.listed]
        {
            keys.retain(|key| keep(*key));
        }
    }

    fn record(&mut self, key: ElementKey) -> &mut Record {
        self.records.entry(key).or_default()
    }

    fn rare(&mut self, key: ElementKey) -> &mut RareRecord {
        self.record(key).rare.get_or_insert_default()
    }

    fn known_rare(&self, key: ElementKey) -> Option<&RareRecord> {
        self.records.get(&key)?.rare.as_deref()
    }

    fn view(&mut self, key: ElementKey) -> &mut ViewRecord {
        self.rare(key).view.get_or_insert_default()
    }

    fn known_view(&mut self, key: ElementKey) -> Option<&mut ViewRecord> {
        self.records.get_mut(&key)?.rare.as_mut()?.view.as_mut()
    }
}

fn index(keys: &mut HashSet<ElementKey>, key: ElementKey, is_in: bool) {
    match is_in {
        true => keys.insert(key),
        false => keys.remove(&key),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: ElementKey = ElementKey(1);
    const B: ElementKey = ElementKey(2);

    /// An element of this role, about which there is nothing else to remember.
    fn read(role: Role) -> LastReading {
        let (selected, inactive, date_field, page) = (false, false, false, false);
        LastReading { role, selected, inactive, date_field, page, fingerprint: None, silent: None }
    }

    #[test]
    fn a_record_is_small() {
        assert!(size_of::<(ElementKey, Record)>() <= 40, "{} bytes", size_of::<(ElementKey, Record)>());
    }

    #[test]
    fn an_element_with_a_row_has_not_been_read_for_that() {
        let mut elements = Elements::default();
        elements.set_row(A, Some(7));
        elements.set_row(B, None);
        assert_eq!((elements.row(A), elements.role(A), elements.read().count()), (Some(7), None, 0));
        elements.store(A, read(Role::Cell));
        assert_eq!((elements.row(A), elements.role(A)), (Some(7), Some(Role::Cell)));
        assert_eq!(elements.read().collect::<Vec<_>>(), [A]);
    }

    #[test]
    fn what_is_looked_for_on_every_event_follows_the_last_reading() {
        let mut elements = Elements::default();
        elements.store(A, LastReading { page: true, ..read(Role::Document) });
        elements.store(B, LastReading { date_field: true, ..read(Role::DateField) });
        assert_eq!(
            (elements.pages().collect::<Vec<_>>(), elements.date_fields().contains(&B)),
            (vec![A], true)
        );
        elements.store(A, read(Role::Group));
        elements.store(B, read(Role::Group));
        assert_eq!((elements.pages().count(), elements.date_fields().len()), (0, 0));
    }

    #[test]
    fn a_view_that_is_read_whole_again_keeps_what_was_found_in_it() {
        let mut elements = Elements::default();
        elements.set_kept_rows(A, vec![900]);
        elements.set_view_size(A, ViewSize::of_children(5000));
        elements.set_partial(A, vec![B]);
        assert!(elements.is_partial(A));
        assert_eq!(elements.take_partial(A), Some(vec![B]));
        assert!(!elements.is_partial(A) && elements.view_size(A).is_some());
        elements.set_partial(A, vec![B]);
        elements.set_whole(A);
        assert_eq!((elements.partial_views().count(), elements.view_size(A)), (0, None));
        assert_eq!(elements.kept_rows(A), [900]);
    }

    #[test]
    fn a_child_that_is_gone_makes_its_view_another() {
        let mut elements = Elements::default();
        elements.set_listed(A, vec![B, ElementKey(3)]);
        elements.remove_from_listed(B);
        assert_eq!(elements.listed(A), Some(&[ElementKey(3)][..]));
    }

    #[test]
    fn a_window_that_is_gone_keeps_its_number() {
        let mut elements = Elements::default();
        let window = |title: &str| AppWindow { title: title.into(), bounds: None };
        elements.set_window(B, window("b"));
        elements.set_window(A, window("a"));
        elements.set_window_number(A, 17);
        assert_eq!(elements.windows().iter().map(|(key, _)| *key).collect::<Vec<_>>(), [A, B]);
        elements.remove_window(A);
        assert_eq!((elements.windows().len(), elements.window_number(A)), (1, Some(17)));
    }

    #[test]
    fn what_is_forgotten_is_in_no_index() {
        let mut elements = Elements::default();
        for key in [A, B] {
            elements.store(key, LastReading { page: true, date_field: true, ..read(Role::Document) });
            elements.set_window(key, AppWindow::default());
            elements.set_partial(key, Vec::new());
            elements.set_listed(key, Vec::new());
        }
        elements.retain(|key| key == B);
        assert_eq!(elements.read().collect::<Vec<_>>(), [B]);
        assert_eq!(
            (elements.pages().count(), elements.windows().len(), elements.date_fields().len()),
            (1, 1, 1)
        );
        assert_eq!((elements.partial_views().count(), elements.listed(A)), (1, None));
    }
}
