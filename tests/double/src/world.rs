//! The world that the C functions look into: the scripted apps of a built-in desktop, what goes wrong with them on
//! request, and what was asked of them.
//!
//! C functions have no context, so there is one world at a time in a process; who starts the next waits for the last
//! to end.

use std::collections::{BTreeSet, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Weak;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use axd_platform::{DesktopEvent, Platform};
use axd_sim::{Inspection, Inspector, SimCommand, SimDesktop, SimOptions, SimVerb};
use parking_lot::{Condvar, Mutex, RwLock};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};

use crate::appkit::HostSide;
use crate::ax::notify::Teller;
use crate::ax::{self, Enhanced, Error, Graft, Observer, Pages, Standing, Wakes};
use crate::cg::{InputSide, Swallows};
use crate::clock::Clock;
use crate::faults::Faults;
use crate::trace::Trace;

static CURRENT: RwLock<Option<Arc<Inner>>> = RwLock::new(None);
static TAKEN: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// A world, for as long as it is held.
pub struct World {
    inner: Arc<Inner>,
    runtime: Option<Runtime>,
}

/// What the C functions see of the world.
pub(crate) struct Inner {
    pub sim: SimDesktop,
    pub settings: Mutex<Settings>,
    pub faults: Faults,
    pub trace: Trace,
    pub observers: Mutex<Vec<Weak<Observer>>>,
    /// The apps that show the inside of their web pages only when asked to.
    pub pages: Mutex<HashMap<u32, Pages>>,
    /// What they do for screen readers, by process.
    pub enhanced: Mutex<HashMap<u32, Enhanced>>,
    /// Counts the moves of windows that are animated.
    pub moving: Mutex<HashMap<u64, u64>>,
    pub clock: Clock,
    /// The apps that switched secure input on.
    pub secured: Mutex<BTreeSet<u32>>,
    /// The parts of processes that are shown in others.
    pub grafts: Mutex<Vec<Graft>>,
    pub host: HostSide,
    pub input: InputSide,
    pub runtime: tokio::runtime::Handle,
}

/// What a person can change in the system's settings, and how the system is.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether this process may use the accessibility interface.
    pub trusted: bool,
    /// Whether it may take pictures of the screen, and read the titles of windows.
    pub may_capture: bool,
    /// Which keys that are made by programs are lost while secure input is on.
    pub secure_input_swallows: Swallows,
    /// Whether ScreenCaptureKit is there to take pictures.
    pub screen_capture_kit: bool,
    /// After being asked so many times the user allows the accessibility interface.
    pub says_yes_after: Option<u32>,
    /// How long a call waits for an app, if that was set for all.
    pub(crate) patience: Option<f32>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            trusted: true,
            may_capture: true,
            secure_input_swallows: Swallows::Nothing,
            screen_capture_kit: false,
            says_yes_after: None,
            patience: None,
        }
    }
}

impl World {
    /// Starts the apps.
    ///
    /// # Panics
    /// If the system gives no threads.
    pub fn start(options: SimOptions) -> World {
        let mut taken = TAKEN.0.lock();
        while *taken {
            TAKEN.1.wait(&mut taken);
        }
        *taken = true;
        drop(taken);
        let runtime =
            Builder::new_multi_thread().worker_threads(2).thread_name("double").enable_all().build();
        let runtime = runtime.expect("the system gives threads");
        axd_macos::appkit::install(&crate::appkit::APPKIT);
        let sim = SimDesktop::new(options);
        let inner = Arc::new(Inner {
            sim,
            settings: Mutex::default(),
            faults: Faults::default(),
            trace: Trace::default(),
            observers: Mutex::default(),
            pages: Mutex::default(),
            enhanced: Mutex::default(),
            moving: Mutex::default(),
            clock: Clock::default(),
            secured: Mutex::default(),
            grafts: Mutex::default(),
            host: HostSide::default(),
            input: InputSide::start(runtime.handle()),
            runtime: runtime.handle().clone(),
        });
        *CURRENT.write() = Some(Arc::clone(&inner));
        let (out, events) = mpsc::unbounded_channel();
        {
            let _inside = runtime.enter();
            inner.sim.start(out);
        }
        for app in inner.sim.apps() {
            inner.came_up(app.pid);
        }
        runtime.spawn(hear(Arc::downgrade(&inner), events));
        World { inner, runtime: Some(runtime) }
    }

    /// A world of these scripts alone.
    ///
    /// # Panics
    /// If a script is wrong.
    pub fn of(scripts: &[&str]) -> World {
        let parse = |script: &&str| match axd_sim::script::Script::parse("script", script) {
            Ok(script) => Arc::new(script),
            Err(fault) => panic!("{fault}"),
        };
        let scripts = scripts.iter().map(parse).collect();
        World::start(SimOptions { built_in: false, apps: Vec::new(), scripts })
    }

