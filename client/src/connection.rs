//! The blocking connection, and the subscription that owns one.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use axd_protocol::Command;
use axd_protocol::command::{Subscribe, SubscribeAnswer, Version};
use axd_protocol::event::{Event, Push};
use interprocess::local_socket::{GenericFilePath, prelude::*};

use crate::wire::{self, Line, Reply, RequestOptions};
use crate::{ClientError, Result};

/// The maximum number of bytes of one read; larger answers are passed on in pieces of this size.
const READ_BYTES: usize = 64 * 1024;
/// The number of bytes from which the kind of a line can be seen.
const HEAD_BYTES: usize = 256;
/// The time without a word after which a daemon is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(5);
/// The time that it has to say so. A service manager may only just have started it.
const PROOF_OF_LIFE: Duration = Duration::from_secs(10);

/// A connection to the daemon.
#[derive(Debug)]
pub struct Connection {
    reader: BufReader<UnixStream>,
    /// Lines for others that arrived while the answer to a request was awaited.
    queued: VecDeque<String>,
    next_id: u64,
    /// The stream's read timeout.
    read_timeout: Option<Duration>,
    /// The socket at which a silent daemon is asked whether it is there, if it is to be asked.
    probe: Option<PathBuf>,
}

impl Connection {
    /// Connects to the daemon at this socket. It does not start one; [`crate::connect_or_start`] does.
    pub fn open(socket: &Path) -> Result<Connection> {
        Connection::open_within(socket, None)
    }

    /// Connects as [`Connection::open`] does, within a time limit: a daemon that hangs accepts nobody.
    pub fn open_within(socket: &Path, limit: Option<Duration>) -> Result<Connection> {
        Connection::try_open(socket, limit).map_err(|fault| unavailable(socket, &fault))
    }

    pub(crate) fn try_open(socket: &Path, limit: Option<Duration>) -> io::Result<Connection> {
        let stream = connect(socket, limit.unwrap_or(PROOF_OF_LIFE))?;
        check_peer(&stream)?;
        Ok(Connection::over(stream))
    }

    /// A connection over a stream that is already connected.
    pub fn over(stream: UnixStream) -> Connection {
        let reader = BufReader::with_capacity(READ_BYTES, stream);
        Connection { reader, queued: VecDeque::new(), next_id: 1, read_timeout: None, probe: None }
    }

    /// Sends a request and waits for the answer. An answer that says `"ok":false` is [`ClientError::Daemon`].
    pub fn request(&mut self, command: &Command, options: RequestOptions) -> Result<Reply> {
        let id = self.take_id();
        let timeout = options.read_timeout().or(self.probe.as_ref().map(|_| SILENCE));
        if self.read_timeout != timeout {
            self.read_timeout = timeout;
            self.stream().set_read_timeout(self.read_timeout)?;
        }
        if options.deadline.is_some() {
            self.probe = None;
        }
        self.send_line(&wire::request_line(id, command, options)?)?;
        self.answer_to(id)
    }

    /// Makes a read that waits for long ask at this socket, over a second connection, whether the daemon still answers anybody.
    /// If it does, the read goes on waiting; if not, it is [`ClientError::Silent`]. Meant for requests without a deadline, of which
    /// some take long.
    pub fn check_liveness(&mut self, socket: &Path) -> Result<()> {
        self.probe = Some(socket.to_owned());
        self.read_timeout = Some(SILENCE);
        Ok(self.stream().set_read_timeout(self.read_timeout)?)
    }

    /// Ends what [`Connection::check_liveness`] began.
    pub fn trust_liveness(&mut self) -> Result<()> {
        if self.probe.take().is_none() {
            return Ok(());
        }
        self.read_timeout = None;
        Ok(self.stream().set_read_timeout(None)?)
    }

    /// What to do about a failed read: `Ok` if the daemon is only taking its time.
    fn on_read_error(&self, fault: io::Error) -> Result<()> {
        let fault = timed_out(fault);
        match &self.probe {
            Some(socket) if fault.kind() == io::ErrorKind::TimedOut => prove_life(socket),
            _ if fault.kind() == io::ErrorKind::Interrupted => Ok(()),
            _ => Err(fault.into()),
        }
    }

