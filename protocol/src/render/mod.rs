//! The text form of answers, which requests with `format: "text"` get. The files are divided by family, as the commands are.

mod approval;
mod audit;
mod daemon;
mod desktop;
mod difference;
mod observe;
mod policy;
mod selftest;
mod wait;

pub use observe::{list_marks, notes_on_picture};

use crate::error::{Delivery, Disposition, Error};
use crate::geometry::Bounds;
use crate::node::{NodeRef, Unread};
use crate::text::{children_noun, one_line, quote, write_candidate, write_ref};

/// An answer that has a text form.
pub trait Render {
    /// Writes the answer as complete lines.
    fn render(&self, out: &mut String);
}

impl Render for Error {
    /// Writes what is wrong, what to do, and what may have been meant.
    fn render(&self, out: &mut String) {
        out.push_str(&format!("error: {}\n", one_line(&self.message)));
        if !self.suggestion.is_empty() {
            out.push_str(&format!("  try: {}\n", one_line(&self.suggestion)));
        }
        for candidate in &self.candidates {
            out.push_str("  - ");
            write_candidate(candidate, out);
            out.push('\n');
        }
        write_unread(self.unread.as_deref().map_or(&[], Vec::as_slice), out);
        if let Some(changed) = &self.changed {
            changed.render(out);
        }
        if let Some(command) = &self.retry_command {
            out.push_str(&format!("  run: ax {}\n", one_line(command)));
        }
    }
}

/// Writes how much of each container was searched, a line for each: `  searched 40 of 5000 rows of table "Big" tbl_4k2p9x`.
pub fn write_unread(unread: &[Unread], out: &mut String) {
    for Unread { node, read, total } in unread {
        match total {
            Some(total) => out
                .push_str(&format!("  searched {read} of {total} {} of ", children_noun(node.role, *total))),
            None => {
                let noun = children_noun(node.role, *read);
                out.push_str(&format!("  searched {read} {noun} (total unknown) of "));
            }
        }
        write_ref(node, out);
        out.push('\n');
    }
}

/// The ancestors of an element as a text: `in window "Notes" › list "Notes"`. What only holds others and has no name is left out;
/// `None` if that leaves nothing. The elements themselves are written by the daemon, which has the tree.
pub fn place_of(path: &[NodeRef]) -> Option<String> {
    let is_named = |node: &NodeRef| node.name.as_deref().is_some_and(|name| !name.is_empty());
    let mut out = String::new();
    for node in path.iter().filter(|node| is_named(node) || !node.role.is_plain()) {
        out.push_str(if out.is_empty() { "in " } else { " › " });
        match node.name.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => {
                out.push_str(node.role.name());
                out.push(' ');
                quote(name, &mut out);
            }
            None => write_ref(node, &mut out),
        }
    }
    Some(out).filter(|out| !out.is_empty())
}

/// Formats a duration in the largest suitable unit.
fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{} s", ms / 1_000),
        60_000..3_600_000 => format!("{} min", ms / 60_000),
        _ => format!("{} h {} min", ms / 3_600_000, ms / 60_000 % 60),
    }
}

/// Formats a file size in the largest suitable unit.
fn file_size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}

/// Formats a rectangle: `10,20 300x200`.
fn format_bounds(bounds: Bounds) -> String {
    let Bounds { x, y, width, height } = bounds;
    format!("{x},{y} {width}x{height}")
}

/// The remark about an action that was not verified; empty if it was.
fn unverified_note(disposition: Disposition) -> &'static str {
    match disposition.delivery {
        Delivery::DeliveredVerified => "",
        Delivery::DeliveredUnverified => " (requested, not confirmed)",
        Delivery::Uncertain => " (outcome unknown)",
        Delivery::NotDelivered => " (not done)",
    }
}

/// A table with aligned columns.
struct Table<const N: usize> {
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    fn new(heading: [&str; N]) -> Table<N> {
        Table { rows: vec![heading.map(str::to_owned)] }
    }

