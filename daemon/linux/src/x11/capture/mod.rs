//! Pictures of the screen, of a part of it, or of a window.
//!
//! Read in this order: `pixels` is pure; `get_image` fetches pixels; `composite` makes those of a covered window
//! available; `popups` says which popups a window has, and puts them into its picture.

mod composite;
mod get_image;
mod pixels;
mod popups;

use axd_protocol::{Bounds, DisplayInfo, Point};
use parking_lot::Mutex;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::protocol::xfixes::ConnectionExt as _;
use x11rb::protocol::xproto::{ConnectionExt as _, MapState, Window};

use crate::x11::capture::composite::WindowPixels;
use crate::x11::capture::get_image::{ImageReader, is_outside, layout};
use crate::x11::capture::pixels::{Cursor, Layout, draw_cursor, overlap};
use crate::x11::connection::{Display, XError, XResult};
use crate::x11::screen;
use axd_platform::{CaptureTarget, CapturedImage, Failure, FailureKind};

/// Takes pictures, one at a time, over a connection of its own.
#[derive(Default)]
pub(crate) struct Capture(Mutex<Option<Capturer>>);

impl Capture {
    /// Takes a picture. Blocks.
    pub fn take(
        &self,
        of: CaptureTarget,
        cursor: bool,
        displays: &[DisplayInfo],
    ) -> Result<CapturedImage, Failure> {
        let mut capturer = self.0.lock();
        let ready = match &mut *capturer {
            Some(ready) => ready,
            None => capturer.insert(Capturer::on(Display::open()?)?),
        };
        let result = ready.take(of, cursor, displays);
        // Whatever went wrong with the connection, the next picture is taken over a new one.
        if ready.display.sync().is_err() {
            *capturer = None;
        }
        result
    }
}

struct Capturer {
    display: Display,
    image_reader: ImageReader,
    window_pixels: WindowPixels,
    /// How the pixels of the screen lie.
    layout: Layout,
    /// A screen inside Wayland, which has no pixels of its own.
    rootless: bool,
}

impl Capturer {
    fn on(display: Display) -> Result<Capturer, Failure> {
        let screen = &display.connection.setup().roots[display.screen];
        let layout = layout(&display, screen.root_depth, screen.root_visual)?;
        let rootless = display.connection.extension_information("XWAYLAND").map_err(XError::from)?.is_some();
        Ok(Capturer {
            window_pixels: WindowPixels::new(&display)?,
            image_reader: ImageReader::default(),
            layout,
            rootless,
            display,
        })
    }

    fn take(
        &mut self,
        of: CaptureTarget,
        cursor: bool,
        displays: &[DisplayInfo],
    ) -> Result<CapturedImage, Failure> {
        let mut picture = match of {
            CaptureTarget::All => self.screen(None)?,
            CaptureTarget::Region(part) => self.screen(Some(part))?,
            CaptureTarget::Display(number) => {
                let display = displays.iter().find(|display| display.display == number);
                let display = display.ok_or_else(|| no_display(number, displays))?;
                self.screen(Some(display.bounds))?
            }
            CaptureTarget::Window(window) => {
                let window = Window::try_from(window).map_err(|_| no_window(window))?;
                self.with_popups(window)?
            }
        };
        if cursor {
            let shape = self.cursor()?;
            draw_cursor(&mut picture.rgb, picture.width, picture.origin, &shape);
        }
        Ok(picture)
    }

    /// The screen, or a part of it.
    fn screen(&mut self, part: Option<Bounds>) -> Result<CapturedImage, Failure> {
        if self.rootless {
            let message = "under Wayland only X11 windows can be captured, not the screen; capture a window";
            return Err(Failure::new(FailureKind::NotSupported, message));
        }
        let whole = self.whole()?;
        let part = part.unwrap_or(whole);
        let seen = overlap(part, whole).ok_or_else(|| {
            let message = format!(
                "{},{} {}x{} is outside the screen, which is {}x{}",
                part.x, part.y, part.width, part.height, whole.width, whole.height
            );
            Failure::new(FailureKind::Invalid, message)
        })?;
        let rgb = self.image_reader.read(&self.display, self.display.root, seen, &self.layout)?;
        Ok(picture(rgb, seen))
    }

