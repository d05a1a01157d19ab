//! Images of the screen, in the layout of a Mac: four bytes per pixel, blue first, rows padded beyond
//! their width.

use std::sync::Arc;
use std::time::Duration;

use axd_platform::{CaptureTarget, CapturedImage, Platform};
use axd_protocol::{Bounds, DisplayInfo, Point};

use super::CGRect;
use crate::cf::{self, Body, CFTypeRef, Foreign, ObjectKind, Owned};
use crate::world::{Inner, WaitResult, current, wait};

const INCLUDING_WINDOW: u32 = 1 << 3;
const NOMINAL_RESOLUTION: u32 = 1 << 4;
/// The length of a row is a multiple of this.
const ALIGNED: usize = 64;
/// Alpha first, in little-endian words: blue, green, red, alpha in memory.
const BLUE_FIRST: u32 = 2 | (2 << 12);

struct Image {
    width: usize,
    height: usize,
    row: usize,
    provider: Owned,
}

impl Foreign for Image {
    fn describe(&self) -> String {
        format!("{} x {}", self.width, self.height)
    }
}

struct Provider(Vec<u8>);

impl Foreign for Provider {}

/// `CGWindowListCreateImage`: of a part of the screen, or of one window, in its pixels unless points
/// will do. Who may not take pictures gets an empty desktop.
#[unsafe(no_mangle)]
pub extern "C" fn CGWindowListCreateImage(
    bounds: CGRect,
    options: u32,
    window: u32,
    image_options: u32,
) -> CFTypeRef {
    let Some(world) = current() else { return std::ptr::null() };
    let of = if options & INCLUDING_WINDOW != 0 && window != 0 {
        CaptureTarget::Window(u64::from(window))
    } else if bounds.origin.x.is_infinite() {
        CaptureTarget::All
    } else {
        CaptureTarget::Region(bounds.bounds())
    };
    let scale = if image_options & NOMINAL_RESOLUTION != 0 { 1.0 } else { finest(&world, of) };
    shot(&world, of, scale, false)
}

/// The pixels a point that something is shown with: of a window those of the display that most of it is on, of a part
/// of the screen those of the finest display that shows some of it.
fn finest(world: &Inner, of: CaptureTarget) -> f64 {
    let displays = world.sim.displays();
    let shared = |part: Bounds, display: &DisplayInfo| {
        part.intersection(&display.bounds).map_or(0, |part| i64::from(part.width) * i64::from(part.height))
    };
    let scales: Vec<f64> = match of {
        CaptureTarget::Window(number) => {
            let windows = world.sim.windows();
            let window = windows.into_iter().find(|seen| seen.window == number);
            let bounds = window.and_then(|window| window.bounds).unwrap_or_default();
            let on = displays.iter().max_by_key(|display| shared(bounds, display));
            on.map(|display| display.scale).into_iter().collect()
        }
        CaptureTarget::Region(part) => {
            let showing = displays.iter().filter(|display| shared(part, display) > 0);
            showing.map(|display| display.scale).collect()
        }
        _ => displays.iter().map(|display| display.scale).collect(),
    };
    scales.into_iter().fold(1.0, f64::max)
}

/// A picture of something, with so many pixels a point; null if there is nothing of it on the screen.
pub(crate) fn shot(world: &Inner, of: CaptureTarget, scale: f64, cursor: bool) -> CFTypeRef {
    let reply = {
        let _inside = world.runtime.enter();
        world.sim.capture(of, cursor)
    };
    let WaitResult::Answer(Ok(picture)) = wait(reply, Duration::from_secs(10)) else {
        return std::ptr::null();
    };
    // It has as many pixels as are asked for, and a Mac's picture of a window is without its popups.
    let mut picture = without_popups(world, of, magnified(&picture, 1.0));
    if !matches!(of, CaptureTarget::Window(_)) {
        darken(&mut picture, &world.sim.displays());
    }
    if !world.settings.lock().may_capture {
        picture.rgb.fill(0x30);
    }
    image(&magnified(&picture, scale))
}

/// The part of a picture with one pixel a point that shows the window itself.
fn without_popups(world: &Inner, of: CaptureTarget, picture: CapturedImage) -> CapturedImage {
    let CaptureTarget::Window(number) = of else { return picture };
    let window = world.sim.windows().into_iter().find(|seen| seen.window == number);
    let Point { x, y } = picture.origin;
    let whole = Bounds { x, y, width: picture.width as i32, height: picture.height as i32 };
    let own = window.and_then(|window| window.bounds?.intersection(&whole));
    let Some(own) = own.filter(|own| *own != whole && !picture.popups.is_empty()) else { return picture };
    let (left, top) = ((own.x - x) as usize * 3, (own.y - y) as usize);
    let (width, height) = (own.width as usize * 3, own.height as usize);
    let rows = picture.rgb.chunks_exact(picture.width as usize * 3).skip(top).take(height);
    let rgb = rows.flat_map(|row| row[left..left + width].iter().copied()).collect();
    CapturedImage {
        width: own.width as u32,
        height: own.height as u32,
        rgb,
        origin: Point { x: own.x, y: own.y },
        popups: Vec::new(),
        ..picture
    }
}

