//! The double's AppKit: the running apps, starting and ending them, the pasteboard, and the loop of the main thread.
//!
//! Here a thread of its own serves as the main thread, so that tests need not give up theirs.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use axd_platform::{
    CaptureTarget, ClipboardContent, ClipboardKind, DesktopEvent, Gate, LaunchPlan, Platform, Reply,
    RunningApp, WindowOp,
};
use axd_protocol::{Bounds, DisplayInfo, State};
use axd_sim::SimDesktop;
use parking_lot::{Condvar, Mutex};

use crate::cf::text_from;
use crate::cg::shot as shot_of;
use crate::world::{Inner, WaitResult, current, wait};
use axd_macos::appkit::host::{
    HostApp, HostAppKind, HostCapture, HostCaptureError, HostEvent, HostItem, HostKeyboard, HostLaunch,
    HostScreen, LaunchCallback, TestChange,
};
use axd_macos::cg::image::Image;

const TEXT: &str = "public.utf8-plain-text";
const PNG: &str = "public.png";
const FILE: &str = "public.file-url";
/// How long the desktop may take to answer.
const DESKTOP_REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// Called with events about apps, activation and sleep.
type Listener = Box<dyn Fn(HostEvent) + Send>;

/// The state of the double's AppKit.
#[derive(Default)]
pub struct AppKitState {
    listener: Mutex<Option<Listener>>,
    front: Mutex<Option<u32>>,
    /// The apps that were reported as hidden.
    hidden: Mutex<BTreeSet<u32>>,
    /// The displays before they changed last, and when that was.
    screens_before: Mutex<Option<(Instant, Vec<DisplayInfo>)>>,
    changes: Mutex<i64>,
    /// Types on the pasteboard in addition to those of its content.
    marks: Mutex<Vec<String>>,
}

impl AppKitState {
    fn report(&self, event: HostEvent) {
        if let Some(listener) = &*self.listener.lock() {
            listener(event);
        }
    }

    pub(crate) fn will_sleep(&self) {
        self.report(HostEvent::WillSleep);
    }

    /// Records the displays before they change.
    pub(crate) fn displays_change(&self, before: Vec<DisplayInfo>) {
        *self.screens_before.lock() = Some((Instant::now(), before));
    }

    pub(crate) fn space_changed(&self) {
        self.report(HostEvent::SpaceChanged);
    }

    pub(crate) fn did_wake(&self) {
        self.report(HostEvent::DidWake);
    }

    /// Reports the apps that were hidden or shown since the last call.
    pub(crate) fn report_hidden(&self, world: &Inner) {
        for app in world.sim.apps() {
            let (pid, is_hidden) = (app.pid, world.sim.is_hidden(app.pid));
            let mut hidden = self.hidden.lock();
            let changed = if is_hidden { hidden.insert(pid) } else { hidden.remove(&pid) };
            drop(hidden);
            if changed {
                let name = if is_hidden { "AXApplicationHidden" } else { "AXApplicationShown" };
                world.post(pid, &crate::ax::notify::Notification::plain(name, crate::ax::Id::APP));
                self.report(if is_hidden { HostEvent::Hidden { pid } } else { HostEvent::Shown { pid } });
            }
        }
    }

    /// Ends all reports.
    pub(crate) fn end(&self) {
        *self.listener.lock() = None;
    }

