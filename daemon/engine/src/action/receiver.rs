//! Makes sure that input reaches the right receiver.
//!
//! An action takes the input lock before it brings a window to the front or moves the focus, and keeps it until its input is
//! sent. The input carries a judge, which the platform asks before each stretch whether the current receiver is the right one.
//! If it is not, nothing more is sent.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axd_protocol::error::Delivery;
use axd_protocol::{Error, ErrorCode, NodeId, Result};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::Engine;
use crate::action::context::{ActionContext, Outcome};
use crate::action::input_lock::InputGuard;
use crate::change_wait::Next;
use crate::desktop::state::DesktopState;
use crate::policy::guard::{Guard, with_questions};
use axd_platform::{Failure, FailureKind, Gate, Input, InputStep, Judge, Receiver, Sent, Stretch};

/// How long a window that must receive keys may take to get the input focus.
const RAISE_TIMEOUT: Duration = Duration::from_millis(3_000);
/// The maximum wait before the input focus is checked again.
const RECHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The receiver that input must reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Any receiver; it is reported.
    Anyone,
    /// The app with this process id.
    App(u32),
    /// This window of the app.
    Window(u32, u64),
    /// A popup of the app, such as a menu or a list, or one of its windows.
    Popup(u32),
}

impl Expected {
    /// Whether a receiver is the expected one.
    fn is(self, stretch: Stretch, receiver: &Receiver) -> bool {
        let is_app = |pid: u32| receiver.pid == Some(pid);
        match (self, stretch) {
            (Expected::Anyone, _) => true,
            (Expected::App(pid) | Expected::Popup(pid), _) => is_app(pid),
            // Keys may also go to a popup of the app, such as a list that completes what is typed: that is up to the app.
            (Expected::Window(pid, window), Stretch::Keys) => {
                receiver.window == Some(window) || receiver.popup && is_app(pid)
            }
            (Expected::Window(_, window), Stretch::Pointer(_) | Stretch::Over(_)) => {
                receiver.window == Some(window)
            }
        }
    }
}

/// The last receiver of an action's input.
#[derive(Debug, Clone, Default)]
pub(crate) struct Received(Arc<Mutex<Option<Receiver>>>);

impl Received {
    /// The receiver, if anything was sent.
    pub fn last(&self) -> Option<Receiver> {
        self.0.lock().clone()
    }
}

