//! A process that keeps connections open when axd ends.
//!
//! A connection over which an act was sent to an app must not be closed while the app may still be acting
//! ([`crate::atspi::direct`] says why), not even by the end of axd. So a copy of its descriptor is given to a small process
//! before anything is sent over it. The process never reads or writes: it lets go of a copy when axd says so, or when
//! the app has closed its end, and ends when axd is gone and nothing is left to keep.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nix::cmsg_space;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg, sendmsg,
    socketpair,
};
use nix::unistd::setsid;
use parking_lot::Mutex;
use tracing::warn;

use axd_platform::children::reap;

/// A handle to the process, which is started when it is first needed, and again if it has ended.
#[derive(Default)]
pub(crate) struct ConnectionKeeper {
    /// The program that is `axd` itself; without it nothing is kept.
    program: Option<PathBuf>,
    socket: Mutex<Option<OwnedFd>>,
}

impl ConnectionKeeper {
    /// A keeper that this program runs, by [`keep_connections`].
    pub fn new(program: PathBuf) -> ConnectionKeeper {
        ConnectionKeeper { program: Some(program), socket: Mutex::default() }
    }

    /// Passes a copy of a descriptor to the process, under this number.
    pub fn keep(&self, number: u64, descriptor: BorrowedFd<'_>) {
        self.send_request(number, Some(descriptor.as_raw_fd()));
    }

    /// Has the process close the copy of this number.
    pub fn release(&self, number: u64) {
        self.send_request(number, None);
    }

    fn send_request(&self, number: u64, descriptor: Option<RawFd>) {
        let Some(program) = &self.program else { return };
        let mut socket = self.socket.lock();
        for fresh in [false, true] {
            if fresh || socket.is_none() {
                // A keeper that has just been started has nothing to let go of.
                if descriptor.is_none() {
                    return;
                }
                match start(program) {
                    Ok(started) => *socket = Some(started),
                    Err(error) => {
                        warn!(%error, "no keeper can be started: if axd ends while an app shows a dialog, the app may freeze");
                        return;
                    }
                }
            }
            if let Some(open) = &*socket
                && send(open, number, descriptor).is_ok()
            {
                return;
            }
        }
    }
}

fn start(program: &PathBuf) -> io::Result<OwnedFd> {
    let (ours, theirs) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
    let mut command = Command::new(program);
    command
        .arg0("axd")
        .arg(OPTION)
        .stdin(theirs)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .current_dir("/");
    // SAFETY: between fork and exec one system call is made, which is safe there; nothing is allocated.
    unsafe {
        command.pre_exec(|| Ok(setsid().map(drop)?));
    }
    reap(command.spawn()?, |_, _| ());
    Ok(ours)
}

/// The option that makes `axd` a keeper.
pub const OPTION: &str = "--keep-connections";

fn send(socket: &OwnedFd, number: u64, descriptor: Option<RawFd>) -> io::Result<()> {
    let bytes = number.to_ne_bytes();
    let descriptors: Vec<RawFd> = descriptor.into_iter().collect();
    let rights = [ControlMessage::ScmRights(&descriptors)];
    let control = if descriptors.is_empty() { &[][..] } else { &rights[..] };
    // The process does nothing but receive; if it does not keep up, it is stopped, and nobody waits for it.
    let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
    sendmsg::<()>(socket.as_raw_fd(), &[IoSlice::new(&bytes)], control, flags, None)?;
    Ok(())
}

/// Runs as a keeper, for the axd at the other end of standard input.
pub fn keep_connections() {
    if let Ok(socket) = io::stdin().as_fd().try_clone_to_owned() {
        keep(socket);
    }
}

/// Keeps the descriptors that it receives over this socket, until axd has ended and none is left.
fn keep(socket: OwnedFd) {
    let mut socket = Some(socket);
    let mut kept: Vec<(u64, OwnedFd)> = Vec::new();
    while socket.is_some() || !kept.is_empty() {
        let (asked, closed) = {
            let mut watched: Vec<PollFd<'_>> = kept
                .iter()
                .map(|(_, descriptor)| PollFd::new(descriptor.as_fd(), PollFlags::empty()))
                .collect();
            watched.extend(socket.as_ref().map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)));
            match poll(&mut watched, PollTimeout::NONE) {
                Ok(_) => {}
                Err(Errno::EINTR) => continue,
                Err(_) => return,
            }
            let happened = |at: &PollFd<'_>| at.revents().is_some_and(|flags| !flags.is_empty());
            let asked = watched.get(kept.len()).is_some_and(happened);
            (asked, watched.iter().take(kept.len()).map(happened).collect::<Vec<bool>>())
        };
        let mut closed = closed.into_iter();
        kept.retain(|_| !closed.next().unwrap_or(false));
        if let Some(open) = socket.take_if(|_| asked) {
            match receive(&open) {
                Ok(Some((number, Some(descriptor)))) => kept.push((number, descriptor)),
                Ok(Some((number, None))) => kept.retain(|(known, _)| *known != number),
                Err(Errno::EINTR | Errno::EAGAIN) => {}
                // axd has ended.
                Ok(None) | Err(_) => continue,
            }
            socket = Some(open);
        }
    }
}

fn receive(socket: &OwnedFd) -> Result<Option<(u64, Option<OwnedFd>)>, Errno> {
    let mut bytes = [0; 8];
    let mut space = cmsg_space!(RawFd);
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let flags = MsgFlags::MSG_CMSG_CLOEXEC;
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut space), flags)?;
    if message.bytes != bytes_of_a_number() {
        return Ok(None);
    }
    let descriptor = message.cmsgs()?.find_map(|control| match control {
        ControlMessageOwned::ScmRights(descriptors) => descriptors.first().copied(),
        _ => None,
    });
    // SAFETY: the kernel has just made this descriptor for us; nobody else has it.
    let descriptor = descriptor.map(|descriptor| unsafe { OwnedFd::from_raw_fd(descriptor) });
    Ok(Some((u64::from_ne_bytes(bytes), descriptor)))
}

const fn bytes_of_a_number() -> usize {
    size_of::<u64>()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn what_is_kept_stays_open_until_it_is_let_go_of_or_the_other_end_closes() {
        let (ours, theirs) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC).unwrap();
        let keeping = std::thread::spawn(move || keep(theirs));
        let (mut first, copy) = UnixStream::pair().unwrap();
        send(&ours, 1, Some(copy.as_raw_fd())).unwrap();
        drop(copy);
        let (second, copy) = UnixStream::pair().unwrap();
        send(&ours, 2, Some(copy.as_raw_fd())).unwrap();
        drop(copy);
        // A message that comes over it is neither read nor a reason to let go.
        use std::io::Write;
        first.write_all(b"a reply").unwrap();
        send(&ours, 1, None).unwrap();
        assert_eq!(first.read(&mut [0]).map_err(|error| error.kind()), Err(io::ErrorKind::ConnectionReset));
        // axd ends: the second stays until the app closes its end.
        drop(ours);
        second.set_nonblocking(true).unwrap();
        assert_eq!((&second).read(&mut [0]).map_err(|error| error.kind()), Err(io::ErrorKind::WouldBlock));
        assert!(!keeping.is_finished());
        drop(second);
        keeping.join().unwrap();
    }
}
