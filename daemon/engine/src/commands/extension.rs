//! Commands that only the platform of this daemon knows: the engine passes them on.

use std::sync::Arc;

use axd_platform::Extension;
use axd_protocol::command::ExtensionCommand;
use axd_protocol::{Command, Error, ErrorCode, Result};
use serde_json::value::RawValue;

use crate::Engine;
use crate::answer::Answer;
use axd_service::Call;

/// The extensions of the platform.
pub(crate) struct Extensions {
    extensions: Vec<Arc<dyn Extension>>,
    names: Vec<&'static str>,
}

impl Extensions {
    pub(crate) fn new(extensions: Vec<Arc<dyn Extension>>) -> Extensions {
        Extensions { names: extensions.iter().map(|extension| extension.name()).collect(), extensions }
    }

    /// Their names, which are no commands of the contract.
    pub(crate) fn names(&self) -> &[&'static str] {
        &self.names
    }

    /// Parses a command of the contract or of the platform.
    pub(crate) fn parse(&self, name: &str, args: Option<&RawValue>) -> Result<Command> {
        Command::parse_extended(name, args, &self.names)
    }

    /// Parses a command, and lets an extension check the arguments of its own.
    pub(crate) fn check(&self, name: &str, args: Option<&RawValue>) -> Result<()> {
        match self.parse(name, args)? {
            Command::Extension(extension) => self.find(extension.name)?.check(args),
            _ => Ok(()),
        }
    }

    fn find(&self, name: &str) -> Result<&dyn Extension> {
        let found = self.extensions.iter().find(|extension| extension.name() == name);
        // Names come from `parse`, which knows the same ones.
        let missing = || Error::new(ErrorCode::Internal, format!("{name} is not an extension"));
        found.map(Arc::as_ref).ok_or_else(missing)
    }
}

impl Engine {
    pub(crate) async fn extension(
        self: &Arc<Self>,
        call: &Call,
        command: &ExtensionCommand,
        answer: &mut Answer<'_>,
    ) -> Result<()> {
        let extension = self.extensions.find(command.name)?;
        let reply = extension.call(command.args.as_deref(), Engine::deadline(call)).await;
        // What the extension did may have opened windows or ended apps, and the next request must see that.
        self.drain_desktop_events();
        let lost = |_| Error::new(ErrorCode::Internal, format!("{} ended without a reply", command.name));
        let reply = reply.map_err(lost)??;
        answer.either(
            Some(self.clock.now()),
            None,
            || reply.text,
            |out| out.extend_from_slice(reply.data.get().as_bytes()),
        );
        Ok(())
    }
}
