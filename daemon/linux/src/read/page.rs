//! What web pages say of their elements beyond their native roles: attributes, and the parts of date fields.

use std::collections::HashMap;

use axd_protocol::Role;

use crate::atspi::dbus::{BusReply, call};
use crate::atspi::protocol::{ACCESSIBLE, ObjectRef, TEXT, body};
use crate::atspi::roles::STATIC;
use crate::read::details::Details;
use crate::read::outline::Outline;
use crate::read::reader::Reader;
use axd_platform::Failure;

/// How deep the parts of a field for a date are in it at most, and how many there are.
const MAX_DATE_DEPTH: usize = 4;
const MAX_DATE_PARTS: usize = 32;

/// The attributes of an element of a page that matter here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PageAttributes {
    /// Its role, where it differs from the native one.
    pub role: Option<Role>,
    /// The text that stands for its number (`valuetext`).
    pub value_text: Option<String>,
    /// The attribute `id`.
    pub identifier: Option<String>,
    /// Whether a page has it, and not the browser itself: then it is written as a tag.
    pub in_page: bool,
}

impl PageAttributes {
    /// Reads the attributes of an element with this native role.
    pub fn parse(mut attributes: HashMap<String, String>, role: Role) -> PageAttributes {
        let mut take = |name: &str| attributes.remove(name).filter(|value| !value.is_empty());
        let kind = take("text-input-type");
        let is_date = matches!(kind.as_deref(), Some("date" | "time" | "datetime-local" | "month" | "week"));
        let role_here = match take("xml-roles").as_deref().and_then(|roles| roles.split_whitespace().next()) {
            Some("dialog") => Some(Role::Dialog),
            Some("alertdialog") => Some(Role::Alert),
            // Gecko has a role for dates, but times are only boxes.
            _ if is_date && role == Role::Group => Some(Role::DateField),
            _ => None,
        };
        PageAttributes {
            role: role_here.filter(|role_here| *role_here != role),
            value_text: take("valuetext"),
            identifier: take("id"),
            in_page: take("tag").is_some(),
        }
    }
}

/// The value of a spin button: its number, unless the page gives another text for it.
pub(crate) fn spin_value(number: Option<String>, reads_as: Option<&str>) -> Option<String> {
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
    /// Adds the values of date fields to their details: the text of their parts. They are few, so this may take some
    /// rounds of calls.
    pub(crate) async fn read_date_fields(
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
            let Some(own) = self.handles.get(outline.key).and_then(|own| ObjectRef::new(&own.bus, &own.path))
            else {
                continue;
            };
            let text = self.read_parts(own, MAX_DATE_DEPTH).await?;
            detail.value = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        }
        Ok(())
    }

    /// The text of an element, with the text of what is in it in its place.
    async fn read_parts(&self, at: ObjectRef, depth: usize) -> Result<String, Failure> {
        let ask = |method: &str, interface: &str| call(&at.bus, at.path.as_str(), interface, method, &());
        let text = call(&at.bus, at.path.as_str(), TEXT, "GetText", &(0, self.toolkit.end_of_text()));
        let answers = self.call_all(vec![text, ask("GetChildren", ACCESSIBLE)]).await?;
        let text = answers.first().and_then(body::<String>).unwrap_or_default();
        let parts: Vec<ObjectRef> = answers.get(1).and_then(body).unwrap_or_default();
        if !text.contains('\u{fffc}') || depth == 0 {
            return Ok(text.replace('\u{fffc}', ""));
        }
        let parts: Vec<&ObjectRef> =
            parts.iter().filter(|part| part.is_element()).take(MAX_DATE_PARTS).collect();
        let asked = parts.iter().flat_map(|part| {
            ["GetRole", "GetAttributes"]
                .map(|method| call(&part.bus, part.path.as_str(), ACCESSIBLE, method, &()))
        });
        let answers: Vec<BusReply> = self.call_all(asked.collect()).await?;
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
        Ok(fill_placeholders(&text, texts))
    }
}

/// Puts these texts in the places of embedded elements.
fn fill_placeholders(text: &str, parts: Vec<String>) -> String {
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

    fn marks(attributes: &[(&str, &str)], role: Role) -> PageAttributes {
        PageAttributes::parse(
            attributes.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            role,
        )
    }

    #[test]
    fn dialogs_are_dialogs_wherever_they_come_from() {
        assert_eq!(marks(&[("xml-roles", "dialog")], Role::Group).role, Some(Role::Dialog));
        assert_eq!(marks(&[("xml-roles", "alertdialog")], Role::Dialog).role, Some(Role::Alert));
        assert_eq!(marks(&[("xml-roles", "dialog")], Role::Dialog).role, None);
        assert_eq!(marks(&[("xml-roles", "group dialog")], Role::Group).role, None);
        assert_eq!(marks(&[("text-input-type", "time")], Role::Group).role, Some(Role::DateField));
        assert_eq!(
            marks(&[("text-input-type", "time"), ("id", "")], Role::DateField),
            PageAttributes::default()
        );
    }

    #[test]
    fn a_number_that_reads_as_something_else_is_that() {
        for (number, text, role_here) in [
            (Some("0"), Some("12"), Some("12")),
            (Some("1"), Some("01"), Some("1")),
            (Some("3"), Some("March"), Some("March")),
            (Some("7"), None, Some("7")),
            (None, Some("PM"), Some("PM")),
            (None, None, None),
        ] {
            assert_eq!(spin_value(number.map(str::to_owned), text).as_deref(), role_here);
        }
    }

    #[test]
    fn a_date_reads_as_its_parts() {
        let parts = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect();
        assert_eq!(
            fill_placeholders("\u{fffc}/\u{fffc}/\u{fffc}\u{fffc}", parts(&["12", "24", "2026", ""])),
            "12/24/2026"
        );
        assert_eq!(fill_placeholders("\u{fffc}:\u{fffc}", parts(&["1"])), "1:");
    }
}
