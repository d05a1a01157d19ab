//! `ax mcp`: becomes `ax-mcp`, which is a program of its own so that `ax` stays small and starts fast.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use axd_client::is_program;
use axd_client::protocol::command::{Mcp, McpAction, McpProfile};
use axd_client::protocol::{Error, ErrorCode};
use serde::Serialize;

use super::Exit;
use super::output::{self, Mode};
use super::parse::Options;

/// The program.
const PROGRAM: &str = "ax-mcp";

/// Runs `ax-mcp` in place of this process. Returns only if that is not possible.
pub fn run(what: &Mcp, options: &Options, mode: Mode) -> Exit {
    let unavailable = |message: String| {
        Error::new(ErrorCode::DaemonUnavailable, message)
            .suggest("install ax-mcp beside ax, or put it on the PATH")
    };
    let error = match find_program() {
        None => unavailable(format!("{PROGRAM} not found beside ax or on the PATH")),
        Some(program) => {
            let fault = Command::new(&program).args(args(what, options)).exec();
            unavailable(format!("{} cannot be run: {fault}", program.display()))
        }
    };
    output::failure("mcp", &error.into(), mode)
}

/// The path of the program: beside `ax`, also where a link to `ax` leads, otherwise on the `PATH`.
fn find_program() -> Option<PathBuf> {
    let own = std::env::current_exe().ok();
    let real = own.as_ref().and_then(|own| own.canonicalize().ok());
    let beside = [own, real].into_iter().flatten().filter_map(|own| Some(own.parent()?.to_owned()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = beside.chain(std::env::split_paths(&path)).collect();
    folders.into_iter().map(|folder| folder.join(PROGRAM)).find(|candidate| is_program(candidate))
}

/// Its arguments: those of `ax mcp`, and the options of every command that say which daemon to use.
fn args(what: &Mcp, options: &Options) -> Vec<OsString> {
    let Mcp { action, tools, profile, client, print } = what;
    let mut args: Vec<OsString> = Vec::new();
    let mut option = |name: &str, value: OsString| args.extend([OsString::from(name), value]);
    for set in tools {
        option("--tools", name_of(set));
    }
    if *profile != McpProfile::default() {
        option("--profile", name_of(profile));
    }
    if let Some(client) = client {
        option("--client", name_of(client));
    }
    if let Some(socket) = &options.socket {
        option("--socket", socket.into());
    }
    if let Some(platform) = &options.platform {
        option("--platform", platform.into());
    }
    let flags = [("--print", *print), ("--no-autostart", options.no_autostart)];
    args.extend(flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.into()));
    if *action != McpAction::Serve {
        args.push(name_of(action));
    }
    args
}

/// The name of a value on the command line, which is that on the wire.
fn name_of(value: &impl Serialize) -> OsString {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axd_client::protocol::command::{McpClient, McpToolSet};

    #[test]
    fn the_program_gets_the_same_arguments() {
        let what = Mcp {
            action: McpAction::Install,
            tools: vec![McpToolSet::Input, McpToolSet::Windows],
            profile: McpProfile::Strobe,
            client: Some(McpClient::ClaudeCode),
            print: true,
        };
        let options = Options { socket: Some("/s".into()), ..Options::default() };
        let args = args(&what, &options).join(&OsString::from(" "));
        assert_eq!(
            args,
            "--tools input --tools windows --profile strobe --client claude-code --socket /s --print install"
        );
    }
}
