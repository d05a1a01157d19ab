//! Reads elements of an app: in one round trip if their role is known from before, otherwise in two or three.
//!
//! The role decides what else is read: never the value of a secure field, never all rows of a large table.
//! A menu is merged into the element that opens it: that has the menu's items as children, and the menu itself has
//! the same key.

use std::collections::{BTreeSet, HashMap, HashSet};

use axd_protocol::Role;
use tracing::debug;

use super::attributes::{AttributeLists, ExtraAttributes};
use super::children::{has_rows, is_counted_list, opens_menu};
use super::content::{self, ElementValue, facts, has_value, holds_text};
use super::handles::Handles;
use super::notifications::container_notifications;
use super::registration::Observers;
use super::roles;
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::text;
use crate::ax::value::{self, TextRange};
use crate::ffi::names as n;
use axd_platform::mirror::Reading;
use axd_platform::{ElementKey, Facts, MAX_TEXT_LEN};

/// Of a container with more children than this, only those on the screen are read.
pub const MAX_CHILDREN: usize = 1000;
/// How often an element may fail to answer, while its app does, before it is reported without content.
const MAX_FAILURES: u8 = 2;
/// How many levels are followed at most, in case an app describes a cycle.
pub(super) const MAX_DEPTH: usize = 256;

/// Reads one app, and keeps what the next readings need.
pub struct Reader {
    /// The app's process.
    pid: u32,
    /// Its elements.
    pub handles: Handles,
    pub(crate) attributes: AttributeLists,
    pub(super) records: HashMap<ElementKey, ElementRecord>,
    /// Menus that the app announced to be open.
    pub(super) open_menus: HashSet<ElementKey>,
    /// Menus whose items are listed when they are read next, though they are closed.
    pub unfolded: HashSet<ElementKey>,
    /// The numbers of windows that are closed, though the window server may have them still.
    pub closed_windows: HashSet<u64>,
    /// Other processes that elements of the app belong to.
    other_pids: BTreeSet<u32>,
    /// The rows that a row of an outline discloses, as the outline was last read.
    pub(super) disclosed: HashMap<ElementKey, Vec<Element>>,
    /// Pages that were empty when they were read.
    pub empty_pages: HashSet<ElementKey>,
    /// The observers of the app's processes: what happens in a container is announced to its own observers only.
    observers: Observers,
    /// Containers that were read before their process was observed.
    pub unobserved_containers: Vec<ElementKey>,
}

/// What was last read of an element, as far as later readings need it.
#[derive(Default)]
pub(super) struct ElementRecord {
    pub(super) native: String,
    role: Option<Role>,
    pub(super) parent: Option<ElementKey>,
    children: Vec<ElementKey>,
    /// Whether only some of its children were read.
    partial: bool,
    actions: Option<Vec<String>>,
    window: Option<u64>,
    /// Whether the menu item ever had a mark.
    checkable: bool,
    /// How often in a row it failed to answer.
    failures: u8,
}

impl Reader {
    /// A reader that has read nothing yet.
    pub fn new(pid: u32, app: Element, observers: Observers) -> Reader {
        Reader {
            pid,
            handles: Handles::new(app),
            attributes: AttributeLists::default(),
            records: HashMap::new(),
            open_menus: HashSet::new(),
            unfolded: HashSet::new(),
            closed_windows: HashSet::new(),
            other_pids: BTreeSet::new(),
            disclosed: HashMap::new(),
            empty_pages: HashSet::new(),
            observers,
            unobserved_containers: Vec::new(),
        }
    }

    /// Reads an element; `None` if it is gone. Fails only if the app does not answer.
    pub fn read(&mut self, key: ElementKey) -> Result<Option<Reading>, AxError> {
        let Some(element) = self.handles.get(key).cloned() else { return Ok(None) };
        match self.try_read(key, &element) {
            Ok(reading) => Ok(Some(reading)),
            Err(AxError::GONE) if key != ElementKey::APP => {
                self.forget(key);
                Ok(None)
            }
            Err(error) if key == ElementKey::APP || error.is_app_level() && !self.count_failure(key) => {
                Err(error)
            }
            Err(error) => {
                // The app answers, but this element does not. It stays in the tree, and the sweep reads it again.
                debug!(error = error.name(), "an element cannot be read");
                Ok(Some(self.without_content(key)))
            }
        }
    }

    /// The reading of an element that cannot be read.
    pub fn without_content(&self, key: ElementKey) -> Reading {
        let native = self.records.get(&key).map(|record| record.native.clone());
        let mut facts = Facts::new(Role::Unknown);
        facts.native_role = native.filter(|native| !native.is_empty());
        Reading { facts, children: Vec::new(), total: None }
    }

