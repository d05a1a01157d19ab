//! Reads elements of an app: many at a time, in two or three rounds of pipelined calls.
//!
//! The first round asks what every element has, the second what its interfaces and role make worth asking, the
//! third what the second round's answers name. `Cache.GetItems`, where an app serves it, answers the first round for
//! nearly everything at once; it is used for the first walk only and believed only where it adds up.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::{Bounds, Role, State};
use tracing::debug;
use zbus::Message;

use super::cached::{Cached, from_cache};
use super::content::{
    TextIs, has_number, plain_number, text_is, wants_label, without_elements, without_padding,
};
use super::glance::Memory;
use super::handles::{Handle, Handles};
use super::link::{Answer, Link, call, get};
use super::roles::{self, PASSWORD_TEXT};
use super::states::{self, Native, Natives};
use super::toolkit::Toolkit;
use super::wire::{
    ACCESSIBLE, ACTION, APPLICATION, COMPONENT, Interfaces, LABELLED_BY, Ref, TEXT, VALUE, body, number,
    reference, text,
};
use crate::platform::mirror::Reading;
use crate::platform::{Counters, ElementKey, Facts, Failure};

/// A container with more children than this shows only those on the screen.
pub(super) const MOST_CHILDREN: i32 = 1000;
/// The longest text that is read of one element, in characters.
pub(super) const LONGEST_TEXT: i32 = 32_768;

/// An app on the accessibility bus, as far as it is read.
pub(super) struct Reader {
    /// The connection for calls.
    pub calls: Link,
    /// What the app is made with.
    pub toolkit: Toolkit,
    /// Its elements.
    pub handles: Handles,
    /// The app's windows: what they were last read to be called, and where.
    pub frames: HashMap<ElementKey, super::windows::Frame>,
    /// The numbers of windows, by their elements.
    pub numbers: HashMap<ElementKey, u64>,
    /// What elements were last read to be, where that is asked for again: in apps that announce no children.
    pub roles: HashMap<ElementKey, Role>,
    /// What else such apps change unannounced: the numbers that elements were last read to hold, and names of items.
    pub(super) held: HashMap<ElementKey, Option<String>>,
    pub(super) named: HashMap<ElementKey, String>,
    /// The pages of a browser.
    pub pages: HashSet<ElementKey>,
    /// What is counted for `status`.
    pub counters: Arc<Counters>,
    /// Containers that show only some of their children, and those they show.
    pub partial: HashMap<ElementKey, Vec<ElementKey>>,
    /// The rows of those.
    pub(super) rows: HashMap<ElementKey, u32>,
    /// What was last read of elements that something happens to.
    pub(super) memory: Memory,
    /// What the cache said, until the first walk is done.
    pub(super) cached: Cached,
    /// The children of every cached element whose children the cache holds all of, in order.
    pub(super) families: HashMap<ElementKey, Vec<ElementKey>>,
    /// The children of views whose headers are made anew whenever they are listed.
    pub(super) views: HashMap<ElementKey, Vec<ElementKey>>,
    /// Elements whose children are had by index only.
    pub(super) by_index: HashSet<ElementKey>,
    /// Whether the app answers for `AccessibleId`.
    pub(super) has_ids: bool,
}

/// What the first round learned of an element.
#[derive(Clone)]
pub(super) struct Outline {
    pub(super) key: ElementKey,
    pub(super) number: u32,
    pub(super) role: Role,
    pub(super) natives: Natives,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) identifier: Option<String>,
    pub(super) interfaces: Interfaces,
    pub(super) child_count: i32,
    /// The children, where they are known already.
    pub(super) children: Option<Vec<ElementKey>>,
}

/// What the second and third rounds learned.
#[derive(Clone, Default)]
pub(super) struct Details {
    pub(super) children: Vec<ElementKey>,
    pub(super) total: Option<u32>,
    pub(super) actions: Vec<String>,
    pub(super) value: Option<String>,
    pub(super) text: Option<String>,
    pub(super) label: Option<String>,
    pub(super) bounds: Option<Bounds>,
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
    /// An app at this place.
    pub fn new(calls: Link, root: Handle, counters: Arc<Counters>) -> Reader {
        Reader {
            calls,
            toolkit: Toolkit::Other,
            handles: Handles::new(root),
            frames: HashMap::new(),
            numbers: HashMap::new(),
            roles: HashMap::new(),
            pages: HashSet::new(),
            held: HashMap::new(),
            named: HashMap::new(),
            counters,
            partial: HashMap::new(),
            rows: HashMap::new(),
            memory: Memory::default(),
            cached: HashMap::new(),
            families: HashMap::new(),
            views: HashMap::new(),
            by_index: HashSet::new(),
            has_ids: true,
        }
    }

