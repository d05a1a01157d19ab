//! A pixel buffer to draw on.

use axd_protocol::{Bounds, Point};

use super::font;
use crate::model::CELL;
use axd_platform::CapturedImage;

/// Red, green, blue.
pub type Colour = [u8; 3];

/// A part of the desktop, in pixels, addressed by the coordinates of the desktop.
pub struct Canvas {
    area: Bounds,
    rgb: Vec<u8>,
}

impl Canvas {
    /// A canvas of one colour. The area must not be empty.
    pub fn new(area: Bounds, colour: Colour) -> Canvas {
        let pixels = usize::try_from(i64::from(area.width) * i64::from(area.height)).unwrap_or(0);
        Canvas { area, rgb: colour.repeat(pixels) }
    }

    /// The image that has been drawn.
    pub fn finish(self) -> CapturedImage {
        let Canvas { area, rgb } = self;
        CapturedImage {
            width: area.width.unsigned_abs(),
            height: area.height.unsigned_abs(),
            rgb,
            origin: Point { x: area.x, y: area.y },
            scale: 1.0,
            popups: Vec::new(),
        }
    }

    /// Fills the part of a rectangle that is inside the clip.
    pub fn fill(&mut self, bounds: Bounds, colour: Colour, clip: Bounds) {
        let Some(part) = bounds.intersection(&clip).and_then(|part| part.intersection(&self.area)) else {
            return;
        };
        let index = |x: i32, y: i32| {
            let place = i64::from(y - self.area.y) * i64::from(self.area.width) + i64::from(x - self.area.x);
            // The pixel is inside the area, so the index is neither negative nor too large.
            usize::try_from(place * 3).unwrap_or(0)
        };
        for y in part.y..part.y + part.height {
            let (from, to) = (index(part.x, y), index(part.x + part.width, y));
            if let Some(line) = self.rgb.get_mut(from..to) {
                line.chunks_exact_mut(3).for_each(|pixel| pixel.copy_from_slice(&colour));
            }
        }
    }

    /// Draws the edge of a rectangle.
    pub fn frame(&mut self, bounds: Bounds, colour: Colour, clip: Bounds) {
        let Bounds { x, y, width, height } = bounds;
        let edges = [
            Bounds { x, y, width, height: 1 },
            Bounds { x, y: y + height - 1, width, height: 1 },
            Bounds { x, y, width: 1, height },
            Bounds { x: x + width - 1, y, width: 1, height },
        ];
        edges.into_iter().for_each(|edge| self.fill(edge, colour, clip));
    }

    /// Draws a line of text with its top left corner at a point.
    pub fn write(&mut self, text: &str, at: Point, colour: Colour, clip: Bounds) {
        for (place, character) in (0..).zip(text.chars()) {
            let left = at.x + place * CELL.0;
            if left >= clip.x + clip.width {
                return;
            }
            self.stamp(font::glyph(character), Point { x: left, y: at.y }, colour, clip);
        }
    }

    fn stamp(&mut self, glyph: font::Glyph, at: Point, colour: Colour, clip: Bounds) {
        for (y, row) in (at.y..).zip(glyph) {
            for (x, bit) in (at.x..).zip((0..5).rev()) {
                if row >> bit & 1 == 1 {
                    self.fill(Bounds { x, y, width: 1, height: 1 }, colour, clip);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dots(canvas: Canvas) -> String {
        let picture = canvas.finish();
        let line = usize::try_from(picture.width).unwrap() * 3;
        let draw = |row: &[u8]| row.chunks(3).map(|pixel| if pixel[0] == 0 { '#' } else { '.' }).collect();
        picture.rgb.chunks(line).map(draw).collect::<Vec<String>>().join("\n")
    }

    #[test]
    fn what_lies_outside_is_cut_off() {
        let area = Bounds { x: 10, y: 10, width: 7, height: 4 };
        let mut canvas = Canvas::new(area, [255; 3]);
        canvas.frame(Bounds { x: 8, y: 11, width: 6, height: 9 }, [0; 3], area);
        canvas.fill(Bounds { x: 15, y: 0, width: 9, height: 99 }, [0; 3], Bounds { height: 2, ..area });
        assert_eq!(dots(canvas), ".....##\n####.##\n...#...\n...#...");
    }

    #[test]
    fn text_is_drawn_cell_by_cell() {
        let area = Bounds { x: 0, y: 0, width: 11, height: 8 };
        let mut canvas = Canvas::new(area, [255; 3]);
        canvas.write("xp", Point { x: 0, y: 0 }, [0; 3], area);
        assert_eq!(
            dots(canvas),
            "...........\n...........\n#...#.####.\n.#.#..#...#\n..#...#...#\n.#.#..####.\n#...#.#....\n......#...."
        );
    }
}
