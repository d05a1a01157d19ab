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
use crate::read::elements::{Elements, LastReading, Silent, SilentContent};
use crate::read::handles::{Handle, Handles};
use crate::read::names::text_beyond_name;
use crate::read::outline::Outline;
use crate::read::page;
use crate::x11::window_match::AppWindow;
use axd_platform::mirror::Reading;
use axd_platform::worker::{APP_REPLY_TIMEOUT, unresponsive};
use axd_platform::{Counters, ElementKey, Facts, Failure, UNCOUNTED};

/// The longest text that is read of one element, as AT-SPI counts.
pub(crate) const MAX_TEXT: i32 = axd_platform::MAX_TEXT_LEN as i32;

/// An app on the accessibility bus, as far as it is read.
pub(crate) struct Reader {
    /// The connection for calls.
    pub calls: BusConnection,
    /// A connection to the app itself, where it is read over that.
    direct: Option<ReadConnection>,
    /// The app's toolkit.
    pub toolkit: Toolkit,
    /// Its elements.
    pub handles: Handles,
    /// What is remembered of its elements.
    pub elements: Elements,
    /// The children of the app's root element: its windows.
    pub(crate) top_level: HashSet<ElementKey>,
    /// The counters that `ax status` shows.
    pub counters: Arc<Counters>,
    /// The last readings of elements that change, for quick reads.
    pub(crate) last_reads: LastReads,
    /// The app's cache, until the first walk is done.
    pub(crate) cache_items: CachedItems,
    /// The action names of buttons and links, by native role, states and number of actions.
    pub(crate) shared_actions: HashMap<(u32, NativeStates, usize), Vec<String>>,
    /// Whether the app answers `GetAll`.
    pub(crate) uses_get_all: bool,
    /// Whether the app answers for `AccessibleId`.
    pub(crate) has_ids: bool,
}

impl Reader {
    /// A reader of the app with this root element.
    pub fn new(calls: BusConnection, root: Handle, counters: Arc<Counters>) -> Reader {
        Reader {
            calls,
            direct: None,
            toolkit: Toolkit::Other,
            handles: Handles::new(root),
            elements: Elements::default(),
            top_level: HashSet::new(),
            counters,
            last_reads: LastReads::default(),
            cache_items: HashMap::new(),
            shared_actions: HashMap::new(),
            uses_get_all: false,
            has_ids: true,
        }
    }

    /// Finds out which toolkit the app uses, and wakes it if it waits for that.
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

    /// Connects to the app itself, if it accepts that.
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
                self.last_reads.store(outline, &details);
                self.build_reading(outline, details)
            });
            if reading.is_none() {
                self.last_reads.remove(*key);
                self.elements.remove_window(*key);
                self.elements.remove_from_listed(*key);
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
            // Where that connection has ended, the probe goes over the bus, and so do all later calls.
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
            // Otherwise the text of a box with another name would be lost.
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
        facts.row = self.elements.row(key);
        match details.total {
            Some(total) if total != UNCOUNTED => self.elements.set_partial(key, details.children.clone()),
            _ => self.elements.set_whole(key),
        }
        if key == ElementKey::APP {
            self.top_level = details.children.iter().copied().collect();
        }
        self.elements.store(key, self.last_reading(outline, &facts));
        // A dialog that a page shows is no window of the screen.
        if role.is_window() && !outline.role_from_page {
            let window = AppWindow { title: outline.name.clone(), bounds: details.bounds };
            self.elements.set_window(key, window);
            facts.window = self.elements.window_number(key);
        }
        Reading { facts, children: details.children, total: details.total }
    }

    /// What to remember of an element until it is read again.
    fn last_reading(&self, outline: &Outline, facts: &Facts) -> LastReading {
        let Outline { native_role, role, native_states, .. } = *outline;
        let toolkit = self.toolkit;
        let content = match toolkit.announces_children() {
            false if has_number(role) => SilentContent::Number(facts.value.clone()),
            false if toolkit.renames_silently(role) => SilentContent::Name(outline.name.clone()),
            _ => SilentContent::Nothing,
        };
        let native_states_if_silent = toolkit.changes_states_silently().then_some(native_states);
        let silent = Silent { native_states: native_states_if_silent, content };
        LastReading {
            role,
            selected: facts.states.has(State::Selected),
            inactive: role.is_window()
                && roles::can_be_active(native_role)
                && !native_states.has(NativeState::Active),
            date_field: role == Role::DateField && toolkit.is_browser(),
            page: role == Role::Document && toolkit.is_browser(),
            fingerprint: toolkit.serves_cache().then(|| cache::fingerprint(outline)),
            silent: (silent != Silent::default()).then(|| Box::new(silent)),
        }
    }

    /// Forgets elements that are not to be kept, once there are many of them.
    pub fn prune(&mut self, in_tree: usize, keep: impl Fn(ElementKey) -> bool) {
        if self.handles.len() > 2 * in_tree + 1000 {
            self.handles.retain(&keep);
            self.elements.retain(keep);
        }
    }
}

fn non_blank(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}
