//! CoreGraphics in front of the scripted desktop: events that are put in by programs, windows, displays and pictures.

mod display;
mod event;
mod image;
mod input;
mod keys;
mod session;
mod window;

pub use event::Posted;
pub use input::InputSide;
pub(crate) use keys::ANSI;

/// A place.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CGPoint {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// A rectangle: its origin and its size.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CGRect {
    /// Its top left corner.
    pub origin: CGPoint,
    /// Its width, as x, and its height.
    pub size: CGPoint,
}
