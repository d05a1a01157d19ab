//! Actions: resolve the target, check the policy, read the target again, perform, settle, answer with what changed.
//!
//! The modules in the order of an action: `spec` turns a command into an action, `context` is a running action, `semantic` and
//! `input` are the two routes, `settle` waits until the app has come to rest, `report` writes the answer. On the way,
//! `actionability` waits until an element can be reached with the mouse, `receiver` makes sure that input reaches the right
//! window, `typing` enters text and `typed_text` compares it with the field afterwards, `select`, `menu`, `popup` and `scroll`
//! find elements that are not in view, `resolve_again` finds elements that were replaced. `queue` allows one action at a time
//! per app, `input_lock` one at a time with mouse and keyboard.

pub(crate) mod actionability;
pub(crate) mod context;
pub(crate) mod input;
pub(crate) mod input_lock;
pub(crate) mod menu;
pub(crate) mod popup;
pub(crate) mod queue;
pub(crate) mod receiver;
pub(crate) mod report;
pub(crate) mod resolve_again;
pub(crate) mod scroll;
pub(crate) mod select;
pub(crate) mod semantic;
pub(crate) mod settle;
pub(crate) mod spec;
pub(crate) mod typed_text;
pub(crate) mod typing;

pub(crate) use queue::ActionQueue;
pub(crate) use settle::Watch;

use std::sync::Arc;

use axd_protocol::command::ActOptions;
use axd_protocol::error::Delivery;
use axd_protocol::{Error, NodeId, Result};
use tokio::time::Instant;

use crate::Engine;
use crate::answer::Answer;
use crate::apps::app::App;
use crate::apps::target::{Where, parse_target};
use crate::policy::permit::ActionSubject;
use axd_protocol::selector::Target;
use axd_service::Call;
use context::ActionContext;
use spec::{Action, TargetKind};

/// The deadline of an action if the request has none.
const DEFAULT_ACTION_DEADLINE: std::time::Duration = std::time::Duration::from_secs(30);

impl Engine {
    /// Runs a command that acts.
    pub(crate) async fn act(self: &Arc<Self>, call: &Call, answer: &mut Answer<'_>) -> Result<()> {
        let Some((action, options)) = spec::of(&call.command)? else {
            let what = format!("{} is not an action", call.command.name());
            return Err(Error::new(axd_protocol::ErrorCode::Internal, what));
        };
        let deadline = call.deadline.unwrap_or_else(|| Instant::now() + DEFAULT_ACTION_DEADLINE);
        let mut about =
            ActionSubject { keys: action.keys(), text: action.text(), ..ActionSubject::default() };
        let mut tries = 0;
        let done = loop {
            let done = self.act_on(call, &action, options, deadline, &mut about, answer).await;
            match &done {
                Err(error) if action.is_lost(error, tries) && !call.gate.is_sent() => {
                    self.find_again(about.app.as_ref(), tries, deadline).await;
                    tries += 1;
                }
                _ => break done,
            }
        };
        let delivery = match &done {
            Ok(delivery) => *delivery,
            Err(error) => error.disposition.delivery,
        };
        self.record(call, &about, delivery, done.as_ref().err());
        done.map(drop)
    }

