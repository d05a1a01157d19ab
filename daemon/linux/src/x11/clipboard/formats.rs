//! What things look like on the clipboard: text, files as lists of addresses. Pure.

use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The kinds in which text is offered, the best first.
pub(crate) const TEXT: [&str; 6] =
    ["UTF8_STRING", "text/plain;charset=utf-8", "text/plain;charset=UTF-8", "STRING", "TEXT", "text/plain"];
pub(crate) const PNG: &str = "image/png";
pub(crate) const URIS: &str = "text/uri-list";
/// What file managers of GNOME and Xfce offer beside: whether to copy or to move, then the addresses.
pub(crate) const GNOME_FILES: &str = "x-special/gnome-copied-files";
/// Password managers set this to `secret` for what no one is to keep or show.
pub(crate) const SECRET_HINT: &str = "x-kde-passwordManagerHint";

/// Text of one of the kinds.
pub(crate) fn text(kind: &str, bytes: Vec<u8>) -> String {
    // Some apps count the end of their string as a part of it.
    let bytes = bytes.strip_suffix(&[0]).map(<[u8]>::to_vec).unwrap_or(bytes);
    match String::from_utf8(bytes) {
        // By definition STRING is Latin-1; what is UTF-8 and not ASCII is hardly ever meant as Latin-1.
        Ok(text) => text,
        Err(not) if matches!(kind, "STRING" | "TEXT" | "text/plain") => {
            not.into_bytes().into_iter().map(char::from).collect()
        }
        Err(not) => String::from_utf8_lossy(not.as_bytes()).into_owned(),
    }
}

/// Text as Latin-1, if it can be.
pub(crate) fn latin1(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect()
}

/// The files of a list of addresses; other addresses are left out.
pub(crate) fn files(list: &str) -> Vec<PathBuf> {
    let lines = list.split(['\n', '\r', '\0']).map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).filter_map(file).collect()
}

/// The files of what GNOME's file managers offer.
pub(crate) fn gnome_files(list: &str) -> Vec<PathBuf> {
    files(list.split_once('\n').map_or("", |(_, addresses)| addresses))
}

/// Files as a list of addresses.
pub(crate) fn uri_list(files: &[PathBuf]) -> String {
    files.iter().map(|path| format!("{}\r\n", address(path))).collect()
}

/// Files as GNOME's file managers want them.
pub(crate) fn gnome_list(files: &[PathBuf]) -> String {
    std::iter::once("copy".to_owned())
        .chain(files.iter().map(|path| address(path)))
        .collect::<Vec<_>>()
        .join("\n")
}

fn address(path: &Path) -> String {
    let mut address = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(char::from(*byte));
            }
            other => {
                // Writing to a string cannot fail.
                let _ = write!(address, "%{other:02X}");
            }
        }
    }
    address
}

/// The file of an address, if it is one on this machine.
fn file(address: &str) -> Option<PathBuf> {
    let rest = address.strip_prefix("file:")?;
    let path = match rest.strip_prefix("//") {
        Some(with_host) => {
            let (host, _) = with_host.split_once('/')?;
            let path = &with_host[host.len()..];
            let here = || nix::unistd::gethostname().is_ok_and(|name| name.eq_ignore_ascii_case(host));
            (host.is_empty() || host == "localhost" || here()).then_some(path)?
        }
        None => Some(rest).filter(|path| path.starts_with('/'))?,
    };
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (high, low) = (digit(left.next()?)?, digit(left.next()?)?);
        bytes.push((high * 16 + low) as u8);
    }
    Some(OsString::from_vec(bytes).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_survive_being_written_and_read() {
        let odd = PathBuf::from(OsString::from_vec(b"/a b/\xff%#.txt".to_vec()));
        let paths = vec![PathBuf::from("/tmp/ü 世.txt"), odd];
        assert_eq!(uri_list(&paths[..1]), "file:///tmp/%C3%BC%20%E4%B8%96.txt\r\n");
        assert_eq!(files(&uri_list(&paths)), paths);
        assert_eq!(gnome_files(&gnome_list(&paths)), paths);
        assert!(gnome_list(&paths).starts_with("copy\nfile:///tmp/"));
    }

    #[test]
    fn addresses_that_are_no_files_here_are_left_out() {
        let list = "# comment\r\nhttp://x/y\r\nfile://localhost/a\r\nfile:/b\r\nfile://elsewhere.invalid/c\nfile:///d%2\n";
        assert_eq!(files(list), [PathBuf::from("/a"), PathBuf::from("/b")]);
        assert_eq!(gnome_files("cut"), Vec::<PathBuf>::new());
    }

    #[test]
    fn text_is_read_in_what_it_was_written() {
        assert_eq!(text("UTF8_STRING", "ü".into()), "ü");
        assert_eq!(text("STRING", vec![0xfc, b'x', 0]), "üx");
        assert_eq!(text("UTF8_STRING", vec![0xfc]), "\u{fffd}");
        assert_eq!(latin1("üx"), Some(vec![0xfc, b'x']));
        assert_eq!(latin1("世"), None);
    }
}
