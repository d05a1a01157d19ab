//! The names of elements, without what toolkits put in place of one: class names and repeated labels. Pure.

use std::borrow::Cow;

use axd_protocol::Role;

use crate::atspi::toolkit::Toolkit;

/// The name of an element, without what its toolkit makes of it; empty if that leaves nothing.
pub(crate) fn display_name(name: &str, role: Role, toolkit: Toolkit) -> Cow<'_, str> {
    if !toolkit.invents_names() {
        return Cow::Borrowed(name);
    }
    // What an app makes itself has other names, but hardly anybody names a box, and then not in one word.
    if is_class(name) || role == Role::Group && is_camel(name) {
        return Cow::Borrowed("");
    }
    match role {
        // What it shows is its name.
        Role::Text | Role::Heading => Cow::Borrowed(name),
        _ => Cow::Borrowed(without_repetition(name)),
    }
}

/// Whether a name is that of a class, as `GtkMenuButton`.
fn is_class(name: &str) -> bool {
    let rest = ["Gtk", "Adw", "Gsk", "Gdk"].iter().find_map(|library| name.strip_prefix(library));
    let is_word = |rest: &str| rest.chars().all(|c| c.is_ascii_alphanumeric());
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()) && is_word(rest))
}

/// Whether a name is one word with capitals in it, as `HistoryView`.
fn is_camel(name: &str) -> bool {
    let capitals = name.chars().filter(char::is_ascii_uppercase).count();
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
        && (2..name.len()).contains(&capitals)
}

/// `4 4` is `4`: the label of a button and what is in the button.
fn without_repetition(name: &str) -> &str {
    let middle = name.len() / 2;
    match (name.get(..middle), name.get(middle..)) {
        (Some(first), Some(rest)) if rest.strip_prefix(' ') == Some(first) && !first.is_empty() => first,
        _ => name,
    }
}

/// What an element's own text says beyond its name: the pieces between the elements in it that the name does not hold.
pub(crate) fn text_beyond_name(name: Option<&str>, text: &str, most: usize) -> Option<String> {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let name = squeezed(name.unwrap_or_default());
    let pieces = text.split('\u{fffc}').map(str::trim);
    let new: Vec<&str> = pieces.filter(|piece| !name.contains(&squeezed(piece))).collect();
    let own: String = new.join(" ").chars().take(most).collect();
    Some(own).filter(|own| !own.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_no_names_and_nothing_is_called_twice() {
        for (name, expected) in [
            ("GtkMenuButton", ""),
            ("AdwHeaderBar", ""),
            ("Gtk", "Gtk"),
            ("Gtk Demo", "Gtk Demo"),
            ("Gtkish", "Gtkish"),
            ("4 4", "4"),
            ("New file New file", "New file"),
            ("4 5", "4 5"),
            ("44", "44"),
            ("é é", "é"),
            (" ", " "),
            ("", ""),
        ] {
            assert_eq!(display_name(name, Role::Button, Toolkit::Gtk4), expected, "{name:?}");
        }
        assert_eq!(display_name("HistoryView", Role::Group, Toolkit::Gtk4), "");
        assert_eq!(display_name("HistoryView", Role::Button, Toolkit::Gtk4), "HistoryView");
        for name in ["History", "History view", "CPU"] {
            assert_eq!(display_name(name, Role::Group, Toolkit::Gtk4), name);
        }
        assert_eq!(display_name("bye bye", Role::Text, Toolkit::Gtk4), "bye bye");
        assert_eq!(display_name("GtkMenuButton", Role::Button, Toolkit::Gtk3), "GtkMenuButton");
        assert_eq!(display_name("4 4", Role::Button, Toolkit::Qt), "4 4");
    }

    #[test]
    fn text_that_the_name_does_not_hold_is_not_lost() {
        for (name, text, expected) in [
            (Some("Result"), "Submitted: yes", Some("Submitted: yes")),
            (Some("Hello World there"), "Hello \u{fffc}  there", None),
            (Some("second"), "• two \u{fffc}", Some("• two")),
            (Some("Save  as"), "Save as", None),
            (None, "hi \u{fffc} you", Some("hi you")),
            (Some("x"), "\u{fffc}\u{fffc}", None),
        ] {
            assert_eq!(text_beyond_name(name, text, 100).as_deref(), expected, "{text:?}");
        }
        assert_eq!(text_beyond_name(None, "abcdef", 3).as_deref(), Some("abc"));
    }
}
