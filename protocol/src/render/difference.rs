//! Differences that are sent with an error.

use crate::change::{Changed, Difference, Patch};
use crate::command::Effects;
use crate::text::{quote, write_tree};

use super::Render;

impl Render for Effects {
    /// Writes `-` removed, `>` moved, `+` added, `~` changed, and the clock up to which that is all.
    fn render(&self, out: &mut String) {
        if let Some(brief) = &self.brief {
            out.push_str(brief);
        }
        let Difference { removed, moved, added, changed } = &self.difference;
        for id in removed {
            out.push_str(&format!("- {id}\n"));
        }
        for moved in moved {
            out.push_str(&format!("> {} in {}\n", moved.id, moved.parent));
        }
        for added in added {
            out.push_str("+ ");
            let mut text = String::new();
            write_tree(&added.node, 0, &mut text);
            out.push_str(&text.trim_end().replace('\n', "\n  "));
            out.push('\n');
        }
        for Changed { id, set, unset } in changed {
            out.push_str(&format!("~ {id}"));
            write_patch(set, out);
            for field in unset {
                out.push_str(&format!(" no {}", field.name()));
            }
            out.push('\n');
        }
        if self.truncated {
            out.push_str("too much has changed to be listed here\n");
        }
        out.push_str(&format!("clock {}\n", self.clock));
    }
}

fn write_patch(set: &Patch, out: &mut String) {
    if let Some(role) = set.role {
        out.push_str(&format!(" role {}", role.name()));
    }
    let texts = [
        ("name", &set.name),
        ("value", &set.value),
        ("description", &set.description),
        ("identifier", &set.identifier),
        ("native-role", &set.native_role),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            out.push_str(&format!(" {name} "));
            quote(text, out);
        }
    }
    if let Some(states) = set.states {
        let names: Vec<&str> = states.iter().map(|state| state.name()).collect();
        out.push_str(&format!(" [{}]", names.join(" ")));
    }
    if let Some(actions) = &set.actions {
        out.push_str(&format!(" actions {}", actions.join(" ")));
    }
    if let Some(count) = set.children_count {
        out.push_str(&format!(" children {count}"));
    }
}
