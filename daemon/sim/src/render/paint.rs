//! How elements look.

use axd_protocol::{Bounds, Point, Role, State};

use super::DrawItem;
use super::canvas::{Canvas, Colour};
use crate::model::{CELL, PADDING};

/// The desktop behind the windows.
pub(super) const BACKGROUND: Colour = [0x3b, 0x5b, 0x6b];
const FIELD: Colour = [0xff, 0xff, 0xff];
const PANEL: Colour = [0xec, 0xec, 0xec];
const BUTTON_FACE: Colour = [0xd8, 0xd8, 0xd8];
const BUTTON_PRESSED: Colour = [0xb0, 0xb0, 0xb0];
const EDGE: Colour = [0x80, 0x80, 0x80];
const TEXT: Colour = [0x10, 0x10, 0x10];
const DISABLED_TEXT: Colour = [0xa0, 0xa0, 0xa0];
const ACCENT: Colour = [0x20, 0x60, 0xc0];
const SELECTION: Colour = [0xb8, 0xd4, 0xf8];
const INVALID: Colour = [0xc0, 0x20, 0x20];
const TOOLTIP: Colour = [0xff, 0xf8, 0xc8];

/// How high the title bar of a window is.
const TITLE_BAR_HEIGHT: i32 = 28;
/// How large the box of a check box is.
const CHECK_BOX_SIZE: i32 = 12;

/// Draws an element.
pub(super) fn paint(canvas: &mut Canvas, mark: &DrawItem, active: bool) {
    let ink = if mark.states.has(State::Disabled) { DISABLED_TEXT } else { TEXT };
    match mark.role {
        Role::Window | Role::Dialog | Role::Alert => window(canvas, mark, active),
        Role::Button | Role::ToggleButton | Role::ColumnHeader | Role::RowHeader | Role::Tab => {
            button(canvas, mark, ink);
        }
        Role::Checkbox | Role::Radio | Role::Switch => check(canvas, mark, ink),
        Role::MenuItemCheckbox | Role::MenuItemRadio => {
            fill(canvas, mark, FIELD);
            frame(canvas, mark, BUTTON_FACE);
            check(canvas, mark, ink);
        }
        Role::TextField | Role::TextArea | Role::SearchField | Role::DateField => field(canvas, mark, ink),
        Role::Combobox => {
            fill(canvas, mark, FIELD);
            frame(canvas, mark, EDGE);
            let arrow = if mark.states.has(State::Expanded) { "▾" } else { "▸" };
            write(canvas, mark, &format!("{arrow} {}", item_text(mark)), PADDING, ink);
        }
        Role::Slider | Role::SpinButton | Role::ProgressBar | Role::Meter | Role::ScrollBar => {
            range_control(canvas, mark, ink);
        }
        Role::List | Role::Table | Role::Grid | Role::Tree | Role::ScrollArea | Role::Canvas => {
            fill(canvas, mark, FIELD);
            frame(canvas, mark, EDGE);
        }
        Role::ListItem | Role::Row | Role::Cell | Role::TreeItem => item(canvas, mark, ink),
        Role::Menu | Role::MenuItem => {
            fill(canvas, mark, if mark.states.has(State::Expanded) { SELECTION } else { FIELD });
            frame(canvas, mark, BUTTON_FACE);
            write(canvas, mark, &item_text(mark), PADDING, ink);
        }
        Role::Separator => fill(canvas, mark, EDGE),
        Role::Tooltip | Role::Notification => {
            fill(canvas, mark, TOOLTIP);
            frame(canvas, mark, EDGE);
            write(canvas, mark, &item_text(mark), PADDING, ink);
        }
        Role::ColorWell | Role::Image | Role::Media => {
            frame(canvas, mark, EDGE);
            write(canvas, mark, &item_text(mark), PADDING, ink);
        }
        Role::Link => {
            let ink = if mark.states.has(State::Disabled) { DISABLED_TEXT } else { ACCENT };
            write(canvas, mark, &item_text(mark), 0, ink);
            let line = Bounds { y: mark.bounds.y + text_top(mark) + 8, height: 1, ..mark.bounds };
            let width = CELL.0 * text_width(&item_text(mark));
            canvas.fill(Bounds { width, ..line }, ink, mark.seen);
        }
        Role::Text | Role::Heading | Role::Paragraph | Role::Unknown => {
            write(canvas, mark, &item_text(mark), 0, ink);
            if mark.role == Role::Heading {
                // Twice, a pixel apart: bold.
                write(canvas, mark, &item_text(mark), 1, ink);
            }
        }
        Role::Application
        | Role::RadioGroup
        | Role::MenuBar
        | Role::TabList
        | Role::TabPanel
        | Role::Column
        | Role::Group
        | Role::Toolbar
        | Role::StatusBar
        | Role::SplitGroup
        | Role::Document
        | Role::Iframe
        | Role::Landmark
        | Role::Form => {}
    }
    if mark.states.has(State::Focused) {
        frame(canvas, mark, ACCENT);
    }
    if mark.states.has(State::Invalid) {
        canvas.frame(inside(mark.bounds), INVALID, mark.seen);
    }
}

