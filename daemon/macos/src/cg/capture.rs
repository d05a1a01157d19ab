//! Captures the screen, a part of it, or a window: by ScreenCaptureKit where the system has it, or else by the
//! window server.

use std::time::Duration;

use axd_protocol::{Bounds, Point};
use parking_lot::Mutex;

use super::image::{Image, Pixels};
use crate::appkit;
use crate::appkit::host::{HostCapture, HostCaptureError};
use crate::desktop::displays::{self, Display};
use crate::desktop::permissions;
use crate::desktop::windows;
use crate::ffi::cg::{
    CGPoint, CGRect, CGRectNull, CGSize, CGWindowID, kCGNullWindowID, kCGWindowImageBestResolution,
    kCGWindowImageBoundsIgnoreFraming, kCGWindowImageDefault, kCGWindowListOptionIncludingWindow,
    kCGWindowListOptionOnScreenOnly, window_list_create_image,
};
use axd_platform::{CaptureTarget, CapturedImage, Failure, FailureKind};

/// How long to wait for an earlier capture.
const CAPTURE_TURN_TIMEOUT: Duration = Duration::from_secs(6);

/// Captures an image. Blocks.
pub fn capture(of: CaptureTarget, cursor: bool, displays: &[Display]) -> Result<CapturedImage, Failure> {
    match of {
        CaptureTarget::All => screen(union_of(displays).ok_or_else(no_displays)?, cursor, displays),
        CaptureTarget::Region(part) => {
            let whole = union_of(displays).ok_or_else(no_displays)?;
            let seen = part.intersection(&whole).ok_or_else(|| {
                let said = format!(
                    "{},{} {}x{} is outside the screen, which is {}x{}",
                    part.x, part.y, part.width, part.height, whole.width, whole.height
                );
                Failure::new(FailureKind::Invalid, said)
            })?;
            screen(seen, cursor, displays)
        }
        CaptureTarget::Display(number) => {
            let display = displays.iter().find(|display| display.info.display == number);
            let display = display.ok_or_else(|| no_display(number, displays))?;
            screen(display.info.bounds, cursor, displays)
        }
        CaptureTarget::Window(number) => window(number, cursor, displays),
    }
}

/// Captures a part of the screen, which may span several displays.
fn screen(part: Bounds, cursor: bool, displays: &[Display]) -> Result<CapturedImage, Failure> {
    let mut parts = Vec::new();
    for display in displays {
        let Some(seen) = part.intersection(&display.info.bounds) else { continue };
        let shot = HostCapture::Display {
            display: display.id,
            part: Some(to_cg_rect(seen)),
            scale: display.info.scale,
        };
        match by_screen_capture_kit(shot, cursor) {
            Some(image) => parts.push(to_picture(&image?, seen)?),
            None => {
                return by_window_server(
                    to_cg_rect(part),
                    kCGWindowListOptionOnScreenOnly,
                    kCGNullWindowID,
                    part,
                );
            }
        }
    }
    compose(parts, part).ok_or_else(no_displays)
}

/// Captures a window alone, whatever covers it.
fn window(number: u64, cursor: bool, displays: &[Display]) -> Result<CapturedImage, Failure> {
    let listed = windows::on_screen().into_iter().find(|listed| listed.window == number);
    let Some(listed) = listed else {
        return Err(match windows::owner(number) {
            Some(_) => Failure::new(
                FailureKind::NotSupported,
                "the window is minimized, hidden or on another space, and cannot be captured; restore it first",
            ),
            None => Failure::new(FailureKind::Gone, format!("window {number} not found")),
        });
    };
    let id = CGWindowID::try_from(number)
        .map_err(|_| Failure::new(FailureKind::Gone, format!("window {number} not found")))?;
    let scale = displays::display_of(listed.bounds, displays).map_or(1.0, |display| display.info.scale);
    match by_screen_capture_kit(HostCapture::Window { window: id, scale }, cursor) {
        Some(image) => to_picture(&image?, listed.bounds),
        None => {
            // SAFETY: it is a constant of the system.
            let own_bounds = unsafe { CGRectNull };
            by_window_server(own_bounds, kCGWindowListOptionIncludingWindow, id, listed.bounds)
        }
    }
}

/// An image by ScreenCaptureKit; `None` where that does not exist. Whether it is permitted is found by trying.
fn by_screen_capture_kit(request: HostCapture, cursor: bool) -> Option<Result<Image, Failure>> {
    /// One at a time: while the system asks the user, captures wait for the answer.
    static CAPTURING: Mutex<()> = Mutex::new(());
    let Some(_turn) = CAPTURING.try_lock_for(CAPTURE_TURN_TIMEOUT) else {
        return Some(Err(refused(
            "an earlier screenshot has not finished; macOS may be asking for permission".to_owned(),
        )));
    };
    let image = appkit::capture_image(request, cursor)?;
    Some(image.map_err(|error| match error {
        HostCaptureError::Denied => permissions::screen_recording_refusal(),
        HostCaptureError::Failed(why) => refused(why),
    }))
}