impl ActionContext<'_> {
    /// Takes the input lock, unless this action holds it already. True if it was taken now: then the caller must release it
    /// before it waits for something. Fails if another client holds something down and nothing was sent yet: that client may
    /// be waiting for this action's turn, so the action gives it back and starts again.
    pub async fn take_input_lock(&self) -> Result<bool> {
        if self.input_guard.lock().is_some() {
            return Ok(false);
        }
        let is_sent = self.call.gate.is_sent();
        let taken = self.engine.lock_input(self.input_user(), self.deadline, is_sent).await;
        let turn: InputGuard = taken.map_err(|failure| {
            self.starts_again.store(!is_sent && failure.kind == FailureKind::Refused, Relaxed);
            self.failed(&failure).suggest("wait until it is released; `ax status` shows who holds it")
        })?;
        *self.input_guard.lock() = Some(turn);
        Ok(true)
    }

    /// Releases the input lock.
    pub fn release_input_lock(&self) {
        *self.input_guard.lock() = None;
    }

    /// The receiver that input for an element must reach.
    pub fn expected_of(&self, id: NodeId) -> Result<Expected> {
        let pid = self.app()?.pid();
        Ok(self.window_of(id)?.map_or(Expected::App(pid), |window| Expected::Window(pid, window)))
    }

    /// The receiver that input without a target element must reach: the one that the request names.
    pub fn expected_by_name(&self) -> Result<Expected> {
        let Some(app) = &self.app else { return Ok(Expected::Anyone) };
        let pid = app.pid();
        if let Some(window) = self.options.window {
            let tree = app.tree.read();
            let ix = self.engine.scope(app, &tree, Some(window), None)?;
            return Ok(tree
                .window_number(ix)
                .map_or(Expected::App(pid), |window| Expected::Window(pid, window)));
        }
        Ok(if self.options.app.is_some() { Expected::App(pid) } else { Expected::Anyone })
    }

    /// The receiver that input at the point or element of this action must reach.
    pub fn expected_at_spot(&self) -> Result<Expected> {
        match (self.point, self.target) {
            (None, Some(id)) if self.pops_up(id) => Ok(Expected::Popup(self.app()?.pid())),
            (None, Some(id)) => self.expected_of(id),
            _ => self.expected_by_name(),
        }
    }

    /// Sends input that must reach the expected receiver.
    pub async fn send(&self, steps: Vec<InputStep>, expected: Expected) -> Result<Outcome> {
        let gate = self.call.gate.part();
        let sent = self.try_to_send(steps, expected, None, &gate).await;
        sent.map(|doubt| self.input_outcome(doubt)).map_err(|failure| self.not_sent(&failure, &gate))
    }

    /// Sends input for another element than the target of the action.
    pub async fn send_to(&self, id: NodeId, steps: Vec<InputStep>, expected: Expected) -> Result<Outcome> {
        let gate = self.call.gate.part();
        let sent = self.try_to_send(steps, expected, Some(id), &gate).await;
        sent.map(|doubt| self.input_outcome(doubt)).map_err(|failure| self.not_sent(&failure, &gate))
    }

    async fn try_to_send(
        &self,
        steps: Vec<InputStep>,
        expected: Expected,
        element: Option<NodeId>,
        gate: &Gate,
    ) -> std::result::Result<Option<String>, Failure> {
        let refused = |error: Error| Failure::new(FailureKind::Refused, error.message);
        self.take_input_lock().await.map_err(refused)?;
        let judge = self.judge(expected, self.guard(&steps, element));
        let steps = with_questions(steps, self.engine.input_lock.is_holding_button());
        let input = Input { steps, judge };
        self.engine.input(input, gate, self.deadline).await
    }

    /// The current receiver of a stretch, if it is the expected one; else a text that says why not.
    pub async fn receiver_of(
        &self,
        stretch: Stretch,
        expected: Expected,
    ) -> Result<std::result::Result<Option<Receiver>, String>> {
        let gate = self.call.gate.part();
        match self.try_to_send(vec![InputStep::Expect(stretch)], expected, None, &gate).await {
            Ok(_) => Ok(Ok(self.received.last())),
            Err(failure) if failure.kind == FailureKind::Elsewhere => Ok(Err(failure.to_string())),
            Err(failure) => Err(self.failed(&failure)),
        }
    }

    /// Sends keyboard input to an element, or to the app or window that the request names. The window is brought to the front
    /// first, and again if another one got the keyboard before anything was sent.
    pub async fn send_keys(
        &self,
        steps: Vec<InputStep>,
        window: Option<u64>,
        expected: Expected,
    ) -> Result<Outcome> {
        let end = self.deadline.min(Instant::now() + RAISE_TIMEOUT);
        let mut wait = self.engine.change_wait(end, &self.call.gate);
        self.take_input_lock().await?;
        let mut again = false;
        loop {
            self.raise(window, again).await?;
            let gate = self.call.gate.part();
            let failure = match self.try_to_send(steps.clone(), expected, None, &gate).await {
                Ok(doubt) => return Ok(self.input_outcome(doubt)),
                Err(failure) => failure,
            };
            // Changes of the focus are announced late, so it is checked again after a moment in any case.
            let is_elsewhere = failure.kind == FailureKind::Elsewhere && failure.sent == Sent::No;
            match is_elsewhere {
                true => match wait.next_within(RECHECK_INTERVAL).await {
                    Next::Check => again = true,
                    Next::TimedOut => return Err(self.not_sent(&failure, &gate)),
                    Next::Cancelled => return Err(self.cancelled()),
                },
                false => return Err(self.not_sent(&failure, &gate)),
            }
        }
    }

    /// The judge for input of this action: it must reach who is meant, and the policy must allow it there.
    pub fn judge(&self, expected: Expected, guard: Guard) -> Judge {
        let (engine, received) = (Arc::downgrade(self.engine), self.received.clone());
        Judge::new(move |stretch, receiver| {
            if let Stretch::Over(_) = stretch {
                return guard.check(stretch, receiver);
            }
            if expected.is(stretch, receiver) {
                guard.check(stretch, receiver)?;
                *received.0.lock() = Some(receiver.clone());
                return Ok(());
            }
            let who = engine.upgrade().map_or_else(String::new, |engine| engine.describe(receiver));
            let why = match (stretch, receiver) {
                (Stretch::Keys, Receiver { popup: true, .. }) => {
                    format!("a popup has the keyboard focus: {who}")
                }
                (Stretch::Pointer(_), Receiver { popup: true, .. }) => format!("covered by a popup: {who}"),
                (Stretch::Keys, Receiver { window: None, pid: None, .. }) => {
                    "no window has the keyboard focus".to_owned()
                }
                (Stretch::Keys, _) => format!("the keyboard focus is in {who}"),
                (Stretch::Pointer(point), Receiver { window: None, pid: None, .. }) => {
                    format!("no window at {},{}", point.x, point.y)
                }
                (Stretch::Pointer(_) | Stretch::Over(_), _) => format!("covered by {who}"),
            };
            Err(Failure::new(FailureKind::Elsewhere, why))
        })
    }

    /// The error for input that was not sent, or only in part.
    pub fn not_sent(&self, failure: &Failure, gate: &Gate) -> Error {
        let typed = gate.characters();
        if failure.kind != FailureKind::Elsewhere {
            let mut error = self.failed(failure);
            error.delivered_chars = Some(typed).filter(|typed| *typed > 0);
            return error;
        }
        let what = self.target_label();
        if failure.sent == Sent::No {
            return Error::new(ErrorCode::NotActionable, format!("{what}: {failure}; nothing was sent"))
                .suggest("close or move the window that covers it, or bring its own window to the front with `ax focus-window`, then try again");
        }
        let mut error = Error::new(
            ErrorCode::NotActionable,
            match typed {
                0 => format!("{what}: stopped part way: {failure}"),
                typed => format!("{what}: stopped after {typed} characters: {failure}"),
            },
        )
        .delivered(Delivery::Uncertain)
        .suggest(
            "the input so far reached the right window; check with `ax snapshot` before sending the rest",
        );
        error.delivered_chars = Some(typed).filter(|typed| *typed > 0);
        error
    }
}

