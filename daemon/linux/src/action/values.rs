//! What an element holds: numbers of sliders and the like, text of fields.
//!
//! Everything is read back. An app may make something else of what it is given (a slider stops at its end, a field
//! shows a number its own way); that is its right. Only one that changes nothing at all did not do it.

use axd_protocol::{Role, State};

use crate::action::{Actor, Target};
use crate::atspi::dbus::{call, get, set};
use crate::atspi::protocol::{EDITABLE_TEXT, TEXT, VALUE, body, number_property};
use crate::atspi::states::NativeState;
use crate::read::reader::MAX_TEXT;
use axd_platform::{Failure, FailureKind, Sent};

/// Numbers that differ by less are equal.
const EPSILON: f64 = 1e-6;

impl Actor {
    /// Replaces the value of the element.
    pub(crate) async fn set_value(&self, target: &Target, value: &str) -> Result<(), Failure> {
        use Role as R;
        match target.role {
            R::ProgressBar | R::Meter => Err(Failure::unsupported("it only shows its value")),
            R::Slider | R::SpinButton | R::ScrollBar | R::SplitGroup if target.interfaces.value => {
                self.set_number(value).await
            }
            _ if target.interfaces.editable_text => self.set_text(target, value).await,
            _ if target.interfaces.value => self.set_number(value).await,
            _ => Err(Failure::unsupported("the app does not support setting its value")),
        }
    }

    async fn set_number(&self, value: &str) -> Result<(), Failure> {
        let wanted: f64 = value
            .trim()
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite())
            .ok_or_else(|| Failure::new(FailureKind::Invalid, format!("{value:?} is not a number")))?;
        let asked = ["CurrentValue", "MinimumValue", "MaximumValue", "MinimumIncrement"];
        let asked = asked.map(|property| get(&self.at.bus, &self.at.path, VALUE, property));
        let numbers: Vec<Option<f64>> =
            self.call_all(asked.into()).await?.iter().map(number_property).collect();
        let [before, least, most, step] = [0, 1, 2, 3].map(|at| numbers.get(at).copied().flatten());
        self.send_action(set(&self.at.bus, &self.at.path, VALUE, "CurrentValue", wanted)).await?;
        let came = self
            .wait_until(|| async {
                let now = number_property(&self.property(VALUE, "CurrentValue").await?);
                Ok(is_set(wanted, before, now, (least, most), step.unwrap_or_default()))
            })
            .await?;
        match came {
            true => Ok(()),
            false => Err(Failure::not_effective("the app accepted the number and did not set it")),
        }
    }

    async fn set_text(&self, target: &Target, text: &str) -> Result<(), Failure> {
        self.can_be_edited(target)?;
        let secure = target.states.has(State::Secure);
        let before = self.content(secure).await?;
        let contents = call(&self.at.bus, &self.at.path, EDITABLE_TEXT, "SetTextContents", &(text,));
        let message = self.send_and_confirm(contents).await?;
        let length = self.length_of(text);
        let came = message
            && self
                .wait_until(|| async {
                    let now = self.content(secure).await?;
                    Ok(now.equals(text, length) || now != before)
                })
                .await?;
        if !came {
            return Err(Failure::not_effective("the app accepted the text and did not insert it"));
        }
        // As after typing. A toolkit that leaves the caret elsewhere has done what was asked all the same.
        let end = self.character_count().await.unwrap_or(length);
        let _ = self.send_action(self.caret_call(end)).await;
        Ok(())
    }

    /// Puts text in at the caret, instead of what is selected.
    pub(crate) async fn insert(&self, target: &Target, text: &str) -> Result<(), Failure> {
        if !target.interfaces.editable_text {
            return Err(Failure::unsupported("the app does not support inserting text"));
        }
        self.can_be_edited(target)?;
        let selected = call(&self.at.bus, &self.at.path, TEXT, "GetNSelections", &());
        let selected: i32 = body(&self.call(selected).await?).unwrap_or_default();
        let mut count = self.character_count().await?;
        let mut at = match number_property(&self.property(TEXT, "CaretOffset").await?) {
            Some(caret) if caret >= 0.0 => (caret as i32).min(count),
            _ => count,
        };
        let mut sent = Sent::No;
        if selected > 0 {
            let selection = call(&self.at.bus, &self.at.path, TEXT, "GetSelection", &(0,));
            let (start, end): (i32, i32) = body(&self.call(selection).await?).unwrap_or_default();
            if start != end {
                let part = (start.min(end), start.max(end));
                let deleting = call(&self.at.bus, &self.at.path, EDITABLE_TEXT, "DeleteText", &part);
                if !self.send_and_confirm(deleting).await? {
                    return Err(Failure::not_effective("the app did not delete the selection"));
                }
                sent = Sent::Yes;
                at = part.0;
                self.wait_until(|| async { Ok(self.character_count().await? < count) }).await?;
                count = self.character_count().await.map_err(|failure| failure.sent(sent))?;
            }
        }
        if text.is_empty() {
            return Ok(());
        }
        let length = self.length_of(text);
        let inserting = call(
            &self.at.bus,
            &self.at.path,
            EDITABLE_TEXT,
            "InsertText",
            &(at, text, self.insert_length(text)),
        );
        let message = self.send_and_confirm(inserting).await.map_err(|failure| match failure.sent {
            Sent::No => failure.sent(sent),
            Sent::Maybe | Sent::Yes => failure,
        })?;
        // Text that goes in makes what is there longer. So the text itself, which may be secret, is not read.
        if !message || !self.wait_until(|| async { Ok(self.character_count().await? != count) }).await? {
            return Err(Failure::not_effective("the app accepted the text and did not insert it"));
        }
        // Toolkits differ in whether the caret goes along; the next text is to come after this one.
        let grown = self.character_count().await.map_or(length, |now| now - count);
        let _ = self.send_action(self.caret_call(at + self.caret_advance(text, grown))).await;
        Ok(())
    }

    /// Puts the caret at the end, with nothing selected: toolkits select all that a field holds when it gets the focus.
    pub(crate) async fn caret_to_end(&self, target: &Target) -> Result<(), Failure> {
        if !target.interfaces.text {
            return Err(Failure::unsupported("it has no text"));
        }
        // A spin button holds little, and the parts of a date take the End key as their last value.
        if self.toolkit.is_browser() && target.role != Role::SpinButton {
            return Err(Failure::unsupported("browsers report late how long a text is"));
        }
        let end = self.character_count().await?;
        match self.send_and_confirm(self.caret_call(end)).await? {
            true => Ok(()),
            false => Err(Failure::not_effective("the app did not move the caret")),
        }
    }

    fn can_be_edited(&self, target: &Target) -> Result<(), Failure> {
        // Qt does not say of spin boxes that they are editable.
        let editable = target.native_states.has(NativeState::Editable) || target.role == Role::SpinButton;
        if !editable || target.native_states.has(NativeState::ReadOnly) {
            return Err(Failure::new(FailureKind::Refused, "it is read-only"));
        }
        match self.toolkit.sets_text() {
            true => Ok(()),
            false => Err(Failure::unsupported("the app reports success for setting text without doing it")),
        }
    }

    /// How long what it holds is, as the toolkit counts.
    async fn character_count(&self) -> Result<i32, Failure> {
        Ok(number_property(&self.property(TEXT, "CharacterCount").await?).map_or(0, |count| count as i32))
    }

    /// What it holds: if that is a secret, or very long, only how long it is.
    async fn content(&self, secure: bool) -> Result<Content, Failure> {
        let count = self.character_count().await?;
        let text = match count {
            0 => Some(String::new()).filter(|_| !secure),
            1..=MAX_TEXT if !secure => {
                body(&self.call(call(&self.at.bus, &self.at.path, TEXT, "GetText", &(0, count))).await?)
            }
            _ => None,
        };
        Ok(Content { count, text })
    }

    fn caret_call(&self, at: i32) -> zbus::Result<zbus::Message> {
        call(&self.at.bus, &self.at.path, TEXT, "SetCaretOffset", &(at,))
    }

    /// The length of a text in the toolkit's characters.
    fn length_of(&self, text: &str) -> i32 {
        let length =
            if self.toolkit.counts_utf16() { text.encode_utf16().count() } else { text.chars().count() };
        i32::try_from(length).unwrap_or(i32::MAX)
    }

    /// How far the caret goes to be behind a text that went in. The documents of LibreOffice count halves of UTF-16, its dialogs,
    /// which are GTK's, characters: by how much the whole has grown tells which it is.
    fn caret_advance(&self, text: &str, grown: i32) -> i32 {
        let halves = i32::try_from(text.encode_utf16().count()).unwrap_or(i32::MAX);
        if grown == halves { halves } else { self.length_of(text) }
    }

    /// The length of a text as `InsertText` wants it: ATK and GTK 4 count bytes, Qt its characters, of which it makes
    /// up those that are missing.
    fn insert_length(&self, text: &str) -> i32 {
        match self.toolkit.counts_utf16() {
            true => self.length_of(text),
            false => i32::try_from(text.len()).unwrap_or(i32::MAX),
        }
    }
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Content {
    count: i32,
    text: Option<String>,
}

