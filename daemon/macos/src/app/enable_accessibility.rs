//! Apps that build their accessibility tree only on request.
//!
//! Electron builds it when `AXManualAccessibility` is set on the app. Chromium browsers do when
//! `AXEnhancedUserInterface` is; that also makes windows move by animation, so it is set only for browsers and for
//! an app with an empty page, and restored in the end.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tracing::debug;

use crate::ax::element::Element;
use crate::ax::value::from_bool;
use crate::ffi::names as n;

/// Requests an app's tree, and remembers what was set for it.
pub struct AccessibilityEnabler {
    /// Whether the app is a Chromium browser: known from its bundle, or from a page that was empty.
    browser: Arc<AtomicBool>,
    /// Whether the app accepted `AXManualAccessibility`.
    manual: bool,
    /// Whether `AXEnhancedUserInterface` was set by us.
    enhanced: bool,
    /// Whether pages were requested already.
    pages_requested: bool,
}

impl AccessibilityEnabler {
    /// For an app of which nothing was requested yet.
    pub fn new(browser: Arc<AtomicBool>) -> AccessibilityEnabler {
        AccessibilityEnabler { browser, manual: false, enhanced: false, pages_requested: false }
    }

    /// Requests the tree of an app that has a way for that. Other apps reject the attribute.
    pub fn enable(&mut self, app: &Element) {
        self.manual = app.set(n::AXManualAccessibility, &from_bool(true)).is_ok();
        if self.browser.load(Relaxed) {
            self.enable_pages(app);
        }
    }

    /// Requests the pages of an app that showed an empty one. The app announces what it builds.
    pub fn enable_pages(&mut self, app: &Element) {
        if self.manual || std::mem::replace(&mut self.pages_requested, true) {
            return;
        }
        // If it is set already, it is somebody else's to restore.
        if app.boolean(n::AXEnhancedUserInterface).ok().flatten() == Some(true) {
            return;
        }
        self.enhanced = app.set(n::AXEnhancedUserInterface, &from_bool(true)).is_ok();
        self.browser.fetch_or(self.enhanced, Relaxed);
        debug!(set = self.enhanced, "a page is empty; its app is asked for it");
    }

    /// Restores what other users of the app would notice.
    pub fn restore(&self, app: &Element) {
        if self.enhanced {
            // The app may have ended meanwhile.
            let _ = app.set(n::AXEnhancedUserInterface, &from_bool(false));
        }
    }
}

/// Whether a bundle is a Chromium browser, whose tree is empty until it is requested.
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
