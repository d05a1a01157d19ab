//! Acting on elements through AT-SPI.
//!
//! One action of an app runs at a time, in a task of its own ([`Actor`]), so that its worker goes on receiving events
//! and reading meanwhile: an app may be busy with an action for as long as the dialog it opened. The element is read
//! first, then the action is sent, then its effect is read back where that is possible: apps report success of actions
//! that they never perform.
//!
//! `action_names` knows native actions by name, `actions` uses them; `values`, `selection` and `scroll` are the other ways.

mod action_names;
mod actions;
mod scroll;
mod selection;
mod values;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use axd_protocol::{Role, State, States};
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{OnceCell, oneshot};
use tokio::time::{Instant, timeout, timeout_at};
use tracing::debug;
use zbus::Message;

use crate::app::BusApp;
use crate::app::event_queue::EventQueue;
use crate::app::strategies::Strategies;
use crate::atspi::dbus::{BusConnection, BusReply, call, get};
use crate::atspi::direct::DirectConnections;
use crate::atspi::protocol::{ACCESSIBLE, APPLICATION, Interfaces, ObjectRef, body};
use crate::atspi::roles::{self, PASSWORD_TEXT};
use crate::atspi::states::{self, NativeState, NativeStates};
use crate::atspi::toolkit::Toolkit;
use crate::read::handles::Handle;
use axd_platform::worker::{APP_REPLY_TIMEOUT, WorkerState, now, unresponsive};
use axd_platform::{Act, Counters, ElementKey, Failure, FailureKind, Gate, Responder, Sent};

/// How long an app may take to reply to an action before it is asked whether it still responds.
const REPLY_GRACE: Duration = Duration::from_millis(300);
/// The pauses between checks of an action's effect: about 300 ms in all.
const RECHECK_PAUSES_MS: [u64; 6] = [5, 10, 20, 40, 80, 160];
/// How many ancestors of an element are passed to its action.
const MAX_ANCESTORS: usize = 10;
/// How many neighbours of the target are read again afterwards.
const MAX_NEIGHBOURS: usize = 256;

/// An action that is under way.
pub(crate) struct RunningAction {
    reply: Responder<()>,
    key: ElementKey,
    act: Act,
    outcome: oneshot::Receiver<Result<(), Failure>>,
}

impl BusApp {
    /// Starts an action. [`BusApp::finish_action`] sends the reply.
    pub(crate) fn start_action(
        &mut self,
        state: &WorkerState,
        key: ElementKey,
        act: Act,
        gate: Gate,
        reply: Responder<()>,
    ) {
        let (done, outcome) = oneshot::channel();
        let reader = &self.reader;
        match reader.handles.get(key) {
            Some(at) => {
                let above = std::iter::successors(state.mirror.parent(key), |key| state.mirror.parent(*key));
                let actor = Actor {
                    calls: reader.calls.clone(),
                    counters: Arc::clone(&state.counters),
                    toolkit: reader.toolkit,
                    gate,
                    queue: Arc::clone(&self.queue),
                    direct: OnceCell::new(),
                    connections: Arc::clone(&self.direct),
                    app: self.root.clone(),
                    at: at.clone(),
                    above: above
                        .filter_map(|key| reader.handles.get(key).cloned())
                        .take(MAX_ANCESTORS)
                        .collect(),
                };
                let act = act.clone();
                tokio::spawn(async move {
                    // Nobody listens any more if the app has been detached meanwhile.
                    let _ = done.send(actor.act(&act).await);
                    actor.queue.wake();
                });
            }
            None => drop(done.send(Err(Failure::gone()))),
        }
        self.running_action = Some(RunningAction { reply, key, act, outcome });
    }

    /// Replies with the result of the running action, if it is known by now.
    pub(crate) fn finish_action(&mut self, strategies: &mut Strategies, state: &mut WorkerState) {
        let Some(action) = &mut self.running_action else { return };
        let result = match action.outcome.try_recv() {
            Ok(result) => result,
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Closed) => {
                Err(Failure::new(FailureKind::Refused, "the action was interrupted").sent(Sent::Maybe))
            }
        };
        if let Some(action) = self.running_action.take() {
            self.mark_neighbours_dirty(action.key, &action.act, strategies, state);
            state.reply(action.reply, result);
        }
    }

    /// Marks all elements dirty that an action is likely to have changed, announced or not.
    fn mark_neighbours_dirty(
        &mut self,
        key: ElementKey,
        act: &Act,
        strategies: &mut Strategies,
        state: &mut WorkerState,
    ) {
        let mut around = vec![key];
        around.extend(state.mirror.parent(key));
        if *act == Act::Select {
            let beside = state.mirror.parent(key).map_or(&[][..], |parent| state.mirror.children(parent));
            around.extend(beside.iter().copied().take(MAX_NEIGHBOURS));
        }
        around.extend(self.focus.iter().copied());
        state.mark_known_dirty(around);
        let toolkit = self.reader.toolkit;
        strategies.rescan.mark_window_of(key, toolkit, &state.mirror);
        if toolkit.acts_late() {
            strategies.delayed_rereads.add(key, now());
        }
    }
}