    /// Counts that an element did not answer, and returns whether it failed too often.
    fn count_failure(&mut self, key: ElementKey) -> bool {
        let record = self.records.entry(key).or_default();
        record.failures = record.failures.saturating_add(1);
        record.failures > MAX_FAILURES
    }

    fn try_read(&mut self, key: ElementKey, element: &Element) -> Result<Reading, AxError> {
        let (before, above) = {
            let record = self.records.get(&key);
            let above = record.and_then(|record| record.parent).and_then(|parent| self.records.get(&parent));
            let before = record.and_then(|record| Some((record.native.clone(), record.role?)));
            (before, above.map(|above| (above.role, above.partial)).unwrap_or_default())
        };
        let extra = before.as_ref().filter(|(native, _)| !needs_role_first(native));
        let extra = extra.map(|(_, role)| ExtraAttributes { value: has_value(*role), children: true });
        let mut answers = self.attributes.read_outline(element, extra)?;
        let native = answers.raw.native.clone();
        // Observed before its children are listed, so that no change of them is lost.
        self.observe_container(key, element, &native);
        let mut role = roles::role(&native, answers.raw.subrole.as_deref(), above.0);
        let same_role = before.as_ref().is_some_and(|(before, _)| *before == native);
        let secure = roles::is_secure(answers.raw.subrole.as_deref());
        if !same_role || needs_role_first(&native) {
            answers.raw.value = None;
            let rows = has_rows(&native) || is_counted_list(&native);
            let long = answers.length.is_some_and(|length| length > MAX_TEXT_LEN);
            let value = has_value(role) && !secure && !long;
            self.attributes.read_extra(element, ExtraAttributes { value, children: !rows }, &mut answers)?;
            if has_value(role) && !secure && long {
                answers.raw.value = read_part(element, &native, answers.length.unwrap_or_default())?;
            }
        }
        if let Some(title) = &answers.title_element
            && answers.raw.title.is_none()
        {
            answers.raw.label = label_text(title)?;
        }
        if holds_text(role) && native != "AXPopUpButton" {
            answers.raw.settable = Some(or_default(element.is_settable(n::kAXValueAttribute))?);
        }
        if answers.raw.disclosing == Some(false)
            && !or_default(element.is_settable(n::kAXDisclosingAttribute))?
        {
            answers.raw.disclosing = None;
        }
        let (children, total) = self.children(key, element, role, &mut answers)?;
        if opens_menu(&native) {
            let holds = !children.is_empty() || total.is_some();
            if native == "AXMenuItem" && holds {
                role = Role::Menu;
            }
            if native != "AXMenuItem" || holds {
                answers.raw.open = Some(self.is_open(key, &answers, holds));
            }
        }
        answers.raw.in_closed_menu = self.is_in_own_closed_menu(key);
        if answers.raw.in_closed_menu {
            // The app validates its items when the menu opens; what they say before that is out of date.
            answers.raw.enabled = None;
        }
        if role == Role::MenuItem {
            let record = self.records.entry(key).or_default();
            record.checkable |= answers.raw.mark.is_some();
            if record.checkable {
                role = Role::MenuItemCheckbox;
            }
        }
        let mut facts = facts(&answers.raw, role);
        facts.row = answers.index.filter(|_| above.1);
        if role.is_window() && native == "AXWindow" || native == "AXSheet" {
            facts.window = self.window_number(key, element);
        }
        facts.actions = self.actions(key, element, same_role)?;
        if native == "AXWebArea" && children.is_empty() {
            self.empty_pages.insert(key);
        }
        for child in &children {
            let record = self.records.entry(*child).or_default();
            record.parent = Some(key);
        }
        let record = self.records.entry(key).or_default();
        record.native = native;
        record.role = Some(role);
        record.children.clone_from(&children);
        record.partial = total.is_some();
        record.failures = 0;
        Ok(Reading { facts, children, total })
    }

    /// Registers for what happens in a container, which the app announces to the container's own observers only.
    fn observe_container(&mut self, key: ElementKey, element: &Element, native: &str) {
        if container_notifications(native).is_empty() {
            return;
        }
        let pid = element.pid().unwrap_or(self.pid);
        match self.observers.borrow_mut().get_mut(&pid) {
            Some(registration) => registration.add_container(element, native),
            None => self.unobserved_containers.push(key),
        }
    }

    /// The keys of elements, without those of our own process: a call to ourselves would never return.
    pub(super) fn keys_of(&mut self, elements: &[Element]) -> Vec<ElementKey> {
        let ours = std::process::id();
        let mut keys = Vec::with_capacity(elements.len());
        for element in elements {
            let pid = element.pid();
            if pid == Some(ours) && self.pid != ours {
                continue;
            }
            if let Some(other) = pid.filter(|pid| *pid != self.pid) {
                self.other_pids.insert(other);
            }
            keys.push(self.handles.key(element));
        }
        keys
    }

