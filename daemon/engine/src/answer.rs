//! Writes an answer in the format that the client asked for.

use axd_protocol::envelope::AnswerHead;
use axd_protocol::render::Render;
use axd_protocol::text::defuse;
use axd_protocol::{AppInfo, Clock, Command, Error, Format, PROTOCOL_VERSION};
use serde::Serialize;

use axd_service::{Call, Feed, Reply, write_error};

/// From this length on, room that an answer has left is given back.
const LONG_BYTES: usize = 256 * 1024;

/// An answer that is being written.
pub(super) struct Answer<'c> {
    call: &'c Call,
    platform: &'static str,
    line: Vec<u8>,
    feed: Option<Box<dyn Feed>>,
}

impl<'c> Answer<'c> {
    pub fn new(call: &'c Call, platform: &'static str) -> Answer<'c> {
        Answer { call, platform, line: Vec::new(), feed: None }
    }

    /// Whether the client asked for text.
    pub fn is_text(&self) -> bool {
        self.call.format == Format::Text
    }

    /// Answers with a value that can be written in either format.
    pub fn value(&mut self, clock: Option<Clock>, app: Option<&AppInfo>, value: &(impl Serialize + Render)) {
        let text = || {
            let mut text = String::new();
            value.render(&mut text);
            text
        };
        // Writing to a `Vec` cannot fail, and every answer serializes.
        self.either(clock, app, text, |out| drop(serde_json::to_writer(out, value)));
    }

    /// Answers in the requested format: with a text, or with data that `data` writes as JSON straight into the line. An item of
    /// a batch that later items refer to has both.
    pub fn either(
        &mut self,
        clock: Option<Clock>,
        app: Option<&AppInfo>,
        text: impl FnOnce() -> String,
        data: impl FnOnce(&mut Vec<u8>),
    ) {
        // Work over a tree may be begun again, and writes its answer anew.
        self.line.clear();
        self.head(clock, app).write(&mut self.line);
        if !self.is_text() || self.call.with_data {
            self.line.extend_from_slice(b",\"data\":");
            data(&mut self.line);
        }
        if self.is_text() {
            self.line.extend_from_slice(b",\"text\":");
            let text = text();
            // Text from the clipboard is for pipes, and is defused where it meets a terminal.
            let is_raw = matches!(self.call.command, Command::ClipboardGet(_));
            let text = if is_raw { text.as_str().into() } else { defuse(&text) };
            let _ = serde_json::to_writer(&mut self.line, &text);
        }
        self.line.extend_from_slice(b"}\n");
    }

    /// Starts a subscription after the answer.
    pub fn follow(&mut self, feed: Box<dyn Feed>) {
        self.feed = Some(feed);
    }

    /// The complete answer: what was written, or the error.
    pub fn finish(mut self, done: Result<(), Error>) -> Reply {
        if let Err(error) = done {
            self.line.clear();
            self.feed = None;
            write_error(
                self.platform,
                self.call.id.as_deref(),
                self.call.command.name(),
                &error,
                &mut self.line,
            );
        }
        // What is counted is what is held until the client reads it.
        if self.line.capacity() > LONG_BYTES {
            self.line.shrink_to_fit();
        }
        let held = self.call.held_answer(self.line.len());
        Reply { line: self.line, feed: self.feed, held }
    }

    fn head<'a>(&self, clock: Option<Clock>, app: Option<&'a AppInfo>) -> AnswerHead<'a>
    where
        'c: 'a,
    {
        AnswerHead {
            id: self.call.id.as_deref(),
            ok: true,
            command: self.call.command.name(),
            version: PROTOCOL_VERSION,
            platform: self.platform,
            clock,
            app,
        }
    }
}
