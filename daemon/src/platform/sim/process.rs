//! An app as a process of its own: it answers calls, tells its observers what happens, and can hang, crawl or die.
//!
//! It is a task behind channels, as a real app is a process behind an accessibility API: nothing of its model is
//! reached any other way, and calls that it does not answer are the caller's to give up on.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axd_protocol::{Point, State};
use tokio::sync::{mpsc, oneshot};

use super::announce::{Announcer, Notification};
use super::desktop::Desk;
use super::fault::{Fault, is_inside, victim};
use super::model::{Change, Deed, Handle, Model, Place, Widget};
use crate::platform::{Facts, Failure, FailureKind, WindowSeen};

/// An element as the app tells it to who asks.
#[derive(Debug)]
pub(super) struct Native {
    pub facts: Facts,
    pub children: Vec<Handle>,
    pub total: Option<u32>,
}

/// What anybody can ask of an app.
#[derive(Debug)]
pub(super) enum Request {
    /// To be told of what happens from now on.
    Observe(mpsc::UnboundedSender<Notification>, oneshot::Sender<()>),
    /// To put a marker into what an observer is told.
    Mark(u64, mpsc::UnboundedSender<Notification>),
    Read(Vec<Handle>, oneshot::Sender<Vec<Option<Native>>>),
    Measure(Vec<Handle>, oneshot::Sender<Vec<Option<Place>>>),
    At(Point, oneshot::Sender<Option<Vec<Handle>>>),
    Path(Handle, oneshot::Sender<Option<Vec<Handle>>>),
    Front(oneshot::Sender<Option<Handle>>),
}

/// What the hand outside does; it gets through to an app that hangs.
#[derive(Debug)]
pub(super) enum Control {
    Act(Deed, oneshot::Sender<Result<String, Failure>>),
    Fault(Fault, oneshot::Sender<Result<String, Failure>>),
    Heal(oneshot::Sender<Result<String, Failure>>),
    Quit(oneshot::Sender<Result<String, Failure>>),
}

/// The ends of an app's channels.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pub requests: mpsc::UnboundedSender<Request>,
    pub controls: mpsc::UnboundedSender<Control>,
}

/// The app's side.
pub(super) struct App {
    pid: u32,
    model: Model,
    desk: Arc<Desk>,
    announcer: Announcer,
    observers: Vec<mpsc::UnboundedSender<Notification>>,
    /// What a late app will tell, and when.
    late: VecDeque<(Instant, Notification)>,
    faults: Faults,
    /// What a slow app is about to answer, and when.
    slowly: Option<(Instant, Request)>,
}

#[derive(Debug, Default)]
struct Faults {
    hangs: bool,
    slow: Duration,
    /// How many announcements are still to be lost.
    dropping: u64,
    /// Children claimed beyond the true ones: cycles and second parents.
    claims: Vec<(Handle, Handle)>,
    /// Elements that are listed under a parent and dead when they are read.
    ghosts: Vec<(Handle, Handle)>,
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
        late: VecDeque::new(),
        faults: Faults::default(),
        slowly: None,
    };
    tokio::spawn(async move {
        let farewell = app.run(asked, told).await;
        desk.ended(pid);
        if let Some(answer) = farewell {
            let _ = answer.send(Ok("ended".to_owned()));
        }
    });
    Process { requests, controls }
}

