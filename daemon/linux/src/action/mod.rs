//! Acting on elements through AT-SPI.
//!
//! One act of an app is under way at a time, in a task of its own ([`Actor`]), so that its worker goes on hearing and
//! reading meanwhile: an app may be busy with an act for as long as the dialog it opened. The element is looked at
//! first, then something is sent, then what can be read back is: apps say "done" of what they never do.
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
use crate::app::event_queue::Ear;
use crate::atspi::dbus::{Answer, Link, call, get};
use crate::atspi::direct::Direct;
use crate::atspi::protocol::{ACCESSIBLE, APPLICATION, Interfaces, Ref, body};
use crate::atspi::roles::{self, PASSWORD_TEXT};
use crate::atspi::states::{self, Native, Natives};
use crate::atspi::toolkit::Toolkit;
use crate::read::geometry::window_of;
use crate::read::handles::Handle;
use axd_platform::worker::{APP_REPLY_TIMEOUT, WorkerState, now, unresponsive};
use axd_platform::{Act, Counters, ElementKey, Failure, FailureKind, Gate, Responder, Sent};

/// How long an app may take to answer what it was told before it is asked whether it is still there.
const EARLY: Duration = Duration::from_millis(300);
/// The pauses between looks at whether what was told has come about: about 300 ms in all.
const PAUSES: [u64; 6] = [5, 10, 20, 40, 80, 160];
/// How far up an element's surroundings are looked at.
const MOST_ABOVE: usize = 10;
/// How many elements beside the one that was acted on are read again.
const MOST_BESIDE: usize = 256;

/// An act that is under way.
pub(crate) struct Deed {
    reply: Responder<()>,
    key: ElementKey,
    act: Act,
    outcome: oneshot::Receiver<Result<(), Failure>>,
}

impl BusApp {
    /// Begins an act. The answer is told by [`BusApp::settle_deed`].
    pub(crate) fn begin(
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
                    ear: Arc::clone(&self.ear),
                    direct: OnceCell::new(),
                    links: Arc::clone(&self.links),
                    app: self.root.clone(),
                    at: at.clone(),
                    above: above
                        .filter_map(|key| reader.handles.get(key).cloned())
                        .take(MOST_ABOVE)
                        .collect(),
                };
                let act = act.clone();
                tokio::spawn(async move {
                    // Nobody listens any more if the app has been detached meanwhile.
                    let _ = done.send(actor.act(&act).await);
                    actor.ear.wake();
                });
            }
            None => drop(done.send(Err(gone()))),
        }
        self.deed = Some(Deed { reply, key, act, outcome });
    }

    /// Tells what came of an act, if that is known by now.
    pub(crate) fn settle_deed(&mut self, state: &mut WorkerState) {
        let Some(deed) = &mut self.deed else { return };
        let result = match deed.outcome.try_recv() {
            Ok(result) => result,
            Err(TryRecvError::Empty) => return,
            Err(TryRecvError::Closed) => {
                Err(Failure::new(FailureKind::Refused, "the action was interrupted").sent(Sent::Maybe))
            }
        };
        if let Some(deed) = self.deed.take() {
            self.look_around(deed.key, &deed.act, state);
            state.reply(deed.reply, result);
        }
    }

    /// Has everything read again that an act on an element is likely to have changed, announced or not.
    fn look_around(&mut self, key: ElementKey, act: &Act, state: &mut WorkerState) {
        let mut around = vec![key];
        around.extend(state.mirror.parent(key));
        if *act == Act::Select {
            let beside = state.mirror.parent(key).map_or(&[][..], |parent| state.mirror.children(parent));
            around.extend(beside.iter().copied().take(MOST_BESIDE));
        }
        around.extend(self.focused.iter().copied());
        state.mark_known_dirty(around);
        let toolkit = self.reader.toolkit;
        if toolkit.is_surveyed() {
            self.survey.suspect(window_of(key, &state.mirror).unwrap_or(ElementKey::APP), now());
        }
        if toolkit.acts_late() {
            self.newcomers.add(key, now());
        }
    }
}

/// Acts on one element.
struct Actor {
    calls: Link,
    counters: Arc<Counters>,
    toolkit: Toolkit,
    gate: Gate,
    /// Where it is heard that something happened.
    ear: Arc<Ear>,
    /// The connection that this act goes over, once it is known; see [`Actor::wire`].
    direct: OnceCell<Link>,
    /// The connections to apps themselves.
    links: Arc<Direct>,
    /// The app's own element.
    app: Handle,
    /// The element.
    at: Handle,
    /// Its parent, that one's parent, and so on.
    above: Vec<Handle>,
}

