//! What happens to posted events: they are recorded, and performed on the scripted desktop in their
//! order. Posting does not wait for that, as on a Mac.
//!
//! A click needs time, as was measured on Macs: a release that follows its press too soon is dropped, and so is a press that follows
//! a move too soon. A Shift that is only a flag stays set in the system after the event.
//!
//! What is posted to a process reaches that one alone, in front or not, but only keys do: that mouse events which are
//! posted to a process behind others are lost without a word is what many have found, whatever the documentation says. Some
//! say the same of keys, for apps that have no key window then; here they arrive, as documented.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use axd_macos::appkit::host::HostKey;
use axd_platform::{Gate, InputStep, Platform};
use axd_protocol::Point;
use axd_protocol::keys::{Button, Key, Modifier};
use parking_lot::{Condvar, Mutex};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::CGPoint;
use super::event::{EventKind, FLAGS_CHANGED, Posted};
use super::keys::{flag_of, key_of, modifiers_of};
use super::secure::is_swallowed;
use crate::world::{Inner, WaitResult, current, wait};

/// How many lines one notch of the wheel scrolls.
const LINES: i32 = 3;

/// How soon after its press the release of a button is lost: of 15 none got through at once, 14 after 20 ms, all after 40 ms.
const SHORTEST_PRESS: Duration = Duration::from_millis(40);
/// How soon after a move a press is ignored.
const SHORTEST_REST: Duration = Duration::from_millis(10);

/// The posted events, and the state of mouse and keyboard.
#[derive(Debug)]
pub struct InputLog {
    posted: Mutex<Vec<Posted>>,
    state: Mutex<Down>,
    done: Condvar,
    queue: mpsc::UnboundedSender<Posted>,
}

/// The keys and buttons that are down by the posted events.
#[derive(Debug, Default)]
struct Down {
    keys: BTreeSet<u16>,
    /// When each was pressed.
    buttons: BTreeMap<u32, Instant>,
    pointer: Option<CGPoint>,
    moved: Option<Instant>,
    /// Whether a modifier stays set that no key holds.
    latched: bool,
    waiting: usize,
}

impl Down {
    /// Whether an event comes too soon after the one before.
    fn comes_too_soon(&self, event: &Posted) -> bool {
        let since = |when: Option<&Instant>| when.map(|when| event.when.duration_since(*when));
        match event.kind {
            EventKind::Button { down: true } => {
                since(self.moved.as_ref()).is_some_and(|time| time < SHORTEST_REST)
            }
            EventKind::Button { down: false } => {
                since(self.buttons.get(&event.button)).is_some_and(|time| time < SHORTEST_PRESS)
            }
            _ => false,
        }
    }
}

impl InputLog {
    pub(crate) fn start(runtime: &Handle) -> InputLog {
        let (queue, mut events) = mpsc::unbounded_channel::<Posted>();
        runtime.spawn(async move {
            let mut held = BTreeSet::new();
            while let Some(event) = events.recv().await {
                let Some(world) = current() else { return };
                if !is_swallowed(&world, &event).await {
                    carry_out(&world, &event, &mut held).await;
                }
                let mut state = world.input.state.lock();
                state.waiting = state.waiting.saturating_sub(1);
                world.input.done.notify_all();
            }
        });
        InputLog { posted: Mutex::default(), state: Mutex::default(), done: Condvar::new(), queue }
    }

    /// The events that were posted so far, in order.
    pub fn posted(&self) -> Vec<Posted> {
        self.posted.lock().clone()
    }

    /// Clears the list of posted events.
    pub fn forget(&self) {
        self.posted.lock().clear();
    }

    /// Waits until all posted events have been performed. False if that takes longer than the timeout.
    pub fn settle(&self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        let mut state = self.state.lock();
        while state.waiting > 0 {
            if self.done.wait_until(&mut state, deadline).timed_out() {
                return state.waiting == 0;
            }
        }
        true
    }

    /// Whether a key or a button is down.
    pub fn is_held(&self) -> bool {
        let state = self.state.lock();
        !state.keys.is_empty() || !state.buttons.is_empty()
    }

    /// Whether a modifier stays set in the system that no key holds.
    pub fn is_latched(&self) -> bool {
        self.state.lock().latched
    }

    pub(super) fn post(&self, event: Posted, hurries: bool) {
        self.posted.lock().push(event.clone());
        {
            let mut state = self.state.lock();
            if !hurries && event.pid.is_none() && state.comes_too_soon(&event) {
                return;
            }
            state.waiting += 1;
            match event.kind {
                // The hardware knows nothing of what goes straight to an app.
                _ if event.pid.is_some() => {}
                EventKind::Key { down } => {
                    let shift = flag_of(Modifier::Shift);
                    state.latched |= event.flags & shift != 0
                        && flags_of(&state.keys) & shift == 0
                        && event.number != FLAGS_CHANGED;
                    if down {
                        state.keys.insert(event.key)
                    } else {
                        state.keys.remove(&event.key)
                    };
                }
                EventKind::Move => {
                    if state.pointer != Some(event.at) {
                        state.moved = Some(event.when);
                    }
                    state.pointer = Some(event.at);
                }
                EventKind::Button { down } => {
                    state.pointer = Some(event.at);
                    if down {
                        state.buttons.insert(event.button, event.when)
                    } else {
                        state.buttons.remove(&event.button)
                    };
                }
                EventKind::Wheel | EventKind::Other => {}
            }
        }
        // If this fails the world has ended.
        let _ = self.queue.send(event);
    }

