//! A connection to a message bus: many calls under way at once, every one with a time limit, and what the bus
//! delivers handed on in the order it came.
//!
//! One task reads the socket and never waits for anybody, so a flood on one connection stalls neither it nor the
//! bus. Plain method calls only: a property is read with `Get`, never `GetAll`, which crashes Qt apps, unless the app is known
//! to be of another toolkit.

use std::collections::HashMap;
use std::future::poll_fn;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use zbus::connection::Builder;
use zbus::export::futures_core::Stream;
use zbus::message::Type as MessageType;
use zbus::{Connection, DynamicType, Message, MessageStream};

use axd_platform::worker::{APP_REPLY_TIMEOUT, unresponsive};
use axd_platform::{Failure, FailureKind, Sent};

/// How many calls one asker has under way at most; more gains nothing, apps answer one at a time.
const DEPTH: usize = 32;
/// How many are sent at once when there is room again, so that they share a write.
const REFILL: usize = 16;

/// An answer: the message, or the name of the error.
pub(crate) type Answer = Result<Message, String>;

/// The bus itself, as a destination.
pub(crate) const BUS: &str = "org.freedesktop.DBus";
const BUS_PATH: &str = "/org/freedesktop/DBus";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// A connection to a bus.
#[derive(Clone)]
pub(crate) struct Link {
    connection: Connection,
    pending: Pending,
    _reader: Arc<Reader>,
}

/// The task that reads the socket; it ends with the last clone of its link, and the connection with it.
struct Reader(tokio::task::JoinHandle<()>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.abort();
    }
}

type Pending = Arc<Mutex<HashMap<NonZeroU32, oneshot::Sender<Message>>>>;

/// Who is told what came, in order: signals, and the answers to calls made by [`Link::send`].
pub(crate) type Sink = Box<dyn Fn(Delivery) + Send + Sync>;

/// What came over a connection.
pub(crate) enum Delivery {
    /// A signal.
    Signal(Message),
    /// The answer to a marked call; everything its receiver sent before it has been delivered before it.
    Mark(u64),
    /// The connection is lost; nothing more will come.
    Lost,
}

impl Link {
    /// Connects to the bus at this address. Signals go to `sink`.
    pub async fn connect(address: &str, sink: Option<Sink>) -> zbus::Result<Link> {
        Link::over(Builder::address(address), sink).await
    }

    /// Connects to the session bus.
    pub async fn session() -> zbus::Result<Link> {
        Link::over(Builder::session(), None).await
    }

    /// A connection to an app itself; `lost` is called when it has ended.
    pub async fn to_app(
        stream: std::os::unix::net::UnixStream,
        lost: impl Fn() + Send + Sync + 'static,
    ) -> zbus::Result<Link> {
        let sink: Sink = Box::new(move |delivery| {
            if matches!(delivery, Delivery::Lost) {
                lost();
            }
        });
        Link::over(Builder::unix_stream(stream).p2p(), Some(sink)).await
    }

    /// Whether nothing that was asked is without an answer.
    pub fn is_answered(&self) -> bool {
        self.pending.lock().is_empty()
    }

    async fn over(builder: Builder<'_>, sink: Option<Sink>) -> zbus::Result<Link> {
        let connection = builder.build().await?;
        let pending: Pending = Arc::default();
        let stream = MessageStream::from(&connection);
        let reader = Arc::new(Reader(tokio::spawn(deliver(stream, Arc::clone(&pending), sink))));
        Ok(Link { connection, pending, _reader: reader })
    }

    /// Makes one call.
    pub async fn ask(&self, call: zbus::Result<Message>) -> Result<Answer, Failure> {
        let mut answers = self.ask_all(vec![call]).await?;
        Ok(answers.pop().unwrap_or_else(|| Err(String::new())))
    }

    /// Makes calls, several at a time; the answers come in the order of the calls. Fails as soon as the receiver is
    /// silent for too long, or the connection lost.
    pub async fn ask_all(&self, calls: Vec<zbus::Result<Message>>) -> Result<Vec<Answer>, Failure> {
        let count = calls.len();
        let mut answers = Vec::with_capacity(count);
        let mut waiting: std::collections::VecDeque<Option<oneshot::Receiver<Message>>> =
            std::collections::VecDeque::with_capacity(DEPTH);
        let mut calls = calls.into_iter();
        while answers.len() < count {
            if waiting.len() <= DEPTH - REFILL {
                let mut outgoing = Vec::with_capacity(REFILL);
                for call in calls.by_ref().take(DEPTH - waiting.len()) {
                    // A call that cannot be written down names something that cannot exist.
                    let Ok(message) = call else {
                        waiting.push_back(None);
                        continue;
                    };
                    let (answer, reply) = oneshot::channel();
                    self.pending.lock().insert(message.primary_header().serial_num(), answer);
                    outgoing.push(message);
                    waiting.push_back(Some(reply));
                }
                if !outgoing.is_empty() {
                    self.connection.send_all(&outgoing).await.map_err(|_| lost())?;
                }
            }
            let Some(next) = waiting.pop_front() else { break };
            let Some(reply) = next else {
                answers.push(Err("invalid".to_owned()));
                continue;
            };
            let message = match tokio::time::timeout(APP_REPLY_TIMEOUT, reply).await {
                Ok(Ok(message)) => message,
                Ok(Err(_)) => return Err(lost()),
                Err(_) => return Err(unresponsive()),
            };
            answers.push(judge(message));
        }
        Ok(answers)
    }