    /// The process of the app of this name.
    ///
    /// # Panics
    /// If it does not run.
    pub fn pid(&self, app: &str) -> u32 {
        let found = self.inner.sim.apps().into_iter().find(|seen| seen.name == app);
        found.unwrap_or_else(|| panic!("{app} does not run")).pid
    }

    /// What a person does, as `ax sim` says it; what came of it.
    ///
    /// # Panics
    /// If that cannot be done.
    pub fn act_as_user(&self, app: &str, verb: SimVerb, target: Option<&str>, text: Option<&str>) -> String {
        let command = SimCommand {
            app: app.to_owned(),
            verb,
            target: target.map(str::to_owned),
            text: text.map(str::to_owned),
        };
        let reply = {
            let _inside = self.inner.runtime.enter();
            self.inner.sim.run(command)
        };
        match wait(reply, Duration::from_secs(60)) {
            Waited::Answer(Ok(done)) => done,
            Waited::Answer(Err(failure)) => panic!("{app}: {failure}"),
            Waited::Ended | Waited::Silent => panic!("{app} did not answer"),
        }
    }

    /// Lets an app do something that no person does.
    ///
    /// # Panics
    /// If the app does not run, or hangs.
    pub fn inspect<T: Send + 'static>(
        &self,
        app: &str,
        visit: impl FnOnce(Inspection<'_>) -> T + Send + 'static,
    ) -> T {
        let reach = self.inner.sim.inspector(self.pid(app)).expect("it runs");
        match wait(reach.inspect(visit), Duration::from_secs(60)) {
            Waited::Answer(done) => done,
            Waited::Ended | Waited::Silent => panic!("{app} did not answer"),
        }
    }

    /// Changes the system's settings.
    pub fn settings<T>(&self, change: impl FnOnce(&mut Settings) -> T) -> T {
        change(&mut self.inner.settings.lock())
    }

    /// What goes wrong on request.
    pub fn faults(&self) -> &Faults {
        &self.inner.faults
    }

    /// What is asked of the apps.
    pub fn trace(&self) -> &Trace {
        &self.inner.trace
    }

    /// What was put in by mouse and keyboard.
    pub fn input(&self) -> &InputSide {
        &self.inner.input
    }

    /// A person hides an app.
    pub fn hide(&self, app: &str) {
        self.inner.hide(self.pid(app), true);
    }

    /// A person shows an app again, behind the others.
    pub fn show(&self, app: &str) {
        self.inner.hide(self.pid(app), false);
    }

    /// Whether an app is hidden.
    pub fn is_hidden(&self, app: &str) -> bool {
        self.inner.sim.is_hidden(self.pid(app))
    }

    /// The machine sleeps and wakes: whoever observed anything is told nothing any more, and not told so.
    pub fn sleep(&self) {
        self.inner.host.will_sleep();
        for observer in self.inner.observers() {
            observer.forget_all();
        }
        self.inner.host.did_wake();
    }

    /// How many observers there are, and for how many notifications they asked.
    pub fn observed(&self) -> (usize, usize) {
        let observers = self.inner.observers();
        (observers.len(), observers.iter().map(|observer| observer.registered()).sum())
    }

    /// How many observers of a process there are, whether it runs or not.
    pub fn observers_of(&self, pid: u32) -> usize {
        self.inner.observers().iter().filter(|observer| observer.is_of(pid)).count()
    }

    /// Posts a notification about a widget as its app would.
    pub fn post(&self, app: &str, widget: Option<&str>, notification: &str) {
        let widget = widget.map(str::to_owned);
        let handle = self.inspect(app, move |inside| widget.and_then(|id| inside.model.find(&id)));
        let id = handle.map_or(ax::Id::APP, ax::Id::of);
        self.inner.post(self.pid(app), &ax::notify::News::plain(notification, id));
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    pub(crate) fn shared(&self) -> Arc<Inner> {
        Arc::clone(&self.inner)
    }

    /// The scripted desktop.
    pub fn sim(&self) -> &SimDesktop {
        &self.inner.sim
    }
}

impl Drop for World {
    fn drop(&mut self) {
        *CURRENT.write() = None;
        self.inner.host.end();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        *TAKEN.0.lock() = false;
        TAKEN.1.notify_all();
    }
}

/// The world there is, if any.
pub(crate) fn current() -> Option<Arc<Inner>> {
    CURRENT.read().clone()
}

impl Inner {
    /// Does something inside an app, and waits for it as long as a message would.
    pub(crate) fn visit<T: Send + 'static>(
        &self,
        pid: u32,
        patience: Duration,
        visit: impl FnOnce(Inspection<'_>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        // Nobody is at the other end of the message.
        let reach = self.sim.inspector(pid).ok_or(Error::CannotComplete)?;
        match wait(reach.inspect(visit), patience) {
            Waited::Answer(done) => Ok(done),
            Waited::Ended | Waited::Silent => Err(Error::CannotComplete),
        }
    }

