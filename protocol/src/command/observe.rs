//! Commands that read. They are answered from memory without a call to the app, unless an option says otherwise.

use serde::{Deserialize, Serialize};

use crate::change::Difference;
use crate::clock::Clock;
use crate::id::NodeId;
use crate::node::{Node, NodeRef, Unread};

/// Look at a window: what can be seen in it, as short text.
///
/// Shows the controls, and what has a name, a value or a description, as far as the app says that it is visible; answered
/// from memory. Elements that only hold others have no line, and what is only read has no id: name it by role and name.
/// Always prints text, unless --json is given. `ax snapshot` shows everything.
///
/// Without APP: the focused window of the frontmost app.
///
/// Examples:
///   ax look
///   ax look Notes
///   ax look Notes --root 'list:Notes' --max-tokens 500
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Look {
    /// App, by name, pid or identity; shows all its windows. --app is accepted too.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(value_name = "APP"))]
    pub app: Option<String>,
    /// Window, by title, id or window number.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WINDOW"))]
    pub window: Option<String>,
    /// Show only this element and what is in it.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TARGET"))]
    pub root: Option<String>,
    /// Maximum depth below the root, as it is shown.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub depth: Option<u32>,
    /// Approximate maximum number of tokens, nearest the root first.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub max_tokens: Option<u32>,
}

/// The answer to `look`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LookAnswer {
    /// Whether the app has been read; false while it is read for the first time.
    pub complete: bool,
    /// The number of elements shown.
    pub nodes: u32,
    /// Whether a limit left elements out.
    pub truncated: bool,
    /// The element that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<NodeId>,
    /// A line for each element: `role "name" = "value" id states`, indented by where it is.
    pub lines: String,
}

/// Show the element tree.
///
/// Without options: the focused window of the frontmost app.
///
/// Examples:
///   ax snapshot
///   ax snapshot --app Notes --interactive
///   ax snapshot --root 'list:Notes' --depth 2
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// App, by name, pid or identity; shows all its windows.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Window, by title, id or window number.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WINDOW"))]
    pub window: Option<String>,
    /// Show only this element and its descendants.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TARGET"))]
    pub root: Option<String>,
    /// Maximum depth below the root.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub depth: Option<u32>,
    /// Show only elements that can be acted on, and their ancestors.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub interactive: bool,
    /// Show only containers.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub skeleton: bool,
    /// Show only what is on the screen now. Queries the app.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub visible: bool,
    /// Include the bounds of every element. Queries the app.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub bounds: bool,
    /// Include the native actions of every element.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub actions: bool,
    /// Include menu bars.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub menubar: bool,
    /// Maximum number of elements, nearest the root first; 0 = no limit [default: 10000].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub max_nodes: Option<u32>,
    /// Approximate maximum number of tokens of text, nearest the root first.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub max_tokens: Option<u32>,
    /// Show what changed since this clock instead of the tree.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLOCK"))]
    pub since: Option<Clock>,
    /// First process all events the app has sent so far. Queries the app.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub sync: bool,
    /// First read the whole app again. Queries the app.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub verify: bool,
}

/// The answer to `snapshot`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SnapshotAnswer {
    /// Whether the requested part of the tree has been read; false while the app is read for the first time.
    pub complete: bool,
    /// The number of elements shown.
    pub nodes: u32,
    /// Whether a limit left elements out; their parents are marked as truncated.
    pub truncated: bool,
    /// The age of the bounds in ms, if they were asked for and could not be measured in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds_age_ms: Option<u64>,
    /// The tree; absent while the app has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Node>,
}

/// Show what changed since a clock.
///
/// Every answer has a clock; pass it here to get what changed since then. If the history of an app does not reach back that
/// far, its full tree is returned, marked `fresh`.
///
/// Examples:
///   ax changes --since c:9f2e01aa:4711
///   ax changes --since c:9f2e01aa:4711 --app Notes
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changes {
    /// Clock of an earlier answer.
    #[cfg_attr(feature = "cli", arg(long, value_name = "CLOCK"))]
    pub since: Clock,
    /// Only this app.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// As text: leave out what is not visible and what says nothing, and show states and long values as differences.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub brief: bool,
}

/// The answer to `changes`, and to `snapshot --since`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangesAnswer {
    /// The apps that changed.
    pub apps: Vec<AppChanges>,
}

/// What changed in one app.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppChanges {
    /// The app.
    pub app: crate::app::AppInfo,
    /// Whether `tree` has the full tree, which replaces any earlier copy.
    pub fresh: bool,
    /// The full tree, if `fresh` and the app has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Node>,
    /// The actions that some of the changes followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caused_by: Vec<crate::CausedBy>,
    /// Whether there may be changes among them that followed none of these actions.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub others: bool,
    /// What changed, if not `fresh`.
    #[serde(flatten)]
    pub difference: Difference,
}

