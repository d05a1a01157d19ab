//! Registering with one process for all it tells, and again for what it did not accept at once.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use tracing::debug;

use super::notifications::{Accepted, OF_WINDOWS, WANTED};
use crate::ax::element::Element;
use crate::ax::error::Fault;
use crate::ax::observer::{Ear, Observer};

/// The pause before what was not accepted is tried again, at first and at most.
const PAUSE: Duration = Duration::from_millis(100);
const PAUSE_AT_MOST: Duration = Duration::from_secs(10);

/// What one process tells us.
pub struct Registration {
    pid: u32,
    observer: Option<Observer>,
    accepted: Accepted,
    /// Windows that were asked one by one.
    windows: HashSet<Element>,
    /// When to try again, and how long to wait after that; `None` if nothing more can be had.
    again: Option<(Instant, Duration)>,
    /// The last fault that is not simply "unsupported".
    fault: Option<Fault>,
}

impl Registration {
    /// Registers.
    pub fn new(pid: u32, ear: &Ear) -> Registration {
        let mut registration = Registration {
            pid,
            observer: None,
            accepted: Accepted::default(),
            windows: HashSet::new(),
            again: Some((Instant::now(), PAUSE)),
            fault: None,
        };
        registration.try_again(ear);
        registration
    }

    /// When to try again.
    pub fn due(&self) -> Option<Instant> {
        self.again.map(|(when, _)| when)
    }

    /// Tries what was not accepted yet.
    pub fn try_again(&mut self, ear: &Ear) {
        let pause = self.again.map_or(PAUSE, |(_, pause)| pause);
        self.fault = None;
        let busy = match self.try_all(ear) {
            Ok(()) => false,
            Err(fault) => {
                debug!(pid = self.pid, fault = fault.name(), "cannot observe all of an app yet");
                self.fault = Some(fault);
                true
            }
        };
        self.again = busy.then(|| (Instant::now() + pause, (pause * 2).min(PAUSE_AT_MOST)));
    }

    /// An error means that it is worth trying again.
    fn try_all(&mut self, ear: &Ear) -> Result<(), Fault> {
        let app = Element::app(self.pid).ok_or(Fault::GONE)?;
        let observer = match &self.observer {
            Some(observer) => observer,
            None => self.observer.insert(Observer::new(self.pid, ear)?),
        };
        for (at, wanted) in WANTED.iter().enumerate() {
            if self.accepted.has(at) {
                continue;
            }
            match observer.add(&app, wanted.name) {
                Ok(()) => self.accepted.add(at),
                // The app will not have it, now or later.
                Err(fault) if fault.is_unsupported() => {}
                // It hangs, or is not up yet: each further call would wait as long.
                Err(fault @ (Fault::BUSY | Fault::NOT_ALLOWED)) => return Err(fault),
                Err(fault) => self.fault = Some(fault),
            }
        }
        Ok(())
    }

    /// Asks to be told what apps tell only of windows that they were asked about.
    pub fn add_window(&mut self, window: &Element) {
        let Some(observer) = &self.observer else { return };
        if self.windows.contains(window) {
            return;
        }
        // If it does not answer now it is asked when it is read next.
        let added = OF_WINDOWS.iter().try_for_each(|name| match observer.add(window, name) {
            Err(Fault::BUSY) => Err(Fault::BUSY),
            _ => Ok(()),
        });
        if added.is_ok() {
            self.windows.insert(window.clone());
        }
    }

    /// What the process cannot be observed in, and why.
    pub fn refused(&self) -> Option<String> {
        if let Some(fault @ Fault::NOT_ALLOWED) = self.fault {
            return Some(fault.text());
        }
        let missing = self.accepted.missing();
        if missing.is_empty() {
            return None;
        }
        let why = match self.fault {
            Some(fault) => fault.text(),
            None => "the app does not support them".to_owned(),
        };
        Some(format!("the app does not announce {}: {why}", missing.join(", ")))
    }
}
