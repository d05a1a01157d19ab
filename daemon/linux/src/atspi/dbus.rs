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

/// How many calls one caller has in flight at most; more gain nothing, since apps answer one at a time.
const MAX_CALLS_IN_FLIGHT: usize = 32;
/// How many calls are sent at once, so that they share a write.
const SEND_BATCH: usize = 16;

/// The reply to a call: the message, or the name of the D-Bus error.
pub(crate) type BusReply = Result<Message, String>;

/// The bus itself, as a destination.
pub(crate) const BUS: &str = "org.freedesktop.DBus";
const BUS_PATH: &str = "/org/freedesktop/DBus";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";

/// A connection to a bus.
#[derive(Clone)]
pub(crate) struct BusConnection {
    connection: Connection,
    pending: Pending,
    _reader: Arc<ReceiveTask>,
}

/// The task that reads the socket. It ends with the last clone of its connection.
struct ReceiveTask(tokio::task::JoinHandle<()>);

impl Drop for ReceiveTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

type Pending = Arc<Mutex<HashMap<NonZeroU32, oneshot::Sender<Message>>>>;

/// Receives what arrives, in order: signals, and the replies to calls made by [`BusConnection::send`].
pub(crate) type DeliveryHandler = Box<dyn Fn(Delivery) + Send + Sync>;

/// What arrived over a connection.
pub(crate) enum Delivery {
    /// A signal.
    Signal(Message),
    /// The reply to a call made by [`BusConnection::send`], by its serial number; everything the app sent before it has
    /// been delivered before it.
    FenceReply(u64),
    /// The connection is lost; nothing more will come.
    Closed,
}

impl BusConnection {
    /// Connects to the bus at this address. Signals go to `sink`.
    pub async fn connect(address: &str, sink: Option<DeliveryHandler>) -> zbus::Result<BusConnection> {
        BusConnection::build(Builder::address(address), sink).await
    }

    /// Connects to the session bus.
    pub async fn session() -> zbus::Result<BusConnection> {
        BusConnection::build(Builder::session(), None).await
    }

    /// A connection to an app itself; `lost` is called when it has ended.
    pub async fn connect_to_app(
        stream: std::os::unix::net::UnixStream,
        lost: impl Fn() + Send + Sync + 'static,
    ) -> zbus::Result<BusConnection> {
        let sink: DeliveryHandler = Box::new(move |delivery| {
            if matches!(delivery, Delivery::Closed) {
                lost();
            }
        });
        BusConnection::build(Builder::unix_stream(stream).p2p(), Some(sink)).await
    }

    /// Whether every call has been answered.
    pub fn is_idle(&self) -> bool {
        self.pending.lock().is_empty()
    }

    async fn build(builder: Builder<'_>, sink: Option<DeliveryHandler>) -> zbus::Result<BusConnection> {
        let connection = builder.build().await?;
        let pending: Pending = Arc::default();
        let stream = MessageStream::from(&connection);
        let reader = Arc::new(ReceiveTask(tokio::spawn(receive(stream, Arc::clone(&pending), sink))));
        Ok(BusConnection { connection, pending, _reader: reader })
    }

    /// Makes one call.
    pub async fn call(&self, call: zbus::Result<Message>) -> Result<BusReply, Failure> {
        let mut answers = self.call_all(vec![call]).await?;
        Ok(answers.pop().unwrap_or_else(|| Err(String::new())))
    }

    /// Makes calls, several at a time; the answers come in the order of the calls. Fails as soon as the receiver does not
    /// reply in time, or the connection is lost.
    pub async fn call_all(&self, calls: Vec<zbus::Result<Message>>) -> Result<Vec<BusReply>, Failure> {
        let count = calls.len();
        let mut answers = Vec::with_capacity(count);
        let mut waiting: std::collections::VecDeque<Option<oneshot::Receiver<Message>>> =
            std::collections::VecDeque::with_capacity(MAX_CALLS_IN_FLIGHT);
        let mut calls = calls.into_iter();
        while answers.len() < count {
            if waiting.len() <= MAX_CALLS_IN_FLIGHT - SEND_BATCH {
                let mut outgoing = Vec::with_capacity(SEND_BATCH);
                for call in calls.by_ref().take(MAX_CALLS_IN_FLIGHT - waiting.len()) {
                    // A call that cannot be encoded names something that cannot exist.
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
                    self.connection.send_all(&outgoing).await.map_err(|_| connection_lost())?;
                }
            }
            let Some(next) = waiting.pop_front() else { break };
            let Some(reply) = next else {
                answers.push(Err("invalid".to_owned()));
                continue;
            };
            let message = match tokio::time::timeout(APP_REPLY_TIMEOUT, reply).await {
                Ok(Ok(message)) => message,
                Ok(Err(_)) => return Err(connection_lost()),
                Err(_) => return Err(unresponsive()),
            };
            answers.push(into_reply(message));
        }
        Ok(answers)
    }

    /// Makes one call and waits for its answer however long it takes; true if one came.
    pub async fn probe(&self, call: zbus::Result<Message>) -> bool {
        match self.start_call(call).await {
            Ok(pending) => pending.await.is_ok(),
            Err(_) => false,
        }
    }

    /// Sends one call; its answer comes later, and may never come.
    pub async fn start_call(
        &self,
        call: zbus::Result<Message>,
    ) -> Result<impl Future<Output = Result<BusReply, Failure>> + Unpin + use<>, Failure> {
        let message = call.map_err(|error| Failure::new(FailureKind::Invalid, error.to_string()))?;
        let (answer, mut reply) = oneshot::channel();
        self.pending.lock().insert(message.primary_header().serial_num(), answer);
        self.connection.send(&message).await.map_err(|_| connection_lost().sent(Sent::Maybe))?;
        Ok(poll_fn(move |context| {
            Pin::new(&mut reply).poll(context).map(|came| came.map(into_reply).map_err(|_| connection_lost()))
        }))
    }

    /// Sends a call whose answer will be delivered as a [`Delivery::FenceReply`]; false if it could not
    /// be sent.
    pub async fn send(&self, message: &Message) -> bool {
        self.connection.send(message).await.is_ok()
    }
}

/// Splits replies from errors. That an element's process is gone is an error like any other: it may be an embedded part
/// of another process, while the app lives.
fn into_reply(message: Message) -> BusReply {
    match message.message_type() {
        MessageType::Error => Err(message.header().error_name().map(ToString::to_string).unwrap_or_default()),
        _ => Ok(message),
    }
}

fn connection_lost() -> Failure {
    Failure::new(FailureKind::Gone, "the connection to the accessibility bus is lost")
}

async fn receive(mut stream: MessageStream, pending: Pending, sink: Option<DeliveryHandler>) {
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
                    (None, Some(sink)) => sink(Delivery::FenceReply(u64::from(serial.get()))),
                    (None, None) => {}
                }
            }
            MessageType::MethodCall => {}
        }
    }
    // Dropping the senders tells all callers that no reply will come.
    pending.lock().clear();
    if let Some(sink) = sink {
        sink(Delivery::Closed);
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
