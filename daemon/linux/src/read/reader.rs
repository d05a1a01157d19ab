//! Reads elements of an app: many at a time, in two or three rounds of pipelined calls.
//!
//! The first round asks what every element has, the second what its interfaces and role make worth asking, the
//! third what the second round's answers name. `Cache.GetItems`, where an app serves it, answers the first round for
//! nearly everything at once; it is believed for the first walk only.
//! `outline` is the first round, `details` are the others.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::{Role, State};
use tracing::debug;
use zbus::Message;

use crate::app::quick_read::LastReads;
use crate::atspi::dbus::{BusConnection, BusReply, call, get};
use crate::atspi::direct::ReadConnection;
use crate::atspi::protocol::{ACCESSIBLE, APPLICATION, ObjectRef, body, ref_property, string_property};
use crate::atspi::roles::{self, PASSWORD_TEXT};
use crate::atspi::states::{self, NativeState, NativeStates};
use crate::atspi::toolkit::Toolkit;
use crate::read::cache::{self, CachedItems};
use crate::read::content::{TextUse, has_number, text_use, without_elements, without_padding};
use crate::read::details::Details;
use crate::read::handles::{Handle, Handles};
use crate::read::names::text_beyond_name;
use crate::read::outline::Outline;
use crate::read::page;
use crate::read::rows::ViewSize;
use axd_platform::mirror::Reading;
use axd_platform::worker::{APP_REPLY_TIMEOUT, unresponsive};
use axd_platform::{Counters, ElementKey, Facts, Failure, UNCOUNTED};

/// The longest text that is read of one element, as AT-SPI counts.
pub(crate) const MAX_TEXT: i32 = axd_platform::MAX_TEXT_LEN as i32;

/// An app on the accessibility bus, as far as it is read.
pub(crate) struct Reader {
    /// The connection for calls.
    pub calls: BusConnection,
    /// A connection to the app itself, where it is asked over that.
    direct: Option<ReadConnection>,
    /// What the app is made with.
    pub toolkit: Toolkit,
    /// Its elements.
    pub handles: Handles,
    /// The app's windows: what they were last read to be called, and where.
    pub frames: HashMap<ElementKey, crate::x11::window_match::AppWindow>,
    /// The numbers of windows, by their elements.
    pub numbers: HashMap<ElementKey, u64>,
    /// What the app itself lists: its windows.
    pub(crate) tops: HashSet<ElementKey>,
    /// What elements were last read to be.
    pub roles: HashMap<ElementKey, Role>,
    /// What else such apps change unannounced: the numbers that elements were last read to hold, and names of items.
    pub(crate) held: HashMap<ElementKey, Option<String>>,
    pub(crate) named: HashMap<ElementKey, String>,
    /// The states they were last read to be in, where those change unannounced.
    pub(crate) natives: HashMap<ElementKey, NativeStates>,
    /// Prints of what they were last read to be, where a cache can be held against them.
    pub(crate) prints: HashMap<ElementKey, u64>,
    /// The pages of a browser.
    pub pages: HashSet<ElementKey>,
    /// What is counted for `status`.
    pub counters: Arc<Counters>,
    /// Containers that show only some of their children, and those they show.
    pub partial: HashMap<ElementKey, Vec<ElementKey>>,
    /// The rows of those.
    pub(crate) rows: HashMap<ElementKey, u32>,
    /// How large those containers are, and the rows of them that are listed wherever they are scrolled to.
    pub(crate) extents: HashMap<ElementKey, ViewSize>,
    pub(crate) kept: HashMap<ElementKey, Vec<u32>>,
    /// What was last read of elements that something happens to.
    pub(crate) memory: LastReads,
    /// What the cache said, until the first walk is done.
    pub(crate) cached: CachedItems,
    /// Elements that were last read to be selected.
    pub(crate) selected: HashSet<ElementKey>,
    /// Windows that were last read not to be the active one.
    pub(crate) inactive: HashSet<ElementKey>,
    /// Fields for dates that are made of parts.
    pub(crate) dates: HashSet<ElementKey>,
    /// The children of views whose headers are made anew whenever they are listed.
    pub(crate) views: HashMap<ElementKey, Vec<ElementKey>>,
    /// Elements whose children are had by index only.
    pub(crate) by_index: HashSet<ElementKey>,
    /// What the actions of buttons and links are called, by role, states and how many there are.
    pub(crate) usual: HashMap<(u32, NativeStates, usize), Vec<String>>,
    /// Whether the app tells all properties of an element in one answer.
    pub(crate) uses_get_all: bool,
    /// Whether the app answers for `AccessibleId`.
    pub(crate) has_ids: bool,
}