    /// Subscribes. The subscription owns the connection, because a slow reader would delay the answers to other requests.
    pub fn subscribe(mut self, what: Subscribe) -> Result<Subscription> {
        let reply = self.request(&Command::Subscribe(what), RequestOptions::default())?;
        let SubscribeAnswer { sub } = reply.data()?;
        // A stream may be silent for as long as nothing changes.
        self.trust_liveness()?;
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
            if let Err(fault) = self.reader.fill_buf() {
                self.on_read_error(fault)?;
                continue;
            }
            let chunk = self.reader.buffer();
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
        let mut line = Vec::new();
        // What was read before an error stays in the line.
        while let Err(fault) = self.reader.read_until(b'\n', &mut line) {
            self.on_read_error(fault)?;
        }
        if line.is_empty() {
            return Ok(None);
        }
        if line.pop() != Some(b'\n') {
            return Err(unexpected_end().into());
        }
        let line = String::from_utf8(line);
        line.map(Some).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8").into())
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
fn connect(socket: &Path, limit: Duration) -> io::Result<UnixStream> {
    use interprocess::ConnectWaitMode;
    use interprocess::local_socket::ConnectOptions;

    let name = || socket.to_fs_name::<GenericFilePath>();
    // A connection is made at once, unless more clients wait than the daemon's queue has room for.
    let attempt = ConnectOptions::new().name(name()?).wait_mode(ConnectWaitMode::Deferred).connect_sync();
    let stream = match attempt {
        Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => queue_up(socket, limit)?,
        attempt => attempt?,
    };
    stream.set_nonblocking(false)?;
    let LocalSocketStream::UdSocket(stream) = stream;
    let stream = UnixStream::from(OwnedFd::from(stream));
    #[cfg(target_vendor = "apple")]
    no_sigpipe(&stream)?;
    Ok(stream)
}

/// Waits for a place in the daemon's queue. The system offers no such wait with an end, so a thread waits; after the limit it ends
/// with the process.
fn queue_up(socket: &Path, limit: Duration) -> io::Result<LocalSocketStream> {
    let (sender, receiver) = mpsc::channel();
    let path = socket.to_owned();
    std::thread::Builder::new().name("axd-connect".into()).spawn(move || {
        let name = path.to_fs_name::<GenericFilePath>();
        sender.send(name.and_then(LocalSocketStream::connect))
    })?;
    receiver.recv_timeout(limit).unwrap_or_else(|fault| match fault {
        RecvTimeoutError::Timeout => {
            let said = "it accepts no connections: it is stopped, hangs or has too many clients";
            Err(io::Error::new(io::ErrorKind::TimedOut, said))
        }
        RecvTimeoutError::Disconnected => Err(io::ErrorKind::Other.into()),
    })
}

/// Asks a daemon that has been silent whether it answers anybody.
fn prove_life(socket: &Path) -> Result<()> {
    let silent = || ClientError::Silent {
        pid: crate::lock::holder_of(socket),
        waited_s: (SILENCE + PROOF_OF_LIFE).as_secs(),
    };
    let mut second = match Connection::try_open(socket, Some(PROOF_OF_LIFE)) {
        Ok(second) => second,
        Err(fault) if fault.kind() == io::ErrorKind::TimedOut => return Err(silent()),
        // It has stopped listening and may still answer what it was asked before.
        Err(_) => return Ok(()),
    };
    second.stream().set_read_timeout(Some(PROOF_OF_LIFE))?;
    second.send_line(&wire::request_line(
        1,
        &Command::Version(Version {}),
        RequestOptions::any_protocol(),
    )?)?;
    match second.recv_line() {
        Err(ClientError::Io(fault)) if fault.kind() == io::ErrorKind::TimedOut => Err(silent()),
        _ => Ok(()),
    }
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
