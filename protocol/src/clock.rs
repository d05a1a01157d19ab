//! Clock tokens: positions in the daemon's history, which clients keep and pass back.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value of the daemon's global counter, which increases by one with every applied batch of updates.
pub type Tick = u64;

/// A position in the history of one run of the daemon, written `c:<boot>:<tick>`. Tokens of different runs cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Clock {
    /// The run of the daemon that the tick belongs to.
    pub boot: u32,
    /// The last tick that was applied.
    pub tick: Tick,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c:{:08x}:{}", self.boot, self.tick)
    }
}

/// The error for a text that is not a clock token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a clock token; take one from the `clock` of an earlier answer (they look like c:9f2e01aa:4711)"
)]
pub struct ParseClockError(pub String);

impl FromStr for Clock {
    type Err = ParseClockError;
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (boot, tick) = s.strip_prefix("c:")?.split_once(':')?;
            let well_formed = boot.len() == 8
                && boot.bytes().all(|b| b.is_ascii_hexdigit())
                && tick.bytes().all(|b| b.is_ascii_digit());
            if !well_formed {
                return None;
            }
            Some(Clock { boot: u32::from_str_radix(boot, 16).ok()?, tick: tick.parse().ok()? })
        };
        parse().ok_or_else(|| ParseClockError(s.to_owned()))
    }
}

impl Serialize for Clock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Clock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Clock {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Clock".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^c:[0-9a-f]{8}:[0-9]+$" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_as_it_was_written() {
        let clock = Clock { boot: 0x9f2e_01aa, tick: 4711 };
        assert_eq!(clock.to_string(), "c:9f2e01aa:4711");
        assert_eq!("c:9f2e01aa:4711".parse(), Ok(clock));
        for text in [
            "",
            "c:",
            "c:9f2e01aa",
            "c:9f2e01aa:",
            "c:9f2e01aa:-1",
            "c:+f2e01aa:1",
            "9f2e01aa:4711",
            "c:xyz:1",
        ] {
            assert!(text.parse::<Clock>().is_err(), "{text}");
        }
    }
}
