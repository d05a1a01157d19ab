//! Access for other test doubles to the scripted apps: they run code inside of an app, subscribe to its changes, and
//! read the state of the session. What an app announces and answers is then up to the double.

use std::fmt;
use std::time::Instant;

use axd_protocol::DisplayInfo;
use tokio::sync::oneshot;

use super::SimDesktop;
use super::model::{Change, Handle, Model};
use super::process::{Control, Process, Request};
use axd_platform::worker::{AppHandle, AppRequest};
use axd_platform::{DesktopWindow, InputStep, RunningApp};

/// The inside of an app, as an inspection sees it.
pub struct Inspection<'a> {
    /// The model of the app.
    pub model: &'a mut Model,
    /// Children that widgets claim falsely, as pairs of parent and child.
    pub claims: &'a [(Handle, Handle)],
    /// Children that are listed but no longer exist, as pairs of parent and child. Whoever reads one removes it from here.
    pub stale_children: &'a mut Vec<(Handle, Handle)>,
    /// The current time of the app.
    pub now: Instant,
}

/// A function to run inside an app.
pub(super) struct InspectFn(pub Box<dyn FnOnce(Inspection<'_>) + Send>);

impl fmt::Debug for InspectFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Visit")
    }
}

/// A function that is called with every change.
type ChangeCallback = dyn FnMut(&mut Model, &Change, Instant) + Send;

/// A subscriber to all changes of an app.
pub(super) struct ChangeListener(pub Box<ChangeCallback>);

impl fmt::Debug for ChangeListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// Access to a running app.
#[derive(Debug, Clone)]
pub struct Inspector(Process);

impl Inspector {
    /// Runs a function inside the app, after the requests before it: in an app that hangs it runs when that wakes. Changes
    /// that it makes are announced. The receiver fails if the app has ended.
    pub fn inspect<T: Send + 'static>(
        &self,
        inspect: impl FnOnce(Inspection<'_>) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (answer, reply) = oneshot::channel();
        let inspect = InspectFn(Box::new(move |inside| {
            // The caller may have stopped waiting.
            let _ = answer.send(inspect(inside));
        }));
        // If this fails, the app has ended, and the receiver fails too.
        let _ = self.0.requests.send(Request::Inspect(inspect));
        reply
    }

    /// Subscribes to all changes from now on, except those that a fault drops. The first change stands for the windows as
    /// they are.
    pub fn subscribe(&self, listener: impl FnMut(&mut Model, &Change, Instant) + Send + 'static) {
        let _ = self.0.controls.send(Control::Subscribe(ChangeListener(Box::new(listener))));
    }

    /// Sends a request as a worker does; false if the app has ended.
    pub fn ask(&self, call: AppRequest) -> bool {
        self.0.ask(call)
    }
}

impl SimDesktop {
    /// Access to the app of a process.
    pub fn inspector(&self, pid: u32) -> Option<Inspector> {
        self.session().process(pid).map(Inspector)
    }

    /// The running apps, in the order they were started.
    pub fn apps(&self) -> Vec<RunningApp> {
        self.session().apps()
    }

    /// The identities and names of the installed apps, running or not.
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

    /// Sends the keys of these steps to one app, whichever is in front. All other steps are ignored.
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

    /// Sets the click count of the next press of a button, instead of deriving it from the time between presses.
    pub fn count_next_click(&self, count: u32) {
        self.session().input_state.lock().count_next_click(count);
    }
}
