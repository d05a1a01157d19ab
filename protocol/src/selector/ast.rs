//! The types that a selector is parsed into.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::SelectorError;
use super::fold::fold;
use super::parse;
use crate::role::Role;
use crate::state::{State, States};

/// A selector: the union of its paths.
///
/// It can only be made by parsing, so a `Selector` is always within the limits, its regexes compile, and
/// `parse(print(s)) == s`. On the wire it is its canonical text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Selector {
    paths: Vec<Path>,
}

/// A path: the steps from the outermost element to the one that is selected.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Path {
    /// The outermost step.
    pub first: Step,
    /// The other steps, each with its relation to the step before it.
    pub rest: Vec<(Combinator, Step)>,
}

/// The relation of a step to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Combinator {
    /// `>`: a child of that element.
    Child,
    /// White space: a descendant of that element.
    Descendant,
}

/// The conditions on one element, all of which must hold.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Step {
    /// The role it must have.
    pub role: RoleTest,
    /// The name it must have, as written; compared by [`fold`].
    pub name: Option<String>,
    /// Filters and pseudos in the order written, because `:nth` counts the elements that match the parts before it.
    pub parts: Vec<Part>,
}

/// The role that a step requires.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RoleTest {
    /// `*`, or no role at all.
    Any,
    /// A role of the vocabulary, or a kind of it ([`Role::is_kind_of`]).
    Role(Role),
    /// The platform's own role, compared exactly: `AXDisclosureTriangle`, `"push button"`.
    Native(String),
}

/// A filter or a pseudo.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// `[…]`
    Filter(Filter),
    /// `:nth(…)`, `:has(…)`, `:not(…)`
    Pseudo(Pseudo),
}

/// A test on the element itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Filter {
    /// `[focused]`, `[!focused]`
    State {
        /// The state that is tested.
        test: StateTest,
        /// Whether it must be absent.
        negated: bool,
    },
    /// `[value^="12"]`
    Attr(AttrFilter),
}

/// A test on one of the element's texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AttrFilter {
    /// The text that is tested.
    pub attr: Attr,
    /// How it is tested.
    pub op: Op,
    /// The value it is compared with.
    pub value: String,
    /// `i`: case is ignored (for regexes, ASCII case).
    pub ignore_case: bool,
}

/// A state, or one of the two words for the absence of states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StateTest {
    /// A state of the vocabulary.
    State(State),
    /// Not disabled.
    Enabled,
    /// Neither hidden nor offscreen.
    Visible,
}

/// A text of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attr {
    /// Its name.
    Name,
    /// Its value; a secure element has none.
    Value,
    /// Its description.
    Description,
    /// The identifier its developer gave it.
    Identifier,
    /// The platform's own role.
    NativeRole,
    /// Its name, value or description; one of them must pass.
    Text,
}

/// How a text is tested. An absent text passes only `!=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Op {
    /// `=`: the text equals the value.
    Equals,
    /// `!=`: the text does not equal the value.
    Differs,
    /// `~=`: the text contains the value.
    Contains,
    /// `^=`: the text starts with the value.
    Starts,
    /// `$=`: the text ends with the value.
    Ends,
    /// `=~`: the regex matches somewhere in the text.
    Regex,
}

/// A test on the element's position in the tree, or on its relatives.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pseudo {
    /// The element's number among the siblings that match the parts before it, from 1, or from the end if negative.
    Nth(i32),
    /// A descendant matches the path, all of whose steps match descendants.
    Has(Path),
    /// The element does not match the step.
    Not(Step),
}

impl Selector {
    /// Parses a selector.
    pub fn parse(text: &str) -> Result<Selector, SelectorError> {
        parse::selector(text)
    }

    /// Makes a selector of paths that were built in code, checked against the same limits as a parsed one.
    pub fn new(paths: Vec<Path>) -> Result<Selector, SelectorError> {
        Selector::parse(&Selector { paths }.to_string())
    }

    /// Makes a selector of paths that the parser has already checked.
    pub(super) fn of_parsed(paths: Vec<Path>) -> Selector {
        Selector { paths }
    }

    /// The paths whose union the selector is; there is at least one.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// Whether a role is exactly the one that some path wants of the selected element, and not only a kind of it.
    pub fn names_role(&self, role: Role) -> bool {
        self.paths.iter().any(|path| matches!(path.last().role, RoleTest::Role(wanted) if wanted == role))
    }

    /// The application that this selector is limited to: the `NAME` if every path starts with the same `application:NAME`.
    pub fn leading_app(&self) -> Option<&str> {
        let mut apps = self.paths.iter().map(|path| match path.first.role {
            RoleTest::Role(Role::Application) => path.first.name.as_deref(),
            _ => None,
        });
        let name = apps.next()??;
        apps.all(|other| other.is_some_and(|other| fold(other) == fold(name))).then_some(name)
    }
}

