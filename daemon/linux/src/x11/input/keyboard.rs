//! The keyboard as it is now: its map, what is held, and pressing keys.

use std::time::{Duration, Instant};

use axd_protocol::keys::Key;
use tracing::debug;
use x11rb::connection::Connection;
use x11rb::protocol::xinput::{ConnectionExt as _, Device, EventMask, XIEventMask};
use x11rb::protocol::xkb::{ConnectionExt as _, ID, MapPart};
use x11rb::protocol::xproto::{ConnectionExt as _, KEY_PRESS_EVENT, KEY_RELEASE_EVENT, ModMask, Window};
use x11rb::protocol::xtest::ConnectionExt as _;

use crate::x11::connection::{Display, XError, XResult};
use crate::x11::input::keymap::{Keymap, Stroke, bits};
use crate::x11::input::keys;
use crate::x11::input::notes::{HeldNote, NoteOwner, Physical};
use crate::x11::input::spare_keys::SpareKeys;
use crate::x11::input::text::plan_stretch;
use crate::x11::input::wm_ping::{self, PingReply};
use axd_platform::{Failure, FailureKind, Gate};

/// How long an app may take to read what was typed before the map it needs is changed.
const TYPED_READ_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to wait for an app that does not answer pings.
const NO_PING_DELAY: Duration = Duration::from_millis(60);

/// The keyboard.
pub(crate) struct Keyboard {
    pub map: Keymap,
    /// The active group of the layout.
    pub group: u8,
    pub spare_keys: SpareKeys,
    /// What the next daemon has to release if this one is killed.
    pub held_note: HeldNote,
    /// Keys that are down because they were asked to be.
    held: Vec<HeldKey>,
    /// The windows that got keys since keys were lent last, and may not have read them yet.
    readers: Vec<Window>,
    /// The windows whose apps have read how the keys are lent now.
    informed: Vec<Window>,
    /// The number of the last ping.
    token: u32,
}

/// A key that is down.
struct HeldKey {
    key: Key,
    keycode: u8,
    /// What had to be held with it, and is released with it.
    helpers: Vec<u8>,
}

/// The modifiers as they were before text was typed, to be restored.
#[derive(Default)]
pub(crate) struct SavedModifiers {
    /// Those that were locked.
    locked: u8,
    /// Keys of ours that were down.
    lifted: Vec<u8>,
}

impl Keyboard {
    /// The keyboard of this display.
    pub fn new(display: &Display) -> XResult<Keyboard> {
        display.require_extension("XKEYBOARD")?;
        display.require_extension("XTEST")?;
        display.connection.xkb_use_extension(1, 0)?.reply()?;
        let owner = NoteOwner::new(display)?;
        let mut keyboard = Keyboard {
            map: Keymap::default(),
            group: 0,
            spare_keys: SpareKeys::new(owner),
            held_note: HeldNote::new(owner),
            held: Vec::new(),
            readers: Vec::new(),
            informed: Vec::new(),
            token: 0x0a5d_0000,
        };
        keyboard.reload(display)?;
        Ok(keyboard)
    }

    /// Reads the map and the active group; for each script, so that no change is missed.
    pub fn reload(&mut self, display: &Display) -> XResult<()> {
        let parts = MapPart::KEY_TYPES | MapPart::KEY_SYMS | MapPart::MODIFIER_MAP;
        let none = MapPart::from(0u8);
        let device = u16::from(ID::USE_CORE_KBD);
        let map = display.connection.xkb_get_map(
            device,
            parts,
            none,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            0,
            Default::default(),
            0,
            0,
            0,
            0,
            0,
            0,
        )?;
        let state = display.connection.xkb_get_state(device)?;
        let (reply, state) = (map.reply()?, state.reply()?);
        let sets = reply.map.modmap_rtrn.unwrap_or_default();
        self.map = Keymap::new(
            reply.first_key_sym,
            reply.map.syms_rtrn.unwrap_or_default(),
            reply.map.types_rtrn.unwrap_or_default(),
            sets.into_iter().map(|set| (set.keycode, bits(set.mods))).collect(),
        );
        self.group = u8::from(state.group);
        self.spare_keys.update(&self.map);
        Ok(())
    }

