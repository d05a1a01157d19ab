//! The parser: recursive descent over the grammar in the module's documentation, with one function per rule.

use super::ast::{
    Attr, AttrFilter, Combinator, Filter, Op, Part, Path, Pseudo, RoleTest, Selector, StateTest, Step,
};
use super::error::SelectorError;
use super::hint;
use super::{MAX_BYTES, MAX_NESTING, MAX_REGEX_BYTES, MAX_STEPS};
use crate::role::Role;

type Result<T> = std::result::Result<T, SelectorError>;

const A_STEP: &str = "a step: a role, `*`, `:name` or `[…]`";

/// Parses a text as a selector.
pub(super) fn selector(text: &str) -> Result<Selector> {
    let mut parser = Parser { text, at: 0, steps: 0, nesting: 0, bare_name: None };
    if text.len() > MAX_BYTES {
        return parser.fail(MAX_BYTES, format!("the end: a selector has at most {MAX_BYTES} bytes"), None);
    }
    let selector = Selector::of_parsed(parser.selector()?);
    // The canonical form may be longer than the text, because aliases are replaced by role names. A selector whose canonical
    // form is too long would be rejected by the peer it is sent to.
    if selector.to_string().len() > MAX_BYTES {
        return parser.fail(text.len(), format!("at most {MAX_BYTES} bytes in canonical form"), None);
    }
    Ok(selector)
}

/// Compiles the regex of a filter, within [`MAX_REGEX_BYTES`].
pub(super) fn regex(
    pattern: &str,
    ignore_case: bool,
) -> std::result::Result<regex_lite::Regex, regex_lite::Error> {
    sized_regex(pattern, ignore_case, MAX_REGEX_BYTES)
}

pub(super) fn sized_regex(
    pattern: &str,
    ignore_case: bool,
    bytes: usize,
) -> std::result::Result<regex_lite::Regex, regex_lite::Error> {
    regex_lite::RegexBuilder::new(pattern).case_insensitive(ignore_case).size_limit(bytes).build()
}

/// Whether a character may be in a WORD.
pub(super) fn is_word(char: char) -> bool {
    !char.is_whitespace() && !matches!(char, '>' | ',' | '[' | ']' | '(' | ')' | ':' | '"' | '\'' | '=' | '!')
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    steps: usize,
    nesting: usize,
    /// The offsets of the last step and of its name, if the step ended in a name without quotes. Text after it that cannot be
    /// parsed was probably meant to be part of the name.
    bare_name: Option<(usize, usize)>,
}

impl<'t> Parser<'t> {
    fn selector(&mut self) -> Result<Vec<Path>> {
        let mut paths = vec![self.path()?];
        while self.eat(',') {
            self.bare_name = None;
            paths.push(self.path()?);
        }
        match self.peek() {
            None => Ok(paths),
            Some(_) => self.fail(self.at, "`>`, a space, `,`, `[`, `:` or the end", self.quote_hint()),
        }
    }

    fn path(&mut self) -> Result<Path> {
        self.skip_space();
        let mut path = Path::from(self.step()?);
        loop {
            let spaced = self.skip_space();
            if self.eat('>') {
                self.bare_name = None;
                self.skip_space();
                path.rest.push((Combinator::Child, self.step()?));
            } else if spaced && !matches!(self.peek(), None | Some(',' | ')')) {
                path.rest.push((Combinator::Descendant, self.step()?));
            } else {
                return Ok(path);
            }
        }
    }

    fn step(&mut self) -> Result<Step> {
        let start = self.at;
        if self.steps == MAX_STEPS {
            return self.fail(start, format!("the end: a selector has at most {MAX_STEPS} steps"), None);
        }
        self.steps += 1;

        let role = self.role()?;
        let mut step = Step { role: role.unwrap_or(RoleTest::Any), name: None, parts: Vec::new() };
        loop {
            match self.peek() {
                Some('[') => step.parts.push(Part::Filter(self.filter()?)),
                Some(':') => match self.pseudo_word() {
                    Some(word) => {
                        let pseudo = self.pseudo(word, &step, start)?;
                        step.parts.push(Part::Pseudo(pseudo));
                    }
                    None => {
                        self.name(&mut step, start)?;
                        continue;
                    }
                },
                _ if self.at == start => {
                    let hint = self.quote_hint().or_else(|| match self.peek() {
                        Some('>') => Some("a path begins with a step, not with `>`".into()),
                        _ => None,
                    });
                    return self.fail(start, A_STEP, hint);
                }
                _ => return Ok(step),
            }
            self.bare_name = None;
        }
    }

