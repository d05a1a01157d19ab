//! Reading the file from the disk, if nobody else could have written it.

use std::fs::{self, Metadata, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;
use nix::unistd::geteuid;

/// The most bytes of a policy file.
const MAX_BYTES: u64 = 1 << 20;
/// Writable by the group or by everybody.
const WRITABLE_BY_OTHERS: u32 = 0o022;
/// In a folder with this bit everybody removes only their own files.
const STICKY: u32 = 0o1000;

/// The text of a file; `None` if there is none. An error says what is wrong with it and what to do.
pub(crate) fn read(path: &Path) -> Result<Option<String>, String> {
    // Opening must not wait, as it would for a fifo that nobody writes to.
    let flags = OFlag::O_NONBLOCK | OFlag::O_CLOEXEC | OFlag::O_NOCTTY;
    let file = match OpenOptions::new().read(true).custom_flags(flags.bits()).open(path) {
        Ok(file) => file,
        Err(fault) if fault.kind() == ErrorKind::NotFound => {
            return match fs::symlink_metadata(path) {
                Ok(_) => Err("it is a link to a file that does not exist".to_owned()),
                Err(_) => Ok(None),
            };
        }
        // A part of the path is a file, so that there can be none here.
        Err(fault) if fault.kind() == ErrorKind::NotADirectory => return Ok(None),
        Err(fault) => return Err(format!("it cannot be opened: {fault}")),
    };
    let metadata = file.metadata().map_err(|fault| format!("it cannot be examined: {fault}"))?;
    check(&metadata, geteuid().as_raw())?;
    check_folder(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|fault| format!("it cannot be read: {fault}"))?;
    // It may have grown since it was examined.
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large());
    }
    let text = String::from_utf8(bytes).map_err(|fault| {
        let valid = &fault.as_bytes()[..fault.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line}: it is not UTF-8")
    })?;
    Ok(Some(text))
}

fn too_large() -> String {
    format!("it is larger than {} KiB", MAX_BYTES >> 10)
}

/// Whether a file can be believed to be the user's own.
fn check(metadata: &Metadata, user: u32) -> Result<(), String> {
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    if let Some(fault) = not_ours(metadata.uid(), user) {
        return Err(format!("it {fault}"));
    }
    let mode = metadata.mode() & 0o7777;
    if mode & WRITABLE_BY_OTHERS != 0 {
        return Err(format!("it can be written by other users (mode {mode:o}); run chmod go-w on it"));
    }
    if metadata.len() > MAX_BYTES {
        return Err(too_large());
    }
    Ok(())
}

fn not_ours(owner: u32, user: u32) -> Option<String> {
    (owner != user && owner != 0).then(|| format!("belongs to user {owner}, not to user {user} or root"))
}

/// Whoever can write to the folder can put another file in its place.
fn check_folder(path: &Path) -> Result<(), String> {
    let Ok(real) = fs::canonicalize(path) else { return Ok(()) };
    let Some(folder) = real.parent() else { return Ok(()) };
    let metadata = fs::metadata(folder).map_err(|fault| format!("its folder cannot be examined: {fault}"))?;
    let mode = metadata.mode() & 0o7777;
    if mode & 0o002 != 0 && mode & STICKY == 0 {
        return Err(format!("its folder can be written by everybody (mode {mode:o}); run chmod o-w on it"));
    }
    match not_ours(metadata.uid(), geteuid().as_raw()) {
        Some(fault) => Err(format!("its folder {fault}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use nix::sys::stat::Mode;

    use super::*;

    #[test]
    fn a_file_of_ones_own_is_read_and_a_missing_one_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.toml");
        assert_eq!(read(&path), Ok(None));
        assert_eq!(read(&folder.path().join("no/such/policy.toml")), Ok(None));
        fs::write(&path, "default = \"deny\"").unwrap();
        assert_eq!(read(&path), Ok(Some("default = \"deny\"".to_owned())));
        assert_eq!(read(&path.join("below")), Ok(None));
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert!(read(&link).is_ok_and(|text| text.is_some()));
    }

    #[test]
    fn what_others_could_have_written_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.toml");
        fs::write(&path, "").unwrap();
        let with = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode));
        for (mode, is_fine) in [(0o600, true), (0o644, true), (0o664, false), (0o602, false), (0o400, true)] {
            with(mode).unwrap();
            let found = read(&path);
            assert_eq!(found.is_ok(), is_fine, "{mode:o}: {found:?}");
            assert!(is_fine || found.is_err_and(|fault| fault.contains("chmod go-w")));
        }
        with(0o600).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(read(&path).is_err_and(|fault| fault.contains("folder")));
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(read(&path).is_ok());
        assert!(not_ours(1_000, 1_001).is_some() && not_ours(0, 1_001).is_none() && not_ours(7, 7).is_none());
    }

    #[test]
    fn fifos_folders_large_files_dead_links_and_other_encodings_are_errors_and_nothing_waits() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        nix::unistd::mkfifo(&place("fifo"), Mode::S_IRWXU).unwrap();
        symlink(place("nowhere"), place("dead")).unwrap();
        symlink(place("loop"), place("loop")).unwrap();
        fs::write(place("large"), vec![b'#'; (1 << 20) + 1]).unwrap();
        fs::write(place("latin"), b"# one\n# \xfc\n").unwrap();
        fs::create_dir(place("folder")).unwrap();
        for (name, expected) in [
            ("fifo", "not a regular file"),
            ("folder", "not a regular file"),
            ("dead", "a link to a file that does not exist"),
            ("loop", "cannot be opened"),
            ("large", "larger than 1024 KiB"),
            ("latin", "line 2: it is not UTF-8"),
        ] {
            let fault = read(&place(name)).unwrap_err();
            assert!(fault.contains(expected), "{name}: {fault}");
        }
    }
}
