//! What happens to posted events: they are recorded, and performed on the scripted desktop in their
//! order. Posting does not wait for that, as on a Mac.
//!
//! What is posted to a process reaches that one alone, in front or not, but only keys do: that mouse events which are
//! posted to a process behind others are lost without a word is what many have found, whatever the documentation says. Some
//! say the same of keys, for apps that have no key window then; here they arrive, as documented.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use axd_platform::{Gate, InputStep, Platform};
use axd_protocol::Point;
use axd_protocol::keys::{Button, Key, Modifier};
use parking_lot::{Condvar, Mutex};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::CGPoint;
use super::event::{EventKind, Posted};
use super::keys::{flag_of, key_of, modifiers_of};
use super::secure::is_swallowed;
use crate::world::{Inner, WaitResult, current, wait};

/// How many lines one notch of the wheel scrolls.
const LINES: i32 = 3;

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
    buttons: BTreeSet<u32>,
    pointer: Option<CGPoint>,
    waiting: usize,
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

    pub(super) fn post(&self, event: Posted) {
        {
            let mut state = self.state.lock();
            state.waiting += 1;
            match event.kind {
                // The hardware knows nothing of what goes straight to an app.
                _ if event.pid.is_some() => {}
                EventKind::Key { down } => {
                    if down {
                        state.keys.insert(event.key)
                    } else {
                        state.keys.remove(&event.key)
                    };
                }
                EventKind::Move => state.pointer = Some(event.at),
                EventKind::Button { down } => {
                    state.pointer = Some(event.at);
                    if down {
                        state.buttons.insert(event.button)
                    } else {
                        state.buttons.remove(&event.button)
                    };
                }
                EventKind::Wheel | EventKind::Other => {}
            }
        }
        self.posted.lock().push(event.clone());
        // If this fails the world has ended.
        let _ = self.queue.send(event);
    }

    pub(super) fn is_key_down(&self, key: u16) -> bool {
        self.state.lock().keys.contains(&key)
    }

    pub(super) fn is_button_down(&self, button: u32) -> bool {
        self.state.lock().buttons.contains(&button)
    }

    /// The flags of the modifiers that are down.
    pub(super) fn flags(&self) -> u64 {
        let state = self.state.lock();
        let modifiers = state.keys.iter().filter_map(|code| match key_of(*code) {
            Some(Key::Modifier(modifier)) => Some(flag_of(modifier)),
            _ => None,
        });
        modifiers.fold(0, |flags, flag| flags | flag)
    }
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
        EventKind::Key { down } => match (key_of(event.key), &event.text) {
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