    /// Fails unless a key can be pressed, now or with the help of a spare key.
    pub fn can_press(&self, key: Key) -> Result<(), Failure> {
        if self.stroke(key).is_some() || self.spare_keys.room(&self.held_keycodes()) > 0 {
            return Ok(());
        }
        let message = format!("the keyboard has no key '{key}', and no unused key to assign it to");
        Err(Failure::new(FailureKind::NotSupported, message))
    }

    /// Waits until the app of this window has read all input, if it answers pings, for at most this long each.
    ///
    /// It is pinged twice: while GTK 4 paints it reads ahead, and answers for what it has not handed on yet. By the
    /// second ping it has.
    pub fn wait_until_input_read(
        &mut self,
        display: &Display,
        window: Window,
        timeout: Duration,
    ) -> XResult<()> {
        for _ in 0..2 {
            self.token = self.token.wrapping_add(1);
            match wm_ping::ping(display, window, self.token, timeout)? {
                PingReply::Read => {}
                PingReply::Unsupported => break,
                PingReply::TimedOut => {
                    debug!(window, "the app has not read its input yet");
                    break;
                }
            }
        }
        Ok(())
    }

    /// Whether the app of this window has read how keys are lent now, so that keys can be pressed; then it is noted as one that
    /// has to read them.
    pub fn is_informed(&mut self, window: Window) -> bool {
        if !self.spare_keys.is_lent() {
            return true;
        }
        let informed = self.informed.contains(&window);
        if informed && !self.readers.contains(&window) {
            self.readers.push(window);
        }
        informed
    }

    /// Waits until the app of a window has read how keys are lent now.
    pub fn wait_for_keymap(&mut self, display: &Display, window: Window) -> Result<(), Failure> {
        if !self.wait_for_reader(display, window)? {
            return Err(not_reading("the app with the focus"));
        }
        self.informed.push(window);
        Ok(())
    }

    /// Puts the next keys on spare keys where needed. Returns how many of them can be pressed then without waiting; at
    /// least one.
    pub fn prepare(&mut self, display: &Display, keys: &[(Key, bool)]) -> Result<usize, Failure> {
        let held = self.held_keycodes();
        let room = self.spare_keys.room(&held);
        // What is lent now may be taken back for what follows, so only the keyboard's own keys count.
        let lacking = keys.iter().map(|(key, down)| match self.own_stroke(*key) {
            None if *down => Some(keys::symbol(*key)),
            _ => None,
        });
        let (count, symbols) = plan_stretch(lacking, room);
        if count == 0 {
            return Err(XError::Missing("a spare key").into());
        }
        if symbols.iter().any(|symbol| self.spare_keys.key_of(*symbol).is_none()) {
            self.lend(display, &symbols)?;
        }
        Ok(count)
    }

    /// Lends keys to symbols, once all that was typed with what was lent before has been read.
    pub fn lend(&mut self, display: &Display, symbols: &[u32]) -> Result<(), Failure> {
        if !self.wait_for_all_readers(display)? {
            // It is not waited for a second time.
            self.readers.pop();
            return Err(not_reading("an app that was typed into"));
        }
        self.informed.clear();
        Ok(self.spare_keys.lend(display, symbols, &self.held_keycodes())?)
    }

    /// Presses a key, and holds it.
    pub fn press(&mut self, display: &Display, key: Key) -> XResult<()> {
        let stroke = self.stroke(key).ok_or(XError::Missing("a key for a character"))?;
        let down = self.held_modifiers();
        let helpers = self.modifier_keys(stroke.modifiers & !down);
        let keycodes = || helpers.iter().chain([&stroke.keycode]).copied();
        self.held_note.add(display, keycodes().map(Physical::Key))?;
        keycodes().try_for_each(|keycode| key_event(display, keycode, true))?;
        self.held.push(HeldKey { key, keycode: stroke.keycode, helpers });
        Ok(())
    }

