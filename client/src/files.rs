//! Files that programs on a connection write: pictures, and what nobody else may read.

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE_64;

/// Writes a file completely or not at all, so that others see either the old content or the new one.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (target, before) = match fs::metadata(path) {
        Ok(about) if about.is_dir() => return Err(io::Error::other("it is a folder")),
        // A pipe or a device is written to, not replaced.
        Ok(about) if !about.is_file() => return OpenOptions::new().write(true).open(path)?.write_all(bytes),
        // The target of a link is replaced, not the link; and a file that may not be written stays.
        Ok(about) => {
            OpenOptions::new().write(true).open(path)?;
            (fs::canonicalize(path)?, Some(about.permissions()))
        }
        Err(_) => (path.to_owned(), None),
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let draft = folder.unwrap_or(Path::new(".")).join(format!(".ax-{}-{now}.part", std::process::id()));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&draft)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| before.map_or(Ok(()), |before| file.set_permissions(before)))
        .and_then(|()| fs::rename(&draft, &target));
    if written.is_err() {
        // If it cannot be removed either, nothing more can be done.
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Writes a file that only its user can read, in one step.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.part", std::process::id()));
    // One of a process that was killed, and had the same number.
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written = file.write_all(bytes).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Writes a picture to a file, for an agent who names the file: whole or not at all, and in place of nothing but a picture. The error
/// says what is wrong.
pub fn save_picture(path: &Path, base64: &str) -> Result<(), String> {
    let failed = |fault: &dyn std::fmt::Display| format!("{} cannot be written: {fault}", path.display());
    let bytes = BASE_64.decode(base64).map_err(|fault| failed(&fault))?;
    if !may_be_replaced(path).map_err(|fault| failed(&fault))? {
        return Err(format!("{} exists and is not a picture", path.display()));
    }
    write_whole(path, &bytes).map_err(|fault| failed(&fault))
}

/// Whether there is no such file, or one that is empty or a picture.
fn may_be_replaced(path: &Path) -> io::Result<bool> {
    let mut start = Vec::new();
    match fs::metadata(path) {
        Ok(about) if about.is_file() => fs::File::open(path)?.take(3).read_to_end(&mut start)?,
        Ok(_) => return Ok(false),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(fault) => return Err(fault),
    };
    Ok(start.is_empty() || start == b"\x89PN" || start == b"\xff\xd8\xff")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_rights_and_links() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a.png"), folder.path().join("link.png"));
        fs::write(&file, "before").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        symlink("a.png", &link).unwrap();
        write_whole(&link, b"after").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"after");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(names(folder.path()).len(), 2);
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        assert!(write_whole(&folder.path().join("none/a.png"), b"x").is_err());
        assert!(write_whole(folder.path(), b"x").unwrap_err().to_string().contains("folder"));
        assert_eq!(names(folder.path()), [""; 0]);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_device_is_written_to_and_not_replaced() {
        let full = write_whole(Path::new("/dev/full"), b"x").unwrap_err();
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
        write_whole(Path::new("/dev/null"), b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_picture_takes_the_place_of_nothing_but_a_picture() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("shot.png"), folder.path().join("notes.txt"));
        let png = BASE_64.encode(b"\x89PNG\r\n");
        assert_eq!((save_picture(&path, &png), save_picture(&path, &png)), (Ok(()), Ok(())));
        assert_eq!(fs::read(&path).unwrap(), b"\x89PNG\r\n");
        fs::write(&other, "mine").unwrap();
        assert!(save_picture(&other, &png).unwrap_err().ends_with("exists and is not a picture"));
        assert_eq!(fs::read(&other).unwrap(), b"mine");
        assert!(save_picture(&folder.path().join("none/shot.png"), &png).is_err());
        assert!(save_picture(folder.path(), &png).is_err());
        assert_eq!(names(folder.path()).len(), 2, "nothing is left beside them");
    }

    #[test]
    fn a_private_file_is_replaced_in_one_step_and_read_by_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map.json");
        fs::write(&path, "before").unwrap();
        write_private(&path, b"after").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"after");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(folder.path()), ["map.json"]);
    }
}
