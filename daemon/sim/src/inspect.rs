//! How another double reaches the scripted apps: it looks inside them in their own time, is told all that changes, and
//! sees what the desk sees. What an app tells and answers to the outside is then the double's business.

use std::fmt;
use std::time::Instant;

use axd_protocol::DisplayInfo;
use tokio::sync::oneshot;

use super::SimDesktop;
use super::model::{Change, Handle, Model};
use super::process::{Control, Process, Request};
use axd_platform::worker::{AppHandle, AppRequest};
use axd_platform::{DesktopWindow, InputStep, RunningApp};

/// What a visitor of an app sees.
pub struct Inspection<'a> {
    /// The app.
    pub model: &'a mut Model,
    /// What widgets claim as their children that is not: parent and child.
    pub claims: &'a [(Handle, Handle)],
    /// What is listed and dead: parent and child. Who reads one takes it out.
    pub stale_children: &'a mut Vec<(Handle, Handle)>,
    /// The app's time.
    pub now: Instant,
}

/// Something to be done inside an app.
pub(super) struct InspectFn(pub Box<dyn FnOnce(Inspection<'_>) + Send>);

impl fmt::Debug for InspectFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Visit")
    }
}

/// What is called with all that changes.
type ChangeCallback = dyn FnMut(&mut Model, &Change, Instant) + Send;

/// Someone who is told all that changes.
pub(super) struct ChangeListener(pub Box<ChangeCallback>);

impl fmt::Debug for ChangeListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// A way to a running app.
#[derive(Debug, Clone)]
pub struct Inspector(Process);

impl Inspector {
    /// Does something inside the app when its turn comes: an app that hangs lets nobody in until it wakes. Whatever
    /// comes of it is told. The receiver fails if the app has ended.
    pub fn inspect<T: Send + 'static>(
        &self,
        visit: impl FnOnce(Inspection<'_>) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (answer, reply) = oneshot::channel();
        let visit = InspectFn(Box::new(move |inside| {
            // Whoever asked may have given up.
            let _ = answer.send(visit(inside));
        }));
        // If this fails the app has ended, and so does the receiver.
        let _ = self.0.requests.send(Request::Inspect(visit));
        reply
    }

    /// Has everything that changes told from now on, but for what is lost by a fault. Begins with the windows as they
    /// are.
    pub fn subscribe(&self, listener: impl FnMut(&mut Model, &Change, Instant) + Send + 'static) {
        let _ = self.0.controls.send(Control::Subscribe(ChangeListener(Box::new(listener))));
    }

    /// Asks what a worker asks; false if the app has ended.
    pub fn ask(&self, question: AppRequest) -> bool {
        self.0.ask(question)
    }
}

impl SimDesktop {
    /// A way to the app of this process.
    pub fn inspector(&self, pid: u32) -> Option<Inspector> {
        self.session().process(pid).map(Inspector)
    }

    /// The apps that run, those that were started first before others.
    pub fn apps(&self) -> Vec<RunningApp> {
        self.session().apps()
    }

    /// The identities and names of the apps there are, running or not.
    pub fn installed(&self) -> Vec<(String, String)> {
        let scripts = self.session().scripts.iter();
        scripts.map(|script| (script.identity.clone(), script.name.clone())).collect()
    }

    /// The windows, front to back.
    pub fn windows(&self) -> Vec<DesktopWindow> {
        self.session().windows()
    }

    /// The active app and window.
    pub fn active(&self) -> (Option<u32>, Option<u64>) {
        self.session().active()
    }

    /// The displays, the main one first.
    pub fn displays(&self) -> Vec<DisplayInfo> {
        self.session().displays()
    }

    /// Gives the desktop other displays, the main one first. Windows that are on none of them come to the main one.
    pub async fn set_displays(&self, displays: Vec<DisplayInfo>) {
        self.session().set_displays(displays).await;
    }

    /// Has the keys of these steps go to one app, whichever is in front. What else is in them goes nowhere.
    pub async fn type_to(&self, pid: u32, steps: Vec<InputStep>) {
        self.session().type_to(pid, steps).await;
    }

    /// Hides an app with all its windows, or shows it again, behind the others.
    pub fn hide(&self, pid: u32, hidden: bool) {
        self.session().hide(pid, hidden);
    }

    /// Whether an app is hidden. Coming to the front shows it.
    pub fn is_hidden(&self, pid: u32) -> bool {
        self.session().is_hidden(pid)
    }

    /// Says which click in a row the next press of a button is, where that is not to be told by the time between.
    pub fn count_next_click(&self, count: u32) {
        self.session().input_state.lock().count_next_click(count);
    }
}
