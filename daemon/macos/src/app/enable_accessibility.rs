//! Apps that keep their trees to themselves until somebody asks for them.
//!
//! Electron builds its tree when `AXManualAccessibility` is set on the app. Chrome and its kin do when
//! `AXEnhancedUserInterface` is; that also makes windows move by animation, so it is set only for browsers and for
//! a page that is empty without it, and set back in the end.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tracing::debug;

use crate::ax::element::Element;
use crate::ax::value::from_truth;
use crate::ffi::names as n;

/// What was done to wake an app.
pub struct Waking {
    /// Whether it is a browser of Chrome's kin: known from its bundle, or from a page that was empty.
    browser: Arc<AtomicBool>,
    /// Whether the app took `AXManualAccessibility`.
    manual: bool,
    /// Whether `AXEnhancedUserInterface` was set by us.
    enhanced: bool,
    /// Whether pages were tried to wake already.
    tried: bool,
}

impl Waking {
    /// Nothing was done yet.
    pub fn new(browser: Arc<AtomicBool>) -> Waking {
        Waking { browser, manual: false, enhanced: false, tried: false }
    }

    /// Wakes an app that has a way of its own. Others say that they do not know it.
    pub fn wake(&mut self, app: &Element) {
        self.manual = app.set(n::AXManualAccessibility, &from_truth(true)).is_ok();
        if self.browser.load(Relaxed) {
            self.wake_pages(app);
        }
    }

    /// Wakes an app whose page was empty. What comes of it is announced.
    pub fn wake_pages(&mut self, app: &Element) {
        if self.manual || std::mem::replace(&mut self.tried, true) {
            return;
        }
        // One that has it set is asked by somebody else already.
        if app.truth(n::AXEnhancedUserInterface).ok().flatten() == Some(true) {
            return;
        }
        self.enhanced = app.set(n::AXEnhancedUserInterface, &from_truth(true)).is_ok();
        self.browser.fetch_or(self.enhanced, Relaxed);
        debug!(set = self.enhanced, "a page is empty; its app is asked for it");
    }

    /// Sets back what was set for good.
    pub fn undo(&self, app: &Element) {
        if self.enhanced {
            // The app may have ended meanwhile.
            let _ = app.set(n::AXEnhancedUserInterface, &from_truth(false));
        }
    }
}

/// Whether a bundle is a browser of Chrome's kin: its tree is empty until it is asked for in their way.
pub fn is_chromium(bundle: &Path) -> bool {
    let Ok(frameworks) = std::fs::read_dir(bundle.join("Contents/Frameworks")) else { return false };
    frameworks.flatten().any(|framework| {
        let name = framework.file_name();
        let Some(name) = name.to_string_lossy().strip_suffix(" Framework.framework").map(str::to_owned)
        else {
            return false;
        };
        name != "Electron"
            && framework.path().join("Versions/Current/Helpers/chrome_crashpad_handler").exists()
    })
}
