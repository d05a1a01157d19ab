//! Draws elements.

use axd_protocol::{Bounds, Point, Role, State};

use super::DrawItem;
use super::canvas::{Canvas, Colour};
use crate::model::{CELL, PADDING};

/// The colour of the desktop behind the windows.
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

/// The height of the title bar of a window.
const TITLE_BAR_HEIGHT: i32 = 28;
/// The size of the box of a check box.
const CHECK_BOX_SIZE: i32 = 12;

/// Draws an element.
pub(super) fn paint(canvas: &mut Canvas, item: &DrawItem, active: bool) {
    let ink = if item.states.has(State::Disabled) { DISABLED_TEXT } else { TEXT };
    match item.role {
        Role::Window | Role::Dialog | Role::Alert => window(canvas, item, active),
        Role::Button | Role::ToggleButton | Role::ColumnHeader | Role::RowHeader | Role::Tab => {
            button(canvas, item, ink);
        }
        Role::Checkbox | Role::Radio | Role::Switch => check(canvas, item, ink),
        Role::MenuItemCheckbox | Role::MenuItemRadio => {
            fill(canvas, item, FIELD);
            frame(canvas, item, BUTTON_FACE);
            check(canvas, item, ink);
        }
        Role::TextField | Role::TextArea | Role::SearchField | Role::DateField => field(canvas, item, ink),
        Role::Combobox => {
            fill(canvas, item, FIELD);
            frame(canvas, item, EDGE);
            let arrow = if item.states.has(State::Expanded) { "▾" } else { "▸" };
            write(canvas, item, &format!("{arrow} {}", item_text(item)), PADDING, ink);
        }
        Role::Slider | Role::SpinButton | Role::ProgressBar | Role::Meter | Role::ScrollBar => {
            range_control(canvas, item, ink);
        }
        Role::List | Role::Table | Role::Grid | Role::Tree | Role::ScrollArea | Role::Canvas => {
            fill(canvas, item, FIELD);
            frame(canvas, item, EDGE);
        }
        Role::ListItem | Role::Row | Role::Cell | Role::TreeItem => list_item(canvas, item, ink),
        Role::Menu | Role::MenuItem => {
            fill(canvas, item, if item.states.has(State::Expanded) { SELECTION } else { FIELD });
            frame(canvas, item, BUTTON_FACE);
            write(canvas, item, &item_text(item), PADDING, ink);
        }
        Role::Separator => fill(canvas, item, EDGE),
        Role::Tooltip | Role::Notification => {
            fill(canvas, item, TOOLTIP);
            frame(canvas, item, EDGE);
            write(canvas, item, &item_text(item), PADDING, ink);
        }
        Role::ColorWell | Role::Image | Role::Media => {
            frame(canvas, item, EDGE);
            write(canvas, item, &item_text(item), PADDING, ink);
        }
        Role::Link => {
            let ink = if item.states.has(State::Disabled) { DISABLED_TEXT } else { ACCENT };
            write(canvas, item, &item_text(item), 0, ink);
            let line = Bounds { y: item.bounds.y + text_top(item) + 8, height: 1, ..item.bounds };
            let width = CELL.0 * text_width(&item_text(item));
            canvas.fill(Bounds { width, ..line }, ink, item.seen);
        }
        Role::Text | Role::Heading | Role::Paragraph | Role::Unknown => {
            write(canvas, item, &item_text(item), 0, ink);
            if item.role == Role::Heading {
                // Drawing the text twice, a pixel apart, makes it bold.
                write(canvas, item, &item_text(item), 1, ink);
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
    if item.states.has(State::Focused) {
        frame(canvas, item, ACCENT);
    }
    if item.states.has(State::Invalid) {
        canvas.frame(inside(item.bounds), INVALID, item.seen);
    }
}

/// Draws the pointer, an arrow with its tip at a point.
pub(super) fn pointer(canvas: &mut Canvas, at: Point) {
    for row in 0..12 {
        let line = Bounds { x: at.x, y: at.y + row, width: row.min(8) + 1, height: 1 };
        canvas.fill(line, TEXT, line);
        if row > 1 {
            canvas.fill(Bounds { x: line.x + 1, width: line.width - 2, ..line }, FIELD, line);
        }
    }
}

fn window(canvas: &mut Canvas, item: &DrawItem, active: bool) {
    fill(canvas, item, PANEL);
    let bar = Bounds { height: TITLE_BAR_HEIGHT, ..item.bounds };
    canvas.fill(bar, if active { ACCENT } else { EDGE }, item.seen);
    let at = Point { x: bar.x + 2 * PADDING, y: bar.y + (TITLE_BAR_HEIGHT - 7) / 2 };
    canvas.write(&item.name, at, FIELD, item.seen);
    frame(canvas, item, TEXT);
}

fn button(canvas: &mut Canvas, item: &DrawItem, ink: Colour) {
    let is_down = item.states.has(State::Pressed);
    let face = match item.states.has(State::Selected) {
        true => PANEL,
        false if is_down => BUTTON_PRESSED,
        false => BUTTON_FACE,
    };
    fill(canvas, item, face);
    frame(canvas, item, EDGE);
    let mut text = item_text(item);
    if item.states.has(State::Expanded) {
        text.insert_str(0, "▾ ");
    } else if item.states.has(State::Collapsed) {
        text.insert_str(0, "▸ ");
    }
    let indent = ((item.bounds.width - CELL.0 * text_width(&text)) / 2).max(PADDING);
    write(canvas, item, &text, indent, ink);
}

fn check(canvas: &mut Canvas, item: &DrawItem, ink: Colour) {
    let Bounds { x, y, height, .. } = item.bounds;
    let square = Bounds {
        x: x + 2,
        y: y + (height - CHECK_BOX_SIZE) / 2,
        width: CHECK_BOX_SIZE,
        height: CHECK_BOX_SIZE,
    };
    let is_on = item.states.has(State::Checked);
    canvas.fill(square, FIELD, item.seen);
    canvas.frame(square, ink, item.seen);
    let within =
        Bounds { x: square.x + 3, y: square.y + 3, width: CHECK_BOX_SIZE - 6, height: CHECK_BOX_SIZE - 6 };
    match item.role {
        Role::Checkbox | Role::MenuItemCheckbox if is_on => {
            canvas.write("✓", Point { x: square.x + 4, y: square.y + 3 }, ink, item.seen);
        }
        Role::Switch => {
            let side = if is_on { within.x } else { within.x - 2 };
            let colour = if is_on { ACCENT } else { DISABLED_TEXT };
            canvas.fill(Bounds { x: side, width: 5, ..within }, colour, item.seen);
        }
        _ if is_on => canvas.fill(within, ink, item.seen),
        _ => {}
    }
    if item.states.has(State::Mixed) {
        canvas.fill(Bounds { y: square.y + 5, height: 2, ..within }, ink, item.seen);
    }
    write(canvas, item, &labelled(item), CHECK_BOX_SIZE + 8, ink);
}

fn field(canvas: &mut Canvas, item: &DrawItem, ink: Colour) {
    fill(canvas, item, if item.states.has(State::Readonly) { PANEL } else { FIELD });
    frame(canvas, item, EDGE);
    let left = item.bounds.x + PADDING;
    let is_area = item.role == Role::TextArea;
    let top = item.bounds.y + if is_area { PADDING } else { text_top(item) };
    let label = labelled(item);
    let beside = item.bounds.x + item.bounds.width - PADDING - CELL.0 * text_width(&label);
    if item.value.is_empty() {
        write_at(canvas, item, &label, Point { x: left, y: top }, DISABLED_TEXT);
    } else if !is_area && beside > left + CELL.0 * (text_width(&item.value) + 1) {
        write_at(canvas, item, &label, Point { x: beside, y: top }, DISABLED_TEXT);
    }
    let mut start = 0;
    for (row, line) in (0..).zip(item.value.split('\n')) {
        let y = top + row * CELL.1;
        let end = start + line.chars().count();
        if let Some(caret) = item.caret {
            let column = |place: usize| {
                let place = place.clamp(start, end) - start;
                left + i32::try_from(place).unwrap_or(i32::MAX / 8) * CELL.0
            };
            let (from, to) = (column(caret.selected().start), column(caret.selected().end));
            canvas.fill(
                Bounds { x: from, y: y - 2, width: to - from, height: CELL.1 - 1 },
                SELECTION,
                item.seen,
            );
            if (start..=end).contains(&caret.at) {
                let bar = Bounds { x: column(caret.at) - 1, y: y - 2, width: 1, height: CELL.1 - 1 };
                canvas.fill(bar, ACCENT, item.seen);
            }
        }
        write_at(canvas, item, line, Point { x: left, y }, ink);
        start = end + 1;
    }
}

fn range_control(canvas: &mut Canvas, item: &DrawItem, ink: Colour) {
    fill(canvas, item, PANEL);
    let Bounds { x, y, width, height } = item.bounds;
    let part = item.fraction.unwrap_or(0.0);
    // The value is at most the width of a widget, so the conversion is exact.
    let reached = (f64::from(width - 1) * part).round() as i32;
    let groove = Bounds { x, y: y + height - 6, width, height: 4 };
    canvas.fill(groove, BUTTON_FACE, item.seen);
    canvas.fill(Bounds { width: reached, ..groove }, ACCENT, item.seen);
    if item.role == Role::Slider {
        let knob = Bounds { x: x + reached - 3, y: groove.y - 3, width: 7, height: 9 };
        canvas.fill(knob, ink, item.seen);
    }
    let text = format!("{}{}", item_text(item), if item.states.has(State::Busy) { "…" } else { "" });
    write_at(canvas, item, &text, Point { x, y: y + 4 }, ink);
}

fn list_item(canvas: &mut Canvas, item: &DrawItem, ink: Colour) {
    let line = Bounds { height: item.bounds.height.min(20), ..item.bounds };
    // The items of an open combo box cover what is below it.
    let is_chosen = item.states.has(State::Selected);
    if is_chosen || item.role == Role::ListItem {
        canvas.fill(line, if is_chosen { SELECTION } else { FIELD }, item.seen);
    }
    if item.is_shown_by_children {
        return;
    }
    let arrow = match item.role {
        Role::TreeItem if item.states.has(State::Expanded) => "▾ ",
        Role::TreeItem if item.states.has(State::Collapsed) => "▸ ",
        Role::TreeItem => "  ",
        _ => "",
    };
    let text = format!("{arrow}{}", item_text(item));
    write_at(canvas, item, &text, Point { x: line.x + PADDING, y: line.y + (line.height - 7) / 2 }, ink);
}

/// The text of an element: its name, its value, or both.
fn item_text(item: &DrawItem) -> String {
    let label = labelled(item);
    match (label.is_empty(), item.value.is_empty()) {
        (false, false) => format!("{label}: {}", item.value),
        (true, _) => item.value.clone(),
        (false, true) => label,
    }
}

fn labelled(item: &DrawItem) -> String {
    format!("{}{}", item.name, if item.states.has(State::Required) { "*" } else { "" })
}

fn text_width(text: &str) -> i32 {
    i32::try_from(text.chars().count()).unwrap_or(i32::MAX / 8)
}

/// The top of a single line of text, so that it is centered.
fn text_top(item: &DrawItem) -> i32 {
    (item.bounds.height - 7) / 2
}

fn inside(bounds: Bounds) -> Bounds {
    Bounds { x: bounds.x + 1, y: bounds.y + 1, width: bounds.width - 2, height: bounds.height - 2 }
}

fn fill(canvas: &mut Canvas, item: &DrawItem, colour: Colour) {
    canvas.fill(item.bounds, colour, item.seen);
}

fn frame(canvas: &mut Canvas, item: &DrawItem, colour: Colour) {
    canvas.frame(item.bounds, colour, item.seen);
}

fn write(canvas: &mut Canvas, item: &DrawItem, text: &str, indent: i32, colour: Colour) {
    write_at(
        canvas,
        item,
        text,
        Point { x: item.bounds.x + indent, y: item.bounds.y + text_top(item) },
        colour,
    );
}

fn write_at(canvas: &mut Canvas, item: &DrawItem, text: &str, at: Point, colour: Colour) {
    canvas.write(text, at, colour, item.seen);
}
