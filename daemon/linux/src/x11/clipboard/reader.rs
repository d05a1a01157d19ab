//! Reading what another app has put on the clipboard.

use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, PropMode, Property, Timestamp};
use x11rb::wrapper::ConnectionExt as _;

use crate::x11::clipboard::{ClipboardWindow, as_text, fits, formats};
use crate::x11::connection::XResult;
use axd_platform::{ClipboardContent, ClipboardKind, Failure, FailureKind};

/// How long an owner may take for an answer, and for each piece of it.
const OWNER_TIMEOUT: Duration = Duration::from_secs(1);
/// The largest content that is read.
const MAX_SIZE: usize = 64 * 1024 * 1024;

impl ClipboardWindow {
    /// What is on the clipboard, if it is of that kind.
    pub(crate) fn read(&mut self, kind: ClipboardKind) -> Result<Option<ClipboardContent>, Failure> {
        let owner = self.owner_now()?;
        if owner == 0 {
            return Ok(None);
        }
        if owner == self.window {
            return Ok(self.own_content(kind));
        }
        let offered = self.offered()?;
        let has = |name: &str| offered.iter().any(|offer| offer == name);
        if has(formats::SECRET_HINT) {
            let hint = self.convert(formats::SECRET_HINT)?;
            // A hint that cannot be read counts as `secret`.
            if hint.is_none_or(|hint| hint.starts_with(b"secret")) {
                let message = "a password manager marked the clipboard content as secret; it is not read";
                return Err(Failure::new(FailureKind::Refused, message));
            }
        }
        let any = kind == ClipboardKind::Any;
        if (any || kind == ClipboardKind::Files)
            && let Some(files) = self.files(&offered)?
        {
            return Ok(Some(ClipboardContent::Files(files)));
        }
        if any || kind == ClipboardKind::Image {
            if has(formats::PNG)
                && let Some(png) = self.convert(formats::PNG)?
            {
                return Ok(Some(ClipboardContent::Image(png)));
            }
            let images: Vec<&str> =
                offered.iter().map(String::as_str).filter(|offer| offer.starts_with("image/")).collect();
            let text_will_do = any && offered.iter().any(|offer| formats::TEXT.contains(&offer.as_str()));
            if !images.is_empty() && !text_will_do {
                let message = format!(
                    "the image on the clipboard is not available as PNG, only as {}",
                    images.join(", ")
                );
                return Err(Failure::new(FailureKind::NotSupported, message));
            }
        }
        if any || kind == ClipboardKind::Text {
            for name in formats::TEXT.into_iter().filter(|name| has(name)) {
                if let Some(bytes) = self.convert(name)? {
                    return Ok(Some(ClipboardContent::Text(formats::text(name, bytes))));
                }
            }
        }
        Ok(None)
    }

    fn owner_now(&self) -> XResult<u32> {
        Ok(self.display.connection.get_selection_owner(self.atoms.CLIPBOARD)?.reply()?.owner)
    }

    /// The content that axd itself owns, if it is of that kind.
    fn own_content(&self, kind: ClipboardKind) -> Option<ClipboardContent> {
        let content = &self.owner.held.as_ref()?.content;
        match content {
            ClipboardContent::Files(files) if kind == ClipboardKind::Text => {
                Some(ClipboardContent::Text(as_text(files)))
            }
            content => fits(content, kind).then(|| content.clone()),
        }
    }

    fn files(&mut self, offered: &[String]) -> Result<Option<Vec<std::path::PathBuf>>, Failure> {
        for name in [formats::URIS, formats::GNOME_FILES] {
            if !offered.iter().any(|offer| offer == name) {
                continue;
            }
            let list = self.convert(name)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let read = if name == formats::URIS { formats::files } else { formats::gnome_files };
            if let Some(files) = list.map(|list| read(&list)).filter(|files| !files.is_empty()) {
                return Ok(Some(files));
            }
        }
        Ok(None)
    }

