//! How the attributes of an element become its facts: pure rules.

use axd_protocol::{Role, State, States};

use super::roles::is_secure;
use axd_platform::{Facts, MAX_TEXT_LEN};

/// The value of an element.
#[derive(Debug, Clone, PartialEq)]
pub enum ElementValue {
    /// Text.
    Text(String),
    /// A number, or a boolean as 0 or 1.
    Number(f64),
}

/// The attributes of an element, as they were read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RawAttributes {
    /// Its role and subrole.
    pub native: String,
    pub subrole: Option<String>,
    pub title: Option<String>,
    pub description: Option<String>,
    pub help: Option<String>,
    pub identifier: Option<String>,
    pub placeholder: Option<String>,
    /// The text of the element that serves as its title.
    pub label: Option<String>,
    pub value: Option<ElementValue>,
    pub value_description: Option<String>,
    pub enabled: Option<bool>,
    pub focused: Option<bool>,
    pub selected: Option<bool>,
    pub expanded: Option<bool>,
    pub busy: Option<bool>,
    pub hidden: Option<bool>,
    pub required: Option<bool>,
    pub invalid: Option<String>,
    pub has_popup: Option<bool>,
    pub modal: Option<bool>,
    pub multiselectable: Option<bool>,
    /// Whether a row of an outline is expanded; `None` if it has no rows below it.
    pub disclosing: Option<bool>,
    /// The mark of a menu item, such as a check mark.
    pub mark: Option<String>,
    /// Whether its value can be set, if that was read.
    pub settable: Option<bool>,
    /// Whether the menu that it is or opens is open.
    pub open: Option<bool>,
    /// Whether it is an item of a closed menu.
    pub in_closed_menu: bool,
}

/// The facts that follow from the attributes.
pub fn facts(raw: &RawAttributes, role: Role) -> Facts {
    let secure = is_secure(raw.subrole.as_deref());
    let mut facts = Facts::new(role);
    facts.native_role = Some(match &raw.subrole {
        Some(subrole) => format!("{}/{subrole}", raw.native),
        None => raw.native.clone(),
    });
    facts.states = states(raw, role, secure);
    facts.value = if secure { None } else { value(raw, role) };
    let text = match (&raw.value, text_is_name(role)) {
        (Some(ElementValue::Text(text)), true) if !secure => non_empty(Some(text)),
        _ => None,
    };
    let title = non_empty(raw.title.as_ref()).or(text).or(non_empty(raw.label.as_ref()));
    let described = non_empty(raw.description.as_ref());
    let placeholder = non_empty(raw.placeholder.as_ref()).filter(|_| holds_text(role));
    let name = title.or(described).or(placeholder).or(raw.subrole.as_deref().and_then(window_button));
    let more = [described, non_empty(raw.help.as_ref())];
    facts.description = more.into_iter().flatten().find(|text| Some(*text) != name).map(str::to_owned);
    facts.name = name.map(str::to_owned);
    facts.identifier = non_empty(raw.identifier.as_ref()).map(str::to_owned);
    facts
}

/// The names of the title bar's buttons, which have no title.
fn window_button(subrole: &str) -> Option<&'static str> {
    Some(match subrole {
        "AXCloseButton" => "close window",
        "AXMinimizeButton" => "minimize window",
        "AXZoomButton" => "zoom window",
        "AXFullScreenButton" => "fill screen with window",
        _ => return None,
    })
}

fn non_empty(text: Option<&String>) -> Option<&str> {
    text.map(|text| text.trim()).filter(|text| !text.is_empty())
}

