//! An app as a process: it answers requests, notifies its observers, and can hang, be slow or die.
//!
//! It is a task behind channels, as a real app is a process behind an accessibility API. Its model is not
//! reachable in any other way, and callers have to give up on requests that it does not answer. `answer` handles
//! requests, `faults` injects faults.

mod answer;
mod faults;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use axd_protocol::{Bounds, Point};
use tokio::sync::{mpsc, oneshot};

use super::announce::{Announcer, Notification};
use super::fault::Fault;
use super::inspect::{ChangeListener, InspectFn, Inspection};
use super::model::{Change, Frame, Gesture, GestureOutcome, Handle, Model, UserAction};
use super::render::{WindowImage, window_images};
use super::session::SimSession;
use axd_platform::worker::{AppHandle, AppNotification, AppRequest, ReplySender};
use axd_platform::{DesktopWindow, ElementKey, Failure, FailureKind, WindowOp};
use faults::Faults;

/// A request to an app. Requests are handled one after the other, and not while the app hangs.
#[derive(Debug)]
pub(super) enum Request {
    /// A request of the worker.
    Call(AppRequest),
    /// Mouse or keyboard input.
    Input(Gesture, oneshot::Sender<GestureOutcome>),
    /// A function to run inside the app.
    Inspect(InspectFn),
    /// A request to quit, which the app may refuse.
    Close,
}

/// A control of the window system or of the command `sim`. It reaches an app that hangs.
#[derive(Debug)]
pub(super) enum Control {
    /// Runs a window operation; the reply is false if the window does not exist.
    Window(u64, WindowOp, oneshot::Sender<bool>),
    /// Asks for the window at a point, open menus included.
    WindowAt(Point, oneshot::Sender<Option<u64>>),
    /// Replaces the displays, the main one first.
    Displays(Vec<Bounds>, oneshot::Sender<()>),
    /// Asks for the images of the windows.
    Render(oneshot::Sender<Vec<WindowImage>>),
    Act(UserAction, oneshot::Sender<Result<String, Failure>>),
    Fault(Fault, oneshot::Sender<Result<String, Failure>>),
    Heal(oneshot::Sender<Result<String, Failure>>),
    /// Subscribes to all changes from now on.
    Subscribe(ChangeListener),
    Quit(oneshot::Sender<Result<String, Failure>>),
}

/// The channels to an app.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pub requests: mpsc::UnboundedSender<Request>,
    pub controls: mpsc::UnboundedSender<Control>,
    /// Whether the app answered the last action late.
    pub delayed_notifications: Arc<AtomicBool>,
}

impl AppHandle for Process {
    const MAX_BATCH: usize = 256;

    fn ask(&self, call: AppRequest) -> bool {
        match call {
            AppRequest::Act(_, _, gate, answer) if !gate.pass() => {
                let _ = answer.send(Err(Failure::closed()));
                true
            }
            call => self.requests.send(Request::Call(call)).is_ok(),
        }
    }

    fn ended(&self) -> impl Future<Output = ()> + Send {
        self.requests.closed()
    }

    fn late(&self) -> &Arc<AtomicBool> {
        &self.delayed_notifications
    }
}

/// The task of an app.
pub(super) struct AppTask {
    pid: u32,
    model: Model,
    session: Arc<SimSession>,
    announcer: Announcer,
    observers: Vec<mpsc::UnboundedSender<AppNotification>>,
    listeners: Vec<ChangeListener>,
    /// Notifications that are sent later, each with its time.
    late: VecDeque<(Instant, Notification)>,
    faults: Faults,
    /// The request that a slow app is handling, and the time at which it is done.
    slow_request: Option<(Instant, Request)>,
    /// Replies that are sent later.
    delayed_replies: Vec<DelayedReply>,
}

/// The reply to an action, which is sent later.
struct DelayedReply {
    answer: ReplySender<()>,
    result: Result<(), Failure>,
    until: ReplyTime,
}

/// When a delayed reply is sent.
enum ReplyTime {
    /// At this time.
    Time(Instant),
    /// When this window is closed.
    Closed(Handle),
}

/// The reply to send once the session has removed the app; `None` if it ended by itself.
type ExitReply = Option<oneshot::Sender<Result<String, Failure>>>;

fn now() -> Instant {
    // The clock of the runtime, which tests can pause.
    tokio::time::Instant::now().into_std()
}

