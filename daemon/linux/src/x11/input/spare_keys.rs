//! Spare keys, on which characters are put that the keyboard does not have.
//!
//! A character without a key is put on a key that has none. All that a stretch of text needs is put on keys at once,
//! since every change of the map makes every app read it anew. What was lent is given back; what a daemon that was
//! killed could not give back is noted on the root window, and the next one does.

use x11rb::connection::Connection;
use x11rb::protocol::xproto::ConnectionExt as _;

use crate::x11::connection::{Display, XResult};
use crate::x11::input::keymap::Keymap;
use crate::x11::input::notes::{self, LeftNote, NoteOwner};

/// No more than these at once: apps read the whole map, and a map that grows makes them slow.
const MAX_SPARE_KEYS: usize = 64;
/// Symbols a key is given: the same with and without Shift, so that it does not matter who holds it.
const COLUMNS: usize = 2;

/// Keys that are lent.
pub(crate) struct SpareKeys {
    /// Whose the note on the root window is.
    owner: NoteOwner,
    /// Keys that can be lent, as runs of neighbours.
    runs: Vec<Vec<u8>>,
    /// Which symbol is on which key now.
    lent: Vec<(u8, u32)>,
    /// What was on the keys before.
    before: Vec<(u8, [u32; COLUMNS])>,
}

impl SpareKeys {
    /// Nothing lent yet.
    pub fn new(owner: NoteOwner) -> SpareKeys {
        SpareKeys { owner, runs: Vec::new(), lent: Vec::new(), before: Vec::new() }
    }

    /// Takes the spare keys from the key map, unless some are in use.
    pub fn update(&mut self, keymap: &Keymap) {
        if self.before.is_empty() {
            let mut room = MAX_SPARE_KEYS;
            self.runs = keymap.spare_runs();
            for run in &mut self.runs {
                run.truncate(room);
                room -= run.len();
            }
            self.runs.retain(|run| !run.is_empty());
        }
    }

    /// How many characters can have a key at once, beside the keys that are held.
    pub fn room(&self, held: &[u8]) -> usize {
        self.runs.iter().flatten().filter(|keycode| !held.contains(keycode)).count()
    }

    /// The key that a symbol is on.
    pub fn key_of(&self, symbol: u32) -> Option<u8> {
        self.lent.iter().find(|(_, other)| *other == symbol).map(|(keycode, _)| *keycode)
    }

    /// Whether anything is lent.
    pub fn is_lent(&self) -> bool {
        !self.lent.is_empty()
    }

    /// Puts these symbols on keys, instead of those on keys that nobody holds.
    pub fn lend(&mut self, display: &Display, symbols: &[u32], held: &[u8]) -> XResult<()> {
        self.lent.retain(|(keycode, _)| held.contains(keycode));
        let free: Vec<u8> =
            self.runs.iter().flatten().copied().filter(|keycode| !held.contains(keycode)).collect();
        let given: Vec<(u8, u32)> = free.into_iter().zip(symbols.iter().copied()).collect();
        for (keycode, _) in &given {
            if self.before.iter().all(|(known, _)| known != keycode) {
                let reply = display.connection.get_keyboard_mapping(*keycode, 1)?.reply()?;
                let mut symbols = reply.keysyms.into_iter();
                let before = std::array::from_fn(|_| symbols.next().unwrap_or_default());
                self.before.push((*keycode, before));
            }
        }
        self.record_on_root(display)?;
        map_keys(display, given.iter().map(|(keycode, symbol)| (*keycode, [*symbol; COLUMNS])))?;
        self.lent.extend(given);
        Ok(())
    }

    /// Gives back all that nobody holds.
    pub fn give_back(&mut self, display: &Display, held: &[u8]) -> XResult<()> {
        if self.before.is_empty() {
            return Ok(());
        }
        let (kept, back): (Vec<_>, Vec<_>) =
            self.before.drain(..).partition(|(keycode, _)| held.contains(keycode));
        self.before = kept;
        self.lent.retain(|(keycode, _)| held.contains(keycode));
        map_keys(display, back.into_iter())?;
        self.record_on_root(display)
    }

    /// Records the keys in use in a property of the root window, for the next daemon.
    fn record_on_root(&self, display: &Display) -> XResult<()> {
        let mut words = Vec::with_capacity(self.before.len() * (1 + COLUMNS));
        for (keycode, symbols) in &self.before {
            words.push(u32::from(*keycode));
            words.extend(symbols);
        }
        self.owner.write(display, display.atoms._AXD_BORROWED_KEYS, &words)
    }
}

/// Gives back the keys that a daemon which was killed had lent. False if the note's owner seems to live.
pub(crate) fn give_back_left_keys(display: &Display) -> XResult<bool> {
    let note = display.atoms._AXD_BORROWED_KEYS;
    let words = match notes::read(display, note)? {
        LeftNote::None => return Ok(true),
        LeftNote::InUse => return Ok(false),
        LeftNote::Orphaned(words) => words,
    };
    let (least, most) = (display.connection.setup().min_keycode, display.connection.setup().max_keycode);
    let keys = words.chunks_exact(1 + COLUMNS).filter_map(|key| {
        let keycode = u8::try_from(key[0]).ok().filter(|keycode| (least..=most).contains(keycode))?;
        Some((keycode, std::array::from_fn(|column| key[1 + column])))
    });
    map_keys(display, keys)?;
    display.connection.delete_property(display.root, note)?;
    display.sync()?;
    Ok(true)
}

/// Puts symbols on keys, with as few requests as keys have gaps between them.
fn map_keys(display: &Display, keys: impl Iterator<Item = (u8, [u32; COLUMNS])>) -> XResult<()> {
    let mut keys: Vec<(u8, [u32; COLUMNS])> = keys.collect();
    keys.sort_unstable_by_key(|(keycode, _)| *keycode);
    for run in keys.chunk_by(|(one, _), (next, _)| next - one == 1) {
        let symbols: Vec<u32> = run.iter().flat_map(|(_, symbols)| symbols).copied().collect();
        // There are no more than 255 keycodes.
        let count = u8::try_from(run.len()).unwrap_or(u8::MAX);
        display.connection.change_keyboard_mapping(count, run[0].0, COLUMNS as u8, &symbols)?.check()?;
    }
    Ok(())
}
