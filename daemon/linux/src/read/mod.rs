//! Reading elements of an app: what they are, what they hold, where they are.
//!
//! Read in this order: `reader` has what is known of an app and makes readings of replies; `handles` maps keys to native
//! elements, and `elements` remembers what was last read of each. The first round of calls is `outline` (`get_all` where an app sends all properties at once, `cache` where it serves
//! one), the others are `details`, with `children`, `rows`, `combo_value` and `page` for what needs more than one call. `content`
//! and `names` are pure: what of an element's text is its value, what its name. `geometry` measures.

mod cache;
mod children;
mod combo_value;
pub(crate) mod content;
pub(crate) mod details;
pub(crate) mod elements;
pub(crate) mod geometry;
mod get_all;
pub(crate) mod handles;
mod names;
pub(crate) mod outline;
mod page;
pub(crate) mod reader;
mod rows;