/// The windows of an app, front to back, as the window system sees them.
pub(super) fn windows_of(pid: u32, model: &mut Model) -> Vec<WindowSeen> {
    let mut seen = Vec::new();
    for window in model.windows().to_vec() {
        let bounds = model.window_bounds(window);
        let Some(widget) = model.widget(window) else { continue };
        let title = widget.name.clone().unwrap_or_default();
        seen.extend(widget.window.map(|window| WindowSeen {
            window,
            pid,
            title,
            bounds,
            minimized: false,
            maximized: false,
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
        loop {
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
    }

    fn next_due(&self) -> Option<Instant> {
        let late = self.late.front().map(|(due, _)| *due);
        let slowly = self.slowly.as_ref().map(|(due, _)| *due);
        late.into_iter().chain(slowly).chain(self.model.next_due()).min()
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
    }

    async fn obey(&mut self, control: Control) {
        match control {
            Control::Act(deed, answer) => {
                let done = if self.faults.hangs {
                    let name = &self.model.script().name;
                    let text = format!("{name} hangs; `ax sim {name} heal` wakes it");
                    Err(Failure::new(FailureKind::Unresponsive, text))
                } else {
                    let refused =
                        |refusal: super::model::Refusal| Failure::new(FailureKind::Invalid, refusal.0);
                    self.model.act(&deed, now()).map_err(refused)
                };
                if done.is_ok() && !matches!(deed, Deed::Scroll(..)) {
                    self.desk.arrange(self.pid, windows_of(self.pid, &mut self.model), true);
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
                for (parent, _) in healed.claims.into_iter().chain(healed.ghosts) {
                    self.emit(Notification::Structure(parent));
                }
                let _ = answer.send(Ok("healed".to_owned()));
            }
            // Ends the loop before it comes here.
            Control::Quit(_) => {}
        }
    }

    /// Tells of what changed, as far as this app tells anything.
    fn publish(&mut self) {
        let changes = self.model.take_changes();
        if changes.contains(&Change::Windows) {
            self.desk.arrange(self.pid, windows_of(self.pid, &mut self.model), false);
        }
        let delay = self.announcer.delay();
        for change in changes {
            for notification in self.announcer.tell(&self.model, &change) {
                match delay {
                    Some(delay) => self.late.push_back((now() + delay, notification)),
                    None => self.emit(notification),
                }
            }
        }
    }

    fn emit(&mut self, notification: Notification) {
        if self.faults.dropping > 0 {
            self.faults.dropping -= 1;
            return;
        }
        self.observers.retain(|observer| observer.send(notification.clone()).is_ok());
    }

    /// Answers a request, or begins to.
    fn take(&mut self, request: Request) {
        if request.is_given_up() {
            return;
        }
        if self.faults.slow > Duration::ZERO {
            self.slowly = Some((now() + self.faults.slow, request));
        } else {
            self.answer(request);
        }
    }

    fn answer(&mut self, request: Request) {
        match request {
            Request::Observe(observer, answer) => {
                // Who gave up asks again, and must not be told everything twice.
                if answer.send(()).is_ok() {
                    self.observers.push(observer);
                }
            }
            Request::Mark(mark, observer) => {
                let _ = observer.send(Notification::Marker(mark));
            }
            Request::Read(elements, answer) => {
                let read = elements.into_iter().map(|element| self.read(element)).collect();
                let _ = answer.send(read);
            }
            Request::Measure(elements, answer) => {
                let places = elements.into_iter().map(|element| self.model.place(element)).collect();
                let _ = answer.send(places);
            }
            Request::At(point, answer) => {
                let _ = answer.send(self.model.at(point));
            }
            Request::Path(element, answer) => {
                let _ = answer.send(self.model.path(element));
            }
            Request::Front(answer) => {
                let _ = answer.send(self.model.windows().first().copied());
            }
        }
    }

    fn read(&mut self, element: Handle) -> Option<Native> {
        self.faults.ghosts.retain(|(_, ghost)| *ghost != element);
        let widget = self.model.widget(element)?;
        let mut children = widget.children.clone();
        let claimed = self.faults.claims.iter().chain(&self.faults.ghosts);
        children.extend(claimed.filter(|(parent, _)| *parent == element).map(|(_, child)| *child));
        let is_secure = widget.states.has(State::Secure);
        let facts = Facts {
            role: widget.role,
            native_role: widget.native_role.clone(),
            name: widget.name.clone().filter(|name| !name.is_empty()),
            // As real toolkits do: who asks for the value of a secure field gets none.
            value: widget.value.clone().filter(|_| !is_secure),
            description: widget.description.clone(),
            identifier: widget.id.clone(),
            states: widget.states,
            actions: widget.actions(),
            row: widget.row,
            window: widget.window,
        };
        Some(Native { facts, children, total: widget.total() })
    }

    async fn befall(&mut self, fault: Fault) -> Result<String, String> {
        let has_value = |model: &Model, handle| {
            let widget = model.widget(handle);
            widget.is_some_and(|widget| widget.value.is_some() && !widget.states.has(State::Secure))
        };
        let is_leaf = |model: &Model, handle: Handle| {
            is_inside(model, handle) && model.widget(handle).is_some_and(|widget| widget.children.is_empty())
        };
        let is_deep = |model: &Model, handle: Handle| model.path(handle).is_some_and(|path| path.len() > 3);
        let called = |model: &Model, handle| model.widget(handle).map(Widget::called).unwrap_or_default();
        Ok(match fault {
            Fault::DropEvents(count) => {
                self.faults.dropping = count.unwrap_or(u64::MAX);
                match count {
                    Some(count) => format!("the next {count} announcements are lost"),
                    None => "announces nothing until it is healed".to_owned(),
                }
            }
            Fault::Hang => {
                self.faults.hangs = true;
                "hangs until it is healed".to_owned()
            }
            Fault::Slow(millis) => {
                self.faults.slow = Duration::from_millis(millis);
                format!("takes {millis} ms longer for every call")
            }
            Fault::Huge(rows) => {
                self.model.grow(rows);
                format!("has a list of {rows} items more")
            }
            Fault::Flood(widget, count) => {
                let victim = victim(&self.model, widget.as_deref(), has_value)?;
                for turn in 1..=count {
                    self.model.set_value(victim, turn.to_string());
                    self.publish();
                    // Observers take in meanwhile what they are told, as they could of a real app.
                    if turn % 64 == 0 {
                        tokio::task::yield_now().await;
                    }
                }
                format!("changed {} {count} times", called(&self.model, victim))
            }
            Fault::Reparent(names) => {
                let (widget, into) = names.unzip();
                let moved = victim(&self.model, widget.as_deref(), is_deep)?;
                let window = self.model.window_of(moved).unwrap_or(Handle::APP);
                let into = into.map_or(Ok(window), |into| victim(&self.model, Some(&into), is_inside))?;
                let (what, place) = (called(&self.model, moved), called(&self.model, into));
                if !self.model.move_to(moved, into, None) {
                    return Err(format!("{what} cannot be moved into {place}"));
                }
                format!("moved {what} into {place}")
            }
            Fault::Cycle(widget) => {
                let victim = victim(&self.model, widget.as_deref(), is_leaf)?;
                let window = self.model.window_of(victim).unwrap_or(Handle::APP);
                self.claim(victim, window);
                format!("{} claims its own window as a child", called(&self.model, victim))
            }
            Fault::DoubleParent(widget) => {
                let victim = victim(&self.model, widget.as_deref(), is_deep)?;
                let window = self.model.window_of(victim).unwrap_or(Handle::APP);
                self.claim(window, victim);
                format!("{} is claimed by its window too", called(&self.model, victim))
            }
            Fault::Vanish(count) => {
                let window = self.model.windows().first().copied().unwrap_or(Handle::APP);
                for _ in 0..count {
                    let ghost = self.model.reserve();
                    self.faults.ghosts.push((window, ghost));
                }
                self.emit(Notification::Structure(window));
                format!("{} lists {count} elements that are dead", called(&self.model, window))
            }
            // Ends the loop before it comes here.
            Fault::Die => "ended".to_owned(),
        })
    }

    fn claim(&mut self, parent: Handle, child: Handle) {
        self.faults.claims.push((parent, child));
        self.emit(Notification::Structure(parent));
    }
}

impl Request {
    /// Whether who asked has stopped waiting.
    fn is_given_up(&self) -> bool {
        match self {
            Request::Observe(_, answer) => answer.is_closed(),
            Request::Mark(_, observer) => observer.is_closed(),
            Request::Read(_, answer) => answer.is_closed(),
            Request::Measure(_, answer) => answer.is_closed(),
            Request::At(_, answer) | Request::Path(_, answer) => answer.is_closed(),
            Request::Front(answer) => answer.is_closed(),
        }
    }
}
