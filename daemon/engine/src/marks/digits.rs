//! The digits of labels: six by nine pixels, bold, so that they can be read in a picture that is shown smaller.

/// The width of a digit.
pub(crate) const WIDTH: i32 = 6;
/// The height of a digit.
pub(crate) const HEIGHT: i32 = 9;

/// The rows of a digit from the top, the leftmost pixel in the highest of six bits.
pub(crate) fn rows(digit: u8) -> &'static [u8; 9] {
    &DIGITS[usize::from(digit % 10)]
}

#[rustfmt::skip]
const DIGITS: [[u8; 9]; 10] = [
    [0b011110, 0b110011, 0b110011, 0b110011, 0b110011, 0b110011, 0b110011, 0b110011, 0b011110],
    [0b001100, 0b011100, 0b111100, 0b001100, 0b001100, 0b001100, 0b001100, 0b001100, 0b111111],
    [0b011110, 0b110011, 0b000011, 0b000011, 0b000110, 0b001100, 0b011000, 0b110000, 0b111111],
    [0b011110, 0b110011, 0b000011, 0b000011, 0b001110, 0b000011, 0b000011, 0b110011, 0b011110],
    [0b000110, 0b001110, 0b011110, 0b110110, 0b110110, 0b111111, 0b000110, 0b000110, 0b000110],
    [0b111111, 0b110000, 0b110000, 0b111110, 0b000011, 0b000011, 0b000011, 0b110011, 0b011110],
    [0b001110, 0b011000, 0b110000, 0b111110, 0b110011, 0b110011, 0b110011, 0b110011, 0b011110],
    [0b111111, 0b000011, 0b000011, 0b000110, 0b000110, 0b001100, 0b001100, 0b011000, 0b011000],
    [0b011110, 0b110011, 0b110011, 0b110011, 0b011110, 0b110011, 0b110011, 0b110011, 0b011110],
    [0b011110, 0b110011, 0b110011, 0b110011, 0b011111, 0b000011, 0b000011, 0b000110, 0b011100],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_digits_look_alike() {
        for one in 0..10 {
            for other in 0..one {
                let differing = |(row, of): (&u8, &u8)| (row ^ of).count_ones();
                let pixels: u32 = rows(one).iter().zip(rows(other)).map(differing).sum();
                assert!(pixels >= 3, "{one} and {other} differ in {pixels} pixels");
            }
        }
    }
}
