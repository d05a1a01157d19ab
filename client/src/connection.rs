//! The blocking connection, and the subscription that takes one over.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axd_protocol::Command;
use axd_protocol::command::{Subscribe, SubscribeAnswer};
use axd_protocol::event::{Event, Push};

use crate::wire::{self, Ask, Line, Reply};
use crate::{ClientError, Result};

/// What one read takes at most; larger answers are handed on in pieces of this size.
const READ_BYTES: usize = 64 * 1024;
/// As much of a line tells what it is.
const HEAD: usize = 256;

/// A connection to the daemon.
#[derive(Debug)]
pub struct Connection {
    reader: BufReader<UnixStream>,
    /// Lines that came while the answer to something else was awaited.
    early: VecDeque<String>,
    next_id: u64,
    /// The stream's read timeout.
    patience: Option<Duration>,
}

impl Connection {
    /// Connects to the daemon at this socket. Starts none: see [`crate::connect_or_start`].
    pub fn open(socket: &Path) -> Result<Connection> {
        Connection::try_open(socket).map_err(|fault| unavailable(socket, &fault))
    }

    pub(crate) fn try_open(socket: &Path) -> io::Result<Connection> {
        let stream = UnixStream::connect(socket)?;
        check_peer(&stream)?;
        Ok(Connection::over(stream))
    }

    /// Speaks over a stream that is connected already.
    pub fn over(stream: UnixStream) -> Connection {
        let reader = BufReader::with_capacity(READ_BYTES, stream);
        Connection { reader, early: VecDeque::new(), next_id: 1, patience: None }
    }

    /// Asks, and waits for the answer. An answer that says `"ok":false` is [`ClientError::Daemon`].
    pub fn request(&mut self, command: &Command, ask: Ask) -> Result<Reply> {
        let id = self.take_id();
        if self.patience != ask.patience() {
            self.patience = ask.patience();
            self.stream().set_read_timeout(self.patience)?;
        }
        self.send_line(&wire::request_line(id, command, ask)?)?;
        self.answer_to(id)
    }

    /// Subscribes. The subscription owns the connection: what it does not read in time the daemon folds, and that
    /// would hold up answers to anything else asked here.
    pub fn subscribe(mut self, what: Subscribe) -> Result<Subscription> {
        let reply = self.request(&Command::Subscribe(what), Ask::default())?;
        let SubscribeAnswer { sub } = reply.data()?;
        Ok(Subscription { connection: self, sub, reply, over: false })
    }

    /// Sends a line as it is. A missing newline is added. An id in it that is a string never meets those of
    /// [`Connection::request`], which are numbers.
    pub fn send_line(&mut self, line: &str) -> Result<()> {
        let mut stream = self.stream();
        let end = if line.ends_with('\n') { "" } else { "\n" };
        let sent = stream.write_all(line.as_bytes()).and_then(|()| stream.write_all(end.as_bytes()));
        unless_closed(sent).map_err(Into::into)
    }

    /// The next line, without its newline; `None` when the daemon has closed the connection.
    pub fn recv_line(&mut self) -> Result<Option<String>> {
        match self.early.pop_front() {
            Some(line) => Ok(Some(line)),
            None => self.read_line(),
        }
    }

    /// Hands the next line to `sink` as it arrives, newline included, without ever holding all of it. The first piece is
    /// long enough to tell by it what the line is. Says whether there was one; a line that breaks off is an error.
    pub fn stream_line(&mut self, mut sink: impl FnMut(&[u8]) -> io::Result<()>) -> Result<bool> {
        // What has come of the first piece, until it is long enough.
        let mut head = Some(Vec::new());
        let mut begun = false;
        loop {
            let chunk = self.reader.fill_buf().map_err(timed_out)?;
            if chunk.is_empty() {
                return if begun { Err(broken_off().into()) } else { Ok(false) };
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let piece = &chunk[..end.map_or(chunk.len(), |end| end + 1)];
            let used = piece.len();
            let handed = match head.take() {
                Some(mut short) if end.is_none() && short.len() + used < HEAD => {
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

    /// The stream underneath, for what this does not offer: timeouts, half-close, a second handle.
    pub fn stream(&self) -> &UnixStream {
        self.reader.get_ref()
    }

    fn take_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id - 1
    }

    fn answer_to(&mut self, id: u64) -> Result<Reply> {
        loop {
            let line = self.read_line()?.ok_or_else(broken_off)?;
            match Line::sort(&line, id)? {
                Line::Answer => return Reply::parse(&line),
                Line::Late => {}
                Line::Other => self.early.push_back(line),
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
            return Err(broken_off().into());
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
    /// The number under which its events come.
    pub fn sub(&self) -> u64 {
        self.sub
    }

    /// The answer the subscription began with.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// The stream underneath, as for [`Connection::stream`].
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
                Ok(None) => return self.fail(broken_off().into()),
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

pub(crate) fn unavailable(socket: &Path, fault: &io::Error) -> ClientError {
    let reason = match fault.kind() {
        io::ErrorKind::NotFound => "there is no such socket".to_owned(),
        io::ErrorKind::ConnectionRefused => "nobody listens there".to_owned(),
        _ => fault.to_string(),
    };
    ClientError::Unavailable { tried: PathBuf::from(socket), reason }
}

pub(crate) fn broken_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "it closed before the answer was whole")
}

/// A daemon that has closed the connection may have said why before it did (it serves another user, it serves too many).
/// That is there to be read, and whoever reads finds the end after it; so it is no error yet.
pub(crate) fn unless_closed(sent: io::Result<()>) -> io::Result<()> {
    sent.or_else(|fault| if fault.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(fault) })
}

/// A socket's read timeout reports itself as "would block".
fn timed_out(fault: io::Error) -> io::Error {
    if fault.kind() == io::ErrorKind::WouldBlock { io::ErrorKind::TimedOut.into() } else { fault }
}

/// Refuses a socket that another user serves: the fallback folder is in `/tmp`, where anyone may be first, and what
/// is asked here may be secret.
pub(crate) fn check_peer(stream: &impl std::os::fd::AsFd) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    let peer = nix::sys::socket::getsockopt(stream, nix::sys::socket::sockopt::PeerCredentials)?.uid();
    #[cfg(not(target_os = "linux"))]
    let peer = nix::unistd::getpeereid(stream)?.0.as_raw();
    let own = nix::unistd::geteuid().as_raw();
    if peer == own || peer == 0 {
        return Ok(());
    }
    let said = format!("it is served by user {peer}, and this is user {own}");
    Err(io::Error::new(io::ErrorKind::PermissionDenied, said))
}
