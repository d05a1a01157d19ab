//! Writes elements straight into the output, as JSON or text, while the tree is locked. Nothing is cloned first.
//!
//! The JSON is that of [`axd_protocol::Node`] and [`axd_protocol::Difference`], and the tests compare every byte with what serde
//! makes of those. It is written by hand because a view of a node that derives `Serialize` takes 1.8 times the instructions
//! (a snapshot of 2,000 elements: 2.95 million instead of 1.65), and because serde recurses once a level while trees may be as
//! deep as apps make them.

use axd_protocol::text::{self, Line, PartialChildren};
use axd_protocol::{Bounds, Field, NodeId, Role};

use crate::Tree;
use crate::UNCOUNTED;
use crate::diff::{Changes, Fields};
use crate::store::{Ix, Node};
use crate::view::{Filter, Showing, Shown, View};

/// Which optional fields of a node to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeFields {
    /// The native actions.
    pub actions: bool,
    /// The native role, even where the role is specific enough.
    pub native_role: bool,
}

impl NodeFields {
    /// All fields, as a replica needs them.
    pub const ALL: NodeFields = NodeFields { actions: true, native_role: true };
    /// The fields of a snapshot.
    pub const COMMON: NodeFields = NodeFields { actions: false, native_role: false };
}

impl Tree {
    /// Writes the chosen elements as one JSON object.
    pub fn write_json(&self, showing: &Showing, view: &View, fields: NodeFields, out: &mut Vec<u8>) {
        let mut open = 0;
        for (at, shown) in showing.nodes.iter().enumerate() {
            while open > shown.depth {
                out.extend_from_slice(b"]}");
                open -= 1;
            }
            if at > 0 && out.last() == Some(&b'}') {
                out.push(b',');
            }
            let bounds = view.bounds.as_ref().and_then(|bounds| bounds.get(&shown.ix).copied());
            self.write_open(shown.ix, fields, bounds, shown.cut.map(|cut| (cut.total, shown.truncated)), out);
            let has_children = showing.nodes.get(at + 1).is_some_and(|next| next.depth > shown.depth);
            if has_children {
                out.extend_from_slice(b",\"children\":[");
                open += 1;
            } else {
                out.push(b'}');
            }
        }
        (0..open).for_each(|_| out.extend_from_slice(b"]}"));
    }

    /// Writes the chosen elements as text, one line each.
    pub fn write_text(&self, showing: &Showing, view: &View, out: &mut String) {
        for &Shown { ix, depth, cut, .. } in &showing.nodes {
            let bounds = view.bounds.as_ref().and_then(|bounds| bounds.get(&ix).copied());
            // With this filter the text that labels an item is not shown itself, so the item's line has it.
            let lent = (view.filter == Filter::Interactive).then(|| self.lent(ix)).flatten();
            let line = self.line(ix, bounds, cut);
            Line { name: lent.as_deref().or(line.name), ..line }.write(depth as usize, out);
        }
    }

    /// Writes an element and all below it, complete, for a replica.
    pub fn write_whole(&self, root: Ix, out: &mut Vec<u8>) {
        // The elements whose children are being written, each with the index of the next child.
        let mut open: Vec<(Ix, usize)> = Vec::new();
        let mut next = Some(root);
        while let Some(ix) = next {
            let node = &self.store[ix];
            self.write_open(ix, NodeFields::ALL, None, node.total.map(|total| (total, true)), out);
            if node.children.is_empty() {
                out.push(b'}');
            } else {
                out.extend_from_slice(b",\"children\":[");
                open.push((ix, 0));
            }
            next = loop {
                let Some((parent, at)) = open.last_mut() else { break None };
                if let Some(&child) = self.store[*parent].children.get(*at) {
                    if *at > 0 {
                        out.push(b',');
                    }
                    *at += 1;
                    break Some(child);
                }
                out.extend_from_slice(b"]}");
                open.pop();
            };
        }
    }

    /// Writes one element without its children, as one JSON object.
    pub fn write_node(&self, ix: Ix, fields: NodeFields, bounds: Option<Bounds>, out: &mut Vec<u8>) {
        let node = &self.store[ix];
        let counted = node.total.filter(|total| *total != UNCOUNTED);
        let count = counted.unwrap_or(node.children.len() as u32);
        self.write_open(ix, fields, bounds, (count > 0).then_some((count, false)), out);
        out.push(b'}');
    }