    async fn act_on(
        self: &Arc<Self>,
        call: &Call,
        action: &Action<'_>,
        options: ActOptions<'_>,
        deadline: Instant,
        about: &mut ActionSubject<'_>,
        answer: &mut Answer<'_>,
    ) -> Result<Delivery> {
        let (app, target, point) = self.aim(action, options, deadline).await?;
        about.app = app.as_ref().map(|app| app.seen());
        about.target = target;
        self.permit(call, about)?;
        // An action that needs mouse and keyboard waits for them here, before its turn in the app's queue. If it waited in its
        // turn, and their holder waited for that turn, the two would deadlock.
        if action.needs_hands(options, point) {
            self.input_lock.wait_until_free(call.session.client, deadline).await.map_err(|failure| {
                Error::new(
                    axd_protocol::ErrorCode::ActionFailed,
                    format!("{}: {failure}", call.command.name()),
                )
                .suggest("wait until it is released; `ax status` shows who holds it")
            })?;
        }
        let turn = match &app {
            // Releasing a key or button needs no turn: the action that has the turn may be waiting for just that.
            Some(app) if !action.lets_go() => {
                Some(app.queue.take(call.session.client, call.command.name(), deadline).await)
            }
            _ => None,
        };
        let _turn = match turn {
            Some(None) => return Err(out_of_time("another action on this app is still in progress")),
            turn => turn.flatten(),
        };
        if let Some(app) = &app {
            app.until_finished(deadline).await;
        }
        let mut context = ActionContext::new(self, call, options, deadline, app.clone(), target, point);
        context.begin().await?;
        let done = if options.dry_run { Ok(context.dry_run(action)) } else { action.run(&mut context).await };
        context.give_back_hands();
        // The action is attributed to the app that received the input, whatever the request names.
        if let Some(received) = context.received.last().and_then(|receiver| receiver.pid)
            && about.app.as_ref().is_none_or(|app| app.pid != received)
        {
            about.app =
                Some(self.desktop.read().by_pid(received).cloned().unwrap_or_else(|| unknown(received)));
        }
        let done = done?;
        let settled =
            if options.dry_run { context.unsettled() } else { context.settle_and_wait(action).await? };
        if action.is_single_click() {
            context.check_hit(&done)?;
        }
        context.report(&done, settled, answer)?;
        Ok(done.delivery)
    }

    /// Resolves the subject of an action: an app, an element of it, a point.
    async fn aim(
        self: &Arc<Self>,
        action: &Action<'_>,
        options: ActOptions<'_>,
        deadline: Instant,
    ) -> Result<(Option<Arc<App>>, Option<NodeId>, Option<axd_protocol::Point>)> {
        let place = Where { app: options.app, window: options.window };
        match action.aim() {
            TargetKind::Element(target) => match parse_target(target)? {
                Target::Point { x, y } => {
                    let point = self.place_of(axd_protocol::Point { x, y }, options, deadline).await?;
                    let located = match options.app {
                        Some(_) => {
                            let app = self.app(options.app, deadline).await?;
                            self.locate_point_in(app, point, deadline).await
                        }
                        None => self.locate_point(point, deadline).await,
                    };
                    match located {
                        Ok(located) => Ok((Some(located.app), Some(located.id), Some(point))),
                        // A point can be clicked even if no element is known there.
                        Err(_) if action.takes_bare_point() => {
                            Ok((self.app(options.app, deadline).await.ok(), None, Some(point)))
                        }
                        Err(error) => Err(error),
                    }
                }
                _ => {
                    let located = self.locate(target, place, deadline).await?;
                    Ok((Some(located.app), Some(located.id), None))
                }
            },
            TargetKind::Focus => {
                let app = self.app(options.app, deadline).await?;
                let focused = {
                    let tree = app.tree.read();
                    tree.focused().map(|ix| tree.id(ix))
                };
                Ok((Some(app), focused, None))
            }
            TargetKind::App => Ok((Some(self.app(options.app, deadline).await?), None, None)),
            TargetKind::Place(point) => {
                let point = self.place_of(point, options, deadline).await?;
                let app = match options.app {
                    Some(_) => Some(self.app(options.app, deadline).await?),
                    None => self.app_at(point),
                };
                Ok((app, None, Some(point)))
            }
            TargetKind::Keyboard => {
                let app = match options.app {
                    Some(_) => Some(self.app(options.app, deadline).await?),
                    // Keys go to the focus, whether or not it is known which app has it.
                    None => self.app(None, deadline).await.ok(),
                };
                Ok((app, None, None))
            }
        }
    }

    /// A point on the screen: as it is given, or relative to the window that the request names.
    async fn place_of(
        self: &Arc<Self>,
        point: axd_protocol::Point,
        options: ActOptions<'_>,
        deadline: Instant,
    ) -> Result<axd_protocol::Point> {
        let Some(window) = options.window else { return Ok(point) };
        let app = self.app(options.app, deadline).await?;
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
        Ok(axd_protocol::Point { x: bounds.x + point.x, y: bounds.y + point.y })
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
