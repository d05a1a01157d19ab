//! The children of elements: all of them, those on the screen, or whether they are still the same; and what each toolkit
//! gets wrong about them.

use axd_protocol::Role;

use crate::atspi::dbus::BusReply;
use crate::atspi::protocol::{
    ACCESSIBLE, ObjectRef, VALUE, body, number_property, ref_property, string_property,
};
use crate::atspi::states::NativeState;
use crate::read::content::format_number;
use crate::read::elements::SilentContent;
use crate::read::outline::Outline;
use crate::read::reader::Reader;
use axd_platform::mirror::MAX_ELEMENTS;
use axd_platform::{ElementKey, Failure};

/// A virtual container with more children than this is not read whole.
const MAX_VIEW_CHILDREN: i32 = 1000;

impl Reader {
    /// Whether only those children of an element are read that are on the screen.
    pub(crate) fn is_partial(&self, outline: &Outline) -> bool {
        let Outline { key, native_states, interfaces, child_count, .. } = outline;
        let is_view = native_states.has(NativeState::ManagesDescendants) || interfaces.table;
        is_read_in_part(*child_count, is_view && !self.is_web(*key))
    }

    /// Whether an element that lists so many children may be a view of GTK 4 that has more of them than it shows.
    pub(crate) fn may_have_more(&self, outline: &Outline, listed: usize) -> bool {
        let most = self.toolkit.shows_at_most(outline.native_role);
        // Those two are named by their class, where nobody gave them another name, and have all of their rows.
        let is_whole = matches!(outline.name.as_str(), "GtkListBox" | "GtkFlowBox");
        most.is_some_and(|most| listed > most) && !is_whole
    }

    /// Whether an element is of a web page: there even tables are made of elements that all exist. A part that another
    /// process lends is one too, as far as is known: WebKit's pages are.
    fn is_web(&self, key: ElementKey) -> bool {
        let at = |key| self.handles.get(key).map(|handle| &handle.bus);
        self.toolkit.is_browser() || at(key) != at(ElementKey::APP)
    }

    /// Lists only the children of elements, to compare them. `None`: the element does not list them.
    pub async fn children(&mut self, keys: &[ElementKey]) -> Result<Vec<Option<Vec<ElementKey>>>, Failure> {
        let ask = |key: &ElementKey| match self.elements.listed(*key).is_some() {
            true => self.build_get(*key, ACCESSIBLE, "ChildCount"),
            false => self.build_call(*key, ACCESSIBLE, "GetChildren", &()),
        };
        let answers = self.call_all(keys.iter().map(ask).collect()).await?;
        let mut found = Vec::with_capacity(keys.len());
        for (key, answer) in keys.iter().zip(&answers) {
            if let Some(view) = self.elements.listed(*key) {
                let same = number_property(answer).is_none_or(|count| count as usize == view.len());
                found.push((!same).then(Vec::new));
                continue;
            }
            let listed = body::<Vec<ObjectRef>>(answer).map(|refs| self.keys_of(&refs));
            if let (ElementKey::APP, Some(windows)) = (*key, &listed) {
                self.top_level = windows.iter().copied().collect();
            }
            found.push(match listed {
                Some(listed) if self.elements.is_by_index(*key) => {
                    Some(self.children_by_index(*key, listed.len() as i32).await?)
                }
                listed => listed,
            });
        }
        Ok(found)
    }

