//! Notes on the root window of what axd has changed for a while: keys and buttons that it holds, keys that it lent. They
//! outlive a daemon that is killed, and the next one undoes what they say.
//!
//! A note names its owner: a window, which goes with the connection, and a number that the window carries. The number is
//! needed because the X server gives the ids of a client that is gone to the next one that connects.

use std::hash::{BuildHasher, Hasher, RandomState};

use tracing::{info, warn};
use x11rb::connection::Connection;
use x11rb::protocol::xinput::{ConnectionExt as _, InputStateData};
use x11rb::protocol::xproto::{
    AtomEnum, BUTTON_RELEASE_EVENT, ConnectionExt as _, CreateWindowAux, KEY_RELEASE_EVENT, PropMode, Window,
    WindowClass,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::wrapper::ConnectionExt as _;

use crate::x11::connection::{Display, XResult};

/// How many numbers of a note say whose it is.
const OWNER_WORDS: usize = 3;

/// Whose a note is: this connection of this daemon.
#[derive(Clone, Copy)]
pub(crate) struct NoteOwner {
    words: [u32; OWNER_WORDS],
}

impl NoteOwner {
    /// An owner that lives as long as this connection.
    pub fn new(display: &Display) -> XResult<NoteOwner> {
        let connection = &display.connection;
        let window = connection.generate_id()?;
        let (class, nothing) = (WindowClass::INPUT_ONLY, CreateWindowAux::new());
        connection.create_window(0, window, display.root, -1, -1, 1, 1, 0, class, 0, &nothing)?.check()?;
        // The hasher is keyed at random.
        let number = RandomState::new().build_hasher().finish();
        let number = [number as u32, (number >> 32) as u32];
        let property = display.atoms._AXD_NOTE_OWNER;
        connection.change_property32(PropMode::REPLACE, window, property, AtomEnum::CARDINAL, &number)?;
        Ok(NoteOwner { words: [window, number[0], number[1]] })
    }

    /// Writes a note of this owner; without words it is removed. The server does it before all that is sent after it.
    pub fn write(&self, display: &Display, note: u32, words: &[u32]) -> XResult<()> {
        if words.is_empty() {
            display.connection.delete_property(display.root, note)?;
            return Ok(());
        }
        let words: Vec<u32> = self.words.iter().chain(words).copied().collect();
        let (root, kind) = (display.root, AtomEnum::CARDINAL);
        display.connection.change_property32(PropMode::REPLACE, root, note, kind, &words)?;
        Ok(())
    }
}

/// A note that somebody left.
pub(crate) enum LeftNote {
    /// There is none.
    None,
    /// Its owner lives, or the server has not seen its end yet.
    InUse,
    /// Its owner is gone.
    Orphaned(Vec<u32>),
}

/// Reads a note, and whether its owner lives.
pub(crate) fn read(display: &Display, note: u32) -> XResult<LeftNote> {
    let words = display.numbers(display.root, note)?;
    let Some((owner, words)) = words.split_at_checked(OWNER_WORDS) else { return Ok(LeftNote::None) };
    let number = display.numbers(owner[0] as Window, display.atoms._AXD_NOTE_OWNER);
    match number {
        Ok(number) if number == owner[1..] => Ok(LeftNote::InUse),
        // Another client has a window of this id now, or nobody has.
        Ok(_) => Ok(LeftNote::Orphaned(words.to_vec())),
        Err(error) if error.is_gone() => Ok(LeftNote::Orphaned(words.to_vec())),
        Err(error) => Err(error),
    }
}

/// A key or button, by the number that the server has for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Physical {
    Key(u8),
    Button(u8),
}

impl Physical {
    const KEY: u32 = 0x100;
    const BUTTON: u32 = 0x200;

    fn word(self) -> u32 {
        match self {
            Physical::Key(code) => Physical::KEY | u32::from(code),
            Physical::Button(number) => Physical::BUTTON | u32::from(number),
        }
    }

    fn of_word(word: u32) -> Option<Physical> {
        let number = (word & 0xff) as u8;
        match word & !0xff {
            Physical::KEY => Some(Physical::Key(number)),
            Physical::BUTTON => Some(Physical::Button(number)),
            _ => None,
        }
    }
}

/// The note of what may be down. It has more in it than is down at times, never less.
pub(crate) struct HeldNote {
    owner: NoteOwner,
    noted: Vec<Physical>,
}