/// Acts on one element.
struct Actor {
    calls: BusConnection,
    counters: Arc<Counters>,
    toolkit: Toolkit,
    gate: Gate,
    /// Wakes it when an event arrives.
    queue: Arc<EventQueue>,
    /// The connection that this action is sent over, once it is known; see [`Actor::action_connection`].
    direct: OnceCell<BusConnection>,
    /// The connections to apps themselves.
    connections: Arc<DirectConnections>,
    /// The app's own element.
    app: Handle,
    /// The element.
    at: Handle,
    /// Its parent, that one's parent, and so on.
    above: Vec<Handle>,
}

/// The element as it was just before the action.
#[derive(Debug, Clone, Copy)]
struct Target {
    role: Role,
    native_states: NativeStates,
    states: States,
    interfaces: Interfaces,
}

impl Actor {
    async fn act(&self, act: &Act) -> Result<(), Failure> {
        let target = self.read_target(&self.at).await?.ok_or_else(Failure::gone)?;
        if target.states.has(State::Disabled) && act.needs_enabled() {
            return Err(Failure::new(FailureKind::Refused, "the element is disabled"));
        }
        match act {
            Act::Press => self.press(&target).await,
            Act::Native(name) => self.do_named_action(&target, name).await,
            Act::SetValue(value) => self.set_value(&target, value).await,
            Act::Insert(text) => self.insert(&target, text).await,
            Act::CaretToEnd => self.caret_to_end(&target).await,
            Act::Focus => self.focus(&target).await,
            Act::Select => self.select(&target).await,
            Act::Expand => self.set_expanded(&target, true).await,
            Act::Collapse => self.set_expanded(&target, false).await,
            Act::TellsChecked => self.require_checkable(&target),
            Act::ScrollTo => self.scroll_to(&self.at, &target).await,
            Act::Reveal(row) => self.scroll_row_into_view(&target, *row).await,
            Act::Scroll(..) => Err(Failure::unsupported("AT-SPI cannot scroll by steps")),
        }
    }

    /// Reads an element. `None`: it is gone.
    async fn read_target(&self, at: &Handle) -> Result<Option<Target>, Failure> {
        let calls = ["GetRole", "GetState", "GetInterfaces"];
        let answers = self
            .call_all(calls.map(|method| call(&at.bus, &at.path, ACCESSIBLE, method, &())).into())
            .await?;
        Ok(self.parse_target(&answers))
    }

    fn parse_target(&self, answers: &[BusReply]) -> Option<Target> {
        let [number, state, interfaces] = answers else { return None };
        let number: u32 = body(number)?;
        let natives = NativeStates::from_words(&body::<Vec<u32>>(state)?);
        if natives.has(NativeState::Defunct) {
            return None;
        }
        let role = roles::role(number, natives);
        let mut states = states::states(natives, role, self.toolkit);
        states.set(State::Secure, number == PASSWORD_TEXT);
        let interfaces = Interfaces::from_names(&body::<Vec<String>>(interfaces).unwrap_or_default());
        Some(Target { role, native_states: natives, states, interfaces })
    }

    /// The native states of an element; none if it is gone.
    async fn read_states(&self, at: &Handle) -> Result<NativeStates, Failure> {
        let answers = self.call_all(vec![call(&at.bus, &at.path, ACCESSIBLE, "GetState", &())]).await?;
        Ok(answers
            .first()
            .and_then(body::<Vec<u32>>)
            .map_or_else(NativeStates::default, |w| NativeStates::from_words(&w)))
    }

    /// Makes calls that change nothing.
    async fn call_all(&self, calls: Vec<zbus::Result<Message>>) -> Result<Vec<BusReply>, Failure> {
        self.counters.calls.fetch_add(calls.len() as u64, Relaxed);
        self.calls.call_all(calls).await
    }

    /// Makes one such call.
    async fn call(&self, call: zbus::Result<Message>) -> Result<BusReply, Failure> {
        Ok(self.call_all(vec![call]).await?.pop().unwrap_or_else(|| Err(String::new())))
    }

    /// Reads a property of the element.
    async fn property(&self, interface: &str, property: &str) -> Result<BusReply, Failure> {
        self.call(get(&self.at.bus, &self.at.path, interface, property)).await
    }

