//! Draws marks: a frame around each element, and a label with its number. Pure.

use axd_platform::CapturedImage;
use axd_protocol::Bounds;
use axd_protocol::command::MarkStyle;

use crate::marks::digits;
use crate::marks::layout::place_labels;

/// The colours of marks, one after another: a label has that of its frame. All are dark enough for white digits.
const COLOURS: [[u8; 3]; 8] = [
    [0xd0, 0x10, 0x20],
    [0x00, 0x5f, 0xc8],
    [0x00, 0x78, 0x28],
    [0xa8, 0x00, 0xa8],
    [0xb8, 0x50, 0x00],
    [0x00, 0x74, 0x80],
    [0x60, 0x30, 0xd0],
    [0x80, 0x40, 0x40],
];
/// The colour of digits.
const WHITE: [u8; 3] = [0xff; 3];
/// The space around the digits of a label.
const PADDING: i32 = 2;
/// How much of the colour a fill has, of 256.
const TINT: u32 = 64;
/// An element that is as small as this has a thin frame.
const THIN_BELOW: i32 = 20;

/// The colour of the mark with this number.
fn colour(number: u32) -> [u8; 3] {
    COLOURS[number.saturating_sub(1) as usize % COLOURS.len()]
}

/// How many pixels of the picture one of ours has.
fn unit(scale: f64) -> i32 {
    (scale.round() as i32).max(1)
}

/// The size of the label of a mark.
fn label_size(number: u32, unit: i32) -> (i32, i32) {
    let digits = digits_of(number).len() as i32;
    let width = digits * digits::WIDTH + (digits - 1) + 2 * PADDING;
    (width * unit, (digits::HEIGHT + 2 * PADDING) * unit)
}

fn digits_of(number: u32) -> Vec<u8> {
    number.to_string().bytes().map(|byte| byte - b'0').collect()
}

/// Draws the marks of these boxes, which are in pixels of the picture. The first has the number 1.
pub(crate) fn draw(picture: &mut CapturedImage, boxes: &[Bounds], style: MarkStyle) {
    if style == MarkStyle::None {
        return;
    }
    let unit = unit(picture.scale);
    let numbers: Vec<u32> = (1..).take(boxes.len()).collect();
    let sizes: Vec<(i32, i32)> = numbers.iter().map(|number| label_size(*number, unit)).collect();
    let labels = place_labels((picture.width as i32, picture.height as i32), boxes, &sizes);
    for (number, bounds) in numbers.iter().zip(boxes) {
        if style == MarkStyle::Fill {
            tint(picture, *bounds, colour(*number));
        }
        frame(picture, *bounds, colour(*number), unit);
    }
    // Labels lie over frames.
    for (number, label) in numbers.iter().zip(labels) {
        let Some(label) = label else { continue };
        fill(picture, label, colour(*number));
        for (place, digit) in (0..).zip(digits_of(*number)) {
            let left = label.x + (PADDING + place * (digits::WIDTH + 1)) * unit;
            stamp(picture, digit, left, label.y + PADDING * unit, unit);
        }
    }
}

fn frame(picture: &mut CapturedImage, bounds: Bounds, colour: [u8; 3], unit: i32) {
    let Bounds { x, y, width, height } = bounds;
    let thick = if width.min(height) < THIN_BELOW * unit { unit } else { 2 * unit };
    let (across, down) = (thick.min(width), thick.min(height));
    fill(picture, Bounds { x, y, width, height: down }, colour);
    fill(picture, Bounds { x, y: y + height - down, width, height: down }, colour);
    fill(picture, Bounds { x, y, width: across, height }, colour);
    fill(picture, Bounds { x: x + width - across, y, width: across, height }, colour);
}

fn stamp(picture: &mut CapturedImage, digit: u8, left: i32, top: i32, unit: i32) {
    for (y, row) in (0..).zip(digits::rows(digit)) {
        for x in (0..digits::WIDTH).filter(|x| row >> (digits::WIDTH - 1 - x) & 1 == 1) {
            let dot = Bounds { x: left + x * unit, y: top + y * unit, width: unit, height: unit };
            fill(picture, dot, WHITE);
        }
    }
}

fn fill(picture: &mut CapturedImage, bounds: Bounds, colour: [u8; 3]) {
    each_pixel(picture, bounds, |pixel| pixel.copy_from_slice(&colour));
}

