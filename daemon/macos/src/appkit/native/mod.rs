//! AppKit and ScreenCaptureKit, behind plain types. No other module uses Objective-C.
//!
//! Functions are called on thread 0, where AppKit lives, except `stop_main`, `on_main`, `is_running`, `saves_power`,
//! `capture_image` and those of the pasteboard.

mod keyboard;
mod pasteboard;
mod screens;
mod test_window;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};

use block2::RcBlock;
use core_foundation::base::TCFType;
use dispatch2::DispatchQueue;
use objc2::MainThreadMarker;
use objc2::rc::{Retained, autoreleasepool};
use objc2_app_kit::{
    NSApplication, NSApplicationActivationOptions, NSApplicationActivationPolicy, NSEvent,
    NSEventModifierFlags, NSEventType, NSRunningApplication, NSWorkspace,
    NSWorkspaceActiveSpaceDidChangeNotification, NSWorkspaceApplicationKey,
    NSWorkspaceDidActivateApplicationNotification, NSWorkspaceDidHideApplicationNotification,
    NSWorkspaceDidLaunchApplicationNotification, NSWorkspaceDidTerminateApplicationNotification,
    NSWorkspaceDidUnhideApplicationNotification, NSWorkspaceDidWakeNotification,
    NSWorkspaceOpenConfiguration, NSWorkspaceWillSleepNotification,
};
use objc2_foundation::{
    NSActivityOptions, NSArray, NSBundle, NSDictionary, NSError, NSNotification, NSNotificationName, NSPoint,
    NSProcessInfo, NSRange, NSString, NSURL,
};
use parking_lot::Mutex;

use crate::appkit::host::{HostApp, HostAppKind, HostEvent, HostLaunch, LaunchCallback};
use crate::ax::{guard, text, value};
use crate::ffi::cf::CFTypeRef;
use crate::ffi::power::{BATTERY_POWER, IOPSCopyPowerSourcesInfo, IOPSGetProvidingPowerSourceType};

pub use keyboard::keyboard;
pub use pasteboard::{
    pasteboard_denied, pasteboard_files, pasteboard_read, pasteboard_types, pasteboard_write,
    pasteboard_write_files,
};
pub use screens::{capture_image, screens};
pub use test_window::{change_test_window, open_test_window, test_window_presses};

type Work = Box<dyn FnOnce() + Send>;

/// What is to run on thread 0. It is kept here so that it is dropped, and its waiters notified, when the loop ends.
static WORK: Mutex<VecDeque<Work>> = Mutex::new(VecDeque::new());
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Runs thread 0's loop until `stop_main`. AppKit needs it, and so do some notifications.
pub fn run_main() {
    let Some(thread) = MainThreadMarker::new() else { return };
    autoreleasepool(|_| {
        let app = NSApplication::sharedApplication(thread);
        // Otherwise the system slows down a program without windows: timers and sockets would take seconds.
        let options =
            NSActivityOptions::UserInitiatedAllowingIdleSystemSleep | NSActivityOptions::LatencyCritical;
        let reason = NSString::from_str("axd answers at once");
        let _activity = NSProcessInfo::processInfo().beginActivityWithOptions_reason(options, &reason);
        // No Dock icon, no menu bar.
        app.setActivationPolicy(NSApplicationActivationPolicy::Accessory);
        if !STOPPED.load(Ordering::Acquire) {
            app.run();
        }
    });
    // `on_main` checks under the same lock whether the loop has ended, so no work is left behind.
    let left = {
        let mut work = WORK.lock();
        STOPPED.store(true, Ordering::Release);
        std::mem::take(&mut *work)
    };
    drop(left);
}

/// Ends thread 0's loop.
pub fn stop_main() {
    STOPPED.store(true, Ordering::Release);
    DispatchQueue::main().exec_async(|| {
        let Some(thread) = MainThreadMarker::new() else { return };
        let app = NSApplication::sharedApplication(thread);
        app.stop(None);
        // The loop checks whether to stop after each event, so it needs one.
        let event = NSEvent::otherEventWithType_location_modifierFlags_timestamp_windowNumber_context_subtype_data1_data2(
            NSEventType::ApplicationDefined,
            NSPoint::new(0.0, 0.0),
            NSEventModifierFlags::empty(),
            0.0,
            0,
            None,
            0,
            0,
            0,
        );
        if let Some(event) = event {
            app.postEvent_atStart(&event, true);
        }
    });
}

/// Runs something on thread 0, in order. It is dropped if the loop there has ended.
pub fn on_main(work: Work) {
    {
        let mut waiting = WORK.lock();
        if STOPPED.load(Ordering::Acquire) {
            return;
        }
        waiting.push_back(work);
    }
    DispatchQueue::main().exec_async(|| {
        let next = WORK.lock().pop_front();
        if let Some(work) = next {
            guard::catch_panic("thread 0", || autoreleasepool(|_| work()));
        }
    });
}