impl HeldNote {
    /// Nothing is noted yet.
    pub fn new(owner: NoteOwner) -> HeldNote {
        HeldNote { owner, noted: Vec::new() }
    }

    /// Notes what is about to be pressed.
    pub fn add(&mut self, display: &Display, pressed: impl IntoIterator<Item = Physical>) -> XResult<()> {
        let known = self.noted.len();
        for pressed in pressed {
            if !self.noted.contains(&pressed) {
                self.noted.push(pressed);
            }
        }
        if self.noted.len() > known { self.write(display) } else { Ok(()) }
    }

    /// Notes what is down now, once everything else has been released.
    pub fn set(&mut self, display: &Display, down: Vec<Physical>) -> XResult<()> {
        if self.noted == down {
            return Ok(());
        }
        self.noted = down;
        self.write(display)?;
        Ok(display.connection.flush()?)
    }

    fn write(&self, display: &Display) -> XResult<()> {
        let words: Vec<u32> = self.noted.iter().map(|pressed| pressed.word()).collect();
        self.owner.write(display, display.atoms._AXD_HELD_INPUT, &words)
    }
}

/// Releases what a daemon that was killed held down. False if the note's owner seems to live.
pub(crate) fn release_left_input(display: &Display) -> XResult<bool> {
    let note = display.atoms._AXD_HELD_INPUT;
    let words = match read(display, note)? {
        LeftNote::None => return Ok(true),
        LeftNote::InUse => return Ok(false),
        LeftNote::Orphaned(words) => words,
    };
    let down = sent_and_down(display)?;
    let left: Vec<Physical> =
        words.into_iter().filter_map(Physical::of_word).filter(|left| down.contains(left)).collect();
    for left in left.iter().rev() {
        let (kind, number) = match left {
            Physical::Key(code) => (KEY_RELEASE_EVENT, *code),
            Physical::Button(number) => (BUTTON_RELEASE_EVENT, *number),
        };
        display.connection.xtest_fake_input(kind, number, 0, 0, 0, 0, 0)?;
    }
    // Removed after the releases: whoever is killed in between leaves it for the next.
    display.connection.delete_property(display.root, note)?;
    display.sync()?;
    if !left.is_empty() {
        info!(?left, "released what a daemon held that was killed");
    }
    Ok(true)
}

/// The keys and buttons that are down because a program sent them. What a person holds comes from other devices.
fn sent_and_down(display: &Display) -> XResult<Vec<Physical>> {
    display.require_extension("XInputExtension")?;
    let devices = display.connection.xinput_list_input_devices()?.reply()?;
    let mut down = Vec::new();
    for (device, name) in devices.devices.iter().zip(&devices.names) {
        let name = String::from_utf8_lossy(&name.name);
        if !name.ends_with("XTEST keyboard") && !name.ends_with("XTEST pointer") {
            continue;
        }
        display.connection.xinput_open_device(device.device_id)?.reply()?;
        let state = display.connection.xinput_query_device_state(device.device_id)?.reply();
        display.connection.xinput_close_device(device.device_id)?.check()?;
        let state = match state {
            Ok(state) => state,
            Err(error) => {
                warn!(%name, %error, "the X server does not say what this device holds");
                continue;
            }
        };
        for class in state.classes {
            let is_set =
                |bits: &[u8; 32], number: u8| bits[usize::from(number / 8)] & (1 << (number % 8)) != 0;
            match class.data {
                InputStateData::Key(state) => {
                    down.extend((8..=u8::MAX).filter(|code| is_set(&state.keys, *code)).map(Physical::Key));
                }
                InputStateData::Button(state) => {
                    let pressed = (1..=u8::MAX).filter(|number| is_set(&state.buttons, *number));
                    down.extend(pressed.map(Physical::Button));
                }
                _ => {}
            }
        }
    }
    Ok(down)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_buttons_are_noted_as_numbers_and_nonsense_is_nothing() {
        for pressed in [Physical::Key(8), Physical::Key(255), Physical::Button(1), Physical::Button(255)] {
            assert_eq!(Physical::of_word(pressed.word()), Some(pressed));
        }
        for word in [0, 50, 0x300, 0x1_0000_0132_u64 as u32 | 0x8000_0000, u32::MAX] {
            assert_eq!(Physical::of_word(word), None, "{word:#x}");
        }
    }
}
