//! What of an element's text and numbers is content: pure rules by role.

use axd_protocol::Role;

use crate::atspi::states::{Native, Natives};
use crate::atspi::toolkit::Toolkit;

/// Stands in a text for an element.
const ELEMENT: char = '\u{fffc}';

/// What an element's text is to it.
pub(crate) enum TextIs {
    /// What it holds.
    Value,
    /// What it holds, and it may be long.
    Long,
    /// What it is called, where it has no other name.
    Name,
    /// What it is called, where it has no other name; else what it holds. A cell of a spreadsheet is called by its place.
    NameOrValue,
    /// What it holds, as far as its name does not say it.
    Own,
    Nothing,
}

pub(crate) fn text_is(role: Role, natives: Natives, toolkit: Toolkit) -> TextIs {
    use Role as R;
    match role {
        R::Group | R::Landmark if toolkit.has_text_in_boxes() => TextIs::Name,
        R::TextArea | R::Document if natives.has(Native::Editable) || role == R::TextArea => TextIs::Long,
        R::TextField | R::SearchField => TextIs::Value,
        R::DateField if toolkit.is_browser() => TextIs::Nothing,
        R::Paragraph | R::Combobox | R::DateField if natives.has(Native::Editable) => TextIs::Value,
        R::Cell if natives.has(Native::Editable) => TextIs::NameOrValue,
        R::Text | R::Heading | R::Paragraph | R::Link | R::Cell | R::ListItem | R::TreeItem => TextIs::Name,
        R::StatusBar | R::Tooltip | R::ColumnHeader | R::RowHeader | R::Button | R::Notification => {
            TextIs::Name
        }
        R::Dialog | R::Alert | R::Document | R::Form if toolkit.has_text_in_boxes() => TextIs::Own,
        _ => TextIs::Nothing,
    }
}

/// A text without what stands in it for elements. Where there are any, the spaces around them go too.
pub(crate) fn without_elements(text: &str) -> String {
    if !text.contains(ELEMENT) {
        return text.to_owned();
    }
    let pieces: Vec<&str> = text.split(ELEMENT).map(str::trim).filter(|piece| !piece.is_empty()).collect();
    pieces.join(" ")
}

/// A text without the marks that Gecko puts after characters beyond U+FFFF.
pub(crate) fn without_padding(text: &str) -> String {
    let mut wide = false;
    let is_text = |character: &char| {
        let padding = wide && *character == '\u{feff}';
        wide = *character > '\u{ffff}';
        !padding
    };
    text.chars().filter(is_text).collect()
}

pub(crate) fn has_number(role: Role) -> bool {
    matches!(role, Role::Slider | Role::SpinButton | Role::ProgressBar | Role::Meter)
}

pub(crate) fn wants_label(role: Role) -> bool {
    use Role as R;
    matches!(
        role,
        R::TextField
            | R::TextArea
            | R::SearchField
            | R::Combobox
            | R::Slider
            | R::SpinButton
            | R::Checkbox
            | R::Switch
            | R::ToggleButton
            | R::Button
            | R::ProgressBar
            | R::Meter
            | R::DateField
            | R::ColorWell
    )
}

/// A number without the noise of its binary form.
pub(crate) fn plain_number(number: f64) -> String {
    let plain = (number * 1e6).round() / 1e6;
    // Minus nothing is nothing.
    format!("{}", if plain == 0.0 { 0.0 } else { plain })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_elements_is_no_text() {
        for (text, told) in
            [(" a b\n", " a b\n"), ("\u{fffc} count 0 \u{fffc}", "count 0"), ("See \u{fffc}.", "See .")]
        {
            assert_eq!(without_elements(text), told);
        }
    }

    #[test]
    fn only_what_was_put_after_a_wide_character_is_padding() {
        let text = "\u{feff}a🙂\u{feff}\u{feff}é";
        assert_eq!(without_padding(text), "\u{feff}a🙂\u{feff}é");
    }

    #[test]
    fn numbers_are_told_plainly() {
        for (number, told) in [(50.0, "50"), (0.1 + 0.2, "0.3"), (-0.0, "0"), (-2.5, "-2.5")] {
            assert_eq!(plain_number(number), told);
        }
    }
}
