//! The world behind the C functions: the scripted apps of a built-in desktop, with fault injection and a trace of calls.
//!
//! C functions have no context, so a process has one world at a time; to start another one blocks until the last has
//! ended.

use std::collections::{BTreeSet, HashMap};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::Weak;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::{Duration, Instant};

use axd_macos::appkit::host::HostKeyboard;
use axd_platform::{DesktopEvent, Platform};
use axd_sim::{Inspection, Inspector, SimCommand, SimDesktop, SimOptions, SimVerb};
use parking_lot::{Condvar, Mutex, RwLock};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{mpsc, oneshot};

use crate::appkit::AppKitState;
use crate::ax::notify::NotificationSource;
use crate::ax::{self, AppState, EnabledBy, Enhanced, Error, Graft, Observer, Pages};
use crate::cg::{InputLog, LostKeys, ansi_keyboard};

use crate::clock::Clock;
use crate::faults::Faults;
use crate::manners::Manners;
use crate::trace::Trace;

static CURRENT: RwLock<Option<Arc<Inner>>> = RwLock::new(None);
static TAKEN: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

/// A world; it ends when this is dropped.
pub struct World {
    inner: Arc<Inner>,
    runtime: Option<Runtime>,
}

/// The part of the world that the C functions use.
pub(crate) struct Inner {
    pub sim: SimDesktop,
    pub settings: Mutex<Settings>,
    pub faults: Faults,
    pub trace: Trace,
    pub observers: Mutex<Vec<Weak<Observer>>>,
    /// The apps that build the trees of their web pages only on request.
    pub pages: Mutex<HashMap<u32, Pages>>,
    /// The state of `AXEnhancedUserInterface`, by process.
    pub enhanced: Mutex<HashMap<u32, Enhanced>>,
    /// Notifications that come after the answer to the next question.
    pub late: Mutex<Vec<(u32, ax::notify::Notification)>>,
    /// The apps whose windows are on a space that is not shown.
    pub elsewhere: Mutex<BTreeSet<u32>>,
    /// Which items of menus were enabled when their menu was last open.
    pub validated: Mutex<HashMap<(u32, ax::Id), bool>>,
    /// The number of the last animated move of each window.
    pub moving: Mutex<HashMap<u64, u64>>,
    pub clock: Clock,
    /// The apps that switched secure input on.
    pub secured: Mutex<BTreeSet<u32>>,
    /// The thread that is to panic.
    pub panics_on: Mutex<Option<String>>,
    /// The kinds of values that widgets have instead of plain text, by process and widget.
    pub dresses: Mutex<HashMap<(u32, String), ax::Dress>>,
    /// The part of its text areas that an app shows, by process.
    pub visible_text: Mutex<HashMap<u32, (isize, isize)>>,
    /// The parts of processes that are embedded in others.
    pub grafts: Mutex<Vec<Graft>>,
    pub host: AppKitState,
    pub input: InputLog,
    pub runtime: tokio::runtime::Handle,
}

