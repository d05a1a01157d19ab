//! The second and third rounds of reading: the calls that an element's interfaces and role call for, and the elements
//! that their replies refer to.

use axd_protocol::{Bounds, Role};
use zbus::Message;

use crate::atspi::dbus::get;
use crate::atspi::protocol::{
    ACCESSIBLE, ACTION, COMPONENT, LABELLED_BY, ObjectRef, TEXT, VALUE, body, number_property,
    string_property,
};
use crate::atspi::roles::{self, PASSWORD_TEXT};
use crate::atspi::states::NativeState;
use crate::read::content::{TextUse, format_number, has_number, text_use, wants_label};
use crate::read::outline::Outline;
use crate::read::reader::{MAX_TEXT, Reader};
use axd_platform::{ElementKey, Failure, UNCOUNTED};

/// What the second and third rounds read of an element.
#[derive(Clone, Default)]
pub(crate) struct Details {
    pub(crate) children: Vec<ElementKey>,
    pub(crate) total: Option<u32>,
    pub(crate) actions: Vec<String>,
    pub(crate) value: Option<String>,
    pub(crate) text: Option<String>,
    pub(crate) label: Option<String>,
    pub(crate) bounds: Option<Bounds>,
}

/// What a call of the second or third round reads.
#[derive(Clone, Copy)]
enum DetailCall {
    Children,
    Actions,
    /// The native name of the action at this place.
    Action(i32),
    Value,
    Text,
    Length,
    Relations,
    Place,
    /// Whether the first child has this parent at all.
    Parent,
}

impl Reader {
    /// The second and third rounds.
    pub(crate) async fn read_details(&mut self, outlines: &[&Outline]) -> Result<Vec<Details>, Failure> {
        let mut details: Vec<Details> = outlines.iter().map(|_| Details::default()).collect();
        let (mut calls, mut meant) = (Vec::new(), Vec::new());
        for (at, outline) in outlines.iter().enumerate() {
            for what in self.needed_calls(outline) {
                calls.push(self.build_detail_call(outline.key, what));
                meant.push((at, what));
            }
        }
        let answers = self.call_all(calls).await?;
        let (mut calls, mut third) = (Vec::new(), Vec::new());
        for ((at, what), answer) in meant.into_iter().zip(&answers) {
            let detail = &mut details[at];
            match what {
                DetailCall::Children => {
                    let refs = body::<Vec<ObjectRef>>(answer).unwrap_or_default();
                    detail.children = match self.is_view(outlines[at].role) {
                        true => self.view_children(outlines[at].key, &refs),
                        false => self.keys_of(&refs),
                    };
                    if let Some(first) = detail.children.first()
                        && self.toolkit.may_list_grandchildren()
                        && outlines[at].native_role == roles::PANEL
                    {
                        calls.push(self.build_get(*first, ACCESSIBLE, "Parent"));
                        third.push((at, DetailCall::Parent));
                    }
                }
                DetailCall::Parent | DetailCall::Action(_) => {}
                DetailCall::Actions => {
                    let mut actions: Vec<(String, String, String)> = body(answer).unwrap_or_default();
                    // Firefox lists the keys of an action (";;") in place of its name.
                    if self.toolkit.is_browser() {
                        actions.iter_mut().for_each(|(name, ..)| name.clear());
                    }
                    if let Some(names) = self.shared_action_names(outlines[at], actions.len()) {
                        detail.actions = names;
                        continue;
                    }
                    // Listed are names in the user's language, and browsers have none. Then the native ones are
                    // asked for, of what can be used: they offer the same two actions of everything.
                    if outlines[at].native_states.has(NativeState::Focusable) {
                        let nameless = (0..).zip(&actions).filter(|(_, (name, ..))| name.is_empty());
                        for (index, _) in nameless {
                            calls.push(self.build_call(outlines[at].key, ACTION, "GetName", &(index,)));
                            third.push((at, DetailCall::Action(index)));
                        }
                    }
                    detail.actions = actions.into_iter().map(|(name, ..)| name).collect();
                }
                DetailCall::Value => detail.value = number_property(answer).map(format_number),
                DetailCall::Text => detail.text = body::<String>(answer),
                DetailCall::Place => {
                    detail.bounds =
                        body::<(i32, i32, i32, i32)>(answer).and_then(crate::read::geometry::bounds)
                }
                DetailCall::Length => {
                    let length = number_property(answer).map_or(0, |length| length as i32).min(MAX_TEXT);
                    if length > 0 {
                        calls.push(self.build_call(outlines[at].key, TEXT, "GetText", &(0, length)));
                        third.push((at, what));
                    } else {
                        detail.text = Some(String::new());
                    }
                }
                DetailCall::Relations => {
                    let relations: Vec<(u32, Vec<ObjectRef>)> = body(answer).unwrap_or_default();
                    let label = relations.iter().find(|(kind, _)| *kind == LABELLED_BY);
                    if let Some(label) =
                        label.and_then(|(_, targets)| targets.first()).filter(|at| at.is_element())
                    {
                        calls.push(get(&label.bus, label.path.as_str(), ACCESSIBLE, "Name"));
                        third.push((at, what));
                    }
                }
            }
        }
        if !calls.is_empty() {
            let answers = self.call_all(calls).await?;
            for ((at, what), answer) in third.into_iter().zip(&answers) {
                match what {
                    DetailCall::Length => details[at].text = body::<String>(answer),
                    DetailCall::Parent => self.check_child_listing(outlines[at].key, answer),
                    DetailCall::Action(index) => {
                        let named = details[at].actions.get_mut(index.unsigned_abs() as usize);
                        if let (Some(named), Some(name)) = (named, body::<String>(answer)) {
                            *named = name;
                        }
                    }
                    _ => details[at].label = string_property(answer),
                }
            }
        }
        self.store_action_names(outlines, &details);
        self.read_combo_values(outlines, &mut details).await?;
        self.read_date_fields(outlines, &mut details).await?;
        for (outline, detail) in outlines.iter().zip(&mut details) {
            if let Some(children) = &outline.children {
                detail.children.clone_from(children);
            } else if self.is_partial(outline) {
                self.read_visible_rows(outline, detail).await?;
            } else if self.view_is_unchanged(outline.key, outline.child_count) {
                detail.children = self.elements.listed(outline.key).unwrap_or_default().to_vec();
            } else if self.elements.is_by_index(outline.key) {
                detail.children = self.children_by_index(outline.key, outline.child_count).await?;
            }
            if self.may_have_more(outline, detail.children.len()) {
                detail.total = Some(UNCOUNTED);
            }
        }
        Ok(details)
    }

