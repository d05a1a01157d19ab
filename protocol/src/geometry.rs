//! Positions on the desktop, in points (logical pixels). They are global, with the origin at the top left.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bounds {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub width: i32,
    /// Height.
    pub height: i32,
}

impl Bounds {
    /// Whether the point lies inside.
    pub const fn contains(&self, point: Point) -> bool {
        point.x >= self.x
            && point.y >= self.y
            && point.x < self.x.saturating_add(self.width)
            && point.y < self.y.saturating_add(self.height)
    }

    /// The part of the rectangle that lies inside `other`, if any.
    pub fn intersection(&self, other: &Bounds) -> Option<Bounds> {
        let (x, y) = (self.x.max(other.x), self.y.max(other.y));
        let right = self.x.saturating_add(self.width).min(other.x.saturating_add(other.width));
        let bottom = self.y.saturating_add(self.height).min(other.y.saturating_add(other.height));
        (right > x && bottom > y).then(|| Bounds {
            x,
            y,
            width: right.saturating_sub(x),
            height: bottom.saturating_sub(y),
        })
    }
}

/// A point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Point {
    /// The distance from the left edge.
    pub x: i32,
    /// The distance from the top edge.
    pub y: i32,
}

/// The error for a text that is not a point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a point; write X,Y with whole numbers, as in 120,48")]
pub struct ParsePointError(pub String);

impl FromStr for Point {
    type Err = ParsePointError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (x, y) = text.split_once(',')?;
            Some(Point { x: x.trim().parse().ok()?, y: y.trim().parse().ok()? })
        };
        parse().ok_or_else(|| ParsePointError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rectangle_holds_its_left_and_top_edges_but_not_its_right_and_bottom() {
        let bounds = Bounds { x: 10, y: 10, width: 5, height: 5 };
        assert!(bounds.contains(Point { x: 10, y: 14 }));
        assert!(!bounds.contains(Point { x: 15, y: 10 }));
        assert_eq!(bounds.intersection(&Bounds { x: 15, y: 10, width: 5, height: 5 }), None);
    }

    #[test]
    fn a_rectangle_that_reaches_beyond_all_numbers_ends_where_they_do() {
        let far = Bounds { x: i32::MAX - 1, y: i32::MIN, width: i32::MAX, height: i32::MAX };
        assert!(far.contains(Point { x: i32::MAX - 1, y: i32::MIN }));
        assert_eq!(far.intersection(&far).map(|both| both.width), Some(1));
    }

    #[test]
    fn points_are_whole_numbers_with_a_comma() {
        assert_eq!("-3, 40".parse(), Ok(Point { x: -3, y: 40 }));
        assert!("3.5,1".parse::<Point>().is_err());
    }
}
