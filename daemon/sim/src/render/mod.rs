//! Images of the built-in desktop. They contain what elements show and nothing else, so that
//! an image changes if, and only if, what is shown changes.
//!
//! Apps describe their windows as [`WindowImage`]s; `paint` draws those on a `canvas`, with the only `font`.

mod canvas;
mod font;
mod paint;

use axd_protocol::{Bounds, Point, Role, State, States};

use super::model::{Caret, Handle, Model};
use axd_platform::CapturedImage;
use canvas::Canvas;

/// What a window shows.
#[derive(Debug)]
pub(super) struct WindowImage {
    /// The number of the window in the window system.
    pub window: u64,
    /// The bounds of the window.
    pub bounds: Bounds,
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
        Some(WindowImage { window: model.widget(window)?.window?, bounds, items })
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

/// Draws a part of the desktop: the windows, given front to back, and the pointer.
pub(super) fn draw(
    area: Bounds,
    images: &[WindowImage],
    active: Option<u64>,
    pointer: Option<Point>,
) -> CapturedImage {
    let mut canvas = Canvas::new(area, paint::BACKGROUND);
    for image in images.iter().rev() {
        let is_active = active == Some(image.window);
        image.items.iter().for_each(|item| paint::paint(&mut canvas, item, is_active));
    }
    if let Some(pointer) = pointer {
        paint::pointer(&mut canvas, pointer);
    }
    canvas.finish()
}
