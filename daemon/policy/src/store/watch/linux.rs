//! Notifications of files by inotify.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, InotifyEvent, WatchDescriptor};

use super::Hint;
use super::route::{Step, steps};

/// What happens to a folder or link on the way to the file.
const ON_THE_WAY: AddWatchFlags = AddWatchFlags::IN_CREATE
    .union(AddWatchFlags::IN_DELETE)
    .union(AddWatchFlags::IN_MOVED_FROM)
    .union(AddWatchFlags::IN_MOVED_TO)
    .union(AddWatchFlags::IN_DELETE_SELF)
    .union(AddWatchFlags::IN_MOVE_SELF)
    .union(AddWatchFlags::IN_ONLYDIR);

/// What happens to the file itself, too.
const TO_THE_FILE: AddWatchFlags = ON_THE_WAY
    .union(AddWatchFlags::IN_MODIFY)
    .union(AddWatchFlags::IN_CLOSE_WRITE)
    .union(AddWatchFlags::IN_ATTRIB);

/// How often the way may change while it is being followed.
const ATTEMPTS: usize = 10;

/// A folder that is watched, and the names in it that matter.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    names: Vec<OsString>,
}

/// The notifications of the folders on the way to one file.
#[derive(Debug)]
pub(super) struct Notifications {
    inotify: Inotify,
    folders: BTreeMap<i32, (WatchDescriptor, Folder)>,
}

impl Notifications {
    pub fn new() -> io::Result<Notifications> {
        let inotify = Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)?;
        Ok(Notifications { inotify, folders: BTreeMap::new() })
    }

    /// What must be readable for [`Notifications::read`] to have something.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }

    /// Watches the folders on the way to a file, and no others.
    pub fn follow(&mut self, path: &Path) -> io::Result<()> {
        let mut way = steps(path);
        for _ in 0..ATTEMPTS {
            self.watch(&way)?;
            // Something may have changed before it was watched.
            let now = steps(path);
            if now == way {
                return Ok(());
            }
            way = now;
        }
        Ok(())
    }

    fn watch(&mut self, way: &[Step]) -> io::Result<()> {
        let mut folders: BTreeMap<i32, (WatchDescriptor, Folder)> = BTreeMap::new();
        for step in way {
            let is_last = way.iter().any(|other| other.is_file && other.folder == step.folder);
            let flags = if is_last { TO_THE_FILE } else { ON_THE_WAY };
            let watch = match self.inotify.add_watch(&step.folder, flags) {
                Ok(watch) => watch,
                // A folder that may be passed and not listed, or that has just gone: the others tell of most changes.
                Err(Errno::EACCES | Errno::ENOENT | Errno::ENOTDIR) => continue,
                Err(fault) => return Err(fault.into()),
            };
            let empty = || (watch, Folder { path: step.folder.clone(), names: Vec::new() });
            folders.entry(watch.as_raw()).or_insert_with(empty).1.names.push(step.name.clone());
        }
        for (id, (watch, _)) in &self.folders {
            if !folders.contains_key(id) {
                // It fails if the folder is gone, and the watch with it.
                let _ = self.inotify.rm_watch(*watch);
            }
        }
        self.folders = folders;
        Ok(())
    }

    /// What the notifications say that have come; the last one counts. `None` if they are about something else.
    pub fn read(&mut self) -> Option<Hint> {
        let mut hint = None;
        while let Ok(events) = self.inotify.read_events() {
            for event in events {
                hint = self.hint(&event).or(hint);
            }
        }
        hint
    }

    fn hint(&self, event: &InotifyEvent) -> Option<Hint> {
        if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
            return Some(Hint::Changed);
        }
        let (_, folder) = self.folders.get(&event.wd.as_raw())?;
        let Some(name) = &event.name else {
            // The folder itself is gone or elsewhere; that its watch has ended says nothing more.
            return (event.mask != AddWatchFlags::IN_IGNORED).then_some(Hint::Changed);
        };
        if !folder.names.contains(name) {
            return None;
        }
        let is_unfinished = event.mask.intersects(AddWatchFlags::IN_MODIFY)
            || (event.mask.intersects(AddWatchFlags::IN_CREATE) && is_new_file(&folder.path.join(name)));
        Some(if is_unfinished { Hint::Writing } else { Hint::Changed })
    }
}

/// Whether something is a file that a program has just made, which it writes and closes next. Links and folders are complete at once.
fn is_new_file(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file() && metadata.nlink() == 1)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_happens_to_the_file_is_told_and_whether_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.toml");
        let mut notifications = Notifications::new().unwrap();
        notifications.follow(&path).unwrap();
        assert_eq!(notifications.read(), None);
        let mut file = File::create(&path).unwrap();
        assert_eq!(notifications.read(), Some(Hint::Writing));
        file.write_all(b"a").unwrap();
        assert_eq!(notifications.read(), Some(Hint::Writing));
        drop(file);
        assert_eq!(notifications.read(), Some(Hint::Changed));
        fs::remove_file(&path).unwrap();
        assert_eq!(notifications.read(), Some(Hint::Changed));
        symlink("other", &path).unwrap();
        assert_eq!(notifications.read(), Some(Hint::Changed));
    }

    #[test]
    fn what_happens_beside_the_file_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.toml");
        let mut notifications = Notifications::new().unwrap();
        notifications.follow(&path).unwrap();
        fs::write(folder.path().join("other"), "x").unwrap();
        assert_eq!(notifications.read(), None);
        fs::rename(folder.path().join("other"), &path).unwrap();
        assert_eq!(notifications.read(), Some(Hint::Changed));
    }

    #[test]
    fn a_folder_that_is_no_longer_on_the_way_is_watched_no_longer() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        fs::create_dir_all(place("a")).unwrap();
        fs::create_dir_all(place("b")).unwrap();
        symlink("a", place("now")).unwrap();
        let path = place("now/policy.toml");
        let mut notifications = Notifications::new().unwrap();
        notifications.follow(&path).unwrap();
        fs::remove_file(place("now")).unwrap();
        symlink("b", place("now")).unwrap();
        assert_eq!(notifications.read(), Some(Hint::Changed));
        notifications.follow(&path).unwrap();
        let _ = notifications.read();
        fs::write(place("a/policy.toml"), "x").unwrap();
        assert_eq!(notifications.read(), None);
        fs::write(place("b/policy.toml"), "x").unwrap();
        assert_eq!(notifications.read(), Some(Hint::Changed));
    }
}
