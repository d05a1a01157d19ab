//! `ui_get_element`: the element at a point, or all that a selector matches.

use std::collections::HashMap;

use axd_protocol::command::{FindAnswer, GetAnswer, SnapshotAnswer};
use axd_protocol::{Bounds, Node, NodeId, NodeRef, Point, Role, State, WindowInfo};
use serde::Serialize;
use serde_json::{Value, json};

use super::windows::{place_of, titled};
use super::{Fault, Job, Result, describe};
use crate::arguments::Arguments;
use crate::profile::{ProfileAnswer, ProfileTool};
use crate::tools::Hints;

/// The tool.
pub fn tool() -> ProfileTool {
    let properties = json!({
        "x": { "type": "integer", "description": "Point, from the left of the screen, or of the window" },
        "y": { "type": "integer", "description": "Point, from the top" },
        "selector": { "type": "string", "description": "ControlType:Name, as in Button:Submit or TextBox:Username; in place of x and y" },
        "window_title": { "type": "string", "description": "Window: part of a title, in any case [default: of the frontmost app]" },
    });
    let answers = json!({ "element": { "type": "object" }, "elements": { "type": "array", "items": { "type": "object" } } });
    let description = "Show the element at a point, or all elements that a selector matches.";
    describe("ui_get_element", description, Hints::Reads, properties, &[], answers)
}

/// An element, as this profile shows it.
#[derive(Debug, Serialize)]
pub struct Element {
    id: String,
    automation_id: String,
    name: String,
    class_name: String,
    control_type: String,
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    is_enabled: bool,
    is_visible: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    children: [(); 0],
}

impl Element {
    fn of(node: &Node, bounds: Option<Bounds>) -> Element {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        let at = bounds.unwrap_or_default();
        Element {
            id: node.id.to_string(),
            automation_id: text(&node.identifier),
            name: text(&node.name),
            class_name: text(&node.native_role),
            control_type: control_type(node.role),
            x: at.x,
            y: at.y,
            width: at.width,
            height: at.height,
            is_enabled: !node.states.has(State::Disabled),
            is_visible: !node.states.has(State::Hidden) && !node.states.has(State::Offscreen),
            value: node.value.clone(),
            children: [],
        }
    }
}

/// Answers a call.
pub async fn run(job: &Job<'_>, mut args: Arguments) -> Result<ProfileAnswer> {
    let window = match args.take_text("window_title") {
        Some(title) => Some(titled(job, &title).await?),
        None => None,
    };
    if let Some(selector) = args.take_text("selector") {
        let elements = all(job, &selector, window.as_ref()).await?;
        #[derive(Serialize)]
        struct Found {
            success: bool,
            elements: Vec<Element>,
        }
        return Ok(ProfileAnswer::new(&Found { success: true, elements }));
    }
    let Some(point) = point(&mut args)? else {
        return Err("ui_get_element: x and y, or selector, is required".into());
    };
    let point = on_screen(point, window.as_ref())?;
    let got: GetAnswer =
        job.ask("element-at", json!({ "point": format!("{},{}", point.x, point.y) })).await?;
    let node: Node = serde_json::from_value(got.node).map_err(|fault| Fault::Ours(fault.to_string()))?;
    job.guard.window(title_of(&node.name, &got.path))?;
    #[derive(Serialize)]
    struct Found {
        success: bool,
        element: Element,
    }
    Ok(ProfileAnswer::new(&Found { success: true, element: Element::of(&node, node.bounds) }))
}

/// The point of a call; an error if only half of it is there.
pub fn point(args: &mut Arguments) -> Result<Option<Point>> {
    let mut take = |name: &str| args.take(name).and_then(|value| value.as_i64()).map(i32::try_from);
    match (take("x"), take("y")) {
        (None, None) => Ok(None),
        (Some(Ok(x)), Some(Ok(y))) => Ok(Some(Point { x, y })),
        (Some(Err(_)), _) | (_, Some(Err(_))) => Err("x and y must be points of the screen".into()),
        (Some(_), None) => Err("y is required".into()),
        (None, Some(_)) => Err("x is required".into()),
    }
}

/// A point of a window, as a point of the screen.
fn on_screen(point: Point, window: Option<&WindowInfo>) -> Result<Point> {
    let Some(window) = window else { return Ok(point) };
    let at = window.bounds.ok_or("Failed to get window rect")?;
    Ok(Point { x: at.x.saturating_add(point.x), y: at.y.saturating_add(point.y) })
}

