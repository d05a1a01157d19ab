//! Prints selectors in canonical form.

use std::fmt::{self, Display, Formatter, Write as _};

use super::ast::{AttrFilter, Combinator, Filter, Part, Path, Pseudo, RoleTest, Selector, Step};
use super::parse::is_word;

/// Prints roles by their names and `*` for any role, names without quotes if possible, values always in double quotes, and one
/// space around `>` and after `,`.
impl Display for Selector {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, path) in self.paths().iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            path.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Path {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)?;
        for (combinator, step) in &self.rest {
            f.write_str(match combinator {
                Combinator::Child => " > ",
                Combinator::Descendant => " ",
            })?;
            step.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.role {
            RoleTest::Any => f.write_char('*')?,
            RoleTest::Role(role) => f.write_str(role.name())?,
            RoleTest::Native(native) if native.starts_with("AX") && is_bare(native) => f.write_str(native)?,
            RoleTest::Native(native) => Quoted(native).fmt(f)?,
        }
        match &self.name {
            Some(name) if is_bare(name) => write!(f, ":{name}")?,
            Some(name) => write!(f, ":{}", Quoted(name))?,
            None => {}
        }
        self.parts.iter().try_for_each(|part| part.fmt(f))
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Part::Filter(Filter::State { test, negated }) => {
                write!(f, "[{}{}]", if *negated { "!" } else { "" }, test.name())
            }
            Part::Filter(Filter::Attr(AttrFilter { attr, op, value, ignore_case })) => {
                let flag = if *ignore_case { " i" } else { "" };
                write!(f, "[{}{}{}{flag}]", attr.name(), op.symbol(), Quoted(value))
            }
            Part::Pseudo(Pseudo::Nth(ordinal)) => write!(f, ":nth({ordinal})"),
            Part::Pseudo(Pseudo::Has(path)) => write!(f, ":has({path})"),
            Part::Pseudo(Pseudo::Not(step)) => write!(f, ":not({step})"),
        }
    }
}

/// Prints a text as a STRING.
pub(super) struct Quoted<'a>(pub &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for char in self.0.chars() {
            match char {
                '"' | '\\' => write!(f, "\\{char}")?,
                '\n' => f.write_str("\\n")?,
                char if char.is_control() => write!(f, "\\u{{{:x}}}", char as u32)?,
                char => f.write_char(char)?,
            }
        }
        f.write_char('"')
    }
}

