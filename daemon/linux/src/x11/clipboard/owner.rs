//! Owning the selection: its content stays with the owner, who sends it to each client that requests it, whole or in
//! chunks.

use std::time::{Duration, Instant};

use tracing::debug;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, Property,
    PropertyNotifyEvent, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Timestamp,
    Window,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::x11::clipboard::ClipboardAtoms;
use crate::x11::connection::{Display, XResult};
use axd_platform::ClipboardContent;

/// Larger content is sent in chunks of this size (INCR).
const CHUNK_SIZE: usize = 256 * 1024;
/// A transfer of which no chunk is taken for so long is ended.
const TRANSFER_TIMEOUT: Duration = Duration::from_secs(10);

/// The content that axd has put on the clipboard.
pub(crate) struct OwnedContent {
    pub content: ClipboardContent,
    /// When axd became the owner.
    pub since: Timestamp,
    /// The forms in which it is offered.
    pub forms: Vec<Representation>,
}

/// The content in the form of one target.
pub(crate) struct Representation {
    pub target: Atom,
    pub bytes: Vec<u8>,
}

/// A transfer in chunks.
struct Transfer {
    to: Window,
    property: Atom,
    kind: Atom,
    bytes: Vec<u8>,
    /// How many bytes have been sent.
    done: usize,
    until: Instant,
}

/// Sends axd's content to other clients.
#[derive(Default)]
pub(crate) struct SelectionOwner {
    pub held: Option<OwnedContent>,
    transfers: Vec<Transfer>,
}

impl SelectionOwner {
    /// When the next transfer times out.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.transfers.iter().map(|transfer| transfer.until).min()
    }

    /// Ends transfers that timed out.
    pub fn expire(&mut self) {
        let now = Instant::now();
        self.transfers.retain(|transfer| transfer.until > now);
    }

    /// A client requests the content.
    pub fn on_request(
        &mut self,
        display: &Display,
        atoms: &ClipboardAtoms,
        event: &SelectionRequestEvent,
    ) -> XResult<()> {
        // Obsolete clients name no property: then the target's name is used.
        let property = if event.property == 0 { event.target } else { event.property };
        let in_time = |since: Timestamp| event.time == x11rb::CURRENT_TIME || event.time >= since;
        let ours =
            event.selection == atoms.CLIPBOARD && self.held.as_ref().is_some_and(|held| in_time(held.since));
        let given = ours
            && match event.target == atoms.MULTIPLE {
                true => self.send_multiple(display, atoms, event.requestor, property),
                false => self.send_target(display, atoms, event.requestor, property, event.target),
            }
            .unwrap_or_else(|error| {
                debug!(%error, "who asked for the clipboard is gone");
                false
            });
        let answer = SelectionNotifyEvent {
            response_type: SELECTION_NOTIFY_EVENT,
            sequence: 0,
            time: event.time,
            requestor: event.requestor,
            selection: event.selection,
            target: event.target,
            property: if given { property } else { 0 },
        };
        display.connection.send_event(false, event.requestor, EventMask::NO_EVENT, answer)?.ignore_error();
        display.connection.flush()?;
        Ok(())
    }

    /// A property of a client that takes chunks was deleted: it wants the next.
    pub fn on_property_deleted(&mut self, display: &Display, event: &PropertyNotifyEvent) -> XResult<()> {
        let taken = |transfer: &Transfer| transfer.to == event.window && transfer.property == event.atom;
        let Some(at) = self.transfers.iter().position(taken) else { return Ok(()) };
        if event.state != Property::DELETE {
            return Ok(());
        }
        let transfer = &mut self.transfers[at];
        let end = (transfer.done + CHUNK_SIZE).min(transfer.bytes.len());
        let piece = &transfer.bytes[transfer.done..end];
        // An empty chunk ends the transfer.
        let last = piece.is_empty();
        let (to, property, kind) = (transfer.to, transfer.property, transfer.kind);
        display.connection.change_property8(PropMode::REPLACE, to, property, kind, piece)?.ignore_error();
        transfer.done = end;
        transfer.until = Instant::now() + TRANSFER_TIMEOUT;
        if last {
            self.transfers.remove(at);
        }
        display.connection.flush()?;
        Ok(())
    }

    /// Ends the transfers to a window that is gone.
    pub fn on_window_destroyed(&mut self, window: Window) {
        self.transfers.retain(|transfer| transfer.to != window);
    }

    fn send_multiple(
        &mut self,
        display: &Display,
        atoms: &ClipboardAtoms,
        to: Window,
        property: Atom,
    ) -> XResult<bool> {
        let mut pairs = display.numbers(to, property)?;
        for pair in pairs.chunks_exact_mut(2) {
            if !self.send_target(display, atoms, to, pair[1], pair[0])? {
                pair[1] = 0;
            }
        }
        let kind = atoms.ATOM_PAIR;
        display.connection.change_property32(PropMode::REPLACE, to, property, kind, &pairs)?.check()?;
        Ok(true)
    }

    fn send_target(
        &mut self,
        display: &Display,
        atoms: &ClipboardAtoms,
        to: Window,
        property: Atom,
        target: Atom,
    ) -> XResult<bool> {
        let (connection, Some(held)) = (&display.connection, &self.held) else { return Ok(false) };
        if target == atoms.TARGETS {
            let mut targets = vec![atoms.TARGETS, atoms.TIMESTAMP, atoms.MULTIPLE, atoms.SAVE_TARGETS];
            targets.extend(held.forms.iter().map(|form| form.target));
            connection
                .change_property32(PropMode::REPLACE, to, property, AtomEnum::ATOM, &targets)?
                .check()?;
            return Ok(true);
        }
        if target == atoms.TIMESTAMP {
            let since = [held.since];
            connection
                .change_property32(PropMode::REPLACE, to, property, AtomEnum::INTEGER, &since)?
                .check()?;
            return Ok(true);
        }
        if target == atoms.SAVE_TARGETS {
            // It is requested only to see that the content may be saved.
            connection.change_property32(PropMode::REPLACE, to, property, AtomEnum::NONE, &[])?.check()?;
            return Ok(true);
        }
        let Some(form) = held.forms.iter().find(|form| form.target == target) else { return Ok(false) };
        // Text is handed out as what it is, whatever it was called when asked for.
        let kind = if target == atoms.TEXT { atoms.UTF8_STRING } else { target };
        if form.bytes.len() <= CHUNK_SIZE {
            connection.change_property8(PropMode::REPLACE, to, property, kind, &form.bytes)?.check()?;
            return Ok(true);
        }
        let watch = ChangeWindowAttributesAux::new()
            .event_mask(EventMask::PROPERTY_CHANGE | EventMask::STRUCTURE_NOTIFY);
        connection.change_window_attributes(to, &watch)?.check()?;
        // There is a place for the size, which is a hint: 32 bits.
        let size = [u32::try_from(form.bytes.len()).unwrap_or(u32::MAX)];
        let (bytes, until) = (form.bytes.clone(), Instant::now() + TRANSFER_TIMEOUT);
        connection.change_property32(PropMode::REPLACE, to, property, atoms.INCR, &size)?.check()?;
        self.transfers.retain(|transfer| (transfer.to, transfer.property) != (to, property));
        self.transfers.push(Transfer { to, property, kind, bytes, done: 0, until });
        Ok(true)
    }
}
