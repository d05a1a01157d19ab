//! Having the clipboard: what is on it stays with its owner, who hands it out to whoever asks, whole or piece by piece.

use std::time::{Duration, Instant};

use tracing::debug;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, Property,
    PropertyNotifyEvent, SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, SelectionRequestEvent, Timestamp,
    Window,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::x11::clipboard::Atoms;
use crate::x11::connection::{Display, XResult};
use axd_platform::ClipboardContent;

/// More than this is handed out in pieces of this size.
const PIECE: usize = 256 * 1024;
/// Who takes no piece for so long gets no more.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is on the clipboard, while it is ours.
pub(crate) struct Held {
    pub clip: ClipboardContent,
    /// Since when.
    pub since: Timestamp,
    /// What it is handed out as.
    pub forms: Vec<Form>,
}

/// A form of it.
pub(crate) struct Form {
    pub target: Atom,
    pub bytes: Vec<u8>,
}

/// A hand-out in pieces.
struct Transfer {
    to: Window,
    property: Atom,
    kind: Atom,
    bytes: Vec<u8>,
    /// How much of it has been handed out.
    done: usize,
    until: Instant,
}

/// Hands out what is on the clipboard.
#[derive(Default)]
pub(crate) struct Owner {
    pub held: Option<Held>,
    transfers: Vec<Transfer>,
}

impl Owner {
    /// When to look after transfers that nobody takes any more.
    pub fn next_look(&self) -> Option<Instant> {
        self.transfers.iter().map(|transfer| transfer.until).min()
    }

    /// Ends transfers that nobody takes any more.
    pub fn expire(&mut self) {
        let now = Instant::now();
        self.transfers.retain(|transfer| transfer.until > now);
    }

    /// Somebody wants it.
    pub fn asked(&mut self, display: &Display, atoms: &Atoms, event: &SelectionRequestEvent) -> XResult<()> {
        // An old way of asking leaves it to us where to put the answer.
        let property = if event.property == 0 { event.target } else { event.property };
        let in_time = |since: Timestamp| event.time == x11rb::CURRENT_TIME || event.time >= since;
        let ours =
            event.selection == atoms.CLIPBOARD && self.held.as_ref().is_some_and(|held| in_time(held.since));
        let given = ours
            && match event.target == atoms.MULTIPLE {
                true => self.hand_out_several(display, atoms, event.requestor, property),
                false => self.hand_out(display, atoms, event.requestor, property, event.target),
            }
            .unwrap_or_else(|fault| {
                debug!(%fault, "who asked for the clipboard is gone");
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

    /// A property of somebody who takes pieces has changed.
    pub fn taken(&mut self, display: &Display, event: &PropertyNotifyEvent) -> XResult<()> {
        let taken = |transfer: &Transfer| transfer.to == event.window && transfer.property == event.atom;
        let Some(at) = self.transfers.iter().position(taken) else { return Ok(()) };
        if event.state != Property::DELETE {
            return Ok(());
        }
        let transfer = &mut self.transfers[at];
        let end = (transfer.done + PIECE).min(transfer.bytes.len());
        let piece = &transfer.bytes[transfer.done..end];
        // A piece of nothing says that there is no more.
        let last = piece.is_empty();
        let (to, property, kind) = (transfer.to, transfer.property, transfer.kind);
        display.connection.change_property8(PropMode::REPLACE, to, property, kind, piece)?.ignore_error();
        transfer.done = end;
        transfer.until = Instant::now() + PATIENCE;
        if last {
            self.transfers.remove(at);
        }
        display.connection.flush()?;
        Ok(())
    }

    /// A window is gone, and what was being handed out to it.
    pub fn gone(&mut self, window: Window) {
        self.transfers.retain(|transfer| transfer.to != window);
    }

    fn hand_out_several(
        &mut self,
        display: &Display,
        atoms: &Atoms,
        to: Window,
        property: Atom,
    ) -> XResult<bool> {
        let mut pairs = display.numbers(to, property)?;
        for pair in pairs.chunks_exact_mut(2) {
            if !self.hand_out(display, atoms, to, pair[1], pair[0])? {
                pair[1] = 0;
            }
        }
        let kind = atoms.ATOM_PAIR;
        display.connection.change_property32(PropMode::REPLACE, to, property, kind, &pairs)?.check()?;
        Ok(true)
    }

    fn hand_out(
        &mut self,
        display: &Display,
        atoms: &Atoms,
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
            // Asked for only to see that we let it be saved.
            connection.change_property32(PropMode::REPLACE, to, property, AtomEnum::NONE, &[])?.check()?;
            return Ok(true);
        }
        let Some(form) = held.forms.iter().find(|form| form.target == target) else { return Ok(false) };
        // Text is handed out as what it is, whatever it was called when asked for.
        let kind = if target == atoms.TEXT { atoms.UTF8_STRING } else { target };
        if form.bytes.len() <= PIECE {
            connection.change_property8(PropMode::REPLACE, to, property, kind, &form.bytes)?.check()?;
            return Ok(true);
        }
        let watch = ChangeWindowAttributesAux::new()
            .event_mask(EventMask::PROPERTY_CHANGE | EventMask::STRUCTURE_NOTIFY);
        connection.change_window_attributes(to, &watch)?.check()?;
        // There is a place for the size, which is a hint: 32 bits.
        let size = [u32::try_from(form.bytes.len()).unwrap_or(u32::MAX)];
        let (bytes, until) = (form.bytes.clone(), Instant::now() + PATIENCE);
        connection.change_property32(PropMode::REPLACE, to, property, atoms.INCR, &size)?.check()?;
        self.transfers.retain(|transfer| (transfer.to, transfer.property) != (to, property));
        self.transfers.push(Transfer { to, property, kind, bytes, done: 0, until });
        Ok(true)
    }
}