    /// Reports an event of the desktop as AppKit does.
    pub(crate) fn on_desktop_event(&self, world: &Inner, event: &DesktopEvent) {
        match event {
            DesktopEvent::AppUp(app) => self.report(HostEvent::Launched(host_app(world, app))),
            DesktopEvent::AppGone { pid } => {
                self.hidden.lock().remove(pid);
                if world.settings.lock().manners.ends_are_told {
                    self.report(HostEvent::Terminated { pid: *pid });
                }
            }
            DesktopEvent::Frontmost { pid: Some(pid), .. } => {
                // An app that is activated is no longer hidden.
                self.report_hidden(world);
                let before = self.front.lock().replace(*pid);
                if before != Some(*pid) {
                    let notification =
                        |name| crate::ax::notify::Notification::plain(name, crate::ax::Id::APP);
                    if let Some(before) = before {
                        world.post(before, &notification("AXApplicationDeactivated"));
                    }
                    world.post(*pid, &notification("AXApplicationActivated"));
                    self.report(HostEvent::Activated { pid: *pid });
                }
            }
            DesktopEvent::Frontmost { .. }
            | DesktopEvent::Windows(_)
            | DesktopEvent::Displays(_)
            | DesktopEvent::Ended { .. } => {}
        }
    }
}

impl crate::World {
    /// Adds a type to the pasteboard's content, such as the one for secrets.
    pub fn mark_pasteboard(&self, mark: &str) {
        self.inner().host.marks.lock().push(mark.to_owned());
    }
}

fn host_app(world: &Inner, app: &RunningApp) -> HostApp {
    HostApp {
        pid: app.pid,
        name: app.name.clone(),
        bundle: Some(app.identity.clone()),
        path: Some(crate::bundles::of_kin(app).unwrap_or_else(|| bundle_of(&app.name))),
        kind: match app.pid {
            pid if world.is_guest(pid) => HostAppKind::Background,
            pid if world.is_status_app(pid) => HostAppKind::Accessory,
            _ => HostAppKind::Regular,
        },
        hidden: world.sim.is_hidden(app.pid),
    }
}

fn bundle_of(name: &str) -> PathBuf {
    PathBuf::from(format!("/Applications/{name}.app"))
}

/// Has the simulated desktop do something, and waits for its reply.
fn call<T>(world: &Inner, call: impl FnOnce(&SimDesktop) -> Reply<T>) -> Option<T> {
    let reply = {
        let _inside = world.runtime.enter();
        call(&world.sim)
    };
    match wait(reply, DESKTOP_REPLY_TIMEOUT) {
        WaitResult::Answer(answer) => answer.ok(),
        WaitResult::Ended | WaitResult::Silent => None,
    }
}

/// The functions that the backend gets instead of AppKit's.
pub static APPKIT: axd_macos::appkit::AppKit = axd_macos::appkit::AppKit {
    run_main,
    stop_main,
    on_main,
    observe,
    running,
    frontmost,
    find_app,
    bundle_identifier,
    launch,
    activate,
    unhide,
    terminate,
    pasteboard_denied,
    pasteboard_types,
    pasteboard_read,
    pasteboard_files,
    pasteboard_write,
    pasteboard_write_files,
    keyboard,
    open_test_window,
    change_test_window,
    test_window_presses,
    screens,
    is_running,
    saves_power,
    capture_image,
};

struct Main {
    work: Mutex<Queue>,
    more: Condvar,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Box<dyn FnOnce() + Send>>,
    served: bool,
    ended: bool,
}

static MAIN: Main = Main {
    work: Mutex::new(Queue { waiting: VecDeque::new(), served: false, ended: false }),
    more: Condvar::new(),
};

/// Waits until `stop_main`.
pub fn run_main() {
    let mut queue = MAIN.work.lock();
    while !queue.ended {
        MAIN.more.wait(&mut queue);
    }
}

/// Ends the loop of the main thread.
pub fn stop_main() {
    let mut queue = MAIN.work.lock();
    queue.ended = true;
    queue.waiting.clear();
    MAIN.more.notify_all();
}

/// Runs work on the main thread, in order.
pub fn on_main(work: Box<dyn FnOnce() + Send>) {
    let mut queue = MAIN.work.lock();
    if queue.ended {
        return;
    }
    queue.waiting.push_back(work);
    if !std::mem::replace(&mut queue.served, true) {
        let served = std::thread::Builder::new().name("main of the double".to_owned()).spawn(serve);
        if served.is_err() {
            queue.served = false;
            queue.waiting.clear();
        }
    }
    MAIN.more.notify_all();
}

