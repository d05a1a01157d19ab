//! A desktop of two apps that does what a test says, when the test says it. Time is tokio's alone, so what a test measures is
//! exact.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use axd_protocol::command::Finding;
use axd_protocol::{Bounds, Point, Role, States};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep};

use axd_platform::{
    Act, Batch, CaptureTarget, CapturedImage, Cause, ClipboardContent, ClipboardKind, Counters, DesktopEvent,
    DesktopWindow, ElementKey, Facts, Failure, FailureKind, Gate, Input, InputStep, LaunchPlan, Launched,
    Measured, Platform, Receiver, Reply, Responder, RunningApp, Stretch, Update, WindowOp, WorkerEvent,
    WorkerHandle, WorkerRequest,
};

/// The apps. Both have one window with a button and a label, at the same place of the screen.
pub(crate) const NOTES: u32 = 7;
pub(crate) const MAIL: u32 = 8;

const WINDOW: ElementKey = ElementKey(1);
pub(crate) const BUTTON: ElementKey = ElementKey(2);
pub(crate) const LABEL: ElementKey = ElementKey(3);

const WINDOW_BOUNDS: Bounds = Bounds { x: 0, y: 0, width: 400, height: 300 };
const BUTTON_BOUNDS: Bounds = Bounds { x: 100, y: 100, width: 40, height: 20 };
pub(crate) const BUTTON_CENTER: Point = Point { x: 120, y: 110 };

/// A desktop for tests. Clones are the same desktop.
#[derive(Clone)]
pub(crate) struct FakeDesktop(Arc<Mutex<FakeState>>);

pub(crate) struct FakeState {
    started: Instant,
    events: Option<mpsc::UnboundedSender<DesktopEvent>>,
    workers: BTreeMap<u32, mpsc::Sender<WorkerEvent>>,
    /// The window that is in front.
    pub front: u64,
    /// The window that covers the one in front, if there is one. `WindowOp::Insist` removes it, unless it stays.
    pub cover: Option<Receiver>,
    pub cover_stays: bool,
    /// The bounds of the button, and whether it is visible.
    pub place: (Option<Bounds>, bool),
    /// Whether the button becomes visible when its app is asked to scroll to it.
    pub scrolls: bool,
    /// The element that hit tests find.
    pub hit: ElementKey,
    /// What is there once the pointer has been moved.
    pub hit_after_move: Option<ElementKey>,
    /// Whether the apps are known to act late.
    pub acts_late: bool,
    /// From this number of fences on, none is answered.
    pub answered_fences: usize,
    /// The fence that finds a change of the label.
    pub fence_with_change: Option<usize>,
    /// Kept, because a dropped responder tells the caller that the app has ended.
    unanswered: Vec<Responder<()>>,
    pub fences: usize,
    /// How long the apps take to confirm a press, and the desktop to send input.
    pub press_takes: Duration,
    pub input_takes: Duration,
    /// Whether buttons can be pressed by their app.
    pub presses: bool,
    pub watched: BTreeSet<u64>,
    /// The titles of windows that were renamed.
    titles: BTreeMap<u32, String>,
    /// What was done, with the milliseconds since the start.
    done: Vec<(u128, String)>,
    changes: usize,
}

impl FakeDesktop {
    /// Where the button is, unless a test says otherwise.
    pub const PLACE: (Option<Bounds>, bool) = (Some(BUTTON_BOUNDS), true);

    pub fn new() -> FakeDesktop {
        FakeDesktop(Arc::new(Mutex::new(FakeState {
            started: Instant::now(),
            events: None,
            workers: BTreeMap::new(),
            front: window_of(NOTES),
            cover: None,
            cover_stays: false,
            place: FakeDesktop::PLACE,
            scrolls: false,
            hit: BUTTON,
            hit_after_move: None,
            acts_late: false,
            answered_fences: usize::MAX,
            fence_with_change: None,
            unanswered: Vec::new(),
            fences: 0,
            press_takes: Duration::ZERO,
            input_takes: Duration::ZERO,
            presses: true,
            watched: BTreeSet::new(),
            titles: BTreeMap::new(),
            done: Vec::new(),
            changes: 0,
        })))
    }