/// The element as it is just before the act.
#[derive(Debug, Clone, Copy)]
struct Subject {
    role: Role,
    natives: Natives,
    states: States,
    interfaces: Interfaces,
}

impl Actor {
    async fn act(&self, act: &Act) -> Result<(), Failure> {
        let subject = self.look(&self.at).await?.ok_or_else(gone)?;
        let scrolls = matches!(act, Act::ScrollTo | Act::Reveal(_) | Act::Scroll(..));
        if subject.states.has(State::Disabled) && !scrolls {
            return Err(Failure::new(FailureKind::Refused, "the element is disabled"));
        }
        match act {
            Act::Press => self.press(&subject).await,
            Act::Native(name) => self.native(&subject, name).await,
            Act::SetValue(value) => self.set_value(&subject, value).await,
            Act::Insert(text) => self.insert(&subject, text).await,
            Act::CaretToEnd => self.caret_to_end(&subject).await,
            Act::Focus => self.focus(&subject).await,
            Act::Select => self.select(&subject).await,
            Act::Expand => self.unfold(&subject, true).await,
            Act::Collapse => self.unfold(&subject, false).await,
            Act::TellsChecked => self.tells_checked(&subject),
            Act::ScrollTo => self.scroll_to(&self.at, &subject).await,
            Act::Reveal(row) => self.reveal(&subject, *row).await,
            Act::Scroll(..) => Err(not_offered("AT-SPI has no call that scrolls by steps")),
        }
    }

    /// Looks at an element. `None`: it is gone.
    async fn look(&self, at: &Handle) -> Result<Option<Subject>, Failure> {
        let calls = ["GetRole", "GetState", "GetInterfaces"];
        let answers =
            self.ask(calls.map(|method| call(&at.bus, &at.path, ACCESSIBLE, method, &())).into()).await?;
        Ok(self.subject(&answers))
    }

    fn subject(&self, answers: &[Answer]) -> Option<Subject> {
        let [number, state, interfaces] = answers else { return None };
        let number: u32 = body(number)?;
        let natives = Natives::from_words(&body::<Vec<u32>>(state)?);
        if natives.has(Native::Defunct) {
            return None;
        }
        let role = roles::role(number, natives);
        let mut states = states::states(natives, role, self.toolkit);
        states.set(State::Secure, number == PASSWORD_TEXT);
        let interfaces = Interfaces::named(&body::<Vec<String>>(interfaces).unwrap_or_default());
        Some(Subject { role, natives, states, interfaces })
    }

    /// The native states of an element; none if it is gone.
    async fn natives(&self, at: &Handle) -> Result<Natives, Failure> {
        let answers = self.ask(vec![call(&at.bus, &at.path, ACCESSIBLE, "GetState", &())]).await?;
        Ok(answers
            .first()
            .and_then(body::<Vec<u32>>)
            .map_or_else(Natives::default, |w| Natives::from_words(&w)))
    }

    /// Asks what changes nothing.
    async fn ask(&self, calls: Vec<zbus::Result<Message>>) -> Result<Vec<Answer>, Failure> {
        self.counters.calls.fetch_add(calls.len() as u64, Relaxed);
        self.calls.ask_all(calls).await
    }

    /// Asks one such thing.
    async fn ask_one(&self, call: zbus::Result<Message>) -> Result<Answer, Failure> {
        Ok(self.ask(vec![call]).await?.pop().unwrap_or_else(|| Err(String::new())))
    }

    /// Asks for a property of the element.
    async fn property(&self, interface: &str, property: &str) -> Result<Answer, Failure> {
        self.ask_one(get(&self.at.bus, &self.at.path, interface, property)).await
    }