impl Engine {
    /// A receiver's description for error texts.
    pub(crate) fn describe(&self, receiver: &Receiver) -> String {
        let desktop = self.desktop.read();
        let app = receiver.pid.and_then(|pid| desktop.by_pid(pid));
        let whose = match (app, receiver.pid) {
            (Some(app), _) => app.name.clone(),
            (None, Some(pid)) => format!("process {pid}"),
            (None, None) => "an unknown process".to_owned(),
        };
        match receiver.title.as_str() {
            _ if is_hidden(&desktop, receiver) => format!("a window of {whose}"),
            "" => format!("a window of {whose}"),
            title => format!("the window \"{title}\" of {whose}"),
        }
    }
}

/// Whether a receiver is a window that may not be read.
pub(crate) fn is_hidden(desktop: &DesktopState, receiver: &Receiver) -> bool {
    // Numbers of windows are never 0.
    desktop.hides(receiver.pid.unwrap_or_default(), receiver.window.unwrap_or_default(), &receiver.title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_protocol::Point;

    #[test]
    fn only_who_is_meant_is_the_right_receiver() {
        let (keys, pointer) = (Stretch::Keys, Stretch::Pointer(Point { x: 1, y: 1 }));
        let window = |pid, window| Receiver { pid: Some(pid), window: Some(window), ..Receiver::default() };
        let popup = |pid| Receiver { popup: true, ..window(pid, 99) };
        let expected = Expected::Window(7, 70);
        assert!(expected.is(keys, &window(7, 70)) && expected.is(pointer, &window(7, 70)));
        assert!(!expected.is(keys, &window(7, 71)), "another window of the app is another receiver");
        assert!(!expected.is(keys, &Receiver::default()), "nobody is not the right one");
        assert!(expected.is(keys, &popup(7)) && !expected.is(keys, &popup(8)));
        assert!(!expected.is(pointer, &popup(7)), "a popup lies over what is meant");
        assert!(Expected::Popup(7).is(pointer, &popup(7)) && !Expected::Popup(7).is(pointer, &popup(8)));
        assert!(Expected::App(7).is(keys, &window(7, 1)) && !Expected::App(7).is(keys, &window(8, 1)));
        assert!(Expected::Anyone.is(keys, &Receiver::default()));
    }
}
