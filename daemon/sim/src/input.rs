//! The mouse and the keyboard of the built-in desktop: the position of the pointer, what is held down, and which app receives
//! the input.
//!
//! As on a real desktop, every step goes into the queue of its app: an app that hangs gets it when it wakes. Before the
//! next step the app has a short time to handle it, so that what a click opens exists when the next step clicks on it.

use std::collections::BTreeSet;
use std::time::Duration;

use axd_protocol::keys::{Button, Key, Modifier};
use axd_protocol::{Bounds, Point};
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::calls::ask;
use super::model::{Gesture, GestureOutcome, Modifiers, SCREEN};
use super::process::{Control, Request};
use super::session::SimSession;
use axd_platform::input_script::{self, InputBackend, InputPace, KeyOrButton, WheelTurn};
use axd_platform::{Failure, Gate, Input, InputStep, Receiver, Stretch, WindowOp};

/// An app handles what it gets before the next is sent, and may bring another window to the front: the judge is asked each time.
const PACE: InputPace = InputPace { keys_per_stretch: 1, text_pieces_per_stretch: 1, ..InputPace::IMMEDIATE };

/// How long an app has to handle a step before the next one is sent.
const STEP_REPLY_TIMEOUT: Duration = Duration::from_millis(100);
/// The maximum time and distance between two clicks that count as a double click.
const MULTI_CLICK_LIMITS: (Duration, i32) = (Duration::from_millis(400), 4);

/// The position of the pointer, and what is held down.
#[derive(Debug)]
pub(super) struct InputState {
    pointer: Point,
    buttons: BTreeSet<Button>,
    keys: BTreeSet<Key>,
    /// The app that receives the pointer's events while a button is down.
    grabbed_by: Option<u32>,
    /// The app the pointer is over.
    over: Option<u32>,
    last_click: Option<Click>,
    /// The click count of the next press, if it was set explicitly.
    forced_click_count: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Click {
    button: Button,
    at: Point,
    when: Instant,
    count: u32,
}

impl Default for InputState {
    fn default() -> InputState {
        let centre = Point { x: SCREEN.width / 2, y: SCREEN.height / 2 };
        let (buttons, keys) = (BTreeSet::new(), BTreeSet::new());
        InputState {
            pointer: centre,
            buttons,
            keys,
            grabbed_by: None,
            over: None,
            last_click: None,
            forced_click_count: None,
        }
    }
}

impl InputState {
    /// The position of the pointer.
    pub(super) fn pointer(&self) -> Point {
        self.pointer
    }

    /// Describes what is held down.
    pub(super) fn describe_held(&self) -> String {
        let keys = self.keys.iter().map(Key::to_string);
        let buttons = self.buttons.iter().map(|button| format!("{button} button"));
        let held: Vec<String> = keys.chain(buttons).collect();
        if held.is_empty() {
            "no key or button is held".to_owned()
        } else {
            format!("held: {}", held.join(", "))
        }
    }

    fn modifiers(&self) -> Modifiers {
        let has = |modifier| self.keys.contains(&Key::Modifier(modifier));
        Modifiers {
            command: has(Modifier::Ctrl) || has(Modifier::Cmd),
            shift: has(Modifier::Shift),
            alt: has(Modifier::Alt),
        }
    }

    /// Sets the click count of the next press.
    pub(super) fn count_next_click(&mut self, count: u32) {
        self.forced_click_count = Some(count);
    }

    /// Records a press of a button, and returns its click count.
    fn count_click(&mut self, button: Button) -> u32 {
        let (at, when) = (self.pointer, Instant::now());
        let goes_on = self.last_click.filter(|last| {
            let far = (last.at.x - at.x).abs().max((last.at.y - at.y).abs());
            last.button == button && far <= MULTI_CLICK_LIMITS.1 && when - last.when <= MULTI_CLICK_LIMITS.0
        });
        let forced = self.forced_click_count.take();
        let count = forced.unwrap_or_else(|| goes_on.map_or(1, |last| last.count + 1));
        self.last_click = Some(Click { button, at, when, count });
        count
    }
}

/// The mouse and the keyboard, as a script uses them.
struct SimInput<'a>(&'a SimSession);

