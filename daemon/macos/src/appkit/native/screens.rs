//! The displays, and images by ScreenCaptureKit.

use std::time::Duration;

use block2::RcBlock;
use objc2::rc::Retained;
use objc2::runtime::AnyClass;
use objc2::{AnyThread, MainThreadMarker};
use objc2_app_kit::NSScreen;
use objc2_core_graphics::CGImage;
use objc2_foundation::{NSArray, NSError, NSNumber, NSString};
use objc2_screen_capture_kit::{
    SCContentFilter, SCScreenshotManager, SCShareableContent, SCStreamConfiguration, SCStreamErrorCode,
};

use super::plain;
use crate::appkit::host::{HostCapture, HostCaptureError, HostScreen};
use crate::ax::guard;
use crate::cg::image::Image;
use crate::ffi::cf::{CFRetain, CFTypeRef};
use crate::ffi::cg::{CGImageRef, CGPoint, CGRect, CGSize};

/// How long an image may take.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(5);

/// The displays.
pub fn screens() -> Vec<HostScreen> {
    let Some(thread) = MainThreadMarker::new() else { return Vec::new() };
    let screens = NSScreen::screens(thread);
    // AppKit counts from the bottom of the first screen, CoreGraphics from its top.
    let height = screens.iter().next().map_or(0.0, |first| first.frame().size.height);
    let key = NSString::from_str("NSScreenNumber");
    let each = |screen: Retained<NSScreen>| {
        let number = screen.deviceDescription().objectForKey(&key)?.downcast::<NSNumber>().ok()?;
        let usable = screen.visibleFrame();
        Some(HostScreen {
            display: number.unsignedIntValue(),
            name: plain(&screen.localizedName()),
            usable: CGRect {
                origin: CGPoint { x: usable.origin.x, y: height - usable.origin.y - usable.size.height },
                size: CGSize { width: usable.size.width, height: usable.size.height },
            },
        })
    };
    screens.iter().filter_map(each).collect()
}

/// An image by ScreenCaptureKit; `None` where that does not exist. Blocks, and must not be called on thread 0.
pub fn capture_image(request: HostCapture, cursor: bool) -> Option<Result<Image, HostCaptureError>> {
    // It came with macOS 14.
    AnyClass::get(c"SCScreenshotManager")?;
    let (answer, reply) = std::sync::mpsc::channel();
    let found = RcBlock::new(guard::block2(
        "a capture",
        move |content: *mut SCShareableContent, error: *mut NSError| {
            // SAFETY: each is null, or lives while the block runs.
            let (content, error) = unsafe { (content.as_ref(), error.as_ref()) };
            let Some(content) = content else {
                drop(answer.send(Err(capture_error(error))));
                return;
            };
            match frame(content, request, cursor) {
                Some((filter, configuration)) => {
                    let answer = answer.clone();
                    let taken = RcBlock::new(guard::block2(
                        "a capture",
                        move |image: *mut CGImage, error: *mut NSError| {
                            // The receiver is gone if the capture timed out.
                            let _ = answer.send(finished_image(image, error));
                        },
                    ));
                    // SAFETY: filter and configuration live; the block is kept by the callee for as long as it needs it.
                    unsafe {
                        SCScreenshotManager::captureImageWithFilter_configuration_completionHandler(
                            &filter,
                            &configuration,
                            Some(&taken),
                        );
                    }
                }
                None => {
                    let gone = "the window or display to capture is gone".to_owned();
                    drop(answer.send(Err(HostCaptureError::Failed(gone))));
                }
            }
        },
    ));
    // SAFETY: the block is kept by the callee for as long as it needs it.
    unsafe {
        SCShareableContent::getShareableContentExcludingDesktopWindows_onScreenWindowsOnly_completionHandler(
            false, true, &found,
        );
    }
    let waited = reply.recv_timeout(CAPTURE_TIMEOUT);
    let late = "taking the screenshot timed out; macOS may be asking for permission";
    Some(waited.unwrap_or_else(|_| Err(HostCaptureError::Failed(late.to_owned()))))
}

/// The content filter and configuration of a request; `None` if the display or window is gone.
fn frame(
    content: &SCShareableContent,
    request: HostCapture,
    cursor: bool,
) -> Option<(Retained<SCContentFilter>, Retained<SCStreamConfiguration>)> {
    // SAFETY: all of these only read and set plain properties of living objects.
    unsafe {
        let configuration = SCStreamConfiguration::new();
        configuration.setShowsCursor(cursor);
        let (filter, width, height) = match request {
            HostCapture::Display { display, part, scale } => {
                let found = content.displays().iter().find(|found| found.displayID() == display)?;
                let whole = found.frame();
                let filter = SCContentFilter::initWithDisplay_excludingWindows(
                    SCContentFilter::alloc(),
                    &found,
                    &NSArray::new(),
                );
                let mut size = (whole.size.width, whole.size.height);
                if let Some(part) = part {
                    // The rectangle is relative to the display's own corner.
                    let mut source = whole;
                    source.origin.x = part.origin.x - whole.origin.x;
                    source.origin.y = part.origin.y - whole.origin.y;
                    (source.size.width, source.size.height) = (part.size.width, part.size.height);
                    configuration.setSourceRect(source);
                    size = (part.size.width, part.size.height);
                }
                (filter, size.0 * scale, size.1 * scale)
            }
            HostCapture::Window { window, scale } => {
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

/// What an error of ScreenCaptureKit means.
fn capture_error(error: Option<&NSError>) -> HostCaptureError {
    match error {
        Some(error) if error.code() == SCStreamErrorCode::UserDeclined.0 => HostCaptureError::Denied,
        Some(error) => HostCaptureError::Failed(plain(&error.localizedDescription())),
        None => HostCaptureError::Failed("the system returned no image".to_owned()),
    }
}

fn finished_image(image: *mut CGImage, error: *mut NSError) -> Result<Image, HostCaptureError> {
    if image.is_null() {
        // SAFETY: it is null, or lives while the block runs.
        return Err(capture_error(unsafe { error.as_ref() }));
    }
    // SAFETY: the image lives while the block runs; the added reference is passed on with it.
    let owned = unsafe { Image::from_owned(CFRetain(image as CFTypeRef) as CGImageRef) };
    owned.ok_or_else(|| capture_error(None))
}