    /// Learns what the app is made with, and wakes it if it waits for that.
    pub async fn greet(&mut self) -> Result<(), Failure> {
        let calls = [(APPLICATION, "ToolkitName"), (APPLICATION, "Version")]
            .map(|(interface, property)| self.get(ElementKey::APP, interface, property));
        let answers = self.ask_all(calls.into()).await?;
        let [name, version] = [0, 1].map(|at| answers.get(at).and_then(text).unwrap_or_default());
        self.toolkit = Toolkit::named(&name, &version);
        debug!(toolkit = name, version, taken_as = self.toolkit.name(), "the app is made with");
        if self.toolkit.wakes_by_attributes() {
            let wake = self.call(ElementKey::APP, ACCESSIBLE, "GetAttributes", &());
            self.ask_all(vec![wake]).await?;
        }
        Ok(())
    }

    /// Reads elements; `None`: it is gone.
    pub async fn read(&mut self, keys: &[ElementKey]) -> Result<Vec<(ElementKey, Option<Reading>)>, Failure> {
        let outlines = self.outline(keys).await?;
        let living: Vec<&Outline> = outlines.iter().flatten().collect();
        let mut details = self.details(&living).await?;
        let mut read = Vec::with_capacity(keys.len());
        for (key, outline) in keys.iter().zip(&outlines).rev() {
            let reading = outline.as_ref().map(|outline| {
                // One for each that lives, in the same order.
                let details = details.pop().unwrap_or_default();
                self.memory.learn(outline, &details);
                self.reading(outline, details)
            });
            if reading.is_none() {
                self.memory.forget(*key);
                self.frames.remove(key);
                // Its view has to be listed again.
                self.views.values_mut().for_each(|view| view.retain(|child| child != key));
            }
            read.push((*key, reading));
        }
        read.reverse();
        Ok(read)
    }

    /// The elements above one, the app first, itself last. Empty if it is gone.
    pub async fn path(&mut self, key: ElementKey) -> Result<Vec<ElementKey>, Failure> {
        let mut path = vec![key];
        let mut at = key;
        // Deeper than any tree is.
        for _ in 0..256 {
            if at == ElementKey::APP {
                path.reverse();
                return Ok(path);
            }
            let answer = self.ask_all(vec![self.get(at, ACCESSIBLE, "Parent")]).await?.pop();
            let Some(parent) = answer.as_ref().and_then(reference) else { return Ok(Vec::new()) };
            if !parent.is_some() {
                return Ok(Vec::new());
            }
            at = self.handles.key(&parent);
            path.push(at);
        }
        Ok(Vec::new())
    }

    /// Makes calls, and counts them.
    pub async fn ask_all(&self, calls: Vec<zbus::Result<Message>>) -> Result<Vec<Answer>, Failure> {
        self.counters.calls.fetch_add(calls.len() as u64, Relaxed);
        self.calls.ask_all(calls).await
    }

    /// A call to an element.
    pub fn call<B: serde::Serialize + zbus::DynamicType>(
        &self,
        key: ElementKey,
        interface: &str,
        method: &str,
        body: &B,
    ) -> zbus::Result<Message> {
        let handle = self.handles.get(key).ok_or(zbus::Error::InvalidReply)?;
        call(&handle.bus, &handle.path, interface, method, body)
    }

    /// A call that reads a property of an element.
    pub fn get(&self, key: ElementKey, interface: &str, property: &str) -> zbus::Result<Message> {
        let handle = self.handles.get(key).ok_or(zbus::Error::InvalidReply)?;
        get(&handle.bus, &handle.path, interface, property)
    }

    pub(super) fn keys(&mut self, refs: &[Ref]) -> Vec<ElementKey> {
        refs.iter().filter(|at| at.is_some()).map(|at| self.handles.key(at)).collect()
    }

