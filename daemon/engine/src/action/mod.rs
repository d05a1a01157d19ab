//! Actions: resolve the target, check the policy, read the target again, perform, settle, answer with what changed.
//!
//! `spec` says what an action is. Every command that acts is one in its home: `click`, `typing`, `focus`, `check`, `expand`,
//! `select`, `menu`, `scroll`, `keyboard`, `mouse`, and `semantic` for the native ones.
//!
//! The rest is what they have in common, in the order of an action: `context` is a running action, `semantic` and `input` are the
//! two routes, `settle` waits until the app has come to rest, `report` writes the answer. On the way, `actionability` waits until
//! an element can be reached with the mouse, `receiver` makes sure that input reaches the right window, `typed_text` compares
//! typed text with the field afterwards, `popup` opens and closes popups, `compare` makes sure that nothing has changed since the client looked,
//! `expect` that what was expected came true, `person` yields to somebody at the desk, `resolve_again` finds elements that were replaced.
//! `queue` allows one action at a time per app, `input_lock` one at a time with mouse and keyboard.

pub(crate) mod actionability;
mod check;
mod click;
pub(crate) mod compare;
pub(crate) mod context;
mod expand;
pub(crate) mod expect;
mod focus;
pub(crate) mod input;
pub(crate) mod input_lock;
mod keyboard;
mod menu;
mod mouse;
pub(crate) mod person;
pub(crate) mod popup;
pub(crate) mod queue;
pub(crate) mod receiver;
pub(crate) mod report;
pub(crate) mod resolve_again;
mod scroll;
mod scroll_until;
pub(crate) mod select;
pub(crate) mod semantic;
pub(crate) mod settle;
pub(crate) mod spec;
pub(crate) mod typed_text;
pub(crate) mod typing;

pub(crate) use queue::ActionQueue;
pub(crate) use settle::Watch;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use axd_protocol::command::{ActCommand, ActOptions};
use axd_protocol::error::Delivery;
use axd_protocol::{Error, NodeId, Result};
use tokio::time::Instant;

use crate::Engine;
use crate::answer::Answer;
use crate::apps::app::App;
use crate::apps::one_match::Choice;
use crate::apps::target::{Where, parse_target};
use crate::policy::facts::ElementView;
use crate::policy::permit::ActionSubject;
use axd_protocol::selector::Target;
use axd_service::Call;
use context::ActionContext;
use input_lock::InputUser;
use queue::{Actor, QueueGuard};
use spec::{ActionSpec, DynAction, TargetKind, action_of};

/// The deadline of an action if the request has none.
const DEFAULT_ACTION_DEADLINE: std::time::Duration = std::time::Duration::from_secs(30);

/// What an action is done to.
pub(crate) struct Subject {
    pub app: Option<Arc<App>>,
    pub target: Option<NodeId>,
    pub point: Option<axd_protocol::Point>,
    /// Why the target was taken and no other match of its selector.
    pub why: Option<String>,
}

impl Subject {
    fn of(app: Option<Arc<App>>, target: Option<NodeId>, point: Option<axd_protocol::Point>) -> Subject {
        Subject { app, target, point, why: None }
    }
}

impl Engine {
    /// Runs a command that acts.
    pub(crate) async fn act(
        self: &Arc<Self>,
        call: &Call,
        command: &ActCommand,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let (action, options) = (action_of(command), command.options());
        let spec = action.spec_of()?;
        spec.check_nth(options.nth)?;
        expect::parse(options.expect)?;
        let deadline = || call.deadline.unwrap_or_else(|| Instant::now() + DEFAULT_ACTION_DEADLINE);
        let mut end = deadline();
        let mut subject = ActionSubject { keys: spec.keys, text: spec.text, ..ActionSubject::default() };
        let mut searches = 0;
        let done = loop {
            let done = self.act_on(call, (action, &spec), options, end, &mut subject, answer).await;
            let Err(error) = &done else { break done };
            if let Some(asked) = Engine::needs_approval(call, error) {
                if let Err(error) = self.have_approved(call, asked).await {
                    break Err(error);
                }
                // The time that a person takes is not the action's, unless the request says so.
                end = deadline();
            } else if spec.is_target_replaced(error, searches) && !call.gate.is_sent() {
                self.find_again(subject.app.as_ref(), searches, end).await;
                searches += 1;
            } else {
                break done;
            }
        };
        let delivery = match &done {
            Ok(delivery) => *delivery,
            Err(error) => error.disposition.delivery,
        };
        self.record(call, &subject, delivery, done.as_ref().err());
        done.map(drop)
    }