    /// Lets go of a key, and of what was held with it.
    pub fn release(&mut self, display: &Display, key: Key) -> XResult<()> {
        let Some(at) = self.held.iter().rposition(|held| held.key == key) else {
            // Not held by us: whoever holds it, it is up after this.
            return match self.stroke(key) {
                Some(stroke) => key_event(display, stroke.keycode, false),
                None => Ok(()),
            };
        };
        let held = self.held.remove(at);
        key_event(display, held.keycode, false)?;
        held.helpers.iter().rev().try_for_each(|keycode| key_event(display, *keycode, false))
    }

    /// Waits until all windows that received keys have read them. False if one does not. Those are pinged, and not the
    /// one with the focus: that may be another by now.
    fn wait_for_all_readers(&mut self, display: &Display) -> XResult<bool> {
        while let Some(window) = self.readers.last().copied() {
            if !self.wait_for_reader(display, window)? {
                return Ok(false);
            }
            self.readers.pop();
        }
        Ok(true)
    }

    /// Waits until the app of a window has read all that was sent to it. False if it does not read.
    fn wait_for_reader(&mut self, display: &Display, window: Window) -> XResult<bool> {
        self.token = self.token.wrapping_add(1);
        match wm_ping::ping(display, window, self.token, TYPED_READ_TIMEOUT)? {
            PingReply::Read => Ok(true),
            PingReply::TimedOut => Ok(false),
            PingReply::Unsupported => {
                display.sync()?;
                std::thread::sleep(NO_PING_DELAY);
                Ok(true)
            }
        }
    }

    /// Gives back keys that were lent, once all that was typed with them has been read.
    pub fn return_spare_keys(&mut self, display: &Display) -> XResult<()> {
        if self.spare_keys.is_lent() && self.wait_for_all_readers(display)? {
            self.spare_keys.give_back(display, &self.held_keycodes())?;
            self.informed.clear();
        }
        display.sync()
    }

    /// Releases every modifier that would change typed text. Returns how they were, for [`Keyboard::restore`].
    pub fn release_modifiers(&mut self, display: &Display) -> XResult<SavedModifiers> {
        let lifted: Vec<u8> = self
            .held
            .iter()
            .flat_map(|held| held.helpers.iter().chain([&held.keycode]))
            .copied()
            .filter(|keycode| self.map.modifiers_of(*keycode) != 0)
            .collect();
        lifted.iter().try_for_each(|keycode| key_event(display, *keycode, false))?;
        let state = display.connection.xkb_get_state(u16::from(ID::USE_CORE_KBD))?.reply()?;
        let locked = bits(state.locked_mods) & !self.map.num_lock();
        if locked != 0 || bits(state.latched_mods) != 0 {
            set_locked(display, locked, 0)?;
        }
        Ok(SavedModifiers { locked, lifted })
    }

    /// /// Restores modifiers.
    pub fn restore(&mut self, display: &Display, before: &SavedModifiers) -> XResult<()> {
        if before.locked != 0 {
            set_locked(display, before.locked, before.locked)?;
        }
        before.lifted.iter().try_for_each(|keycode| key_event(display, *keycode, true))
    }

    /// Waits until the user holds no modifier. False if one stays held, or the gate is closed.
    pub fn wait_for_modifiers(&self, display: &Display, gate: &Gate) -> XResult<bool> {
        if self.modifiers_are_up(display)? {
            return Ok(true);
        }
        let until = Instant::now() + TYPED_READ_TIMEOUT;
        select_releases(display, true)?;
        let let_go = loop {
            // Checked again: it may have been released before releases were selected.
            if self.modifiers_are_up(display)? {
                break true;
            }
            if display.next_event_until_closed(until, gate)?.is_none() {
                break false;
            }
        };
        select_releases(display, false)?;
        Ok(let_go)
    }

