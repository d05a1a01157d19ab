//! The values of combo boxes: the name of the item that is selected in them, or in their list.

use axd_protocol::Role;

use crate::atspi::dbus::{call, get};
use crate::atspi::protocol::{ACCESSIBLE, ObjectRef, SELECTION, body, string_property};
use crate::atspi::states::NativeState;
use crate::read::details::Details;
use crate::read::outline::Outline;
use crate::read::reader::Reader;
use axd_platform::Failure;

impl Reader {
    /// Adds the values of combo boxes to their details. They are few, so this may take three rounds of calls.
    pub(crate) async fn read_combo_values(
        &mut self,
        outlines: &[&Outline],
        details: &mut [Details],
    ) -> Result<(), Failure> {
        // The text of one that can be edited is its own; GTK 4 and Qt have no selection to ask for.
        let browser = self.toolkit.is_browser();
        let is_asked = |outline: &Outline| {
            outline.role == Role::Combobox
                && !outline.native_states.has(NativeState::Editable)
                && (outline.interfaces.selection || browser && outline.child_count != 0)
        };
        let boxes: Vec<usize> = (0..outlines.len()).filter(|at| is_asked(outlines[*at])).collect();
        if boxes.is_empty() {
            return Ok(());
        }
        let mut lists: Vec<(usize, Option<ObjectRef>)> = Vec::with_capacity(boxes.len());
        let within = |at: &&usize| !outlines[**at].interfaces.selection;
        let firsts: Vec<usize> = boxes.iter().filter(within).copied().collect();
        let calls =
            firsts.iter().map(|at| self.build_call(outlines[*at].key, ACCESSIBLE, "GetChildAtIndex", &(0,)));
        let answers = self.call_all(calls.collect()).await?;
        for (at, answer) in firsts.into_iter().zip(&answers) {
            lists.push((at, body::<ObjectRef>(answer).filter(ObjectRef::is_element)));
        }
        for at in boxes.into_iter().filter(|at| outlines[*at].interfaces.selection) {
            let own = self.handles.get(outlines[at].key);
            lists.push((at, own.and_then(|own| ObjectRef::new(&own.bus, &own.path))));
        }
        lists.retain(|(_, list)| list.is_some());
        let selected = lists
            .iter()
            .flat_map(|(_, list)| list)
            .map(|list| call(&list.bus, list.path.as_str(), SELECTION, "GetSelectedChild", &(0,)));
        let answers = self.call_all(selected.collect()).await?;
        let chosen: Vec<(usize, ObjectRef)> = lists
            .iter()
            .zip(&answers)
            .filter_map(|((at, _), answer)| {
                Some((*at, body::<ObjectRef>(answer).filter(ObjectRef::is_element)?))
            })
            .collect();
        let names = chosen.iter().map(|(_, item)| get(&item.bus, item.path.as_str(), ACCESSIBLE, "Name"));
        let names = self.call_all(names.collect()).await?;
        for ((at, _), name) in chosen.into_iter().zip(&names) {
            details[at].value = string_property(name).filter(|name| !name.is_empty());
        }
        Ok(())
    }
}
