//! What an action is: its target, what it needs, and how it is performed. Each command that acts implements [`Action`] in one
//! file of this folder, and that is the only place of the engine that knows it.

use axd_protocol::command::{ActCommand, ActOptions, Route};
use axd_protocol::error::Delivery;
use axd_protocol::keys::Combo;
use axd_protocol::selector::Target;
use axd_protocol::{Error, ErrorCode, Point, Result};
use axd_service::BoxFuture;

use crate::action::context::{ActionContext, Outcome};
use crate::apps::one_match::nth_is_0;

/// The maximum number of times that a replaced element is searched for again.
const MAX_SEARCHES: u32 = 2;

/// A command that acts. Its arguments are its fields.
pub(crate) trait Action: Sync {
    /// What is known about the action before it is performed. Fails if an argument is out of range.
    fn spec(&self) -> Result<ActionSpec<'_>>;

    /// Performs the action on the target of the context.
    fn run(&self, context: &mut ActionContext<'_>) -> impl Future<Output = Result<Outcome>> + Send;
}

/// What is known about an action before it is performed.
#[derive(Debug, Clone)]
pub(crate) struct ActionSpec<'a> {
    pub target: TargetKind<'a>,
    pub needs_input: NeedsInput,
    /// Whether the action can be performed at a point where no element is known.
    pub takes_bare_point: bool,
    /// Whether, unless the request says otherwise, the answer waits until the app has settled.
    pub settles: bool,
    /// Whether the action releases a held key or button.
    pub releases: bool,
    /// Whether the element under the pointer must be the target when the button is pressed.
    pub checks_hit: bool,
    /// The keys that the action presses, for the policy.
    pub keys: Option<&'a Combo>,
    /// The text that the action enters, for the policy.
    pub text: Option<&'a str>,
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

/// Whether an action needs mouse and keyboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NeedsInput {
    /// Only if the app does not perform it.
    No,
    /// If its target is a point.
    AtPoint,
    /// In any case.
    Yes,
}

impl<'a> ActionSpec<'a> {
    /// An action on this target that the app may perform, and that is followed by a wait until the app has settled.
    pub fn on(target: TargetKind<'a>) -> ActionSpec<'a> {
        ActionSpec {
            target,
            needs_input: NeedsInput::No,
            takes_bare_point: false,
            settles: true,
            releases: false,
            checks_hit: false,
            keys: None,
            text: None,
        }
    }

    /// An action on an element that the app may perform.
    pub fn on_element(target: &'a str) -> ActionSpec<'a> {
        ActionSpec::on(TargetKind::Element(target))
    }

    /// An action that is performed with mouse and keyboard.
    pub fn by_input(target: TargetKind<'a>) -> ActionSpec<'a> {
        ActionSpec { needs_input: NeedsInput::Yes, ..ActionSpec::on(target) }
    }

    /// Checks that a number of a match has a selector whose matches it counts.
    pub fn check_nth(&self, nth: Option<i32>) -> Result<()> {
        let is_selector = |target: &str| matches!(Target::parse(target), Ok(Target::Selector(_)) | Err(_));
        match (nth, self.target) {
            (None, _) => Ok(()),
            (Some(0), _) => Err(nth_is_0()),
            (Some(_), TargetKind::Element(target)) if is_selector(target) => Ok(()),
            (Some(_), _) => Err(Error::new(ErrorCode::InvalidArgs, "nth: the target is not a selector")
                .suggest("give a selector as target; nth is the number of its match, from 1")),
        }
    }

    /// Whether the action can be performed with mouse and keyboard only.
    pub fn uses_input(&self, at_point: bool) -> bool {
        match self.needs_input {
            NeedsInput::No => false,
            NeedsInput::AtPoint => at_point,
            NeedsInput::Yes => true,
        }
    }

    /// Whether it is known from the start that the action takes the input lock.
    pub fn takes_input_lock(&self, options: ActOptions<'_>, at_point: bool) -> bool {
        !options.dry_run && (options.route == Some(Route::Input) || self.uses_input(at_point))
    }

    /// Whether the action failed because the element that its selector matched was replaced, so that a new search is
    /// worthwhile. An id means one element and no other.
    pub fn is_target_replaced(&self, error: &Error, searches: u32) -> bool {
        let can_be_searched = match self.target {
            TargetKind::Element(target) => matches!(Target::parse(target), Ok(Target::Selector(_))),
            // The element that has the focus by then is the right one.
            TargetKind::Focus => true,
            _ => false,
        };
        let is_gone = match error.code {
            ErrorCode::StaleRef => true,
            ErrorCode::ElementNotFound => searches > 0,
            _ => false,
        };
        is_gone
            && searches < MAX_SEARCHES
            && error.disposition.delivery == Delivery::NotDelivered
            && can_be_searched
    }
}

/// An action whose type is not known at compile time.
pub(crate) trait DynAction: Sync {
    /// See [`Action::spec`].
    fn spec_of(&self) -> Result<ActionSpec<'_>>;

    /// See [`Action::run`].
    fn run_on<'a>(&'a self, context: &'a mut ActionContext<'_>) -> BoxFuture<'a, Result<Outcome>>;
}

impl<A: Action> DynAction for A {
    fn spec_of(&self) -> Result<ActionSpec<'_>> {
        self.spec()
    }

    fn run_on<'a>(&'a self, context: &'a mut ActionContext<'_>) -> BoxFuture<'a, Result<Outcome>> {
        Box::pin(self.run(context))
    }
}

