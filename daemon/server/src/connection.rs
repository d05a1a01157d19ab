//! One client: its requests in, its answers and subscriptions out, all in one task.
//!
//! Nothing here waits for one thing only: the task waits for bytes to read, room to write, finished requests and the
//! daemon's end at once, so none of them can hold up another. A request that is answered from memory is read, served
//! and written without leaving the task.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axd_protocol::{Error, ErrorCode};
use nix::sys::socket;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::time::{Instant, sleep_until, timeout_at};
use tracing::{debug, trace};

use super::framing::{Framed, Inbound};
use super::hangup::Hangup;
use super::outbound::Outbound;
use super::panics::Panicked;
use super::parsed::{LONG_LINE_BYTES, Malformed, Parsed};
use super::pending::PendingRequests;
use super::request_set::RequestSet;
use super::requests::Finished;
use axd_service::Stop;
use axd_service::held_bytes::{HeldBytes, MAX_HELD_LINES};
use axd_service::{BoxFuture, Feed, Service, write_error};
use axd_service::{Session, Sessions};

/// The maximum number of lines that are served before other connections get their turn, and the time after which they get it
/// in any case.
const MAX_LINES_PER_TURN: usize = 16;
const MAX_TURN: Duration = Duration::from_micros(250);
/// The number of bytes that are read before other connections get their turn.
const MAX_BYTES_PER_TURN: usize = 64 * 1024;
/// The maximum number of bytes that are discarded after an over-long line, before the connection is closed.
const MAX_LINGER_BYTES: usize = 16 << 20;
/// How long bytes are discarded after an over-long line.
const LINGER_TIMEOUT: Duration = Duration::from_secs(1);

/// A connected client.
pub(super) struct Connection {
    pub(super) service: Arc<dyn Service>,
    pub(super) session: Arc<Session>,
    pub(super) platform: &'static str,
    pub(super) out: Outbound,
    pub(super) pending: PendingRequests,
    pub(super) running: RequestSet<Finished>,
    /// Subscriptions that have lines to write, and wait for room in the output buffer.
    pub(super) ready_feeds: VecDeque<(u64, Box<dyn Feed>)>,
    /// The subscription that is writing its lines.
    pub(super) writing_feed: Option<u64>,
    /// A long line that is being parsed.
    pub(super) parsing: Option<BoxFuture<'static, Result<Parsed, Box<Malformed>>>>,
    pub(super) next_key: u64,
    pub(super) next_sub: u64,
    /// The bytes that this client has not read, and those of its unfinished line.
    unread: HeldBytes,
    unfinished: HeldBytes,
    sessions: Arc<Sessions>,
    stream: UnixStream,
    inbound: Inbound,
    /// How many bytes were read since other connections had their turn.
    read_in_turn: usize,
    /// A buffer for finished requests, which is reused.
    done: Vec<(u64, Result<Finished, Panicked>)>,
    /// How long pending requests may take after the last line was read.
    grace: Duration,
    phase: Phase,
}

/// The phase of a connection.
enum Phase {
    /// Requests are read.
    Open,
    /// The client shut down its sending side and may wait for answers.
    HalfClosed(Hangup),
    /// No more requests are read; pending ones may finish until then.
    Draining { until: Instant, why: Drain },
}

/// Why a connection is draining.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Drain {
    /// The daemon is shutting down.
    Shutdown,
    /// A line was too long, and where the next one begins is not known.
    Overlong,
}

/// The connection is closed.
struct Closed;