fn serve() {
    let mut queue = MAIN.work.lock();
    while !queue.ended {
        match queue.waiting.pop_front() {
            Some(work) => parking_lot::MutexGuard::unlocked(&mut queue, work),
            None => MAIN.more.wait(&mut queue),
        }
    }
}

/// Reports apps, activation and sleep.
pub fn observe(out: Box<dyn Fn(HostEvent) + Send>) {
    if let Some(world) = current() {
        *world.host.front.lock() = world.sim.active().0;
        *world.host.listener.lock() = Some(out);
    }
}

/// The running apps.
pub fn running() -> Vec<HostApp> {
    let Some(world) = current() else { return vec![] };
    world.sim.apps().iter().map(|app| host_app(&world, app)).collect()
}

/// The active app.
pub fn frontmost() -> Option<u32> {
    current()?.sim.active().0
}

/// The bundle of an app by its identifier, its name or its path.
pub fn find_app(named: &str) -> Option<PathBuf> {
    let installed = current()?.sim.installed();
    let is_it = |(identity, name): &&(String, String)| {
        identity == named || name.eq_ignore_ascii_case(named) || bundle_of(name) == Path::new(named)
    };
    installed.iter().find(is_it).map(|(_, name)| bundle_of(name))
}

/// The identifier of a bundle.
pub fn bundle_identifier(bundle: &Path) -> Option<String> {
    let installed = current()?.sim.installed();
    installed.into_iter().find(|(_, name)| bundle_of(name) == bundle).map(|(identity, _)| identity)
}

/// Opens a bundle.
pub fn launch(plan: &HostLaunch, done: LaunchCallback) {
    let (Some(world), Some(app)) = (current(), bundle_identifier(&plan.bundle)) else {
        return done(Err(format!("there is no app at {}", plan.bundle.display())));
    };
    let text = |text: &std::ffi::OsString| text.to_string_lossy().into_owned();
    let plan = LaunchPlan {
        app,
        args: plan.args.iter().map(text).collect(),
        env: plan.env.iter().map(|(name, value)| (text(name), text(value))).collect(),
        cwd: plan.cwd.clone(),
        ..LaunchPlan::default()
    };
    let runtime = world.runtime.clone();
    runtime.spawn(async move {
        let launched = world.sim.launch(plan, Gate::new()).await;
        let pid = match launched {
            Ok(Ok(launched)) => launched.pid,
            _ => None,
        };
        let app = world.sim.apps().into_iter().find(|app| Some(app.pid) == pid);
        done(app.map(|app| host_app(&world, &app)).ok_or_else(|| "the app did not start".to_owned()));
    });
}

/// Activates an app, and shows it if it is hidden.
pub fn activate(pid: u32) -> bool {
    let Some(world) = current() else { return false };
    let windows = world.sim.windows();
    let Some(first) = windows.iter().find(|seen| seen.pid == pid) else { return false };
    call(&world, |sim| sim.window_op(first.window, WindowOp::Focus, Gate::new())).is_some()
}

/// Shows an app again.
pub fn unhide(pid: u32) -> bool {
    let Some(world) = current() else { return false };
    world.hide(pid, false);
    running().iter().any(|app| app.pid == pid)
}

/// Asks an app to quit, or kills it.
pub fn terminate(pid: u32, force: bool) -> bool {
    current().is_some_and(|world| call(&world, |sim| sim.close_app(pid, force, Gate::new())).is_some())
}

fn content(world: &Inner) -> Option<ClipboardContent> {
    call(world, |sim| sim.clipboard(ClipboardKind::Any)).flatten()
}

/// Whether the user has forbidden programs to read the pasteboard.
pub fn pasteboard_denied() -> bool {
    current().is_some_and(|world| world.settings.lock().pasteboard_denied)
}