/// Draws the pointer: an arrow whose tip is the place.
pub(super) fn pointer(canvas: &mut Canvas, at: Point) {
    for row in 0..12 {
        let line = Bounds { x: at.x, y: at.y + row, width: row.min(8) + 1, height: 1 };
        canvas.fill(line, TEXT, line);
        if row > 1 {
            canvas.fill(Bounds { x: line.x + 1, width: line.width - 2, ..line }, FIELD, line);
        }
    }
}

fn window(canvas: &mut Canvas, mark: &DrawItem, active: bool) {
    fill(canvas, mark, PANEL);
    let bar = Bounds { height: TITLE_BAR_HEIGHT, ..mark.bounds };
    canvas.fill(bar, if active { ACCENT } else { EDGE }, mark.seen);
    let at = Point { x: bar.x + 2 * PADDING, y: bar.y + (TITLE_BAR_HEIGHT - 7) / 2 };
    canvas.write(&mark.name, at, FIELD, mark.seen);
    frame(canvas, mark, TEXT);
}

fn button(canvas: &mut Canvas, mark: &DrawItem, ink: Colour) {
    let is_down = mark.states.has(State::Pressed);
    let face = match mark.states.has(State::Selected) {
        true => PANEL,
        false if is_down => BUTTON_PRESSED,
        false => BUTTON_FACE,
    };
    fill(canvas, mark, face);
    frame(canvas, mark, EDGE);
    let mut text = item_text(mark);
    if mark.states.has(State::Expanded) {
        text.insert_str(0, "▾ ");
    } else if mark.states.has(State::Collapsed) {
        text.insert_str(0, "▸ ");
    }
    let indent = ((mark.bounds.width - CELL.0 * text_width(&text)) / 2).max(PADDING);
    write(canvas, mark, &text, indent, ink);
}

fn check(canvas: &mut Canvas, mark: &DrawItem, ink: Colour) {
    let Bounds { x, y, height, .. } = mark.bounds;
    let square = Bounds {
        x: x + 2,
        y: y + (height - CHECK_BOX_SIZE) / 2,
        width: CHECK_BOX_SIZE,
        height: CHECK_BOX_SIZE,
    };
    let is_on = mark.states.has(State::Checked);
    canvas.fill(square, FIELD, mark.seen);
    canvas.frame(square, ink, mark.seen);
    let within =
        Bounds { x: square.x + 3, y: square.y + 3, width: CHECK_BOX_SIZE - 6, height: CHECK_BOX_SIZE - 6 };
    match mark.role {
        Role::Checkbox | Role::MenuItemCheckbox if is_on => {
            canvas.write("✓", Point { x: square.x + 4, y: square.y + 3 }, ink, mark.seen);
        }
        Role::Switch => {
            let side = if is_on { within.x } else { within.x - 2 };
            let colour = if is_on { ACCENT } else { DISABLED_TEXT };
            canvas.fill(Bounds { x: side, width: 5, ..within }, colour, mark.seen);
        }
        _ if is_on => canvas.fill(within, ink, mark.seen),
        _ => {}
    }
    if mark.states.has(State::Mixed) {
        canvas.fill(Bounds { y: square.y + 5, height: 2, ..within }, ink, mark.seen);
    }
    write(canvas, mark, &labelled(mark), CHECK_BOX_SIZE + 8, ink);
}