    /// Whether the user holds no modifier now.
    fn modifiers_are_up(&self, display: &Display) -> XResult<bool> {
        let down = display.connection.query_keymap()?.reply()?.keys;
        let ours = self.held_keycodes();
        let is_down = |keycode: u8| down[usize::from(keycode / 8)] & (1 << (keycode % 8)) != 0;
        let lockers = self.map.num_lock() | 2;
        let mut others = (8..=u8::MAX).filter(|keycode| is_down(*keycode) && !ours.contains(keycode));
        Ok(others.all(|keycode| self.map.modifiers_of(keycode) & !lockers == 0))
    }

    /// The keys to hold for these modifiers.
    pub fn modifier_keys(&self, modifiers: u8) -> Vec<u8> {
        let bits = (0..8).map(|place| 1 << place).filter(|bit| modifiers & bit != 0);
        bits.filter_map(|bit| self.map.modifier_key(bit)).collect()
    }

    /// Every key that axd holds down.
    pub fn held_keycodes(&self) -> Vec<u8> {
        self.held.iter().flat_map(|held| held.helpers.iter().chain([&held.keycode])).copied().collect()
    }

    fn held_modifiers(&self) -> u8 {
        self.held_keycodes().into_iter().fold(0, |all, keycode| all | self.map.modifiers_of(keycode))
    }

    fn stroke(&self, key: Key) -> Option<Stroke> {
        let symbol = keys::symbol(key);
        if let Some(keycode) = self.spare_keys.key_of(symbol) {
            return Some(Stroke { keycode, modifiers: 0 });
        }
        self.own_stroke(key)
    }

    /// How to press a key without spare keys.
    fn own_stroke(&self, key: Key) -> Option<Stroke> {
        let symbol = keys::symbol(key);
        match key {
            Key::Char(character) => self.map.key_of(character, self.group),
            _ => self.map.symbol(symbol, self.group),
        }
    }
}

fn not_reading(who: &str) -> Failure {
    let message = format!("{who} does not process keyboard input; it hangs or is busy");
    Failure::new(FailureKind::Unresponsive, message)
}

/// Starts or stops receiving releases of keys, whichever window they go to.
fn select_releases(display: &Display, selected: bool) -> XResult<()> {
    // What the keyboard's state tells is not enough: it stays the same while another key holds the same modifier.
    display.require_extension("XInputExtension")?;
    display.connection.xinput_xi_query_version(2, 1)?.reply()?;
    let mask = if selected { XIEventMask::RAW_KEY_RELEASE } else { XIEventMask::default() };
    let events = EventMask { deviceid: Device::ALL_MASTER.into(), mask: vec![mask] };
    display.connection.xinput_xi_select_events(display.root, &[events])?.check()?;
    Ok(())
}

/// Presses or releases a key, by its code.
pub(crate) fn key_event(display: &Display, keycode: u8, down: bool) -> XResult<()> {
    queue_key_event(display, keycode, down)?;
    Ok(display.connection.flush()?)
}

/// Presses and releases a key, in one piece: a daemon that is killed has sent both or none.
pub(crate) fn tap_key(display: &Display, keycode: u8) -> XResult<()> {
    queue_key_event(display, keycode, true)?;
    key_event(display, keycode, false)
}

fn queue_key_event(display: &Display, keycode: u8, down: bool) -> XResult<()> {
    let kind = if down { KEY_PRESS_EVENT } else { KEY_RELEASE_EVENT };
    display.connection.xtest_fake_input(kind, keycode, 0, 0, 0, 0, 0)?;
    Ok(())
}

/// Sets which of these modifiers are locked, and drops all that are latched.
fn set_locked(display: &Display, affected: u8, locked: u8) -> XResult<()> {
    let device = u16::from(ID::USE_CORE_KBD);
    let (affected, locked, all) = (ModMask::from(affected), ModMask::from(locked), ModMask::from(u8::MAX));
    display
        .connection
        .xkb_latch_lock_state(device, affected, locked, false, Default::default(), all, false, 0)?
        .check()?;
    Ok(())
}
