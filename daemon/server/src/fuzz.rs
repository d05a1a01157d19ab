//! What fuzzing feeds: the bytes of a client, as far as the requests in them.

use axd_protocol::{Command, Error};

use crate::framing::{Framed, Inbound};
use crate::parsed::parse;

/// What was found in a client's bytes.
#[derive(Debug, PartialEq)]
pub enum Found {
    /// A request: its id as it was written, and its command.
    Request(Option<String>, Box<Command>),
    /// A line that is none, with the answer to it.
    Malformed(Option<String>, Box<Error>),
    /// A line that is longer than the contract allows. The connection ends there.
    TooLong,
}

/// What is found in bytes that arrive in pieces of this length. `extensions` are commands that the daemon has besides.
pub fn requests(bytes: &[u8], piece: usize, extensions: &[&'static str]) -> Vec<Found> {
    let (mut inbound, mut found) = (Inbound::default(), Vec::new());
    for mut piece in bytes.chunks(piece.max(1)) {
        while !piece.is_empty() {
            let room = inbound.room();
            let taken = room.len().min(piece.len());
            room[..taken].copy_from_slice(&piece[..taken]);
            inbound.filled(taken);
            piece = &piece[taken..];
        }
        loop {
            let has_next = inbound.has_next();
            match inbound.next_line() {
                Framed::Nothing => break,
                Framed::TooLong => {
                    found.push(Found::TooLong);
                    return found;
                }
                Framed::Line(line) => {
                    assert!(has_next, "a line that was not said to be there");
                    found.push(match parse(line, extensions) {
                        Ok(parsed) => Found::Request(written(parsed.id), Box::new(parsed.command)),
                        Err(fault) => Found::Malformed(written(fault.id), Box::new(fault.error)),
                    });
                }
            }
        }
    }
    found
}

fn written(id: Option<Box<serde_json::value::RawValue>>) -> Option<String> {
    id.map(|id| id.get().to_owned())
}
