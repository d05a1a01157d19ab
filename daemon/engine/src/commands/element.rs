//! Commands about one element: `get`, `is`, `focused`, `element-at`.

use std::sync::Arc;

use axd_protocol::command::{Condition, ElementAt, Focused, Get, Is, IsAnswer, Property};
use axd_protocol::selector::Target;
use axd_protocol::text::{one_line, write_clock};
use axd_protocol::{Bounds, Error, ErrorCode, NodeRef, Point, Result, State, render};
use tokio::time::Instant;

use crate::Engine;
use crate::answer::Answer;
use crate::apps::measure::Measurements;
use crate::apps::modal;
use crate::apps::target::{Located, Where, alive, parse_target};
use axd_service::Call;
use axd_tree::{Ix, NodeFields, Scope, Tree};

impl Engine {
    pub(crate) async fn get(
        self: &Arc<Self>,
        call: &Call,
        args: &Get,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let deadline = Engine::deadline(call);
        let place = Where { app: args.app.as_deref(), window: args.window.as_deref(), ..Where::default() };
        let located = self.locate(call, &args.target, place, deadline).await?;
        let wants_bounds = args.property.contains(&Property::Bounds);
        self.answer_node(call, &located, &args.property, wants_bounds, deadline, answer).await
    }

    pub(crate) async fn focused(
        self: &Arc<Self>,
        call: &Call,
        args: &Focused,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let deadline = Engine::deadline(call);
        let app = self.app(call, args.app.as_deref(), deadline).await?;
        let focused = {
            let tree = app.tree.read();
            tree.focused().map(|ix| tree.id(ix))
        };
        let Some(id) = focused else {
            return Err(Error::new(
                ErrorCode::ElementNotFound,
                format!("no element in {} has the keyboard focus", app.seen().name),
            )
            .suggest("focus an element, or name another app with --app"));
        };
        self.answer_node(call, &Located::at(app, id), &[], false, deadline, answer).await
    }

    pub(crate) async fn element_at(
        self: &Arc<Self>,
        call: &Call,
        args: &ElementAt,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let point: Point = args
            .point
            .parse()
            .map_err(|fault| Error::new(ErrorCode::InvalidArgs, format!("point: {fault}")))?;
        let deadline = Engine::deadline(call);
        let located = self.locate_point(call, point, deadline).await?;
        self.answer_node(call, &located, &[], true, deadline, answer).await
    }

    pub(crate) async fn is(self: &Arc<Self>, call: &Call, args: &Is, answer: &mut Answer<'_>) -> Result<()> {
        let deadline = Engine::deadline(call);
        let place = Where { app: args.app.as_deref(), window: args.window.as_deref(), ..Where::default() };
        let Located { app, id, .. } = self.locate(call, &args.target, place, deadline).await?;
        let mut in_sight = None;
        if args.property == Condition::Visible {
            let key = {
                let tree = app.tree.read();
                tree.key(alive(&app, &tree, id)?)
            };
            if let Some(key) = key {
                in_sight = Measurements::of(&app, vec![key], deadline).await.visible(key);
            }
        }
        // An id means one element; a selector may also match an element that was not read.
        let unread = match parse_target(&args.target)? {
            Target::Selector(selector) => {
                let unread = |tree: &Tree| {
                    let root = self.scope(&app, tree, args.window.as_deref(), None)?;
                    Ok(tree.unread(&selector, Scope { root }))
                };
                self.search(&app, deadline, unread).await?
            }
            Target::Id(_) | Target::Point { .. } | Target::Mark(_) => Vec::new(),
        };
        let tree = app.tree.read();
        let ix = alive(&app, &tree, id)?;
        let states = tree.states(ix);
        let value = match args.property {
            Condition::Visible => {
                in_sight.unwrap_or(!states.has(State::Hidden) && !states.has(State::Offscreen))
            }
            Condition::Enabled => !states.has(State::Disabled),
            Condition::Checked => states.has(State::Checked),
            Condition::Focused => states.has(State::Focused),
            Condition::Expanded => states.has(State::Expanded),
            Condition::Selected => states.has(State::Selected),
        };
        let complete = app.is_complete() && unread.is_empty();
        let data = IsAnswer { node: tree.node_ref(ix), property: args.property, value, complete, unread };
        answer.value(Some(self.clock.now()), Some(&app.info_about(call, &tree, Some(ix))), &data);
        Ok(())
    }

