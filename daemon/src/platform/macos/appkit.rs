//! AppKit and ScreenCaptureKit, behind plain types. The only file that speaks Objective-C.
//!
//! Functions are called on thread 0, where AppKit lives, except `stop_main`, `on_main` and `shoot`.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use block2::RcBlock;
use core_foundation::base::TCFType;
use core_foundation::data::CFData;
use dispatch2::DispatchQueue;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::{AnyClass, AnyObject, ProtocolObject};
use objc2::{AnyThread, ClassType, MainThreadMarker};
use objc2_app_kit::{
    NSApplication, NSApplicationActivationOptions, NSApplicationActivationPolicy, NSBitmapImageFileType,
    NSBitmapImageRep, NSEvent, NSEventModifierFlags, NSEventType, NSPasteboard,
    NSPasteboardURLReadingFileURLsOnlyKey, NSPasteboardWriting, NSRunningApplication, NSScreen, NSWorkspace,
    NSWorkspaceActiveSpaceDidChangeNotification, NSWorkspaceApplicationKey,
    NSWorkspaceDidActivateApplicationNotification, NSWorkspaceDidHideApplicationNotification,
    NSWorkspaceDidLaunchApplicationNotification, NSWorkspaceDidTerminateApplicationNotification,
    NSWorkspaceDidUnhideApplicationNotification, NSWorkspaceDidWakeNotification,
    NSWorkspaceOpenConfiguration, NSWorkspaceWillSleepNotification,
};
use objc2_core_graphics::CGImage;
use objc2_foundation::{
    NSArray, NSBundle, NSData, NSDictionary, NSError, NSNotification, NSNotificationName, NSNumber, NSPoint,
    NSString, NSURL,
};
use objc2_screen_capture_kit::{
    SCContentFilter, SCScreenshotManager, SCShareableContent, SCStreamConfiguration,
};
use parking_lot::Mutex;

use super::ffi::cf::{CFDataRef, CFRelease, CFRetain, CFTypeRef};
use super::ffi::cg::{CGImageRef, CGPoint, CGRect, CGSize};
use super::ffi::text_input::{
    LMGetKbdType, SHIFT, TISCopyCurrentKeyboardLayoutInputSource, TISGetInputSourceProperty, UCKeyTranslate,
    kTISPropertyUnicodeKeyLayoutData, kUCKeyActionDisplay, kUCKeyTranslateNoDeadKeysMask,
};
use super::host::{
    HostApp, HostAppKind, HostEvent, HostItem, HostKey, HostLaunch, HostScreen, HostShot, Launched,
};
use super::image::Image;

/// How long a picture may take.
const SHUTTER: Duration = Duration::from_secs(5);
/// The last virtual key code that types a character.
const LAST_KEY: u16 = 50;

type Work = Box<dyn FnOnce() + Send>;

/// What is to be done on thread 0. It is kept here so that it is dropped, and who waits for it told, when the loop ends.
static WORK: Mutex<VecDeque<Work>> = Mutex::new(VecDeque::new());
static STOPPED: AtomicBool = AtomicBool::new(false);

/// Runs thread 0's loop until `stop_main`. AppKit, and some of what apps announce, needs it.
pub fn run_main() {
    let Some(thread) = MainThreadMarker::new() else { return };
    autoreleasepool(|_| {
        let app = NSApplication::sharedApplication(thread);
        // No place in the Dock, no menu bar.
        app.setActivationPolicy(NSApplicationActivationPolicy::Accessory);
        if !STOPPED.load(Ordering::Acquire) {
            app.run();
        }
    });
    // Whoever adds to it looks whether it is over while it is locked, so nothing is left behind.
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
        // It looks whether it is to stop after an event, so it gets one.
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

/// Runs something on thread 0, in order. Dropped if the loop there has ended.
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
            autoreleasepool(|_| work());
        }
    });
}

type Listener = Box<dyn Fn(HostEvent) + Send>;

