//! Stable ids: the short names by which clients refer to elements.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::role::Role;

/// The digits of an id's second part: base 32 without the letters that look like digits (`i l o u`).
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// The number of digits of an ordinary id.
pub const SHORT_DIGITS: usize = 6;
/// The number of digits of an id whose short form was already in use.
pub const LONG_DIGITS: usize = 9;
/// The number of digits of an id whose long form was in use as well.
pub const MAX_DIGITS: usize = 10;

/// A stable id such as `btn_4k2p9x`: the prefix of a role, then base-32 digits of a hash. It is `Copy` because it is used as a key everywhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId {
    len: u8,
    bytes: [u8; 15],
}

impl NodeId {
    /// The id of an element of `role` with `digits` digits of `hash`.
    pub fn new(role: Role, hash: u64, digits: usize) -> NodeId {
        let prefix = role.prefix().as_bytes();
        let digits = digits.min(MAX_DIGITS);
        let mut bytes = [0; 15];
        bytes[..prefix.len()].copy_from_slice(prefix);
        bytes[prefix.len()] = b'_';
        for digit in 0..digits {
            bytes[prefix.len() + 1 + digit] = DIGITS[(hash >> (59 - 5 * digit) & 31) as usize];
        }
        NodeId { len: (prefix.len() + 1 + digits) as u8, bytes }
    }

    /// Parses an id; `None` if the text does not have the form of one.
    pub fn parse(text: &str) -> Option<NodeId> {
        let (prefix, digits) = text.split_once('_')?;
        let well_formed = (1..=4).contains(&prefix.len())
            && prefix.bytes().all(|b| b.is_ascii_lowercase())
            && (SHORT_DIGITS..=MAX_DIGITS).contains(&digits.len())
            && digits.bytes().all(|b| DIGITS.contains(&b));
        if !well_formed {
            return None;
        }
        let mut bytes = [0; 15];
        bytes[..text.len()].copy_from_slice(text.as_bytes());
        Some(NodeId { len: text.len() as u8, bytes })
    }

    /// The id as it is written.
    pub fn as_str(&self) -> &str {
        // The bytes are always ASCII, so the default is never used.
        std::str::from_utf8(&self.bytes[..self.len as usize]).unwrap_or_default()
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The error for a text that is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not an id; ids look like btn_4k2p9x")]
pub struct ParseIdError(pub String);

impl FromStr for NodeId {
    type Err = ParseIdError;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        NodeId::parse(s).ok_or_else(|| ParseIdError(s.to_owned()))
    }
}

impl Serialize for NodeId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for NodeId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for NodeId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NodeId".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[a-z]{1,4}_[0-9a-hjkmnp-tv-z]{6,10}$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_prefix_and_digits_of_its_hash() {
        let id = NodeId::new(Role::Button, 0xfedc_ba98_7654_3210, SHORT_DIGITS);
        assert!(id.as_str().starts_with("btn_") && id.as_str().len() == 10, "{id}");
        assert_eq!(NodeId::parse(id.as_str()), Some(id));
        let longer = NodeId::new(Role::Button, 0xfedc_ba98_7654_3210, LONG_DIGITS);
        assert!(longer.as_str().starts_with(id.as_str()) && longer != id);
    }

    #[test]
    fn what_does_not_look_like_an_id_is_none() {
        for text in [
            "",
            "btn",
            "btn_",
            "btn_4k2p9",
            "Btn_4k2p9x",
            "button_4k2p9x",
            "btn_4k2p9u",
            "btn_4k2p9x4k2p9",
            "_4k2p9x",
        ] {
            assert_eq!(NodeId::parse(text), None, "{text}");
        }
    }
}