    /// Those of the elements whose number or name differs from what was last read.
    pub async fn changed_silently(&mut self, keys: &[ElementKey]) -> Result<Vec<ElementKey>, Failure> {
        let silent = |key: &ElementKey| Some(&self.elements.last(*key)?.silent.as_ref()?.content);
        let may_change = |key: &ElementKey| silent(key).is_some_and(|it| *it != SilentContent::Nothing);
        let asked: Vec<ElementKey> = keys.iter().copied().filter(may_change).collect();
        let calls = asked.iter().map(|key| match silent(key) {
            Some(SilentContent::Number(_)) => self.build_get(*key, VALUE, "CurrentValue"),
            _ => self.build_get(*key, ACCESSIBLE, "Name"),
        });
        let replies = self.call_all(calls.collect()).await?;
        let differs = |(key, reply): &(&ElementKey, &BusReply)| match silent(key) {
            Some(SilentContent::Number(known)) => *known != number_property(reply).map(format_number),
            // An element that answers nothing is gone; reading it will show that.
            Some(SilentContent::Name(known)) => Some(known) != string_property(reply).as_ref(),
            Some(SilentContent::Nothing) | None => false,
        };
        Ok(asked.iter().zip(&replies).filter(differs).map(|(key, _)| *key).collect())
    }

    pub(crate) fn is_view(&self, role: Role) -> bool {
        self.toolkit.recreates_headers() && matches!(role, Role::Tree | Role::Table)
    }

    /// Whether this is a view that has as many children as when it was last listed.
    pub(crate) fn view_is_unchanged(&self, key: ElementKey, count: i32) -> bool {
        self.elements.listed(key).is_some_and(|view| view.len() as i32 == count)
    }

    /// The key of a child. A new header in the place of a former one keeps its key: the toolkit only recreated it.
    pub(crate) fn key_in_place_of(&mut self, former: Option<ElementKey>, child: &ObjectRef) -> ElementKey {
        let is_header =
            |role: Role| !matches!(role, Role::Cell | Role::TreeItem | Role::ListItem | Role::Row);
        let remade = former.filter(|former| {
            self.toolkit.recreates_headers()
                && self.elements.role(*former).is_some_and(is_header)
                && self.handles.find(child).is_none()
        });
        match remade {
            Some(former) => {
                self.handles.rebind(former, child);
                former
            }
            None => self.handles.key(child),
        }
    }

    /// The children of a view.
    pub(crate) fn view_children(&mut self, key: ElementKey, refs: &[ObjectRef]) -> Vec<ElementKey> {
        let before = self.elements.listed(key).unwrap_or_default().to_vec();
        let mut children = Vec::with_capacity(refs.len());
        for (at, child) in refs.iter().filter(|child| child.is_element()).enumerate() {
            children.push(self.key_in_place_of(before.get(at).copied(), child));
        }
        self.elements.set_listed(key, children.clone());
        children
    }

    /// Compares the first child's parent with the element: if it is another, the list left elements out, and children
    /// are read by index.
    pub(crate) fn check_child_listing(&mut self, key: ElementKey, answer: &BusReply) {
        let parent = ref_property(answer).filter(ObjectRef::is_element).map(|at| self.handles.key(&at));
        self.elements.set_by_index(key, parent.is_some_and(|parent| parent != key));
    }

    pub(crate) async fn children_by_index(
        &mut self,
        key: ElementKey,
        count: i32,
    ) -> Result<Vec<ElementKey>, Failure> {
        let calls = (0..count).map(|index| self.build_call(key, ACCESSIBLE, "GetChildAtIndex", &(index,)));
        let answers = self.call_all(calls.collect()).await?;
        let refs: Vec<ObjectRef> = answers.iter().filter_map(body).collect();
        Ok(self.keys_of(&refs))
    }
}

/// Whether a container of so many children is read in part: it is a view of a model, whose children are created when
/// they are asked for, or it has more than an app may have. Everything else is read whole.
fn is_read_in_part(count: i32, is_view: bool) -> bool {
    (is_view && count > MAX_VIEW_CHILDREN) || usize::try_from(count).is_ok_and(|count| count > MAX_ELEMENTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_views_are_read_in_part_and_what_is_larger_than_an_app_may_be() {
        for (count, is_view, in_part) in [
            (5000, true, true),
            (5000, false, false),
            (1000, true, false),
            (250_000, false, false),
            (250_001, false, true),
            // What a spreadsheet says, and what does not count its children.
            (i32::MAX, false, true),
            (-1, true, false),
        ] {
            assert_eq!(is_read_in_part(count, is_view), in_part, "{count} {is_view}");
        }
    }
}
