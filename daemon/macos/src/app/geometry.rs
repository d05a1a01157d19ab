//! Where elements are, and what of them can be seen.

use std::collections::HashMap;

use axd_protocol::{Bounds, Point, Role};

use super::reader::{Reader, is_of_app};
use crate::ax::error::Fault;
use axd_platform::{ElementKey, Measured};

/// Deeper than any tree is.
const DEEPEST: usize = 256;

impl Reader {
    /// Measures elements; those that are gone are left out.
    pub fn measure(&mut self, keys: &[ElementKey]) -> Result<Vec<Measured>, Fault> {
        let mut places: HashMap<ElementKey, Option<Bounds>> = HashMap::new();
        let mut measured = Vec::with_capacity(keys.len());
        for key in keys {
            let Some(bounds) = self.place(*key, &mut places)? else { continue };
            let visible = match bounds {
                Some(bounds) => self.is_seen(*key, bounds, &mut places)?,
                None => false,
            };
            measured.push(Measured { key: *key, bounds, visible });
        }
        Ok(measured)
    }

    /// Where an element is, asked once a question. `None` if it is gone.
    fn place(
        &mut self,
        key: ElementKey,
        places: &mut HashMap<ElementKey, Option<Bounds>>,
    ) -> Result<Option<Option<Bounds>>, Fault> {
        if let Some(place) = places.get(&key) {
            return Ok(Some(*place));
        }
        let Some(element) = self.handles.get(key) else { return Ok(None) };
        let place = match self.lists.place(element) {
            Ok(place) => place,
            Err(Fault::GONE) => return Ok(None),
            Err(fault) if is_of_app(fault) => return Err(fault),
            Err(_) => None,
        };
        places.insert(key, place);
        Ok(Some(place))
    }

    /// Whether any of it lies in all that clips it.
    fn is_seen(
        &mut self,
        key: ElementKey,
        bounds: Bounds,
        places: &mut HashMap<ElementKey, Option<Bounds>>,
    ) -> Result<bool, Fault> {
        if bounds.width <= 0 || bounds.height <= 0 || self.is_in_closed_menu(key) {
            return Ok(false);
        }
        let (mut seen, mut at) = (bounds, key);
        for _ in 0..DEEPEST {
            let Some(above) = self.parent_of(at) else { break };
            // What pops up lies over everything, wherever it comes from.
            if self.role_of(above).is_some_and(|role| matches!(role, Role::Menu | Role::Combobox)) {
                break;
            }
            if self.role_of(above).is_some_and(clips)
                && let Some(Some(clip)) = self.place(above, places)?
            {
                match seen.intersection(&clip) {
                    Some(part) => seen = part,
                    None => return Ok(false),
                }
            }
            at = above;
        }
        Ok(true)
    }

    /// What is at a point: the app, and on down to the smallest. Empty if nothing of the app is there.
    pub fn at(&mut self, point: Point) -> Result<Vec<ElementKey>, Fault> {
        let Some(app) = self.handles.get(ElementKey::APP).cloned() else { return Ok(Vec::new()) };
        let found = match app.at(point.x as f32, point.y as f32) {
            Err(fault) if is_of_app(fault) => return Err(fault),
            found => found.ok().flatten(),
        };
        match found {
            Some(found) => self.path_to(&found),
            None => Ok(Vec::new()),
        }
    }
}

/// Whether an element of this role shows only what lies in it.
fn clips(role: Role) -> bool {
    use Role as R;
    role.is_window()
        || matches!(role, R::ScrollArea | R::Table | R::Tree | R::List | R::Grid | R::Iframe | R::TextArea)
}
