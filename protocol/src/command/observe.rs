//! Looking at what is there: answered from memory, without touching the app, unless an option says otherwise.

use serde::{Deserialize, Serialize};

use super::args;
use crate::change::Difference;
use crate::clock::Clock;
use crate::node::{Node, NodeRef, Unread};

args! {
    /// Show a tree of elements.
    ///
    /// Without options: the focused window of the frontmost app.
    ///
    /// Examples:
    ///   ax snapshot
    ///   ax snapshot --app Notes --interactive
    ///   ax snapshot --root 'list:Notes' --depth 2
    struct Snapshot {
        /// The app, by name, pid or identity; all its windows.
        optional app: Option<String> [long, value_name = "APP"],
        /// One window, by title, id or window number.
        optional window: Option<String> [long, value_name = "WINDOW"],
        /// Only this element and what is below it.
        optional root: Option<String> [long, value_name = "TARGET"],
        /// How many levels below the root to show.
        optional depth: Option<u32> [long, value_name = "N"],
        /// Only what can be acted on, and what holds it.
        optional interactive: bool [long],
        /// Only the containers: where things are, not what they are.
        optional skeleton: bool [long],
        /// Only what is on the screen now. Asks the app.
        optional visible: bool [long],
        /// With the place of every element. Asks the app.
        optional bounds: bool [long],
        /// With the native actions of every element.
        optional actions: bool [long],
        /// With the menu bars.
        optional menubar: bool [long],
        /// At most so many elements, nearest the root first; 0 for no limit. 10,000 unless said.
        optional max_nodes: Option<u32> [long, value_name = "N"],
        /// At most about so many tokens of text, nearest the root first.
        optional max_tokens: Option<u32> [long, value_name = "N"],
        /// Instead of the tree, what changed in it since this clock.
        optional since: Option<Clock> [long, value_name = "CLOCK"],
        /// First wait until everything the app has announced so far is in. Asks the app.
        optional sync: bool [long],
        /// First walk the app again from the root. Asks the app.
        optional verify: bool [long],
    }
}

/// The answer to `snapshot`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SnapshotAnswer {
    /// Whether all that was asked for has been read; false during an app's first walk.
    pub complete: bool,
    /// How many elements are shown.
    pub nodes: u32,
    /// Whether a limit left something out; the places are marked.
    pub truncated: bool,
    /// How old the bounds are, where they were asked for and could not be measured in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds_age_ms: Option<u64>,
    /// The tree; absent while the app has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Node>,
}

args! {
    /// Tell what changed since a clock.
    ///
    /// Every answer carries the clock it was read at; give it back here to learn what happened since. An app whose
    /// history does not reach back so far comes whole, marked `fresh`.
    ///
    /// Examples:
    ///   ax changes --since c:9f2e01aa:4711
    ///   ax changes --since c:9f2e01aa:4711 --app Notes
    struct Changes {
        /// The clock of an earlier answer.
        required since: Clock [long, value_name = "CLOCK"],
        /// Only this app.
        optional app: Option<String> [long, value_name = "APP"],
    }
}

/// The answer to `changes`, and to `snapshot --since`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangesAnswer {
    /// Per app that changed.
    pub apps: Vec<AppChanges>,
}

/// What changed in one app.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AppChanges {
    /// The app.
    pub app: crate::app::AppInfo,
    /// Whether the tree comes whole: drop what was held of this app.
    pub fresh: bool,
    /// The whole tree, if fresh and there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Node>,
    /// What changed, if not fresh.
    #[serde(flatten)]
    pub difference: Difference,
}