    /// Sends what acts, through the gate. Its answer; `None` if the app has taken it and is still at it.
    async fn tell(&self, call: zbus::Result<Message>) -> Result<Option<Message>, Failure> {
        let call = call.map_err(|fault| Failure::new(FailureKind::Invalid, fault.to_string()))?;
        let wire = self.direct.get_or_try_init(|| self.wire()).await?;
        self.counters.calls.fetch_add(1, Relaxed);
        self.gate.enter()?;
        let mut reply = wire.start(Ok(call)).await?;
        let answer = match timeout(EARLY, &mut reply).await {
            Ok(answer) => answer,
            Err(_) => {
                // Apps take calls in the order they come. One that answers a later call has taken this one.
                let later = crate::action::call(&self.at.bus, &self.at.path, ACCESSIBLE, "GetRole", &());
                let later = self.calls.start(later).await.map_err(|failure| failure.sent(Sent::Maybe))?;
                tokio::select! {
                    biased;
                    answer = &mut reply => answer,
                    answers = later => {
                        answers.map_err(|failure| failure.sent(Sent::Maybe))?.ok();
                        return Ok(None);
                    }
                    () = tokio::time::sleep(APP_REPLY_TIMEOUT - EARLY) => Err(unresponsive()),
                }
            }
        };
        match answer {
            Ok(Ok(message)) => Ok(Some(message)),
            Ok(Err(error)) => Err(refusal(&error)),
            Err(failure) => Err(failure.sent(Sent::Maybe)),
        }
    }

    /// The connection for what acts: the one everything is asked over, or, to an app that would be deaf on that one while
    /// it acts, one to the app itself, for this act alone ([`crate::atspi::direct`]).
    async fn wire(&self) -> Result<Link, Failure> {
        if !self.toolkit.is_deaf_while_it_acts() || self.at.bus != self.app.bus {
            return Ok(self.calls.clone());
        }
        let Handle { bus, path } = &self.app;
        let asked = vec![
            call(bus, path, APPLICATION, "GetApplicationBusAddress", &()),
            call(bus, path, ACCESSIBLE, "GetChildren", &()),
        ];
        let answers = self.ask(asked).await?;
        let address: String = answers.first().and_then(body).unwrap_or_default();
        let windows: Vec<Ref> = answers.get(1).and_then(body).unwrap_or_default();
        let connected = self.links.connect(bus, &address, windows.into_iter().collect());
        match timeout(APP_REPLY_TIMEOUT, connected).await {
            Ok(Ok(link)) => Ok(link),
            Ok(Err(fault)) => {
                debug!(address, %fault, "the app lets nobody connect to it; it may be deaf while it acts");
                Ok(self.calls.clone())
            }
            Err(_) => Err(unresponsive()),
        }
    }

    /// The same for what answers whether it was done. An app that is still at it counts as doing it.
    async fn tell_whether(&self, call: zbus::Result<Message>) -> Result<bool, Failure> {
        Ok(self.tell(call).await?.is_none_or(|message| message.body().deserialize().unwrap_or(true)))
    }

    /// Looks until it is so, or for long enough: whenever something happens in the app, and after pauses too, because
    /// numbers, selections and more come about in some toolkits without any event. What goes wrong while looking went
    /// wrong after something was sent.
    async fn until<F: Future<Output = Result<bool, Failure>>>(
        &self,
        mut is_so: impl FnMut() -> F,
    ) -> Result<bool, Failure> {
        let (mut pauses, mut pause_ends) = (PAUSES.into_iter(), Instant::now());
        loop {
            let happened = self.ear.next_event();
            if is_so().await.map_err(|failure| failure.sent(Sent::Yes))? {
                return Ok(true);
            }
            if pause_ends <= Instant::now() {
                let Some(pause) = pauses.next() else { return Ok(false) };
                pause_ends = Instant::now() + Duration::from_millis(pause);
            }
            // Either way it is looked again.
            let _ = timeout_at(pause_ends, happened).await;
        }
    }
}

fn gone() -> Failure {
    Failure::new(FailureKind::Gone, "the element is gone")
}

fn not_offered(why: impl Into<String>) -> Failure {
    Failure::new(FailureKind::NotSupported, why)
}

/// The app took it and did not do it.
fn not_done(why: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Refused, why).sent(Sent::Yes)
}

/// What an error means for whether something was done.
fn refusal(error: &str) -> Failure {
    match error.rsplit('.').next().unwrap_or_default() {
        // It was sent to nothing that could have done it.
        "UnknownMethod" | "UnknownInterface" | "UnknownObject" | "UnknownProperty" | "InvalidArgs"
        | "NotSupported" | "PropertyReadOnly" => not_offered(format!("the app answers {error}")),
        "ServiceUnknown" | "NameHasNoOwner" => gone(),
        // It left without a word, perhaps just because of this.
        "NoReply" | "Disconnected" => {
            Failure::new(FailureKind::Gone, "the app left before it answered").sent(Sent::Maybe)
        }
        _ => not_done(format!("the app answers {error}")),
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
            let failure = refusal(error);
            assert_eq!((failure.kind, failure.sent), (kind, sent), "{error}");
        }
    }
}