fn by_window_server(
    part: CGRect,
    options: u32,
    window: CGWindowID,
    of: Bounds,
) -> Result<CapturedImage, Failure> {
    // Without the permission it returns an image that lacks all windows.
    permissions::require_screen_recording()?;
    let create = window_list_create_image().ok_or_else(|| {
        Failure::new(FailureKind::NotSupported, "this version of macOS does not support screenshots")
    })?;
    let how = kCGWindowImageDefault | kCGWindowImageBestResolution | kCGWindowImageBoundsIgnoreFraming;
    // SAFETY: all arguments are plain values, and the result is null, or an object whose reference is ours.
    let image = unsafe { Image::from_owned(create(part, options, window, how)) };
    to_picture(&image.ok_or_else(|| refused("the window server returned no image".to_owned()))?, of)
}

fn to_picture(image: &Image, of: Bounds) -> Result<CapturedImage, Failure> {
    let pixels = image.pixels();
    let Pixels { width, height, rgb } =
        pixels.ok_or_else(|| refused("the image has an unknown pixel format".to_owned()))?;
    let scale = f64::from(width) / f64::from(of.width.max(1));
    Ok(CapturedImage { width, height, rgb, origin: Point { x: of.x, y: of.y }, scale, popups: Vec::new() })
}

/// Combines images that lie side by side. What no display shows is black.
fn compose(mut parts: Vec<CapturedImage>, whole: Bounds) -> Option<CapturedImage> {
    let is_whole = |part: &CapturedImage| {
        let side = |pixels: u32| (f64::from(pixels) / part.scale).round() as i32;
        part.origin == Point { x: whole.x, y: whole.y }
            && (side(part.width), side(part.height)) == (whole.width, whole.height)
    };
    if parts.len() <= 1 && parts.iter().all(is_whole) {
        return parts.pop();
    }
    let scale = parts.iter().map(|part| part.scale).fold(1.0, f64::max);
    let pixels = |points: i32| (f64::from(points) * scale).round().max(0.0) as usize;
    let (width, height) = (pixels(whole.width), pixels(whole.height));
    let mut rgb = vec![0; width.checked_mul(height)?.checked_mul(3)?];
    for part in &parts {
        let (left, top) = (pixels(part.origin.x - whole.x), pixels(part.origin.y - whole.y));
        let ratio = part.scale / scale;
        let (own_width, own_height) = (part.width as usize, part.height as usize);
        let bottom = height.min(top + (own_height as f64 / ratio).round() as usize);
        let right = width.min(left + (own_width as f64 / ratio).round() as usize);
        for y in top..bottom {
            let from_y = (((y - top) as f64 * ratio) as usize).min(own_height.saturating_sub(1));
            for x in left..right {
                let from_x = (((x - left) as f64 * ratio) as usize).min(own_width.saturating_sub(1));
                let (from, to) = ((from_y * own_width + from_x) * 3, (y * width + x) * 3);
                rgb[to..to + 3].copy_from_slice(part.rgb.get(from..from + 3)?);
            }
        }
    }
    let origin = Point { x: whole.x, y: whole.y };
    Some(CapturedImage {
        width: u32::try_from(width).ok()?,
        height: u32::try_from(height).ok()?,
        rgb,
        origin,
        scale,
        popups: Vec::new(),
    })
}

/// The smallest rectangle that contains all displays.
fn union_of(displays: &[Display]) -> Option<Bounds> {
    let all = || displays.iter().map(|display| display.info.bounds);
    let (x, y) = (all().map(|one| one.x).min()?, all().map(|one| one.y).min()?);
    let right = all().map(|one| one.x + one.width).max()?;
    let bottom = all().map(|one| one.y + one.height).max()?;
    Some(Bounds { x, y, width: right - x, height: bottom - y })
}

fn to_cg_rect(bounds: Bounds) -> CGRect {
    CGRect {
        origin: CGPoint { x: f64::from(bounds.x), y: f64::from(bounds.y) },
        size: CGSize { width: f64::from(bounds.width), height: f64::from(bounds.height) },
    }
}

fn refused(why: String) -> Failure {
    Failure::new(FailureKind::Refused, why)
}

fn no_displays() -> Failure {
    Failure::new(FailureKind::NotSupported, "no display is connected")
}

fn no_display(number: u32, displays: &[Display]) -> Failure {
    let known: Vec<String> = displays.iter().map(|display| display.info.display.to_string()).collect();
    Failure::new(FailureKind::Invalid, format!("display {number} not found; there are {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(x: i32, width: u32, scale: f64, red: u8) -> CapturedImage {
        let rgb = [red, 0, 0].repeat((width * width) as usize);
        CapturedImage { width, height: width, rgb, origin: Point { x, y: 0 }, scale, popups: Vec::new() }
    }

    #[test]
    fn displays_of_different_scale_make_one_picture() {
        let whole = Bounds { x: -1, y: 0, width: 2, height: 1 };
        let one = compose(vec![part(0, 2, 2.0, 7), part(-1, 1, 1.0, 9)], whole).unwrap();
        assert_eq!((one.width, one.height, one.scale), (4, 2, 2.0));
        let reds: Vec<u8> = one.rgb.chunks(3).map(|pixel| pixel[0]).collect();
        assert_eq!(reds, [9, 9, 7, 7, 9, 9, 7, 7]);
    }
}