impl Connection {
    /// A connection that has just been accepted and admitted.
    pub(super) fn new(
        stream: UnixStream,
        pid: Option<u32>,
        service: Arc<dyn Service>,
        sessions: Arc<Sessions>,
        grace: Duration,
    ) -> Connection {
        let session = sessions.open(pid);
        Connection {
            platform: service.platform(),
            service,
            pending: PendingRequests::new(Arc::clone(&session)),
            unread: session.hold_answers(),
            unfinished: session.hold_lines(),
            session,
            out: Outbound::default(),
            running: RequestSet::new(),
            ready_feeds: VecDeque::new(),
            writing_feed: None,
            parsing: None,
            next_key: 0,
            next_sub: 1,
            sessions,
            stream,
            inbound: Inbound::default(),
            read_in_turn: 0,
            done: Vec::new(),
            grace,
            phase: Phase::Open,
        }
    }

    /// Serves the client until it disconnects or the daemon stops.
    pub(super) async fn run(mut self, stop: Stop) {
        debug!(client = self.session.client, pid = self.session.pid, "connected");
        let mut stopping = pin!(stop.wait());
        loop {
            self.serve_lines();
            self.poll_running().await;
            self.write_ready_feeds();
            if let Err(fault) = self.out.flush(&self.stream) {
                debug!(client = self.session.client, %fault, "cannot write to the client");
                break;
            }
            self.free_written();
            self.unread.set(self.out.left());
            self.unfinished.set(self.inbound.capacity());
            if self.has_more_to_do() {
                tokio::task::yield_now().await;
                continue;
            }
            if self.is_finished() || self.wait(stopping.as_mut()).await.is_err() {
                break;
            }
            if self.read_in_turn > MAX_BYTES_PER_TURN {
                self.read_in_turn = 0;
                tokio::task::yield_now().await;
            }
            // Otherwise subscriptions that always have lines to write would never yield the thread.
            tokio::task::coop::consume_budget().await;
        }
        if matches!(self.phase, Phase::Draining { why: Drain::Overlong, .. }) {
            self.linger().await;
        }
    }

    /// Serves lines that have been read, as many as one turn and the room for answers allow.
    fn serve_lines(&mut self) {
        // The lines are borrowed from the buffer while the rest of `self` serves them.
        let mut inbound = std::mem::take(&mut self.inbound);
        let end = std::time::Instant::now() + MAX_TURN;
        for served in 0..MAX_LINES_PER_TURN {
            if !self.may_serve() || (served > 0 && std::time::Instant::now() > end) {
                break;
            }
            match inbound.next_line() {
                Framed::Line(line) => self.serve_line(line),
                Framed::Nothing => break,
                Framed::TooLong => {
                    self.refuse_overlong();
                    inbound = Inbound::default();
                    break;
                }
            }
        }
        self.inbound = inbound;
    }

    /// Whether the next line may be served: not before the line before it was, nor while the client does not read its answers.
    fn may_serve(&self) -> bool {
        self.parsing.is_none() && self.out.has_room()
    }

    /// Frees the long answers that have been written, elsewhere if possible.
    fn free_written(&mut self) {
        let written = self.out.take_written();
        if !written.is_empty()
            && let Some(runtime) = self.service.runtime()
        {
            runtime.spawn(async move { drop(written) });
        }
    }

    /// Polls the woken requests once, without waiting.
    async fn poll_running(&mut self) {
        let parsed = poll_fn(|context| {
            let _ = self.running.poll(context, &mut self.done);
            let parsed = self.parsing.as_mut().map(|parsing| parsing.as_mut().poll(context));
            Poll::Ready(if let Some(Poll::Ready(parsed)) = parsed { Some(parsed) } else { None })
        })
        .await;
        self.take_finished();
        self.take_parsed(parsed);
    }

    fn take_parsed(&mut self, parsed: Option<Result<Parsed, Box<Malformed>>>) {
        if let Some(parsed) = parsed {
            self.parsing = None;
            self.serve_parsed(parsed);
        }
    }

    fn take_finished(&mut self) {
        let mut done = std::mem::take(&mut self.done);
        for (key, outcome) in done.drain(..) {
            self.on_finished(key, outcome);
        }
        self.done = done;
    }