impl Content {
    fn equals(&self, text: &str, length: i32) -> bool {
        self.text.as_ref().map_or(self.count == length, |held| held == text)
    }
}

/// Whether a number that was `before` and is `now` is what an app makes of `wanted`.
fn is_set(
    wanted: f64,
    before: Option<f64>,
    now: Option<f64>,
    (least, most): (Option<f64>, Option<f64>),
    step: f64,
) -> bool {
    let Some(now) = now else { return false };
    let mut aim = wanted;
    // Some have no ends, and say that both are 0.
    if let (Some(least), Some(most)) = (least, most)
        && least < most
    {
        aim = wanted.clamp(least, most);
    }
    let near = (now - aim).abs() <= EPSILON * aim.abs().max(1.0);
    let changed = before.is_none_or(|before| (now - before).abs() > EPSILON);
    // Less than a step from where it was, it may stay there.
    near || changed || (now - aim).abs() < step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_set_if_the_app_made_something_of_it() {
        let ends = (Some(0.0), Some(100.0));
        assert!(is_set(42.0, Some(0.0), Some(42.0), ends, 1.0));
        assert!(is_set(150.0, Some(100.0), Some(100.0), ends, 1.0), "it was at its end already");
        assert!(is_set(10.5, Some(0.0), Some(11.0), ends, 0.0), "it was rounded");
        assert!(is_set(42.3, Some(42.0), Some(42.0), ends, 1.0), "it was rounded to where it was");
        assert!(!is_set(42.0, Some(7.0), Some(7.0), ends, 1.0));
        assert!(!is_set(42.0, Some(7.0), None, ends, 1.0));
        assert!(!is_set(42.0, Some(0.0), Some(0.0), (Some(0.0), Some(0.0)), 0.0));
    }

    #[test]
    fn a_secret_is_compared_by_its_length() {
        let secret = Content { count: 6, text: None };
        assert!(secret.equals("secret", 6));
        assert!(!secret.equals("longer than that", 16));
        let plain = Content { count: 2, text: Some("ab".into()) };
        assert!(plain.equals("ab", 2) && !plain.equals("ba", 2));
    }
}
