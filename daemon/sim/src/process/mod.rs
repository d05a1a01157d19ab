//! An app as a process of its own: it answers calls, tells its observers what happens, and can hang, crawl or die.
//!
//! It is a task behind channels, as a real app is a process behind an accessibility API: nothing of its model is
//! reached any other way, and calls that it does not answer are the caller's to give up on. `answer` is what it says
//! to who asks, `befall` what can go wrong with it.

mod answer;
mod befall;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use axd_protocol::{Bounds, Point};
use tokio::sync::{mpsc, oneshot};

use super::announce::{Announcer, Notification};
use super::desk::Desk;
use super::fault::Fault;
use super::model::{Change, Deed, Frame, Gesture, Handle, Heard, Model};
use super::picture::{Sheet, sheets};
use super::reach::{Inside, Listener, Visit};
use axd_platform::worker::{AppHandle, AppNotification, AppRequest, ReplySender};
use axd_platform::{DesktopWindow, ElementKey, Failure, FailureKind, WindowOp};
use befall::Faults;

/// What comes to an app, one thing after the other.
#[derive(Debug)]
pub(super) enum Request {
    /// Somebody asks something.
    Asked(AppRequest),
    /// What mouse and keyboard do.
    Input(Gesture, oneshot::Sender<Heard>),
    /// Somebody looks inside.
    Visited(Visit),
    /// To end.
    Close,
}

/// What the hand outside and the window system do; it gets through to an app that hangs.
#[derive(Debug)]
pub(super) enum Control {
    /// Does something to a window; false if there is none of that number.
    Window(u64, WindowOp, oneshot::Sender<bool>),
    /// Which of the app's windows, or of their menus, is at a point.
    Cover(Point, oneshot::Sender<Option<u64>>),
    /// There are other displays now, the main one first.
    Displays(Vec<Bounds>, oneshot::Sender<()>),
    /// What the windows show.
    Paint(oneshot::Sender<Vec<Sheet>>),
    Act(Deed, oneshot::Sender<Result<String, Failure>>),
    Fault(Fault, oneshot::Sender<Result<String, Failure>>),
    Heal(oneshot::Sender<Result<String, Failure>>),
    /// Tells all that changes, from now on.
    Overhear(Listener),
    Quit(oneshot::Sender<Result<String, Failure>>),
}

/// The ends of an app's channels.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pub requests: mpsc::UnboundedSender<Request>,
    pub controls: mpsc::UnboundedSender<Control>,
    /// Whether it took long to answer the last act.
    pub late: Arc<AtomicBool>,
}

impl AppHandle for Process {
    const MAX_BATCH: usize = 256;

    fn ask(&self, question: AppRequest) -> bool {
        match question {
            AppRequest::Act(_, _, gate, answer) if !gate.pass() => {
                let _ = answer.send(Err(Failure::closed()));
                true
            }
            question => self.requests.send(Request::Asked(question)).is_ok(),
        }
    }

    fn ended(&self) -> impl Future<Output = ()> + Send {
        self.requests.closed()
    }

    fn late(&self) -> &Arc<AtomicBool> {
        &self.late
    }
}

/// The app's side.
pub(super) struct App {
    pid: u32,
    model: Model,
    desk: Arc<Desk>,
    announcer: Announcer,
    observers: Vec<mpsc::UnboundedSender<AppNotification>>,
    listeners: Vec<Listener>,
    /// What a late app will tell, and when.
    late: VecDeque<(Instant, Notification)>,
    faults: Faults,
    /// What a slow app is about to answer, and when.
    slowly: Option<(Instant, Request)>,
    /// Answers held back.
    owed: Vec<Owed>,
}

/// An answer to an act that is held back.
struct Owed {
    answer: ReplySender<()>,
    result: Result<(), Failure>,
    until: Until,
}

/// Until when an answer is held back.
enum Until {
    /// This time.
    Time(Instant),
    /// The window is closed.
    Closed(Handle),
}

/// How an app ended: quit, with the answer that is owed once the desktop knows, or by itself.
type Farewell = Option<oneshot::Sender<Result<String, Failure>>>;

fn now() -> Instant {
    // The runtime's clock, which tests can stop.
    tokio::time::Instant::now().into_std()
}

/// Starts an app.
pub(super) fn spawn(pid: u32, model: Model, desk: Arc<Desk>) -> Process {
    let (requests, asked) = mpsc::unbounded_channel();
    let (controls, told) = mpsc::unbounded_channel();
    let announcer = Announcer::new(model.script().profile);
    let app = App {
        pid,
        model,
        desk: Arc::clone(&desk),
        announcer,
        observers: Vec::new(),
        listeners: Vec::new(),
        late: VecDeque::new(),
        faults: Faults::default(),
        slowly: None,
        owed: Vec::new(),
    };
    tokio::spawn(async move {
        let farewell = app.run(asked, told).await;
        desk.ended(pid);
        if let Some(answer) = farewell {
            let _ = answer.send(Ok("ended".to_owned()));
        }
    });
    Process { requests, controls, late: Arc::default() }
}

