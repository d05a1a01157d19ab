//! The line protocol: whatever a client sends is a request or gets an answer, however it arrives.

use axd_protocol::Command;
use axd_server::fuzz::{Found, requests};
use serde_json::value::RawValue;

use crate::bytes::Bytes;

/// The commands that the daemon of the built-in desktop has besides the contract's.
const EXTENSIONS: &[&str] = &["sim"];

/// An answer to what is no request. The id is repeated as it was written, even if it is half a character.
#[derive(serde::Deserialize)]
struct Refusal {
    ok: bool,
    error: serde_json::Value,
}

/// Takes bytes of a client; the first says in which pieces they arrive.
pub fn line(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let piece = 1 + usize::from(bytes.next());
    let bytes = bytes.rest();
    let found = requests(bytes, piece, EXTENSIONS);
    assert_eq!(found, requests(bytes, bytes.len(), EXTENSIONS), "it depends on how the bytes arrive");
    for found in &found {
        match found {
            Found::Request(_, command) => is_the_same_when_sent_again(command),
            Found::Malformed(id, error) => {
                let id = id.clone().map(|id| RawValue::from_string(id).expect("an id is JSON"));
                let mut answer = Vec::new();
                axd_service::write_error("sim", id.as_deref(), "", error, &mut answer);
                let line = answer.strip_suffix(b"\n").expect("an answer is a line");
                assert!(!line.contains(&b'\n'), "an answer is one line");
                let answer: Refusal = serde_json::from_slice(line).expect("an answer is JSON");
                assert!(!answer.ok && !answer.error["message"].is_null() && !error.message.is_empty());
            }
            Found::TooLong => {}
        }
    }
}

/// A client that parses a command and sends it again, as `ax` does, sends the same command.
fn is_the_same_when_sent_again(command: &Command) {
    let args = command.args().expect("arguments are JSON");
    let again = Command::parse_extended(command.name(), Some(&args), EXTENSIONS);
    assert_eq!(again.as_ref(), Ok(command), "{}", args.get());
}