    /// A window with its popups.
    fn with_popups(&mut self, window: Window) -> Result<CapturedImage, Failure> {
        let seen = popups::top_windows(&self.display, window)?;
        let bounds = match screen::window_area(&self.display, window) {
            Ok((bounds, _)) => bounds,
            Err(error) if error.is_gone() => return Err(no_window(u64::from(window))),
            Err(error) => return Err(error.into()),
        };
        let popups = popups::popups_of(&seen, window, bounds);
        let members: Vec<Window> = popups.iter().map(|popup| popup.window).collect();
        let image = self.window(window, &members)?;
        let has_screen = !self.rootless && !self.window_pixels.is_composited(&self.display)?;
        let mut images = Vec::new();
        for popup in &popups {
            let image = match has_screen && !popups::is_covered(&seen, popup, &popups) {
                true => self.screen(Some(popup.bounds)),
                false => self.window(popup.window, &members),
            };
            match image {
                Ok(image) => images.push(image),
                // It was closed meanwhile, or is beyond the edge of the screen.
                Err(failure)
                    if matches!(
                        failure.kind,
                        FailureKind::Gone | FailureKind::NotSupported | FailureKind::Invalid
                    ) => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(popups::compose(image, &images))
    }

    /// A window: its own pixels if they can be had, else what is on the screen in its place, its popups included.
    fn window(&mut self, window: Window, popups: &[Window]) -> Result<CapturedImage, Failure> {
        let connection = &self.display.connection;
        let attributes = connection.get_window_attributes(window).map_err(XError::from)?;
        let geometry = connection.get_geometry(window).map_err(XError::from)?;
        let (attributes, geometry) = match (attributes.reply(), geometry.reply()) {
            (Ok(attributes), Ok(geometry)) => (attributes, geometry),
            _ => return Err(no_window(u64::from(window))),
        };
        if attributes.map_state != MapState::VIEWABLE {
            let message = "the window is minimized or hidden, and cannot be captured; restore it first";
            return Err(Failure::new(FailureKind::NotSupported, message));
        }
        let (bounds, origin) = screen::window_area(&self.display, window)?;
        let whole = self.whole()?;
        let on_screen = overlap(bounds, whole) == Some(bounds);
        if self.window_pixels.ensure_complete(&self.display, window, bounds, on_screen, popups)? {
            let layout = layout(&self.display, geometry.depth, attributes.visual)?;
            let part = Bounds { x: bounds.x - origin.x, y: bounds.y - origin.y, ..bounds };
            match self.image_reader.read(&self.display, window, part, &layout) {
                Ok(rgb) => return Ok(picture(rgb, bounds)),
                Err(error) if is_outside(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.screen(Some(bounds))
    }

    fn whole(&self) -> XResult<Bounds> {
        let root = self.display.connection.get_geometry(self.display.root)?.reply()?;
        Ok(Bounds { x: 0, y: 0, width: i32::from(root.width), height: i32::from(root.height) })
    }

    fn cursor(&self) -> Result<Cursor, Failure> {
        self.display.require_extension("XFIXES")?;
        let ask = || -> XResult<_> {
            self.display.connection.xfixes_query_version(5, 0)?.reply()?;
            Ok(self.display.connection.xfixes_get_cursor_image()?.reply()?)
        };
        let image = ask()?;
        let at = |place: i16, hot: u16| i32::from(place) - i32::from(hot);
        Ok(Cursor {
            at: Point { x: at(image.x, image.xhot), y: at(image.y, image.yhot) },
            width: u32::from(image.width),
            pixels: image.cursor_image,
        })
    }
}

fn picture(rgb: Vec<u8>, of: Bounds) -> CapturedImage {
    CapturedImage {
        width: of.width.unsigned_abs(),
        height: of.height.unsigned_abs(),
        rgb,
        origin: Point { x: of.x, y: of.y },
        scale: 1.0,
        popups: Vec::new(),
    }
}

fn no_window(window: u64) -> Failure {
    Failure::new(FailureKind::Gone, format!("window {window} not found"))
}

fn no_display(number: u32, displays: &[DisplayInfo]) -> Failure {
    let known: Vec<String> = displays.iter().map(|display| display.display.to_string()).collect();
    Failure::new(FailureKind::Invalid, format!("display {number} not found; there are {}", known.join(", ")))
}
