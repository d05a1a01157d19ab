//! Tells when the file may have changed, however that came about: written in place, replaced by another, a link that points
//! elsewhere, a folder that was made or moved.
//!
//! A thread waits for the system's notifications (`linux`, `macos`) of all folders on the way to the file (`route`). They are hints:
//! the file is read again, and what is the same changes nothing. Where there are none, as for files of another machine, it is looked
//! at now and then.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod route;

#[cfg(target_os = "linux")]
use linux::Notifications;
#[cfg(target_os = "macos")]
use macos::Notifications;

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tracing::warn;

/// How long nothing must happen to the file before it is read: saving it may take several steps.
const QUIET: Duration = Duration::from_millis(30);
/// How long a program may take to write the file. After that it is read although the program has it still open.
const WRITING: Duration = Duration::from_secs(1);
/// How long reading is put off at most, however often it is written.
const AT_MOST: Duration = Duration::from_secs(2);
/// How often it is looked at without a notification.
const LOOK: Duration = Duration::from_secs(5);
/// How often it is looked at where there are no notifications.
const LOOK_OFTEN: Duration = Duration::from_millis(150);

/// What a notification says about the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Hint {
    /// It is another one, or whole.
    Changed,
    /// Somebody is writing it.
    Writing,
}

/// What reads the file, and what it asks before it takes what it has read for the whole file.
pub(super) trait Reload: Fn(&mut dyn FnMut() -> bool) + Send + 'static {}
impl<F: Fn(&mut dyn FnMut() -> bool) + Send + 'static> Reload for F {}

/// Watches a file until it is dropped. Its thread is not waited for then: it may be reading from a disk that hangs.
pub(super) struct Watch {
    /// Closing it ends the thread.
    _stop: OwnedFd,
}

impl Watch {
    /// Calls `reload` once the watch has begun, so that no change before it is missed, and then whenever the file may have changed.
    pub fn start(path: PathBuf, reload: impl Reload) -> io::Result<Watch> {
        // Unlike the system's plain pipes, these are closed in programs that are started meanwhile: one that kept its end would
        // keep the thread.
        let (stopped, stop) = io::pipe()?;
        let (stopped, stop) = (OwnedFd::from(stopped), OwnedFd::from(stop));
        let watcher = Watcher { path, stopped, notifications: None, unsettled: None };
        std::thread::Builder::new().name("policy".to_owned()).spawn(move || watcher.run(&reload))?;
        Ok(Watch { _stop: stop })
    }
}

/// Waits until a file that was written a moment ago is so no longer: it may be written on.
pub(super) fn wait_until_settled(path: &Path) {
    let end = Instant::now() + AT_MOST;
    while let Some(left) = left_until_settled(path).filter(|_| Instant::now() < end) {
        std::thread::sleep(left);
    }
}

/// How long a file is to be left alone because it was written a moment ago. One that is empty was emptied to be written, most likely.
fn left_until_settled(path: &Path) -> Option<Duration> {
    let metadata = fs::metadata(path).ok()?;
    let age = SystemTime::now().duration_since(metadata.modified().ok()?).ok()?;
    let quiet = if metadata.len() == 0 { WRITING } else { QUIET };
    quiet.checked_sub(age).filter(|left| !left.is_zero())
}

/// The state of the thread.
struct Watcher {
    path: PathBuf,
    stopped: OwnedFd,
    notifications: Option<Notifications>,
    /// Since when reading has been put off.
    unsettled: Option<Instant>,
}

/// What tells one version of a file from another without reading it.
type Fingerprint = Option<(u64, u64, u64, i64, i64)>;

fn fingerprint(path: &Path) -> Fingerprint {
    let metadata = fs::metadata(path).ok()?;
    let changed = metadata.ctime() * 1_000_000_000 + metadata.ctime_nsec();
    let modified = metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec();
    Some((metadata.dev(), metadata.ino(), metadata.size(), changed, modified))
}

impl Watcher {
    fn run(mut self, reload: &impl Reload) {
        self.notifications = Notifications::new()
            .inspect_err(
                |fault| warn!(%fault, "no notifications of files; the policy file is looked at instead"),
            )
            .ok();
        loop {
            // The order matters: what happens after the watch has begun is notified, what happened before is read.
            self.follow();
            let seen = fingerprint(&self.path);
            let mut hint = left_until_settled(&self.path)
                .map(|left| if left > QUIET { Hint::Writing } else { Hint::Changed });
            let is_overdue = self.unsettled.is_some_and(|since| since.elapsed() > AT_MOST);
            if hint.is_none() || is_overdue {
                // Whoever began to write it meanwhile may have emptied it first, and an empty file allows much.
                reload(&mut || {
                    hint = self.notifications.as_mut().and_then(Notifications::read);
                    is_overdue || (hint.is_none() && fingerprint(&self.path) == seen)
                });
            }
            self.unsettled =
                hint.map(|_| self.unsettled.filter(|_| !is_overdue).unwrap_or_else(Instant::now));
            if !self.wait_for_change(seen, hint) {
                return;
            }
        }
    }