    /// The names of the kinds that the owner offers.
    fn offered(&mut self) -> Result<Vec<String>, Failure> {
        let Some(bytes) = self.convert("TARGETS")? else {
            // Very old apps offer text, and do not say so.
            return Ok(vec!["UTF8_STRING".to_owned(), "STRING".to_owned()]);
        };
        let atoms = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word));
        let mut asked = Vec::new();
        for atom in atoms.filter(|atom| *atom != 0).take(1000) {
            asked.push(
                self.display.connection.get_atom_name(atom).map_err(crate::x11::connection::XError::from)?,
            );
        }
        // An owner may name an atom that does not exist.
        let names = asked.into_iter().filter_map(|asked| asked.reply().ok());
        Ok(names.map(|reply| String::from_utf8_lossy(&reply.name).into_owned()).collect())
    }

    /// Requests the content as one target; `None` if the owner does not convert to that.
    fn convert(&mut self, target: &str) -> Result<Option<Vec<u8>>, Failure> {
        let (target, time) = (self.atom(target)?, self.server_time()?);
        let (window, property, selection) = (self.window, self.atoms._AXD_CLIPBOARD, self.atoms.CLIPBOARD);
        let ask = || -> XResult<()> {
            self.display.connection.delete_property(window, property)?;
            self.display.connection.convert_selection(window, selection, target, property, time)?.check()?;
            Ok(())
        };
        ask()?;
        let answered = self.wait_for(|event| match event {
            // An answer to an earlier question that came too late carries another time.
            Event::SelectionNotify(event) if event.target == target && event.time == time => {
                Some(event.property)
            }
            _ => None,
        })?;
        if answered == 0 {
            return Ok(None);
        }
        let (kind, bytes) = self.take_property()?;
        if kind != self.atoms.INCR {
            return Ok(Some(bytes));
        }
        self.receive_chunks().map(Some)
    }

    /// Receives content in chunks. The owner begins once the property with the size is deleted.
    fn receive_chunks(&mut self) -> Result<Vec<u8>, Failure> {
        let (window, property) = (self.window, self.atoms._AXD_CLIPBOARD);
        let mut whole = Vec::new();
        loop {
            self.wait_for(|event| match event {
                Event::PropertyNotify(event) => {
                    let new = event.window == window
                        && event.atom == property
                        && event.state == Property::NEW_VALUE;
                    new.then_some(())
                }
                _ => None,
            })?;
            let (_, piece) = self.take_property()?;
            if piece.is_empty() {
                return Ok(whole);
            }
            whole.extend_from_slice(&piece);
            if whole.len() > MAX_SIZE {
                let message = format!("the clipboard content is larger than {} MiB", MAX_SIZE >> 20);
                return Err(Failure::new(FailureKind::NotSupported, message));
            }
        }
    }

    /// Reads and deletes the property with the reply: its type and its bytes.
    fn take_property(&self) -> XResult<(u32, Vec<u8>)> {
        const WORDS: u32 = 1 << 18;
        let connection = &self.display.connection;
        let (window, property) = (self.window, self.atoms._AXD_CLIPBOARD);
        let (mut whole, mut kind) = (Vec::new(), 0);
        loop {
            let offset = (whole.len() / 4) as u32;
            let any = u32::from(AtomEnum::ANY);
            let reply = connection.get_property(false, window, property, any, offset, WORDS)?.reply()?;
            kind = if reply.type_ == 0 { kind } else { reply.type_ };
            whole.extend_from_slice(&reply.value);
            if reply.bytes_after == 0 || reply.value.is_empty() {
                break;
            }
        }
        connection.delete_property(window, property)?;
        connection.flush()?;
        Ok((kind, whole))
    }

    /// The server's time: what is done to a selection has to say when.
    pub(crate) fn server_time(&mut self) -> Result<Timestamp, Failure> {
        let (window, property) = (self.window, self.atoms._AXD_TIME);
        let touch = || -> XResult<()> {
            let connection = &self.display.connection;
            connection
                .change_property8(PropMode::APPEND, window, property, AtomEnum::STRING, &[])?
                .check()?;
            Ok(())
        };
        touch()?;
        self.wait_for(|event| match event {
            Event::PropertyNotify(event) if event.window == window && event.atom == property => {
                Some(event.time)
            }
            _ => None,
        })
    }

    /// Waits for an event, serving others meanwhile.
    fn wait_for<T>(&mut self, wanted: impl Fn(&Event) -> Option<T>) -> Result<T, Failure> {
        let until = Instant::now() + OWNER_TIMEOUT;
        while let Some(event) = self.display.next_event(Some(until), None)? {
            if let Some(found) = wanted(&event) {
                return Ok(found);
            }
            self.serve(&event)?;
        }
        let message = "the app that owns the clipboard does not answer; it hangs or is busy";
        Err(Failure::new(FailureKind::Unresponsive, message))
    }
}
