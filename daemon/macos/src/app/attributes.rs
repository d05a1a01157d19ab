//! Which attributes are read of an element, in one call each, and their values by name.

use core_foundation::array::CFArray;
use core_foundation::base::CFType;
use core_foundation::string::CFString;

use super::content::{ElementValue, RawAttributes, truncated};
use crate::ax::element::{Element, attribute_names};
use crate::ax::error::AxError;
use crate::ax::{text, value};
use crate::ffi::names as n;

/// The attributes that are read of every element: all but its value, which may be a secret, and its children, which may be
/// too many.
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

/// Lists of attribute names as the API takes them, made once per thread.
pub struct AttributeLists {
    outline: CFArray<CFString>,
    value: CFArray<CFString>,
    children: CFArray<CFString>,
    value_and_children: CFArray<CFString>,
    outline_and_children: CFArray<CFString>,
    pub(crate) everything: CFArray<CFString>,
    bounds: CFArray<CFString>,
}

impl Default for AttributeLists {
    fn default() -> AttributeLists {
        let (value, children) = (n::kAXValueAttribute, n::kAXChildrenAttribute);
        AttributeLists {
            outline: attribute_names(OUTLINE),
            value: attribute_names(&[value]),
            children: attribute_names(&[children]),
            value_and_children: attribute_names(&[value, children]),
            outline_and_children: attribute_names(&[OUTLINE, &[children]].concat()),
            everything: attribute_names(&[OUTLINE, &[value, children]].concat()),
            bounds: attribute_names(&[n::kAXPositionAttribute, n::kAXSizeAttribute]),
        }
    }
}

/// What is read beside the outline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtraAttributes {
    /// Its value.
    pub value: bool,
    /// Its children.
    pub children: bool,
}

/// The attributes that were read of an element.
#[derive(Default)]
pub struct AttributeValues {
    /// The outline, if it was read.
    pub raw: RawAttributes,
    /// The element that serves as its title.
    pub title_element: Option<Element>,
    /// Its index among the rows of its container.
    pub index: Option<u32>,
    /// The length of its text, in UTF-16 units.
    pub length: Option<usize>,
    /// Its children, if they were read.
    pub children: Vec<Element>,
}

impl AttributeLists {
    /// Reads the outline, and the extra attributes in the same round trip.
    pub fn read_outline(
        &self,
        element: &Element,
        extra: Option<ExtraAttributes>,
    ) -> Result<AttributeValues, AxError> {
        let extra = extra.unwrap_or(ExtraAttributes { value: false, children: false });
        let list = match extra {
            ExtraAttributes { value: false, children: false } => &self.outline,
            ExtraAttributes { value: false, children: true } => &self.outline_and_children,
            ExtraAttributes { value: true, .. } => &self.everything,
        };
        let mut answers = element.get_many(list)?.into_iter();
        let mut got = AttributeValues::default();
        // The role is needed; every other attribute may be missing.
        let native = answers.next().transpose()?.flatten();
        got.raw.native = native.as_ref().and_then(value::text).unwrap_or_else(|| "AXUnknown".to_owned());
        let mut next = || answers.next().and_then(Result::ok).flatten();
        let raw = &mut got.raw;
        let text = |value: Option<CFType>| {
            value.as_ref().and_then(value::text).filter(|text| !text.is_empty()).map(truncated)
        };
        let boolean = |value: Option<CFType>| value.as_ref().and_then(value::boolean);
        let number = |value: Option<CFType>| value.as_ref().and_then(value::number);
        raw.subrole = text(next()).filter(|subrole| subrole != "AXUnknown");
        raw.title = text(next());
        raw.description = text(next());
        raw.help = text(next());
        raw.identifier = text(next());
        raw.placeholder = text(next());
        got.title_element = next().as_ref().and_then(Element::from_value);
        raw.enabled = boolean(next());
        raw.focused = boolean(next());
        raw.selected = boolean(next());
        raw.expanded = boolean(next());
        raw.busy = boolean(next());
        raw.hidden = boolean(next());
        raw.required = boolean(next());
        raw.invalid = text(next());
        raw.has_popup = boolean(next());
        raw.modal = boolean(next());
        raw.multiselectable = boolean(next());
        raw.disclosing = boolean(next());
        raw.mark = text(next());
        got.index = number(next()).filter(|index| (0.0..4e9).contains(index)).map(|index| index as u32);
        got.length = number(next()).filter(|length| *length >= 0.0).map(|length| length as usize);
        raw.value_description = text(next());
        if extra.value {
            raw.value = next().as_ref().and_then(element_value);
        }
        if extra.children || extra.value {
            got.children = next().as_ref().map(Element::all_in).unwrap_or_default();
        }
        Ok(got)
    }

    /// Reads what the outline left out.
    pub fn read_extra(
        &self,
        element: &Element,
        extra: ExtraAttributes,
        into: &mut AttributeValues,
    ) -> Result<(), AxError> {
        let list = match extra {
            ExtraAttributes { value: false, children: false } => return Ok(()),
            ExtraAttributes { value: true, children: false } => &self.value,
            ExtraAttributes { value: false, children: true } => &self.children,
            ExtraAttributes { value: true, children: true } => &self.value_and_children,
        };
        let mut answers = element.get_many(list)?.into_iter();
        let mut next = || answers.next().and_then(Result::ok).flatten();
        if extra.value {
            into.raw.value = next().as_ref().and_then(element_value);
        }
        if extra.children {
            into.children = next().as_ref().map(Element::all_in).unwrap_or_default();
        }
        Ok(())
    }

    /// Reads position and size.
    pub fn read_bounds(&self, element: &Element) -> Result<Option<axd_protocol::Bounds>, AxError> {
        let mut answers = element.get_many(&self.bounds)?.into_iter();
        let mut next = || answers.next().and_then(Result::ok).flatten();
        let (origin, size) = (next().as_ref().and_then(value::point), next().as_ref().and_then(value::size));
        let (Some(origin), Some(size)) = (origin, size) else { return Ok(None) };
        Ok(value::to_bounds(crate::ffi::cg::CGRect { origin, size }))
    }
}

/// A value as text or a number; `None` if it is neither.
pub fn element_value(value: &CFType) -> Option<ElementValue> {
    let written = text::text(value).or_else(|| text::url(value)).or_else(|| text::date(value));
    if let Some(text) = written {
        return Some(ElementValue::Text(truncated(text)));
    }
    let number = value::number(value);
    number.or_else(|| value::boolean(value).map(f64::from)).map(ElementValue::Number)
}
