//! Files of the daemon that nobody else may read or plant: its log and its audit.
//!
//! The folder must be ours, and not writable by others. In it no link is followed, nothing but a regular file of ours is opened,
//! and opening never waits, as it would for a fifo.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use nix::unistd::geteuid;

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// To read it.
    Read,
    /// To write at its end; it is created if it is missing.
    Append,
    /// To write to a file that does not exist yet.
    Create,
}

/// A folder of ours.
#[derive(Debug)]
pub struct PrivateFolder(File);

impl PrivateFolder {
    /// Creates the folder if it is missing, and opens it if it is ours alone to write to.
    pub fn create(path: &Path) -> io::Result<PrivateFolder> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        check_owner(path, &fs::symlink_metadata(path)?)?;
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
        let folder = File::from(nix::fcntl::open(path, flags, Mode::empty())?);
        let metadata = folder.metadata()?;
        check_owner(path, &metadata)?;
        let mode = metadata.mode() & 0o7777;
        if mode & 0o022 != 0 {
            return Err(refused(path, &format!("is writable by other users (mode {mode:o}); chmod 700 it")));
        }
        Ok(PrivateFolder(folder))
    }

    /// Opens a file in it, with mode 0600.
    pub fn open(&self, name: &str, access: Access) -> io::Result<File> {
        let how = match access {
            Access::Read => OFlag::O_RDONLY,
            Access::Append => OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_CREAT,
            Access::Create => OFlag::O_RDWR | OFlag::O_APPEND | OFlag::O_CREAT | OFlag::O_EXCL,
        };
        let flags = how | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
        let path = Path::new(name);
        let opened = openat(&self.0, name, flags, Mode::from_bits_truncate(0o600));
        let file = File::from(opened.map_err(|errno| match errno {
            Errno::ELOOP => refused(path, "is a link; remove it"),
            Errno::ENXIO => refused(path, "is not a regular file; remove it"),
            errno => errno.into(),
        })?);
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(refused(path, "is not a regular file; remove it"));
        }
        check_owner(path, &metadata)?;
        if metadata.mode() & 0o7777 != 0o600 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        Ok(file)
    }
}

fn check_owner(path: &Path, metadata: &fs::Metadata) -> io::Result<()> {
    let (owner, own) = (metadata.uid(), geteuid().as_raw());
    if owner == own {
        Ok(())
    } else {
        Err(refused(path, &format!("belongs to user {owner}, not to user {own}")))
    }
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("{} {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_fifos_and_open_folders_are_refused_and_files_are_the_owners_alone() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("state");
        let folder = PrivateFolder::create(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o700);
        fs::write(path.join("old"), "").unwrap();
        fs::set_permissions(path.join("old"), fs::Permissions::from_mode(0o666)).unwrap();
        for name in ["old", "new"] {
            let mode = folder.open(name, Access::Append).unwrap().metadata().unwrap().mode();
            assert_eq!(mode & 0o7777, 0o600, "{name}");
        }
        std::os::unix::fs::symlink(place.path().join("victim"), path.join("link")).unwrap();
        nix::unistd::mkfifo(&path.join("fifo"), Mode::S_IRWXU).unwrap();
        for (name, why) in [("link", "link"), ("fifo", "regular file")] {
            let fault = folder.open(name, Access::Append).unwrap_err().to_string();
            assert!(fault.contains(why), "{fault}");
        }
        assert!(!place.path().join("victim").exists());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o1777)).unwrap();
        assert!(PrivateFolder::create(&path).unwrap_err().to_string().contains("1777"));
    }
}
