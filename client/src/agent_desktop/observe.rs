//! The commands that look: `snapshot`, `find`, `screenshot`, `get` and `is`.

use std::path::PathBuf;

use axd_protocol::command::{
    FindAnswer, GetAnswer, ImageFormat, IsAnswer, ListWindowsAnswer, ScreenshotAnswer, SnapshotAnswer,
};
use axd_protocol::{Error, ErrorCode, Node, NodeId, NodeRef, Result, Role, State, States};
use serde_json::{Value, json};

use super::refs::{RefEntry, is_numbered, is_ref};
use super::tree::{self, TreeNode};
use super::{Args, Axd, Picture, Said, Session, invalid, lock, of_target, window_number};

const DEPTH: u64 = 8;
const MAX_DEPTH: u64 = 20;
/// The most elements that a search answers.
const MAX_MATCHES: u32 = 1_000;

impl<A: Axd> Session<'_, A> {
    pub(super) async fn snapshot(&self, args: &Args) -> Result<Said> {
        let root = args.text("subtree");
        let mut wanted = json!({
            "depth": args.number("max_depth").unwrap_or(DEPTH).min(MAX_DEPTH),
            "bounds": args.flag("include_bounds"),
            "actions": args.flag("include_actions"),
            "interactive": args.flag("interactive_only"),
            "skeleton": args.flag("skeleton"),
        });
        self.place(args, &mut wanted).await?;
        if let Some(tokens) = args.number("max_tokens") {
            wanted["max_tokens"] = tokens.into();
        }
        if args.text("surface") == Some("menubar") {
            wanted["menubar"] = true.into();
            wanted["root"] = "menubar".into();
        }
        if let Some(root) = root {
            let target = self.target(root).await?;
            wanted["root"] = target["target"].clone();
            if let Some(app) = target.get("app") {
                wanted["app"] = app.clone();
            }
        }
        let roles = roles(args)?;
        let shown = self.ask::<SnapshotAnswer>("snapshot", wanted).await;
        let shown = shown.map_err(|error| root.map_or(error.clone(), |root| of_target(root, error)))?;
        let Some(mut node) = shown.tree else { return Ok(json!({ "ref_count": 0 }).into()) };
        let window = window_in(&node);
        if args.flag("compact") {
            tree::compact(&mut node);
        }
        if !roles.is_empty() {
            tree::only_roles(&mut node, &roles);
        }
        let pid = self.pid_of(node.id).await?;
        let boot = self.boot();
        let mut data = {
            let mut refs = lock(self.refs);
            refs.renumber(boot);
            let tree = TreeNode::numbered(&node, pid, &mut refs);
            json!({ "ref_count": refs.count(), "tree": tree, "snapshot_id": refs.numbering() })
        };
        if shown.truncated {
            data["truncated"] = true.into();
        }
        let mut said = Said::from(data);
        if let Some(window) = window {
            let named = self.window_of(pid, window).await;
            said.about.app =
                lock(&self.about).app.clone().map(|app| super::EnvelopeApp { window: named, ..app });
        }
        Ok(said)
    }

    pub(super) async fn find(&self, args: &Args) -> Result<Said> {
        let selector = selector(args.text("role"), args.text("name"), args.text("value"))
            .ok_or_else(|| invalid("find: name, role or value is required"))?;
        let mut wanted = json!({ "selector": selector, "limit": MAX_MATCHES });
        self.place(args, &mut wanted).await?;
        let found: FindAnswer = self.ask("find", wanted).await?;
        let pid = match found.matches.first() {
            Some(first) => self.pid_of(first.node.id).await?,
            None => 0,
        };
        let boot = self.boot();
        let mut refs = lock(self.refs);
        refs.go_on(boot);
        let mut matches = Vec::new();
        for matched in &found.matches {
            let node = &matched.node;
            let own = NodeRef { id: node.id, role: node.role, name: node.name.clone() };
            let path: Vec<String> = matched.path.iter().chain([&own]).map(step).collect();
            let mut shown = json!({ "role": node.role.name(), "path": path });
            if let Some(name) = &node.name {
                shown["name"] = name.as_str().into();
            }
            if is_numbered(node.role) {
                shown["ref"] = refs.number(RefEntry { id: node.id, pid }).into();
            }
            matches.push(shown);
        }
        Ok(json!({ "matches": matches }).into())
    }

    pub(super) async fn screenshot(&self, args: &Args) -> Result<Said> {
        let path = args.text("path").map(PathBuf::from);
        let mut wanted = json!({});
        self.place(args, &mut wanted).await?;
        if let Some(screen) = args.number("screen") {
            wanted["display"] = screen.into();
        }
        let extension =
            path.as_ref().and_then(|path| path.extension()).map(|it| it.to_string_lossy().to_lowercase());
        if matches!(extension.as_deref(), Some("jpg" | "jpeg")) {
            wanted["format"] = json!(ImageFormat::Jpeg);
        }
        let shot: ScreenshotAnswer = self.ask("screenshot", wanted).await?;
        let Some(base64) = shot.bytes else { return Err(invalid("axd answered without the picture")) };
        let data = match &path {
            Some(path) => json!({ "path": path }),
            None => {
                json!({ "data": base64, "format": shot.format, "width": shot.width, "height": shot.height })
            }
        };
        let picture = Picture { base64, format: shot.format, path };
        Ok(Said { picture: Some(picture), ..Said::from(data) })
    }

    pub(super) async fn get(&self, args: &Args) -> Result<Said> {
        let (target, property) =
            (args.text("ref").unwrap_or_default(), args.text("property").unwrap_or_default());
        let mut wanted = self.target(target).await?;
        wanted["property"] = match property {
            "text" => json!(["value", "name"]),
            "title" => json!(["name"]),
            other => json!([other]),
        };
        let got: GetAnswer = self.ask("get", wanted).await.map_err(|error| of_target(target, error))?;
        let node = &got.node;
        let value = match property {
            "text" if node["value"].as_str().is_some_and(|value| !value.is_empty()) => node["value"].clone(),
            "text" | "title" => node["name"].clone(),
            "states" => shown_states(&node["states"]),
            other => node[other].clone(),
        };
        Ok(json!({ "property": property, "value": value }).into())
    }

    pub(super) async fn is(&self, args: &Args) -> Result<Said> {
        let (target, property) =
            (args.text("ref").unwrap_or_default(), args.text("property").unwrap_or_default());
        let mut wanted = self.target(target).await?;
        wanted["property"] = property.into();
        let answer: IsAnswer = self.ask("is", wanted).await.map_err(|error| of_target(target, error))?;
        Ok(json!({ "property": property, "result": answer.value }).into())
    }

    /// The app and the window that a command names, as axd takes them. A window tells its app.
    async fn place(&self, args: &Args, wanted: &mut Value) -> Result<()> {
        if let Some(app) = args.text("app") {
            wanted["app"] = app.into();
        }
        let Some(window) = args.text("window_id") else { return Ok(()) };
        let number = window_number(window)?;
        if args.text("app").is_none() {
            let list: ListWindowsAnswer = self.ask("list-windows", json!({})).await?;
            let known = list.windows.iter().find(|known| known.window.to_string() == number);
            let Some(known) = known else {
                return Err(Error::new(ErrorCode::WindowNotFound, format!("there is no window {window}"))
                    .retry("list-windows"));
            };
            wanted["app"] = known.pid.to_string().into();
        }
        wanted["window"] = number.into();
        Ok(())
    }

    /// The process of the app that an element is in.
    async fn pid_of(&self, id: NodeId) -> Result<u32> {
        let reply = self
            .axd
            .ask(super::command("get", &json!({ "target": id.to_string(), "property": ["role"] }))?, None);
        Ok(reply.await?.app.map_or(0, |app| app.pid))
    }
}

