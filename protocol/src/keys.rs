//! Keys, modifiers and mouse buttons by name: `cmd+shift+s`, `return`, `f5`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// The key that types this character; letters are in lower case.
    Char(char),
    /// A key with a name.
    Named(Named),
    /// `f1` to `f24`.
    Function(u8),
    /// A modifier key.
    Modifier(Modifier),
}

macro_rules! names {
    ($(#[$meta:meta])* $type:ident { $($(#[doc = $doc:literal])+ $variant:ident = $name:literal $(| $alias:literal)*;)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $type { $($(#[doc = $doc])+ $variant,)+ }

        impl $type {
            /// All variants.
            pub const ALL: &'static [$type] = &[$($type::$variant,)+];

            /// The name under which it is printed.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)+ }
            }

            /// The names and aliases of each variant, the name first.
            pub const NAMES: &'static [&'static [&'static str]] = &[$(&[$name $(, $alias)*],)+];

            fn by_name(name: &str) -> Option<$type> {
                match name { $($name $(| $alias)* => Some($type::$variant),)+ _ => None }
            }
        }
    };
}

names! {
    /// A key with a name.
    Named {
        /// Ends a line, or confirms.
        Return = "return" | "enter";
        /// Moves to the next field.
        Tab = "tab";
        /// The space bar.
        Space = "space" | "spacebar";
        /// Deletes before the caret.
        Backspace = "backspace";
        /// The key labelled "delete": deletes after the caret, but before it on a Mac, whose key of that label does so.
        Delete = "delete";
        /// Deletes after the caret.
        ForwardDelete = "forwarddelete" | "del";
        /// Closes or cancels.
        Escape = "escape" | "esc";
        /// The left arrow.
        Left = "left" | "arrowleft";
        /// The right arrow.
        Right = "right" | "arrowright";
        /// The up arrow.
        Up = "up" | "arrowup";
        /// The down arrow.
        Down = "down" | "arrowdown";
        /// Moves to the start.
        Home = "home";
        /// Moves to the end.
        End = "end";
        /// Moves up by a page.
        PageUp = "pageup" | "pgup";
        /// Moves down by a page.
        PageDown = "pagedown" | "pgdn";
        /// Switches between inserting and overwriting.
        Insert = "insert" | "ins";
        /// Switches capital letters on and off.
        CapsLock = "capslock";
        /// Opens the context menu of the focused element.
        Menu = "menu" | "contextmenu";
        /// Takes a screenshot.
        PrintScreen = "printscreen" | "print";
    }
}

names! {
    /// A modifier key.
    Modifier {
        /// Command on a Mac; elsewhere Super, the key with the logo.
        Cmd = "cmd" | "command" | "super" | "meta" | "win" | "windows";
        /// The Control key.
        Ctrl = "ctrl" | "control";
        /// The Alt key; Option on a Mac.
        Alt = "alt" | "option" | "opt";
        /// The Shift key.
        Shift = "shift";
    }
}

/// A mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Button {
    /// The primary button.
    #[default]
    Left,
    /// The button that opens context menus.
    Right,
    /// The button under the wheel.
    Middle,
}

/// Keys pressed together: modifiers, then a key, which may be a modifier itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Combo {
    /// The modifiers, each once, in a fixed order.
    pub modifiers: Vec<Modifier>,
    /// The key that is pressed while they are held.
    pub key: Key,
}

/// The error for a text that does not name keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseKeysError(pub String);

impl ParseKeysError {
    fn unknown(name: &str, what: &str) -> ParseKeysError {
        let modifiers: Vec<&str> = Modifier::ALL.iter().map(|modifier| modifier.name()).collect();
        let named: Vec<&str> = Named::ALL.iter().map(|key| key.name()).collect();
        ParseKeysError(format!(
            "unknown {what} '{name}'; modifiers are {}; keys are single characters, {}, f1 to f24, plus and minus",
            modifiers.join(" "),
            named.join(" ")
        ))
    }
}

impl FromStr for Key {
    type Err = ParseKeysError;

    fn from_str(text: &str) -> Result<Key, ParseKeysError> {
        let mut characters = text.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            return match only {
                ' ' => Ok(Key::Named(Named::Space)),
                '\n' | '\r' => Ok(Key::Named(Named::Return)),
                '\t' => Ok(Key::Named(Named::Tab)),
                only if only.is_control() => {
                    Err(ParseKeysError::unknown(&only.escape_default().to_string(), "key"))
                }
                only => Ok(Key::Char(only.to_lowercase().next().unwrap_or(only))),
            };
        }
        let name = text.to_ascii_lowercase();
        let function = || name.strip_prefix('f')?.parse().ok().filter(|number| (1..=24).contains(number));
        match &*name {
            "plus" => return Ok(Key::Char('+')),
            "minus" => return Ok(Key::Char('-')),
            _ => {}
        }
        Named::by_name(&name)
            .map(Key::Named)
            .or_else(|| Modifier::by_name(&name).map(Key::Modifier))
            .or_else(|| function().map(Key::Function))
            .ok_or_else(|| ParseKeysError::unknown(text, "key"))
    }
}

