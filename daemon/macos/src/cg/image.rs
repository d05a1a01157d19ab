//! A CGImage, and its pixels.

#![allow(non_upper_case_globals, reason = "the names are Apple's")]

use std::ptr::NonNull;

use crate::ax::value;
use crate::ffi::cf::{CFDataGetBytePtr, CFDataGetLength, CFDataRef, CFRelease, CFTypeRef};
use crate::ffi::cg::{
    CGDataProviderCopyData, CGImage, CGImageGetBitmapInfo, CGImageGetBitsPerPixel, CGImageGetBytesPerRow,
    CGImageGetDataProvider, CGImageGetHeight, CGImageGetWidth, CGImageRef, kCGBitmapAlphaInfoMask,
    kCGBitmapByteOrder32Little, kCGBitmapByteOrderMask, kCGImageAlphaFirst, kCGImageAlphaNoneSkipFirst,
    kCGImageAlphaPremultipliedFirst,
};

/// An owned CGImage.
pub struct Image(NonNull<CGImage>);

// SAFETY: a CGImage never changes, and its reference count is atomic.
unsafe impl Send for Image {}

/// Pixels: three bytes each, red first, rows from the top, without gaps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pixels {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
    /// The bytes.
    pub rgb: Vec<u8>,
}

impl Image {
    /// Takes ownership of an image.
    ///
    /// # Safety
    /// `image` is null, or an image with a reference that the caller gives away.
    pub unsafe fn from_owned(image: CGImageRef) -> Option<Image> {
        NonNull::new(image).map(Image)
    }

    /// Its pixels; `None` if their layout is not one of the supported ones.
    pub fn pixels(&self) -> Option<Pixels> {
        let raw = self.0.as_ptr();
        // SAFETY: the image lives.
        let (width, height, stride, bits, info) = unsafe {
            (
                CGImageGetWidth(raw),
                CGImageGetHeight(raw),
                CGImageGetBytesPerRow(raw),
                CGImageGetBitsPerPixel(raw),
                CGImageGetBitmapInfo(raw),
            )
        };
        if bits != 32 {
            return None;
        }
        // SAFETY: the image lives, and its provider with it; the copied reference is ours.
        let data =
            unsafe { value::from_owned(CGDataProviderCopyData(CGImageGetDataProvider(raw)) as CFTypeRef) }?;
        let bytes = {
            use core_foundation::base::TCFType;
            let data = data.as_CFTypeRef() as CFDataRef;
            // SAFETY: the data lives as long as `data` above does, has that many bytes, and nobody writes to them.
            unsafe {
                let length = usize::try_from(CFDataGetLength(data)).ok()?;
                std::slice::from_raw_parts(CFDataGetBytePtr(data), length)
            }
        };
        let rgb = to_rgb(bytes, width, height, stride, channels(info))?;
        Some(Pixels { width: u32::try_from(width).ok()?, height: u32::try_from(height).ok()?, rgb })
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and released once.
        unsafe { CFRelease(self.0.as_ptr() as CFTypeRef) };
    }
}

/// The indexes of red, green and blue among the four bytes of a pixel.
fn channels(info: u32) -> [usize; 3] {
    let alpha = info & kCGBitmapAlphaInfoMask;
    let first =
        matches!(alpha, kCGImageAlphaFirst | kCGImageAlphaPremultipliedFirst | kCGImageAlphaNoneSkipFirst);
    let little = info & kCGBitmapByteOrderMask == kCGBitmapByteOrder32Little;
    match (first, little) {
        (true, true) => [2, 1, 0],
        (true, false) => [1, 2, 3],
        (false, true) => [3, 2, 1],
        (false, false) => [0, 1, 2],
    }
}

fn to_rgb(bytes: &[u8], width: usize, height: usize, stride: usize, channels: [usize; 3]) -> Option<Vec<u8>> {
    let line = width.checked_mul(4)?;
    let needed = stride.checked_mul(height.checked_sub(1)?)?.checked_add(line)?;
    if stride < line || bytes.len() < needed || width == 0 {
        return None;
    }
    let mut rgb = Vec::with_capacity(width * height * 3);
    for row in bytes.chunks(stride).take(height) {
        for pixel in row[..line].chunks_exact(4) {
            rgb.extend(channels.map(|at| pixel[at]));
        }
    }
    Some(rgb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_come_out_red_first_however_they_lie() {
        // One pixel, red 1, green 2, blue 3, alpha 9, in each of the four ways.
        for (info, bytes) in [
            (kCGImageAlphaPremultipliedFirst | kCGBitmapByteOrder32Little, [3, 2, 1, 9]),
            (kCGImageAlphaNoneSkipFirst, [9, 1, 2, 3]),
            (1 | kCGBitmapByteOrder32Little, [9, 3, 2, 1]),
            (1, [1, 2, 3, 9]),
        ] {
            assert_eq!(to_rgb(&bytes, 1, 1, 4, channels(info)), Some(vec![1, 2, 3]));
        }
    }

    #[test]
    fn gaps_between_rows_are_left_out_and_missing_rows_are_seen() {
        let bytes = [1, 2, 3, 0, 77, 77, 4, 5, 6, 0];
        assert_eq!(to_rgb(&bytes, 1, 2, 6, [0, 1, 2]), Some(vec![1, 2, 3, 4, 5, 6]));
        assert_eq!(to_rgb(&bytes[..8], 1, 2, 6, [0, 1, 2]), None);
        assert_eq!(to_rgb(&[], 0, 0, 0, [0, 1, 2]), None);
    }
}
