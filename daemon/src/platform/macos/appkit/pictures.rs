//! The displays, and pictures of what is on them.

use std::time::Duration;

use block2::RcBlock;
use objc2::rc::Retained;
use objc2::runtime::AnyClass;
use objc2::{AnyThread, MainThreadMarker};
use objc2_app_kit::NSScreen;
use objc2_core_graphics::CGImage;
use objc2_foundation::{NSArray, NSError, NSNumber, NSString};
use objc2_screen_capture_kit::{
    SCContentFilter, SCScreenshotManager, SCShareableContent, SCStreamConfiguration,
};

use crate::platform::macos::ffi::cf::{CFRetain, CFTypeRef};
use crate::platform::macos::ffi::cg::{CGImageRef, CGPoint, CGRect, CGSize};
use crate::platform::macos::host::{HostScreen, HostShot};
use crate::platform::macos::image::Image;

/// How long a picture may take.
const SHUTTER: Duration = Duration::from_secs(5);

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
            drop(answer.send(Err(why.unwrap_or_else(|| "screen recording is not permitted".to_owned()))));
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
            None => drop(answer.send(Err("the window or display to capture is gone".to_owned()))),
        }
    });
    // SAFETY: the block is kept by the callee for as long as it needs it.
    unsafe {
        SCShareableContent::getShareableContentExcludingDesktopWindows_onScreenWindowsOnly_completionHandler(
            false, true, &found,
        );
    }
    let waited = reply.recv_timeout(SHUTTER);
    Some(waited.unwrap_or_else(|_| Err("taking the screenshot timed out".to_owned())))
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
        return Err(why.unwrap_or_else(|| "the system returned no image".to_owned()));
    }
    // SAFETY: the image lives while the block runs; the reference that is added is given to the one who owns it now.
    let owned = unsafe { Image::own(CFRetain(image as CFTypeRef) as CGImageRef) };
    owned.ok_or_else(|| "the system returned no image".to_owned())
}
