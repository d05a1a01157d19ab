//! The second and third rounds of reading: what an element's interfaces and role make worth asking, and what the answers name.

use axd_protocol::{Bounds, Role};
use zbus::Message;

use crate::atspi::dbus::get;
use crate::atspi::protocol::{
    ACCESSIBLE, ACTION, COMPONENT, LABELLED_BY, Ref, TEXT, VALUE, body, number, text,
};
use crate::atspi::roles::{self, PASSWORD_TEXT};
use crate::atspi::states::Native;
use crate::read::content::{TextIs, has_number, plain_number, text_is, wants_label};
use crate::read::outline::Outline;
use crate::read::reader::{LONGEST_TEXT, Reader};
use axd_platform::{ElementKey, Failure, UNCOUNTED};

/// What the second and third rounds learned.
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

/// What one call of the second round was for.
#[derive(Clone, Copy)]
enum For {
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
    pub(crate) async fn details(&mut self, outlines: &[&Outline]) -> Result<Vec<Details>, Failure> {
        let mut details: Vec<Details> = outlines.iter().map(|_| Details::default()).collect();
        let (mut calls, mut meant) = (Vec::new(), Vec::new());
        for (at, outline) in outlines.iter().enumerate() {
            for what in self.worth_asking(outline) {
                calls.push(self.second_call(outline.key, what));
                meant.push((at, what));
            }
        }
        let answers = self.ask_all(calls).await?;
        let (mut calls, mut third) = (Vec::new(), Vec::new());
        for ((at, what), answer) in meant.into_iter().zip(&answers) {
            let detail = &mut details[at];
            match what {
                For::Children => {
                    let refs = body::<Vec<Ref>>(answer).unwrap_or_default();
                    detail.children = match self.is_view(outlines[at].role) {
                        true => self.view(outlines[at].key, &refs),
                        false => self.keys(&refs),
                    };
                    if let Some(first) = detail.children.first()
                        && self.toolkit.may_list_grandchildren()
                        && outlines[at].number == roles::PANEL
                    {
                        calls.push(self.get(*first, ACCESSIBLE, "Parent"));
                        third.push((at, For::Parent));
                    }
                }
                For::Parent | For::Action(_) => {}
                For::Actions => {
                    let mut actions: Vec<(String, String, String)> = body(answer).unwrap_or_default();
                    // Firefox lists the keys of an action (";;") in place of its name.
                    if self.toolkit.is_browser() {
                        actions.iter_mut().for_each(|(name, ..)| name.clear());
                    }
                    if let Some(names) = self.usual_actions(outlines[at], actions.len()) {
                        detail.actions = names;
                        continue;
                    }
                    // Listed are names in the user's language, and browsers have none. Then the native ones are
                    // asked for, of what can be used: they offer the same two actions of everything.
                    if outlines[at].natives.has(Native::Focusable) {
                        let nameless = (0..).zip(&actions).filter(|(_, (name, ..))| name.is_empty());
                        for (index, _) in nameless {
                            calls.push(self.call(outlines[at].key, ACTION, "GetName", &(index,)));
                            third.push((at, For::Action(index)));
                        }
                    }
                    detail.actions = actions.into_iter().map(|(name, ..)| name).collect();
                }
                For::Value => detail.value = number(answer).map(plain_number),
                For::Text => detail.text = body::<String>(answer),
                For::Place => {
                    detail.bounds =
                        body::<(i32, i32, i32, i32)>(answer).and_then(crate::read::geometry::bounds)
                }
                For::Length => {
                    let length = number(answer).map_or(0, |length| length as i32).min(LONGEST_TEXT);
                    if length > 0 {
                        calls.push(self.call(outlines[at].key, TEXT, "GetText", &(0, length)));
                        third.push((at, what));
                    } else {
                        detail.text = Some(String::new());
                    }
                }
                For::Relations => {
                    let relations: Vec<(u32, Vec<Ref>)> = body(answer).unwrap_or_default();
                    let label = relations.iter().find(|(kind, _)| *kind == LABELLED_BY);
                    if let Some(label) =
                        label.and_then(|(_, targets)| targets.first()).filter(|at| at.is_some())
                    {
                        calls.push(get(&label.bus, label.path.as_str(), ACCESSIBLE, "Name"));
                        third.push((at, what));
                    }
                }
            }
        }
        if !calls.is_empty() {
            let answers = self.ask_all(calls).await?;
            for ((at, what), answer) in third.into_iter().zip(&answers) {
                match what {
                    For::Length => details[at].text = body::<String>(answer),
                    For::Parent => self.judge_children(outlines[at].key, answer),
                    For::Action(index) => {
                        let named = details[at].actions.get_mut(index.unsigned_abs() as usize);
                        if let (Some(named), Some(name)) = (named, body::<String>(answer)) {
                            *named = name;
                        }
                    }
                    _ => details[at].label = text(answer),
                }
            }
        }
        self.learn_actions(outlines, &details);
        self.read_chosen(outlines, &mut details).await?;
        self.read_dates(outlines, &mut details).await?;
        for (outline, detail) in outlines.iter().zip(&mut details) {
            if let Some(children) = &outline.children {
                detail.children.clone_from(children);
            } else if self.shows_some(outline) {
                self.some_children(outline, detail).await?;
            } else if self.same_view(outline.key, outline.child_count) {
                detail.children = self.views.get(&outline.key).cloned().unwrap_or_default();
            } else if self.by_index.contains(&outline.key) {
                detail.children = self.children_by_index(outline.key, outline.child_count).await?;
            }
            if self.may_have_more(outline, detail.children.len()) {
                detail.total = Some(UNCOUNTED);
            }
        }
        Ok(details)
    }