    /// The first round.
    async fn outline(&mut self, keys: &[ElementKey]) -> Result<Vec<Option<Outline>>, Failure> {
        const COMMON: usize = 6;
        let by_attribute = self.toolkit.is_browser();
        let identified = by_attribute || self.has_ids;
        let mut calls = Vec::with_capacity(keys.len() * (COMMON + 1));
        for key in keys {
            if !self.cached.contains_key(key) {
                calls.push(self.call(*key, ACCESSIBLE, "GetRole", &()));
                calls.push(self.call(*key, ACCESSIBLE, "GetState", &()));
                calls.push(self.get(*key, ACCESSIBLE, "Name"));
                calls.push(self.get(*key, ACCESSIBLE, "Description"));
                calls.push(self.call(*key, ACCESSIBLE, "GetInterfaces", &()));
                calls.push(self.get(*key, ACCESSIBLE, "ChildCount"));
            }
            if by_attribute {
                calls.push(self.call(*key, ACCESSIBLE, "GetAttributes", &()));
            } else if identified {
                calls.push(self.get(*key, ACCESSIBLE, "AccessibleId"));
            }
        }
        let mut answers = self.ask_all(calls).await?.into_iter();
        let mut outlines = Vec::with_capacity(keys.len());
        for key in keys {
            let mut outline = match self.cached.get(key) {
                Some((_, item)) => Some(from_cache(*key, item, self.families.get(key).cloned())),
                None => {
                    let common: Vec<Answer> = answers.by_ref().take(COMMON).collect();
                    from_answers(*key, &common)
                }
            };
            if identified && let Some(answer) = answers.next() {
                let identifier = match by_attribute {
                    true => body::<HashMap<String, String>>(&answer).and_then(|mut all| all.remove("id")),
                    false => text(&answer),
                };
                let never = matches!(&answer, Err(name) if lacks_property(name));
                if !by_attribute && never && outline.is_some() {
                    debug!("the app knows no AccessibleId");
                    self.has_ids = false;
                }
                if let Some(outline) = &mut outline {
                    outline.identifier = identifier.filter(|identifier| !identifier.is_empty());
                }
            }
            outlines.push(outline);
        }
        Ok(outlines)
    }

    /// The second and third rounds.
    async fn details(&mut self, outlines: &[&Outline]) -> Result<Vec<Details>, Failure> {
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
                    let actions: Vec<(String, String, String)> = body(answer).unwrap_or_default();
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
                    detail.bounds = body::<(i32, i32, i32, i32)>(answer).and_then(super::geometry::bounds)
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
        self.read_chosen(outlines, &mut details).await?;
        for (outline, detail) in outlines.iter().zip(&mut details) {
            if let Some(children) = &outline.children {
                detail.children.clone_from(children);
            } else if outline.child_count > MOST_CHILDREN {
                self.some_children(outline, detail).await?;
            } else if self.same_view(outline.key, outline.child_count) {
                detail.children = self.views.get(&outline.key).cloned().unwrap_or_default();
            } else if self.by_index.contains(&outline.key) {
                detail.children = self.children_by_index(outline.key, outline.child_count).await?;
            }
        }
        Ok(details)
    }

