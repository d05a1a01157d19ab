//! Notifications of files by kqueue.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::libc;
use nix::sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue};

use super::Hint;
use super::route::steps;

/// How often the way may change while it is being followed.
const ATTEMPTS: usize = 10;

/// The notifications of the folders on the way to one file, and of the file itself.
pub(super) struct Notifications {
    queue: Kqueue,
    /// What is watched, for as long as it is open.
    open: Vec<File>,
}

impl Notifications {
    pub fn new() -> io::Result<Notifications> {
        Ok(Notifications { queue: Kqueue::new()?, open: Vec::new() })
    }

    /// What must be readable for [`Notifications::read`] to have something.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.queue.as_fd()
    }

    /// Watches the folders on the way to a file, and the file.
    pub fn follow(&mut self, path: &Path) -> io::Result<()> {
        let mut way = steps(path);
        for _ in 0..ATTEMPTS {
            let mut open = Vec::new();
            for step in &way {
                open.extend(self.watch(&step.folder)?);
                if step.is_file {
                    open.extend(self.watch(&step.folder.join(&step.name))?);
                }
            }
            // Closing what was watched before ends its notifications.
            self.open = open;
            // Something may have changed before it was watched.
            let now = steps(path);
            if now == way {
                break;
            }
            way = now;
        }
        Ok(())
    }

    /// Watches a file or folder; `None` if it cannot be opened, because it is not there or must not be.
    fn watch(&self, path: &Path) -> io::Result<Option<File>> {
        // Opened for notifications only: it keeps no disk from being ejected, and waits for nobody.
        let flags = libc::O_EVTONLY | libc::O_NONBLOCK | libc::O_CLOEXEC;
        let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(path) else { return Ok(None) };
        let what = FilterFlag::NOTE_WRITE
            | FilterFlag::NOTE_EXTEND
            | FilterFlag::NOTE_ATTRIB
            | FilterFlag::NOTE_DELETE
            | FilterFlag::NOTE_RENAME
            | FilterFlag::NOTE_LINK
            | FilterFlag::NOTE_REVOKE;
        let ident = usize::try_from(file.as_raw_fd()).map_err(io::Error::other)?;
        let flags = EvFlags::EV_ADD | EvFlags::EV_CLEAR;
        let event = KEvent::new(ident, EventFilter::EVFILT_VNODE, flags, what, 0, 0);
        self.queue.kevent(&[event], &mut [], None)?;
        Ok(Some(file))
    }

    /// What the notifications say that have come. They do not say of what in a folder they are, nor whether a program that writes has
    /// finished.
    pub fn read(&mut self) -> Option<Hint> {
        let none = KEvent::new(0, EventFilter::EVFILT_VNODE, EvFlags::empty(), FilterFlag::empty(), 0, 0);
        let mut events = [none; 16];
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let mut hint = None;
        while let Ok(count) = self.queue.kevent(&[], &mut events, Some(now)) {
            if count == 0 {
                break;
            }
            hint = Some(Hint::Changed);
        }
        hint
    }
}