    /// Sends a call that acts, through the gate. Returns its reply; `None` if the app has taken it and is still busy
    /// with it.
    async fn send_action(&self, call: zbus::Result<Message>) -> Result<Option<Message>, Failure> {
        let call = call.map_err(|error| Failure::new(FailureKind::Invalid, error.to_string()))?;
        let connection = self.direct.get_or_try_init(|| self.action_connection()).await?;
        self.counters.calls.fetch_add(1, Relaxed);
        self.gate.enter()?;
        let mut reply = connection.start_call(Ok(call)).await?;
        let answer = match timeout(REPLY_GRACE, &mut reply).await {
            Ok(answer) => answer,
            Err(_) => {
                // Apps take calls in the order they come. One that answers a later call has taken this one.
                let later = crate::action::call(&self.at.bus, &self.at.path, ACCESSIBLE, "GetRole", &());
                let later =
                    self.calls.start_call(later).await.map_err(|failure| failure.sent(Sent::Maybe))?;
                tokio::select! {
                    biased;
                    answer = &mut reply => answer,
                    answers = later => {
                        answers.map_err(|failure| failure.sent(Sent::Maybe))?.ok();
                        return Ok(None);
                    }
                    () = tokio::time::sleep(APP_REPLY_TIMEOUT - REPLY_GRACE) => Err(unresponsive()),
                }
            }
        };
        match answer {
            Ok(Ok(message)) => Ok(Some(message)),
            Ok(Err(error)) => Err(failure_of(&error)),
            Err(failure) => Err(failure.sent(Sent::Maybe)),
        }
    }

    /// The connection for the action: the one for all calls, or, to an app that would not answer on that one while it
    /// acts, one to the app itself, for this action alone ([`crate::atspi::direct`]).
    async fn action_connection(&self) -> Result<BusConnection, Failure> {
        if !self.toolkit.blocks_connection_while_acting() || self.at.bus != self.app.bus {
            return Ok(self.calls.clone());
        }
        let Handle { bus, path } = &self.app;
        let asked = vec![
            call(bus, path, APPLICATION, "GetApplicationBusAddress", &()),
            call(bus, path, ACCESSIBLE, "GetChildren", &()),
        ];
        let answers = self.call_all(asked).await?;
        let address: String = answers.first().and_then(body).unwrap_or_default();
        let windows: Vec<ObjectRef> = answers.get(1).and_then(body).unwrap_or_default();
        let connected = self.connections.connect(bus, &address, windows.into_iter().collect());
        match timeout(APP_REPLY_TIMEOUT, connected).await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(error)) => {
                debug!(address, %error, "the app lets nobody connect to it; it may be deaf while it acts");
                Ok(self.calls.clone())
            }
            Err(_) => Err(unresponsive()),
        }
    }

    /// Sends a call that acts and replies whether it was done. An app that is still busy with it counts as doing it.
    async fn send_and_confirm(&self, call: zbus::Result<Message>) -> Result<bool, Failure> {
        Ok(self.send_action(call).await?.is_none_or(|message| message.body().deserialize().unwrap_or(true)))
    }

    /// Checks until the condition holds, for about 300 ms: at every event of the app, and after pauses too, because
    /// numbers, selections and more change in some toolkits without any event. A failure here happened after something
    /// was sent.
    async fn wait_until<F: Future<Output = Result<bool, Failure>>>(
        &self,
        mut is_so: impl FnMut() -> F,
    ) -> Result<bool, Failure> {
        let (mut pauses, mut pause_ends) = (RECHECK_PAUSES_MS.into_iter(), Instant::now());
        loop {
            let happened = self.queue.next_event();
            if is_so().await.map_err(|failure| failure.sent(Sent::Yes))? {
                return Ok(true);
            }
            if pause_ends <= Instant::now() {
                let Some(pause) = pauses.next() else { return Ok(false) };
                pause_ends = Instant::now() + Duration::from_millis(pause);
            }
            // Either way the condition is checked again.
            let _ = timeout_at(pause_ends, happened).await;
        }
    }
}

/// Translates the name of a D-Bus error into a failure, with whether something was sent.
fn failure_of(error: &str) -> Failure {
    match error.rsplit('.').next().unwrap_or_default() {
        // Nothing was there that could have performed it.
        "UnknownMethod" | "UnknownInterface" | "UnknownObject" | "UnknownProperty" | "InvalidArgs"
        | "NotSupported" | "PropertyReadOnly" => Failure::unsupported(format!("the app answered {error}")),
        "ServiceUnknown" | "NameHasNoOwner" => Failure::gone(),
        // The app left without a reply, perhaps because of this action.
        "NoReply" | "Disconnected" => {
            Failure::new(FailureKind::Gone, "the app ended before it answered").sent(Sent::Maybe)
        }
        _ => Failure::not_effective(format!("the app answered {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nothing_could_have_taken_was_not_sent() {
        for (error, kind, sent) in [
            ("org.freedesktop.DBus.Error.UnknownMethod", FailureKind::NotSupported, Sent::No),
            ("org.freedesktop.DBus.Error.NotSupported", FailureKind::NotSupported, Sent::No),
            ("org.freedesktop.DBus.Error.ServiceUnknown", FailureKind::Gone, Sent::No),
            ("org.freedesktop.DBus.Error.NoReply", FailureKind::Gone, Sent::Maybe),
            ("org.freedesktop.DBus.Error.Failed", FailureKind::Refused, Sent::Yes),
            ("", FailureKind::Refused, Sent::Yes),
        ] {
            let failure = failure_of(error);
            assert_eq!((failure.kind, failure.sent), (kind, sent), "{error}");
        }
    }
}
