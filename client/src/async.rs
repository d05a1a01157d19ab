//! The connection on tokio, with the same functions as the blocking one.
//!
//! Starting a daemon blocks until it is ready; call [`crate::connect_or_start`] on a
//! blocking thread first, then [`AsyncConnection::open`].

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use axd_protocol::Command;
use axd_protocol::command::{Subscribe, SubscribeAnswer};
use axd_protocol::event::{Event, Push};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};

use crate::connection::{check_peer, ignore_closed, unavailable, unexpected_end};
use crate::wire::{self, Line, Reply, RequestOptions};
use crate::{ClientError, Result};

/// A connection to the daemon.
#[derive(Debug)]
pub struct AsyncConnection {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    /// The incomplete line. It is kept here so that dropping the future of `recv_line` loses nothing.
    partial: Vec<u8>,
    /// Lines for others that arrived while the answer to a request was awaited.
    queued: VecDeque<String>,
    next_id: u64,
}

impl AsyncConnection {
    /// Connects to the daemon at this socket. It does not start one.
    pub async fn open(socket: &Path) -> Result<AsyncConnection> {
        let opened = match UnixStream::connect(socket).await {
            Ok(stream) => check_peer(&stream).map(|()| stream),
            Err(fault) => Err(fault),
        };
        let (reader, writer) = opened.map_err(|fault| unavailable(socket, &fault))?.into_split();
        Ok(AsyncConnection {
            reader: BufReader::new(reader),
            writer,
            partial: Vec::new(),
            queued: VecDeque::new(),
            next_id: 1,
        })
    }

    /// Sends a request and waits for the answer. An answer that says `"ok":false` is [`ClientError::Daemon`].
    ///
    /// Dropping the future does not cancel the request; its answer is discarded.
    pub async fn request(&mut self, command: &Command, options: RequestOptions) -> Result<Reply> {
        let id = self.next_id;
        self.next_id += 1;
        self.send_line(&wire::request_line(id, command, options)?).await?;
        loop {
            let line = self.read_line().await?.ok_or_else(unexpected_end)?;
            match Line::sort(&line, id)? {
                Line::Answer => return Reply::parse(&line),
                Line::Late => {}
                Line::Other => self.queued.push_back(line),
            }
        }
    }

    /// Subscribes. The subscription owns the connection, as for the blocking one.
    pub async fn subscribe(mut self, what: Subscribe) -> Result<AsyncSubscription> {
        let reply = self.request(&Command::Subscribe(what), RequestOptions::default()).await?;
        let SubscribeAnswer { sub } = reply.data()?;
        Ok(AsyncSubscription { connection: self, sub, reply, over: false })
    }

    /// Sends a line unchanged, with a newline if it has none.
    pub async fn send_line(&mut self, line: &str) -> Result<()> {
        send_line(&mut self.writer, line).await
    }

    /// Splits the connection, for a client that has several requests in progress and matches the answers itself: it can write
    /// a line while it waits for one.
    pub fn into_split(self) -> (AsyncLines, AsyncSender) {
        let AsyncConnection { reader, writer, partial, queued, next_id: _ } = self;
        (AsyncLines { reader, partial, queued }, AsyncSender { writer })
    }

    /// The next line, without its newline; `None` when the daemon has closed the connection. The future may be
    /// dropped without losing anything.
    pub async fn recv_line(&mut self) -> Result<Option<String>> {
        match self.queued.pop_front() {
            Some(line) => Ok(Some(line)),
            None => self.read_line().await,
        }
    }

    async fn read_line(&mut self) -> Result<Option<String>> {
        read_line(&mut self.reader, &mut self.partial).await
    }
}

/// The receiving half of a connection that was split.
#[derive(Debug)]
pub struct AsyncLines {
    reader: BufReader<OwnedReadHalf>,
    partial: Vec<u8>,
    queued: VecDeque<String>,
}

impl AsyncLines {
    /// The next line, as [`AsyncConnection::recv_line`] returns it.
    pub async fn recv_line(&mut self) -> Result<Option<String>> {
        match self.queued.pop_front() {
            Some(line) => Ok(Some(line)),
            None => read_line(&mut self.reader, &mut self.partial).await,
        }
    }
}

/// The sending half of a connection that was split. Dropping it does not close the connection while the other half is there.
#[derive(Debug)]
pub struct AsyncSender {
    writer: OwnedWriteHalf,
}

impl AsyncSender {
    /// Sends a line unchanged, with a newline if it has none. The future must not be dropped before it is done.
    pub async fn send_line(&mut self, line: &str) -> Result<()> {
        send_line(&mut self.writer, line).await
    }
}

async fn send_line(writer: &mut OwnedWriteHalf, line: &str) -> Result<()> {
    let mut sent = writer.write_all(line.as_bytes()).await;
    if sent.is_ok() && !line.ends_with('\n') {
        sent = writer.write_all(b"\n").await;
    }
    ignore_closed(sent).map_err(Into::into)
}

async fn read_line(reader: &mut BufReader<OwnedReadHalf>, partial: &mut Vec<u8>) -> Result<Option<String>> {
    reader.read_until(b'\n', partial).await?;
    if partial.is_empty() {
        return Ok(None);
    }
    let mut line = std::mem::take(partial);
    if line.pop() != Some(b'\n') {
        return Err(unexpected_end().into());
    }
    let not_text = |fault| ClientError::Io(io::Error::new(io::ErrorKind::InvalidData, fault));
    String::from_utf8(line).map(Some).map_err(not_text)
}

/// A stream of events. Dropping it ends the subscription, with its connection.
#[derive(Debug)]
pub struct AsyncSubscription {
    connection: AsyncConnection,
    sub: u64,
    reply: Reply,
    over: bool,
}

impl AsyncSubscription {
    /// The number that its events have.
    pub fn sub(&self) -> u64 {
        self.sub
    }

    /// The answer to the `subscribe` request.
    pub fn reply(&self) -> &Reply {
        &self.reply
    }

    /// The next event; `None` after `end`. A connection that is lost before that is an error. The future may be
    /// dropped without losing anything.
    pub async fn next(&mut self) -> Result<Option<Push>> {
        while !self.over {
            let line = self.connection.recv_line().await?.ok_or_else(unexpected_end)?;
            if let Some(push) = wire::push_of(&line)?.filter(|push| push.sub == self.sub) {
                self.over = matches!(push.event, Event::End { .. });
                return Ok(Some(push));
            }
        }
        Ok(None)
    }
}
