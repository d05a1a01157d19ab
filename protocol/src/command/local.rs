//! What `ax` does by itself.

use super::args;

args! {
    /// Send requests from standard input, one JSON object a line, and print the answers.
    ///
    /// All on one connection, so ids, subscriptions and `cancel` work as on the socket. Ends when its input has ended
    /// and everything is answered; with a subscription open it goes on until interrupted.
    ///
    /// Example:
    ///   echo '{"id":1,"command":"get","args":{"target":"button:7"}}' | ax pipe
    struct Pipe {}
}

args! {
    /// Print the JSON Schema of a command, or the reference of all of them.
    ///
    /// Examples:
    ///   ax schema snapshot
    ///   ax schema roles
    ///   ax schema --markdown > docs/commands.md
    struct Schema {
        /// A command, or one of `answer`, `event`, `error`, `node`, `roles`, `states`, `selector`; all commands unless said.
        optional topic: Option<String> [value_name = "TOPIC"],
        /// The reference page instead.
        optional markdown: bool [long, conflicts_with = "topic"],
    }
}

args! {
    /// Take a tour on the built-in desktop, with a daemon of its own.
    ///
    /// Everything it shows is run as it is shown. Touches neither your apps nor a daemon that runs.
    struct Demo {}
}