/// The windows of an app, front to back, as the window system sees them.
pub(super) fn windows_of(pid: u32, model: &Model) -> Vec<DesktopWindow> {
    let mut seen = Vec::new();
    for window in model.windows().iter().copied() {
        let bounds = model.window_bounds(window);
        let Some(widget) = model.widget(window) else { continue };
        let title = widget.name.clone().unwrap_or_default();
        let Frame { minimized, before } = model.frame(window);
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

impl App {
    async fn run(
        mut self,
        mut requests: mpsc::UnboundedReceiver<Request>,
        mut controls: mpsc::UnboundedReceiver<Control>,
    ) -> Farewell {
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
                    Some(control) => self.obey(control).await,
                },
                Some(request) = requests.recv(), if !hangs && self.slowly.is_none() => self.take(request),
                () = tokio::time::sleep_until(due.unwrap_or_else(now).into()), if due.is_some() && !hangs => self.tick(),
            }
        }
        None
    }

    fn next_due(&self) -> Option<Instant> {
        let late = self.late.front().map(|(due, _)| *due);
        let slowly = self.slowly.as_ref().map(|(due, _)| *due);
        let owed = self.owed.iter().filter_map(|owed| match owed.until {
            Until::Time(due) => Some(due),
            Until::Closed(_) => None,
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
        if let Some((_, request)) = self.slowly.take_if(|(due, _)| *due <= now) {
            self.answer(request);
        }
        self.pay(|until| matches!(until, Until::Time(due) if *due <= now));
    }

    /// Gives the answers that were held back until now.
    fn pay(&mut self, is_due: impl Fn(&Until) -> bool) {
        for Owed { answer, result, .. } in self.owed.extract_if(.., |owed| is_due(&owed.until)) {
            let _ = answer.send(result);
        }
    }

    async fn obey(&mut self, control: Control) {
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
                if done.is_ok() && !matches!(deed, Deed::Scroll(..)) {
                    self.desk.arrange(self.pid, windows_of(self.pid, &self.model), true);
                }
                self.publish();
                let _ = answer.send(done);
            }
            Control::Fault(fault, answer) => {
                let done = self.befall(fault).await;
                self.publish();
                let _ = answer.send(done.map_err(|text| Failure::new(FailureKind::Invalid, text)));
            }
            Control::Heal(answer) => {
                let healed = std::mem::take(&mut self.faults);
                if let Some((_, request)) = self.slowly.take() {
                    self.answer(request);
                }
                self.pay(|_| true);
                for (parent, _) in healed.claims.into_iter().chain(healed.ghosts) {
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
                    self.desk.arrange(self.pid, windows_of(self.pid, &self.model), activated);
                    self.publish();
                }
                let _ = answer.send(window.is_some());
            }
            Control::Cover(point, answer) => {
                let there = self.model.at(point).and_then(|path| self.model.widget(*path.get(1)?)?.window);
                let _ = answer.send(there);
            }
            Control::Displays(displays, answer) => {
                self.model.take_displays(&displays);
                self.desk.arrange(self.pid, windows_of(self.pid, &self.model), false);
                self.publish();
                let _ = answer.send(());
            }
            Control::Paint(answer) => {
                let _ = answer.send(sheets(&mut self.model));
            }
            Control::Overhear(mut listener) => {
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
            self.desk.arrange(self.pid, windows_of(self.pid, &self.model), false);
        }
        let model = &self.model;
        for Owed { answer, result, .. } in self.owed.extract_if(
            ..,
            |owed| matches!(owed.until, Until::Closed(window) if model.widget(window).is_none()),
        ) {
            let _ = answer.send(result);
        }
        let delay = self.announcer.delay();
        for change in changes {
            if self.faults.dropping == 0 {
                let (model, now) = (&mut self.model, now());
                self.listeners.iter_mut().for_each(|listener| (listener.0)(model, &change, now));
            }
            for notification in self.announcer.tell(&self.model, &change) {
                match delay {
                    Some(delay) => self.late.push_back((now() + delay, notification)),
                    None => self.emit(notification),
                }
            }
        }
    }

    /// Lets somebody look inside.
    fn show(&mut self, visit: Visit) {
        let Faults { claims, ghosts, .. } = &mut self.faults;
        (visit.0)(Inside { model: &mut self.model, claims, ghosts, now: now() });
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