/// Starts an app.
pub(super) fn spawn(pid: u32, model: Model, session: Arc<SimSession>) -> Process {
    let (requests, asked) = mpsc::unbounded_channel();
    let (controls, control_receiver) = mpsc::unbounded_channel();
    let announcer = Announcer::new(model.script().profile);
    let app = AppTask {
        pid,
        model,
        session: Arc::clone(&session),
        announcer,
        observers: Vec::new(),
        listeners: Vec::new(),
        late: VecDeque::new(),
        faults: Faults::default(),
        slow_request: None,
        delayed_replies: Vec::new(),
    };
    tokio::spawn(async move {
        let exit_reply = app.run(asked, control_receiver).await;
        session.on_app_ended(pid);
        if let Some(answer) = exit_reply {
            let _ = answer.send(Ok("ended".to_owned()));
        }
    });
    Process { requests, controls, delayed_notifications: Arc::default() }
}

/// The windows of an app, front to back, as the window system sees them.
pub(super) fn windows_of(pid: u32, model: &Model) -> Vec<DesktopWindow> {
    let mut seen = Vec::new();
    for window in model.windows().iter().copied() {
        let bounds = model.window_bounds(window);
        let Some(widget) = model.widget(window) else { continue };
        let title = widget.name.clone().unwrap_or_default();
        let Frame { minimized, restore_bounds: before } = model.frame(window);
        let maximized = before.is_some();
        let number = widget.window;
        seen.extend(number.map(|window| DesktopWindow {
            window,
            pid,
            title,
            bounds,
            minimized,
            maximized,
            splash: false,
        }));
    }
    seen
}

impl AppTask {
    async fn run(
        mut self,
        mut requests: mpsc::UnboundedReceiver<Request>,
        mut controls: mpsc::UnboundedReceiver<Control>,
    ) -> ExitReply {
        // A rule for the start may end the app at once.
        while !self.model.has_ended() {
            let due = self.next_due();
            let hangs = self.faults.hangs;
            tokio::select! {
                biased;
                control = controls.recv() => match control {
                    None => return None,
                    Some(Control::Quit(answer)) => return Some(answer),
                    Some(Control::Fault(Fault::Die, answer)) => return Some(answer),
                    Some(control) => self.handle_control(control).await,
                },
                Some(request) = requests.recv(), if !hangs && self.slow_request.is_none() => self.accept_request(request),
                () = tokio::time::sleep_until(due.unwrap_or_else(now).into()), if due.is_some() && !hangs => self.tick(),
            }
        }
        None
    }

    fn next_due(&self) -> Option<Instant> {
        let late = self.late.front().map(|(due, _)| *due);
        let slowly = self.slow_request.as_ref().map(|(due, _)| *due);
        let delayed = self.delayed_replies.iter().filter_map(|delayed| match delayed.until {
            ReplyTime::Time(due) => Some(due),
            ReplyTime::Closed(_) => None,
        });
        late.into_iter().chain(slowly).chain(delayed).chain(self.model.next_due()).min()
    }

    fn tick(&mut self) {
        let now = now();
        self.model.advance(now);
        self.publish();
        while self.late.front().is_some_and(|(due, _)| *due <= now) {
            if let Some((_, notification)) = self.late.pop_front() {
                self.emit(notification);
            }
        }
        if let Some((_, request)) = self.slow_request.take_if(|(due, _)| *due <= now) {
            self.handle_request(request);
        }
        self.flush_replies(|until| matches!(until, ReplyTime::Time(due) if *due <= now));
    }

    /// Sends the delayed replies that are due.
    fn flush_replies(&mut self, is_due: impl Fn(&ReplyTime) -> bool) {
        for DelayedReply { answer, result, .. } in
            self.delayed_replies.extract_if(.., |delayed| is_due(&delayed.until))
        {
            let _ = answer.send(result);
        }
    }