    fn worth_asking(&self, outline: &Outline) -> Vec<For> {
        let mut worth = Vec::new();
        let Outline { role, natives, interfaces, child_count, .. } = outline;
        let listed = outline.children.is_some() || self.same_view(outline.key, *child_count);
        if !listed && *child_count != 0 && *child_count <= MOST_CHILDREN {
            worth.push(For::Children);
        }
        if interfaces.action {
            worth.push(For::Actions);
        }
        if interfaces.value && has_number(*role) {
            worth.push(For::Value);
        }
        if interfaces.text && outline.number != PASSWORD_TEXT {
            let between = self.toolkit.has_text_in_boxes();
            match text_is(*role, *natives, self.toolkit) {
                TextIs::Long => worth.push(For::Length),
                TextIs::Value | TextIs::NameOrValue => worth.push(For::Text),
                TextIs::Name if outline.name.is_empty() && (*child_count == 0 || between) => {
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

    pub(super) fn reading(&mut self, outline: &Outline, details: Details) -> Reading {
        let Outline { key, number, role, natives, .. } = *outline;
        let mut facts = Facts::new(role);
        facts.native_role = roles::native_name(number).map(str::to_owned);
        facts.states = states::states(natives, role, self.toolkit);
        facts.states.set(State::Secure, number == PASSWORD_TEXT);
        let padded = self.toolkit.pads_wide_characters();
        let text = details.text.map(|text| if padded { without_padding(&text) } else { text });
        facts.name = some(&outline.name).or(details.label.as_deref().and_then(some));
        match text_is(role, natives, self.toolkit) {
            TextIs::Name | TextIs::NameOrValue if facts.name.is_none() => {
                facts.name = text.as_deref().map(without_elements).as_deref().and_then(some);
            }
            TextIs::Value | TextIs::Long => facts.value = text.map(|text| text.replace('\u{fffc}', "")),
            TextIs::NameOrValue => {
                facts.value = text.filter(|text| Some(text) != facts.name.as_ref()).as_deref().and_then(some)
            }
            TextIs::Name | TextIs::Nothing => {}
        }
        facts.value = details.value.or(facts.value).filter(|_| number != PASSWORD_TEXT);
        facts.description = some(&outline.description);
        facts.identifier.clone_from(&outline.identifier);
        facts.actions = details.actions;
        facts.actions.retain(|name| !name.is_empty());
        facts.row = self.rows.get(&key).copied();
        match details.total {
            Some(_) => self.partial.insert(key, details.children.clone()),
            None => self.partial.remove(&key),
        };
        if self.toolkit.fills_silently(role) {
            self.roles.insert(key, role);
        }
        if !self.toolkit.announces_children() {
            self.roles.insert(key, role);
            if has_number(role) {
                self.held.insert(key, facts.value.clone());
            }
            if self.toolkit.renames_silently(role) {
                self.named.insert(key, outline.name.clone());
            }
        }
        if role == Role::Document && self.toolkit.is_browser() {
            self.pages.insert(key);
        }
        if role.is_window() {
            let frame = super::windows::Frame { title: outline.name.clone(), bounds: details.bounds };
            self.frames.insert(key, frame);
            facts.window = self.numbers.get(&key).copied();
        }
        Reading { facts, children: details.children, total: details.total }
    }

    /// Forgets elements that are not to be kept, once there are many of them.
    pub fn tidy(&mut self, told: usize, keep: impl Fn(ElementKey) -> bool) {
        if self.handles.len() > 2 * told + 1000 {
            self.handles.retain(&keep);
            self.rows.retain(|key, _| keep(*key));
            self.by_index.retain(|key| keep(*key));
            self.views.retain(|key, _| keep(*key));
            self.partial.retain(|key, _| keep(*key));
            self.roles.retain(|key, _| keep(*key));
            self.held.retain(|key, _| keep(*key));
            self.pages.retain(|key| keep(*key));
            self.named.retain(|key, _| keep(*key));
            self.frames.retain(|key, _| keep(*key));
            self.numbers.retain(|key, _| keep(*key));
        }
    }
}

/// `None` if the element is gone.
fn from_answers(key: ElementKey, answers: &[Answer]) -> Option<Outline> {
    let [role, state, name, description, interfaces, count] = answers else { return None };
    let is_app = key == ElementKey::APP;
    let number = body::<u32>(role).or(is_app.then_some(roles::APPLICATION))?;
    let natives = Natives::from_words(&body::<Vec<u32>>(state).or(is_app.then(Vec::new))?);
    if natives.has(Native::Defunct) && !is_app {
        return None;
    }
    Some(Outline {
        key,
        number,
        role: if is_app { Role::Application } else { roles::role(number, natives) },
        natives,
        name: text(name).unwrap_or_default(),
        description: text(description).unwrap_or_default(),
        identifier: None,
        interfaces: Interfaces::named(&body::<Vec<String>>(interfaces).unwrap_or_default()),
        // An app that does not count may have some.
        child_count: self::number(count).map_or(-1, |count| count as i32),
        children: None,
    })
}

fn lacks_property(error: &str) -> bool {
    matches!(
        error.rsplit('.').next(),
        Some("UnknownProperty" | "InvalidArgs" | "UnknownMethod" | "UnknownInterface")
    )
}

fn some(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}