impl Reader {
    /// An app at this place.
    pub fn new(calls: BusConnection, root: Handle, counters: Arc<Counters>) -> Reader {
        Reader {
            calls,
            direct: None,
            toolkit: Toolkit::Other,
            handles: Handles::new(root),
            frames: HashMap::new(),
            numbers: HashMap::new(),
            tops: HashSet::new(),
            roles: HashMap::new(),
            pages: HashSet::new(),
            held: HashMap::new(),
            named: HashMap::new(),
            natives: HashMap::new(),
            prints: HashMap::new(),
            counters,
            partial: HashMap::new(),
            rows: HashMap::new(),
            extents: HashMap::new(),
            kept: HashMap::new(),
            memory: LastReads::default(),
            cached: HashMap::new(),
            selected: HashSet::new(),
            inactive: HashSet::new(),
            dates: HashSet::new(),
            views: HashMap::new(),
            by_index: HashSet::new(),
            usual: HashMap::new(),
            uses_get_all: false,
            has_ids: true,
        }
    }

    /// Learns what the app is made with, and wakes it if it waits for that.
    pub async fn identify_toolkit(&mut self) -> Result<(), Failure> {
        let calls = [(APPLICATION, "ToolkitName"), (APPLICATION, "Version")]
            .map(|(interface, property)| self.build_get(ElementKey::APP, interface, property));
        let answers = self.call_all(calls.into()).await?;
        let [name, version] = [0, 1].map(|at| answers.get(at).and_then(string_property).unwrap_or_default());
        self.toolkit = Toolkit::named(&name, &version);
        debug!(toolkit = name, version, taken_as = self.toolkit.name(), "the app is made with");
        if self.toolkit.needs_attributes_to_wake() {
            let wake = self.build_call(ElementKey::APP, ACCESSIBLE, "GetAttributes", &());
            self.call_all(vec![wake]).await?;
        }
        if self.toolkit.supports_get_all() {
            self.try_get_all().await?;
        }
        if self.toolkit.is_read_directly() {
            self.connect_directly().await?;
        }
        Ok(())
    }

    /// Connects to the app itself, if it lets anybody.
    async fn connect_directly(&mut self) -> Result<(), Failure> {
        let ask = self.build_call(ElementKey::APP, APPLICATION, "GetApplicationBusAddress", &());
        let answer = self.call_all(vec![ask]).await?.pop();
        let address: String = answer.as_ref().and_then(body).unwrap_or_default();
        self.direct = match tokio::time::timeout(APP_REPLY_TIMEOUT, ReadConnection::connect(&address)).await {
            Ok(Ok(short)) => Some(short),
            Ok(Err(error)) => {
                debug!(address, %error, "the app lets nobody connect to it; it is asked over the bus");
                None
            }
            Err(_) => return Err(unresponsive()),
        };
        Ok(())
    }

