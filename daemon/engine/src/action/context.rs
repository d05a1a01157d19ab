//! One running action: its target, the target's state before, and its deadlines.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axd_protocol::command::{ActOptions, ElementState, Route, Settled};
use axd_protocol::error::Delivery;
use axd_protocol::{AppState, Clock, Error, ErrorCode, NodeId, NodeRef, Point, Result, Role, State, Tick};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::Engine;
use crate::action::compare::Comparison;
use crate::action::input_lock::{InputGuard, InputUser};
use crate::action::person::Person;
use crate::action::receiver::Received;
use crate::action::settle::{Pace, Watch, Within};
use crate::action::spec::ActionSpec;
use crate::apps::app::App;
use crate::apps::target::alive;
use crate::change_wait::{Next, Waited};
use crate::failure::{MAYBE_DONE, Subject, delivery, error_of};
use crate::policy::facts::Requester;
use crate::policy::guard::Denied;
use crate::tree_work::search_now;
use axd_platform::{ElementKey, Failure, FailureKind, Sent, WorkerRequest};
use axd_service::Call;
use axd_tree::{Ix, Tree};

/// The maximum wait before an app that did not reply is asked again.
const RECHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How long reading the target again may take.
const REREAD_TIMEOUT: Duration = Duration::from_millis(1_500);
/// How long a target may take to become actionable, if the request does not say.
const DEFAULT_ACTION_TIMEOUT: Duration = Duration::from_millis(5_000);

/// How long to wait for an effect without which the action fails.
const OUTCOME_TIMEOUT: Duration = Duration::from_millis(1_000);
/// An effect is not expected any more when nothing has changed for this long.
const ABSENCE_TIMEOUT: Duration = Duration::from_millis(200);

/// A running action.
pub(crate) struct ActionContext<'c> {
    pub engine: &'c Arc<Engine>,
    pub call: &'c Call,
    pub options: ActOptions<'c>,
    pub deadline: Instant,
    pub app: Option<Arc<App>>,
    pub target: Option<NodeId>,
    /// The point that the request names, if it names one.
    pub point: Option<Point>,
    /// Why the target was taken and no other match of its selector.
    pub chosen: Option<String>,
    pub before: Option<ElementState>,
    pub since: Clock,
    /// Whether the action only releases keys or buttons.
    pub releases: bool,
    /// The input lock, while this action holds it.
    pub input_guard: Mutex<Option<InputGuard>>,
    /// Whether the action failed only because another client holds something down, and is to wait for that without its turn.
    pub starts_again: AtomicBool,
    /// Who requests the action, as the policy knows it.
    pub requester: Requester,
    /// Why something was not sent: the policy does not allow it, or something has changed.
    pub denied: Denied,
    /// What must not have changed before anything is sent.
    pub comparison: Option<Comparison>,
    /// The person to whom the action yields.
    pub person: Option<Person>,
    /// Who received the action's input.
    pub received: Received,
    /// The element that was under the pointer just before the button was pressed.
    pub hit: Mutex<Option<NodeRef>>,
    /// The element that had the focus before the action.
    pub focused: Option<NodeId>,
}

/// How an action was performed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub method: &'static str,
    pub route: Route,
    pub delivery: Delivery,
    pub note: Option<String>,
    /// Why the input may have been lost; reported if it had no effect.
    pub doubt: Option<String>,
}

/// How the app settled after the action.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settle {
    pub settled: Settled,
    pub waited: Duration,
}

impl Outcome {
    /// The outcome of an action performed this way.
    pub fn by(method: &'static str, route: Route, delivery: Delivery) -> Outcome {
        Outcome { method, route, delivery, note: None, doubt: None }
    }

    /// The outcome, now that the effect was seen: whatever made it uncertain no longer matters.
    pub fn seen(self) -> Outcome {
        let note = self.note.filter(|_| self.delivery != Delivery::Uncertain);
        Outcome { delivery: Delivery::DeliveredVerified, note, ..self }
    }

    /// The outcome of an action that was not necessary.
    pub fn already(what: &str) -> Outcome {
        let note = Some(what.to_owned());
        Outcome { note, ..Outcome::by("none", Route::Auto, Delivery::DeliveredVerified) }
    }
}