/// The system's settings and properties.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether this process may use the accessibility API.
    pub trusted: bool,
    /// What `AXIsProcessTrusted` says. Unless a test has it otherwise, that is what was so when it was asked first, as many have found.
    pub says_trusted: Option<bool>,
    /// Whether this process may capture the screen, and read the titles of windows.
    pub may_capture: bool,
    /// What `CGPreflightScreenCaptureAccess` says, if that is not so.
    pub says_may_capture: Option<bool>,
    /// How often the system's dialogs were shown.
    pub dialogs: u32,
    /// Whether the pasteboard's content is promised by an app that hangs.
    pub pasteboard_hangs: bool,
    /// Whether the user has forbidden programs to read the pasteboard.
    pub pasteboard_denied: bool,
    /// Which synthetic keys are lost while secure input is on.
    pub secure_input_swallows: LostKeys,
    /// Whether a click arrives though its events come too soon after one another.
    pub takes_hurried_clicks: bool,
    /// The keyboard layouts: ANSI's, unless a test has others.
    pub keyboard: HostKeyboard,
    /// Whether ScreenCaptureKit exists.
    pub screen_capture_kit: bool,
    /// The number of prompts after which the user grants the accessibility permission.
    pub says_yes_after: Option<u32>,
    /// Whether the machine saves power.
    pub saves_power: bool,
    /// How apps behave.
    pub manners: Manners,
    /// What is answered when `AXEnhancedUserInterface` is set, which has its effect all the same.
    pub enhanced_answers: Option<Error>,
    /// What Electron answers when `AXManualAccessibility` is set, which has its effect all the same.
    pub manual_answers: Option<Error>,
    /// The messaging timeout in seconds, if it was set for all elements.
    pub(crate) timeout: Option<f32>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            trusted: true,
            says_trusted: None,
            may_capture: true,
            says_may_capture: None,
            dialogs: 0,
            pasteboard_hangs: false,
            pasteboard_denied: false,
            secure_input_swallows: LostKeys::Nothing,
            takes_hurried_clicks: false,
            keyboard: ansi_keyboard(),
            screen_capture_kit: false,
            says_yes_after: None,
            saves_power: false,
            manners: Manners::default(),
            enhanced_answers: Some(Error::NotImplemented),
            manual_answers: Some(Error::AttributeUnsupported),
            timeout: None,
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
            late: Mutex::default(),
            elsewhere: Mutex::default(),
            validated: Mutex::default(),
            moving: Mutex::default(),
            clock: Clock::default(),
            secured: Mutex::default(),
            panics_on: Mutex::default(),
            dresses: Mutex::default(),
            visible_text: Mutex::default(),
            grafts: Mutex::default(),
            host: AppKitState::default(),
            input: InputLog::start(runtime.handle()),
            runtime: runtime.handle().clone(),
        });
        *CURRENT.write() = Some(Arc::clone(&inner));
        let (out, events) = mpsc::unbounded_channel();
        {
            let _inside = runtime.enter();
            inner.sim.start(out);
        }
        for app in inner.sim.apps() {
            inner.on_app_started(app.pid);
        }
        runtime.spawn(forward_events(Arc::downgrade(&inner), events));
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

    /// The process of the app with this name.
    ///
    /// # Panics
    /// If it does not run.
    pub fn pid(&self, app: &str) -> u32 {
        let found = self.inner.sim.apps().into_iter().find(|seen| seen.name == app);
        found.unwrap_or_else(|| panic!("{app} does not run")).pid
    }

    /// Does what a user does, as a command of `ax sim`, and returns its output.
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
            WaitResult::Answer(Ok(done)) => done,
            WaitResult::Answer(Err(failure)) => panic!("{app}: {failure}"),
            WaitResult::Ended | WaitResult::Silent => panic!("{app} did not answer"),
        }
    }

    /// Runs something inside an app that no user could do.
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
            WaitResult::Answer(done) => done,
            WaitResult::Ended | WaitResult::Silent => panic!("{app} did not answer"),
        }
    }

    /// Changes the system's settings.
    pub fn settings<T>(&self, change: impl FnOnce(&mut Settings) -> T) -> T {
        change(&mut self.inner.settings.lock())
    }

    /// The fault injection.
    pub fn faults(&self) -> &Faults {
        &self.inner.faults
    }

    /// The trace of calls.
    pub fn trace(&self) -> &Trace {
        &self.inner.trace
    }

    /// The input that was received.
    pub fn input(&self) -> &InputLog {
        &self.inner.input
    }

    /// Hides an app, as a user does.
    pub fn hide(&self, app: &str) {
        self.inner.hide(self.pid(app), true);
    }

    /// Shows a hidden app again, behind the others, as a user does.
    pub fn show(&self, app: &str) {
        self.inner.hide(self.pid(app), false);
    }

    /// Has the thread of this name panic at the next call that asks for the process of an element.
    pub fn panic_on(&self, thread: &str) {
        *self.inner.panics_on.lock() = Some(thread.to_owned());
    }

    /// Whether the thread that was to panic has done so.
    pub fn has_panicked(&self) -> bool {
        self.inner.panics_on.lock().is_none()
    }

    /// Shows another space: the windows of the app are on one that is not shown, or on the one that is.
    pub fn change_space(&self, app: &str, is_elsewhere: bool) {
        let pid = self.pid(app);
        let mut elsewhere = self.inner.elsewhere.lock();
        if is_elsewhere {
            elsewhere.insert(pid);
        } else {
            elsewhere.remove(&pid);
        }
        drop(elsewhere);
        self.inner.host.space_changed();
    }

    /// Whether an app is hidden.
    pub fn is_hidden(&self, app: &str) -> bool {
        self.inner.sim.is_hidden(self.pid(app))
    }

    /// The machine sleeps and wakes: observers get no more notifications, and are not told.
    pub fn sleep(&self) {
        self.inner.host.will_sleep();
        for observer in self.inner.observers() {
            observer.clear();
        }
        self.inner.host.did_wake();
    }

    /// How many observers there are, and for how many notifications they are registered.
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
        self.inner.post(self.pid(app), &ax::notify::Notification::plain(notification, id));
    }

    /// Posts a notification about a widget many times, faster than anybody can take them.
    pub fn post_many(&self, app: &str, widget: &str, notification: &str, count: usize) {
        let (pid, id) = (self.pid(app), widget.to_owned());
        let handle = self.inspect(app, move |inside| inside.model.find(&id)).expect("it is there");
        let notification = ax::notify::Notification::plain(notification, ax::Id::of(handle));
        for _ in 0..count {
            self.inner.post(pid, &notification);
        }
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
        crate::bundles::remove();
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        *TAKEN.0.lock() = false;
        TAKEN.1.notify_all();
    }
}