args! {
    /// Find elements by selector.
    ///
    /// Very large tables and lists are read as far as they are on the screen. If one of them may hold a match, the answer says
    /// so: `complete` is false, and `unread` names it and how much of it was looked at. With --deep the rest is read, page by page, until
    /// the deadline; the rows that match stay in the tree, so that their ids can be acted on, and are told with their numbers, which
    /// `scroll-to --row` takes. That asks the app. It works where the app tells its rows by number: on Linux, except for sheets.
    ///
    /// Examples:
    ///   ax find 'cell:Total' --deep
    ///   ax find button:Save
    ///   ax find 'window:Inbox list > row:nth(3)'
    ///   ax find '*[text~="total"]' --app Numbers --count
    struct Find {
        /// What to look for, as in `button:Save` or `list > row[selected]`.
        required selector: String [value_name = "SELECTOR"],
        /// In this app; the frontmost unless said.
        optional app: Option<String> [long, value_name = "APP"],
        /// Only in this window, by title, id or window number.
        optional window: Option<String> [long, value_name = "WINDOW"],
        /// Only in this element and below it.
        optional root: Option<String> [long, value_name = "TARGET"],
        /// Only the first.
        optional first: bool [long, conflicts_with_all = ["nth", "limit", "count"]],
        /// Only the N-th; negative counts from the end.
        optional nth: Option<i32> [long, value_name = "N", allow_negative_numbers = true, conflicts_with_all = ["limit", "count"]],
        /// Only how many there are.
        optional count: bool [long, conflicts_with = "limit"],
        /// At most so many; 100 unless said.
        optional limit: Option<u32> [long, value_name = "N"],
        /// Also in the rows that tables and lists do not show. Asks the app.
        optional deep: bool [long],
    }
}

/// The answer to `find`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindAnswer {
    /// Whether everything was looked at that could match. Only then is what was not found not there.
    pub complete: bool,
    /// How many match.
    pub count: u32,
    /// Those asked for, in tree order; absent with `--count`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<Match>,
    /// The containers that may hold more, and how much of each was looked at.
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
    /// What it is in, from the window down.
    pub path: Vec<NodeRef>,
    /// The number of its row, from 1, where it is in a container that shows only some of its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
}

args! {
    /// Show one element, with everything known about it.
    ///
    /// Examples:
    ///   ax get btn_4k2p9x
    ///   ax get textfield:Display --property value
    struct Get {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
        /// Only these properties.
        optional property: Vec<Property> [long, value_name = "NAME", value_enum],
        /// In this app; the frontmost unless said.
        optional app: Option<String> [long, value_name = "APP"],
        /// Only in this window, by title, id or window number.
        optional window: Option<String> [long, value_name = "WINDOW"],
    }
}

/// A property of an element, as `get` takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum), value(rename_all = "snake_case"))]
pub enum Property {
    /// What it is.
    Role,
    /// What it is called.
    Name,
    /// What it holds.
    Value,
    /// More about it.
    Description,
    /// What its developer calls it.
    Identifier,
    /// What its toolkit calls its role.
    NativeRole,
    /// What is true of it.
    States,
    /// What it can do.
    Actions,
    /// Where it is. Asks the app.
    Bounds,
    /// How many children it has.
    ChildrenCount,
}

/// The answer to `get`, `focused` and `element-at`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GetAnswer {
    /// The element, without its children. With `--property`, only its id and those.
    pub node: serde_json::Value,
    /// What it is in, from the window down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<NodeRef>,
}

args! {
    /// Ask whether something is true of an element.
    ///
    /// Examples:
    ///   ax is checkbox:"Dark mode" --property checked
    ///   ax is btn_4k2p9x --property enabled
    struct Is {
        /// The element: an id, a selector or a point.
        required target: String [value_name = "TARGET"],
        /// What may be true.
        required property: Condition [long, value_name = "NAME", value_enum],
        /// In this app; the frontmost unless said.
        optional app: Option<String> [long, value_name = "APP"],
        /// Only in this window, by title, id or window number.
        optional window: Option<String> [long, value_name = "WINDOW"],
    }
}

/// Something that may be true of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Condition {
    /// It is on the screen. Asks the app.
    Visible,
    /// It can be used.
    Enabled,
    /// It is checked.
    Checked,
    /// It has the keyboard focus.
    Focused,
    /// It shows what it holds.
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
    /// What was asked.
    pub property: Condition,
    /// Whether it is true.
    pub value: bool,
    /// Whether everything was looked at that the target could mean; if not, it may mean another element too.
    pub complete: bool,
    /// The containers that may hold such another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

args! {
    /// Show the element at a point of the screen. Asks the app.
    ///
    /// Example:
    ///   ax element-at 320,240
    struct ElementAt {
        /// The point, in points from the top left.
        required point: String [value_name = "X,Y", allow_hyphen_values = true],
    }
}

args! {
    /// Show the element that has the keyboard focus.
    ///
    /// Example:
    ///   ax focused --app Notes
    struct Focused {
        /// In this app; the frontmost unless said.
        optional app: Option<String> [long, value_name = "APP"],
    }
}