    /// Other processes that elements of the app belong to.
    pub fn other_pids(&self) -> &BTreeSet<u32> {
        &self.other_pids
    }

    /// The children of an element, as last read.
    pub fn children_of(&self, key: ElementKey) -> &[ElementKey] {
        self.records.get(&key).map_or(&[], |record| &record.children)
    }

    /// The parent of an element, as last read.
    pub fn parent_of(&self, key: ElementKey) -> Option<ElementKey> {
        self.records.get(&key)?.parent
    }

    /// The outline that contains a row, as last read.
    pub fn outline_of(&self, row: ElementKey) -> Option<ElementKey> {
        let above = std::iter::successors(self.parent_of(row), |key| self.parent_of(*key));
        above.take(MAX_DEPTH).find(|key| self.role_of(*key) == Some(Role::Tree))
    }

    /// The role of an element, as last read.
    pub fn role_of(&self, key: ElementKey) -> Option<Role> {
        self.records.get(&key)?.role
    }

    /// Whether the element was a window when it was last read.
    pub fn is_window(&self, key: ElementKey) -> bool {
        self.role_of(key).is_some_and(Role::is_window)
    }

    /// Whether a page with something in it is below an element, as last read.
    pub fn shows_page(&self, key: ElementKey) -> bool {
        let (mut seen, mut next) = (HashSet::from([key]), vec![key]);
        while let Some(key) = next.pop() {
            let children = self.children_of(key);
            let is_page = self.records.get(&key).is_some_and(|record| record.native == "AXWebArea");
            if is_page && !children.is_empty() {
                return true;
            }
            next.extend(children.iter().copied().filter(|child| seen.insert(*child)));
        }
        false
    }

    /// The selectable children of a container, as last read: its rows, items or tabs; of a tree all disclosed rows.
    pub fn selectable_children(&self, key: ElementKey, most: usize) -> Vec<ElementKey> {
        let mut found: Vec<ElementKey> = self.children_of(key).to_vec();
        let mut at = 0;
        while at < found.len() && found.len() < most {
            if self.role_of(found[at]) == Some(Role::TreeItem) {
                found.extend_from_slice(self.children_of(found[at]));
            }
            at += 1;
        }
        found.truncate(most);
        found
    }

    fn window_number(&mut self, key: ElementKey, element: &Element) -> Option<u64> {
        if let Some(window) = self.records.get(&key).and_then(|record| record.window) {
            return Some(window);
        }
        let window = element.window_number();
        self.records.entry(key).or_default().window = window;
        window
    }

    fn actions(
        &mut self,
        key: ElementKey,
        element: &Element,
        same_role: bool,
    ) -> Result<Vec<String>, AxError> {
        let record = self.records.get(&key).and_then(|record| record.actions.clone()).filter(|_| same_role);
        if let Some(actions) = record {
            return Ok(actions);
        }
        let actions = match element.actions() {
            Ok(actions) => actions,
            Err(error) if error.is_app_level() || error == AxError::GONE => return Err(error),
            Err(_) => Vec::new(),
        };
        self.records.entry(key).or_default().actions = Some(actions.clone());
        Ok(actions)
    }

    /// The path from the app to the element with this key. Empty if it is gone.
    pub fn path(&mut self, key: ElementKey) -> Result<Vec<ElementKey>, AxError> {
        let Some(element) = self.handles.get(key).cloned() else { return Ok(Vec::new()) };
        self.path_to(&element)
    }

    /// The path from the app to an element. Empty if it is not connected to the app.
    pub fn path_to(&mut self, element: &Element) -> Result<Vec<ElementKey>, AxError> {
        let mut path: Vec<ElementKey> = Vec::new();
        let mut at = element.clone();
        for _ in 0..MAX_DEPTH {
            let key = self.keys_of(std::slice::from_ref(&at)).first().copied();
            let Some(key) = key else { return Ok(Vec::new()) };
            // A menu has the key of the element that opens it.
            if path.last() != Some(&key) {
                path.push(key);
            }
            if key == ElementKey::APP {
                path.reverse();
                return Ok(path);
            }
            at = match at.element(n::kAXParentAttribute) {
                Ok(Some(parent)) => parent,
                Ok(None) | Err(AxError::GONE) => return Ok(Vec::new()),
                Err(error) => return Err(error),
            };
            // This is the root element of another process that is embedded in this app.
            if at.pid().is_some_and(|pid| pid != self.pid) && self.is_app_element(&at) {
                let record = path.last().and_then(|last| self.parent_of(*last));
                match record.and_then(|parent| self.handles.get(parent)) {
                    Some(parent) => at = parent.clone(),
                    None => return Ok(Vec::new()),
                }
            }
        }
        Ok(Vec::new())
    }