thread_local! {
    /// Who is told of apps. Only thread 0 has one.
    static LISTENER: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

/// Tells of apps and of sleep from now on.
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
    let block = RcBlock::new(move |notification: NonNull<NSNotification>| {
        // SAFETY: it lives while the block runs.
        if let Some(event) = event(unsafe { notification.as_ref() }) {
            LISTENER.with_borrow(|listener| {
                if let Some(listener) = listener {
                    listener(event);
                }
            });
        }
    });
    let center = NSWorkspace::sharedWorkspace().notificationCenter();
    // SAFETY: no object and no queue are allowed. The block runs on the thread that posts, which is this one.
    let token = unsafe { center.addObserverForName_object_queue_usingBlock(Some(name), None, None, &block) };
    // It is listened to for as long as the process runs.
    std::mem::forget(token);
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
        name: app.localizedName().map(|name| name.to_string()).unwrap_or_default(),
        bundle: app.bundleIdentifier().map(|bundle| bundle.to_string()),
        path,
        kind,
        hidden: app.isHidden(),
    }
}

fn path_of(url: &NSURL) -> Option<PathBuf> {
    url.path().map(|path| PathBuf::from(path.to_string()))
}

fn url_of(path: &Path) -> Retained<NSURL> {
    NSURL::fileURLWithPath(&NSString::from_str(&path.to_string_lossy()))
}

fn with_pid(pid: u32) -> Option<Retained<NSRunningApplication>> {
    let pid = i32::try_from(pid).ok()?;
    NSRunningApplication::runningApplicationWithProcessIdentifier(pid)
}

/// The apps that run.
pub fn running() -> Vec<HostApp> {
    let apps = NSWorkspace::sharedWorkspace().runningApplications();
    apps.iter().filter(|app| app.processIdentifier() > 0).map(|app| describe(&app)).collect()
}

/// The app in front.
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
    path.map(|path| PathBuf::from(path.to_string()))
}

/// The bundle identifier of a bundle.
pub fn bundle_identifier(bundle: &Path) -> Option<String> {
    let bundle = NSBundle::bundleWithPath(&NSString::from_str(&bundle.to_string_lossy()))?;
    bundle.bundleIdentifier().map(|identifier| identifier.to_string())
}