    pub fn state(&self) -> MutexGuard<'_, FakeState> {
        self.0.lock()
    }

    /// What was done so far, in order.
    pub fn done(&self) -> Vec<String> {
        self.state().done.iter().map(|(_, what)| what.clone()).collect()
    }

    /// What was done so far, each with when, in milliseconds since the start.
    pub fn timeline(&self) -> Vec<String> {
        self.state().done.iter().map(|(at, what)| format!("{at}: {what}")).collect()
    }

    /// Changes the label of an app, which its worker reports.
    pub fn change_label(&self, pid: u32) {
        self.state().change_label(pid);
    }

    /// Changes the states of an app's button, which its worker reports.
    pub fn set_states(&self, pid: u32, states: States) {
        self.state().report(pid, vec![button(states)]);
    }

    /// Removes an app's button, which its worker reports.
    pub fn remove_button(&self, pid: u32) {
        self.state().report(pid, vec![Update::Gone(BUTTON)]);
    }

    /// Brings the window of an app to the front.
    pub fn bring_to_front(&self, pid: u32) {
        self.state().arrange(window_of(pid), WindowOp::Focus);
    }

    /// Gives an app's window a title, which its worker and the desktop report; or only one of the two.
    pub fn rename_window(&self, pid: u32, title: &str, in_tree: bool, on_desktop: bool) {
        let mut state = self.state();
        if in_tree {
            let facts = Facts {
                name: Some(title.to_owned()),
                window: Some(window_of(pid)),
                ..Facts::new(Role::Window)
            };
            state.report(pid, vec![upsert(WINDOW, facts)]);
        }
        if on_desktop {
            state.titles.insert(pid, title.to_owned());
            let windows = state.windows();
            state.announce(DesktopEvent::Windows(windows));
        }
    }

    /// Has an app announce a text, as for a screen reader.
    pub fn announce_text(&self, pid: u32, text: &str) {
        self.state().tell(pid, WorkerEvent::Announcement(text.to_owned()));
    }

    /// Ends an app, and with it all interests in it.
    pub fn end_app(&self, pid: u32) {
        let mut state = self.state();
        state.watched.clear();
        state.announce(DesktopEvent::AppGone { pid });
    }

    /// Performs a worker's request.
    fn serve(&self, pid: u32, request: WorkerRequest) {
        let mut state = self.state();
        let reply = match request {
            WorkerRequest::Walk { reply, .. }
            | WorkerRequest::Read { reply, .. }
            | WorkerRequest::Keep { reply, .. }
            | WorkerRequest::Unfold { reply, .. } => reply.with(Ok(())),
            WorkerRequest::Measure { keys, reply } => {
                let (bounds, visible) = state.place;
                let measured =
                    keys.into_iter().map(|key| Measured { key, bounds, visible, misplaced: false });
                reply.with(Ok(measured.collect()))
            }
            WorkerRequest::HitTest { reply, .. } => reply.with(Ok(Some(state.hit))),
            WorkerRequest::Fence { reply } => {
                state.fences += 1;
                if state.fences > state.answered_fences {
                    state.unanswered.push(reply);
                    return;
                }
                if state.fence_with_change == Some(state.fences) {
                    state.change_label(pid);
                }
                reply.with(Ok(()))
            }
            WorkerRequest::Perform { act, gate, reply, .. } => {
                let done = state.perform(pid, &act, &gate);
                let (takes, desktop) = (state.press_takes, self.clone());
                let reply = reply.with(done);
                if takes.is_zero() {
                    reply
                } else {
                    tokio::spawn(async move {
                        sleep(takes).await;
                        desktop.state().tell(pid, reply.into());
                    });
                    return;
                }
            }
            WorkerRequest::Watch { interest, .. } => {
                state.watched.insert(interest);
                return;
            }
            WorkerRequest::Unwatch { interest } => {
                state.watched.remove(&interest);
                return;
            }
            WorkerRequest::Look { .. } => panic!("the apps have no rows"),
        };
        state.tell(pid, reply.into());
    }

    async fn send(&self, Input { steps, judge }: Input, gate: &Gate) -> Result<Option<String>, Failure> {
        let takes = self.state().input_takes;
        let mut at = Point { x: 0, y: 0 };
        for step in steps {
            let (stretch, what) = match step {
                InputStep::Expect(stretch) => {
                    judge.decide(stretch, &self.state().receiver(stretch))?;
                    continue;
                }
                InputStep::Arrive | InputStep::Pause(_) => continue,
                InputStep::Move(to) => {
                    // As on every platform, a move is not noted as sent.
                    if gate.is_closed() {
                        return Err(Failure::closed());
                    }
                    at = to;
                    let mut state = self.state();
                    state.hit = state.hit_after_move.unwrap_or(state.hit);
                    continue;
                }
                InputStep::Key(key, down) => (Stretch::Keys, format!("{key} {}", direction(down))),
                InputStep::Button(button, down) => {
                    (Stretch::Pointer(at), format!("{button} button {}", direction(down)))
                }
                InputStep::Text(_) | InputStep::Wheel { .. } => panic!("no test does that"),
            };
            judge.decide(stretch, &self.state().receiver(stretch))?;
            gate.enter()?;
            self.state().note(what);
            if !takes.is_zero() {
                sleep(takes).await;
            }
        }
        Ok(None)
    }
}

