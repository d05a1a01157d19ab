//! The marks around what apps show, so that text on the screen cannot be taken for instructions.
//!
//! An app does not know the mark, because it is chosen at random for each process; and inside of the marks its texts stand in quotes,
//! with their line breaks escaped, so that none of them can look like a line of ours.

use std::hash::{BuildHasher, Hasher, RandomState};

/// The marks of this process.
#[derive(Debug, Clone)]
pub struct Marks {
    nonce: String,
}

impl Marks {
    /// Marks with a nonce of their own.
    pub fn new() -> Marks {
        // The keys of `RandomState` come from the system's source of random numbers.
        let random = RandomState::new().build_hasher().finish();
        Marks { nonce: format!("{:08x}", random as u32) }
    }

    /// The mark before what apps show.
    pub fn opening(&self) -> String {
        format!("<ui-{}>", self.nonce)
    }

    /// The mark behind it.
    pub fn closing(&self) -> String {
        format!("</ui-{}>", self.nonce)
    }

    /// Lines with texts of apps in them, between marks.
    pub fn enclose(&self, lines: &str) -> String {
        format!("{}\n{}\n{}", self.opening(), lines.trim_end_matches('\n'), self.closing())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_process_has_marks_of_its_own() {
        let marks = Marks::new();
        assert_ne!(marks.nonce, Marks::new().nonce);
        assert_eq!(marks.enclose("a\nb\n"), format!("{}\na\nb\n{}", marks.opening(), marks.closing()));
    }
}
