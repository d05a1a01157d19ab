//! Measures what the system does, with a window of this process: the calls of a process to itself need no permission.
//!
//! It says what a call costs, which notifications arrive by where they are registered for, which texts arrive as they are, and
//! whether a press is performed. Nothing here decides anything: it is for those who want to know how a Mac behaves.

mod notifications;

use std::time::{Duration, Instant};

use axd_protocol::command::{PressCheck, RoundTripCost, SelftestAnswer, TextCheck};

use crate::app::attributes::AttributeLists;
use crate::appkit;
use crate::appkit::host::{self, TestChange};
use crate::ax::element::Element;
use crate::ax::{run_loop, text};
use crate::ffi::names as n;

/// How long the window may take to appear, and a change to be done.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(5);
/// The pause between two looks.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// How often each call is made.
const CALLS: usize = 200;

/// The texts that are shown and read back, as UTF-16.
const TEXTS: [(&str, &[u16]); 4] = [
    ("plain", &[0x61, 0x62, 0x63]),
    ("an emoji", &[0x61, 0xD83D, 0xDE00, 0x62]),
    ("half of an emoji", &[0x61, 0xD83D, 0x62]),
    ("with a zero in it", &[0x61, 0, 0x62]),
];

/// The elements of the window.
struct TestWindow {
    pid: u32,
    app: Element,
    window: Element,
}

impl TestWindow {
    /// Opens the window, and waits until it can be read.
    fn open() -> Result<TestWindow, String> {
        let pid = host::run_on_main_blocking(appkit::open_test_window).flatten();
        let pid = pid.ok_or("the window cannot be opened")?;
        let app = Element::app(pid).ok_or("the system gives no element for this process")?;
        let window = wait_for(|| app.elements(n::kAXWindowsAttribute).ok()?.into_iter().next());
        let window = window.ok_or("the window does not appear among the windows of this process")?;
        Ok(TestWindow { pid, app, window })
    }

    /// The element with this identifier.
    fn find(&self, identifier: &str) -> Result<Element, String> {
        let find = || {
            let mut waiting = vec![self.window.clone()];
            while let Some(element) = waiting.pop() {
                if element.text(n::kAXIdentifierAttribute).ok().flatten().as_deref() == Some(identifier) {
                    return Some(element);
                }
                waiting.extend(element.elements(n::kAXChildrenAttribute).unwrap_or_default());
            }
            None
        };
        wait_for(find).ok_or_else(|| format!("{identifier} does not appear in the window"))
    }
}

/// Measures everything. Called on a thread of its own, while thread 0 runs its loop.
pub fn run() -> Result<SelftestAnswer, String> {
    let test = TestWindow::open()?;
    Ok(SelftestAnswer {
        round_trips: round_trips(&test)?,
        texts: texts(&test)?,
        press: press(&test)?,
        notifications: notifications::check(&test)?,
    })
}

fn round_trips(test: &TestWindow) -> Result<Vec<RoundTripCost>, String> {
    let field = test.find("field")?;
    let lists = AttributeLists::default();
    Ok(vec![
        measure("one attribute", || drop(field.get(n::kAXRoleAttribute))),
        measure("all attributes at once", || drop(field.get_many(&lists.everything))),
        measure("actions", || drop(field.actions())),
        measure("children", || drop(test.window.elements(n::kAXChildrenAttribute))),
        measure("an element at a point", || drop(test.app.hit_test(0.0, 0.0))),
    ])
}

fn measure(call: &str, make: impl Fn()) -> RoundTripCost {
    let time = |_| {
        let began = Instant::now();
        make();
        u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX)
    };
    let mut times: Vec<u64> = (0..CALLS).map(time).collect();
    times.sort_unstable();
    RoundTripCost {
        call: call.to_owned(),
        count: CALLS,
        median_us: times[CALLS / 2],
        worst_us: times[CALLS - 1],
    }
}

fn texts(test: &TestWindow) -> Result<Vec<TextCheck>, String> {
    let label = test.find("label")?;
    let check = |(what, units): (&str, &[u16])| {
        change(TestChange::Label(units.to_vec()));
        let received = label.get(n::kAXValueAttribute).ok().flatten();
        TextCheck {
            text: what.to_owned(),
            intact: received.as_ref().and_then(text::units).as_deref() == Some(units),
            received: received.as_ref().and_then(text::text).unwrap_or_default(),
        }
    };
    Ok(TEXTS.into_iter().map(check).collect())
}

fn press(test: &TestWindow) -> Result<PressCheck, String> {
    let button = test.find("button")?;
    let before = presses();
    let error = button.perform(n::kAXPressAction).err();
    let performed = wait_for(|| (presses() > before).then_some(())).is_some();
    Ok(PressCheck { performed, error: error.map(|error| format!("{} ({})", error.name(), error.0)) })
}

fn presses() -> u32 {
    host::run_on_main_blocking(appkit::test_window_presses).unwrap_or_default()
}

/// Changes the window, and waits until that is done.
fn change(change: TestChange) {
    let _ = host::run_on_main_blocking(move || appkit::change_test_window(change));
}

/// Looks until something is there, for a limited time. The thread's loop runs meanwhile.
fn wait_for<T>(find: impl Fn() -> Option<T>) -> Option<T> {
    let end = Instant::now() + CHANGE_TIMEOUT;
    loop {
        match find() {
            None if Instant::now() < end => pause(),
            found => return found,
        }
    }
}

/// Runs the thread's loop for a moment. A loop without sources returns at once.
fn pause() {
    let until = Instant::now() + LOOK_INTERVAL;
    if !run_loop::wait(Some(LOOK_INTERVAL)) {
        std::thread::park_timeout(until.saturating_duration_since(Instant::now()));
    }
}