impl FakeState {
    fn note(&mut self, what: String) {
        let at = self.started.elapsed().as_millis();
        self.done.push((at, what));
    }

    fn windows(&self) -> Vec<DesktopWindow> {
        let window = |pid| DesktopWindow {
            window: window_of(pid),
            pid,
            title: self.titles.get(&pid).map_or("Window", String::as_str).to_owned(),
            bounds: Some(WINDOW_BOUNDS),
            minimized: false,
            maximized: false,
            splash: false,
        };
        [NOTES, MAIL].map(window).to_vec()
    }

    fn announce(&self, event: DesktopEvent) {
        self.events.as_ref().expect("the desktop was started").send(event).expect("the engine listens");
    }

    fn tell(&self, pid: u32, event: WorkerEvent) {
        // The queue has room for all that a test makes it hold; the app may have been detached meanwhile.
        let _ = self.workers[&pid].try_send(event);
    }

    fn report(&self, pid: u32, updates: Vec<Update>) {
        self.tell(pid, WorkerEvent::Batch(Batch { cause: Cause::Event, updates }));
    }

    fn change_label(&mut self, pid: u32) {
        self.changes += 1;
        self.report(pid, vec![named(LABEL, Role::Text, &format!("Change {}", self.changes))]);
    }

    fn perform(&mut self, pid: u32, act: &Act, gate: &Gate) -> Result<(), Failure> {
        match act {
            Act::ScrollTo => {
                gate.enter()?;
                self.note("scroll to".to_owned());
                self.place.1 |= self.scrolls;
                Ok(())
            }
            Act::Press if self.presses => {
                gate.enter()?;
                self.note(format!("press in {}", name_of(pid)));
                Ok(())
            }
            _ => Err(Failure::new(FailureKind::NotSupported, "the button cannot do that")),
        }
    }

    fn receiver(&self, stretch: Stretch) -> Receiver {
        match (&self.cover, stretch) {
            (Some(cover), Stretch::Pointer(_)) => cover.clone(),
            _ => Receiver {
                pid: Some(pid_of(self.front)),
                window: Some(self.front),
                title: "Window".to_owned(),
                ..Receiver::default()
            },
        }
    }

    fn arrange(&mut self, window: u64, op: WindowOp) {
        self.note(format!("{op:?} {}", name_of(pid_of(window))));
        if op == WindowOp::Insist && !self.cover_stays {
            self.cover = None;
        }
        if std::mem::replace(&mut self.front, window) == window {
            return;
        }
        self.announce(DesktopEvent::Frontmost { pid: Some(pid_of(window)), window: Some(window) });
    }
}

