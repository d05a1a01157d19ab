//! The policy file: TOML, read so that each error names its line, what is wrong and what is right.
//!
//! `section` reads values of a table and collects what is wrong with them; `settings` is what the tables mean, `rules` the list of
//! rules. A file with one error is not in force at all: nobody can tell what was meant by the rest.

mod rules;
mod section;
mod settings;
#[cfg(test)]
mod tests;

use std::fmt;

use toml::de::DeTable;

use crate::policy::Policy;
use section::{Faults, Section};

/// What is wrong in a line of the policy file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileError {
    /// The line.
    pub line: usize,
    /// What is wrong, and what is right.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

/// Reads a policy file. All errors are found, not only the first.
pub fn parse(text: &str) -> Result<Policy, Vec<FileError>> {
    let faults = Faults::new(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        faults.add(error.span().map_or(0, |span| span.start), error.message().replace('\n', "; "));
    }
    // What could be saved of a file that is no TOML would only lead to errors that follow from that.
    if !errors.is_empty() {
        return Err(faults.sorted());
    }
    let mut policy = Policy::builtin();
    let mut file = Section::new(&faults, String::new(), table.get_ref(), 0);
    settings::read(&mut file, &mut policy);
    policy.rules = rules::read(&mut file);
    file.finish();
    match faults.sorted() {
        errors if errors.is_empty() => Ok(policy),
        errors => Err(errors),
    }
}
