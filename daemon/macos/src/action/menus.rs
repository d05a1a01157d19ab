//! Items of closed menus. An app says which of its items are enabled when it opens the menu; before that it says what was true the
//! last time.

use std::time::{Duration, Instant};

use crate::app::attached_app::AttachedApp;
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::run_loop;
use crate::ffi::names as n;
use axd_platform::{ElementKey, Failure, Gate};

/// How long an app may take to open a menu and validate its items.
const VALIDATION_TIMEOUT: Duration = Duration::from_millis(500);
/// The pause between two looks.
const VALIDATION_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How many menus an item is in at most.
const MAX_MENUS: usize = 8;

impl AttachedApp {
    /// Whether an item of a closed menu that says that it is disabled is enabled once the menu is open. The menu stays open
    /// then, because the item is about to be picked; otherwise it is closed again.
    pub(super) fn is_enabled_once_open(
        &mut self,
        key: ElementKey,
        element: &Element,
        gate: &Gate,
    ) -> Result<bool, Failure> {
        if !self.reader.is_in_closed_menu(key) {
            return Ok(false);
        }
        let above = std::iter::successors(self.reader.parent_of(key), |above| self.reader.parent_of(*above));
        let mut menus: Vec<Element> = above
            .take(MAX_MENUS)
            .filter(|above| self.reader.opens_menu(*above))
            .filter_map(|above| self.reader.handles.get(above).cloned())
            .collect();
        menus.reverse();
        for menu in &menus {
            if !gate.pass() {
                return Err(Failure::closed());
            }
            // Whatever else is answered, the menu may be open: whether the item is enabled decides.
            if let Err(AxError::NOT_ALLOWED) = menu.perform(n::kAXPressAction) {
                return Err(AxError::NOT_ALLOWED.read_failure());
            }
        }
        let end = Instant::now() + VALIDATION_TIMEOUT;
        loop {
            match element.boolean(n::kAXEnabledAttribute) {
                Ok(Some(false)) => {}
                Ok(_) => return Ok(true),
                Err(error) if error.is_app_level() || error == AxError::GONE => {
                    return Err(error.read_failure());
                }
                Err(_) => break,
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            run_loop::wait(Some(left.min(VALIDATION_POLL_INTERVAL)));
        }
        if let Some(first) = menus.first() {
            // A menu that cannot be closed is closed by the next click of the user.
            let _ = first.perform(n::kAXCancelAction);
        }
        Ok(false)
    }
}