    fn role(&mut self) -> Result<Option<RoleTest>> {
        if let Some('"' | '\'') = self.peek() {
            return self.string().map(|native| Some(RoleTest::Native(native)));
        }
        let start = self.at;
        let role = match self.word() {
            "" => return Ok(None),
            "*" => RoleTest::Any,
            native if native.starts_with("AX") => RoleTest::Native(native.to_owned()),
            word => match Role::parse(word) {
                Some(role) => RoleTest::Role(role),
                None => {
                    let hint = self.quote_hint().unwrap_or_else(|| hint::unknown_role(word));
                    return self.fail(start, "a role", Some(hint));
                }
            },
        };
        Ok(Some(role))
    }

    fn name(&mut self, step: &mut Step, step_start: usize) -> Result<()> {
        let colon = self.at;
        if step.name.is_some() {
            let hint = self.quote_hint().unwrap_or_else(|| "a step has one name".into());
            return self.fail(colon, "no second name", Some(hint));
        }
        if !step.parts.is_empty() {
            let hint = r#"the name comes right after the role: button:"Save"[focused]"#;
            return self.fail(colon, "`:nth(`, `:has(` or `:not(`", Some(hint.into()));
        }
        self.at += 1;
        let start = self.at;
        step.name = Some(self.word_or_string("a name")?);
        let quoted = self.text[start..].starts_with(['"', '\'']);
        self.bare_name = (!quoted).then_some((step_start, start));
        Ok(())
    }

    fn filter(&mut self) -> Result<Filter> {
        let open = self.at;
        self.at += 1;
        self.skip_space();
        let negated = self.eat('!');
        self.skip_space();
        let start = self.at;
        let word = self.take_while(|char| char.is_ascii_alphabetic() || matches!(char, '_' | '-'));
        self.skip_space();
        let state = StateTest::parse(word);
        let attr = Attr::parse(word);

        let Some(op) = self.op() else {
            return match state {
                Some(test) => {
                    self.close(open, ']')?;
                    Ok(Filter::State { test, negated })
                }
                None if attr.is_some() => self.fail(
                    self.at,
                    "`=`, `!=`, `~=`, `^=`, `$=` or `=~`",
                    Some(hint::attr_without_op(word)),
                ),
                None => self.fail(start, "a state or an attribute", Some(hint::filter_words())),
            };
        };
        match attr {
            Some(_) if negated => self.fail(start, "a state", Some(format!("write [{word}!=…]"))),
            Some(attr) => self.attr_filter(open, attr, op).map(Filter::Attr),
            None if state.is_some() => {
                self.fail(start, "an attribute", Some(format!("a state has no value: [{word}] or [!{word}]")))
            }
            None => self.fail(start, "an attribute", Some(hint::filter_words())),
        }
    }

    fn attr_filter(&mut self, open: usize, attr: Attr, op: Op) -> Result<AttrFilter> {
        self.skip_space();
        let start = self.at;
        let value = self.word_or_string("a value")?;
        let value_end = self.at;
        let ignore_case = self.skip_space() && (self.eat('i') || self.eat('I'));
        self.skip_space();
        // There is more text: either the value needs quotes, or the bracket is not closed.
        if self.peek().is_some_and(|char| char != ']') {
            let quoted = self.text[start..].starts_with(['"', '\'']);
            let rest = self.text[start..].split(']').next().unwrap_or_default().trim_end();
            let hint = (!quoted).then(|| hint::quote_value(attr.name(), op.symbol(), rest));
            return self.fail(if quoted { value_end } else { self.at }, "`]`", hint);
        }
        self.close(open, ']')?;
        if op == Op::Regex
            && let Err(error) = regex(&value, ignore_case)
        {
            return self.fail(start, "a regex", Some(error.to_string()));
        }
        Ok(AttrFilter { attr, op, value, ignore_case })
    }

    fn op(&mut self) -> Option<Op> {
        let op = *Op::ALL.iter().find(|op| self.text[self.at..].starts_with(op.symbol()))?;
        self.at += op.symbol().len();
        Some(op)
    }

