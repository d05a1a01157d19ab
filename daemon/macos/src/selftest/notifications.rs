//! Which notifications arrive, by where they are registered for.

use std::time::{Duration, Instant};

use axd_protocol::command::{Heard, NotificationCheck};

use super::TestWindow;
use crate::appkit::host::TestChange;
use crate::ax::element::Element;
use crate::ax::observer::{EventQueue, Observer};
use crate::ax::run_loop;
use crate::ffi::names as n;

/// How long a notification may take. Browsers have been seen to take 2 s, AppKit a few milliseconds.
const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(1);

/// A change of the window, and the notification for it.
struct Case {
    notification: &'static str,
    change: &'static str,
    /// The element it is about; the window if there is none.
    element: Option<&'static str>,
    how: TestChange,
}

fn cases() -> Vec<Case> {
    let case =
        |notification, change, element, how| Case { notification, change, element: Some(element), how };
    let text = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
    vec![
        case(n::kAXValueChangedNotification, "a field is filled", "field", TestChange::Field),
        case(n::kAXValueChangedNotification, "a label changes", "label", TestChange::Label(text("changed"))),
        case(n::kAXSelectedRowsChangedNotification, "a row is selected", "rows", TestChange::Select),
        case(n::kAXRowCountChangedNotification, "a row is added", "rows", TestChange::AddRow),
        case(n::kAXUIElementDestroyedNotification, "a label is removed", "doomed", TestChange::Remove),
        case(n::kAXFocusedUIElementChangedNotification, "a field gets the focus", "field", TestChange::Focus),
        Case {
            notification: n::kAXTitleChangedNotification,
            change: "the title changes",
            element: None,
            how: TestChange::Title,
        },
    ]
}

/// Does each change once, with registrations on the app, the window and the element.
pub(super) fn check(test: &TestWindow) -> Result<Vec<NotificationCheck>, String> {
    cases().into_iter().map(|case| check_case(test, case)).collect()
}

/// A registration for a notification.
struct Registration {
    /// `None` if it was refused.
    observer: Option<Observer>,
    queue: EventQueue,
    heard: bool,
}

impl Registration {
    fn new(pid: u32, element: &Element, notification: &str) -> Registration {
        let queue = EventQueue::default();
        let observer = Observer::new(pid, &queue).ok();
        let observer = observer.filter(|observer| observer.add(element, notification).is_ok());
        Registration { observer, queue, heard: false }
    }

    fn look(&mut self, notification: &str) {
        while let Some(came) = self.queue.pop() {
            self.heard |= came.name == notification;
        }
    }

    fn result(&self) -> Heard {
        match (&self.observer, self.heard) {
            (None, _) => Heard::Refused,
            (Some(_), true) => Heard::Yes,
            (Some(_), false) => Heard::No,
        }
    }
}

fn check_case(test: &TestWindow, case: Case) -> Result<NotificationCheck, String> {
    let Case { notification, change, element, how } = case;
    let about = match element {
        Some(element) => test.find(element)?,
        None => test.window.clone(),
    };
    let scopes = [&test.app, &test.window, &about];
    let mut registrations = scopes.map(|scope| Registration::new(test.pid, scope, notification));
    super::change(how);
    let end = Instant::now() + ARRIVAL_TIMEOUT;
    while registrations.iter().any(|one| one.result() == Heard::No) && Instant::now() < end {
        let left = end.saturating_duration_since(Instant::now());
        run_loop::wait(Some(left.min(super::LOOK_INTERVAL)));
        registrations.iter_mut().for_each(|one| one.look(notification));
    }
    let [app, window, element] = registrations.map(|one| one.result());
    Ok(NotificationCheck {
        notification: notification.to_owned(),
        change: change.to_owned(),
        app,
        window,
        element,
    })
}