fn field(canvas: &mut Canvas, mark: &DrawItem, ink: Colour) {
    fill(canvas, mark, if mark.states.has(State::Readonly) { PANEL } else { FIELD });
    frame(canvas, mark, EDGE);
    let left = mark.bounds.x + PADDING;
    let is_area = mark.role == Role::TextArea;
    let top = mark.bounds.y + if is_area { PADDING } else { text_top(mark) };
    let label = labelled(mark);
    let beside = mark.bounds.x + mark.bounds.width - PADDING - CELL.0 * text_width(&label);
    if mark.value.is_empty() {
        write_at(canvas, mark, &label, Point { x: left, y: top }, DISABLED_TEXT);
    } else if !is_area && beside > left + CELL.0 * (text_width(&mark.value) + 1) {
        write_at(canvas, mark, &label, Point { x: beside, y: top }, DISABLED_TEXT);
    }
    let mut start = 0;
    for (row, line) in (0..).zip(mark.value.split('\n')) {
        let y = top + row * CELL.1;
        let end = start + line.chars().count();
        if let Some(caret) = mark.caret {
            let column = |place: usize| {
                let place = place.clamp(start, end) - start;
                left + i32::try_from(place).unwrap_or(i32::MAX / 8) * CELL.0
            };
            let (from, to) = (column(caret.selected().start), column(caret.selected().end));
            canvas.fill(
                Bounds { x: from, y: y - 2, width: to - from, height: CELL.1 - 1 },
                SELECTION,
                mark.seen,
            );
            if (start..=end).contains(&caret.at) {
                let bar = Bounds { x: column(caret.at) - 1, y: y - 2, width: 1, height: CELL.1 - 1 };
                canvas.fill(bar, ACCENT, mark.seen);
            }
        }
        write_at(canvas, mark, line, Point { x: left, y }, ink);
        start = end + 1;
    }
}

fn range_control(canvas: &mut Canvas, mark: &DrawItem, ink: Colour) {
    fill(canvas, mark, PANEL);
    let Bounds { x, y, width, height } = mark.bounds;
    let part = mark.fraction.unwrap_or(0.0);
    // Within the width of a widget, so nothing is lost.
    let reached = (f64::from(width - 1) * part).round() as i32;
    let groove = Bounds { x, y: y + height - 6, width, height: 4 };
    canvas.fill(groove, BUTTON_FACE, mark.seen);
    canvas.fill(Bounds { width: reached, ..groove }, ACCENT, mark.seen);
    if mark.role == Role::Slider {
        let knob = Bounds { x: x + reached - 3, y: groove.y - 3, width: 7, height: 9 };
        canvas.fill(knob, ink, mark.seen);
    }
    let text = format!("{}{}", item_text(mark), if mark.states.has(State::Busy) { "…" } else { "" });
    write_at(canvas, mark, &text, Point { x, y: y + 4 }, ink);
}

fn item(canvas: &mut Canvas, mark: &DrawItem, ink: Colour) {
    let line = Bounds { height: mark.bounds.height.min(20), ..mark.bounds };
    // The items of a combo box lie over whatever is below it.
    let is_chosen = mark.states.has(State::Selected);
    if is_chosen || mark.role == Role::ListItem {
        canvas.fill(line, if is_chosen { SELECTION } else { FIELD }, mark.seen);
    }
    if mark.is_shown_by_children {
        return;
    }
    let arrow = match mark.role {
        Role::TreeItem if mark.states.has(State::Expanded) => "▾ ",
        Role::TreeItem if mark.states.has(State::Collapsed) => "▸ ",
        Role::TreeItem => "  ",
        _ => "",
    };
    let text = format!("{arrow}{}", item_text(mark));
    write_at(canvas, mark, &text, Point { x: line.x + PADDING, y: line.y + (line.height - 7) / 2 }, ink);
}

/// What an element says: its name, its value, or both.
fn item_text(mark: &DrawItem) -> String {
    let label = labelled(mark);
    match (label.is_empty(), mark.value.is_empty()) {
        (false, false) => format!("{label}: {}", mark.value),
        (true, _) => mark.value.clone(),
        (false, true) => label,
    }
}

fn labelled(mark: &DrawItem) -> String {
    format!("{}{}", mark.name, if mark.states.has(State::Required) { "*" } else { "" })
}

fn text_width(text: &str) -> i32 {
    i32::try_from(text.chars().count()).unwrap_or(i32::MAX / 8)
}

/// How far down a single line is written.
fn text_top(mark: &DrawItem) -> i32 {
    (mark.bounds.height - 7) / 2
}

fn inside(bounds: Bounds) -> Bounds {
    Bounds { x: bounds.x + 1, y: bounds.y + 1, width: bounds.width - 2, height: bounds.height - 2 }
}

fn fill(canvas: &mut Canvas, mark: &DrawItem, colour: Colour) {
    canvas.fill(mark.bounds, colour, mark.seen);
}

fn frame(canvas: &mut Canvas, mark: &DrawItem, colour: Colour) {
    canvas.frame(mark.bounds, colour, mark.seen);
}

fn write(canvas: &mut Canvas, mark: &DrawItem, text: &str, indent: i32, colour: Colour) {
    write_at(
        canvas,
        mark,
        text,
        Point { x: mark.bounds.x + indent, y: mark.bounds.y + text_top(mark) },
        colour,
    );
}

fn write_at(canvas: &mut Canvas, mark: &DrawItem, text: &str, at: Point, colour: Colour) {
    canvas.write(text, at, colour, mark.seen);
}
