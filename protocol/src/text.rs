//! The text form of elements: one line for each, kept short so that it costs few tokens.
//!
//! ```text
//! window "Calculator" win_8d0c2m
//!   textfield "Display" = "42" txt_77q0aa focused
//!   list "History" lst_5tt6wq (667 rows, 19 shown)
//! ```

use crate::geometry::Bounds;
use crate::id::NodeId;
use crate::node::{Node, NodeRef};
use crate::role::Role;
use crate::state::States;

/// The maximum number of characters of a name or value that is shown. A longer one is cut and ends with an ellipsis.
const MAX_TEXT_CHARS: usize = 400;

/// The properties of an element that its line shows.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Its id.
    pub id: NodeId,
    /// Its role.
    pub role: Role,
    /// The toolkit's name for the role; shown if `role` is [`Role::Unknown`].
    pub native_role: Option<&'a str>,
    /// Its name.
    pub name: Option<&'a str>,
    /// Its value.
    pub value: Option<&'a str>,
    /// Its description; shown if it has no name, in the form that a selector takes.
    pub description: Option<&'a str>,
    /// Its states.
    pub states: States,
    /// Its bounds, if they were asked for.
    pub bounds: Option<Bounds>,
    /// The number of its children and of those shown, if the two differ.
    pub cut: Option<PartialChildren>,
}

/// The counts of an element's children that are not all shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialChildren {
    /// The number of children; 0 if it is unknown.
    pub total: u32,
    /// The number of children shown.
    pub shown: u32,
}

impl Line<'_> {
    /// Writes the line, indented by `depth` levels, with its newline.
    pub fn write(&self, depth: usize, out: &mut String) {
        for _ in 0..depth {
            out.push_str("  ");
        }
        out.push_str(self.role.name());
        if self.role == Role::Unknown
            && let Some(native) = self.native_role
        {
            out.push('(');
            out.push_str(native);
            out.push(')');
        }
        if let Some(name) = self.name.filter(|name| !name.is_empty()) {
            out.push(' ');
            quote(name, out);
        } else if let Some(description) = self.description.filter(|description| !description.is_empty()) {
            out.push_str(" [description=");
            quote(description, out);
            out.push(']');
        }
        if let Some(value) = self.value.filter(|value| !value.is_empty()) {
            out.push_str(" = ");
            quote(value, out);
        }
        out.push(' ');
        out.push_str(self.id.as_str());
        for state in self.states.iter() {
            out.push(' ');
            out.push_str(state.name());
        }
        if let Some(Bounds { x, y, width, height }) = self.bounds {
            out.push_str(&format!(" @{x},{y} {width}x{height}"));
        }
        if let Some(PartialChildren { total, shown }) = self.cut {
            match total {
                0 => {
                    let noun = children_noun(self.role, shown);
                    out.push_str(&format!(" ({shown} {noun} shown, total unknown)"));
                }
                total => {
                    let noun = children_noun(self.role, total);
                    out.push_str(&format!(" ({total} {noun}, {shown} shown)"));
                }
            }
        }
        out.push('\n');
    }
}

/// The noun for `count` children of an element.
pub(crate) fn children_noun(role: Role, count: u32) -> &'static str {
    let (one, many) = match role {
        Role::Table | Role::Grid | Role::List => ("row", "rows"),
        Role::Tree | Role::Menu | Role::Combobox => ("item", "items"),
        Role::Application => ("window", "windows"),
        _ => ("child", "children"),
    };
    if count == 1 { one } else { many }
}

/// Writes a text in quotes, on one line, cut if it is long.
pub fn quote(text: &str, out: &mut String) {
    out.push('"');
    for (count, c) in text.chars().enumerate() {
        if count == MAX_TEXT_CHARS {
            out.push('…');
            break;
        }
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out.push('"');
}

impl<'a> From<&'a Node> for Line<'a> {
    fn from(node: &'a Node) -> Line<'a> {
        let shown = node.children.len() as u32;
        Line {
            id: node.id,
            role: node.role,
            native_role: node.native_role.as_deref(),
            name: node.name.as_deref(),
            value: node.value.as_deref(),
            description: node.description.as_deref(),
            states: node.states,
            bounds: node.bounds,
            cut: node
                .children_count
                .filter(|total| *total > shown || *total == 0)
                .map(|total| PartialChildren { total, shown }),
        }
    }
}

/// Writes a tree, one line per element.
pub fn write_tree(root: &Node, depth: usize, out: &mut String) {
    let mut stack = vec![(root, depth)];
    while let Some((node, depth)) = stack.pop() {
        Line::from(node).write(depth, out);
        stack.extend(node.children.iter().rev().map(|child| (child, depth + 1)));
    }
}

/// Writes a reference to an element without a newline: `button "Save" btn_4k2p9x`.
pub fn write_ref(node: &NodeRef, out: &mut String) {
    out.push_str(node.role.name());
    if let Some(name) = node.name.as_deref().filter(|name| !name.is_empty()) {
        out.push(' ');
        quote(name, out);
    }
    out.push(' ');
    out.push_str(node.id.as_str());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::State;

    fn check(line: Line<'_>, expected: &str) {
        let mut out = String::new();
        line.write(1, &mut out);
        assert_eq!(out, expected);
    }

    fn line(role: Role) -> Line<'static> {
        let id = NodeId::parse("el_000000").unwrap();
        Line {
            id,
            role,
            native_role: None,
            name: None,
            value: None,
            description: None,
            states: States::NONE,
            bounds: None,
            cut: None,
        }
    }

    #[test]
    fn a_line_shows_what_there_is_and_nothing_else() {
        check(line(Role::Group), "  group el_000000\n");
        let states = States::NONE.with(State::Focused);
        let field = Line { name: Some("Dis\"play"), value: Some("4\n2"), states, ..line(Role::TextField) };
        check(field, "  textfield \"Dis\\\"play\" = \"4\\n2\" el_000000 focused\n");
        let button = Line { description: Some("Main menu"), ..line(Role::Button) };
        check(button, "  button [description=\"Main menu\"] el_000000\n");
        check(Line { name: Some("Menu"), ..button }, "  button \"Menu\" el_000000\n");
        check(Line { native_role: Some("AXGizmo"), ..line(Role::Unknown) }, "  unknown(AXGizmo) el_000000\n");
        check(
            Line { cut: Some(PartialChildren { total: 667, shown: 19 }), ..line(Role::List) },
            "  list el_000000 (667 rows, 19 shown)\n",
        );
        check(
            Line { cut: Some(PartialChildren { total: 0, shown: 205 }), ..line(Role::List) },
            "  list el_000000 (205 rows shown, total unknown)\n",
        );
    }

    #[test]
    fn long_text_is_cut_and_says_so() {
        let mut out = String::new();
        quote(&"ä".repeat(MAX_TEXT_CHARS + 1), &mut out);
        assert!(out.ends_with("ä…\"") && out.chars().count() == MAX_TEXT_CHARS + 3);
    }
}