    /// Whether something that was postponed, for other connections or for want of room, can be done now. It is checked
    /// after writing, which makes room, because nothing would wake the task for it.
    fn has_more_to_do(&self) -> bool {
        self.out.has_more()
            || (self.may_serve() && self.inbound.has_next())
            || (self.writing_feed.is_none() && self.out.has_room_for_feeds() && !self.ready_feeds.is_empty())
    }

    /// Whether there is nothing left to do for this client.
    fn is_finished(&self) -> bool {
        let reads = matches!(self.phase, Phase::Open);
        !reads
            && self.out.is_empty()
            && self.pending.is_empty()
            && self.parsing.is_none()
            && !self.inbound.has_next()
    }

    /// Waits for the next event, and handles what the main loop does not handle in every iteration.
    async fn wait(&mut self, stopping: Pin<&mut impl Future<Output = ()>>) -> Result<(), Closed> {
        let reading = matches!(self.phase, Phase::Open) && self.may_serve();
        let interest = match (reading, self.out.is_empty()) {
            (true, true) => Some(Interest::READABLE),
            (true, false) => Some(Interest::READABLE | Interest::WRITABLE),
            (false, false) => Some(Interest::WRITABLE),
            (false, true) => None,
        };
        let ready = async {
            match interest {
                Some(interest) => self.stream.ready(interest).await,
                None => std::future::pending().await,
            }
        };
        let hung_up = async {
            match &self.phase {
                Phase::HalfClosed(hangup) => hangup.wait().await,
                _ => std::future::pending().await,
            }
        };
        let out_of_time = async {
            match self.phase {
                Phase::Draining { until, .. } => sleep_until(until).await,
                _ => std::future::pending().await,
            }
        };
        let mut parsed = None;
        tokio::select! {
            biased;
            () = stopping, if !self.is_draining() => self.begin_shutdown(),
            () = out_of_time => return self.on_drain_timeout(),
            () = hung_up => return Err(Closed),
            ready = ready => {
                let ready = ready.map_err(|_| Closed)?;
                if reading && (ready.is_readable() || ready.is_read_closed()) {
                    return self.read();
                }
            }
            // This comes after the socket: running requests are polled in every iteration anyway, and must not keep a request (it
            // may be the one that cancels it) from being read.
            () = poll_fn(|context| {
                let parsing = self.parsing.as_mut().map(|parsing| parsing.as_mut().poll(context));
                if let Some(Poll::Ready(done)) = parsing {
                    parsed = Some(done);
                }
                let finished = self.running.poll(context, &mut self.done);
                if parsed.is_some() { Poll::Ready(()) } else { finished }
            }) => self.take_finished(),
        }
        self.take_parsed(parsed);
        Ok(())
    }

    /// Reads once.
    fn read(&mut self) -> Result<(), Closed> {
        let Connection { stream, inbound, .. } = self;
        let room = inbound.room();
        let mut read = None;
        // A read that does not fill the buffer has emptied the socket. Reporting that as `WouldBlock` saves the next iteration a
        // read that would only find this out.
        let result = stream.try_io(Interest::READABLE, || {
            let n = nix::unistd::read(&*stream, room)?;
            read = Some(n);
            if 0 < n && n < room.len() { Err(ErrorKind::WouldBlock.into()) } else { Ok(()) }
        });
        match (read, result) {
            (Some(0), _) => self.on_end_of_input(),
            (Some(n), _) => {
                self.inbound.filled(n);
                self.read_in_turn += n;
                self.hold_unfinished();
                Ok(())
            }
            (None, Err(fault)) if matches!(fault.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                Ok(())
            }
            (None, _) => Err(Closed),
        }
    }

