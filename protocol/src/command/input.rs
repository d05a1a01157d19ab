//! Commands for keyboard and mouse, which take keys and points instead of elements.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::act::Direction;
use crate::geometry::Point;
use crate::keys::{Button, Combo, Modifier};

/// An argument that is a key combination: `ctrl+shift+s`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct ComboArg(pub Combo);

/// An argument that is a point on the screen or in a window: `120,48`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct PointArg(pub Point);

/// An argument that is a list of modifiers: `ctrl+shift`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(with = "String"))]
pub struct ModifierArg(pub Vec<Modifier>);

impl FromStr for ComboArg {
    type Err = crate::keys::ParseKeysError;

    fn from_str(text: &str) -> Result<ComboArg, Self::Err> {
        text.parse().map(ComboArg)
    }
}

impl FromStr for PointArg {
    type Err = crate::geometry::ParsePointError;

    fn from_str(text: &str) -> Result<PointArg, Self::Err> {
        text.parse().map(PointArg)
    }
}

impl FromStr for ModifierArg {
    type Err = crate::keys::ParseKeysError;

    fn from_str(text: &str) -> Result<ModifierArg, Self::Err> {
        let named = text.split(['+', ',']).map(str::trim).filter(|name| !name.is_empty());
        named.map(str::parse).collect::<Result<_, _>>().map(ModifierArg)
    }
}

impl fmt::Display for ComboArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for PointArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.0.x, self.0.y)
    }
}

impl fmt::Display for ModifierArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|modifier| modifier.name()).collect();
        f.write_str(&names.join("+"))
    }
}

macro_rules! as_text {
    ($($type:ty),+) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

as_text!(ComboArg, PointArg, ModifierArg);

/// Press a key or a key combination.
///
/// Goes to the focused element; with --app, brings the app's window to the front first.
///
/// Keys are single characters (a, 5, é, /) and these names, in any case:
///   return enter tab space escape esc backspace delete forwarddelete del insert ins
///   left right up down home end pageup pgup pagedown pgdn f1 to f24 plus minus
///   capslock menu contextmenu printscreen print
/// Modifiers: ctrl control, alt option opt, shift, cmd command super meta win windows (on Linux the Super key).
///
/// `backspace` deletes before the caret. `delete` deletes after it, except on macOS, where it is the key labelled "delete",
/// which deletes before it. `forwarddelete` and `del` delete after the caret everywhere.
///
/// Examples:
///   ax press ctrl+s
///   ax press delete
///   ax press escape --app Notes
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Press {
    /// Keys: modifiers and a key, joined by +.
    #[serde(alias = "keys")]
    #[cfg_attr(feature = "cli", arg(value_name = "KEYS", allow_hyphen_values = true))]
    pub combo: ComboArg,
}

/// Press and hold keys.
///
/// Released by `key-up`, or after --hold-ms. Without --hold-ms also when the connection closes, which with `ax` is at once.
/// With it, a later `ax key-up` releases what this one holds.
///
/// Example:
///   ax key-down shift --hold-ms 5000
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyDown {
    /// Keys: modifiers and a key, joined by +.
    #[serde(alias = "keys")]
    #[cfg_attr(feature = "cli", arg(value_name = "KEYS", allow_hyphen_values = true))]
    pub combo: ComboArg,
    /// Hold for this time, in ms, also after the connection has closed [default: 10000, while connected].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub hold_ms: Option<u64>,
}

/// Release held keys.
///
/// Example:
///   ax key-up shift
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeyUp {
    /// Keys: modifiers and a key, joined by +.
    #[serde(alias = "keys")]
    #[cfg_attr(feature = "cli", arg(value_name = "KEYS", allow_hyphen_values = true))]
    pub combo: ComboArg,
}

/// Move the pointer.
///
/// Examples:
///   ax mouse-move 320,240
///   ax mouse-move 10,10 --window Notes
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MouseMove {
    /// Point on the screen; with --window, in the window.
    #[cfg_attr(feature = "cli", arg(value_name = "X,Y", allow_hyphen_values = true))]
    pub point: PointArg,
}

/// Click at a point, whatever is there.
///
/// Example:
///   ax mouse-click 320,240 --button right
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MouseClick {
    /// Point on the screen; with --window, in the window.
    #[cfg_attr(feature = "cli", arg(value_name = "X,Y", allow_hyphen_values = true))]
    pub point: PointArg,
    /// Mouse button.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "BUTTON", value_enum, default_value_t))]
    pub button: Button,
    /// Number of clicks [default: 1].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub count: Option<u32>,
    /// Modifiers to hold meanwhile, joined by +.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEYS", default_value_t, hide_default_value = true))]
    pub modifiers: ModifierArg,
}

/// Press and hold a mouse button.
///
/// Released by `mouse-up`, or after --hold-ms. Without --hold-ms also when the connection closes, which with `ax` is at once.
/// With it, a later `ax mouse-up` releases what this one holds.
///
/// Example:
///   ax mouse-down 320,240 --hold-ms 5000
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MouseDown {
    /// Point on the screen; with --window, in the window.
    #[cfg_attr(feature = "cli", arg(value_name = "X,Y", allow_hyphen_values = true))]
    pub point: PointArg,
    /// Mouse button.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "BUTTON", value_enum, default_value_t))]
    pub button: Button,
    /// Hold for this time, in ms, also after the connection has closed [default: 10000, while connected].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "MS"))]
    pub hold_ms: Option<u64>,
}

/// Release a held mouse button.
///
/// Example:
///   ax mouse-up 400,240
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MouseUp {
    /// Point on the screen; with --window, in the window.
    #[cfg_attr(feature = "cli", arg(value_name = "X,Y", allow_hyphen_values = true))]
    pub point: PointArg,
    /// Mouse button.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "BUTTON", value_enum, default_value_t))]
    pub button: Button,
}

/// Turn the mouse wheel at a point.
///
/// Example:
///   ax mouse-wheel 320,240 --direction down --amount 5
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MouseWheel {
    /// Point on the screen; with --window, in the window.
    #[cfg_attr(feature = "cli", arg(value_name = "X,Y", allow_hyphen_values = true))]
    pub point: PointArg,
    /// Direction to scroll in.
    #[cfg_attr(feature = "cli", arg(long, value_name = "DIRECTION", value_enum))]
    pub direction: Direction,
    /// Number of wheel notches [default: 3].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub amount: Option<u32>,
    /// Modifiers to hold meanwhile, joined by +.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "KEYS", default_value_t, hide_default_value = true))]
    pub modifiers: ModifierArg,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_as_text_reads_back() {
        let keys: ComboArg = serde_json::from_str("\"shift+cmd+s\"").unwrap();
        assert_eq!(serde_json::to_string(&keys).unwrap(), "\"cmd+shift+s\"");
        let point: PointArg = serde_json::from_str("\" -3, 40\"").unwrap();
        assert_eq!(serde_json::to_string(&point).unwrap(), "\"-3,40\"");
        let modifiers: ModifierArg = serde_json::from_str("\"shift,ctrl\"").unwrap();
        assert_eq!(serde_json::to_string(&modifiers).unwrap(), "\"shift+ctrl\"");
        assert!(
            serde_json::from_str::<ModifierArg>("\"shfit\"")
                .unwrap_err()
                .to_string()
                .contains("unknown modifier")
        );
    }
}
