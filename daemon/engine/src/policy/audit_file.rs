//! The files of the audit log: one for each day, more if they grow large, the last days kept, one chain through all of them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use axd_protocol::audit::{ChainEnd, day_of, first_number, is_file_name};
use tracing::warn;

use crate::private_file::{Access, PrivateFolder};

/// The number of days that are kept.
const DAYS: usize = 7;
/// The size at which the next file is begun.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The audit's files, and the one that is written to.
#[derive(Debug)]
pub(super) struct AuditFile {
    folder: PathBuf,
    open: Option<OpenFile>,
    /// The end of the chain; `None` until the files were read.
    end: Option<ChainEnd>,
    max_bytes: u64,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    day: String,
    length: u64,
}

impl AuditFile {
    pub(super) fn new(folder: PathBuf) -> AuditFile {
        AuditFile { folder, open: None, end: None, max_bytes: MAX_FILE_BYTES }
    }

    /// Opens the file of this time, in seconds since 1970, if it is not open.
    pub(super) fn prepare(&mut self, now: u64) -> io::Result<()> {
        let day = day_of(now);
        if let Some(open) = &self.open {
            // A file that was removed can be written to, and nobody would ever read it.
            let is_there = open.file.metadata().is_ok_and(|metadata| metadata.nlink() > 0);
            if is_there && open.day == day && open.length < self.max_bytes {
                return Ok(());
            }
            if !is_there {
                warn!("the audit's file was removed; another is begun");
            }
            self.open = None;
        }
        let folder = PrivateFolder::create(&self.folder)?;
        if self.end.is_none() {
            let (end, newest) = self.read_end(&folder)?;
            self.end = Some(end);
            if let Some((name, length)) = newest
                && is_of_day(&name, &day)
                && length < self.max_bytes
            {
                let file = folder.open(&name, Access::Append)?;
                self.open = Some(OpenFile { file, day, length });
                return Ok(());
            }
        }
        // A file that was left is never returned to, even if the clock goes back, so that each holds a stretch of the chain.
        for number in 0..u32::MAX {
            let name = match number {
                0 => format!("audit.{day}.jsonl"),
                number => format!("audit.{day}.{number}.jsonl"),
            };
            match folder.open(&name, Access::Create) {
                Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => {}
                opened => {
                    self.open = Some(OpenFile { file: opened?, day, length: 0 });
                    break;
                }
            }
        }
        self.remove_old();
        Ok(())
    }

    /// Adds a line with these fields to the chain.
    pub(super) fn append(&mut self, fields: &str, now: u64) -> io::Result<()> {
        self.prepare(now)?;
        let (Some(open), Some(end)) = (&mut self.open, &mut self.end) else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let mut line = end.line(fields);
        line.push('\n');
        if let Err(fault) = open.file.write_all(line.as_bytes()) {
            // A full disk may have taken a part of it. What is not whole is no line, and must not stand before the next one.
            if open.file.set_len(open.length).is_err() {
                self.open = None;
                self.end = None;
            }
            return Err(fault);
        }
        open.length += line.len() as u64;
        line.pop();
        end.advance(&line);
        Ok(())
    }

    /// Finds the end of the chain that earlier daemons wrote, and the file it is in.
    fn read_end(&self, folder: &PrivateFolder) -> io::Result<(ChainEnd, Option<(String, u64)>)> {
        let mut newest: Option<(ChainEnd, String, u64)> = None;
        for name in self.names()? {
            let mut file = folder.open(&name, Access::Append)?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            if whole < bytes.len() {
                // The last daemon was killed, or the machine lost power, while it wrote.
                warn!(name, "the audit's last line is incomplete and is removed");
                file.set_len(whole as u64)?;
            }
            let text = String::from_utf8_lossy(&bytes[..whole]);
            if let Some(end) = text.lines().next_back().and_then(ChainEnd::after)
                && newest.as_ref().is_none_or(|(newest, ..)| newest.n < end.n)
            {
                newest = Some((end, name, whole as u64));
            }
        }
        Ok(newest.map_or_else(Default::default, |(end, name, length)| (end, Some((name, length)))))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.folder)?.flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        Ok(names.filter(|name| is_file_name(name)).collect())
    }

    /// Removes the files of all but the last days. Which are the last, their lines' numbers say, not the clock, which may be wrong.
    fn remove_old(&self) {
        let mut files: Vec<(u64, String)> = Vec::new();
        for name in self.names().unwrap_or_default() {
            let mut start = String::new();
            let opened = File::open(self.folder.join(&name));
            let _ = opened.map(|file| file.take(4_096).read_to_string(&mut start));
            files.push((first_number(&start).unwrap_or(u64::MAX), name));
        }
        files.sort_by(|one, other| other.cmp(one));
        let mut days = BTreeSet::new();
        for (_, name) in files {
            days.insert(name.split('.').nth(1).unwrap_or_default().to_owned());
            if days.len() > DAYS {
                let _ = fs::remove_file(self.folder.join(name));
            }
        }
    }
}

fn is_of_day(name: &str, day: &str) -> bool {
    name.split('.').nth(1) == Some(day)
}

#[cfg(test)]
mod tests {
    use axd_protocol::audit::Verifier;

    use super::*;

    const DAY: u64 = 86_400;
    const NOW: u64 = 1_794_960_000;

    /// All lines of all files, in the order of the files' first numbers.
    fn verify(folder: &std::path::Path) -> (usize, u64, u64) {
        let mut texts: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
            .filter(|text| !text.is_empty())
            .collect();
        texts.sort_by_key(|text| first_number(text));
        let mut verifier = Verifier::default();
        for line in texts.iter().flat_map(|text| text.lines()) {
            verifier.feed(line).unwrap();
        }
        (texts.len(), verifier.first(), verifier.end().n)
    }

    #[test]
    fn the_chain_goes_across_days_sizes_restarts_and_clocks_that_jump() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("state");
        let mut at = NOW;
        for restart in 0..3 {
            let mut file = AuditFile { max_bytes: 250, ..AuditFile::new(folder.clone()) };
            for _ in 0..4 {
                file.append("{\"command\":\"click\"}", at).unwrap();
            }
            at = match restart {
                0 => NOW + 200 * 365 * DAY,
                _ => NOW,
            };
        }
        let (files, first, last) = verify(&folder);
        assert!(files > 3, "{files}");
        assert_eq!((first, last), (1, 12));
    }

    #[test]
    fn seven_days_are_kept() {
        let place = tempfile::tempdir().unwrap();
        let mut file = AuditFile::new(place.path().to_owned());
        for day in 0..10 {
            file.append("{}", NOW + day * DAY).unwrap();
            file.append("{}", NOW + day * DAY).unwrap();
        }
        assert_eq!(verify(place.path()), (7, 7, 20));
    }

    #[test]
    fn a_line_that_was_cut_off_is_removed_and_the_chain_goes_on() {
        let place = tempfile::tempdir().unwrap();
        AuditFile::new(place.path().to_owned()).append("{}", NOW).unwrap();
        let path = place.path().join(format!("audit.{}.jsonl", day_of(NOW)));
        fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"{\"n\":2,\"pre").unwrap();
        AuditFile::new(place.path().to_owned()).append("{}", NOW).unwrap();
        assert_eq!(verify(place.path()), (1, 1, 2));
    }

    #[test]
    fn a_folder_that_vanishes_is_made_again_and_the_numbers_go_on() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("state");
        let mut file = AuditFile::new(folder.clone());
        file.append("{}", NOW).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        file.append("{}", NOW).unwrap();
        assert_eq!(verify(&folder), (1, 2, 2));
    }
}
