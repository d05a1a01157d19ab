//! The children of an element: of large tables the rows on the screen, of what opens a menu the menu's items, and all of
//! everything else.

use axd_protocol::Role;

use super::attributes::AttributeValues;
use super::reader::{MAX_CHILDREN, MAX_DEPTH, Reader, or_default};
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::desktop::windows;
use crate::ffi::names as n;
use axd_platform::{ElementKey, UNCOUNTED};

impl Reader {
    /// The children of an element, and their total number if these are only some.
    pub(super) fn children(
        &mut self,
        key: ElementKey,
        element: &Element,
        role: Role,
        answers: &mut AttributeValues,
    ) -> Result<(Vec<ElementKey>, Option<u32>), AxError> {
        let native = answers.raw.native.as_str();
        if has_rows(native) {
            if let Some(found) = self.rows(element, role)? {
                return Ok(found);
            }
            let children = or_default(element.elements(n::kAXChildrenAttribute))?;
            return Ok((self.keys_of(&children), None));
        }
        if is_counted_list(native) {
            let count = or_default(element.count(n::kAXChildrenAttribute))?.unwrap_or_default();
            if count > MAX_CHILDREN {
                // A list that does not report its visible children, as on a web page, is read whole.
                let shown = or_default(element.elements(n::kAXVisibleChildrenAttribute))?;
                if !shown.is_empty() {
                    return Ok((self.keys_of(&shown), u32::try_from(count).ok()));
                }
            }
            let children = or_default(element.elements(n::kAXChildrenAttribute))?;
            return Ok((self.keys_of(&children), None));
        }
        let mut children = std::mem::take(&mut answers.children);
        match native {
            "AXApplication" => {
                // To ask the items of a status menu for anything makes some apps show it.
                if let Some(extras) = or_default(element.element(n::kAXExtrasMenuBarAttribute))? {
                    children.retain(|child| *child != extras);
                }
                // Some apps have windows that are not among their children.
                for window in or_default(element.elements(n::kAXWindowsAttribute))? {
                    if !children.contains(&window) {
                        children.push(window);
                    }
                }
                let is_hidden = answers.raw.hidden == Some(true);
                let unlisted = self.unlisted_windows(key, &children, is_hidden);
                children.extend(unlisted);
            }
            "AXRow" if answers.raw.disclosing == Some(true) => {
                // AX lists the rows of an outline as siblings; here a row has the rows that it discloses as children.
                match or_default(element.get(n::kAXDisclosedRowsAttribute))? {
                    Some(rows) => children.extend(Element::all_in(&rows)),
                    // The row does not list them, but they say which row discloses them.
                    None => children.extend(self.disclosed.get(&key).into_iter().flatten().cloned()),
                }
            }
            "AXMenuBarItem" | "AXMenuItem" if !children.is_empty() && !self.lists_items(key, answers) => {
                // To list the items of a closed menu has the app build them. Those that are known stay until then.
                children.iter().for_each(|menu| self.handles.alias(menu, key));
                return Ok((self.children_of(key).to_vec(), Some(UNCOUNTED)));
            }
            _ if opens_menu(native) => children = self.inline_menu_items(key, native, children)?,
            _ => {}
        }
        Ok((self.keys_of(&children), None))
    }

    /// The known windows of an app that it does not list and that are not closed: an app lists none while it is hidden, and none
    /// that is on a space that is not shown. Which of those that left the screen are closed, the monitor finds out.
    fn unlisted_windows(&mut self, app: ElementKey, listed: &[Element], is_hidden: bool) -> Vec<Element> {
        let known = self.children_of(app).iter().filter(|child| self.is_window(**child));
        let known = known.filter_map(|child| self.handles.get(*child).cloned());
        let mut unlisted: Vec<Element> = known.filter(|window| !listed.contains(window)).collect();
        if !self.closed_windows.is_empty() {
            // A window that is listed was opened again.
            let open: Vec<u64> = listed.iter().filter_map(Element::window_number).collect();
            self.closed_windows.retain(|closed| !open.contains(closed));
        }
        if !is_hidden && !unlisted.is_empty() {
            let all = windows::all();
            let exists = |window: &Element| {
                window
                    .window_number()
                    .is_some_and(|number| all.contains(&number) && !self.closed_windows.contains(&number))
            };
            unlisted.retain(exists);
            self.closed_windows.retain(|closed| all.contains(closed));
        }
        unlisted
    }

    /// Whether the items of a menu are to be listed: it is open, or somebody asked for them.
    fn lists_items(&mut self, key: ElementKey, answers: &AttributeValues) -> bool {
        self.unfolded.remove(&key) || self.open_menus.contains(&key) || answers.raw.selected == Some(true)
    }

    /// The rows of a table or an outline, with its header: those on the screen if there are too many, and then how many
    /// there are. `None` if it has no rows.
    #[allow(clippy::type_complexity, reason = "children and how many there are, as everywhere here")]
    fn rows(
        &mut self,
        element: &Element,
        role: Role,
    ) -> Result<Option<(Vec<ElementKey>, Option<u32>)>, AxError> {
        let Some(count) = or_default(element.count(n::kAXRowsAttribute))? else { return Ok(None) };
        let header = or_default(element.element(n::kAXHeaderAttribute))?;
        let partial = count > MAX_CHILDREN;
        let mut rows = match partial {
            true => or_default(element.elements(n::kAXVisibleRowsAttribute))?,
            false => or_default(element.elements(n::kAXRowsAttribute))?,
        };
        if partial && rows.is_empty() {
            rows = or_default(element.elements_from(n::kAXRowsAttribute, 0, MAX_CHILDREN / 10))?;
        }
        if role == Role::Tree && !partial {
            rows = self.top_rows(rows)?;
        }
        let elements: Vec<Element> = header.into_iter().chain(rows).collect();
        let total = partial.then(|| u32::try_from(count).unwrap_or(u32::MAX));
        Ok(Some((self.keys_of(&elements), total)))
    }

