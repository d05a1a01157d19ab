//! An app as a process of its own: it answers calls, tells its observers what happens, and can hang, crawl or die.
//!
//! It is a task behind channels, as a real app is a process behind an accessibility API: nothing of its model is
//! reached any other way, and calls that it does not answer are the caller's to give up on. `answer` is what it says
//! to who asks, `befall` what can go wrong with it.

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

/// What comes to an app, one thing after the other.
#[derive(Debug)]
pub(super) enum Request {
    /// Somebody asks something.
    Call(AppRequest),
    /// What mouse and keyboard do.
    Input(Gesture, oneshot::Sender<GestureOutcome>),
    /// Somebody looks inside.
    Inspect(InspectFn),
    /// To end.
    Close,
}

/// What the hand outside and the window system do; it gets through to an app that hangs.
#[derive(Debug)]
pub(super) enum Control {
    /// Does something to a window; false if there is none of that number.
    Window(u64, WindowOp, oneshot::Sender<bool>),
    /// Which of the app's windows, or of their menus, is at a point.
    WindowAt(Point, oneshot::Sender<Option<u64>>),
    /// There are other displays now, the main one first.
    Displays(Vec<Bounds>, oneshot::Sender<()>),
    /// What the windows show.
    Render(oneshot::Sender<Vec<WindowImage>>),
    Act(UserAction, oneshot::Sender<Result<String, Failure>>),
    Fault(Fault, oneshot::Sender<Result<String, Failure>>),
    Heal(oneshot::Sender<Result<String, Failure>>),
    /// Tells all that changes, from now on.
    Subscribe(ChangeListener),
    Quit(oneshot::Sender<Result<String, Failure>>),
}

/// The ends of an app's channels.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pub requests: mpsc::UnboundedSender<Request>,
    pub controls: mpsc::UnboundedSender<Control>,
    /// Whether it took long to answer the last act.
    pub delayed_notifications: Arc<AtomicBool>,
}

impl AppHandle for Process {
    const MAX_BATCH: usize = 256;

    fn ask(&self, question: AppRequest) -> bool {
        match question {
            AppRequest::Act(_, _, gate, answer) if !gate.pass() => {
                let _ = answer.send(Err(Failure::closed()));
                true
            }
            question => self.requests.send(Request::Call(question)).is_ok(),
        }
    }

    fn ended(&self) -> impl Future<Output = ()> + Send {
        self.requests.closed()
    }

    fn late(&self) -> &Arc<AtomicBool> {
        &self.delayed_notifications
    }
}

/// The app's side.
pub(super) struct AppTask {
    pid: u32,
    model: Model,
    session: Arc<SimSession>,
    announcer: Announcer,
    observers: Vec<mpsc::UnboundedSender<AppNotification>>,
    listeners: Vec<ChangeListener>,
    /// What a late app will tell, and when.
    late: VecDeque<(Instant, Notification)>,
    faults: Faults,
    /// What a slow app is about to answer, and when.
    slow_request: Option<(Instant, Request)>,
    /// Answers held back.
    delayed_replies: Vec<DelayedReply>,
}

/// An answer to an act that is held back.
struct DelayedReply {
    answer: ReplySender<()>,
    result: Result<(), Failure>,
    until: ReplyTime,
}

/// Until when an answer is held back.
enum ReplyTime {
    /// This time.
    Time(Instant),
    /// The window is closed.
    Closed(Handle),
}

/// How an app ended: quit, with the answer that is owed once the desktop knows, or by itself.
type ExitReply = Option<oneshot::Sender<Result<String, Failure>>>;

fn now() -> Instant {
    // The runtime's clock, which tests can stop.
    tokio::time::Instant::now().into_std()
}

/// Starts an app.
pub(super) fn spawn(pid: u32, model: Model, desk: Arc<SimSession>) -> Process {
    let (requests, asked) = mpsc::unbounded_channel();
    let (controls, told) = mpsc::unbounded_channel();
    let announcer = Announcer::new(model.script().profile);
    let app = AppTask {
        pid,
        model,
        session: Arc::clone(&desk),
        announcer,
        observers: Vec::new(),
        listeners: Vec::new(),
        late: VecDeque::new(),
        faults: Faults::default(),
        slow_request: None,
        delayed_replies: Vec::new(),
    };
    tokio::spawn(async move {
        let farewell = app.run(asked, told).await;
        desk.on_app_ended(pid);
        if let Some(answer) = farewell {
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
        // One may end itself as soon as it starts.
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
        let owed = self.delayed_replies.iter().filter_map(|owed| match owed.until {
            ReplyTime::Time(due) => Some(due),
            ReplyTime::Closed(_) => None,
        });
        late.into_iter().chain(slowly).chain(owed).chain(self.model.next_due()).min()
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

    /// Gives the answers that were held back until now.
    fn flush_replies(&mut self, is_due: impl Fn(&ReplyTime) -> bool) {
        for DelayedReply { answer, result, .. } in
            self.delayed_replies.extract_if(.., |owed| is_due(&owed.until))
        {
            let _ = answer.send(result);
        }
    }

    async fn handle_control(&mut self, control: Control) {
        match control {
            Control::Act(deed, answer) => {
                let done = if self.faults.hangs {
                    let name = &self.model.script().name;
                    let text = format!("{name} hangs; end that with `ax sim {name} heal`");
                    Err(Failure::new(FailureKind::Unresponsive, text))
                } else {
                    let refused =
                        |refusal: super::model::Refusal| Failure::new(FailureKind::Invalid, refusal.text);
                    self.model.act(&deed, now()).map_err(refused)
                };
                if done.is_ok() && !matches!(deed, UserAction::Scroll(..)) {
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
            // Ends the loop before it comes here.
            Control::Quit(_) => {}
        }
    }

    /// Tells of what changed, as far as this app tells anything.
    fn publish(&mut self) {
        let changes = self.model.take_changes();
        if changes.contains(&Change::Windows) {
            self.session.arrange(self.pid, windows_of(self.pid, &self.model), false);
        }
        let model = &self.model;
        for DelayedReply { answer, result, .. } in self.delayed_replies.extract_if(
            ..,
            |owed| matches!(owed.until, ReplyTime::Closed(window) if model.widget(window).is_none()),
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

    /// Lets somebody look inside.
    fn run_inspection(&mut self, visit: InspectFn) {
        let Faults { claims, stale_children: ghosts, .. } = &mut self.faults;
        (visit.0)(Inspection { model: &mut self.model, claims, stale_children: ghosts, now: now() });
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

/// The app's own handles are never used again, which is all that is asked of a key.
fn key(handle: Handle) -> ElementKey {
    ElementKey(handle.0)
}

fn handle(key: ElementKey) -> Handle {
    Handle(key.0)
}
