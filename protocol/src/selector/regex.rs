//! A regex that knows what a match costs.

use regex_lite::Regex;

use super::budget::spend;
use super::parse::sized_regex;
use super::{MAX_REGEX_BYTES, parse};

/// The smallest size that is told apart, in bytes.
const MIN_SIZE: usize = 512;
/// How many bytes of a compiled regex times how many bytes of text take one step.
const BYTES_PER_STEP: u64 = 256;

/// A compiled regex. A match takes time in proportion to its size times the length of the text, so both are charged to the
/// budget of the search before it begins.
#[derive(Debug, Clone)]
pub struct CostedRegex {
    regex: Regex,
    /// Its size when compiled, rounded up.
    size: u64,
}

impl CostedRegex {
    /// Compiles a regex of at most [`MAX_REGEX_BYTES`].
    pub fn new(pattern: &str, ignore_case: bool) -> Result<CostedRegex, regex_lite::Error> {
        let regex = parse::regex(pattern, ignore_case)?;
        // The library does not tell the size, but refuses what is larger than it may be.
        let mut size = MAX_REGEX_BYTES;
        while size > MIN_SIZE && sized_regex(pattern, ignore_case, size / 2).is_ok() {
            size /= 2;
        }
        Ok(CostedRegex { regex, size: size as u64 })
    }

    /// Whether it matches somewhere in the text. False if the budget does not allow to find out.
    pub fn is_match(&self, text: &str) -> bool {
        spend(self.cost(text)) && self.regex.is_match(text)
    }

    fn cost(&self, text: &str) -> u64 {
        1 + self.size * (text.len() as u64 + 1) / BYTES_PER_STEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selector::budget::{GivenUp, within};

    #[test]
    fn larger_regexes_and_longer_texts_cost_more() {
        let small = CostedRegex::new("total", false).unwrap();
        let large = CostedRegex::new("((.?){30}){3}qq", false).unwrap();
        assert!(large.size >= 4 * small.size, "{} {}", large.size, small.size);
        assert!(small.cost(&"x".repeat(10_000)) > 100 * small.cost("x"));
        assert!(CostedRegex::new("((a{50}){50}){50}", false).is_err());
    }

    #[test]
    fn a_match_that_costs_more_than_is_left_is_not_tried() {
        let large = CostedRegex::new("((.?){30}){3}", false).unwrap();
        let text = "x".repeat(9_000);
        assert_eq!(within(1_000, None, || large.is_match(&text)), Err(GivenUp::Spent));
        assert_eq!(within(10_000_000, None, || large.is_match(&text)), Ok(true));
    }
}