    /// Answers with one element: the whole element, or some of its properties.
    async fn answer_node(
        &self,
        call: &Call,
        located: &Located,
        properties: &[Property],
        bounds: bool,
        deadline: Instant,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let app = &located.app;
        let mut place = None;
        if bounds {
            let key = {
                let tree = app.tree.read();
                tree.key(alive(app, &tree, located.id)?)
            };
            if let Some(key) = key {
                place = Measurements::of(app, vec![key], deadline).await.bounds(key);
            }
        }
        let tree = app.tree.read();
        let ix = alive(app, &tree, located.id)?;
        let (clock, info) = (self.clock.now(), app.info_about(call, &tree, Some(ix)));
        let mut node = Vec::new();
        if !properties.is_empty() || answer.is_text() {
            tree.write_node(ix, NodeFields::ALL, place, &mut node);
        }
        let text = || {
            if properties.is_empty() {
                let mut out = node_text(&tree, ix, &node, place) + &modal::line(&info);
                write_clock(clock, &mut out);
                out
            } else {
                properties_text(&node, properties)
            }
        };
        answer.either(Some(clock), Some(&info), text, |out| {
            out.extend_from_slice(b"{\"node\":");
            if properties.is_empty() {
                tree.write_node(ix, NodeFields::ALL, place, out);
                out.extend_from_slice(b",\"path\":");
                write_path(&tree.path(ix), out);
            } else {
                let _ = serde_json::to_writer(&mut *out, &only(&node, properties));
            }
            out.push(b'}');
        });
        Ok(())
    }
}

/// An element as text: its line, its bounds, and the properties that the line does not show.
fn node_text(tree: &Tree, ix: Ix, node: &[u8], place: Option<Bounds>) -> String {
    let mut out = String::new();
    tree.line(ix, place, None).write(0, &mut out);
    if let Some(place) = render::place_of(&tree.path(ix)) {
        out.push_str(&format!("  {place}\n"));
    }
    let rest: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(node).unwrap_or_default();
    for (field, value) in &rest {
        if !["id", "role", "name", "value", "states", "bounds"].contains(&field.as_str()) {
            out.push_str(&format!("  {field}: {}\n", plain(value)));
        }
    }
    out
}

fn properties_text(node: &[u8], properties: &[Property]) -> String {
    let node = only(node, properties);
    let mut out = String::new();
    for (field, value) in node.iter().filter(|(field, _)| *field != "id") {
        // A single property is usually for a script, so only its value is written.
        if properties.len() == 1 {
            return plain(value) + "\n";
        }
        out.push_str(&format!("{field}: {}\n", plain(value)));
    }
    if out.is_empty() {
        out.push('\n');
    }
    out
}

/// The id and the requested properties; those without a value are null.
fn only(node: &[u8], properties: &[Property]) -> serde_json::Map<String, serde_json::Value> {
    let mut all: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(node).unwrap_or_default();
    let names = properties
        .iter()
        .filter_map(|property| serde_json::to_value(property).ok()?.as_str().map(str::to_owned));
    std::iter::once("id".to_owned())
        .chain(names)
        .map(|name| {
            let value = all.remove(&name).unwrap_or_default();
            (name, value)
        })
        .collect()
}

fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => one_line(text).into_owned(),
        serde_json::Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        serde_json::Value::Null => String::new(),
        other => one_line(&other.to_string()).into_owned(),
    }
}

/// Writes the path of an element.
pub(crate) fn write_path(path: &[NodeRef], out: &mut Vec<u8>) {
    let _ = serde_json::to_writer(out, path);
}
