//! Turns each acting command into an action: one match arm per command, and nothing about how it is performed.

use std::time::Duration;

use axd_protocol::command::{ActOptions, Command, Direction as Way, Route};
use axd_protocol::error::Delivery;
use axd_protocol::keys::{Button, Combo, Modifier};
use axd_protocol::selector::Target;
use axd_protocol::{Error, ErrorCode, Point, Result};

use axd_platform::Direction;

/// An action.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Action<'a> {
    Click { target: &'a str, button: Button, count: u32 },
    Type { target: Option<&'a str>, text: &'a str },
    SetValue { target: &'a str, value: &'a str },
    Clear { target: &'a str },
    Focus { target: &'a str },
    Select { target: &'a str, item: Option<&'a str> },
    Menu { path: Vec<&'a str> },
    Toggle { target: &'a str },
    Check { target: &'a str, on: bool },
    Expand { target: &'a str, on: bool },
    Scroll { target: &'a str, direction: Direction, amount: u32 },
    ScrollTo { target: &'a str, row: Option<u32> },
    Drag { target: &'a str, to: &'a str },
    Hover { target: &'a str },
    Perform { target: &'a str, action: &'a str },
    Press { combo: &'a Combo },
    KeyDown { combo: &'a Combo, lease: Option<Duration> },
    KeyUp { combo: &'a Combo },
    MouseMove { at: Point },
    MouseClick { at: Point, button: Button, count: u32, modifiers: &'a [Modifier] },
    MouseDown { at: Point, button: Button, lease: Option<Duration> },
    MouseUp { at: Point, button: Button },
    MouseWheel { at: Point, direction: Direction, amount: u32, modifiers: &'a [Modifier] },
}

/// The kind of target that an action has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TargetKind<'a> {
    /// An element, or a point.
    Element(&'a str),
    /// The element that has the focus.
    Focus,
    /// An app as a whole.
    App,
    /// A point on the screen.
    Place(Point),
    /// Whichever window gets the keys.
    Keyboard,
}

/// The maximum number of clicks, and of wheel notches, in one request.
const MOST_CLICKS: u32 = 10;
const MOST_NOTCHES: u32 = 1_000;
/// The maximum number of times that a replaced element is searched for again.
const MOST_TRIES: u32 = 2;
/// The maximum time to hold a key or button down, in milliseconds.
const LONGEST_HOLD: u64 = 600_000;

/// The action of a command, and the options that all actions share; `None` if the command does not act.
pub(crate) fn of(command: &Command) -> Result<Option<(Action<'_>, ActOptions<'_>)>> {
    let single = |target| Action::Click { target, button: Button::Left, count: 1 };
    Ok(Some(match command {
        Command::Click(args) => (single(&args.target), args.options()),
        Command::DoubleClick(args) => {
            (Action::Click { target: &args.target, button: Button::Left, count: 2 }, args.options())
        }
        Command::TripleClick(args) => {
            (Action::Click { target: &args.target, button: Button::Left, count: 3 }, args.options())
        }
        Command::RightClick(args) => {
            (Action::Click { target: &args.target, button: Button::Right, count: 1 }, args.options())
        }
        Command::Type(args) => {
            (Action::Type { target: args.target.as_deref(), text: &args.text.0 }, args.options())
        }
        Command::SetValue(args) => {
            (Action::SetValue { target: &args.target, value: &args.value.0 }, args.options())
        }
        Command::Clear(args) => (Action::Clear { target: &args.target }, args.options()),
        Command::Focus(args) => (Action::Focus { target: &args.target }, args.options()),
        Command::Select(args) => {
            let item = args.value.as_ref().map(|value| value.0.as_str());
            (Action::Select { target: &args.target, item }, args.options())
        }
        Command::Menu(args) => (Action::Menu { path: menu_path(&args.path)? }, args.options()),
        Command::Toggle(args) => (Action::Toggle { target: &args.target }, args.options()),
        Command::Check(args) => (Action::Check { target: &args.target, on: true }, args.options()),
        Command::Uncheck(args) => (Action::Check { target: &args.target, on: false }, args.options()),
        Command::Expand(args) => (Action::Expand { target: &args.target, on: true }, args.options()),
        Command::Collapse(args) => (Action::Expand { target: &args.target, on: false }, args.options()),
        Command::Scroll(args) => {
            let (direction, amount) = (direction(args.direction), notches(args.amount)?);
            (Action::Scroll { target: &args.target, direction, amount }, args.options())
        }
        Command::ScrollTo(args) => {
            if args.row == Some(0) {
                return Err(Error::new(ErrorCode::InvalidArgs, "row must be at least 1"));
            }
            (Action::ScrollTo { target: &args.target, row: args.row }, args.options())
        }
        Command::Drag(args) => (Action::Drag { target: &args.target, to: &args.to }, args.options()),
        Command::Hover(args) => (Action::Hover { target: &args.target }, args.options()),
        Command::Perform(args) => {
            (Action::Perform { target: &args.target, action: &args.action }, args.options())
        }
        Command::Press(args) => (Action::Press { combo: &args.combo.0 }, args.options()),
        Command::KeyDown(args) => {
            (Action::KeyDown { combo: &args.combo.0, lease: lease(args.hold_ms)? }, args.options())
        }
        Command::KeyUp(args) => (Action::KeyUp { combo: &args.combo.0 }, args.options()),
        Command::MouseMove(args) => (Action::MouseMove { at: args.point.0 }, args.options()),
        Command::MouseClick(args) => {
            let count = args.count.unwrap_or(1);
            if !(1..=MOST_CLICKS).contains(&count) {
                let message = format!("count must be between 1 and {MOST_CLICKS}");
                return Err(Error::new(ErrorCode::InvalidArgs, message));
            }
            let modifiers = &args.modifiers.0;
            let click = Action::MouseClick { at: args.point.0, button: args.button, count, modifiers };
            (click, args.options())
        }
        Command::MouseDown(args) => {
            let lease = lease(args.hold_ms)?;
            (Action::MouseDown { at: args.point.0, button: args.button, lease }, args.options())
        }
        Command::MouseUp(args) => (Action::MouseUp { at: args.point.0, button: args.button }, args.options()),
        Command::MouseWheel(args) => {
            let (direction, amount) = (direction(args.direction), notches(args.amount)?);
            let modifiers = &args.modifiers.0;
            (Action::MouseWheel { at: args.point.0, direction, amount, modifiers }, args.options())
        }
        _ => return Ok(None),
    }))
}

impl<'a> Action<'a> {
    /// The target of the action.
    pub fn aim(&self) -> TargetKind<'a> {
        match *self {
            Action::Click { target, .. }
            | Action::SetValue { target, .. }
            | Action::Clear { target }
            | Action::Focus { target }
            | Action::Select { target, .. }
            | Action::Toggle { target }
            | Action::Check { target, .. }
            | Action::Expand { target, .. }
            | Action::Scroll { target, .. }
            | Action::ScrollTo { target, .. }
            | Action::Drag { target, .. }
            | Action::Hover { target }
            | Action::Perform { target, .. }
            | Action::Type { target: Some(target), .. } => TargetKind::Element(target),
            Action::Type { target: None, .. } => TargetKind::Focus,
            Action::Menu { .. } => TargetKind::App,
            Action::Press { .. } | Action::KeyDown { .. } | Action::KeyUp { .. } => TargetKind::Keyboard,
            Action::MouseMove { at }
            | Action::MouseClick { at, .. }
            | Action::MouseDown { at, .. }
            | Action::MouseUp { at, .. }
            | Action::MouseWheel { at, .. } => TargetKind::Place(at),
        }
    }

    /// Whether the action failed because the element that its selector matched was replaced, so that a new search is
    /// worthwhile. An id means one element and no other.
    pub fn is_lost(&self, error: &Error, tries: u32) -> bool {
        let means_what_is_there = match self.aim() {
            TargetKind::Element(target) => matches!(Target::parse(target), Ok(Target::Selector(_))),
            // The element that has the focus by then is the right one.
            TargetKind::Focus => true,
            _ => false,
        };
        let is_gone = match error.code {
            ErrorCode::StaleRef => true,
            ErrorCode::ElementNotFound => tries > 0,
            _ => false,
        };
        is_gone
            && tries < MOST_TRIES
            && error.disposition.delivery == Delivery::NotDelivered
            && means_what_is_there
    }

    /// Whether the action can be performed at a point where no element is known.
    pub fn takes_bare_point(&self) -> bool {
        matches!(
            self,
            Action::Click { .. } | Action::Hover { .. } | Action::Drag { .. } | Action::Scroll { .. }
        )
    }

    /// Whether the action is so small that, by default, it does not wait until the app settles.
    pub fn is_small(&self) -> bool {
        matches!(
            self,
            Action::KeyDown { .. }
                | Action::KeyUp { .. }
                | Action::MouseMove { .. }
                | Action::MouseDown { .. }
                | Action::MouseUp { .. }
        )
    }

    /// Whether the action is a single click with the left button.
    pub fn is_single_click(&self) -> bool {
        matches!(self, Action::Click { button: Button::Left, count: 1, .. })
    }

    /// Whether the action releases a held key or button.
    pub fn lets_go(&self) -> bool {
        matches!(self, Action::KeyUp { .. } | Action::MouseUp { .. })
    }

    /// Whether it is known from the start that the action needs mouse and keyboard.
    pub fn needs_hands(&self, options: ActOptions<'_>, point: Option<Point>) -> bool {
        !options.dry_run && (options.route == Some(Route::Input) || self.uses_input(point.is_some()))
    }

    /// The keys it presses, as far as they could do harm.
    pub fn keys(&self) -> Option<&'a Combo> {
        match *self {
            Action::Press { combo } | Action::KeyDown { combo, .. } => Some(combo),
            _ => None,
        }
    }

    /// The text it enters.
    pub fn text(&self) -> Option<&'a str> {
        match *self {
            Action::Type { text, .. } => Some(text),
            Action::SetValue { value, .. } => Some(value),
            _ => None,
        }
    }
}

fn direction(way: Way) -> Direction {
    match way {
        Way::Up => Direction::Up,
        Way::Down => Direction::Down,
        Way::Left => Direction::Left,
        Way::Right => Direction::Right,
    }
}

fn notches(amount: Option<u32>) -> Result<u32> {
    match amount.unwrap_or(3) {
        amount @ 1..=MOST_NOTCHES => Ok(amount),
        _ => Err(Error::new(ErrorCode::InvalidArgs, format!("amount must be between 1 and {MOST_NOTCHES}"))),
    }
}

fn lease(hold_ms: Option<u64>) -> Result<Option<Duration>> {
    match hold_ms {
        Some(ms) if !(1..=LONGEST_HOLD).contains(&ms) => {
            Err(Error::new(ErrorCode::InvalidArgs, format!("hold_ms must be between 1 and {LONGEST_HOLD}")))
        }
        ms => Ok(ms.map(Duration::from_millis)),
    }
}

fn menu_path(path: &str) -> Result<Vec<&str>> {
    let names: Vec<&str> = path.split('>').map(str::trim).collect();
    if names.iter().any(|name| name.is_empty()) {
        return Err(Error::new(ErrorCode::InvalidArgs, format!("path: '{path}' has an empty name in it"))
            .suggest("give the names from the menu bar down, as in 'File > Save'"));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_menu_path_has_a_name_at_every_step() {
        assert_eq!(menu_path("View > Zoom>200%").unwrap(), ["View", "Zoom", "200%"]);
        for wrong in ["", "File >", "> Save", "File > > Save"] {
            assert_eq!(menu_path(wrong).unwrap_err().code, ErrorCode::InvalidArgs, "{wrong}");
        }
    }

    #[test]
    fn only_a_selector_is_looked_for_again_and_only_if_nothing_was_sent() {
        let click = |target| Action::Click { target, button: Button::Left, count: 1 };
        let gone = || Error::new(ErrorCode::StaleRef, "gone");
        assert!(click("button:Save").is_lost(&gone(), 0) && click("button:Save").is_lost(&gone(), 1));
        assert!(!click("button:Save").is_lost(&gone(), MOST_TRIES), "not for ever");
        assert!(!click("btn_4k2p9x").is_lost(&gone(), 0), "an id means one element");
        assert!(!click("button:Save").is_lost(&gone().delivered(Delivery::Uncertain), 0));
        assert!(
            Action::Type { target: None, text: "x" }.is_lost(&gone(), 0),
            "another may have the focus now"
        );
        let missing = Error::new(ErrorCode::ElementNotFound, "there is none");
        assert!(!click("button:Save").is_lost(&missing, 0) && click("button:Save").is_lost(&missing, 1));
    }

    #[test]
    fn amounts_have_bounds() {
        assert_eq!(notches(None).unwrap(), 3);
        assert!(notches(Some(0)).is_err());
        assert!(notches(Some(MOST_NOTCHES + 1)).is_err());
        assert!(lease(Some(0)).is_err());
        assert!(lease(None).unwrap().is_none());
    }
}
