//! The keys that strobe knows: fewer than axd does, and no others.

use axd_protocol::Error;
use axd_protocol::ErrorCode;
use axd_protocol::keys::Modifier;

/// The combination that axd presses for a key and modifiers. The error has the text of the contract.
pub fn combo(key: &str, modifiers: &[String]) -> Result<String, Error> {
    let invalid = |message: String| Error::new(ErrorCode::InvalidArgs, message);
    let mut combo = String::new();
    for modifier in modifiers {
        let modifier: Modifier = modifier
            .parse()
            .map_err(|fault: axd_protocol::keys::ParseKeysError| invalid(fault.to_string()))?;
        combo.push_str(modifier.name());
        combo.push('+');
    }
    let known = known(&key.to_lowercase()).ok_or_else(|| {
        invalid(format!(
            "unknown key: '{key}'. Supported: a-z, 0-9, return, tab, space, delete, escape, arrow keys, f1-f12"
        ))
    })?;
    combo.push_str(&known);
    Ok(combo)
}

/// axd's name of a key.
fn known(key: &str) -> Option<String> {
    let named = match key {
        "return" | "enter" => "return",
        "tab" => "tab",
        "space" => "space",
        // The key of that label on a Mac, which deletes before the caret.
        "delete" | "backspace" => "backspace",
        "escape" | "esc" => "escape",
        "left" | "right" | "up" | "down" => key,
        _ => {
            let is_character =
                key.len() == 1 && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
            let number = key.strip_prefix('f').filter(|digits| !digits.starts_with(['0', '+']));
            let is_function = number
                .and_then(|digits| digits.parse::<u8>().ok())
                .is_some_and(|number| (1..=12).contains(&number));
            return (is_character || is_function).then(|| key.to_owned());
        }
    };
    Some(named.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(key: &str, modifiers: &[&str]) -> Result<String, String> {
        let modifiers: Vec<String> = modifiers.iter().map(|name| (*name).to_owned()).collect();
        combo(key, &modifiers).map_err(|error| error.message)
    }

    #[test]
    fn keys_and_modifiers_have_their_names_in_any_case() {
        for (key, modifiers, expected) in [
            ("A", &["Cmd"][..], "cmd+a"),
            ("7", &["command", "SHIFT"], "cmd+shift+7"),
            ("Enter", &["option"], "alt+return"),
            ("delete", &["control"], "ctrl+backspace"),
            ("BackSpace", &[], "backspace"),
            ("esc", &[], "escape"),
            ("F12", &[], "f12"),
            ("left", &[], "left"),
        ] {
            assert_eq!(of(key, modifiers).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn nothing_else_is_a_key() {
        for key in ["pagedown", "f13", "f0", "f01", "ä", "", "aa", "+"] {
            let expected = format!(
                "unknown key: '{key}'. Supported: a-z, 0-9, return, tab, space, delete, escape, arrow keys, f1-f12"
            );
            assert_eq!(of(key, &[]), Err(expected));
        }
        assert!(of("w", &["ctlr"]).unwrap_err().starts_with("unknown modifier 'ctlr'; modifiers are"));
    }
}