    /// Watches all folders that the file's path leads through now.
    fn follow(&mut self) {
        let Some(notifications) = &mut self.notifications else { return };
        if let Err(fault) = notifications.follow(&self.path) {
            warn!(%fault, "the policy file cannot be watched; it is looked at instead");
            self.notifications = None;
        }
    }

    /// Waits until the file may be another one, and has come to rest. Whether it is to be watched any longer.
    fn wait_for_change(&mut self, mut seen: Fingerprint, mut hint: Option<Hint>) -> bool {
        let mut due: Option<Instant> = None;
        loop {
            if let Some(hint) = hint.take() {
                let since = *self.unsettled.get_or_insert_with(Instant::now);
                let quiet = if hint == Hint::Changed { QUIET } else { WRITING };
                due = Some((Instant::now() + quiet).min(since + AT_MOST));
            }
            if due.is_some_and(|due| Instant::now() >= due) {
                return true;
            }
            let look = if self.notifications.is_some() { LOOK } else { LOOK_OFTEN };
            let timeout = due.map_or(look, |due| due.saturating_duration_since(Instant::now()));
            match self.wait(timeout) {
                Waited::Stopped => return false,
                Waited::Hint(found) => hint = Some(found),
                Waited::Nothing if due.is_none() && fingerprint(&self.path) != seen => {
                    seen = fingerprint(&self.path);
                    hint = Some(Hint::Changed);
                }
                Waited::Nothing => {}
            }
        }
    }

    fn wait(&mut self, timeout: Duration) -> Waited {
        // Rounded up, so that nothing is asked in a circle until the time has come.
        let timeout = PollTimeout::try_from(timeout + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX);
        let mut fds = vec![PollFd::new(self.stopped.as_fd(), PollFlags::POLLIN)];
        fds.extend(
            self.notifications
                .as_ref()
                .map(|notifications| PollFd::new(notifications.as_fd(), PollFlags::POLLIN)),
        );
        match poll(&mut fds, timeout) {
            Ok(0) | Err(Errno::EINTR) => return Waited::Nothing,
            Ok(_) => {}
            Err(fault) => {
                warn!(%fault, "the policy file is watched no longer; changes need a restart of axd");
                return Waited::Stopped;
            }
        }
        if fds[0].revents().is_none_or(|events| !events.is_empty()) {
            return Waited::Stopped;
        }
        match self.notifications.as_mut().map(Notifications::read) {
            Some(Some(hint)) => Waited::Hint(hint),
            _ => Waited::Nothing,
        }
    }
}

/// How a wait ended.
enum Waited {
    Stopped,
    Hint(Hint),
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_left_alone_for_a_moment_after_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.toml");
        assert_eq!(left_until_settled(&path), None);
        fs::write(&path, "x").unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        let written = |when: SystemTime| {
            file.set_modified(when).unwrap();
            left_until_settled(&path)
        };
        assert!(written(SystemTime::now()).is_some_and(|left| left <= QUIET));
        let moment = SystemTime::now() - QUIET * 3;
        assert_eq!(written(moment), None);
        file.set_len(0).unwrap();
        assert!(written(moment).is_some_and(|left| left > QUIET), "it is empty");
        assert_eq!(written(SystemTime::now() - WRITING * 2), None);
        // A clock that was set back says nothing.
        assert_eq!(written(SystemTime::now() + Duration::from_secs(3_600)), None);
    }

    #[test]
    fn what_is_written_while_it_is_read_is_not_taken_for_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.toml");
        fs::write(&path, "old").unwrap();
        wait_until_settled(&path);
        let (sender, answers) = std::sync::mpsc::channel();
        let place = path.clone();
        let first = std::sync::atomic::AtomicBool::new(true);
        let watch = Watch::start(path, move |is_whole: &mut dyn FnMut() -> bool| {
            if first.swap(false, std::sync::atomic::Ordering::Relaxed) {
                fs::write(&place, "").unwrap();
            }
            let _ = sender.send(is_whole());
        });
        assert_eq!(answers.recv_timeout(Duration::from_secs(20)), Ok(false));
        assert_eq!(answers.recv_timeout(Duration::from_secs(20)), Ok(true));
        drop(watch);
    }
}