/// Opens a bundle; answers when it is up, on any thread.
pub fn launch(plan: &HostLaunch, done: Launched) {
    if plan.cwd.is_some() {
        return done(Err(
            "macOS starts apps in a folder of its own; only programs can be told where to start".to_owned(),
        ));
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
    // An app that runs already would not see them.
    configuration.setCreatesNewApplicationInstance(!plan.args.is_empty() || !plan.env.is_empty());
    let done = Mutex::new(Some(done));
    let block = RcBlock::new(move |app: *mut NSRunningApplication, error: *mut NSError| {
        let Some(done) = done.lock().take() else { return };
        // SAFETY: each is null, or lives while the block runs.
        let (app, error) = unsafe { (app.as_ref(), error.as_ref()) };
        done(match (app, error) {
            (Some(app), _) => Ok(describe(app)),
            (None, Some(error)) => Err(error.localizedDescription().to_string()),
            (None, None) => Err("the app did not start, and macOS does not say why".to_owned()),
        });
    });
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

/// Asks an app to end, or ends it. False if it is none.
pub fn terminate(pid: u32, force: bool) -> bool {
    with_pid(pid).is_some_and(|app| if force { app.forceTerminate() } else { app.terminate() })
}

/// The types of all that is on the pasteboard.
pub fn pasteboard_types() -> Vec<String> {
    let types = NSPasteboard::generalPasteboard().types();
    types.map(|types| types.iter().map(|kind| kind.to_string()).collect()).unwrap_or_default()
}

/// What is on the pasteboard of this type. An image comes as PNG, whatever it was put there as.
pub fn pasteboard_read(kind: &str) -> Option<Vec<u8>> {
    let pasteboard = NSPasteboard::generalPasteboard();
    let data = pasteboard.dataForType(&NSString::from_str(kind));
    if data.is_none() && kind == "public.png" {
        let tiff = pasteboard.dataForType(&NSString::from_str("public.tiff"))?;
        let image = NSBitmapImageRep::imageRepWithData(&tiff)?;
        // SAFETY: no properties are asked for.
        let png = unsafe {
            image.representationUsingType_properties(NSBitmapImageFileType::PNG, &NSDictionary::new())
        };
        return png.map(|png| png.to_vec());
    }
    data.map(|data| data.to_vec())
}

/// The files on the pasteboard.
pub fn pasteboard_files() -> Vec<PathBuf> {
    let classes = NSArray::from_slice(&[NSURL::class()]);
    let yes: Retained<NSNumber> = NSNumber::new_bool(true);
    let yes: Retained<AnyObject> = yes.into();
    // SAFETY: the key is a constant of AppKit, its value is a boolean as it should be, and the class can be read.
    let urls = unsafe {
        let options = NSDictionary::from_retained_objects(&[NSPasteboardURLReadingFileURLsOnlyKey], &[yes]);
        NSPasteboard::generalPasteboard().readObjectsForClasses_options(&classes, Some(&options))
    };
    let urls = urls.map(|urls| urls.to_vec()).unwrap_or_default();
    urls.into_iter().filter_map(|url| path_of(&*url.downcast::<NSURL>().ok()?)).collect()
}

/// Replaces all that is on the pasteboard with one thing of these types; with none it is empty.
pub fn pasteboard_write(items: Vec<HostItem>) -> bool {
    let pasteboard = NSPasteboard::generalPasteboard();
    pasteboard.clearContents();
    items.iter().all(|item| {
        let data = NSData::with_bytes(&item.bytes);
        pasteboard.setData_forType(Some(&data), &NSString::from_str(&item.kind))
    })
}

/// Replaces all that is on the pasteboard with these files.
pub fn pasteboard_write_files(files: Vec<PathBuf>) -> bool {
    let pasteboard = NSPasteboard::generalPasteboard();
    pasteboard.clearContents();
    let urls: Vec<Retained<ProtocolObject<dyn NSPasteboardWriting>>> =
        files.iter().map(|path| ProtocolObject::from_retained(url_of(path))).collect();
    pasteboard.writeObjects(&NSArray::from_retained_slice(&urls))
}

/// The keys of the layout in use; none if it does not say.
pub fn keyboard() -> Vec<HostKey> {
    // SAFETY: what is copied is ours and given back once; the layout lives as long as its source, and is retained.
    let layout = unsafe {
        let source = TISCopyCurrentKeyboardLayoutInputSource();
        if source.is_null() {
            return Vec::new();
        }
        let data = TISGetInputSourceProperty(source, kTISPropertyUnicodeKeyLayoutData) as CFDataRef;
        let layout = (!data.is_null()).then(|| CFData::wrap_under_get_rule(data));
        CFRelease(source);
        layout
    };
    let Some(layout) = layout else { return Vec::new() };
    (0..=LAST_KEY)
        .map(|code| HostKey { code, plain: typed(&layout, code, 0), shifted: typed(&layout, code, SHIFT) })
        .filter(|key| key.plain.is_some() || key.shifted.is_some())
        .collect()
}

/// What a key types.
fn typed(layout: &CFData, code: u16, modifiers: u32) -> Option<char> {
    let (mut dead, mut length, mut text) = (0, 0, [0_u16; 4]);
    // SAFETY: the layout's bytes live as long as `layout`, and all that is written to is ours and as long as is said.
    let error = unsafe {
        UCKeyTranslate(
            layout.bytes().as_ptr().cast(),
            code,
            kUCKeyActionDisplay,
            modifiers,
            u32::from(LMGetKbdType()),
            kUCKeyTranslateNoDeadKeysMask,
            &mut dead,
            text.len(),
            &mut length,
            text.as_mut_ptr(),
        )
    };
    let text = text.get(..length).filter(|_| error == 0)?;
    let mut characters = char::decode_utf16(text.iter().copied()).filter_map(Result::ok);
    let only = characters.next().filter(|character| !character.is_control() && *character != ' ');
    only.filter(|_| characters.next().is_none())
}

/// The displays.
pub fn screens() -> Vec<HostScreen> {
    let Some(thread) = MainThreadMarker::new() else { return Vec::new() };
    let screens = NSScreen::screens(thread);
    // AppKit counts from the bottom of the first screen, everybody else from its top.
    let height = screens.iter().next().map_or(0.0, |first| first.frame().size.height);
    let key = NSString::from_str("NSScreenNumber");
    let each = |screen: Retained<NSScreen>| {
        let number = screen.deviceDescription().objectForKey(&key)?.downcast::<NSNumber>().ok()?;
        let usable = screen.visibleFrame();
        Some(HostScreen {
            display: number.unsignedIntValue(),
            name: screen.localizedName().to_string(),
            usable: CGRect {
                origin: CGPoint { x: usable.origin.x, y: height - usable.origin.y - usable.size.height },
                size: CGSize { width: usable.size.width, height: usable.size.height },
            },
        })
    };
    screens.iter().filter_map(each).collect()
}

/// A picture by ScreenCaptureKit; `None` where the system has none of it. From any thread but thread 0; waits.
pub fn shoot(shot: HostShot, cursor: bool) -> Option<Result<Image, String>> {
    // It came with macOS 14.
    AnyClass::get(c"SCScreenshotManager")?;
    let (answer, reply) = std::sync::mpsc::channel();
    let found = RcBlock::new(move |content: *mut SCShareableContent, error: *mut NSError| {
        // SAFETY: each is null, or lives while the block runs.
        let (content, error) = unsafe { (content.as_ref(), error.as_ref()) };
        let Some(content) = content else {
            let why = error.map(|error| error.localizedDescription().to_string());
            drop(answer.send(Err(why.unwrap_or_else(|| "nothing may be recorded".to_owned()))));
            return;
        };
        match frame(content, shot, cursor) {
            Some((filter, configuration)) => {
                let answer = answer.clone();
                let taken = RcBlock::new(move |image: *mut CGImage, error: *mut NSError| {
                    // Whoever waits may have given up.
                    let _ = answer.send(developed(image, error));
                });
                // SAFETY: filter and configuration live; the block is kept by the callee for as long as it needs it.
                unsafe {
                    SCScreenshotManager::captureImageWithFilter_configuration_completionHandler(
                        &filter,
                        &configuration,
                        Some(&taken),
                    );
                }
            }
            None => drop(answer.send(Err("what was to be in the picture is not there any more".to_owned()))),
        }
    });
    // SAFETY: the block is kept by the callee for as long as it needs it.
    unsafe {
        SCShareableContent::getShareableContentExcludingDesktopWindows_onScreenWindowsOnly_completionHandler(
            false, true, &found,
        );
    }
    let waited = reply.recv_timeout(SHUTTER);
    Some(waited.unwrap_or_else(|_| Err("the picture was not taken in time".to_owned())))
}

/// What is in the picture, and how large it is.
fn frame(
    content: &SCShareableContent,
    shot: HostShot,
    cursor: bool,
) -> Option<(Retained<SCContentFilter>, Retained<SCStreamConfiguration>)> {
    // SAFETY: all of these only read and set plain properties of living objects.
    unsafe {
        let configuration = SCStreamConfiguration::new();
        configuration.setShowsCursor(cursor);
        let (filter, width, height) = match shot {
            HostShot::Display { display, part, scale } => {
                let found = content.displays().iter().find(|found| found.displayID() == display)?;
                let whole = found.frame();
                let filter = SCContentFilter::initWithDisplay_excludingWindows(
                    SCContentFilter::alloc(),
                    &found,
                    &NSArray::new(),
                );
                let mut size = (whole.size.width, whole.size.height);
                if let Some(part) = part {
                    // Counted from the display's own corner.
                    let mut source = whole;
                    source.origin.x = part.origin.x - whole.origin.x;
                    source.origin.y = part.origin.y - whole.origin.y;
                    (source.size.width, source.size.height) = (part.size.width, part.size.height);
                    configuration.setSourceRect(source);
                    size = (part.size.width, part.size.height);
                }
                (filter, size.0 * scale, size.1 * scale)
            }
            HostShot::Window { window, scale } => {
                let found = content.windows().iter().find(|found| found.windowID() == window)?;
                let size = found.frame().size;
                configuration.setIgnoreShadowsSingleWindow(true);
                let filter =
                    SCContentFilter::initWithDesktopIndependentWindow(SCContentFilter::alloc(), &found);
                (filter, size.width * scale, size.height * scale)
            }
        };
        configuration.setWidth(width.round() as usize);
        configuration.setHeight(height.round() as usize);
        Some((filter, configuration))
    }
}

fn developed(image: *mut CGImage, error: *mut NSError) -> Result<Image, String> {
    if image.is_null() {
        // SAFETY: it is null, or lives while the block runs.
        let why = unsafe { error.as_ref() }.map(|error| error.localizedDescription().to_string());
        return Err(why.unwrap_or_else(|| "the system gave no picture".to_owned()));
    }
    // SAFETY: the image lives while the block runs; the reference that is added is given to the one who owns it now.
    let owned = unsafe { Image::own(CFRetain(image as CFTypeRef) as CGImageRef) };
    owned.ok_or_else(|| "the system gave no picture".to_owned())
}
