//! Formats the events of a subscription as lines for people: `12:04:31.482 Notes  ~ textfield "Body" value = "Buy milk" txt_77q0aa`.

use std::collections::HashMap;

use axd_client::protocol::change::{Added, Changed, Moved};
use axd_client::protocol::event::{EndCause, Event, EventData, FreshCause, Observed, Push};
use axd_client::protocol::text::{one_line, quote, write_ref};
use axd_client::protocol::{AppInfo, Difference, Node, NodeId, NodeRef, Replica};

/// Turns events into lines. It keeps the trees, to show the names of elements.
#[derive(Debug, Default)]
pub struct EventFormatter {
    /// The trees by pid. Only names are taken from them, so they need not be complete, which they are not if events are filtered.
    trees: HashMap<u32, Replica>,
    colour: bool,
}

/// The kind of a line, which decides its colour.
#[derive(Debug, Clone, Copy)]
enum LineKind {
    New,
    Gone,
    Changed,
    Event,
    Aside,
}

impl LineKind {
    fn ansi(self) -> &'static str {
        match self {
            LineKind::New => "\x1b[32m",
            LineKind::Gone => "\x1b[31m",
            LineKind::Changed => "\x1b[33m",
            LineKind::Event => "\x1b[36m",
            LineKind::Aside => "\x1b[2m",
        }
    }
}

impl EventFormatter {
    /// A formatter with or without colours.
    pub fn new(colour: bool) -> EventFormatter {
        EventFormatter { trees: HashMap::new(), colour }
    }

    /// The lines for an event that arrived at `time`.
    pub fn format(&mut self, push: Push, time: &str) -> String {
        let mut lines = EventLines { lines: Vec::new() };
        let app = match push.event {
            Event::Fresh { app, cause, tree, .. } => {
                let replica = Replica::new(tree);
                let count = count_of(replica.len(), "element");
                lines.line(LineKind::Aside, format!("{count}{}", fresh_reason(cause)));
                self.trees.insert(app.pid, replica);
                Some(app)
            }
            Event::Changes { app, observed, difference, .. } => {
                let tree = self.trees.entry(app.pid).or_default();
                lines.difference(tree, difference);
                if observed == Observed::Reread {
                    lines.lines.iter_mut().for_each(|(_, line)| line.push_str(" (found by rereading)"));
                }
                Some(app)
            }
            Event::End { cause } => {
                lines.line(LineKind::Aside, format!("the subscription ended: {}", end_reason(cause)));
                None
            }
            Event::Focus(it) => lines.event("focus", it),
            Event::WindowOpened(it) => lines.event("window opened", it),
            Event::WindowClosed(it) => lines.event("window closed", it),
            Event::WindowFocused(it) => lines.event("window focused", it),
            Event::WindowChanged(it) => lines.event("window changed", it),
            Event::AppLaunched(it) => lines.event("launched", it),
            Event::AppTerminated(it) => {
                self.trees.remove(&it.app.pid);
                lines.event("terminated", it)
            }
            Event::MenuOpened(it) => lines.event("menu opened", it),
            Event::MenuClosed(it) => lines.event("menu closed", it),
            Event::Dialog(it) => lines.event("dialog", it),
            Event::Announcement(it) => lines.event("says", it),
            Event::AppState(it) => {
                let state = it.app.state.name();
                lines.event(&format!("is {state}"), it)
            }
        };
        self.write(&lines, app.as_ref(), time)
    }

    fn write(&self, lines: &EventLines, app: Option<&AppInfo>, time: &str) -> String {
        let (dim, plain) = if self.colour { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
        let mut out = String::new();
        for (kind, line) in &lines.lines {
            let tint = if self.colour { kind.ansi() } else { "" };
            let (name, line) = (one_line(app.map_or("axd", |app| &app.name)), one_line(line));
            out.push_str(&format!("{dim}{time}{plain} {name}  {tint}{line}{plain}\n"));
        }
        out
    }
}

/// The lines of one event.
struct EventLines {
    lines: Vec<(LineKind, String)>,
}

impl EventLines {
    fn line(&mut self, kind: LineKind, line: String) {
        self.lines.push((kind, line));
    }

