//! Turns panics of the service into errors that the server can answer with.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The message of a panic.
#[derive(Debug)]
pub(super) struct Panicked(String);

impl Panicked {
    /// Reads the message from the payload of a panic.
    pub(super) fn new(payload: Box<dyn Any + Send>) -> Panicked {
        let said = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned());
        Panicked(said.unwrap_or_else(|| "a panic without a message".to_owned()))
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Calls a function that writes lines to `out`. If it panics, what it had written is removed.
pub(super) fn guarded<T>(out: &mut Vec<u8>, call: impl FnOnce(&mut Vec<u8>) -> T) -> Result<T, Panicked> {
    let before = out.len();
    catch_unwind(AssertUnwindSafe(|| call(out))).map_err(|payload| {
        out.truncate(before);
        Panicked::new(payload)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_written_before_a_panic_is_taken_back() {
        let mut out = b"whole\n".to_vec();
        let outcome: Result<(), Panicked> = guarded(&mut out, |out| {
            out.extend_from_slice(b"ha");
            panic!("oh");
        });
        assert_eq!(outcome.unwrap_err().to_string(), "oh");
        assert_eq!(out, b"whole\n");
        assert_eq!(guarded(&mut out, |_| 7).unwrap(), 7);
    }
}
