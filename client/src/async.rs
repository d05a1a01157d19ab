//! The connection on tokio: the same as the blocking one, with `await`.
//!
//! Starting a daemon blocks for as long as it needs to come up; from here, call [`crate::connect_or_start`] on a
//! blocking thread first, then [`Connection::open`].

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use axd_protocol::Command;
use axd_protocol::command::{Subscribe, SubscribeAnswer};
use axd_protocol::event::{Event, Push};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::connection::{broken_off, check_peer, unavailable, unless_closed};
use crate::wire::{self, Ask, Line, Reply};
use crate::{ClientError, Result};

/// A connection to the daemon.
#[derive(Debug)]
pub struct Connection {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    /// The line being read. Kept here so that a `recv_line` that is dropped half-way loses nothing.
    partial: Vec<u8>,
    /// Lines that came while the answer to something else was awaited.
    early: VecDeque<String>,
    next_id: u64,
}

impl Connection {
    /// Connects to the daemon at this socket. Starts none.
    pub async fn open(socket: &Path) -> Result<Connection> {
        let opened = match UnixStream::connect(socket).await {
            Ok(stream) => check_peer(&stream).map(|()| stream),
            Err(fault) => Err(fault),
        };
        let (reader, writer) = opened.map_err(|fault| unavailable(socket, &fault))?.into_split();
        Ok(Connection {
            reader: BufReader::new(reader),
            writer,
            partial: Vec::new(),
            early: VecDeque::new(),
            next_id: 1,
        })
    }

    /// Asks, and waits for the answer. An answer that says `"ok":false` is [`ClientError::Daemon`].
    ///
    /// Dropping the future does not take the request back: its answer is thrown away when it comes.
    pub async fn request(&mut self, command: &Command, ask: Ask) -> Result<Reply> {
        let id = self.next_id;
        self.next_id += 1;
        self.send_line(&wire::request_line(id, command, ask)?).await?;
        loop {
            let line = self.read_line().await?.ok_or_else(broken_off)?;
            match Line::sort(&line, id)? {
                Line::Answer => return Reply::parse(&line),
                Line::Late => {}
                Line::Other => self.early.push_back(line),
            }
        }
    }

    /// Subscribes. The subscription owns the connection, as for the blocking one.
    pub async fn subscribe(mut self, what: Subscribe) -> Result<Subscription> {
        let reply = self.request(&Command::Subscribe(what), Ask::default()).await?;
        let SubscribeAnswer { sub } = reply.data()?;
        Ok(Subscription { connection: self, sub, reply, over: false })
    }

    /// Sends a line as it is. A missing newline is added.
    pub async fn send_line(&mut self, line: &str) -> Result<()> {
        let mut sent = self.writer.write_all(line.as_bytes()).await;
        if sent.is_ok() && !line.ends_with('\n') {
            sent = self.writer.write_all(b"\n").await;
        }
        unless_closed(sent).map_err(Into::into)
    }

    /// The next line, without its newline; `None` when the daemon has closed the connection. May be dropped half-way
    /// without losing anything.
    pub async fn recv_line(&mut self) -> Result<Option<String>> {
        match self.early.pop_front() {
            Some(line) => Ok(Some(line)),
            None => self.read_line().await,
        }
    }

    async fn read_line(&mut self) -> Result<Option<String>> {
        self.reader.read_until(b'\n', &mut self.partial).await?;
        if self.partial.is_empty() {
            return Ok(None);
        }
        let mut line = std::mem::take(&mut self.partial);
        if line.pop() != Some(b'\n') {
            return Err(broken_off().into());
        }
        let not_text = |fault| ClientError::Io(io::Error::new(io::ErrorKind::InvalidData, fault));
        String::from_utf8(line).map(Some).map_err(not_text)
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

    /// The next event; `None` after `end`. A connection that is lost before that is an error. May be dropped half-way
    /// without losing anything.
    pub async fn next(&mut self) -> Result<Option<Push>> {
        while !self.over {
            let line = self.connection.recv_line().await?.ok_or_else(broken_off)?;
            if let Some(push) = wire::push_of(&line)?.filter(|push| push.sub == self.sub) {
                self.over = matches!(push.event, Event::End { .. });
                return Ok(Some(push));
            }
        }
        Ok(None)
    }
}
