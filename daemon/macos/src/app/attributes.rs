//! What is asked of elements, and the answers by name.

use core_foundation::array::CFArray;
use core_foundation::base::CFType;
use core_foundation::string::CFString;

use super::content::{Held, Raw, bounded};
use crate::ax::element::{Element, names};
use crate::ax::error::Fault;
use crate::ax::value;
use crate::ffi::names as n;

/// What every element is asked for: all but its value, which may be a secret, and its children, which may be too many.
const OUTLINE: &[&str] = &[
    n::kAXRoleAttribute,
    n::kAXSubroleAttribute,
    n::kAXTitleAttribute,
    n::kAXDescriptionAttribute,
    n::kAXHelpAttribute,
    n::kAXIdentifierAttribute,
    n::kAXPlaceholderValueAttribute,
    n::kAXTitleUIElementAttribute,
    n::kAXEnabledAttribute,
    n::kAXFocusedAttribute,
    n::kAXSelectedAttribute,
    n::kAXExpandedAttribute,
    n::kAXElementBusyAttribute,
    n::kAXHiddenAttribute,
    n::AXRequired,
    n::AXInvalid,
    n::AXHasPopup,
    n::kAXModalAttribute,
    n::AXIsMultiSelectable,
    n::kAXDisclosingAttribute,
    n::kAXMenuItemMarkCharAttribute,
    n::kAXIndexAttribute,
    n::kAXNumberOfCharactersAttribute,
    n::kAXValueDescriptionAttribute,
];

/// The lists of names, made once for a thread.
pub struct Lists {
    outline: CFArray<CFString>,
    value: CFArray<CFString>,
    children: CFArray<CFString>,
    value_and_children: CFArray<CFString>,
    outline_and_children: CFArray<CFString>,
    everything: CFArray<CFString>,
    place: CFArray<CFString>,
}

impl Default for Lists {
    fn default() -> Lists {
        let (value, children) = (n::kAXValueAttribute, n::kAXChildrenAttribute);
        Lists {
            outline: names(OUTLINE),
            value: names(&[value]),
            children: names(&[children]),
            value_and_children: names(&[value, children]),
            outline_and_children: names(&[OUTLINE, &[children]].concat()),
            everything: names(&[OUTLINE, &[value, children]].concat()),
            place: names(&[n::kAXPositionAttribute, n::kAXSizeAttribute]),
        }
    }
}

/// What is asked for beside the outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct More {
    /// Its value.
    pub value: bool,
    /// Its children.
    pub children: bool,
}

/// What an element answered.
#[derive(Default)]
pub struct Answers {
    /// The outline, if it was asked for.
    pub raw: Raw,
    /// The element that is its title.
    pub title_element: Option<Element>,
    /// Its place among the rows of its container.
    pub index: Option<u32>,
    /// How long its text is, in UTF-16 units.
    pub length: Option<usize>,
    /// Its children, if they were asked for.
    pub children: Vec<Element>,
}

impl Lists {
    /// Asks for the outline, and perhaps for more in the same round trip.
    pub fn outline(&self, element: &Element, more: Option<More>) -> Result<Answers, Fault> {
        let more = more.unwrap_or(More { value: false, children: false });
        let list = match more {
            More { value: false, children: false } => &self.outline,
            More { value: false, children: true } => &self.outline_and_children,
            More { value: true, .. } => &self.everything,
        };
        let mut answers = element.get_many(list)?.into_iter();
        let mut got = Answers::default();
        // What an element is must be known; anything else may be missing.
        let native = answers.next().transpose()?.flatten();
        got.raw.native = native.as_ref().and_then(value::text).unwrap_or_else(|| "AXUnknown".to_owned());
        let mut next = || answers.next().and_then(Result::ok).flatten();
        let raw = &mut got.raw;
        let text = |value: Option<CFType>| {
            value.as_ref().and_then(value::text).filter(|text| !text.is_empty()).map(bounded)
        };
        let truth = |value: Option<CFType>| value.as_ref().and_then(value::truth);
        let number = |value: Option<CFType>| value.as_ref().and_then(value::number);
        raw.subrole = text(next()).filter(|subrole| subrole != "AXUnknown");
        raw.title = text(next());
        raw.description = text(next());
        raw.help = text(next());
        raw.identifier = text(next());
        raw.placeholder = text(next());
        got.title_element = next().as_ref().and_then(Element::from_value);
        raw.enabled = truth(next());
        raw.focused = truth(next());
        raw.selected = truth(next());
        raw.expanded = truth(next());
        raw.busy = truth(next());
        raw.hidden = truth(next());
        raw.required = truth(next());
        raw.invalid = text(next());
        raw.has_popup = truth(next());
        raw.modal = truth(next());
        raw.multiselectable = truth(next());
        raw.disclosing = truth(next());
        raw.mark = text(next());
        got.index = number(next()).filter(|index| (0.0..4e9).contains(index)).map(|index| index as u32);
        got.length = number(next()).filter(|length| *length >= 0.0).map(|length| length as usize);
        raw.value_description = text(next());
        if more.value {
            raw.value = next().as_ref().and_then(held);
        }
        if more.children || more.value {
            got.children = next().as_ref().map(Element::all).unwrap_or_default();
        }
        Ok(got)
    }

    /// Asks for what the outline left out.
    pub fn more(&self, element: &Element, more: More, into: &mut Answers) -> Result<(), Fault> {
        let list = match more {
            More { value: false, children: false } => return Ok(()),
            More { value: true, children: false } => &self.value,
            More { value: false, children: true } => &self.children,
            More { value: true, children: true } => &self.value_and_children,
        };
        let mut answers = element.get_many(list)?.into_iter();
        let mut next = || answers.next().and_then(Result::ok).flatten();
        if more.value {
            into.raw.value = next().as_ref().and_then(held);
        }
        if more.children {
            into.children = next().as_ref().map(Element::all).unwrap_or_default();
        }
        Ok(())
    }

    /// Asks where it is.
    pub fn place(&self, element: &Element) -> Result<Option<axd_protocol::Bounds>, Fault> {
        let mut answers = element.get_many(&self.place)?.into_iter();
        let mut next = || answers.next().and_then(Result::ok).flatten();
        let (origin, size) = (next().as_ref().and_then(value::point), next().as_ref().and_then(value::size));
        let (Some(origin), Some(size)) = (origin, size) else { return Ok(None) };
        Ok(value::bounds(crate::ffi::cg::CGRect { origin, size }))
    }
}

/// What a value says.
pub fn held(value: &CFType) -> Option<Held> {
    if let Some(text) = value::text(value) {
        return Some(Held::Text(bounded(text)));
    }
    let number = value::number(value);
    number.or_else(|| value::truth(value).map(f64::from)).map(Held::Number)
}