/// Find elements by selector.
///
/// Of very large tables and lists, only the rows on the screen are read. If one of them may contain a match, `complete` is
/// false and `unread` names it and how much of it was read. With --deep the other rows are read too, page by page, until the
/// deadline; matching rows stay in the tree, so that their ids can be acted on, and are listed with their numbers, which
/// `scroll-to --row` takes. --deep queries the app and needs one that numbers its rows: on Linux, except for spreadsheets.
///
/// On macOS the items of closed menus are not read. A selector that names their role (`menuitem:Save`) has them read; for any other
/// that matches nothing, `unread` names the menus.
///
/// Examples:
///   ax find 'cell:Total' --deep
///   ax find button:Save
///   ax find 'window:Inbox list > row:nth(3)'
///   ax find '*[text~="total"]' --app Numbers --count
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Find {
    /// Selector, such as `button:Save` or `list > row[selected]`.
    #[cfg_attr(feature = "cli", arg(value_name = "SELECTOR"))]
    pub selector: String,
    /// App to look in [default: the frontmost].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Window to look in, by title, id or window number.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WINDOW"))]
    pub window: Option<String>,
    /// Look only in this element and its descendants.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "TARGET"))]
    pub root: Option<String>,
    /// Return only the first match.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, conflicts_with_all = ["nth", "limit", "count"]))]
    pub first: bool,
    /// Return only the N-th match; negative numbers count from the end.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with_all = ["limit", "count"]))]
    pub nth: Option<i32>,
    /// Return only the number of matches.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, conflicts_with = "limit"))]
    pub count: bool,
    /// Maximum number of matches [default: 100].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    pub limit: Option<u32>,
    /// Also search rows that tables and lists do not show. Queries the app.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long))]
    pub deep: bool,
}

/// The answer to `find`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindAnswer {
    /// Whether everything that could match was searched. If not, there may be matches that were not found.
    pub complete: bool,
    /// The number of matches.
    pub count: u32,
    /// The requested matches in tree order; absent with `--count`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<Match>,
    /// The containers that may have more matches, and how much of each was searched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

/// An element that was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Match {
    /// The element, without its children.
    #[serde(flatten)]
    pub node: Node,
    /// Its ancestors, from the window down.
    pub path: Vec<NodeRef>,
    /// The number of its row, from 1, if it is in a container that shows only some of its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
}

/// Show one element with all its properties.
///
/// Examples:
///   ax get btn_4k2p9x
///   ax get textfield:Display --property value
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Get {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
    /// Show only these properties; may be repeated.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_enum))]
    pub property: Vec<Property>,
    /// App to look in [default: the frontmost].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Window to look in, by title, id or window number.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WINDOW"))]
    pub window: Option<String>,
}

/// A property of an element, as `get` takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum), value(rename_all = "snake_case"))]
pub enum Property {
    /// Its role.
    Role,
    /// Its name.
    Name,
    /// Its value.
    Value,
    /// Its description.
    Description,
    /// The identifier that its developer gave it.
    Identifier,
    /// The toolkit's name for its role.
    NativeRole,
    /// Its states.
    States,
    /// The native names of its actions.
    Actions,
    /// Its bounds on the screen. Queries the app.
    Bounds,
    /// The number of its children.
    ChildrenCount,
}

/// The answer to `get`, `focused` and `element-at`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetAnswer {
    /// The element without its children. With `--property`, only its id and those properties.
    pub node: serde_json::Value,
    /// Its ancestors, from the window down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<NodeRef>,
}

/// Check whether an element has a property.
///
/// Examples:
///   ax is checkbox:"Dark mode" --property checked
///   ax is btn_4k2p9x --property enabled
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Is {
    /// Element: an id, a selector or a point.
    #[cfg_attr(feature = "cli", arg(value_name = "TARGET"))]
    pub target: String,
    /// Property to check.
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME", value_enum))]
    pub property: Condition,
    /// App to look in [default: the frontmost].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
    /// Window to look in, by title, id or window number.
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "WINDOW"))]
    pub window: Option<String>,
}

/// A property that `is` can check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Condition {
    /// It is on the screen. Queries the app.
    Visible,
    /// It is enabled.
    Enabled,
    /// It is checked.
    Checked,
    /// It has the keyboard focus.
    Focused,
    /// It is expanded.
    Expanded,
    /// It is selected.
    Selected,
}

/// The answer to `is`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IsAnswer {
    /// The element.
    pub node: NodeRef,
    /// The property that was checked.
    pub property: Condition,
    /// Whether the element has it.
    pub value: bool,
    /// Whether everything that the target could match was searched. If not, it may match another element as well.
    pub complete: bool,
    /// The containers that may have another match.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

/// Show the element at a point of the screen. Queries the app.
///
/// Example:
///   ax element-at 320,240
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ElementAt {
    /// Point, in points from the top left.
    #[cfg_attr(feature = "cli", arg(value_name = "X,Y", allow_hyphen_values = true))]
    pub point: String,
}

/// Show the focused element.
///
/// Example:
///   ax focused --app Notes
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "cli", derive(clap::Args), command(verbatim_doc_comment))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Focused {
    /// App to look in [default: the frontmost].
    #[serde(default, skip_serializing_if = "super::is_default")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "APP"))]
    pub app: Option<String>,
}
