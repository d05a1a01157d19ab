//! The hints of parse errors: what was probably meant, for the mistakes that people and models make.

use super::ast::{Attr, Pseudo, StateTest};
use super::print::Quoted;
use crate::role::Role;

/// The maximum number of similar roles in a hint.
const MAX_SIMILAR_ROLES: usize = 3;

/// The hint for `button:Save As`, where the name must be quoted. `step` is the text up to the name, `rest` the text from the name on.
pub(super) fn quote_name(step: &str, rest: &str) -> String {
    let mut depth = 0;
    let end = rest.find(|char| {
        match char {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth < 0 || matches!(char, ',' | '>' | '[')
    });
    let name = rest[..end.unwrap_or(rest.len())].trim_end();
    format!("quote the name: {step}{}", Quoted(name))
}

/// The hint for `[name=Save As]`, where the value must be quoted.
pub(super) fn quote_value(attr: &str, op: &str, rest: &str) -> String {
    format!("quote the value: [{attr}{op}{}]", Quoted(rest))
}

/// The hint for a word that is not a role: similar roles, and how to write a name or a native role.
pub(super) fn unknown_role(word: &str) -> String {
    let or = format!("a name is written *:{word}, a native role {}", Quoted(word));
    match similar_roles(word).as_slice() {
        [] => or,
        near => format!("did you mean {}? {or}", near.join(", ")),
    }
}

/// The hint for a pseudo of CSS or of similar languages that is written differently here.
pub(super) fn css_pseudo(word: &str) -> Option<String> {
    match word.to_ascii_lowercase().as_str() {
        "nth-child" | "nth-of-type" | "eq" => Some("write :nth(1)".into()),
        "contains" | "has-text" | "text" => Some(r#"write [text~="…"]"#.into()),
        "is" | "where" | "matches" => Some("write the whole path for each, with `,` between".into()),
        _ => None,
    }
}

/// The hint for a pseudo with too many arguments.
pub(super) fn one_argument(pseudo: &Pseudo) -> Option<String> {
    match pseudo {
        Pseudo::Nth(_) => Some(":nth takes one number".into()),
        Pseudo::Has(_) => Some(":has takes one path, without `,`".into()),
        Pseudo::Not(_) => Some(":not takes one step; for two, write :not(…):not(…)".into()),
    }
}

/// The hint for `[name]`, an attribute without an operator.
pub(super) fn attr_without_op(attr: &str) -> String {
    format!(r#"an attribute takes a value: [{attr}="…"], [{attr}~="…"]"#)
}

/// The hint that lists all states and attributes.
pub(super) fn filter_words() -> String {
    let states: Vec<&str> = StateTest::all().map(StateTest::name).collect();
    let attrs: Vec<&str> = Attr::ALL.iter().map(|attr| attr.name()).collect();
    format!("states: {}; attributes: {}", states.join(" "), attrs.join(" "))
}

/// The roles whose name or alias is similar to a word, most similar first.
fn similar_roles(word: &str) -> Vec<&'static str> {
    let word = word.to_lowercase();
    // A third of the letters may be wrong; with more, short words would be similar to everything.
    let max_distance = (word.chars().count() / 3).clamp(1, 3);
    let mut near: Vec<(usize, &'static str)> = Role::ALL
        .iter()
        .filter_map(|role| {
            let spellings = role.aliases().iter().copied().chain([role.name()]);
            let distance = spellings.map(|spelling| edit_distance(&word, spelling)).min()?;
            // `btn` is not similar to `button` by letters, but it is the prefix of its ids.
            let distance = if role.prefix() == word { 0 } else { distance };
            (distance <= max_distance).then_some((distance, role.name()))
        })
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(MAX_SIMILAR_ROLES).map(|(_, name)| name).collect()
}

/// The number of insertions, deletions and replacements between two words (Levenshtein distance).
fn edit_distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, from_char) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to_char) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(from_char != *to_char);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::Selector;

    /// The error of `input` points at `offset` and its hint contains `hint`.
    fn check(input: &str, offset: usize, hint: &str) {
        let error = Selector::parse(input).unwrap_err();
        assert_eq!(error.offset, offset, "{input}: {error}");
        assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{input}: {error}");
    }

    #[test]
    fn a_name_that_needs_quotes_is_shown_quoted() {
        check("button:Save As", 12, r#"quote the name: button:"Save As""#);
        check("window:Inbox button:Save As PDF", 25, r#"button:"Save As PDF""#);
        check("Button:Save As[focused]", 12, r#"Button:"Save As""#);
        check("dialog > button:Save As > text", 21, r#"button:"Save As""#);
        check(":Save As", 6, r#"quote the name: :"Save As""#);
        check("button:Save (1)", 12, r#"button:"Save (1)""#);
        check("button:Save(1)", 6, r#"button:"Save(1)""#);
        check("button:Don't", 10, r#"button:"Don't""#);
        check("button:a=b", 8, r#"button:"a=b""#);
        check("button:Wow!", 10, r#"button:"Wow!""#);
        check("text:Total: 5", 10, r#"text:"Total: 5""#);
        check("text: Total", 5, "no space after the `:`");
        check("text:12:30", 7, r#"text:"12:30""#);
        check("row:has(button:Save As)", 20, r#"button:"Save As""#);
        check("row:not(button:Save As)", 20, r#"button:"Save As""#);
        check("[name=Save As]", 11, r#"quote the value: [name="Save As"]"#);
    }

    #[test]
    fn an_unknown_role_is_answered_with_the_nearest() {
        check("buton:Save", 0, "did you mean button?");
        check("TextFeild", 0, "did you mean textfield?");
        check("btn", 0, "did you mean button");
        check("window > chekbox", 9, "did you mean checkbox?");
        check("Gizmo", 0, r#"a name is written *:Gizmo, a native role "Gizmo""#);
        check("button, Then", 8, "a name is written *:Then");
        check(r#"button:"Save" As"#, 14, "a name is written *:As");
    }

    #[test]
    fn an_unknown_filter_is_answered_with_all_there_are() {
        check("button[sleepy]", 7, "focused disabled");
        check("button[sleepy]", 7, "enabled visible");
        check("button[title=x]", 7, "name value description identifier native_role text");
        check("button[]", 7, "states:");
        check("button[name]", 11, r#"[name="…"]"#);
        check("button[focused=true]", 7, "[focused] or [!focused]");
        check("button[!name=x]", 8, "[name!=…]");
    }

    #[test]
    fn what_css_would_write_is_answered_with_what_we_write() {
        check("row:nth-child(2)", 3, ":nth(1)");
        check("text:contains('x')", 4, "[text~=");
        check("row:nth(0)", 8, "the last is :nth(-1)");
        check("row:nth(2n+1)", 8, "the last is :nth(-1)");
        check("> row", 0, "not with `>`");
        check("row:has(> cell)", 8, "not with `>`");
        check("row:has(cell, text)", 12, "one path");
        check("row:not(cell text)", 13, "one step");
        check("button[focused]:Save", 15, "right after the role");
        check(r#"[name=~"\d+"]"#, 8, r"\\d");
    }

    #[test]
    fn edit_distance_counts_letters() {
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("same", "same"), 0);
    }
}
