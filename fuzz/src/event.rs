//! Events of the accessibility bus: an app may send any message, and axd takes no more from it than which elements to read again.

use crate::bytes::Bytes;

/// The signatures of bodies: those of AT-SPI, and some that are none.
const SIGNATURES: [&str; 12] = [
    "siiva{sv}",
    "siiv(so)",
    "((so)(so)(so)iiassusau)",
    "((so)(so)(so)a(so)assusau)",
    "(so)",
    "so",
    "s",
    "v",
    "",
    "a{sv}",
    "(((((((s)))))))",
    "aaaaaaaas",
];

/// Takes bytes: as a whole message or, after three bytes that say which, as the body of one of the signals that axd takes.
pub fn event(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    if bytes.next() == 0 {
        let (event, signature) = (usize::from(bytes.next()), bytes.one_of(&SIGNATURES));
        axd_linux::fuzz::signal(event, signature, bytes.rest());
    } else {
        axd_linux::fuzz::message(data);
    }
}