impl Platform for FakeDesktop {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn capabilities(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn start(&self, out: mpsc::UnboundedSender<DesktopEvent>) {
        let mut state = self.state();
        state.events = Some(out);
        for pid in [NOTES, MAIL] {
            state.announce(DesktopEvent::AppUp(running_app(pid)));
        }
        let windows = state.windows();
        state.announce(DesktopEvent::Windows(windows));
        state.announce(DesktopEvent::Frontmost { pid: Some(NOTES), window: Some(window_of(NOTES)) });
    }

    fn attach(
        &self,
        app: &RunningApp,
        out: mpsc::Sender<WorkerEvent>,
        _counters: Arc<Counters>,
    ) -> WorkerHandle {
        let pid = app.pid;
        let state = &mut *self.state();
        state.workers.insert(pid, out);
        let updates = vec![
            named(ElementKey::APP, Role::Application, &app.name),
            window(pid),
            button(States::NONE),
            named(LABEL, Role::Text, "Nothing has changed"),
            children(ElementKey::APP, &[WINDOW]),
            children(WINDOW, &[BUTTON, LABEL]),
        ];
        state.tell(pid, WorkerEvent::Batch(Batch { cause: Cause::Walk, updates }));
        state.tell(pid, WorkerEvent::State { degraded: None, complete: true });
        let desktop = self.clone();
        WorkerHandle::new(move |request| {
            desktop.serve(pid, request);
            true
        })
    }

    fn acts_late(&self, _pid: u32) -> bool {
        self.state().acts_late
    }

    fn input(&self, input: Input, gate: Gate) -> Reply<Option<String>> {
        let (answer, reply) = oneshot::channel();
        let desktop = self.clone();
        tokio::spawn(async move {
            // The caller may have stopped waiting.
            let _ = answer.send(desktop.send(input, &gate).await);
        });
        reply
    }

    fn window_op(&self, window: u64, op: WindowOp, _gate: Gate) -> Reply<()> {
        self.state().arrange(window, op);
        let (answer, reply) = oneshot::channel();
        let _ = answer.send(Ok(()));
        reply
    }

    fn semantic_method(&self) -> &'static str {
        "fake"
    }

    fn input_method(&self) -> &'static str {
        "fake"
    }

    fn diagnose(&self) -> Reply<Vec<Finding>> {
        unused()
    }

    fn pointer(&self) -> Reply<Point> {
        unused()
    }

    fn launch(&self, _plan: LaunchPlan, _gate: Gate) -> Reply<Launched> {
        unused()
    }

    fn close_app(&self, _pid: u32, _force: bool, _gate: Gate) -> Reply<()> {
        unused()
    }

    fn clipboard(&self, _kind: ClipboardKind) -> Reply<Option<ClipboardContent>> {
        unused()
    }

    fn set_clipboard(&self, _content: Option<ClipboardContent>, _gate: Gate) -> Reply<()> {
        unused()
    }

    fn capture(&self, _target: CaptureTarget, _cursor: bool) -> Reply<CapturedImage> {
        unused()
    }
}

fn unused<T>() -> Reply<T> {
    panic!("no test asks for that")
}

pub(crate) fn running_app(pid: u32) -> RunningApp {
    let name = name_of(pid).to_owned();
    RunningApp { pid, identity: name.clone(), name, ..RunningApp::default() }
}

fn name_of(pid: u32) -> &'static str {
    if pid == NOTES { "Notes" } else { "Mail" }
}

pub(crate) fn window_of(pid: u32) -> u64 {
    u64::from(pid) * 10
}

fn pid_of(window: u64) -> u32 {
    if window == window_of(NOTES) { NOTES } else { MAIL }
}

fn direction(down: bool) -> &'static str {
    if down { "down" } else { "up" }
}

fn upsert(key: ElementKey, facts: Facts) -> Update {
    Update::Upsert { key, facts: Box::new(facts) }
}

fn named(key: ElementKey, role: Role, name: &str) -> Update {
    upsert(key, Facts { name: Some(name.to_owned()), ..Facts::new(role) })
}

fn window(pid: u32) -> Update {
    let facts = Facts::new(Role::Window);
    upsert(WINDOW, Facts { name: Some("Window".to_owned()), window: Some(window_of(pid)), ..facts })
}

fn button(states: States) -> Update {
    upsert(BUTTON, Facts { name: Some("Save".to_owned()), states, ..Facts::new(Role::Button) })
}

fn children(parent: ElementKey, order: &[ElementKey]) -> Update {
    Update::Children { parent, order: order.to_vec(), total: None }
}
