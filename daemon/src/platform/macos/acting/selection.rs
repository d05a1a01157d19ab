//! Selecting one element of several, each way until one does it. All of them can be repeated without harm, so one that
//! the app refused counts as not tried.

use axd_protocol::Role;
use core_foundation::array::CFArray;
use core_foundation::base::{CFType, TCFType};

use super::{Actor, harmless, not_done, not_offered};
use crate::platform::macos::element::Element;
use crate::platform::macos::fault::Fault;
use crate::platform::macos::ffi::names as n;
use crate::platform::macos::value::from_truth;
use crate::platform::{Failure, FailureKind, Sent};

impl Actor<'_> {
    /// Selects the element in what contains it, and nothing else beside it.
    pub(super) fn select(&self) -> Result<(), Failure> {
        use Role as R;
        match self.subject.role {
            R::Radio | R::Tab => self.choose(),
            R::MenuItem | R::MenuItemCheckbox | R::MenuItemRadio => match self.subject.parent {
                Some(R::Combobox) => self.press(),
                _ => Err(not_offered("items of a menu cannot be selected, only pressed")),
            },
            _ => self.select_in_container(),
        }
    }

    /// Does what a click does to a choice that is not taken yet.
    fn choose(&self) -> Result<(), Failure> {
        match self.ask(self.element.number(n::kAXValueAttribute))? {
            Some(1.0) => Ok(()),
            _ => self.press(),
        }
    }

    fn select_in_container(&self) -> Result<(), Failure> {
        let above = self.above()?;
        // A cell is selected by selecting its row.
        let is_row =
            |element: &Element| element.text(n::kAXRoleAttribute).ok().flatten().as_deref() == Some("AXRow");
        let row = above.iter().position(is_row);
        let (item, containers) = match row.filter(|_| self.subject.native != "AXRow") {
            Some(at) => (&above[at], &above[at + 1..]),
            None => (&self.element, &above[..]),
        };
        for container in containers {
            for attribute in [n::kAXSelectedRowsAttribute, n::kAXSelectedChildrenAttribute] {
                if self.can_set(container, attribute)? && self.select_by_list(container, attribute, item)? {
                    return Ok(());
                }
            }
        }
        if self.can_set(item, n::kAXSelectedAttribute)? {
            self.set(item, n::kAXSelectedAttribute, &from_truth(true)).map_err(harmless)?;
            if self.until(|| is_selected(item, None))? {
                return self.alone(item, containers);
            }
            return Err(not_done("the app accepted the request and did not select it"));
        }
        Err(not_offered("the app does not support selecting it"))
    }

    /// Gives a container the list of what is to be selected; false if it would not.
    fn select_by_list(&self, container: &Element, attribute: &str, item: &Element) -> Result<bool, Failure> {
        let only = CFArray::from_CFTypes(std::slice::from_ref::<CFType>(item.as_value())).into_CFType();
        match self.set(container, attribute, &only) {
            Ok(()) => self.until(|| is_selected(item, Some((container, attribute)))),
            Err(failure) if matches!(failure.kind, FailureKind::NotSupported | FailureKind::Refused) => {
                Ok(false)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Whether nothing else is selected beside it, as far as its container says.
    fn alone(&self, item: &Element, containers: &[Element]) -> Result<(), Failure> {
        for container in containers {
            for attribute in [n::kAXSelectedRowsAttribute, n::kAXSelectedChildrenAttribute] {
                let selected = container.elements(attribute).unwrap_or_default();
                if !selected.contains(item) {
                    continue;
                }
                for other in selected.iter().filter(|other| *other != item) {
                    let dropped = self.set(other, n::kAXSelectedAttribute, &from_truth(false));
                    if dropped.is_err() {
                        let why = "the app did not deselect the other items";
                        return Err(Failure::new(FailureKind::Refused, why).sent(Sent::Yes));
                    }
                }
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Whether an element is selected: it says so, or its container does.
fn is_selected(item: &Element, container: Option<(&Element, &str)>) -> Result<bool, Fault> {
    if item.truth(n::kAXSelectedAttribute)? == Some(true) {
        return Ok(true);
    }
    match container {
        Some((container, attribute)) => Ok(container.elements(attribute)?.contains(item)),
        None => Ok(false),
    }
}