impl InputBackend for SimInput<'_> {
    type TextPiece = char;

    fn pace(&self) -> InputPace {
        PACE
    }

    fn text_pieces(&self, text: &str) -> Result<Vec<(char, u32)>, Failure> {
        Ok(text.chars().map(|character| (character, 1)).collect())
    }

    fn pointer(&mut self) -> Result<Point, Failure> {
        Ok(self.0.input_state.lock().pointer)
    }

    async fn receiver(&mut self, stretch: Stretch) -> Result<Receiver, Failure> {
        Ok(self.0.receiver_of(stretch).await)
    }

    async fn type_text(&mut self, character: &char) -> Result<(), Failure> {
        self.0.deliver_to_active(Gesture::Text(*character)).await;
        Ok(())
    }

    async fn move_pointer(&mut self, to: Point) -> Result<(), Failure> {
        self.0.move_to(to).await;
        Ok(())
    }

    async fn press(&mut self, what: KeyOrButton) -> Result<(), Failure> {
        self.0.press_or_release(what, true).await;
        Ok(())
    }

    async fn release(&mut self, what: KeyOrButton) -> Result<(), Failure> {
        self.0.press_or_release(what, false).await;
        Ok(())
    }

    async fn turn_wheel(&mut self, turn: WheelTurn) -> Result<(), Failure> {
        self.0.turn_wheel(turn).await;
        Ok(())
    }

    async fn pause(&mut self, time: Duration, gate: &Gate) -> bool {
        tokio::time::timeout(time, gate.closed()).await.is_ok()
    }
}

impl SimSession {
    /// Runs the steps in order. When the gate is closed it stops, and releases what it holds.
    pub(super) async fn input(&self, input: Input, gate: &Gate) -> Result<Option<String>, Failure> {
        input_script::run(&mut SimInput(self), &input, gate).await?;
        Ok(None)
    }

    /// The app and window that would receive the input.
    async fn receiver_of(&self, stretch: Stretch) -> Receiver {
        let (pid, window) = match stretch {
            Stretch::Keys => self.active(),
            Stretch::Pointer(point) | Stretch::Over(point) => self.window_at(point).await.unzip(),
        };
        let title = self.windows().into_iter().find(|seen| Some(seen.window) == window);
        let title = title.map(|seen| seen.title).unwrap_or_default();
        Receiver { pid, window, title, ..Receiver::default() }
    }

    async fn press_or_release(&self, what: KeyOrButton, down: bool) {
        match what {
            KeyOrButton::Key(key) => self.key(key, down).await,
            KeyOrButton::Button(button) => self.button(button, down).await,
        }
    }

    async fn turn_wheel(&self, turn: WheelTurn) {
        let at = self.input_state.lock().pointer;
        if let Some((pid, _)) = self.window_at(at).await {
            // Nothing on this desktop scrolls sideways.
            self.deliver(pid, Gesture::Wheel { at, down: turn.down }).await;
        }
    }

    async fn move_to(&self, point: Point) {
        let at = clamp_to_displays(point, &self.display_bounds());
        self.input_state.lock().pointer = at;
        let over = self.window_at(at).await.map(|(pid, _)| pid);
        let (left, grabbed_by) = {
            let mut state = self.input_state.lock();
            let before = std::mem::replace(&mut state.over, over);
            (before.filter(|before| Some(*before) != over), state.grabbed_by)
        };
        if let Some(left) = left.filter(|left| Some(*left) != grabbed_by) {
            self.deliver(left, Gesture::Leave).await;
        }
        if let Some(pid) = grabbed_by.or(over) {
            self.deliver(pid, Gesture::Move(at)).await;
        }
    }