    async fn act_on(
        self: &Arc<Self>,
        call: &Call,
        (action, spec): (&dyn DynAction, &ActionSpec<'_>),
        options: ActOptions<'_>,
        deadline: Instant,
        subject: &mut ActionSubject<'_>,
        answer: &mut Answer<'_>,
    ) -> Result<Delivery> {
        let Subject { app, target, point, why } = self.find_target(call, spec, options, deadline).await?;
        subject.app = app.as_ref().map(|app| app.seen());
        subject.target = target;
        let (element, window) = self.described(app.as_deref(), target);
        subject.described = element.as_ref().map(ElementView::node_ref);
        if !options.dry_run {
            self.permit_action(call, subject, element.as_ref(), window.as_deref())?;
        }
        let expectations = expect::parse(options.expect)?;
        let mut needs_input = spec.takes_input_lock(options, point.is_some());
        let (_turn, context, done) = loop {
            let user = InputUser { client: call.session.client, releases: spec.releases };
            let queues_in = app.as_ref().filter(|_| !spec.releases);
            let turn = self.take_turn(call, queues_in, needs_input.then_some(user), deadline).await?;
            if let Some(app) = &app {
                app.until_finished(deadline).await;
            }
            let mut context = ActionContext::new(self, call, options, deadline, app.clone(), target, point);
            context.releases = spec.releases;
            context.chosen.clone_from(&why);
            context.check_expectations(&expectations)?;
            context.begin().await?;
            context.yield_to_person().await?;
            context.compare().await?;
            let done = match options.dry_run {
                true => Ok(context.dry_run(spec)),
                false => context.run(action, spec).await,
            };
            context.release_input_lock();
            // Another client holds something down: the turn is given back, and the wait is without it.
            needs_input = done.is_err() && !call.gate.is_sent() && context.starts_again.load(Relaxed);
            if !needs_input {
                break (turn, context, done);
            }
        };
        // The action is attributed to the app that received the input, whatever the request names.
        if let Some(received) = context.received.last().and_then(|receiver| receiver.pid)
            && subject.app.as_ref().is_none_or(|app| app.pid != received)
        {
            subject.app =
                Some(self.desktop.read().by_pid(received).cloned().unwrap_or_else(|| unknown(received)));
        }
        let done = done?;
        let settled =
            if options.dry_run { context.unsettled() } else { context.settle_and_wait(spec).await? };
        if spec.checks_hit {
            context.check_hit(&done)?;
        }
        let expected = match options.dry_run {
            true => Vec::new(),
            false => context.until_expected(&expectations, done.delivery).await?,
        };
        context.report(&done, settled, expected, answer)?;
        Ok(done.delivery)
    }

    /// The target of an action, and the title of its window, as the policy sees them.
    pub(crate) fn described(
        &self,
        app: Option<&App>,
        target: Option<NodeId>,
    ) -> (Option<ElementView>, Option<String>) {
        let Some((app, id)) = app.zip(target) else { return (None, None) };
        let tree = app.tree.read();
        match tree.resolve(id) {
            axd_tree::Resolved::Alive(ix) => (Some(ElementView::of(&tree, ix)), self.window_title(&tree, ix)),
            _ => (None, None),
        }
    }

    /// Waits for the turn of an action in the queue of its app. Releasing a key or button needs none: the action that has the
    /// turn may be waiting for just that.
    ///
    /// An action that needs mouse and keyboard first waits until no other client holds anything down. If it waited in its turn,
    /// and the holder waited for that turn, the two would deadlock.
    async fn take_turn<'a>(
        &self,
        call: &Call,
        app: Option<&'a Arc<App>>,
        input_user: Option<InputUser>,
        deadline: Instant,
    ) -> Result<Option<QueueGuard<'a>>> {
        let command = call.command.name();
        if let Some(user) = input_user {
            self.input_lock.wait_until_free(user, deadline).await.map_err(|failure| {
                Error::new(axd_protocol::ErrorCode::ActionFailed, format!("{command}: {failure}"))
                    .suggest("wait until it is released; `ax status` shows who holds it")
            })?;
        }
        let Some(app) = app else { return Ok(None) };
        match app.queue.take(Actor::of(call), deadline).await {
            None => Err(out_of_time("another action on this app is still in progress")),
            turn => Ok(turn),
        }
    }

    /// Resolves the subject of an action: an app, an element of it, a point.
    pub(crate) async fn find_target(
        self: &Arc<Self>,
        call: &Call,
        spec: &ActionSpec<'_>,
        options: ActOptions<'_>,
        deadline: Instant,
    ) -> Result<Subject> {
        let choice = Choice::of_action(options.nth);
        let place = Where { app: options.app, window: options.window, choice };
        match spec.target {
            TargetKind::Element(target) => match parse_target(target)? {
                Target::Point { x, y } => {
                    let point = self.place_of(call, axd_protocol::Point { x, y }, options, deadline).await?;
                    let located = match options.app {
                        Some(_) => {
                            let app = self.app(call, options.app, deadline).await?;
                            self.locate_point_in(app, point, deadline).await
                        }
                        None => self.locate_point(call, point, deadline).await,
                    };
                    match located {
                        Ok(located) => Ok(Subject::of(Some(located.app), Some(located.id), Some(point))),
                        // A point can be clicked even if no element is known there.
                        Err(_) if spec.takes_bare_point => Ok(Subject::of(
                            self.app(call, options.app, deadline).await.ok(),
                            None,
                            Some(point),
                        )),
                        Err(error) => Err(error),
                    }
                }
                _ => {
                    let located = self.locate(call, target, place, deadline).await?;
                    let why = located.why;
                    Ok(Subject { why, ..Subject::of(Some(located.app), Some(located.id), None) })
                }
            },
            TargetKind::Focus => {
                let app = self.app(call, options.app, deadline).await?;
                let focused = {
                    let tree = app.tree.read();
                    tree.focused().map(|ix| tree.id(ix))
                };
                Ok(Subject::of(Some(app), focused, None))
            }
            TargetKind::App => {
                Ok(Subject::of(Some(self.app(call, options.app, deadline).await?), None, None))
            }
            TargetKind::Place(point) => {
                let point = self.place_of(call, point, options, deadline).await?;
                let app = match options.app {
                    Some(_) => Some(self.app(call, options.app, deadline).await?),
                    None => self.app_at(point),
                };
                Ok(Subject::of(app, None, Some(point)))
            }
            TargetKind::Keyboard => {
                let app = match options.app {
                    Some(_) => Some(self.app(call, options.app, deadline).await?),
                    // Keys go to the focus, whether or not it is known which app has it.
                    None => self.app(call, None, deadline).await.ok(),
                };
                Ok(Subject::of(app, None, None))
            }
        }
    }

    /// A point on the screen: as it is given, or relative to the window that the request names.
    async fn place_of(
        self: &Arc<Self>,
        call: &Call,
        point: axd_protocol::Point,
        options: ActOptions<'_>,
        deadline: Instant,
    ) -> Result<axd_protocol::Point> {
        let Some(window) = options.window else { return Ok(point) };
        let app = self.app(call, options.app, deadline).await?;
        let number = {
            let tree = app.tree.read();
            let ix = self.scope(&app, &tree, Some(window), None)?;
            tree.window_number(ix)
        };
        let bounds = number.and_then(|number| self.desktop.read().window(number)?.bounds);
        let bounds = bounds.ok_or_else(|| {
            Error::new(
                axd_protocol::ErrorCode::NotActionable,
                format!("the position of the window '{window}' is unknown"),
            )
        })?;
        match (bounds.x.checked_add(point.x), bounds.y.checked_add(point.y)) {
            (Some(x), Some(y)) => Ok(axd_protocol::Point { x, y }),
            _ => Err(Error::new(
                axd_protocol::ErrorCode::InvalidArgs,
                format!("the point {},{} of the window '{window}' is on no screen", point.x, point.y),
            )
            .suggest(format!("the window is {} by {} pixels large", bounds.width, bounds.height))),
        }
    }

    /// The attached app whose window is at a point.
    fn app_at(self: &Arc<Self>, point: axd_protocol::Point) -> Option<Arc<App>> {
        let seen = {
            let desktop = self.desktop.read();
            let window = desktop.window_at(point)?;
            desktop.by_pid(window.pid)?.clone()
        };
        Some(self.attached(&seen))
    }
}

/// A placeholder for a process that is not one of the known apps.
fn unknown(pid: u32) -> axd_platform::RunningApp {
    axd_platform::RunningApp { pid, name: format!("process {pid}"), ..Default::default() }
}

fn out_of_time(why: &str) -> Error {
    Error::new(axd_protocol::ErrorCode::Timeout, why)
        .suggest("increase --deadline-ms, or see who is acting with `ax status`")
}
