//! The commands of agent-desktop and their arguments: one table, from which its command line and its tools are made.

/// A command.
#[derive(Debug)]
pub struct CommandSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// What it does to the world.
    pub effect: Effect,
    /// Its arguments, the positional ones first.
    pub args: &'static [ArgSpec],
}

/// What a command does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Reads,
    /// It changes what can be changed back; twice is the same as once.
    Arranges,
    /// It may do anything that an app does when it is asked.
    Acts,
}

/// An argument.
#[derive(Debug)]
pub struct ArgSpec {
    /// Its flag without the dashes; as an argument of a tool or of a batch it has `_` in place of `-`.
    pub flag: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// What it takes.
    pub kind: ArgKind,
    /// Where it stands on the command line.
    pub place: Place,
    /// Other spellings.
    pub aliases: &'static [&'static str],
    /// A letter for it.
    pub short: Option<char>,
}

/// What an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgKind {
    /// A text.
    Text,
    /// A whole number.
    Number,
    /// Nothing: it is there or not.
    Flag,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// The commands of a batch.
    Items,
}

/// Where an argument stands on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// By its position, and it must be there.
    Required,
    /// By its position, and it may be absent.
    Optional,
    /// By its flag.
    Flag,
    /// By its flag, and it must be there.
    RequiredFlag,
}

impl ArgSpec {
    const fn new(flag: &'static str, kind: ArgKind, place: Place, about: &'static str) -> ArgSpec {
        ArgSpec { flag, about, kind, place, aliases: &[], short: None }
    }

    const fn also(mut self, aliases: &'static [&'static str]) -> ArgSpec {
        self.aliases = aliases;
        self
    }

    const fn short(mut self, letter: char) -> ArgSpec {
        self.short = Some(letter);
        self
    }

    /// Its name as an argument of a tool or of a batch.
    pub fn name(&self) -> String {
        self.flag.replace('-', "_")
    }

    /// Whether this is one of its names in such a place.
    pub fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.aliases.iter().any(|alias| alias.replace('-', "_") == name)
    }

    /// Whether it must be there.
    pub fn is_required(&self) -> bool {
        matches!(self.place, Place::Required | Place::RequiredFlag)
    }
}

/// Finds a command.
pub fn find(name: &str) -> Option<&'static CommandSpec> {
    COMMANDS.iter().find(|command| command.name == name)
}

use ArgKind::{Flag as Bool, Items, Number, OneOf, Text};
use Place::{Flag, Optional, Required, RequiredFlag};

const REF: ArgSpec = ArgSpec::new("ref", Text, Required, "Element: a ref such as @e3, an id or a selector");
const APP: ArgSpec = ArgSpec::new("app", Text, Flag, "App, by name or bundle id [default: the frontmost]");
const WINDOW: ArgSpec = ArgSpec::new("window-id", Text, Flag, "Window, such as w-4521");
const HEADED: ArgSpec = ArgSpec::new("headed", Bool, Flag, "Use mouse and keyboard");
const DRY_RUN: ArgSpec = ArgSpec::new("dry-run", Bool, Flag, "Show what would be done without doing it");
const TIMEOUT: ArgSpec = ArgSpec::new(
    "timeout-ms",
    Number,
    Flag,
    "Time to wait until the element can be acted on, in ms [default: 5000]",
);

const fn act(name: &'static str, about: &'static str, args: &'static [ArgSpec]) -> CommandSpec {
    CommandSpec { name, about, effect: Effect::Acts, args }
}

const fn read(name: &'static str, about: &'static str, args: &'static [ArgSpec]) -> CommandSpec {
    CommandSpec { name, about, effect: Effect::Reads, args }
}

const fn arrange(name: &'static str, about: &'static str, args: &'static [ArgSpec]) -> CommandSpec {
    CommandSpec { name, about, effect: Effect::Arranges, args }
}

const ON_ELEMENT: &[ArgSpec] = &[REF, HEADED, DRY_RUN, TIMEOUT];
const DIRECTIONS: &[&str] = &["up", "down", "left", "right"];