    async fn button(&self, button: Button, down: bool) {
        let at = self.input_state.lock().pointer;
        if down {
            let there = self.window_at(at).await;
            let (clicks, modifiers) = {
                let mut state = self.input_state.lock();
                state.buttons.insert(button);
                state.grabbed_by = state.grabbed_by.or(there.map(|(pid, _)| pid));
                (state.count_click(button), state.modifiers())
            };
            let Some((pid, window)) = there else { return };
            if self.active().1 != Some(window)
                && let Some(process) = self.process(pid)
            {
                // As with a real window manager, a window that is clicked on comes to the front.
                ask(&process, |answer| Control::Window(window, WindowOp::Focus, answer)).await;
            }
            self.deliver(pid, Gesture::Down { at, button, clicks, modifiers }).await;
            return;
        }
        let grabbed_by = {
            let mut state = self.input_state.lock();
            let was_down = state.buttons.remove(&button);
            let last = state.buttons.is_empty();
            let holder = if last { state.grabbed_by.take() } else { state.grabbed_by };
            holder.filter(|_| was_down)
        };
        let Some(pid) = grabbed_by else { return };
        let over = self.window_at(at).await.map(|(pid, _)| pid);
        let outcome = self.deliver(pid, Gesture::Up { at, button, outside: over != Some(pid) }).await;
        let carried = outcome.and_then(|outcome| outcome.dragged_out);
        if let (Some(text), Some(over)) = (carried, over) {
            self.deliver(over, Gesture::Drop { at, text }).await;
        }
    }

    async fn key(&self, key: Key, down: bool) {
        let modifiers = {
            let mut state = self.input_state.lock();
            if down {
                state.keys.insert(key)
            } else {
                state.keys.remove(&key)
            };
            state.modifiers()
        };
        if down && !matches!(key, Key::Modifier(_)) {
            self.deliver_to_active(Gesture::Key { key, modifiers }).await;
        }
    }

    /// Sends the keys of these steps to one app, whichever is in front. The state of the real keyboard does not change.
    pub(super) async fn type_to(&self, pid: u32, steps: Vec<InputStep>) {
        let mut state = InputState::default();
        for step in steps {
            match step {
                InputStep::Text(text) => {
                    for character in text.chars() {
                        self.deliver(pid, Gesture::Text(character)).await;
                    }
                }
                InputStep::Key(key, true) => {
                    state.keys.insert(key);
                    if !matches!(key, Key::Modifier(_)) {
                        self.deliver(pid, Gesture::Key { key, modifiers: state.modifiers() }).await;
                    }
                }
                InputStep::Key(key, false) => drop(state.keys.remove(&key)),
                _ => {}
            }
        }
    }

    async fn deliver_to_active(&self, gesture: Gesture) {
        if let Some(pid) = self.active().0 {
            self.deliver(pid, gesture).await;
        }
    }

    /// Sends a gesture to an app, and returns its outcome if the app handles it in time.
    async fn deliver(&self, pid: u32, gesture: Gesture) -> Option<GestureOutcome> {
        let process = self.process(pid)?;
        let (answer, reply) = oneshot::channel();
        process.requests.send(Request::Input(gesture, answer)).ok()?;
        tokio::time::timeout(STEP_REPLY_TIMEOUT, reply).await.ok()?.ok()
    }

    /// The app and the frontmost window at a point; open menus belong to their window, also outside of its bounds.
    async fn window_at(&self, point: Point) -> Option<(u32, u64)> {
        let mut found = Vec::new();
        for (pid, process) in self.visible_processes() {
            let there = ask(&process, |answer| Control::WindowAt(point, answer)).await.flatten();
            found.extend(there.map(|window| (pid, window)));
        }
        let order: Vec<u64> = self.windows().iter().map(|seen| seen.window).collect();
        let depth = |window: u64| order.iter().position(|other| *other == window).unwrap_or(usize::MAX);
        found.into_iter().min_by_key(|(_, window)| depth(*window))
    }
}

/// The nearest point that is on one of the displays.
fn clamp_to_displays(point: Point, displays: &[Bounds]) -> Point {
    let held = displays.iter().map(|display| Point {
        x: point.x.clamp(display.x, display.x + display.width - 1),
        y: point.y.clamp(display.y, display.y + display.height - 1),
    });
    let far = |held: &Point| (held.x - point.x).abs().saturating_add((held.y - point.y).abs());
    held.min_by_key(far).unwrap_or(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pointer_stays_on_the_displays() {
        let displays =
            [Bounds { x: 0, y: 0, width: 100, height: 80 }, Bounds { x: -50, y: -20, width: 50, height: 40 }];
        let held = |x, y| {
            let Point { x, y } = clamp_to_displays(Point { x, y }, &displays);
            (x, y)
        };
        assert_eq!([held(-10, -10), held(99, 79)], [(-10, -10), (99, 79)]);
        assert_eq!(held(500, 40), (99, 40));
        assert_eq!(held(-10, 60), (0, 60), "left of the main one, below the other");
    }
}