    /// The text line of an element.
    pub fn line(&self, ix: Ix, bounds: Option<Bounds>, cut: Option<PartialChildren>) -> Line<'_> {
        let node = &self.store[ix];
        Line {
            id: node.id,
            role: node.role,
            native_role: node.native_role.map(|sym| self.store.strings.get(sym)),
            name: node.name.as_deref(),
            value: node.value.as_deref(),
            description: node.description.as_deref(),
            states: node.states,
            bounds,
            cut,
        }
    }

    /// Writes everything of a node but its children, without the closing brace.
    fn write_open(
        &self,
        ix: Ix,
        fields: NodeFields,
        bounds: Option<Bounds>,
        count: Option<(u32, bool)>,
        out: &mut Vec<u8>,
    ) {
        let node = &self.store[ix];
        out.extend_from_slice(b"{\"id\":\"");
        out.extend_from_slice(node.id.as_str().as_bytes());
        out.extend_from_slice(b"\",\"role\":\"");
        out.extend_from_slice(node.role.name().as_bytes());
        out.push(b'"');
        let texts = [
            (&b",\"name\":"[..], &node.name),
            (b",\"value\":", &node.value),
            (b",\"description\":", &node.description),
            (b",\"identifier\":", &node.identifier),
        ];
        for (label, text) in texts {
            if let Some(text) = text {
                out.extend_from_slice(label);
                write_string(text, out);
            }
        }
        if fields.native_role || node.role == Role::Unknown {
            self.write_field(node, Field::NativeRole, out);
        }
        if !node.states.is_empty() {
            self.write_field(node, Field::States, out);
        }
        if fields.actions && node.actions.is_some() {
            self.write_field(node, Field::Actions, out);
        }
        if let Some(bounds) = bounds {
            out.extend_from_slice(b",\"bounds\":");
            write_value(&bounds, out);
        }
        if let Some((count, truncated)) = count {
            out.extend_from_slice(b",\"children_count\":");
            write_value(&count, out);
            if truncated {
                out.extend_from_slice(b",\"truncated\":true");
            }
        }
    }

    /// Writes one field of a node, with a leading comma and its name; nothing if it has no value.
    fn write_field(&self, node: &Node, field: Field, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(b",\"");
        out.extend_from_slice(field.name().as_bytes());
        out.extend_from_slice(b"\":");
        let text = match field {
            Field::Role => Some(node.role.name()),
            Field::Name => node.name.as_deref(),
            Field::Value => node.value.as_deref(),
            Field::Description => node.description.as_deref(),
            Field::Identifier => node.identifier.as_deref(),
            Field::NativeRole => node.native_role.map(|sym| self.store.strings.get(sym)),
            Field::States => return write_value(&node.states, out),
            Field::Actions => {
                return write_list(self.store.strings.list(node.actions), out);
            }
            Field::ChildrenCount => match node.total {
                Some(total) => return write_value(&total, out),
                None => None,
            },
        };
        match text {
            Some(text) => write_string(text, out),
            None => out.truncate(start),
        }
    }

    /// Whether a field has no value now, so that a difference must remove it.
    fn is_unset(&self, node: &Node, field: Field) -> bool {
        match field {
            Field::Role | Field::States | Field::Actions => false,
            Field::Name => node.name.is_none(),
            Field::Value => node.value.is_none(),
            Field::Description => node.description.is_none(),
            Field::Identifier => node.identifier.is_none(),
            Field::NativeRole => node.native_role.is_none(),
            Field::ChildrenCount => node.total.is_none(),
        }
    }

    /// Writes a difference as the fields `"removed":…,"moved":…,"added":…,"changed":…`, without braces.
    pub fn write_changes(&self, changes: &Changes, out: &mut Vec<u8>) {
        out.extend_from_slice(b"\"removed\":");
        write_list(changes.removed.iter().map(NodeId::as_str), out);
        out.extend_from_slice(b",\"moved\":[");
        separated(&changes.moved, out, |(ix, parent, index), out| {
            let (id, parent) = (self.id(*ix), self.id(*parent));
            out.extend_from_slice(
                format!(r#"{{"id":"{id}","parent":"{parent}","index":{index}}}"#).as_bytes(),
            );
        });
        out.extend_from_slice(b"],\"added\":[");
        separated(&changes.added, out, |(ix, index), out| {
            out.push(b'{');
            if let Some(parent) = self.store[*ix].parent {
                out.extend_from_slice(format!(r#""parent":"{}","#, self.id(parent)).as_bytes());
            }
            out.extend_from_slice(format!(r#""index":{index},"node":"#).as_bytes());
            self.write_whole(*ix, out);
            out.push(b'}');
        });
        out.extend_from_slice(b"],\"changed\":[");
        separated(&changes.changed, out, |(ix, fields), out| self.write_changed(*ix, *fields, out));
        out.push(b']');
    }

    fn write_changed(&self, ix: Ix, fields: Fields, out: &mut Vec<u8>) {
        let node = &self.store[ix];
        out.extend_from_slice(format!(r#"{{"id":"{}""#, node.id).as_bytes());
        let mut first = true;
        for field in fields.iter().filter(|field| !self.is_unset(node, *field)) {
            let start = out.len();
            self.write_field(node, field, out);
            if first {
                // The field was written with a leading comma; here it needs the opening of `set` instead.
                out.splice(start..start + 1, *b",\"set\":{");
                first = false;
            }
        }
        if !first {
            out.push(b'}');
        }
        let unset: Vec<&str> =
            fields.iter().filter(|field| self.is_unset(node, *field)).map(Field::name).collect();
        if !unset.is_empty() {
            out.extend_from_slice(b",\"unset\":");
            write_list(unset.into_iter(), out);
        }
        out.push(b'}');
    }

    /// Writes a difference as text: `-` removed, `>` moved, `+` added, `~` changed.
    pub fn write_changes_text(&self, changes: &Changes, out: &mut String) {
        for id in &changes.removed {
            out.push_str(&format!("- {id}\n"));
        }
        for (ix, parent, _) in &changes.moved {
            out.push_str("> ");
            text::write_ref(&self.node_ref(*ix), out);
            out.push_str(" in ");
            text::write_ref(&self.node_ref(*parent), out);
            out.push('\n');
        }
        for (root, _) in &changes.added {
            let base = self.store.depth(*root);
            for ix in self.store.subtree(*root) {
                out.push_str(if ix == *root { "+ " } else { "  " });
                let total = self.store[ix].total;
                let cut =
                    total.map(|total| PartialChildren { total, shown: self.store[ix].children.len() as u32 });
                self.line(ix, None, cut).write(self.store.depth(ix) - base, out);
            }
        }
        for (ix, fields) in &changes.changed {
            out.push_str("~ ");
            text::write_ref(&self.node_ref(*ix), out);
            for field in fields.iter() {
                let mut value = Vec::new();
                self.write_field(&self.store[*ix], field, &mut value);
                // The field is written as `,"name":value`: this takes what is after the colon, or nothing if there is no value.
                let value = String::from_utf8_lossy(&value).into_owned();
                match value.get(field.name().len() + 4..) {
                    Some(value) => out.push_str(&format!(" {} = {value}", field.name())),
                    None => out.push_str(&format!(" no {}", field.name())),
                }
            }
            out.push('\n');
        }
    }
}

fn separated<T>(items: &[T], out: &mut Vec<u8>, mut write: impl FnMut(&T, &mut Vec<u8>)) {
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out);
    }
}

fn write_list<'a>(words: impl Iterator<Item = &'a str>, out: &mut Vec<u8>) {
    out.push(b'[');
    for (at, word) in words.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_string(word, out);
    }
    out.push(b']');
}

/// Writes a JSON string. Most strings need no escapes and are copied as they are.
fn write_string(text: &str, out: &mut Vec<u8>) {
    if text.bytes().any(|b| b < 0x20 || b == b'"' || b == b'\\') {
        return write_value(&text, out);
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

fn write_value(value: &impl serde::Serialize, out: &mut Vec<u8>) {
    // Writing to a `Vec` cannot fail, and these values always serialize.
    let _ = serde_json::to_writer(out, value);
}
