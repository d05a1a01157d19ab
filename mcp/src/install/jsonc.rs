//! Enters a member into JSON that may have comments and trailing commas, and leaves every other byte as it is.

use std::ops::Range;

use serde_json::{Map, Value};

/// The text with `{"section": {"name": entry}}` in it.
pub fn with_entry(text: &str, section: &str, name: &str, entry: &Value) -> Result<String, String> {
    let fresh = || {
        let inner = Value::Object(Map::from_iter([(name.to_owned(), entry.clone())]));
        format!("{:#}\n", Value::Object(Map::from_iter([(section.to_owned(), inner)])))
    };
    if text.trim().is_empty() {
        return Ok(fresh());
    }
    let root = Object::parse(text, 0)?;
    let edited = match root.member(section)? {
        None => {
            let inner = Value::Object(Map::from_iter([(name.to_owned(), entry.clone())]));
            root.with_member(text, section, &inner, 1)
        }
        Some(value) => {
            let servers = Object::parse(text, value.start)
                .map_err(|_| format!("its \"{section}\" is not an object"))?;
            match servers.member(name)? {
                Some(value) if plain(&text[value.clone()])? == *entry => return Ok(text.to_owned()),
                Some(value) => {
                    let written = indented(entry, 2);
                    format!("{}{written}{}", &text[..value.start], &text[value.end..])
                }
                None => servers.with_member(text, name, entry, 2),
            }
        }
    };
    verify(text, &edited, section, name, entry)?;
    Ok(edited)
}

/// Checks that the edited text says what the old one says, and the entry.
fn verify(before: &str, after: &str, section: &str, name: &str, entry: &Value) -> Result<(), String> {
    let mut expected = plain(before)?;
    expected[section][name] = entry.clone();
    if plain(after)? == expected {
        Ok(())
    } else {
        Err("it has a layout that cannot be edited safely".to_owned())
    }
}

/// The value of a text, without its comments and trailing commas.
fn plain(text: &str) -> Result<Value, String> {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let next = skip_blank(text, at)?;
        if next > at {
            out.push(' ');
            at = next;
            continue;
        }
        let rest = &text[at..];
        if rest.starts_with('"') {
            let end = string_end(text, at)?;
            out.push_str(&text[at..end]);
            at = end;
            continue;
        }
        if rest.starts_with(',') {
            let after = skip_blank(text, at + 1)?;
            if !text[after..].starts_with(['}', ']']) {
                out.push(',');
            }
            at += 1;
            continue;
        }
        let letter = rest.chars().next().unwrap_or_default();
        out.push(letter);
        at += letter.len_utf8();
    }
    serde_json::from_str(&out).map_err(|fault| format!("it is not JSON: {fault}"))
}

/// An object in a text, by the places of its parts.
struct Object {
    /// Behind the opening brace.
    start: usize,
    /// At the closing brace.
    end: usize,
    /// The names, and where their values are.
    members: Vec<(String, Range<usize>)>,
}

impl Object {
    /// Parses the object that begins at or behind this place.
    fn parse(text: &str, at: usize) -> Result<Object, String> {
        let open = skip_blank(text, at)?;
        if !text[open..].starts_with('{') {
            return Err("it is not a JSON object".to_owned());
        }
        let mut object = Object { start: open + 1, end: open + 1, members: Vec::new() };
        let mut at = open + 1;
        loop {
            at = skip_blank(text, at)?;
            match text[at..].chars().next() {
                Some('}') => {
                    object.end = at;
                    return Ok(object);
                }
                Some(',') => at += 1,
                Some('"') => {
                    let end = string_end(text, at)?;
                    let name = serde_json::from_str(&text[at..end])
                        .map_err(|fault| format!("it is not JSON: {fault}"))?;
                    let colon = skip_blank(text, end)?;
                    if !text[colon..].starts_with(':') {
                        return Err("it is not JSON: a name has no value".to_owned());
                    }
                    let start = skip_blank(text, colon + 1)?;
                    let end = value_end(text, start)?;
                    object.members.push((name, start..end));
                    at = end;
                }
                _ => return Err("it is not JSON: an object is not closed".to_owned()),
            }
        }
    }

    /// Where the value of a member is.
    fn member(&self, name: &str) -> Result<Option<Range<usize>>, String> {
        let mut found = self.members.iter().filter(|(known, _)| known == name);
        let first = found.next().map(|(_, value)| value.clone());
        if found.next().is_some() { Err(format!("it has \"{name}\" twice")) } else { Ok(first) }
    }