    /// The action names of an element that is read for the first time, taken from an element like it: in pages of
    /// Chromium, a button or link in the same states with as many actions. When it is read again its own names are
    /// read. The browser's own buttons may differ in ways that no state shows.
    fn shared_action_names(&self, outline: &Outline, count: usize) -> Option<Vec<String>> {
        let is_new = self.elements.role(outline.key).is_none();
        let kind = (outline.native_role, outline.native_states, count);
        self.shared_actions.get(&kind).filter(|_| is_new && outline.in_page).cloned()
    }

    fn store_action_names(&mut self, outlines: &[&Outline], details: &[Details]) {
        if !self.toolkit.names_actions_by_role() {
            return;
        }
        for (outline, detail) in outlines.iter().zip(details) {
            let named = !detail.actions.is_empty() && !detail.actions.iter().any(String::is_empty);
            if matches!(outline.role, Role::Button | Role::Link) && outline.in_page && named {
                let kind = (outline.native_role, outline.native_states, detail.actions.len());
                self.shared_actions.insert(kind, detail.actions.clone());
            }
        }
    }

    fn needed_calls(&self, outline: &Outline) -> Vec<DetailCall> {
        let mut worth = Vec::new();
        let Outline { role, native_states: natives, interfaces, child_count, .. } = outline;
        let listed = outline.children.is_some() || self.view_is_unchanged(outline.key, *child_count);
        if !listed && *child_count != 0 && !self.is_partial(outline) {
            worth.push(DetailCall::Children);
        }
        // Browsers name no actions in a list, and only those of what can have the focus are asked for one by one.
        if interfaces.action && (natives.has(NativeState::Focusable) || !self.toolkit.is_browser()) {
            worth.push(DetailCall::Actions);
        }
        if interfaces.value && has_number(*role) {
            worth.push(DetailCall::Value);
        }
        if interfaces.text && outline.native_role != PASSWORD_TEXT {
            let between = self.toolkit.has_text_in_boxes();
            match text_use(*role, *natives, self.toolkit) {
                TextUse::Long => worth.push(DetailCall::Length),
                TextUse::Value | TextUse::NameOrValue | TextUse::Own => worth.push(DetailCall::Text),
                TextUse::Name if between || outline.name.is_empty() && *child_count == 0 => {
                    worth.push(DetailCall::Text);
                }
                TextUse::Name | TextUse::Nothing => {}
            }
        }
        if outline.name.is_empty() && wants_label(*role) {
            worth.push(DetailCall::Relations);
        }
        if role.is_window() && interfaces.component {
            worth.push(DetailCall::Place);
        }
        worth
    }

    fn build_detail_call(&self, key: ElementKey, what: DetailCall) -> zbus::Result<Message> {
        match what {
            DetailCall::Children => self.build_call(key, ACCESSIBLE, "GetChildren", &()),
            DetailCall::Actions => self.build_call(key, ACTION, "GetActions", &()),
            DetailCall::Action(index) => self.build_call(key, ACTION, "GetName", &(index,)),
            DetailCall::Value => self.build_get(key, VALUE, "CurrentValue"),
            DetailCall::Text => self.build_call(key, TEXT, "GetText", &(0, self.toolkit.end_of_text())),
            DetailCall::Length => self.build_get(key, TEXT, "CharacterCount"),
            DetailCall::Relations => self.build_call(key, ACCESSIBLE, "GetRelationSet", &()),
            DetailCall::Parent => self.build_get(key, ACCESSIBLE, "Parent"),
            DetailCall::Place => {
                self.build_call(key, COMPONENT, "GetExtents", &(self.toolkit.coordinates(),))
            }
        }
    }
}