    /// The rows of an outline that no other row discloses; the others are kept with the row that does. They say how deep they are,
    /// and that is not kept: an outline gives the element of one row to another when rows come and go.
    fn top_rows(&mut self, rows: Vec<Element>) -> Result<Vec<Element>, AxError> {
        let mut top = Vec::with_capacity(rows.len());
        let mut above: Vec<(i64, ElementKey)> = Vec::new();
        for row in rows {
            let key = self.handles.key(&row);
            self.disclosed.remove(&key);
            let level = match or_default(row.number(n::kAXDisclosureLevelAttribute)) {
                Err(AxError::GONE) => continue,
                level => level?.map(|level| level as i64),
            };
            let parent = match level {
                Some(level) => {
                    above.retain(|(other, _)| *other < level);
                    let parent = above.last().map(|(_, key)| *key);
                    above.push((level, key));
                    parent
                }
                None => self.disclosed_by(&row)?,
            };
            match parent {
                Some(parent) => self.disclosed.entry(parent).or_default().push(row),
                None => top.push(row),
            }
        }
        Ok(top)
    }

    /// The row that discloses another one, as the row itself says.
    fn disclosed_by(&mut self, row: &Element) -> Result<Option<ElementKey>, AxError> {
        let above = match or_default(row.element(n::kAXDisclosedByRowAttribute)) {
            Err(AxError::GONE) => None,
            answer => answer?,
        };
        Ok(above.map(|above| self.handles.key(&above)))
    }

    /// The children of an element that opens a menu, with the menu replaced by its items.
    fn inline_menu_items(
        &mut self,
        key: ElementKey,
        native: &str,
        children: Vec<Element>,
    ) -> Result<Vec<Element>, AxError> {
        let mut through = Vec::new();
        for child in children {
            let is_menu = match native {
                "AXMenuBarItem" | "AXMenuItem" => true,
                _ => child.text(n::kAXRoleAttribute).ok().flatten().as_deref() == Some("AXMenu"),
            };
            if !is_menu {
                through.push(child);
                continue;
            }
            match child.elements(n::kAXChildrenAttribute) {
                Ok(items) => {
                    self.handles.alias(&child, key);
                    through.extend(items);
                }
                Err(AxError::GONE) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(through)
    }

    /// Whether the menu that an element opens is open. Menus of a menu bar always have their items, others only while open.
    pub(super) fn is_open(&mut self, key: ElementKey, answers: &AttributeValues, holds: bool) -> bool {
        match answers.raw.native.as_str() {
            "AXMenuBarItem" => {
                // The item of a menu bar is selected while its menu is open.
                match answers.raw.selected {
                    Some(true) => drop(self.open_menus.insert(key)),
                    Some(false) => drop(self.open_menus.remove(&key)),
                    None => {}
                }
                self.open_menus.contains(&key)
            }
            "AXMenuItem" => self.open_menus.contains(&key),
            "AXComboBox" => answers.raw.expanded == Some(true),
            _ => holds || answers.raw.expanded == Some(true),
        }
    }

    /// Whether an element opens a menu that it has below it: an item of a menu bar, or one with a submenu.
    pub fn opens_menu(&self, key: ElementKey) -> bool {
        let native = self.records.get(&key).map_or("", |record| &record.native);
        matches!(native, "AXMenuBarItem" | "AXMenuItem")
    }

    /// Whether an element is an item of a closed menu.
    pub(super) fn is_in_own_closed_menu(&self, key: ElementKey) -> bool {
        let parent = self.records.get(&key).and_then(|record| record.parent);
        let Some(above) = parent.and_then(|parent| self.records.get(&parent)) else { return false };
        let is_menus = matches!(above.native.as_str(), "AXMenuBarItem" | "AXMenuItem");
        is_menus && parent.is_some_and(|parent| !self.open_menus.contains(&parent))
    }

    /// Whether an element, or one of its ancestors, is an item of a closed menu.
    pub fn is_in_closed_menu(&self, key: ElementKey) -> bool {
        let above = std::iter::successors(Some(key), |key| self.parent_of(*key));
        above.take(MAX_DEPTH).any(|key| self.is_in_own_closed_menu(key))
    }

    /// Records that a menu opened or closed, and returns the elements that changed by that.
    pub fn set_menu_open(&mut self, menu: ElementKey, open: bool) -> Vec<ElementKey> {
        if open {
            self.open_menus.insert(menu);
        } else {
            self.open_menus.remove(&menu);
        }
        std::iter::once(menu).chain(self.children_of(menu).iter().copied()).collect()
    }
}

pub(super) fn has_rows(native: &str) -> bool {
    matches!(native, "AXTable" | "AXOutline" | "AXGrid" | "AXTreeGrid")
}

pub(super) fn is_counted_list(native: &str) -> bool {
    native == "AXList"
}

/// Whether an element may have a menu as a child, which is replaced by its items.
pub(super) fn opens_menu(native: &str) -> bool {
    matches!(native, "AXMenuBarItem" | "AXMenuItem" | "AXPopUpButton" | "AXMenuButton" | "AXComboBox")
}
