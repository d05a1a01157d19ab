//! The chain of the audit log: what makes a changed, removed or reordered line show. Daemon and client both use this module.
//!
//! A line is a JSON object that begins with its number, `n`, and `prev`, the SHA-256 of the line before it. The first line of all
//! has 64 zeros. The chain goes on across files and restarts.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The `prev` of the first line of all.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The place of a line in the chain, which is how it begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its number, which counts from 1.
    pub n: u64,
    /// The hash of the line before it.
    pub prev: String,
}

/// The SHA-256 of a line without its newline, in hexadecimal digits.
pub fn hash(line: &[u8]) -> String {
    Sha256::digest(line).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The end of a chain, to which lines are added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainEnd {
    /// The number of the last line; 0 if there is none.
    pub n: u64,
    /// Its hash.
    pub hash: String,
}

impl Default for ChainEnd {
    fn default() -> ChainEnd {
        ChainEnd { n: 0, hash: GENESIS.to_owned() }
    }
}

impl ChainEnd {
    /// The end of a chain whose last line is this.
    pub fn after(line: &str) -> Option<ChainEnd> {
        let link: Link = serde_json::from_str(line).ok()?;
        Some(ChainEnd { n: link.n, hash: hash(line.as_bytes()) })
    }

    /// The next line, without its newline, with these fields: a JSON object.
    pub fn line(&self, fields: &str) -> String {
        let fields = fields.strip_prefix('{').unwrap_or("}");
        let comma = if fields.starts_with('}') { "" } else { "," };
        format!(r#"{{"n":{},"prev":"{}"{comma}{fields}"#, self.n + 1, self.hash)
    }

    /// Goes on to the line that was added.
    pub fn advance(&mut self, line: &str) {
        self.n += 1;
        self.hash = hash(line.as_bytes());
    }
}

/// What is wrong with a chain, and from which line on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// A line is not one of the audit.
    #[error("after line {after} comes something that is no line of the audit")]
    NotALine {
        /// The number of the last good line.
        after: u64,
    },
    /// Lines are missing, or were put in another order.
    #[error("after line {after} comes line {found}: lines were removed or reordered")]
    Gap {
        /// The number of the last good line.
        after: u64,
        /// The number of the line that follows it.
        found: u64,
    },
    /// A line was changed.
    #[error("line {n} is not what it was when line {} was written: it was changed", .n + 1)]
    Changed {
        /// The number of the changed line.
        n: u64,
    },
}

/// Checks a chain line by line.
#[derive(Debug, Clone, Default)]
pub struct Verifier {
    end: Option<ChainEnd>,
    first: u64,
}

impl Verifier {
    /// Checks the next line, without its newline. The first may have any number, because old files are removed.
    pub fn feed(&mut self, line: &str) -> Result<(), Broken> {
        let after = self.end.as_ref().map_or(0, |end| end.n);
        let link: Link = serde_json::from_str(line).map_err(|_| Broken::NotALine { after })?;
        match &self.end {
            None => self.first = link.n,
            Some(end) if link.n != end.n + 1 => return Err(Broken::Gap { after, found: link.n }),
            Some(end) if link.prev != end.hash => return Err(Broken::Changed { n: after }),
            Some(_) => {}
        }
        self.end = Some(ChainEnd { n: link.n, hash: hash(line.as_bytes()) });
        Ok(())
    }

    /// The number of the first line.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The end of what was checked.
    pub fn end(&self) -> ChainEnd {
        self.end.clone().unwrap_or_default()
    }
}

/// The first line's number of a file, by which files are put in order: the clock may have jumped between them.
pub fn first_number(text: &str) -> Option<u64> {
    serde_json::from_str::<Link>(text.lines().next()?).ok().map(|link| link.n)
}

/// Whether a file's name is that of an audit file: `audit.2026-11-18.jsonl`, or `audit.2026-11-18.2.jsonl` for the third of a day.
pub fn is_file_name(name: &str) -> bool {
    name.starts_with("audit.") && name.ends_with(".jsonl")
}

/// The day of a time in seconds since 1970, in UTC: `2026-11-18`.
pub fn day_of(seconds: u64) -> String {
    // The calendar of 400 years begins in March, so that the leap day is the last of a year.
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{date:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(count: u64) -> Vec<String> {
        let mut end = ChainEnd::default();
        let mut lines = Vec::new();
        for number in 0..count {
            let line = end.line(&format!(r#"{{"at_ms":{number},"command":"click"}}"#));
            end.advance(&line);
            lines.push(line);
        }
        lines
    }

    fn check(lines: &[String]) -> Result<u64, Broken> {
        let mut verifier = Verifier::default();
        lines.iter().try_for_each(|line| verifier.feed(line))?;
        Ok(verifier.end().n)
    }

    #[test]
    fn a_chain_as_it_was_written_is_whole_from_wherever_it_is_read() {
        let lines = chain(9);
        assert_eq!(check(&lines), Ok(9));
        assert_eq!(check(&lines[4..]), Ok(9));
        let end = ChainEnd::after(&lines[8]).unwrap();
        assert_eq!(end.n, 9);
        let next = end.line("{}");
        assert_eq!(check(&[lines, vec![next]].concat()), Ok(10));
    }

    #[test]
    fn every_single_change_removal_and_swap_before_the_end_shows() {
        let lines = chain(6);
        for at in 0..5 {
            let mut changed = lines.clone();
            changed[at] = changed[at].replace("click", "press");
            assert_eq!(check(&changed), Err(Broken::Changed { n: at as u64 + 1 }));
            let mut swapped = lines.clone();
            swapped.swap(at, at + 1);
            assert!(check(&swapped).is_err(), "{at}");
            let mut removed = lines.clone();
            removed.remove(at);
            assert_eq!(check(&removed).is_err(), at > 0, "the first one may have been in an old file");
        }
        let mut foreign = lines.clone();
        foreign.insert(3, "{}".to_owned());
        assert_eq!(check(&foreign), Err(Broken::NotALine { after: 3 }));
    }

    #[test]
    fn a_day_is_that_of_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_794_960_000, "2026-11-18"),
            (8_086_176_000, "2226-03-30"),
        ] {
            assert_eq!(day_of(seconds), day);
        }
    }
}
