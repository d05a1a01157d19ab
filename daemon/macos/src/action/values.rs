//! Sets the value of an element: numbers of sliders and the like, text of fields.
//!
//! Everything is read back. An app may change what it is given (a slider stops at its end, a field formats a number);
//! that counts as success. Only if nothing changes at all did the action fail.

use axd_protocol::Role;

use super::{ActionContext, as_not_sent, may_be_read_back};
use crate::app::attributes::element_value;
use crate::app::content::ElementValue;
use crate::ax::error::AxError;
use crate::ax::text;
use crate::ax::value::{self, TextRange, from_bool, from_number, from_range, from_text};
use crate::ffi::names as n;
use axd_platform::{Failure, FailureKind, Sent};

/// Numbers closer than this, relative to their size, are equal.
const EPSILON: f64 = 1e-6;

impl ActionContext<'_> {
    /// Replaces the element's value.
    pub(super) fn set_value(&self, value: &str) -> Result<(), Failure> {
        if matches!(self.target.role, Role::ProgressBar | Role::Meter) {
            return Err(Failure::unsupported("it only shows its value"));
        }
        if !self.can_set(&self.element, n::kAXValueAttribute)? {
            let read_only = matches!(self.target.role, Role::TextField | Role::TextArea | Role::SearchField);
            return Err(match read_only {
                true => Failure::new(FailureKind::Refused, "it is read-only"),
                false => Failure::unsupported("the app does not support setting its value"),
            });
        }
        if self.target.secure {
            return self.set_text(value);
        }
        let now = self.read(self.element.get(n::kAXValueAttribute))?;
        // A date or an address is read as text, but cannot be made from a text safely.
        if now.as_ref().is_some_and(|now| text::date(now).or_else(|| text::url(now)).is_some()) {
            return Err(Failure::unsupported("its value is neither text nor a number"));
        }
        match now.as_ref().and_then(element_value) {
            Some(ElementValue::Number(before)) => self.set_number(value, Some(before)),
            None if matches!(self.target.role, Role::Slider | Role::SpinButton) => {
                self.set_number(value, None)
            }
            // Neither can a colour.
            None if now.is_some() => Err(Failure::unsupported("its value is neither text nor a number")),
            _ => self.set_text(value),
        }
    }

    fn set_number(&self, value: &str, before: Option<f64>) -> Result<(), Failure> {
        let wanted: f64 = value
            .trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| Failure::new(FailureKind::Invalid, format!("{value:?} is not a number")))?;
        let least = self.read(self.element.number(n::kAXMinValueAttribute))?;
        let most = self.read(self.element.number(n::kAXMaxValueAttribute))?;
        self.set_until(&self.element, n::kAXValueAttribute, &from_number(wanted), || {
            let now = self.element.number(n::kAXValueAttribute)?;
            Ok(is_set(wanted, before, now, (least, most)))
        })
    }

    fn set_text(&self, text: &str) -> Result<(), Failure> {
        let before = self.read(self.content())?;
        if before.is_unknown() {
            return self.set(&self.element, n::kAXValueAttribute, &from_text(text));
        }
        self.set_until(&self.element, n::kAXValueAttribute, &from_text(text), || {
            let now = self.content()?;
            Ok(now.is(text) || now != before)
        })?;
        // The caret goes to the end, as after typing. If that fails, the text is set all the same.
        let _ = self.put_caret(length(text));
        Ok(())
    }

    /// Inserts text at the caret, and replaces the selection.
    pub(super) fn insert(&self, text: &str) -> Result<(), Failure> {
        // The content of a secure field cannot be read and extended, and synthetic keys may not reach it. An empty one can be set.
        if self.target.secure
            && self.read(self.element.number(n::kAXNumberOfCharactersAttribute))? == Some(0.0)
            && self.can_set(&self.element, n::kAXValueAttribute)?
        {
            return self.set_text(text);
        }
        if !self.can_set(&self.element, n::kAXSelectedTextAttribute)? {
            // Fields of AppKit have a caret only while they are focused.
            self.focus_to_insert()?;
            if !self.can_set(&self.element, n::kAXSelectedTextAttribute)? {
                return Err(Failure::unsupported("the app does not support inserting text"));
            }
        }
        let before = self.read(self.content())?;
        let selected = match self.target.secure {
            true => None,
            false => self.read(self.element.text(n::kAXSelectedTextAttribute))?,
        };
        if text.is_empty() || selected.as_deref() == Some(text) {
            // Nothing changes that could be read back.
            return self.set(&self.element, n::kAXSelectedTextAttribute, &from_text(text));
        }
        self.set_until(&self.element, n::kAXSelectedTextAttribute, &from_text(text), || {
            Ok(self.content()? != before)
        })
    }

    fn focus_to_insert(&self) -> Result<(), Failure> {
        if !self.can_set(&self.element, n::kAXFocusedAttribute)? {
            return Err(Failure::unsupported("the app does not support inserting text"));
        }
        // Focus does not change the content, and typing by keys needs it too.
        let settable = || self.element.is_settable(n::kAXSelectedTextAttribute);
        match self.set_until(&self.element, n::kAXFocusedAttribute, &from_bool(true), settable) {
            Ok(()) => Ok(()),
            Err(failure) if failure.kind == FailureKind::Refused => Ok(()),
            Err(failure) if failure.sent == Sent::Yes => Err(failure.sent(Sent::No)),
            Err(failure) => Err(failure),
        }
    }

    /// Moves the caret to the end and selects nothing, because a field may select everything when it gets the focus.
    pub(super) fn caret_to_end(&self) -> Result<(), Failure> {
        if !self.can_set(&self.element, n::kAXSelectedTextRangeAttribute)? {
            return Err(Failure::unsupported("the app does not support moving the caret"));
        }
        let count = self.read(self.element.number(n::kAXNumberOfCharactersAttribute))?;
        let end = match count {
            Some(count) => count as usize,
            None if self.target.secure => {
                return Err(Failure::unsupported("the length of its text is unknown"));
            }
            None => self.read(self.element.text(n::kAXValueAttribute))?.as_deref().map_or(0, length),
        };
        self.put_caret(end)
    }

    fn put_caret(&self, at: usize) -> Result<(), Failure> {
        let location = isize::try_from(at).unwrap_or(isize::MAX);
        let range = from_range(TextRange { location, length: 0 })
            .ok_or_else(|| Failure::unsupported("the caret position is out of range"))?;
        match self.set(&self.element, n::kAXSelectedTextRangeAttribute, &range) {
            Err(failure) if may_be_read_back(&failure) => {
                let is_there = || {
                    let now = self.element.get(n::kAXSelectedTextRangeAttribute)?;
                    Ok(now.as_ref().and_then(value::range) == Some(TextRange { location, length: 0 }))
                };
                if self.wait_until(is_there)? { Ok(()) } else { Err(as_not_sent(failure)) }
            }
            answer => answer,
        }
    }

    /// The content of the field; of a secure one only its length.
    fn content(&self) -> Result<FieldContent, AxError> {
        let count = self.element.number(n::kAXNumberOfCharactersAttribute)?.map(|count| count as usize);
        let text = match self.target.secure {
            true => None,
            false => self.element.text(n::kAXValueAttribute)?,
        };
        Ok(FieldContent { count, text })
    }
}