    /// A way to an app.
    pub(crate) fn reach(&self, pid: u32) -> Result<Inspector, Error> {
        self.sim.inspector(pid).ok_or(Error::CannotComplete)
    }

    /// How the desktop has an app.
    pub(crate) fn standing(&self, pid: u32) -> Standing {
        let pages = self.pages.lock().get(&pid).copied();
        Standing {
            shown: pages.map(|pages| pages.shown),
            manual: pages.is_some_and(|pages| pages.wakes == Wakes::Manual),
            enhanced: self.is_enhanced(pid),
            frontmost: self.sim.active().0 == Some(pid),
            hidden: self.sim.is_hidden(pid),
        }
    }

    /// Hides an app, or shows it again.
    pub(crate) fn hide(&self, pid: u32, hidden: bool) {
        self.sim.hide(pid, hidden);
        self.host.look_who_hides(self);
    }

    /// How long a message waits.
    pub(crate) fn patience(&self, own: Option<f32>) -> Duration {
        const USUALLY: f32 = 6.0;
        let seconds = own.filter(|own| *own > 0.0).or(self.settings.lock().patience).unwrap_or(USUALLY);
        Duration::try_from_secs_f32(seconds).unwrap_or(Duration::from_secs(6))
    }

    pub(crate) fn observers(&self) -> Vec<Arc<Observer>> {
        let mut observers = self.observers.lock();
        observers.retain(|observer| observer.strong_count() > 0);
        observers.iter().filter_map(Weak::upgrade).collect()
    }

    /// Tells whoever observes the app.
    pub(crate) fn post(&self, pid: u32, news: &ax::notify::News) {
        for observer in self.observers() {
            observer.tell(pid, news);
        }
    }

    fn came_up(self: &Arc<Inner>, pid: u32) {
        let Some(reach) = self.sim.inspector(pid) else { return };
        let world = Arc::downgrade(self);
        let mut teller = Teller::default();
        reach.subscribe(move |model, change, _| {
            let Some(world) = world.upgrade() else { return };
            for news in teller.tell(model, change) {
                world.post(pid, &news);
            }
        });
        let apps = self.sim.apps();
        let identity = apps.iter().find(|app| app.pid == pid).map_or("", |app| &app.identity);
        let wakes = [("electron", Wakes::Manual), ("chromium", Wakes::Enhanced)];
        if let Some((_, wakes)) = wakes.into_iter().find(|(kind, _)| identity.contains(kind)) {
            self.pages.lock().insert(pid, Pages::new(wakes));
        }
    }
}

/// Takes in what the desktop tells.
async fn hear(world: Weak<Inner>, mut events: mpsc::UnboundedReceiver<DesktopEvent>) {
    let mut first = true;
    while let Some(event) = events.recv().await {
        let Some(world) = world.upgrade() else { return };
        match &event {
            DesktopEvent::AppUp(app) => {
                // Those that were there at the start have been met.
                if !first {
                    world.came_up(app.pid);
                }
            }
            DesktopEvent::AppGone { pid } => {
                world.pages.lock().remove(pid);
                world.enhanced.lock().remove(pid);
                world.secured.lock().remove(pid);
            }
            // The last of what is told at the start.
            DesktopEvent::Displays(_) => first = false,
            // Scripted apps start or are not there.
            DesktopEvent::Ended { .. } => {}
            DesktopEvent::Windows(_) | DesktopEvent::Frontmost { .. } => {}
        }
        world.host.hear(&world, &event);
    }
}

/// What came of waiting.
pub(crate) enum Waited<T> {
    Answer(T),
    /// Nobody is there to answer.
    Ended,
    /// It was not answered in time.
    Silent,
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for an answer, on whichever thread: a message to an app blocks whoever sends it, wherever that is.
pub(crate) fn wait<T>(mut reply: oneshot::Receiver<T>, patience: Duration) -> Waited<T> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let deadline = Instant::now() + patience;
    loop {
        match Pin::new(&mut reply).poll(&mut context) {
            Poll::Ready(Ok(answer)) => return Waited::Answer(answer),
            Poll::Ready(Err(_)) => return Waited::Ended,
            Poll::Pending => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Waited::Silent;
                }
                std::thread::park_timeout(left);
            }
        }
    }
}