/// The current world, if any.
pub(crate) fn current() -> Option<Arc<Inner>> {
    CURRENT.read().clone()
}

impl Inner {
    /// Runs something inside an app, and waits for it up to the timeout of a message.
    pub(crate) fn visit<T: Send + 'static>(
        &self,
        pid: u32,
        timeout: Duration,
        visit: impl FnOnce(Inspection<'_>) -> T + Send + 'static,
    ) -> Result<T, Error> {
        // The app has ended.
        let reach = self.sim.inspector(pid).ok_or(Error::CannotComplete)?;
        match wait(reach.inspect(visit), timeout) {
            WaitResult::Answer(done) => Ok(done),
            WaitResult::Ended | WaitResult::Silent => Err(Error::CannotComplete),
        }
    }

    /// Panics if this thread is to, once.
    pub(crate) fn panic_once(&self) {
        let is_this = |thread: &mut String| std::thread::current().name() == Some(thread.as_str());
        let panics = self.panics_on.lock().take_if(is_this).is_some();
        if panics {
            std::panic::resume_unwind(Box::new("on purpose"));
        }
    }

    /// Access to an app.
    pub(crate) fn reach(&self, pid: u32) -> Result<Inspector, Error> {
        self.sim.inspector(pid).ok_or(Error::CannotComplete)
    }

    /// The state of an app on the desktop.
    pub(crate) fn standing(&self, pid: u32) -> AppState {
        let is_elsewhere = self.elsewhere.lock().contains(&pid);
        let hides_windows = self.sim.is_hidden(pid) && !self.settings.lock().manners.hidden_windows_listed;
        let pages = self.pages.lock().get(&pid).copied();
        AppState {
            shown: pages.map(|pages| pages.shown),
            asleep: pages.is_some_and(|pages| pages.asleep),
            manual: pages.is_some_and(|pages| pages.wakes == EnabledBy::Manual),
            enhanced: self.is_enhanced(pid),
            frontmost: self.sim.active().0 == Some(pid),
            hidden: self.sim.is_hidden(pid),
            visible_text: self.visible_text.lock().get(&pid).copied(),
            lists_no_windows: hides_windows || is_elsewhere,
            is_elsewhere,
            status: self.is_status_app(pid),
            idle_menus: !self.settings.lock().manners.menus_are_live,
        }
    }

    /// Hides an app, or shows it again.
    pub(crate) fn hide(&self, pid: u32, hidden: bool) {
        self.sim.hide(pid, hidden);
        self.host.report_hidden(self);
    }

    /// How long a message waits for its answer.
    pub(crate) fn message_timeout(&self, own: Option<f32>) -> Duration {
        const DEFAULT_MESSAGE_TIMEOUT: f32 = 6.0;
        let seconds =
            own.filter(|own| *own > 0.0).or(self.settings.lock().timeout).unwrap_or(DEFAULT_MESSAGE_TIMEOUT);
        Duration::try_from_secs_f32(seconds).unwrap_or(Duration::from_secs(6))
    }

