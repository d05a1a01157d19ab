//! Marks on pictures: numbered boxes around the elements that can be acted on, and `#7` as a target.
//!
//! `elements` measures what may get a mark, `picture` takes a picture at the moment of such a measurement, `visible` decides what of
//! it can be seen and where it is clicked. `layout` places the labels, `draw` draws them with `digits`. `kept` remembers what was
//! marked, and `target` finds the element of a mark again, or says why the picture is out of date.

mod digits;
pub(crate) mod draw;
pub(crate) mod elements;
pub(crate) mod kept;
mod layout;
pub(crate) mod picture;
pub(crate) mod target;
pub(crate) mod visible;