type Listener = Box<dyn Fn(HostEvent) + Send>;

thread_local! {
    /// Where events about apps go. Only thread 0 has one.
    static LISTENER: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

/// Reports apps that start, end and become active, and sleep.
pub fn observe(out: Listener) {
    let first = LISTENER.with_borrow_mut(|listener| listener.replace(out)).is_none();
    if !first {
        return;
    }
    let app = |make: fn(&NSRunningApplication) -> HostEvent| {
        move |notification: &NSNotification| app_of(notification).map(|app| make(&app))
    };
    // SAFETY: the names are constants of AppKit.
    unsafe {
        listen(NSWorkspaceDidLaunchApplicationNotification, app(|app| HostEvent::Launched(describe(app))));
        listen(
            NSWorkspaceDidTerminateApplicationNotification,
            app(|app| HostEvent::Terminated { pid: pid_of(app) }),
        );
        listen(
            NSWorkspaceDidActivateApplicationNotification,
            app(|app| HostEvent::Activated { pid: pid_of(app) }),
        );
        listen(NSWorkspaceDidHideApplicationNotification, app(|app| HostEvent::Hidden { pid: pid_of(app) }));
        listen(NSWorkspaceDidUnhideApplicationNotification, app(|app| HostEvent::Shown { pid: pid_of(app) }));
        listen(NSWorkspaceActiveSpaceDidChangeNotification, |_| Some(HostEvent::SpaceChanged));
        listen(NSWorkspaceWillSleepNotification, |_| Some(HostEvent::WillSleep));
        listen(NSWorkspaceDidWakeNotification, |_| Some(HostEvent::DidWake));
    }
}

fn listen(name: &NSNotificationName, event: impl Fn(&NSNotification) -> Option<HostEvent> + 'static) {
    let block = RcBlock::new(guard::block("a notification", move |notification: NonNull<NSNotification>| {
        // SAFETY: it lives while the block runs.
        if let Some(event) = event(unsafe { notification.as_ref() }) {
            LISTENER.with_borrow(|listener| {
                if let Some(listener) = listener {
                    listener(event);
                }
            });
        }
    }));
    let center = NSWorkspace::sharedWorkspace().notificationCenter();
    // SAFETY: no object and no queue are allowed. The block runs on the thread that posts, which is this one.
    let context_pointer =
        unsafe { center.addObserverForName_object_queue_usingBlock(Some(name), None, None, &block) };
    // The observer stays for as long as the process runs.
    std::mem::forget(context_pointer);
}

fn app_of(notification: &NSNotification) -> Option<Retained<NSRunningApplication>> {
    let info = notification.userInfo()?;
    // SAFETY: the key is a constant of AppKit.
    let app = info.objectForKey(unsafe { NSWorkspaceApplicationKey }.as_ref())?;
    app.downcast::<NSRunningApplication>().ok()
}

fn pid_of(app: &NSRunningApplication) -> u32 {
    u32::try_from(app.processIdentifier()).unwrap_or_default()
}

fn describe(app: &NSRunningApplication) -> HostApp {
    let path = app.bundleURL().or_else(|| app.executableURL()).and_then(|url| path_of(&url));
    let kind = match app.activationPolicy() {
        NSApplicationActivationPolicy::Regular => HostAppKind::Regular,
        NSApplicationActivationPolicy::Accessory => HostAppKind::Accessory,
        _ => HostAppKind::Background,
    };
    HostApp {
        pid: pid_of(app),
        name: app.localizedName().map(|name| plain(&name)).unwrap_or_default(),
        bundle: app.bundleIdentifier().map(|bundle| plain(&bundle)),
        path,
        kind,
        hidden: app.isHidden(),
    }
}

fn path_of(url: &NSURL) -> Option<PathBuf> {
    url.path().map(|path| PathBuf::from(plain(&path)))
}

fn url_of(path: &Path) -> Retained<NSURL> {
    NSURL::fileURLWithPath(&NSString::from_str(&path.to_string_lossy()))
}

fn with_pid(pid: u32) -> Option<Retained<NSRunningApplication>> {
    let pid = i32::try_from(pid).ok()?;
    NSRunningApplication::runningApplicationWithProcessIdentifier(pid)
}

/// The running apps.
pub fn running() -> Vec<HostApp> {
    let apps = NSWorkspace::sharedWorkspace().runningApplications();
    apps.iter().filter(|app| app.processIdentifier() > 0).map(|app| describe(&app)).collect()
}

/// The active app.
pub fn frontmost() -> Option<u32> {
    NSWorkspace::sharedWorkspace().frontmostApplication().map(|app| pid_of(&app)).filter(|pid| *pid != 0)
}

/// The bundle of the app with this bundle identifier, name or path.
pub fn find_app(named: &str) -> Option<PathBuf> {
    if named.contains('/') {
        let path = std::fs::canonicalize(named).ok()?;
        return path.is_dir().then_some(path).filter(|path| path.extension().is_some_and(|end| end == "app"));
    }
    let workspace = NSWorkspace::sharedWorkspace();
    let name = NSString::from_str(named);
    if let Some(url) = workspace.URLForApplicationWithBundleIdentifier(&name) {
        return path_of(&url);
    }
    #[allow(deprecated, reason = "nothing else finds an app by what people call it")]
    let path = workspace.fullPathForApplication(&name);
    path.map(|path| PathBuf::from(plain(&path)))
}

/// The bundle identifier of a bundle.
pub fn bundle_identifier(bundle: &Path) -> Option<String> {
    let bundle = NSBundle::bundleWithPath(&NSString::from_str(&bundle.to_string_lossy()))?;
    bundle.bundleIdentifier().map(|identifier| plain(&identifier))
}

/// Opens a bundle, and calls `done` on any thread when it has started.
pub fn launch(plan: &HostLaunch, done: LaunchCallback) {
    if plan.cwd.is_some() {
        return done(
            Err("cwd applies to programs only; macOS starts apps in a folder of its own".to_owned()),
        );
    }
    let configuration = NSWorkspaceOpenConfiguration::configuration();
    let text = |text: &std::ffi::OsString| NSString::from_str(&text.to_string_lossy());
    let args: Vec<Retained<NSString>> = plan.args.iter().map(text).collect();
    configuration.setArguments(&NSArray::from_retained_slice(&args));
    if !plan.env.is_empty() {
        let (names, values): (Vec<_>, Vec<_>) =
            plan.env.iter().map(|(name, value)| (text(name), text(value))).unzip();
        let names: Vec<&NSString> = names.iter().map(|name| &**name).collect();
        configuration.setEnvironment(&NSDictionary::from_retained_objects(&names, &values));
    }
    // A running app would not receive them.
    configuration.setCreatesNewApplicationInstance(!plan.args.is_empty() || !plan.env.is_empty());
    let done = Mutex::new(Some(done));
    let block = RcBlock::new(guard::block2(
        "a launch",
        move |app: *mut NSRunningApplication, error: *mut NSError| {
            let Some(done) = done.lock().take() else { return };
            // SAFETY: each is null, or lives while the block runs.
            let (app, error) = unsafe { (app.as_ref(), error.as_ref()) };
            done(match (app, error) {
                (Some(app), _) => Ok(describe(app)),
                (None, Some(error)) => Err(plain(&error.localizedDescription())),
                (None, None) => Err("the app did not start; macOS gave no reason".to_owned()),
            });
        },
    ));
    NSWorkspace::sharedWorkspace().openApplicationAtURL_configuration_completionHandler(
        &url_of(&plan.bundle),
        &configuration,
        Some(&block),
    );
}

/// Brings an app to the front.
pub fn activate(pid: u32) -> bool {
    with_pid(pid).is_some_and(|app| app.activateWithOptions(NSApplicationActivationOptions::empty()))
}

/// Shows an app that is hidden.
pub fn unhide(pid: u32) -> bool {
    with_pid(pid).is_some_and(|app| app.unhide())
}

/// Asks an app to quit, or kills it. False if the process is not an app.
pub fn terminate(pid: u32, force: bool) -> bool {
    with_pid(pid).is_some_and(|app| if force { app.forceTerminate() } else { app.terminate() })
}

/// Whether the machine runs on battery, or the user wants it to save power.
pub fn saves_power() -> bool {
    NSProcessInfo::processInfo().isLowPowerModeEnabled() || is_on_battery()
}

fn is_on_battery() -> bool {
    // SAFETY: the snapshot is null, or an object whose reference is ours; the type is the snapshot's, and retained.
    let kind = unsafe {
        let snapshot = value::from_owned(IOPSCopyPowerSourcesInfo());
        snapshot.and_then(|snapshot| {
            value::retained(IOPSGetProvidingPowerSourceType(snapshot.as_CFTypeRef()) as CFTypeRef)
        })
    };
    kind.as_ref().and_then(text::text).is_some_and(|kind| kind == BATTERY_POWER)
}

/// The text of a string, whatever units it has.
fn plain(string: &NSString) -> String {
    let mut units = vec![0_u16; string.length()];
    if let Some(first) = NonNull::new(units.as_mut_ptr()).filter(|_| !units.is_empty()) {
        // SAFETY: there is room for as many units as the string has.
        unsafe { string.getCharacters_range(first, NSRange::new(0, units.len())) };
    }
    String::from_utf16_lossy(&units)
}

/// Whether a process runs, ours or another user's.
pub fn is_running(pid: u32) -> bool {
    let process = i32::try_from(pid).ok().filter(|pid| *pid > 0);
    // No signal is sent; only whether one could be is asked.
    process.is_some_and(|pid| {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None) != Err(nix::errno::Errno::ESRCH)
    })
}
