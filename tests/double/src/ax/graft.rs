//! Trees that span processes. A panel to open files is drawn by another process, a web page has one of its own; the app
//! shows what is in them as its own children, and yet each of these elements belongs to the process that made it: it
//! answers for it, and it alone announces what becomes of it.
//!
//! The app does not ask the other process for its children. It hands out a name for the first element there, and only who
//! asks that one reaches the other process. If that ends, the app is left with a place where nothing is, and says
//! nothing of it.

use super::attributes::Value;
use super::tree::Id;
use crate::world::{Inner, World};

/// What an element of the other process names as its parent when it is the first one there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraftParent {
    /// The element of the app that it is shown in, as a web page does.
    Holder,
    /// Its own process's app, as if it were by itself.
    OwnApp,
}

/// A part of one process that is shown in another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Graft {
    holder: (u32, Id),
    /// The window that the holder is in.
    window: Option<Id>,
    guest: (u32, Id),
    above: GraftParent,
}

impl World {
    /// Embeds a widget of one app, with its children, in a widget of another; its process then has no windows of its own.
    ///
    /// # Panics
    /// If there are no such widgets.
    pub fn graft(&self, holder: (&str, &str), guest: (&str, &str), above: GraftParent) {
        let find = |(app, widget): (&str, &str)| {
            let id = widget.to_owned();
            let (found, window) = self.inspect(app, move |inside| {
                let found = inside.model.find(&id);
                (found, found.and_then(|found| inside.model.window_of(found)))
            });
            let found = found.unwrap_or_else(|| panic!("{app} has no {widget}"));
            ((self.pid(app), Id::of(found)), window.map(Id::of))
        };
        let ((holder, window), (guest, _)) = (find(holder), find(guest));
        // What it draws is on the screen as a part of the other.
        self.sim().hide(guest.0, true);
        let mut grafts = self.inner().grafts.lock();
        // One at a time: a page that was loaded anew takes the place of the last.
        grafts.retain(|other| other.holder != holder);
        grafts.push(Graft { holder, window, guest, above });
    }
}

impl Inner {
    /// Whether a process is embedded in another one and has no windows of its own.
    pub(crate) fn is_guest(&self, pid: u32) -> bool {
        self.grafts.lock().iter().any(|graft| graft.guest.0 == pid)
    }

    /// The first element of the other process that is shown in this one, if that still runs.
    pub(super) fn shown_in(&self, holder: (u32, Id)) -> Option<(u32, Id)> {
        let graft = self.grafts.lock().iter().find(|graft| graft.holder == holder).copied()?;
        self.sim.inspector(graft.guest.0).map(|_| graft.guest)
    }

    /// The value of an attribute that leads into another process.
    pub(super) fn across(&self, pid: u32, id: Id, name: &str, value: Value) -> Value {
        match (name, value) {
            ("AXChildren", Value::Elements(own)) => match self.shown_in((pid, id)) {
                Some(guest) => Value::Mixed(own.into_iter().map(|own| (pid, own)).chain([guest]).collect()),
                None => Value::Elements(own),
            },
            ("AXParent" | "AXWindow" | "AXTopLevelUIElement", value) => {
                let grafts = self.grafts.lock();
                let Some(graft) = grafts.iter().find(|graft| graft.guest.0 == pid) else { return value };
                match (name, graft.above) {
                    ("AXParent", GraftParent::Holder) if graft.guest.1 == id => {
                        Value::Abroad(graft.holder.0, graft.holder.1)
                    }
                    ("AXParent", GraftParent::OwnApp) if graft.guest.1 == id => Value::Element(Id::APP),
                    ("AXParent", _) => value,
                    _ => graft.window.map_or(value, |window| Value::Abroad(graft.holder.0, window)),
                }
            }
            (_, value) => value,
        }
    }
}