    async fn handle_control(&mut self, control: Control) {
        match control {
            Control::Act(action, answer) => {
                let done = if self.faults.hangs {
                    let name = &self.model.script().name;
                    let text = format!("{name} hangs; end that with `ax sim {name} heal`");
                    Err(Failure::new(FailureKind::Unresponsive, text))
                } else {
                    let refused =
                        |refusal: super::model::Refusal| Failure::new(FailureKind::Invalid, refusal.text);
                    self.model.act(&action, now()).map_err(refused)
                };
                if done.is_ok() && !matches!(action, UserAction::Scroll(..)) {
                    self.session.arrange(self.pid, windows_of(self.pid, &self.model), true);
                }
                self.publish();
                let _ = answer.send(done);
            }
            Control::Fault(fault, answer) => {
                let done = self.inject(fault).await;
                self.publish();
                let _ = answer.send(done.map_err(|text| Failure::new(FailureKind::Invalid, text)));
            }
            Control::Heal(answer) => {
                let healed = std::mem::take(&mut self.faults);
                if let Some((_, request)) = self.slow_request.take() {
                    self.handle_request(request);
                }
                self.flush_replies(|_| true);
                for (parent, _) in healed.claims.into_iter().chain(healed.stale_children) {
                    self.emit(Notification::Structure(parent));
                }
                let _ = answer.send(Ok("healed".to_owned()));
            }
            Control::Window(number, op, answer) => {
                let window = self.model.window_numbered(number);
                if let Some(window) = window {
                    let was_away = self.model.frame(window).minimized;
                    self.model.arrange(window, op);
                    let is_back = was_away && !self.model.frame(window).minimized;
                    let activated = matches!(op, WindowOp::Focus | WindowOp::Insist) || is_back;
                    self.session.arrange(self.pid, windows_of(self.pid, &self.model), activated);
                    self.publish();
                }
                let _ = answer.send(window.is_some());
            }
            Control::WindowAt(point, answer) => {
                let there =
                    self.model.hit_test(point).and_then(|path| self.model.widget(*path.get(1)?)?.window);
                let _ = answer.send(there);
            }
            Control::Displays(displays, answer) => {
                self.model.set_displays(&displays);
                self.session.arrange(self.pid, windows_of(self.pid, &self.model), false);
                self.publish();
                let _ = answer.send(());
            }
            Control::Render(answer) => {
                let _ = answer.send(window_images(&mut self.model));
            }
            Control::Subscribe(mut listener) => {
                (listener.0)(&mut self.model, &Change::Windows, now());
                self.listeners.push(listener);
            }
            // The main loop handles this and ends.
            Control::Quit(_) => {}
        }
    }

    /// Notifies observers of what changed, as far as the profile of the app announces it.
    fn publish(&mut self) {
        let changes = self.model.take_changes();
        if changes.contains(&Change::Windows) {
            self.session.arrange(self.pid, windows_of(self.pid, &self.model), false);
        }
        let model = &self.model;
        for DelayedReply { answer, result, .. } in self.delayed_replies.extract_if(
            ..,
            |delayed| matches!(delayed.until, ReplyTime::Closed(window) if model.widget(window).is_none()),
        ) {
            let _ = answer.send(result);
        }
        let delay = self.announcer.delay();
        for change in changes {
            if self.faults.dropping == 0 {
                let (model, now) = (&mut self.model, now());
                self.listeners.iter_mut().for_each(|listener| (listener.0)(model, &change, now));
            }
            for notification in self.announcer.notifications_of(&self.model, &change) {
                match delay {
                    Some(delay) => self.late.push_back((now() + delay, notification)),
                    None => self.emit(notification),
                }
            }
        }
    }

    /// Runs a function inside the app.
    fn run_inspection(&mut self, inspect: InspectFn) {
        let Faults { claims, stale_children, .. } = &mut self.faults;
        (inspect.0)(Inspection { model: &mut self.model, claims, stale_children, now: now() });
        self.publish();
    }

    fn emit(&mut self, notification: Notification) {
        if self.faults.dropping > 0 {
            self.faults.dropping -= 1;
            return;
        }
        let note = match notification {
            Notification::Changed(element) => AppNotification::Changed(key(element)),
            Notification::Structure(element) => AppNotification::Structure(key(element)),
            Notification::Destroyed(element) => AppNotification::Destroyed(key(element)),
            Notification::Announced(text) => AppNotification::Announced(text),
        };
        self.observers.retain(|observer| observer.send(note.clone()).is_ok());
    }
}

/// Converts a handle to a key, which is possible because handles are never reused.
fn key(handle: Handle) -> ElementKey {
    ElementKey(handle.0)
}

fn handle(key: ElementKey) -> Handle {
    Handle(key.0)
}
