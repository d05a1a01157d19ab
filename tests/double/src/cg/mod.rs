//! CoreGraphics in front of the scripted desktop: synthetic events, windows, displays and images.

mod display;
mod event;
mod image;
mod input;
mod keys;
mod secure;
mod window;

use axd_protocol::Bounds;
pub use event::Posted;
pub(crate) use image::shot;
pub use input::InputLog;
pub(crate) use keys::ansi_keyboard;
pub use secure::LostKeys;

/// A point.
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

impl CGRect {
    fn of(bounds: Bounds) -> CGRect {
        CGRect {
            origin: CGPoint { x: f64::from(bounds.x), y: f64::from(bounds.y) },
            size: CGPoint { x: f64::from(bounds.width), y: f64::from(bounds.height) },
        }
    }

    fn bounds(self) -> Bounds {
        let CGRect { origin, size } = self;
        Bounds { x: origin.x as i32, y: origin.y as i32, width: size.x as i32, height: size.y as i32 }
    }
}