    /// The word of a pseudo, if the `:` at the current position starts one: `:` WORD `(`.
    fn pseudo_word(&self) -> Option<&'t str> {
        let rest = &self.text[self.at + 1..];
        let word = &rest[..rest.find(|char| !is_word(char)).unwrap_or(rest.len())];
        (!word.is_empty() && rest[word.len()..].starts_with('(')).then_some(word)
    }

    fn pseudo(&mut self, word: &str, step: &Step, step_start: usize) -> Result<Pseudo> {
        let start = self.at;
        let open = start + 1 + word.len();
        let nests = !word.eq_ignore_ascii_case("nth");
        if nests && self.nesting == MAX_NESTING {
            return self.fail(start, format!("`:has` and `:not` nested at most {MAX_NESTING} deep"), None);
        }
        let unnamed = step.name.is_none() && step.parts.is_empty();
        // An unknown pseudo may be a name that contains a parenthesis: `Save(1)`.
        let bare_name = self.bare_name.take().or(unnamed.then_some((step_start, start + 1)));
        self.at = open + 1;
        self.nesting += usize::from(nests);
        self.skip_space();
        let pseudo = match word.to_ascii_lowercase().as_str() {
            "nth" => Pseudo::Nth(self.ordinal()?),
            "has" => Pseudo::Has(self.path()?),
            "not" => Pseudo::Not(self.step()?),
            _ => {
                self.bare_name = bare_name;
                let hint = hint::css_pseudo(word).or_else(|| self.quote_hint());
                return self.fail(start, "`:nth(`, `:has(` or `:not(`", hint);
            }
        };
        self.nesting -= usize::from(nests);
        self.skip_space();
        if self.peek().is_some_and(|char| char != ')') {
            let hint = self.quote_hint().or_else(|| hint::one_argument(&pseudo));
            return self.fail(self.at, "`)`", hint);
        }
        self.close(open, ')')?;
        Ok(pseudo)
    }

    fn ordinal(&mut self) -> Result<i32> {
        let start = self.at;
        let digits = self.take_while(|char| char == '-' || char.is_ascii_alphanumeric());
        match digits.parse() {
            Ok(0) | Err(_) => {
                self.fail(start, "a number", Some("the first is :nth(1), the last is :nth(-1)".into()))
            }
            Ok(ordinal) => Ok(ordinal),
        }
    }

    fn word_or_string(&mut self, what: &str) -> Result<String> {
        if let Some('"' | '\'') = self.peek() {
            return self.string();
        }
        let start = self.at;
        match self.word() {
            "" => {
                let hint = match self.peek() {
                    Some(char) if char.is_whitespace() => "no space after the `:`",
                    _ => "use quotes if it has characters other than letters and digits",
                };
                self.fail(start, what, Some(hint.into()))
            }
            word => Ok(word.to_owned()),
        }
    }

    fn string(&mut self) -> Result<String> {
        let open = self.at;
        let Some(quote) = self.next() else { return self.fail(open, "a quote", None) };
        let mut string = String::new();
        loop {
            let at = self.at;
            match self.next() {
                Some(char) if char == quote => return Ok(string),
                Some('\\') => string.push(self.escape(at)?),
                Some(char) => string.push(char),
                None => return self.fail(open, format!("a closing {quote} for this one"), None),
            }
        }
    }

    fn escape(&mut self, start: usize) -> Result<char> {
        match self.next() {
            Some(char @ ('"' | '\'' | '\\')) => return Ok(char),
            Some('n') => return Ok('\n'),
            Some('u') if self.eat('{') => {
                let hex = self.take_while(|char| char.is_ascii_hexdigit());
                if let (Ok(code), true) = (u32::from_str_radix(hex, 16), self.eat('}'))
                    && let Some(char) = char::from_u32(code)
                {
                    return Ok(char);
                }
            }
            _ => {}
        }
        let hint = Some(r"a backslash itself is written twice, in regexes too: \\d".into());
        self.fail(start, r#"\", \', \\, \n or \u{hex}"#, hint)
    }

    fn close(&mut self, open: usize, bracket: char) -> Result<()> {
        if self.eat(bracket) {
            return Ok(());
        }
        let opened = &self.text[open..=open];
        self.fail(
            self.at,
            format!("`{bracket}`"),
            Some(format!("the `{opened}` at byte {open} is not closed")),
        )
    }

    fn word(&mut self) -> &'t str {
        self.take_while(is_word)
    }

    fn take_while(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        let rest = &self.text[self.at..];
        let taken = &rest[..rest.find(|char| !belongs(char)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn skip_space(&mut self) -> bool {
        !self.take_while(char::is_whitespace).is_empty()
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.at += char.len_utf8();
        Some(char)
    }

    fn eat(&mut self, char: char) -> bool {
        let eaten = self.text[self.at..].starts_with(char);
        self.at += if eaten { char.len_utf8() } else { 0 };
        eaten
    }

    fn quote_hint(&self) -> Option<String> {
        let (step, name) = self.bare_name?;
        Some(hint::quote_name(&self.text[step..name], &self.text[name..]))
    }

    fn fail<T>(&self, offset: usize, expected: impl Into<String>, hint: Option<String>) -> Result<T> {
        Err(SelectorError::new(self.text, offset, expected, hint))
    }
}