    pub(super) fn is_key_down(&self, key: u16) -> bool {
        self.state.lock().keys.contains(&key)
    }

    pub(super) fn is_button_down(&self, button: u32) -> bool {
        self.state.lock().buttons.contains_key(&button)
    }

    /// The flags of the modifiers that are down.
    pub(super) fn flags(&self) -> u64 {
        flags_of(&self.state.lock().keys)
    }
}

/// The flags of the modifiers among keys that are down.
fn flags_of(keys: &BTreeSet<u16>) -> u64 {
    let modifiers = keys.iter().filter_map(|code| match key_of(*code) {
        Some(Key::Modifier(modifier)) => Some(flag_of(modifier)),
        _ => None,
    });
    modifiers.fold(0, |flags, flag| flags | flag)
}

/// The position of the pointer.
pub(super) fn pointer(world: &Inner) -> CGPoint {
    if let Some(at) = world.input.state.lock().pointer {
        return at;
    }
    let reply = {
        let _inside = world.runtime.enter();
        world.sim.pointer()
    };
    match wait(reply, Duration::from_secs(10)) {
        WaitResult::Answer(Ok(at)) => CGPoint { x: f64::from(at.x), y: f64::from(at.y) },
        _ => CGPoint::default(),
    }
}

/// What a key is in the layout in use, with the modifiers of its event.
fn key_in_layout(world: &Inner, event: &Posted) -> Option<Key> {
    let key = key_of(event.key)?;
    let Key::Char(_) = key else { return Some(key) };
    let keyboard = world.settings.lock().keyboard.clone();
    let in_layout = |keys: &[HostKey]| keys.iter().find(|key| key.code == event.key).copied();
    let with_command = event.flags & flag_of(Modifier::Cmd) != 0;
    let key = in_layout(&keyboard.current)?;
    let typed = match with_command {
        true => key.with_command.filter(char::is_ascii).or_else(|| in_layout(&keyboard.latin)?.plain),
        false => key.plain,
    };
    typed.map(Key::Char)
}

async fn carry_out(world: &Inner, event: &Posted, held: &mut BTreeSet<Modifier>) {
    let at = Point { x: event.at.x.floor() as i32, y: event.at.y.floor() as i32 };
    let button = match event.button {
        0 => Button::Left,
        1 => Button::Right,
        _ => Button::Middle,
    };
    let mut steps = Vec::new();
    match event.kind {
        EventKind::Move => steps.push(InputStep::Move(at)),
        EventKind::Button { down } => {
            if down && let Ok(count @ 1..) = u32::try_from(event.clicks) {
                world.sim.count_next_click(count);
            }
            steps.extend([InputStep::Move(at), InputStep::Button(button, down)]);
        }
        EventKind::Wheel => {
            let notches = |lines: i32| (lines.abs() + LINES - 1) / LINES * -lines.signum();
            let (down, right) = event.wheel;
            steps.push(InputStep::Wheel { right: notches(right), down: notches(down) });
        }
        EventKind::Key { down } => match (key_in_layout(world, event), &event.text) {
            (Some(Key::Modifier(_)), _) if event.pid.is_some() => {}
            (Some(Key::Modifier(modifier)), _) => {
                if down {
                    held.insert(modifier)
                } else {
                    held.remove(&modifier)
                };
                steps.push(InputStep::Key(Key::Modifier(modifier), down));
            }
            (_, Some(text)) if down => steps.push(InputStep::Text(text.clone())),
            (_, Some(_)) | (None, None) => {}
            (Some(key), None) => steps.push(InputStep::Key(key, down)),
        },
        EventKind::Other => {}
    }
    // What an event says is held counts for it, pressed or not.
    let flagged: Vec<Modifier> =
        modifiers_of(event.flags).into_iter().filter(|modifier| !held.contains(modifier)).collect();
    let needs = match event.kind {
        EventKind::Key { .. } => event.text.is_none() && !matches!(key_of(event.key), Some(Key::Modifier(_))),
        EventKind::Button { down } => down,
        _ => false,
    };
    if needs {
        let keys =
            |down: bool| flagged.iter().map(move |modifier| InputStep::Key(Key::Modifier(*modifier), down));
        steps = keys(true).chain(steps).chain(keys(false)).collect();
    }
    if steps.is_empty() {
        return;
    }
    match event.pid.map(u32::try_from) {
        None => drop(world.sim.input(steps.into(), Gate::new()).await),
        Some(Ok(pid)) => world.sim.type_to(pid, steps).await,
        // There is no such process.
        Some(Err(_)) => {}
    }
}
