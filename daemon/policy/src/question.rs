//! What is decided about: a command, who requests it, and what it is about.

use axd_protocol::keys::Combo;
use axd_protocol::{Role, State};

/// Something that a decision may depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fact<T> {
    /// It has none: a launch is in no window.
    #[default]
    None,
    /// It has one, but nobody knows which.
    Unknown,
    /// It is known.
    Known(T),
}

impl<T> Fact<T> {
    /// The same, without taking it.
    pub fn as_ref(&self) -> Fact<&T> {
        match self {
            Fact::None => Fact::None,
            Fact::Unknown => Fact::Unknown,
            Fact::Known(value) => Fact::Known(value),
        }
    }

    /// What follows from the value, if it is known.
    pub fn map<U>(self, of: impl FnOnce(T) -> U) -> Fact<U> {
        match self {
            Fact::None => Fact::None,
            Fact::Unknown => Fact::Unknown,
            Fact::Known(value) => Fact::Known(of(value)),
        }
    }

    /// Something that there is, whether or not it is known.
    pub fn known_or_not(value: Option<T>) -> Fact<T> {
        value.map_or(Fact::Unknown, Fact::Known)
    }

    /// The value, if it is known.
    pub fn known(self) -> Option<T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::None | Fact::Unknown => None,
        }
    }
}

impl<T> From<Option<T>> for Fact<T> {
    fn from(value: Option<T>) -> Fact<T> {
        value.map_or(Fact::None, Fact::Known)
    }
}

/// When a question is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stage {
    /// Before an action begins. What is unknown will be known when something is sent, and the question is asked again then: so a
    /// rule that depends on it neither denies nor withholds permission yet.
    Before,
    /// For the last time. What is unknown matches every rule that denies or asks, and none that allows.
    #[default]
    Final,
}

/// A command, who requests it, and what it is about.
#[derive(Debug, Clone, Default)]
pub struct Question<'a> {
    /// When it is asked.
    pub stage: Stage,
    /// The name of the command.
    pub command: &'a str,
    /// The name that the client gave itself.
    pub client: Option<&'a str>,
    /// The agent that it says it works for.
    pub agent: Option<&'a str>,
    /// The app.
    pub app: Fact<AppFacts<'a>>,
    /// The title of the window.
    pub window: Fact<&'a str>,
    /// The element.
    pub element: Fact<ElementFacts<'a>>,
    /// The keys that it presses: each combination, with what is held down already.
    pub keys: &'a [Combo],
    /// The text that it enters or puts on the clipboard.
    pub text: Option<&'a str>,
    /// What it launches.
    pub launch: Option<LaunchFacts<'a>>,
    /// The files that it reads for the client, behind all links. Of a path that leads elsewhere than it reads, by `..` or because
    /// it is relative, it is not known which file it is.
    pub files: &'a [std::path::PathBuf],
}

/// An app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AppFacts<'a> {
    /// Its process id.
    pub pid: u32,
    /// Its display name.
    pub name: &'a str,
    /// Its bundle id or executable.
    pub identity: &'a str,
    /// What its process runs: the names and paths of its executable behind all links, and of the script that it interprets.
    pub programs: &'a [String],
    /// Whether its process belongs to another user.
    pub is_foreign: bool,
}

/// An element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementFacts<'a> {
    /// Its role.
    pub role: Role,
    /// Its name.
    pub name: Option<&'a str>,
    /// Its states.
    pub states: &'a [State],
}

/// What a launch starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchFacts<'a> {
    /// The program as the request names it, and the files that this may be, behind all links.
    pub programs: &'a [String],
    /// Its arguments.
    pub args: &'a [String],
    /// The names of the environment variables that are set for it.
    pub env: &'a [String],
}
