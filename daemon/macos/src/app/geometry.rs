//! Where elements are, and whether they are visible.

use std::collections::HashMap;

use axd_protocol::{Bounds, Point, Role};

use super::reader::Reader;
use crate::ax::error::AxError;
use axd_platform::{ElementKey, Measured};

/// How many ancestors are followed at most, in case an app describes a cycle.
const MAX_DEPTH: usize = 256;

impl Reader {
    /// Measures elements; those that are gone are left out.
    pub fn measure(&mut self, keys: &[ElementKey]) -> Result<Vec<Measured>, AxError> {
        let mut measured_bounds: HashMap<ElementKey, Option<Bounds>> = HashMap::new();
        let mut measured = Vec::with_capacity(keys.len());
        for key in keys {
            let Some(bounds) = self.bounds_of(*key, &mut measured_bounds)? else { continue };
            let visible = match bounds {
                Some(bounds) => self.is_visible(*key, bounds, &mut measured_bounds)?,
                None => false,
            };
            measured.push(Measured { key: *key, bounds, visible, misplaced: false });
        }
        Ok(measured)
    }

    /// The bounds of an element, read once per request. `None` if it is gone.
    fn bounds_of(
        &mut self,
        key: ElementKey,
        measured_bounds: &mut HashMap<ElementKey, Option<Bounds>>,
    ) -> Result<Option<Option<Bounds>>, AxError> {
        if let Some(bounds) = measured_bounds.get(&key) {
            return Ok(Some(*bounds));
        }
        let Some(element) = self.handles.get(key) else { return Ok(None) };
        let bounds = match self.attributes.read_bounds(element) {
            Ok(bounds) => bounds,
            Err(AxError::GONE) => return Ok(None),
            Err(error) if error.is_app_level() => return Err(error),
            Err(_) => None,
        };
        measured_bounds.insert(key, bounds);
        Ok(Some(bounds))
    }

    /// Whether a part of it lies within every ancestor that clips it.
    fn is_visible(
        &mut self,
        key: ElementKey,
        bounds: Bounds,
        measured_bounds: &mut HashMap<ElementKey, Option<Bounds>>,
    ) -> Result<bool, AxError> {
        if bounds.width <= 0 || bounds.height <= 0 || self.is_in_closed_menu(key) {
            return Ok(false);
        }
        let (mut visible_part, mut at) = (bounds, key);
        for _ in 0..MAX_DEPTH {
            let Some(above) = self.parent_of(at) else { break };
            // A popup is drawn over everything, and not clipped by what opened it.
            if self.role_of(above).is_some_and(|role| matches!(role, Role::Menu | Role::Combobox)) {
                break;
            }
            if self.role_of(above).is_some_and(clips)
                && let Some(Some(clip)) = self.bounds_of(above, measured_bounds)?
            {
                match visible_part.intersection(&clip) {
                    Some(part) => visible_part = part,
                    None => return Ok(false),
                }
            }
            at = above;
        }
        Ok(true)
    }

    /// The elements at a point, from the app down to the innermost. Empty if nothing of the app is there.
    pub fn hit_test(&mut self, point: Point) -> Result<Vec<ElementKey>, AxError> {
        let Some(app) = self.handles.get(ElementKey::APP).cloned() else { return Ok(Vec::new()) };
        let found = match app.hit_test(point.x as f32, point.y as f32) {
            Err(error) if error.is_app_level() => return Err(error),
            found => found.ok().flatten(),
        };
        match found {
            Some(found) => self.path_to(&found),
            None => Ok(Vec::new()),
        }
    }
}

/// Whether elements of this role clip their children.
fn clips(role: Role) -> bool {
    use Role as R;
    role.is_window()
        || matches!(role, R::ScrollArea | R::Table | R::Tree | R::List | R::Grid | R::Iframe | R::TextArea)
}
