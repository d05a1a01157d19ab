//! The states of an element: a small set of flags.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, SerializeSeq, Serializer};

macro_rules! states {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// A state that an element may have.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum State { $($(#[doc = $doc])+ $variant,)+ }

        impl State {
            /// All states, in the order in which they are written on the wire.
            pub const ALL: &'static [State] = &[$(State::$variant,)+];

            /// The name used on the wire, in selectors and in the text form.
            pub const fn name(self) -> &'static str {
                match self { $(State::$variant => $name,)+ }
            }
        }
    };
}

states! {
    /// It has the keyboard focus.
    Focused = "focused";
    /// It cannot be used now.
    Disabled = "disabled";
    /// It hides what is typed, as a password field does. Its value is never read.
    Secure = "secure";
    /// It shows its content.
    Expanded = "expanded";
    /// It has content that it does not show.
    Collapsed = "collapsed";
    /// It is checked.
    Checked = "checked";
    /// It is partly checked.
    Mixed = "mixed";
    /// It is selected.
    Selected = "selected";
    /// It is not shown.
    Hidden = "hidden";
    /// It is there, but scrolled out of sight.
    Offscreen = "offscreen";
    /// It is working and will change.
    Busy = "busy";
    /// It blocks the windows behind it.
    Modal = "modal";
    /// It must be filled in.
    Required = "required";
    /// It shows a value that cannot be edited.
    Readonly = "readonly";
    /// Its value is not valid.
    Invalid = "invalid";
    /// It is held down.
    Pressed = "pressed";
    /// More than one of its items may be selected.
    Multiselectable = "multiselectable";
    /// It opens a menu, list or dialog.
    Haspopup = "haspopup";
    /// Its text can be edited.
    Editable = "editable";
}

impl State {
    /// Finds a state by its name, in any case.
    pub fn parse(word: &str) -> Option<State> {
        State::ALL.iter().copied().find(|state| state.name().eq_ignore_ascii_case(word))
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of states.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct States(u32);

impl States {
    /// The empty set.
    pub const NONE: States = States(0);

    /// The set with `state` in it.
    #[must_use]
    pub const fn with(self, state: State) -> States {
        States(self.0 | 1 << state as u8)
    }

    /// The set without `state`.
    #[must_use]
    pub const fn without(self, state: State) -> States {
        States(self.0 & !(1 << state as u8))
    }

    /// Adds or removes `state`.
    pub const fn set(&mut self, state: State, on: bool) {
        *self = if on { self.with(state) } else { self.without(state) };
    }

    /// Whether `state` is in the set.
    pub const fn has(self, state: State) -> bool {
        self.0 & (1 << state as u8) != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The states in the set, in wire order.
    pub fn iter(self) -> impl Iterator<Item = State> {
        State::ALL.iter().copied().filter(move |state| self.has(*state))
    }
}

impl FromIterator<State> for States {
    fn from_iter<I: IntoIterator<Item = State>>(states: I) -> States {
        states.into_iter().fold(States::NONE, States::with)
    }
}

impl fmt::Debug for States {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(State::name)).finish()
    }
}

impl Serialize for States {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for state in self.iter() {
            list.serialize_element(state.name())?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for States {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = Vec::<std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        words
            .iter()
            .map(|word| {
                State::parse(word).ok_or_else(|| D::Error::custom(format!("'{word}' is not a state")))
            })
            .collect()
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for States {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "States".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names: Vec<&str> = State::ALL.iter().map(|state| state.name()).collect();
        schemars::json_schema!({ "type": "array", "items": { "type": "string", "enum": names } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_keeps_what_was_put_in_and_travels_as_names() {
        let set: States = [State::Editable, State::Focused].into_iter().collect();
        let wire = serde_json::to_string(&set).unwrap();
        assert_eq!(wire, r#"["focused","editable"]"#);
        assert_eq!(serde_json::from_str::<States>(&wire).unwrap(), set);
        assert!(set.without(State::Focused).has(State::Editable));
        assert!(serde_json::from_str::<States>(r#"["sleepy"]"#).is_err());
    }
}
