//! Selects one element of several, by each way until one has the effect. Every way can be repeated without harm, so one
//! that is read back without effect counts as not tried.

use axd_protocol::Role;
use core_foundation::array::CFArray;
use core_foundation::base::{CFType, TCFType};

use super::{ActionContext, as_not_sent};
use crate::ax::element::Element;
use crate::ax::error::AxError;
use crate::ax::value::from_bool;
use crate::ffi::names as n;
use axd_platform::{Failure, FailureKind, Sent};

impl ActionContext<'_> {
    /// Selects the element in its container, and nothing else.
    pub(super) fn select(&self) -> Result<(), Failure> {
        use Role as R;
        match self.target.role {
            R::Radio | R::Tab => self.press_unselected(),
            R::MenuItem | R::MenuItemCheckbox | R::MenuItemRadio => match self.target.parent {
                Some(R::Combobox) => self.press(),
                _ => Err(Failure::unsupported("items of a menu cannot be selected, only pressed")),
            },
            _ => self.select_in_container(),
        }
    }

    /// Presses a radio button or tab unless it is selected already.
    fn press_unselected(&self) -> Result<(), Failure> {
        match self.read(self.element.number(n::kAXValueAttribute))? {
            Some(1.0) => Ok(()),
            _ => self.press(),
        }
    }

    fn select_in_container(&self) -> Result<(), Failure> {
        let above = self.ancestors()?;
        // A cell is selected by selecting its row.
        let is_row =
            |element: &Element| element.text(n::kAXRoleAttribute).ok().flatten().as_deref() == Some("AXRow");
        let row = above.iter().position(is_row);
        let (item, containers) = match row.filter(|_| self.target.native != "AXRow") {
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
            let selected = || is_selected(item, None);
            return match self.set_until(item, n::kAXSelectedAttribute, &from_bool(true), selected) {
                Ok(()) => self.deselect_others(item, containers),
                Err(failure) if failure.sent == Sent::Yes => Err(failure),
                Err(failure) => Err(as_not_sent(failure)),
            };
        }
        Err(Failure::unsupported("the app does not support selecting it"))
    }

    /// Sets the selection of a container; false if the container does not accept that.
    fn select_by_list(&self, container: &Element, attribute: &str, item: &Element) -> Result<bool, Failure> {
        let only = CFArray::from_CFTypes(std::slice::from_ref::<CFType>(item.as_value())).into_CFType();
        let selected = || is_selected(item, Some((container, attribute)));
        match self.set_until(container, attribute, &only, selected) {
            Ok(()) => Ok(true),
            Err(failure) if failure.kind == FailureKind::Refused => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// Deselects everything else that the container reports as selected.
    fn deselect_others(&self, item: &Element, containers: &[Element]) -> Result<(), Failure> {
        for container in containers {
            for attribute in [n::kAXSelectedRowsAttribute, n::kAXSelectedChildrenAttribute] {
                let selected = container.elements(attribute).unwrap_or_default();
                if !selected.contains(item) {
                    continue;
                }
                for other in selected.iter().filter(|other| *other != item) {
                    let is_dropped = || Ok(other.boolean(n::kAXSelectedAttribute)? != Some(true));
                    let set = self.set_until(other, n::kAXSelectedAttribute, &from_bool(false), is_dropped);
                    if set.is_err() {
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

/// Whether an element is selected, by its own attribute or its container's.
fn is_selected(item: &Element, container: Option<(&Element, &str)>) -> Result<bool, AxError> {
    if item.boolean(n::kAXSelectedAttribute)? == Some(true) {
        return Ok(true);
    }
    match container {
        Some((container, attribute)) => Ok(container.elements(attribute)?.contains(item)),
        None => Ok(false),
    }
}