    fn row(&mut self, row: [String; N]) {
        self.rows.push(row.map(|cell| one_line(&cell).into_owned()));
    }

    fn write_or(&self, out: &mut String, empty: &str) {
        if self.rows.len() == 1 { out.push_str(empty) } else { self.write(out) }
    }

    fn write(&self, out: &mut String) {
        let width =
            |column: usize| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
        let widths: [usize; N] = std::array::from_fn(width);
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(widths) {
                line.push_str(&format!("{cell:width$}  "));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Candidate, ErrorCode, NodeId, Role, State, States};

    #[test]
    fn columns_line_up_and_no_line_ends_in_blanks() {
        let mut table = Table::new(["A", "LONG"]);
        table.row(["wide cell".into(), String::new()]);
        let mut out = String::new();
        table.write(&mut out);
        assert_eq!(out, "A          LONG\nwide cell\n");
    }

    #[test]
    fn an_error_says_what_to_do_and_what_may_have_been_meant() {
        let save = NodeRef {
            id: NodeId::parse("btn_4k2p9x").unwrap(),
            role: Role::Button,
            name: Some("Save".into()),
        };
        let error = Error::new(ErrorCode::StaleRef, "btn_000000 is gone")
            .suggest("use one of these")
            .candidates(vec![save])
            .retry("find 'button:Save' --app Notes");
        let mut out = String::new();
        error.render(&mut out);
        assert_eq!(
            out,
            "error: btn_000000 is gone\n  try: use one of these\n  - button \"Save\" btn_4k2p9x\n  run: ax find 'button:Save' --app Notes\n"
        );
    }

    #[test]
    fn a_place_leaves_out_what_has_no_name_and_only_holds_others() {
        let node = |id: &str, role, name: Option<&str>| NodeRef {
            id: NodeId::parse(id).unwrap(),
            role,
            name: name.map(str::to_owned),
        };
        let path = [
            node("win_000001", Role::Window, Some("Main")),
            node("grp_000001", Role::Group, None),
            node("grp_000002", Role::Group, Some("Left")),
            node("lst_000001", Role::List, None),
        ];
        assert_eq!(place_of(&path).as_deref(), Some("in window \"Main\" › group \"Left\" › list lst_000001"));
        assert_eq!(place_of(&path[1..2]), None);
    }

    #[test]
    fn candidates_are_shown_with_what_tells_them_apart() {
        let node = |id: &str, role, name: &str| NodeRef {
            id: NodeId::parse(id).unwrap(),
            role,
            name: Some(name.to_owned()).filter(|name| !name.is_empty()),
        };
        let one = Candidate {
            states: States::NONE.with(State::Hidden),
            path: vec![node("win_000001", Role::Window, "Main"), node("grp_000001", Role::Group, "Left")],
            nth: Some(1),
            ..node("btn_000001", Role::Button, "Save").into()
        };
        let other = Candidate {
            description: Some("Close".into()),
            value: Some("7".into()),
            nth: Some(2),
            ..node("btn_000002", Role::Button, "").into()
        };
        let mut out = String::new();
        Error::new(ErrorCode::AmbiguousTarget, "two").candidates(vec![one, other]).render(&mut out);
        assert_eq!(
            out.lines().skip(2).collect::<Vec<_>>(),
            [
                "  - button \"Save\" btn_000001 hidden in window \"Main\" › group \"Left\" (nth 1)",
                "  - button [description=\"Close\"] = \"7\" btn_000002 (nth 2)",
            ]
        );
    }

    #[test]
    fn a_size_is_formatted_in_the_unit_that_fits() {
        assert_eq!([file_size(12), file_size(1_001), file_size(2_345_678)], ["12 bytes", "2 kB", "2.3 MB"]);
    }

    #[test]
    fn a_duration_is_formatted_in_the_unit_that_fits() {
        assert_eq!([duration(12), duration(61_000), duration(3_720_000)], ["12 ms", "1 min", "1 h 2 min"]);
    }
}
