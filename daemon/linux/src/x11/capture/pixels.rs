//! From the server's pixels to red, green and blue. Pure.

use axd_protocol::{Bounds, Point};

/// How a drawable's pixels lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// 16, 24 or 32.
    pub bits: u8,
    /// Rows begin at multiples of so many bits.
    pub pad: u8,
    /// Whether a pixel's first byte is its highest.
    pub big_endian: bool,
    /// Which bits are red, green and blue.
    pub masks: [u32; 3],
}

impl Layout {
    /// How many bytes a row takes.
    pub fn stride(&self, width: u32) -> usize {
        let (bits, pad) = (width as usize * usize::from(self.bits), usize::from(self.pad.max(8)));
        bits.div_ceil(pad) * pad / 8
    }

    /// Appends a row of pixels as red, green, blue.
    pub fn read_row(&self, row: &[u8], width: u32, rgb: &mut Vec<u8>) {
        const USUAL: [u32; 3] = [0x00ff_0000, 0x0000_ff00, 0x0000_00ff];
        let width = width as usize;
        if (self.bits, self.big_endian, self.masks) == (32, false, USUAL) {
            let pixels = row.as_chunks::<4>().0;
            rgb.extend(pixels.iter().take(width).flat_map(|[blue, green, red, _]| [*red, *green, *blue]));
            return;
        }
        let bytes = usize::from(self.bits / 8).max(1);
        for pixel in row.chunks_exact(bytes).take(width) {
            let join = |value: u32, byte: &u8| value << 8 | u32::from(*byte);
            let value = match self.big_endian {
                true => pixel.iter().fold(0, join),
                false => pixel.iter().rev().fold(0, join),
            };
            rgb.extend(self.masks.map(|mask| channel(value, mask)));
        }
    }
}

/// The part of a pixel under a mask, from 0 to 255.
fn channel(value: u32, mask: u32) -> u8 {
    if mask == 0 {
        return 0;
    }
    let most = u64::from(mask >> mask.trailing_zeros());
    let part = u64::from((value & mask) >> mask.trailing_zeros());
    // At most 255, since a part is at most the most.
    (part * 255 / most) as u8
}

/// The shape of the pointer.
pub(crate) struct Cursor {
    /// Where its top left corner is.
    pub at: Point,
    pub width: u32,
    /// Alpha, red, green, blue, from the highest byte; colours are multiplied by alpha already.
    pub pixels: Vec<u32>,
}

/// Draws the pointer over a picture that begins at `origin` and is so wide.
pub(crate) fn draw_cursor(rgb: &mut [u8], width: u32, origin: Point, cursor: &Cursor) {
    let height = rgb.len() / 3 / (width.max(1) as usize);
    if cursor.width == 0 {
        return;
    }
    for (row, line) in (0..).zip(cursor.pixels.chunks(cursor.width as usize)) {
        for (column, pixel) in (0..).zip(line) {
            let (x, y) = (cursor.at.x - origin.x + column, cursor.at.y - origin.y + row);
            let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { continue };
            if x >= width as usize || y >= height {
                continue;
            }
            let [alpha, colour @ ..] = pixel.to_be_bytes();
            let place = (y * width as usize + x) * 3;
            for (under, over) in rgb[place..place + 3].iter_mut().zip(colour) {
                let left = u32::from(*under) * (255 - u32::from(alpha)) / 255;
                *under = (u32::from(over) + left).min(255) as u8;
            }
        }
    }
}

/// What two areas share, if anything.
pub(crate) fn overlap(one: Bounds, other: Bounds) -> Option<Bounds> {
    let (left, top) = (one.x.max(other.x), one.y.max(other.y));
    let right = one.x.saturating_add(one.width).min(other.x.saturating_add(other.width));
    let bottom = one.y.saturating_add(one.height).min(other.y.saturating_add(other.height));
    (right > left && bottom > top).then(|| Bounds {
        x: left,
        y: top,
        width: right - left,
        height: bottom - top,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Layout = Layout { bits: 32, pad: 32, big_endian: false, masks: [0xff_0000, 0xff00, 0xff] };

    fn read(layout: Layout, row: &[u8], width: u32) -> Vec<u8> {
        let mut rgb = Vec::new();
        layout.read_row(row, width, &mut rgb);
        rgb
    }

    #[test]
    fn the_usual_pixels_are_blue_green_red() {
        assert_eq!(read(USUAL, &[1, 2, 3, 0, 4, 5, 6, 9], 2), [3, 2, 1, 6, 5, 4]);
        assert_eq!(USUAL.stride(3), 12);
    }

    #[test]
    fn other_orders_and_depths_give_the_same_colours() {
        let big = Layout { big_endian: true, ..USUAL };
        assert_eq!(read(big, &[0, 3, 2, 1], 1), [3, 2, 1]);
        let packed = Layout { bits: 24, ..USUAL };
        assert_eq!(packed.stride(3), 12);
        assert_eq!(read(packed, &[1, 2, 3, 4, 5, 6, 0, 0], 2), [3, 2, 1, 6, 5, 4]);
        let sixteen = Layout { bits: 16, masks: [0xf800, 0x07e0, 0x001f], ..USUAL };
        assert_eq!(read(sixteen, &[0x00, 0xf8, 0xff, 0xff], 2), [255, 0, 0, 255, 255, 255]);
        let deep = Layout { masks: [0x3ff0_0000, 0x000f_fc00, 0x0000_03ff], ..USUAL };
        assert_eq!(read(deep, &0x3ff0_0000u32.to_le_bytes(), 1), [255, 0, 0]);
    }

    #[test]
    fn the_pointer_is_drawn_where_it_is_and_cut_at_the_edge() {
        let mut rgb = vec![100; 2 * 2 * 3];
        let pixels = vec![0xff01_0203, 0x0000_0000, 0x8040_4040, 0xffff_ffff];
        let cursor = Cursor { at: Point { x: 11, y: 10 }, width: 2, pixels };
        draw_cursor(&mut rgb, 2, Point { x: 10, y: 10 }, &cursor);
        assert_eq!(rgb[..3], [100; 3]);
        assert_eq!(rgb[3..6], [1, 2, 3]);
        assert_eq!(rgb[6..9], [100; 3]);
        assert_eq!(rgb[9..], [64 + 49; 3], "half of what is under it");
    }

    #[test]
    fn areas_overlap_or_do_not() {
        let area = |x, y, width, height| Bounds { x, y, width, height };
        assert_eq!(overlap(area(0, 0, 10, 10), area(5, -5, 10, 10)), Some(area(5, 0, 5, 5)));
        assert_eq!(overlap(area(0, 0, 10, 10), area(10, 0, 5, 5)), None);
        assert_eq!(overlap(area(0, 0, 10, 10), area(3, 3, 0, 4)), None);
    }
}