/// All commands, in their order.
pub const COMMANDS: &[CommandSpec] = &[
    read(
        "snapshot",
        "Show the element tree, and number what can be acted on from @e1.",
        &[
            APP,
            WINDOW,
            ArgSpec::new("max-depth", Number, Flag, "Depth of the tree, at most 20 [default: 8]"),
            ArgSpec::new("include-bounds", Bool, Flag, "Show where elements are"),
            ArgSpec::new(
                "interactive-only",
                Bool,
                Flag,
                "Only elements that can be acted on, and their ancestors",
            )
            .short('i'),
            ArgSpec::new("compact", Bool, Flag, "Leave out containers that say nothing"),
            ArgSpec::new("include-actions", Bool, Flag, "Show the native actions of elements"),
            ArgSpec::new("subtree", Text, Flag, "Only this element and what is in it").also(&["root"]),
            ArgSpec::new("filter-role", Text, Flag, "Only these roles, separated by commas"),
            ArgSpec::new("max-tokens", Number, Flag, "Approximate size of the tree"),
            ArgSpec::new("skeleton", Bool, Flag, "Only containers"),
            ArgSpec::new("surface", OneOf(&["window", "menubar"]), Flag, "What to show [default: window]"),
        ],
    ),
    read(
        "find",
        "Find elements by parts of their names, roles and values.",
        &[
            APP,
            ArgSpec::new("name", Text, Flag, "Part of the name"),
            ArgSpec::new("role", Text, Flag, "Role"),
            ArgSpec::new("value", Text, Flag, "Part of the value"),
        ],
    ),
    read(
        "screenshot",
        "Take a picture of a window or a screen.",
        &[
            ArgSpec::new("path", Text, Optional, "File to write; without it the answer has the picture"),
            APP,
            WINDOW,
            ArgSpec::new("screen", Number, Flag, "Screen, from 1"),
        ],
    ),
    read(
        "get",
        "Get a property of an element.",
        &[
            REF,
            ArgSpec::new(
                "property",
                OneOf(&["text", "value", "title", "bounds", "role", "states"]),
                RequiredFlag,
                "Property",
            ),
        ],
    ),
    read(
        "is",
        "Check a property of an element.",
        &[
            REF,
            ArgSpec::new(
                "property",
                OneOf(&["visible", "enabled", "checked", "focused", "expanded"]),
                RequiredFlag,
                "Property",
            ),
        ],
    ),
    act("click", "Click an element.", ON_ELEMENT),
    act("double-click", "Double-click an element.", ON_ELEMENT),
    act("right-click", "Right-click an element.", ON_ELEMENT),
    act(
        "type",
        "Type text into an element.",
        &[
            REF,
            ArgSpec::new("text", Text, Required, "Text, of at most 10,000 characters"),
            HEADED,
            DRY_RUN,
            TIMEOUT,
        ],
    ),
    act(
        "set-value",
        "Set the value of an element.",
        &[REF, ArgSpec::new("value", Text, Required, "Value"), DRY_RUN, TIMEOUT],
    ),
    act("focus", "Focus an element.", ON_ELEMENT),
    act("toggle", "Toggle an element.", ON_ELEMENT),
    act("expand", "Expand an element.", ON_ELEMENT),
    act("collapse", "Collapse an element.", ON_ELEMENT),
    act(
        "select",
        "Select an item of an element.",
        &[REF, ArgSpec::new("value", Text, Required, "Name of the item"), HEADED, DRY_RUN, TIMEOUT],
    ),
    act(
        "scroll",
        "Scroll an element.",
        &[
            REF,
            ArgSpec::new("direction", OneOf(DIRECTIONS), Flag, "[default: down]"),
            ArgSpec::new("amount", Number, Flag, "Lines [default: 3]"),
            HEADED,
            DRY_RUN,
            TIMEOUT,
        ],
    ),
    act("press", "Press keys.", &[ArgSpec::new("combo", Text, Required, "Keys, such as cmd+c"), DRY_RUN]),
    act(
        "launch",
        "Start an app.",
        &[
            ArgSpec::new("id", Text, Required, "Name or bundle id; never a path"),
            ArgSpec::new("wait", Bool, Flag, "Wait until its window is open"),
        ],
    ),
    act(
        "close-app",
        "Quit an app.",
        &[
            ArgSpec::new("id", Text, Required, "Name or bundle id"),
            ArgSpec::new("force", Bool, Flag, "Kill it instead of asking it"),
        ],
    ),
    read(
        "list-windows",
        "List windows, front to back.",
        &[APP, ArgSpec::new("focused", Bool, Flag, "Only the one that is focused")],
    ),
    read("list-apps", "List the names of running apps.", &[]),
    arrange(
        "focus-window",
        "Bring a window to the front and focus it.",
        &[WINDOW, ArgSpec::new("title", Text, Flag, "Its title; in place of window-id")],
    ),
    read("clipboard-get", "Read the text on the clipboard.", &[]),
    act("clipboard-set", "Put text on the clipboard.", &[ArgSpec::new("text", Text, Required, "Text")]),
    read(
        "wait",
        "Wait for a time, an element or a window.",
        &[
            ArgSpec::new("ms", Number, Optional, "Time, in ms"),
            ArgSpec::new("element", Text, Flag, "Element: a ref, an id or a selector"),
            ArgSpec::new("window", Text, Flag, "Part of a window's title"),
            ArgSpec::new("match", Bool, Flag, "An element with this role and name"),
            ArgSpec::new("role", Text, Flag, "Role, for match"),
            ArgSpec::new("name", Text, Flag, "Part of the name, for match"),
            ArgSpec::new(
                "predicate",
                OneOf(&["exists", "actionable"]),
                Flag,
                "What the element must be [default: exists]",
            ),
            ArgSpec::new("timeout", Number, Flag, "Time to wait, in ms [default: 10000]")
                .also(&["timeout-ms"]),
        ],
    ),
    read("status", "Show the platform, the permissions and the daemon.", &[]),
    read(
        "permissions",
        "Show whether accessibility is permitted.",
        &[ArgSpec::new("request", Bool, Flag, "Ask the user for what is missing")],
    ),
    read(
        "version",
        "Show the version.",
        &[ArgSpec::new("json", Bool, Flag, "Accepted; the answer is JSON anyway")],
    ),
    act(
        "batch",
        "Run several commands in order.",
        &[
            ArgSpec::new(
                "commands",
                Items,
                Required,
                "List of {\"command\", \"args\"}, with args as they are called here",
            ),
            ArgSpec::new("stop-on-error", Bool, Flag, "Stop at the first command that fails"),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twenty_nine_commands() {
        assert_eq!(COMMANDS.len(), 29);
        assert!(find("snapshot").is_some() && find("diff").is_none());
    }

    #[test]
    fn positional_arguments_come_first_and_the_optional_one_is_alone() {
        for command in COMMANDS {
            let places: Vec<Place> = command.args.iter().map(|arg| arg.place).collect();
            let positional = places.iter().take_while(|place| matches!(place, Required | Optional)).count();
            assert!(
                places[positional..].iter().all(|place| matches!(place, Flag | RequiredFlag)),
                "{}",
                command.name
            );
            assert!(positional == 1 || !places.contains(&Optional), "{}", command.name);
        }
    }
}