impl Path {
    /// The steps, outermost first.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, step)| step))
    }

    /// The step for the selected element.
    pub fn last(&self) -> &Step {
        self.rest.last().map_or(&self.first, |(_, step)| step)
    }
}

impl From<Step> for Path {
    fn from(first: Step) -> Path {
        Path { first, rest: Vec::new() }
    }
}

impl StateTest {
    /// All states that a selector may test.
    pub fn all() -> impl Iterator<Item = StateTest> {
        State::ALL.iter().copied().map(StateTest::State).chain([StateTest::Enabled, StateTest::Visible])
    }

    /// The word for it in a selector.
    pub const fn name(self) -> &'static str {
        match self {
            StateTest::State(state) => state.name(),
            StateTest::Enabled => "enabled",
            StateTest::Visible => "visible",
        }
    }

    /// Finds a state by its word, in any case.
    pub fn parse(word: &str) -> Option<StateTest> {
        StateTest::all().find(|test| test.name().eq_ignore_ascii_case(word))
    }

    /// Whether an element with these states passes.
    pub const fn holds(self, states: States) -> bool {
        match self {
            StateTest::State(state) => states.has(state),
            StateTest::Enabled => !states.has(State::Disabled),
            StateTest::Visible => !states.has(State::Hidden) && !states.has(State::Offscreen),
        }
    }
}

impl Attr {
    /// All attributes.
    pub const ALL: &'static [Attr] =
        &[Attr::Name, Attr::Value, Attr::Description, Attr::Identifier, Attr::NativeRole, Attr::Text];

    /// The word for it in a selector.
    pub const fn name(self) -> &'static str {
        match self {
            Attr::Name => "name",
            Attr::Value => "value",
            Attr::Description => "description",
            Attr::Identifier => "identifier",
            Attr::NativeRole => "native_role",
            Attr::Text => "text",
        }
    }

    /// Finds an attribute by its word, in any case.
    pub fn parse(word: &str) -> Option<Attr> {
        Attr::ALL.iter().copied().find(|attr| attr.name().eq_ignore_ascii_case(word))
    }
}

impl Op {
    /// All operators in the order in which the parser tries them: `=` last, because `=~` starts with it.
    pub const ALL: &'static [Op] = &[Op::Differs, Op::Contains, Op::Starts, Op::Ends, Op::Regex, Op::Equals];

    /// The symbol of the operator.
    pub const fn symbol(self) -> &'static str {
        match self {
            Op::Equals => "=",
            Op::Differs => "!=",
            Op::Contains => "~=",
            Op::Starts => "^=",
            Op::Ends => "$=",
            Op::Regex => "=~",
        }
    }
}

impl FromStr for Selector {
    type Err = SelectorError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Selector::parse(text)
    }
}

impl Serialize for Selector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Selector {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Selector {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Selector".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "maxLength": super::MAX_BYTES,
            "description": "A selector, such as button:Save or window:Inbox list > row:nth(3)"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leading_application_is_the_one_every_path_starts_with() {
        let check = |text: &str, app: Option<&str>| {
            assert_eq!(Selector::parse(text).unwrap().leading_app(), app, "{text}")
        };
        check("application:Notes button", Some("Notes"));
        check("app:\"Text Editor\"[focused] > window", Some("Text Editor"));
        check("application:Notes button, application:notes link", Some("Notes"));
        check("application:Notes button, application:Mail link", None);
        check("application:Notes button, link", None);
        check("application button", None);
        check("window:Notes button", None);
    }

    #[test]
    fn a_selector_travels_as_its_canonical_text() {
        let selector: Selector = serde_json::from_str(r#""TextBox[ focused ]""#).unwrap();
        assert_eq!(serde_json::to_string(&selector).unwrap(), r#""textfield[focused]""#);
        let error = serde_json::from_str::<Selector>(r#""button:Save As""#).unwrap_err().to_string();
        assert!(error.contains("quote the name"), "{error}");
    }

    #[test]
    fn a_selector_built_in_code_keeps_the_limits() {
        let step =
            Step { role: RoleTest::Role(Role::Button), name: Some("Save As".into()), parts: Vec::new() };
        let built = Selector::new(vec![step.clone().into()]).unwrap();
        assert_eq!(built.to_string(), r#"button:"Save As""#);
        assert!(Selector::new(Vec::new()).is_err());
        assert!(Selector::new(vec![step.into(); super::super::MAX_STEPS + 1]).is_err());
        let bad = AttrFilter { attr: Attr::Name, op: Op::Regex, value: "(".into(), ignore_case: false };
        let bad = Step { role: RoleTest::Any, name: None, parts: vec![Part::Filter(Filter::Attr(bad))] };
        assert!(Selector::new(vec![bad.into()]).is_err());
    }
}
