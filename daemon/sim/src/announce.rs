//! Which changes an app announces: all of them, or as few as the toolkit of its profile does.

use std::time::Duration;

use axd_protocol::{Role, State};

use super::model::{Change, Handle, Model};
use super::script::Profile;

/// A notification to the observers of an app. It says which element to read again, not what has changed in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notification {
    /// A property of the element changed.
    Changed(Handle),
    /// The children of the element changed.
    Structure(Handle),
    /// The element was destroyed.
    Destroyed(Handle),
    /// A text for screen readers to speak.
    Announced(String),
}

/// How late apps with the `qt` profile announce.
pub const QT_NOTIFICATION_DELAY: Duration = Duration::from_millis(100);

/// Turns changes into notifications.
#[derive(Debug)]
pub struct Announcer {
    profile: Profile,
    /// The number of destroyed elements, for the profile that announces every second one.
    destroyed_count: u64,
}

impl Announcer {
    /// An announcer of this profile.
    pub fn new(profile: Profile) -> Announcer {
        Announcer { profile, destroyed_count: 0 }
    }

    /// How late notifications are sent.
    pub fn delay(&self) -> Option<Duration> {
        (self.profile == Profile::Qt).then_some(QT_NOTIFICATION_DELAY)
    }

    /// The notifications of a change.
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
                    // AppKit announces the element that was destroyed, never the parent that lost it.
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
