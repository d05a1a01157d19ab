//! Images of the built-in desktop. They contain what elements show and nothing else, so that
//! an image changes if, and only if, what is shown changes.
//!
//! Apps describe their windows as [`WindowImage`]s; `paint` draws those on a `canvas`, with the only `font`.

mod canvas;
mod font;
mod paint;

use axd_protocol::{Bounds, Point, Role, State, States};

use super::model::{Caret, Handle, Model, union};
use axd_platform::CapturedImage;
use canvas::Canvas;

/// The colour of the desktop where there is no window.
pub(super) const BACKGROUND: [u8; 3] = paint::BACKGROUND;

/// What a window shows.
#[derive(Debug)]
pub(super) struct WindowImage {
    /// The number of the window in the window system.
    pub window: u64,
    /// The bounds of the window.
    pub bounds: Bounds,
    /// Its open popups, from the lowest to the topmost.
    pub popups: Vec<Bounds>,
    /// The elements of the window and its popups, in painting order; the window itself is the first.
    items: Vec<DrawItem>,
}

/// What one element shows.
#[derive(Debug)]
struct DrawItem {
    role: Role,
    bounds: Bounds,
    /// The visible part of the bounds.
    seen: Bounds,
    name: String,
    /// The value; dots, if the element is secure.
    value: String,
    states: States,
    caret: Option<Caret>,
    /// The position of a number in its range, from 0 to 1.
    fraction: Option<f64>,
    /// Whether its children show everything, so that it has nothing to draw itself.
    is_shown_by_children: bool,
}

/// The images of the windows of an app, without minimized ones.
pub(super) fn window_images(model: &mut Model) -> Vec<WindowImage> {
    let shown: Vec<Handle> =
        model.windows().iter().copied().filter(|window| !model.frame(*window).minimized).collect();
    let images = shown.into_iter().filter_map(|window| {
        let painted = model.painted(window);
        let items =
            painted.into_iter().filter_map(|(handle, bounds, seen)| draw_item(model, handle, bounds, seen));
        let items = items.collect();
        let bounds = model.window_bounds(window)?;
        let popups = model.popups(window);
        Some(WindowImage { window: model.widget(window)?.window?, bounds, popups, items })
    });
    images.collect()
}

fn draw_item(model: &Model, handle: Handle, bounds: Bounds, seen: Bounds) -> Option<DrawItem> {
    let widget = model.widget(handle)?;
    let held = widget.value.as_deref().unwrap_or_default();
    let value = match widget.states.has(State::Secure) {
        true => "•".repeat(held.chars().count()),
        false => held.to_owned(),
    };
    Some(DrawItem {
        role: widget.role,
        bounds,
        seen,
        name: widget.name.clone().unwrap_or_default(),
        value,
        states: widget.states,
        caret: (model.shows_text(handle) && widget.states.has(State::Focused)).then(|| model.caret(handle)),
        fraction: model.fraction(handle),
        is_shown_by_children: widget.role == Role::Row && !widget.children.is_empty(),
    })
}

/// The smallest rectangle that holds a window with its popups.
pub(super) fn with_popups(image: &WindowImage) -> Bounds {
    image.popups.iter().fold(image.bounds, |area, popup| union(area, *popup))
}

/// The image on a display that has so many pixels per point.
pub(super) fn enlarged(image: CapturedImage, scale: f64) -> CapturedImage {
    if scale == image.scale || image.width == 0 {
        return image;
    }
    let pixels = |points: u32| (f64::from(points) * scale).round() as usize;
    let (width, height) = (pixels(image.width), pixels(image.height));
    let mut rgb = Vec::with_capacity(width * height * 3);
    for y in 0..height {
        let from_y = ((y as f64 / scale) as usize).min(image.height as usize - 1);
        for x in 0..width {
            let from_x = ((x as f64 / scale) as usize).min(image.width as usize - 1);
            let from = (from_y * image.width as usize + from_x) * 3;
            rgb.extend_from_slice(&image.rgb[from..from + 3]);
        }
    }
    CapturedImage { width: width as u32, height: height as u32, rgb, scale, ..image }
}

/// Draws a part of the desktop: the windows, given front to back, and the pointer. Where there is no window, there is this colour.
pub(super) fn draw(
    area: Bounds,
    images: &[WindowImage],
    active: Option<u64>,
    pointer: Option<Point>,
    background: [u8; 3],
) -> CapturedImage {
    let mut canvas = Canvas::new(area, background);
    for image in images.iter().rev() {
        let is_active = active == Some(image.window);
        image.items.iter().for_each(|item| paint::paint(&mut canvas, item, is_active));
    }
    if let Some(pointer) = pointer {
        paint::pointer(&mut canvas, pointer);
    }
    canvas.finish()
}
