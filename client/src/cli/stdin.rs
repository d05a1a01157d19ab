//! `ax batch -`: what is to be done comes on standard input.

use std::ffi::OsString;
use std::io::Read;

use axd_client::protocol::{Error, ErrorCode, MAX_REQUEST_BYTES};

use super::output::Mode;
use super::parse;

/// Stands for standard input.
const STDIN: &str = "-";

/// The command line, with what came on standard input in the place of the `-` of a batch. The error says in which form
/// it is to be told.
pub fn fill_in(mut args: Vec<OsString>) -> Result<Vec<OsString>, (Error, Option<Mode>)> {
    // The common command line has none, and is not looked at further.
    let Some(at) = args.iter().position(|arg| arg == STDIN) else { return Ok(args) };
    if parse::named_command(&args) == Some("batch") {
        let items = read(std::io::stdin().lock()).map_err(|error| (error, parse::mode_asked(&args)))?;
        args[at] = items.into();
    }
    Ok(args)
}

fn read(input: impl Read) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let came = input.take(MAX_REQUEST_BYTES as u64 + 1).read_to_end(&mut bytes);
    came.map_err(|fault| {
        Error::new(ErrorCode::InvalidArgs, format!("standard input cannot be read: {fault}"))
    })?;
    if bytes.len() > MAX_REQUEST_BYTES {
        let message = format!("more than {} MiB came on standard input", MAX_REQUEST_BYTES >> 20);
        return Err(Error::new(ErrorCode::PayloadTooLarge, message)
            .suggest("split it into several batches, or send many requests through `ax pipe`"));
    }
    String::from_utf8(bytes).map_err(|_| {
        Error::new(ErrorCode::InvalidArgs, "what came on standard input is not UTF-8")
            .suggest("send a JSON list of commands, in UTF-8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_in_is_at_most_a_request_and_is_text() {
        assert_eq!(read(&b"[]"[..]).unwrap(), "[]");
        let most = vec![b' '; MAX_REQUEST_BYTES];
        assert_eq!(read(&most[..]).unwrap().len(), MAX_REQUEST_BYTES);
        assert_eq!(read(std::io::repeat(b' ')).unwrap_err().code, ErrorCode::PayloadTooLarge);
        assert!(read(&[0xff][..]).unwrap_err().message.contains("UTF-8"));
    }

    #[test]
    fn a_dash_is_standard_input_only_for_a_batch() {
        let args: Vec<OsString> = ["screenshot", "-"].map(Into::into).to_vec();
        assert_eq!(fill_in(args.clone()).unwrap(), args);
    }
}
