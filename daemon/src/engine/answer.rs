//! Writing one answer, in the form its client asked for.

use axd_protocol::envelope::Head;
use axd_protocol::render::Render;
use axd_protocol::{AppInfo, Clock, Error, Format, PROTOCOL_VERSION};
use serde::Serialize;

use crate::service::{Call, Feed, Reply, write_error};

/// An answer being written.
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

    /// Whether the client wants to read it itself.
    pub fn is_text(&self) -> bool {
        self.call.format == Format::Text
    }

    /// Answers with a value that can be written in either form.
    pub fn value(&mut self, clock: Option<Clock>, app: Option<&AppInfo>, value: &(impl Serialize + Render)) {
        if self.is_text() {
            let mut text = String::new();
            value.render(&mut text);
            self.text(clock, app, &text);
        } else {
            self.head(clock, app).write_data(value, &mut self.line);
        }
    }

    /// Answers with text.
    pub fn text(&mut self, clock: Option<Clock>, app: Option<&AppInfo>, text: &str) {
        self.head(clock, app).write_text(text, &mut self.line);
    }

    /// Answers with data that `write` writes as JSON, straight into the line.
    pub fn data(&mut self, clock: Option<Clock>, app: Option<&AppInfo>, write: impl FnOnce(&mut Vec<u8>)) {
        self.head(clock, app).write(&mut self.line);
        self.line.extend_from_slice(b",\"data\":");
        write(&mut self.line);
        self.line.extend_from_slice(b"}\n");
    }

    /// Lets a subscription follow the answer.
    pub fn follow(&mut self, feed: Box<dyn Feed>) {
        self.feed = Some(feed);
    }

    /// The whole answer: what was written, or the error.
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
        Reply { line: self.line, feed: self.feed }
    }

    fn head<'a>(&self, clock: Option<Clock>, app: Option<&'a AppInfo>) -> Head<'a>
    where
        'c: 'a,
    {
        Head {
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