impl FromStr for Modifier {
    type Err = ParseKeysError;

    fn from_str(text: &str) -> Result<Modifier, ParseKeysError> {
        Modifier::by_name(&text.to_ascii_lowercase()).ok_or_else(|| ParseKeysError::unknown(text, "modifier"))
    }
}

impl FromStr for Combo {
    type Err = ParseKeysError;

    /// Parses `ctrl+shift+s`, `cmd++` or `return`. An upper-case letter does not imply shift.
    fn from_str(text: &str) -> Result<Combo, ParseKeysError> {
        let text = text.trim();
        // A plus at the end is the plus key.
        let (before, key) = match text.strip_suffix('+') {
            Some("") => ("", "+"),
            Some(before) if before.ends_with('+') => (before.trim_end_matches('+'), "+"),
            Some(_) => {
                return Err(ParseKeysError(format!("'{text}' is incomplete; write the plus key as 'plus'")));
            }
            None => text.rsplit_once('+').unwrap_or(("", text)),
        };
        if key.is_empty() {
            return Err(ParseKeysError(
                "the key is missing; write one as in 'return' or 'ctrl+shift+s'".to_owned(),
            ));
        }
        let named = before.split('+').filter(|name| !name.is_empty());
        let mut modifiers = named.map(|name| name.trim().parse()).collect::<Result<Vec<Modifier>, _>>()?;
        modifiers.sort_unstable();
        modifiers.dedup();
        Ok(Combo { modifiers, key: key.trim().parse()? })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Char('+') => f.write_str("plus"),
            Key::Char(character) => write!(f, "{character}"),
            Key::Named(named) => f.write_str(named.name()),
            Key::Function(number) => write!(f, "f{number}"),
            Key::Modifier(modifier) => f.write_str(modifier.name()),
        }
    }
}

impl fmt::Display for Combo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for modifier in &self.modifiers {
            write!(f, "{}+", modifier.name())?;
        }
        write!(f, "{}", self.key)
    }
}

impl fmt::Display for Button {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Button::Left => "left",
            Button::Right => "right",
            Button::Middle => "middle",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combo(text: &str) -> Combo {
        text.parse().unwrap()
    }

    #[test]
    fn modifiers_have_aliases_and_come_in_one_order() {
        assert_eq!(combo("Shift+Command+S"), combo("cmd+shift+s"));
        assert_eq!(combo("opt+ESC"), combo("alt+escape"));
        assert_eq!(combo("ctrl+ctrl+c").modifiers, [Modifier::Ctrl]);
        assert_eq!(combo("shift").key, Key::Modifier(Modifier::Shift));
    }

    #[test]
    fn every_key_reads_back_as_it_is_written() {
        let named = Named::ALL.iter().copied().map(Key::Named);
        let modifiers = Modifier::ALL.iter().copied().map(Key::Modifier);
        let functions = (1..=24).map(Key::Function);
        let characters = "az09-=+[];'\\,./`é€".chars().map(Key::Char);
        for key in named.chain(modifiers).chain(functions).chain(characters) {
            assert_eq!(key.to_string().parse(), Ok(key), "{key}");
            let combo = Combo { modifiers: vec![Modifier::Ctrl, Modifier::Shift], key };
            assert_eq!(combo.to_string().parse(), Ok(combo));
        }
    }

    #[test]
    fn delete_is_a_key_of_its_own_beside_backspace_and_forward_delete() {
        assert_eq!(combo("delete").key, Key::Named(Named::Delete));
        assert_eq!(combo("Backspace").key, Key::Named(Named::Backspace));
        assert_eq!(combo("del"), combo("forwarddelete"));
    }

    #[cfg(feature = "cli")]
    #[test]
    fn the_help_of_press_has_every_name_of_a_key() {
        let command = crate::command::Invocation::clap_command("press").unwrap();
        let help = command.get_long_about().unwrap().to_string();
        let words: Vec<&str> = help.split([' ', ',', '\n']).collect();
        // The arrows have a second name that nobody misses.
        let names = Named::NAMES.iter().chain(Modifier::NAMES).copied().flatten();
        for name in names.filter(|name| !name.starts_with("arrow") && **name != "spacebar") {
            assert!(words.contains(name), "{name} is not in: {help}");
        }
    }

    #[test]
    fn the_plus_key_can_be_written_as_itself() {
        assert_eq!(combo("+").key, Key::Char('+'));
        assert_eq!(combo("cmd++"), combo("cmd+plus"));
    }

    #[test]
    fn what_is_no_key_is_named_with_what_there_is() {
        for (text, said) in [
            ("hyper+s", "unknown modifier 'hyper'; modifiers are cmd ctrl alt shift"),
            ("ctrl+entr", "unknown key 'entr'"),
            ("f25", "f1 to f24"),
            ("", "the key is missing"),
            ("ctrl+", "write the plus key as 'plus'"),
            ("s+ctrl", "unknown modifier 's'"),
        ] {
            let fault = text.parse::<Combo>().unwrap_err().to_string();
            assert!(fault.contains(said), "{text}: {fault}");
        }
    }
}
