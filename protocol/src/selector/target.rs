//! The targets of commands: an element by id, a point on the screen, a mark of a picture, or an element by selector.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::ast::Selector;
use super::error::SelectorError;
use crate::id::NodeId;
use crate::role::Role;

/// The target of a command. On the wire it is its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Target {
    /// One element, by its stable id.
    Id(NodeId),
    /// A point on the screen.
    Point {
        /// The distance from the left edge of the main display.
        x: i32,
        /// The distance from its top edge.
        y: i32,
    },
    /// A marked element of a picture: `#7`, or `#7@1f2e3d4c`.
    Mark(Mark),
    /// The element that matches.
    Selector(Selector),
}

/// A mark of a picture.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mark {
    /// Its number, from 1.
    pub number: u32,
    /// The handle of the picture; the latest marked picture of the client, if `None`.
    pub picture: Option<String>,
}

impl Target {
    /// Parses a target as an id, a point, a mark or a selector, in this order.
    pub fn parse(text: &str) -> Result<Target, SelectorError> {
        let trimmed = text.trim();
        if let Some(id) = NodeId::parse(trimmed) {
            return Ok(Target::Id(id));
        }
        if let Some((x, y)) = parse_point(trimmed) {
            return Ok(Target::Point { x, y });
        }
        if let Some(mark) = parse_mark(trimmed) {
            return Ok(Target::Mark(mark));
        }
        Selector::parse(text).map(Target::Selector).map_err(|mut error| {
            error.hint = hint(trimmed).map(str::to_owned).or(error.hint);
            error
        })
    }
}

fn parse_point(text: &str) -> Option<(i32, i32)> {
    let (x, y) = text.split_once(',')?;
    let y = y.trim_start();
    // `i32` accepts a leading `+`, which the grammar does not have.
    if x.starts_with('+') || y.starts_with('+') {
        return None;
    }
    Some((x.parse().ok()?, y.parse().ok()?))
}

fn parse_mark(text: &str) -> Option<Mark> {
    let text = text.strip_prefix('#')?;
    let (number, picture) = match text.split_once('@') {
        Some((number, picture)) => (number, Some(picture)),
        None => (text, None),
    };
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let is_handle = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_number || !picture.is_none_or(is_handle) {
        return None;
    }
    Some(Mark { number: number.parse().ok()?, picture: picture.map(str::to_ascii_lowercase) })
}

/// The hint for a text that looks like an id, a point or a mark, for which a hint about selectors would be misleading.
fn hint(text: &str) -> Option<&'static str> {
    if text.starts_with(|char: char| char == '-' || char.is_ascii_digit()) {
        return Some("a point is two whole numbers: 120,48");
    }
    if text.starts_with('#') {
        return Some(
            "a mark of a picture is #7, or #7@1f2e3d4c with the picture's handle; a developer's identifier is *[identifier=main]",
        );
    }
    let (prefix, _) = text.split_once('_')?;
    Role::ALL.iter().any(|role| role.prefix() == prefix).then_some("an id looks like btn_4k2p9x")
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Id(id) => id.fmt(f),
            Target::Point { x, y } => write!(f, "{x},{y}"),
            Target::Mark(mark) => mark.fmt(f),
            Target::Selector(selector) => selector.fmt(f),
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.number)?;
        self.picture.as_ref().map_or(Ok(()), |picture| write!(f, "@{picture}"))
    }
}

impl FromStr for Target {
    type Err = SelectorError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Target::parse(text)
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Target {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Target {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Target".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "An id (btn_4k2p9x), a selector (button:Save), a point (120,48) or a mark of a picture (#7)"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that `input` is parsed as a target of this kind that prints as `expected`.
    fn check(input: &str, kind: &str, expected: &str) {
        let target = Target::parse(input).unwrap();
        let found = match target {
            Target::Id(_) => "id",
            Target::Point { .. } => "point",
            Target::Mark(_) => "mark",
            Target::Selector(_) => "selector",
        };
        assert_eq!((found, target.to_string().as_str()), (kind, expected), "{input}");
        assert_eq!(serde_json::from_value::<Target>(serde_json::to_value(&target).unwrap()).unwrap(), target);
    }

    #[test]
    fn a_target_is_an_id_a_point_a_mark_or_a_selector_in_this_order() {
        check("btn_4k2p9x", "id", "btn_4k2p9x");
        check(" btn_4k2p9x ", "id", "btn_4k2p9x");
        check("10,20", "point", "10,20");
        check("-10, -20", "point", "-10,-20");
        check("#7", "mark", "#7");
        check(" #12@1F2e ", "mark", "#12@1f2e");
        check("Button:Save", "selector", "button:Save");
        check("button,link", "selector", "button, link");
        check("*:btn_4k2p9x", "selector", "*:btn_4k2p9x");
    }

    #[test]
    fn what_almost_is_an_id_or_a_point_is_answered_as_one() {
        let hint = |text: &str| Target::parse(text).unwrap_err().hint.unwrap();
        assert!(hint("btn_4K2p9x").contains("an id looks like"));
        assert!(hint("10.5,3").contains("two whole numbers"));
        assert!(hint("99999999999,3").contains("two whole numbers"));
        assert!(hint("10,+3").contains("two whole numbers"));
        assert!(hint("button:Save As").contains("quote the name"));
        for wrong in ["#main", "#7@", "#7@xyz", "#99999999999", "#-1"] {
            assert!(hint(wrong).contains("a mark of a picture is #7"), "{wrong}");
        }
    }
}
