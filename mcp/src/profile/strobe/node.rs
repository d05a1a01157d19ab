//! Elements as strobe has them: as JSON, and as compact text.

use axd_protocol::{Node as AxdNode, Role, State};
use serde::Serialize;

/// An element.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Node {
    /// Its id, which is axd's.
    pub id: String,
    /// Its role.
    pub role: String,
    /// Its title, otherwise its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Whether it has the keyboard focus.
    pub focused: bool,
    /// Its place on the screen, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Rect>,
    /// The native names of its actions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<String>,
    /// Where it is known from: the accessibility tree.
    pub source: &'static str,
    /// Its children.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Node>,
}

/// A place on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width.
    pub w: i32,
    /// Height.
    pub h: i32,
}

impl Node {
    /// The element with all that is in it.
    pub fn of(node: &AxdNode) -> Node {
        Node { children: node.children.iter().map(Node::of).collect(), ..Node::alone(node) }
    }

    /// The element without what is in it.
    pub fn alone(node: &AxdNode) -> Node {
        let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        Node {
            id: node.id.to_string(),
            role: role(node.role, node.native_role.as_deref()),
            title: text(&node.name).or_else(|| text(&node.description)),
            value: node.value.clone(),
            enabled: !node.states.has(State::Disabled),
            focused: node.states.has(State::Focused),
            bounds: node.bounds.map(|at| Rect { x: at.x, y: at.y, w: at.width, h: at.height }),
            actions: node.actions.clone(),
            source: "ax",
            children: Vec::new(),
        }
    }

    /// The number of elements, this one and all that is in it.
    pub fn count(&self) -> usize {
        1 + self.children.iter().map(Node::count).sum::<usize>()
    }

    /// Whether an action has changed it, as far as this profile says so: not where it is, nor what is in it.
    pub fn differs(&self, before: &Node) -> bool {
        self.value != before.value
            || self.enabled != before.enabled
            || self.focused != before.focused
            || self.title != before.title
    }

    /// Writes it and all that is in it, a line each.
    pub fn write(&self, depth: usize, out: &mut String) {
        out.push_str(&"  ".repeat(depth));
        out.push('[');
        out.push_str(&self.role);
        if let Some(title) = &self.title {
            out.push(' ');
            axd_protocol::text::quote(title, out);
        }
        out.push_str(&format!(" id={}", self.id));
        if let Some(Rect { x, y, w, h }) = self.bounds {
            out.push_str(&format!(" bounds={x},{y},{w},{h}"));
        }
        if let Some(value) = &self.value {
            let mut quoted = String::new();
            axd_protocol::text::quote(value, &mut quoted);
            // Titles have quotes around them and values have none; in both, quotes and line ends are escaped.
            out.push_str(&format!(" value={}", &quoted[1..quoted.len() - 1]));
        }
        for (word, holds) in [(" enabled", self.enabled), (" focused", self.focused)] {
            out.push_str(if holds { word } else { "" });
        }
        out.push_str("]\n");
        self.children.iter().for_each(|child| child.write(depth + 1, out));
    }
}

/// The role: the native one on macOS, elsewhere the name that strobe has for it, or axd's own.
fn role(role: Role, native: Option<&str>) -> String {
    if let Some(native) = native.filter(|native| native.starts_with("AX")) {
        return native.to_owned();
    }
    let name = match role {
        Role::TextField | Role::SearchField => "textField",
        Role::TextArea => "textArea",
        Role::Text => "staticText",
        Role::Combobox => "comboBox",
        Role::ProgressBar => "progressIndicator",
        Role::ScrollArea => "scrollArea",
        Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio => "menuItem",
        Role::MenuBar => "menuBar",
        Role::TabList => "tabGroup",
        Role::Radio => "radioButton",
        Role::SplitGroup => "group",
        Role::ListItem => "row",
        other => other.name(),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn node(json: serde_json::Value) -> Node {
        Node::of(&serde_json::from_value(json).unwrap())
    }

    #[test]
    fn a_line_has_its_parts_in_one_order() {
        let window = node(json!({
            "id": "win_8d0c2m", "role": "window", "name": "Test App", "bounds": { "x": 0, "y": 0, "width": 800, "height": 600 },
            "children": [{
                "id": "btn_4k2p9x", "role": "button", "name": "Play", "states": ["focused"],
                "bounds": { "x": 10, "y": 5, "width": 80, "height": 30 },
            }],
        }));
        let mut out = String::new();
        window.write(0, &mut out);
        let expected = "[window \"Test App\" id=win_8d0c2m bounds=0,0,800,600 enabled]\n\
                        \x20 [button \"Play\" id=btn_4k2p9x bounds=10,5,80,30 enabled focused]\n";
        assert_eq!(out, expected);
        assert_eq!(window.count(), 2);
    }

    #[test]
    fn texts_stay_in_their_line_and_are_cut() {
        let field = node(json!({
            "id": "txt_000000", "role": "textfield", "name": "a\"b\n[c]", "value": format!("\\\n{}", "ä".repeat(500)),
            "states": ["disabled"],
        }));
        let mut out = String::new();
        field.write(0, &mut out);
        let head = r#"[textField "a\"b\n[c]" id=txt_000000 value=\\\n"#;
        assert_eq!(out, format!("{head}{}…]\n", "ä".repeat(398)));
    }

    #[test]
    fn what_is_absent_is_left_out() {
        let text = node(json!({ "id": "lbl_000000", "role": "text", "name": "", "description": "Hint" }));
        let json = serde_json::to_value(&text).unwrap();
        let expected = json!({ "id": "lbl_000000", "role": "staticText", "title": "Hint", "enabled": true, "focused": false, "source": "ax" });
        assert_eq!(json, expected);
    }

    #[test]
    fn roles_have_the_names_of_the_contract() {
        for (role, name) in [
            ("textfield", "textField"),
            ("text", "staticText"),
            ("combobox", "comboBox"),
            ("progressbar", "progressIndicator"),
            ("scrollarea", "scrollArea"),
            ("menuitem", "menuItem"),
            ("menubar", "menuBar"),
            ("tablist", "tabGroup"),
            ("radio", "radioButton"),
            ("textarea", "textArea"),
            ("splitgroup", "group"),
            ("listitem", "row"),
            ("button", "button"),
            ("tree", "tree"),
        ] {
            assert_eq!(super::role(Role::parse(role).unwrap(), Some("push button")), name);
        }
        assert_eq!(super::role(Role::Button, Some("AXButton")), "AXButton");
    }

    #[test]
    fn only_value_enabled_focused_and_title_count_as_changes() {
        let before = json!({ "id": "chk_000000", "role": "checkbox", "name": "n", "value": "v", "actions": ["press"] });
        let with = |name: &str, value: serde_json::Value| {
            let mut after = before.clone();
            after[name] = value;
            node(after).differs(&node(before.clone()))
        };
        assert!(with("value", json!("w")) && with("name", json!("m")));
        assert!(with("states", json!(["disabled"])) && with("states", json!(["focused"])));
        assert!(!with("states", json!(["checked"])) && !with("actions", json!([])));
        assert!(!with("bounds", json!({ "x": 1, "y": 1, "width": 1, "height": 1 })));
    }
}
