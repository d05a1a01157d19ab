//! Pictures of the screen, laid out as a Mac lays them out: four bytes a pixel, blue first, rows longer than they
//! are wide.

use std::sync::Arc;
use std::time::Duration;

use axd::platform::{CaptureOf, DesktopAnswer, DesktopCall, Gate, Picture, Platform};
use axd_protocol::Bounds;

use super::CGRect;
use crate::cf::{self, Body, CFTypeRef, Foreign, Kind, Owned};
use crate::world::{Waited, current, wait};

const INCLUDING_WINDOW: u32 = 1 << 3;
/// Rows begin at multiples of this.
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

/// `CGWindowListCreateImage`: of a part of the screen, or of one window. Who may not take pictures gets an empty desktop.
#[unsafe(no_mangle)]
pub extern "C" fn CGWindowListCreateImage(
    bounds: CGRect,
    options: u32,
    window: u32,
    _image_options: u32,
) -> CFTypeRef {
    let Some(world) = current() else { return std::ptr::null() };
    let of = if options & INCLUDING_WINDOW != 0 && window != 0 {
        CaptureOf::Window(u64::from(window))
    } else if bounds.origin.x.is_infinite() {
        CaptureOf::All
    } else {
        CaptureOf::Region(Bounds {
            x: bounds.origin.x as i32,
            y: bounds.origin.y as i32,
            width: bounds.size.x as i32,
            height: bounds.size.y as i32,
        })
    };
    let reply = {
        let _inside = world.runtime.enter();
        world.sim.call(DesktopCall::Capture { of, cursor: false }, Gate::new())
    };
    let Waited::Answer(Ok(DesktopAnswer::Picture(mut picture))) = wait(reply, Duration::from_secs(10)) else {
        return std::ptr::null();
    };
    if !world.settings.lock().may_capture {
        picture.rgb.fill(0x30);
    }
    image(&picture)
}

fn image(picture: &Picture) -> CFTypeRef {
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
    let provider = cf::owned(Kind::DataProvider, Body::Foreign(Arc::new(Provider(bytes))), NAME);
    let image = Image { width, height, row, provider };
    cf::owned(Kind::Image, Body::Foreign(Arc::new(image)), NAME).give()
}

fn of<T>(image: CFTypeRef, function: &'static str, look: impl FnOnce(&Image) -> T, none: T) -> T {
    match cf::foreign::<Image>(image, Kind::Image, function) {
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
    match cf::foreign::<Provider>(provider, Kind::DataProvider, NAME) {
        Some(provider) => cf::data(provider.0.clone(), NAME).give(),
        None => std::ptr::null(),
    }
}
