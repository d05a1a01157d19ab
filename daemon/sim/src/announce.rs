//! What an app tells of what happens in it: all, or as little as the toolkit of its profile would.

use std::time::Duration;

use axd_protocol::{Role, State};

use super::model::{Change, Handle, Model};
use super::script::Profile;

/// What an app tells those that observe it. A hint, not a fact: it says where to look, not what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notification {
    /// Something about the element is different.
    Changed(Handle),
    /// The element's children are different.
    Structure(Handle),
    /// The element ended.
    Destroyed(Handle),
    /// Something for screen readers to speak.
    Announced(String),
}

/// How late the `qt` profile is.
pub const QT_NOTIFICATION_DELAY: Duration = Duration::from_millis(100);

/// Turns what happened into what is told of it.
#[derive(Debug)]
pub struct Announcer {
    profile: Profile,
    /// How many ends of elements there were, for the profile that swallows every second.
    destroyed_count: u64,
}

impl Announcer {
    /// An announcer of this profile.
    pub fn new(profile: Profile) -> Announcer {
        Announcer { profile, destroyed_count: 0 }
    }

    /// How late what is told comes.
    pub fn delay(&self) -> Option<Duration> {
        (self.profile == Profile::Qt).then_some(QT_NOTIFICATION_DELAY)
    }

    /// What is told of a change.
    pub fn notifications_of(&mut self, model: &Model, change: &Change) -> Vec<Notification> {
        let whole = match *change {
            Change::Name(element)
            | Change::Value(element)
            | Change::State(element, _)
            | Change::Focus(element) => {
                vec![Notification::Changed(element)]
            }
            Change::Children(parent) => vec![Notification::Structure(parent)],
            Change::Destroyed { element, parent } => {
                vec![Notification::Destroyed(element), Notification::Structure(parent)]
            }
            Change::Announced(ref text) => vec![Notification::Announced(text.clone())],
            Change::Windows => vec![],
        };
        match self.profile {
            Profile::Full => whole,
            Profile::Gtk4 | Profile::Qt => match change {
                Change::Children(parent) | Change::Destroyed { parent, .. } if holds_rows(model, *parent) => {
                    vec![]
                }
                _ => whole,
            },
            Profile::Appkit => match change {
                Change::State(_, State::Disabled) => vec![],
                Change::Destroyed { element, .. } => {
                    self.destroyed_count += 1;
                    // AppKit tells of the element that ended, never of the parent that lost it.
                    if self.destroyed_count % 2 == 1 {
                        vec![Notification::Destroyed(*element)]
                    } else {
                        vec![]
                    }
                }
                _ => whole,
            },
            Profile::Silent => vec![],
        }
    }
}

fn holds_rows(model: &Model, parent: Handle) -> bool {
    let role = model.widget(parent).map(|widget| widget.role);
    matches!(role, Some(Role::List | Role::Table | Role::Grid | Role::Tree))
}