/// Makes black what no display shows.
fn darken(picture: &mut CapturedImage, displays: &[DisplayInfo]) {
    let Point { x: left, y: top } = picture.origin;
    let line = picture.width as usize * 3;
    for (y, row) in (top..).zip(picture.rgb.chunks_exact_mut(line.max(3))) {
        for (x, pixel) in (left..).zip(row.chunks_exact_mut(3)) {
            if !displays.iter().any(|display| display.bounds.contains(Point { x, y })) {
                pixel.fill(0);
            }
        }
    }
}

/// The same with so many pixels a point.
fn magnified(picture: &CapturedImage, scale: f64) -> CapturedImage {
    let (width, height) = (picture.width as usize, picture.height as usize);
    let scale_by = scale / picture.scale;
    let size = |pixels: usize| (pixels as f64 * scale_by).round() as usize;
    let (wide, high) = (size(width), size(height));
    let from = |pixel: usize, most: usize| ((pixel as f64 / scale_by) as usize).min(most.saturating_sub(1));
    let mut rgb = Vec::with_capacity(wide * high * 3);
    for y in 0..high {
        for x in 0..wide {
            let at = (from(y, height) * width + from(x, width)) * 3;
            rgb.extend_from_slice(&picture.rgb[at..at + 3]);
        }
    }
    CapturedImage {
        width: wide as u32,
        height: high as u32,
        rgb,
        origin: picture.origin,
        scale,
        popups: picture.popups.clone(),
    }
}

fn image(picture: &CapturedImage) -> CFTypeRef {
    const NAME: &str = "CGWindowListCreateImage";
    let (width, height) = (picture.width as usize, picture.height as usize);
    let row = (width * 4).next_multiple_of(ALIGNED);
    let mut bytes = Vec::with_capacity(row * height);
    for line in picture.rgb.chunks_exact(width.max(1) * 3) {
        for pixel in line.chunks_exact(3) {
            bytes.extend([pixel[2], pixel[1], pixel[0], 0xff]);
        }
        bytes.resize(bytes.len().next_multiple_of(ALIGNED), 0);
    }
    let provider = cf::owned(ObjectKind::DataProvider, Body::Foreign(Arc::new(Provider(bytes))), NAME);
    let image = Image { width, height, row, provider };
    cf::owned(ObjectKind::Image, Body::Foreign(Arc::new(image)), NAME).give()
}

fn of<T>(image: CFTypeRef, function: &'static str, look: impl FnOnce(&Image) -> T, none: T) -> T {
    match cf::foreign::<Image>(image, ObjectKind::Image, function) {
        Some(image) => look(&image),
        None => none,
    }
}

/// `CGImageGetWidth`.
#[unsafe(no_mangle)]
pub extern "C" fn CGImageGetWidth(image: CFTypeRef) -> usize {
    of(image, "CGImageGetWidth", |image| image.width, 0)
}

/// `CGImageGetHeight`.
#[unsafe(no_mangle)]
pub extern "C" fn CGImageGetHeight(image: CFTypeRef) -> usize {
    of(image, "CGImageGetHeight", |image| image.height, 0)
}

/// `CGImageGetBytesPerRow`.
#[unsafe(no_mangle)]
pub extern "C" fn CGImageGetBytesPerRow(image: CFTypeRef) -> usize {
    of(image, "CGImageGetBytesPerRow", |image| image.row, 0)
}

/// `CGImageGetBitsPerPixel`.
#[unsafe(no_mangle)]
pub extern "C" fn CGImageGetBitsPerPixel(image: CFTypeRef) -> usize {
    of(image, "CGImageGetBitsPerPixel", |_| 32, 0)
}

/// `CGImageGetBitmapInfo`.
#[unsafe(no_mangle)]
pub extern "C" fn CGImageGetBitmapInfo(image: CFTypeRef) -> u32 {
    of(image, "CGImageGetBitmapInfo", |_| BLUE_FIRST, 0)
}

/// `CGImageGetDataProvider`: borrowed.
#[unsafe(no_mangle)]
pub extern "C" fn CGImageGetDataProvider(image: CFTypeRef) -> CFTypeRef {
    of(image, "CGImageGetDataProvider", |image| image.provider.get(), std::ptr::null())
}

/// `CGDataProviderCopyData`.
#[unsafe(no_mangle)]
pub extern "C" fn CGDataProviderCopyData(provider: CFTypeRef) -> CFTypeRef {
    const NAME: &str = "CGDataProviderCopyData";
    match cf::foreign::<Provider>(provider, ObjectKind::DataProvider, NAME) {
        Some(provider) => cf::data(provider.0.clone(), NAME).give(),
        None => std::ptr::null(),
    }
}
