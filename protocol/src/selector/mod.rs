//! Selectors: how clients name elements by what they are instead of by id.
//!
//! ```text
//! selector = path *( "," path )                  ; union, tree order, no duplicates
//! path     = step *( ( ">" | WS ) step )         ; child | descendant
//! step     = [ role | "*" ] [ ":" name ] *( filter | pseudo )      ; at least one part
//! role     = WORD | STRING      ; any case, aliases (TextBox = textfield); AX… or a STRING matches native_role
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
//! (states, attributes, pseudos, `i`) are read in any case, as roles are.
//!
//! The folder, in reading order: `ast` says what a selector is, `parse` reads one and `hint` explains why it
//! could not, `print` writes one, [`fold`] says when two names are the same, `matcher` compiles one and `query` runs it.
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
mod error;
mod fold;
mod hint;
mod matcher;
mod parse;
mod print;
mod query;
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
pub use matcher::{Facts, Forest, Matcher, Seed, is_item, may_borrow};
pub use target::Target;

/// The longest selector, in bytes, as written and in canonical form.
pub const MAX_BYTES: usize = 1024;
/// The most steps in one selector, those inside `:has` and `:not` included.
pub const MAX_STEPS: usize = 16;
/// How deep `:has` and `:not` may nest.
pub const MAX_NESTING: usize = 3;
/// The most memory, in bytes, that one compiled regex may take. It bounds the time a match may take, too: a regex runs
/// in time proportional to its size times the text's.
pub const MAX_REGEX_BYTES: usize = 32 * 1024;