    /// Adds the lines of a difference, and applies it to the replica piece by piece, so that each line has the current names, and
    /// so that a piece that does not fit (because events are filtered) does not prevent the others.
    fn difference(&mut self, tree: &mut Replica, difference: Difference) {
        for id in difference.removed {
            self.line(LineKind::Gone, format!("- {}", reference(tree, id)));
            let _ = tree.apply(Difference { removed: vec![id], ..Difference::default() });
        }
        for moved in difference.moved {
            let Moved { id, parent, index } = moved;
            let line =
                format!("> {} to position {} in {}", reference(tree, id), index + 1, container(tree, parent));
            self.line(LineKind::Changed, line);
            let _ = tree.apply(Difference { moved: vec![moved], ..Difference::default() });
        }
        for added in difference.added {
            self.line(LineKind::New, added_line(tree, &added));
            let _ = tree.apply(Difference { added: vec![added], ..Difference::default() });
        }
        for changed in difference.changed {
            self.line(LineKind::Changed, changed_line(tree, &changed));
            let _ = tree.apply(Difference { changed: vec![changed], ..Difference::default() });
        }
    }

    fn event(&mut self, what: &str, it: EventData) -> Option<AppInfo> {
        let mut line = what.to_owned();
        if let Some(node) = &it.node {
            line.push(' ');
            write_ref(node, &mut line);
        } else if let Some(window) = &it.window {
            line.push(' ');
            quote(&window.title, &mut line);
            if let Some(id) = window.id {
                line.push_str(&format!(" {id}"));
            }
        }
        if let Some(text) = &it.text {
            line.push(' ');
            quote(text, &mut line);
        }
        self.line(LineKind::Event, line);
        Some(it.app)
    }
}

fn added_line(tree: &Replica, added: &Added) -> String {
    let node = &added.node;
    let mut line = String::from("+ ");
    write_name(node, &mut line);
    if let Some(value) = node.value.as_deref().filter(|value| !value.is_empty()) {
        line.push_str(" = ");
        quote(value, &mut line);
    }
    line.push_str(&format!(" {}", node.id));
    if let Some(parent) = added.parent {
        line.push_str(&format!(" in {}", container(tree, parent)));
    }
    match node.walk().count() {
        1 => {}
        count => line.push_str(&format!(" ({})", count_of(count, "element"))),
    }
    line
}

fn changed_line(tree: &Replica, changed: &Changed) -> String {
    let before = tree.get(changed.id);
    let set = &changed.set;
    let mut facts = Vec::new();
    let texts = [
        ("name", &set.name),
        ("value", &set.value),
        ("description", &set.description),
        ("identifier", &set.identifier),
        ("native_role", &set.native_role),
    ];
    for (field, text) in texts {
        if let Some(text) = text {
            let mut fact = format!("{field} = ");
            quote(text, &mut fact);
            facts.push(fact);
        }
    }
    if let Some(role) = set.role {
        facts.push(format!("role = {role}"));
    }
    if let Some(states) = set.states {
        let held = before.map(|node| node.states).unwrap_or_default();
        let gone = held.iter().filter(|state| !states.has(*state)).map(|state| format!("not {state}"));
        let new = states.iter().filter(|state| !held.has(*state)).map(|state| state.to_string());
        facts.extend(new.chain(gone));
    }
    if let Some(actions) = &set.actions {
        facts.push(format!("actions = {}", actions.join(" ")));
    }
    if let Some(count) = set.children_count {
        facts.push(format!("children = {count}"));
    }
    facts.extend(changed.unset.iter().map(|field| format!("no {}", field.name())));
    let mut line = String::from("~ ");
    if let Some(node) = before {
        write_name(node, &mut line);
        line.push(' ');
    }
    format!("{line}{} {}", facts.join(", "), changed.id)
}

/// `row "Note 3" row_4k2p9x`, or only the id of an unknown element.
fn reference(tree: &Replica, id: NodeId) -> String {
    let Some(node) = tree.get(id) else { return id.to_string() };
    let mut out = String::new();
    write_ref(&NodeRef { id, role: node.role, name: node.name.clone() }, &mut out);
    out
}

/// `list "Notes"`: a container by its name, or with its id if it has none.
fn container(tree: &Replica, id: NodeId) -> String {
    match tree.get(id) {
        Some(node) if node.name.as_deref().is_some_and(|name| !name.is_empty()) => {
            let mut out = String::new();
            write_name(node, &mut out);
            out
        }
        _ => reference(tree, id),
    }
}

fn write_name(node: &Node, out: &mut String) {
    out.push_str(node.role.name());
    if let Some(name) = node.name.as_deref().filter(|name| !name.is_empty()) {
        out.push(' ');
        quote(name, out);
    }
}

fn count_of(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn fresh_reason(cause: FreshCause) -> &'static str {
    match cause {
        FreshCause::Snapshot => "",
        FreshCause::Attached => " (just attached)",
        FreshCause::History => " (full tree: the history does not reach back far enough)",
        FreshCause::Boot => " (full tree: the daemon was restarted)",
    }
}

fn end_reason(cause: EndCause) -> &'static str {
    match cause {
        EndCause::Cancelled => "it was cancelled",
        EndCause::Shutdown => "the daemon is shutting down",
        EndCause::Gone => "the watched app or element is gone",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP: &str = r#""app":{"name":"Notes","pid":9,"identity":"notes","state":"live"}"#;

    fn check(lines: &[String], expected: &str) {
        let mut formatter = EventFormatter::new(false);
        let lines: String = lines
            .iter()
            .map(|line| formatter.format(serde_json::from_str(line).unwrap(), "12:00:00.000"))
            .collect();
        let lines: String =
            lines.lines().map(|line| line.strip_prefix("12:00:00.000 ").unwrap().to_owned() + "\n").collect();
        assert_eq!(lines, expected);
    }

    fn fresh() -> String {
        format!(
            r#"{{"sub":1,"event":"fresh","clock":"c:00000001:1",{APP},"cause":"snapshot","tree":{{"id":"app_000000","role":"application","children":[{{"id":"txt_000000","role":"textfield","name":"Body","states":["focused"]}},{{"id":"lst_000000","role":"list","name":"Notes"}}]}}}}"#
        )
    }

    fn changes(observed: &str, difference: &str) -> String {
        format!(
            r#"{{"sub":1,"event":"changes","clock":"c:00000001:2",{APP},"observed":"{observed}",{difference}}}"#
        )
    }

    #[test]
    fn changes_are_shown_with_names() {
        let row = r#"{"id":"row_000000","role":"row","name":"Note 3","children":[{"id":"cell_000000","role":"cell"}]}"#;
        check(
            &[
                fresh(),
                changes("event", &format!(r#""added":[{{"parent":"lst_000000","index":0,"node":{row}}}]"#)),
                changes(
                    "event",
                    r#""changed":[{"id":"txt_000000","set":{"value":"Buy milk","states":["editable"]}}]"#,
                ),
                changes(
                    "reread",
                    r#""changed":[{"id":"row_000000","set":{"name":"Note 4"},"unset":["value"]}]"#,
                ),
                changes("event", r#""moved":[{"id":"row_000000","parent":"app_000000","index":0}]"#),
                changes("event", r#""removed":["row_000000"]"#),
            ],
            "Notes  3 elements\n\
             Notes  + row \"Note 3\" row_000000 in list \"Notes\" (2 elements)\n\
             Notes  ~ textfield \"Body\" value = \"Buy milk\", editable, not focused txt_000000\n\
             Notes  ~ row \"Note 3\" name = \"Note 4\", no value row_000000 (found by rereading)\n\
             Notes  > row \"Note 4\" row_000000 to position 1 in application app_000000\n\
             Notes  - row \"Note 4\" row_000000\n",
        );
    }

    #[test]
    fn an_unknown_element_is_shown_by_its_id() {
        check(
            &[changes(
                "event",
                r#""removed":["row_000000"],"changed":[{"id":"txt_000000","set":{"value":"x"}}]"#,
            )],
            "Notes  - row_000000\nNotes  ~ value = \"x\" txt_000000\n",
        );
    }

    #[test]
    fn other_events_are_one_line_each() {
        let event = |kind: &str, more: &str| {
            format!(r#"{{"sub":1,"event":"{kind}","clock":"c:00000001:3",{APP}{more}}}"#)
        };
        check(
            &[
                event("focus", r#","node":{"id":"txt_000000","role":"textfield","name":"Body"}"#),
                event("window-opened", r#","window":{"window":7,"title":"Untitled","app":"Notes","pid":9}"#),
                event("announcement", r#","text":"Saved""#),
                event("app-state", ""),
                r#"{"sub":1,"event":"end","cause":"shutdown"}"#.to_owned(),
            ],
            "Notes  focus textfield \"Body\" txt_000000\n\
             Notes  window opened \"Untitled\"\n\
             Notes  says \"Saved\"\n\
             Notes  is live\n\
             axd  the subscription ended: the daemon is shutting down\n",
        );
    }
}
