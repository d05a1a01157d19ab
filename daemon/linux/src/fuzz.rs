//! What fuzzing feeds: messages of an app on the accessibility bus, as bytes.

use zbus::Message;
use zbus::wire::Endian;
use zbus::wire::serialized::{Context, Data};

use crate::app::event_queue::EventQueue;
use crate::app::event_table::{EVENTS, queue_event};

/// The most elements that one signal names: the one that sent it, and one in its body.
const NAMED_BY_ONE: usize = 2;

/// Takes bytes as a message of an app, and returns whether it is one of the signals that axd takes.
pub fn message(bytes: &[u8]) -> bool {
    let endian = if bytes.first() == Some(&b'B') { Endian::Big } else { Endian::Little };
    let data = Data::new(bytes.to_vec(), Context::new(endian, 0));
    // SAFETY: the bytes may have an invalid encoding, as those of an app may; zbus itself makes messages of those in the same way,
    // and checks what it reads of them. That is what is tried here.
    let Ok(message) = (unsafe { Message::from_bytes(data) }) else { return false };
    takes(&message)
}

/// Takes a signal of the table of events, with these bytes as its body, and this signature.
pub fn signal(event: usize, signature: &str, body: &[u8]) -> bool {
    let (interface, member) = EVENTS[event % EVENTS.len()].signal();
    let builder = Message::signal("/org/a11y/atspi/accessible/1", interface, member).sender(":1.5");
    // SAFETY: as above; the body may not be of this signature.
    let Ok(message) = (unsafe { builder.build_raw_body(body, signature, Vec::new()) }) else { return false };
    takes(&message)
}

fn takes(message: &Message) -> bool {
    let queue = EventQueue::default();
    let taken = queue_event(message, &queue);
    let pending = queue.take();
    assert!(pending.changes.len() <= NAMED_BY_ONE && pending.announcements.len() <= 1);
    assert!(taken || pending.changes.is_empty(), "a signal that is not taken changes nothing");
    taken
}