    /// Reads elements; `None`: it is gone.
    pub async fn read(&mut self, keys: &[ElementKey]) -> Result<Vec<(ElementKey, Option<Reading>)>, Failure> {
        let outlines = self.read_outlines(keys).await?;
        let living: Vec<&Outline> = outlines.iter().flatten().collect();
        let mut details = self.read_details(&living).await?;
        let mut read = Vec::with_capacity(keys.len());
        for (key, outline) in keys.iter().zip(&outlines).rev() {
            let reading = outline.as_ref().map(|outline| {
                // One for each that lives, in the same order.
                let details = details.pop().unwrap_or_default();
                self.memory.store(outline, &details);
                self.build_reading(outline, details)
            });
            if reading.is_none() {
                self.memory.remove(*key);
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
            let answer = self.call_all(vec![self.build_get(at, ACCESSIBLE, "Parent")]).await?.pop();
            let Some(parent) = answer.as_ref().and_then(ref_property) else { return Ok(Vec::new()) };
            if !parent.is_element() {
                return Ok(Vec::new());
            }
            at = self.handles.key(&parent);
            path.push(at);
        }
        Ok(Vec::new())
    }

    /// Makes calls, and counts them.
    pub async fn call_all(&self, calls: Vec<zbus::Result<Message>>) -> Result<Vec<BusReply>, Failure> {
        self.counters.calls.fetch_add(calls.len() as u64, Relaxed);
        match self.direct.as_ref().filter(|short| !short.is_lost() && self.are_for_app(&calls)) {
            // Where that connection has ended, the probe goes over the bus, and so does all that is asked after it.
            Some(short) => short.call_all(calls).await.unwrap_or_else(|| Err(unresponsive())),
            None => self.calls.call_all(calls).await,
        }
    }

    /// Whether none of these calls is for a part that another process lends to the app.
    fn are_for_app(&self, calls: &[zbus::Result<Message>]) -> bool {
        let app = self.handles.get(ElementKey::APP).map(|app| &*app.bus);
        let is_for_app = |call: &Message| call.header().destination().map(|to| to.as_str()) == app;
        calls.iter().flatten().all(is_for_app)
    }

    /// A call to an element.
    pub fn build_call<B: serde::Serialize + zbus::DynamicType>(
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
    pub fn build_get(&self, key: ElementKey, interface: &str, property: &str) -> zbus::Result<Message> {
        let handle = self.handles.get(key).ok_or(zbus::Error::InvalidReply)?;
        get(&handle.bus, &handle.path, interface, property)
    }

    pub(crate) fn keys_of(&mut self, refs: &[ObjectRef]) -> Vec<ElementKey> {
        refs.iter().filter(|at| at.is_element()).map(|at| self.handles.key(at)).collect()
    }

    pub(crate) fn build_reading(&mut self, outline: &Outline, details: Details) -> Reading {
        let Outline { key, native_role: number, role, native_states: natives, .. } = *outline;
        let mut facts = Facts::new(role);
        facts.native_role = roles::native_name(number).map(str::to_owned);
        facts.states = states::states(natives, role, self.toolkit);
        facts.states.set(State::Secure, number == PASSWORD_TEXT);
        let padded = self.toolkit.pads_wide_characters();
        let text = details.text.map(|text| if padded { without_padding(&text) } else { text });
        let own_name = crate::read::names::display_name(&outline.name, role, self.toolkit);
        facts.name = non_blank(&own_name).or(details.label.as_deref().and_then(non_blank));
        match text_use(role, natives, self.toolkit) {
            TextUse::Name | TextUse::NameOrValue if facts.name.is_none() => {
                facts.name = text.as_deref().map(without_elements).as_deref().and_then(non_blank);
            }
            // Text in a box that is called something else would be nowhere.
            TextUse::Name if !self.toolkit.has_text_in_boxes() => {}
            TextUse::Name | TextUse::Own => {
                let name = facts.name.as_deref();
                facts.value = text.and_then(|text| text_beyond_name(name, &text, MAX_TEXT as usize));
            }
            TextUse::Value | TextUse::Long => facts.value = text.map(|text| text.replace('\u{fffc}', "")),
            TextUse::NameOrValue => {
                facts.value =
                    text.filter(|text| Some(text) != facts.name.as_ref()).as_deref().and_then(non_blank)
            }
            TextUse::Nothing => {}
        }
        facts.value = details.value.or(facts.value).filter(|_| number != PASSWORD_TEXT);
        if role == Role::SpinButton {
            facts.value = page::spin_value(facts.value, outline.value_text.as_deref());
        }
        facts.description = non_blank(&outline.description);
        facts.identifier.clone_from(&outline.identifier);
        facts.actions = details.actions;
        facts.actions.retain(|name| !name.is_empty());
        facts.row = self.rows.get(&key).copied();
        match details.total {
            Some(total) if total != UNCOUNTED => self.partial.insert(key, details.children.clone()),
            _ => {
                self.extents.remove(&key);
                self.partial.remove(&key)
            }
        };
        if key == ElementKey::APP {
            self.tops = details.children.iter().copied().collect();
        }
        self.roles.insert(key, role);
        remember(&mut self.selected, key, facts.states.has(State::Selected));
        remember(&mut self.dates, key, role == Role::DateField && self.toolkit.is_browser());
        remember(
            &mut self.inactive,
            key,
            role.is_window() && roles::can_be_active(number) && !natives.has(NativeState::Active),
        );
        if self.toolkit.serves_cache() {
            self.prints.insert(key, cache::fingerprint(outline));
        }
        if self.toolkit.changes_states_silently() {
            self.natives.insert(key, natives);
        }
        if !self.toolkit.announces_children() {
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
        // A dialog that a page shows is no window of the screen.
        if role.is_window() && !outline.role_from_page {
            let frame =
                crate::x11::window_match::AppWindow { title: outline.name.clone(), bounds: details.bounds };
            self.frames.insert(key, frame);
            facts.window = self.numbers.get(&key).copied();
        }
        Reading { facts, children: details.children, total: details.total }
    }

    /// Forgets elements that are not to be kept, once there are many of them.
    pub fn prune(&mut self, told: usize, keep: impl Fn(ElementKey) -> bool) {
        if self.handles.len() > 2 * told + 1000 {
            self.handles.retain(&keep);
            self.rows.retain(|key, _| keep(*key));
            self.by_index.retain(|key| keep(*key));
            self.views.retain(|key, _| keep(*key));
            self.partial.retain(|key, _| keep(*key));
            self.extents.retain(|key, _| keep(*key));
            self.kept.retain(|key, _| keep(*key));
            self.roles.retain(|key, _| keep(*key));
            self.selected.retain(|key| keep(*key));
            self.inactive.retain(|key| keep(*key));
            self.dates.retain(|key| keep(*key));
            self.held.retain(|key, _| keep(*key));
            self.pages.retain(|key| keep(*key));
            self.named.retain(|key, _| keep(*key));
            self.natives.retain(|key, _| keep(*key));
            self.prints.retain(|key, _| keep(*key));
            self.frames.retain(|key, _| keep(*key));
            self.numbers.retain(|key, _| keep(*key));
        }
    }
}

fn remember(keys: &mut HashSet<ElementKey>, key: ElementKey, is: bool) {
    match is {
        true => keys.insert(key),
        false => keys.remove(&key),
    };
}

fn non_blank(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}
