//! What pages say of their elements beside what browsers make of it: attributes, and the parts of fields for dates.

use std::collections::HashMap;

use axd_protocol::Role;

use crate::atspi::dbus::{Answer, call};
use crate::atspi::protocol::{ACCESSIBLE, Ref, TEXT, body};
use crate::atspi::roles::STATIC;
use crate::read::details::Details;
use crate::read::outline::Outline;
use crate::read::reader::Reader;
use axd_platform::Failure;

/// How deep the parts of a field for a date are in it at most, and how many there are.
const DEEPEST: usize = 4;
const MOST_PARTS: usize = 32;

/// What an element's attributes say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// What it is, where the browser says something else.
    pub role: Option<Role>,
    /// What a number reads as.
    pub reads_as: Option<String>,
    /// What its author calls it.
    pub identifier: Option<String>,
    /// Whether a page has it, and not the browser itself: then it is written as a tag.
    pub in_page: bool,
}

impl Marks {
    /// From the attributes of an element that the browser says has this role.
    pub fn of(mut attributes: HashMap<String, String>, role: Role) -> Marks {
        let mut take = |name: &str| attributes.remove(name).filter(|value| !value.is_empty());
        let kind = take("text-input-type");
        let is_date = matches!(kind.as_deref(), Some("date" | "time" | "datetime-local" | "month" | "week"));
        let told = match take("xml-roles").as_deref().and_then(|roles| roles.split_whitespace().next()) {
            Some("dialog") => Some(Role::Dialog),
            Some("alertdialog") => Some(Role::Alert),
            // Gecko has a role for dates, but times are only boxes.
            _ if is_date && role == Role::Group => Some(Role::DateField),
            _ => None,
        };
        Marks {
            role: told.filter(|told| *told != role),
            reads_as: take("valuetext"),
            identifier: take("id"),
            in_page: take("tag").is_some(),
        }
    }
}

/// What a spin button holds: its number, unless it reads as something else.
pub(crate) fn reading(number: Option<String>, reads_as: Option<&str>) -> Option<String> {
    let same = |text: &str| {
        let parse = |text: &str| text.trim().parse::<f64>().ok();
        number.as_deref().and_then(parse).is_some_and(|number| parse(text) == Some(number))
    };
    match reads_as {
        Some(text) if !same(text) => Some(text.to_owned()),
        _ => number,
    }
}

impl Reader {
    /// Completes what was read of fields for dates: they read as their parts do. They are few, so this may take some rounds.
    pub(crate) async fn read_dates(
        &mut self,
        outlines: &[&Outline],
        details: &mut [Details],
    ) -> Result<(), Failure> {
        if !self.toolkit.is_browser() {
            return Ok(());
        }
        for (outline, detail) in outlines.iter().zip(details) {
            if outline.role != Role::DateField {
                continue;
            }
            let Some(own) = self.handles.get(outline.key).and_then(|own| Ref::new(&own.bus, &own.path))
            else {
                continue;
            };
            let text = self.read_parts(own, DEEPEST).await?;
            detail.value = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        }
        Ok(())
    }

    /// The text of an element, with the text of what is in it in its place.
    async fn read_parts(&self, at: Ref, depth: usize) -> Result<String, Failure> {
        let ask = |method: &str, interface: &str| call(&at.bus, at.path.as_str(), interface, method, &());
        let text = call(&at.bus, at.path.as_str(), TEXT, "GetText", &(0, self.toolkit.end_of_text()));
        let answers = self.ask_all(vec![text, ask("GetChildren", ACCESSIBLE)]).await?;
        let text = answers.first().and_then(body::<String>).unwrap_or_default();
        let parts: Vec<Ref> = answers.get(1).and_then(body).unwrap_or_default();
        if !text.contains('\u{fffc}') || depth == 0 {
            return Ok(text.replace('\u{fffc}', ""));
        }
        let parts: Vec<&Ref> = parts.iter().filter(|part| part.is_some()).take(MOST_PARTS).collect();
        let asked = parts.iter().flat_map(|part| {
            ["GetRole", "GetAttributes"]
                .map(|method| call(&part.bus, part.path.as_str(), ACCESSIBLE, method, &()))
        });
        let answers: Vec<Answer> = self.ask_all(asked.collect()).await?;
        let mut texts = Vec::new();
        for (part, answers) in parts.iter().zip(answers.chunks_exact(2)) {
            // Text between elements is in the text already.
            if body::<u32>(&answers[0]) == Some(STATIC) {
                continue;
            }
            let attributes: HashMap<String, String> = body(&answers[1]).unwrap_or_default();
            texts.push(match attributes.get("valuetext").filter(|text| !text.is_empty()) {
                Some(text) => text.clone(),
                None => Box::pin(self.read_parts((*part).clone(), depth - 1)).await?,
            });
        }
        Ok(filled(&text, texts))
    }
}

/// A text with these in the places that stand for elements.
fn filled(text: &str, parts: Vec<String>) -> String {
    let mut parts = parts.into_iter();
    let mut filled = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{fffc}' => filled.push_str(&parts.next().unwrap_or_default()),
            _ => filled.push(character),
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(attributes: &[(&str, &str)], role: Role) -> Marks {
        Marks::of(attributes.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(), role)
    }

    #[test]
    fn dialogs_are_dialogs_wherever_they_come_from() {
        assert_eq!(marks(&[("xml-roles", "dialog")], Role::Group).role, Some(Role::Dialog));
        assert_eq!(marks(&[("xml-roles", "alertdialog")], Role::Dialog).role, Some(Role::Alert));
        assert_eq!(marks(&[("xml-roles", "dialog")], Role::Dialog).role, None);
        assert_eq!(marks(&[("xml-roles", "group dialog")], Role::Group).role, None);
        assert_eq!(marks(&[("text-input-type", "time")], Role::Group).role, Some(Role::DateField));
        assert_eq!(marks(&[("text-input-type", "time"), ("id", "")], Role::DateField), Marks::default());
    }

    #[test]
    fn a_number_that_reads_as_something_else_is_that() {
        for (number, text, told) in [
            (Some("0"), Some("12"), Some("12")),
            (Some("1"), Some("01"), Some("1")),
            (Some("3"), Some("March"), Some("March")),
            (Some("7"), None, Some("7")),
            (None, Some("PM"), Some("PM")),
            (None, None, None),
        ] {
            assert_eq!(reading(number.map(str::to_owned), text).as_deref(), told);
        }
    }

    #[test]
    fn a_date_reads_as_its_parts() {
        let parts = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect();
        assert_eq!(
            filled("\u{fffc}/\u{fffc}/\u{fffc}\u{fffc}", parts(&["12", "24", "2026", ""])),
            "12/24/2026"
        );
        assert_eq!(filled("\u{fffc}:\u{fffc}", parts(&["1"])), "1:");
    }
}