/// Waits for the app that has promised the content, as long as that hangs.
fn await_promised_content() {
    while current().is_some_and(|world| world.settings.lock().pasteboard_hangs) {
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// How often the pasteboard has changed.
pub fn pasteboard_count() -> i64 {
    current().map_or(0, |world| *world.host.changes.lock())
}

/// The types of the pasteboard's content.
pub fn pasteboard_types() -> Vec<String> {
    let Some(world) = current() else { return vec![] };
    let kind = content(&world).map(|clip| match clip {
        ClipboardContent::Text(_) => TEXT,
        ClipboardContent::Image(_) => PNG,
        ClipboardContent::Files(_) => FILE,
    });
    kind.map(str::to_owned).into_iter().chain(world.host.marks.lock().clone()).collect()
}

/// The pasteboard's content of this type.
pub fn pasteboard_read(kind: &str) -> Option<Vec<u8>> {
    await_promised_content();
    match (kind, content(current()?.as_ref())?) {
        (TEXT, ClipboardContent::Text(text)) => Some(text.into_bytes()),
        (PNG, ClipboardContent::Image(png)) => Some(png),
        _ => None,
    }
}

/// The files on the pasteboard.
pub fn pasteboard_files() -> Vec<PathBuf> {
    match current().and_then(|world| content(&world)) {
        Some(ClipboardContent::Files(files)) => files,
        _ => vec![],
    }
}

fn put(clip: Option<ClipboardContent>) -> bool {
    let Some(world) = current() else { return false };
    *world.host.changes.lock() += 1;
    world.host.marks.lock().clear();
    call(&world, |sim| sim.set_clipboard(clip, Gate::new())).is_some()
}

/// Replaces the pasteboard's content.
pub fn pasteboard_write(items: Vec<HostItem>) -> bool {
    let clip = items.into_iter().find_map(|HostItem { kind, bytes }| match kind.as_str() {
        TEXT => Some(ClipboardContent::Text(String::from_utf8_lossy(&bytes).into_owned())),
        PNG => Some(ClipboardContent::Image(bytes)),
        _ => None,
    });
    put(clip)
}

/// Replaces the pasteboard's content with files.
pub fn pasteboard_write_files(files: Vec<PathBuf>) -> bool {
    put(Some(ClipboardContent::Files(files)))
}

/// The keyboard layouts, as the settings have them.
pub fn keyboard() -> HostKeyboard {
    current().map(|world| world.settings.lock().keyboard.clone()).unwrap_or_default()
}

/// The scripted app whose window stands for the one that `selftest` opens. It runs from the start.
pub const TEST_WINDOW: &str = r#"
name = "axd selftest"
identity = "dev.axd.selftest"
[[window]]
id = "main"
title = "axd selftest"
children = [
  { role = "text", id = "label", name = "label" },
  { role = "text", id = "doomed", name = "doomed" },
  { role = "textfield", id = "field", name = "", value = "" },
  { role = "button", id = "button", name = "Button" },
  { role = "text", id = "presses", value = "0", states = ["hidden"] },
  { role = "table", id = "rows", children = [
    { role = "row", id = "row-0", name = "row 0" }, { role = "row", id = "row-1", name = "row 1" }, { role = "row", id = "spare", name = "spare" },
  ] },
]
[[rule]]
on = "press:button"
do = [{ increase = "presses" }]
"#;

/// Does something inside the app of the test window.
fn in_test_window<T: Send + 'static>(
    visit: impl FnOnce(&mut axd_sim::Inspection<'_>) -> T + Send + 'static,
) -> Option<T> {
    let world = current()?;
    let pid = world.sim.apps().iter().find(|app| app.name == "axd selftest")?.pid;
    world.visit(pid, DESKTOP_REPLY_TIMEOUT, move |mut inside| visit(&mut inside)).ok()
}

/// The process of the test window.
pub fn open_test_window() -> Option<u32> {
    let world = current()?;
    world.sim.apps().iter().find(|app| app.name == "axd selftest").map(|app| app.pid)
}

/// Changes the test window.
pub fn change_test_window(change: TestChange) {
    in_test_window(move |inside| {
        let model = &mut *inside.model;
        let find = |id: &str| model.find(id).expect("the script has it");
        match change {
            TestChange::Label(units) => model.set_name(find("label"), text_from(&units)),
            TestChange::Field => model.set_value(find("field"), "filled"),
            TestChange::Title => model.set_name(find("main"), "axd selftest, changed"),
            TestChange::Select => model.set_state(find("row-1"), State::Selected, true),
            TestChange::AddRow => model.remove(find("spare")),
            TestChange::Focus => model.set_focus(find("field")),
            TestChange::Remove => model.remove(find("doomed")),
        }
    });
}

/// How often the button of the test window was pressed.
pub fn test_window_presses() -> u32 {
    let presses = in_test_window(|inside| {
        let presses = inside.model.find("presses").and_then(|presses| inside.model.widget(presses));
        presses.and_then(|presses| presses.value.clone()).and_then(|value| value.parse().ok())
    });
    presses.flatten().unwrap_or(0)
}

/// The displays.
pub fn screens() -> Vec<HostScreen> {
    use axd_macos::ffi::cg::{CGPoint, CGRect, CGSize};
    let displays = current().map(|world| {
        let lag = world.settings.lock().manners.screens_lag;
        let before = world.host.screens_before.lock().clone();
        match before.filter(|(when, _)| when.elapsed() < lag) {
            Some((_, before)) => before,
            None => world.sim.displays(),
        }
    });
    let displays = displays.unwrap_or_default();
    let screen = |display: DisplayInfo| {
        let Bounds { x, y, width, height } = display.bounds;
        let usable = CGRect {
            origin: CGPoint { x: f64::from(x), y: f64::from(y) },
            size: CGSize { width: f64::from(width), height: f64::from(height) },
        };
        HostScreen { display: display.display, name: display.name, usable }
    };
    displays.into_iter().map(screen).collect()
}

/// Whether a process runs.
pub fn is_running(pid: u32) -> bool {
    current().is_some_and(|world| world.sim.apps().iter().any(|app| app.pid == pid))
}

/// Whether the machine saves power.
pub fn saves_power() -> bool {
    current().is_some_and(|world| world.settings.lock().saves_power)
}

/// An image by ScreenCaptureKit, in the requested size; `None` where the settings say that it does not exist.
pub fn capture_image(shot: HostCapture, cursor: bool) -> Option<Result<Image, HostCaptureError>> {
    let world = current().filter(|world| world.settings.lock().screen_capture_kit)?;
    if !world.settings.lock().may_capture {
        // To try is to ask.
        world.settings.lock().dialogs += 1;
        return Some(Err(HostCaptureError::Denied));
    }
    let (of, scale) = match shot {
        HostCapture::Window { window, scale } => (CaptureTarget::Window(u64::from(window)), scale),
        HostCapture::Display { display, part: None, scale } => (CaptureTarget::Display(display), scale),
        HostCapture::Display { part: Some(part), scale, .. } => {
            let side = |side: f64| side.round() as i32;
            let (origin, size) = (part.origin, part.size);
            let (x, y) = (side(origin.x), side(origin.y));
            let part = Bounds { x, y, width: side(size.width), height: side(size.height) };
            (CaptureTarget::Region(part), scale)
        }
    };
    // SAFETY: what is returned is a picture, and ours; nothing is if it is null.
    let image = unsafe { Image::from_owned(shot_of(&world, of, scale, cursor).cast_mut().cast()) };
    Some(image.ok_or_else(|| HostCaptureError::Failed("there is nothing to take a picture of".to_owned())))
}