    /// Makes one call and waits for its answer however long it takes; true if one came.
    pub async fn probe(&self, call: zbus::Result<Message>) -> bool {
        match self.start(call).await {
            Ok(pending) => pending.await.is_ok(),
            Err(_) => false,
        }
    }

    /// Sends one call; its answer comes later, and may never come.
    pub async fn start(
        &self,
        call: zbus::Result<Message>,
    ) -> Result<impl Future<Output = Result<Answer, Failure>> + Unpin + use<>, Failure> {
        let message = call.map_err(|fault| Failure::new(FailureKind::Invalid, fault.to_string()))?;
        let (answer, mut reply) = oneshot::channel();
        self.pending.lock().insert(message.primary_header().serial_num(), answer);
        self.connection.send(&message).await.map_err(|_| lost().sent(Sent::Maybe))?;
        Ok(poll_fn(move |context| {
            Pin::new(&mut reply).poll(context).map(|came| came.map(judge).map_err(|_| lost()))
        }))
    }

    /// Sends a call whose answer will be delivered as a [`Delivery::Mark`] of its serial number; false if it could not
    /// be sent.
    pub async fn send(&self, message: &Message) -> bool {
        self.connection.send(message).await.is_ok()
    }
}

/// The answer, or the name of the error it is. That an element's process is gone is an error like any other: it may
/// be a part that another process lends to an app which lives.
fn judge(message: Message) -> Answer {
    match message.message_type() {
        MessageType::Error => Err(message.header().error_name().map(ToString::to_string).unwrap_or_default()),
        _ => Ok(message),
    }
}

fn lost() -> Failure {
    Failure::new(FailureKind::Gone, "the connection to the accessibility bus is lost")
}

async fn deliver(mut stream: MessageStream, pending: Pending, sink: Option<Sink>) {
    while let Some(Ok(message)) = poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await {
        match message.message_type() {
            MessageType::Signal => {
                if let Some(sink) = &sink {
                    sink(Delivery::Signal(message));
                }
            }
            MessageType::MethodReturn | MessageType::Error => {
                let Some(serial) = message.header().reply_serial() else { continue };
                let asker = pending.lock().remove(&serial);
                match (asker, &sink) {
                    (Some(asker), _) => drop(asker.send(message)),
                    (None, Some(sink)) => sink(Delivery::Mark(u64::from(serial.get()))),
                    (None, None) => {}
                }
            }
            MessageType::MethodCall => {}
        }
    }
    // Whoever waits for an answer learns that none will come.
    pending.lock().clear();
    if let Some(sink) = sink {
        sink(Delivery::Lost);
    }
}

/// A method call.
pub(crate) fn call<B: serde::Serialize + DynamicType>(
    destination: &str,
    path: &str,
    interface: &str,
    method: &str,
    body: &B,
) -> zbus::Result<Message> {
    Message::method_call(path, method).destination(destination).interface(interface).build(body)
}

/// A call that reads one property.
pub(crate) fn get(destination: &str, path: &str, interface: &str, property: &str) -> zbus::Result<Message> {
    call(destination, path, PROPERTIES, "Get", &(interface, property))
}

/// A call that reads all properties. Not to be sent to Qt apps.
pub(crate) fn get_all(destination: &str, path: &str, interface: &str) -> zbus::Result<Message> {
    call(destination, path, PROPERTIES, "GetAll", &(interface,))
}

/// A call that sets one property.
pub(crate) fn set(
    destination: &str,
    path: &str,
    interface: &str,
    property: &str,
    value: impl Into<zbus::Variant<'static>>,
) -> zbus::Result<Message> {
    call(destination, path, PROPERTIES, "Set", &(interface, property, value.into()))
}

/// A call to the bus itself.
pub(crate) fn bus_call<B: serde::Serialize + DynamicType>(method: &str, body: &B) -> zbus::Result<Message> {
    call(BUS, BUS_PATH, BUS, method, body)
}