/// All elements that a selector matches. Fails if one of them is in a window that may not be used.
async fn all(job: &Job<'_>, selector: &str, window: Option<&WindowInfo>) -> Result<Vec<Element>> {
    let mut wanted = window.map_or_else(|| json!({}), place_of);
    wanted["selector"] = selector.into();
    let found: FindAnswer = job.ask("find", wanted).await?;
    for matched in &found.matches {
        job.guard.window(title_of(&matched.node.name, &matched.path))?;
    }
    let ids: Vec<NodeId> = found.matches.iter().map(|matched| matched.node.id).collect();
    let places = places(job, &ids).await?;
    Ok(found
        .matches
        .iter()
        .map(|matched| Element::of(&matched.node, places.get(&matched.node.id).copied()))
        .collect())
}

/// One element by its id.
pub async fn one(job: &Job<'_>, id: NodeId) -> Result<Element> {
    let got: GetAnswer = job.ask("get", json!({ "target": id.to_string() })).await?;
    let node: Node = serde_json::from_value(got.node).map_err(|fault| Fault::Ours(fault.to_string()))?;
    job.guard.window(title_of(&node.name, &got.path))?;
    let places = places(job, &[id]).await?;
    Ok(Element::of(&node, places.get(&id).copied()))
}

/// Where elements are on the screen.
async fn places(job: &Job<'_>, ids: &[NodeId]) -> Result<HashMap<NodeId, Bounds>> {
    let mut places = HashMap::new();
    for id in ids {
        let wanted = json!({ "root": id.to_string(), "depth": 0, "bounds": true });
        // One that is gone meanwhile is nowhere.
        if let Ok(SnapshotAnswer { tree: Some(node), .. }) = job.ask("snapshot", wanted).await
            && let Some(bounds) = node.bounds
        {
            places.insert(*id, bounds);
        }
    }
    Ok(places)
}

/// The id and the window's title of the one element that a target means. Fails if that window may not be used.
pub async fn target(job: &Job<'_>, target: &str, window: Option<&WindowInfo>) -> Result<String> {
    let mut wanted = window.map_or_else(|| json!({}), place_of);
    wanted["target"] = target.into();
    let got: GetAnswer = job.ask("get", wanted).await?;
    let name = got.node["name"].as_str().map(ToOwned::to_owned);
    job.guard.window(title_of(&name, &got.path))?;
    match &got.node["id"] {
        Value::String(id) => Ok(id.clone()),
        _ => Err("axd answered without an id".into()),
    }
}

/// The title of an element's window: the first of its ancestors, or its own name if it has none.
fn title_of<'a>(name: &'a Option<String>, path: &'a [NodeRef]) -> &'a str {
    let title = path.first().map_or(name, |window| &window.name);
    title.as_deref().unwrap_or_default()
}

/// The spelling of a role that clients of this profile know.
fn control_type(role: Role) -> String {
    let known = match role {
        Role::TextField | Role::TextArea | Role::SearchField => "TextBox",
        Role::Checkbox => "CheckBox",
        Role::Combobox => "ComboBox",
        Role::Radio => "RadioButton",
        Role::ListItem => "ListItem",
        Role::MenuItem | Role::MenuItemCheckbox | Role::MenuItemRadio => "MenuItem",
        Role::MenuBar => "MenuBar",
        Role::Tab => "TabItem",
        Role::TabList => "Tab",
        Role::TreeItem => "TreeItem",
        Role::ProgressBar => "ProgressBar",
        Role::ScrollBar => "ScrollBar",
        Role::StatusBar => "StatusBar",
        Role::Toolbar => "ToolBar",
        Role::Tooltip => "ToolTip",
        Role::Link => "Hyperlink",
        Role::SpinButton => "Spinner",
        Role::Row => "DataItem",
        Role::ColumnHeader | Role::RowHeader => "HeaderItem",
        other => {
            let name = other.name();
            return name[..1].to_uppercase() + &name[1..];
        }
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_types_have_the_spelling_of_the_contract() {
        for (role, name) in [
            ("button", "Button"),
            ("textfield", "TextBox"),
            ("checkbox", "CheckBox"),
            ("combobox", "ComboBox"),
            ("listitem", "ListItem"),
            ("menuitem", "MenuItem"),
            ("tab", "TabItem"),
            ("text", "Text"),
            ("window", "Window"),
        ] {
            assert_eq!(control_type(Role::parse(role).unwrap()), name);
        }
    }

    #[test]
    fn what_an_element_does_not_have_is_empty() {
        let node: Node = serde_json::from_value(
            json!({ "id": "btn_000000", "role": "button", "states": ["disabled", "offscreen"] }),
        )
        .unwrap();
        let expected = json!({
            "id": "btn_000000", "automation_id": "", "name": "", "class_name": "", "control_type": "Button",
            "x": 0, "y": 0, "width": 0, "height": 0, "is_enabled": false, "is_visible": false, "children": [],
        });
        assert_eq!(serde_json::to_value(Element::of(&node, None)).unwrap(), expected);
    }
}
