//! The blocking connection, and the subscription that owns one.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axd_protocol::Command;
use axd_protocol::command::{Subscribe, SubscribeAnswer};
use axd_protocol::event::{Event, Push};
use interprocess::local_socket::{GenericFilePath, prelude::*};

use crate::wire::{self, Line, Reply, RequestOptions};
use crate::{ClientError, Result};

/// The maximum number of bytes of one read; larger answers are passed on in pieces of this size.
const READ_BYTES: usize = 64 * 1024;
/// The number of bytes from which the kind of a line can be seen.
const HEAD_BYTES: usize = 256;

/// A connection to the daemon.
#[derive(Debug)]
pub struct Connection {
    reader: BufReader<UnixStream>,
    /// Lines for others that arrived while the answer to a request was awaited.
    queued: VecDeque<String>,
    next_id: u64,
    /// The stream's read timeout.
    read_timeout: Option<Duration>,
}

impl Connection {
    /// Connects to the daemon at this socket. It does not start one; [`crate::connect_or_start`] does.
    pub fn open(socket: &Path) -> Result<Connection> {
        Connection::try_open(socket).map_err(|fault| unavailable(socket, &fault))
    }

    pub(crate) fn try_open(socket: &Path) -> io::Result<Connection> {
        let stream = connect(socket)?;
        check_peer(&stream)?;
        Ok(Connection::over(stream))
    }

    /// A connection over a stream that is already connected.
    pub fn over(stream: UnixStream) -> Connection {
        let reader = BufReader::with_capacity(READ_BYTES, stream);
        Connection { reader, queued: VecDeque::new(), next_id: 1, read_timeout: None }
    }

    /// Sends a request and waits for the answer. An answer that says `"ok":false` is [`ClientError::Daemon`].
    pub fn request(&mut self, command: &Command, options: RequestOptions) -> Result<Reply> {
        let id = self.take_id();
        if self.read_timeout != options.read_timeout() {
            self.read_timeout = options.read_timeout();
            self.stream().set_read_timeout(self.read_timeout)?;
        }
        self.send_line(&wire::request_line(id, command, options)?)?;
        self.answer_to(id)
    }

    /// Subscribes. The subscription owns the connection, because a slow reader would delay the answers to other requests.
    pub fn subscribe(mut self, what: Subscribe) -> Result<Subscription> {
        let reply = self.request(&Command::Subscribe(what), RequestOptions::default())?;
        let SubscribeAnswer { sub } = reply.data()?;
        Ok(Subscription { connection: self, sub, reply, over: false })
    }

    /// Sends a line unchanged, with a newline if it has none. Its id should be a string, because the ids of
    /// [`Connection::request`] are numbers.
    pub fn send_line(&mut self, line: &str) -> Result<()> {
        let mut stream = self.stream();
        let end = if line.ends_with('\n') { "" } else { "\n" };
        let sent = stream.write_all(line.as_bytes()).and_then(|()| stream.write_all(end.as_bytes()));
        ignore_closed(sent).map_err(Into::into)
    }

    /// The next line, without its newline; `None` when the daemon has closed the connection.
    pub fn recv_line(&mut self) -> Result<Option<String>> {
        match self.queued.pop_front() {
            Some(line) => Ok(Some(line)),
            None => self.read_line(),
        }
    }