/// The length of a text as the accessibility API counts it.
fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// The content of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FieldContent {
    count: Option<usize>,
    text: Option<String>,
}

impl FieldContent {
    /// Whether nothing can be read back: a secure field that does not report its length.
    fn is_unknown(&self) -> bool {
        self.text.is_none() && self.count.is_none()
    }

    fn is(&self, text: &str) -> bool {
        match (&self.text, self.count) {
            (Some(held), _) => held == text,
            (None, Some(count)) => count == length(text),
            (None, None) => false,
        }
    }
}

/// Whether the app set a number that was `before` and is `now`, when `wanted` was requested.
fn is_set(wanted: f64, before: Option<f64>, now: Option<f64>, ends: (Option<f64>, Option<f64>)) -> bool {
    let Some(now) = now else { return false };
    let mut aim = wanted;
    if let (Some(least), Some(most)) = ends
        && least < most
    {
        aim = wanted.clamp(least, most);
    }
    let near = (now - aim).abs() <= EPSILON * aim.abs().max(1.0);
    let changed = before.is_none_or(|before| (now - before).abs() > EPSILON);
    // A control that takes only integers may stay where it is if `wanted` is less than one away.
    near || changed || (now - aim).abs() < 1.0 && now.fract() == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_set_if_the_app_made_something_of_it() {
        let ends = (Some(0.0), Some(100.0));
        assert!(is_set(42.0, Some(0.0), Some(42.0), ends));
        assert!(is_set(150.0, Some(100.0), Some(100.0), ends), "it was at its end already");
        assert!(is_set(10.5, Some(0.0), Some(11.0), ends), "it was rounded");
        assert!(is_set(42.3, Some(42.0), Some(42.0), ends), "it was rounded to where it was");
        assert!(!is_set(42.0, Some(7.0), Some(7.0), ends));
        assert!(!is_set(42.0, Some(7.0), None, ends));
    }

    #[test]
    fn a_secret_is_compared_by_its_length_and_texts_are_counted_in_utf_16() {
        let secret = FieldContent { count: Some(6), text: None };
        assert!(secret.is("secret") && !secret.is("longer than that"));
        assert_eq!(length("a😀"), 3);
    }
}
