//! Pictures of the built-in desktop: plain, and true. Whatever an element shows is in them, and nothing else is, so
//! a picture changes when what is shown does, and only then.
//!
//! Apps say what their windows show as [`Sheet`]s; `paint` draws those on a `canvas`, in the one `font` there is.

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
    /// The window system's number of it.
    pub window: u64,
    /// Where it is.
    pub bounds: Bounds,
    /// What is in it and around it, in the order it is painted; the window itself first.
    items: Vec<DrawItem>,
}

/// What is shown of one element.
#[derive(Debug)]
struct DrawItem {
    role: Role,
    bounds: Bounds,
    /// The part of it that can be seen.
    seen: Bounds,
    name: String,
    /// What it holds; dots, if it is secure.
    value: String,
    states: States,
    caret: Option<Caret>,
    /// How far a number is between its least and its greatest.
    fraction: Option<f64>,
    /// Whether what is in it says all there is to say.
    is_shown_by_children: bool,
}

/// What the windows of an app show, but for those that are put away.
pub(super) fn window_images(model: &mut Model) -> Vec<WindowImage> {
    let shown: Vec<Handle> =
        model.windows().iter().copied().filter(|window| !model.frame(*window).minimized).collect();
    let sheets = shown.into_iter().filter_map(|window| {
        let painted = model.painted(window);
        let marks =
            painted.into_iter().filter_map(|(handle, bounds, seen)| draw_item(model, handle, bounds, seen));
        let marks = marks.collect();
        let bounds = model.window_bounds(window)?;
        Some(WindowImage { window: model.widget(window)?.window?, bounds, items: marks })
    });
    sheets.collect()
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

/// Draws a part of the desktop: the sheets, front to back, and the pointer.
pub(super) fn draw(
    area: Bounds,
    sheets: &[WindowImage],
    active: Option<u64>,
    pointer: Option<Point>,
) -> CapturedImage {
    let mut canvas = Canvas::new(area, paint::BACKGROUND);
    for sheet in sheets.iter().rev() {
        let is_active = active == Some(sheet.window);
        sheet.items.iter().for_each(|mark| paint::paint(&mut canvas, mark, is_active));
    }
    if let Some(pointer) = pointer {
        paint::pointer(&mut canvas, pointer);
    }
    canvas.finish()
}