    pub(crate) fn observers(&self) -> Vec<Arc<Observer>> {
        let mut observers = self.observers.lock();
        observers.retain(|observer| observer.strong_count() > 0);
        observers.iter().filter_map(Weak::upgrade).collect()
    }

    /// Posts a notification to the observers of an app.
    pub(crate) fn post(&self, pid: u32, notification: &ax::notify::Notification) {
        let manners = self.settings.lock().manners.clone();
        for observer in self.observers() {
            observer.post(pid, notification, &manners);
        }
    }

    /// Posts notifications when the app has answered the next question, or a little later if nobody asks.
    fn post_late(self: &Arc<Inner>, pid: u32, notifications: Vec<ax::notify::Notification>) {
        let lag = self.settings.lock().manners.announcements_lag;
        if lag.is_zero() {
            return notifications.iter().for_each(|notification| self.post(pid, notification));
        }
        if notifications.is_empty() {
            return;
        }
        self.late.lock().extend(notifications.into_iter().map(|notification| (pid, notification)));
        let world = Arc::downgrade(self);
        self.runtime.spawn(async move {
            tokio::time::sleep(lag).await;
            if let Some(world) = world.upgrade() {
                world.post_waiting(pid);
            }
        });
    }

    /// Posts the notifications of an app that wait for their time, in order.
    pub(crate) fn post_waiting(&self, pid: u32) {
        let mut late = self.late.lock();
        let (due, rest) = std::mem::take(&mut *late).into_iter().partition(|(of, _)| *of == pid);
        *late = rest;
        // Others that post at the same time wait, so that the order stays.
        let due: Vec<(u32, ax::notify::Notification)> = due;
        due.iter().for_each(|(pid, notification)| self.post(*pid, notification));
    }

    fn on_app_started(self: &Arc<Inner>, pid: u32) {
        let Some(reach) = self.sim.inspector(pid) else { return };
        let world = Arc::downgrade(self);
        let mut source = NotificationSource::default();
        reach.subscribe(move |model, change, _| {
            let Some(world) = world.upgrade() else { return };
            let notifications = source.notifications_of(model, change);
            world.post_late(pid, notifications);
        });
        let apps = self.sim.apps();
        let identity = apps.iter().find(|app| app.pid == pid).map_or("", |app| &app.identity);
        let wakes =
            [("electron", EnabledBy::Manual), ("chromium", EnabledBy::Enhanced), ("cef", EnabledBy::Looking)];
        if let Some((_, wakes)) = wakes.into_iter().find(|(kind, _)| identity.contains(kind)) {
            self.pages.lock().insert(pid, Pages::new(wakes));
        }
    }
}

/// Handles the events of the desktop.
async fn forward_events(world: Weak<Inner>, mut events: mpsc::UnboundedReceiver<DesktopEvent>) {
    let mut first = true;
    while let Some(event) = events.recv().await {
        let Some(world) = world.upgrade() else { return };
        match &event {
            DesktopEvent::AppUp(app) => {
                // The apps of the start were handled there.
                if !first {
                    world.on_app_started(app.pid);
                }
            }
            DesktopEvent::AppGone { pid } => {
                world.pages.lock().remove(pid);
                world.enhanced.lock().remove(pid);
                world.secured.lock().remove(pid);
            }
            // This is the last event of the start.
            DesktopEvent::Displays(_) => first = false,
            // Scripted apps are not launched as programs.
            DesktopEvent::Ended { .. } => {}
            DesktopEvent::Windows(_) | DesktopEvent::Frontmost { .. } => {}
        }
        world.host.on_desktop_event(&world, &event);
    }
}

/// The result of waiting for an answer.
pub(crate) enum WaitResult<T> {
    Answer(T),
    /// The other side is gone.
    Ended,
    /// There was no answer in time.
    Silent,
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for an answer on any thread: a message to an app blocks the thread that sends it.
pub(crate) fn wait<T>(mut reply: oneshot::Receiver<T>, timeout: Duration) -> WaitResult<T> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let deadline = Instant::now() + timeout;
    loop {
        match Pin::new(&mut reply).poll(&mut context) {
            Poll::Ready(Ok(answer)) => return WaitResult::Answer(answer),
            Poll::Ready(Err(_)) => return WaitResult::Ended,
            Poll::Pending => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return WaitResult::Silent;
                }
                std::thread::park_timeout(left);
            }
        }
    }
}