    /// Counts what is read of a long line, and refuses to hold more of it if all clients together have sent too much.
    fn hold_unfinished(&mut self) {
        self.unfinished.set(self.inbound.capacity());
        if self.inbound.capacity() > LONG_LINE_BYTES && self.session.all_unfinished.get() > MAX_HELD_LINES {
            let held = self.session.all_unfinished.get() >> 20;
            let message = format!("clients have sent {held} MB of unfinished lines, which is the maximum");
            let error = Error::new(ErrorCode::RateLimited, message)
                .suggest("send shorter lines, or fewer at a time, and connect again");
            self.refuse_rest(&error, "the connection was closed for want of memory");
            self.inbound = Inbound::default();
            self.unfinished.set(0);
        }
    }

    /// Handles the end of input. A last line without a newline is not served, because it may be incomplete.
    fn on_end_of_input(&mut self) -> Result<(), Closed> {
        trace!(client = self.session.client, "end of input");
        let hangup = Hangup::watch(&self.stream).map_err(|_| Closed)?;
        self.phase = Phase::HalfClosed(hangup);
        Ok(())
    }

    /// Starts draining because the daemon is shutting down: what was sent before is still served, subscriptions end.
    fn begin_shutdown(&mut self) {
        if matches!(self.phase, Phase::Open) {
            // Reads directly, because on a new connection the runtime does not yet know whether there is something to read.
            while let Ok(n @ 1..) = nix::unistd::read(&self.stream, self.inbound.room()) {
                self.inbound.filled(n);
                if self.inbound.is_overlong() {
                    break;
                }
            }
        }
        self.phase = Phase::Draining { until: Instant::now() + self.grace, why: Drain::Shutdown };
        self.end_subscriptions();
    }

    fn refuse_overlong(&mut self) {
        let message = format!("the line is longer than {} bytes", axd_protocol::MAX_REQUEST_BYTES);
        let error = Error::new(ErrorCode::PayloadTooLarge, message);
        self.refuse_rest(&error, "the connection was closed after a line that is too long");
    }

    /// Answers what the client is sending with an error, its requests in progress with another, and closes the connection.
    fn refuse_rest(&mut self, error: &Error, why: &str) {
        write_error(self.platform, None, "", error, &mut self.out.lines);
        self.fail_pending(ErrorCode::Cancelled, why);
        self.drop_subscriptions();
        let until = match self.phase {
            Phase::Draining { until, .. } => until,
            _ => Instant::now() + self.grace,
        };
        self.phase = Phase::Draining { until, why: Drain::Overlong };
    }

    /// Handles the end of the time for draining: pending requests get an error, as far as the socket accepts it.
    fn on_drain_timeout(&mut self) -> Result<(), Closed> {
        if matches!(self.phase, Phase::Draining { why: Drain::Shutdown, .. }) {
            self.fail_pending(ErrorCode::Cancelled, "the daemon is shutting down");
        }
        // The connection is over whether or not this succeeds.
        let _ = self.out.flush(&self.stream);
        Err(Closed)
    }

    /// Whether no more requests are read, because the daemon is shutting down or a line was too long.
    pub(super) fn is_draining(&self) -> bool {
        matches!(self.phase, Phase::Draining { .. })
    }

    /// Reads and discards what the client still sends. Closing at once would reset the connection, and a client that
    /// sends all before it reads would not see why.
    async fn linger(&mut self) {
        if socket::shutdown(self.stream.as_raw_fd(), socket::Shutdown::Write).is_err() {
            return;
        }
        let until = Instant::now() + LINGER_TIMEOUT;
        let mut left = MAX_LINGER_BYTES;
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(Ok(())) = timeout_at(until, self.stream.readable()).await {
            match self.stream.try_read(&mut buffer) {
                Ok(n) if 0 < n && n < left => left -= n,
                Err(fault) if fault.kind() == ErrorKind::WouldBlock => {}
                _ => return,
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // What still runs elsewhere may not send anything any more.
        self.pending.close_gates();
        self.sessions.close(&self.session);
        Arc::clone(&self.service).client_disconnected(self.session.client);
        debug!(client = self.session.client, "disconnected");
    }
}
