//! Registering with one process for its notifications, and retrying what it did not accept at once.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tracing::debug;

use super::notifications::{AcceptedSet, NOTIFICATIONS, WINDOW_NOTIFICATIONS, container_notifications};
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::observer::{EventQueue, Observer};

/// The delay before what was not accepted is tried again, at first and at most.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(100);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(10);
/// How many containers of a process are registered for one by one at most.
const MAX_CONTAINERS: usize = 256;

/// The observers of an app, by the process they observe.
pub type Observers = Rc<RefCell<HashMap<u32, Registration>>>;

/// The observer of one process, and what the process accepted.
pub struct Registration {
    pid: u32,
    observer: Option<Observer>,
    accepted: AcceptedSet,
    /// Windows that were registered for one by one.
    windows: HashSet<Element>,
    /// Containers that were registered for one by one, with their kind and the number of their last use.
    containers: HashMap<Element, (String, u64)>,
    uses: u64,
    /// When to retry, and the delay after that; `None` if a retry would not help.
    next_retry: Option<(Instant, Duration)>,
    /// The last error other than "unsupported".
    error: Option<AxError>,
}

impl Registration {
    /// Registers with a process. Its notifications go into `queue`.
    pub fn new(pid: u32, queue: &EventQueue) -> Registration {
        let mut registration = Registration {
            pid,
            observer: None,
            accepted: AcceptedSet::default(),
            windows: HashSet::new(),
            containers: HashMap::new(),
            uses: 0,
            next_retry: Some((Instant::now(), FIRST_RETRY_DELAY)),
            error: None,
        };
        registration.retry(queue);
        registration
    }

    /// When to call [`retry`](Registration::retry), if at all.
    pub fn retry_at(&self) -> Option<Instant> {
        self.next_retry.map(|(when, _)| when)
    }

    /// Registers for what was not accepted yet.
    pub fn retry(&mut self, queue: &EventQueue) {
        let delay = self.next_retry.map_or(FIRST_RETRY_DELAY, |(_, delay)| delay);
        self.error = None;
        let busy = match self.register_missing(queue) {
            Ok(()) => false,
            Err(error) => {
                debug!(pid = self.pid, error = error.name(), "cannot observe all of an app yet");
                self.error = Some(error);
                true
            }
        };
        self.next_retry = busy.then(|| (Instant::now() + delay, (delay * 2).min(MAX_RETRY_DELAY)));
    }

    /// Fails if it is worth trying again.
    fn register_missing(&mut self, queue: &EventQueue) -> Result<(), AxError> {
        let app = Element::app(self.pid).ok_or(AxError::GONE)?;
        let observer = match &self.observer {
            Some(observer) => observer,
            None => self.observer.insert(Observer::new(self.pid, queue)?),
        };
        for (index, spec) in NOTIFICATIONS.iter().enumerate() {
            if self.accepted.contains(index) {
                continue;
            }
            match observer.add(&app, spec.name) {
                Ok(()) => self.accepted.insert(index),
                // The app does not know it, and never will.
                Err(error) if error.is_unsupported() => {}
                // It hangs, or is still starting: each further call would wait as long.
                Err(error @ (AxError::BUSY | AxError::NOT_ALLOWED)) => return Err(error),
                Err(error) => self.error = Some(error),
            }
        }
        Ok(())
    }

    /// Registers for what some apps send only for windows they were registered for on the window itself.
    pub fn add_window(&mut self, window: &Element) {
        let Some(observer) = &self.observer else { return };
        if self.windows.contains(window) {
            return;
        }
        // A busy app is asked again when the window is read next.
        let added = WINDOW_NOTIFICATIONS.iter().try_for_each(|name| match observer.add(window, name) {
            Err(AxError::BUSY) => Err(AxError::BUSY),
            _ => Ok(()),
        });
        if added.is_ok() {
            self.windows.insert(window.clone());
        }
    }

    /// Forgets windows that are no longer there.
    pub fn retain_windows(&mut self, is_there: impl Fn(&Element) -> bool) {
        self.windows.retain(|window| is_there(window));
    }

    /// Registers for what an app sends only for the container it is about. Of too many, the one that was read longest ago is
    /// given up.
    pub fn add_container(&mut self, container: &Element, native: &str) {
        let Some(observer) = &self.observer else { return };
        self.uses += 1;
        if let Some((_, used)) = self.containers.get_mut(container) {
            *used = self.uses;
            return;
        }
        for name in container_notifications(native) {
            // What it does not support is made up for by the others, and by the sweep. A busy app is asked again when the container
            // is read next.
            if let Err(AxError::BUSY | AxError::GONE) = observer.add(container, name) {
                return;
            }
        }
        self.containers.insert(container.clone(), (native.to_owned(), self.uses));
        if self.containers.len() > MAX_CONTAINERS {
            let oldest = self.containers.iter().min_by_key(|(_, (_, used))| *used);
            let oldest = oldest.map(|(element, (native, _))| (element.clone(), native.clone()));
            if let Some((element, native)) = oldest {
                container_notifications(&native).iter().for_each(|name| observer.remove(&element, name));
                self.containers.remove(&element);
            }
        }
    }

    /// Forgets a container or window that is gone.
    pub fn forget(&mut self, element: &Element) {
        self.windows.remove(element);
        self.containers.remove(element);
    }

    /// Why the process cannot be observed completely; `None` if it can.
    pub fn refusal(&self) -> Option<String> {
        if let Some(error @ AxError::NOT_ALLOWED) = self.error {
            return Some(error.message());
        }
        let missing = self.accepted.missing();
        if missing.is_empty() {
            return None;
        }
        let why = match self.error {
            Some(error) => error.message(),
            None => "the app does not support them".to_owned(),
        };
        Some(format!("the app does not announce {}: {why}", missing.join(", ")))
    }
}