/// Whether a text is printed as a WORD. One with a backslash or a control character is a WORD too, but is clearer in quotes.
fn is_bare(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|char| is_word(char) && char != '\\' && !char.is_control())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::role::Role;
    use crate::selector::{Attr, MAX_BYTES, Op, StateTest};
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn check(input: &str, expected: &str) {
        assert_eq!(Selector::parse(input).unwrap().to_string(), expected, "{input}");
    }

    #[test]
    fn every_spelling_prints_as_the_canonical_one() {
        check("button:Save", "button:Save");
        check("Button:'Save'", "button:Save");
        check("TextBox[ FOCUSED ]", "textfield[focused]");
        check(":Save", "*:Save");
        check("*", "*");
        check("AX", "AX");
        check("\"AXButton\"", "AXButton");
        check("'push button':Save", "\"push button\":Save");
        check("[ ! enabled ]", "*[!enabled]");
        check("[value=12]", "*[value=\"12\"]");
        check("[ value != '12'  I ]", "*[value!=\"12\" i]");
        check("[text~=total]", "*[text~=\"total\"]");
        check("[name=~'^a.c$' i]", "*[name=~\"^a.c$\" i]");
        check("[name=~~]", "*[name=~\"~\"]");
        check("window:Inbox   list>row:nth( 3 )", "window:Inbox list > row:nth(3)");
        check(" app,pushbutton:x ", "application, button:x");
        check("row:HAS( cell > text:x ):Not([selected])", "row:has(cell > text:x):not(*[selected])");
        check("row:nth", "row:nth");
        check("row:'nth'", "row:nth");
        check("text:\"a\\nb\\u{7}\"", "text:\"a\\nb\\u{7}\"");
        check(r#"text:'"'"#, r#"text:"\"""#);
        check(r"text:a\b", r#"text:"a\\b""#);
        check("text:…", "text:…");
        check("text:\"\"", "text:\"\"");
    }

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            select(vec![
                "Save",
                "Save As…",
                "",
                " ",
                "nth",
                "i",
                "*",
                "AX",
                "a\"b'c\\",
                "~",
                "x\ny\u{0}",
                "é\u{a0}"
            ])
            .prop_map(str::to_owned),
            "[a-zA-Z0-9]{1,6}",
            "\\PC{0,5}",
            any::<char>().prop_map(String::from),
        ]
    }

    fn role() -> impl Strategy<Value = RoleTest> {
        prop_oneof![
            Just(RoleTest::Any),
            select(Role::ALL).prop_map(RoleTest::Role),
            text().prop_map(RoleTest::Native),
            "AX[A-Z a-z]{0,4}".prop_map(RoleTest::Native),
        ]
    }

    fn filter() -> impl Strategy<Value = Filter> {
        let state = select(StateTest::all().collect::<Vec<_>>());
        let attr = (select(Attr::ALL), select(Op::ALL), text(), any::<bool>()).prop_map(
            |(attr, op, value, ignore_case)| {
                // Only a regex has to be well formed.
                let value = if op == Op::Regex { regex_lite::escape(&value) } else { value };
                Filter::Attr(AttrFilter { attr, op, value, ignore_case })
            },
        );
        prop_oneof![(state, any::<bool>()).prop_map(|(test, negated)| Filter::State { test, negated }), attr]
    }

    fn step_of(part: impl Strategy<Value = Part>) -> impl Strategy<Value = Step> {
        (role(), option::of(text()), vec(part, 0..3)).prop_map(|(role, name, parts)| Step {
            role,
            name,
            parts,
        })
    }

    fn path_of(step: impl Strategy<Value = Step> + Clone) -> impl Strategy<Value = Path> {
        let combinator = select(vec![Combinator::Child, Combinator::Descendant]);
        (step.clone(), vec((combinator, step), 0..3)).prop_map(|(first, rest)| Path { first, rest })
    }

    fn step() -> impl Strategy<Value = Step> {
        let nth = any::<i32>().prop_filter("there is no zeroth", |k| *k != 0).prop_map(Pseudo::Nth);
        let leaf = prop_oneof![filter().prop_map(Part::Filter), nth.prop_map(Part::Pseudo)].boxed();
        let plain = step_of(leaf.clone()).boxed();
        let nested = prop_oneof![plain.clone().prop_map(Pseudo::Not), path_of(plain).prop_map(Pseudo::Has)];
        let outer = step_of(prop_oneof![leaf.clone(), nested.prop_map(Part::Pseudo)]).boxed();
        step_of(prop_oneof![3 => leaf, 1 => outer.prop_map(|step| Part::Pseudo(Pseudo::Not(step)))])
    }

    fn steps_in(step: &Step) -> usize {
        let inner = step.parts.iter().map(|part| match part {
            Part::Pseudo(Pseudo::Has(path)) => path.steps().map(steps_in).sum(),
            Part::Pseudo(Pseudo::Not(step)) => steps_in(step),
            _ => 0,
        });
        1 + inner.sum::<usize>()
    }

    proptest! {
        #[test]
        fn reading_what_was_printed_gives_the_same_selector(paths in vec(path_of(step().boxed()), 1..3)) {
            let steps: usize = paths.iter().flat_map(Path::steps).map(steps_in).sum();
            let selector = Selector::of_parsed(paths);
            let text = selector.to_string();
            match Selector::parse(&text) {
                Ok(read) => prop_assert_eq!(read, selector),
                Err(error) => prop_assert!(steps > 16 || text.len() > MAX_BYTES, "{} {}", text, error),
            }
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in any::<String>()) {
            let _ = Selector::parse(&text);
        }

        #[test]
        fn printing_whatever_was_read_is_stable(
            tokens in vec(
                select(vec![
                    "button", "row", "AXRow", "*", "app", ":", ":Save", ":nth(", ":has(", ":not(", ")", "2", "-1", "[",
                    "]", "[focused]", "!", "name", "text", "=", "~=", "=~", "^=", "\"", "'", "x", "\\", "\\n", "\\u{41}",
                    " ", " ", ">", ",", "i", "é",
                ]),
                0..12,
            )
        ) {
            if let Ok(selector) = Selector::parse(&tokens.concat()) {
                let printed = selector.to_string();
                let read = Selector::parse(&printed).unwrap();
                prop_assert_eq!(&read, &selector);
                prop_assert_eq!(read.to_string(), printed);
            }
        }
    }
}
