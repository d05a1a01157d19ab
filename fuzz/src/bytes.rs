//! Reads decisions from bytes, so that a fuzzer that changes bytes changes what is done.

/// Bytes that are read one after the other; zeros from the end on.
pub(crate) struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    pub fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next byte.
    pub fn next(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        *first
    }

    /// A number below this one, which is at most 256.
    pub fn below(&mut self, most: usize) -> usize {
        usize::from(self.next()) % most
    }

    /// One of these.
    pub fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// The rest.
    pub fn rest(self) -> &'a [u8] {
        self.0
    }
}
