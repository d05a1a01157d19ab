//! Selectors: how clients refer to elements by their properties instead of by id.
//!
//! ```text
//! selector = path *( "," path )                  ; union, tree order, no duplicates
//! path     = step *( ( ">" | WS ) step )         ; child | descendant
//! step     = [ role | "*" ] [ ":" name ] *( filter | pseudo )      ; at least one part
//! role     = WORD | STRING      ; any case, aliases (TextBox = textfield), its kinds too; AX… or a STRING matches native_role
//! name     = WORD | STRING
//! filter   = "[" [ "!" ] STATE "]" | "[" ATTR OP ( WORD | STRING ) [ WS "i" ] "]"
//! ATTR     = name | value | description | identifier | native_role | text
//! OP       = "=" | "!=" | "~=" (contains) | "^=" | "$=" | "=~" (regex)
//! pseudo   = ":nth(" INT ")" | ":has(" path ")" | ":not(" step ")"
//! STRING   = '"' … '"' | "'" … "'"               ; escapes \" \' \\ \n \u{hex}
//! WORD     = 1*( not WS > , [ ] ( ) : " ' = ! )
//! ```
//!
//! White space is also allowed around `>`, `,` and operators, and just inside brackets and parentheses. Keywords
//! (states, attributes, pseudos, `i`) may be written in any case, as roles may.
//!
//! The files in reading order: `ast` has the types, `parse` the parser and `hint` the hints of its errors, `print` the
//! printer, `fold` the comparison of names, `matcher` the compiled form, and `query` the search.
//!
//! ```
//! use axd_protocol::selector::{Selector, Target};
//!
//! let selector: Selector = "Window:Inbox  list>row:nth(3)".parse()?;
//! assert_eq!(selector.to_string(), "window:Inbox list > row:nth(3)");
//! assert_eq!(Target::parse("120, -4")?, Target::Point { x: 120, y: -4 });
//!
//! let error = Selector::parse("button:Save As").unwrap_err();
//! assert_eq!(error.hint.as_deref(), Some(r#"quote the name: button:"Save As""#));
//! # Ok::<(), axd_protocol::selector::SelectorError>(())
//! ```

mod ast;
pub mod budget;
mod error;
mod fold;
mod hint;
mod matcher;
mod parse;
mod print;
mod query;
mod regex;
mod target;

#[cfg(test)]
mod match_tests;
#[cfg(test)]
mod parse_tests;

pub use ast::{
    Attr, AttrFilter, Combinator, Filter, Op, Part, Path, Pseudo, RoleTest, Selector, StateTest, Step,
};
pub use error::SelectorError;
pub use fold::fold;
pub use matcher::{Facts, Forest, Matcher, Seed, is_item, takes_name_from_content};
pub use regex::CostedRegex;
pub use target::{Mark, Target};

/// The maximum length of a selector in bytes, as written and in canonical form.
pub const MAX_BYTES: usize = 1024;
/// The maximum number of steps in a selector, including those inside `:has` and `:not`.
pub const MAX_STEPS: usize = 16;
/// The maximum nesting depth of `:has` and `:not`.
pub const MAX_NESTING: usize = 3;
/// The maximum memory of a compiled regex in bytes. It also limits the time of a match, which is proportional to the size
/// of the regex times the length of the text.
pub const MAX_REGEX_BYTES: usize = 32 * 1024;
