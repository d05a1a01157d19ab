//! Notices what a person does with mouse and keyboard: raw events of all devices but those through which programs send input.
//!
//! axd sends its input with XTEST, as other programs do; their devices say so by their names. So what such a program sends does not
//! count as a person's.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use axd_platform::{Failure, PersonActivity, Receiver, Stretch, Used};
use parking_lot::Mutex;
use tracing::warn;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{ConnectionExt as _, Device, EventMask, XIEventMask};

use crate::x11::connection::{Display, XError, XResult};
use crate::x11::input::pointer::position;
use crate::x11::input::receiver::find_receiver;

/// How long a moving pointer counts as being over the window where it was last found: mice report a thousand times a second.
const SAME_WINDOW: Duration = Duration::from_millis(50);

/// What a person uses, as it is noticed since the first call.
#[derive(Default)]
pub(crate) struct PersonWatch(Mutex<Weak<PersonActivity>>);

impl PersonWatch {
    /// What is noticed; begins to notice it, on a thread of its own, if that does not happen yet or has ended.
    pub fn activity(&self) -> Result<Arc<PersonActivity>, Failure> {
        let mut known = self.0.lock();
        if let Some(activity) = known.upgrade() {
            return Ok(activity);
        }
        let mut watcher = Watcher::new(Display::open()?)?;
        let activity = Arc::clone(&watcher.activity);
        let thread = std::thread::Builder::new().name("axd-person".to_owned());
        let started = thread.spawn(move || {
            if let Err(error) = watcher.run() {
                warn!(%error, "the X server is gone: it is no longer noticed what a person does");
            }
        });
        started.map_err(XError::from)?;
        *known = Arc::downgrade(&activity);
        Ok(activity)
    }
}

struct Watcher {
    display: Display,
    activity: Arc<PersonActivity>,
    /// The devices through which programs send input.
    of_programs: HashSet<u16>,
    /// Where the pointer was last found, and when.
    over: Option<(Used, Instant)>,
}

/// What is done with a device.
enum Does {
    /// A key or a button is pressed, or the wheel is turned.
    Uses(Stretch),
    /// The pointer is moved.
    Moves,
}

impl Watcher {
    fn new(display: Display) -> XResult<Watcher> {
        let connection = &display.connection;
        // Before 2.1 raw events do not tell their device.
        let version = connection.xinput_xi_query_version(2, 2)?.reply()?;
        if (version.major_version, version.minor_version) < (2, 1) {
            return Err(XError::Missing("XInput 2.1"));
        }
        let events = XIEventMask::RAW_KEY_PRESS | XIEventMask::RAW_BUTTON_PRESS | XIEventMask::RAW_MOTION;
        let masks = [
            EventMask { deviceid: u16::from(Device::ALL_MASTER), mask: vec![events] },
            EventMask { deviceid: u16::from(Device::ALL), mask: vec![XIEventMask::HIERARCHY] },
        ];
        connection.xinput_xi_select_events(display.root, &masks)?.check()?;
        let activity = Arc::new(PersonActivity::default());
        let mut watcher = Watcher { display, activity, of_programs: HashSet::new(), over: None };
        watcher.list_devices()?;
        Ok(watcher)
    }

    fn run(&mut self) -> XResult<()> {
        loop {
            let event = self.display.connection.wait_for_event()?;
            self.on_event(&event)?;
            // As many as there are already: all of them happened at about the same time.
            let mut last_move = None;
            while let Some(event) = self.display.connection.poll_for_event()? {
                match event {
                    Event::XinputRawMotion(_) => last_move = Some(event),
                    event => self.on_event(&event)?,
                }
            }
            last_move.map_or(Ok(()), |event| self.on_event(&event))?;
        }
    }

    fn list_devices(&mut self) -> XResult<()> {
        let devices = self.display.connection.xinput_xi_query_device(Device::ALL)?.reply()?.infos;
        let of_programs = devices.iter().filter(|device| is_of_programs(&device.name));
        self.of_programs = of_programs.map(|device| device.deviceid).collect();
        Ok(())
    }

    fn on_event(&mut self, event: &Event) -> XResult<()> {
        let (device, does) = match event {
            Event::XinputRawKeyPress(event) => (event.sourceid, Does::Uses(Stretch::Keys)),
            Event::XinputRawButtonPress(event) => {
                (event.sourceid, Does::Uses(Stretch::Pointer(position(&self.display)?)))
            }
            Event::XinputRawMotion(event) => (event.sourceid, Does::Moves),
            Event::XinputHierarchy(_) => return self.list_devices(),
            _ => return Ok(()),
        };
        if self.of_programs.contains(&device) {
            return Ok(());
        }
        let now = Instant::now();
        let used = match does {
            Does::Uses(stretch) => self.used(stretch)?,
            Does::Moves => match self.over.filter(|(_, found)| now < *found + SAME_WINDOW) {
                Some((over, _)) => over,
                None => {
                    let over = self.used(Stretch::Over(position(&self.display)?))?;
                    self.over = Some((over, now));
                    over
                }
            },
        };
        self.activity.note(used, now);
        Ok(())
    }

    /// What receives input now.
    fn used(&self, stretch: Stretch) -> XResult<Used> {
        match find_receiver(&self.display, stretch) {
            // A popup belongs to some window of its app.
            Ok(Receiver { pid, popup: true, .. }) => Ok(Used { pid, window: None }),
            Ok(Receiver { pid, window, .. }) => Ok(Used { pid, window }),
            // Something of it was closed just then.
            Err(error) if error.is_gone() => Ok(Used { pid: None, window: None }),
            Err(error) => Err(error),
        }
    }
}

/// Whether a device is one through which programs send input.
fn is_of_programs(name: &[u8]) -> bool {
    name.windows(b"XTEST".len()).any(|part| part == b"XTEST")
}
