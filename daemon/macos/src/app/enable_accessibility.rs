//! Apps that build their accessibility tree only on request.
//!
//! Electron builds it when `AXManualAccessibility` is set on the app. Chromium browsers do when
//! `AXEnhancedUserInterface` is; that also makes windows move by animation, so it is set only for browsers and for
//! an app with an empty page, and restored in the end. Both may answer an error and work all the same, so what is read back
//! decides, and not the answer.
//!
//! A page of Chromium may also sleep: at first, and again some minutes after its window was hidden. It is in nobody's children
//! then. It wakes when somebody asks what is in the middle of its window and what role that has (a *poke*).

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use tracing::debug;

use super::attached_app::AttachedApp;
use super::reader::Reader;
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::value::from_bool;
use crate::ffi::names as n;
use axd_platform::ElementKey;
use axd_platform::worker::AppNotification;

/// How often a window is poked, and an app asked for its pages, at most. An app that does not show what it was asked for may
/// have nothing to show.
const REQUEST_INTERVAL: Duration = Duration::from_secs(30);

/// What an app shows web pages with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebEngine {
    /// Nothing of the kind, or something that needs no request.
    Other,
    /// Chromium, as a browser.
    Chromium,
    /// Electron.
    Electron,
    /// Chromium, embedded in another app. Some of these crash if `AXEnhancedUserInterface` is set.
    Embedded,
}

/// What is known of how an app shows pages. It is kept for as long as the app runs, attached or not.
#[derive(Debug)]
pub struct Browser {
    engine: WebEngine,
    /// Whether its pages exist only while `AXEnhancedUserInterface` is set: so in browsers, and in apps that had an empty page.
    needs_enhanced: AtomicBool,
}

impl Browser {
    /// An app in this bundle.
    pub fn new(bundle: Option<&Path>) -> Browser {
        let engine = bundle.map_or(WebEngine::Other, web_engine);
        Browser { engine, needs_enhanced: AtomicBool::new(engine == WebEngine::Chromium) }
    }

    /// Whether its pages exist only while `AXEnhancedUserInterface` is set.
    pub fn needs_enhanced(&self) -> bool {
        self.needs_enhanced.load(Relaxed)
    }
}

/// Requests an app's tree, and remembers what was set for it.
pub struct AccessibilityEnabler {
    browser: Arc<Browser>,
    /// Whether the app took `AXManualAccessibility`.
    manual: bool,
    /// Whether `AXEnhancedUserInterface` was off and is on because of us.
    enhanced: bool,
    /// When pages were last requested.
    requested: Option<Instant>,
    /// When each window was last examined.
    examined: HashMap<ElementKey, Instant>,
}

impl AccessibilityEnabler {
    /// For an app of which nothing was requested yet.
    pub fn new(browser: Arc<Browser>) -> AccessibilityEnabler {
        AccessibilityEnabler {
            browser,
            manual: false,
            enhanced: false,
            requested: None,
            examined: HashMap::new(),
        }
    }

    /// Requests the tree of an app that has a way for that. Other apps reject the attribute.
    pub fn enable(&mut self, app: &Element) {
        let answer = app.set(n::AXManualAccessibility, &from_bool(true));
        let is_electron = self.browser.engine == WebEngine::Electron;
        // Old versions of Electron say that there is no such attribute, and obey.
        self.manual = answer.is_ok() || is_electron || is_on(app, n::AXManualAccessibility) == Some(true);
        if self.browser.needs_enhanced() {
            self.enable_pages(app);
        }
    }

    /// Requests the pages of an app that showed an empty one. The app announces what it builds.
    pub fn enable_pages(&mut self, app: &Element) {
        let now = Instant::now();
        let is_recent = self.requested.is_some_and(|last| now < last + REQUEST_INTERVAL);
        if self.manual || self.browser.engine == WebEngine::Embedded || is_recent {
            return;
        }
        self.requested = Some(now);
        let before = is_on(app, n::AXEnhancedUserInterface);
        // If it is set already, it is somebody else's to restore, or was set before.
        if before == Some(true) {
            return;
        }
        // Since macOS 15.7 every app answers an error to this, and does it.
        let answer = app.set(n::AXEnhancedUserInterface, &from_bool(true));
        let is_set = is_on(app, n::AXEnhancedUserInterface) == Some(true);
        self.enhanced |= before == Some(false) && is_set;
        self.browser.needs_enhanced.fetch_or(is_set, Relaxed);
        debug!(?answer, is_set, "an app was asked for its pages");
    }

    /// Lets windows be examined again at once: the app was activated or shown, or a page may sleep for another reason.
    pub fn forget_pokes(&mut self) {
        self.examined.clear();
    }

    /// Pokes the windows of an app with Chromium that show no page, each once in a while. Returns what was hit: the ancestors
    /// of that may have other children now.
    pub fn poke(&mut self, app: &Element, reader: &Reader) -> Vec<Element> {
        if self.browser.engine == WebEngine::Other {
            return Vec::new();
        }
        let now = Instant::now();
        let mut hits = Vec::new();
        for window in reader.children_of(ElementKey::APP) {
            // Before it was read it is not known whether it shows a page.
            if !reader.is_window(*window) || !self.is_due(*window, now) || reader.shows_page(*window) {
                continue;
            }
            match poke_window(app, reader, *window) {
                Ok(hit) => hits.extend(hit),
                // The app does not answer: it is not asked about its other windows either.
                Err(error) => {
                    debug!(error = error.name(), "a window could not be poked");
                    break;
                }
            }
        }
        self.examined.retain(|_, last| now < *last + REQUEST_INTERVAL);
        hits
    }

