//! Registering with one process for its notifications, and retrying what it did not accept at once.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use tracing::debug;

use super::notifications::{AcceptedSet, NOTIFICATIONS, WINDOW_NOTIFICATIONS};
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::observer::{EventQueue, Observer};

/// The delay before what was not accepted is tried again, at first and at most.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(100);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(10);

/// The observer of one process, and what the process accepted.
pub struct Registration {
    pid: u32,
    observer: Option<Observer>,
    accepted: AcceptedSet,
    /// Windows that were registered for one by one.
    windows: HashSet<Element>,
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