/// The roles that a snapshot is asked to show.
fn roles(args: &Args) -> Result<Vec<Role>> {
    let words = args.text("filter_role").unwrap_or_default().split(',').map(str::trim);
    let words = words.filter(|word| !word.is_empty());
    words.map(|word| word.parse().map_err(|_| invalid(format!("'{word}' is not a role")))).collect()
}

/// The window of a tree, if it is of one window.
fn window_in(node: &Node) -> Option<NodeId> {
    match node.children.as_slice() {
        _ if node.role.is_window() => Some(node.id),
        [only] if only.role.is_window() => Some(only.id),
        _ => None,
    }
}

/// A step of a path: the role, and the name if there is one.
fn step(node: &NodeRef) -> String {
    match node.name.as_deref().filter(|name| !name.is_empty()) {
        Some(name) => format!("{}:{name}", node.role.name()),
        None => node.role.name().to_owned(),
    }
}

fn shown_states(states: &Value) -> Value {
    let states: States = serde_json::from_value(states.clone()).unwrap_or_default();
    let shown = [State::Focused, State::Selected, State::Expanded, State::Checked, State::Disabled];
    shown.iter().filter(|state| states.has(**state)).map(|state| Value::from(state.name())).collect()
}

/// The selector for elements with these in their names and values; `None` if nothing is asked for.
pub(super) fn selector(role: Option<&str>, name: Option<&str>, value: Option<&str>) -> Option<String> {
    if role.is_none() && name.is_none() && value.is_none() {
        return None;
    }
    let mut selector = role.unwrap_or("*").to_owned();
    for (attribute, part) in [("name", name), ("value", value)] {
        if let Some(part) = part {
            let escaped = part.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            selector.push_str(&format!("[{attribute}~=\"{escaped}\" i]"));
        }
    }
    Some(selector)
}

/// Whether a target can be waited for as a selector: it is neither a ref nor an id.
pub(super) fn is_selector(target: &str) -> bool {
    !is_ref(target) && NodeId::parse(target).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_a_selector() {
        assert_eq!(
            selector(Some("button"), Some("Sa\"ve\\"), None).as_deref(),
            Some(r#"button[name~="Sa\"ve\\" i]"#)
        );
        assert_eq!(selector(None, None, Some("a\nb")).as_deref(), Some(r#"*[value~="a\nb" i]"#));
        assert_eq!(selector(None, None, None), None);
    }

    #[test]
    fn a_path_is_told_in_texts() {
        let node = |role, name: Option<&str>| NodeRef {
            id: NodeId::parse("win_000000").unwrap(),
            role,
            name: name.map(ToOwned::to_owned),
        };
        assert_eq!(step(&node(Role::Window, Some("Documents"))), "window:Documents");
        assert_eq!(step(&node(Role::Toolbar, None)), "toolbar");
    }
}