    /// Whether a window may be examined, which then counts as done.
    fn is_due(&mut self, window: ElementKey, now: Instant) -> bool {
        let last = self.examined.get(&window);
        let is_due = last.is_none_or(|last| now >= *last + REQUEST_INTERVAL);
        if is_due {
            self.examined.insert(window, now);
        }
        is_due
    }

    /// Restores what other users of the app would notice.
    pub fn restore(&self, app: &Element) {
        if self.enhanced {
            // The app may have ended meanwhile, and what it answers means nothing.
            let _ = app.set(n::AXEnhancedUserInterface, &from_bool(false));
        }
    }
}

impl AttachedApp {
    /// Wakes pages that sleep, and has what contains them read again.
    pub(super) fn poke_pages(&mut self) {
        for hit in self.enabler.poke(&self.element, &self.reader) {
            // If it is not connected to the app, it announces itself when it is.
            let path = self.reader.path_to(&hit).unwrap_or_default();
            path.into_iter().for_each(|key| self.notify(AppNotification::Structure(key)));
        }
    }
}

/// Whether a boolean attribute of an app is set; `None` if that cannot be read.
fn is_on(app: &Element, attribute: &str) -> Option<bool> {
    app.boolean(attribute).ok().flatten()
}

/// Asks what is in the middle of a window, and what role it has. Both together wake a page.
fn poke_window(app: &Element, reader: &Reader, window: ElementKey) -> Result<Option<Element>, AxError> {
    let Some(element) = reader.handles.get(window) else { return Ok(None) };
    let Some(bounds) = reader.attributes.read_bounds(element)? else { return Ok(None) };
    let (x, y) = (bounds.x + bounds.width / 2, bounds.y + bounds.height / 2);
    let Some(hit) = app.hit_test(x as f32, y as f32)? else { return Ok(None) };
    let role = hit.text(n::kAXRoleAttribute)?;
    debug!(?role, "a window without a page was poked");
    Ok(Some(hit))
}

/// What an app shows web pages with, by the frameworks in its bundle.
fn web_engine(bundle: &Path) -> WebEngine {
    let Ok(frameworks) = std::fs::read_dir(bundle.join("Contents/Frameworks")) else {
        return WebEngine::Other;
    };
    let engines = frameworks.flatten().filter_map(|framework| {
        let name = framework.file_name();
        let name = name.to_string_lossy().strip_suffix(".framework")?.to_owned();
        let engine = match name.as_str() {
            "Electron Framework" => WebEngine::Electron,
            "Chromium Embedded Framework" => WebEngine::Embedded,
            _ => WebEngine::Chromium,
        };
        is_chromium(&framework.path()).then_some(engine)
    });
    // An app with several is treated as the most delicate of them.
    engines.max_by_key(|engine| *engine as u8).unwrap_or(WebEngine::Other)
}

/// Whether a framework is a build of Chromium, whatever it is called: it has packed resources, or a graphics library of its own.
fn is_chromium(framework: &Path) -> bool {
    let is_pack =
        |file: std::fs::DirEntry| file.path().extension().is_some_and(|extension| extension == "pak");
    ["", "Versions/Current"].iter().any(|version| {
        let inside = framework.join(version);
        let has_packs = || {
            let resources = std::fs::read_dir(inside.join("Resources"));
            resources.is_ok_and(|files| files.flatten().any(is_pack))
        };
        inside.join("Libraries/libEGL.dylib").exists() || has_packs()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine_of(name: &str, mark: &str) -> WebEngine {
        let folder = std::env::temp_dir().join(format!("axd-engine-{}-{name}", std::process::id()));
        let mark = folder.join("Contents/Frameworks").join(format!("{name}.framework")).join(mark);
        std::fs::create_dir_all(mark.parent().unwrap()).unwrap();
        std::fs::write(&mark, "").unwrap();
        let engine = web_engine(&folder);
        std::fs::remove_dir_all(folder).unwrap();
        engine
    }

    #[test]
    fn kin_of_chromium_are_known_by_what_is_in_their_frameworks() {
        let (packs, library) = ("Versions/Current/Resources/resources.pak", "Libraries/libEGL.dylib");
        assert_eq!(engine_of("Google Chrome Framework", packs), WebEngine::Chromium);
        assert_eq!(engine_of("ArcCore", "Versions/Current/Libraries/libEGL.dylib"), WebEngine::Chromium);
        assert_eq!(engine_of("Electron Framework", packs), WebEngine::Electron);
        assert_eq!(engine_of("Chromium Embedded Framework", library), WebEngine::Embedded);
        assert_eq!(engine_of("Sparkle", "Versions/Current/Resources/Info.plist"), WebEngine::Other);
    }

    #[test]
    fn a_window_is_examined_once_in_a_while_and_at_once_after_the_app_was_shown() {
        let mut enabler = AccessibilityEnabler::new(Arc::new(Browser::new(None)));
        let (one, other, start) = (ElementKey(1), ElementKey(2), Instant::now());
        assert!(enabler.is_due(one, start) && enabler.is_due(other, start));
        assert!(!enabler.is_due(one, start + REQUEST_INTERVAL / 2));
        assert!(enabler.is_due(one, start + REQUEST_INTERVAL), "a page may have fallen asleep again");
        enabler.forget_pokes();
        assert!(enabler.is_due(other, start));
    }
}