    fn is_app_element(&self, element: &Element) -> bool {
        element.pid().and_then(Element::app).as_ref() == Some(element)
    }

    /// Removes an element that is gone.
    pub fn forget(&mut self, key: ElementKey) {
        self.handles.forget(key);
        self.records.remove(&key);
        self.open_menus.remove(&key);
        self.unfolded.remove(&key);
        self.disclosed.remove(&key);
        self.empty_pages.remove(&key);
    }

    /// The elements that are reachable from the app, as last read.
    fn reachable(&self) -> HashSet<ElementKey> {
        let mut reached = HashSet::from([ElementKey::APP]);
        let mut next = vec![ElementKey::APP];
        while let Some(key) = next.pop() {
            next.extend(self.children_of(key).iter().copied().filter(|child| reached.insert(*child)));
        }
        reached
    }

    /// Removes other processes of which no element is reachable any more.
    pub fn prune_processes(&mut self) {
        let reached = self.reachable();
        let pids = reached.iter().filter_map(|key| self.handles.get(*key)?.pid());
        let own = self.pid;
        self.other_pids = pids.filter(|pid| *pid != own).collect();
    }

    /// Removes elements that are no longer reachable, once there are many.
    pub fn prune(&mut self) {
        if !self.handles.should_prune() {
            return;
        }
        let needed = self.reachable();
        self.handles.prune(&needed);
        self.records.retain(|key, _| needed.contains(key));
        self.open_menus.retain(|key| needed.contains(key));
        self.unfolded.retain(|key| needed.contains(key));
        self.disclosed.retain(|key, _| needed.contains(key));
        self.empty_pages.retain(|key| needed.contains(key));
    }
}

/// The result, or the default if the attribute could not be read. Only an element that is gone, or an app that does not
/// answer, ends the reading.
pub(super) fn or_default<T: Default>(answer: Result<T, AxError>) -> Result<T, AxError> {
    match answer {
        Err(error) if !error.is_app_level() && error != AxError::GONE => Ok(T::default()),
        answer => answer,
    }
}

/// Whether the current role of such an element must be read before its value and children.
fn needs_role_first(native: &str) -> bool {
    matches!(native, "AXTextField" | "AXTextArea" | "AXApplication")
        || has_rows(native)
        || is_counted_list(native)
}

/// Reads a part of a text that is too long, of which the length is given. It is the part around what can be seen; where that
/// is unknown, the end if the caret is there, as in a terminal or a log, and else the beginning.
fn read_part(element: &Element, native: &str, length: usize) -> Result<Option<ElementValue>, AxError> {
    let range = |attribute: &str| {
        let range = or_default(element.get(attribute))?;
        Ok(range.as_ref().and_then(value::range).and_then(TextRange::units))
    };
    let start = match range(n::kAXVisibleCharacterRangeAttribute)? {
        Some(visible) if !visible.is_empty() => {
            (visible.start + visible.len() / 2).saturating_sub(MAX_TEXT_LEN / 2)
        }
        _ if native == "AXTextArea" => match range(n::kAXSelectedTextRangeAttribute)? {
            Some(caret) if caret.start <= length && caret.end >= length => length,
            _ => 0,
        },
        _ => 0,
    };
    let start = start.min(length.saturating_sub(MAX_TEXT_LEN));
    let end = start + MAX_TEXT_LEN;
    // One unit more at either end completes a character that lies across it.
    let (first, last) = (start.saturating_sub(1), (end + 1).min(length));
    let Some(range) = value::from_range(TextRange::of(first..last)) else { return Ok(None) };
    let text = or_default(element.get_parameterized(n::kAXStringForRangeParameterizedAttribute, &range))?;
    let Some(units) = text.as_ref().and_then(text::units) else { return Ok(None) };
    // The text may have become shorter meanwhile.
    let behind = last > end && units.len() == last - first;
    Ok(Some(ElementValue::Text(text::whole_characters(&units, first < start, behind))))
}

/// The text of an element that serves as the title of another one.
fn label_text(title: &Element) -> Result<Option<String>, AxError> {
    for attribute in [n::kAXValueAttribute, n::kAXTitleAttribute, n::kAXDescriptionAttribute] {
        match title.text(attribute) {
            Ok(Some(text)) if !text.trim().is_empty() => return Ok(Some(content::truncated(text))),
            Ok(_) => {}
            Err(error) if error.is_app_level() => return Err(error),
            Err(_) => return Ok(None),
        }
    }
    Ok(None)
}