fn states(raw: &RawAttributes, role: Role, secure: bool) -> States {
    use Role as R;
    let is = |boolean: Option<bool>| boolean == Some(true);
    let on = match raw.value {
        Some(ElementValue::Number(number)) => number,
        _ => 0.0,
    };
    let mut states = States::NONE;
    states.set(State::Focused, is(raw.focused) && !matches!(role, R::Application | R::Window));
    states.set(State::Disabled, raw.enabled == Some(false) && can_be_disabled(role));
    states.set(State::Secure, secure);
    states.set(State::Busy, is(raw.busy));
    states.set(State::Hidden, is(raw.hidden) && role != R::Application || raw.in_closed_menu);
    states.set(State::Required, is(raw.required));
    let invalid = raw.invalid.as_deref().is_some_and(|invalid| !matches!(invalid, "" | "false"));
    states.set(State::Invalid, invalid);
    states.set(State::Modal, is(raw.modal) || raw.native == "AXSheet");
    states.set(State::Multiselectable, is(raw.multiselectable));
    let expansion = expansion(raw, role);
    states.set(State::Expanded, expansion == Some(true));
    states.set(State::Collapsed, expansion == Some(false));
    let pops_up = matches!(raw.native.as_str(), "AXPopUpButton" | "AXMenuButton" | "AXComboBox")
        || role == R::Menu && raw.open.is_some();
    states.set(State::Haspopup, is(raw.has_popup) || pops_up);
    match role {
        R::Checkbox | R::Switch | R::Radio => {
            states.set(State::Checked, on == 1.0);
            states.set(State::Mixed, on == 2.0);
        }
        R::ToggleButton => {
            states.set(State::Pressed, on == 1.0);
            states.set(State::Mixed, on == 2.0);
        }
        R::MenuItem | R::MenuItemCheckbox | R::MenuItemRadio => {
            let mark = raw.mark.as_deref().unwrap_or_default();
            // A dash means that it applies to a part of the selection.
            states.set(State::Mixed, mark == "-" || mark == "–");
            states.set(State::Checked, !mark.is_empty() && !states.has(State::Mixed));
        }
        _ => {}
    }
    let selected = if role == R::Tab { on == 1.0 || is(raw.selected) } else { is(raw.selected) };
    states.set(State::Selected, selected && !matches!(role, R::Menu | R::MenuItem));
    if holds_text(role) {
        states.set(State::Editable, raw.settable == Some(true));
        states.set(State::Readonly, raw.settable == Some(false));
    }
    states
}

/// Whether an element is expanded; `None` if it cannot be expanded or collapsed.
fn expansion(raw: &RawAttributes, role: Role) -> Option<bool> {
    if raw.native == "AXDisclosureTriangle" {
        return match raw.value {
            Some(ElementValue::Number(number)) => Some(number != 0.0),
            _ => raw.expanded,
        };
    }
    match role {
        Role::Menu | Role::Combobox => raw.open.or(raw.expanded),
        Role::TreeItem | Role::Row => raw.disclosing.or(raw.expanded),
        _ => raw.expanded.or(raw.open),
    }
}

fn value(raw: &RawAttributes, role: Role) -> Option<String> {
    use Role as R;
    match (role, raw.value.as_ref()) {
        (R::Slider | R::SpinButton | R::ProgressBar | R::Meter, Some(ElementValue::Number(number))) => {
            Some(format_number(*number))
        }
        (R::Slider | R::SpinButton | R::ProgressBar | R::Meter, Some(ElementValue::Text(text))) => {
            Some(text.clone())
        }
        (R::DateField | R::ColorWell, Some(ElementValue::Text(text))) => Some(text.clone()),
        (R::DateField | R::ColorWell, _) => raw.value_description.clone().filter(|text| !text.is_empty()),
        (role, Some(ElementValue::Text(text))) if holds_text(role) => Some(text.clone()),
        (role, None) if holds_text(role) && role != R::Combobox => Some(String::new()),
        (R::Cell | R::Document | R::Group | R::Canvas | R::Unknown, Some(ElementValue::Text(text))) => {
            Some(text.clone()).filter(|text| !text.is_empty())
        }
        _ => None,
    }
}

/// Whether elements of this role hold a text that their user or developer wrote.
pub fn holds_text(role: Role) -> bool {
    use Role as R;
    matches!(role, R::TextField | R::TextArea | R::SearchField | R::Combobox)
}

/// Whether the text of such an element is its name.
fn text_is_name(role: Role) -> bool {
    use Role as R;
    matches!(
        role,
        R::Text
            | R::Heading
            | R::Paragraph
            | R::Link
            | R::Button
            | R::ListItem
            | R::TreeItem
            | R::Row
            | R::StatusBar
            | R::Tooltip
            | R::ColumnHeader
            | R::RowHeader
            | R::Notification
    )
}

/// Whether elements of this role can be disabled.
fn can_be_disabled(role: Role) -> bool {
    use Role as R;
    !matches!(role, R::Application | R::Window | R::Separator | R::Unknown)
}

/// Whether the value of such an element is worth reading.
pub fn has_value(role: Role) -> bool {
    use Role as R;
    holds_text(role)
        || text_is_name(role)
        || matches!(
            role,
            R::Checkbox
                | R::Switch
                | R::Radio
                | R::ToggleButton
                | R::Tab
                | R::Slider
                | R::SpinButton
                | R::ProgressBar
                | R::Meter
                | R::DateField
                | R::ColorWell
                | R::Cell
                | R::Group
                | R::Canvas
                | R::Unknown
        )
}

/// A number rounded to six decimals, without trailing zeros.
pub fn format_number(number: f64) -> String {
    let plain = (number * 1e6).round() / 1e6;
    // Negative zero is written as 0.
    format!("{}", if plain == 0.0 { 0.0 } else { plain })
}

