//! What an element holds: numbers of sliders and the like, text of fields.
//!
//! Everything is read back. An app may make something else of what it is given (a slider stops at its end, a field
//! shows a number its own way); that is its right. Only one that changes nothing at all did not do it.

use axd_protocol::Role;

use super::{Actor, harmless, not_done, not_offered};
use crate::platform::macos::attributes::held;
use crate::platform::macos::content::Held;
use crate::platform::macos::fault::Fault;
use crate::platform::macos::ffi::names as n;
use crate::platform::macos::value::{TextRange, from_number, from_range, from_text, from_truth};
use crate::platform::{Failure, FailureKind, Sent};

/// The difference that is none.
const NOTHING: f64 = 1e-6;

impl Actor<'_> {
    /// Puts something in instead of what the element holds.
    pub(super) fn set_value(&self, value: &str) -> Result<(), Failure> {
        if matches!(self.subject.role, Role::ProgressBar | Role::Meter) {
            return Err(not_offered("it only shows its value"));
        }
        if !self.can_set(&self.element, n::kAXValueAttribute)? {
            let read_only = matches!(self.subject.role, Role::TextField | Role::TextArea | Role::SearchField);
            return Err(match read_only {
                true => Failure::new(FailureKind::Refused, "it is read-only"),
                false => not_offered("the app does not support setting its value"),
            });
        }
        if self.subject.secure {
            return self.set_text(value);
        }
        let now = self.ask(self.element.get(n::kAXValueAttribute))?;
        match now.as_ref().and_then(held) {
            Some(Held::Number(before)) => self.set_number(value, Some(before)),
            None if matches!(self.subject.role, Role::Slider | Role::SpinButton) => {
                self.set_number(value, None)
            }
            // A date, a colour: nothing that a text could be made into safely.
            None if now.is_some() => Err(not_offered("its value is neither text nor a number")),
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
        let least = self.ask(self.element.number(n::kAXMinValueAttribute))?;
        let most = self.ask(self.element.number(n::kAXMaxValueAttribute))?;
        self.set(&self.element, n::kAXValueAttribute, &from_number(wanted))?;
        let came = self.until(|| {
            let now = self.element.number(n::kAXValueAttribute)?;
            Ok(is_set(wanted, before, now, (least, most)))
        })?;
        match came {
            true => Ok(()),
            false => Err(not_done("the app accepted the number and did not set it")),
        }
    }

    fn set_text(&self, text: &str) -> Result<(), Failure> {
        let before = self.ask(self.content())?;
        self.set(&self.element, n::kAXValueAttribute, &from_text(text))?;
        let came = self.until(|| {
            let now = self.content()?;
            Ok(now.is(text) || now != before)
        })?;
        if !came {
            return Err(not_done("the app accepted the text and did not insert it"));
        }
        // As after typing. An app that leaves the caret elsewhere has done what was asked all the same.
        let _ = self.put_caret(length(text));
        Ok(())
    }

    /// Puts text in at the caret, instead of what is selected.
    pub(super) fn insert(&self, text: &str) -> Result<(), Failure> {
        // A secret cannot be read to be added to, and keys that are made may not reach it. Into an empty field it goes whole.
        if self.subject.secure
            && self.ask(self.element.number(n::kAXNumberOfCharactersAttribute))? == Some(0.0)
            && self.can_set(&self.element, n::kAXValueAttribute)?
        {
            return self.set_text(text);
        }
        if !self.can_set(&self.element, n::kAXSelectedTextAttribute)? {
            // Fields of AppKit have a caret only while they have the focus.
            self.focus_to_insert()?;
            if !self.can_set(&self.element, n::kAXSelectedTextAttribute)? {
                return Err(not_offered("the app does not support inserting text"));
            }
        }
        let before = self.ask(self.content())?;
        let selected = match self.subject.secure {
            true => None,
            false => self.ask(self.element.text(n::kAXSelectedTextAttribute))?,
        };
        self.set(&self.element, n::kAXSelectedTextAttribute, &from_text(text))?;
        if text.is_empty() || selected.as_deref() == Some(text) {
            return Ok(());
        }
        match self.until(|| Ok(self.content()? != before))? {
            true => Ok(()),
            false => Err(not_done("the app accepted the text and did not insert it")),
        }
    }

    fn focus_to_insert(&self) -> Result<(), Failure> {
        if !self.can_set(&self.element, n::kAXFocusedAttribute)? {
            return Err(not_offered("the app does not support inserting text"));
        }
        // That it has the focus changes nothing it holds; another way of typing needs it too.
        self.set(&self.element, n::kAXFocusedAttribute, &from_truth(true)).map_err(harmless)?;
        let settable = || self.element.is_settable(n::kAXSelectedTextAttribute);
        self.until(settable).map_err(|failure| failure.sent(Sent::No))?;
        Ok(())
    }

    /// Puts the caret at the end, with nothing selected: a field may select all it holds when it gets the focus.
    pub(super) fn caret_to_end(&self) -> Result<(), Failure> {
        if !self.can_set(&self.element, n::kAXSelectedTextRangeAttribute)? {
            return Err(not_offered("the app does not support moving the caret"));
        }
        let count = self.ask(self.element.number(n::kAXNumberOfCharactersAttribute))?;
        let end = match count {
            Some(count) => count as usize,
            None if self.subject.secure => return Err(not_offered("the length of its text is unknown")),
            None => self.ask(self.element.text(n::kAXValueAttribute))?.as_deref().map_or(0, length),
        };
        self.put_caret(end)
    }

    fn put_caret(&self, at: usize) -> Result<(), Failure> {
        let location = isize::try_from(at).unwrap_or(isize::MAX);
        let range = from_range(TextRange { location, length: 0 })
            .ok_or_else(|| not_offered("the caret position is out of range"))?;
        self.set(&self.element, n::kAXSelectedTextRangeAttribute, &range)
    }

    /// What it holds: of a secret only how long it is.
    fn content(&self) -> Result<Content, Fault> {
        let count = self.element.number(n::kAXNumberOfCharactersAttribute)?.map(|count| count as usize);
        let text = match self.subject.secure {
            true => None,
            false => self.element.text(n::kAXValueAttribute)?,
        };
        Ok(Content { count, text })
    }
}

/// The length of a text as the accessibility interface counts.
fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    count: Option<usize>,
    text: Option<String>,
}

impl Content {
    fn is(&self, text: &str) -> bool {
        match (&self.text, self.count) {
            (Some(held), _) => held == text,
            (None, Some(count)) => count == length(text),
            // A secret that does not even say how long it is: nothing can be read back.
            (None, None) => true,
        }
    }
}

/// Whether a number that was `before` and is `now` is what an app makes of `wanted`.
fn is_set(wanted: f64, before: Option<f64>, now: Option<f64>, ends: (Option<f64>, Option<f64>)) -> bool {
    let Some(now) = now else { return false };
    let mut aim = wanted;
    if let (Some(least), Some(most)) = ends
        && least < most
    {
        aim = wanted.clamp(least, most);
    }
    let near = (now - aim).abs() <= NOTHING * aim.abs().max(1.0);
    let changed = before.is_none_or(|before| (now - before).abs() > NOTHING);
    // Less than one from where it was, it may stay there: it may know whole numbers only.
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
        let secret = Content { count: Some(6), text: None };
        assert!(secret.is("secret") && !secret.is("longer than that"));
        assert_eq!(length("a😀"), 3);
    }
}