    /// What the actions of an element that is read for the first time are called, if that is known of others like it: in pages of
    /// Chromium, buttons and links in the same states that have as many. When it is read again its own names are asked for. The
    /// browser's own buttons differ in what no state tells.
    fn usual_actions(&self, outline: &Outline, count: usize) -> Option<Vec<String>> {
        let is_new = !self.roles.contains_key(&outline.key);
        let kind = (outline.number, outline.natives, count);
        self.usual.get(&kind).filter(|_| is_new && outline.in_page).cloned()
    }

    fn learn_actions(&mut self, outlines: &[&Outline], details: &[Details]) {
        if !self.toolkit.names_actions_by_role() {
            return;
        }
        for (outline, detail) in outlines.iter().zip(details) {
            let named = !detail.actions.is_empty() && !detail.actions.iter().any(String::is_empty);
            if matches!(outline.role, Role::Button | Role::Link) && outline.in_page && named {
                let kind = (outline.number, outline.natives, detail.actions.len());
                self.usual.insert(kind, detail.actions.clone());
            }
        }
    }

    fn worth_asking(&self, outline: &Outline) -> Vec<For> {
        let mut worth = Vec::new();
        let Outline { role, natives, interfaces, child_count, .. } = outline;
        let listed = outline.children.is_some() || self.same_view(outline.key, *child_count);
        if !listed && *child_count != 0 && !self.shows_some(outline) {
            worth.push(For::Children);
        }
        // Browsers name no actions in a list, and only those of what can have the focus are asked for one by one.
        if interfaces.action && (natives.has(Native::Focusable) || !self.toolkit.is_browser()) {
            worth.push(For::Actions);
        }
        if interfaces.value && has_number(*role) {
            worth.push(For::Value);
        }
        if interfaces.text && outline.number != PASSWORD_TEXT {
            let between = self.toolkit.has_text_in_boxes();
            match text_is(*role, *natives, self.toolkit) {
                TextIs::Long => worth.push(For::Length),
                TextIs::Value | TextIs::NameOrValue | TextIs::Own => worth.push(For::Text),
                TextIs::Name if between || outline.name.is_empty() && *child_count == 0 => {
                    worth.push(For::Text);
                }
                TextIs::Name | TextIs::Nothing => {}
            }
        }
        if outline.name.is_empty() && wants_label(*role) {
            worth.push(For::Relations);
        }
        if role.is_window() && interfaces.component {
            worth.push(For::Place);
        }
        worth
    }

    fn second_call(&self, key: ElementKey, what: For) -> zbus::Result<Message> {
        match what {
            For::Children => self.call(key, ACCESSIBLE, "GetChildren", &()),
            For::Actions => self.call(key, ACTION, "GetActions", &()),
            For::Action(index) => self.call(key, ACTION, "GetName", &(index,)),
            For::Value => self.get(key, VALUE, "CurrentValue"),
            For::Text => self.call(key, TEXT, "GetText", &(0, self.toolkit.end_of_text())),
            For::Length => self.get(key, TEXT, "CharacterCount"),
            For::Relations => self.call(key, ACCESSIBLE, "GetRelationSet", &()),
            For::Parent => self.get(key, ACCESSIBLE, "Parent"),
            For::Place => self.call(key, COMPONENT, "GetExtents", &(self.toolkit.coordinates(),)),
        }
    }
}