/// A text, cut to the length that is kept.
pub fn truncated(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT_LEN) {
        Some((end, _)) => text[..end].to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(native: &str) -> RawAttributes {
        RawAttributes { native: native.to_owned(), ..RawAttributes::default() }
    }

    fn text(text: &str) -> Option<ElementValue> {
        Some(ElementValue::Text(text.to_owned()))
    }

    fn names(facts: &Facts) -> Vec<&'static str> {
        facts.states.iter().map(State::name).collect()
    }

    #[test]
    fn a_name_is_the_title_else_the_text_else_the_label_else_the_description() {
        let mut button = raw("AXButton");
        button.description = Some("Close the window".into());
        assert_eq!(facts(&button, Role::Button).name.as_deref(), Some("Close the window"));
        assert_eq!(facts(&button, Role::Button).description, None);
        button.title = Some("Close".into());
        let close = facts(&button, Role::Button);
        assert_eq!(
            (close.name.as_deref(), close.description.as_deref()),
            (Some("Close"), Some("Close the window"))
        );
        let mut field = raw("AXTextField");
        (field.label, field.value, field.placeholder) =
            (Some("Name:".into()), text("Ada"), Some("First".into()));
        let field = facts(&field, Role::TextField);
        assert_eq!((field.name.as_deref(), field.value.as_deref()), (Some("Name:"), Some("Ada")));
        let mut label = raw("AXStaticText");
        label.value = text("Hello");
        let label = facts(&label, Role::Text);
        assert_eq!((label.name.as_deref(), label.value), (Some("Hello"), None));
    }

    #[test]
    fn the_value_of_a_secure_field_is_never_told() {
        let mut field = raw("AXTextField");
        (field.subrole, field.value) = (Some("AXSecureTextField".into()), text("secret"));
        let field = facts(&field, Role::TextField);
        assert_eq!(field.value, None);
        assert!(field.states.has(State::Secure));
        assert!(!format!("{field:?}").contains("\"secret\""));
    }

    #[test]
    fn boxes_say_by_a_number_whether_they_are_checked() {
        for (number, expected) in [(0.0, &[][..]), (1.0, &["checked"]), (2.0, &["mixed"])] {
            let mut check = raw("AXCheckBox");
            check.value = Some(ElementValue::Number(number));
            assert_eq!(names(&facts(&check, Role::Checkbox)), expected);
            assert_eq!(facts(&check, Role::Checkbox).value, None);
        }
        let mut tab = raw("AXRadioButton");
        tab.value = Some(ElementValue::Number(1.0));
        assert_eq!(names(&facts(&tab, Role::Tab)), ["selected"]);
        assert_eq!(names(&facts(&tab, Role::ToggleButton)), ["pressed"]);
    }

    #[test]
    fn only_what_can_be_unfolded_is_collapsed() {
        assert!(names(&facts(&raw("AXRow"), Role::TreeItem)).is_empty());
        let mut row = raw("AXRow");
        row.disclosing = Some(false);
        assert_eq!(names(&facts(&row, Role::TreeItem)), ["collapsed"]);
        let mut triangle = raw("AXDisclosureTriangle");
        triangle.value = Some(ElementValue::Number(1.0));
        assert_eq!(names(&facts(&triangle, Role::Button)), ["expanded"]);
        let mut menu = raw("AXMenuBarItem");
        menu.open = Some(true);
        assert_eq!(names(&facts(&menu, Role::Menu)), ["expanded", "haspopup"]);
    }

    #[test]
    fn a_mark_before_a_menus_item_checks_it() {
        let mut item = raw("AXMenuItem");
        item.mark = Some("✓".into());
        assert_eq!(names(&facts(&item, Role::MenuItem)), ["checked"]);
        item.in_closed_menu = true;
        assert_eq!(names(&facts(&item, Role::MenuItem)), ["checked", "hidden"]);
    }

    #[test]
    fn fields_are_editable_or_read_only_and_hold_something_even_if_empty() {
        let mut field = raw("AXTextField");
        field.settable = Some(true);
        let editable = facts(&field, Role::TextField);
        assert_eq!((names(&editable), editable.value.as_deref()), (vec!["editable"], Some("")));
        field.settable = Some(false);
        assert_eq!(names(&facts(&field, Role::TextField)), ["readonly"]);
        field.enabled = Some(false);
        assert_eq!(names(&facts(&field, Role::TextField)), ["disabled", "readonly"]);
    }

    #[test]
    fn numbers_are_told_plainly() {
        for (number, expected) in [(50.0, "50"), (0.1 + 0.2, "0.3"), (-0.0, "0"), (-2.5, "-2.5")] {
            assert_eq!(format_number(number), expected);
        }
    }
}
