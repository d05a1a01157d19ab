//! What of an element's text and numbers is content: pure rules by role.

use axd_protocol::Role;

use crate::atspi::states::{NativeState, NativeStates};
use crate::atspi::toolkit::Toolkit;

/// The character that stands in a text for an embedded element.
const EMBEDDED_OBJECT: char = '\u{fffc}';

/// How an element's text is used.
pub(crate) enum TextUse {
    /// It is the value.
    Value,
    /// It is the value, and may be long.
    Long,
    /// It is the name, where there is no other.
    Name,
    /// It is the name, where there is no other; else the value. A cell of a spreadsheet is named by its place.
    NameOrValue,
    /// It is the value, as far as the name does not contain it.
    Own,
    Nothing,
}

pub(crate) fn text_use(role: Role, natives: NativeStates, toolkit: Toolkit) -> TextUse {
    use Role as R;
    match role {
        R::Group | R::Landmark if toolkit.has_text_in_boxes() => TextUse::Name,
        R::TextArea | R::Document if natives.has(NativeState::Editable) || role == R::TextArea => {
            TextUse::Long
        }
        R::TextField | R::SearchField => TextUse::Value,
        R::DateField if toolkit.is_browser() => TextUse::Nothing,
        R::Paragraph | R::Combobox | R::DateField if natives.has(NativeState::Editable) => TextUse::Value,
        R::Cell if natives.has(NativeState::Editable) => TextUse::NameOrValue,
        R::Text | R::Heading | R::Paragraph | R::Link | R::Cell | R::ListItem | R::TreeItem => TextUse::Name,
        R::StatusBar | R::Tooltip | R::ColumnHeader | R::RowHeader | R::Button | R::Notification => {
            TextUse::Name
        }
        R::Dialog | R::Alert | R::Document | R::Form if toolkit.has_text_in_boxes() => TextUse::Own,
        _ => TextUse::Nothing,
    }
}

/// A text without what stands in it for elements. Where there are any, the spaces around them go too.
pub(crate) fn without_elements(text: &str) -> String {
    if !text.contains(EMBEDDED_OBJECT) {
        return text.to_owned();
    }
    let pieces: Vec<&str> =
        text.split(EMBEDDED_OBJECT).map(str::trim).filter(|piece| !piece.is_empty()).collect();
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

/// Formats a number without the noise of its binary form.
pub(crate) fn format_number(number: f64) -> String {
    let plain = (number * 1e6).round() / 1e6;
    // Negative zero is zero.
    format!("{}", if plain == 0.0 { 0.0 } else { plain })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_elements_is_no_text() {
        for (text, expected) in
            [(" a b\n", " a b\n"), ("\u{fffc} count 0 \u{fffc}", "count 0"), ("See \u{fffc}.", "See .")]
        {
            assert_eq!(without_elements(text), expected);
        }
    }

    #[test]
    fn only_what_was_put_after_a_wide_character_is_padding() {
        let text = "\u{feff}a🙂\u{feff}\u{feff}é";
        assert_eq!(without_padding(text), "\u{feff}a🙂\u{feff}é");
    }

    #[test]
    fn numbers_are_formatted_plainly() {
        for (number, expected) in [(50.0, "50"), (0.1 + 0.2, "0.3"), (-0.0, "0"), (-2.5, "-2.5")] {
            assert_eq!(format_number(number), expected);
        }
    }
}
