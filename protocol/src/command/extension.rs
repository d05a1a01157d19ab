//! Commands that are no part of the contract.

use serde_json::value::RawValue;

/// A command that only some daemons answer, such as those for tests on a desktop that can be scripted. `hello` lists its name
/// among the capabilities of a daemon that offers it; for all others it is an unknown command.
#[derive(Debug, Clone)]
pub struct ExtensionCommand {
    /// The name of the extension.
    pub name: &'static str,
    /// Its arguments, which the extension parses itself.
    pub args: Option<Box<RawValue>>,
}

impl ExtensionCommand {
    /// A command with these arguments.
    pub fn new(name: &'static str, args: Option<&RawValue>) -> ExtensionCommand {
        ExtensionCommand { name, args: args.map(ToOwned::to_owned) }
    }
}

impl PartialEq for ExtensionCommand {
    fn eq(&self, other: &ExtensionCommand) -> bool {
        let args = |command: &ExtensionCommand| command.args.as_ref().map(|args| args.get().to_owned());
        self.name == other.name && args(self) == args(other)
    }
}