impl<'c> ActionContext<'c> {
    pub fn new(
        engine: &'c Arc<Engine>,
        call: &'c Call,
        options: ActOptions<'c>,
        deadline: Instant,
        app: Option<Arc<App>>,
        target: Option<NodeId>,
        point: Option<Point>,
    ) -> ActionContext<'c> {
        let since = engine.clock.now();
        ActionContext {
            engine,
            call,
            options,
            deadline,
            app,
            target,
            point,
            chosen: None,
            before: None,
            since,
            releases: false,
            input_guard: Mutex::default(),
            starts_again: AtomicBool::new(false),
            requester: Requester::of(call),
            denied: Denied::default(),
            comparison: None,
            person: None,
            received: Received::default(),
            hit: Mutex::default(),
            focused: None,
        }
    }

    /// This action, as the input lock knows it.
    pub fn input_user(&self) -> InputUser {
        InputUser { client: self.call.session.client, releases: self.releases }
    }

    /// Reads the target again and records its state, so that the action is decided on what is there now.
    pub async fn begin(&mut self) -> Result<()> {
        let Some(app) = self.app.clone() else { return Ok(()) };
        if let Some(id) = self.target {
            self.read_once_it_answers(id).await?;
            self.before = Some(self.brief(id)?);
        }
        // Nothing can be applied while the tree is locked, so whatever follows is later than this clock.
        let tree = app.tree.read();
        self.since = self.engine.clock.now();
        self.focused = tree.focused().map(|ix| tree.id(ix));
        drop(tree);
        Ok(())
    }

    /// Reads an element again, and waits for an app that is busy: nothing has been sent yet, so waiting is safe.
    async fn read_once_it_answers(&self, id: NodeId) -> Result<()> {
        let (app, end) = (self.app()?, self.action_deadline());
        let mut wait = self.engine.change_wait(end, &self.call.gate);
        loop {
            match self.read_again(id).await {
                Err(error) if error.code == ErrorCode::AppUnresponsive => {
                    match wait.next_within(RECHECK_INTERVAL).await {
                        Next::Check => self.until(end, || app.state() != AppState::Degraded).await?,
                        Next::TimedOut => return Err(error),
                        Next::Cancelled => return Err(self.cancelled()),
                    };
                }
                read => return read,
            }
        }
    }

    /// Reads an element again.
    pub async fn read_again(&self, id: NodeId) -> Result<()> {
        let (app, key) = (self.app()?, self.key(id)?);
        let until = self.deadline.min(Instant::now() + REREAD_TIMEOUT);
        app.ask(until, |reply| WorkerRequest::Read { keys: vec![key], reply }).await.map(drop)
    }

    /// The app; an error if the action has none. Actions on elements have one.
    pub fn app(&self) -> Result<&Arc<App>> {
        self.app.as_ref().ok_or_else(|| {
            Error::new(ErrorCode::ApplicationNotFound, "no app is frontmost").suggest("name one with --app")
        })
    }

    /// The target element; an error if the action has none. Actions on elements have one.
    pub fn id(&self) -> Result<NodeId> {
        self.target.ok_or_else(|| {
            Error::new(ErrorCode::ElementNotFound, "no element to act on")
                .suggest("name one by id or selector; run `ax snapshot --interactive` to see them")
        })
    }

    /// Calls `look` on an element, with the tree locked for reading.
    pub fn read_node<T>(&self, id: NodeId, look: impl FnOnce(&Tree, Ix) -> T) -> Result<T> {
        let app = self.app()?;
        let tree = app.tree.read();
        let ix = alive(app, &tree, id)?;
        Ok(look(&tree, ix))
    }

    pub fn key(&self, id: NodeId) -> Result<ElementKey> {
        self.read_node(id, |tree, ix| tree.key(ix))?.ok_or_else(|| {
            Error::new(ErrorCode::StaleRef, format!("{id} is about to be replaced; try again"))
        })
    }

    /// The state of an element, as far as actions change it.
    pub fn brief(&self, id: NodeId) -> Result<ElementState> {
        self.read_node(id, element_state)
    }

    /// The state of the target now; `None` if it is gone.
    pub fn now(&self) -> Option<ElementState> {
        self.target.and_then(|id| self.brief(id).ok())
    }

    pub fn role(&self) -> Option<Role> {
        self.before.as_ref().map(|before| before.node.role)
    }

    /// Whether the target has a state now.
    pub fn has(&self, state: State) -> bool {
        self.target
            .is_some_and(|id| self.read_node(id, |tree, ix| tree.states(ix).has(state)).unwrap_or(false))
    }

    /// The deadline for the target to become actionable.
    pub fn action_deadline(&self) -> Instant {
        let timeout = self.options.timeout_ms.map_or(DEFAULT_ACTION_TIMEOUT, Duration::from_millis);
        self.deadline.min(Instant::now() + timeout)
    }

    /// The deadline for the effect of a performed action to be seen.
    pub fn outcome_deadline(&self) -> Instant {
        self.deadline.min(Instant::now() + OUTCOME_TIMEOUT)
    }

    /// Waits until a condition holds; checks it whenever anything changes. False if it does not hold by the end.
    pub async fn until(&self, end: Instant, so: impl Fn() -> bool) -> Result<bool> {
        match self.engine.until(end, &self.call.gate, || so().then_some(())).await {
            Waited::Held(()) => Ok(true),
            Waited::TimedOut => Ok(false),
            Waited::Cancelled => Err(self.cancelled()),
        }
    }

    /// Waits until the target is enabled.
    pub async fn until_enabled(&self) -> Result<()> {
        if !self.has(State::Disabled) {
            return Ok(());
        }
        let app = Arc::clone(self.app()?);
        let _watch = Watch::new(self.engine, &app, self.key(self.id()?)?);
        if self.until(self.action_deadline(), || !self.has(State::Disabled)).await? {
            return Ok(());
        }
        Err(self.not_actionable("is disabled"))
    }

    /// Waits until `enough` is true, or until the app has been quiet for so long that it will not be. Another change that comes
    /// first, such as one of the focus, does not end the wait.
    pub async fn wait_for_effect(&self, enough: impl Fn() -> bool) -> Settled {
        let Some(app) = &self.app else { return Settled::Skipped };
        let pace = Pace { quiet: ABSENCE_TIMEOUT, ..Pace::new(None, None) };
        let held = || self.is_held_down();
        self.engine.settle(app, self.since.tick, self.within(pace), enough, held).await
    }

    /// Waits until the app has settled, so that the next step finds the result of this one.
    pub async fn settle_quietly(&self) {
        if let Some(app) = &self.app {
            let pace = Pace::new(None, None);
            let held = || self.is_held_down();
            self.engine.settle(app, self.since.tick, self.within(pace), || false, held).await;
        }
    }

    /// Whether the target is a button that is still pressed: some toolkits show the press first, and act when it is over.
    fn is_held_down(&self) -> bool {
        let was = self.before.as_ref().is_some_and(|before| before.checked);
        matches!(self.role(), Some(Role::Button | Role::Link | Role::MenuItem))
            && !was
            && self.has(State::Pressed)
    }

    fn within(&self, pace: Pace) -> Within<'_> {
        let watch = self.target.and_then(|id| self.key(id).ok());
        Within { pace, watch, gate: &self.call.gate, deadline: self.deadline }
    }

    /// Waits until the app has settled, and for the conditions that the request names.
    pub async fn settle_and_wait(&self, spec: &ActionSpec<'_>) -> Result<Settle> {
        let began = Instant::now();
        let asked = self.options.settle_ms.is_some() || self.options.quiet_ms.is_some();
        let waits = asked || spec.settles;
        let mut settled = self.settle(waits).await;
        for (selector, gone) in [(self.options.wait_for, false), (self.options.wait_for_gone, true)] {
            if let Some(selector) = selector {
                self.await_match(selector, gone).await?;
            }
        }
        // The awaited element came after the app had settled, so the app's state since then is what is reported.
        let awaited = self.options.wait_for.or(self.options.wait_for_gone).is_some();
        let has_changed = || self.app.as_ref().is_some_and(|app| app.tree.read().tick() > self.since.tick);
        if awaited && matches!(settled, Settled::NoChange | Settled::Unresponsive) && has_changed() {
            settled = self.settle(waits).await;
        }
        Ok(Settle { settled, waited: began.elapsed() })
    }

    async fn settle(&self, waits: bool) -> Settled {
        let Some(app) = self.app.as_ref().filter(|_| waits) else { return Settled::Skipped };
        let pace = Pace::new(self.options.quiet_ms, self.options.settle_ms);
        let held = || self.is_held_down();
        self.engine.settle(app, self.since.tick, self.within(pace), || false, held).await
    }

    /// The result for an action that sent nothing, and so has nothing to wait for.
    pub fn unsettled(&self) -> Settle {
        Settle { settled: Settled::Skipped, waited: Duration::ZERO }
    }

    async fn await_match(&self, selector: &str, gone: bool) -> Result<()> {
        let app = Arc::clone(self.app()?);
        let parsed = crate::apps::target::parse_selector(selector)?;
        let _watch = Watch::whole(self.engine, &app);
        let deadline = self.action_deadline();
        // What was found at a tick is true until the next one.
        let known: Mutex<Option<(Tick, Option<bool>)>> = Mutex::new(None);
        let so = || {
            let tick = app.tree.read().tick();
            let found = match *known.lock() {
                Some((at, found)) if at == tick => found,
                _ => search_now(&app, deadline, |tree| {
                    let root = tree.root();
                    root.is_some_and(|root| tree.find(&parsed, axd_tree::Scope { root }, Some(1)).count > 0)
                }),
            };
            *known.lock() = Some((tick, found));
            found == Some(!gone) && (!gone || app.is_complete())
        };
        let has_ended = || app.state() == AppState::Gone;
        let over = || so() || has_ended();
        self.until(deadline, over).await.map_err(|error| {
            let message = format!("{}; the action had been done", error.message);
            Error { message, ..error }
                .delivered(Delivery::DeliveredUnverified)
                .suggest("check with `ax snapshot` before doing it again")
        })?;
        // What is gone with its app is gone.
        if so() || gone && has_ended() {
            return Ok(());
        }
        if let Some(how) = app.how_ended().filter(|_| has_ended()) {
            let message = format!("it was done, but the app {how}: {selector} did not appear");
            return Err(Error::new(ErrorCode::ApplicationNotFound, message)
                .delivered(Delivery::DeliveredUnverified)
                .suggest("check with `ax list-apps`; start it again with `ax launch`"));
        }
        let what = if gone { "is still there" } else { "did not appear" };
        Err(Error::new(ErrorCode::Timeout, format!("it was done, but timed out: {selector} {what}"))
            .delivered(Delivery::DeliveredUnverified)
            .suggest("check with `ax snapshot` before doing it again, or increase --timeout-ms"))
    }

    /// The label of the target in errors.
    pub fn target_label(&self) -> String {
        let mut what = String::new();
        match (&self.before, self.point) {
            (Some(before), _) => axd_protocol::text::write_ref(&before.node, &mut what),
            (None, Some(point)) => what = format!("{},{}", point.x, point.y),
            (None, None) => what.push_str(self.call.command.name()),
        }
        what
    }

    pub fn not_actionable(&self, why: &str) -> Error {
        Error::new(ErrorCode::NotActionable, format!("{} {why}", self.target_label()))
    }

    pub fn cancelled(&self) -> Error {
        let error = Error::new(ErrorCode::Cancelled, format!("{} was cancelled", self.call.command.name()));
        if self.call.gate.is_sent() {
            let look = "part of it was done; check with `ax snapshot` before trying again";
            return error.delivered(Delivery::Uncertain).suggest(look);
        }
        error
    }

    /// The error of this action for a platform failure.
    pub fn failed(&self, failure: &Failure) -> Error {
        let general = || error_of(failure, Subject::Target(&self.target_label()));
        let error = match failure.kind {
            FailureKind::Denied => {
                return self.denied.get().unwrap_or_else(general).delivered(delivery(failure.sent));
            }
            FailureKind::Closed if Instant::now() >= self.deadline => {
                crate::action::out_of_time("the deadline was exceeded")
            }
            FailureKind::Closed => self.cancelled(),
            FailureKind::Gone => self.id().and_then(|id| self.key(id)).err().unwrap_or_else(general),
            _ => return general(),
        };
        match failure.sent {
            Sent::No => error,
            Sent::Maybe | Sent::Yes => error.delivered(Delivery::Uncertain).suggest(MAYBE_DONE),
        }
    }
}

/// The state of an element, as far as actions change it.
pub(crate) fn element_state(tree: &Tree, ix: Ix) -> ElementState {
    let states = tree.states(ix);
    ElementState {
        node: tree.node_ref(ix),
        value: tree.value(ix).map(str::to_owned),
        enabled: !states.has(State::Disabled),
        focused: states.has(State::Focused),
        checked: states.has(State::Checked) || states.has(State::Pressed),
        selected: states.has(State::Selected),
        expanded: states.has(State::Expanded),
    }
}
