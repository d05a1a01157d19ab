//! The text form of elements: one line for each, kept short so that it costs few tokens.
//!
//! ```text
//! window "Calculator" win_8d0c2m
//!   textfield "Display" = "42" txt_77q0aa focused
//!   list "History" lst_5tt6wq (667 rows, 19 shown)
//! ```
//!
//! What apps say goes to terminals and into lines that are read as one each. So it passes [`quote`] or [`one_line`] on its way into
//! a text, and every finished text passes [`defuse`].

use std::borrow::Cow;

use crate::clock::Clock;
use crate::geometry::Bounds;
use crate::id::NodeId;
use crate::node::{Candidate, Node, NodeRef};
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
            out.push_str(&one_line(native));
            out.push(')');
        }
        write_name(self.name, self.description, out);
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
pub fn children_noun(role: Role, count: u32) -> &'static str {
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
    quote_within(text, MAX_TEXT_CHARS, out);
}

/// Writes a text in quotes, on one line, cut if it has more than this number of characters.
pub fn quote_within(text: &str, max_chars: usize, out: &mut String) {
    out.push('"');
    for (count, c) in text.chars().enumerate() {
        if count == max_chars {
            out.push('…');
            break;
        }
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c => push_harmless(c, out),
        }
    }
    out.push('"');
}

/// Whether a character does something to a terminal instead of being shown: control characters (C0 and C1), line and paragraph
/// separators, and those that change the direction of the text around them.
fn is_active(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn push_harmless(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_active(c) => out.extend(c.escape_unicode()),
        c => out.push(c),
    }
}

/// A text of somebody else's, for a line of ours: on one line, and with escapes for whatever a terminal would act on.
pub fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_active)
}

/// Lines of ours, with escapes for whatever a terminal would act on but the ends of the lines. Texts of others should have passed
/// [`one_line`] or [`quote`] before, because here a line break in them can no longer be told from ours.
pub fn defuse(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && is_active(c))
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    text.chars().for_each(|c| if is_escaped(c) { push_harmless(c, &mut out) } else { out.push(c) });
    Cow::Owned(out)
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

/// Writes the line that says at which clock a text was read.
pub fn write_clock(clock: Clock, out: &mut String) {
    out.push_str(&format!("clock {clock}\n"));
}

/// Writes a reference to an element without a newline: `button "Save" btn_4k2p9x`.
pub fn write_ref(node: &NodeRef, out: &mut String) {
    out.push_str(node.role.name());
    write_name(node.name.as_deref(), None, out);
    out.push(' ');
    out.push_str(node.id.as_str());
}

/// Writes a candidate without a newline: `button "Save" btn_4k2p9x disabled in dialog "Export" (nth 2)`.
pub fn write_candidate(candidate: &Candidate, out: &mut String) {
    let Candidate { node, description, value, states, path, nth } = candidate;
    out.push_str(node.role.name());
    write_name(node.name.as_deref(), description.as_deref(), out);
    if let Some(value) = value {
        out.push_str(" = ");
        quote(value, out);
    }
    out.push(' ');
    out.push_str(node.id.as_str());
    for state in states.iter() {
        out.push(' ');
        out.push_str(state.name());
    }
    for (index, above) in path.iter().enumerate() {
        out.push_str(if index == 0 { " in " } else { " › " });
        out.push_str(above.role.name());
        write_name(above.name.as_deref(), None, out);
    }
    if let Some(nth) = nth {
        out.push_str(&format!(" (nth {nth})"));
    }
}

/// Writes a name in quotes, or without one the description in the form that a selector takes; nothing if there is neither.
fn write_name(name: Option<&str>, description: Option<&str>, out: &mut String) {
    let said = |text: &&str| !text.is_empty();
    if let Some(name) = name.filter(said) {
        out.push(' ');
        quote(name, out);
    } else if let Some(description) = description.filter(said) {
        out.push_str(" [description=");
        quote(description, out);
        out.push(']');
    }
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
    fn what_a_terminal_would_act_on_is_shown_as_an_escape() {
        let hostile = "a\u{1b}]0;x\u{7}\u{9b}1m\n\u{2028}\u{202e}b\u{2066}ä";
        let shown = "a\\u{1b}]0;x\\u{7}\\u{9b}1m\\n\\u{2028}\\u{202e}b\\u{2066}ä";
        assert_eq!(one_line(hostile), shown);
        let mut quoted = String::new();
        quote(hostile, &mut quoted);
        assert_eq!(quoted, format!("\"{shown}\""));
        assert_eq!(defuse("one\n\ttwo\u{1b}\n"), "one\n\\ttwo\\u{1b}\n");
        assert!(matches!(one_line("plain ‹text›"), Cow::Borrowed(_)));
    }

    #[test]
    fn long_text_is_cut_and_says_so() {
        let mut out = String::new();
        quote(&"ä".repeat(MAX_TEXT_CHARS + 1), &mut out);
        assert!(out.ends_with("ä…\"") && out.chars().count() == MAX_TEXT_CHARS + 3);
    }
}
