//! The tree of a snapshot as agent-desktop has it, and what its options leave out.

use axd_protocol::{Bounds, Node, Role, State};
use serde::Serialize;

use super::refs::{RefEntry, RefMap, is_numbered};

/// The states that are shown.
const SHOWN: [State; 5] = [State::Focused, State::Selected, State::Expanded, State::Checked, State::Disabled];

/// An element with what is in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TreeNode {
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    number: Option<String>,
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    states: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<Bounds>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    available_actions: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<TreeNode>,
}

impl TreeNode {
    /// Shows a tree, and numbers what can be acted on, parents before children.
    pub fn numbered(node: &Node, pid: u32, refs: &mut RefMap) -> TreeNode {
        let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let number = is_numbered(node.role).then(|| refs.push(RefEntry { id: node.id, pid }));
        TreeNode {
            number,
            role: node.role.name(),
            name: text(&node.name),
            value: text(&node.value),
            description: text(&node.description),
            states: states(node),
            bounds: node.bounds,
            available_actions: node.actions.clone(),
            children: node.children.iter().map(|child| TreeNode::numbered(child, pid, refs)).collect(),
        }
    }
}

/// The states of an element that are shown.
pub fn states(node: &Node) -> Vec<&'static str> {
    SHOWN.iter().filter(|state| node.states.has(**state)).map(|state| state.name()).collect()
}

/// Leaves out containers that say nothing: what is in them takes their place. The root stays.
pub fn compact(root: &mut Node) {
    fold(root, &|node| !is_plain_container(node));
}

/// Leaves out all but these roles: what is in the others takes their place. The root stays.
pub fn only_roles(root: &mut Node, roles: &[Role]) {
    fold(root, &|node| roles.contains(&node.role));
}

fn fold(node: &mut Node, is_kept: &dyn Fn(&Node) -> bool) {
    let children = std::mem::take(&mut node.children);
    for mut child in children {
        fold(&mut child, is_kept);
        if is_kept(&child) {
            node.children.push(child);
        } else {
            node.children.append(&mut child.children);
        }
    }
}

fn is_plain_container(node: &Node) -> bool {
    let is_empty = |text: &Option<String>| text.as_deref().is_none_or(str::is_empty);
    let is_container = matches!(
        node.role,
        Role::Group
            | Role::ScrollArea
            | Role::SplitGroup
            | Role::Separator
            | Role::ScrollBar
            | Role::Landmark
            | Role::Form
            | Role::Toolbar
            | Role::StatusBar
            | Role::TabPanel
            | Role::Unknown
    );
    is_container && is_empty(&node.name) && is_empty(&node.value) && is_empty(&node.description)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn tree() -> Node {
        serde_json::from_value(json!({
            "id": "win_000000", "role": "window", "name": "W", "children": [
                { "id": "grp_000001", "role": "group", "children": [
                    { "id": "btn_000001", "role": "button", "name": "A", "states": ["disabled", "busy"], "actions": ["press"] },
                    { "id": "grp_000002", "role": "group", "name": "Named", "children": [
                        { "id": "txt_000001", "role": "textfield", "value": "v", "states": ["focused"] },
                    ] },
                ] },
                { "id": "sep_000001", "role": "separator" },
                { "id": "chk_000001", "role": "checkbox", "name": "C", "states": ["checked"] },
            ],
        }))
        .unwrap()
    }

    fn shown(node: &Node) -> Value {
        serde_json::to_value(TreeNode::numbered(node, 7, &mut RefMap::default())).unwrap()
    }

    #[test]
    fn what_can_be_acted_on_is_numbered_depth_first() {
        let shown = shown(&tree());
        let group = &shown["children"][0];
        let button = json!({
            "ref": "@e1", "role": "button", "name": "A", "states": ["disabled"], "available_actions": ["press"],
        });
        assert_eq!(group["children"][0], button);
        assert_eq!(group["children"][1]["children"][0]["ref"], "@e2");
        assert_eq!(shown["children"][2]["ref"], "@e3");
        assert_eq!(group, &json!({ "role": "group", "children": group["children"] }));
    }

    #[test]
    fn compact_leaves_out_containers_that_say_nothing() {
        let mut node = tree();
        compact(&mut node);
        let roles: Vec<&str> = node.walk().map(|node| node.role.name()).collect();
        assert_eq!(roles, ["window", "button", "group", "textfield", "checkbox"]);
    }

    #[test]
    fn only_the_roles_that_are_asked_for_stay_below_the_root() {
        let mut node = tree();
        only_roles(&mut node, &[Role::TextField, Role::Checkbox]);
        let roles: Vec<&str> = node.walk().map(|node| node.role.name()).collect();
        assert_eq!(roles, ["window", "textfield", "checkbox"]);
    }
}