    /// Passes the next line to `sink` as it arrives, with its newline, without buffering all of it. The first piece is at least
    /// 256 bytes long, unless the line is shorter. Returns whether there was a line; an incomplete line is an error.
    pub fn stream_line(&mut self, mut sink: impl FnMut(&[u8]) -> io::Result<()>) -> Result<bool> {
        // The first piece, until it is long enough.
        let mut head = Some(Vec::new());
        let mut begun = false;
        loop {
            let chunk = self.reader.fill_buf().map_err(timed_out)?;
            if chunk.is_empty() {
                return if begun { Err(unexpected_end().into()) } else { Ok(false) };
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let piece = &chunk[..end.map_or(chunk.len(), |end| end + 1)];
            let used = piece.len();
            let handed = match head.take() {
                Some(mut short) if end.is_none() && short.len() + used < HEAD_BYTES => {
                    short.extend_from_slice(piece);
                    head = Some(short);
                    Ok(())
                }
                Some(mut short) if !short.is_empty() => {
                    short.extend_from_slice(piece);
                    sink(&short)
                }
                _ => sink(piece),
            };
            begun = true;
            self.reader.consume(used);
            handed?;
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// The underlying stream, for timeouts, half-close or a second handle.
    pub fn stream(&self) -> &UnixStream {
        self.reader.get_ref()
    }

    fn take_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    fn answer_to(&mut self, id: u64) -> Result<Reply> {
        loop {
            let line = self.read_line()?.ok_or_else(unexpected_end)?;
            match Line::sort(&line, id)? {
                Line::Answer => return Reply::parse(&line),
                Line::Late => {}
                Line::Other => self.queued.push_back(line),
            }
        }
    }

    fn read_line(&mut self) -> Result<Option<String>> {
        let mut line = String::new();
        self.reader.read_line(&mut line).map_err(timed_out)?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.pop() != Some('\n') {
            return Err(unexpected_end().into());
        }
        Ok(Some(line))
    }
}

/// A stream of events. Dropping it ends the subscription, with its connection.
#[derive(Debug)]
pub struct Subscription {
    connection: Connection,
    sub: u64,
    reply: Reply,
    over: bool,
}

impl Subscription {
    /// The number that its events have.
    pub fn sub(&self) -> u64 {
        self.sub
    }

    /// The answer to the `subscribe` request.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// The underlying stream, as for [`Connection::stream`].
    pub fn stream(&self) -> &UnixStream {
        self.connection.stream()
    }
}

impl Iterator for Subscription {
    type Item = Result<Push>;

    /// The next event; `None` after `end`. A connection that is lost before that is an error, once.
    fn next(&mut self) -> Option<Result<Push>> {
        while !self.over {
            let line = match self.connection.recv_line() {
                Ok(Some(line)) => line,
                Ok(None) => return self.fail(unexpected_end().into()),
                Err(fault) => return self.fail(fault),
            };
            match wire::push_of(&line) {
                Ok(Some(push)) if push.sub == self.sub => {
                    self.over = matches!(push.event, Event::End { .. });
                    return Some(Ok(push));
                }
                Ok(_) => {}
                Err(fault) => return self.fail(fault),
            }
        }
        None
    }
}

impl Subscription {
    fn fail(&mut self, fault: ClientError) -> Option<Result<Push>> {
        self.over = true;
        Some(Err(fault))
    }
}

/// Connects to a socket. The stream is the standard library's, for its timeouts, its half-close and its second handle.
fn connect(socket: &Path) -> io::Result<UnixStream> {
    let LocalSocketStream::UdSocket(stream) =
        LocalSocketStream::connect(socket.to_fs_name::<GenericFilePath>()?)?;
    let stream = UnixStream::from(OwnedFd::from(stream));
    #[cfg(target_vendor = "apple")]
    no_sigpipe(&stream)?;
    Ok(stream)
}

/// Makes writing to a closed connection an error instead of a signal, as the standard library does for its own sockets. Rust
/// programs ignore the signal, but other programs may use this library.
#[cfg(target_vendor = "apple")]
fn no_sigpipe(stream: &UnixStream) -> io::Result<()> {
    use std::os::fd::AsRawFd;

    use nix::libc;
    let on: libc::c_int = 1;
    // SAFETY: the descriptor is open, and the option is an int that lives through the call.
    let set = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NOSIGPIPE,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub(crate) fn unavailable(socket: &Path, fault: &io::Error) -> ClientError {
    let reason = match fault.kind() {
        io::ErrorKind::NotFound => "the socket does not exist".to_owned(),
        io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
        _ => fault.to_string(),
    };
    ClientError::Unavailable { tried: PathBuf::from(socket), reason }
}

pub(crate) fn unexpected_end() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it was closed before the answer was complete")
}

/// Ignores that the daemon closed the connection, because its reason (another user, too many connections) may still be read
/// before the end of the stream.
pub(crate) fn ignore_closed(sent: io::Result<()>) -> io::Result<()> {
    sent.or_else(|fault| if fault.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(fault) })
}

/// Turns "would block", which is how a socket reports a read timeout, into "timed out".
fn timed_out(fault: io::Error) -> io::Error {
    if fault.kind() == io::ErrorKind::WouldBlock { io::ErrorKind::TimedOut.into() } else { fault }
}

/// Refuses a socket of another user. The fallback folder is in `/tmp`, where anyone could create it first, and requests may
/// contain secrets.
pub(crate) fn check_peer(stream: &impl std::os::fd::AsFd) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    let peer = nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerCredentials)?.uid();
    #[cfg(not(target_os = "linux"))]
    let peer = nix::unistd::getpeereid(stream)?.0.as_raw();
    let own = nix::unistd::geteuid().as_raw();
    if peer == own || peer == 0 {
        return Ok(());
    }
    let said = format!("it belongs to user {peer}, and this is user {own}");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, said))
}