    /// The text with another member behind the last one.
    fn with_member(&self, text: &str, name: &str, value: &Value, depth: usize) -> String {
        let line = format!("\n{}{}: {}", "  ".repeat(depth), Value::from(name), indented(value, depth));
        let closing = format!("\n{}", "  ".repeat(depth - 1));
        let Some((_, last)) = self.members.last() else {
            // Comments in an empty object stay in front of the new member.
            let inside = text[self.start..self.end].trim_end();
            return format!("{}{inside}{line}{closing}{}", &text[..self.start], &text[self.end..]);
        };
        let behind = &text[last.end..self.end];
        let has_comma = skip_blank(text, last.end).is_ok_and(|at| text[at..].starts_with(','));
        let comma = if has_comma { "" } else { "," };
        let kept = behind.trim_end();
        // A comma in front of the new member may stand behind a comment; a trailing comma is used as it is.
        format!("{}{comma}{kept}{line}{closing}{}", &text[..last.end], &text[self.end..])
    }
}

/// A value over several lines, for a member at this depth.
fn indented(value: &Value, depth: usize) -> String {
    format!("{value:#}").replace('\n', &format!("\n{}", "  ".repeat(depth)))
}

/// Behind blanks and comments.
fn skip_blank(text: &str, mut at: usize) -> Result<usize, String> {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\u{feff}');
        at += rest.len() - trimmed.len();
        if trimmed.starts_with("//") {
            at += trimmed.find('\n').unwrap_or(trimmed.len());
        } else if trimmed.starts_with("/*") {
            at += trimmed.find("*/").ok_or("it has a comment that is not closed")? + 2;
        } else {
            return Ok(at);
        }
    }
}

/// Behind a string.
fn string_end(text: &str, start: usize) -> Result<usize, String> {
    let mut escaped = false;
    for (at, c) in text[start + 1..].char_indices() {
        match c {
            '"' if !escaped => return Ok(start + 1 + at + 1),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    Err("it is not JSON: a string is not closed".to_owned())
}

/// Behind a value.
fn value_end(text: &str, start: usize) -> Result<usize, String> {
    let mut at = start;
    let mut depth = 0_usize;
    loop {
        at = skip_blank(text, at)?;
        match text[at..].chars().next() {
            None => return Err("it is not JSON: a value is not closed".to_owned()),
            Some('"') => at = string_end(text, at)?,
            Some('{' | '[') => {
                depth += 1;
                at += 1;
                continue;
            }
            Some('}' | ']') if depth == 0 => return Err("it is not JSON: a value is missing".to_owned()),
            Some('}' | ']') => {
                depth -= 1;
                at += 1;
            }
            Some(',' | ':') if depth > 0 => {
                at += 1;
                continue;
            }
            Some(_) => {
                let word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
                let length = text[at..].find(|c: char| !word(c)).unwrap_or(text.len() - at);
                if length == 0 {
                    return Err("it is not JSON".to_owned());
                }
                at += length;
            }
        }
        if depth == 0 {
            return Ok(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn edited(text: &str) -> Result<String, String> {
        with_entry(text, "mcpServers", "axd", &json!({ "command": "ax" }))
    }

    #[test]
    fn everything_else_stays_as_it_is() {
        let entry = "\"axd\": {\n      \"command\": \"ax\"\n    }";
        for (before, after) in [
            ("{}", format!("{{\n  \"mcpServers\": {{\n    {entry}\n  }}\n}}")),
            (
                "{ // a\n  \"x\": [1, {\"}\": \"//\"}] /* b */\n}\n",
                format!(
                    "{{ // a\n  \"x\": [1, {{\"}}\": \"//\"}}], /* b */\n  \"mcpServers\": {{\n    {entry}\n  }}\n}}\n"
                ),
            ),
            ("{\"mcpServers\": {}}", format!("{{\"mcpServers\": {{\n    {entry}\n  }}}}")),
            (
                "{\"mcpServers\": {\"axd\": {\"command\": \"old\"}, \"b\": 1}}",
                "{\"mcpServers\": {\"axd\": {\n      \"command\": \"ax\"\n    }, \"b\": 1}}".to_owned(),
            ),
        ] {
            assert_eq!(edited(before).unwrap(), after, "{before}");
        }
    }

    #[test]
    fn what_cannot_be_edited_safely_is_refused() {
        for wrong in [
            "[1]",
            "{ \"a\": }",
            "{ \"a\" 1 }",
            "{ \"a\": \"x }",
            "{ /* }",
            "{\"mcpServers\": 5}",
            "{\"mcpServers\": {}, \"mcpServers\": {}}",
            "{\"a\": 1} x",
            "# toml",
        ] {
            assert!(edited(wrong).is_err(), "{wrong}");
        }
    }
}