macro_rules! action_of {
    ($($command:ident)+) => {
        /// The action of a command. A command without an implementation of [`Action`] does not compile here.
        pub(crate) fn action_of(command: &ActCommand) -> &dyn DynAction {
            match command {
                $(ActCommand::$command(args) => &args.own,)+
            }
        }
    };
}

axd_protocol::with_act_commands!(action_of);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_selector_is_searched_for_again_and_only_if_nothing_was_sent() {
        let click = ActionSpec::on_element;
        let gone = || Error::new(ErrorCode::StaleRef, "gone");
        assert!(click("button:Save").is_target_replaced(&gone(), 0));
        assert!(click("button:Save").is_target_replaced(&gone(), 1));
        assert!(!click("button:Save").is_target_replaced(&gone(), MAX_SEARCHES), "not for ever");
        assert!(!click("btn_4k2p9x").is_target_replaced(&gone(), 0), "an id means one element");
        let sent = gone().delivered(Delivery::Uncertain);
        assert!(!click("button:Save").is_target_replaced(&sent, 0));
        let focused = ActionSpec::on(TargetKind::Focus);
        assert!(focused.is_target_replaced(&gone(), 0), "another may have the focus now");
        let missing = Error::new(ErrorCode::ElementNotFound, "there is none");
        assert!(!click("button:Save").is_target_replaced(&missing, 0));
        assert!(click("button:Save").is_target_replaced(&missing, 1));
    }

    #[test]
    fn only_the_matches_of_a_selector_have_numbers() {
        let click = ActionSpec::on_element;
        assert!(click("button:Save").check_nth(Some(-1)).is_ok());
        assert!(click("btn_4k2p9x").check_nth(None).is_ok());
        for spec in [click("btn_4k2p9x"), click("1,2"), ActionSpec::on(TargetKind::Focus)] {
            let error = spec.check_nth(Some(1)).unwrap_err();
            assert!(error.message.contains("not a selector"), "{}", error.message);
        }
        assert!(click("button:Save").check_nth(Some(0)).unwrap_err().message.contains("starts at 1"));
    }

    #[test]
    fn a_dry_run_takes_no_input_lock() {
        let command =
            axd_protocol::Command::parse("mouse-up", Some(&args(r#"{"point":"1,2","dry_run":true}"#)));
        let Ok(axd_protocol::Command::Act(command)) = command else { panic!("{command:?}") };
        let spec = action_of(&command).spec_of().unwrap();
        assert!(spec.uses_input(false) && spec.releases && !spec.settles);
        assert!(!spec.takes_input_lock(command.options(), true));
    }

    fn args(json: &str) -> Box<serde_json::value::RawValue> {
        serde_json::value::RawValue::from_string(json.to_owned()).unwrap()
    }
}