fn tint(picture: &mut CapturedImage, bounds: Bounds, colour: [u8; 3]) {
    each_pixel(picture, bounds, |pixel| {
        for (under, over) in pixel.iter_mut().zip(colour) {
            let mixed = u32::from(*under) * (256 - TINT) + u32::from(over) * TINT;
            // At most 255, as both are.
            *under = (mixed / 256) as u8;
        }
    });
}

/// Changes the pixels of a rectangle, as far as it lies in the picture.
fn each_pixel(picture: &mut CapturedImage, bounds: Bounds, mut change: impl FnMut(&mut [u8])) {
    let whole = Bounds { x: 0, y: 0, width: picture.width as i32, height: picture.height as i32 };
    let Some(part) = bounds.intersection(&whole) else { return };
    let stride = picture.width as usize * 3;
    // The part lies in the picture, so none of these is negative.
    let (x, width) = (part.x as usize * 3, part.width as usize * 3);
    for row in picture.rgb.chunks_exact_mut(stride).skip(part.y as usize).take(part.height as usize) {
        row[x..x + width].chunks_exact_mut(3).for_each(&mut change);
    }
}

#[cfg(test)]
mod tests {
    use axd_protocol::Point;

    use super::*;

    fn picture(scale: f64) -> CapturedImage {
        let (width, height) = ((120.0 * scale) as u32, (80.0 * scale) as u32);
        CapturedImage {
            width,
            height,
            rgb: vec![200; (width * height * 3) as usize],
            origin: Point { x: 0, y: 0 },
            scale,
            popups: Vec::new(),
        }
    }

    fn at(picture: &CapturedImage, x: i32, y: i32) -> [u8; 3] {
        let place = ((y * picture.width as i32 + x) * 3) as usize;
        [picture.rgb[place], picture.rgb[place + 1], picture.rgb[place + 2]]
    }

    #[test]
    fn a_frame_lies_on_the_edge_of_its_element_and_leaves_the_rest() {
        let bounds = Bounds { x: 20, y: 30, width: 40, height: 24 };
        let mut outlined = picture(1.0);
        draw(&mut outlined, &[bounds], MarkStyle::Outline);
        for (x, y) in [(20, 30), (59, 30), (20, 53), (59, 53), (21, 40), (40, 52)] {
            assert_eq!(at(&outlined, x, y), COLOURS[0], "{x},{y}");
        }
        for (x, y) in [(22, 32), (40, 42), (57, 51), (60, 40), (40, 54), (19, 40)] {
            assert_eq!(at(&outlined, x, y), [200; 3], "{x},{y}");
        }
        let mut filled = picture(1.0);
        draw(&mut filled, &[bounds], MarkStyle::Fill);
        assert_eq!(at(&filled, 40, 42), [202, 154, 158]);
        assert_eq!(at(&filled, 60, 40), [200; 3]);
        let mut none = picture(1.0);
        draw(&mut none, &[bounds], MarkStyle::None);
        assert_eq!(none, picture(1.0));
    }

    #[test]
    fn a_label_shows_its_number_in_the_scale_of_the_picture() {
        let mut large = picture(2.0);
        draw(&mut large, &[Bounds { x: 40, y: 60, width: 80, height: 60 }], MarkStyle::Outline);
        let mut seen = [0_u8; 9];
        for (y, row) in (0..).zip(&mut seen) {
            for x in 0..6 {
                let (x, y) = (40 + (2 + x) * 2, 60 - 26 + (2 + y) * 2);
                assert_eq!(at(&large, x, y), at(&large, x + 1, y + 1), "two by two");
                *row = *row << 1 | u8::from(at(&large, x, y) == WHITE);
            }
        }
        assert_eq!(&seen, digits::rows(1));
    }

    #[test]
    fn what_lies_outside_of_the_picture_is_not_drawn() {
        let mut small = picture(1.0);
        let out = Bounds { x: 110, y: 70, width: 500, height: 500 };
        draw(&mut small, &[out, Bounds { x: -50, y: -50, width: 20, height: 20 }], MarkStyle::Fill);
        assert_eq!(small.rgb.len(), 120 * 80 * 3);
        assert_eq!(at(&small, 110, 70), COLOURS[0]);
    }
}
