//! A picture that CoreGraphics holds.

use std::ptr::NonNull;

use super::ffi::cf::{CFRelease, CFTypeRef};
use super::ffi::cg::{CGImageRef, OpaqueImage};

/// An owned CGImage.
pub struct Image(NonNull<OpaqueImage>);

// SAFETY: a CGImage never changes, and its reference count is atomic.
unsafe impl Send for Image {}

impl Image {
    /// Takes over an image.
    ///
    /// # Safety
    /// `image` is null, or an image with a reference that is the caller's to give away.
    pub unsafe fn own(image: CGImageRef) -> Option<Image> {
        NonNull::new(image).map(Image)
    }

    pub(super) fn as_ptr(&self) -> CGImageRef {
        self.0.as_ptr()
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: the reference is ours, and given back once.
        unsafe { CFRelease(self.0.as_ptr() as CFTypeRef) };
    }
}
